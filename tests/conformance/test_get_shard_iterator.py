"""GetShardIterator: where reading begins, and what is refused as a place to begin."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.stream_talk import arn_of, iterator, read, refusal, shards_of, specification
from tests.conformance.talk import Answered, Json, NewTable

NOWHERE = "arn:aws:dynamodb:us-east-1:000000000000:table/never-made/stream/2026-01-01T00:00:00.000"
NO_SHARD = "shardId-00000001414562045508-2bac9cd2"
TYPES = "[TRIM_HORIZON, LATEST, AT_SEQUENCE_NUMBER, AFTER_SEQUENCE_NUMBER, AT_TIMESTAMP]"


@pytest.fixture(scope="module")
def table(session_table: NewTable, answered: Answered) -> str:
    """Three changes of one item: one shard holds them all."""
    name = session_table(StreamSpecification=specification("NEW_IMAGE"))
    for number in range(3):
        put(answered, name, number)
    return name


def put(answered: Answered, table: str, number: int) -> None:
    answered("PutItem", {"TableName": table, "Item": {"pk": {"S": "rex"}, "n": {"N": str(number)}}})


@pytest.fixture(scope="module")
def arn(table: str, answered: Answered) -> str:
    return arn_of(answered, table)


@pytest.fixture(scope="module")
def records(streams: Any, arn: str) -> list[Json]:
    return read(streams, arn, 3)


@pytest.fixture(scope="module")
def shard(streams: Any, arn: str, records: list[Json]) -> str:
    """The shard that holds the changes."""
    for one in shards_of(streams, arn):
        name: str = one["ShardId"]
        if streams.get_records(ShardIterator=iterator(streams, arn, name))["Records"]:
            return name
    raise AssertionError("no shard holds them")


def numbers(streams: Any, start: str) -> list[str]:
    records = streams.get_records(ShardIterator=start)["Records"]
    return [record["dynamodb"]["NewImage"]["n"]["N"] for record in records]


@pytest.mark.parametrize(
    ("kind", "at", "expected"),
    [
        ("TRIM_HORIZON", None, ["0", "1", "2"]),
        ("LATEST", None, []),
        ("AT_SEQUENCE_NUMBER", 0, ["0", "1", "2"]),
        ("AT_SEQUENCE_NUMBER", 1, ["1", "2"]),
        ("AFTER_SEQUENCE_NUMBER", 1, ["2"]),
        ("AFTER_SEQUENCE_NUMBER", 2, []),
    ],
)
def test_each_type_begins_where_it_says(
    streams: Any, arn: str, shard: str, records: list[Json], kind: str, at: int | None, expected: list[str]
) -> None:
    more = {} if at is None else {"SequenceNumber": records[at]["dynamodb"]["SequenceNumber"]}
    assert numbers(streams, iterator(streams, arn, shard, kind, **more)) == expected


def test_the_number_a_shard_begins_with_may_be_asked_for(
    streams: Any, arn: str, shard: str, records: list[Json]
) -> None:
    (shown,) = [one for one in shards_of(streams, arn) if one["ShardId"] == shard]
    first = shown["SequenceNumberRange"]["StartingSequenceNumber"]
    start = iterator(streams, arn, shard, "AT_SEQUENCE_NUMBER", SequenceNumber=first)
    assert numbers(streams, start) == ["0", "1", "2"]


def test_latest_begins_after_all_there_is(streams: Any, answered: Answered, new_table: NewTable) -> None:
    table = new_table(StreamSpecification=specification("NEW_IMAGE"))
    arn = arn_of(answered, table)
    put(answered, table, 1)
    read(streams, arn, 1)
    starts = [iterator(streams, arn, one["ShardId"], "LATEST") for one in shards_of(streams, arn)]
    put(answered, table, 2)
    read(streams, arn, 2)
    assert [n for start in starts for n in numbers(streams, start)] == ["2"]


def ask(arn: str, shard: str, kind: str, **more: Any) -> Json:
    return {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": kind, **more}


def test_a_stream_that_is_not_there_is_not_found(streams: Any) -> None:
    code, message = refusal(streams.get_shard_iterator, **ask(NOWHERE, NO_SHARD, "LATEST"))
    assert code == "ResourceNotFoundException"
    assert message.startswith("Requested resource not found: Stream")


def test_a_shard_that_is_not_there_is_not_found(streams: Any, arn: str) -> None:
    assert refusal(streams.get_shard_iterator, **ask(arn, NO_SHARD, "LATEST")) == (
        "ResourceNotFoundException",
        "Requested resource not found: Shard does not exist",
    )


@pytest.mark.parametrize("kind", ["AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"])
def test_a_type_that_needs_a_number_is_refused_without_one(
    streams: Any, arn: str, shard: str, kind: str
) -> None:
    assert refusal(streams.get_shard_iterator, **ask(arn, shard, kind))[0] == "ValidationException"


@pytest.mark.parametrize("kind", ["TRIM_HORIZON", "LATEST"])
def test_a_type_that_needs_no_number_is_refused_with_one(
    streams: Any, arn: str, shard: str, records: list[Json], kind: str
) -> None:
    asked = ask(arn, shard, kind, SequenceNumber=records[0]["dynamodb"]["SequenceNumber"])
    assert refusal(streams.get_shard_iterator, **asked)[0] == "ValidationException"


@pytest.mark.parametrize("number", ["0" * 21, "x" * 21, "-" + "1" * 20, "٣" * 21])
def test_a_number_that_is_not_of_the_shard_is_refused(
    streams: Any, arn: str, shard: str, number: str
) -> None:
    asked = ask(arn, shard, "AT_SEQUENCE_NUMBER", SequenceNumber=number)
    code, _ = refusal(streams.get_shard_iterator, **asked)
    assert code in ("ValidationException", "TrimmedDataAccessException")


@pytest.mark.parametrize(
    ("member", "value", "words"),
    [
        ("ShardIteratorType", "NEWEST", f"satisfy enum value set: {TYPES}"),
        ("ShardId", "short", "have length greater than or equal to 28"),
        ("ShardId", "x" * 66, "have length less than or equal to 65"),
        ("SequenceNumber", "1" * 20, "have length greater than or equal to 21"),
        ("SequenceNumber", "1" * 41, "have length less than or equal to 40"),
        ("StreamArn", "short", "have length greater than or equal to 37"),
    ],
)
def test_arguments_have_a_known_form(
    streams: Any, arn: str, shard: str, member: str, value: str, words: str
) -> None:
    asked = ask(arn, shard, "AT_SEQUENCE_NUMBER", SequenceNumber="1" * 21) | {member: value}
    path = member[0].lower() + member[1:]
    expected = (
        f"1 validation error detected: Value '{value}' at '{path}' failed to satisfy constraint: "
        f"Member must {words}"
    )
    assert refusal(streams.get_shard_iterator, **asked) == ("ValidationException", expected)


@pytest.mark.parametrize("member", ["StreamArn", "ShardId", "ShardIteratorType"])
def test_three_arguments_are_required(streams: Any, arn: str, shard: str, member: str) -> None:
    asked = ask(arn, shard, "LATEST")
    del asked[member]
    path = member[0].lower() + member[1:]
    assert refusal(streams.get_shard_iterator, **asked) == (
        "ValidationException",
        f"1 validation error detected: Value null at '{path}' failed to satisfy constraint: "
        "Member must not be null",
    )
