"""Protection for browsers: headers on every response, and allowed hosts.

`Hosts` refuses host names that are not ours (a foreign name that resolves to this machine is DNS rebinding).
Elsewhere: changes that other sites' pages request (csrf.py).
"""

from collections.abc import Collection, Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tablewright.edge.problems import Problem, refuse

LOOPBACK_HOSTS = frozenset(("127.0.0.1", "localhost", "[::1]"))

CONTENT_POLICY = "Content-Security-Policy"
PAGE_HEADERS: Mapping[str, str] = {
    CONTENT_POLICY: "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Responses hold personal data unless their handler sets another value (etags.py).
    "Cache-Control": "no-store",
}


def connecting_to(origin: str) -> str:
    """The content security policy of a page whose scripts also send requests to one other origin."""
    return f"{PAGE_HEADERS[CONTENT_POLICY]}; connect-src 'self' {origin}"


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
