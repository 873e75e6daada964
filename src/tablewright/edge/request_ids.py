"""Request ids and the log line of each request.

Each request has one id, in the response's X-Request-Id, in every problem and in the log; and one log line when it ends.
Must hold: the log line never contains the requested path, a query string, a header or a body: they may hold personal
data. It has the route's template instead of the path, and a keyed hash of the subject.
Elsewhere: how log lines look (json_logs.py), who the subject is (identity/).
"""

import logging
import re
import time
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, TypeAlias

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tablewright.world import World

log = logging.getLogger("tablewright.edge")

HEADER = "X-Request-Id"
# What is copied into logs and responses must not contain line ends or control characters.
_VALID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_SCOPE_KEY = "tablewright.request_id"
# (path, status): called for each request that was answered.
Answered: TypeAlias = Callable[[str, int], None]


def request_id_of(scope: Scope) -> str | None:
    """The request's id; None only in an app without `RequestIds`."""
    found: str | None = scope.get(_SCOPE_KEY)
    return found


class RequestIds:
    """ASGI middleware, the outermost of ours: sets the request's id and writes its log line."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        world: World,
        clock: Callable[[], float] = time.perf_counter,
        answered: Answered | None = None,
    ) -> None:
        self._app, self._world, self._clock, self._answered = app, world, clock, answered
        # A key of this process: without it a reader of the log could hash a list of known subjects and compare.
        self._hash_key = world.new_id().encode()[:64]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = scope[_SCOPE_KEY] = self._id_for(scope)
        status = 0  # stays 0 if the client disconnected before there was a response
        started = self._clock()

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        try:
            await self._app(scope, receive, send_with_id)
        finally:
            elapsed = round((self._clock() - started) * 1000, 1)
            fields = {"method": scope["method"], "route": template(scope), "status": status, "ms": elapsed}
            if self._answered is not None and status:
                self._answered(scope["path"], status)
            log.info("request answered", extra=fields | {"request": request_id} | self._subject(scope))

    def _id_for(self, scope: Scope) -> str:
        given = [value for name, value in scope["headers"] if name == HEADER.lower().encode()]
        text = given[0].decode("latin-1") if len(given) == 1 else ""
        return text if _VALID.fullmatch(text) else self._world.new_id()

    def _subject(self, scope: Scope) -> dict[str, str]:
        principal = scope.get("state", {}).get("principal")
        if principal is None or not principal.subject:
            return {}
        digest = blake2b(principal.subject.encode(errors="replace"), key=self._hash_key, digest_size=6)
        return {"subject": digest.hexdigest()}


def template(scope: Scope) -> str:
    """The path template of the route, `/v1/children/{phone}`; '-' if no route matched."""
    route: Any = scope.get("route")
    if route is None:
        return "-"
    # Only here FastAPI keeps the template with the prefixes of its included routers. The route's own path is its
    # end, so if an upgrade moves it, the log lacks a prefix and nothing else.
    context = scope.get("fastapi", {}).get("effective_route_context")
    whole = context if context is not None and context.original_route is route else route
    path: str = getattr(whole, "path", "-")
    return f"{scope.get('root_path', '')}{path}"
