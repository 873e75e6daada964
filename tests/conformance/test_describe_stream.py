"""DescribeStream: a stream, its view, its keys and its shards.

Elsewhere: shards that roll and split (tests/engine/streams/test_shards.py; an endpoint's clock cannot be moved from
here).
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.conformance.stream_talk import VIEWS, arn_of, refusal, shards_of, specification
from tests.conformance.talk import COMP_TABLE, Answered, Json, Line, NewTable, key_schema, wait_until_active

NOWHERE = "arn:aws:dynamodb:us-east-1:000000000000:table/never-made/stream/2026-01-01T00:00:00.000"
NO_SHARD = "shardId-00000001414562045508-2bac9cd2"


@pytest.fixture(scope="module")
def arn(session_table: NewTable, answered: Answered) -> str:
    """The stream of a table that nobody writes to."""
    return arn_of(answered, session_table(StreamSpecification=specification("NEW_IMAGE")))


def described(streams: Any, arn: str, **more: Any) -> Json:
    description: Json = streams.describe_stream(StreamArn=arn, **more)["StreamDescription"]
    return description


@pytest.mark.parametrize("view", VIEWS)
def test_a_stream_shows_its_table_view_keys_and_state(
    streams: Any, answered: Answered, new_table: NewTable, view: str
) -> None:
    table = new_table(**COMP_TABLE, StreamSpecification=specification(view))
    arn = arn_of(answered, table)
    shown = described(streams, arn)
    created = shown.pop("CreationRequestDateTime")
    made = answered("DescribeTable", {"TableName": table})["Table"]["CreationDateTime"]
    assert abs(created.timestamp() - made) < 60
    assert shown.pop("Shards")
    assert shown == {
        "StreamArn": arn,
        "StreamLabel": arn.rpartition("/")[2],
        "StreamStatus": "ENABLED",
        "StreamViewType": view,
        "TableName": table,
        "KeySchema": key_schema("pk", "sk"),
    }


def test_an_open_shard_has_a_beginning_and_no_end(streams: Any, arn: str) -> None:
    for shard in shards_of(streams, arn):
        assert re.fullmatch(r"shardId-\d{20}-[0-9a-f]{8}", shard["ShardId"])
        assert shard["SequenceNumberRange"].keys() == {"StartingSequenceNumber"}
        assert re.fullmatch(r"\d{21,40}", shard["SequenceNumberRange"]["StartingSequenceNumber"])


@pytest.mark.parametrize("ending", ["disabled", "table deleted"])
def test_a_stream_that_has_ended_is_disabled_and_its_shards_have_an_end(
    streams: Any, line: Line, answered: Answered, new_table: NewTable, ending: str
) -> None:
    table = new_table(StreamSpecification=specification("NEW_IMAGE"))
    arn = arn_of(answered, table)
    if ending == "disabled":
        answered("UpdateTable", {"TableName": table, "StreamSpecification": specification(None)})
        wait_until_active(line, table)
    else:
        answered("DeleteTable", {"TableName": table})
    shown = described(streams, arn)
    assert shown["StreamStatus"] in ("DISABLING", "DISABLED")
    assert shown["TableName"] == table
    for shard in shown["Shards"]:
        numbers = shard["SequenceNumberRange"]
        assert int(numbers["EndingSequenceNumber"]) >= int(numbers["StartingSequenceNumber"])


def test_shards_come_a_page_at_a_time(streams: Any, arn: str) -> None:
    every = [shard["ShardId"] for shard in shards_of(streams, arn)]
    first = described(streams, arn, Limit=1)
    assert [shard["ShardId"] for shard in first["Shards"]] == every[:1]
    assert first.get("LastEvaluatedShardId") == (every[0] if len(every) > 1 else None)
    rest = described(streams, arn, ExclusiveStartShardId=every[0])
    assert [shard["ShardId"] for shard in rest["Shards"]] == every[1:]


def test_a_shard_without_children_has_none(streams: Any, arn: str) -> None:
    shard = shards_of(streams, arn)[0]["ShardId"]
    shown = described(streams, arn, ShardFilter={"Type": "CHILD_SHARDS", "ShardId": shard})
    assert shown["Shards"] == []


def test_a_stream_that_is_not_there_is_not_found(streams: Any) -> None:
    assert refusal(streams.describe_stream, StreamArn=NOWHERE) == (
        "ResourceNotFoundException",
        f"Requested resource not found: Stream: {NOWHERE} not found",
    )


def test_an_arn_that_is_not_of_a_stream_is_refused(streams: Any) -> None:
    text = "not the name of a stream, but long enough"
    assert refusal(streams.describe_stream, StreamArn=text) == ("ValidationException", "Invalid StreamArn")


def constraint(value: str, member: str, words: str) -> str:
    return (
        f"1 validation error detected: Value {value} at '{member}' failed to satisfy constraint: "
        f"Member must {words}"
    )


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"StreamArn": None}, constraint("null", "streamArn", "not be null")),
        (
            {"StreamArn": "fake-stream"},
            constraint("'fake-stream'", "streamArn", "have length greater than or equal to 37"),
        ),
        ({"Limit": 0}, constraint("'0'", "limit", "have value greater than or equal to 1")),
        (
            {"ExclusiveStartShardId": "short"},
            constraint("'short'", "exclusiveStartShardId", "have length greater than or equal to 28"),
        ),
        (
            {"ShardFilter": {"Type": "PARENTS", "ShardId": NO_SHARD}},
            constraint("'PARENTS'", "shardFilter.type", "satisfy enum value set: [CHILD_SHARDS]"),
        ),
    ],
)
def test_arguments_have_a_known_form(streams: Any, request_: Json, words: str) -> None:
    asked = {"StreamArn": NOWHERE, **request_}
    asked = {name: value for name, value in asked.items() if value is not None}
    assert refusal(streams.describe_stream, **asked) == ("ValidationException", words)
