"""Laws of exports and imports.

What is exported at a moment is the model's state at that moment, whatever is written meanwhile; the changes of a period
take the state at its beginning to the state at its end; what is exported and imported again is the same table; and an
import takes exactly the items that puts would take.
"""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.tables import definition, item, keyed
from tests.engine.transfer_requests import (
    changes,
    data_of,
    describe,
    export,
    import_request,
    put_lines,
    recoverable,
    small_pieces,
    written,
)
from tests.properties import requests
from tests.properties.effort import effort
from tests.properties.model import Shape, Table
from tests.properties.plain import Item
from tests.properties.strategies import items, shapes

from tablewright import Engine, ServiceError
from tablewright.engine.history import time_travel
from tablewright.testing import Clock

Step = tuple[str, Any]
NAMES = st.sampled_from([f"pet {n}" for n in range(4)])
STEPS = st.one_of(
    st.tuples(st.just("put"), st.tuples(NAMES, st.integers(0, 3))),
    st.tuples(st.just("put"), st.tuples(NAMES, st.integers(0, 3))),
    st.tuples(st.just("delete"), NAMES),
    st.tuples(st.just("pass"), st.sampled_from([0.25, 1.0, 300.0, 900.0, 3600.0, 90_000.0])),
    st.tuples(st.just("job"), st.integers(1, 3)),
    st.tuples(st.just("export"), st.floats(0, 1)),
    st.tuples(st.just("changes"), st.tuples(st.floats(0, 1), st.integers(900, 86_400))),
    st.tuples(st.just("prune"), st.none()),
)


@dataclass
class Story:
    """An engine, and everything that was ever written with its time."""

    engine: SteppedEngine
    clock: Clock
    begun: float
    past: list[tuple[float, str, Item | None]] = field(default_factory=list)
    asked: list[tuple[str, dict[str, Item], dict[str, Item] | None]] = field(default_factory=list)

    @property
    def now(self) -> float:
        return self.clock.now().timestamp()

    def moment(self, share: float) -> float:
        """A moment of the window, so far along it."""
        first = max(self.begun, self.now - 35 * 86_400)
        return min(max(round(first + (self.now - first) * share, 2), first), self.now)

    def state(self, moment: float, is_before: bool = False) -> dict[str, Item]:
        """What was there at that moment, or just before it."""
        found: dict[str, Item] = {}
        for at, name, value in self.past:
            if at < moment or (at == moment and not is_before):
                if value is None:
                    found.pop(name, None)
                else:
                    found[name] = value
        return found

    def note(self, name: str, value: Item | None) -> None:
        """A write that changes nothing is none."""
        if self.state(self.now).get(name) != value:
            self.past.append((self.now, name, value))

    def take(self, step: Step) -> None:
        kind, what = step
        if kind == "put":
            value = item(what[0], number=what[1])
            self.engine.call("PutItem", {"TableName": "pets", "Item": value})
            self.note(what[0], value)
        elif kind == "delete":
            self.engine.call("DeleteItem", keyed(what))
            self.note(what, None)
        elif kind == "pass":
            self.clock.move(timedelta(seconds=what))
        elif kind == "job":
            for _ in range(what):
                self.engine.job_step()
        elif kind == "prune":
            while self.engine.background.run_maintenance_step(due=True):
                pass
        elif kind == "export":
            moment = self.moment(what)
            self.asked.append((export(self.engine, ExportTime=moment), self.state(moment), None))
        else:
            self.ask_for_changes(*what)

    def ask_for_changes(self, where: float, length: int) -> None:
        start = self.moment(where)
        end = min(start + length, self.now)
        if end - start < 900:
            return
        before, after = self.state(start, is_before=True), self.state(end, is_before=True)
        touched = {name for at, name, _ in self.past if start <= at < end}
        before = {name: value for name, value in before.items() if name in touched}
        after = {name: value for name, value in after.items() if name in touched}
        self.asked.append((changes(self.engine, start, end), before, after))


@given(st.lists(STEPS, max_size=40))
@effort(60)
def test_an_export_tells_the_past_as_it_was(steps: list[Step]) -> None:
    clock = Clock()
    with (
        TemporaryDirectory() as home,
        small_pieces(),
        pytest.MonkeyPatch.context() as patched,
        SteppedEngine.open(world=clock.world(), buckets=home) as engine,
    ):
        patched.setattr(time_travel, "PAGE_ITEMS", 2)
        assert isinstance(engine, SteppedEngine)
        engine.call("CreateTable", definition())
        recoverable(engine)
        story = Story(engine, clock, clock.now().timestamp())
        for step in [*steps, ("pass", 900.0), ("changes", (0.0, 86_400))]:
            story.take(step)
        assert engine.verify() == []
        engine.settle()
        assert engine.verify() == []
        for arn, before, after in story.asked:
            lines = written(Path(home), describe(engine, arn))
            if after is None:
                assert named(line["Item"] for line in lines) == before
            else:
                assert named(line["OldImage"] for line in lines if "OldImage" in line) == before
                assert named(line["NewImage"] for line in lines if "NewImage" in line) == after


def named(items: Any) -> dict[str, Item]:
    """Items by name; each is there once."""
    listed = list(items)
    found = {one["pk"]["S"]: one for one in listed}
    assert len(found) == len(listed)
    return found


# --- there and back ---


@st.composite
def tables(draw: st.DrawFn) -> tuple[Shape, list[Item]]:
    """A table that can be imported, and items for it; now and then one that an index does not take."""
    shape = draw(shapes())
    shape.indexes.pop("local", None)
    return shape, draw(st.lists(items(shape), max_size=12))


def parameters(shape: Shape, name: str) -> dict[str, Any]:
    return dict(requests.create_table(Table(name, shape)))


def put_all(engine: Engine, table: str, given: list[Item]) -> list[bool]:
    """Put the items; which of them were taken."""
    taken = []
    for one in given:
        try:
            engine.call("PutItem", {"TableName": table, "Item": one})
            taken.append(True)
        except ServiceError as refusal:
            if refusal.name not in ("ValidationException", "SerializationException"):
                raise
            taken.append(False)
    return taken


def everything(engine: Engine, table: str, index: str | None = None) -> list[Item]:
    request: dict[str, Any] = {"TableName": table} | ({} if index is None else {"IndexName": index})
    found = engine.call("Scan", request)["Items"]
    return sorted(found, key=lambda one: json.dumps(one, sort_keys=True))


def compare(engine: Engine, shape: Shape, left: str, right: str) -> None:
    assert everything(engine, left) == everything(engine, right)
    for index in shape.indexes:
        assert everything(engine, left, index) == everything(engine, right, index)
    assert engine.verify() == []


@given(tables())
@effort(80)
def test_what_is_exported_and_imported_is_the_same_table(drawn: tuple[Shape, list[Item]]) -> None:
    shape, given_items = drawn
    with TemporaryDirectory() as home, small_pieces(), SteppedEngine.open(buckets=home) as engine:
        engine.call("CreateTable", parameters(shape, "pets"))
        put_all(engine, "pets", given_items)
        recoverable(engine)
        arn = export(engine)
        engine.settle()
        again = import_request(data_of(describe(engine, arn)), InputCompressionType="GZIP")
        again["TableCreationParameters"] = parameters(shape, "copies")
        copied = engine.call("ImportTable", again)["ImportTableDescription"]["ImportArn"]
        engine.settle()
        assert describe(engine, copied)["ImportStatus"] == "COMPLETED"
        compare(engine, shape, "pets", "copies")


@given(tables(), st.integers(1, 3))
@effort(80)
def test_an_import_takes_what_puts_would_take(drawn: tuple[Shape, list[Item]], objects: int) -> None:
    shape, given_items = drawn
    with TemporaryDirectory() as home, small_pieces(), SteppedEngine.open(buckets=home) as engine:
        engine.call("CreateTable", parameters(shape, "pets"))
        size = -(-len(given_items) // objects) or 1
        (Path(home) / "vault").mkdir()
        for place in range(0, len(given_items), size):
            put_lines(Path(home), f"part {place:02}", *given_items[place : place + size])
        taken = put_all(engine, "pets", given_items)
        request = import_request()
        request["TableCreationParameters"] = parameters(shape, "copies")
        arn = engine.call("ImportTable", request)["ImportTableDescription"]["ImportArn"]
        engine.settle()
        end = describe(engine, arn)
        assert end["ProcessedItemCount"] == len(given_items)
        assert (end["ImportedItemCount"], end["ErrorCount"]) == (sum(taken), len(taken) - sum(taken))
        compare(engine, shape, "pets", "copies")
