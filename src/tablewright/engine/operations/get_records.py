"""GetRecords: changes of a shard from an iterator on, and the iterator of what follows.

A call looks at a bounded part of the journal, so a page may be empty though more is to come: the next iterator is
there until a closed shard has been read to its end.
"""

from typing import Any

from tablewright.engine.errors import invalid_parameter, resource_not_found
from tablewright.engine.iterators import Iterator, iterator_at, read_iterator, refuse_trimmed
from tablewright.engine.journal import first_since
from tablewright.engine.limits import PAGE_BYTES
from tablewright.engine.records import key_names, record
from tablewright.engine.shapes import Request, Struct, Text, Whole
from tablewright.engine.storage_rows import Shard, Stream
from tablewright.engine.streams import DAY, find_stream, kept_shards
from tablewright.engine.writing import Reading

MOST = 1000
# Rows of the journal one call looks at, whosever they are.
LOOKED_AT = 5000

SHAPE = Struct(
    "GetRecordsInput",
    {"ShardIterator": Text(1, 2048), "Limit": Whole(least=1)},
    required=("ShardIterator",),
)


def get_records(reading: Reading, request: Request) -> dict[str, Any]:
    now = reading.now()
    limit = int(request.get("Limit") or MOST)
    iterator = read_iterator(request["ShardIterator"], now)
    if limit > MOST:
        raise invalid_parameter(f"Limit should be less than or equal to {MOST}")
    with reading.rows.snapshot():
        stream = find_stream(reading, iterator.stream)
        shard = _shard(reading, stream, iterator)
        start = _start(reading, shard, iterator, now)
        records, position = _read(reading, stream, shard, start, limit)
    answer: dict[str, Any] = {"Records": records}
    if shard.last is None or position <= shard.last:
        answer["NextShardIterator"] = iterator_at(stream, shard, position, now)
    return answer


def _shard(reading: Reading, stream: Stream, iterator: Iterator) -> Shard:
    for shard in kept_shards(reading, stream):
        if shard.number == iterator.shard:
            return shard
    raise resource_not_found("Invalid ShardId in ShardIterator")


def _start(reading: Reading, shard: Shard, iterator: Iterator, now: int) -> int:
    if iterator.position is None:
        return max(shard.first, first_since(reading.rows, now - DAY))
    refuse_trimmed(reading.rows, iterator.position, now)
    return max(shard.first, iterator.position)


def _read(
    reading: Reading, stream: Stream, shard: Shard, start: int, limit: int
) -> tuple[list[dict[str, Any]], int]:
    """The records, and the number to go on from."""
    rows = reading.rows
    end = min(rows.last_sequence()[0] if shard.last is None else shard.last, start + LOOKED_AT - 1)
    names, region = key_names(stream), reading.place.region
    found: list[dict[str, Any]] = []
    size = last = 0
    low, high = shard.low.to_bytes(4), shard.high.to_bytes(4)
    with rows.changes_of(stream.owner, low, high, start, end, limit) as changes:
        for change in changes:
            one = record(stream, names, change, region)
            size += one["dynamodb"]["SizeBytes"]
            if found and size > PAGE_BYTES:
                return found, change.seq
            found.append(one)
            last = change.seq
    return found, last + 1 if len(found) == limit else max(start, end + 1)
