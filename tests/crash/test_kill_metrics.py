"""A process that is killed while it writes its figures loses the running minute at most, and counts nothing twice."""

import random
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from tests import fork_server
from tests.crash import metrics_child
from tests.crash.metrics_child import A_MINUTE
from tests.engine.tables import definition

from tablewright import Engine, testing
from tablewright.engine import verify_store

KILLS = 5
PATIENCE = 120.0
# Later than any minute of a child, and not so late that figures are forgotten.
LATER = datetime(2026, 1, 14, tzinfo=UTC)


def killed(store: Path, turn: int, number: int) -> int:
    """Start a child, kill it a moment after its first promise; what it promised last."""
    told = store.with_name(f"told-{turn}")
    with told.open("wb") as out:
        process = fork_server.start([sys.executable, metrics_child.__file__, store, str(number)], stdout=out)
        try:
            give_up = time.monotonic() + PATIENCE
            while "\n" not in told.read_text():
                assert process.poll() is None, "the child ended by itself"
                assert time.monotonic() < give_up, "the child does not answer"
                time.sleep(0.005)
            time.sleep(random.uniform(0, 0.1))
        finally:
            process.kill()
            process.wait(PATIENCE)
    return int(told.read_text().split("\n")[-2])


def test_the_figures_of_minutes_that_were_written_survive_every_kill(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with Engine.open(store, world=testing.Clock().world()) as engine:
        engine.call("CreateTable", definition())
    promised = number = counted = 0
    for turn in range(KILLS):
        last = killed(store, turn, number)
        promised += last - number
        assert verify_store(store) == []
        with Engine.open(store, world=testing.Clock(LATER).world()) as engine:
            points = engine.metrics.series(
                "ConsumedWriteCapacityUnits", table="pets", since=datetime(2026, 1, 1, tzinfo=UTC)
            )
            samples = int(sum(point.samples for point in points))
            items = engine.call("Scan", {"TableName": "pets", "Select": "COUNT"})["Count"]
        assert promised <= samples <= items
        assert all(point.samples <= A_MINUTE for point in points)
        assert samples >= counted
        # Every minute that was begun is begun anew by the next child, at a number nobody has used.
        counted = promised = samples
        number = last + 2 * A_MINUTE
