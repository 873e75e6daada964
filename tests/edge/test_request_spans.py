"""Spans of HTTP requests: above those of the access patterns they run, with nothing personal in them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
import pytest
from fastapi import APIRouter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind, StatusCode
from tests.edge.talk import app_of, calling
from tests.mapping.shop import Order, order, orders, orders_of, shop
from tests.mapping.test_telemetry import Recorder, attributes

from tablewright import testing
from tablewright.client import embedded
from tablewright.edge.request_spans import RequestSpans
from tablewright.edge.routes import MountedRouter
from tablewright.mapping import Db


@dataclass
class Traced:
    client: httpx.Client
    recorder: Recorder

    def requests(self, count: int = 1) -> list[ReadableSpan]:
        """The spans of so many requests; one ends a moment after its response."""
        for _ in range(1000):
            found = self._of(SpanKind.SERVER)
            if len(found) >= count:
                break
            time.sleep(0.01)
        assert len(found) == count
        return found

    def patterns(self) -> list[ReadableSpan]:
        return self._of(SpanKind.CLIENT)

    def _of(self, kind: SpanKind) -> list[ReadableSpan]:
        return [span for span in self.recorder.spans() if span.kind is kind]


@pytest.fixture
def traced() -> Iterator[Traced]:
    recorder, router = Recorder(), APIRouter()
    with testing.engine() as engine:
        db = Db(embedded(engine), shop, observe=recorder.telemetry)
        db.create_tables()
        engine.settle()

        @router.post("/customers/{customer}/orders")
        def create(customer: str) -> list[Order]:
            db.write(orders.create(order(1, customer=customer)))
            return list(db.all(orders_of(customer=customer)))

        @router.get("/faults/{name}")
        def fail(name: str) -> Any:
            raise RuntimeError(name)

        spans = partial(
            RequestSpans, tracer_provider=recorder.tracer_provider, meter_provider=recorder.meter_provider
        )
        with calling(app_of(MountedRouter("/shop", router, ("shop",)), spans=spans)) as client:
            yield Traced(client, recorder)


def test_a_trace_shows_a_request_and_the_patterns_it_runs(traced: Traced) -> None:
    answered = traced.client.post("/shop/customers/c1/orders")
    assert answered.status_code == 200
    (request,) = traced.requests()
    assert request.name == "POST /shop/customers/{customer}/orders"
    assert request.parent is None
    assert attributes(request) == {
        "http.request.method": "POST",
        "url.scheme": "http",
        "http.route": "/shop/customers/{customer}/orders",
        "http.response.status_code": 200,
        "http.response.header.x-request-id": (answered.headers["X-Request-Id"],),
    }
    patterns = traced.patterns()
    assert [span.name for span in patterns] == ["order.create", "orders_of"]
    assert all(span.parent and span.parent.span_id == request.context.span_id for span in patterns)
    (duration,) = traced.recorder.points("http.server.request.duration")
    assert (duration.count, duration.attributes["http.route"]) == (1, "/shop/customers/{customer}/orders")


def test_a_trace_that_a_caller_began_goes_on(traced: Traced) -> None:
    trace, above = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    traced.client.post("/shop/customers/c1/orders", headers={"traceparent": f"00-{trace}-{above}-01"})
    (request,) = traced.requests()
    assert request.parent is not None
    assert f"{request.parent.span_id:016x}" == above
    assert {f"{span.context.trace_id:032x}" for span in traced.recorder.spans()} == {trace}


def test_a_fault_is_an_error_without_its_message(traced: Traced) -> None:
    assert traced.client.get("/shop/faults/S3CRET").status_code == 500
    (request,) = traced.requests()
    assert request.status.status_code is StatusCode.ERROR
    assert attributes(request)["error.type"] == "500"
    assert "S3CRET" not in request.to_json()


def test_no_path_no_query_and_no_header_of_a_caller_is_in_a_span(traced: Traced) -> None:
    headers = {
        "User-Agent": "S3CRET",
        "Cookie": "S3CRET",
        "baggage": "who=S3CRET",
        "Referer": "http://S3CRET",
    }
    traced.client.post("/shop/customers/S3CRET/orders?name=S3CRET", headers=headers)
    traced.client.get("/S3CRET", headers=headers)
    traced.client.request("PROPFIND", "/S3CRET", headers=headers)
    assert [span.name for span in traced.requests(3)] == [
        "POST /shop/customers/{customer}/orders",
        "GET",
        "HTTP",
    ]
    assert all("S3CRET" not in span.to_json() for span in traced.recorder.spans())


def test_a_request_that_is_refused_is_no_error_of_ours(traced: Traced) -> None:
    assert traced.client.get("/shop/nothing").status_code == 404
    (request,) = traced.requests()
    assert request.status.status_code is StatusCode.UNSET
    assert "error.type" not in attributes(request)
