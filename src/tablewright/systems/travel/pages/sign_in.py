"""Signing in: with an e-mail address and the code sent to it, or with Apple; a new traveller gets an account.

Must hold: the pages say the same about every address, and never show a code again; the page opened afterwards is one
of Skratch, since this login is valid nowhere else; Apple's answer is accepted only in the browser that was sent there.
Elsewhere: the pages of a code (pages/code_sign_in.py), what proves a login (systems/travel/account/email_login.py,
account/apple.py), other people's sign-in (app/sign_in.py).
"""

import hashlib
import hmac
from functools import partial
from typing import Annotated, Any
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.errors import BadRequest
from tablewright.kit.system import LOGIN_LASTS
from tablewright.pages.code_sign_in import CodeSignIn, Step, add_code_pages
from tablewright.pages.forms import Form, posted
from tablewright.pages.known_devices import caller_of, remember
from tablewright.pages.paths import path_within
from tablewright.systems.travel.account.accounts import Entered, Proved
from tablewright.systems.travel.account.apple import NONCE_LIVES, AppleVerifier
from tablewright.systems.travel.pages.page import HOME, TravelPages

PATH = f"{HOME}/sign-in"
_BACK, _COOKIE = f"{PATH}/apple/back", "skratch-apple"
_WELCOME = "This is your map. Tap a place you've visited to colour it in."
_within = partial(path_within, HOME, PATH)


def add_sign_in(router: APIRouter, pages: TravelPages) -> None:
    travel, buckets = pages.travel, RateLimiter()
    pace = Depends(limit_rate(buckets, "travel-pages-code", per_minute=30, burst=30))
    mail_pace = Depends(limit_rate(buckets, "travel-pages-mail", per_minute=6, burst=10))

    def page(request: Request, form: Form, step: Step, status: int) -> Response:
        return pages.page(
            request,
            "sign_in",
            title="Sign in to Skratch",
            status=status,
            form=form,
            step=step,
            has_apple=travel.apple is not None and travel.apple.web is not None,
        )

    def start(request: Request, form: Form) -> str:
        return travel.email_login.start(form.get("email"), caller_of(request, pages.console))

    def finish(request: Request, form: Form) -> Response:
        caller = caller_of(request, pages.console, form.get("ticket"))
        address = travel.email_login.prove(form.get("email"), form.get("code"), caller)
        response = _go_in(pages, travel.accounts.enter(Proved("email", email=address)), form.get("next"))
        remember(request, response, pages.console, travel.email_login.requesters, address)
        return response

    door = CodeSignIn(PATH, _within, start, finish, page)
    add_code_pages(router, door, asking=[mail_pace], typing=[pace])
    if travel.apple is not None and travel.apple.web is not None:
        _add_apple(router, pages, travel.apple, pace)


def _add_apple(router: APIRouter, pages: TravelPages, apple: AppleVerifier, pace: Any) -> None:
    @router.get("/sign-in/apple", dependencies=[pace])
    def go_to_apple(request: Request, next: str = "") -> Response:
        nonce = pages.travel.nonces.give()
        # Apple knows one address by its spelling; what a proxy calls us is not it.
        base = pages.console.url or str(request.base_url)
        response = pages.console.go(apple.way(nonce, _state(nonce), base.rstrip("/") + _BACK))
        response.set_cookie(
            _COOKIE,
            urlencode({"nonce": nonce, "next": _within(next)}),
            max_age=int(NONCE_LIVES.total_seconds()),
            path=_BACK,
            secure=pages.console.cookie.secure,
            httponly=True,
            samesite="lax",
        )
        return response

    @router.get("/sign-in/apple/back")
    def come_back(request: Request) -> Response:
        return pages.page(request, "apple_back", title="Sign in to your map")

    @router.post("/sign-in/apple/back", dependencies=[pace])
    def finish_with_apple(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        kept = dict(parse_qsl(request.cookies.get(_COOKIE, "")))
        nonce = kept.get("nonce", "")
        if not nonce or not hmac.compare_digest(form.get("state").encode(), _state(nonce).encode()):
            words = "This sign-in was started in another browser or took too long. Please try again."
            raise BadRequest("STATE_MISMATCH", words)
        login = apple.verify(form.get("id_token"), nonce)
        pages.travel.nonces.spend(nonce, _state(nonce))
        entered = pages.travel.accounts.enter(Proved("apple", login.subject, login.email))
        response = _go_in(pages, entered, _within(kept.get("next", "")))
        response.delete_cookie(_COOKIE, path=_BACK)
        return response


def _go_in(pages: TravelPages, entered: Entered, to: str) -> Response:
    response = pages.console.go(to or HOME, _WELCOME if entered.is_new else "You are signed in.", "note")
    pages.console.cookie.keep(response, entered.token, LOGIN_LASTS)
    return response


def _state(nonce: str) -> str:
    """The state that Apple returns unchanged: derived from the nonce, which only this browser keeps."""
    return hashlib.sha256(f"state of {nonce}".encode()).hexdigest()
