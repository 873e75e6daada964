"""Payment of an order: by its customer with a card, or marked as paid by an admin who received the money.

The buyer can pay without signing in from the confirmation page, which is available for an hour (checkout.py), unless
the order's offer is limited per customer.
Must hold: a form that is sent twice pays once; an expired order says so and offers to order again.
"""

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge import Principal, RateLimiter, limit_rate
from tablewright.edge.errors import CallerError
from tablewright.edge.identity.guards import login_required
from tablewright.english import money
from tablewright.pages.forms import Form, FormWrong, Posted
from tablewright.pages.layout import Crumb
from tablewright.systems.portal import rules
from tablewright.systems.portal.access import Admin, Caller, admin, order_for
from tablewright.systems.portal.api import bodies
from tablewright.systems.portal.model import Order
from tablewright.systems.portal.pages.checkout import CARDS
from tablewright.systems.portal.pages.forms import refused, typed
from tablewright.systems.portal.pages.orders import LIST, crumbs_of, nothing_to_do
from tablewright.systems.portal.pages.page import HOME, PortalPages

PAYING_CARDS = tuple(card for card in CARDS if card[0])


def add_payment(router: APIRouter, pages: PortalPages) -> None:
    for add in (_add_by_card, _add_by_hand):
        add(router, pages)


def _add_by_card(router: APIRouter, pages: PortalPages) -> None:
    orders = pages.portal.orders
    pace = Depends(limit_rate(RateLimiter(), "payment", per_minute=60, burst=30))

    def payable(id: str, caller: Principal, seal: str) -> Order:
        """The order, for its owner or with the signed link of its confirmation page."""
        if pages.portal.previews.opens(seal, id, pages.portal.repository.now()):
            order = orders.order(id)
            if not rules.must_verify(order):
                return order
        if not caller.is_known:
            raise login_required()
        return order_for(pages.portal, id, caller)

    def show(request: Request, caller: Principal, order: Order, form: Form, status: int = 200) -> Response:
        back = _back(order, form.get("seal"))
        crumbs = () if form.get("seal") else (*crumbs_of(caller), Crumb(order.order_number, back))
        return pages.page(
            request, "pay", title=f"Pay order {order.order_number}", crumbs=crumbs, order=order, form=form,
            cards=PAYING_CARDS, back=back, status=status,
        )  # fmt: skip

    @router.get("/orders/{id}/pay")
    def ask_pay(request: Request, id: str, caller: Caller, seal: str = "") -> Response:
        order = payable(id, caller, seal)
        if order.order_status != "PENDING":
            return pages.console.go(_back(order, seal))
        return show(request, caller, order, Form({"paymentToken": PAYING_CARDS[0][0], "seal": seal}))

    @router.post("/orders/{id}/pay", dependencies=[pace])
    def pay(request: Request, id: str, caller: Caller, form: Posted) -> Response:
        order = payable(id, caller, form.get("seal"))
        is_own = order.tenant_id == caller.subject
        try:
            typed(form, bodies.Payment)
            owner = pages.portal.tenants.get(order.tenant_id) if is_own else None
            paid = orders.pay(id, form.get("paymentToken"), owner)
        except (FormWrong, CallerError) as mistake:
            return show(request, caller, orders.order(id), refused(form, mistake), mistake.status)
        said = f"We received your payment of {money(paid.total, 'ZAR')}." if paid.paid_at else ""
        return pages.console.go(_back(order, form.get("seal")), said)


def _back(order: Order, seal: str) -> str:
    """The page before: the confirmation page, or the order's own page."""
    return f"{LIST}/{order.order_id}/placed?seal={seal}" if seal else f"{LIST}/{order.order_id}"


def _add_by_hand(router: APIRouter, pages: PortalPages) -> None:
    orders = pages.portal.orders

    def show(request: Request, order: Order, form: Form, status: int = 200) -> Response:
        crumbs = (Crumb("Orders", LIST), Crumb(order.order_number, f"{LIST}/{order.order_id}"))
        return pages.page(
            request, "mark_paid", title="Mark as paid", crumbs=crumbs, order=order, form=form, status=status
        )

    @router.get("/orders/{id}/mark-paid", dependencies=[Depends(admin)])
    def ask_mark_paid(request: Request, id: str) -> Response:
        order = orders.order(id)
        return (
            show(request, order, Form()) if order.order_status == "PENDING" else nothing_to_do(pages, order)
        )

    @router.post("/orders/{id}/mark-paid")
    def mark_paid(request: Request, id: str, actor: Admin, form: Posted) -> Response:
        try:
            given = typed(form, bodies.PaymentByHand)
            orders.mark_paid(id, actor, given.reference.strip(), given.reason)
        except (FormWrong, CallerError) as mistake:
            return show(request, orders.order(id), refused(form, mistake), mistake.status)
        return pages.console.go(f"{HOME}/orders/{id}", "Order marked as paid.")
