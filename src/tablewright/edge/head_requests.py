"""HEAD: the same response as to GET, without its body, on every path that supports GET."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SCOPE_KEY = "tablewright.is_head"


def is_head(scope: Scope) -> bool:
    """True for a GET of which only the headers are sent: a route that streams need not read its bytes."""
    return bool(scope.get(_SCOPE_KEY))


class HeadRequests:
    """ASGI middleware: the app handles a GET, and the client gets its headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            if message["type"] != "http.response.body":
                await send(message)
            elif not message.get("more_body"):
                await send({"type": "http.response.body", "body": b""})

        # A scope of its own: the server reads the method in ours to know that no body follows.
        inner = {**scope, "method": "GET", _SCOPE_KEY: True}
        try:
            await self._app(inner, receive, send_head)
        finally:
            scope.update({**inner, "method": "HEAD"})  # the route, for the log line
