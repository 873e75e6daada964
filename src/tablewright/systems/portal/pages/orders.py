"""Orders: all of them for staff, by status, day or search; their own for customers.

Must hold: the pages to cancel, refund or mark as paid say what will happen, and are only offered if the order's status
allows it; a customer cancels only their own unpaid order.
Elsewhere: payment (payment.py), the allowed moves (systems/portal/design/customers.py).
"""

from typing import Any, get_args

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge import Principal
from tablewright.edge.errors import CallerError
from tablewright.english import money
from tablewright.pages.forms import Asked, FormWrong, posted
from tablewright.pages.layout import Crumb
from tablewright.pages.lists import Listing
from tablewright.systems.portal import rules
from tablewright.systems.portal.access import Admin, Canceller, OwnOrder, SignedIn, is_staff, staff
from tablewright.systems.portal.model import Order, OrderStatus
from tablewright.systems.portal.pages.checkout import again_link
from tablewright.systems.portal.pages.forms import refused
from tablewright.systems.portal.pages.page import HOME, ORDER_WORDS, PortalPages
from tablewright.systems.portal.pages.tenants import days_between
from tablewright.systems.portal.search import Found, search_orders

STATUSES: tuple[OrderStatus, ...] = get_args(OrderStatus)
LIST = f"{HOME}/orders"


def add_orders(router: APIRouter, pages: PortalPages) -> None:
    for add in (_add_lists, _add_one, _add_cancel, _add_refund):
        add(router, pages)


def _add_lists(router: APIRouter, pages: PortalPages) -> None:
    @router.get("/orders", dependencies=[Depends(staff)])
    def list_orders(request: Request, form: Asked) -> Response:
        status: OrderStatus | None = next((each for each in STATUSES if each == form.get("status")), None)
        listing: Listing[Any] = Listing(())
        found: Found[Order] | None = None
        try:
            days = days_between(form)
            if form.get("q").strip():
                found = search_orders(pages.portal, form.get("q").strip(), status, **days)
                listing = Listing(found.items)
            else:
                listing = pages.list(request, pages.portal.orders.listed(status, **days))
        except (FormWrong, CallerError) as mistake:
            form = refused(form, mistake)
        tenants = pages.portal.repository.tenants_by_id([order.tenant_id for order in listing.items])
        return pages.page(
            request, "orders", title="Orders", listing=listing, form=form, chosen=status, statuses=STATUSES,
            tenants=tenants, found=found, status=422 if form.is_wrong else 200,
        )  # fmt: skip


def _add_one(router: APIRouter, pages: PortalPages) -> None:
    @router.get("/orders/{id}")
    def order(request: Request, found: OwnOrder, caller: SignedIn) -> Response:
        tenant = pages.portal.tenants.get(found.tenant_id)
        return pages.page(
            request,
            "order",
            title=f"Order {found.order_number}",
            crumbs=crumbs_of(caller),
            order=found,
            tenant=tenant,
            hold=rules.hold_of(found, tenant),
            is_claimed=rules.is_claimed(found, tenant),
            is_own=found.tenant_id == caller.subject,
            moves=moves(found, caller),
            again=again_link(found),
        )


def _add_cancel(router: APIRouter, pages: PortalPages) -> None:
    @router.get("/orders/{id}/cancel")
    def ask_cancel(
        request: Request, id: str, found: OwnOrder, actor: Canceller, caller: SignedIn
    ) -> Response:
        if "CANCELLED" not in moves(found, caller):
            return nothing_to_do(pages, found)
        reader = "you get" if found.tenant_id == caller.subject else "the customer gets"
        return pages.console.confirm(
            request,
            title=f"Cancel order {found.order_number}?",
            happens=f"The order is cancelled and {reader} a mail. If it used an offer, the offer can be used again.",
            button="Cancel order",
            back=f"{LIST}/{id}",
            crumbs=(*crumbs_of(caller), Crumb(found.order_number, f"{LIST}/{id}")),
            details={"Total": money(found.total, "ZAR"), "Status": ORDER_WORDS[found.order_status]},
            undo="This cannot be undone, but the same order can be placed again.",
        )

    @router.post("/orders/{id}/cancel", dependencies=[Depends(posted)])
    def cancel(id: str, found: OwnOrder, actor: Canceller) -> Response:
        pages.portal.orders.cancel(found.order_id, actor)
        return pages.console.go(f"{LIST}/{id}", "Order cancelled.", "note")


def _add_refund(router: APIRouter, pages: PortalPages) -> None:
    @router.get("/orders/{id}/refund")
    def ask_refund(request: Request, id: str, actor: Admin) -> Response:
        found = pages.portal.orders.order(id)
        if "REFUNDED" not in rules.order_moves_open_to(found, "admin"):
            return nothing_to_do(pages, found)
        how = (
            "This payment was marked by hand, so return the money yourself. The order is then marked as refunded."
            if found.paid_by_hand
            else "The payment gateway returns the full amount."
        )
        return pages.console.confirm(
            request,
            title=f"Refund order {found.order_number}?",
            happens=f"{how} The customer gets a mail. If the order used an offer, the offer can be used again.",
            button=f"Refund {money(found.total, 'ZAR')}",
            back=f"{LIST}/{id}",
            crumbs=(Crumb("Orders", LIST), Crumb(found.order_number, f"{LIST}/{id}")),
            details={"Payment": found.payment_reference or "", "Status": ORDER_WORDS[found.order_status]},
            undo="This cannot be undone.",
        )

    @router.post("/orders/{id}/refund")
    def refund(id: str, actor: Admin) -> Response:
        pages.portal.orders.refund(id, actor)
        return pages.console.go(f"{LIST}/{id}", "Order refunded.", "note")


def nothing_to_do(pages: PortalPages, order: Order) -> Response:
    """Back to the order, if its status does not allow the action."""
    words = f"This order is already {ORDER_WORDS[order.order_status]}."
    return pages.console.go(f"{LIST}/{order.order_id}", words, "note")


def moves(order: Order, caller: Principal) -> tuple[OrderStatus, ...]:
    """The statuses this caller may set: owners pay and cancel, an admin with a second factor may do all."""
    found: set[OrderStatus] = set()
    if "admin" in caller.roles and caller.used_mfa:
        found = set(rules.order_moves_open_to(order, "admin"))
    elif not is_staff(caller):
        found = set(rules.order_moves_open_to(order, "user"))
        # Owners pay through the gateway, whose event marks the order as paid.
        found |= {"PAID"} if order.order_status == "PENDING" else set()
    return tuple(status for status in STATUSES if status in found)


def crumbs_of(caller: Principal) -> tuple[Crumb, ...]:
    if is_staff(caller):
        return (Crumb("Orders", LIST),)
    return (Crumb("My account", f"{HOME}/account"),)
