"""Errors for the caller of an HTTP API: `application/problem+json` with the same members in every system.

type, title, status and detail are RFC 9457's; code, message, field and requestId are what clients match on and show.
Must hold: an internal error is answered with its request id alone and logged once, by type and place; neither the
response nor the log repeats an exception's message, which may quote personal data.
Elsewhere: the sentences about single fields (field_errors.py), the request's id (request_ids.py).
"""

import json
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tablewright.edge.field_errors import broken_json, field_error
from tablewright.edge.request_ids import request_id_of
from tablewright.engine.errors import fault

log = logging.getLogger("tablewright.edge")

MEDIA_TYPE = "application/problem+json"
ERRORS_LISTED = 50
_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")
Translations = Mapping[type[Exception], Callable[[Any], "Problem"]]


class Problem(Exception):
    """An error response. `code` is stable and for programs, `message` is a sentence for people."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        field: str | None = None,
        extra: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{status} {code}")
        self.status, self.code, self.message, self.field = status, code, message, field
        self.extra, self.headers = dict(extra or {}), dict(headers or {})

    def body(self, request_id: str | None = None) -> dict[str, Any]:
        """The members of the response. `extra` adds to them and cannot replace one."""
        return self.extra | {
            "type": f"/problems/{self.code}",
            "title": self.code.replace("_", " ").capitalize(),
            "status": self.status,
            "detail": self.message,
            "code": self.code,
            "message": self.message,
            "field": self.field,
            "requestId": request_id,
        }


class ProblemBody(BaseModel):
    """An error. `code` is stable; show `message` to people; name `requestId` when you ask us about it."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    message: str
    field: str | None
    requestId: str | None


# For OpenAPI: naming 4XX also keeps FastAPI from describing a 422 of its own shape.
RESPONSES: dict[int | str, dict[str, Any]] = {
    range_: {"description": words, "content": {MEDIA_TYPE: {"schema": ProblemBody.model_json_schema()}}}
    for range_, words in (("4XX", "The request was refused"), ("5XX", "A fault of ours"))
}


def bad_request(code: str, message: str, field: str | None = None) -> Problem:
    return Problem(400, code, message, field)


def unauthorized(code: str, message: str) -> Problem:
    """401; the challenge names the kind of credentials needed, and what was wrong with those that were sent."""
    challenge = (
        "Bearer" if code == "LOGIN_REQUIRED" else f'Bearer error="invalid_token", error_description="{code}"'
    )
    return Problem(401, code, message, headers={"WWW-Authenticate": challenge})


def forbidden(code: str, message: str) -> Problem:
    return Problem(403, code, message)


def not_found(code: str, message: str) -> Problem:
    return Problem(404, code, message)


def conflict(code: str, message: str, field: str | None = None, **extra: Any) -> Problem:
    return Problem(409, code, message, field, extra)


def gone(code: str, message: str) -> Problem:
    return Problem(410, code, message)


def stale(
    message: str = "It has changed since you read it. Read it again, then repeat your change.",
) -> Problem:
    return Problem(412, "STALE", message)


def unprocessable(code: str, message: str, field: str | None = None) -> Problem:
    return Problem(422, code, message, field)


def too_many(retry_after: int, message: str, code: str = "RATE_LIMIT") -> Problem:
    return Problem(429, code, message, headers={"Retry-After": str(retry_after)})


def answer(problem: Problem, scope: Scope) -> Response:
    """The problem as a response."""
    # ASCII only: a name the caller sent may hold half a surrogate pair, which UTF-8 cannot carry.
    content = json.dumps(problem.body(request_id_of(scope)), ensure_ascii=True, separators=(",", ":"))
    return Response(content, problem.status, problem.headers, MEDIA_TYPE)


async def refuse(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer from inside a middleware; a websocket is refused before it opens."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": problem.code})
    else:
        await answer(problem, scope)(scope, receive, send)


def install(app: FastAPI, translations: Translations | None = None) -> None:
    """Every error of this app becomes a problem; `translations` maps the domain's own errors to problems."""

    async def on_problem(request: Request, error: Any) -> Response:
        return answer(error, request.scope)

    async def on_invalid(request: Request, error: Any) -> Response:
        return answer(_invalid(error), request.scope)

    async def on_http(request: Request, error: Any) -> Response:
        return answer(_of_http(request, error), request.scope)

    def translated(translate: Callable[[Any], Problem]) -> Callable[[Request, Any], Any]:
        async def on_error(request: Request, error: Any) -> Response:
            return answer(translate(error), request.scope)

        return on_error

    app.add_exception_handler(Problem, on_problem)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
    for kind, translate in (translations or {}).items():
        app.add_exception_handler(kind, translated(translate))
    app.add_middleware(Faults)


class Faults:
    """ASGI middleware: an exception that no handler answered becomes 500 INTERNAL.

    Not an exception handler: Starlette raises the exception again after one for `Exception`, and the server would
    then print its message.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = False

        async def send_and_note(message: Message) -> None:
            nonlocal began
            began = True
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        except Exception as error:
            log.error("request failed", extra={"request": request_id_of(scope), **fault(error)})
            # A response that had begun stays as it is: the server closes the connection, since it has no end.
            if not began:
                words = "Something went wrong on our side. Name the requestId when you report it."
                await answer(Problem(500, "INTERNAL", words), scope)(scope, receive, send)


def _invalid(error: RequestValidationError) -> Problem:
    errors = error.errors()
    if any(error["type"] == "json_invalid" for error in errors):
        return bad_request("BAD_JSON", broken_json(errors[0]))
    field_errors = [field_error(each) for each in errors[:ERRORS_LISTED]]
    extra = {"errors": [each.as_json() for each in field_errors], "errorCount": len(errors)}
    return Problem(422, "INVALID_FIELD", field_errors[0].message, field_errors[0].field, extra)


def _of_http(request: Request, error: HTTPException) -> Problem:
    """The framework's own errors as problems."""
    routed = "endpoint" in request.scope
    if error.status_code == 404 and not routed:
        return not_found(
            "NO_SUCH_PATH", "There is nothing at this path. Check its spelling, case and version."
        )
    if error.status_code == 405:
        allowed = ", ".join(_allowed(request.scope))
        words = f"This path does not support {request.method}; it supports {allowed}."
        return Problem(405, "METHOD_NOT_ALLOWED", words, headers={"Allow": allowed})
    if error.status_code == 400 and isinstance(error.__cause__, UnicodeDecodeError | RecursionError):
        return bad_request("BAD_JSON", "The body is not valid JSON: it is not UTF-8, or nested too deeply.")
    status = HTTPStatus(error.status_code)
    return Problem(status, status.name, str(error.detail), headers=error.headers)


def _allowed(scope: Scope) -> list[str]:
    """Every method of this path. Starlette names only those of the first route that matches."""
    clean = {name: value for name, value in scope.items() if name != "fastapi"}
    routes = scope["app"].router.routes

    def is_allowed(method: str) -> bool:
        routed_as = "GET" if method == "HEAD" else method  # a route that answers GET answers HEAD
        return any(route.matches(clean | {"method": routed_as})[0] is Match.FULL for route in routes)

    return [method for method in _METHODS if is_allowed(method)]
