"""Bulk loads from the inside: in steps, over restarts, cancelled, and with what belongs to a write."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine.replicating import HERE, THERE, regions_of, replicate, update
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.tables import Json, create_index, definition, item, names, put, records
from tests.engine.transfer_requests import put_lines, small_pieces

from tablewright import Engine, ServiceError, testing
from tablewright.engine.background.pacing import LONGEST_SECONDS, UnitRate


@pytest.fixture
def buckets(tmp_path: Path) -> Path:
    made = tmp_path / "buckets"
    (made / "vault").mkdir(parents=True)
    return made


@pytest.fixture
def pets(clock: testing.Clock, buckets: Path) -> Iterator[SteppedEngine]:
    with SteppedEngine.stepped(world=clock.world(), buckets=buckets) as engine:
        engine.call("CreateTable", definition(indexes=("colour",)))
        yield engine
        engine.settle()
        assert engine.verify() == []


def start(engine: Engine, **others: Any) -> str:
    asked = {
        "TableName": "pets",
        "InputS3Configuration": {"S3Bucket": "vault", "S3KeyPrefix": "in/", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {"S3Bucket": "vault", "OutputType": ["ERROR"]},
        **others,
    }
    return str(engine.call("StartBulkPutItems", asked)["BulkOperationDescription"]["BulkOperationArn"])


def describe(engine: Engine, arn: str) -> Json:
    told = engine.call("DescribeBulkOperation", {"BulkOperationArn": arn})
    return dict(told["BulkOperationDescription"])


def objects(buckets: Path, count: int = 3, items: int = 5) -> list[str]:
    for place in range(count):
        lines = (item(f"pet {place} {n}", colour=f"c{n}") for n in range(items))
        put_lines(buckets, f"in/{place}", *lines)
    return sorted(f"pet {place} {n}" for place in range(count) for n in range(items))


def test_the_table_is_used_while_it_is_loaded(pets: SteppedEngine, buckets: Path) -> None:
    expected = objects(buckets)
    arn = start(pets)
    counts = []
    with small_pieces():
        while describe(pets, arn)["BulkOperationStatus"] == "IN_PROGRESS":
            counts.append(describe(pets, arn)["ProcessedItemCount"])
            assert len(names(pets)) == counts[-1] + (len(counts) > 1)
            pets.call("PutItem", put("mine"))
            assert pets.verify() == []
            assert pets.job_step()
    assert counts == sorted(set(counts))
    assert names(pets) == sorted([*expected, "mine"])
    assert names(pets, "colour") == expected


def test_a_store_that_is_opened_again_goes_on_where_it_was(store: Path) -> None:
    buckets = store / "buckets"
    expected = objects(buckets)
    broken = buckets / "vault" / "in" / "1"
    broken.write_bytes(b"\n" + b'{"Item": {}}\n' + broken.read_bytes())
    with SteppedEngine.stepped(store) as engine:
        engine.call("CreateTable", definition(indexes=("colour",)))
        arn = start(engine)
    steps = 0
    with small_pieces():
        while True:
            with SteppedEngine.stepped(store) as engine:
                assert engine.verify() == []
                if describe(engine, arn)["BulkOperationStatus"] != "IN_PROGRESS":
                    break
                assert engine.job_step()
                steps += 1
    assert steps > 6
    with Engine.open(store) as engine:
        assert names(engine) == expected == names(engine, "colour")
        end = describe(engine, arn)
        assert end["BulkOperationStatus"] == "COMPLETED_WITH_ERRORS"
        assert (end["ProcessedItemCount"], end["FailedItemCount"]) == (16, 1)
        files = (path for path in (buckets / "vault" / "in").iterdir())
        assert end["ProcessedInputBytes"] == sum(path.stat().st_size for path in files)
        # Each item was written once.
        assert len([one for one in records(engine) if one[6] is not None]) == 15


def test_items_are_in_the_stream_and_expire(pets: SteppedEngine, buckets: Path) -> None:
    view = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    pets.call("UpdateTable", {"TableName": "pets", "StreamSpecification": view})
    setting = {"Enabled": True, "AttributeName": "until"}
    pets.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": setting})
    pets.call("PutItem", put("rex", colour="brown"))
    put_lines(buckets, "in/1", item("rex", colour="black"), item("tom", until=1_760_000_000))
    start(pets)
    while pets.job_step():
        pass
    (stream,) = pets.call("ListStreams", {"TableName": "pets"})["Streams"]
    shards = pets.call("DescribeStream", {"StreamArn": stream["StreamArn"]})["StreamDescription"]["Shards"]
    found = []
    for shard in shards:
        asked = {
            "StreamArn": stream["StreamArn"],
            "ShardId": shard["ShardId"],
            "ShardIteratorType": "TRIM_HORIZON",
        }
        place = pets.call("GetShardIterator", asked)["ShardIterator"]
        found += pets.call("GetRecords", {"ShardIterator": place})["Records"]
    assert sorted((one["dynamodb"]["Keys"]["pk"]["S"], one["eventName"]) for one in found) == [
        ("rex", "INSERT"),
        ("rex", "MODIFY"),
        ("tom", "INSERT"),
    ]
    pets.settle()
    assert names(pets) == ["rex"]


def test_a_cancelled_load_keeps_what_it_has_written(pets: SteppedEngine, buckets: Path) -> None:
    objects(buckets)
    arn = start(pets)
    with small_pieces():
        assert pets.job_step()
    written = names(pets)
    assert written
    told = pets.call("CancelBulkOperation", {"BulkOperationArn": arn})
    assert told == {"BulkOperationArn": arn, "BulkOperationStatus": "CANCELLING"}
    assert describe(pets, arn)["BulkOperationStatus"] == "CANCELLING"
    pets.settle()
    end = describe(pets, arn)
    assert (end["BulkOperationStatus"], end["FailureCode"]) == ("CANCELLED", "Cancelled")
    assert "EndTime" in end
    assert names(pets) == written


def test_a_table_that_is_deleted_during_a_load_fails_it(pets: SteppedEngine, buckets: Path) -> None:
    objects(buckets)
    arn = start(pets)
    with small_pieces():
        assert pets.job_step()
    pets.call("DeleteTable", {"TableName": "pets"})
    pets.call("CreateTable", definition())
    pets.settle()
    end = describe(pets, arn)
    assert (end["BulkOperationStatus"], end["FailureCode"]) == ("FAILED", "ResourceNotFoundException")
    assert names(pets) == []


def test_an_index_that_is_added_during_a_load_has_all_items(pets: SteppedEngine, buckets: Path) -> None:
    for place in range(4):
        put_lines(buckets, f"in/{place}", item(f"pet {place}", size="big"), item(f"odd {place}", size=place))
    arn = start(pets)
    with small_pieces():
        assert pets.job_step()
        pets.call("UpdateTable", create_index("size"))
        while pets.job_step() or pets.step():
            pass
    # An item whose size is a number is not in the index, or, after the index was added, refused.
    assert names(pets, "size") == [f"pet {place}" for place in range(4)]
    end = describe(pets, arn)
    assert (end["ProcessedItemCount"], end["FailedItemCount"]) == (8, 3)


def test_reports_are_not_read_as_items(pets: SteppedEngine, buckets: Path) -> None:
    put_lines(buckets, "in.json", item("rex"), {})
    whole = {"S3Bucket": "vault", "InputFormat": "DYNAMODB_JSON"}
    for prefix in ("", "out", "out"):
        output = {"S3Bucket": "vault", "S3KeyPrefix": prefix, "OutputType": ["ERROR"]}
        arn = start(pets, InputS3Configuration=whole, OutputS3Configuration=output)
        pets.settle()
        end = describe(pets, arn)
        assert (end["ProcessedItemCount"], end["FailedItemCount"]) == (2, 1)
    assert len(list(buckets.rglob("errors.json"))) == 3


def test_a_table_with_replicas_is_not_loaded() -> None:
    with regions_of(testing.Clock()) as regions:
        home = replicate(regions)
        with pytest.raises(ServiceError, match="global table"):
            start(home)


def test_a_load_ends_when_its_table_gets_replicas_and_keeps_what_it_has_written(tmp_path: Path) -> None:
    """Its writer may then be another region."""
    vault = tmp_path / HERE / "buckets"
    (vault / "vault").mkdir(parents=True)
    put_lines(vault, "in/0", *(item(f"pet {n}", note="x" * 1000) for n in range(4000)))
    with regions_of(testing.Clock(), path=tmp_path) as regions:
        home = regions[HERE]
        home.call("CreateTable", definition())
        arn = start(home, MaxWriteRequestUnits=1024)
        home.call("UpdateTable", update("Create", THERE))
        regions.settle()
        end = describe(home, arn)
        assert (end["BulkOperationStatus"], "global table" in end["FailureMessage"]) == ("FAILED", True)
        assert end["ProcessedItemCount"] == len(names(home)) < 4000
        assert names(regions[THERE]) == names(home)


def test_an_engine_without_buckets_takes_no_loads() -> None:
    with testing.engine() as engine:
        engine.call("CreateTable", definition())
        with pytest.raises(ServiceError, match="no buckets to load from"):
            start(engine)


def test_a_rate_is_kept_by_short_sleeps() -> None:
    now, slept = [0.0], []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    rate = UnitRate(1000, lambda: now[0], sleep)
    assert rate.rest()
    rate.spend(30)
    assert rate.rest()
    assert (slept, now[0]) == ([0.03], 0.03)
    rate.spend(1000)
    steps = 0
    while not rate.rest():
        steps += 1
    assert now[0] == pytest.approx(1.03)
    assert max(slept) <= LONGEST_SECONDS
    assert steps == 19
