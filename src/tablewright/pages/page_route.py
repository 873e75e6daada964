"""Errors on pages are pages: what happened, in a sentence, and what to do next.

Every route of the console is of this kind. Must hold: a reader who is not signed in is sent to the sign-in page of the
system and returns afterwards; an internal error shows its request ID and nothing else, and is logged once by kind and
place.
Elsewhere: the same errors for programs (edge/problems.py).
"""

import logging
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from tablewright.edge.errors import CallerError, problem_for
from tablewright.edge.field_errors import field_error
from tablewright.edge.problems import Problem
from tablewright.edge.request_ids import request_id_of
from tablewright.edge.routes import DeferredRoute
from tablewright.edge.unusable_keys import unusable_value
from tablewright.engine.errors import fault
from tablewright.pages.area import SIGN_IN, area_at, door_at

log = logging.getLogger("tablewright.app")

_TITLES = {
    400: "We can't read this request",
    401: "Please sign in",
    403: "You don't have access",
    404: "Page not found",
    405: "Not supported",
    409: "Conflict",
    410: "No longer available",
    412: "Changed by someone else",
    422: "Please check your entries",
    429: "Too many requests",
    500: "Something went wrong on our side",
    503: "Not available right now",
}


# Codes with a more helpful title than that of their status.
_TITLES_OF_CODES = {"TENANT_CLOSED": "Your account was deleted"}


class PageRoute(DeferredRoute):
    """A route whose errors are shown in the console's frame."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()

        async def answer_with_a_page(request: Request) -> Response:
            try:
                return await answer(request)
            except Exception as error:
                return await run_in_threadpool(error_page, request, problem_of(request, error))

        return answer_with_a_page


def problem_of(request: Request, error: Exception) -> Problem:
    """Any error as a problem, by the same translations as the API's."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, request.app.state.unusable):
        return unusable_value(request, error)
    if isinstance(error, RequestValidationError):
        mistake = field_error(error.errors()[0])
        return Problem(422, "INVALID_FIELD", mistake.message, mistake.field)
    if isinstance(error, HTTPException):
        return Problem(error.status_code, "REFUSED", str(error.detail))
    for kind in type(error).__mro__:
        translate = request.app.state.translations.get(kind)
        if translate is not None:
            found: Problem = translate(error)
            return found
    if isinstance(error, CallerError):
        return problem_for(error)
    log.error("page failed", extra={"request": request_id_of(request.scope), **fault(error)})
    return Problem(500, "INTERNAL", "The error is in our log. Please quote the request ID if you report it.")


def error_page(request: Request, problem: Problem) -> Response:
    """The problem in the frame; or a redirect to the sign-in page if signing in is all that is missing."""
    # The sign-in page itself is refused only for a header that is not a login; a redirect there would never end.
    is_door = request.url.path == door_at(request.app.state.areas, request.url.path)
    if problem.status == 401 and request.method == "GET" and not is_door:
        said = "" if problem.code == "LOGIN_REQUIRED" else problem.message
        onward: Response = request.app.state.console.go(sign_in_link(request), said, "note")
        return onward
    response: Response = request.app.state.console.page(
        request,
        "problem.html",
        title=_TITLES_OF_CODES.get(problem.code) or _TITLES.get(problem.status, "That didn't work"),
        status=problem.status,
        problem=problem,
        request_id=request_id_of(request.scope),
        start=request.url.path if request.url.query else "",
    )
    for name, value in problem.headers.items():
        if name.lower() != "www-authenticate":
            response.headers[name] = value
    return response


def sign_in_link(request: Request) -> str:
    """The sign-in page of the requested page, with the address to return to if it can be opened again."""
    path = request.url.path
    area = area_at(request.app.state.areas, path)
    door = area.door if area is not None else SIGN_IN
    is_door = path.startswith(SIGN_IN) if area is None else area.is_door(path)
    if request.method not in ("GET", "HEAD") or path == "/" or is_door:
        return door
    back = path + (f"?{request.url.query}" if request.url.query else "")
    return f"{door}?next={quote(back, safe='')}"
