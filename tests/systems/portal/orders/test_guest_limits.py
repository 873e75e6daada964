"""Orders placed without signing in: anyone can type an address, so its owner is neither flooded nor found out."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from tests.systems.portal.talk import ADMIN, BUYER, SECRET, Api, Json, Place, cart, refuses
from tests.systems.talk import given, refused

from tablewright.systems.portal.model import Tenant
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.orders.guest_limits import MAILED_PER_DAY, MAILED_PER_HOUR, ORDERS_PER_HOUR
from tablewright.systems.portal.orders.payments import PaymentEvent, SimulatedGateway
from tablewright.systems.portal.portal import open_portal

ADDRESS = "customer@example.com"
# What differs between any two orders.
OWN_NAMES = ("tenantId", "orderId", "orderNumber")


def _verify(at: Place, address: str = ADDRESS) -> Tenant:
    at.portal.verification.start(address)
    return at.portal.verification.confirm(address, at.secret_in_mail(address)[0])


# --- mail ---


def test_a_stranger_sends_an_address_no_more_than_a_few_letters_an_hour(at: Place) -> None:
    product = at.product()
    for _ in range(MAILED_PER_HOUR + 5):
        at.order(product)
    assert len(at.mails(ADDRESS)) == MAILED_PER_HOUR
    at.clock.move(timedelta(hours=1))
    at.order(product)
    assert len(at.mails(ADDRESS)) == MAILED_PER_HOUR + 1


def test_letters_to_one_address_are_limited_for_a_day_too(at: Place) -> None:
    product = at.product()
    for _ in range(12):
        for _ in range(MAILED_PER_HOUR):
            at.order(product)
        at.clock.move(timedelta(hours=1))
    assert len(at.mails(ADDRESS)) == MAILED_PER_DAY
    assert len({order.order_id for order in at.portal.tenants.orders(_tenant_id(at), ADMIN, 100).items}) == 36


def test_the_letters_are_counted_over_all_processes_and_spellings(at: Place) -> None:
    product = at.product()
    other = open_portal(at.db, at.clock.world(), SECRET, at.portal.issue)
    for n in range(6):
        portal = other if n % 2 else at.portal
        portal.checkout.place(ADDRESS.upper() if n % 3 else ADDRESS, [Line(product.id)])
    assert len(at.mails(ADDRESS)) == MAILED_PER_HOUR


def test_what_becomes_of_an_order_past_the_limit_is_not_mailed_either(at: Place) -> None:
    product = at.product()
    for _ in range(MAILED_PER_HOUR):
        at.order(product)
    before = at.mails(ADDRESS)
    at.order(product, payment_token="tok_1")
    at.order(product)
    at.clock.move(timedelta(hours=25))
    at.portal.orders.expire_unpaid()
    assert len(at.mails(ADDRESS)) == len(before) + MAILED_PER_HOUR  # those that were mailed have expired


def test_an_owner_who_signs_in_gets_no_letter_for_each_strangers_order_that_expires(at: Place) -> None:
    product = at.product()
    for _ in range(MAILED_PER_HOUR + 20):
        at.order(product)
    me = _verify(at)
    before = len(at.mails(ADDRESS))
    at.clock.move(timedelta(hours=25))
    assert at.portal.orders.expire_unpaid() == MAILED_PER_HOUR + 20
    assert len(at.mails(ADDRESS)) == before + MAILED_PER_HOUR  # those that were mailed when they were placed
    assert len(at.portal.tenants.orders(me.id, ADMIN, 100).items) == MAILED_PER_HOUR + 20


def test_a_signed_in_customer_gets_every_letter_however_many_orders_strangers_placed(at: Place) -> None:
    product, me = at.product(), at.tenant(BUYER, "REGISTERED")
    for _ in range(ORDERS_PER_HOUR):
        at.order(product)
    with refuses("CHECKOUT_LIMIT"):
        at.order(product)
    before = len(at.mails(ADDRESS))
    assert at.own_order(product, me).mailed
    assert len(at.mails(ADDRESS)) == before + 1
    at.clock.move(timedelta(hours=1))
    assert at.order(product).order_status == "PENDING"


def test_the_limit_of_orders_says_when_to_come_back(at: Place, api: Api) -> None:
    product = at.product()
    for _ in range(ORDERS_PER_HOUR):
        at.order(product)
    answer = api.post("/checkout", cart(product))
    assert refused(answer) == (429, "CHECKOUT_LIMIT")
    assert 0 < int(answer.headers["Retry-After"]) <= 3600


def test_a_count_of_orders_does_not_name_the_address(at: Place) -> None:
    at.order(at.product())
    counts = [item for item in at.scan("portal_desk") if item["PK"]["S"].startswith("ALLOWANCE#")]
    assert len(counts) == 2
    assert ADDRESS not in repr(counts)


# --- whose order it is ---


def test_a_strangers_order_is_not_in_the_customers_list_until_the_address_is_verified(
    at: Place, api: Api
) -> None:
    product, me = at.product(), at.tenant(BUYER, "REGISTERED")
    at.clock.move(timedelta(minutes=1))
    mine = at.own_order(product, me)
    theirs = at.order(product)
    assert _listed(api, me) == [mine.order_id]
    for response in (
        api.get(f"/orders/{theirs.order_id}", by=me.id),
        api.post(f"/orders/{theirs.order_id}:cancel", by=me.id),
        api.post(f"/orders/{theirs.order_id}:pay", {"paymentToken": "tok_1"}, by=me.id),
    ):
        assert refused(response) == (404, "ORDER_NOT_FOUND")
    assert [order["orderId"] for order in given(api.get("/me/export", by=me.id))["orders"]] == [mine.order_id]
    assert len(given(api.get(f"/tenants/{me.id}/orders", by="support"))["items"]) == 2
    at.clock.move(timedelta(minutes=1))
    _verify(at)
    assert set(_listed(api, me)) == {mine.order_id, theirs.order_id}
    at.clock.move(timedelta(minutes=1))
    later = at.order(product)
    assert later.order_id not in _listed(api, me)


def test_a_strangers_order_changes_nothing_of_the_customer(at: Place) -> None:
    product, me = at.product(), at.tenant(BUYER, "REGISTERED")
    at.order(product, organization_name="Another company")
    assert at.portal.tenants.get(me.id) == me


def test_an_order_for_another_address_is_a_strangers_also_when_signed_in(at: Place) -> None:
    product, me = at.product(), at.tenant("me@example.com", "REGISTERED")
    order = at.order(product, ADDRESS, buyer=me.id)
    assert order.guest
    assert order.tenant_id != me.id


# --- what a stranger learns ---


def _answer(api: Api, body: Json) -> tuple[int, Json]:
    """What an anonymous checkout answers, without the names that every order has of its own."""
    response = api.post("/checkout", body)
    found = response.json()
    assert all(found.pop(name) for name in OWN_NAMES), found
    return response.status_code, found


@pytest.mark.parametrize("token", [None, "tok_1", "tok_declined"])
def test_a_stranger_gets_the_same_answer_whatever_the_customer_of_the_address_is(
    at: Place, api: Api, token: str | None
) -> None:
    product = at.product()
    at.campaign(product, per_tenant_limit=1)
    for status in ("UNVALIDATED", "VALIDATED", "REGISTERED", "SUSPENDED"):
        at.tenant(f"{status.lower()}@example.com", status)
    gone = at.tenant("deleted@example.com", "SUSPENDED")
    for tenant in (gone, at.tenant("closed@example.com", "REGISTERED")):
        at.portal.tenants.change(tenant.id, {"active": False}, ADMIN)
    spent = at.tenant("spent@example.com", "REGISTERED")
    at.own_order(product, spent, codes=["SUMMER2030"], payment_token="tok_1")
    pays = {"paymentToken": token} if token else {}
    for codes in ([], ["SUMMER2030"]):
        answers = [
            _answer(api, cart(product, f"{who}@example.com", campaignCodes=codes, **pays))
            for who in (
                "unknown", "unvalidated", "validated", "registered", "suspended", "deleted", "closed", "spent",
            )
        ]  # fmt: skip
        assert answers == [answers[0]] * 8
        assert answers[0][0] == 201


def test_an_order_for_a_suspended_customer_is_on_hold_and_only_the_address_is_told(at: Place) -> None:
    product, bad = at.product(), at.tenant(BUYER, "SUSPENDED")
    order = at.order(product, payment_token="tok_1")
    assert order.order_status == "PAID"
    assert any("suspended" in mail and "on hold" in mail for mail in at.mails(ADDRESS))
    assert at.portal.tenants.get(bad.id) == bad


def test_an_order_over_a_customers_limit_is_on_hold_and_cannot_be_paid_by_them(at: Place) -> None:
    product, me = at.product(), at.tenant(BUYER, "REGISTERED")
    at.campaign(product, per_tenant_limit=1)
    at.own_order(product, me)
    held = at.order(product)
    assert (held.discount, held.over_limit) == (Decimal("60.00"), True)
    (mail,) = [mail for mail in at.mails(ADDRESS) if "on hold" in mail]
    assert "You have already used this offer" in mail
    assert "Nothing was charged" in mail
    with refuses("ORDER_ON_HOLD"):
        at.portal.orders.pay(held.order_id, "tok_1", me)
    assert at.portal.orders.cancel(held.order_id, ADMIN).order_status == "CANCELLED"
    assert at.portal.repository.used(["SUMMER2030"]) == {"SUMMER2030": 1}


# --- no money before it is known whether the offer was used before ---


class Till(SimulatedGateway):
    """A gateway that remembers what it was asked for."""

    def __init__(self, secret: bytes) -> None:
        super().__init__(secret)
        self.asked: list[Decimal] = []

    def authorise(self, order_id: str, amount: Decimal, currency: str, token: str) -> PaymentEvent:
        self.asked.append(amount)
        return super().authorise(order_id, amount, currency, token)


def test_a_guest_pays_an_offer_limited_per_customer_once_the_address_is_verified(at: Place) -> None:
    product, till = at.product("100.00"), Till(SECRET)
    at.campaign(product, percent="50", per_tenant_limit=1)
    portal = open_portal(at.db, at.clock.world(), SECRET, at.portal.issue, payments=till)
    order = portal.checkout.place(ADDRESS, [Line(product.id)], payment_token="tok_1", agreed=Decimal(50))
    assert (order.order_status, order.total, till.asked) == ("PENDING", Decimal("50.00"), [])
    assert any("It is not paid yet. Please pay by" in mail for mail in at.mails(ADDRESS))
    with refuses("NOT_VERIFIED"):
        portal.orders.pay(order.order_id, "tok_1")
    assert till.asked == []
    at.clock.move(timedelta(minutes=1))
    assert portal.orders.pay(order.order_id, "tok_1", _verify(at)).order_status == "PAID"
    assert till.asked == [Decimal("50.00")]


def test_a_returning_guest_is_charged_nothing_for_an_offer_used_before_and_buys_without_it_signed_in(
    at: Place,
) -> None:
    product, till = at.product("100.00"), Till(SECRET)
    at.campaign(product, percent="50", per_tenant_limit=1)
    portal = open_portal(at.db, at.clock.world(), SECRET, at.portal.issue, payments=till)
    at.own_order(product, at.tenant(BUYER, "REGISTERED"), payment_token="tok_1")
    order = portal.checkout.place(ADDRESS, [Line(product.id)], payment_token="tok_1", agreed=Decimal(50))
    assert order.order_status == "PENDING"
    with refuses("NOT_VERIFIED"):  # a stranger is told what every guest is told
        portal.orders.pay(order.order_id, "tok_1")
    at.clock.move(timedelta(minutes=1))
    me = _verify(at)
    with refuses("ORDER_ON_HOLD"):
        portal.orders.pay(order.order_id, "tok_1", me)
    assert till.asked == []
    bought = portal.checkout.place(
        ADDRESS, [Line(product.id)], payment_token="tok_1", agreed=Decimal(100), buyer=me.id
    )
    assert (bought.order_status, till.asked) == ("PAID", [Decimal("100.00")])


# --- helpers ---


def _tenant_id(at: Place) -> str:
    found = at.portal.repository.tenant_of(ADDRESS)
    assert found is not None
    return found.id


def _listed(api: Api, me: Tenant) -> list[str]:
    return [order["orderId"] for order in given(api.get("/me/orders", by=me.id))["items"]]
