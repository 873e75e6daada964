"""`GET /metrics`: the engine's figures for Prometheus, and who may read them.

Figures name tables and say how busy they are, no more; still they are guarded as the rest is. A server without
credentials is for this machine: it answers whoever asks for it by a name of this machine, so that no web page can
read it under a name of its own (a page can have its own name point here). A server with credentials wants a signature
of one of its keys, or the token it was given for this: Prometheus cannot sign what it scrapes, and the token opens
nothing else.
Must hold: the token is compared in constant time and never shown. Elsewhere: the text itself (engine/metric_text.py).
"""

import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tablewright.engine import ServiceError

METRICS_PATH = b"/metrics"
TEXT = b"text/plain; version=0.0.4; charset=utf-8"
_LOCAL_HOST = re.compile(rb"(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?", re.IGNORECASE)
_FOREIGN_NAME = (
    "Figures are told to this machine only: ask for them as http://127.0.0.1 or http://localhost, or start the server "
    "with --credentials and --metrics-token"
)


@dataclass(frozen=True, slots=True)
class Metrics:
    """Where the figures come from, and who may read them: `authority` is None where every local caller may."""

    text: Callable[[], bytes]
    authority: Callable[[bytes, bytes, Mapping[bytes, bytes], bytes], ServiceError | None] | None = None
    token: str | None = field(default=None, repr=False)

    def refusal(self, url: bytes, headers: Mapping[bytes, bytes]) -> ServiceError | None:
        """Why the caller may not read them; None if it may."""
        given = headers.get(b"authorization", b"")
        if self.token is not None and given[:7].lower() == b"bearer ":
            if hmac.compare_digest(given[7:].strip(), self.token.encode()):
                return None
            return ServiceError("UnrecognizedClientException", "This is not the token of /metrics")
        if self.authority is not None:
            return self.authority(b"GET", url, headers, b"")
        is_local = b"origin" not in headers and _LOCAL_HOST.fullmatch(headers.get(b"host", b"")) is not None
        return None if is_local else ServiceError("AccessDeniedException", _FOREIGN_NAME)
