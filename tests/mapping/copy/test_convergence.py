"""Whatever is written to the source while it is copied, and wherever the copy is cut off: in the end both are equal.

Histories are drawn of writes, deletions and expiry. Some happen before the copy, others between any two of its calls,
to the source or the target; it is cut off before any call, again and again, and another process continues.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from tests.mapping.consumer.feed import PowerCut
from tests.mapping.copy.readings import PAIR, READINGS, Sides, begun, items_of, reading, sides
from tests.properties.effort import effort

from tablewright.client import Call, embedded
from tablewright.engine.streams import shards
from tablewright.mapping.copy import copy_tables, drain, verify_pair

Step = tuple[str, int]
STEPS: st.SearchStrategy[Step] = st.tuples(
    st.sampled_from(["put", "put", "put", "delete", "expire", "pass"]), st.integers(0, 7)
)
RUNS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(0, 90)),
        st.dictionaries(st.integers(0, 90), st.lists(STEPS, min_size=1, max_size=4), max_size=8),
    ),
    min_size=1,
    max_size=3,
)
VIEWS = st.sampled_from(["NEW_AND_OLD_IMAGES", "NEW_IMAGE", "KEYS_ONLY", "OLD_IMAGE", None])


@dataclass
class Line:
    """Both Calls of a copy, cut off before the `cut`th call, and before whose calls programs write."""

    act: Callable[[Step], None]
    cut: int | None
    between: Mapping[int, list[Step]]
    made: int = 0
    verbs: list[str] = field(default_factory=list)

    def to(self, call: Call) -> Call:
        def cut_off(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
            for step in self.between.get(self.made, ()):
                self.act(step)
            if self.made == self.cut:
                raise PowerCut
            self.made += 1
            self.verbs.append(verb)
            return call(verb, request)

        return cut_off


@dataclass
class Programs:
    """What writes to the source."""

    at: Sides
    number: int = 0

    def act(self, step: Step) -> None:
        what, key = step
        self.number += 1
        if what == "put":
            self.at.put(reading(key, self.number))
        elif what == "delete":
            self.at.delete(key)
        elif what == "expire":
            past = int(self.at.clock.now().timestamp()) - 1
            self.at.put(reading(key, self.number, expires={"N": str(past)}))
            self.at.source.settle()
        else:
            self.at.clock.move(timedelta(seconds=key))


def run(at: Sides, line: Line) -> None:
    context = at.context(line.to(embedded(at.source)), line.to(embedded(at.target)))
    with begun(context, take_over=True, segments=2) as lease:
        copy_tables([lease], seconds=1000, page=2)


def continued(at: Sides) -> None:
    """Another process completes the copy, and both sides are equal."""
    at.source.settle()
    at.clock.move(timedelta(seconds=6))  # the shards of a process that died are free then
    context = at.context()
    with begun(context, take_over=True, segments=2) as lease:
        copy_tables([lease], page=2)
        drain([lease])
        assert items_of(at.target) == items_of(at.source)
        assert verify_pair(context, PAIR).is_equal


def filled(at: Sides) -> None:
    """Items that are the scan's to copy: the follower passes over changes that are older than an hour."""
    at.put(*(reading(number) for number in range(8)))
    at.clock.move(timedelta(hours=2))


def test_a_copy_that_is_cut_off_before_any_call_of_its_scan_loses_nothing() -> None:
    verbs: list[str] = []
    with sides() as at:
        filled(at)
        run(at, Line(lambda step: None, None, {}, verbs=verbs))
    for cut in range(verbs.index("Scan"), len(verbs) - verbs[::-1].index("Scan") + 3):
        with sides() as at:
            filled(at)
            with suppress(PowerCut):
                run(at, Line(lambda step: None, cut, {}))
            at.put(reading(0, 1))
            at.delete(1)
            continued(at)


@effort(80)
@given(before=st.lists(STEPS, max_size=12), runs=RUNS, view=VIEWS)
def test_after_the_last_change_both_sides_are_equal_wherever_the_copy_was_cut_off(
    before: list[Step], runs: list[tuple[int | None, dict[int, list[Step]]]], view: str | None
) -> None:
    request = dict(READINGS)
    del request["StreamSpecification"]
    if view is not None:
        request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": view}
    with patch.object(shards, "SHARD_RECORDS", 6), sides(request) as at:
        programs = Programs(at)
        for step in before:
            programs.act(step)
        filled(at)
        for cut, between in runs:
            with suppress(PowerCut):
                run(at, Line(programs.act, cut, between))
            at.source.settle()
            at.clock.move(timedelta(seconds=6))
        continued(at)
