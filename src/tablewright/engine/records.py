"""A change of the journal as a stream record, in the service's form. Pure.

Must hold: the same change is the same record, however often and through whichever iterator it is read.
"""

from hashlib import blake2b
from typing import Any

import orjson

from tablewright.engine.journal import TIME_TO_LIVE
from tablewright.engine.storage_rows import Change, Stream
from tablewright.engine.streams import sequence_number
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
    shown: dict[str, Any] = {
        "ApproximateCreationDateTime": change.at // 1_000_000,
        "Keys": keys,
        "SequenceNumber": sequence_number(change.seq),
        "SizeBytes": item_size(keys),
        "StreamViewType": stream.view,
    }
    for member, image, views in (("NewImage", new, _NEW), ("OldImage", old, _OLD)):
        if image is not None and stream.view in views:
            shown[member] = image
            shown["SizeBytes"] += item_size(image)
    told: dict[str, Any] = {
        "eventID": blake2b(f"{stream.arn} {change.seq}".encode(), digest_size=16).hexdigest(),
        "eventName": "INSERT" if old is None else "REMOVE" if new is None else "MODIFY",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": region,
        "dynamodb": shown,
    }
    if change.source == TIME_TO_LIVE:
        told["userIdentity"] = _SWEEPER
    return told


def key_names(stream: Stream) -> list[str]:
    return [element["AttributeName"] for element in orjson.loads(stream.keys)]
