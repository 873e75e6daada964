"""Products and campaigns: prices with their history, discounts that leave something to pay, dates of the business."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from tests.systems.portal.talk import ADMIN, SUPPORT, Api, Place, meddled, new_campaign, refuses
from tests.systems.talk import given, refused

from tablewright.kit.tables import Actor
from tablewright.mapping.consumer.records import Change
from tablewright.systems.portal import design as d
from tablewright.systems.portal import jobs
from tablewright.systems.portal.catalogue import price_history
from tablewright.systems.portal.model import Product

PUBLIC = Actor("public", "public")


def _prices(at: Place, product: Product) -> list[tuple[str | None, str, str]]:
    found = at.portal.catalogue.prices(product.id)
    return [
        (f"{p.old_price:.2f}" if p.old_price else None, f"{p.new_price:.2f}", p.changed_by) for p in found
    ]


# --- products ---


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"price": Decimal("0")}, "PRICE_NOT_POSITIVE"),
        ({"price": Decimal("-1")}, "PRICE_NOT_POSITIVE"),
        ({"price": Decimal("0.009")}, "PRICE_NOT_POSITIVE"),
        ({"price": Decimal("1.999")}, "PRICE_PRECISION"),
        ({"price": Decimal("1E+30")}, "PRICE_PRECISION"),
        ({"name": "  "}, "NAME_LENGTH"),
        ({"name": "n" * 121}, "NAME_LENGTH"),
        ({"description": ""}, "DESCRIPTION_LENGTH"),
        ({"description": "d" * 501}, "DESCRIPTION_LENGTH"),
        ({"features": ["f"] * 11}, "FEATURES"),
        ({"features": ["f" * 61]}, "FEATURES"),
        ({"features": [""]}, "FEATURES"),
    ],
)
def test_cp_25_a_product_that_cannot_be_sold_is_refused_when_made_and_when_changed(
    at: Place, fields: dict[str, Any], code: str
) -> None:
    with refuses(code):
        at.product(**({"price": "1.00"} | {k: str(v) if k == "price" else v for k, v in fields.items()}))
    product = at.product()
    with refuses(code):
        at.portal.catalogue.change_product(product.id, fields, ADMIN)


def test_cp_d21_every_field_that_may_change_does(at: Place) -> None:
    product = at.product()
    changes = {
        "name": "New",
        "description": "New words.",
        "price": Decimal("10.00"),
        "features": ["one"],
        "billing_cycle": "yearly",
        "draft": True,
    }
    after, _ = at.portal.catalogue.change_product(product.id, changes, ADMIN)
    assert {name: getattr(after, name) for name in changes} == changes
    assert at.portal.catalogue.product(product.id) == after


def test_cp_d24_money_is_decimal_in_the_store_and_half_cents_go_up(at: Place) -> None:
    product = at.product("0.25")
    at.campaign(product, percent="50")
    assert at.portal.catalogue.offer("SUMMER2030").discounted_price == Decimal("0.13")
    (item,) = [item for item in at.scan("products") if item["SK"]["S"] == "METADATA"]
    assert item["price"] == {"N": "0.25"}


def test_cp_d25_prices_are_in_rand(at: Place) -> None:
    product = at.product()
    assert product.currency == "ZAR"
    assert at.order(product).currency == "ZAR"


def test_cp_x8_every_price_has_its_entry_with_who_and_when(at: Place) -> None:
    product = at.product("100.00")
    for price in ("120.00", "120.00", "90.00"):
        at.clock.move(timedelta(days=1))
        at.portal.catalogue.change_product(product.id, {"price": Decimal(price)}, SUPPORT)
    assert _prices(at, product) == [
        (None, "100.00", ADMIN.name),
        ("100.00", "120.00", SUPPORT.name),
        ("120.00", "90.00", SUPPORT.name),
    ]


def test_cp_x8_two_price_changes_in_one_moment_are_two_entries(at: Place) -> None:
    product = at.product("100.00")
    for price in ("110.00", "120.00", "130.00"):
        at.portal.catalogue.change_product(product.id, {"price": Decimal(price)}, ADMIN)
    assert [new for _, new, _ in _prices(at, product)] == ["100.00", "110.00", "120.00", "130.00"]


def _schedule(at: Place, product: Product, price: str, days: float) -> None:
    start = at.clock.now() + timedelta(days=days)
    at.portal.catalogue.change_product(
        product.id, {"next_price": Decimal(price), "next_price_from": start}, ADMIN
    )


def test_cp_x8_a_scheduled_price_holds_from_its_moment_whether_a_job_ran_or_not(at: Place) -> None:
    product = at.product("100.00")
    _schedule(at, product, "120.00", 2)
    at.clock.move(timedelta(days=2, milliseconds=-1))
    assert at.order(product, "a@example.com").total == Decimal("100.00")
    at.clock.move(timedelta(milliseconds=1))
    assert at.order(product, "b@example.com").total == Decimal("120.00")
    at.clock.move(timedelta(hours=3))
    assert jobs.apply_due_prices(at.portal) == 1
    assert jobs.apply_due_prices(at.portal) == 0
    assert at.order(product, "c@example.com").total == Decimal("120.00")
    steps = at.portal.catalogue.prices(product.id)
    assert [(step.new_price, step.changed_by) for step in steps] == [
        (Decimal("100.00"), ADMIN.name),
        (Decimal("120.00"), "system:schedule"),
    ]
    # The history says since when the price held, not when a job came by.
    assert steps[1].at == at.clock.now() - timedelta(hours=3)


def test_cp_x8_a_price_set_by_hand_after_a_scheduled_one_came_is_the_price(at: Place) -> None:
    product = at.product("100.00")
    _schedule(at, product, "120.00", 1)
    at.clock.move(timedelta(days=2))
    after, _ = at.portal.catalogue.change_product(product.id, {"price": Decimal("150.00")}, ADMIN)
    assert (after.price, after.next_price) == (Decimal("150.00"), None)
    assert at.order(product).total == Decimal("150.00")
    assert [new for _, new, _ in _prices(at, product)] == ["100.00", "120.00", "150.00"]


def test_cp_x8_a_change_of_words_keeps_a_scheduled_price_that_came(at: Place) -> None:
    product = at.product("100.00")
    _schedule(at, product, "120.00", 1)
    at.clock.move(timedelta(days=1))
    after, warnings = at.portal.catalogue.change_product(product.id, {"name": "New"}, ADMIN)
    assert (after.price, after.next_price, warnings) == (Decimal("120.00"), None, [])
    assert [new for _, new, _ in _prices(at, product)] == ["100.00", "120.00"]


def test_cp_x8_a_schedule_needs_both_halves_a_future_and_can_be_called_off(at: Place) -> None:
    product = at.product("100.00")
    with refuses("SCHEDULE_INCOMPLETE"):
        at.portal.catalogue.change_product(product.id, {"next_price": Decimal("1.00")}, ADMIN)
    with refuses("SCHEDULE_PAST"):
        _schedule(at, product, "120.00", -1)
    with refuses("PRICE_NOT_POSITIVE"):
        _schedule(at, product, "0.00", 1)
    _schedule(at, product, "120.00", 1)
    at.portal.catalogue.change_product(product.id, {"next_price": None, "next_price_from": None}, ADMIN)
    at.clock.move(timedelta(days=2))
    assert at.order(product).total == Decimal("100.00")


def test_cp_x8_a_new_product_has_no_scheduled_price_in_the_past(at: Place) -> None:
    for seconds in (-3600, 0):
        start = at.clock.now() + timedelta(seconds=seconds)
        with refuses("SCHEDULE_PAST"):
            at.product("100.00", next_price=Decimal("120.00"), next_price_from=start)
    later = at.clock.now() + timedelta(seconds=1)
    assert at.product("100.00", next_price=Decimal("120.00"), next_price_from=later).next_price_from == later


def test_cp_x8_a_product_sent_back_as_it_was_read_is_saved_after_its_scheduled_price_began(at: Place) -> None:
    """As a form does: everything that is stored, with one text changed, before the job applied the price."""
    product = at.product("100.00")
    _schedule(at, product, "120.00", 1)
    stored = at.portal.catalogue.product(product.id)
    at.clock.move(timedelta(days=1, seconds=5))
    sent = {"price": stored.price, "next_price": stored.next_price, "next_price_from": stored.next_price_from}
    after, _ = at.portal.catalogue.change_product(product.id, {**sent, "name": "New"}, ADMIN, stored.version)
    assert (after.name, after.price, after.next_price_from) == ("New", Decimal("120.00"), None)
    assert [new for _, new, _ in _prices(at, product)] == ["100.00", "120.00"]


def test_every_mistake_in_a_product_is_named_at_once(at: Place, api: Api) -> None:
    body = {"name": " ", "description": "d" * 501, "price": 0, "billingCycle": "monthly"}
    answer = api.post("/products", body, by="admin")
    assert refused(answer)[0] == 422
    assert [each["field"] for each in answer.json()["errors"]] == ["price", "name", "description"]


def test_cp_x8_a_draft_is_seen_by_staff_and_sold_to_nobody(at: Place) -> None:
    draft = at.product(draft=True)
    assert at.portal.catalogue.for_sale() == []
    assert [one.id for one in at.portal.catalogue.products(ADMIN).items] == [draft.id]
    with refuses("PRODUCT_UNKNOWN"):
        at.order(draft)
    at.portal.catalogue.change_product(draft.id, {"draft": False}, ADMIN)
    assert at.order(draft).total == Decimal("299.99")


def test_cp_x8_a_second_product_of_a_name_is_made_with_a_warning(at: Place) -> None:
    first = at.product(name="Starter")
    fields: dict[str, Any] = {
        "name": " STARTER ", "description": "Another.", "price": Decimal("1.00"), "billing_cycle": "yearly",
    }  # fmt: skip
    second, warnings = at.portal.catalogue.create_product(fields, ADMIN)
    assert warnings == [f"Another plan has the same name: {first.id}."]
    _, none = at.portal.catalogue.change_product(second.id, {"name": "Unlike"}, ADMIN)
    assert none == []
    _, again = at.portal.catalogue.change_product(second.id, {"name": "starter"}, ADMIN)
    assert again == warnings


def test_cp_33_a_change_of_price_says_what_it_means(at: Place) -> None:
    product = at.product()
    at.campaign(product)
    _, warnings = at.portal.catalogue.change_product(product.id, {"price": Decimal("10.00")}, ADMIN)
    assert warnings == [
        "New orders are charged the new price; existing orders keep theirs.",
        "Running campaigns use the new price: SUMMER2030.",
    ]


def test_cp_32_a_product_off_sale_comes_back_as_it_was(at: Place) -> None:
    product = at.product()
    at.portal.catalogue.change_product(product.id, {"active": False}, ADMIN)
    assert at.portal.catalogue.for_sale() == []
    at.portal.catalogue.change_product(product.id, {"active": True}, ADMIN)
    (back,) = at.portal.catalogue.for_sale()
    assert (back.price, back.name) == (product.price, product.name)


def test_cp_26_the_pricing_page_lists_the_oldest_first(at: Place) -> None:
    names = []
    for number in range(12):
        names.append(at.product(name=f"Plan {number}").name)
        at.clock.move(timedelta(seconds=1))
    assert [product.name for product in at.portal.catalogue.for_sale()] == names


# --- the price history from change records ---


def test_cp_d33_a_change_record_told_twice_is_one_entry(at: Place) -> None:
    before = at.product("100.00")
    after = before.model_copy(
        update={
            "price": Decimal("80.00"),
            "version": 2,
            "date_last_updated": before.date_last_updated + timedelta(1),
        }
    )
    change: Change[Product] = Change("event-1", "MODIFY", d.products.shape, before, after, None)
    told = [price_history.on_product_change(at.portal.repository, change) for _ in range(3)]
    assert told == [True, False, False]
    assert [new for _, new, _ in _prices(at, before)] == ["100.00", "80.00"]


def test_cp_d33_the_record_of_a_change_made_by_the_service_adds_nothing(at: Place) -> None:
    before = at.product("100.00")
    _schedule(at, before, "120.00", 1)
    at.clock.move(timedelta(days=2))
    scheduled = at.portal.catalogue.product(before.id)
    after, _ = at.portal.catalogue.change_product(before.id, {"price": Decimal("80.00")}, ADMIN)
    stored = _prices(at, before)
    for old, new in ((None, before), (before, scheduled), (scheduled, after), (after, None)):
        change: Change[Product] = Change("e", "MODIFY", d.products.shape, old, new, None)
        assert price_history.on_product_change(at.portal.repository, change) is False
    assert _prices(at, before) == stored


# --- campaigns ---


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"percent": "100"}, "DISCOUNT_RANGE"),
        ({"percent": "-0.01"}, "DISCOUNT_RANGE"),
        ({"percent": "33.33333"}, "DISCOUNT_RANGE"),
        ({"code": "no spaces"}, "CODE_FORMAT"),
        ({"code": "AB"}, "CODE_FORMAT"),
        ({"code": "A" * 33}, "CODE_FORMAT"),
        ({"code": "DASH-ED"}, "CODE_FORMAT"),
        ({"from_date": date(2030, 7, 2), "to_date": date(2030, 7, 1)}, "DATE_ORDER"),
        ({"terms_conditions_link": "terms"}, "INVALID_LINK"),
        ({"terms_conditions_link": "javascript:alert(1)"}, "INVALID_LINK"),
        ({"redemption_limit": 0}, "LIMIT_RANGE"),
        ({"per_tenant_limit": -1}, "LIMIT_RANGE"),
        ({"redemption_limit": 10**40}, "LIMIT_RANGE"),
        ({"product_id": "prod_00000000"}, "PRODUCT_UNKNOWN"),
        ({"product_id": "x" * 3000}, "PRODUCT_UNKNOWN"),
        ({"also_product_ids": ["prod_00000000"]}, "PRODUCT_UNKNOWN"),
        ({"also_product_ids": ["prod_00000000", "prod_00000000"]}, "PRODUCTS"),
        ({"description": ""}, "DESCRIPTION_LENGTH"),
    ],
)
def test_cp_44_a_campaign_that_makes_no_sense_is_refused(
    at: Place, fields: dict[str, Any], code: str
) -> None:
    product = at.product()
    with refuses(code):
        at.campaign(product, **fields)
    assert at.scan("campaigns") == []


def test_cp_d31_codes_are_upper_case_however_they_are_written(at: Place) -> None:
    product = at.product()
    assert at.campaign(product, " black_friday_1 ").code == "BLACK_FRIDAY_1"
    assert at.portal.catalogue.offer("Black_Friday_1").campaign.code == "BLACK_FRIDAY_1"
    with refuses("CODE_EXISTS"):
        at.campaign(product, "BLACK_friday_1")


def test_cp_47_a_code_of_odd_length_is_made_with_a_warning(at: Place) -> None:
    fields: dict[str, Any] = {
        "code": "ABC",
        "description": "Short.",
        "discount_percentage": Decimal(5),
        "product_id": at.product().id,
        "terms_conditions_link": "https://bbws.example/t",
        "from_date": date(2030, 1, 1),
        "to_date": date(2030, 12, 31),
    }
    assert at.portal.catalogue.create_campaign(fields, ADMIN)[1] == [
        "Codes of 6 to 20 characters are easier to type and print."
    ]
    assert at.portal.catalogue.create_campaign(fields | {"code": "ABCDEF"}, ADMIN)[1] == []


def test_cp_d19_a_campaign_is_not_made_for_a_product_deleted_in_that_moment(at: Place) -> None:
    product = at.product()
    remove = partial(at.portal.catalogue.change_product, product.id, {"active": False}, ADMIN)
    raced = meddled(at, "CAMPAIGN#", remove)
    fields: dict[str, Any] = {
        "code": "SUMMER2030",
        "description": "Words.",
        "discount_percentage": Decimal(5),
        "product_id": product.id,
        "terms_conditions_link": "https://bbws.example/t",
        "from_date": date(2030, 1, 1),
        "to_date": date(2030, 12, 31),
    }
    with refuses("STATUS_CONFLICT"):
        raced.catalogue.create_campaign(fields, ADMIN)
    with refuses("PRODUCT_UNKNOWN"):
        raced.catalogue.create_campaign(fields, ADMIN)
    assert at.scan("campaigns") == []


def test_cp_d18_campaign_product_check_history_and_entries_are_one_transaction(at: Place) -> None:
    product, other = at.product(), at.product(name="Other")
    at.campaign(product, also_product_ids=[other.id])
    kinds = sorted(item["SK"]["S"].partition("#")[0] for item in at.scan("campaigns"))
    assert kinds == ["AUDIT", "METADATA", "PRODUCT"]
    names = [name for name in at.db.meter.spent() if "campaign.create" in name]
    assert names == ["campaign.create+product.check+campaign_product.put+campaign_audit.create"]
    assert at.db.meter.spent()[names[0]].calls == 1


def test_cp_d21_new_dates_are_checked_against_the_stored_ones(at: Place) -> None:
    at.campaign(at.product(), from_date=date(2030, 6, 10), to_date=date(2030, 6, 20))
    change = at.portal.catalogue.change_campaign
    with refuses("DATE_ORDER"):
        change("SUMMER2030", {"to_date": date(2030, 6, 9)}, ADMIN)
    with refuses("DATE_ORDER"):
        change("SUMMER2030", {"from_date": date(2030, 6, 21)}, ADMIN)
    both = change("SUMMER2030", {"from_date": date(2030, 7, 1), "to_date": date(2030, 7, 1)}, ADMIN)
    assert (both.from_date, both.to_date) == (date(2030, 7, 1), date(2030, 7, 1))
    assert at.portal.catalogue.offer("SUMMER2030").state == "SCHEDULED"


def test_cp_d22_a_deleted_product_makes_its_campaigns_unavailable_in_every_list(at: Place) -> None:
    product = at.product()
    at.campaign(product)
    at.portal.catalogue.change_product(product.id, {"active": False}, ADMIN)
    one = at.portal.catalogue.offer("SUMMER2030")
    listed = at.portal.catalogue.offers(PUBLIC)[0]
    of_product = at.portal.catalogue.offers_of(product.id, public=True)
    for offer in (one, *listed, *of_product):
        assert (offer.product_name, offer.original_price, offer.discounted_price) == (
            "[Product Unavailable]",
            None,
            None,
        )
    assert len(listed) == len(of_product) == 1
    # Its words may still be changed, and it may be switched off and on (CP-50).
    at.portal.catalogue.change_campaign("SUMMER2030", {"description": "New."}, ADMIN)
    at.portal.catalogue.change_campaign("SUMMER2030", {"active": False}, ADMIN)
    assert at.portal.catalogue.change_campaign("SUMMER2030", {"active": True}, ADMIN).active


def test_cp_d23_a_price_that_a_campaign_would_bring_to_nothing_is_refused_now_and_scheduled(
    at: Place,
) -> None:
    product = at.product("299.99")
    at.campaign(product, percent="99")
    low = Decimal("0.49")
    with refuses("DISCOUNT_RANGE"):
        at.portal.catalogue.change_product(product.id, {"price": low}, ADMIN)
    with refuses("DISCOUNT_RANGE"):
        _schedule(at, product, "0.49", 1)
    at.portal.catalogue.change_product(product.id, {"price": Decimal("0.50")}, ADMIN)
    at.portal.catalogue.change_campaign("SUMMER2030", {"active": False}, ADMIN)
    at.portal.catalogue.change_product(product.id, {"price": low}, ADMIN)
    with refuses("DISCOUNT_RANGE"):
        at.portal.catalogue.change_campaign("SUMMER2030", {"active": True}, ADMIN)


def test_cp_d23_a_campaign_that_has_ended_does_not_come_back_upon_a_price_it_brings_to_nothing(
    at: Place,
) -> None:
    product = at.product("299.99")
    at.campaign(product, percent="99", to_date=at.today())
    at.clock.move(timedelta(days=2))
    at.portal.catalogue.change_product(product.id, {"price": Decimal("0.49")}, ADMIN)
    with refuses("DISCOUNT_RANGE"):
        at.portal.catalogue.change_campaign("SUMMER2030", {"to_date": at.today()}, ADMIN)


def test_cp_d23_a_product_that_was_off_sale_comes_back_only_with_a_price_its_campaigns_bear(
    at: Place,
) -> None:
    product = at.product("299.99")
    at.portal.catalogue.change_product(product.id, {"active": False, "price": Decimal("0.10")}, ADMIN)
    at.portal.catalogue.change_product(product.id, {"active": True}, ADMIN)
    with refuses("DISCOUNT_RANGE"):
        at.campaign(product, percent="99")
    at.campaign(product, percent="50")
    at.portal.catalogue.change_product(product.id, {"active": False}, ADMIN)
    at.portal.catalogue.change_product(product.id, {"price": Decimal("0.01")}, ADMIN)
    at.portal.catalogue.change_campaign("SUMMER2030", {"discount_percentage": Decimal("60")}, ADMIN)
    with refuses("DISCOUNT_RANGE"):
        at.portal.catalogue.change_product(product.id, {"active": True}, ADMIN)


def test_cp_d28_a_campaign_may_have_further_products_each_once(at: Place) -> None:
    first, second, third = at.product(), at.product(name="Second"), at.product(name="Third")
    at.campaign(first, also_product_ids=[second.id])
    assert [o.campaign.code for o in at.portal.catalogue.offers_of(second.id, public=True)] == ["SUMMER2030"]
    at.portal.catalogue.change_campaign("SUMMER2030", {"also_product_ids": [third.id]}, ADMIN)
    assert at.portal.catalogue.offers_of(second.id, public=True) == []
    assert [o.campaign.code for o in at.portal.catalogue.offers_of(third.id, public=True)] == ["SUMMER2030"]
    with refuses("PRODUCTS"):
        at.portal.catalogue.change_campaign("SUMMER2030", {"also_product_ids": [third.id, third.id]}, ADMIN)
    with refuses("PRODUCT_UNKNOWN"):
        at.portal.catalogue.change_campaign("SUMMER2030", {"also_product_ids": ["prod_0000"]}, ADMIN)


def test_cp_d29_running_ended_and_coming_campaigns_can_be_told_apart(at: Place) -> None:
    product, today = at.product(), at.today()
    for code, starts, ends in (
        ("ENDED_1", -30, -1),
        ("RUNNING_1", -5, 0),
        ("COMING_1", 1, 9),
        ("LAST_DAY", 0, 0),
    ):
        at.campaign(product, code, from_date=today + timedelta(starts), to_date=today + timedelta(ends))
    states = {offer.campaign.code: offer.state for offer in at.portal.catalogue.offers(ADMIN)[0]}
    assert states == {
        "COMING_1": "SCHEDULED",
        "LAST_DAY": "RUNNING",
        "RUNNING_1": "RUNNING",
        "ENDED_1": "ENDED",
    }
    assert list(states) == ["COMING_1", "LAST_DAY", "RUNNING_1", "ENDED_1"]
    valid = [offer.campaign.code for offer in at.portal.catalogue.offers(PUBLIC, valid_only=True)[0]]
    assert valid == ["LAST_DAY", "RUNNING_1"]


def test_cp_x9_the_public_does_not_hear_of_a_campaign_before_it_begins(at: Place) -> None:
    product, today = at.product(), at.today()
    at.campaign(product, "SECRET_1", from_date=today + timedelta(1), to_date=today + timedelta(2))
    assert at.portal.catalogue.offers(PUBLIC)[0] == []
    assert at.portal.catalogue.offers_of(product.id, public=True) == []
    assert len(at.portal.catalogue.offers_of(product.id, public=False)) == 1


def test_cp_d30_a_list_of_campaigns_reads_all_its_products_at_once(at: Place) -> None:
    for number in range(20):
        product = at.product(name=f"Plan {number}")
        at.campaign(product, f"CODE_{number}")
    before = at.db.meter.spent()
    offers, _ = at.portal.catalogue.offers(PUBLIC)
    after = at.db.meter.spent()
    assert len(offers) == 20
    assert all(offer.is_available for offer in offers)
    assert after["product_by_id"].requests - before["product_by_id"].requests == 1


def test_cp_46_a_campaign_switched_off_says_so_and_leaves_lists(at: Place) -> None:
    at.campaign(at.product())
    at.portal.catalogue.change_campaign("SUMMER2030", {"active": False}, ADMIN)
    assert at.portal.catalogue.offers(PUBLIC)[0] == []
    assert [offer.state for offer in at.portal.catalogue.offers(ADMIN, active=None)[0]] == ["OFF"]
    with refuses("CAMPAIGN_UNAVAILABLE"):
        at.portal.catalogue.landing("SUMMER2030")


def test_cp_48_a_campaign_may_have_begun_and_may_be_ended_by_a_day_in_the_past(at: Place) -> None:
    made = at.campaign(at.product(), from_date=date(2020, 1, 1), to_date=at.today())
    assert at.portal.catalogue.offer(made.code).state == "RUNNING"
    at.portal.catalogue.change_campaign(made.code, {"to_date": date(2020, 1, 2)}, ADMIN)
    assert at.portal.catalogue.offer(made.code).state == "ENDED"


def test_a_new_campaign_that_is_over_already_is_refused(at: Place, api: Api) -> None:
    product = at.product()
    past = new_campaign(product, fromDate="2030-06-01", toDate="2030-06-14")
    assert refused(api.post("/campaigns", past, by="admin")) == (422, "DATE_PAST")
    # Midnight is in Johannesburg, where 14 June ends at 22:00 UTC.
    at.clock.move(timedelta(hours=-12, minutes=-1))
    given(api.post("/campaigns", past, by="admin"), 201)


def test_a_record_that_is_deleted_is_no_news_for_the_price_history(at: Place) -> None:
    product = at.product()
    gone: Change[Product] = Change("e", "REMOVE", d.products.shape, product, None, None)
    assert price_history.on_product_change(at.portal.repository, gone) is False
