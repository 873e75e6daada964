"""The process that is killed while it exports, imports and loads.

`python transfer_child.py DIR ROUND`. It writes on while the labourer makes exports of the table, full ones and those of
the changes since the beginning, and fills tables from the objects that are in the bucket `source`, by imports and by
bulk loads; all in pieces so small that a kill falls between or into them. A line on stdout is a promise: what it tells
of was answered before.
Elsewhere: what is promised and how it is checked (test_kill_transfers.py).
"""

import os
import sys
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

from tablewright import Engine
from tablewright.engine.history import bulk_load, time_travel
from tablewright.engine.storage import sqlite
from tablewright.engine.transfer import export_lines
from tablewright.world import World, real_world

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/pets"
START = datetime(2026, 1, 1, tzinfo=UTC)
KEY: dict[str, Any] = {
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "colour", "AttributeType": "S"},
    ],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-colour",
            "KeySchema": [{"AttributeName": "colour", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}


def tell(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def later_world(turn: int) -> World:
    """The real world, an hour further on in each turn, counted from a fixed beginning."""
    real = real_world()
    began = real.now()

    def now() -> datetime:
        return START + timedelta(hours=turn + 1) + (real.now() - began)

    return World(now=now, new_id=real.new_id, jitter=real.jitter)


def write_for_ever(engine: Engine, turn: int) -> None:
    number = 0
    while True:
        number += 1
        item = {"pk": {"S": f"new {turn} {number}"}, "number": {"N": str(number)}}
        engine.call("PutItem", {"TableName": "pets", "Item": item})
        tell("new", turn, number)
        # There is always a write beside the transfers; a flood of them made work for the checks alone.
        threading.Event().wait(0.002)


def main(directory: str, turn: str) -> None:
    export_lines.FILE_BYTES, export_lines.JOURNAL_ROWS = 2000, 200
    export_lines.PART_ROWS, export_lines.IMAGES = 500, 20
    time_travel.PAGE_ITEMS, bulk_load.INDEXED_ITEMS = 20, 10
    sqlite.CHECKPOINT_PAGES = 50
    engine = Engine.open(directory, durability="relaxed", world=later_world(int(turn)))
    threading.Thread(target=write_for_ever, args=(engine, int(turn)), daemon=True).start()
    asked: dict[str, Any] = {"TableArn": ARN, "S3Bucket": "vault"}
    since = {"ExportFromTime": START.timestamp() + 60}
    changes = {"ExportType": "INCREMENTAL_EXPORT", "IncrementalExportSpecification": since}
    source = {"S3Bucket": "source"}
    while True:
        for more in ({}, changes):
            engine.call("ExportTableToPointInTime", asked | more)
        number = len(engine.call("ListTables", {})["TableNames"])
        parameters = KEY | {"TableName": f"copy-{turn}-{number}"}
        request = {
            "S3BucketSource": source,
            "InputFormat": "DYNAMODB_JSON",
            "TableCreationParameters": parameters,
        }
        engine.call("ImportTable", request)
        engine.call("CreateTable", KEY | {"TableName": f"load-{turn}-{number}"})
        load = {
            "TableName": f"load-{turn}-{number}",
            "InputS3Configuration": {**source, "InputFormat": "DYNAMODB_JSON"},
            "OutputS3Configuration": {**source, "OutputType": ["ERROR"]},
        }
        engine.call("StartBulkPutItems", load)
        tell("asked", turn, number)
        threading.Event().wait(0.5)


if __name__ == "__main__":
    main(*sys.argv[1:])
