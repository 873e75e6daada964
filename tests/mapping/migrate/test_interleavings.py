"""Whatever happens while a table is migrated: the sides agree in the end, and nothing that was answered is lost.

Histories are drawn of writes, removals and time, of workers that copy and follow, of verifying, switching and rolling
back. Each worker is cut off before any of its calls, or others act between any two of them: programs that write,
further workers, a whole switch, so that what goes on afterwards is a zombie of a turn that is over. A program's own
write may hang while sides are changed. Beside them a consumer of the table is to hear of each answered write once, in
order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from threading import Event
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from tests.mapping.consumer.feed import PowerCut
from tests.mapping.migrate.cards import CARDS, At, card, forward, key, opened
from tests.properties.effort import effort

from tablewright.client import Call, CallFailed
from tablewright.engine.streams import shards
from tablewright.mapping import Consumer, Db, MappingMistake, stream_consumers
from tablewright.mapping.consumer.design import MARKER
from tablewright.mapping.migrate import (
    Router,
    SideChanged,
    WritesPaused,
    advance,
    begin,
    is_up_to_date,
    record_report,
    rollback,
    routed,
    switch,
    sync_keys,
    verify,
)
from tablewright.mapping.migrate.sync_keys import Task
from tablewright.values import Item

NEVER = Event()
IDS = ["a", "b", "c", "d"]
GROUPS = [None, "g", "h"]
Step = tuple[str, Any]

PUTS = st.tuples(st.just("put"), st.tuples(st.sampled_from(IDS), st.sampled_from(GROUPS), st.booleans()))
REMOVALS = st.tuples(st.just("remove"), st.sampled_from(IDS))
SMALL: st.SearchStrategy[Step] = st.one_of(
    PUTS,
    PUTS,
    REMOVALS,
    st.tuples(st.just("work"), st.tuples(st.integers(0, 1), st.none(), st.just({}))),
    st.tuples(st.just("watch"), st.none()),
    st.tuples(st.just("pass"), st.sampled_from([1, 3, 31])),
)
SIDES: st.SearchStrategy[Step] = st.sampled_from([("whole", None), ("rollback", (9, None, {}))])
MEANWHILE = st.dictionaries(
    st.integers(0, 60), st.lists(st.one_of(SMALL, SMALL, SIDES), max_size=3), max_size=3
)
CUTS = st.one_of(st.none(), st.integers(0, 80))
WORK = st.tuples(st.integers(0, 2), CUTS, MEANWHILE)
STEPS: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        SMALL,
        SMALL,
        st.tuples(st.just("expire"), st.sampled_from(IDS)),
        st.tuples(st.just("work"), WORK),
        st.tuples(st.just("work"), WORK),
        st.tuples(st.just("verify"), WORK),
        st.tuples(st.just("switch"), WORK),
        st.tuples(st.just("switch"), WORK),
        st.tuples(st.just("rollback"), WORK),
        st.tuples(st.just("slow_put"), st.tuples(st.sampled_from(IDS), MEANWHILE)),
        st.tuples(st.just("pass"), st.sampled_from([1, 61, 5 * 3600])),
        st.tuples(st.just("miss"), st.none()),
    ),
    min_size=4,
    max_size=25,
)


@dataclass
class Line:
    """A Call that is cut off before its `cut`th call, and before whose calls others act."""

    call: Call
    act: Callable[[Step], None]
    cut: int | None = None
    meanwhile: Mapping[int, list[Step]] = field(default_factory=dict)
    made: int = 0

    def __call__(self, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        for step in self.meanwhile.get(self.made, ()):
            self.act(step)
        if self.cut == self.made:
            raise PowerCut
        self.made += 1
        return self.call(verb, request)


class Story:
    """The table, everybody around it, and what was answered."""

    def __init__(self, at: At) -> None:
        self.at, self.depth, self.number, self.last_read = at, 0, 0, at.clock.now()
        # What a card may say now, None for nothing; more than one if nobody knows what came of a write.
        self.may_be: dict[str, list[Item | None]] = {id: [None] for id in IDS}
        self.answered: dict[str, list[int]] = defaultdict(list)
        self.unsure: dict[str, set[int]] = defaultdict(set)
        self.heard: dict[str, list[int]] = defaultdict(list)
        self.program = self.sided(at.call)
        self.consumer = self.watcher()
        self.consumer.create_tables()
        self.consumer.register()
        at.context().plan(segments=2)
        begin(at.context())

    def sided(self, call: Call) -> Router:
        steady = lambda: self.at.clock.now().timestamp()  # noqa: E731
        made = routed(
            call, CARDS, world=self.at.clock.world(), steady=steady, patience=0.0, sleep=lambda _: None
        )
        assert isinstance(made, Router)
        return made

    def watcher(self) -> Consumer:
        db = Db(self.program, stream_consumers, world=self.at.clock.world())

        def hear(record: Mapping[str, Any]) -> None:
            image = record["dynamodb"].get("NewImage")
            if image is not None and record["dynamodb"]["Keys"]["SK"] == {"S": "CARD"}:
                self.heard[image["id"]["S"]].append(int(image["count"]["N"]))

        return Consumer(db, None, "cards", "watch", hear)

    def act(self, step: Step) -> None:
        name, what = step
        if self.depth > 3 and name not in ("put", "remove", "pass"):
            return
        self.depth += 1
        try:
            getattr(self, f"{name}_" if name == "pass" else name)(what)
        finally:
            self.depth -= 1

    # --- programs ---

    def put(self, what: tuple[str, str | None, bool], program: Router | None = None, **more: Any) -> None:
        id, group, extra = what
        self.number += 1
        number = self.number
        item = card(id, f"text {number}", group, count={"N": str(number)}, **more)
        item |= {"extra": {"S": "x"}} if extra else {}
        self.write(id, item, number, program or self.program)

    def remove(self, id: str) -> None:
        self.write(id, None, 0, self.program)

    def write(self, id: str, item: Item | None, number: int, program: Router) -> None:
        """In the form of the side that is open, as far as this program believes."""

        def ask(verb: str, request: dict[str, Any]) -> None:
            program(verb, {"TableName": "cards", **request})

        before = self.may_be[id]
        try:
            is_new = program._routes(frozenset({"cards"}))[0]["cards"] == "new_cards"
            if item is None:
                ask("DeleteItem", {"Key": {name: card(id)[name] for name in ("PK", "SK")}})
            else:
                ask("PutItem", {"Item": forward(item)[0] if is_new else item})
            self.may_be[id] = [item]
            self.answered[id] += [number] if number else []
        except WritesPaused:
            pass
        except (SideChanged, CallFailed):
            self.may_be[id] = [*before, item]
            self.unsure[id].add(number)

    def slow_put(self, what: tuple[str, Mapping[int, list[Step]]]) -> None:
        """A write that hangs, between looking and being carried out, while others act."""
        id, meanwhile = what
        steps = [step for some in meanwhile.values() for step in some]
        # What others say of this card while it hangs would make it anybody's guess.
        kept = [one for one in steps if one[0] not in ("put", "remove")]
        line = Line(self.at.call, self.act)
        program = self.sided(line)
        with suppress(CallFailed):
            program._routes(frozenset({"cards"}))
        line.meanwhile = {line.made: kept}
        self.put((id, None, False), program)

    def expire(self, id: str) -> None:
        """A card whose time is up soon; what it was is nobody's concern any more."""
        soon = int(self.at.clock.now().timestamp()) + 5
        before = self.may_be[id]
        self.put((id, "g", False), expires={"N": str(soon)})
        if self.may_be[id] != before:
            self.may_be[id] = [*self.may_be[id], None, *before]

    def pass_(self, seconds: int) -> None:
        self.at.clock.move(timedelta(seconds=seconds))
        if self.depth == 1:
            self.at.engine.settle()

    def miss(self, _: object = None) -> None:
        """Nobody works at the migration for longer than the stream keeps changes; who watches the table goes on."""
        for _round in range(5):
            self.consumer.run_once()
            self.at.clock.move(timedelta(hours=6))
            self.at.engine.settle()
        self.consumer.run_once()

    def watch(self, _: object = None) -> None:
        """A round of what a consumer's `run` does: it keeps its leases, and what it knows of them."""
        with suppress(CallFailed):
            self.consumer._plan_when_due()
            for held in tuple(self.consumer._leased.values()):
                self.consumer._turn(held, NEVER)

    # --- workers ---

    def working(
        self, what: tuple[int, int | None, Mapping[int, list[Step]]], do: Callable[[Any], object]
    ) -> None:
        worker, cut, meanwhile = what
        context = self.at.context(Line(self.at.call, self.act, cut, meanwhile))
        with suppress(PowerCut, MappingMistake, CallFailed):
            do((context, f"worker {worker}"))

    def work(self, what: Any) -> None:
        self.working(what, lambda by: advance(by[0], by[1], pages=1, page=2))

    def verify(self, what: Any) -> None:
        self.working(
            what, lambda by: record_report(by[0], verify(by[0], by[0].state(), repair=True, segments=1))
        )

    def switch(self, what: Any) -> None:
        self.working(what, lambda by: switch(by[0]))

    def rollback(self, what: Any) -> None:
        self.working(what, lambda by: rollback(by[0]))

    def whole(self, _: object) -> None:
        """Copied, verified and switched, by somebody whom nothing happens to."""
        with suppress(MappingMistake, CallFailed):
            self.quiet()
            context = self.at.context()
            if context.state().course == "forward":
                record_report(context, verify(context, context.state(), repair=True, segments=1))
                switch(context)

    # --- what must be so ---

    def quiet(self) -> None:
        context = self.at.context()
        for _ in range(200):
            is_idle, state = advance(context, "last", page=50).is_idle, context.state()
            if is_idle and (state.course is None or is_up_to_date(context, state)):
                return
            if is_idle:
                self.at.clock.move(timedelta(seconds=31))  # until what the dead have leased is free
        raise AssertionError("it is never done")

    def check(self) -> None:
        self.at.clock.move(timedelta(minutes=2))
        self.at.engine.settle()
        self.program(
            "GetItem", {"TableName": "cards", "Key": {name: card("a")[name] for name in ("PK", "SK")}}
        )
        self.quiet()
        self.at.engine.settle()
        self.quiet()
        state = self.at.context().state()
        assert state.is_open
        assert not state.barred
        if any(self.unsure.values()) and state.course == "back":
            verify(self.at.context(), state, repair=True)
        self.sides_agree(state.course)
        self.nothing_is_lost(state.side)
        self.everything_is_heard_once()

    def sides_agree(self, course: str | None) -> None:
        source, target = (
            {key: item for key, item in self.at.items(table).items() if not key[0].startswith(MARKER)}
            for table in ("cards", "new_cards")
        )
        if course == "forward":
            wanted = {
                (one["PK"]["S"], one["SK"]["S"]): one for item in source.values() for one in forward(item)
            }
            assert target == wanted
        elif course == "back":
            mains = {key: item for key, item in target.items() if key[1] == "CARD"}
            assert source.keys() == mains.keys()
            assert all(forward(source[key])[0] == item for key, item in mains.items())

    def nothing_is_lost(self, side: str) -> None:
        there = self.at.items("new_cards" if side == "target" else "cards")
        for id, allowed in self.may_be.items():
            wanted = [None if it is None else forward(it)[0] if side == "target" else it for it in allowed]
            assert there.get((f"CARD#{id}", "CARD")) in wanted

    def everything_is_heard_once(self) -> None:
        for _ in range(3):
            self.consumer.run_once()
        for id in IDS:
            heard = [number for number in self.heard[id] if number not in self.unsure[id]]
            assert heard == self.answered[id]


@given(STEPS, st.sampled_from([6, 100_000]))
@effort(15)
def test_the_sides_agree_in_the_end_and_nothing_answered_is_lost(steps: list[Step], shard: int) -> None:
    with ExitStack() as stack:
        stack.enter_context(patch.object(shards, "SHARD_RECORDS", shard))
        story = Story(stack.enter_context(opened()))
        for step in steps:
            story.act(step)
        story.check()


# --- somebody acts before one of a worker's calls, whichever it is ---

ANYWHERE = st.integers(0, 400)
OTHERS_WORK: Step = ("work", (1, None, {}))
# A change and, before the worker goes on, the change followed by somebody else.
OVERTAKEN: list[Step] = [("put", ("a", "h", True)), ("remove", "b"), OTHERS_WORK, OTHERS_WORK]
# Everything is over and beyond: sides were changed, and the new one is written to.
FROM_ANOTHER_TIME: list[Step] = [
    ("whole", None),
    ("pass", 3),
    ("put", ("a", None, False)),
    ("put", ("c", None, True)),
    ("remove", "b"),
]
LIVELY: list[Step] = [("put", ("a", "h", False)), ("put", ("c", None, True)), ("watch", None)]


@cache
def calls_of(do: Callable[[Story, Line], object]) -> int:
    """How many calls something takes when nobody is in its way."""
    with opened() as at:
        story = told(at)
        line = Line(at.call, story.act)
        do(story, line)
        return line.made


def told(at: At) -> Story:
    """A story that has begun: some cards, of which some changed since they were copied."""
    story = Story(at)
    for step in (("put", ("a", "g", False)), ("put", ("b", None, True)), ("put", ("c", "g", False))):
        story.act(step)
    story.quiet()
    changes: list[Step] = [("put", ("a", None, False)), ("put", ("b", "h", False)), ("watch", None)]
    for step in changes:
        story.act(step)
    return story


def a_round(story: Story, line: Line) -> None:
    """Everything looked at, by a copier that comes late and by a follower."""
    context = story.at.context(line)
    state = context.state()
    tasks = [
        Task(key(id), (), item) for id in IDS if (item := story.at.items("cards").get((f"CARD#{id}", "CARD")))
    ]
    with suppress(MappingMistake):
        sync_keys(context, CARDS.direction("forward"), state.epoch, tasks)
        advance(context, "late")


def a_switch(story: Story, line: Line) -> None:
    story.quiet()
    record_report(story.at.context(), verify(story.at.context(), story.at.context().state(), segments=1))
    with suppress(MappingMistake):
        switch(story.at.context(line))


def a_rollback(story: Story, line: Line) -> None:
    story.whole(None)
    story.watch()
    story.watch()
    with suppress(MappingMistake):
        rollback(story.at.context(line))


def disturbed(do: Callable[[Story, Line], object], at_call: int, steps: list[Step]) -> None:
    with opened() as at:
        story = told(at)
        line = Line(at.call, story.act, None, {at_call % calls_of(do): steps})
        do(story, line)
        # At once, before anybody has looked at anything anew: what is written back now is no news to a consumer.
        for step in (("put", ("d", "g", False)), OTHERS_WORK, OTHERS_WORK, ("watch", None), ("watch", None)):
            story.act(step)
        story.check()
        story.act(("put", ("d", None, False)))
        story.check()


@given(ANYWHERE)
@effort(8)
def test_who_was_overtaken_writes_nothing_that_is_old(at_call: int) -> None:
    disturbed(a_round, at_call, OVERTAKEN)


@given(ANYWHERE)
@effort(4)
def test_who_comes_from_another_time_writes_nothing_at_all(at_call: int) -> None:
    disturbed(a_round, at_call, FROM_ANOTHER_TIME)


@given(ANYWHERE)
@effort(6)
def test_what_is_answered_during_a_switch_is_there_after_it_and_heard_of_once(at_call: int) -> None:
    disturbed(a_switch, at_call, LIVELY)


@given(ANYWHERE)
@effort(6)
def test_what_is_answered_during_a_rollback_is_there_after_it_and_heard_of_once(at_call: int) -> None:
    disturbed(a_rollback, at_call, LIVELY)
