"""ListStreams: the streams of one table or of all, a page at a time."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.stream_talk import arn_of, refusal, specification
from tests.conformance.talk import Answered, Json, Line, NewTable, wait_until_active

NEW_IMAGE = specification("NEW_IMAGE")


def listed(streams: Any, **request: Any) -> list[Json]:
    answer: Json = streams.list_streams(**request)
    found: list[Json] = answer["Streams"]
    return found


def test_the_stream_of_a_table_is_listed_with_its_name_and_label(
    streams: Any, answered: Answered, new_table: NewTable
) -> None:
    table = new_table(StreamSpecification=NEW_IMAGE)
    arn = arn_of(answered, table)
    label = arn.rpartition("/")[2]
    assert listed(streams, TableName=table) == [{"StreamArn": arn, "TableName": table, "StreamLabel": label}]


@pytest.mark.parametrize("name", ["", "-never-made"])
def test_a_table_without_a_stream_or_none_at_all_has_an_empty_list(
    streams: Any, new_table: NewTable, name: str
) -> None:
    assert listed(streams, TableName=new_table() + name) == []


def test_a_disabled_stream_stays_on_the_list(
    streams: Any, line: Line, answered: Answered, new_table: NewTable
) -> None:
    table = new_table(StreamSpecification=NEW_IMAGE)
    arns = {arn_of(answered, table)}
    for asked in ({"StreamEnabled": False}, NEW_IMAGE):
        answered("UpdateTable", {"TableName": table, "StreamSpecification": asked})
        wait_until_active(line, table)
        arns.add(arn_of(answered, table))
    assert len(arns) == 2
    assert {one["StreamArn"] for one in listed(streams, TableName=table)} == arns


def test_pages_follow_one_another_without_gap_or_repetition(
    streams: Any, answered: Answered, new_table: NewTable
) -> None:
    mine = {arn_of(answered, new_table(StreamSpecification=NEW_IMAGE)) for _ in range(4)}
    found: list[str] = []
    more: Json = {}
    while True:
        answer = streams.list_streams(Limit=3, **more)
        assert len(answer["Streams"]) <= 3
        found += [one["StreamArn"] for one in answer["Streams"]]
        if "LastEvaluatedStreamArn" not in answer:
            break
        assert answer["LastEvaluatedStreamArn"] == found[-1]
        more = {"ExclusiveStartStreamArn": answer["LastEvaluatedStreamArn"]}
    assert len(found) == len(set(found))
    assert mine <= set(found)


@pytest.mark.parametrize(
    "arn",
    [
        "x" * 40,
        "arn:aws:dynamodb:us-east-1:000000000000:table/pets",
        "arn:aws:dynamodb:us-east-1:000000000000:table/pets/index/stream-by-name",
    ],
)
def test_a_start_that_is_no_stream_is_refused(streams: Any, arn: str) -> None:
    code, words = refusal(streams.list_streams, ExclusiveStartStreamArn=arn)
    assert (code, words) == ("ValidationException", "Invalid StreamArn")


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (
            {"TableName": "ab"},
            "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: "
            "Member must have length greater than or equal to 3",
        ),
        (
            {"TableName": "no/name"},
            "1 validation error detected: Value 'no/name' at 'tableName' failed to satisfy constraint: "
            "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
        ),
        (
            {"Limit": 0},
            "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: "
            "Member must have value greater than or equal to 1",
        ),
        (
            {"ExclusiveStartStreamArn": "arn:short"},
            "1 validation error detected: Value 'arn:short' at 'exclusiveStartStreamArn' failed to satisfy "
            "constraint: Member must have length greater than or equal to 37",
        ),
    ],
)
def test_arguments_have_a_known_form(streams: Any, request_: Json, words: str) -> None:
    assert refusal(streams.list_streams, **request_) == ("ValidationException", words)


def test_a_limit_beyond_a_hundred_is_refused(streams: Any) -> None:
    assert refusal(streams.list_streams, Limit=101)[0] == "ValidationException"
