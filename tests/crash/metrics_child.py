"""The process that is killed while its metrics are added up and written.

`python metrics_child.py DIR NUMBER`: puts items numbered from NUMBER, moves its clock on a minute after each few and
has the metrics written, one point a step, so that a kill falls into or between steps. A line on stdout is a promise: so
many puts were answered, and so many were in minutes whose metrics were written.
Elsewhere: how it is checked (test_kill_metrics.py).
"""

import os
import sys
from datetime import UTC, datetime, timedelta

from tablewright import Engine, testing
from tablewright.engine.metrics import collector

A_MINUTE = 7


def main(store: str, number: int) -> None:
    collector.FLUSHED_POINTS = 1
    clock = testing.Clock(datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number))
    engine = Engine.open(store, durability="relaxed", world=clock.world())
    while True:
        for _ in range(A_MINUTE):
            number += 1
            engine.call("PutItem", {"TableName": "pets", "Item": {"pk": {"S": str(number)}}})
        clock.move(timedelta(minutes=1))
        engine.metrics.flush()
        os.write(1, f"{number}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
