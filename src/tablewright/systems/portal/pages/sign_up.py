"""The link in a mail, which verifies an address, and registration.

Must hold: opening a link changes nothing, because mail scanners open links; only the button does.
Elsewhere: requesting and typing a code (sign_in.py).
"""

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, Posted
from tablewright.pages.known_devices import caller_of, remember
from tablewright.systems.portal.access import Caller
from tablewright.systems.portal.model import Purpose
from tablewright.systems.portal.pages.page import HOME, PortalPages
from tablewright.systems.portal.pages.sign_in import PATH, open_tenant, signed_in, wanted_by


def add_sign_up(router: APIRouter, pages: PortalPages) -> None:
    verification = pages.portal.verification
    pace = Depends(limit_rate(RateLimiter(), "verification", per_minute=30, burst=20))

    def show(request: Request, form: Form, status: int = 200) -> Response:
        return pages.page(request, "verify", title="Confirm your address", status=status, form=form)

    @router.get("/verify")
    def verify(request: Request, purpose: str = "verify", address: str = "", secret: str = "") -> Response:
        if not (address and secret):
            return RedirectResponse(PATH, 303)
        return show(request, Form({"purpose": _purpose(purpose), "email": address, "code": secret}))

    @router.post("/verify", dependencies=[pace])
    def confirm(request: Request, form: Posted) -> Response:
        purpose, caller = _purpose(form.get("purpose")), caller_of(request, pages.console, form.get("ticket"))
        try:
            tenant = verification.confirm(form.get("email"), form.get("code"), purpose, caller=caller)
            if purpose == "destination":
                said = f"Form submissions now go to {tenant.destination_email}."
                return pages.console.go(HOME, said)
            open_tenant(tenant)
        except CallerError as mistake:
            return show(request, Form(form.values, error=mistake.message), mistake.status)
        response = signed_in(pages, tenant, wanted_by(request), "Your address is confirmed.")
        remember(request, response, pages.console, verification.requesters, tenant.email)
        return response

    @router.get("/register")
    def register_page(request: Request, caller: Caller) -> Response:
        if not caller.roles & {"verified", "tenant"}:
            return RedirectResponse(PATH, 303)
        tenant = pages.portal.tenants.get(caller.subject)
        if tenant.status == "REGISTERED" and "tenant" in caller.roles:
            return RedirectResponse(f"{HOME}/account", 303)
        orders = pages.portal.tenants.orders(tenant.id, pages.actor(request), 100)
        return pages.page(
            request, "register", title="Complete your registration", tenant=tenant, orders=len(orders.items)
        )

    @router.post("/register", dependencies=[pace])
    def register(caller: Caller) -> Response:
        if not caller.roles & {"verified", "tenant"}:
            return RedirectResponse(PATH, 303)
        return signed_in(pages, verification.register(caller.subject), "", "You are registered. Welcome.")


def _purpose(given: str) -> Purpose:
    return "destination" if given == "destination" else "verify"
