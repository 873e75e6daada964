"""Clients that are not ours, against our server: boto3's resource API and the `aws` command.

They speak as their users use them: batches that collect themselves, conditions built from objects, waiters and
paginators, JSON from a shell. Between them they create tables, write, ask, are refused, and
clean up.
Elsewhere: the low-level client, verb by verb (tests/conformance).
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pytest
from boto3.dynamodb.conditions import Attr, Key
from botocore.exceptions import ClientError
from tests.cli.command import Ran

from tablewright import testing
from tablewright.wire import serving

CREDENTIALS = {"aws_access_key_id": "any", "aws_secret_access_key": "thing", "region_name": "us-east-1"}


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """A server on a store on disk, verified in the end."""
    with testing.engine(tmp_path / "store") as engine, serving(engine) as url:
        yield url


# --- boto3's resource API ---


@pytest.fixture
def dynamodb(url: str) -> Iterator[Any]:
    resource = boto3.resource("dynamodb", endpoint_url=url, **CREDENTIALS)
    yield resource
    resource.meta.client.close()


@pytest.fixture
def music(dynamodb: Any) -> Any:
    """A table of songs by artist and title, with an index by genre and year."""
    table = dynamodb.create_table(
        TableName="music",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[
            {"AttributeName": "artist", "KeyType": "HASH"},
            {"AttributeName": "title", "KeyType": "RANGE"},
        ],
        AttributeDefinitions=[
            {"AttributeName": "artist", "AttributeType": "S"},
            {"AttributeName": "title", "AttributeType": "S"},
            {"AttributeName": "genre", "AttributeType": "S"},
            {"AttributeName": "year", "AttributeType": "N"},
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-genre",
                "KeySchema": [
                    {"AttributeName": "genre", "KeyType": "HASH"},
                    {"AttributeName": "year", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    table.wait_until_exists()
    return table


def song(number: int) -> dict[str, Any]:
    return {
        "artist": "The Tables",
        "title": f"Song {number:03}",
        "genre": "rock" if number % 2 else "jazz",
        "year": 1960 + number,
        "rating": Decimal("4.5"),
        "tags": {"a", "b"},
        "bytes": b"\0\xff",
        "credits": {"drums": ["Ann", None, True]},
    }


def test_an_object_comes_back_as_the_object_it_was(music: Any) -> None:
    music.put_item(Item=song(1))
    assert music.get_item(Key={"artist": "The Tables", "title": "Song 001"})["Item"] == song(1)


def test_a_batch_writer_writes_more_than_one_batch_and_drops_its_duplicates(music: Any) -> None:
    with music.batch_writer(overwrite_by_pkeys=["artist", "title"]) as batch:
        for number in range(60):
            batch.put_item(Item=song(number))
            batch.put_item(Item=song(number))
        batch.delete_item(Key={"artist": "The Tables", "title": "Song 007"})
    assert music.scan(Select="COUNT")["Count"] == 59
    music.reload()
    assert music.item_count == 59


def test_queries_are_built_from_objects_in_both_directions_and_on_an_index(music: Any) -> None:
    with music.batch_writer() as batch:
        for number in range(10):
            batch.put_item(Item=song(number))
    first = music.query(
        KeyConditionExpression=Key("artist").eq("The Tables") & Key("title").begins_with("Song 00")
    )
    assert [item["title"] for item in first["Items"]] == [f"Song 00{number}" for number in range(10)]
    rock = music.query(
        IndexName="by-genre",
        KeyConditionExpression=Key("genre").eq("rock") & Key("year").between(1962, 1968),
        FilterExpression=Attr("rating").gt(4) & Attr("tags").contains("a"),
        ScanIndexForward=False,
        ProjectionExpression="title, #y",
        ExpressionAttributeNames={"#y": "year"},
    )
    assert [int(item["year"]) for item in rock["Items"]] == [1967, 1965, 1963]


def test_pages_follow_each_other_until_there_are_no_more(music: Any) -> None:
    with music.batch_writer() as batch:
        for number in range(10):
            batch.put_item(Item=song(number))
    titles: list[str] = []
    more: dict[str, Any] = {}
    while True:
        page = music.scan(Limit=3, **more)
        titles += [item["title"] for item in page["Items"]]
        if "LastEvaluatedKey" not in page:
            break
        more = {"ExclusiveStartKey": page["LastEvaluatedKey"]}
    assert sorted(titles) == [f"Song 00{number}" for number in range(10)]
    pages = music.meta.client.get_paginator("query").paginate(
        TableName="music",
        KeyConditionExpression=Key("artist").eq("The Tables"),
        PaginationConfig={"PageSize": 4},
    )
    assert [len(page["Items"]) for page in pages] == [4, 4, 2]


def test_a_condition_that_fails_is_the_exception_the_sdk_knows(music: Any) -> None:
    music.put_item(Item=song(1), ConditionExpression=Attr("artist").not_exists())
    failed = music.meta.client.exceptions.ConditionalCheckFailedException
    with pytest.raises(failed) as refused:
        music.put_item(
            Item=song(1) | {"year": 2000},
            ConditionExpression=Attr("artist").not_exists() | Attr("year").lt(1900),
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert refused.value.response["Item"]["year"] == {"N": "1961"}
    assert music.get_item(Key={"artist": "The Tables", "title": "Song 001"})["Item"]["year"] == 1961


def test_an_update_answers_what_it_made(music: Any) -> None:
    music.put_item(Item=song(1))
    updated = music.update_item(
        Key={"artist": "The Tables", "title": "Song 001"},
        UpdateExpression="SET rating = rating + :half ADD tags :more REMOVE genre",
        ExpressionAttributeValues={":half": Decimal("0.5"), ":more": {"c"}},
        ReturnValues="ALL_NEW",
    )["Attributes"]
    assert (updated["rating"], updated["tags"], "genre" in updated) == (5, {"a", "b", "c"}, False)
    by_genre = Key("genre").eq("rock")
    assert music.query(IndexName="by-genre", KeyConditionExpression=by_genre)["Items"] == []


def test_a_transaction_that_is_canceled_says_why_and_does_nothing(dynamodb: Any, music: Any) -> None:
    client = dynamodb.meta.client
    put = {"Put": {"TableName": "music", "Item": song(1)}}
    check = {
        "ConditionCheck": {
            "TableName": "music",
            "Key": {"artist": "Nobody", "title": "Nothing"},
            "ConditionExpression": "attribute_exists(artist)",
        }
    }
    with pytest.raises(client.exceptions.TransactionCanceledException) as canceled:
        client.transact_write_items(TransactItems=[put, check])
    codes = [reason["Code"] for reason in canceled.value.response["CancellationReasons"]]
    assert codes == ["None", "ConditionalCheckFailed"]
    assert music.scan()["Items"] == []
    client.transact_write_items(TransactItems=[put])
    assert music.scan()["Count"] == 1


def test_a_table_that_was_deleted_is_gone(dynamodb: Any, music: Any) -> None:
    assert [table.name for table in dynamodb.tables.all()] == ["music"]
    music.delete()
    music.wait_until_not_exists()
    with pytest.raises(ClientError) as refused:
        music.put_item(Item=song(1))
    assert refused.value.response["Error"]["Code"] == "ResourceNotFoundException"
    assert list(dynamodb.tables.all()) == []


# --- the aws command ---


class Aws:
    """The `aws` command, in an environment of its own; all commands of a test in one process.

    To begin a process and to import the command took most of the time of each.
    """

    def __init__(self, url: str, home: Path) -> None:
        self._options = ["dynamodb", "--endpoint-url", url]
        self._process = subprocess.Popen(
            [sys.executable, "-c", RUNNER],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "AWS_ACCESS_KEY_ID": "any",
                "AWS_SECRET_ACCESS_KEY": "thing",
                "AWS_DEFAULT_REGION": "us-east-1",
                "AWS_MAX_ATTEMPTS": "1",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, verb: str, *arguments: str) -> Ran:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([*self._options, verb, *arguments]), file=self._process.stdin, flush=True)
        return Ran(*json.loads(self._process.stdout.readline()))

    def __call__(self, verb: str, *arguments: str) -> Any:
        """What it prints, as JSON; it must not fail."""
        done = self.run(verb, *arguments)
        assert done.code == 0, done.err
        return json.loads(done.out) if done.out.strip() else None

    def close(self) -> None:
        self._process.communicate(timeout=60)
        assert self._process.returncode == 0


# What the script `aws` does, for each line of arguments: its exit code, and what it said.
RUNNER = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from awscli.clidriver import main
for line in sys.stdin:
    out, err = TextIOWrapper(BytesIO(), "utf-8"), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        sys.argv[1:] = json.loads(line)
        code = main()
    out.flush()
    print(json.dumps([code, out.buffer.getvalue().decode(), err.getvalue()]), flush=True)
"""


@pytest.fixture
def aws(url: str, tmp_path: Path) -> Iterator[Aws]:
    with closing(Aws(url, tmp_path)) as command:
        yield command


def test_the_aws_command_from_creating_a_table_to_deleting_it(aws: Aws) -> None:
    pets = ("--table-name", "pets")
    created = aws(
        "create-table", *pets, "--billing-mode", "PAY_PER_REQUEST",
        "--attribute-definitions", "AttributeName=owner,AttributeType=S", "AttributeName=name,AttributeType=S",
        "--key-schema", "AttributeName=owner,KeyType=HASH", "AttributeName=name,KeyType=RANGE",
    )  # fmt: skip
    assert created["TableDescription"]["TableName"] == "pets"
    aws("wait", "table-exists", *pets)
    assert aws("list-tables")["TableNames"] == ["pets"]

    rex = {"owner": {"S": "ann"}, "name": {"S": "rex"}, "age": {"N": "3"}, "photo": {"B": "raw"}}
    consumed = aws("put-item", *pets, "--item", json.dumps(rex), "--return-consumed-capacity", "TOTAL")
    assert consumed["ConsumedCapacity"]["CapacityUnits"] == 1
    batch = {
        "pets": [
            {"PutRequest": {"Item": {"owner": {"S": "ann"}, "name": {"S": name}, "age": {"N": str(age)}}}}
            for name, age in (("tom", 1), ("pip", 12))
        ]
    }
    assert aws("batch-write-item", "--request-items", json.dumps(batch))["UnprocessedItems"] == {}

    key = json.dumps({"owner": {"S": "ann"}, "name": {"S": "rex"}})
    # The first edition of this command takes binaries raw and prints them in base64.
    assert aws("get-item", *pets, "--key", key)["Item"] == rex | {"photo": {"B": "cmF3"}}
    found = aws(
        "query", *pets, "--key-condition-expression", "#o = :o AND #n > :n", "--filter-expression", "age < :old",
        "--expression-attribute-names", '{"#o": "owner", "#n": "name"}', "--no-scan-index-forward",
        "--expression-attribute-values", '{":o": {"S": "ann"}, ":n": {"S": "a"}, ":old": {"N": "10"}}',
    )  # fmt: skip
    assert [item["name"]["S"] for item in found["Items"]] == ["tom", "rex"]
    assert (found["Count"], found["ScannedCount"]) == (2, 3)
    assert aws("scan", *pets, "--page-size", "1", "--select", "COUNT")["Count"] == 3

    older = aws(
        "update-item", *pets, "--key", key, "--update-expression", "ADD age :one", "--return-values", "UPDATED_NEW",
        "--expression-attribute-values", '{":one": {"N": "1"}}',
    )  # fmt: skip
    assert older["Attributes"] == {"age": {"N": "4"}}

    refused = aws.run(
        "delete-item", *pets, "--key", key, "--condition-expression", "age > :old",
        "--expression-attribute-values", '{":old": {"N": "10"}}',
    )  # fmt: skip
    assert refused.code != 0
    assert "(ConditionalCheckFailedException)" in refused.err
    assert "The conditional request failed" in refused.err
    aws("delete-item", *pets, "--key", key)
    assert aws("get-item", *pets, "--key", key) is None

    assert aws("delete-table", *pets)["TableDescription"]["TableStatus"] == "DELETING"
    aws("wait", "table-not-exists", *pets)
    missing = aws.run("describe-table", *pets)
    assert "(ResourceNotFoundException)" in missing.err
