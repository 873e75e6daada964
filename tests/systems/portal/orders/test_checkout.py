"""Checkout and orders: what is charged, what is kept, who may cancel, what a campaign gives (CP-X1, CP-X9)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from tests.systems.portal.talk import ADMIN, BUYER, Place, refuses

from tablewright.kit.tables import Actor
from tablewright.systems.portal import design as d
from tablewright.systems.portal.model import Order
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.orders.payments import PaymentEvent

USER = Actor("customer@example.com", "user")


def _event(order: Order, kind: str = "paid", **more: object) -> PaymentEvent:
    given: dict[str, object] = {
        "event_id": f"evt_{kind}",
        "reference": "pay_1",
        "amount": order.total,
        **more,
    }
    return PaymentEvent(kind=kind, order_id=order.order_id, **given)  # type: ignore[arg-type]  # a table of cases


# --- buying ---


def test_cp_x1_an_order_has_a_number_lines_snapshots_vat_and_a_mail(at: Place) -> None:
    first, second = at.product("299.99"), at.product("100.00", name="Starter")
    campaign = at.campaign(first, percent="20")
    order = at.portal.checkout.place(BUYER, [Line(first.id), Line(second.id, 2)], codes=["SUMMER2030"])
    assert order.order_number.startswith("BB-20300615-")
    assert [(i.quantity, i.unit_price, i.discounted_unit_price, i.line_total) for i in order.items] == [
        (1, Decimal("299.99"), Decimal("239.99"), Decimal("239.99")),
        (2, Decimal("100.00"), Decimal("100.00"), Decimal("200.00")),
    ]
    sums = (order.subtotal, order.discount, order.total, order.tax)
    assert sums == (Decimal("499.99"), Decimal("60.00"), Decimal("439.99"), Decimal("57.39"))
    assert order.campaign is not None
    assert (order.campaign.code, order.campaign.id) == ("SUMMER2030", campaign.id)
    assert order.campaign.valid_at_order_time == order.placed_at
    (mail,) = at.mails("customer@example.com")
    assert "Total: R 439.99" in mail
    assert "VAT included: R 57.39" in mail
    assert at.portal.orders.order(order.order_id) == order


def test_cp_d27_the_snapshot_keeps_the_campaign_as_it_was(at: Place) -> None:
    product = at.product()
    at.campaign(product, percent="20")
    order = at.order(product, codes=["SUMMER2030"])
    at.portal.catalogue.change_campaign(
        "SUMMER2030", {"description": "Else.", "discount_percentage": Decimal(50), "active": False}, ADMIN
    )
    at.portal.catalogue.change_product(product.id, {"name": "Else", "active": False}, ADMIN)
    assert at.portal.orders.order(order.order_id) == order
    (item,) = [item for item in at.scan("tenants") if item["SK"]["S"].startswith("ORDER#")]
    assert "isValid" not in item["campaign"]["M"]


def test_orders_of_a_tenant_come_newest_first(at: Place) -> None:
    product = at.product()
    ids = []
    for _ in range(5):
        ids.append(at.order(product).order_id)
        at.clock.move(timedelta(seconds=1))
    tenant = at.portal.repository.tenant_of("customer@example.com")
    assert tenant is not None
    assert [order.order_id for order in at.portal.tenants.orders(tenant.id, ADMIN).items] == ids[::-1]


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([], "CART"),
        ([("a", 1)] * 2, "CART"),
        ([(f"prod_{n:04}", 1) for n in range(21)], "CART"),
        ([("a", 0)], "QUANTITY"),
        ([("a", 101)], "QUANTITY"),
        ([("prod_12345678", 1)], "PRODUCT_UNKNOWN"),
        ([("x" * 4000, 1)], "PRODUCT_UNKNOWN"),
    ],
)
def test_a_cart_that_cannot_be_sold_leaves_nothing_behind(
    at: Place, lines: list[tuple[str, int]], code: str
) -> None:
    with refuses(code):
        at.portal.checkout.place(BUYER, [Line(*line) for line in lines])
    assert at.scan("tenants") == []


def test_a_key_used_for_another_cart_is_refused(at: Place) -> None:
    product = at.product()
    first = at.order(product, key="key-0001")
    with refuses("IDEMPOTENCY_KEY_REUSED"):
        at.portal.checkout.place(BUYER, [Line(product.id, 2)], key="key-0001")
    assert at.order(product, "somebody@example.com", key="key-0001").order_id != first.order_id


def test_a_key_gives_the_first_order_whatever_happened_since(at: Place) -> None:
    product = at.product()
    at.campaign(product, redemption_limit=1, per_tenant_limit=1)
    first = at.order(product, codes=["SUMMER2030"], key="key-0001")
    at.portal.catalogue.change_product(product.id, {"price": Decimal("1.00"), "active": False}, ADMIN)
    at.portal.catalogue.change_campaign("SUMMER2030", {"active": False}, ADMIN)
    at.portal.tenants.move(first.tenant_id, "SUSPENDED", ADMIN, reason="charged back")
    assert at.order(product, codes=["SUMMER2030"], key="key-0001") == first


# --- campaigns ---


def test_cp_51_a_campaign_counts_only_while_it_is_on(at: Place) -> None:
    product, today = at.product(), at.today()
    at.campaign(product, "COMING_1", from_date=today + timedelta(1), to_date=today + timedelta(2))
    at.campaign(product, "ENDED_1", from_date=today - timedelta(2), to_date=today - timedelta(1))
    for code in ("COMING_1", "ENDED_1"):
        with refuses("CAMPAIGN_UNAVAILABLE"):
            at.order(product, codes=[code])
    with refuses("CAMPAIGN_NOT_FOUND"):
        at.order(product, codes=["NOTHING"])
    with refuses("CODE_FORMAT"):
        at.order(product, codes=["no code"])
    other = at.product(name="Other")
    at.campaign(other, "OTHER_1")
    with refuses("CAMPAIGN_OTHER_PRODUCT"):
        at.order(product, codes=["OTHER_1"])


def test_cp_d23_a_price_and_a_campaign_that_leave_nothing_to_pay_are_not_sold_together(at: Place) -> None:
    """Both are checked when they change; what was changed around the portal still meets the checkout."""
    product = at.product("299.99")
    at.campaign(product, percent="99.9")
    cheap = product.model_copy(update={"price": Decimal("0.10")})
    at.db.write(d.products.change(product, cheap))
    with refuses("CAMPAIGN_UNAVAILABLE"):
        at.order(product, codes=["SUMMER2030"])
    assert at.order(product).total == Decimal("0.10")


def test_cp_x9_of_several_codes_the_best_single_discount_counts_and_only_that_is_used(at: Place) -> None:
    cheap, dear = at.product("10.00"), at.product("1000.00", name="Dear")
    at.campaign(cheap, "HALF_OFF", "50")
    at.campaign(dear, "TENTH_OFF", "10")
    cart = [Line(cheap.id), Line(dear.id)]
    order = at.portal.checkout.place(BUYER, cart, codes=["HALF_OFF", "TENTH_OFF", "half_off"])
    assert order.campaign is not None
    assert (order.campaign.code, order.discount) == ("TENTH_OFF", Decimal("100.00"))
    assert at.portal.repository.used(["HALF_OFF", "TENTH_OFF"]) == {"TENTH_OFF": 1}


def test_cp_x9_a_campaign_of_several_products_counts_for_each(at: Place) -> None:
    first, second = at.product("100.00"), at.product("200.00", name="Second")
    at.campaign(first, percent="50", also_product_ids=[second.id])
    order = at.portal.checkout.place(BUYER, [Line(first.id), Line(second.id)], codes=["SUMMER2030"])
    assert order.total == Decimal("150.00")


@pytest.mark.parametrize("end", ["cancel", "refund", "declined"])
def test_cp_x9_a_use_that_came_to_nothing_is_free_again(at: Place, end: str) -> None:
    product, me = at.product(), at.tenant(BUYER, "REGISTERED")
    at.campaign(product, redemption_limit=1, per_tenant_limit=1)
    paid = {"refund": "tok_1", "declined": "tok_declined"}.get(end)
    order = at.own_order(product, me, codes=["SUMMER2030"], payment_token=paid)
    if end != "declined":
        with refuses("CAMPAIGN_EXHAUSTED"):
            at.order(product, "other@example.com", codes=["SUMMER2030"])
        getattr(at.portal.orders, end)(order.order_id, ADMIN)
    assert at.portal.repository.used(["SUMMER2030"]) == {"SUMMER2030": 0}
    assert at.own_order(product, me, codes=["SUMMER2030"]).discount == Decimal("60.00")


def test_cp_x9_a_limit_for_each_tenant_is_for_each_tenant(at: Place) -> None:
    product = at.product()
    at.campaign(product, per_tenant_limit=1)
    one, other = at.tenant("a@example.com"), at.tenant("b@example.com")
    at.own_order(product, one, codes=["SUMMER2030"])
    with refuses("CAMPAIGN_LIMIT"):
        at.own_order(product, one, codes=["SUMMER2030"])
    assert at.own_order(product, one).discount == 0
    assert at.own_order(product, other, codes=["SUMMER2030"]).discount > 0


def test_cp_x9_a_preview_link_opens_its_campaign_for_a_week(at: Place) -> None:
    previews, now = at.portal.previews, at.clock.now()
    token = previews.token("SUMMER2030", now)
    assert previews.opens(token, "SUMMER2030", now + timedelta(days=7, seconds=-1))
    assert not previews.opens(token, "SUMMER2030", now + timedelta(days=7))
    assert not previews.opens(token, "WINTER2030", now)
    later = str(int(token.partition(".")[0]) + 1)
    for forged in (
        "",
        ".",
        "x.y",
        f"{later}.{token.partition('.')[2]}",
        "9" * 5000 + ".x",
        "é.é",
        f"{token}x",
    ):
        assert not previews.opens(forged, "SUMMER2030", now)


# --- paying ---


def test_a_payment_makes_the_order_paid_and_a_refusal_cancels_it(at: Place) -> None:
    product = at.product()
    paid = at.order(product, payment_token="tok_1")
    assert (paid.order_status, paid.paid_at) == ("PAID", at.clock.now())
    assert at.order(product, payment_token="tok_declined").order_status == "CANCELLED"
    assert at.order(product).order_status == "PENDING"


def test_a_payment_of_another_amount_is_refused(at: Place) -> None:
    order = at.order(at.product())
    for kind in ("paid", "refunded"):
        with refuses("AMOUNT_DIFFERS"):
            at.portal.orders.paid(_event(order, kind, amount=order.total - Decimal("0.01")))
    assert at.portal.orders.order(order.order_id) == order


def test_every_event_may_be_told_again_at_any_time_and_changes_nothing(at: Place) -> None:
    order = at.order(at.product())
    paid, refunded = _event(order), _event(order, "refunded")
    at.portal.orders.paid(paid)
    last = at.portal.orders.paid(refunded)
    assert last.order_status == "REFUNDED"
    before = at.everything()
    for _ in range(2):
        assert at.portal.orders.paid(paid) == last
        assert at.portal.orders.paid(refunded) == last
        at.clock.move(timedelta(days=31))
    assert at.everything() == before


def test_an_order_does_not_go_backwards(at: Place) -> None:
    order = at.order(at.product())
    with refuses("STATUS_CONFLICT"):
        at.portal.orders.refund(order.order_id, ADMIN)
    at.portal.orders.paid(_event(order))
    with refuses("STATUS_CONFLICT"):
        at.portal.orders.cancel(order.order_id, USER)
    for event in (_event(order, "declined"), _event(order, reference="pay_2", event_id="evt_2")):
        assert at.portal.orders.paid(event).order_status == "PAID"
    at.portal.orders.refund(order.order_id, ADMIN)
    with refuses("STATUS_CONFLICT"):
        at.portal.orders.refund(order.order_id, ADMIN)


def test_orders_are_listed_by_status_newest_first(at: Place) -> None:
    product = at.product()
    for token in ("tok_1", None, "tok_1", "tok_declined"):
        at.order(product, payment_token=token)
        at.clock.move(timedelta(minutes=1))
    page = at.portal.orders.page(ADMIN, "PAID", size=1)
    (newest,) = page.items
    (older,) = at.portal.orders.page(ADMIN, "PAID", size=1, after=page.next).items
    assert newest.placed_at - older.placed_at == timedelta(minutes=2)
    assert [one.order_status for one in at.db.all(d.orders_by_status(status="CANCELLED"))] == ["CANCELLED"]
