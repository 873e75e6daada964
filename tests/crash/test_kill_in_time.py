"""A process that is killed while it sweeps, lists, rolls or prunes loses nothing and does nothing twice.

The child (timed_child.py) lives a day in less than a second, so all of it goes on at once. After each kill the store is
verified and opened by a clock that stands still where the child's journal ended.
"""

import random
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests import fork_server
from tests.crash import timed_child
from tests.crash.ledger import ATTIC, LEDGER, everything
from tests.engine.stream_reader import arn_of, read_all, shards

from tablewright import Engine, testing
from tablewright.engine import verify_store
from tablewright.engine.catalog import load
from tablewright.engine.journal import microseconds
from tablewright.engine.storage.rows import ROWS_PRUNED
from tablewright.engine.storage.sqlite import Storage

KILLS = 5
OLD_ITEMS = 600
PATIENCE = 120.0
START = datetime(2026, 1, 1, tzinfo=UTC)
STREAM = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}}
Promises = dict[tuple[str, str], int]


def prepare(store: Path) -> None:
    """A table with TTL and a stream, and one full of items whose times nobody has listed yet."""
    with Engine.open(store, durability="relaxed", world=testing.Clock(START).world()) as engine:
        engine.call("CreateTable", LEDGER | STREAM | {"TableName": "pets"})
        specification = {"Enabled": True, "AttributeName": "until"}
        engine.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": specification})
        engine.call("CreateTable", ATTIC)
        for number in range(OLD_ITEMS):
            # Half of them have expired, half of them never will.
            until = int(START.timestamp()) - 60 if number % 2 else 2**40
            old = timed_child.item(f"old {number}", number, until)
            engine.call("PutItem", {"TableName": "attic", "Item": old})


def killed(store: Path, turn: int, start: datetime, sign: str) -> Promises:
    """Start a child on the store, kill it a moment after it told of `sign`; the last number of each kind it told."""
    told = store.with_name(f"told-{turn}")
    with told.open("wb") as out:
        process = fork_server.start(
            [sys.executable, timed_child.__file__, store, str(turn), str(start.timestamp())], stdout=out
        )
        try:
            give_up = time.monotonic() + PATIENCE
            while f"{sign} " not in told.read_text():
                assert process.poll() is None, "the child ended by itself"
                assert time.monotonic() < give_up, "the child does not answer"
                time.sleep(0.01)
            time.sleep(random.uniform(0, 0.2))
            assert process.poll() is None, "the child ended by itself"
        finally:
            process.kill()
            process.wait(PATIENCE)
    last: Promises = {}
    for line in told.read_text().split("\n")[:-1]:
        kind, who, number = line.split()
        last[kind, who] = int(number)
    return last


def state(store: Path) -> tuple[datetime, bool, bool]:
    """When the journal ends, whether it was pruned, and whether a list was being filled or removed."""
    storage = Storage(store, "relaxed")
    try:
        rows = storage.writes
        ended = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=rows.last_sequence()[1])
        is_halfway = rows.pending_drops() != [] or any(table.ttl_backfill for table in load(rows).values())
        return ended, rows.counts(ROWS_PRUNED)[0] > 0, is_halfway
    finally:
        storage.close()


def test_a_kill_among_time_s_work_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store"
    prepare(store)
    promises: Promises = {}
    ended, is_pruned, halfway = START, False, 0
    for turn in range(KILLS):
        # At first while a list is filled or removed, later while the journal is pruned.
        sign = "go" if turn < 2 else "pruned"
        promises |= killed(store, turn, ended + timedelta(minutes=10), sign)
        assert verify_store(store) == []
        ended, is_pruned, is_halfway = state(store)
        halfway += is_halfway
    # A child that had nothing left to do when it was killed would prove nothing.
    assert is_pruned
    assert halfway > 0
    clock = testing.Clock(ended)
    with Engine.open(store, world=clock.world()) as engine:
        check_stream(engine, ended)
        engine.settle()
        check_stream(engine, ended)
        check_items(engine, promises)
        clock.move(timedelta(days=30))
        engine.settle()
        left = everything(engine, "pets")
        assert not [name for name in left if name.startswith("go ")]
        check_items(engine, promises)
        assert engine.verify() == []


def check_items(engine: Engine, promises: Promises) -> None:
    """What was answered and does not expire is there; of the attic exactly the expired half is gone."""
    held = everything(engine, "pets")
    for (kind, who), last in promises.items():
        if kind == "stay":
            missing = [n for n in range(1, last + 1) if f"stay {who} {n}" not in held]
            assert missing == []
    attic = everything(engine, "attic")
    assert set(attic) == {f"old {number}" for number in range(0, OLD_ITEMS, 2)}


def check_stream(engine: Engine, now: datetime) -> None:
    """The stream of the last day tells each change once, and each key's changes make a story."""
    records = read_all(engine, arn_of(engine))
    assert len(shards(engine, arn_of(engine))) > 1
    numbers = [int(record["dynamodb"]["SequenceNumber"]) for record in records]
    assert len(set(numbers)) == len(numbers)
    storage = engine._storage.writes
    (table,) = [number for number, name, _ in storage.tables() if name == "pets"]
    since = microseconds(now) - 86_400_000_000
    expected = [seq for seq, at, _, owner, *_ in storage.journal() if owner == table and at >= since]
    assert sorted(numbers) == [10**20 + seq for seq in expected]
    last: dict[str, str] = {}
    for record in records:
        name = record["dynamodb"]["Keys"]["pk"]["S"]
        swept = record.get("userIdentity") is not None
        # An item is swept once, after it came, and only if it was one that expires.
        assert record["eventName"] == ("REMOVE" if swept else "INSERT")
        assert not (swept and (name.startswith("stay ") or last.get(name) == "REMOVE"))
        last[name] = record["eventName"]
