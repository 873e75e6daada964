"""Telemetry: what OpenTelemetry's own SDK receives of the requests of a Db, and what it must never receive."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from tests.client.ways import KEY, REGION, over_http
from tests.mapping.shop import (
    START,
    customer,
    customer_now,
    customers,
    order,
    orders,
    orders_in_state,
    orders_of,
    shop,
)

from tablewright import testing
from tablewright.client import CallRefused, HttpCall, embedded
from tablewright.client.async_http import AsyncHttpCall
from tablewright.mapping import AlreadyExists, Db, NotUnique
from tablewright.mapping.async_db import AsyncDb
from tablewright.mapping.telemetry import Telemetry
from tablewright.testing import Clock


class Recorder:
    """An SDK with exporters in memory."""

    def __init__(self) -> None:
        self.tracer_provider, self._spans = TracerProvider(), InMemorySpanExporter()
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self._metrics = InMemoryMetricReader()
        self.meter_provider = MeterProvider([self._metrics])
        self.telemetry = Telemetry(self.tracer_provider, self.meter_provider)

    def spans(self) -> list[ReadableSpan]:
        return list(self._spans.get_finished_spans())

    def clear(self) -> None:
        self._spans.clear()

    def points(self, metric: str) -> list[Any]:
        data = self._metrics.get_metrics_data()
        return [
            point
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for one in scope.metrics
            if one.name == metric
            for point in one.data.data_points
        ]

    def sums(self, metric: str) -> dict[str, float]:
        found: dict[str, float] = {}
        for point in self.points(metric):
            name = point.attributes["db.query.summary"]
            found[name] = found.get(name, 0) + point.value
        return found


@dataclass
class Watched:
    db: Db
    recorder: Recorder


@pytest.fixture
def watched() -> Iterator[Watched]:
    clock, recorder = Clock(START), Recorder()
    with testing.engine(world=clock.world()) as engine:
        db = Db(embedded(engine), shop, world=clock.world(), observe=recorder.telemetry)
        db.create_tables()
        yield Watched(db, recorder)


def attributes(span: ReadableSpan) -> Mapping[str, Any]:
    return span.attributes or {}


def test_a_span_is_named_by_its_pattern_and_says_what_it_consumed(watched: Watched) -> None:
    watched.db.write(orders.create(order(1)))
    watched.db.write(orders.create(order(2)))
    watched.recorder.clear()
    watched.db.page(orders_of(customer="c1"))
    (span,) = watched.recorder.spans()
    assert (span.name, span.kind) == ("orders_of", SpanKind.CLIENT)
    found = dict(attributes(span))
    (capacity,) = found.pop("aws.dynamodb.consumed_capacity")
    assert json.loads(capacity)["CapacityUnits"] == 0.5
    assert found == {
        "db.system.name": "aws.dynamodb",
        "db.operation.name": "Query",
        "db.collection.name": "shop",
        "db.query.summary": "orders_of",
        "aws.dynamodb.table_names": ("shop",),
        "aws.dynamodb.limit": 11,
        "aws.dynamodb.count": 2,
        "aws.dynamodb.scanned_count": 2,
    }


def test_each_shard_of_a_pattern_is_a_request_and_a_span(watched: Watched) -> None:
    watched.db.page(orders_in_state(state="OPEN"))
    spans = watched.recorder.spans()
    assert {span.name for span in spans} == {"orders_in_state"}
    assert len(spans) == len(orders_in_state(state="OPEN").partitions) > 1
    assert all(attributes(span)["aws.dynamodb.index_name"] for span in spans)
    assert watched.recorder.sums("tablewright.pattern.calls") == {"orders_in_state": 1}


def test_writes_that_go_together_are_one_span_with_all_their_names(watched: Watched) -> None:
    watched.db.write(customers.create(customer()), orders.create(order(1)))
    (span,) = watched.recorder.spans()
    assert span.name == "customer.create+order.create"
    assert attributes(span)["db.operation.name"] == "TransactWriteItems"
    assert attributes(span)["db.operation.batch.size"] == 3  # with the guard of the address


def test_the_counters_are_those_of_the_meter(watched: Watched) -> None:
    watched.db.write(customers.create(customer()))
    watched.db.write(orders.create(order(1)))
    watched.db.one(customer_now(id="c1"))
    watched.db.many([orders.get("c1", "1"), orders.get("c1", "2")])
    watched.db.count(orders_of(customer="c1"))
    spent = watched.db.meter.spent()
    sums = watched.recorder.sums
    assert sums("tablewright.pattern.calls") == {name: each.calls for name, each in spent.items()}
    assert sums("tablewright.pattern.read_units") == {k: v.read for k, v in spent.items() if v.read}
    assert sums("tablewright.pattern.write_units") == {k: v.write for k, v in spent.items() if v.write}
    durations = watched.recorder.points("db.client.operation.duration")
    assert sum(point.count for point in durations) == sum(each.requests for each in spent.values())


def test_a_refused_condition_is_an_answer_and_not_an_error(watched: Watched) -> None:
    watched.db.write(orders.create(order(1)))
    watched.db.write(customers.create(customer("c1", email="taken@example.org")))
    watched.recorder.clear()
    with pytest.raises(AlreadyExists):
        watched.db.write(orders.create(order(1)))
    with pytest.raises(NotUnique):
        watched.db.write(customers.create(customer("c2", email="taken@example.org")))
    alone, together = watched.recorder.spans()
    assert attributes(alone)["db.response.status_code"] == "ConditionalCheckFailedException"
    assert attributes(together)["db.response.status_code"] == "TransactionCanceledException"
    assert all("error.type" not in attributes(span) for span in (alone, together))
    assert all(span.status.status_code is StatusCode.UNSET for span in (alone, together))


def test_a_request_that_fails_is_an_error_by_its_kind() -> None:
    recorder = Recorder()
    with testing.engine() as engine:
        db = Db(embedded(engine), shop, observe=recorder.telemetry)  # without tables
        with pytest.raises(CallRefused):
            db.one(orders.get("c1", "1"))
    (span,) = recorder.spans()
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description is None
    assert attributes(span)["error.type"] == "ResourceNotFoundException"
    (duration,) = recorder.points("db.client.operation.duration")
    assert duration.attributes["error.type"] == "ResourceNotFoundException"
    assert recorder.points("tablewright.pattern.calls") == []


SECRET = "S3CRET"


def test_no_key_no_value_and_no_message_is_in_a_span_or_a_metric(watched: Watched) -> None:
    db, email = watched.db, f"{SECRET}@example.org"
    person = customer(SECRET, email=email, name=SECRET, nick=SECRET, notes=[SECRET])
    db.write(customers.create(person), once=SECRET)
    db.write(orders.create(order(1, customer=SECRET, lines=[SECRET])))
    with pytest.raises(NotUnique):
        db.write(customers.create(customer("other", email=email)))
    with pytest.raises(AlreadyExists):
        db.write(orders.create(order(1, customer=SECRET)))
    with pytest.raises(CallRefused):
        db.transact("by hand", [{"Put": {"TableName": SECRET.lower(), "Item": {"k": {"S": SECRET}}}}])
    page = db.page(orders_of(customer=SECRET), size=1)
    db.page(orders_of(customer=SECRET), size=1, after=page.next)
    db.many([orders.get(SECRET, "1"), orders.get(SECRET, "2")])
    db.holder(customers, "email", email=email)
    db.write(customers.delete(person))
    db.clear(orders_of(customer=SECRET))
    spans = watched.recorder.spans()
    assert len(spans) > 9
    assert all(SECRET not in span.to_json() for span in spans)
    assert not any(span.events for span in spans)
    told = [str(point) for name in METRICS for point in watched.recorder.points(name)]
    assert told
    assert all(SECRET not in each for each in told)


METRICS = (
    "db.client.operation.duration",
    "tablewright.pattern.calls",
    "tablewright.pattern.read_units",
    "tablewright.pattern.write_units",
)


def test_spans_lie_below_the_span_of_the_caller(watched: Watched) -> None:
    tracer = watched.recorder.tracer_provider.get_tracer("test")
    with tracer.start_as_current_span("caller") as caller:
        watched.db.write(orders.create(order(1)))
    below, _ = watched.recorder.spans()
    assert below.parent is not None
    assert below.parent.span_id == caller.get_span_context().span_id


def test_spans_of_tasks_that_run_at_once_lie_below_their_own_callers() -> None:
    recorder = Recorder()
    tracer = recorder.tracer_provider.get_tracer("test")
    with testing.engine() as engine:
        Db(embedded(engine), shop).create_tables()
        engine.settle()
        with over_http(engine) as call:
            assert isinstance(call, HttpCall)
            url = call.endpoint

            async def caller(db: AsyncDb, number: int) -> None:
                with tracer.start_as_current_span(f"caller {number}"):
                    await db.write(orders.create(order(number)))
                    assert [found.id async for found in db.all(orders_of(customer="c1"))]

            async def main() -> None:
                async with AsyncHttpCall(url, REGION, KEY) as opened:
                    db = AsyncDb(opened, shop, observe=recorder.telemetry)
                    await asyncio.gather(*(caller(db, number) for number in range(8)))

            asyncio.run(main())
    spans = recorder.spans()
    callers = [span.context.span_id for span in spans if span.name.startswith("caller")]
    below = sorted((span.parent.span_id, span.name) for span in spans if span.parent is not None)
    assert below == sorted((id, name) for id in callers for name in ("order.create", "orders_of"))
