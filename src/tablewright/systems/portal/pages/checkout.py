"""Checkout: a cart with its total, then an order and its confirmation page.

The cart is in the form itself: nothing is stored before an order is placed. A hidden key makes a form that is sent
twice one order; a customer who returns to the page and places the same order with a new key must confirm it (a cookie
remembers the last order). The form includes the total that was shown, so no order is placed at another total. The
confirmation page is for the buyer (a link signed for an hour) and for the owner of the order.
Elsewhere: prices and rules (systems/portal/orders/checkout.py).
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response

from tablewright.edge import Principal, RateLimiter, limit_rate
from tablewright.edge.errors import CallerError
from tablewright.edge.problems import not_found
from tablewright.pages.forms import Form, Posted
from tablewright.systems.portal import rules
from tablewright.systems.portal.access import Caller, buyer_of
from tablewright.systems.portal.model import Order, Product, Tenant
from tablewright.systems.portal.orders.checkout import Line, Priced
from tablewright.systems.portal.pages.forms import refused
from tablewright.systems.portal.pages.page import HOME, PortalPages

LINK_LASTS = timedelta(hours=1)
# The cookie that remembers the last order of this browser, while a return to the page is likely.
JUST_PLACED = "tablewright-placed"
_REMEMBERED = 1800
QUANTITY = "quantity-"
_HOURS = int(rules.PAY_WITHIN.total_seconds() // 3600)
CARDS = (
    ("tok_demo", "Demo card, accepted", "Nothing is really charged."),
    ("tok_declined", "Demo card, declined", "Shows what happens when a card is declined."),
    (
        "",
        "Pay later",
        f"Pay within {_HOURS} hours; after that the order expires. You can cancel it until then.",
    ),
)
# The field beside which an error is shown, by the prefix of its code.
_FIELDS = (
    ("CAMPAIGN", "code"),
    ("CODE_FORMAT", "code"),
    ("QUANTITY", "cart"),
    ("CART", "cart"),
    ("PRODUCT", "cart"),
    ("INVALID_EMAIL", "email"),
)


@dataclass(frozen=True, slots=True)
class Basket:
    """The cart as shown: its lines, the other plans, and its price (None if it cannot be sold)."""

    form: Form
    rows: tuple[tuple[Product, int], ...]
    others: tuple[Product, ...]
    priced: Priced | None
    is_guest: bool

    @property
    def limit(self) -> int | None:
        """How often each customer has its offer, if a guest must verify the address before paying."""
        campaign = self.priced.campaign if self.priced is not None and self.is_guest else None
        return campaign.per_tenant_limit if campaign is not None else None


def quantities(form: Form) -> dict[str, int]:
    """Product ids with their quantities; a plan that was just added has one."""
    found = {
        name.removeprefix(QUANTITY): _count(text)
        for name, text in form.values.items()
        if name.startswith(QUANTITY)
    }
    added = form.get("add")
    if added:
        found[added] = found.get(added, 0) + 1
    return {id: count for id, count in found.items() if count}


def _count(text: str) -> int:
    """The quantity that was typed; -1 for anything but a number, which the portal refuses."""
    bare = text.strip()
    if not bare:
        return 0
    return int(bare) if bare.isascii() and bare.isdigit() and len(bare) < 6 else -1


def with_cart(form: Form, cart: Mapping[str, int]) -> Form:
    """The form with these quantities and without the plan to add."""
    kept = {n: t for n, t in form.values.items() if not n.startswith(QUANTITY) and n not in ("add", "do")}
    return replace(form, values={**kept, **{QUANTITY + id: str(count) for id, count in cart.items()}})


def add_checkout(router: APIRouter, pages: PortalPages) -> None:
    checkout, repository = pages.portal.checkout, pages.portal.repository
    pace = Depends(limit_rate(RateLimiter(), "checkout", per_minute=120, burst=60))

    def basket(form: Form, caller: Principal) -> Basket:
        """The cart with its prices, or with the errors beside their fields."""
        buyer = checkout.buyer_at(buyer_of(caller), form.get("email"))
        cart = quantities(form)
        form = with_cart(form, cart)
        for_sale = {product.id: product for product in pages.portal.catalogue.for_sale()}
        rows = tuple((for_sale[id], count) for id, count in cart.items() if id in for_sale)
        others = tuple(product for id, product in for_sale.items() if id not in cart)
        if not cart:
            return Basket(form, rows, others, None, buyer is None)
        try:
            priced = checkout.priced(lines(cart), codes(form), buyer)
            return Basket(form, rows, others, priced, buyer is None)
        except CallerError as mistake:
            form = with_code_checked(refused(form, mistake, _FIELDS), buyer)
            return Basket(form, rows, others, without_code(cart, buyer), buyer is None)

    def with_code_checked(form: Form, buyer: str | None) -> Form:
        """The form with the error of its code as well, if only the cart was checked."""
        for code in codes(form) if "code" not in form.errors else ():
            try:
                checkout.check_code(code, buyer)
            except CallerError as mistake:
                return refused(form, mistake, _FIELDS)
        return form

    def without_code(cart: Mapping[str, int], buyer: str | None) -> Priced | None:
        """The price without the code that cannot be used."""
        try:
            return checkout.priced(lines(cart), (), buyer)
        except CallerError:
            return None

    def refused_order(form: Form, caller: Principal, mistake: CallerError) -> Basket:
        """The cart again, with every error; a code that was refused does not reduce the total."""
        shown = basket(form, caller)
        if mistake.code == "IDEMPOTENCY_KEY_REUSED":
            return replace(shown, form=_another_order(shown.form, pages.console.world.new_id()))
        found = refused(shown.form, mistake, _FIELDS) if not shown.form.is_wrong else shown.form
        if "code" in found.errors and "code" not in shown.form.errors:
            buyer = checkout.buyer_at(buyer_of(caller), form.get("email"))
            shown = replace(shown, priced=without_code(quantities(form), buyer))
        return replace(shown, form=_with_email_checked(found))

    def show(request: Request, caller: Principal, shown: Basket, status: int = 200) -> Response:
        buyer = buyer_of(caller)
        is_suspended = buyer is not None and pages.portal.tenants.get(buyer).status == "SUSPENDED"
        return pages.page(
            request, "checkout", title="Checkout", status=status, shown=shown, form=shown.form, cards=CARDS,
            most=rules.MAX_QUANTITY, is_suspended=is_suspended,
        )  # fmt: skip

    @router.get("/checkout")
    def cart(
        request: Request,
        caller: Caller,
        plan: Annotated[list[str], Query(default_factory=list)],
        code: str = "",
    ) -> Response:
        email = caller.email or "" if buyer_of(caller) else ""
        start = {"email": email, "organizationName": "", "code": code, "paymentToken": "tok_demo"}
        form = Form({**start, "key": pages.console.world.new_id()})
        given = quantities(Form(dict(request.query_params.items())))
        chosen = {**dict.fromkeys(plan, 1), **given}
        return show(
            request, caller, basket(with_cart(form, dict(islice(chosen.items(), rules.MAX_LINES))), caller)
        )

    @router.post("/checkout/total", dependencies=[pace])
    def total(request: Request, caller: Caller, form: Posted) -> Response:
        """Only the total, which the page replaces during typing."""
        shown = basket(form, caller)
        return pages.page(request, "_total", title="Total", shown=shown, form=shown.form)

    @router.post("/checkout", dependencies=[pace])
    def place(request: Request, caller: Caller, form: Posted) -> Response:
        if form.get("do") != "place":
            return show(request, caller, basket(form, caller))
        cart = quantities(form)
        mark = _mark(form, cart)
        if _is_repetition(request.cookies.get(JUST_PLACED, ""), mark, form):
            shown = basket(form, caller)
            words = "You just placed this order. To order the same again, press “Place order” once more."
            again = replace(with_again(shown.form, mark), error=words)
            return show(request, caller, replace(shown, form=again), 409)
        try:
            order = checkout.place(
                form.get("email"),
                lines(cart),
                codes=codes(form),
                organization_name=form.get("organizationName").strip()[:200] or None,
                payment_token=form.get("paymentToken") or None,
                key=form.get("key")[:100] or None,
                agreed=amount(form.get("total")),
                buyer=buyer_of(caller),
            )
        except CallerError as mistake:
            return show(request, caller, refused_order(form, caller, mistake), mistake.status)
        response = pages.console.go(placed_link(pages, order))
        response.set_cookie(
            JUST_PLACED, f"{mark}.{form.get('key')[:100]}", max_age=_REMEMBERED, path=f"{HOME}/checkout",
            httponly=True, samesite="lax",
        )  # fmt: skip
        return response

    @router.get("/orders/{id}/placed")
    def placed(request: Request, id: str, caller: Caller, seal: str = "") -> Response:
        opens = pages.portal.previews.opens(seal, id, repository.now())
        order = pages.portal.orders.order(id) if opens or caller.is_known else None
        tenant = pages.portal.tenants.get(order.tenant_id) if order is not None else None
        is_own = order is not None and tenant is not None and _is_own(order, tenant, caller)
        if order is None or tenant is None or not (opens or is_own):
            words = "There is no such order, or this page has expired. It is available for one hour after the order."
            raise not_found("ORDER_NOT_FOUND", words)
        return pages.page(
            request, "placed", title=f"Order {order.order_number}", order=order, tenant=tenant, seal=seal,
            again=again_link(order), is_own=is_own, must_verify=rules.must_verify(order) and not is_own,
        )  # fmt: skip


def _is_own(order: Order, tenant: Tenant, caller: Principal) -> bool:
    return tenant.id == caller.subject and rules.is_claimed(order, tenant)


def _with_email_checked(form: Form) -> Form:
    """The form with the error of its address as well, if something else was refused first."""
    try:
        rules.email_address(form.get("email"))
    except CallerError as mistake:
        return refused(form, mistake, _FIELDS)
    return form


def _mark(form: Form, cart: Mapping[str, int]) -> str:
    """A digest of the cart, code and address."""
    said = [
        form.get("email").strip().lower(),
        form.get("code").strip().upper(),
        *map(str, sorted(cart.items())),
    ]
    return hashlib.sha256("\0".join(said).encode()).hexdigest()[:32]


def _is_repetition(cookie: str, mark: str, form: Form) -> bool:
    """Whether this browser just placed the same order with another form, and has not confirmed the repetition."""
    placed, _, key = cookie.partition(".")
    return placed == mark and key != form.get("key") and form.get("again") != mark


def with_again(form: Form, mark: str) -> Form:
    return replace(form, values={**form.values, "again": mark})


def amount(text: str) -> Decimal | None:
    """The total shown on the page; None if there was none."""
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _another_order(form: Form, key: str) -> Form:
    """The form with a new key: its order was already placed, and the cart is different now."""
    words = "You already placed an order from this page. Press “Place order” to order this cart as well."
    return replace(form, values={**form.values, "key": key}, error=words)


def lines(cart: Mapping[str, int]) -> Sequence[Line]:
    return [Line(id, count) for id, count in cart.items()]


def codes(form: Form) -> list[str]:
    return [form.get("code")] if form.get("code").strip() else []


def placed_link(pages: PortalPages, order: Order) -> str:
    """The signed link to the confirmation page, valid for an hour."""
    now = pages.portal.repository.now()
    return f"{HOME}/orders/{order.order_id}/placed?seal={pages.portal.previews.token(order.order_id, now, LINK_LASTS)}"


def again_link(order: Order) -> str:
    """A link to the checkout with the same cart, without an offer that the customer has already used."""
    plans = urlencode({QUANTITY + item.product_id: item.quantity for item in order.items})
    offer = None if order.over_limit else order.campaign
    return f"{HOME}/checkout?{plans}" + (f"&code={offer.code}" if offer else "")
