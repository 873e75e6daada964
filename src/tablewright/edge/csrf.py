"""Cross-site request forgery: changes that another site's page requests with our user's cookie are refused.

By the headers that browsers send (Origin, Sec-Fetch-Site), so forms need no token.
Must hold: a request with a bearer token was not made by another site's form, so it needs no such check; a cookie is
never read if there is a bearer token (identity/guards.py).
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tablewright.edge.problems import forbidden, refuse

_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))


class SameOrigin:
    """ASGI middleware: 403 for a change requested by a page of another origin."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and not self._is_allowed(scope):
            words = (
                "A page of another site requested this change. Open this service's own page and repeat it."
            )
            await refuse(forbidden("CROSS_SITE", words), scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        # A websocket opens with a GET and then carries changes; browsers let any page open one.
        if scope["type"] == "http" and scope["method"] in _SAFE:
            return True
        if headers.get("authorization", "").lower().startswith("bearer "):
            return True
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if site is not None:
            return site in ("same-origin", "none")
        # Browsers send Origin with every change. A client that sends neither is a program, without a user's cookies.
        return origin is None or urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
