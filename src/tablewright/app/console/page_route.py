"""Errors on pages are pages: what happened, in a sentence, and a way on.

Every route of the console is of this kind. Must hold: a reader who is not signed in is asked to, and comes back to
where they were; a fault of ours shows its request id and nothing else, and is logged once by kind and place.
Elsewhere: the same errors for programs (edge/problems.py).
"""

import logging
from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from tablewright.edge.fields import field_mistake
from tablewright.edge.problems import Problem
from tablewright.edge.requests import request_id_of
from tablewright.engine.errors import fault

log = logging.getLogger("tablewright.app")

_TITLES = {
    400: "This cannot be read",
    401: "Sign in first",
    403: "Not for this role",
    404: "There is nothing here",
    405: "Not in this way",
    409: "Something is in the way",
    410: "This is gone",
    412: "Somebody was faster",
    422: "This does not fit",
    429: "Too fast",
    500: "Something went wrong on our side",
    503: "Not available right now",
}


class PageRoute(APIRoute):
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
    if isinstance(error, RequestValidationError):
        mistake = field_mistake(error.errors()[0])
        return Problem(422, "INVALID_FIELD", mistake.message, mistake.field)
    if isinstance(error, HTTPException):
        return Problem(error.status_code, "REFUSED", str(error.detail))
    for kind in type(error).__mro__:
        translate = request.app.state.translations.get(kind)
        if translate is not None:
            found: Problem = translate(error)
            return found
    log.error("page failed", extra={"request": request_id_of(request.scope), **fault(error)})
    return Problem(500, "INTERNAL", "The fault is in our log. Name the request id when you report it.")


def error_page(request: Request, problem: Problem) -> Response:
    """The problem in the frame; or the way to sign in, where that is all that is missing."""
    if problem.status == 401 and request.method == "GET":
        back = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/sign-in?next={quote(back, safe='')}", 303)
    response: Response = request.app.state.console.page(
        request,
        "problem.html",
        title=_TITLES.get(problem.status, "This did not work"),
        status=problem.status,
        problem=problem,
        request_id=request_id_of(request.scope),
        start=request.url.path if request.url.query else "",
    )
    for name, value in problem.headers.items():
        if name.lower() != "www-authenticate":
            response.headers[name] = value
    return response
