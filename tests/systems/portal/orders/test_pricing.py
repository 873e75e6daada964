"""The price that is advertised is the price that is charged: running campaigns apply without their code (CP-X9)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from tests.systems.portal.talk import ADMIN, BUYER, Api, Place, cart, refuses
from tests.systems.talk import given, refused

from tablewright.systems.portal import design as d
from tablewright.systems.portal.orders.checkout import Line


def test_a_running_campaign_applies_without_its_code(at: Place, api: Api) -> None:
    product = at.product("299.99")
    at.campaign(product, percent="20")
    priced = given(api.post("/checkout/preview", {"items": [{"productId": product.id}]}))
    assert (priced["total"], priced["campaignCode"]) == (239.99, "SUMMER2030")
    placed = given(api.post("/checkout", cart(product)), 201)
    assert (placed["total"], placed["campaignCode"]) == (239.99, "SUMMER2030")
    assert at.portal.repository.used(["SUMMER2030"]) == {"SUMMER2030": 1}


def test_a_typed_code_that_saves_less_gives_way_to_the_better_offer_and_is_named(at: Place, api: Api) -> None:
    product = at.product("100.00")
    at.campaign(product, "BETTER_1", "30")
    at.campaign(product, "WORSE_1", "10")
    body = {"items": [{"productId": product.id}], "campaignCodes": ["worse_1"]}
    priced = given(api.post("/checkout/preview", body))
    assert (priced["campaignCode"], priced["lesserCode"], priced["total"]) == ("BETTER_1", "WORSE_1", 70.0)
    assert given(api.post("/checkout", cart(product, campaignCodes=["worse_1"])), 201)["total"] == 70.0
    assert at.portal.repository.used(["BETTER_1", "WORSE_1"]) == {"BETTER_1": 1}
    better = given(api.post("/checkout/preview", body | {"campaignCodes": ["better_1"]}))
    assert "lesserCode" not in better


def test_of_two_running_offers_the_one_that_saves_most_on_the_whole_order_applies(at: Place) -> None:
    cheap, dear = at.product("10.00"), at.product("1000.00", name="Dear")
    at.campaign(cheap, "HALF_OFF", "50")
    at.campaign(dear, "TENTH_OFF", "10")
    priced = at.portal.checkout.priced([Line(cheap.id), Line(dear.id)])
    assert priced.campaign is not None
    assert (priced.campaign.code, priced.discount) == ("TENTH_OFF", Decimal("100.00"))


def test_an_offer_that_is_not_on_or_saves_nothing_does_not_apply(at: Place) -> None:
    product, today = at.product("100.00"), at.today()
    at.campaign(product, "COMING_1", "50", from_date=today + timedelta(1), to_date=today + timedelta(2))
    at.campaign(product, "ENDED_1", "50", to_date=today - timedelta(1))
    at.campaign(product, "NOTHING_1", "0")
    at.campaign(product, "OFF_1", "50")
    at.portal.catalogue.change_campaign("OFF_1", {"active": False}, ADMIN)
    order = at.order(product)
    assert (order.total, order.campaign) == (Decimal("100.00"), None)


def test_when_the_best_offer_is_used_up_the_next_one_applies(at: Place) -> None:
    product = at.product("100.00")
    at.campaign(product, "FIRST_1", "50", redemption_limit=1)
    at.campaign(product, "SECOND_1", "10")
    totals = [at.order(product, f"{name}@example.com").total for name in "ab"]
    assert totals == [Decimal("50.00"), Decimal("90.00")]


def test_an_offer_that_leaves_nothing_to_pay_is_passed_over_unless_it_was_asked_for(at: Place) -> None:
    product = at.product("299.99")
    at.campaign(product, percent="99.9")
    at.db.write(d.products.change(product, product.model_copy(update={"price": Decimal("0.10")})))
    assert at.order(product).total == Decimal("0.10")
    with refuses("CAMPAIGN_UNAVAILABLE"):
        at.order(product, codes=["SUMMER2030"])


def test_a_customer_who_used_an_offer_is_shown_and_charged_the_price_without_it(at: Place, api: Api) -> None:
    product, me = at.product("100.00"), at.tenant(BUYER, "REGISTERED")
    at.campaign(product, percent="50", per_tenant_limit=1)
    body = {"items": [{"productId": product.id}]}
    assert given(api.post("/checkout/preview", body, by=me.id))["total"] == 50.0
    at.own_order(product, me)
    assert given(api.post("/checkout/preview", body, by=me.id))["total"] == 100.0
    answer = api.post("/checkout/preview", body | {"campaignCodes": ["SUMMER2030"]}, by=me.id)
    assert refused(answer) == (410, "CAMPAIGN_LIMIT")
    assert at.own_order(product, me).total == Decimal("100.00")


def test_an_order_at_another_total_than_the_one_agreed_on_is_refused(at: Place, api: Api) -> None:
    product = at.product("100.00")
    at.campaign(product, percent="50", redemption_limit=1)
    at.order(product, "other@example.com")
    answer = api.post("/checkout", cart(product, agreedTotal=50))
    assert refused(answer) == (409, "TOTAL_CHANGED")
    assert given(api.post("/checkout", cart(product, agreedTotal=100)), 201)["total"] == 100.0


def test_a_hundred_at_half_of_99_99_cost_4_999_50(at: Place) -> None:
    product = at.product("99.99")
    at.campaign(product, percent="50")
    order = at.portal.checkout.place(BUYER, [Line(product.id, 100)])
    assert (order.total, order.discount, order.items[0].line_total) == (
        Decimal("4999.50"), Decimal("4999.50"), Decimal("4999.50"),
    )  # fmt: skip
