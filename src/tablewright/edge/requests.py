"""What is known of a request beside its content: its id, who it was for, how it ended.

Each request has one id, in the answer's X-Request-Id, in every problem and in the log; and one log line when it ends.
Must hold: the log line never shows a path as it was asked for, a query string, a header or a body: they may hold
personal data. The route's template stands for the path, a keyed hash for the subject.
Elsewhere: how log lines look (logs.py), who the subject is (identity/).
"""

import logging
import re
import time
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tablewright.world import World

log = logging.getLogger("tablewright.edge")

HEADER = "X-Request-Id"
# What we repeat into logs and answers must not be able to break out of either.
_SANE = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_PLACE = "tablewright.request_id"


def request_id_of(scope: Scope) -> str | None:
    """The request's id; None only in an app that was made without `RequestIds`."""
    found: str | None = scope.get(_PLACE)
    return found


class RequestIds:
    """ASGI middleware, the outermost of ours: gives the request its id and writes its one log line."""

    def __init__(self, app: ASGIApp, *, world: World, clock: Callable[[], float] = time.perf_counter) -> None:
        self._app, self._world, self._clock = app, world, clock
        # A key of this process: without it anyone could hash a list of known subjects and compare.
        self._hash_key = world.new_id().encode()[:64]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = scope[_PLACE] = self._id_for(scope)
        status = 0  # stays 0 when the client left before there was an answer
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
            log.info("request answered", extra=fields | {"request": request_id} | self._subject(scope))

    def _id_for(self, scope: Scope) -> str:
        given = [value for name, value in scope["headers"] if name == HEADER.lower().encode()]
        text = given[0].decode("latin-1") if len(given) == 1 else ""
        return text if _SANE.fullmatch(text) else self._world.new_id()

    def _subject(self, scope: Scope) -> dict[str, str]:
        principal = scope.get("state", {}).get("principal")
        if principal is None or not principal.subject:
            return {}
        digest = blake2b(principal.subject.encode(errors="replace"), key=self._hash_key, digest_size=6)
        return {"subject": digest.hexdigest()}


def template(scope: Scope) -> str:
    """The path as the routes spell it, `/v1/children/{phone}`; '-' where no route was found."""
    route: Any = scope.get("route")
    if route is None:
        return "-"
    # FastAPI keeps the template with the prefixes of its included routers only in here. The route's own path is
    # the end of it, so an upgrade that moves it costs a prefix in the log, nothing else.
    context = scope.get("fastapi", {}).get("effective_route_context")
    whole = context if context is not None and context.original_route is route else route
    path: str = getattr(whole, "path", "-")
    return f"{scope.get('root_path', '')}{path}"
