"""A process that is killed among its long work loses nothing and does nothing twice; the next one goes on.

Every backup that was answered becomes available and holds one whole moment not earlier than its request; every restore
that was answered becomes a table of one whole moment.
"""

import random
import sys
import time
from pathlib import Path
from typing import Any

from tests import fork_server
from tests.crash import job_child
from tests.crash.job_child import ACCOUNTS, TOTAL, account
from tests.crash.ledger import LEDGER, everything

from tablewright import Engine
from tablewright.engine import verify_store
from tablewright.engine.history import store as history_store
from tablewright.engine.storage.sqlite import Storage

KILLS = 5
PATIENCE = 60.0
Promises = dict[str, dict[str, int]]


def prepare(store: Path) -> None:
    with Engine.open(store, durability="relaxed") as engine:
        engine.call("CreateTable", LEDGER)
        for number in range(ACCOUNTS):
            engine.call(
                "PutItem", {"TableName": "ledger", "Item": account(number) | {"amount": {"N": "100"}}}
            )
        recovery = {"PointInTimeRecoveryEnabled": True}
        engine.call(
            "UpdateContinuousBackups",
            {"TableName": "ledger", "PointInTimeRecoverySpecification": recovery},
        )


def is_amid(told: str) -> bool:
    """Whether it has begun something new; where earlier children left much to do, no further restore may be let in."""
    return told.count("restored ") >= 2 or told.count("backup ") >= 10


def killed(store: Path, turn: int, first: int, promises: Promises) -> None:
    """Start a child on the store and kill it in the middle of its work; hear what it promised."""
    told = store.with_name(f"told-{turn}")
    with told.open("wb") as out:
        process = fork_server.start(
            [sys.executable, job_child.__file__, store, str(turn), str(first)], stdout=out
        )
        try:
            give_up = time.monotonic() + PATIENCE
            while not is_amid(told.read_text()):
                assert process.poll() is None, "the child ended by itself"
                assert time.monotonic() < give_up, "the child does not answer"
                time.sleep(0.01)
            time.sleep(random.uniform(0, 0.5))
            assert process.poll() is None, "the child ended by itself"
        finally:
            process.kill()
            process.wait(PATIENCE)
    for line in told.read_text().split("\n")[:-1]:
        kind, what, number = line.split()
        promises.setdefault(kind, {})[what] = int(number)


def is_halfway(store: Path) -> bool:
    """Whether the kill left work half done."""
    storage = Storage(store, "relaxed")
    try:
        return any(
            one.done for one in history_store.snapshots(storage.writes) if one.status == "MAKING"
        ) or any(done for _, done in history_store.restores(storage.writes))
    finally:
        storage.close()


def check_moment(items: dict[str, Any], at_least: int) -> None:
    """One whole moment: the numbers up to one of them, and accounts that add up."""
    numbers = sorted(int(item["number"]["N"]) for item in items.values() if "number" in item)
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= at_least
    assert sum(int(items[f"account {n}"]["amount"]["N"]) for n in range(ACCOUNTS)) == TOTAL


def test_a_kill_among_long_work_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store"
    prepare(store)
    promises: Promises = {}
    halfway = last = 0
    for turn in range(KILLS):
        killed(store, turn, last + 1, promises)
        assert verify_store(store) == []
        halfway += is_halfway(store)
        with Engine.open(store, durability="relaxed") as engine:
            held = everything(engine, "ledger")
        last = max(int(item["number"]["N"]) for item in held.values() if "number" in item)
        assert last >= max(map(int, promises["number"]))
    # A child that had nothing left to do when it was killed would prove nothing.
    assert halfway > 0
    with Engine.open(store, durability="relaxed") as engine:
        engine.settle()
        assert engine.verify() == []
        check_moment(everything(engine, "ledger"), last)
        for name, before in promises["restored"].items():
            described = engine.call("DescribeTable", {"TableName": name})["Table"]
            assert described["TableStatus"] == "ACTIVE"
            restored = everything(engine, name)
            assert described["ItemCount"] == len(restored)
            check_moment(restored, before)
        check_backups(engine, promises)
        assert engine.verify() == []


def check_backups(engine: Engine, promises: Promises) -> None:
    held = {
        one["BackupArn"]: one
        for one in engine.call("ListBackups", {"TableName": "ledger"})["BackupSummaries"]
    }
    more = held
    while len(more) == 100:
        start = max(held, key=lambda arn: arn.rpartition("/")[2])
        page = engine.call("ListBackups", {"TableName": "ledger", "ExclusiveStartBackupArn": start})
        more = {one["BackupArn"]: one for one in page["BackupSummaries"]}
        held |= more
    missing = promises["backup"].keys() - promises.get("forgetting", {}).keys() - held.keys()
    assert missing == set()
    for number, (arn, one) in enumerate(sorted(held.items())[-12:]):
        assert one["BackupStatus"] == "AVAILABLE"
        name = f"back-{number}"
        engine.call("RestoreTableFromBackup", {"BackupArn": arn, "TargetTableName": name})
        engine.settle()
        check_moment(everything(engine, name), promises["backup"].get(arn, 0))
