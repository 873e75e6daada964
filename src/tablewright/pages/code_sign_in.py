"""The two pages of signing in by mail: an address, then the code that was sent to it.

Must hold: the pages say the same about every address, and show neither a code nor a password again; the redirect after
signing in is a path that the door allows, whatever the form says.
Elsewhere: verifying a code and signing in (app/sign_in.py, systems/travel/pages/sign_in.py,
systems/portal/pages/sign_in.py).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse

from tablewright.edge.errors import CallerError, TooManyRequests
from tablewright.edge.mail_addresses import NotAnAddress
from tablewright.pages.forms import Form, posted

_SHOWN = ("email", "next", "ticket")
# What a page asks for: an address; the code that was sent; or an earlier code, because no new one was sent.
Step: TypeAlias = Literal["address", "code", "earlier code"]


@dataclass(frozen=True, slots=True)
class CodeSignIn:
    """One sign-in page. `at` is the full path of its pages; `within` returns a path if it may be the redirect, or "".

    `start` sends a code to an address and returns the requester's ticket; `finish` checks the code and returns the
    redirect with the login; both raise a CallerError or NotAnAddress. `page` shows the form of a step.
    """

    at: str
    within: Callable[[str], str]
    start: Callable[[Request, Form], str]
    finish: Callable[[Request, Form], Response]
    page: Callable[[Request, Form, Step, int], Response]


def add_code_pages(
    router: APIRouter, door: CodeSignIn, *, asking: Sequence[Any] = (), typing: Sequence[Any] = ()
) -> None:
    """The pages under /sign-in; `asking` and `typing` are dependencies of sending a code and of taking one."""

    @router.get("/sign-in")
    def ask(request: Request, next: str = "") -> Response:
        return door.page(request, Form({"next": door.within(next)}), "address", 200)

    @router.get("/sign-in/code")
    def begin_again() -> Response:
        return RedirectResponse(door.at, 303)

    @router.post("/sign-in", dependencies=list(asking))
    def start(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        form = _typed(door, form)
        try:
            ticket = door.start(request, form)
        except (CallerError, NotAnAddress) as mistake:
            # A reader who asked too often may still have a code that works.
            step: Step = "earlier code" if isinstance(mistake, TooManyRequests) else "address"
            return _refused(door, request, form, mistake, step)
        return door.page(request, Form({**_clean(form).values, "ticket": ticket}), "code", 200)

    @router.post("/sign-in/code", dependencies=list(typing))
    def finish(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        form = _typed(door, form)
        try:
            return door.finish(request, form)
        except (CallerError, NotAnAddress) as mistake:
            return _refused(door, request, form, mistake, "address" if _is_of_address(mistake) else "code")


def _typed(door: CodeSignIn, form: Form) -> Form:
    return Form({**form.values, "email": form.get("email").strip(), "next": door.within(form.get("next"))})


def _clean(form: Form) -> Form:
    return Form({name: form.get(name) for name in _SHOWN})


def _is_of_address(mistake: Exception) -> bool:
    return isinstance(mistake, NotAnAddress) or getattr(mistake, "field", None) == "email"


def _refused(door: CodeSignIn, request: Request, form: Form, mistake: Exception, step: Step) -> Response:
    clean = _clean(form)
    shown = (
        clean.wrong("email", str(mistake))
        if _is_of_address(mistake)
        else Form(clean.values, error=str(mistake))
    )
    wait = mistake.retry_after if isinstance(mistake, TooManyRequests) else 0
    answer = door.page(request, shown, step, 429 if wait else 422)
    if wait:
        answer.headers["Retry-After"] = str(wait)
    return answer
