"""A process that is killed between any two steps of a fail-over loses no answered write, and the fail-over goes on."""

import random
import sys
import time
from pathlib import Path

from tests import fork_server
from tests.crash import failover_child
from tests.crash.failover_child import HERE, THERE, opened
from tests.crash.ledger import LEDGER, everything

from tablewright.engine import verify_store
from tablewright.engine.metrics.replica_status import statuses
from tablewright.engine.replication.failover import failover
from tablewright.engine.verify.region_items import compare

KILLS = 8
PATIENCE = 60.0


def prepare(store: Path) -> None:
    with opened(store) as regions:
        regions[HERE].call("CreateTable", LEDGER | {"TableName": "ledger"})
        create = {"Create": {"RegionName": THERE}}
        regions[HERE].call("UpdateTable", {"TableName": "ledger", "ReplicaUpdates": [create]})
        regions.settle()


def killed(store: Path, turn: int) -> set[str]:
    """Start a child on the store and kill it a moment after its first writes; the names it was answered for."""
    told = store.with_name(f"told-{turn}")
    with told.open("wb") as out:
        process = fork_server.start(
            [sys.executable, failover_child.__file__, str(store), str(turn)], stdout=out
        )
        give_up = time.monotonic() + PATIENCE
        while told.read_text().count("put ") < 6:
            assert process.poll() is None, "the child has ended"
            assert time.monotonic() < give_up, "the child does not write"
            time.sleep(0.005)
        time.sleep(random.uniform(0, 0.1))
        process.kill()
        process.wait(30)
    lines = told.read_text().split("\n")[:-1]  # the last one may be cut off
    return {line.removeprefix("put ") for line in lines}


def test_a_kill_in_a_fail_over_loses_nothing_and_leaves_one_writer(tmp_path: Path) -> None:
    store = tmp_path / "store"
    prepare(store)
    answered: set[str] = set()
    for turn in range(KILLS):
        answered |= killed(store, turn)
        assert verify_store(store) == []
        with opened(store) as regions:
            regions.settle()
            newest = max(statuses(regions.engines), key=lambda one: (one.epoch, one.writer or ""))
            assert newest.writer is not None
            failover(regions, newest.writer)  # completes it, if it was not complete
            regions.settle()
            found = {
                one.region: (one.writer, one.epoch, one.unreplicated) for one in statuses(regions.engines)
            }
            assert set(found.values()) == {(newest.writer, newest.epoch, None)}
            assert compare(regions[HERE], regions[THERE], "ledger").different == []
            assert answered <= set(everything(regions[HERE], "ledger"))
