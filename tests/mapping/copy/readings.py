"""A table with every kind of value, and a copy of it from one engine to another."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tablewright import Engine, testing
from tablewright.client import Call, embedded, pages
from tablewright.mapping.copy import (
    CopyContext,
    CopyLease,
    TablePair,
    copy_context,
    leased,
    prepare,
)
from tablewright.testing import Clock

START = datetime(2040, 1, 1, 12, tzinfo=UTC)
PAIR = TablePair("readings", "readings")
READINGS: dict[str, Any] = {
    "TableName": "readings",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "device", "AttributeType": "B"},
        {"AttributeName": "at", "AttributeType": "N"},
        {"AttributeName": "kind", "AttributeType": "S"},
    ],
    "KeySchema": [
        {"AttributeName": "device", "KeyType": "HASH"},
        {"AttributeName": "at", "KeyType": "RANGE"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-kind",
            "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["number"]},
        }
    ],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    "Tags": [{"Key": "team", "Value": "sensors"}],
}
TTL = {"Enabled": True, "AttributeName": "expires"}


def key(number: int) -> dict[str, Any]:
    return {"device": {"B": b64encode(bytes([number % 7, 255])).decode()}, "at": {"N": f"{number}.5"}}


def reading(number: int, value: int = 0, **more: Any) -> dict[str, Any]:
    return {
        **key(number),
        "kind": {"S": f"kind {number % 3}"},
        "number": {"N": "12345678901234567890123456789012345678"},
        "value": {"N": str(value)},
        "tags": {"SS": ["b", "a"]},
        "levels": {"NS": ["2", "-0.5"]},
        "raw": {"BS": ["AAE=", "AA=="]},
        "nested": {"M": {"list": {"L": [{"NULL": True}, {"BOOL": False}, {"M": {}}]}}},
        **more,
    }


@dataclass(frozen=True)
class Sides:
    """Both engines, and Calls to them."""

    clock: Clock
    source: Engine
    target: Engine

    def context(self, source: Call | None = None, target: Call | None = None, **settings: Any) -> CopyContext:
        settings.setdefault("world", self.clock.world())
        return copy_context(
            source or embedded(self.source),
            target or embedded(self.target),
            steady=lambda: self.clock.now().timestamp(),
            sleep=lambda seconds: self.clock.move(timedelta(seconds=seconds)),
            **settings,
        )

    def put(self, *items: Mapping[str, Any]) -> None:
        for item in items:
            self.source.call("PutItem", {"TableName": "readings", "Item": dict(item)})

    def delete(self, number: int) -> None:
        self.source.call("DeleteItem", {"TableName": "readings", "Key": key(number)})


@contextmanager
def sides(request: Mapping[str, Any] = READINGS) -> Iterator[Sides]:
    clock = Clock(START)
    with testing.engine(world=clock.world()) as source, testing.engine(world=clock.world()) as target:
        source.call("CreateTable", dict(request))
        source.settle()
        source.call("UpdateTimeToLive", {"TableName": "readings", "TimeToLiveSpecification": TTL})
        yield Sides(clock, source, target)


@contextmanager
def begun(context: CopyContext, *, take_over: bool = False, **settings: Any) -> Iterator[CopyLease]:
    with ExitStack() as stack:
        (copy,) = prepare(context, [PAIR], **settings)
        yield stack.enter_context(leased(context, copy, take_over=take_over))


def items_of(engine: Engine, table: str = "readings") -> dict[str, dict[str, Any]]:
    """The items by their key."""
    found = [item for page in pages(embedded(engine), "Scan", {"TableName": table}) for item in page["Items"]]
    return {f"{item['device']} {item['at']}": item for item in found}
