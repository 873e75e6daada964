"""Protection for browsers: headers on every response, allowed hosts, and changes requested by other sites.

`Hosts` refuses host names that are not ours (a foreign name that resolves to this machine is DNS rebinding).
`SameOrigin` refuses changes that another site's page requests with our user's cookie.
Must hold: a request with a bearer token was not made by another site's form, so it needs no such check; a cookie is
never read if there is a bearer token (identity/guards.py).
"""

from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tablewright.edge.problems import Problem, forbidden, refuse

LOOPBACK_HOSTS = frozenset(("127.0.0.1", "localhost", "[::1]"))
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))

PAGE_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Responses hold personal data unless their handler sets another value (etags.py).
    "Cache-Control": "no-store",
}


class PageHeaders:
    """ASGI middleware: sets PAGE_HEADERS on every response that does not have them already."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = MutableHeaders(scope=message)
                for name, value in PAGE_HEADERS.items():
                    present.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class Hosts:
    """ASGI middleware: 421 for a Host that is not among `allowed`, on any port."""

    def __init__(self, app: ASGIApp, *, allowed: Collection[str] = LOOPBACK_HOSTS) -> None:
        self._app, self._allowed = app, frozenset(name.lower() for name in allowed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            hosts = Headers(scope=scope).getlist("host")
            if len(hosts) != 1 or host_name(hosts[0]) not in self._allowed:
                words = "This service is not available under the name in your Host header."
                await refuse(Problem(421, "HOST_NOT_ALLOWED", words), scope, receive, send)
                return
        await self._app(scope, receive, send)


def host_name(host: str) -> str:
    """A Host header without its port: `[::1]:80` is `[::1]`."""
    end = host.find("]") + 1 if host.startswith("[") else host.find(":")
    return (host[:end] if end > 0 else host).rstrip(".").lower()


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
