"""Streams as readings of the journal: records, shards that roll and split, iterators, a day of history.

Elsewhere: the verbs one by one over HTTP (tests/conformance), the same over random histories (tests/properties).
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson
import pytest
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.stream_reader import (
    arn_of,
    enable,
    is_open,
    iterator,
    names,
    position,
    read_all,
    read_from,
    read_shard,
    shards,
    streamed,
)
from tests.engine.tables import add, definition, item, keyed, put, transaction

from tablewright import ServiceError
from tablewright.engine.api import streams as stream_verbs
from tablewright.engine.streams import shards as streams
from tablewright.testing import Clock


@pytest.fixture(params=["memory", "disk"])
def pets(request: pytest.FixtureRequest, clock: Clock, store: Path) -> Iterator[SteppedEngine]:
    """A table of pets with a stream; nothing happens beside the test."""
    path = ":memory:" if request.param == "memory" else store
    with SteppedEngine.stepped(path, world=clock.world()) as engine:
        engine.call("CreateTable", streamed())
        yield engine
        assert engine.verify() == []
        engine.settle()
        assert engine.verify() == []


def refusal(engine: SteppedEngine, verb: str, request: dict[str, Any]) -> ServiceError:
    with pytest.raises(ServiceError) as refused:
        engine.call(verb, request)
    return refused.value


# --- records ---


def test_each_change_is_one_record_and_what_changes_nothing_is_none(pets: SteppedEngine) -> None:
    pets.call("PutItem", put("rex", age=3))
    pets.call("PutItem", put("rex", age=3))
    pets.call("UpdateItem", add("rex"))
    pets.call("DeleteItem", keyed("rex"))
    pets.call("DeleteItem", keyed("rex"))
    pets.call("TransactWriteItems", transaction({"Put": put("tom")}, {"Put": put("ada")}))
    assert names(read_all(pets, arn_of(pets))) == [
        ("INSERT", "rex"),
        ("MODIFY", "rex"),
        ("REMOVE", "rex"),
        ("INSERT", "tom"),
        ("INSERT", "ada"),
    ]


def test_a_record_is_the_services_to_the_letter(pets: SteppedEngine, clock: Clock) -> None:
    pets.call("PutItem", put("rex", age=3))
    (record,) = read_all(pets, arn_of(pets))
    event = record.pop("eventID")
    assert len(event) == 32
    assert int(event, 16)
    assert record == {
        "eventName": "INSERT",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "us-east-1",
        "dynamodb": {
            "ApproximateCreationDateTime": int(clock.now().timestamp()),
            "Keys": item("rex"),
            "NewImage": item("rex", age=3),
            "SequenceNumber": "100000000000000000001",
            "SizeBytes": 5 + 10,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        },
    }


def test_the_same_change_is_the_same_record_each_time(pets: SteppedEngine) -> None:
    for number in range(5):
        pets.call("PutItem", put("rex", age=number))
    all_at_once = read_all(pets, arn_of(pets))
    assert read_all(pets, arn_of(pets), limit=1) == all_at_once
    assert len({record["eventID"] for record in all_at_once}) == 5


def test_changes_of_other_tables_are_not_in_the_stream(pets: SteppedEngine) -> None:
    pets.call("CreateTable", streamed("cats", "KEYS_ONLY"))
    pets.call("CreateTable", definition("dogs"))
    for table in ("pets", "cats", "dogs", "pets"):
        pets.call("UpdateItem", add("rex", table=table))
    assert names(read_all(pets, arn_of(pets))) == [("INSERT", "rex"), ("MODIFY", "rex")]
    assert names(read_all(pets, arn_of(pets, "cats"))) == [("INSERT", "rex")]


def test_what_was_there_before_the_stream_is_not_in_it(pets: SteppedEngine) -> None:
    pets.call("CreateTable", definition("cats"))
    pets.call("PutItem", put("old", "cats"))
    pets.call("UpdateTable", enable("cats"))
    pets.call("PutItem", put("new", "cats"))
    pets.call("UpdateTable", enable("cats", None))
    pets.call("PutItem", put("late", "cats"))
    assert names(read_all(pets, arn_of(pets, "cats"))) == [("INSERT", "new")]


# --- pages ---


def test_a_page_holds_as_many_records_as_asked_for_and_at_most_a_megabyte(pets: SteppedEngine) -> None:
    for number in range(7):
        pets.call("PutItem", put(f"pet {number}", fill="x" * 300_000))
    (shard,) = shards(pets, arn_of(pets))
    here = iterator(pets, arn_of(pets), shard["ShardId"])
    counts = []
    for limit in (2, 1000, 1000, 1000):
        answer = pets.call("GetRecords", {"ShardIterator": here, "Limit": limit})
        counts.append(len(answer["Records"]))
        here = answer["NextShardIterator"]
    assert counts == [2, 3, 2, 0]


def test_a_call_looks_at_a_bounded_part_of_the_journal_and_goes_on_from_there(pets: SteppedEngine) -> None:
    pets.call("CreateTable", definition("busy"))
    pets.call("PutItem", put("first"))
    for number in range(25):
        pets.call("PutItem", put(f"other {number}", "busy"))
    pets.call("PutItem", put("last"))
    (shard,) = shards(pets, arn_of(pets))
    here = iterator(pets, arn_of(pets), shard["ShardId"])
    pages = []
    with patch.object(stream_verbs, "LOOKED_AT", 10):
        for _ in range(4):
            answer = pets.call("GetRecords", {"ShardIterator": here})
            pages.append(names(answer["Records"]))
            here = answer["NextShardIterator"]
    assert pages == [[("INSERT", "first")], [], [("INSERT", "last")], []]


def test_an_open_shard_is_read_on_as_changes_come(pets: SteppedEngine) -> None:
    (shard,) = shards(pets, arn_of(pets))
    here = iterator(pets, arn_of(pets), shard["ShardId"])
    for number in range(5):
        answer = pets.call("GetRecords", {"ShardIterator": here})
        assert answer["Records"] == []
        here = answer["NextShardIterator"]
        pets.call("PutItem", put(f"pet {number}"))
        answer = pets.call("GetRecords", {"ShardIterator": here})
        assert names(answer["Records"]) == [("INSERT", f"pet {number}")]
        here = answer["NextShardIterator"]


# --- shards ---


def test_a_shard_rolls_when_it_is_four_hours_old(pets: SteppedEngine, clock: Clock) -> None:
    pets.call("PutItem", put("rex"))
    clock.move(timedelta(hours=4) - timedelta(microseconds=1))
    pets.settle()
    assert len(shards(pets, arn_of(pets))) == 1
    clock.move(timedelta(microseconds=1))
    pets.settle()
    pets.call("PutItem", put("tom"))
    old, new = shards(pets, arn_of(pets))
    assert new["ParentShardId"] == old["ShardId"]
    assert (is_open(old), is_open(new)) == (False, True)
    first = int(old["SequenceNumberRange"]["EndingSequenceNumber"]) + 1
    assert int(new["SequenceNumberRange"]["StartingSequenceNumber"]) == first
    assert names(read_shard(pets, arn_of(pets), old["ShardId"])) == [("INSERT", "rex")]
    assert names(read_shard(pets, arn_of(pets), new["ShardId"])) == [("INSERT", "tom")]
    assert read_from(pets, iterator(pets, arn_of(pets), old["ShardId"]))[1]


def test_a_shard_with_many_records_splits_in_two_and_each_key_is_in_one(pets: SteppedEngine) -> None:
    with patch.object(streams, "SHARD_RECORDS", 10), patch.object(streams, "COUNTED_ROWS", 4):
        for number in range(11):
            pets.call("PutItem", put(f"pet {number}", age=1))
        pets.settle()
    parent, left, right = shards(pets, arn_of(pets))
    assert left["ParentShardId"] == right["ParentShardId"] == parent["ShardId"]
    for number in range(11):
        pets.call("PutItem", put(f"pet {number}", age=2))
    halves = [
        {name for _, name in names(read_shard(pets, arn_of(pets), s["ShardId"]))} for s in (left, right)
    ]
    assert all(halves)
    assert halves[0].isdisjoint(halves[1])
    assert halves[0] | halves[1] == {f"pet {number}" for number in range(11)}
    children = pets.call(
        "DescribeStream",
        {
            "StreamArn": arn_of(pets),
            "ShardFilter": {"Type": "CHILD_SHARDS", "ShardId": parent["ShardId"]},
        },
    )
    assert children["StreamDescription"]["Shards"] == [left, right]


def test_records_of_other_tables_split_no_shard(pets: SteppedEngine) -> None:
    pets.call("CreateTable", definition("busy"))
    with patch.object(streams, "SHARD_RECORDS", 10):
        for number in range(30):
            pets.call("PutItem", put(f"pet {number}", "busy"))
        pets.settle()
    assert len(shards(pets, arn_of(pets))) == 1


def test_a_stream_has_sixteen_open_shards_at_most(pets: SteppedEngine) -> None:
    with patch.object(streams, "SHARD_RECORDS", 0):
        for turn in range(8):
            for number in range(60):
                pets.call("PutItem", put(f"pet {number}", age=turn))
            pets.settle()
    assert sum(map(is_open, shards(pets, arn_of(pets)))) == 16
    assert len(read_all(pets, arn_of(pets))) == 8 * 60


def test_the_order_of_a_key_is_kept_over_rolls_and_splits(pets: SteppedEngine, clock: Clock) -> None:
    with patch.object(streams, "SHARD_RECORDS", 12):
        for turn in range(12):
            for number in range(5):
                pets.call("PutItem", put(f"pet {number}", age=turn))
            clock.move(timedelta(hours=1))
            pets.settle()
    told = read_all(pets, arn_of(pets))
    assert len(shards(pets, arn_of(pets))) > 4
    for number in range(5):
        mine = [
            r["dynamodb"]["NewImage"]["age"]["N"]
            for r in told
            if r["dynamodb"]["Keys"] == item(f"pet {number}")
        ]
        assert mine == [str(turn) for turn in range(12)]


def test_shard_ids_have_the_services_form_and_sort_by_age(pets: SteppedEngine, clock: Clock) -> None:
    for _ in range(3):
        clock.move(timedelta(hours=4))
        pets.settle()
    ids = [shard["ShardId"] for shard in shards(pets, arn_of(pets))]
    assert len(set(ids)) == 4
    assert ids == sorted(ids)
    for one in ids:
        word, when, number = one.split("-")
        assert (word, len(when), len(number)) == ("shardId", 20, 8)


def test_a_shard_that_took_nothing_ends_where_it_began(pets: SteppedEngine, clock: Clock) -> None:
    clock.move(timedelta(hours=4))
    pets.settle()
    numbers = shards(pets, arn_of(pets))[0]["SequenceNumberRange"]
    assert numbers["StartingSequenceNumber"] == numbers["EndingSequenceNumber"]
    start = iterator(
        pets,
        arn_of(pets),
        shards(pets, arn_of(pets))[0]["ShardId"],
        "AT_SEQUENCE_NUMBER",
        SequenceNumber=numbers["EndingSequenceNumber"],
    )
    pets.call("PutItem", put("rex"))
    assert read_from(pets, start) == ([], True)


# --- a day of history ---


def test_a_closed_stream_can_be_read_for_a_day(pets: SteppedEngine, clock: Clock) -> None:
    pets.call("PutItem", put("rex"))
    arn = arn_of(pets)
    clock.move(timedelta(hours=1))
    pets.call("UpdateTable", enable(view=None))
    clock.move(timedelta(hours=22, minutes=59))
    pets.settle()
    assert names(read_all(pets, arn)) == [("INSERT", "rex")]
    clock.move(timedelta(hours=1))
    assert read_all(pets, arn) == []  # the record is too old by now, the stream is not
    clock.move(timedelta(minutes=2))
    for _ in range(2):  # before and after it is forgotten
        gone = refusal(pets, "DescribeStream", {"StreamArn": arn})
        assert (gone.name, gone.message) == (
            "ResourceNotFoundException",
            f"Requested resource not found: Stream: {arn} not found",
        )
        assert pets.call("ListStreams", {}) == {"Streams": []}
        pets.settle()


def test_the_stream_of_a_dropped_table_can_be_read_for_a_day(pets: SteppedEngine, clock: Clock) -> None:
    pets.call("PutItem", put("rex"))
    arn = arn_of(pets)
    pets.call("DeleteTable", {"TableName": "pets"})
    pets.settle()
    pets.call("CreateTable", streamed())
    pets.call("PutItem", put("tom"))
    assert arn_of(pets) != arn
    clock.move(timedelta(hours=23))
    pets.settle()
    assert names(read_all(pets, arn)) == [("INSERT", "rex")]
    assert names(read_all(pets, arn_of(pets))) == [("INSERT", "tom")]
    listed = [one["StreamArn"] for one in pets.call("ListStreams", {"TableName": "pets"})["Streams"]]
    assert listed == sorted([arn, arn_of(pets)])


def test_trim_horizon_is_the_oldest_record_of_a_day(pets: SteppedEngine, clock: Clock) -> None:
    for hour in range(30):
        pets.call("PutItem", put(f"pet {hour:02}"))
        clock.move(timedelta(hours=1))
        if hour % 3 == 0:
            pets.settle()
    expected = [("INSERT", f"pet {hour:02}") for hour in range(6, 30)]
    assert names(read_all(pets, arn_of(pets))) == expected
    pets.settle()
    assert names(read_all(pets, arn_of(pets))) == expected


def test_a_closed_shard_is_gone_after_a_day(pets: SteppedEngine, clock: Clock) -> None:
    first = shards(pets, arn_of(pets))[0]["ShardId"]
    for _ in range(8):
        clock.move(timedelta(hours=4))
        pets.settle()
    ids = [shard["ShardId"] for shard in shards(pets, arn_of(pets))]
    assert first not in ids
    assert len(ids) == 8
    request = {"StreamArn": arn_of(pets), "ShardId": first, "ShardIteratorType": "LATEST"}
    refused = refusal(pets, "GetShardIterator", request)
    assert (refused.name, refused.message) == (
        "ResourceNotFoundException",
        "Requested resource not found: Shard does not exist",
    )


@pytest.mark.parametrize("is_settled", [False, True])
def test_a_number_or_an_iterator_from_before_the_day_is_trimmed(
    pets: SteppedEngine, clock: Clock, is_settled: bool
) -> None:
    arn = arn_of(pets)
    shard = shards(pets, arn)[0]["ShardId"]
    clock.move(timedelta(hours=3))
    pets.call("PutItem", put("old"))
    clock.move(timedelta(hours=1))
    pets.settle()
    pets.call("PutItem", put("new"))
    number = "100000000000000000001"
    clock.move(timedelta(hours=22, minutes=50))
    here = iterator(pets, arn, shard, "AT_SEQUENCE_NUMBER", SequenceNumber=number)
    clock.move(timedelta(minutes=11))
    if is_settled:
        pets.settle()
    for kind in ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"):
        request = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": kind, "SequenceNumber": number}
        assert refusal(pets, "GetShardIterator", request).name == "TrimmedDataAccessException"
    refused = refusal(pets, "GetRecords", {"ShardIterator": here})
    assert (refused.name, refused.message) == (
        "TrimmedDataAccessException",
        "The data you are trying to access has been trimmed",
    )
    assert refused.body()["__type"] == ("com.amazonaws.dynamodb.streams.v20120810#TrimmedDataAccessException")


def test_an_iterator_is_good_for_a_quarter_of_an_hour(pets: SteppedEngine, clock: Clock) -> None:
    here = iterator(pets, arn_of(pets), shards(pets, arn_of(pets))[0]["ShardId"])
    clock.move(timedelta(minutes=15))
    after = pets.call("GetRecords", {"ShardIterator": here})["NextShardIterator"]
    clock.move(timedelta(microseconds=1))
    assert refusal(pets, "GetRecords", {"ShardIterator": here}).name == "ExpiredIteratorException"
    pets.call("GetRecords", {"ShardIterator": after})


def test_an_iterator_may_point_to_a_moment(pets: SteppedEngine, clock: Clock) -> None:
    for number in range(4):
        pets.call("PutItem", put(f"pet {number}"))
        clock.move(timedelta(minutes=10))
    shard = shards(pets, arn_of(pets))[0]["ShardId"]
    start = clock.now().timestamp()
    for ago, expected in ((0, 0), (10 * 60, 1), (20 * 60 + 0.5, 2), (86_400 * 3, 4)):
        here = iterator(pets, arn_of(pets), shard, "AT_TIMESTAMP", Timestamp=start - ago)
        assert len(read_from(pets, here)[0]) == expected


@pytest.mark.parametrize(
    "text",
    ["x", "|1|", "a|1|W10=", "a|1|WzEsMiwzLDRd", "a|1|!!", "é|1|x", "a|b|c|d", "a|1|WyJhIiwxLDJd", "a|1|WzEsLTEsMV0="],
)  # fmt: skip
def test_a_text_that_is_no_iterator_is_refused(pets: SteppedEngine, text: str) -> None:
    refused = refusal(pets, "GetRecords", {"ShardIterator": text})
    assert (refused.name, refused.message) == ("ValidationException", "Invalid ShardIterator")


def test_an_iterator_of_another_stream_s_shard_is_refused(pets: SteppedEngine) -> None:
    pets.call("CreateTable", streamed("cats"))
    here = iterator(pets, arn_of(pets), shards(pets, arn_of(pets))[0]["ShardId"])
    forged = here.replace(arn_of(pets), arn_of(pets, "cats"))
    assert refusal(pets, "GetRecords", {"ShardIterator": forged}).name == "ResourceNotFoundException"
    assert position(forged) is None


# --- over a restart ---


def test_a_stream_is_read_on_after_a_restart(store: Path, clock: Clock) -> None:
    with SteppedEngine.stepped(store, world=clock.world()) as engine:
        engine.call("CreateTable", streamed())
        engine.call("PutItem", put("rex"))
        arn = arn_of(engine)
        shard = shards(engine, arn)[0]["ShardId"]
        answer = engine.call("GetRecords", {"ShardIterator": iterator(engine, arn, shard)})
    with SteppedEngine.stepped(store, world=clock.world()) as engine:
        engine.call("PutItem", put("tom"))
        more = engine.call("GetRecords", {"ShardIterator": answer["NextShardIterator"]})
        assert names(answer["Records"] + more["Records"]) == [("INSERT", "rex"), ("INSERT", "tom")]
        assert orjson.dumps(read_all(engine, arn)) == orjson.dumps(answer["Records"] + more["Records"])
        assert engine.verify() == []
