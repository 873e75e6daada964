"""OpenTelemetry: a span and metrics for each request of a Db, named by its access pattern.

    db = Db(call, portal, observe=Telemetry())

Attributes are those of the semantic conventions for databases; the pattern is `db.query.summary`, and the span's name.
Without arguments the providers are those that the process has set; without an SDK they do nothing. Needs the extra
`otel`, and is imported only by those who ask for it.
Must hold: no value of an item, a key or a token is in a span or a metric, nor the message of an error, which may quote
one. A refused condition is an answer, not an error: that is how a design keeps what it promises.
Elsewhere: units by pattern in this process (meter.py), spans of HTTP requests (edge/request_spans.py).
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import orjson
from opentelemetry.metrics import MeterProvider, get_meter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider, get_tracer

from tablewright.client import Call, CallRefused, units_of

Attributes: TypeAlias = dict[str, str | bool | int | Sequence[str]]

NAME = "tablewright"
# The buckets that the conventions give for `db.client.operation.duration`.
_SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10)
_CONDITION = "ConditionalCheckFailed"
# What of a request may be shown: none of it comes from an item.
_SHOWN = {
    "IndexName": "aws.dynamodb.index_name",
    "ConsistentRead": "aws.dynamodb.consistent_read",
    "Limit": "aws.dynamodb.limit",
    "ScanIndexForward": "aws.dynamodb.scan_forward",
    "Select": "aws.dynamodb.select",
    "Segment": "aws.dynamodb.segment",
    "TotalSegments": "aws.dynamodb.total_segments",
}


class Telemetry:
    """Observes the requests of any number of Dbs and threads."""

    def __init__(
        self, tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
    ) -> None:
        self._tracer = get_tracer(NAME, tracer_provider=tracer_provider)
        meter = get_meter(NAME, meter_provider=meter_provider)
        self._seconds = meter.create_histogram(
            "db.client.operation.duration",
            "s",
            "Duration of database client operations",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self._calls = meter.create_counter(
            "tablewright.pattern.calls", "{call}", "Calls as a design's Load counts them"
        )
        self._read = meter.create_counter(
            "tablewright.pattern.read_units", "{unit}", "Read units that a pattern consumed"
        )
        self._write = meter.create_counter(
            "tablewright.pattern.write_units", "{unit}", "Write units that a pattern consumed"
        )
        self._searched = meter.create_counter(
            "tablewright.pattern.search_bytes", "By", "Bytes that vector searches compared"
        )

    def __call__(
        self, call: Call, name: str, verb: str, request: Mapping[str, Any], calls: int
    ) -> dict[str, Any]:
        """The answer of a Call; `calls` as Meter counts them."""
        tables = sorted(_tables(verb, request))
        labels: Attributes = {
            "db.system.name": "aws.dynamodb",
            "db.operation.name": verb,
            "db.query.summary": name,
        }
        if len(tables) == 1:
            labels["db.collection.name"] = tables[0]
        started = time.perf_counter()
        try:
            with self._tracer.start_as_current_span(
                name,
                kind=SpanKind.CLIENT,
                attributes=labels | _of_request(request, tables),
                # Both would store the error's message.
                record_exception=False,
                set_status_on_exception=False,
            ) as span:
                try:
                    answer = call(verb, request)
                except BaseException as error:
                    outcome = _of_error(error)
                    labels |= outcome
                    span.set_attributes(outcome)
                    if "error.type" in outcome:
                        span.set_status(Status(StatusCode.ERROR))
                    raise
                if span.is_recording():
                    _note_answer(span, verb, answer)
        finally:
            self._seconds.record(time.perf_counter() - started, labels)
        self._count(verb, answer, calls, labels)
        return answer

    def _count(self, verb: str, answer: Mapping[str, Any], calls: int, labels: Attributes) -> None:
        if calls:
            self._calls.add(calls, labels)
        for units in units_of(verb, answer):
            if units.read:
                self._read.add(units.read, labels | {"db.collection.name": units.table})
            if units.write:
                self._write.add(units.write, labels | {"db.collection.name": units.table})
        if verb == "SearchVectors" and (told := answer.get("ConsumedCapacity")):
            self._searched.add(told.get("VectorSearchRequestBytes", 0), labels)


def _tables(verb: str, request: Mapping[str, Any]) -> set[str]:
    if verb.startswith("Batch"):
        return set(request["RequestItems"])
    if verb.startswith("Transact"):
        return {body["TableName"] for one in request["TransactItems"] for body in one.values()}
    return {request["TableName"]} if "TableName" in request else set()


def _of_request(request: Mapping[str, Any], tables: Sequence[str]) -> Attributes:
    found: Attributes = {shown: request[name] for name, shown in _SHOWN.items() if name in request}
    found["aws.dynamodb.table_names"] = tables
    size = sum(_batch_sizes(request))
    # The conventions: never for one.
    if size > 1:
        found["db.operation.batch.size"] = size
    return found


def _batch_sizes(request: Mapping[str, Any]) -> Iterator[int]:
    yield len(request.get("TransactItems", ()))
    for wanted in request.get("RequestItems", {}).values():
        yield len(wanted["Keys"] if isinstance(wanted, Mapping) else wanted)


def _note_answer(span: Span, verb: str, answer: Mapping[str, Any]) -> None:
    told = answer.get("ConsumedCapacity") or ()
    listed = [told] if isinstance(told, Mapping) else told
    span.set_attribute("aws.dynamodb.consumed_capacity", [orjson.dumps(one).decode() for one in listed])
    if "Count" in answer:
        span.set_attribute("aws.dynamodb.count", answer["Count"])
        span.set_attribute("aws.dynamodb.scanned_count", answer.get("ScannedCount", answer["Count"]))
    if verb == "GetItem":
        span.set_attribute("db.response.returned_rows", int("Item" in answer))


def _of_error(error: BaseException) -> Attributes:
    """What of an error may be shown: its kind. A refused condition has a status and is not an error."""
    if not isinstance(error, CallRefused):
        return {"error.type": type(error).__qualname__}
    found: Attributes = {"db.response.status_code": error.name}
    reasons = {reason.get("Code") for reason in error.fields.get("CancellationReasons") or ()}
    is_condition = error.name == f"{_CONDITION}Exception" or (
        _CONDITION in reasons and reasons <= {_CONDITION, "None", None}
    )
    return found if is_condition else found | {"error.type": error.name}
