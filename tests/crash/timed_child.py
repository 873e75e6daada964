"""The process that is killed while time's work is done: a sweep, a list being filled, a journal being pruned.

`python timed_child.py DIR ROUND`. Beside its writing threads the keeper sweeps expired items, lists the times of a
table whose TTL was just enabled, rolls and splits shards and prunes the journal, all in steps so small that a kill
falls between or into them. A line on stdout is a promise: what it tells of was answered before.
Elsewhere: what is promised and how it is checked (test_kill_in_time.py).
"""

import os
import sys
import threading
from datetime import UTC, datetime, timedelta
from time import sleep
from typing import Any

from tablewright import Engine
from tablewright.engine.background import maintenance, ttl
from tablewright.engine.history import retention
from tablewright.engine.storage import sqlite
from tablewright.engine.storage.rows import ROWS_PRUNED
from tablewright.engine.streams import shards
from tablewright.world import World, real_world

THREADS = 2
# Rows of the journal are old enough to be pruned after a moment, not after a day.
SPEED = 100_000
# The keeper rests in proportion to what is written: writers that never pause put off what the kill is to fall into.
PAUSE = 0.002


def tell(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def fast_world(start: datetime) -> World:
    """A day passes in less than a second: what is pruned and what expires comes while the process lives."""
    real = real_world()
    began = real.now()

    def now() -> datetime:
        return start + (real.now() - began) * SPEED

    return World(now=now, new_id=real.new_id, jitter=real.jitter)


def item(name: str, number: int, until: int | None) -> dict[str, Any]:
    made: dict[str, Any] = {"pk": {"S": name}, "number": {"N": str(number)}}
    if until is not None:
        made["until"] = {"N": str(until)}
    return made


def write_for_ever(engine: Engine, who: str, now: Any) -> None:
    """Items that stay, and items that expire within the hour."""
    number = 0
    while True:
        number += 1
        engine.call("PutItem", {"TableName": "pets", "Item": item(f"stay {who} {number}", number, None)})
        tell("stay", who, number)
        soon = int(now().timestamp()) + 1800
        engine.call("PutItem", {"TableName": "pets", "Item": item(f"go {who} {number}", number, soon)})
        tell("go", who, number)
        sleep(PAUSE)


def watch(engine: Engine, turn: str) -> None:
    """Tell when this process has pruned the journal; asked of a reader, so that nobody waits for it."""
    before = _pruned(engine)
    while _pruned(engine) == before:
        sleep(0.01)
    tell("pruned", turn, _pruned(engine))


def _pruned(engine: Engine) -> int:
    rows = engine._storage.acquire_reader()
    try:
        return rows.counts(ROWS_PRUNED)[0]
    finally:
        engine._storage.release_reader(rows)


def main(directory: str, turn: str, start: str) -> None:
    maintenance.BACKFILL_ROWS = maintenance.DROPPED_ROWS = ttl.SWEPT_ITEMS = 2
    retention.PRUNED_ROWS, shards.SHARD_RECORDS, shards.COUNTED_ROWS = 3, 20, 5
    sqlite.CHECKPOINT_PAGES = 50
    world = fast_world(datetime.fromtimestamp(float(start), UTC))
    engine = Engine.open(
        directory, durability="relaxed", world=world, ttl_seconds=0.01, ttl_lag=timedelta(minutes=1)
    )
    engine.call(
        "UpdateTimeToLive",
        {
            "TableName": "attic",
            "TimeToLiveSpecification": {"Enabled": int(turn) % 2 == 0, "AttributeName": "until"},
        },
    )
    tell("plot", turn, 0)
    for thread in range(THREADS):
        who = f"{turn}-{thread}"
        threading.Thread(target=write_for_ever, args=(engine, who, world.now), daemon=True).start()
    threading.Thread(target=watch, args=(engine, turn), daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
