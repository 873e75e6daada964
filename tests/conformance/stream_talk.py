"""Reading streams as a consumer does: every shard, parents before children, asking again until all is there.

The service shows a change in its stream a moment later; ours shows it at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.conformance.talk import Answered, Json, without_count

VIEWS = ("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")
PATIENCE = 20.0


def specification(view: str | None) -> Json:
    return {"StreamEnabled": False} if view is None else {"StreamEnabled": True, "StreamViewType": view}


def arn_of(answered: Answered, table: str) -> str:
    arn: str = answered("DescribeTable", {"TableName": table})["Table"]["LatestStreamArn"]
    return arn


def shards_of(streams: Any, arn: str) -> list[Json]:
    found: list[Json] = []
    more: Json = {}
    while True:
        described = streams.describe_stream(StreamArn=arn, **more)["StreamDescription"]
        found += described["Shards"]
        if "LastEvaluatedShardId" not in described:
            return found
        more = {"ExclusiveStartShardId": described["LastEvaluatedShardId"]}


def iterator(streams: Any, arn: str, shard: str, kind: str = "TRIM_HORIZON", **more: Any) -> str:
    answer = streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType=kind, **more)
    text: str = answer["ShardIterator"]
    return text


def read(streams: Any, arn: str, count: int) -> list[Json]:
    """The first `count` records of a stream, oldest shard first."""
    give_up = time.monotonic() + PATIENCE
    records: list[Json] = []
    while time.monotonic() < give_up:
        records = [
            record
            for shard in shards_of(streams, arn)
            for record in streams.get_records(ShardIterator=iterator(streams, arn, shard["ShardId"]))[
                "Records"
            ]
        ]
        if len(records) >= count:
            break
        time.sleep(0.2)
    assert len(records) == count, records
    return records


def refusal(call: Callable[..., Any], **request: Any) -> tuple[str, str]:
    """Code and sentence of a call that must fail."""
    with pytest.raises(ClientError) as refused:
        call(**request)
    error = refused.value.response["Error"]
    return error["Code"], without_count(error["Message"])
