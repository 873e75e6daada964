"""Orders after checkout: paid, cancelled, expired, refunded; and lists of orders.

Must hold: an order changes only as its states allow, in one transaction with its audit entry, its mail and the release
of its use of a campaign. A replayed payment event changes nothing, however late: the order records the payment.
An order that is not paid in time expires once, whichever worker is first, and its use of the campaign is released.
Elsewhere: how an order is placed (checkout.py), the states and who may change them (design/customers.py).
"""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any, get_args

from tablewright.design import Query, Write
from tablewright.edge.errors import CallerError, Conflict, Forbidden, Refused
from tablewright.kit.tables import Actor
from tablewright.mapping import Page
from tablewright.systems.portal import design as d
from tablewright.systems.portal import rules
from tablewright.systems.portal.errors import Changed, RaceLost
from tablewright.systems.portal.model import Order, OrderStatus, Tenant
from tablewright.systems.portal.orders import order_mails
from tablewright.systems.portal.orders.payments import EventKind, PaymentEvent, Payments
from tablewright.systems.portal.repository import SYSTEM, Repository

log = logging.getLogger("tablewright.portal")

STATUSES: tuple[OrderStatus, ...] = get_args(OrderStatus)
_OUTCOMES: dict[EventKind, OrderStatus] = {"paid": "PAID", "declined": "CANCELLED", "refunded": "REFUNDED"}
_ENDED: dict[OrderStatus, str] = {
    "CANCELLED": "This order was cancelled. Please place a new order.",
    "EXPIRED": "This order was not paid in time and has expired. Please place a new order.",
    "REFUNDED": "This order was refunded. Please place a new order.",
}
_ACTIONS: dict[OrderStatus, str] = {
    "PAID": "order is paid",
    "CANCELLED": "order was cancelled",
    "EXPIRED": "order expired",
    "REFUNDED": "order was refunded",
}


class Orders:
    """Orders, from placed to paid, ended or refunded."""

    def __init__(self, repository: Repository, payments: Payments, link: str) -> None:
        """`link` is the address of an order's page, with {order_id} in it."""
        self._repository, self._payments, self._link = repository, payments, link

    def link(self, order: Order) -> str:
        return self._link.format(order_id=order.order_id)

    # --- paying ---

    def pay_at_once(self, order: Order, token: str) -> Order:
        """Pay an order with the request that placed it; a declined card cancels it."""
        if order.order_status != "PENDING":
            return order
        event = self._payments.authorise(order.order_id, order.total, order.currency, token)
        return self._told(order, event, SYSTEM) if event.kind == "declined" else self.paid(event)

    def pay(self, order_id: str, token: str, owner: Tenant | None = None) -> Order:
        """Pay an unpaid order; a paid one is returned unchanged.

        A declined card leaves it unpaid. Only its `owner` learns that it is on hold, and only the owner may pay an
        order that may turn out to be.
        """
        order = self._repository.order(order_id)
        if order.order_status == "PAID":
            return order
        if order.order_status != "PENDING":
            raise Conflict("STATUS_CONFLICT", _ENDED[order.order_status], facts={"from": order.order_status})
        if owner is not None:
            _check_hold(order, owner)
        elif rules.must_verify(order):
            words = (
                "This offer is limited per customer. Sign in with the code we send to your address, then pay."
            )
            raise Forbidden("NOT_VERIFIED", words)
        event = self._payments.authorise(order.order_id, order.total, order.currency, token)
        if event.kind == "declined":
            words = "The card was declined. Nothing was charged. Try another card."
            raise Refused("PAYMENT_DECLINED", words, "paymentToken")
        return self.paid(event)

    def mark_paid(self, order_id: str, actor: Actor, reference: str, reason: str) -> Order:
        """Note a payment that came another way, such as a bank transfer; the same reference again changes nothing."""

        def is_noted(order: Order) -> bool:
            return order.paid_at is not None and order.payment_reference == reference

        order = self._repository.order(order_id)
        changes = {"payment_reference": reference, "paid_by_hand": True}
        return order if is_noted(order) else self._moved(order, "PAID", actor, changes, is_noted, reason)

    def paid(self, event: PaymentEvent) -> Order:
        """Apply a gateway's event. A repeated event changes nothing, even a year later; nor does a declined card."""
        order = self._repository.order(event.order_id)
        if event.kind == "declined" or _was_told(order, event):
            return order
        if event.amount != order.total:
            raise Refused("AMOUNT_DIFFERS", "The amount differs from the order's total.", "amount")
        try:
            return self._told(order, event, SYSTEM)
        except Conflict:
            order = self._repository.order(event.order_id)
            if event.kind != "paid" or order.order_status == "PENDING":
                raise
            return self._refund_late_payment(order, event)

    def _told(self, order: Order, event: PaymentEvent, actor: Actor) -> Order:
        changes = {"payment_reference": event.reference}
        return self._moved(
            order, _OUTCOMES[event.kind], actor, changes, lambda found: _was_told(found, event)
        )

    def _refund_late_payment(self, order: Order, event: PaymentEvent) -> Order:
        """Refund a payment for an order that ended or is already paid; once, however often the event comes."""
        self._payments.refund(order.order_id, event.reference, event.amount)
        return self._repository.retried(None, lambda: self._noted_given_back(event))

    def _noted_given_back(self, event: PaymentEvent) -> Order:
        order = self._repository.order(event.order_id)
        if event.reference in order.given_back:
            return order
        tenant = self._repository.tenant(order.tenant_id)
        template, values = order_mails.payment_given_back(order, event.amount)
        words = f"{values['amount']} for order {values['number']}, which {values['ended']}"
        after = order.model_copy(update={"given_back": [*order.given_back, event.reference]})
        change = d.orders.change(order, after)
        writes: list[Write[Any]] = [
            change,
            self._repository.audit("tenants", tenant.id, "payment given back", SYSTEM, None, None, words),
            self._repository.still_at(tenant),
        ]
        if tenant.erased_at is None:
            writes.append(self._repository.outbox.mail(tenant.email, template, values, tenant.id))
        try:
            self._repository.write("ORDER", *writes)
        except RaceLost:
            raise Changed from None  # the address changed at the same moment: read again
        assert change.item is not None
        return change.item

    # --- ending ---

    def cancel(self, order_id: str, actor: Actor) -> Order:
        return self._moved(self._repository.order(order_id), "CANCELLED", actor)

    def refund(self, order_id: str, actor: Actor) -> Order:
        """Refund an order. A payment noted by hand is returned by hand; here it is only recorded."""
        order = self._repository.order(order_id)
        if order.order_status != "PAID" or order.payment_reference is None:
            raise Conflict("STATUS_CONFLICT", "Only a paid order can be refunded.")
        if order.paid_by_hand:
            return self._moved(order, "REFUNDED", actor)
        event = self._payments.refund(order_id, order.payment_reference, order.total)
        return self._told(order, event, actor)

    def expire_unpaid(self) -> int:
        """Expire orders that were not paid in time; how many."""
        done = 0
        until = self._repository.now() - rules.PAY_WITHIN
        for order in self._repository.db.all(self.listed("PENDING", until=until)):
            try:
                self._moved(order, "EXPIRED", SYSTEM)
                done += 1
            except Conflict:
                continue  # paid, cancelled or expired by another worker since the index was read
            except CallerError as mistake:  # the other orders must still be expired
                log.error("order not expired", extra={"order": order.order_id, "mistake": mistake.code})
        return done

    # --- moves ---

    def _moved(
        self,
        order: Order,
        target: OrderStatus,
        actor: Actor,
        changes: dict[str, Any] | None = None,
        is_done: Callable[[Order], bool] = lambda order: False,
        reason: str | None = None,
    ) -> Order:
        """Move the order to its new status; after a race, read it again and retry."""
        newest = order

        def attempt() -> Order:
            nonlocal newest
            try:
                return self._move(newest, target, actor, changes or {}, reason)
            except (Changed, RaceLost):
                newest = self._repository.order(order.order_id)
                if is_done(newest):
                    return newest
                raise

        busy = Conflict("STATUS_CONFLICT", "This order is being changed right now. Try again in a moment.")
        return self._repository.retried(None, attempt, on=(Changed, RaceLost), busy=busy)

    def _move(
        self, order: Order, target: OrderStatus, actor: Actor, changes: dict[str, Any], reason: str | None
    ) -> Order:
        _check_move(order, target, actor)
        tenant = self._repository.tenant(order.tenant_id)
        if tenant.erased_at is not None and actor.role == "user":
            # A login may outlive the erasure; its changes must not bring the name back.
            raise Forbidden("TENANT_CLOSED", rules.CLOSED)
        paid = {"paid_at": self._repository.now()} if target == "PAID" else {}
        after = order.model_copy(update={"order_status": target, **changes, **paid})
        move = d.orders.move(order, after, by=actor.role)
        action = _ACTIONS[target]
        writes: list[Write[Any]] = [
            move,
            self._repository.audit("tenants", tenant.id, action, actor, order, move.item, reason),
            # No mail to an address that was erased or changed at the same moment.
            self._repository.still_at(tenant),
            *self._mail(order, target, tenant),
            *(self._release(order) if target in ("CANCELLED", "EXPIRED", "REFUNDED") else ()),
        ]
        self._repository.write("ORDER", *writes)
        assert move.item is not None
        return move.item

    def _mail(self, order: Order, target: OrderStatus, tenant: Tenant) -> list[Write[Any]]:
        # Orders that strangers placed for the address expire without mail, also if its owner has signed in since.
        is_theirs = target != "EXPIRED" and rules.is_claimed(order, tenant)
        if tenant.erased_at is not None or not (order.mailed or is_theirs):
            return []
        template, values = order_mails.order_moved(order, target, self.link(order))
        return [self._repository.outbox.mail(tenant.email, template, values, tenant.id)]

    def _release(self, order: Order) -> list[Write[Any]]:
        """Release the use of the campaign. A count that a restore has set below it is not changed."""
        if order.campaign is None:
            return []
        id, code = order.tenant_id, order.campaign.code
        freed: list[Write[Any]] = []
        if self._repository.used([code]).get(code, 0) > 0:
            all_uses = d.campaign_usage.update(code).at(lambda usage: usage.count).add(-1)
            freed.append(all_uses.when(lambda usage: usage.count > 0))
        own = self._repository.db.one(d.redemptions.get(id, code), consistent=True)
        if not order.over_limit and own is not None and own.count > 0:
            mine = d.redemptions.update(id, code).at(lambda r: r.count).add(-1)
            freed.append(mine.when(lambda r: r.count > 0))
        return freed

    # --- reads ---

    def order(self, order_id: str) -> Order:
        return self._repository.order(order_id)

    def page(
        self,
        reader: Actor,
        status: OrderStatus | None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        size: int | None = None,
        after: str | None = None,
    ) -> Page[Order]:
        query = self.listed(status, since=since, until=until)
        return self._repository.page(query, size, after, reader.subject)

    def listed(
        self,
        status: OrderStatus | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Query[Order]:
        """Orders of one status, or (None) of all, newest first; as a request, to be read in either direction."""
        first, *others = [status] if status is not None else STATUSES
        query = d.orders_by_status(status=first, since=since, until=until)
        for each in others:
            query = query.beside(d.orders_by_status(status=each, since=since, until=until))
        return query

    def by_number(self, number: str) -> Order | None:
        """An order by its number, which contains the day: the orders of that day are read."""
        day = rules.day_of_order(number)
        if day is None:
            return None
        since, until = rules.day_bounds(day)
        wanted = number.strip().upper()
        found = self._repository.db.all(self.listed(since=since, until=until))
        return next((order for order in found if order.order_number == wanted), None)


def _check_move(order: Order, target: OrderStatus, actor: Actor) -> None:
    allowed = d.ORDER_STATES.moves.get(order.order_status, {}).get(target, ())
    if actor.role in allowed:
        return
    words = f"An order that is {order.order_status} cannot become {target}."
    if order.order_status == target:
        words = f"This order is already {target}."
    raise Conflict("STATUS_CONFLICT", words, facts={"from": order.order_status, "to": target})


def _check_hold(order: Order, owner: Tenant) -> None:
    rules.check_open(owner)
    if order.over_limit:
        words = "You have already used this offer, so this order is on hold. Cancel it and place a new order."
        raise Conflict("ORDER_ON_HOLD", words)


def _was_told(order: Order, event: PaymentEvent) -> bool:
    """Whether this event was already applied to the order; also true for a payment that was refunded since."""
    if event.kind == "paid" and event.reference in order.given_back:
        return True
    if event.kind == "paid" and order.paid_at is not None:
        return order.payment_reference == event.reference
    return order.order_status == _OUTCOMES[event.kind]
