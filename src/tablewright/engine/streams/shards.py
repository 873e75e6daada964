"""Streams and their shards: how they open, roll, split and close. Their records are read from the journal.

A shard is a range of journal numbers and a range of the key hash (the first four bytes of a key), so the changes of one
key are in one shard at a time, in order. A closed shard is followed by one child, or by two halves, that begin where it
ended.
Must hold: at any number, the shards of an enabled stream cover every hash exactly once; shards that were closed for a
day are deleted.
Elsewhere: records (records.py), iterators (iterators.py), SQL (store.py), how long journal rows are kept
(history/retention.py).
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import orjson

from tablewright.engine.catalog import Table
from tablewright.engine.errors import invalid, resource_not_found
from tablewright.engine.keys import HASH_SPACE
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.streams import store
from tablewright.engine.streams.store import Shard, Stream
from tablewright.engine.transaction import ReadTransaction, WriteTransaction

# How long a change can be read, and a closed stream or shard. Microseconds.
DAY = 86_400_000_000
SHARD_AGE = 4 * 3_600_000_000
SHARD_RECORDS = 100_000
OPEN_SHARDS = 16
# Journal rows that one step counts, to find the shards to split.
COUNTED_ROWS = 2000


# --- names ---


def shard_name(shard: Shard) -> str:
    return f"shardId-{shard.at // 1000:020d}-{shard.number:08x}"


def sequence_number(seq: int) -> str:
    """A journal number in the service's form: 21 digits, not beginning with 0, ascending."""
    return str(10**20 + seq)


def _label(at: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds")


# --- reading ---


def is_readable(one: Stream | Shard, now: int) -> bool:
    return one.closed is None or one.closed >= now - DAY


def refuse_bad_arn(arn: str) -> None:
    if not arn.startswith("arn:") or ":table/" not in arn or "/stream/" not in arn:
        raise invalid("Invalid StreamArn")


def find_stream(txn: ReadTransaction, arn: str) -> Stream:
    refuse_bad_arn(arn)
    stream = store.find_stream(txn.rows, arn)
    if stream is None or not is_readable(stream, txn.now_us()):
        raise resource_not_found(f"Requested resource not found: Stream: {arn} not found")
    return stream


def readable_shards(txn: ReadTransaction, stream: Stream) -> list[Shard]:
    now = txn.now_us()
    return [shard for shard in store.shards(txn.rows, stream.number) if is_readable(shard, now)]


def find_shard(txn: ReadTransaction, stream: Stream, name: str) -> Shard:
    for shard in readable_shards(txn, stream):
        if shard_name(shard) == name:
            return shard
    raise resource_not_found("Requested resource not found: Shard does not exist")


# --- streams ---


def open_stream(txn: WriteTransaction, table: Table, view: str) -> Table:
    """The table with a new stream, whose first record is the next change."""
    at = txn.position.at
    table = replace(table, stream_label=_label(at), stream_view=view)
    # Two streams made at the same time must not have the same name.
    while store.find_stream(txn.rows, table.stream_arn) is not None:
        at += 1000
        table = replace(table, stream_label=_label(at))
    names = {"arn": table.stream_arn, "name": table.name, "label": table.stream_label, "view": view}
    keys = orjson.dumps(table.schema.elements())
    stream = store.add_stream(txn.rows, owner=table.number, keys=keys, at=txn.position.at, **names)
    _open_shard(txn, stream, None, 0, HASH_SPACE)
    return table


def close_stream(txn: WriteTransaction, table: Table) -> Table:
    """The table with its stream disabled; the stream can be read for another day."""
    stream = store.find_stream(txn.rows, table.stream_arn)
    assert stream is not None, "a table's stream is in the store"
    store.close_stream(txn.rows, stream.number, txn.position.at)
    for shard in store.shards(txn.rows, stream.number):
        if shard.closed is None:
            _close_shard(txn, shard)
    return replace(table, stream_view=None)


# --- shards ---


def _open_shard(txn: WriteTransaction, stream: int, parent: str | None, low: int, high: int) -> None:
    seq, at = txn.position.seq, txn.position.at
    store.add_shard(
        txn.rows, stream=stream, parent=parent, first=seq + 1, low=low, high=high, at=at, counted=seq
    )


def _close_shard(txn: WriteTransaction, shard: Shard) -> None:
    store.change_shard(txn.rows, shard.number, last=txn.position.seq, closed=txn.position.at)


def maintain_batch(txn: WriteTransaction) -> bool:
    """One step of maintenance: split, roll, delete or count shards. False when there was nothing to do.

    Counting comes last, since under constant writes it never ends.
    """
    shards = store.all_shards(txn.rows)
    if not shards:
        return False
    opened = [shard for shard in shards if shard.closed is None]
    return (
        _split_one(txn, opened)
        or _roll_one(txn, opened)
        or store.delete_closed(txn.rows, txn.position.at - DAY)
        or _count_batch(txn, opened)
    )


def _count_batch(txn: WriteTransaction, shards: list[Shard]) -> bool:
    """Count the new records of open shards; False when all are counted.

    Each journal row is read once, in the background: a counter would make every write slower.
    """
    counted = min((shard.counted for shard in shards), default=txn.position.seq)
    if counted == txn.position.seq:
        return False
    owners = {stream.number: stream.owner for stream in store.streams(txn.rows)}
    rows = txn.rows.journal_keys(counted, COUNTED_ROWS)
    last = rows[-1][0] if rows else txn.position.seq
    hashed = [(seq, owner, int.from_bytes(key[:4])) for seq, owner, key in rows]
    for shard in shards:
        found = sum(
            seq > shard.counted and owner == owners[shard.stream] and shard.low <= place < shard.high
            for seq, owner, place in hashed
        )
        records, counted = shard.records + found, max(last, shard.counted)
        store.change_shard(txn.rows, shard.number, records=records, counted=counted)
    return True


def _split_one(txn: WriteTransaction, shards: list[Shard]) -> bool:
    for shard in shards:
        siblings = sum(other.stream == shard.stream for other in shards)
        if shard.records > SHARD_RECORDS and siblings < OPEN_SHARDS:
            middle = (shard.low + shard.high) // 2
            _close_shard(txn, shard)
            _open_shard(txn, shard.stream, shard_name(shard), shard.low, middle)
            _open_shard(txn, shard.stream, shard_name(shard), middle, shard.high)
            return True
    return False


def _roll_one(txn: WriteTransaction, shards: list[Shard]) -> bool:
    for shard in shards:
        if shard.at <= txn.position.at - SHARD_AGE:
            _close_shard(txn, shard)
            _open_shard(txn, shard.stream, shard_name(shard), shard.low, shard.high)
            return True
    return False


def open_streams_since(rows: RowReader, moment: int) -> bool:
    """Whether a stream is enabled, or was at that moment or later."""
    return any(stream.closed is None or stream.closed >= moment for stream in store.streams(rows))
