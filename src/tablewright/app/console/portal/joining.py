"""Proving an address and registering: ask for a code, enter it or follow the link, complete the registration.

Must hold: a link that is only opened changes nothing (mail scanners open links); whoever asks for a code learns nothing
about whether an address is known.
"""

from datetime import timedelta
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from tablewright.app.console.forms import Form, posted
from tablewright.app.console.portal.desk import HOME, Desk
from tablewright.app.console.portal.typed import refused, status_of
from tablewright.edge import Buckets, Principal, limited
from tablewright.systems.portal.errors import PortalMistake, Refused
from tablewright.systems.portal.model import Purpose, Tenant

# As long as the logins that the app's own issuer gives (app/house.py).
SESSION_LASTS = timedelta(hours=12)


def verify_link(address: str, purpose: Purpose = "verify") -> str:
    return f"{HOME}/verify?{urlencode({'purpose': purpose, 'address': address})}"


def joining_router(desk: Desk) -> APIRouter:
    router = desk.router()
    verification = desk.portal.verification
    pace = Depends(limited(Buckets(), "verification", per_minute=30, burst=20))

    def show(request: Request, form: Form, status: int = 200) -> Response:
        asks_code = bool(form.get("email")) and form.get("step") != "start"
        return desk.page(
            request, "verify", title="Confirm your address", status=status, form=form, asks_code=asks_code,
            by_link=asks_code and form.get("by") == "link",
        )  # fmt: skip

    @router.get("/verify")
    def verify(request: Request, purpose: str = "verify", address: str = "", secret: str = "") -> Response:
        by = {"by": "link", "code": secret} if secret else {"code": ""}
        return show(request, Form({"purpose": _purpose(purpose), "email": address, **by}))

    @router.post("/verify/start", dependencies=[pace])
    def start(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        try:
            verification.start(form.get("email"))
        except PortalMistake as mistake:
            again = Form({**form.values, "step": "start"})
            return show(request, refused(again, mistake), status_of(mistake))
        said = "If we know this address, a code is on its way. It works for 15 minutes."
        return desk.console.go(verify_link(form.get("email").strip()), said, "note")

    @router.post("/verify", dependencies=[pace])
    def confirm(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        purpose = _purpose(form.get("purpose"))
        try:
            tenant = verification.confirm(form.get("email"), form.get("code"), purpose)
            if purpose == "verify" and tenant.status == "SUSPENDED":
                raise Refused("TENANT_SUSPENDED", "This account is suspended. Please write to support.")
        except PortalMistake as mistake:
            return show(request, refused(form, mistake), status_of(mistake))
        if purpose == "destination":
            return desk.console.go(HOME, f"{tenant.destination_email} gets form submissions from now on.")
        return _signed_in(desk, tenant)

    @router.get("/register")
    def register_page(request: Request, caller: Annotated[Principal, Depends(desk.who)]) -> Response:
        if not caller.roles & {"verified", "tenant"}:
            return RedirectResponse(f"{HOME}/verify", 303)
        tenant = desk.portal.tenants.get(caller.subject)
        if tenant.status == "REGISTERED" and "tenant" in caller.roles:
            return RedirectResponse(f"{HOME}/account", 303)
        orders = desk.portal.tenants.orders(tenant.id, desk.actor(request), 100)
        return desk.page(
            request, "register", title="Complete your registration", tenant=tenant, orders=len(orders.items)
        )

    @router.post("/register", dependencies=[pace])
    def register(caller: Annotated[Principal, Depends(desk.who)]) -> Response:
        if not caller.roles & {"verified", "tenant"}:
            return RedirectResponse(f"{HOME}/verify", 303)
        return _signed_in(desk, verification.register(caller.subject), "You are registered. Welcome.")

    return router


def _purpose(given: str) -> Purpose:
    return "destination" if given == "destination" else "verify"


def _signed_in(desk: Desk, tenant: Tenant, said: str = "Your address is confirmed.") -> Response:
    """On with a login of the tenant: to the account, or first to the registration."""
    is_in = tenant.status == "REGISTERED"
    response = desk.console.go(f"{HOME}/account" if is_in else f"{HOME}/register", said)
    desk.console.cookie.keep(response, desk.portal.token_for(tenant), SESSION_LASTS)
    return response
