"""A span of OpenTelemetry for each HTTP request, around those of the access patterns that it runs.

    app = make_app("shop", world, spans=RequestSpans)

The parent is the caller's `traceparent`, if there is one. Needs the extra `otel`, and is imported only by those who ask
for it.
Must hold: as a log line, a span never contains the requested path, a query string, a header of the caller or a body:
they may hold personal data. `http.route` stands for `url.path`, which the semantic conventions ask for.
Elsewhere: spans of access patterns (mapping/telemetry.py), log lines (request_ids.py).
"""

import time
from typing import TypeAlias

from opentelemetry.metrics import MeterProvider, get_meter
from opentelemetry.propagate import extract
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider, get_tracer
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tablewright.edge.request_ids import HEADER, request_id_of, template

Attributes: TypeAlias = dict[str, str | int]

_NAME = "tablewright"
# The methods and the buckets that the conventions know.
_METHODS = frozenset(("CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"))
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)


class RequestSpans:
    """ASGI middleware, outside of all of ours."""

    def __init__(
        self,
        app: ASGIApp,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
    ) -> None:
        self._app = app
        self._tracer = get_tracer(_NAME, tracer_provider=tracer_provider)
        self._seconds = get_meter(_NAME, meter_provider=meter_provider).create_histogram(
            "http.server.request.duration",
            "s",
            "Duration of HTTP server requests",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = scope["method"] if scope["method"] in _METHODS else "_OTHER"
        labels: Attributes = {"http.request.method": method, "url.scheme": scope["scheme"]}
        status = 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        started = time.perf_counter()
        with self._tracer.start_as_current_span(
            method,
            extract(headers),
            SpanKind.SERVER,
            labels,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                await self._app(scope, receive, noted)
            except BaseException as error:
                labels["error.type"] = type(error).__qualname__
                raise
            finally:
                labels |= _outcome(scope, status)
                _describe(span, labels, request_id_of(scope))
                self._seconds.record(time.perf_counter() - started, labels)


def _outcome(scope: Scope, status: int) -> Attributes:
    found: Attributes = {}
    if status:
        found["http.response.status_code"] = status
    if status >= 500:
        found["error.type"] = str(status)
    route = template(scope)
    return found if route == "-" else found | {"http.route": route}


def _describe(span: Span, labels: Attributes, request_id: str | None) -> None:
    method = "HTTP" if labels["http.request.method"] == "_OTHER" else labels["http.request.method"]
    span.update_name(f"{method} {labels['http.route']}" if "http.route" in labels else f"{method}")
    span.set_attributes(labels)
    if request_id is not None:
        # The id that the log and every problem carry.
        span.set_attribute(f"http.response.header.{HEADER.lower()}", [request_id])
    if "error.type" in labels:
        span.set_status(Status(StatusCode.ERROR))
