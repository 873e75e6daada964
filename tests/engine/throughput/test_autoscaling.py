"""Provisioned units follow what is used: up after two minutes, down after fifteen, within bounds and daily rules."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.engine.replicating import HERE, THERE, regions_of, update
from tests.engine.tables import definition, put

from tablewright import Engine, testing
from tablewright.client import CallRefused, Credentials, HttpCall, Retries
from tablewright.engine.catalog import Throughput
from tablewright.engine.metrics.store import ScalingTarget
from tablewright.engine.throughput.autoscaling import may_decrease, wanted_units
from tablewright.wire import serving

MINUTE = timedelta(minutes=1)
UNITS = {"ReadCapacityUnits": 10, "WriteCapacityUnits": 10}


@pytest.fixture
def engine(clock: testing.Clock) -> Iterator[Engine]:
    """A table and an index with ten units of each kind."""
    with testing.engine(world=clock.world()) as opened:
        opened.call("CreateTable", provisioned())
        yield opened


def provisioned() -> dict[str, Any]:
    request = definition(indexes=("colour",)) | {"BillingMode": "PROVISIONED", "ProvisionedThroughput": UNITS}
    request["GlobalSecondaryIndexes"][0] |= {"ProvisionedThroughput": UNITS}
    return request


def use(engine: Engine, clock: testing.Clock, units_a_second: float, minutes: int = 1) -> None:
    """So many write units a second, for some minutes."""
    for _ in range(minutes):
        left = round(units_a_second * 60)
        while left > 0:
            size = min(left, 300)
            engine.call("PutItem", put(f"{clock.now()} {left}", text="x" * (size * 1024 - 100)))
            left -= size
        clock.move(MINUTE)
        engine.settle()


def units(engine: Engine) -> tuple[int, int]:
    shown = engine.call("DescribeTable", {"TableName": "pets"})["Table"]["ProvisionedThroughput"]
    return shown["ReadCapacityUnits"], shown["WriteCapacityUnits"]


def scale(
    engine: Engine,
    *,
    kind: str,
    index: str = "",
    target: float = 70,
    least: int = 1,
    most: int = 40_000,
    off: bool = False,
) -> None:
    """Let units of the pets follow what is used; or no longer."""
    policy = {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": target}}
    setting: dict[str, Any] = {"MinimumUnits": least, "MaximumUnits": most, "ScalingPolicyUpdate": policy}
    change = {
        f"Provisioned{kind}CapacityAutoScalingUpdate": {"AutoScalingDisabled": True} if off else setting
    }
    before = "Replica" if kind == "Read" else ""
    update: dict[str, Any] = {before + name: value for name, value in change.items()}
    if index:
        update = {f"{before}GlobalSecondaryIndexUpdates": [{"IndexName": index, **change}]}
    if kind == "Read":
        update = {"ReplicaUpdates": [{"RegionName": engine.place.region, **update}]}
    engine.call("UpdateTableReplicaAutoScaling", {"TableName": "pets", **update})


def test_two_minutes_above_the_target_raise_the_units_to_it(engine: Engine, clock: testing.Clock) -> None:
    scale(engine, kind="Write", target=50, least=5, most=100)
    use(engine, clock, 8)
    assert units(engine) == (10, 10)
    use(engine, clock, 9)
    assert units(engine) == (10, 18)


def test_units_stay_within_their_bounds(engine: Engine, clock: testing.Clock) -> None:
    scale(engine, kind="Write", target=50, least=5, most=15)
    use(engine, clock, 30, minutes=2)
    assert units(engine) == (10, 15)
    scale(engine, kind="Read", target=50, least=12, most=15)
    engine.settle()
    assert units(engine) == (12, 15)


def test_fifteen_quiet_minutes_lower_the_units(engine: Engine, clock: testing.Clock) -> None:
    scale(engine, kind="Write", target=70, least=1, most=100)
    use(engine, clock, 1, minutes=14)
    assert units(engine) == (10, 10)
    use(engine, clock, 1)
    assert units(engine) == (10, 2)


def test_a_table_without_traffic_is_left_as_it_is(engine: Engine, clock: testing.Clock) -> None:
    scale(engine, kind="Write", target=70, least=1, most=100)
    for _ in range(30):
        clock.move(MINUTE)
        engine.settle()
    assert units(engine) == (10, 10)


def test_an_index_follows_its_own_traffic(engine: Engine, clock: testing.Clock) -> None:
    scale(engine, kind="Write", index="colour", target=50, least=5, most=100)
    for _ in range(2):
        for count in range(3):
            engine.call("PutItem", put("a", colour=str(count), text="x" * 300_000))
        clock.move(MINUTE)
        engine.settle()
    (index,) = engine.call("DescribeTable", {"TableName": "pets"})["Table"]["GlobalSecondaryIndexes"]
    assert index["ProvisionedThroughput"]["WriteCapacityUnits"] > 40
    assert units(engine) == (10, 10)


def test_a_rate_that_was_throttled_is_let_through_once_the_units_have_followed(clock: testing.Clock) -> None:
    """Over HTTP, with limits that are enforced: what is asked for stays the same, the units come up to it."""
    world = clock.world()
    with (
        testing.engine(world=world, throttling=True) as engine,
        serving(engine, world=world) as url,
        HttpCall(url, "us-east-1", Credentials("any", "any"), retries=Retries(1)) as call,
    ):
        few = {"ReadCapacityUnits": 10, "WriteCapacityUnits": 2}
        call("CreateTable", definition() | {"BillingMode": "PROVISIONED", "ProvisionedThroughput": few})
        target = {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": 50.0}}
        limits = {"MinimumUnits": 1, "MaximumUnits": 40, "ScalingPolicyUpdate": target}
        call(
            "UpdateTableReplicaAutoScaling",
            {"TableName": "pets", "ProvisionedWriteCapacityAutoScalingUpdate": limits},
        )

        def refused_in_a_minute() -> int:
            """Eight units a second, for a minute; how many of its writes were refused."""
            refused = 0
            for _ in range(60):
                try:
                    call("PutItem", put("rex", text="x" * 8000))
                except CallRefused as refusal:
                    refused += refusal.name == "ProvisionedThroughputExceededException"
                clock.move(timedelta(seconds=1))
            engine.settle()
            return refused

        refusals = [refused_in_a_minute() for _ in range(12)]
        assert refusals[0] > 0
        assert refusals[-1] == 0
        provisioned = call("DescribeTable", {"TableName": "pets"})["Table"]["ProvisionedThroughput"]
        assert 8 <= provisioned["WriteCapacityUnits"] <= 40


def test_a_replica_pays_for_what_all_write_so_that_none_lowers_what_another_needs(
    clock: testing.Clock,
) -> None:
    with regions_of(clock) as regions:
        home, there = regions[HERE], regions[THERE]
        home.call("CreateTable", provisioned())
        for index in ("", "colour"):
            scale(home, kind="Write", index=index, target=70, least=1, most=100)
        home.call("UpdateTable", update("Create", THERE))
        regions.settle()
        assert there.autoscaling.settings() == home.autoscaling.settings()
        home.call("PutItem", put("rex", colour="red", text="x" * 2000))
        home.call("PutItem", put("rex", colour="red", text="x" * 3000))
        regions.settle()
        for index, units in (("", 3.0), ("colour", 3.0)):
            (point,) = there.metrics.series("ConsumedWriteCapacityUnits", table="pets", index=index)
            assert point.sum == units  # of two changes of one key the last is sent
        scale(there, kind="Write", index="colour", off=True)
        regions.settle()
        assert [one.index_name for one in home.autoscaling.settings()] == [""]


def test_units_are_lowered_four_times_a_day_and_then_once_an_hour() -> None:
    noon = 43_200.0
    assert may_decrease(Throughput(), noon)
    assert may_decrease(Throughput(decreased=noon - 60, decreases_today=3), noon)
    assert not may_decrease(Throughput(decreased=noon - 60, decreases_today=4), noon)
    assert may_decrease(Throughput(decreased=noon - 3_600, decreases_today=4), noon)
    assert may_decrease(Throughput(decreased=noon, decreases_today=9), noon + 86_400)


def test_a_gap_between_two_busy_minutes_raises_nothing() -> None:
    setting = ScalingTarget("pets", "", "Read", 50, 1, 100)
    assert wanted_units({99: 9.0, 97: 9.0}, 10, setting, 100) is None
    assert wanted_units({99: 9.0, 98: 6.0}, 10, setting, 100) == 18


def test_settings_outlive_the_process_and_can_be_removed(store: Path) -> None:
    with Engine.open(store) as engine:
        engine.call("CreateTable", provisioned())
        scale(engine, kind="Read")
    with Engine.open(store) as engine:
        assert engine.autoscaling.settings() == [ScalingTarget("pets", "", "Read", 70, 1, 40_000)]
        scale(engine, kind="Read", off=True)
        assert engine.autoscaling.settings() == []


def test_the_settings_of_a_table_go_with_it(engine: Engine, clock: testing.Clock) -> None:
    scale(engine, kind="Read")
    engine.call("DeleteTable", {"TableName": "pets"})
    clock.move(MINUTE)
    engine.settle()
    assert engine.autoscaling.settings() == []


def follow(engine: Engine, **said: Any) -> None:
    """Let write units follow what is used, with what else is said of how."""
    policy = {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": 50, **said}}
    setting = {"MinimumUnits": 1, "MaximumUnits": 100, "ScalingPolicyUpdate": policy}
    request = {"TableName": "pets", "ProvisionedWriteCapacityAutoScalingUpdate": setting}
    engine.call("UpdateTableReplicaAutoScaling", request)


def test_units_are_not_lowered_where_that_is_disabled(engine: Engine, clock: testing.Clock) -> None:
    follow(engine, DisableScaleIn=True)
    use(engine, clock, 1, minutes=16)
    assert units(engine) == (10, 10)
    use(engine, clock, 9, minutes=2)
    assert units(engine) == (10, 18)
    follow(engine, DisableScaleIn=False)
    use(engine, clock, 1, minutes=15)
    assert units(engine) == (10, 2)


def test_units_are_raised_again_only_after_the_cooldown(engine: Engine, clock: testing.Clock) -> None:
    follow(engine, ScaleOutCooldown=300)
    use(engine, clock, 8, minutes=2)
    assert units(engine) == (10, 16)
    use(engine, clock, 20, minutes=4)
    assert units(engine) == (10, 16)
    use(engine, clock, 20)
    assert units(engine) == (10, 40)


def test_units_are_lowered_again_only_after_the_cooldown(engine: Engine, clock: testing.Clock) -> None:
    follow(engine, ScaleInCooldown=1200)
    use(engine, clock, 2, minutes=15)
    assert units(engine) == (10, 4)
    use(engine, clock, 0.5, minutes=19)
    assert units(engine) == (10, 4)
    use(engine, clock, 0.5)
    assert units(engine) == (10, 1)


def test_what_was_said_of_a_policy_outlives_the_process_and_a_change_of_its_target(store: Path) -> None:
    with Engine.open(store, durability="relaxed") as engine:
        engine.call("CreateTable", provisioned())
        follow(engine, ScaleInCooldown=60)
    with Engine.open(store, durability="relaxed") as engine:
        scale(engine, kind="Write", target=80, least=1, most=5)
        asked = {"TableName": "pets"}
        shown = engine.call("DescribeTableReplicaAutoScaling", asked)["TableAutoScalingDescription"]
        setting = shown["Replicas"][0]["ReplicaProvisionedWriteCapacityAutoScalingSettings"]
        assert setting["ScalingPolicies"][0]["TargetTrackingScalingPolicyConfiguration"] == {
            "ScaleInCooldown": 60,
            "TargetValue": 80.0,
        }
        scale(engine, kind="Write", off=True)
        assert engine.tables["pets"].scaling == {}
