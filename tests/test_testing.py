"""`tablewright.testing`, as a user's tests would use it."""

import sys
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tablewright import Engine, testing

PETS: dict[str, Any] = {
    "TableName": "pets",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "name", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}],
}
REX = {"name": {"S": "rex"}}


def test_an_engine_in_a_line() -> None:
    with testing.engine() as engine:
        engine.call("CreateTable", PETS)
        engine.call("PutItem", {"TableName": "pets", "Item": REX})
        assert engine.call("GetItem", {"TableName": "pets", "Key": REX})["Item"] == REX


def test_two_engines_of_one_test_share_nothing() -> None:
    with testing.engine() as one, testing.engine() as other:
        one.call("CreateTable", PETS)
        assert other.call("ListTables", {})["TableNames"] == []


def test_a_store_that_was_filled_once_is_copied_for_each_test() -> None:
    with testing.engine() as engine:
        engine.call("CreateTable", PETS)
        engine.call("PutItem", {"TableName": "pets", "Item": REX})
        filled = engine.image()
        engine.call("DeleteItem", {"TableName": "pets", "Key": REX})  # it goes on after the picture was taken
    for _ in range(2):
        with testing.engine(image=filled) as engine:
            assert engine.call("GetItem", {"TableName": "pets", "Key": REX})["Item"] == REX
            engine.call("DeleteItem", {"TableName": "pets", "Key": REX})
            assert engine.call("Scan", {"TableName": "pets"})["Count"] == 0


def test_a_store_on_disk_neither_has_an_image_nor_begins_as_one(tmp_path: Path) -> None:
    with testing.engine() as engine:
        image = engine.image()
    with pytest.raises(ValueError, match="in memory begins as"), testing.engine(tmp_path, image=image):
        pass
    with testing.engine(tmp_path) as engine, pytest.raises(ValueError, match="in memory has an image"):
        engine.image()


def test_an_engine_on_disk_keeps_what_it_was_told(tmp_path: Path) -> None:
    with testing.engine(tmp_path / "store") as engine:
        engine.call("CreateTable", PETS)
    with testing.engine(tmp_path / "store") as engine:
        assert engine.call("ListTables", {})["TableNames"] == ["pets"]


def test_a_boto3_client_in_a_line() -> None:
    with testing.client() as dynamodb:
        dynamodb.create_table(**PETS)
        dynamodb.put_item(TableName="pets", Item=REX)
        assert dynamodb.get_item(TableName="pets", Key=REX)["Item"] == REX
        with pytest.raises(ClientError, match="The conditional request failed"):
            dynamodb.put_item(TableName="pets", Item=REX, ConditionExpression="attribute_not_exists(#n)",
                              ExpressionAttributeNames={"#n": "name"})  # fmt: skip


def test_without_boto3_a_client_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'tablewright\[boto3\]'"), testing.client():
        pass
    extras = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert "boto3" in extras["optional-dependencies"]


def test_options_of_a_client_go_to_boto3() -> None:
    with testing.client(aws_access_key_id="somebody", region_name="eu-west-1") as dynamodb:
        assert dynamodb.meta.region_name == "eu-west-1"
        assert dynamodb.list_tables()["TableNames"] == []


def test_a_clock_stands_still_until_it_is_moved() -> None:
    clock = testing.Clock()
    assert clock.now() == clock.now() == datetime(2026, 1, 1, tzinfo=UTC)
    clock.move(timedelta(hours=2))
    assert clock.now() == datetime(2026, 1, 1, 2, tzinfo=UTC)


def test_an_engine_lives_in_the_time_of_its_clock() -> None:
    clock = testing.Clock(datetime(2030, 5, 1, tzinfo=UTC))
    with testing.engine(world=clock.world()) as engine:
        created = engine.call("CreateTable", PETS)["TableDescription"]["CreationDateTime"]
        assert datetime.fromtimestamp(created, UTC) == datetime(2030, 5, 1, tzinfo=UTC)


def test_a_client_lives_in_the_time_of_its_clock() -> None:
    clock = testing.Clock()
    with testing.client(world=clock.world()) as dynamodb:
        clock.move(timedelta(days=1))
        created = dynamodb.create_table(**PETS)["TableDescription"]["CreationDateTime"]
        assert created == datetime(2026, 1, 2, tzinfo=UTC)


def test_only_time_is_taken_from_the_real_world() -> None:
    world = testing.Clock().world()
    assert world.new_id() != world.new_id()
    assert 0 <= world.jitter() < 1


def break_it(engine: Engine) -> None:
    """Count an item that is not there."""
    engine.call("CreateTable", PETS)
    engine.settle()
    count_one(engine)


def count_one(engine: Engine) -> None:
    storage = engine._storage
    with storage.write_lock:
        storage.begin()
        storage.writes.add_to_counts(("t1", 1, 0))
        storage.commit()


def test_a_test_that_breaks_the_store_fails() -> None:
    with pytest.raises(testing.StoreBroken, match="table pets: counted 1 items"), testing.engine() as engine:  # noqa: PT012
        break_it(engine)
        assert engine.call("ListTables", {})["TableNames"] == ["pets"]


def test_what_is_broken_while_the_store_settles_is_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(testing.StoreBroken, match="table pets: counted 1 items"), testing.engine() as engine:  # noqa: PT012
        settle = engine.settle
        engine.call("CreateTable", PETS)

        def settle_wrongly() -> None:
            settle()
            count_one(engine)

        monkeypatch.setattr(engine, "settle", settle_wrongly)


def test_a_test_that_fails_for_a_reason_of_its_own_shows_that_reason() -> None:
    with pytest.raises(ZeroDivisionError), testing.engine() as engine:  # noqa: PT012 (both break, one is told)
        break_it(engine)
        raise ZeroDivisionError


def test_the_store_is_free_again_after_a_test_that_failed(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), testing.engine(tmp_path / "store"):
        raise ZeroDivisionError
    with testing.engine(tmp_path / "store") as engine:
        assert engine.call("ListTables", {})["TableNames"] == []


def test_a_clock_wants_a_time_with_a_zone() -> None:
    with pytest.raises(ValueError, match="zone"):
        testing.Clock(datetime(2026, 1, 1))
