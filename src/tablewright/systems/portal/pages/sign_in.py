"""Sign-in for customers: an e-mail address, then the code or the link that was sent to it.

Must hold: the pages say the same about every address and never show a code again; the page after sign-in is a page of
the portal, since the login is valid only there. A link in a mail is opened without the form, so a cookie
remembers the page that was asked for.
Elsewhere: the pages for a code (pages/code_sign_in.py), verification (systems/portal/customers/verification.py), the
page for a link (sign_up.py).
"""

from functools import partial

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.errors import Refused
from tablewright.kit.system import LOGIN_LASTS
from tablewright.pages.code_sign_in import CodeSignIn, Step, add_code_pages
from tablewright.pages.forms import Form
from tablewright.pages.known_devices import caller_of, remember
from tablewright.pages.paths import path_within
from tablewright.systems.portal.customers.verification import LIFETIME
from tablewright.systems.portal.model import Tenant
from tablewright.systems.portal.pages.forms import labelled
from tablewright.systems.portal.pages.page import HOME, PortalPages

PATH = f"{HOME}/sign-in"
_ORDERS = f"{HOME}/orders/"
_WANTED = "portal-next"
within = partial(path_within, HOME, PATH)


def add_sign_in(router: APIRouter, pages: PortalPages) -> None:
    verification = pages.portal.verification
    pace = Depends(limit_rate(RateLimiter(), "verification", per_minute=30, burst=20))

    def page(request: Request, form: Form, step: Step, status: int) -> Response:
        response = pages.page(
            request,
            "sign_in",
            title="Sign in to the Customer portal",
            status=status,
            form=labelled(form, "email", "E-mail address"),
            step=step,
        )
        if step != "address":
            _keep_wanted(pages, response, form.get("next"))
        return response

    def start(request: Request, form: Form) -> str:
        return verification.start(form.get("email"), caller_of(request, pages.console))

    def finish(request: Request, form: Form) -> Response:
        caller = caller_of(request, pages.console, form.get("ticket"))
        tenant = open_tenant(verification.confirm(form.get("email"), form.get("code"), caller=caller))
        response = signed_in(pages, tenant, form.get("next"))
        remember(request, response, pages.console, verification.requesters, tenant.email)
        return response

    door = CodeSignIn(PATH, within, start, finish, page)
    add_code_pages(router, door, asking=[pace], typing=[pace])


def open_tenant(tenant: Tenant) -> Tenant:
    if tenant.status == "SUSPENDED":
        raise Refused("TENANT_SUSPENDED", "This account is suspended. Please contact support.")
    return tenant


def signed_in(pages: PortalPages, tenant: Tenant, wanted: str, said: str = "You are signed in.") -> Response:
    """Sign the tenant in and go to the page they asked for, or to their account.

    The account is for registered customers; others can see their orders and are asked to register first.
    """
    is_registered = tenant.status == "REGISTERED"
    home = f"{HOME}/account" if is_registered else f"{HOME}/register"
    to = wanted if wanted and (is_registered or wanted.startswith(_ORDERS)) else home
    response = pages.console.go(to, said)
    pages.console.cookie.keep(response, pages.portal.token_for(tenant), LOGIN_LASTS)
    response.delete_cookie(_WANTED, path=HOME)
    return response


def wanted_by(request: Request) -> str:
    """The page this browser asked for before it requested a code."""
    return within(request.cookies.get(_WANTED, ""))


def _keep_wanted(pages: PortalPages, response: Response, wanted: str) -> None:
    if wanted:
        response.set_cookie(
            _WANTED,
            wanted,
            max_age=int(LIFETIME.total_seconds()),
            path=HOME,
            secure=pages.console.cookie.secure,
            httponly=True,
            samesite="lax",
        )
    else:
        response.delete_cookie(_WANTED, path=HOME)
