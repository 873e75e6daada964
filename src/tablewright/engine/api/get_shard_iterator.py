"""GetShardIterator: an iterator at a position in a shard."""

from typing import Any

from tablewright.engine.api.common_members import SHARD_ID, STREAM_ARN
from tablewright.engine.api.operation import STREAMS, ReadOperation
from tablewright.engine.api.shapes import Request, Struct, Text, Whole
from tablewright.engine.errors import invalid, invalid_parameter
from tablewright.engine.journal import first_since
from tablewright.engine.streams.iterators import MOST, iterator_at, refuse_trimmed
from tablewright.engine.streams.shards import DAY, find_shard, find_stream, sequence_number
from tablewright.engine.streams.store import Shard
from tablewright.engine.transaction import ReadTransaction

_BY_NUMBER = ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER")

SHAPE = Struct(
    "GetShardIteratorInput",
    {
        "StreamArn": STREAM_ARN,
        "ShardId": SHARD_ID,
        "ShardIteratorType": Text(one_of=("TRIM_HORIZON", "LATEST", *_BY_NUMBER, "AT_TIMESTAMP")),
        "SequenceNumber": Text(21, 40),
        "Timestamp": Whole(java="Long"),
    },
    required=("StreamArn", "ShardId", "ShardIteratorType"),
)


def get_shard_iterator(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    kind = request["ShardIteratorType"]
    _refuse_mismatch(kind, "SequenceNumber", request.get("SequenceNumber"), _BY_NUMBER)
    _refuse_mismatch(kind, "Timestamp", request.get("Timestamp"), ("AT_TIMESTAMP",))
    with txn.rows.snapshot():
        stream = find_stream(txn, request["StreamArn"])
        shard = find_shard(txn, stream, request["ShardId"])
        position = _position(txn, shard, kind, request)
    return {"ShardIterator": iterator_at(stream, shard, position, txn.now())}


def _refuse_mismatch(kind: str, member: str, given: object, kinds: tuple[str, ...]) -> None:
    if kind in kinds and given is None:
        raise invalid_parameter(f"{member} must be specified when ShardIteratorType is {kind}")
    if kind not in kinds and given is not None:
        raise invalid_parameter(f"{member} must not be specified when ShardIteratorType is {kind}")


def _position(txn: ReadTransaction, shard: Shard, kind: str, request: Request) -> int | None:
    rows, now = txn.rows, txn.now()
    if kind == "TRIM_HORIZON":
        return None
    if kind == "LATEST":
        return (rows.last_sequence()[0] if shard.last is None else shard.last) + 1
    if kind == "AT_TIMESTAMP":
        moment = max(int(request["Timestamp"] * 1_000_000), now - DAY)
        return max(first_since(rows, moment), shard.first)
    seq = _number(request["SequenceNumber"], shard)
    refuse_trimmed(rows, seq, now)
    return seq + (kind == "AFTER_SEQUENCE_NUMBER")


def _number(text: str, shard: Shard) -> int:
    """The journal's number in a sequence number of this shard."""
    seq = int(text) - int(sequence_number(0)) if text.isascii() and text.isdecimal() else -1
    last = MOST if shard.last is None else max(shard.first, shard.last)
    if not shard.first <= seq <= last:
        raise invalid("Invalid SequenceNumber for the shard")
    return seq


OPERATION = ReadOperation("GetShardIterator", SHAPE, get_shard_iterator, service=STREAMS)
