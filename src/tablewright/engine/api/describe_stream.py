"""DescribeStream: a stream and its shards, oldest first, a page at a time."""

from typing import Any

import orjson

from tablewright.engine.api.common_members import SHARD_ID, STREAM_ARN
from tablewright.engine.api.operation import STREAMS, ReadOperation
from tablewright.engine.api.shapes import Request, Struct, Text, Whole
from tablewright.engine.streams.shards import (
    find_shard,
    find_stream,
    readable_shards,
    sequence_number,
    shard_name,
)
from tablewright.engine.streams.store import Shard
from tablewright.engine.transaction import ReadTransaction

MOST = 100

SHAPE = Struct(
    "DescribeStreamInput",
    {
        "StreamArn": STREAM_ARN,
        "Limit": Whole(least=1, most=MOST),
        "ExclusiveStartShardId": SHARD_ID,
        "ShardFilter": Struct(
            "ShardFilter",
            {"Type": Text(one_of=("CHILD_SHARDS",)), "ShardId": SHARD_ID},
            required=("Type", "ShardId"),
        ),
    },
    required=("StreamArn",),
)


def describe_stream(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    with txn.rows.snapshot():
        stream = find_stream(txn, request["StreamArn"])
        shards = readable_shards(txn, stream)
        wanted = request.get("ShardFilter")
        if wanted is not None:
            find_shard(txn, stream, wanted["ShardId"])
            shards = [shard for shard in shards if shard.parent == wanted["ShardId"]]
    start, limit = request.get("ExclusiveStartShardId") or "", int(request.get("Limit") or MOST)
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


def _described(shard: Shard) -> dict[str, Any]:
    numbers = {"StartingSequenceNumber": sequence_number(shard.first)}
    if shard.last is not None:
        # A shard that took no change ends where it began.
        numbers["EndingSequenceNumber"] = sequence_number(max(shard.first, shard.last))
    description: dict[str, Any] = {"ShardId": shard_name(shard), "SequenceNumberRange": numbers}
    if shard.parent is not None:
        description["ParentShardId"] = shard.parent
    return description


OPERATION = ReadOperation("DescribeStream", SHAPE, describe_stream, service=STREAMS)
