"""The process that is killed: it opens a store, writes from several threads, and tells of each answered write.

`python child.py DIR DURABILITY ROUND PLOT`. A line on stdout, written at once and in one piece, is a promise: what
it tells of was answered before. Whoever started this process kills it when it likes.
PLOT is what happens beside the writing: nothing, `backfill` (an index is created on a full table) or `drop` (a full
table is dropped).
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tablewright import Engine, ServiceError
from tablewright.engine.background import maintenance
from tablewright.engine.storage import sqlite

THREADS = 4
ACCOUNTS = 3
Call = Callable[[str, dict[str, Any]], Any]
BUSY = ("TransactionConflictException", "TransactionCanceledException")


def tell(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def key(name: str) -> dict[str, Any]:
    return {"pk": {"S": name}}


def add(name: str, amount: int) -> dict[str, Any]:
    return {
        "TableName": "ledger",
        "Key": key(name),
        "UpdateExpression": "ADD amount :n",
        "ExpressionAttributeValues": {":n": {"N": str(amount)}},
    }


def put(name: str, number: int) -> dict[str, Any]:
    """An item of about a kilobyte that is in the index, once there is one."""
    item = {
        **key(name),
        "number": {"N": str(number)},
        "colour": {"S": f"c{number % 7}"},
        "fill": {"S": "x" * 900},
    }
    return {"TableName": "ledger", "Item": item}


def work(call: Call, who: str, tell: Callable[..., None] = tell) -> Iterator[None]:
    """One thread's writing, one round of all kinds at each step. Names are the thread's own."""
    number = 0
    while True:
        number += 1
        call("PutItem", put(f"new {who} {number}", number))
        tell("new", who, number)
        call("PutItem", put(f"latest {who}", number))
        tell("latest", who, number)
        call("UpdateItem", add(f"count {who}", 1))
        tell("count", who, number)
        pair = [{"Put": put(f"{side} {who} {number}", number)} for side in ("left", "right")]
        call("TransactWriteItems", {"TransactItems": pair})
        tell("pair", who, number)
        call("DeleteItem", {"TableName": "ledger", "Key": key(f"new {who} {number}")})
        tell("gone", who, number)
        batch = [{"PutRequest": {"Item": put(f"batch{n} {who} {number}", number)["Item"]}} for n in range(3)]
        left = call("BatchWriteItem", {"RequestItems": {"ledger": batch}})["UnprocessedItems"]
        if not left:
            tell("batch", who, number)
        yield


def move(call: Call, number: int) -> None:
    """Carry one unit from an account to the next: whatever happens, the sum stays."""
    source, target = f"account {number % ACCOUNTS}", f"account {(number + 1) % ACCOUNTS}"
    try:
        call(
            "TransactWriteItems",
            {"TransactItems": [{"Update": add(source, -1)}, {"Update": add(target, 1)}]},
        )
    except ServiceError as busy:
        if busy.name not in BUSY:
            raise


def write_for_ever(engine: Engine, who: str) -> None:
    for number, _ in enumerate(work(engine.call, who)):
        move(engine.call, number)


CREATE_INDEX: dict[str, Any] = {
    "TableName": "ledger",
    "AttributeDefinitions": [{"AttributeName": "colour", "AttributeType": "S"}],
    "GlobalSecondaryIndexUpdates": [
        {
            "Create": {
                "IndexName": "by-colour",
                "KeySchema": [{"AttributeName": "colour", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        }
    ],
}


def main(directory: str, durability: str, turn: str, plot: str) -> None:
    # Small steps and an eager keeper: the moments worth dying in come often, and chores take their time.
    maintenance.BACKFILL_ROWS = maintenance.DROPPED_ROWS = 1
    sqlite.CHECKPOINT_PAGES = 50
    engine = Engine.open(directory, durability=durability)
    for thread in range(THREADS):
        who = f"{turn}-{thread}"
        threading.Thread(target=write_for_ever, args=(engine, who), daemon=True).start()
    if plot == "backfill":
        engine.call("UpdateTable", CREATE_INDEX)
        tell("plot")
    if plot == "drop":
        engine.call("DeleteTable", {"TableName": "attic"})
        tell("plot")
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
