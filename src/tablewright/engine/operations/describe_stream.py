"""DescribeStream: a stream and its shards, oldest first, a page at a time."""

from typing import Any

import orjson

from tablewright.engine.members import SHARD_ID, STREAM_ARN
from tablewright.engine.shapes import Request, Struct, Text, Whole
from tablewright.engine.storage_rows import Shard
from tablewright.engine.streams import find_shard, find_stream, kept_shards, sequence_number, shard_name
from tablewright.engine.writing import Reading

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


def describe_stream(reading: Reading, request: Request) -> dict[str, Any]:
    with reading.rows.snapshot():
        stream = find_stream(reading, request["StreamArn"])
        shards = kept_shards(reading, stream)
        wanted = request.get("ShardFilter")
        if wanted is not None:
            find_shard(reading, stream, wanted["ShardId"])
            shards = [shard for shard in shards if shard.parent == wanted["ShardId"]]
    start, limit = request.get("ExclusiveStartShardId") or "", int(request.get("Limit") or MOST)
    shards = [shard for shard in shards if shard_name(shard) > start]
    shown: dict[str, Any] = {
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
        shown["LastEvaluatedShardId"] = shard_name(shards[limit - 1])
    return {"StreamDescription": shown}


def _described(shard: Shard) -> dict[str, Any]:
    numbers = {"StartingSequenceNumber": sequence_number(shard.first)}
    if shard.last is not None:
        # A shard that took no change ends where it began.
        numbers["EndingSequenceNumber"] = sequence_number(max(shard.first, shard.last))
    shown: dict[str, Any] = {"ShardId": shard_name(shard), "SequenceNumberRange": numbers}
    if shard.parent is not None:
        shown["ParentShardId"] = shard.parent
    return shown
