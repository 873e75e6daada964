"""Replicas of a table: they are copied, follow each other, share some settings, come and go."""

from datetime import timedelta
from pathlib import Path

import pytest
from tests.engine.replicating import (
    ALL,
    ELSEWHERE,
    HERE,
    THERE,
    Json,
    described,
    follow,
    regions_of,
    replicate,
    statuses,
    update,
)
from tests.engine.stream_reader import arn_of, read_all
from tests.engine.stream_reader import names as record_names
from tests.engine.tables import create_index, definition, found, item, keyed, names, put, records, transaction
from tests.engine.throughput.test_autoscaling import scale

from tablewright import Engine, ServiceError
from tablewright.engine import Regions, RegionsMistake, verify_store
from tablewright.engine.api.tables import drop_table
from tablewright.engine.journal import REPLICA
from tablewright.engine.replication import follow as following
from tablewright.engine.replication.store import Stamp, all_stamps, set_stamp
from tablewright.testing import Clock

SECOND = timedelta(seconds=1)


def stamps(engine: Engine) -> list[tuple[bytes, Stamp]]:
    stamp_table = engine.tables["pets"].stamp_table
    return engine.session.read(lambda reading: list(all_stamps(reading.rows, stamp_table)))


# --- copying and following ---


def test_a_new_replica_gets_the_items_that_are_there(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = regions[HERE]
        home.call("CreateTable", definition(indexes=("colour",)))
        for number in range(5):
            home.call("PutItem", put(f"pet {number}", colour="red"))
        answer = home.call("UpdateTable", update("Create", THERE))["TableDescription"]
        assert (answer["TableStatus"], answer["Replicas"]) == ("UPDATING", [])
        assert statuses(home) == {THERE: "CREATING"}
        regions.settle()
        assert statuses(home) == {THERE: "ACTIVE"}
        assert statuses(regions[THERE]) == {HERE: "ACTIVE"}
        assert names(regions[THERE]) == [f"pet {number}" for number in range(5)]
        assert names(regions[THERE], "colour") == names(home, "colour")


def test_copying_goes_in_small_steps_while_both_are_written(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "COPIED", 2)
    with regions_of(clock) as regions:
        home, there = regions[HERE], regions[THERE]
        home.call("CreateTable", definition())
        for number in range(9):
            home.call("PutItem", put(f"pet {number}", age=1))
        home.call("UpdateTable", update("Create", THERE))
        follow(regions, (HERE, THERE))  # the home region asks the other to join
        for step in range(12):
            assert there.verify() == []
            if step == 2:
                with pytest.raises(ServiceError, match="ResourceNotFound"):
                    there.call("GetItem", keyed("pet 1"))
            follow(regions, (THERE, HERE))
            home.call("PutItem", put(f"pet {step % 9}", age=2 + step))
            home.call("DeleteItem", keyed(f"pet {8 - step % 3}"))
        regions.settle()
        assert [found(there, f"pet {n}") for n in range(9)] == [found(home, f"pet {n}") for n in range(9)]


def test_every_replica_takes_writes_and_hears_of_the_others(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        replicate(regions, THERE, ELSEWHERE)
        for region in ALL:
            regions[region].call("PutItem", put(f"from {region}"))
        regions.settle()
        for region in ALL:
            assert names(regions[region]) == sorted(f"from {each}" for each in ALL)


def test_a_delete_goes_everywhere_and_leaves_no_stamp_in_the_end(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        home.call("PutItem", put("rex"))
        regions.settle()
        regions[THERE].call("DeleteItem", keyed("rex"))
        regions.settle()
        assert names(home) == []
        assert stamps(home) == stamps(regions[THERE]) == []


@pytest.mark.parametrize("first", [HERE, THERE])
def test_the_later_of_two_writes_wins_whoever_hears_first(clock: Clock, first: str) -> None:
    second = THERE if first == HERE else HERE
    with regions_of(clock) as regions:
        replicate(regions)
        regions[first].call("PutItem", put("rex", age=1))
        clock.move(SECOND)
        regions[second].call("PutItem", put("rex", age=2))
        regions.settle()
        assert found(regions[first], "rex") == found(regions[second], "rex") == item("rex", age=2)


def test_a_delete_is_remembered_until_the_last_region_has_read_it(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        regions.cut(ELSEWHERE)
        regions[ELSEWHERE].call("PutItem", put("rex"))
        clock.move(timedelta(seconds=1))
        home.call("DeleteItem", keyed("rex"))
        regions.settle()  # the third has not read it, and has an older write
        regions.mend(ELSEWHERE)
        regions.settle()
        assert [names(regions[one]) for one in ALL] == [[], [], []]


def test_of_two_writes_at_the_same_moment_the_later_region_name_wins(clock: Clock) -> None:
    with regions_of(clock) as regions:
        replicate(regions)
        regions[HERE].call("PutItem", put("rex", age=1))
        regions[THERE].call("PutItem", put("rex", age=2))
        regions.settle()
        assert found(regions[HERE], "rex") == found(regions[THERE], "rex") == item("rex", age=1)


def test_a_write_that_knows_the_other_is_later_even_when_the_clock_stands_still(clock: Clock) -> None:
    with regions_of(clock) as regions:
        replicate(regions)
        for round_ in range(3):
            for region in (HERE, THERE):
                regions[region].call("PutItem", put("rex", age=f"{round_} {region}"))
                regions.settle()
        assert found(regions[HERE], "rex") == found(regions[THERE], "rex") == item("rex", age=f"2 {THERE}")


def test_a_put_that_changes_nothing_is_a_write_all_the_same(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        home.call("PutItem", put("rex", age=1))
        regions.settle()
        regions[THERE].call("PutItem", put("rex", age=2))
        clock.move(SECOND)
        rows = len(records(home))
        home.call("PutItem", put("rex", age=1))
        assert len(records(home)) == rows
        regions.settle()
        assert found(regions[THERE], "rex") == item("rex", age=1)


def test_a_delete_of_what_is_not_here_yet_deletes_it_when_it_comes(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        regions[THERE].call("PutItem", put("rex"))
        clock.move(SECOND)
        home.call("DeleteItem", keyed("rex"))
        regions.settle()
        assert names(home) == names(regions[THERE]) == []


def test_a_condition_check_is_no_write(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        home.call("PutItem", put("rex", age=1))
        regions.settle()
        regions[THERE].call("PutItem", put("rex", age=2))
        clock.move(SECOND)
        check = {"ConditionCheck": keyed("rex") | {"ConditionExpression": "attribute_exists(pk)"}}
        home.call("TransactWriteItems", transaction(check, {"Put": put("tom")}))
        regions.settle()
        assert found(home, "rex") == item("rex", age=2)


def test_what_another_region_wrote_is_marked_in_the_journal_and_not_sent_on(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        home.call("PutItem", put("rex"))
        regions.settle()
        assert [source for _, _, source, *_ in records(regions[THERE])] == [REPLICA]
        assert len(records(home)) == 1


def test_each_replica_has_a_stream_of_its_own(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        home.call("PutItem", put("rex"))
        regions.settle()
        there = regions[THERE]
        assert arn_of(home) != arn_of(there)
        assert record_names(read_all(there, arn_of(there))) == [("INSERT", "rex")]
        (record,) = read_all(there, arn_of(there))
        assert record["awsRegion"] == THERE


def test_what_time_deletes_goes_everywhere_and_only_where_it_was_swept_says_who_did_it(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        specification = {"Enabled": True, "AttributeName": "until"}
        home.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": specification})
        home.call("PutItem", put("rex", until=int(clock.now().timestamp()) + 10))
        regions.settle()
        clock.move(timedelta(minutes=1))
        home.settle()
        regions.settle()
        there = regions[THERE]
        assert names(home) == names(there) == []
        assert "userIdentity" in read_all(home, arn_of(home))[-1]
        assert "userIdentity" not in read_all(there, arn_of(there))[-1]


def test_a_write_that_keeps_an_item_wins_over_a_sweep_that_did_not_know(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        specification = {"Enabled": True, "AttributeName": "until"}
        home.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": specification})
        now = int(clock.now().timestamp())
        home.call("PutItem", put("rex", until=now + 10))
        regions.settle()
        clock.move(SECOND)
        regions[THERE].call("PutItem", put("rex", until=now + 10_000))
        clock.move(timedelta(minutes=1))
        regions.cut(HERE)
        home.settle()
        assert names(home) == []
        regions.mend(HERE)
        regions.settle()
        assert names(home) == names(regions[THERE]) == ["rex"]


# --- lines ---


def test_a_region_that_was_cut_off_catches_up(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        regions.cut(THERE)
        for number in range(30):
            home.call("PutItem", put(f"pet {number % 7}", age=number))
            regions[THERE].call("PutItem", put(f"cat {number}"))
        clock.move(timedelta(days=3))
        regions.settle()
        (behind,) = [lag for lag in regions.lag() if lag.source == HERE]
        assert (behind.reader, behind.pending) == (THERE, 7)
        assert behind.seconds == pytest.approx(3 * 86_400, abs=1)
        regions.mend(THERE)
        regions.settle()
        assert names(home) == names(regions[THERE])
        assert [(lag.pending, lag.seconds) for lag in regions.lag()] == [(0, None)] * 2


def test_a_slow_line_tells_what_is_old_enough(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        regions.line(THERE, HERE).lag = timedelta(seconds=10)
        home.call("PutItem", put("rex"))
        clock.move(timedelta(seconds=9))
        regions.settle()
        assert names(regions[THERE]) == []
        clock.move(SECOND)
        regions.settle()
        assert names(regions[THERE]) == ["rex"]


def test_how_long_a_write_was_on_its_way_is_measured(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        home.call("PutItem", put("rex"))
        clock.move(timedelta(seconds=2))
        regions.settle()
        assert latency(regions[HERE], THERE) == [2000]
        assert latency(regions[THERE], THERE) == []  # it is the figure of the region that was written in


def latency(engine: Engine, receiving: str) -> list[int]:
    points = engine.metrics.series("ReplicationLatency", table="pets", operation=receiving)
    return [round(point.sum) for point in points]


def test_what_time_deletes_was_on_its_way_since_it_was_deleted(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        specification = {"Enabled": True, "AttributeName": "until"}
        home.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": specification})
        home.call("PutItem", put("rex", until=int(clock.now().timestamp()) + 60))
        regions.settle()
        clock.move(timedelta(days=90))
        regions.cut(THERE)
        home.settle()
        assert names(home) == []
        clock.move(timedelta(seconds=3))
        assert [lag.seconds for lag in regions.lag() if lag.pending] == [3.0]
        regions.mend(THERE)
        # The other region must not sweep it before it hears of it.
        follow(regions, (THERE, HERE))
        regions.settle()
        assert names(regions[THERE]) == []
        since = clock.now() - timedelta(hours=1)
        points = home.metrics.series("ReplicationLatency", table="pets", operation=THERE, since=since)
        assert [round(point.sum) for point in points] == [3000]


# --- settings ---


def test_indexes_and_time_to_live_are_shared_from_any_region(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home, there = replicate(regions), regions[THERE]
        home.call("PutItem", put("rex", colour="red", size="big"))
        regions.settle()
        there.call("UpdateTable", create_index("colour"))
        regions.settle()
        home.call("UpdateTable", create_index("size"))
        specification = {"Enabled": True, "AttributeName": "until"}
        there.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": specification})
        regions.settle()
        for engine in (home, there):
            assert names(engine, "colour") == names(engine, "size") == ["rex"]
            status = engine.call("DescribeTimeToLive", {"TableName": "pets"})["TimeToLiveDescription"]
            assert status["AttributeName"] == "until"
        delete = {"TableName": "pets", "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "colour"}}]}
        there.call("UpdateTable", delete)
        specification["Enabled"] = False
        home.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": specification})
        regions.settle()
        for engine in (home, there):
            assert [one["IndexName"] for one in described(engine)["GlobalSecondaryIndexes"]] == ["size"]
            assert len(described(engine)["AttributeDefinitions"]) == 2


def test_protection_tags_and_class_are_each_region_s_own(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home, there = replicate(regions), regions[THERE]
        home.call("UpdateTable", {"TableName": "pets", "DeletionProtectionEnabled": True})
        there.call("UpdateTable", {"TableName": "pets", "TableClass": "STANDARD_INFREQUENT_ACCESS"})
        arn = described(home)["TableArn"]
        home.call("TagResource", {"ResourceArn": arn, "Tags": [{"Key": "k", "Value": "v"}]})
        regions.settle()
        assert described(there)["DeletionProtectionEnabled"] is False
        assert "TableClassSummary" not in described(home)
        assert there.call("ListTagsOfResource", {"ResourceArn": described(there)["TableArn"]})["Tags"] == []


def overriding(units: int) -> Json:
    return update("Update", THERE, OnDemandThroughputOverride={"MaxReadRequestUnits": units})


def test_an_override_is_the_region_s_own_until_it_says_what_all_have(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home, there = replicate(regions), regions[THERE]
        home.call("UpdateTable", {"TableName": "pets", "OnDemandThroughput": {"MaxReadRequestUnits": 50}})
        regions.settle()
        assert described(there)["OnDemandThroughput"]["MaxReadRequestUnits"] == 50
        home.call("UpdateTable", overriding(7))
        regions.settle()
        assert described(there)["OnDemandThroughput"]["MaxReadRequestUnits"] == 7
        (shown,) = described(home)["Replicas"]
        assert shown["OnDemandThroughputOverride"] == {"MaxReadRequestUnits": 7}
        there.call("UpdateTable", create_index("colour"))
        regions.settle()
        assert described(home)["OnDemandThroughput"]["MaxReadRequestUnits"] == 50
        home.call("UpdateTable", overriding(50))
        regions.settle()
        assert described(there)["OnDemandThroughput"]["MaxReadRequestUnits"] == 50
        (shown,) = described(home)["Replicas"]
        assert "OnDemandThroughputOverride" not in shown


def test_provisioned_units_follow_if_writing_is_scaled(clock: Clock) -> None:
    units = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    with regions_of(clock) as regions:
        home = regions[HERE]
        home.call(
            "CreateTable", definition() | {"BillingMode": "PROVISIONED", "ProvisionedThroughput": units}
        )
        with pytest.raises(ServiceError, match="Table write capacity should"):
            home.call("UpdateTable", update("Create", THERE))
        scale(home, kind="Write", least=1, most=100)
        home.call("UpdateTable", update("Create", THERE))
        regions.settle()
        home.call(
            "UpdateTable", {"TableName": "pets", "ProvisionedThroughput": units | {"WriteCapacityUnits": 9}}
        )
        home.call(
            "UpdateTable", update("Update", THERE, ProvisionedThroughputOverride={"ReadCapacityUnits": 7})
        )
        regions.settle()
        there = described(regions[THERE])["ProvisionedThroughput"]
        assert (there["ReadCapacityUnits"], there["WriteCapacityUnits"]) == (7, 9)
        assert described(home)["ProvisionedThroughput"]["ReadCapacityUnits"] == 5


# --- coming and going ---


def test_a_replica_can_be_added_from_any_of_them(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions)
        home.call("PutItem", put("rex"))
        clock.move(SECOND)
        regions[THERE].call("UpdateTable", update("Create", ELSEWHERE))
        regions.settle()
        assert [one["RegionName"] for one in described(home)["Replicas"]] == [THERE, ELSEWHERE]
        assert [one["RegionName"] for one in described(regions[THERE])["Replicas"]] == [HERE, ELSEWHERE]
        assert [one["RegionName"] for one in described(regions[ELSEWHERE])["Replicas"]] == [HERE, THERE]
        regions[ELSEWHERE].call("PutItem", put("tom"))
        regions.settle()
        assert names(home) == names(regions[THERE]) == ["rex", "tom"]


def test_a_replica_that_is_taken_away_takes_its_table_with_it(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        home.call("PutItem", put("rex"))
        regions.settle()
        home.call("UpdateTable", update("Delete", THERE))
        assert statuses(home) == {THERE: "DELETING"}
        regions.settle()
        assert regions[THERE].call("ListTables", {})["TableNames"] == []
        shown = described(home)
        assert "Replicas" not in shown
        assert "GlobalTableVersion" not in shown
        assert shown["StreamSpecification"]["StreamEnabled"] is True
        assert home.tables["pets"].replicas is None
        home.call("UpdateTable", update("Create", THERE))
        regions.settle()
        regions[THERE].call("PutItem", put("tom"))
        regions.settle()
        assert names(home) == names(regions[THERE]) == ["rex", "tom"]


def test_a_replica_comes_again_while_others_remember_it(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        regions[ELSEWHERE].call("PutItem", put("rex", age=1))
        regions.settle()
        home.call("UpdateTable", update("Delete", ELSEWHERE))
        regions.settle()
        assert statuses(regions[THERE]) == {HERE: "ACTIVE"}
        clock.move(SECOND)
        home.call("UpdateTable", update("Create", ELSEWHERE))
        regions.settle()
        regions[ELSEWHERE].call("PutItem", put("rex", age=2))
        regions.settle()
        assert found(home, "rex") == found(regions[THERE], "rex") == item("rex", age=2)


def test_a_table_dropped_in_its_region_is_one_replica_less(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        regions[THERE].call("DeleteTable", {"TableName": "pets"})
        regions.settle()
        assert "Replicas" not in described(home)


def test_who_was_copied_from_stays_for_a_day_or_until_the_copy_is_gone(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        with pytest.raises(ServiceError, match="acted as a source region"):
            home.call("DeleteTable", {"TableName": "pets"})
        with pytest.raises(ServiceError, match="acted as a source region"):
            regions[THERE].call("UpdateTable", update("Delete", HERE))
        clock.move(timedelta(days=1))
        home.call("DeleteTable", {"TableName": "pets"})
        regions.settle()
        assert "Replicas" not in described(regions[THERE])


def test_a_protected_replica_is_not_taken_away(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        regions[THERE].call("UpdateTable", {"TableName": "pets", "DeletionProtectionEnabled": True})
        with pytest.raises(ServiceError, match=f"in region {THERE} because it has deletion protection"):
            home.call("UpdateTable", update("Delete", THERE))


def test_a_replica_that_is_protected_after_its_deletion_was_requested_stays_until_it_is_not(
    clock: Clock,
) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        home.call("UpdateTable", update("Delete", THERE))
        protect = {"TableName": "pets", "DeletionProtectionEnabled": True}
        regions[THERE].call("UpdateTable", protect)
        regions.settle()
        assert statuses(home) == {THERE: "DELETING"}
        assert "pets" in regions[THERE].tables
        regions[THERE].call("UpdateTable", {**protect, "DeletionProtectionEnabled": False})
        regions.settle()
        assert statuses(home) == {}
        assert "pets" not in regions[THERE].tables


def test_a_replica_whose_source_is_lost_while_it_is_copied_goes_on_with_another_or_goes(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "COPIED", 1)
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions)
        for number in range(5):
            home.call("PutItem", put(f"pet {number}"))
        regions.settle()
        regions[THERE].call("UpdateTable", update("Create", ELSEWHERE))
        follow(regions, (THERE, ELSEWHERE), (ELSEWHERE, THERE), (HERE, THERE))
        assert regions[ELSEWHERE].tables["pets"].status == "CREATING"
        # Its store is lost: the table is gone without anybody being asked.
        regions[THERE].session.write(lambda writing: drop_table(writing, writing.tables["pets"]))
        regions.settle()
        assert names(regions[ELSEWHERE]) == names(home)
    with regions_of(clock) as regions:
        home = regions[HERE]
        home.call("CreateTable", definition())
        for number in range(5):
            home.call("PutItem", put(f"pet {number}"))
        home.call("UpdateTable", update("Create", THERE))
        for _ in range(2):
            regions.follow()
        assert regions[THERE].tables["pets"].status == "CREATING"
        home.session.write(lambda writing: drop_table(writing, writing.tables["pets"]))
        regions.settle()
        assert regions[THERE].call("ListTables", {})["TableNames"] == []


# --- stores ---


def test_regions_are_stores_below_the_home_region_s(clock: Clock, store: Path) -> None:
    with Engine.open(store, durability="relaxed") as engine:
        engine.call("CreateTable", definition())
        engine.call("PutItem", put("rex"))
    options = {"also": [THERE], "durability": "relaxed", "period": None}
    with Regions.open(store, home=HERE, **options) as regions:  # type: ignore[arg-type]  # mixed kinds
        regions[HERE].call("UpdateTable", update("Create", THERE))
        regions.settle()
    assert (store / "regions" / THERE).is_dir()
    assert verify_store(store) == []
    with Regions.open(store, home=HERE, **options) as regions:  # type: ignore[arg-type]  # mixed kinds
        regions[THERE].call("PutItem", put("tom"))
        regions.settle()
        assert names(regions[HERE]) == ["rex", "tom"]


def test_followers_follow_by_themselves(store: Path) -> None:
    with Regions.open(store, home=HERE, also=[THERE], durability="relaxed", period=0.01) as regions:
        home = regions[HERE]
        home.call("CreateTable", definition())
        home.call("UpdateTable", update("Create", THERE))
        for _ in range(2000):
            if statuses(home) == {THERE: "ACTIVE"}:
                break
            regions.settle()
        home.call("PutItem", put("rex"))
        regions.settle()
        assert names(regions[THERE]) == ["rex"]


@pytest.mark.parametrize(
    ("home", "also"), [("us-east-1", ["us-east-1"]), ("US", []), ("us-east-1", ["../there"]), ("", [])]
)
def test_regions_that_cannot_be_are_refused(home: str, also: list[str]) -> None:
    with pytest.raises(RegionsMistake):
        Regions.open(home=home, also=also)


def test_a_missing_stamp_is_found(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        home.call("PutItem", put("rex"))
        stamp_table = home.tables["pets"].stamp_table
        ((key, kept),) = stamps(home)
        home.session.write(lambda writing: set_stamp(writing.rows, stamp_table, key, None))
        assert home.verify() == [f"replicas of pets: {key.hex()} was written and has no stamp"]
        home.session.write(lambda writing: set_stamp(writing.rows, stamp_table, key, kept._replace(gone=1)))
        assert "does not say whether there is an item" in home.verify()[0]
        home.session.write(
            lambda writing: set_stamp(writing.rows, stamp_table, key, kept._replace(number=2**60))
        )
        assert "were given" in home.verify()[0]
        home.session.write(lambda writing: set_stamp(writing.rows, stamp_table, key, kept))
