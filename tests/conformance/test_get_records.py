"""GetRecords: what a change looks like in a stream, for each view and each kind of write.

Elsewhere: expired iterators and trimmed records, which need a clock that can be moved
(tests/engine/streams/test_shards.py).
"""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.conformance.stream_talk import VIEWS, arn_of, iterator, read, refusal, shards_of, specification
from tests.conformance.talk import (
    BIN_TABLE,
    COMP_TABLE,
    Answered,
    Json,
    Line,
    NewTable,
    wait_until_active,
)

KEY: Json = {"pk": {"S": "rex"}}
BOTH = specification("NEW_AND_OLD_IMAGES")


def put(answered: Answered, table: str, **attributes: Json) -> None:
    answered("PutItem", {"TableName": table, "Item": KEY | attributes})


@pytest.mark.parametrize("view", VIEWS)
def test_insert_modify_and_remove_show_what_the_view_says(
    streams: Any, answered: Answered, new_table: NewTable, view: str
) -> None:
    table = new_table(StreamSpecification=specification(view))
    put(answered, table, a={"N": "1"})
    put(answered, table, b={"S": "two"})
    answered("DeleteItem", {"TableName": table, "Key": KEY})
    first, second = KEY | {"a": {"N": "1"}}, KEY | {"b": {"S": "two"}}
    expected = [("INSERT", None, first), ("MODIFY", first, second), ("REMOVE", second, None)]
    for record, (name, old, new) in zip(read(streams, arn_of(answered, table), 3), expected, strict=True):
        assert record["eventName"] == name
        shown = record["dynamodb"]
        assert shown["Keys"] == KEY
        assert shown["StreamViewType"] == view
        assert shown.get("NewImage") == (new if view in ("NEW_IMAGE", "NEW_AND_OLD_IMAGES") else None)
        assert shown.get("OldImage") == (old if view in ("OLD_IMAGE", "NEW_AND_OLD_IMAGES") else None)
        assert "userIdentity" not in record


def test_a_record_carries_its_origin_its_time_and_its_size(
    streams: Any, answered: Answered, new_table: NewTable
) -> None:
    table = new_table(StreamSpecification=BOTH)
    began = int(time.time())
    put(answered, table, a={"N": "1"})
    put(answered, table, a={"N": "2"})
    insert, modify = read(streams, arn_of(answered, table), 2)
    for record in (insert, modify):
        assert (record["eventVersion"], record["eventSource"]) == ("1.1", "aws:dynamodb")
        assert record["awsRegion"]
        made = record["dynamodb"]["ApproximateCreationDateTime"].timestamp()
        # Some round to the minute.
        assert began - 61 <= made <= time.time() + 61
        assert 21 <= len(record["dynamodb"]["SequenceNumber"]) <= 40
    assert insert["eventID"] != modify["eventID"]
    # Keys are pk + rex, an image is that and a + a number.
    assert insert["dynamodb"]["SizeBytes"] == 5 + 8
    assert modify["dynamodb"]["SizeBytes"] == 5 + 8 + 8


def test_numbers_grow_from_change_to_change(streams: Any, answered: Answered, new_table: NewTable) -> None:
    table = new_table(StreamSpecification=BOTH)
    for number in range(10):
        put(answered, table, n={"N": str(number)})
    records = read(streams, arn_of(answered, table), 10)
    assert [record["dynamodb"]["NewImage"]["n"]["N"] for record in records] == [str(n) for n in range(10)]
    sequence = [int(record["dynamodb"]["SequenceNumber"]) for record in records]
    assert sequence == sorted(set(sequence))


def test_a_write_that_changes_nothing_leaves_no_record(
    streams: Any, answered: Answered, new_table: NewTable
) -> None:
    table = new_table(StreamSpecification=BOTH)
    put(answered, table, n={"N": "1"})
    put(answered, table, n={"N": "1.0"})
    answered(
        "UpdateItem",
        {
            "TableName": table,
            "Key": KEY,
            "UpdateExpression": "SET n = :n",
            "ExpressionAttributeValues": {":n": {"N": "1"}},
        },
    )
    answered("DeleteItem", {"TableName": table, "Key": {"pk": {"S": "nobody"}}})
    put(answered, table, n={"N": "2"})
    assert [record["eventName"] for record in read(streams, arn_of(answered, table), 2)] == [
        "INSERT",
        "MODIFY",
    ]


def test_batches_and_transactions_leave_a_record_for_each_item(
    streams: Any, answered: Answered, new_table: NewTable
) -> None:
    table = new_table(StreamSpecification=BOTH)
    items = [{"pk": {"S": f"pet {number}"}} for number in range(3)]
    answered("BatchWriteItem", {"RequestItems": {table: [{"PutRequest": {"Item": one}} for one in items]}})
    deletes = [{"Delete": {"TableName": table, "Key": one}} for one in items]
    answered("TransactWriteItems", {"TransactItems": deletes})
    records = read(streams, arn_of(answered, table), 6)
    for one in items:
        mine = [record["eventName"] for record in records if record["dynamodb"]["Keys"] == one]
        assert mine == ["INSERT", "REMOVE"]


def test_keys_and_images_come_as_they_were_written(
    streams: Any, answered: Answered, new_table: NewTable
) -> None:
    table = new_table(**COMP_TABLE, StreamSpecification=BOTH)
    item: Json = {
        "pk": {"S": "é"},
        "sk": {"S": "2"},
        "gpk": {"S": "g"},
        "deep": {"M": {"list": {"L": [{"NULL": True}, {"BOOL": False}, {"SS": ["a", "b"]}]}}},
    }
    answered("PutItem", {"TableName": table, "Item": item})
    (record,) = read(streams, arn_of(answered, table), 1)
    assert record["dynamodb"]["Keys"] == {"pk": {"S": "é"}, "sk": {"S": "2"}}
    assert record["dynamodb"]["NewImage"] == item


def test_binary_keys_are_read_as_bytes(streams: Any, answered: Answered, new_table: NewTable) -> None:
    table = new_table(**BIN_TABLE, StreamSpecification=specification("KEYS_ONLY"))
    answered("PutItem", {"TableName": table, "Item": {"pk": {"B": "AP8="}, "sk": {"B": "YQ=="}}})
    (record,) = read(streams, arn_of(answered, table), 1)
    assert record["dynamodb"]["Keys"] == {"pk": {"B": b"\0\xff"}, "sk": {"B": b"a"}}


def test_a_page_has_no_more_than_the_limit_and_the_next_goes_on(
    streams: Any, answered: Answered, new_table: NewTable
) -> None:
    table = new_table(StreamSpecification=BOTH)
    arn = arn_of(answered, table)
    for number in range(5):
        put(answered, table, n={"N": str(number)})
    read(streams, arn, 5)
    found: list[str] = []
    for shard in shards_of(streams, arn):
        here = iterator(streams, arn, shard["ShardId"])
        for _ in range(4):
            answer = streams.get_records(ShardIterator=here, Limit=2)
            assert len(answer["Records"]) <= 2
            found += [record["dynamodb"]["NewImage"]["n"]["N"] for record in answer["Records"]]
            here = answer["NextShardIterator"]
    assert found == ["0", "1", "2", "3", "4"]


def test_an_open_shard_has_a_next_iterator_even_when_nothing_is_there(
    streams: Any, answered: Answered, new_table: NewTable
) -> None:
    arn = arn_of(answered, new_table(StreamSpecification=BOTH))
    shard = shards_of(streams, arn)[0]["ShardId"]
    answer = streams.get_records(ShardIterator=iterator(streams, arn, shard))
    assert answer["Records"] == []
    assert streams.get_records(ShardIterator=answer["NextShardIterator"])["Records"] == []


def test_a_closed_shard_is_read_to_its_end_and_then_has_no_next_iterator(
    streams: Any, line: Line, answered: Answered, new_table: NewTable
) -> None:
    table = new_table(StreamSpecification=BOTH)
    arn = arn_of(answered, table)
    put(answered, table, n={"N": "1"})
    read(streams, arn, 1)
    answered("UpdateTable", {"TableName": table, "StreamSpecification": specification(None)})
    wait_until_active(line, table)
    put(answered, table, n={"N": "2"})
    found: list[Json] = []
    for shard in shards_of(streams, arn):
        here: str | None = iterator(streams, arn, shard["ShardId"])
        give_up = time.monotonic() + 20
        while here is not None and time.monotonic() < give_up:
            answer = streams.get_records(ShardIterator=here)
            found += answer["Records"]
            here = answer.get("NextShardIterator")
        assert here is None
    assert [record["dynamodb"]["NewImage"]["n"]["N"] for record in found] == ["1"]


def test_a_text_that_is_no_iterator_is_refused(streams: Any) -> None:
    code, message = refusal(streams.get_records, ShardIterator="not an iterator")
    assert (code, message) == ("ValidationException", "Invalid ShardIterator")


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_limit_is_one_to_a_thousand(
    streams: Any, answered: Answered, new_table: NewTable, limit: int
) -> None:
    arn = arn_of(answered, new_table(StreamSpecification=BOTH))
    here = iterator(streams, arn, shards_of(streams, arn)[0]["ShardId"])
    assert refusal(streams.get_records, ShardIterator=here, Limit=limit)[0] == "ValidationException"


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({}, "Value null at 'shardIterator' failed to satisfy constraint: Member must not be null"),
        (
            {"ShardIterator": ""},
            "Value '' at 'shardIterator' failed to satisfy constraint: "
            "Member must have length greater than or equal to 1",
        ),
    ],
)
def test_an_iterator_is_required(streams: Any, request_: Json, words: str) -> None:
    expected = ("ValidationException", f"1 validation error detected: {words}")
    assert refusal(streams.get_records, **request_) == expected
