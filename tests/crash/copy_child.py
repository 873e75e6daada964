"""The process that is killed while it copies its tables elsewhere.

`python copy_child.py STORE PLACE DAY`. It writes to two tables at once, in one transaction each time, while a copy of
the day is brought further again and again, in files so small that a kill falls between or into them. A line on stdout
says that it was begun.
Elsewhere: what is promised and how it is checked (test_kill_copies.py).
"""

import os
import sys
import threading
from datetime import UTC, datetime, timedelta

from tests.app.away import copying_of, put

from tablewright import Engine, testing
from tablewright.app.copies.job import bring_further
from tablewright.app.copies.store import place_of
from tablewright.engine.history import time_travel
from tablewright.engine.transfer import export_lines
from tablewright.world import real_world

START = datetime(2026, 1, 1, tzinfo=UTC)


class DayClock(testing.Clock):
    """Real time, on some day after the first."""

    def __init__(self, day: float) -> None:
        super().__init__(START)
        self._real, self._day = real_world(), timedelta(days=day)
        self._began = self._real.now()

    def now(self) -> datetime:
        return START + self._day + (self._real.now() - self._began)


def write_for_ever(engine: Engine, day: int) -> None:
    number = 0
    while True:
        number += 1
        put(engine, f"new {day} {number}")


def main(store: str, where: str, day: str) -> None:
    export_lines.FILE_BYTES, time_travel.PAGE_ITEMS = 3000, 20
    clock, place = DayClock(int(day)), place_of(where)
    elsewhere = {place.bucket.name: place.where}
    engine = Engine.open(store, durability="relaxed", world=clock.world(), elsewhere=elsewhere)
    threading.Thread(target=write_for_ever, args=(engine, int(day)), daemon=True).start()
    copying = copying_of(engine, clock, place)
    bring_further(copying)
    os.write(1, b"asked for\n")
    while True:
        bring_further(copying)
        threading.Event().wait(0.01)


if __name__ == "__main__":
    main(*sys.argv[1:])
