"""A small design whose changes are consumed, and what the tests of consumers need around it.

`notes` are what changes; each has a unique title, so that guards are in the stream as well. `tallies` are effects of
handling: how often, and in which order. `signs` live in the same table and are nobody's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import BaseModel
from tests.client.ways import WAYS

from tablewright import Engine, testing
from tablewright.client import Call, Retries
from tablewright.design import Design, Expires, Unique
from tablewright.mapping import Change, Consumer, Db
from tablewright.testing import Clock

START = datetime(2040, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Note(BaseModel):
    id: str
    text: str = ""
    number: int = 0
    until: datetime | None = None


class Sign(BaseModel):
    id: str


class Tally(BaseModel):
    id: str
    seen: list[str] = []


def by_id(id: str) -> None: ...


feed = Design("feed")
_table = feed.table("feed", pk="PK", sk="SK", ttl="expires", stream="NEW_AND_OLD_IMAGES")
notes = _table.entity(
    Note,
    by_id,
    tag="note",
    pk="NOTE#{id}",
    sk="NOTE",
    expires=Expires("until"),
    unique=(Unique("id", "{id}"),),
)
signs = _table.entity(Sign, by_id, tag="sign", pk="SIGN#{id}", sk="SIGN")
tallies = feed.table("tallies", pk="PK").entity(Tally, by_id, tag="tally", pk="TALLY#{id}")
feed.build()


@dataclass
class Log:
    """A handler that remembers what it was given, and fails for the notes it is told to."""

    changes: list[Change[Any]] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)
    tried: list[str] = field(default_factory=list)

    def __call__(self, change: Change[Any]) -> None:
        note = note_of(change)
        self.tried.append(note.id)
        if note.id in self.failing:
            raise RuntimeError(f"secret {note.text}")
        self.changes.append(change)

    @property
    def texts(self) -> list[str]:
        """What was handled, in short: `a1` is note a with the number 1, `-a1` its removal."""
        return [short(change) for change in self.changes]


def note_of(change: Change[Any]) -> Note:
    note = change.after or change.before
    assert isinstance(note, Note)
    return note


def short(change: Change[Any]) -> str:
    note = note_of(change)
    return f"{'-' if change.after is None else ''}{note.id}{note.number}"


@dataclass
class Feed:
    """A Db of the feed, the clock, the engine, and pauses that only take notes."""

    db: Db
    call: Call
    clock: Clock
    engine: Engine
    naps: list[float] = field(default_factory=list)

    def consumer(self, handle: Callable[[Change[Any]], None], name: str = "log", **options: Any) -> Consumer:
        """A worker of its own, as another process would have it."""
        db = Db(options.pop("call", self.call), feed, world=self.clock.world())
        retries = Retries(base=0.5, sleep=self.naps.append)
        return Consumer(db, [notes], "feed", name, handle, retries=retries, **options)

    def put(self, id: str, number: int = 0, **more: Any) -> Note:
        """A new note, or its next version."""
        before = self.db.one(notes.get(id), consistent=True)
        after = Note(id=id, number=number, **more)
        self.db.write(notes.create(after) if before is None else notes.change(before, after))
        return after

    def remove(self, id: str) -> None:
        there = self.db.one(notes.get(id), consistent=True)
        assert there is not None
        self.db.write(notes.delete(there))

    def pass_time(self, by: timedelta) -> None:
        """Move the clock, and let the engine do what is due then: roll shards, sweep, prune."""
        self.clock.move(by)
        self.engine.settle()

    def shards(self) -> list[Mapping[str, Any]]:
        arn = self.call("ListStreams", {"TableName": "feed"})["Streams"][-1]["StreamArn"]
        shards: list[Mapping[str, Any]] = self.call("DescribeStream", {"StreamArn": arn})[
            "StreamDescription"
        ]["Shards"]
        return shards


@contextmanager
def opened(way: str = "embedded") -> Iterator[Feed]:
    clock = Clock(START)
    with testing.engine(world=clock.world()) as engine, WAYS[way](engine) as call:
        db = Db(call, feed, world=clock.world())
        db.create_tables()
        found = Feed(db, call, clock, engine)
        found.consumer(Log()).create_tables()
        yield found


class PowerCut(BaseException):
    """The process is gone: nothing it would have done afterwards happens."""


@dataclass
class Failing:
    """A Call that is cut off, for good, before its `left`th call from now."""

    call: Call
    left: int = -1

    def __call__(self, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if self.left == 0:
            raise PowerCut
        self.left -= 1
        return self.call(verb, request)
