"""Every change of a table in turn, by somebody who only looks: no lease, no checkpoint, nothing left behind.

Must hold: the changes of one key come in order, since a shard is read when its parent has been read to its end; no
change comes twice.
Elsewhere: consuming changes for good (mapping/consumer.py), the verbs (mapping/shards.py).
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tablewright.client import Call, CallRefused
from tablewright.mapping import shards
from tablewright.mapping.reading import EMPTY_PAGES
from tablewright.mapping.shards import Shard

PAGE = 1000
# The service allows five reads a second and shard; who only looks is content with one.
PAUSE = 1.0


@dataclass(slots=True)
class _Read:
    """A shard that is read: where, what came last, how many pages in a row brought nothing."""

    shard: Shard
    from_now: bool
    iterator: str | None = None
    last: str | None = None
    empty: int = 0
    is_over: bool = False


def changes(
    call: Call,
    table: str,
    *,
    from_now: bool,
    follow: bool,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[dict[str, Any]]:
    """Records as GetRecords gives them, from what the stream still holds or from now on.

    Without `follow` it ends when nothing more is to be had; with it, when the stream is off and was read to its end.
    """
    call("DescribeTable", {"TableName": table})  # a table that is not there is refused by its own name
    reads: dict[str, _Read] = {}
    is_first = True
    was_off = False
    while True:
        for shard in shards.shards_of(call, table):
            if shard.id not in reads:
                # What opened after we came is read from its beginning, whatever we wanted at first.
                skips = is_first and from_now
                reads[shard.id] = _Read(shard, skips, is_over=skips and shard.last is not None)
        is_first = False
        news = False
        for read in _ready(reads):
            for record in _page(call, read):
                news = True
                yield record
        left = [read for read in reads.values() if not read.is_over]
        if not follow and all(read.empty >= EMPTY_PAGES for read in left):
            return
        if follow and not left:
            if was_off:
                return
            was_off = not is_on(call, table)  # a shard may have come before it: look once more
        elif follow and not news:
            sleep(PAUSE)


def is_on(call: Call, table: str) -> bool:
    """Whether the table's changes are told from now on."""
    told = call("DescribeTable", {"TableName": table})["Table"].get("StreamSpecification") or {}
    return bool(told.get("StreamEnabled"))


def _ready(reads: dict[str, _Read]) -> list[_Read]:
    """The shards whose parents have been read to their end."""
    undone = {id for id, read in reads.items() if not read.is_over}
    return [read for read in reads.values() if not read.is_over and read.shard.parent not in undone]


def _page(call: Call, read: _Read) -> list[dict[str, Any]]:
    try:
        if read.iterator is None:
            read.iterator = _iterator(call, read)
        page = shards.read(call, read.iterator, PAGE)
    except CallRefused as refusal:
        if refusal.name not in (shards.EXPIRED, shards.TRIMMED):
            raise
        # We slept too long: go on behind what we saw, or with the oldest there is.
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
        request = {
            "StreamArn": read.shard.stream,
            "ShardId": read.shard.id,
            "ShardIteratorType": "LATEST",
        }
        place: str = call("GetShardIterator", request)["ShardIterator"]
        return place
    return shards.iterator(call, read.shard.stream, read.shard.id, after=read.last)
