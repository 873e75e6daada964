"""`GET /metrics`: the figures of every region of a server, and who may read them.

Without parameters it is Prometheus' text, counted since the server was started. With `?table=NAME` it is JSON: the
stored figures of that table in the last hours (`index`, `hours` and `region` are optional).
Figures contain only the names of tables and how busy they are, but they are protected like the rest. A server without
credentials is for this machine: it answers requests for a host name of this machine, so that a web page cannot read
it under a name of its own (a page's own name may resolve to this machine). A server with credentials needs a signature
of one of its keys, or the token it was given for this: Prometheus cannot sign its requests, and the token gives access
to nothing else.
Must hold: the token is compared in constant time and never shown. Elsewhere: the text itself
(engine/metrics/prometheus.py), the figures of a table (engine/metrics/table_report.py).
"""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import orjson

from tablewright.engine import Engine, ServiceError
from tablewright.engine.errors import invalid, table_not_found
from tablewright.engine.metrics.prometheus import prometheus
from tablewright.engine.metrics.table_report import HOURS, table_metrics
from tablewright.wire.signature import Authority

METRICS_PATH = b"/metrics"
# The name of a request for a table's figures, which a thread beside the loop answers (slow_reads.py).
FIGURES = "Figures"
_ASKED = ("table", "index", "hours", "region")
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

    def asked(self, url: bytes) -> dict[str, Any] | None:
        """The parameters of a request for one table's figures; None if it is for all of them, as text."""
        given = dict(parse_qsl(url.partition(b"?")[2].decode("latin-1"), keep_blank_values=True))
        if "table" not in given:
            return None
        odd = [name for name in given if name not in _ASKED]
        if odd:
            raise invalid(f"/metrics is asked with {', '.join(_ASKED)}, not with {odd[0]}")
        hours = given.get("hours", "3")
        if not hours.isascii() or not hours.isdigit() or not HOURS[0] <= int(hours[:9]) <= HOURS[1]:
            raise invalid(f"hours are {HOURS[0]} to {HOURS[1]}, not {hours}")
        return {**given, "hours": int(hours)}


def figures_of(engines: Mapping[str, Engine], asked: Mapping[str, Any]) -> bytes:
    """A table's figures in every region that has it, or in the one that was named, as JSON."""
    region, table = asked.get("region"), asked["table"]
    if region is not None and region not in engines:
        raise invalid(f"this server is {', '.join(engines)}, not {region}")
    having = {
        name: engine for name, engine in engines.items() if table in engine.tables and region in (None, name)
    }
    if not having:
        raise table_not_found(table)
    index, hours = asked.get("index", ""), asked["hours"]
    found = [
        figure
        for name, engine in having.items()
        for figure in table_metrics(engine.metrics, name, engine.now(), table, index, hours)
    ]
    return orjson.dumps(found)
