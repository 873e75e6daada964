"""Reading streams in tests: all shards of a stream, parents before children, each to its end."""

from base64 import urlsafe_b64decode
from typing import Any

import orjson
from tests.engine.tables import definition

from tablewright import Engine

Json = dict[str, Any]


def streamed(name: str = "pets", view: str = "NEW_AND_OLD_IMAGES", ranged: bool = False) -> Json:
    """The definition of a table with a stream."""
    specification = {"StreamEnabled": True, "StreamViewType": view}
    return definition(name, ranged=ranged) | {"StreamSpecification": specification}


def enable(name: str = "pets", view: str | None = "NEW_AND_OLD_IMAGES") -> Json:
    """An UpdateTable that enables a stream, or disables it without a view."""
    specification: Json = {"StreamEnabled": view is not None}
    if view is not None:
        specification["StreamViewType"] = view
    return {"TableName": name, "StreamSpecification": specification}


def arn_of(engine: Engine, table: str = "pets") -> str:
    arn: str = engine.call("DescribeTable", {"TableName": table})["Table"]["LatestStreamArn"]
    return arn


def shards(engine: Engine, arn: str) -> list[Json]:
    found: list[Json] = []
    request: Json = {"StreamArn": arn}
    while True:
        described = engine.call("DescribeStream", request)["StreamDescription"]
        found += described["Shards"]
        if "LastEvaluatedShardId" not in described:
            return found
        request["ExclusiveStartShardId"] = described["LastEvaluatedShardId"]


def is_open(shard: Json) -> bool:
    return "EndingSequenceNumber" not in shard["SequenceNumberRange"]


def iterator(engine: Engine, arn: str, shard: str, kind: str = "TRIM_HORIZON", **more: Any) -> str:
    request = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": kind, **more}
    text: str = engine.call("GetShardIterator", request)["ShardIterator"]
    return text


def read_from(engine: Engine, start: str, limit: int = 1000) -> tuple[list[Json], bool]:
    """The records from an iterator on until nothing comes; whether the shard's end was reached."""
    records: list[Json] = []
    here: str | None = start
    while here is not None:
        answer = engine.call("GetRecords", {"ShardIterator": here, "Limit": limit})
        records += answer["Records"]
        after = answer.get("NextShardIterator")
        if after is not None and not answer["Records"] and position(after) == position(here):
            return records, False
        here = after
    return records, True


def position(text: str) -> int | None:
    """Where an iterator stands; a page may be empty because it stops where nothing more has happened yet."""
    number: int | None = orjson.loads(urlsafe_b64decode(text.rpartition("|")[2]))[1]
    return number


def read_shard(engine: Engine, arn: str, shard: str, limit: int = 1000) -> list[Json]:
    return read_from(engine, iterator(engine, arn, shard), limit)[0]


def read_all(engine: Engine, arn: str, limit: int = 1000) -> list[Json]:
    """Every record of a stream; shards come oldest first, so parents come before their children."""
    return [r for shard in shards(engine, arn) for r in read_shard(engine, arn, shard["ShardId"], limit)]


def names(records: list[Json]) -> list[tuple[str, str]]:
    """What happened to whom."""
    return [(record["eventName"], record["dynamodb"]["Keys"]["pk"]["S"]) for record in records]
