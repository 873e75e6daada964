"""One address, one guard; one key, one order; one event, one payment: on every way to a database."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from tests.client.ways import WAYS
from tests.systems.portal.talk import ADMIN, Place
from tests.systems.talk import at_once

from tablewright.systems.portal.model import Order
from tablewright.systems.portal.orders.checkout import Line


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_hundred_writers_who_change_addresses_leave_one_guard_for_each_live_address(at: Place) -> None:
    """Ten tenants, each pulled towards twelve addresses by ten admins, some of them wanted by several."""
    tenants = [at.portal.tenants.create(f"t{n}@example.com", None, None, ADMIN) for n in range(10)]
    work = [
        partial(at.portal.tenants.change_email, tenants[n % 10].id, f"new{n * 7 % 12}@Example.com", ADMIN)
        for n in range(100)
    ]
    outcomes = at_once(work)
    assert any(not isinstance(outcome, Exception) for outcome in outcomes)
    assert all(
        getattr(o, "code", "") in ("EMAIL_EXISTS", "STATUS_CONFLICT")
        for o in outcomes
        if isinstance(o, Exception)
    )
    live = {item["email"]["S"]: item["id"]["S"] for item in at.roots()}
    assert len(live) == 10
    assert at.guards() == live


def test_a_replayed_order_and_a_replayed_payment_change_nothing_hours_days_and_a_month_later(
    at: Place,
) -> None:
    product, me = at.product(), at.tenant("a@example.com", "REGISTERED")
    at.campaign(product, redemption_limit=1, per_tenant_limit=1)

    def again() -> Order:
        return at.own_order(product, me, codes=["SUMMER2030"], payment_token="tok_1", key="key-0001")

    first = again()
    event = at.portal.payments.authorise(first.order_id, first.total, "ZAR", "tok_1")
    before = at.everything()
    for later in (timedelta(minutes=11), timedelta(hours=5), timedelta(days=8), timedelta(days=20)):
        at.clock.move(later)
        assert again() == first
        assert at.portal.orders.paid(event) == first
        assert at.everything() == before
    # Receipts are kept for 30 days. After that a key is as good as new, here for a campaign that has ended; what an
    # order has been paid is still known, because the order says so.
    at.clock.move(timedelta(days=3))
    assert at.portal.orders.paid(event) == first
    assert at.everything() == before
    second = at.portal.checkout.place("a@example.com", [Line(product.id)], key="key-0001")
    assert second.order_id != first.order_id
    assert second.total == Decimal("299.99")
