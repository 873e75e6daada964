"""The verbs of DynamoDB Streams: ListStreams, DescribeStream, GetShardIterator, GetRecords.

GetRecords reads a bounded part of the journal, so a page may be empty although more records follow: the answer has a
next iterator until a closed shard has been read to its end.
"""

from typing import Any

import orjson

from tablewright.engine.api.common_members import INDEX_NAME, SHARD_ID, STREAM_ARN
from tablewright.engine.api.operation import read_verb
from tablewright.engine.api.shapes import Answer, Request, Struct, Text, Whole
from tablewright.engine.errors import invalid, invalid_parameter, resource_not_found
from tablewright.engine.journal import first_since
from tablewright.engine.limits import LIST_PAGE, PAGE_BYTES
from tablewright.engine.streams.iterators import MOST, Iterator, iterator_at, read_iterator, refuse_trimmed
from tablewright.engine.streams.records import key_names, record
from tablewright.engine.streams.shards import (
    DAY,
    find_shard,
    find_stream,
    is_readable,
    readable_shards,
    refuse_bad_arn,
    sequence_number,
    shard_name,
)
from tablewright.engine.streams.store import Shard, Stream, streams
from tablewright.engine.transaction import ReadTransaction


@read_verb(
    "ListStreams",
    # The name of a table, never an ARN: the same pattern as an index name.
    {"TableName": INDEX_NAME, "Limit": Whole(least=1, most=LIST_PAGE), "ExclusiveStartStreamArn": STREAM_ARN},
)
def list_streams(txn: ReadTransaction, request: Request) -> Answer:
    table, start = request.get("TableName"), request.get("ExclusiveStartStreamArn") or ""
    if start:
        refuse_bad_arn(start)
    limit, now = int(request.get("Limit") or LIST_PAGE), txn.now_us()
    found = [
        stream
        for stream in streams(txn.rows)
        if stream.arn > start and table in (None, stream.table) and is_readable(stream, now)
    ]
    listed = [
        {"StreamArn": stream.arn, "TableName": stream.table, "StreamLabel": stream.label}
        for stream in found[:limit]
    ]
    answer: Answer = {"Streams": listed}
    if len(found) > limit:
        answer["LastEvaluatedStreamArn"] = found[limit - 1].arn
    return answer


@read_verb(
    "DescribeStream",
    {
        "StreamArn": STREAM_ARN,
        "Limit": Whole(least=1, most=LIST_PAGE),
        "ExclusiveStartShardId": SHARD_ID,
        "ShardFilter": Struct(
            "ShardFilter",
            {"Type": Text(one_of=("CHILD_SHARDS",)), "ShardId": SHARD_ID},
            required=("Type", "ShardId"),
        ),
    },
    required=("StreamArn",),
)
def describe_stream(txn: ReadTransaction, request: Request) -> Answer:
    with txn.rows.snapshot():
        stream = find_stream(txn, request["StreamArn"])
        shards = readable_shards(txn, stream)
        wanted = request.get("ShardFilter")
        if wanted is not None:
            find_shard(txn, stream, wanted["ShardId"])
            shards = [shard for shard in shards if shard.parent == wanted["ShardId"]]
    start, limit = request.get("ExclusiveStartShardId") or "", int(request.get("Limit") or LIST_PAGE)
    shards = [shard for shard in shards if shard_name(shard) > start]
    description: dict[str, Any] = {
        "StreamArn": stream.arn,
        "StreamLabel": stream.label,
        "StreamStatus": "ENABLED" if stream.closed is None else "DISABLED",
        "StreamViewType": stream.view,
        "CreationRequestDateTime": stream.at // 1000 / 1000,
        "TableName": stream.table,
        "KeySchema": orjson.loads(stream.keys),
        "Shards": [_described(shard) for shard in shards[:limit]],
    }
    if len(shards) > limit:
        description["LastEvaluatedShardId"] = shard_name(shards[limit - 1])
    return {"StreamDescription": description}


def _described(shard: Shard) -> Answer:
    numbers = {"StartingSequenceNumber": sequence_number(shard.first)}
    if shard.last is not None:
        # A shard that took no change ends where it began.
        numbers["EndingSequenceNumber"] = sequence_number(max(shard.first, shard.last))
    description: dict[str, Any] = {"ShardId": shard_name(shard), "SequenceNumberRange": numbers}
    if shard.parent is not None:
        description["ParentShardId"] = shard.parent
    return description


_BY_NUMBER = ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER")


@read_verb(
    "GetShardIterator",
    {
        "StreamArn": STREAM_ARN,
        "ShardId": SHARD_ID,
        "ShardIteratorType": Text(one_of=("TRIM_HORIZON", "LATEST", *_BY_NUMBER, "AT_TIMESTAMP")),
        "SequenceNumber": Text(21, 40),
        "Timestamp": Whole(java="Long"),
    },
    required=("StreamArn", "ShardId", "ShardIteratorType"),
)
def get_shard_iterator(txn: ReadTransaction, request: Request) -> Answer:
    kind = request["ShardIteratorType"]
    _refuse_mismatch(kind, "SequenceNumber", request.get("SequenceNumber"), _BY_NUMBER)
    _refuse_mismatch(kind, "Timestamp", request.get("Timestamp"), ("AT_TIMESTAMP",))
    with txn.rows.snapshot():
        stream = find_stream(txn, request["StreamArn"])
        shard = find_shard(txn, stream, request["ShardId"])
        position = _position(txn, shard, kind, request)
    return {"ShardIterator": iterator_at(stream, shard, position, txn.now_us())}


def _refuse_mismatch(kind: str, member: str, given: object, kinds: tuple[str, ...]) -> None:
    if kind in kinds and given is None:
        raise invalid_parameter(f"{member} must be specified when ShardIteratorType is {kind}")
    if kind not in kinds and given is not None:
        raise invalid_parameter(f"{member} must not be specified when ShardIteratorType is {kind}")


def _position(txn: ReadTransaction, shard: Shard, kind: str, request: Request) -> int | None:
    rows, now = txn.rows, txn.now_us()
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


RECORDS = 1000
# Journal rows that one call reads, of all tables: about 30 ms where none of them is of the shard.
LOOKED_AT = 100_000


@read_verb(
    "GetRecords", {"ShardIterator": Text(1, 2048), "Limit": Whole(least=1)}, required=("ShardIterator",)
)
def get_records(txn: ReadTransaction, request: Request) -> Answer:
    now = txn.now_us()
    limit = int(request.get("Limit") or RECORDS)
    iterator = read_iterator(request["ShardIterator"], now)
    if limit > RECORDS:
        raise invalid_parameter(f"Limit should be less than or equal to {RECORDS}")
    with txn.rows.snapshot():
        stream = find_stream(txn, iterator.stream)
        shard = _shard(txn, stream, iterator)
        start = _start(txn, shard, iterator, now)
        records, position = _read(txn, stream, shard, start, limit)
    answer: Answer = {"Records": records}
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
