"""`GET /metrics`: the figures of every region of a server, and who may read them.

Prometheus' text, counted since the server was started.
Figures contain only the names of tables and how busy they are, but they are protected like the rest. A server without
credentials is for this machine: it answers requests for a host name of this machine, so that a web page cannot read
it under a name of its own (a page's own name may resolve to this machine). A server with credentials needs a signature
of one of its keys, or the token it was given for this: Prometheus cannot sign its requests, and the token gives access
to nothing else.
Must hold: the token is compared in constant time and never shown. Elsewhere: the text itself
(engine/metrics/prometheus.py).
"""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tablewright.engine import Engine, ServiceError
from tablewright.wire.signature import Authority

METRICS_PATH = b"/metrics"
TEXT = b"text/plain; version=0.0.4; charset=utf-8"
_LOCAL_HOST = re.compile(rb"(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?", re.IGNORECASE)
_FOREIGN_NAME = (
    "Figures are available on this machine only: use http://127.0.0.1 or http://localhost, or start the server "
    "with --credentials and --metrics-token"
)


@dataclass(frozen=True, slots=True)
class Metrics:
    """Where the figures come from, and who may read them: `authority` is None where every local caller may."""

    engines: Mapping[str, Engine]
    authority: Authority | None = None
    token: str | None = field(default=None, repr=False)

    def text(self) -> bytes:
        """The figures of every region as one text for Prometheus."""
        # prometheus_client is a tenth of what `engine serve` imports, and most of those servers are never asked.
        from tablewright.engine.metrics.prometheus import prometheus

        return prometheus([engine.metrics.snapshot() for engine in self.engines.values()])

    def refusal(self, url: bytes, headers: Mapping[bytes, bytes]) -> ServiceError | None:
        """The refusal for a caller that may not read them; None if it may."""
        given = headers.get(b"authorization", b"")
        if self.token is not None and given[:7].lower() == b"bearer ":
            if hmac.compare_digest(given[7:].strip(), self.token.encode()):
                return None
            return ServiceError("UnrecognizedClientException", "This is not the token of /metrics")
        if self.authority is not None:
            return self.authority(b"GET", url, headers, b"")
        is_local = b"origin" not in headers and _LOCAL_HOST.fullmatch(headers.get(b"host", b"")) is not None
        return None if is_local else ServiceError("AccessDeniedException", _FOREIGN_NAME)
