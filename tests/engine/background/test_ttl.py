"""The sweep of expired items: what goes, what stays, how it is marked, and how little it holds up the others.

Elsewhere: the same over random histories (tests/properties/test_ttl_properties.py).
"""

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from tests.engine.stepped_engine import SteppedEngine, small_steps
from tests.engine.stream_reader import arn_of, enable, names, read_all, shards
from tests.engine.tables import definition, found, keyed, put, records
from tests.engine.tables import names as held

from tablewright import Engine, testing
from tablewright.engine.background import ttl
from tablewright.engine.journal import CLIENT, TIME_TO_LIVE
from tablewright.testing import Clock

NOW = int(Clock().now().timestamp())
YEAR = 365 * 86_400


def setting(enabled: bool, table: str = "pets", name: str = "until") -> dict[str, Any]:
    return {
        "TableName": table,
        "TimeToLiveSpecification": {"Enabled": enabled, "AttributeName": name},
    }


def until(pk: str, value: dict[str, Any], table: str = "pets") -> dict[str, Any]:
    request = put(pk, table)
    request["Item"]["until"] = value
    return request


@pytest.fixture
def expiring(clock: Clock) -> Iterator[SteppedEngine]:
    """A table of pets with TTL and nobody who sweeps."""
    with SteppedEngine.stepped(world=clock.world()) as engine:
        engine.call("CreateTable", definition(indexes=("colour",)))
        engine.call("UpdateTimeToLive", setting(True))
        yield engine
        assert engine.verify() == []
        engine.settle()
        assert engine.verify() == []


@pytest.mark.parametrize(
    ("value", "goes"),
    [
        ({"N": str(NOW - 1)}, True),
        ({"N": f"{NOW - 1}.999"}, True),
        ({"N": str(NOW)}, False),
        ({"N": f"{NOW}.001"}, False),
        ({"N": str(NOW + 1)}, False),
        ({"N": str(NOW * 1000)}, False),
        ({"N": str(NOW - 5 * YEAR)}, True),
        ({"N": str(NOW - 5 * YEAR - 2 * 86_400)}, False),
        ({"N": "1"}, False),
        ({"N": "0"}, False),
        ({"N": str(1 - NOW)}, False),
        ({"S": str(NOW - 1)}, False),
        ({"L": [{"N": str(NOW - 1)}]}, False),
        ({"NS": [str(NOW - 1)]}, False),
        ({"NULL": True}, False),
    ],
)
def test_an_item_goes_when_its_number_is_a_time_of_the_last_five_years(
    expiring: SteppedEngine, value: dict[str, Any], goes: bool
) -> None:
    expiring.call("PutItem", until("rex", value))
    expiring.settle()
    assert (found(expiring, "rex") is None) == goes


def test_an_item_stays_until_its_time_has_come(expiring: SteppedEngine, clock: Clock) -> None:
    expiring.call("PutItem", until("rex", {"N": str(NOW + 60)}))
    for passed, held_then in ((59, ["rex"]), (1, ["rex"]), (1, [])):
        clock.move(timedelta(seconds=passed))
        expiring.settle()
        assert held(expiring) == held_then


def test_a_write_that_moves_the_time_moves_the_end(expiring: SteppedEngine, clock: Clock) -> None:
    for name in ("later", "sooner", "never", "text"):
        expiring.call("PutItem", until(name, {"N": str(NOW + 60)}))
    expiring.call("PutItem", until("later", {"N": str(NOW + 600)}))
    sooner = {"UpdateExpression": "SET #u = :u", "ExpressionAttributeNames": {"#u": "until"}}
    sooner |= {"ExpressionAttributeValues": {":u": {"N": str(NOW + 6)}}}
    expiring.call("UpdateItem", keyed("sooner") | sooner)
    expiring.call(
        "UpdateItem",
        keyed("never") | {"UpdateExpression": "REMOVE #u", "ExpressionAttributeNames": {"#u": "until"}},
    )
    expiring.call("PutItem", until("text", {"S": "soon"}))
    clock.move(timedelta(seconds=7))
    expiring.settle()
    assert held(expiring) == ["later", "never", "text"]
    clock.move(timedelta(days=90))
    expiring.settle()
    assert held(expiring) == ["never", "text"]


def test_a_swept_item_leaves_its_indexes_and_counters_too(expiring: SteppedEngine) -> None:
    expiring.call("PutItem", put("rex", until=NOW - 1, colour="red"))
    expiring.call("PutItem", put("tom", colour="red"))
    expiring.settle()
    assert held(expiring, "colour") == ["tom"]
    table = expiring.call("DescribeTable", {"TableName": "pets"})["Table"]
    assert (table["ItemCount"], table["GlobalSecondaryIndexes"][0]["ItemCount"]) == (1, 1)


def test_the_journal_and_the_stream_tell_that_the_service_deleted_it(expiring: SteppedEngine) -> None:
    expiring.call("UpdateTable", enable())
    for name in ("rex", "tom"):
        expiring.call("PutItem", until(name, {"N": str(NOW - 1)}))
    expiring.call("DeleteItem", keyed("tom"))
    expiring.settle()
    assert [source for _, _, source, *_ in records(expiring)] == [CLIENT, CLIENT, CLIENT, TIME_TO_LIVE]
    told = read_all(expiring, arn_of(expiring))
    assert names(told)[2:] == [("REMOVE", "tom"), ("REMOVE", "rex")]
    assert "userIdentity" not in told[2]
    assert told[3]["userIdentity"] == {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"}


def test_only_tables_with_time_to_live_are_swept(expiring: SteppedEngine) -> None:
    expiring.call("CreateTable", definition("other"))
    expiring.call("PutItem", until("rex", {"N": str(NOW - 1)}, "other"))
    expiring.settle()
    assert held(expiring, table="other") == ["rex"]


def test_a_sweep_goes_in_small_steps(expiring: SteppedEngine) -> None:
    for number in range(7):
        expiring.call("PutItem", until(f"pet {number}", {"N": str(NOW - 10 + number)}))
    with patch.object(ttl, "SWEPT_ITEMS", 3):
        left = [held(expiring)]
        while expiring.background.run_maintenance_step(due=True) and held(expiring):
            # Between two steps of the sweep the others have their turn.
            if left[-1] != held(expiring):
                left.append(held(expiring))
            assert expiring.verify() == []
    # Three at a time, those that expired first first.
    assert left[1:] == [[f"pet {n}" for n in range(3, 7)], ["pet 6"]]


@pytest.mark.parametrize("steps", range(5))
def test_items_from_before_it_was_enabled_expire_too_whatever_is_written_meanwhile(
    clock: Clock, steps: int
) -> None:
    with SteppedEngine.stepped(world=clock.world()) as engine, small_steps(2):
        engine.call("CreateTable", definition())
        for number in range(7):
            engine.call("PutItem", until(f"pet {number}", {"N": str(NOW - 1)}))
        engine.call("UpdateTimeToLive", setting(True))
        for _ in range(steps):
            engine.step()
        for number in (0, 6):
            engine.call("DeleteItem", keyed(f"pet {number}"))
        for number in (1, 5):
            engine.call("PutItem", until(f"pet {number}", {"N": str(NOW + 60)}))
        engine.call("PutItem", put("pet 2"))
        engine.call("PutItem", until("pet 7", {"N": str(NOW - 1)}))
        assert engine.verify() == []
        engine.settle()
        assert held(engine) == ["pet 1", "pet 2", "pet 5"]
        clock.move(timedelta(seconds=61))
        engine.settle()
        assert held(engine) == ["pet 2"]
        assert engine.verify() == []


def test_nothing_expires_once_it_is_disabled(expiring: SteppedEngine) -> None:
    expiring.call("PutItem", until("rex", {"N": str(NOW - 1)}))
    expiring.call("UpdateTimeToLive", setting(False))
    expiring.settle()
    assert held(expiring) == ["rex"]


def test_it_may_be_enabled_by_another_name_while_the_old_list_is_still_being_removed(
    expiring: SteppedEngine,
) -> None:
    with small_steps(1):
        for name in ("rex", "tom"):
            expiring.call("PutItem", put(name, until=NOW - 1, other=NOW + 60))
        expiring.call("PutItem", put("ada", until=NOW + 60, other=NOW - 1))
        expiring.call("UpdateTimeToLive", setting(False))
        expiring.call("UpdateTimeToLive", setting(True, name="other"))
        assert expiring.verify() == []
        while expiring.step():
            assert expiring.verify() == []
    expiring.settle()
    assert held(expiring) == ["rex", "tom"]


def test_a_dropped_table_takes_its_list_with_it(expiring: SteppedEngine) -> None:
    expiring.call("PutItem", until("rex", {"N": str(NOW - 1)}))
    expiring.call("DeleteTable", {"TableName": "pets"})
    expiring.settle()
    assert expiring.verify() == []
    assert not {name for name in expiring._storage.writes.sql_tables() if name.startswith("t1")}


def test_items_stay_as_long_as_the_lag_says(clock: Clock) -> None:
    with Engine.open(world=clock.world(), ttl_lag=timedelta(hours=1)) as engine:
        engine.call("CreateTable", definition())
        engine.call("UpdateTimeToLive", setting(True))
        engine.call("PutItem", until("rex", {"N": str(NOW)}))
        clock.move(timedelta(hours=1))
        engine.settle()
        assert held(engine) == ["rex"]
        clock.move(timedelta(seconds=1))
        engine.settle()
        assert held(engine) == []


@pytest.mark.parametrize("kept_on", ["memory", "disk"])
def test_the_keeper_sweeps_by_itself(clock: Clock, store: Path, kept_on: str) -> None:
    path = ":memory:" if kept_on == "memory" else store
    with testing.engine(path, world=clock.world(), ttl_seconds=0.02) as engine:
        engine.call("CreateTable", definition())
        engine.call("UpdateTimeToLive", setting(True))
        engine.call("PutItem", until("rex", {"N": str(NOW + 60)}))
        clock.move(timedelta(seconds=61))
        give_up = time.monotonic() + 30
        while held(engine) and time.monotonic() < give_up:
            time.sleep(0.01)
        assert held(engine) == []


def test_ninety_days_pass_in_a_moment(clock: Clock) -> None:
    with testing.engine(world=clock.world()) as engine:
        engine.call("CreateTable", definition())
        engine.call("UpdateTimeToLive", setting(True))
        for day in range(100):
            engine.call("PutItem", until(f"day {day:02}", {"N": str(NOW + day * 86_400)}))
        clock.move(timedelta(days=90))
        engine.settle()
        assert held(engine) == [f"day {day}" for day in range(90, 100)]


@pytest.mark.parametrize(
    "options", [{"ttl_seconds": 0}, {"ttl_seconds": -1.0}, {"ttl_lag": timedelta(seconds=-1)}]
)
def test_a_period_or_a_lag_that_makes_no_sense_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="ttl_seconds is more than 0, ttl_lag not less than 0"):
        Engine.open(**options)


def test_a_long_sweep_keeps_neither_shards_nor_journal_waiting(expiring: SteppedEngine, clock: Clock) -> None:
    expiring.call("UpdateTable", enable())
    for number in range(20):
        expiring.call("PutItem", until(f"pet {number}", {"N": str(NOW + 60)}))
    clock.move(timedelta(hours=25))
    with patch.object(ttl, "SWEPT_ITEMS", 1):
        for _ in range(10):
            assert expiring.background.run_maintenance_step(due=True)
    assert held(expiring) != []
    assert len(shards(expiring, arn_of(expiring))) == 2
    assert records(expiring)[0][0] > 1
