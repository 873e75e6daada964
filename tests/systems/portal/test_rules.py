"""The rules as sentences that hold for every price, discount, cart and moment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_DOWN, Decimal
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablewright.edge.errors import CallerError
from tablewright.systems.portal import field_rules, rules
from tablewright.systems.portal.catalogue.price_history import price_steps
from tablewright.systems.portal.model import Campaign, Product, Status, Tenant
from tablewright.systems.portal.orders import pricing

R = TypeVar("R")
NOW = datetime(2030, 6, 15, 10, tzinfo=UTC)
MIDNIGHT = ZoneInfo("Africa/Johannesburg")
STATES: tuple[Status, ...] = ("UNVALIDATED", "VALIDATED", "REGISTERED", "SUSPENDED")

prices = st.decimals(min_value="0.01", max_value=field_rules.MAX_PRICE, places=2)
percents = st.decimals(min_value=0, max_value="99.9999", places=4)
quantities = st.integers(1, rules.MAX_QUANTITY)
days = st.dates(date(2001, 1, 1), date(2100, 1, 1))
moments = st.datetimes(datetime(2001, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


def _outcome(rule: Callable[..., R], *given: Any) -> R | str:
    """What a rule says, or the code of its refusal."""
    try:
        return rule(*given)
    except CallerError as mistake:
        return mistake.code


def _product(price: Decimal, number: int = 0, **more: Any) -> Product:
    return Product(
        id=f"prod_{number:08}",
        name=f"Plan {number}",
        description="Words.",
        price=price,
        billing_cycle="monthly",
        date_created=NOW,
        date_last_updated=NOW,
        last_updated_by="x",
        **more,
    )


def _campaign(percent: Decimal, *products: Product, **more: Any) -> Campaign:
    given: dict[str, Any] = {
        "from_date": date(2030, 6, 1),
        "to_date": date(2030, 6, 30),
        "code": "SUMMER2030",
    } | more
    return Campaign(
        id="camp_12345678",
        description="Words.",
        discount_percentage=percent,
        product_id=products[0].id if products else "prod_00000000",
        also_product_ids=[product.id for product in products[1:]],
        terms_conditions_link="https://bbws.example",
        date_created=NOW,
        date_last_updated=NOW,
        last_updated_by="x",
        **given,
    )


def _tenant(status: Status, **more: Any) -> Tenant:
    return Tenant(
        id="tenant_12345678", email="a@example.com", status=status, date_created=NOW, date_last_updated=NOW,
        last_updated_by="x", **more,
    )  # fmt: skip


carts = st.lists(st.tuples(prices, quantities), min_size=1, max_size=6).map(
    lambda lines: [(_product(price, number), quantity) for number, (price, quantity) in enumerate(lines)]
)


# --- money ---


@pytest.mark.parametrize(
    ("amount", "charged"),
    [("0.125", "0.13"), ("0.124", "0.12"), ("2.675", "2.68"), ("239.992", "239.99"), ("0.005", "0.01")],
)
def test_cp_d24_half_a_cent_is_rounded_up(amount: str, charged: str) -> None:
    assert rules.cents(Decimal(amount)) == Decimal(charged)


@given(prices, percents)
def test_cp_d24_a_discounted_price_is_within_half_a_cent_of_the_exact_one_and_halves_go_up(
    price: Decimal, percent: Decimal
) -> None:
    final = rules.discounted(price, percent)
    exact = price * (100 - percent) / 100
    assert final == final.quantize(rules.CENT)
    assert -rules.CENT / 2 < final - exact <= rules.CENT / 2 or final - exact == rules.CENT / 2


@given(prices, percents)
def test_a_discount_never_makes_dearer_and_what_passes_the_check_is_never_free(
    price: Decimal, percent: Decimal
) -> None:
    final = rules.discounted(price, percent)
    assert 0 <= final <= price
    said = _outcome(rules.check_discounted, percent, price)
    assert said == ("DISCOUNT_RANGE" if final == 0 else None)


@given(prices, percents, percents)
def test_a_larger_discount_never_leaves_more_to_pay(price: Decimal, one: Decimal, other: Decimal) -> None:
    small, large = sorted((one, other))
    assert rules.discounted(price, large) <= rules.discounted(price, small)


@given(carts, percents)
def test_lines_sum_to_the_total_and_vat_is_inside_it(
    cart: list[tuple[Product, int]], percent: Decimal
) -> None:
    campaign = _campaign(percent, *(product for product, _ in cart[:3]))
    items = pricing.items_of(cart, campaign, NOW)
    subtotal, discount, tax, total = pricing.totals(items)
    assert sum(item.line_total for item in items) == total
    assert subtotal - discount == total
    assert discount >= 0
    assert abs((total - tax) * Decimal("1.15") - total) <= Decimal("0.01")
    assert 0 <= tax < total or total == 0
    for (product, quantity), item in zip(cart, items, strict=True):
        share = 100 - percent if rules.covers(campaign, product.id) else Decimal(100)
        exact = item.unit_price * quantity * share / 100
        assert abs(item.line_total - exact) <= Decimal("0.005")
        assert abs(item.discounted_unit_price * quantity - item.line_total) <= Decimal("0.005") * (
            quantity + 1
        )
    for amount in (subtotal, discount, tax, total):
        assert amount == amount.quantize(rules.CENT, ROUND_DOWN)


def test_a_discount_is_rounded_once_for_a_line_and_not_for_each_unit() -> None:
    product = _product(Decimal("99.99"), 1)
    (item,) = pricing.items_of([(product, 100)], _campaign(Decimal(50), product), NOW)
    assert (item.discounted_unit_price, item.line_total) == (Decimal("50.00"), Decimal("4999.50"))


@given(carts, st.lists(percents, min_size=1, max_size=4))
def test_cp_x9_the_best_single_campaign_is_chosen_and_nothing_stacks(
    cart: list[tuple[Product, int]], found: list[Decimal]
) -> None:
    campaigns = [
        _campaign(percent, cart[n % len(cart)][0], code=f"CODE_{n}") for n, percent in enumerate(found)
    ]
    best = pricing.best_campaign(cart, campaigns, NOW)
    discounts = [pricing.totals(pricing.items_of(cart, campaign, NOW))[1] for campaign in campaigns]
    assert pricing.totals(pricing.items_of(cart, best, NOW))[1] == max(discounts)


def test_a_campaign_for_other_products_is_no_help() -> None:
    assert (
        pricing.best_campaign(
            [(_product(Decimal(1), 1), 1)], [_campaign(Decimal(50), _product(Decimal(1), 2))], NOW
        )
        is None
    )


@given(prices, prices, st.integers(-5, 5))
def test_a_scheduled_price_is_the_price_from_its_very_moment(
    now: Decimal, then: Decimal, seconds: int
) -> None:
    product = _product(now, next_price=then, next_price_from=NOW)
    moment = NOW + timedelta(seconds=seconds)
    expected = then if seconds >= 0 else now
    assert rules.price_at(product, moment) == expected
    settled = rules.settled(product, moment)
    assert (settled.price, rules.price_at(settled, moment)) == (expected, expected)
    assert (settled.next_price is None) is (seconds >= 0)


@given(prices, prices, prices)
def test_the_steps_of_a_price_lead_from_the_old_one_to_the_new_one(
    old: Decimal, due: Decimal, new: Decimal
) -> None:
    before = _product(old, next_price=due, next_price_from=NOW)
    later = NOW + timedelta(hours=1)
    after = rules.settled(before, later).model_copy(update={"price": new, "date_last_updated": later})
    steps = price_steps(before, after)
    walk = [old]
    for step in steps:
        assert step.old_price == walk[-1] != step.new_price
        walk.append(step.new_price)
    assert walk[-1] == new
    assert len({step.at for step in steps}) == len(steps)


@given(carts, prices)
def test_an_order_never_changes_by_a_later_price(cart: list[tuple[Product, int]], price: Decimal) -> None:
    items = pricing.items_of(cart, None, NOW)
    before = [item.model_copy() for item in items]
    _ = [(product.model_copy(update={"price": price}), quantity) for product, quantity in cart]
    assert list(items) == before
    with pytest.raises(Exception, match="frozen"):
        items[0].unit_price = price


def test_money_in_a_sentence_has_two_places() -> None:
    assert [rules.rand(Decimal(text)) for text in ("100", "99.9", "1E+2")] == [
        "R 100.00",
        "R 99.90",
        "R 100.00",
    ]


# --- days ---


@given(days, st.integers(0, 400), moments)
def test_cp_d26_a_campaign_is_on_from_its_first_midnight_to_its_last_in_johannesburg(
    first: date, length: int, moment: datetime
) -> None:
    campaign = _campaign(Decimal(5), from_date=first, to_date=first + timedelta(days=length))
    begins = datetime(first.year, first.month, first.day, tzinfo=MIDNIGHT)
    ends = begins + timedelta(days=length + 1)
    assert rules.is_valid(campaign, moment) is (begins <= moment < ends)


@given(days, st.integers(0, 60))
def test_cp_d26_at_the_borders_of_its_days_a_campaign_changes_by_the_millisecond(
    first: date, length: int
) -> None:
    campaign = _campaign(Decimal(5), from_date=first, to_date=first + timedelta(days=length))
    # South Africa has no summer time: midnight there is 22:00 UTC of the day before, all year.
    begins = datetime(first.year, first.month, first.day, tzinfo=UTC) - timedelta(hours=2)
    ends = begins + timedelta(days=length + 1)
    tick = timedelta(milliseconds=1)
    seen = [rules.is_valid(campaign, moment) for moment in (begins - tick, begins, ends - tick, ends)]
    assert seen == [False, True, True, False]
    words = [rules.state_of(campaign, 0, moment) for moment in (begins - tick, begins, ends - tick, ends)]
    assert words == ["SCHEDULED", "RUNNING", "RUNNING", "ENDED"]


def test_a_campaign_switched_off_or_used_up_says_so() -> None:
    off = _campaign(Decimal(5), active=False)
    limited = _campaign(Decimal(5), redemption_limit=2)
    assert rules.state_of(off, 0, NOW) == "OFF"
    assert [rules.state_of(limited, used, NOW) for used in (1, 2, 3)] == ["RUNNING", "EXHAUSTED", "EXHAUSTED"]
    assert not rules.is_valid(off, NOW)


# --- words ---


@given(st.text(max_size=40))
def test_cp_d31_a_code_is_refused_or_comes_out_the_same_way_always(text: str) -> None:
    code = _outcome(rules.campaign_code, text)
    if code == "CODE_FORMAT" and text.strip().upper() != code:
        return
    assert 3 <= len(code) <= 32
    assert rules.campaign_code(code) == rules.campaign_code(f" {code.lower()} ") == code
    assert set(code) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


@given(st.text(max_size=60) | st.emails())
def test_an_address_is_refused_or_has_one_spelling(text: str) -> None:
    address = _outcome(rules.email_address, text)
    if address == "INVALID_EMAIL":
        return
    assert rules.email_address(address) == address
    assert rules.email_address(f"  {address.upper()} ") == address or not address.isascii()
    assert "@" in address
    assert not any(letter.isspace() for letter in address)


@given(
    st.sampled_from(STATES),
    st.sampled_from(STATES),
    st.sampled_from(("system", "user", "support", "admin", "override")),
)
def test_cp_d5_a_suspension_remembers_and_any_other_status_forgets(
    start: Status, end: Status, actor: str
) -> None:
    tenant = _tenant(start, previous_status="VALIDATED" if start == "SUSPENDED" else None)
    moved = _outcome(rules.moved, tenant, end, actor, "why")
    if isinstance(moved, str):
        assert moved == "INVALID_TRANSITION" or (moved, actor) == ("ADMIN_ONLY", "support")
        assert actor != "override" or start == end
        return
    assert moved.status == end != start
    remembered = (start, "why") if end == "SUSPENDED" else (None, None)
    assert (moved.previous_status, moved.suspension_reason) == remembered


def test_an_order_number_can_be_read_out_and_names_the_day_there() -> None:
    late = datetime(2030, 6, 15, 22, 30, tzinfo=UTC)
    assert rules.order_number(late, "ord_0123-4567-89ab-cdef") == "BB-20300616-89ABCDEF"


@pytest.mark.parametrize(
    "address", ["a\u200b@b.com", "\x00@b.com", "a\u00ad@b.com", "a b@c.com", "a@\u202eb.com"]
)
def test_an_address_has_no_characters_one_cannot_see(address: str) -> None:
    with pytest.raises(CallerError) as caught:
        rules.email_address(address)
    assert caught.value.code == "INVALID_EMAIL"
