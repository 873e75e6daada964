"""Streams and their shards: how they open, roll, split and close. Their records are readings of the journal.

A shard is a range of the journal's numbers and a range of the key hash (the first four bytes of a key), so the
changes of one key are in one shard at a time, in order. A shard that closes is followed by a child, or by two
halves, that begin where it ended.
Must hold: at any number, the shards of an enabled stream cover every hash exactly once; what has been closed for a
day is gone.
Elsewhere: records (records.py), iterators (iterators.py), how long the journal is kept (retention.py).
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import orjson

from tablewright.engine.catalog import Table
from tablewright.engine.errors import invalid, resource_not_found
from tablewright.engine.keys import HASH_SPACE
from tablewright.engine.storage_rows import Rows, Shard, Stream
from tablewright.engine.writing import Reading, Writing

# How long a change can be read, and a stream or shard that was closed.
DAY = 86_400_000_000
SHARD_AGE = 4 * 3_600_000_000
SHARD_RECORDS = 100_000
OPEN_SHARDS = 16
# Rows of the journal that one step counts, to know which shards have many.
COUNTED_ROWS = 2000


# --- names ---


def shard_name(shard: Shard) -> str:
    return f"shardId-{shard.at // 1000:020d}-{shard.number:08x}"


def sequence_number(seq: int) -> str:
    """A journal number as the service writes it: 21 digits, the first of them not 0, growing."""
    return str(10**20 + seq)


def _label(at: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds")


# --- what a reader finds ---


def is_kept(one: Stream | Shard, now: int) -> bool:
    return one.closed is None or one.closed >= now - DAY


def find_stream(reading: Reading, arn: str) -> Stream:
    if not arn.startswith("arn:") or ":table/" not in arn or "/stream/" not in arn:
        raise invalid("Invalid StreamArn")
    stream = reading.rows.stream(arn)
    if stream is None or not is_kept(stream, reading.now()):
        raise resource_not_found(f"Requested resource not found: Stream: {arn} not found")
    return stream


def kept_shards(reading: Reading, stream: Stream) -> list[Shard]:
    now = reading.now()
    return [shard for shard in reading.rows.shards(stream.number) if is_kept(shard, now)]


def find_shard(reading: Reading, stream: Stream, name: str) -> Shard:
    for shard in kept_shards(reading, stream):
        if shard_name(shard) == name:
            return shard
    raise resource_not_found("Requested resource not found: Shard does not exist")


# --- streams ---


def open_stream(writing: Writing, table: Table, view: str) -> Table:
    """The table with a new stream, which begins with the next change."""
    at = writing.pen.at
    table = replace(table, stream_label=_label(at), stream_view=view)
    # A clock that stands still must not make two streams of one name.
    while writing.rows.stream(table.stream_arn) is not None:
        at += 1000
        table = replace(table, stream_label=_label(at))
    keys = orjson.dumps(table.schema.elements())
    label = table.stream_label or ""
    stream = writing.rows.add_stream(
        table.number, table.stream_arn, table.name, label, view, keys, writing.pen.at
    )
    _open_shard(writing, stream, None, 0, HASH_SPACE)
    return table


def close_stream(writing: Writing, table: Table) -> Table:
    """The table without its stream, which can be read for another day."""
    stream = writing.rows.stream(table.stream_arn)
    assert stream is not None, "a table's stream is in the store"
    writing.rows.close_stream(stream.number, writing.pen.at)
    for shard in writing.rows.shards(stream.number):
        if shard.closed is None:
            _close_shard(writing, shard)
    return replace(table, stream_view=None)


# --- shards ---


def _open_shard(writing: Writing, stream: int, parent: str | None, low: int, high: int) -> None:
    writing.rows.add_shard(stream, parent, writing.pen.seq + 1, low, high, writing.pen.at)


def _close_shard(writing: Writing, shard: Shard) -> None:
    writing.rows.close_shard(shard.number, writing.pen.seq, writing.pen.at)


def tend_some(writing: Writing) -> bool:
    """One step of what shards need: splitting, rolling, being forgotten, counting. False when they need nothing.

    Counting comes last, since on a busy day it never ends.
    """
    shards = writing.rows.all_shards()
    if not shards:
        return False
    opened = [shard for shard in shards if shard.closed is None]
    return (
        _split_one(writing, opened)
        or _roll_one(writing, opened)
        or writing.rows.forget_closed(writing.pen.at - DAY)
        or _count_some(writing, opened)
    )


def _count_some(writing: Writing, shards: list[Shard]) -> bool:
    """Count what open shards have taken since they were last counted; False when all was counted.

    Each row of the journal is looked at once, beside the writes: a counter would make every write dearer.
    """
    counted = min((shard.counted for shard in shards), default=writing.pen.seq)
    if counted == writing.pen.seq:
        return False
    owners = {stream.number: stream.owner for stream in writing.rows.streams()}
    rows = writing.rows.journal_keys(counted, COUNTED_ROWS)
    last = rows[-1][0] if rows else writing.pen.seq
    hashed = [(seq, owner, int.from_bytes(key[:4])) for seq, owner, key in rows]
    for shard in shards:
        found = sum(
            seq > shard.counted and owner == owners[shard.stream] and shard.low <= place < shard.high
            for seq, owner, place in hashed
        )
        writing.rows.count_shard(shard.number, shard.records + found, max(last, shard.counted))
    return True


def _split_one(writing: Writing, shards: list[Shard]) -> bool:
    for shard in shards:
        siblings = sum(other.stream == shard.stream for other in shards)
        if shard.records > SHARD_RECORDS and siblings < OPEN_SHARDS:
            middle = (shard.low + shard.high) // 2
            _close_shard(writing, shard)
            _open_shard(writing, shard.stream, shard_name(shard), shard.low, middle)
            _open_shard(writing, shard.stream, shard_name(shard), middle, shard.high)
            return True
    return False


def _roll_one(writing: Writing, shards: list[Shard]) -> bool:
    for shard in shards:
        if shard.at <= writing.pen.at - SHARD_AGE:
            _close_shard(writing, shard)
            _open_shard(writing, shard.stream, shard_name(shard), shard.low, shard.high)
            return True
    return False


def open_streams_since(rows: Rows, moment: int) -> bool:
    """Whether a stream is enabled, or was at that moment or later."""
    return any(stream.closed is None or stream.closed >= moment for stream in rows.streams())
