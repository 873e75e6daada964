"""Laws of the sweep: after any history it leaves exactly what has not expired, and marks what it deleted.

TTL is enabled, disabled and named anew while items come, change and go and time passes; the model is a dict that
forgets what has expired whenever everything due has been done.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st
from tests.engine.stepped_engine import SteppedEngine, small_steps
from tests.engine.stream_reader import arn_of, enable, read_all
from tests.properties import requests
from tests.properties.claims import ALWAYS
from tests.properties.effort import effort
from tests.properties.model import Index, Key, Shape, Table
from tests.properties.plain import Item
from tests.properties.sides import compare_in_full

from tablewright.engine.background import ttl
from tablewright.testing import Clock

NOW = int(Clock().now().timestamp())
FIVE_YEARS = (5 * 365 + 1) * 86_400
NAMES = ("until", "ends")
SERVICE = {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}
Step = tuple[str, Any]


def shape() -> Shape:
    """A table with an index on one of the times, so that a sweep has entries to remove."""
    made = Shape("pk", "sk", {"pk": "S", "sk": "N", "ends": "N"})
    made.indexes["by-end"] = Index("by-end", ("pk",), ("ends",), "ALL")
    return made


TIMES = st.one_of(
    st.integers(NOW - 100, NOW + 90_000).map(str),
    st.sampled_from([str(NOW), f"{NOW}.5", f"{NOW - 1}.999999", "0", "-1", str(NOW * 1000), "1e30"]),
    st.integers(NOW - FIVE_YEARS - 90_000, NOW - FIVE_YEARS + 90_000).map(str),
)
ENDS = TIMES.map(lambda text: {"N": text})
UNTIL: st.SearchStrategy[dict[str, Any]] = st.one_of(
    ENDS, ENDS, st.sampled_from([{"S": str(NOW - 1)}, {"NULL": True}, {"NS": [str(NOW - 1)]}])
)


@st.composite
def timed(draw: st.DrawFn) -> Item:
    item: Item = {"pk": {"S": draw(st.sampled_from("ab"))}, "sk": {"N": draw(st.sampled_from("12"))}}
    if draw(st.integers(0, 4)):
        item["until"] = draw(UNTIL)
    if draw(st.booleans()):
        item["ends"] = draw(ENDS)
    return item


STEPS = st.one_of(
    st.tuples(st.sampled_from(["put", "put", "put", "delete"]), timed()),
    st.tuples(st.just("pass"), st.integers(1, 40_000)),
    st.tuples(st.sampled_from(["enable", "disable"]), st.sampled_from(NAMES)),
    st.tuples(st.just("chores"), st.integers(1, 3)),
    st.tuples(st.just("settle"), st.none()),
)


@dataclass
class Story:
    engine: SteppedEngine
    clock: Clock
    table: Table = field(default_factory=lambda: Table("pets", shape()))
    attribute: str | None = None
    # What was deleted, by whom, for each key.
    deletes: dict[Key, list[bool]] = field(default_factory=dict)

    def take(self, step: Step) -> None:
        kind, what = step
        match kind:
            case "pass":
                self.clock.move(timedelta(seconds=what))
            case "chores":
                for _ in range(what):
                    self.engine.step()
            case "settle":
                self.settle()
            case "enable" if self.attribute is None:
                self._set(True, what)
            case "disable" if self.attribute is not None:
                self._set(False, self.attribute)
            case "put":
                self.engine.call("PutItem", requests.put(self.table, what))
                self.table.put(what, ALWAYS.holds)
            case "delete":
                self._delete({name: what[name] for name in self.table.shape.keys})

    def _set(self, enabled: bool, name: str) -> None:
        specification = {"Enabled": enabled, "AttributeName": name}
        request = {"TableName": "pets", "TimeToLiveSpecification": specification}
        self.engine.call("UpdateTimeToLive", request)
        self.attribute = name if enabled else None

    def _delete(self, key: Item) -> None:
        self.engine.call("DeleteItem", requests.keyed(self.table, key))
        if self.table.delete(key, ALWAYS.holds) is not None:
            self.deletes.setdefault(self.table.key_of(key), []).append(False)

    def settle(self) -> None:
        self.engine.settle()
        for key, item in list(self.table.items.items()):
            if self._has_expired(item):
                self.table.become(item, None)
                self.deletes.setdefault(key, []).append(True)

    def _has_expired(self, item: Item) -> bool:
        value = item.get(self.attribute or "", {}).get("N")
        now = Decimal(self.clock.now().timestamp())
        return value is not None and now - FIVE_YEARS <= Decimal(value) < now


@effort(120)
@given(st.lists(STEPS, min_size=8, max_size=30), st.integers(1, 4))
def test_a_sweep_leaves_what_has_not_expired_and_marks_what_it_deleted(
    history: list[Step], swept: int
) -> None:
    clock = Clock()
    with (
        small_steps(1),
        patch.object(ttl, "SWEPT_ITEMS", swept),
        SteppedEngine.stepped(world=clock.world()) as engine,
    ):
        story = Story(engine, clock)
        engine.call("CreateTable", requests.create_table(story.table))
        engine.call("UpdateTable", enable(view="OLD_IMAGE"))
        for step in history:
            story.take(step)
            assert engine.verify() == []
            if step[0] == "settle":
                compare_in_full(engine, story.table)
        story.settle()
        compare_in_full(engine, story.table)
        if clock.now() - Clock().now() < timedelta(days=1):
            assert removals(story) == story.deletes


def removals(story: Story) -> dict[Key, list[bool]]:
    """Each REMOVE of the stream, by key: whether the service made it."""
    found: dict[Key, list[bool]] = {}
    for record in read_all(story.engine, arn_of(story.engine)):
        if record["eventName"] == "REMOVE":
            key = story.table.key_of(record["dynamodb"]["Keys"])
            found.setdefault(key, []).append(record.get("userIdentity") == SERVICE)
    return found
