"""Writers and a backfill that is killed and resumed, in any order: nothing that was written is lost, nothing is missed.

Between any two calls of a worker, writers may create, change and delete items; a worker may be killed before or after
any of its calls. In the end every item is in the index where its state belongs, and the backfill has written no item
more than once.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mapping.backfill.tasks import OLD_TASKS, TASKS, Killed, Place, Task, opened

from tablewright.mapping.backfill import BackfillContext, advance, run

IDS = tuple("abcdefgh")
Write: TypeAlias = tuple[str, str, str]
ids = st.sampled_from(IDS)
states = st.sampled_from(("OPEN", "DONE", ""))
writes = st.tuples(st.sampled_from(("set", "add", "delete", "create")), ids, states)


@dataclass(frozen=True)
class Turn:
    """A turn of a worker: writes before some of its calls to the table, and the call at which it is killed."""

    worker: str
    between: dict[int, list[Write]]
    killed_at: int | None
    is_after: bool
    seconds: int


turns = st.builds(
    Turn,
    st.sampled_from(("one", "two")),
    st.dictionaries(st.integers(0, 4), st.lists(writes, min_size=1, max_size=2), max_size=3),
    st.none() | st.integers(0, 14),
    st.booleans(),
    st.sampled_from((0, 4, 20)),
)


@dataclass
class Story:
    """What the writers were told was done."""

    place: Place
    known: dict[str, tuple[str | None, int]] = field(default_factory=dict)

    def write(self, write: Write) -> None:
        kind, id, text = write
        db, state = self.place.new, text or None
        if kind == "create" and id not in self.known:
            db.write(TASKS.create(Task(id=id, state=state)))
            self.known[id] = (state, 0)
        elif id not in self.known:
            return
        elif kind == "delete":
            db.write(TASKS.discard(id))
            del self.known[id]
        elif kind == "add":
            db.write(TASKS.update(id).at(lambda task: task.count).add(1))
            self.known[id] = (self.known[id][0], self.known[id][1] + 1)
        elif kind == "set":
            task = db.one(TASKS.get(id), consistent=True)
            assert task is not None
            db.write(TASKS.change(task, task.model_copy(update={"state": state})))
            self.known[id] = (state, self.known[id][1])

    def take(self, turn: Turn) -> None:
        calls = iter(range(1000))

        def kill(number: int, is_after: bool) -> None:
            if turn.killed_at == number and turn.is_after == is_after:
                raise Killed

        def before(number: int, verb: str, table: str) -> None:
            for write in turn.between.get(next(calls), ()) if table == "tasks" else ():
                self.write(write)
            kill(number, is_after=False)

        context = self.place.context(before=before, after=lambda number, *_: kill(number, is_after=True))
        with suppress(Killed):
            advance(context, turn.worker)
        self.place.clock.move(timedelta(seconds=turn.seconds))


def told(place: Place) -> Story:
    story = Story(place)
    for id in IDS[:6]:
        place.old.write(OLD_TASKS.create(Task(id=id, state="OPEN")))
        story.known[id] = ("OPEN", 0)
    place.context().begin(segments=2)
    return story


@settings(max_examples=60, deadline=None)
@given(st.lists(turns, max_size=6), st.lists(writes, max_size=6))
def test_every_item_is_indexed_and_no_write_is_lost(play: list[Turn], late: list[Write]) -> None:
    # Small pages, so that a segment has several.
    with opened() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "PAGE", 2)
        story = told(place)
        for turn in play:
            story.take(turn)
        for write in late:
            story.write(write)
        place.finish()
        items = {item["id"]["S"]: item for item in place.items().values()}
        found = {id: (item.get("state", {}).get("S"), int(item["count"]["N"])) for id, item in items.items()}
        assert found == story.known
        wanted = {(f"STATE#{state}", id) for id, (state, _) in story.known.items() if state is not None}
        assert place.indexed() == wanted
        assert all(count == 1 for count in place.written.values()), place.written


def calls_of(do: Callable[[BackfillContext], object]) -> int:
    """How many calls a turn makes."""
    with opened() as place:
        told(place)
        numbers: list[int] = []
        do(place.context(before=lambda number, *_: numbers.append(number)))
        return len(numbers)


def test_a_worker_that_is_killed_at_any_of_its_calls_is_resumed_without_a_second_write() -> None:
    for at in range(calls_of(lambda context: advance(context, "one"))):
        for is_after in (False, True):
            with opened() as place:
                story = told(place)
                story.take(Turn("one", {}, at, is_after, 0))
                place.finish()
                assert place.indexed() == {("STATE#OPEN", id) for id in IDS[:6]}
                assert set(place.written.values()) == {1}
