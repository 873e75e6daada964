"""Laws of the past: whatever happens to a table, every moment of its window can be had again, exactly.

Histories are drawn with items that come, change, expire and go, days that pass at once, chores and labours done in
steps so small that backups, checkpoints and restores are half done when the next write comes, and the journal pruned
in between. The model keeps the table at every second there was.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any
from unittest.mock import patch

import orjson
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.stepped_engine import SteppedEngine, small_steps
from tests.properties import requests
from tests.properties.claims import ALWAYS
from tests.properties.effort import effort
from tests.properties.model import Index, Key, Shape, Table
from tests.properties.plain import Item
from tests.properties.sides import compare_in_full

from tablewright.engine.history import bulk_load, chunks, pitr_window, retention, snapshots, time_travel
from tablewright.engine.history import store as history_store
from tablewright.engine.transaction import WriteTransaction
from tablewright.engine.verify.history import all_items
from tablewright.testing import Clock

START = int(Clock().now().timestamp())
DAY = 86_400
Step = tuple[str, Any]


def shape() -> Shape:
    made = Shape("pk", "sk", {"pk": "S", "sk": "N", "n": "N"})
    made.indexes["by-n"] = Index("by-n", ("pk",), ("n",), "KEYS_ONLY", (), True)
    made.indexes["of-n"] = Index("of-n", ("n",), (), "ALL")
    return made


@st.composite
def small_items(draw: st.DrawFn) -> Item:
    item: Item = {"pk": {"S": draw(st.sampled_from("abcd"))}, "sk": {"N": draw(st.sampled_from("123"))}}
    item["n"] = {"N": str(draw(st.integers(0, 5)))}
    if draw(st.booleans()):
        item["until"] = {"N": str(START + draw(st.integers(0, 3 * DAY)))}
    if draw(st.integers(0, 5)) == 0:
        item["fill"] = {"S": "x" * 300}
    return item


WRITES = st.tuples(st.sampled_from(["put", "put", "put", "delete"]), small_items())
SECONDS = st.tuples(st.just("pass"), st.sampled_from([1, 1, 7, 3600, DAY, 3 * DAY, 36 * DAY]))
WORK = st.tuples(st.sampled_from(["chores", "labours", "restless labours", "both"]), st.integers(1, 8))
STEPS = st.one_of(
    WRITES,
    WRITES,
    WRITES,
    SECONDS,
    WORK,
    WORK,
    st.tuples(st.just("elsewhere"), st.integers(1, 4)),
    st.tuples(st.just("backup"), st.none()),
    st.tuples(st.just("forget a backup"), st.integers(0, 5)),
    st.tuples(st.just("days"), st.sampled_from([1, 2, 35])),
    st.tuples(st.just("off and on"), st.none()),
    st.tuples(st.just("restore"), st.integers(0, 10**9)),
)


@dataclass
class Story:
    """A table in an engine, the same as dicts, and what it was at each second."""

    engine: SteppedEngine
    clock: Clock
    table: Table = field(default_factory=lambda: Table("pets", shape()))
    # Since when recovery has been enabled, and how many days it reaches back; what the table held at the end of each
    # second in which something happened.
    since: int = START
    days: int = 35
    moments: dict[int, dict[Key, Item]] = field(default_factory=dict)
    backups: list[tuple[str, dict[Key, Item]]] = field(default_factory=list)
    restored: list[tuple[str, dict[Key, Item]]] = field(default_factory=list)
    elsewhere: int = 0

    def now(self) -> int:
        return int(self.clock.now().timestamp())

    def earliest(self) -> int:
        return max(self.since, self.now() - self.days * DAY)

    def note(self) -> None:
        self.moments[self.now()] = dict(self.table.items)

    def at(self, second: int) -> dict[Key, Item]:
        return self.moments[max(moment for moment in self.moments if moment <= second)]

    def take(self, step: Step) -> None:
        kind, what = step
        match kind:
            case "put":
                self.engine.call("PutItem", requests.put(self.table, what))
                self.table.put(what, ALWAYS.holds)
            case "delete":
                key = {name: what[name] for name in self.table.shape.keys}
                self.engine.call("DeleteItem", requests.keyed(self.table, key))
                self.table.delete(key, ALWAYS.holds)
            case "pass":
                self.clock.move(timedelta(seconds=what))
            case "elsewhere":
                self.write_elsewhere(what)
            case "chores":
                self.work(what, chores=True)
            case "labours":
                self.work(what, labours=True)
            case "restless labours":
                self.work(what, labours=True, restarts=True)
            case "both":
                self.work(what, chores=True, labours=True)
            case "backup":
                request = {"TableName": "pets", "BackupName": "some"}
                arn = self.engine.call("CreateBackup", request)["BackupDetails"]["BackupArn"]
                self.backups.append((arn, dict(self.table.items)))
            case "forget a backup":
                self.forget_backup(what)
            case "days":
                # A period that is made longer does not bring back what a shorter one let go.
                self.since, self.days = self.earliest(), what
                self.enable(True, what)
            case "off and on":
                self.enable(False)
                self.enable(True)
                self.since, self.days = self.now(), 35
            case "restore":
                self.restore(what)
        self.note()

    def work(self, steps: int, chores: bool = False, labours: bool = False, restarts: bool = False) -> None:
        for _ in range(steps):
            if chores:
                self.engine.background.run_maintenance_step(due=True)
                self.forget_what_was_swept()
            if labours:
                self.engine.job_step()
            if restarts:
                # What the labours of a store that is opened again know is what the store says.
                self.engine._session.memory.clear()

    def forget_what_was_swept(self) -> None:
        """The sweep goes in steps; what it has deleted by now is what the engine says."""
        found = self.engine.call("Scan", {"TableName": "pets", "ConsistentRead": True})["Items"]
        there = {self.table.key_of(item) for item in found}
        self.table.items = {key: item for key, item in self.table.items.items() if key in there}

    def write_elsewhere(self, times: int) -> None:
        for _ in range(times):
            self.elsewhere += 1
            item = {"pk": {"S": "a"}, "sk": {"N": str(self.elsewhere % 5)}, "at": {"N": str(self.elsewhere)}}
            self.engine.call("PutItem", {"TableName": "cats", "Item": item})

    def enable(self, enabled: bool, days: int | None = None) -> None:
        asked: dict[str, Any] = {"PointInTimeRecoveryEnabled": enabled}
        if days is not None:
            asked["RecoveryPeriodInDays"] = days
        request = {"TableName": "pets", "PointInTimeRecoverySpecification": asked}
        self.engine.call("UpdateContinuousBackups", request)

    def forget_backup(self, which: int) -> None:
        if self.backups:
            arn, _ = self.backups[which % len(self.backups)]
            shown = self.engine.call("DescribeBackup", {"BackupArn": arn})["BackupDescription"]
            if shown["BackupDetails"]["BackupStatus"] == "AVAILABLE":
                self.engine.call("DeleteBackup", {"BackupArn": arn})
                self.backups = [one for one in self.backups if one[0] != arn]

    def restore(self, where: int) -> None:
        """A restore to some second of the window, filled by and by; it is looked at in the end."""
        self.note()
        first, last = self.earliest(), self.now()
        second = first + where % (last - first + 1)
        name = f"then-{len(self.restored)}"
        request = {"SourceTableName": "pets", "TargetTableName": name, "RestoreDateTime": second}
        self.engine.call("RestoreTableToPointInTime", request)
        self.restored.append((name, dict(self.at(second))))

    def finish(self) -> None:
        self.engine.settle()
        self.forget_what_was_swept()
        compare_in_full(self.engine, self.table)
        for name, items in self.restored:
            compare_in_full(self.engine, Table(name, self.table.shape, dict(items)))
        for number, (arn, items) in enumerate(self.backups):
            name = f"back-{number}"
            self.engine.call("RestoreTableFromBackup", {"BackupArn": arn, "TargetTableName": name})
            self.engine.settle()
            compare_in_full(self.engine, Table(name, self.table.shape, dict(items)))


@contextmanager
def story() -> Iterator[Story]:
    """Chunks of one or two items, pages of three, checkpoints after four changes: every history has many."""
    clock = Clock()
    with ExitStack() as stack:
        stack.enter_context(small_steps())
        for module, name, value in (
            (chunks, "CUT_MASK", 1),
            (chunks, "MOST_ITEMS", 4),
            (time_travel, "PAGE_ITEMS", 2),
            (time_travel, "JOURNAL_ROWS", 3),
            (time_travel, "MOST_CHANGES", 2),
            (snapshots, "FEWEST_CHANGES", 3),
            (snapshots, "STEP_REFS", 1),
            (snapshots, "REMOVED_CHUNKS", 1),
            (snapshots, "COUNTED_ROWS", 3),
            (bulk_load, "INDEXED_ITEMS", 2),
            (retention, "PRUNED_ROWS", 2),
            (retention, "STRIPPED_ROWS", 2),
            (pitr_window, "LAG", 0),  # so that every second there was can be asked for
        ):
            stack.enter_context(patch.object(module, name, value))
        engine = stack.enter_context(SteppedEngine.stepped(world=clock.world()))
        made = Story(engine, clock)
        cats = Table("cats", Shape("pk", "sk", {"pk": "S", "sk": "N"}))
        for table in (made.table, cats):
            engine.call("CreateTable", requests.create_table(table))
        ttl = {"Enabled": True, "AttributeName": "until"}
        engine.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": ttl})
        made.enable(True)
        made.note()
        yield made


def histories(most: int = 40) -> st.SearchStrategy[list[Step]]:
    return st.lists(STEPS, min_size=most // 3, max_size=most)


@effort(60)
@given(histories())
def test_a_restore_to_any_second_gives_what_the_table_held_then(taken: list[Step]) -> None:
    with story() as told:
        for step in taken:
            told.take(step)
            assert told.engine.verify() == []
        told.finish()
        assert told.engine.verify() == []


@effort(40)
@given(histories(30))
def test_every_checkpoint_and_the_journal_after_it_give_exactly_the_table(taken: list[Step]) -> None:
    with story() as told:
        for step in taken:
            told.take(step)
            rows = told.engine._storage.writes
            (number,) = [number for number, name, _ in rows.tables() if name == "pets"]
            live = {kept.key: kept.item for kept in history_store.items_from(rows, number, b"", 1000)}
            for snapshot in history_store.snapshots(rows, number):
                is_reached = snapshot.seq + 1 >= rows.first_sequence()
                if snapshot.kind == snapshots.CHECKPOINT and snapshot.status == "AVAILABLE" and is_reached:
                    state = {kept.key: kept.item for kept in all_items(rows, snapshot.number)}
                    for _, _, _, owner, key, _, new in rows.journal(snapshot.seq):
                        if owner == number and new is None:
                            del state[key]
                        elif owner == number and new is not None:
                            state[key] = new
                    assert state == live


def hold(held: history_store.Pin, writing: WriteTransaction) -> None:
    history_store.add_pin(writing.rows, held)


@effort(40)
@given(st.lists(WRITES, min_size=5, max_size=30), st.data())
def test_a_state_is_the_same_whichever_known_state_it_is_read_from(
    taken: list[Step], data: st.DataObject
) -> None:
    """From the table backward, from a checkpoint before it, from one after it."""
    with story() as told:
        states: list[dict[Key, Item]] = [{}]
        for step in taken:
            told.take(step)
            if data.draw(st.integers(0, 3)) == 0:
                told.work(40, labours=True)
                told.work(3, chores=True)
            rows = told.engine._storage.writes
            while len(states) <= rows.last_sequence()[0]:
                states.append(deepcopy(told.table.items))
        told.engine.settle()
        (number,) = [number for number, name, _ in rows.tables() if name == "pets"]
        last = rows.last_sequence()[0]
        seq = data.draw(st.integers(0, min(last, len(taken))))
        bases = [
            None,
            *(one.number for one in history_store.snapshots(rows, number) if one.status == "AVAILABLE"),
        ]
        for base in bases:
            snapshot = None if base is None else history_store.snapshot(rows, base)
            origin = None if snapshot is None else snapshot.seq
            held = history_store.Pin("test", number, seq, base, origin)
            told.engine._session.write(partial(hold, held))
            found = [kept for page in time_travel.items_as_of(told.engine._session, "test") for kept in page]
            assert [kept.key for kept in found] == sorted({kept.key for kept in found})
            items = [orjson.loads(kept.item) for kept in found]
            if seq < len(states):
                assert {told.table.key_of(item): item for item in items} == states[seq]
        told.engine._session.write(lambda w: time_travel.release(w, "test"))
