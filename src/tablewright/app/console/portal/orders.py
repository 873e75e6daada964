"""Orders: for staff by status, one with its lines and payment; a customer sees their own.

Must hold: cancelling and refunding say what will happen before they do; a tenant cancels only its own, and only while
it is not paid.
"""

from typing import Annotated, Any, get_args

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.console.console import Crumb
from tablewright.app.console.forms import Form, FormWrong, asked, posted
from tablewright.app.console.lists import Listing
from tablewright.app.console.portal.desk import HOME, Desk
from tablewright.app.console.portal.tenants import days_between
from tablewright.app.console.portal.typed import refused
from tablewright.app.console.words import money
from tablewright.edge import Principal, require
from tablewright.systems.portal import rules
from tablewright.systems.portal.api import actor_of, canceller, own_order
from tablewright.systems.portal.errors import PortalMistake
from tablewright.systems.portal.model import Order, OrderStatus

STATUSES: tuple[OrderStatus, ...] = get_args(OrderStatus)
LIST = f"{HOME}/orders"


def orders_router(desk: Desk) -> APIRouter:
    router = desk.router()
    checkout = desk.portal.checkout
    known = require(desk.who)

    @router.get("/orders", dependencies=[Depends(desk.staff)])
    def list_orders(request: Request, form: Annotated[Form, Depends(asked)]) -> Response:
        status: OrderStatus = next((each for each in STATUSES if each == form.get("status")), "PAID")
        listing: Listing[Any] = Listing(())
        try:
            listing = desk.list(request, checkout.listed(status, **days_between(form)))
        except FormWrong as wrong:
            form = wrong.form
        except PortalMistake as mistake:
            form = refused(form, mistake)
        tenants = desk.portal.repository.tenants_by_id([order.tenant_id for order in listing.items])
        return desk.page(
            request, "orders", title="Orders", listing=listing, form=form, chosen=status, statuses=STATUSES,
            tenants=tenants, status=422 if form.is_wrong else 200,
        )  # fmt: skip

    @router.get("/orders/{id}")
    def order(request: Request, id: str, caller: Annotated[Principal, Depends(known)]) -> Response:
        found = own_order(desk.portal, id, caller)
        return desk.page(
            request,
            "order",
            title=f"Order {found.order_number}",
            crumbs=_crumbs(caller),
            order=found,
            tenant=desk.portal.tenants.get(found.tenant_id),
            moves=moves(found, caller),
        )

    @router.get("/orders/{id}/cancel")
    def ask_cancel(request: Request, id: str, caller: Annotated[Principal, Depends(known)]) -> Response:
        found = own_order(desk.portal, id, caller)
        canceller(caller)
        return desk.console.confirm(
            request,
            title=f"Cancel order {found.order_number}?",
            happens="The order is cancelled and the customer gets a mail. "
            "If a campaign was used, its use is free again.",
            button="Cancel the order",
            back=f"{LIST}/{id}",
            crumbs=(*_crumbs(caller), Crumb(found.order_number, f"{LIST}/{id}")),
            details={"Total": money(found.total, "ZAR"), "Status now": found.order_status},
            undo="This cannot be undone; the customer can place the order again.",
        )

    @router.post("/orders/{id}/cancel", dependencies=[Depends(posted)])
    def cancel(id: str, caller: Annotated[Principal, Depends(known)]) -> Response:
        found = own_order(desk.portal, id, caller)
        checkout.cancel(found.order_id, canceller(caller))
        return desk.console.go(f"{LIST}/{id}", "The order is cancelled.", "note")

    @router.get("/orders/{id}/refund", dependencies=[Depends(desk.admin)])
    def ask_refund(request: Request, id: str) -> Response:
        found = checkout.order(id)
        return desk.console.confirm(
            request,
            title=f"Refund order {found.order_number}?",
            happens="The gateway gives the whole amount back and the customer gets a mail. "
            "If a campaign was used, its use is free again.",
            button=f"Refund {money(found.total, 'ZAR')}",
            back=f"{LIST}/{id}",
            crumbs=(Crumb("Orders", LIST), Crumb(found.order_number, f"{LIST}/{id}")),
            details={"Payment": found.payment_reference or "", "Status now": found.order_status},
            undo="This cannot be undone.",
        )

    @router.post("/orders/{id}/refund")
    def refund(id: str, caller: Annotated[Principal, Depends(desk.admin)]) -> Response:
        checkout.refund(id, actor_of(caller))
        return desk.console.go(f"{LIST}/{id}", "The order is refunded.", "note")

    return router


def moves(order: Order, caller: Principal) -> tuple[OrderStatus, ...]:
    """What this caller may make of an order: owners cancel, an admin with a second factor cancels and refunds."""
    if "admin" in caller.roles and caller.used_mfa:
        found = set(rules.order_moves_open_to(order, "admin")) & {"CANCELLED", "REFUNDED"}
    elif not caller.roles & {"admin", "support"}:
        found = set(rules.order_moves_open_to(order, "user")) & {"CANCELLED"}
    else:
        found = set()
    return tuple(status for status in STATUSES if status in found)


def _crumbs(caller: Principal) -> tuple[Crumb, ...]:
    if caller.roles & {"admin", "support"}:
        return (Crumb("Orders", LIST),)
    return (Crumb("My account", f"{HOME}/account"),)
