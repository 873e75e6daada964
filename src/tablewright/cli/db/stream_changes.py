"""Read every change of a table without leases or checkpoints; leaves no trace.

Must hold: the changes of one key are in order, since a shard is read only after its parent has been read to its end; no
change is returned twice.
Elsewhere: consumers with checkpoints (mapping/consumer/consumer.py), the stream API (mapping/consumer/shards.py).
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tablewright.client import Call, CallRefused
from tablewright.mapping.consumer import shards
from tablewright.mapping.consumer.shard_reader import EMPTY_PAGES
from tablewright.mapping.consumer.shards import Shard

PAGE = 1000
# DynamoDB allows five reads per second and shard; one is enough here and leaves the others to consumers.
PAUSE = 1.0


@dataclass(slots=True)
class _Read:
    """The state of reading one shard: iterator, last sequence number, number of empty pages in a row."""

    shard: Shard
    from_now: bool
    iterator: str | None = None
    last: str | None = None
    empty: int = 0
    is_over: bool = False


def changes(
    call: Call, table: str, *, from_now: bool, follow: bool, sleep: Callable[[float], None] = time.sleep
) -> Iterator[dict[str, Any]]:
    """Records as GetRecords returns them, from the oldest in the stream or from now on.

    Without `follow` it ends when there are no more records; with it, when the stream is disabled and read to its end.
    """
    call("DescribeTable", {"TableName": table})  # raises DynamoDB's error for a missing table
    reads: dict[str, _Read] = {}
    is_first = True
    was_off = False
    while True:
        for shard in shards.shards_of(call, table):
            if shard.id not in reads:
                # A shard that opened after the start is read from its beginning, also with from_now.
                skips = is_first and from_now
                reads[shard.id] = _Read(shard, skips, is_over=skips and shard.last is not None)
        is_first = False
        has_records = False
        for read in _ready(reads):
            for record in _page(call, read):
                has_records = True
                yield record
        left = [read for read in reads.values() if not read.is_over]
        if not follow and all(read.empty >= EMPTY_PAGES for read in left):
            return
        if follow and not left:
            if was_off:
                return
            was_off = not is_stream_on(call, table)  # a shard may have opened before that: check once more
        elif follow and not has_records:
            sleep(PAUSE)


def is_stream_on(call: Call, table: str) -> bool:
    """True if the table's stream is enabled."""
    stream = call("DescribeTable", {"TableName": table})["Table"].get("StreamSpecification") or {}
    return bool(stream.get("StreamEnabled"))


def _ready(reads: dict[str, _Read]) -> list[_Read]:
    """The shards whose parents have been read to their end."""
    undone = {id for id, read in reads.items() if not read.is_over}
    return [read for read in reads.values() if not read.is_over and read.shard.parent not in undone]


def _page(call: Call, read: _Read) -> list[dict[str, Any]]:
    try:
        if read.iterator is None:
            read.iterator = _iterator(call, read)
        page = shards.read_page(call, read.iterator, PAGE)
    except CallRefused as refusal:
        if refusal.name not in (shards.EXPIRED, shards.TRIMMED):
            raise
        # The iterator expired: continue after the last record, or with the oldest if that was trimmed.
        read.last = None if refusal.name == shards.TRIMMED else read.last
        read.from_now = read.from_now and refusal.name == shards.EXPIRED
        read.iterator = None
        return []
    read.iterator, read.is_over = page.next, page.next is None
    read.empty = 0 if page.records else read.empty + 1
    if page.records:
        read.last = page.records[-1]["dynamodb"]["SequenceNumber"]
    return page.records


def _iterator(call: Call, read: _Read) -> str:
    if read.last is None and read.from_now:
        request = {"StreamArn": read.shard.stream, "ShardId": read.shard.id, "ShardIteratorType": "LATEST"}
        iterator: str = call("GetShardIterator", request)["ShardIterator"]
        return iterator
    return shards.shard_iterator(call, read.shard.stream, read.shard.id, after=read.last)
