"""How a child signs in: a parent opens a page with a code, and the child types the code on its own device.

Elsewhere: what a code is (family/child_logins.py).
"""

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.errors import CallerError
from tablewright.edge.rate_limit import rate_limit_key
from tablewright.kit.system import LOGIN_LASTS
from tablewright.pages.forms import Form, Posted
from tablewright.systems.chat.access import OwnChild
from tablewright.systems.chat.pages.child import child_page, child_path
from tablewright.systems.chat.pages.page import HOME, ChatPages


def add_child_login(router: APIRouter, pages: ChatPages) -> None:
    logins = pages.chat.child_logins
    pace = limit_rate(RateLimiter(), "child logins", per_minute=20, burst=10, key=rate_limit_key)

    def shown(request: Request, form: Form, status: int = 200) -> Response:
        return pages.page(request, "enter", title="Come in", form=form, status=status)

    @router.get("/enter")
    def enter(request: Request) -> Response:
        return shown(request, Form())

    @router.post("/enter", dependencies=[Depends(pace)])
    def sign_in(request: Request, form: Posted) -> Response:
        try:
            token = logins.redeem(form.get("code"))
        except CallerError as mistake:
            return shown(request, form.refused(mistake), mistake.status)
        response = pages.console.go(HOME, "Hello! The animals are waiting for you.")
        pages.console.cookie.keep(response, token, LOGIN_LASTS)
        return response

    @router.post("/children/{child_id}/login-code")
    def make_code(request: Request, opened: OwnChild) -> Response:
        code = logins.offer(opened.child, opened.me)
        spaced = " ".join(code[at : at + 4] for at in range(0, len(code), 4))
        response = child_page(
            pages,
            request,
            "child_code",
            opened.child,
            "Data",
            code=spaced,
            back=f"{child_path(opened.child)}/data",
        )
        response.headers["Cache-Control"] = "no-store"
        return response
