"""GetRecords: changes of a shard from an iterator on, and the iterator of what follows.

A call reads a bounded part of the journal, so a page may be empty although more records follow: the answer has a next
iterator until a closed shard has been read to its end.
"""

from typing import Any

from tablewright.engine.api.operation import STREAMS, ReadOperation
from tablewright.engine.api.shapes import Request, Struct, Text, Whole
from tablewright.engine.errors import invalid_parameter, resource_not_found
from tablewright.engine.journal import first_since
from tablewright.engine.limits import PAGE_BYTES
from tablewright.engine.streams.iterators import Iterator, iterator_at, read_iterator, refuse_trimmed
from tablewright.engine.streams.records import key_names, record
from tablewright.engine.streams.shards import DAY, find_stream, readable_shards
from tablewright.engine.streams.store import Shard, Stream
from tablewright.engine.transaction import ReadTransaction

MOST = 1000
# Journal rows that one call reads, of all tables.
LOOKED_AT = 5000

SHAPE = Struct(
    "GetRecordsInput",
    {"ShardIterator": Text(1, 2048), "Limit": Whole(least=1)},
    required=("ShardIterator",),
)


def get_records(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    now = txn.now()
    limit = int(request.get("Limit") or MOST)
    iterator = read_iterator(request["ShardIterator"], now)
    if limit > MOST:
        raise invalid_parameter(f"Limit should be less than or equal to {MOST}")
    with txn.rows.snapshot():
        stream = find_stream(txn, iterator.stream)
        shard = _shard(txn, stream, iterator)
        start = _start(txn, shard, iterator, now)
        records, position = _read(txn, stream, shard, start, limit)
    answer: dict[str, Any] = {"Records": records}
    if shard.last is None or position <= shard.last:
        answer["NextShardIterator"] = iterator_at(stream, shard, position, now)
    return answer


def _shard(txn: ReadTransaction, stream: Stream, iterator: Iterator) -> Shard:
    for shard in readable_shards(txn, stream):
        if shard.number == iterator.shard:
            return shard
    raise resource_not_found("Invalid ShardId in ShardIterator")


def _start(txn: ReadTransaction, shard: Shard, iterator: Iterator, now: int) -> int:
    if iterator.position is None:
        return max(shard.first, first_since(txn.rows, now - DAY))
    refuse_trimmed(txn.rows, iterator.position, now)
    return max(shard.first, iterator.position)


def _read(
    txn: ReadTransaction, stream: Stream, shard: Shard, start: int, limit: int
) -> tuple[list[dict[str, Any]], int]:
    """The records, and the number to continue from."""
    rows = txn.rows
    end = min(rows.last_sequence()[0] if shard.last is None else shard.last, start + LOOKED_AT - 1)
    names, region = key_names(stream), txn.place.region
    found: list[dict[str, Any]] = []
    size = last = 0
    low, high = shard.low.to_bytes(4), shard.high.to_bytes(4)
    with rows.changes_of(stream.owner, low, high, start, end, limit) as changes:
        for change in changes:
            one = record(stream, names, change, region)
            size += one["dynamodb"]["SizeBytes"]
            txn.work(one["dynamodb"]["SizeBytes"])
            if found and size > PAGE_BYTES:
                return found, change.seq
            found.append(one)
            last = change.seq
    return found, last + 1 if len(found) == limit else max(start, end + 1)


OPERATION = ReadOperation("GetRecords", SHAPE, get_records, service=STREAMS)
