"""ExportTableToPointInTime with a FilterSpecification: key condition, filter and projection."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.talk import COMP_TABLE, Answered, Json, NewTable, Refused
from tests.conformance.transfer_talk import enable_recovery, exported, lines


@pytest.fixture
def table(new_table: NewTable, answered: Answered) -> str:
    """Two partitions of six items, with the attributes n and m.deep."""
    made = new_table(**COMP_TABLE)
    enable_recovery(answered, made)
    for pk in ("a", "b"):
        for n in range(6):
            answered("PutItem", {"TableName": made, "Item": row(pk, n)})
    return made


def row(pk: str, n: int) -> Json:
    deep = {"M": {"deep": {"S": f"{pk}{n}"}, "loud": {"BOOL": True}}}
    return {"pk": {"S": pk}, "sk": {"S": f"s{n}"}, "n": {"N": str(n)}, "m": deep}


def request(answered: Answered, table: str, bucket: str, **only: Any) -> Json:
    arn = answered("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    return {"TableArn": arn, "S3Bucket": bucket, "FilterSpecification": only}


def run(answered: Answered, buckets: Path, table: str, **only: Any) -> tuple[Json, list[Json]]:
    """The description of the export, and its items in the order of their texts."""
    bucket = f"bucket-{uuid.uuid4().hex}"
    begun = answered("ExportTableToPointInTime", request(answered, table, bucket, **only))[
        "ExportDescription"
    ]
    told = exported(answered, begun["ExportArn"])
    found = [line["Item"] for path in (buckets / bucket).rglob("*.json.gz") for line in lines(path)]
    return told, sorted(found, key=lambda one: json.dumps(one, sort_keys=True))


def ordered(items: list[Json]) -> list[Json]:
    return sorted(items, key=lambda one: json.dumps(one, sort_keys=True))


def test_a_filter_leaves_out_what_does_not_match(answered: Answered, buckets: Path, table: str) -> None:
    only = {
        "FilterExpression": "#n >= :four AND m.loud = :yes",
        "ExpressionAttributeNames": {"#n": "n"},
        "ExpressionAttributeValues": {":four": {"N": "4"}, ":yes": {"BOOL": True}},
    }
    told, found = run(answered, buckets, table, **only)
    assert found == ordered([row(pk, n) for pk in ("a", "b") for n in (4, 5)])
    assert (told["ExportStatus"], told["ItemCount"]) == ("COMPLETED", 4)
    assert told["FilterSpecification"] == only


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("pk = :p", {}, range(6)),
        ("pk = :p AND sk = :s", {":s": {"S": "s3"}}, [3]),
        ("pk = :p AND sk < :s", {":s": {"S": "s3"}}, range(3)),
        ("pk = :p AND sk > :s", {":s": {"S": "s3"}}, [4, 5]),
        ("pk = :p AND sk BETWEEN :s AND :t", {":s": {"S": "s1"}, ":t": {"S": "s2"}}, [1, 2]),
        ("pk = :p AND begins_with(sk, :s)", {":s": {"S": "s"}}, range(6)),
        ("pk = :p AND begins_with(sk, :s)", {":s": {"S": "t"}}, []),
    ],
)
def test_a_key_condition_is_that_of_a_query(
    answered: Answered, buckets: Path, table: str, text: str, values: Json, expected: list[int]
) -> None:
    given = {":p": {"S": "b"}, **values}
    told, found = run(answered, buckets, table, KeyConditionExpression=text, ExpressionAttributeValues=given)
    assert found == ordered([row("b", n) for n in expected])
    assert told["ItemCount"] == len(expected)


def test_a_filter_may_test_keys_unless_there_is_a_key_condition(
    answered: Answered, refused: Refused, buckets: Path, table: str
) -> None:
    values = {":s": {"S": "s2"}}
    _, found = run(answered, buckets, table, FilterExpression="sk = :s", ExpressionAttributeValues=values)
    assert found == ordered([row("a", 2), row("b", 2)])
    both = {
        "KeyConditionExpression": "pk = :p",
        "FilterExpression": "sk = :s",
        "ExpressionAttributeValues": {":p": {"S": "a"}, **values},
    }
    code, message = refused("ExportTableToPointInTime", request(answered, table, "some-bucket", **both))
    words = "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk"
    assert (code, message) == ("ValidationException", words)


def test_a_projection_has_the_attributes_it_names(answered: Answered, buckets: Path, table: str) -> None:
    only = {
        "KeyConditionExpression": "pk = :p AND sk <= :s",
        "FilterExpression": "n > :zero",
        "ProjectionExpression": "sk, m.deep, nowhere",
        "ExpressionAttributeValues": {":p": {"S": "a"}, ":s": {"S": "s2"}, ":zero": {"N": "0"}},
    }
    _, found = run(answered, buckets, table, **only)
    assert found == [{"sk": {"S": f"s{n}"}, "m": {"M": {"deep": {"S": f"a{n}"}}}} for n in (1, 2)]


def test_without_an_expression_everything_is_exported(answered: Answered, buckets: Path, table: str) -> None:
    assert run(answered, buckets, table)[0]["ItemCount"] == 12


@pytest.mark.parametrize(
    ("only", "words"),
    [
        ({"FilterExpression": "n >"}, "Invalid FilterExpression: Syntax error"),
        ({"FilterExpression": "n > :x"}, "An expression attribute value used in expression is not defined"),
        ({"ProjectionExpression": "n, n"}, "Invalid ProjectionExpression"),
        (
            {"KeyConditionExpression": "sk = :x", "ExpressionAttributeValues": {":x": {"S": "x"}}},
            "Query condition missed key schema element: pk",
        ),
        (
            {"KeyConditionExpression": "pk > :x", "ExpressionAttributeValues": {":x": {"S": "x"}}},
            "Query key condition not supported",
        ),
        (
            {"KeyConditionExpression": "pk = :x", "ExpressionAttributeValues": {":x": {"N": "1"}}},
            "Condition parameter type does not match schema type",
        ),
        ({"FilterExpression": "n = m", "ExpressionAttributeNames": {"#x": "x"}}, "unused in expressions"),
        ({"ExpressionAttributeNames": {"#x": "x"}}, "can only be specified when using expressions"),
        ({"ProjectionExpression": "pk.a"}, "Key attributes must be scalars"),
    ],
)
def test_a_wrong_filter_is_refused_like_that_of_a_query(
    answered: Answered, refused: Refused, buckets: Path, table: str, only: Json, words: str
) -> None:
    code, message = refused("ExportTableToPointInTime", request(answered, table, "some-bucket", **only))
    assert (code, words in message) == ("ValidationException", True), message
