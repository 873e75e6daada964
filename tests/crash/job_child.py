"""The process that is killed while long work is done: snapshots being made, tables being restored, chunks removed.

`python job_child.py DIR ROUND`. One thread writes items in order and moves amounts between accounts, another asks
for backups and restores and forgets some of them; the threads of the background do it all in steps so small that a kill
falls between or into them. A line on stdout is a promise: what it tells of was answered before.
Elsewhere: what is promised and how it is checked (test_jobs.py).
"""

import os
import sys
import threading
from typing import Any

from tablewright import Engine, ServiceError
from tablewright.engine.background import maintenance
from tablewright.engine.history import bulk_load, chunks, pitr_window, retention, snapshots, time_travel
from tablewright.engine.storage import sqlite

ACCOUNTS = 4
TOTAL = 100 * ACCOUNTS


def tell(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def account(number: int) -> dict[str, Any]:
    return {"pk": {"S": f"account {number}"}}


def moved(table: str, number: int, amount: int) -> dict[str, Any]:
    return {
        "Update": {
            "TableName": table,
            "Key": account(number % ACCOUNTS),
            "UpdateExpression": "ADD amount :n",
            "ExpressionAttributeValues": {":n": {"N": str(amount)}},
        }
    }


class Writer(threading.Thread):
    """Numbers in order, each with an amount moved from one account to the next: any moment shows a whole state."""

    def __init__(self, engine: Engine, first: int) -> None:
        super().__init__(daemon=True)
        self.engine, self.answered = engine, first - 1

    def run(self) -> None:
        while True:
            number = self.answered + 1
            item = {"pk": {"S": f"number {number}"}, "number": {"N": str(number)}, "fill": {"S": "x" * 50}}
            put = {"Put": {"TableName": "ledger", "Item": item}}
            moves = [moved("ledger", number, -1), moved("ledger", number + 1, 1)]
            self.engine.call("TransactWriteItems", {"TransactItems": [put, *moves]})
            self.answered = number
            tell("number", number, 0)
            threading.Event().wait(
                0.001
            )  # the test is about the long work beside it: a flood costs the checks only


def ask_for_ever(engine: Engine, writer: Writer, turn: str) -> None:
    count = 0
    kept: list[str] = []
    while True:
        count += 1
        before = writer.answered
        arn = engine.call("CreateBackup", {"TableName": "ledger", "BackupName": "some"})["BackupDetails"][
            "BackupArn"
        ]
        tell("backup", arn, before)
        kept.append(arn)
        before, name = writer.answered, f"then-{turn}-{count}"
        request = {"SourceTableName": "ledger", "TargetTableName": name, "RestoreDateTime": _now(engine)}
        try:
            engine.call("RestoreTableToPointInTime", request)
            tell("restored", name, before)
        except ServiceError as refused:
            if refused.name != "LimitExceededException":
                raise
        if count % 3 == 0:
            _forget(engine, kept.pop(0))
        threading.Event().wait(0.02)


def _now(engine: Engine) -> float:
    return engine._world.now().timestamp()


def _forget(engine: Engine, arn: str) -> None:
    try:
        tell("forgetting", arn, 0)
        engine.call("DeleteBackup", {"BackupArn": arn})
    except ServiceError as refused:
        if refused.name != "BackupInUseException":
            raise


def main(directory: str, turn: str, first: str) -> None:
    chunks.CUT_MASK, chunks.MOST_ITEMS = 3, 8
    time_travel.PAGE_ITEMS, time_travel.JOURNAL_ROWS, time_travel.MOST_CHANGES = 10, 50, 30
    snapshots.FEWEST_CHANGES, snapshots.STEP_REFS, snapshots.REMOVED_CHUNKS = 60, 3, 2
    snapshots.COUNTED_ROWS, bulk_load.FILLED_ITEMS = 40, 20
    retention.PRUNED_ROWS = maintenance.DROPPED_ROWS = 5
    sqlite.CHECKPOINT_PAGES = 50
    pitr_window.LAG = 0  # or nothing but the beginning could be restored in the seconds it lives
    engine = Engine.open(directory, durability="relaxed", ttl_seconds=0.01)
    writer = Writer(engine, int(first))
    writer.start()
    threading.Thread(target=ask_for_ever, args=(engine, writer, turn), daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
