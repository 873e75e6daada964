"""An engine with no database: its commits wait until the test lets them, and it breaks when told to.

For what a real store shows only by luck: a slow disk, a second writer, a bug. It keeps what PutItem gives it
under the item's `pk`; as in the engine, a write can be read once its group has finished, not before.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import orjson

from tablewright.engine import Engine, ServiceError
from tablewright.engine.read_budget import ReadBudget
from tablewright.engine.transaction import EngineContext

Json = dict[str, Any]


@dataclass
class FakeEngine:
    """PutItem and GetItem over a dict; Scan always breaks."""

    commit_blocks: bool = True
    refuses_groups: bool = False  # as when another thread of the process is writing
    commit_fails: bool = False
    disk: threading.Event = field(default_factory=threading.Event)  # clear: commits wait
    groups: list[int] = field(default_factory=list)
    items: dict[str, Json] = field(default_factory=dict)
    place: EngineContext = EngineContext("us-east-1")  # noqa: RUF009 (a frozen value)
    metrics: FakeMetrics = field(default_factory=lambda: FakeMetrics())
    VERBS = ("GetItem", "PutItem", "Query", "Scan")

    def __post_init__(self) -> None:
        self.disk.set()

    def writes(self, verb: str) -> bool:
        return verb == "PutItem"

    def only_reads(self, verb: str, request: Json) -> bool:
        return False

    def answer(self, verb: str, request: Json, effort: ReadBudget | None = None) -> bytes:
        if verb == "PutItem":
            self.items[request["Item"]["pk"]["S"]] = _checked(request["Item"])
            return b"{}"
        if verb == "GetItem":
            item = self.items.get(request["Key"]["pk"]["S"])
            return orjson.dumps({"Item": item} if item else {})
        if verb == "Query":
            return orjson.dumps({"Items": [{"pk": {"S": "x" * request.get("Size", 100_000)}}]})
        raise RuntimeError("the item was {'secret': 'of anna'}")

    def start_group(self, work: Sequence[tuple[str, Json]]) -> FakeGroup | None:
        if self.refuses_groups:
            return None
        self.groups.append(len(work))
        outcomes: list[bytes | ServiceError] = []
        for _, request in work:
            try:
                _checked(request["Item"])
                outcomes.append(b"{}")
            except ServiceError as error:
                outcomes.append(error)
        return FakeGroup(self, [request["Item"] for _, request in work], outcomes)


class FakeMetrics:
    def text(self) -> bytes:
        return b"figures 1\n"


@dataclass
class FakeGroup:
    engine: FakeEngine
    items: list[Json]
    outcomes: list[bytes | ServiceError]

    def finish(self) -> list[bytes | ServiceError]:
        self.engine.disk.wait(10)
        if self.engine.commit_fails:
            raise OSError("disk full, while writing {'secret': 'of anna'}")
        for item, outcome in zip(self.items, self.outcomes, strict=True):
            if isinstance(outcome, bytes):
                self.engine.items[item["pk"]["S"]] = item
        return self.outcomes


def _checked(item: Json) -> Json:
    if "refuse" in item:
        raise ServiceError("ConditionalCheckFailedException", "The conditional request failed")
    if "break" in item:
        raise RuntimeError("a bug in the engine")
    return item


def as_engine(fake: FakeEngine) -> Engine:
    return cast(Engine, fake)  # the same interface, as far as the wire uses it


def put(pk: str, **more: Any) -> Json:
    return {"TableName": "t", "Item": {"pk": {"S": pk}, **more}}


def get(pk: str) -> Json:
    return {"TableName": "t", "Key": {"pk": {"S": pk}}}
