"""A table whose second version has an index, items of the first version, and what the tests of backfills need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from tablewright import Engine, testing
from tablewright.client import Call, embedded, pages
from tablewright.design import Design, Entity, Keys
from tablewright.mapping import Db
from tablewright.mapping.backfill import Backfill, BackfillContext, Fill, advance, backfill_context
from tablewright.testing import Clock
from tablewright.values import Item


class Task(BaseModel):
    id: str
    state: str | None = None
    count: int = 0
    version: int = 0


class Note(BaseModel):
    id: str


def by_id(id: str) -> None: ...


def tasks_design(
    *, has_index: bool, model: type[BaseModel] = Task, template: str = "STATE#{state}"
) -> tuple[Design, Entity[Any, Any], Entity[Any, Any]]:
    design = Design("tasks")
    table = design.table("tasks", pk="PK", sk="SK")
    index = table.gsi("ByState", pk="GPK", sk="GSK")
    on = {index: Keys(template, "{id}")} if has_index else {}
    tasks = table.entity(model, by_id, tag="task", pk="TASK#{id}", sk="TASK", on=on, version="version")
    notes = table.entity(
        Note, by_id, tag="note", pk="NOTE#{id}", sk="NOTE", on={index: Keys("NOTES", "{id}")}
    )
    return design.build(), tasks, notes


# The table has the index from the beginning: what is missing is the keys of the items.
OLD, OLD_TASKS, _ = tasks_design(has_index=False)
NEW, TASKS, NOTES = tasks_design(has_index=True)
BACKFILL = Backfill(NEW, NEW.tables["tasks"])


class Killed(Exception):
    """The process of a worker ends here."""


@dataclass
class Place:
    """A store with the table, a clock, and the writes of backfills, by key."""

    engine: Engine
    call: Call
    clock: Clock
    naps: list[float] = field(default_factory=list)
    written: Counter[str] = field(default_factory=Counter)

    @property
    def old(self) -> Db:
        return Db(self.call, OLD, world=self.clock.world())

    @property
    def new(self) -> Db:
        return Db(self.call, NEW, world=self.clock.world())

    def nap(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.clock.move(timedelta(seconds=seconds))

    def context(
        self,
        backfill: Backfill = BACKFILL,
        *,
        before: Callable[[int, str, str], None] = lambda number, verb, table: None,
        after: Callable[[int, str, str], None] = lambda number, verb, table: None,
    ) -> BackfillContext:
        """A worker's; `before` and `after` are called around each of its calls: its number, verb and table."""
        calls = iter(range(1_000_000))

        def line(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
            number, table = next(calls), request.get("TableName", "")
            before(number, verb, table)
            answer = self.call(verb, request)
            if verb in ("UpdateItem", "PutItem") and table == "tasks":
                key = request.get("Key") or request["Item"]
                self.written[key["PK"]["S"]] += 1
            after(number, verb, table)
            return answer

        steady = lambda: self.clock.now().timestamp()  # noqa: E731
        return backfill_context(line, backfill, world=self.clock.world(), steady=steady, sleep=self.nap)

    def finish(self, backfill: Backfill = BACKFILL) -> Any:
        """Go on until the run is over, as a worker that is started after a kill does."""
        context = self.context(backfill)
        context.begin()
        while not (progress := advance(context, "last")).is_over:
            if not progress.worked:
                self.nap(1)
        return progress

    def items(self) -> dict[str, Item]:
        request = {"TableName": "tasks", "ConsistentRead": True}
        found = [item for page in pages(self.call, "Scan", request) for item in page["Items"]]
        return {item["PK"]["S"]: item for item in found}

    def indexed(self) -> set[tuple[str, str]]:
        """What the index holds."""
        self.engine.settle()
        request = {"TableName": "tasks", "IndexName": "ByState"}
        found = [item for page in pages(self.call, "Scan", request) for item in page["Items"]]
        return {(item["GPK"]["S"], item["GSK"]["S"]) for item in found}


@contextmanager
def opened() -> Iterator[Place]:
    clock = Clock()
    with testing.engine(world=clock.world()) as engine:
        place = Place(engine, embedded(engine), clock)
        place.new.create_tables()
        yield place


def with_fill(fill: Fill) -> Backfill:
    return Backfill(NEW, NEW.tables["tasks"], ("task",), {"task": fill})
