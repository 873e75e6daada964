"""Checkout, orders and payments: `/checkout`, `/orders`, `/payments/events`."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.idempotency import HEADER, idempotency_key
from tablewright.edge.problems import bad_request, forbidden
from tablewright.edge.request_bodies import body_of
from tablewright.edge.routes import Router
from tablewright.kit.http import Cursor, Page, Since, Until, page_of
from tablewright.systems.portal.access import Admin, Caller, Canceller, OwnOrder, Staff, Verified, buyer_of
from tablewright.systems.portal.api import bodies
from tablewright.systems.portal.api.bodies import PageSize
from tablewright.systems.portal.model import Order, OrderStatus
from tablewright.systems.portal.orders.checkout import Line
from tablewright.systems.portal.orders.payments import BadEvent, BadSignature
from tablewright.systems.portal.portal import Portal


def orders(portal: Portal, buckets: RateLimiter) -> APIRouter:
    api = Router(tags=["orders"])
    checkout, placed_orders = portal.checkout, portal.orders
    pace = Depends(limit_rate(buckets, "checkout", per_minute=600, burst=300))

    @api.post("/checkout", status_code=201, dependencies=[pace], response_model_exclude_none=True)
    def place_order(
        body: bodies.CheckoutRequest,
        request: Request,
        caller: Caller,
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

    @api.post("/checkout/preview", dependencies=[pace], response_model_exclude_none=True)
    def preview_order(body: bodies.PreviewRequest, caller: Caller) -> bodies.Preview:
        """The price of an order now, with the best running campaign; nothing is written."""
        return bodies.preview(checkout.priced(_lines(body.items), body.campaign_codes, buyer_of(caller)))

    @api.get("/orders", response_model_exclude_none=True)
    def list_orders(
        actor: Staff,
        status: OrderStatus | None = None,
        since: Since = None,
        until: Until = None,
        size: PageSize = None,
        after: Cursor = None,
    ) -> Page[Order]:
        """Newest first: of one status, or all."""
        return page_of(placed_orders.page(actor, status, since=since, until=until, size=size, after=after))

    @api.post("/orders/{id}:cancel", response_model_exclude_none=True)
    def cancel_order(order: OwnOrder, actor: Canceller) -> Order:
        """Cancel an unpaid order: its owner or an admin."""
        return placed_orders.cancel(order.order_id, actor)

    @api.post("/orders/{id}:pay", dependencies=[pace], response_model_exclude_none=True)
    def pay_order(body: bodies.Payment, caller: Verified, order: OwnOrder) -> Order:
        """Pay one's own unpaid order; a paid one is returned unchanged."""
        return placed_orders.pay(order.order_id, body.payment_token, portal.tenants.get(order.tenant_id))

    @api.post("/orders/{id}:mark-paid", response_model_exclude_none=True)
    def mark_order_paid(id: str, body: bodies.PaymentByHand, actor: Admin) -> Order:
        """Record a payment that came another way; repeating the same reference changes nothing."""
        return placed_orders.mark_paid(id, actor, body.reference.strip(), body.reason)

    @api.post("/orders/{id}:refund", response_model_exclude_none=True)
    def refund_order(id: str, actor: Admin) -> Order:
        return placed_orders.refund(id, actor)

    @api.get("/orders/{id}", response_model_exclude_none=True)
    def get_order(order: OwnOrder) -> Order:
        return order

    @api.post("/payments/events")
    def payment_event(request: Request, signature: Annotated[str, Header(alias="X-Signature")] = "") -> Any:
        """The payment gateway's webhook; a repeated event is applied once."""
        try:
            event = portal.payments.read(body_of(request.scope), signature)
        except BadSignature:
            raise forbidden("BAD_SIGNATURE", "This event is not signed by the gateway.") from None
        except BadEvent:
            words = "This event is signed, but its kind or format is unknown."
            raise bad_request("BAD_EVENT", words) from None
        order = placed_orders.paid(event)
        return {"orderId": order.order_id, "orderStatus": order.order_status}

    return api


def _lines(items: list[bodies.CartLine]) -> list[Line]:
    return [Line(item.product_id, item.quantity) for item in items]
