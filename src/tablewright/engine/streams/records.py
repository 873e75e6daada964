"""A journal row as a stream record, in the service's form. Pure.

Must hold: the same change gives the same record, however often and through whichever iterator it is read.
"""

from hashlib import blake2b
from typing import Any

import orjson

from tablewright.engine.journal import TIME_TO_LIVE
from tablewright.engine.storage.rows import Change
from tablewright.engine.streams.shards import sequence_number
from tablewright.engine.streams.store import Stream
from tablewright.values import Item, item_size

_NEW = frozenset(("NEW_IMAGE", "NEW_AND_OLD_IMAGES"))
_OLD = frozenset(("OLD_IMAGE", "NEW_AND_OLD_IMAGES"))
_SWEEPER = {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}


def record(stream: Stream, names: list[str], change: Change, region: str) -> dict[str, Any]:
    """`names` are the table's key attributes."""
    old: Item | None = None if change.old is None else orjson.loads(change.old)
    new: Item | None = None if change.new is None else orjson.loads(change.new)
    item = new or old or {}
    keys = {name: item[name] for name in names}
    change_record: dict[str, Any] = {
        "ApproximateCreationDateTime": change.at // 1_000_000,
        "Keys": keys,
        "SequenceNumber": sequence_number(change.seq),
        "SizeBytes": item_size(keys),
        "StreamViewType": stream.view,
    }
    for member, image, views in (("NewImage", new, _NEW), ("OldImage", old, _OLD)):
        if image is not None and stream.view in views:
            change_record[member] = image
            change_record["SizeBytes"] += item_size(image)
    event: dict[str, Any] = {
        "eventID": blake2b(f"{stream.arn} {change.seq}".encode(), digest_size=16).hexdigest(),
        "eventName": "INSERT" if old is None else "REMOVE" if new is None else "MODIFY",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": region,
        "dynamodb": change_record,
    }
    if change.source == TIME_TO_LIVE:
        event["userIdentity"] = _SWEEPER
    return event


def key_names(stream: Stream) -> list[str]:
    return [element["AttributeName"] for element in orjson.loads(stream.keys)]
