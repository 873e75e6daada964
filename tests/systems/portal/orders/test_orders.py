"""Orders that are paid later: by their customer, by hand, or never (CP-X1, CP-X9)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from tests.systems.portal.talk import ADMIN, BUYER, SECRET, Api, Place, meddled, refuses
from tests.systems.talk import at_once, given, refused

from tablewright.kit.tables import Actor
from tablewright.systems.portal import design as d
from tablewright.systems.portal.model import CampaignUsage, Order
from tablewright.systems.portal.orders.payments import PaymentEvent, SimulatedGateway
from tablewright.systems.portal.portal import open_portal

USER = Actor("customer@example.com", "user")
ADDRESS = "customer@example.com"


def _paid(order: Order, reference: str = "pay_late") -> PaymentEvent:
    return PaymentEvent(f"evt_{reference}", "paid", order.order_id, reference, order.total)


class CountingGateway(SimulatedGateway):
    """A gateway that remembers what it gave back."""

    def __init__(self, secret: bytes) -> None:
        super().__init__(secret)
        self.refunds: list[str] = []

    def refund(self, order_id: str, reference: str, amount: Decimal) -> PaymentEvent:
        self.refunds.append(reference)
        return super().refund(order_id, reference, amount)


# --- by the customer ---


def test_an_order_that_waits_can_be_paid_by_its_customer_and_once_only(at: Place, api: Api) -> None:
    me = at.tenant(BUYER, "REGISTERED")
    order = at.own_order(at.product(), me)
    path = f"/orders/{order.order_id}:pay"
    paid = given(api.post(path, {"paymentToken": "tok_1"}, by=me.id))
    assert paid["orderStatus"] == "PAID"
    before = at.everything()
    assert given(api.post(path, {"paymentToken": "tok_1"}, by=me.id)) == paid
    assert at.everything() == before
    assert any("We received your payment of R 299.99" in mail for mail in at.mails(ADDRESS))


def test_a_declined_card_leaves_the_order_waiting_for_another(at: Place, api: Api) -> None:
    me = at.tenant(BUYER, "REGISTERED")
    order = at.own_order(at.product(), me)
    path = f"/orders/{order.order_id}:pay"
    assert refused(api.post(path, {"paymentToken": "tok_declined"}, by=me.id)) == (422, "PAYMENT_DECLINED")
    assert at.portal.orders.order(order.order_id) == order
    assert given(api.post(path, {"paymentToken": "tok_1"}, by=me.id))["orderStatus"] == "PAID"


def test_a_declined_card_that_the_gateway_tells_of_later_leaves_the_order_as_it_is(at: Place) -> None:
    order = at.order(at.product())
    with refuses("PAYMENT_DECLINED"):
        at.portal.orders.pay(order.order_id, "tok_declined")
    declined = PaymentEvent("evt_declined", "declined", order.order_id, "pay_declined", order.total)
    assert at.portal.orders.paid(declined).order_status == "PENDING"
    paid = at.portal.orders.pay(order.order_id, "tok_1")
    assert at.portal.orders.paid(declined) == paid


def test_a_second_payment_for_an_order_that_is_paid_goes_back_with_a_trace(at: Place) -> None:
    gateway = CountingGateway(SECRET)
    orders = open_portal(at.db, at.clock.world(), SECRET, at.portal.issue, payments=gateway).orders
    order = at.order(at.product(), payment_token="tok_1")
    for _ in range(2):
        told = orders.paid(_paid(order, "pay_2"))
        assert (told.order_status, told.payment_reference) == ("PAID", order.payment_reference)
    assert gateway.refunds == ["pay_2"]
    assert [action for action, *_ in at.history(order.tenant_id)].count("payment given back") == 1
    assert (
        sum("was already paid when your payment of R 299.99 arrived" in mail for mail in at.mails(ADDRESS))
        == 1
    )


def test_ten_payments_of_one_order_at_once_are_one(at: Place) -> None:
    me = at.tenant(BUYER, "REGISTERED")
    order = at.own_order(at.product(), me)
    outcomes = at_once([partial(at.portal.orders.pay, order.order_id, "tok_1", me)] * 10)
    assert {one.order_status if isinstance(one, Order) else one for one in outcomes} == {"PAID"}
    assert [action for action, *_ in at.history(me.id)].count("order is paid") == 1


def test_an_order_is_paid_by_its_own_customer_and_never_by_staff_with_a_card(at: Place, api: Api) -> None:
    me, other = at.tenant(BUYER, "REGISTERED"), at.tenant("other@example.com", "REGISTERED")
    path = f"/orders/{at.own_order(at.product(), me).order_id}:pay"
    assert refused(api.post(path, {"paymentToken": "tok_1"}, by=other.id)) == (404, "ORDER_NOT_FOUND")
    assert refused(api.post(path, {"paymentToken": "tok_1"}, by="admin"))[0] == 403
    assert refused(api.post(path, {"paymentToken": "tok_1"}))[0] == 401


def test_a_suspended_customer_cannot_pay(at: Place) -> None:
    me = at.tenant(BUYER, "REGISTERED")
    order = at.own_order(at.product(), me)
    suspended = at.portal.tenants.move(me.id, "SUSPENDED", ADMIN, reason="charged back")
    with refuses("TENANT_SUSPENDED"):
        at.portal.orders.pay(order.order_id, "tok_1", suspended)


# --- by hand ---


def test_an_admin_marks_an_order_as_paid_with_a_reference_and_a_reason_that_are_kept(
    at: Place, api: Api
) -> None:
    order = at.order(at.product())
    path = f"/orders/{order.order_id}:mark-paid"
    body = {"reference": "EFT 4711", "reason": "Bank transfer of 3 June."}
    paid = given(api.post(path, body, by="admin"))
    assert (paid["orderStatus"], paid["paymentReference"], paid["paidByHand"]) == ("PAID", "EFT 4711", True)
    entry = given(api.get(f"/tenants/{order.tenant_id}/history", by="support"))["items"][0]
    assert (entry["action"], entry["actor"], entry["reason"]) == ("order is paid", ADMIN.name, body["reason"])
    before = at.everything()
    assert given(api.post(path, body, by="admin")) == paid
    assert at.everything() == before
    assert refused(api.post(path, {**body, "reference": "EFT 1"}, by="admin")) == (409, "STATUS_CONFLICT")
    for by in ("support", order.tenant_id):
        assert refused(api.post(path, body, by=by))[0] == 403


def test_what_was_paid_by_hand_is_refunded_by_hand(at: Place) -> None:
    order = at.order(at.product())
    at.portal.orders.mark_paid(order.order_id, ADMIN, "EFT 4711", "transfer")
    refunded = at.portal.orders.refund(order.order_id, ADMIN)
    assert (refunded.order_status, refunded.payment_reference) == ("REFUNDED", "EFT 4711")


def test_a_card_payment_for_an_order_that_was_paid_by_hand_goes_back(at: Place) -> None:
    order = at.order(at.product())
    marked = at.portal.orders.mark_paid(order.order_id, ADMIN, "EFT 4711", "transfer")
    told = at.portal.orders.paid(_paid(order))
    assert told == marked.model_copy(update={"given_back": ["pay_late"], "version": told.version})
    assert at.portal.orders.paid(_paid(order)) == told
    assert (
        sum(
            "when your payment of R 299.99 arrived, so we returned the money" in mail
            for mail in at.mails(ADDRESS)
        )
        == 1
    )


def test_an_order_that_was_stored_before_there_were_guests_is_its_customers_and_can_be_paid(
    at: Place, api: Api
) -> None:
    me = at.tenant(BUYER, "REGISTERED")
    order = at.own_order(at.product(), me)
    at.call(
        "UpdateItem",
        {
            "TableName": at.db.physical("tenants"),
            "Key": {"PK": {"S": f"TENANT#{me.id}"}, "SK": {"S": f"ORDER#{order.order_id}"}},
            "UpdateExpression": "REMOVE guest, mailed, overLimit, paidByHand",
        },
    )
    assert [one["orderId"] for one in given(api.get("/me/orders", by=me.id))["items"]] == [order.order_id]
    answer = api.post(f"/orders/{order.order_id}:pay", {"paymentToken": "tok_1"}, by=me.id)
    assert given(answer)["orderStatus"] == "PAID"


# --- never ---


def test_an_order_that_is_not_paid_in_a_day_expires_and_says_so(at: Place, api: Api) -> None:
    me = at.tenant(BUYER, "REGISTERED")
    order = at.own_order(at.product(), me)
    at.clock.move(timedelta(hours=24, seconds=-1))
    assert at.portal.orders.expire_unpaid() == 0
    at.clock.move(timedelta(seconds=1))
    assert at.portal.orders.expire_unpaid() == 1
    assert at.portal.orders.expire_unpaid() == 0
    assert at.portal.orders.order(order.order_id).order_status == "EXPIRED"
    assert any(
        "was not paid in time and has expired. Nothing was charged" in mail for mail in at.mails(ADDRESS)
    )
    answer = api.post(f"/orders/{order.order_id}:pay", {"paymentToken": "tok_1"}, by=me.id)
    assert refused(answer) == (409, "STATUS_CONFLICT")
    assert "has expired" in answer.json()["message"]
    assert [one["orderId"] for one in given(api.get("/orders?status=EXPIRED", by="support"))["items"]] == [
        order.order_id
    ]


def test_cp_x9_an_unpaid_order_holds_its_campaigns_use_for_a_day_only(at: Place) -> None:
    product = at.product()
    at.campaign(product, redemption_limit=1, per_tenant_limit=1)
    at.order(product, codes=["SUMMER2030"])
    with refuses("CAMPAIGN_EXHAUSTED"):
        at.order(product, "other@example.com", codes=["SUMMER2030"])
    at.clock.move(timedelta(hours=24))
    at.portal.orders.expire_unpaid()
    assert at.order(product, "other@example.com", codes=["SUMMER2030"]).discount == Decimal("60.00")


def test_two_workers_that_expire_the_same_orders_give_each_use_back_once(at: Place) -> None:
    product = at.product()
    at.campaign(product, redemption_limit=30)
    for n in range(10):
        at.order(product, f"t{n}@example.com", codes=["SUMMER2030"])
    at.order(product, "paid@example.com", codes=["SUMMER2030"], payment_token="tok_1")
    at.clock.move(timedelta(days=2))
    workers = [open_portal(at.db, at.clock.world(), SECRET, at.portal.issue) for _ in range(4)]
    done = at_once([worker.orders.expire_unpaid for worker in workers], 4)
    assert sum(one for one in done if isinstance(one, int)) == 10
    assert at.portal.repository.used(["SUMMER2030"]) == {"SUMMER2030": 1}
    assert len(list(at.db.all(d.orders_by_status(status="EXPIRED")))) == 10


def test_a_payment_in_the_moment_of_the_expiry_wins_and_keeps_its_use(at: Place) -> None:
    product = at.product()
    at.campaign(product, redemption_limit=1)
    order = at.order(product, codes=["SUMMER2030"])
    at.clock.move(timedelta(days=2))
    raced = meddled(at, "ORDER#", partial(at.portal.orders.paid, _paid(order)))
    assert raced.orders.expire_unpaid() == 0
    assert at.portal.orders.order(order.order_id).order_status == "PAID"
    assert at.portal.repository.used(["SUMMER2030"]) == {"SUMMER2030": 1}


def test_a_payment_after_the_expiry_goes_back_once(at: Place) -> None:
    order = at.order(at.product())
    at.clock.move(timedelta(days=2))
    at.portal.orders.expire_unpaid()
    for _ in range(2):
        assert at.portal.orders.paid(_paid(order)).order_status == "EXPIRED"
    assert sum("had expired when your payment of R 299.99 arrived" in mail for mail in at.mails(ADDRESS)) == 1


def test_a_payment_that_went_back_does_not_go_back_again_when_it_is_told_a_year_later(at: Place) -> None:
    gateway = CountingGateway(SECRET)
    orders = open_portal(at.db, at.clock.world(), SECRET, at.portal.issue, payments=gateway).orders
    order = at.order(at.product())
    at.clock.move(timedelta(days=2))
    orders.expire_unpaid()
    orders.paid(_paid(order))
    before = at.everything()
    for wait in (timedelta(), timedelta(days=40), timedelta(days=325)):
        at.clock.move(wait)
        assert orders.paid(_paid(order)).order_status == "EXPIRED"
    assert gateway.refunds == ["pay_late"]
    assert at.everything()["tenants"] == before["tenants"]


def test_an_order_ends_though_the_count_of_its_campaign_was_restored_without_its_use(at: Place) -> None:
    product = at.product()
    at.campaign(product)
    paid = at.order(product, codes=["SUMMER2030"], payment_token="tok_1")
    unpaid = at.order(product, "other@example.com", codes=["SUMMER2030"])
    at.db.write(d.campaign_usage.put(CampaignUsage(code="SUMMER2030", count=0)))
    assert at.portal.orders.refund(paid.order_id, ADMIN).order_status == "REFUNDED"
    at.db.write(d.campaign_usage.discard("SUMMER2030"))
    at.clock.move(timedelta(days=2))
    assert at.portal.orders.expire_unpaid() == 1
    assert at.portal.orders.order(unpaid.order_id).order_status == "EXPIRED"
    assert at.portal.repository.used(["SUMMER2030"]) == {}


def test_an_expired_order_stays_so(at: Place) -> None:
    order = at.order(at.product())
    at.clock.move(timedelta(days=2))
    at.portal.orders.expire_unpaid()
    for deed in (
        partial(at.portal.orders.cancel, order.order_id, USER),
        partial(at.portal.orders.cancel, order.order_id, ADMIN),
        partial(at.portal.orders.mark_paid, order.order_id, ADMIN, "EFT 1", "late"),
        partial(at.portal.orders.refund, order.order_id, ADMIN),
    ):
        with refuses("STATUS_CONFLICT"):
            deed()


@pytest.mark.parametrize("token", [None, "tok_1"])
def test_a_mail_about_an_order_leads_to_its_page_and_says_whether_it_is_paid(
    at: Place, token: str | None
) -> None:
    order = at.order(at.product(), payment_token=token)
    for mail in at.mails(ADDRESS):
        assert f"/console/portal/orders/{order.order_id}" in mail
    assert any(
        "It is not paid yet. Please pay by 16 June 2030, 12:00 SAST" in mail for mail in at.mails(ADDRESS)
    ) is (token is None)
