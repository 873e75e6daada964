"""Checkout, orders and payments: `/checkout`, `/orders`, `/payments/events`."""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from starlette.concurrency import run_in_threadpool

from tablewright.edge import Principal, RateLimiter, limit_rate
from tablewright.edge.idempotency import HEADER, idempotency_key
from tablewright.edge.problems import bad_request, forbidden, not_found
from tablewright.kit.tables import Actor
from tablewright.systems.portal import rules
from tablewright.systems.portal.api import bodies
from tablewright.systems.portal.api.bodies import Page
from tablewright.systems.portal.api.common import (
    Doors,
    PageSize,
    Since,
    StartAt,
    Until,
    actor_of,
    open_account,
    page_of,
    with_second_factor,
)
from tablewright.systems.portal.model import Order, OrderStatus
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.orders.payments import BadEvent, BadSignature
from tablewright.systems.portal.portal import Portal


def orders(portal: Portal, doors: Doors, buckets: RateLimiter) -> APIRouter:
    api = APIRouter(tags=["orders"])
    checkout, placed_orders = portal.checkout, portal.orders
    pace = limit_rate(buckets, "checkout", per_minute=600, burst=300)

    @api.post("/checkout", status_code=201, dependencies=[Depends(pace)], response_model_exclude_none=True)
    def place_order(
        body: bodies.CheckoutRequest,
        request: Request,
        caller: Annotated[Principal, Depends(doors.anyone)],
        key: Annotated[str | None, Header(alias=HEADER)] = None,
    ) -> bodies.Placed:
        """Place an order. With an Idempotency-Key, a repeated request returns the first order.

        The best running campaign applies, whether or not its code is sent. The owner of the address sees an order that
        was placed without a login after verifying the address; with a campaign limited per customer nothing is charged
        before that, and the order stays PENDING.
        """
        order = checkout.place(
            body.email,
            _lines(body.items),
            codes=body.campaign_codes,
            organization_name=body.organization_name,
            payment_token=body.payment_token,
            key=idempotency_key(request),
            agreed=body.agreed_total,
            buyer=buyer_of(caller),
        )
        return bodies.placed(order)

    @api.post("/checkout/preview", dependencies=[Depends(pace)], response_model_exclude_none=True)
    def preview_order(
        body: bodies.PreviewRequest, caller: Annotated[Principal, Depends(doors.anyone)]
    ) -> bodies.Preview:
        """The price of an order now, with the best running campaign; nothing is written."""
        return bodies.preview(checkout.priced(_lines(body.items), body.campaign_codes, buyer_of(caller)))

    @api.get("/orders", response_model_exclude_none=True)
    def list_orders(
        caller: Annotated[Principal, Depends(doors.staff)],
        status: OrderStatus | None = None,
        since: Since = None,
        until: Until = None,
        size: PageSize = None,
        after: StartAt = None,
    ) -> Page[Order]:
        """Newest first: of one status, or all."""
        page = placed_orders.page(
            actor_of(caller),
            status,
            since=since,
            until=until,
            size=size,
            after=after,
        )
        return page_of(list(page.items), page.next)

    @api.post("/orders/{id}:cancel", response_model_exclude_none=True)
    def cancel_order(id: str, caller: Annotated[Principal, Depends(doors.signed_in)]) -> Order:
        """Cancel an unpaid order: its owner or an admin."""
        order = own_order(portal, id, caller)
        return placed_orders.cancel(order.order_id, canceller(caller))

    @api.post("/orders/{id}:pay", dependencies=[Depends(pace)], response_model_exclude_none=True)
    def pay_order(
        id: str, body: bodies.Payment, caller: Annotated[Principal, Depends(doors.verified)]
    ) -> Order:
        """Pay one's own unpaid order; a paid one is returned unchanged."""
        order = own_order(portal, id, caller)
        return placed_orders.pay(order.order_id, body.payment_token, portal.tenants.get(order.tenant_id))

    @api.post("/orders/{id}:mark-paid", response_model_exclude_none=True)
    def mark_order_paid(
        id: str, body: bodies.PaymentByHand, caller: Annotated[Principal, Depends(doors.admin)]
    ) -> Order:
        """Record a payment that came another way; repeating the same reference changes nothing."""
        return placed_orders.mark_paid(id, actor_of(caller), body.reference.strip(), body.reason)

    @api.post("/orders/{id}:refund", response_model_exclude_none=True)
    def refund_order(id: str, caller: Annotated[Principal, Depends(doors.admin)]) -> Order:
        return placed_orders.refund(id, actor_of(caller))

    @api.get("/orders/{id}", response_model_exclude_none=True)
    def get_order(id: str, caller: Annotated[Principal, Depends(doors.signed_in)]) -> Order:
        return own_order(portal, id, caller)

    @api.post("/payments/events")
    async def payment_event(
        request: Request, signature: Annotated[str, Header(alias="X-Signature")] = ""
    ) -> Any:
        """The payment gateway's webhook; a repeated event is applied once."""
        body = await request.body()
        try:
            event = portal.payments.read(body, signature)
        except BadSignature:
            raise forbidden("BAD_SIGNATURE", "This event is not signed by the gateway.") from None
        except BadEvent:
            raise bad_request(
                "BAD_EVENT", "This event is signed, but its kind or format is unknown."
            ) from None
        order = await run_in_threadpool(placed_orders.paid, event)
        return {"orderId": order.order_id, "orderStatus": order.order_status}

    return api


def own_order(portal: Portal, id: str, caller: Principal) -> Order:
    """An order for staff, or for its owner while the account is open; ORDER_NOT_FOUND for anyone else.

    The owner of an address sees an order that was placed without signing in after verifying the address.
    """
    order = portal.orders.order(id)
    if caller.roles & {"admin", "support"}:
        return order
    if order.tenant_id != caller.subject:
        raise not_found("ORDER_NOT_FOUND", "There is no such order.")
    if not rules.is_claimed(order, open_account(portal, caller)):
        raise not_found("ORDER_NOT_FOUND", "There is no such order.")
    return order


def buyer_of(caller: Principal) -> str | None:
    """The signed-in tenant; None for a guest."""
    return caller.subject if caller.roles & {"tenant", "verified"} else None


def _lines(items: list[bodies.CartLine]) -> list[Line]:
    return [Line(item.product_id, item.quantity) for item in items]


def canceller(caller: Principal) -> Actor:
    """The actor for a cancellation: an owner, or an admin with a second factor; support may not cancel."""
    actor = actor_of(caller)
    if not actor.is_staff:
        return replace(actor, role="user")
    if actor.role != "admin":
        raise forbidden("ADMIN_ONLY", "Only an admin can cancel a customer's order.")
    with_second_factor(caller)
    return actor
