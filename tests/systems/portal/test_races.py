"""Everything at once: what must be true whoever is faster. Each is held by a condition of the write itself."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from tests.systems.portal.talk import ADMIN, BUYER, OTHER_ADMIN, Place, meddled, refuses
from tests.systems.talk import at_once

from tablewright.kit.tables import Actor
from tablewright.systems.portal import design as d
from tablewright.systems.portal.model import Order, Tenant
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.orders.payments import PaymentEvent
from tablewright.systems.portal.portal import Portal
from tablewright.systems.portal.repository import SYSTEM

USER = Actor("me@example.com", "user", "me")


def _buys(portal: Portal, product_id: str, *codes: str) -> Order:
    return portal.checkout.place(BUYER, [Line(product_id)], codes=codes)


def _buys_signed_in(portal: Portal, product_id: str, tenant: Tenant, *codes: str) -> Order:
    return portal.checkout.place(tenant.email, [Line(product_id)], codes=codes, buyer=tenant.id)


# --- checkout against somebody else ---


def test_a_suspension_in_the_moment_of_a_checkout_stops_the_order(at: Place) -> None:
    product, tenant = at.product(), at.tenant()
    suspend = partial(at.portal.tenants.move, tenant.id, "SUSPENDED", ADMIN, reason="charged back")
    with refuses("TENANT_SUSPENDED"):
        _buys_signed_in(meddled(at, "ORDER#", suspend), product.id, tenant)
    assert list(at.db.all(d.orders_of_tenant(tenant_id=tenant.id))) == []
    assert at.mails("customer@example.com") == []


def test_a_deletion_in_the_moment_of_a_checkout_is_undone_by_it(at: Place) -> None:
    product, tenant = at.product(), at.tenant()
    delete = partial(at.portal.tenants.change, tenant.id, {"active": False}, ADMIN)
    order = _buys(meddled(at, "ORDER#", delete), product.id)
    assert order.tenant_id == tenant.id
    assert at.portal.tenants.get(tenant.id).active


def test_a_restoration_in_the_moment_of_a_checkout_does_not_hinder_it(at: Place) -> None:
    product, tenant = at.product(), at.tenant()
    at.portal.tenants.change(tenant.id, {"active": False}, ADMIN)
    restore = partial(at.portal.tenants.restore, tenant.id, ADMIN)
    order = _buys(meddled(at, "reactivated", restore), product.id)
    assert order.tenant_id == tenant.id
    assert [action for action, *_ in at.history(tenant.id)].count("reactivated") == 0


def test_an_erasure_in_the_moment_of_a_checkout_makes_the_buyer_a_new_tenant(at: Place) -> None:
    product, tenant = at.product(), at.tenant()
    erase = partial(at.portal.privacy.erase, tenant.id, ADMIN, "asked for")
    order = _buys(meddled(at, "ORDER#", erase), product.id)
    assert order.tenant_id != tenant.id
    assert list(at.db.all(d.orders_of_tenant(tenant_id=tenant.id))) == []
    assert at.portal.tenants.get(tenant.id).erased_at is not None


def test_a_change_of_address_in_the_moment_of_a_checkout_sends_nothing_to_the_wrong_one(at: Place) -> None:
    product, tenant = at.product(), at.tenant()
    move = partial(at.portal.tenants.change_email, tenant.id, "elsewhere@example.com", ADMIN)
    order = _buys(meddled(at, "ORDER#", move), product.id)
    assert order.tenant_id != tenant.id
    assert len(at.mails("customer@example.com")) == 1


def test_a_price_that_changes_in_the_moment_of_a_checkout_is_the_one_that_is_charged(at: Place) -> None:
    product = at.product("100.00")
    rise = partial(at.portal.catalogue.change_product, product.id, {"price": Decimal("150.00")}, ADMIN)
    assert _buys(meddled(at, "ORDER#", rise), product.id).total == Decimal("150.00")


def test_an_old_price_that_is_scheduled_to_come_back_is_not_charged_before(at: Place) -> None:
    product = at.product("100.00")
    later = at.clock.now() + timedelta(days=1)
    changes = {"price": Decimal("150.00"), "next_price": Decimal("100.00"), "next_price_from": later}
    swap = partial(at.portal.catalogue.change_product, product.id, changes, ADMIN)
    assert _buys(meddled(at, "ORDER#", swap), product.id).total == Decimal("150.00")


def test_a_product_taken_off_sale_in_the_moment_of_a_checkout_is_not_sold(at: Place) -> None:
    product = at.product()
    remove = partial(at.portal.catalogue.change_product, product.id, {"active": False}, ADMIN)
    with refuses("PRODUCT_UNKNOWN"):
        _buys(meddled(at, "ORDER#", remove), product.id)


def test_a_campaign_switched_off_in_the_moment_of_a_checkout_gives_nothing(at: Place) -> None:
    product = at.product()
    at.campaign(product)
    off = partial(at.portal.catalogue.change_campaign, "SUMMER2030", {"active": False}, ADMIN)
    with refuses("CAMPAIGN_UNAVAILABLE"):
        _buys(meddled(at, "ORDER#", off), product.id, "SUMMER2030")
    assert at.portal.repository.used(["SUMMER2030"]) == {}


def test_a_discount_that_was_checked_against_a_price_that_fell_meanwhile_is_not_written(at: Place) -> None:
    product = at.product("299.99")
    drop = partial(at.portal.catalogue.change_product, product.id, {"price": Decimal("0.10")}, ADMIN)
    at.campaign(product, percent="20")
    raced = meddled(at, "CAMPAIGN#SUMMER2030", drop)
    with refuses("STATUS_CONFLICT"):
        raced.catalogue.change_campaign("SUMMER2030", {"discount_percentage": Decimal("99.9")}, ADMIN)
    assert at.portal.catalogue.offer("SUMMER2030").discounted_price == Decimal("0.08")


# --- limits ---


def test_of_fifty_checkouts_at_once_a_campaign_with_ten_uses_is_given_ten_times(at: Place) -> None:
    product = at.product()
    at.campaign(product, redemption_limit=10)

    def buy(number: int) -> Order:
        return at.portal.checkout.place(f"t{number}@example.com", [Line(product.id)], codes=["SUMMER2030"])

    outcomes = at_once([partial(buy, n) for n in range(50)])
    won = [one for one in outcomes if isinstance(one, Order)]
    assert len(won) == 10
    assert {getattr(one, "code", one) for one in outcomes if not isinstance(one, Order)} == {
        "CAMPAIGN_EXHAUSTED"
    }
    assert at.portal.repository.used(["SUMMER2030"]) == {"SUMMER2030": 10}
    assert {order.total for order in won} == {Decimal("239.99")}


def test_of_twenty_checkouts_of_one_tenant_a_campaign_for_two_each_is_given_twice(at: Place) -> None:
    product = at.product()
    at.campaign(product, per_tenant_limit=2)
    buy = partial(_buys_signed_in, at.portal, product.id, at.tenant(), "SUMMER2030")
    outcomes = at_once([buy] * 20)
    assert sum(isinstance(one, Order) for one in outcomes) == 2
    assert {getattr(one, "code", one) for one in outcomes if not isinstance(one, Order)} == {"CAMPAIGN_LIMIT"}


def test_of_twenty_guests_with_one_address_two_get_a_campaign_for_two_each_and_the_others_are_on_hold(
    at: Place,
) -> None:
    product = at.product()
    at.campaign(product, per_tenant_limit=2)
    outcomes = at_once([partial(_buys, at.portal, product.id, "SUMMER2030")] * 20)
    placed = [one for one in outcomes if isinstance(one, Order)]
    assert sorted(one.over_limit for one in placed) == [False] * 2 + [True] * 18


def test_twenty_requests_with_one_key_at_once_are_one_order(at: Place) -> None:
    product = at.product()
    at.campaign(product, redemption_limit=1)

    def buy() -> Order:
        return at.portal.checkout.place(BUYER, [Line(product.id)], codes=["SUMMER2030"], key="key-0001")

    outcomes = at_once([buy for _ in range(20)])
    assert {one.order_id if isinstance(one, Order) else one for one in outcomes} == {
        order.order_id for order in at.db.all(d.orders_by_status(status="PENDING"))
    }


# --- two at the same record ---


def test_two_admins_who_change_different_fields_at_once_both_succeed(at: Place) -> None:
    product = at.product()
    rename = partial(at.portal.catalogue.change_product, product.id, {"name": "New name"}, OTHER_ADMIN)
    raced = meddled(at, "PRODUCT#", rename)
    after, _ = raced.catalogue.change_product(product.id, {"price": Decimal("10.00")}, ADMIN)
    assert (after.name, after.price, after.version) == ("New name", Decimal("10.00"), 3)
    actors = {entry.actor for entry in at.db.all(d.audits["products"].of(product.id))}
    assert actors == {ADMIN.name, OTHER_ADMIN.name}


def test_an_admin_who_named_a_version_is_told_when_another_was_faster(at: Place) -> None:
    product = at.product()
    rename = partial(at.portal.catalogue.change_product, product.id, {"name": "New name"}, OTHER_ADMIN)
    with refuses("STALE"):
        meddled(at, "PRODUCT#", rename).catalogue.change_product(
            product.id, {"price": Decimal("10.00")}, ADMIN, expected=1
        )
    assert at.portal.catalogue.product(product.id).price == Decimal("299.99")


def test_cp_d4_a_status_that_changed_meanwhile_is_a_conflict(at: Place) -> None:
    tenant = at.tenant()
    verify = partial(at.portal.tenants.move, tenant.id, "VALIDATED", SYSTEM)
    with refuses("STATUS_CONFLICT"):
        meddled(at, "TENANT#", verify).tenants.move(tenant.id, "SUSPENDED", ADMIN, reason="why")
    assert at.portal.tenants.get(tenant.id).status == "VALIDATED"
    assert [action for action, *_ in at.history(tenant.id)].count("moved") == 1


@pytest.mark.parametrize("paid_first", [True, False])
def test_an_order_is_either_paid_or_cancelled(at: Place, paid_first: bool) -> None:
    order = at.order(at.product())
    event = at.portal.payments.authorise(order.order_id, order.total, "ZAR", "tok_1")

    def pay(portal: Portal) -> Order:
        return portal.orders.paid(event)

    def cancel(portal: Portal) -> Order:
        return portal.orders.cancel(order.order_id, USER)

    if paid_first:
        with refuses("STATUS_CONFLICT"):
            cancel(meddled(at, "ORDER#", partial(pay, at.portal)))
        assert len(at.mails("customer@example.com")) == 2
    else:
        pay(meddled(at, "ORDER#", partial(cancel, at.portal)))
    assert at.portal.orders.order(order.order_id).order_status == ("PAID" if paid_first else "CANCELLED")


def test_money_for_an_order_that_was_cancelled_meanwhile_goes_back_once(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = at.order(at.product())
    event = at.portal.payments.authorise(order.order_id, order.total, "ZAR", "tok_1")
    given_back = []
    refund = at.portal.payments.refund

    def noted(order_id: str, reference: str, amount: Decimal) -> PaymentEvent:
        given_back.append((order_id, reference, amount))
        return refund(order_id, reference, amount)

    monkeypatch.setattr(at.portal.payments, "refund", noted)
    at.portal.orders.cancel(order.order_id, USER)
    for _ in range(3):
        assert at.portal.orders.paid(event).order_status == "CANCELLED"
    # The gateway takes the same refund as one; the customer and the record are told once.
    assert set(given_back) == {(order.order_id, event.reference, order.total)}
    assert [entry.action for entry in at.db.all(d.audits["tenants"].of(order.tenant_id))].count(
        "payment given back"
    ) == 1
    assert sum("so we returned the money" in mail for mail in at.mails("customer@example.com")) == 1


def test_one_event_told_by_twenty_at_once_pays_once(at: Place) -> None:
    order = at.order(at.product())
    event = at.portal.payments.authorise(order.order_id, order.total, "ZAR", "tok_1")
    outcomes = at_once([partial(at.portal.orders.paid, event) for _ in range(20)])
    assert {one.order_status if isinstance(one, Order) else one for one in outcomes} == {"PAID"}
    assert [action for action, *_ in at.history(order.tenant_id)] == ["order is paid"]
    assert len(at.mails("customer@example.com")) == 2


def test_a_payment_told_in_the_moment_of_an_erasure_writes_no_mail(at: Place) -> None:
    order = at.order(at.product())
    event = at.portal.payments.authorise(order.order_id, order.total, "ZAR", "tok_1")
    erase = partial(at.portal.privacy.erase, order.tenant_id, ADMIN, "asked for")
    paid = meddled(at, "ORDER#", erase).orders.paid(event)
    assert paid.order_status == "PAID"
    assert at.mails("customer@example.com") == []
    assert "customer@example.com" not in repr(at.everything())


def test_a_secret_works_once_however_many_use_it_at_once(at: Place) -> None:
    tenant = at.tenant()
    at.portal.verification.start(tenant.email)
    code, _ = at.secret_in_mail(tenant.email)
    outcomes = at_once([partial(at.portal.verification.confirm, tenant.email, code) for _ in range(5)])
    assert sum(not isinstance(one, Exception) for one in outcomes) == 1
    assert {getattr(one, "code", one) for one in outcomes if isinstance(one, Exception)} == {"CODE_INVALID"}


def test_twenty_registrations_of_one_tenant_at_once_are_one(at: Place) -> None:
    tenant = at.tenant(status="VALIDATED")
    outcomes = at_once([partial(at.portal.verification.register, tenant.id) for _ in range(20)])
    assert {getattr(one, "status", one) for one in outcomes} == {"REGISTERED"}
    assert [action for action, *_ in at.history(tenant.id)].count("registered") == 1


def test_a_secret_sent_in_the_moment_of_an_erasure_is_not_sent(at: Place) -> None:
    tenant = at.tenant()
    erase = partial(at.portal.privacy.erase, tenant.id, ADMIN, "asked for")
    meddled(at, "CHALLENGE#", erase).verification.start(tenant.email)
    assert at.mails(tenant.email) == []
