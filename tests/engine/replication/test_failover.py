"""Fail-over: one region writes; the others refuse writes, and what they had that was not replicated is listed."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.engine.replicating import (
    ALL,
    ELSEWHERE,
    HERE,
    THERE,
    follow,
    regions_of,
    replicate,
    statuses,
    update,
)
from tests.engine.tables import found, item, keyed, names, put, transaction

from tablewright import Engine, ServiceError
from tablewright.engine.metrics.replica_status import statuses as replica_statuses
from tablewright.engine.replication import failover as failing_over
from tablewright.engine.replication import follow as following
from tablewright.engine.replication import store as replica_store
from tablewright.engine.replication.failover import (
    FailoverRefused,
    failover,
    fence,
    plan_failover,
    rejoin,
    unreplicated,
)
from tablewright.engine.replication.regions import Regions
from tablewright.engine.transaction import WriteTransaction
from tablewright.engine.verify.region_items import compare
from tablewright.testing import Clock


def refuses(engine: Engine) -> bool:
    try:
        engine.call("PutItem", put("probe"))
    except ServiceError as refusal:
        return refusal.name == "ReplicaNotWriterException"
    engine.call("DeleteItem", keyed("probe"))
    return False


def lost_keys(regions: Regions, region: str) -> list[str]:
    return sorted(one.key["pk"]["S"] for one in unreplicated(regions, region) if isinstance(one.key, dict))


def fenced(regions: Regions) -> list[str]:
    return [one.region for one in replica_statuses(regions.engines) if one.unreplicated is not None]


def is_equal(regions: Regions, *others: str) -> bool:
    return all(not compare(regions[HERE], regions[one], "pets").different for one in others or (THERE,))


# --- one writer ---


def test_only_the_writer_takes_writes(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        replicate(regions, THERE, ELSEWHERE)
        (done,) = failover(regions, THERE)
        assert (done.writer, done.before, done.epoch, list(done.unread)) == (THERE, None, 1, [])
        assert [refuses(regions[one]) for one in ALL] == [True, False, True]
        for request in (
            ("DeleteItem", keyed("rex")),
            ("UpdateItem", keyed("rex")),
            ("BatchWriteItem", {"RequestItems": {"pets": [{"PutRequest": {"Item": item("rex")}}]}}),
            ("TransactWriteItems", transaction({"Put": put("rex")})),
            ("ExecuteStatement", {"Statement": "INSERT INTO pets VALUE {'pk': 'rex'}"}),
        ):
            with pytest.raises(ServiceError, match=f"its writer is {THERE} since epoch 1"):
                regions[HERE].call(*request)
        regions[THERE].call("PutItem", put("rex"))
        regions.settle()
        assert [names(regions[one]) for one in ALL] == [["rex"]] * 3


def test_a_table_without_replicas_is_not_concerned(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        home.call("CreateTable", {**_definition(), "TableName": "cats"})
        failover(regions, THERE)
        home.call("PutItem", {"TableName": "cats", "Item": item("tom")})


def _definition() -> dict[str, object]:
    return {
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }


def test_a_planned_fail_over_reads_everything_first_and_loses_nothing(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        failover(regions, HERE)
        for number in range(250):
            home.call("PutItem", put(f"pet {number}"))
        failover(regions, THERE)
        assert len(names(regions[THERE])) == 250
        regions.settle()
        assert fenced(regions) == []
        assert is_equal(regions)
        regions[THERE].call("PutItem", put("last"))
        regions.settle()
        assert "last" in names(home)
        assert failover(regions, THERE) == []  # it is the writer already


def test_a_fail_over_lists_exactly_what_was_lost(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        failover(regions, HERE)
        for name in ("rex", "tom", "kit"):
            home.call("PutItem", put(name, age=1))
        regions.settle()
        regions.cut(HERE)
        home.call("PutItem", put("late"))
        home.call("PutItem", put("rex", age=2))
        home.call("DeleteItem", keyed("tom"))
        (plan,) = plan_failover(regions, THERE)
        assert list(plan.unread) == [HERE]
        failover(regions, THERE)
        assert refuses(home)  # also while its lines are cut
        regions[THERE].call("PutItem", put("new"))
        regions.settle()
        assert "new" not in names(home)
        regions.mend(HERE)
        regions.settle()
        assert fenced(regions) == [HERE]
        assert lost_keys(regions, HERE) == ["late", "rex", "tom"]
        lost = {
            one.key["pk"]["S"]: one.item for one in unreplicated(regions, HERE) if isinstance(one.key, dict)
        }
        assert lost == {"late": item("late"), "rex": item("rex", age=2), "tom": None}
        assert {one.region for one in unreplicated(regions, HERE)} == {HERE}
        assert names(home) == ["kit", "late", "rex"]  # nothing was taken from it yet
        assert refuses(home)
        assert rejoin(regions, HERE) == ["pets"]
        regions.settle()
        assert names(home) == ["kit", "new", "rex", "tom"]
        assert unreplicated(regions, HERE) == []
        assert is_equal(regions)
        assert statuses(regions[THERE]) == {HERE: "ACTIVE"}


def test_a_lost_region_is_not_touched_and_is_fenced_when_it_returns(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        failover(regions, HERE)
        regions.cut(HERE)
        failover(regions, THERE, lost=[HERE])
        assert not refuses(home)  # it has not heard of it
        home.call("PutItem", put("late"))
        regions.mend(HERE)
        follow(regions, (HERE, THERE))
        assert refuses(home)
        regions.settle()
        assert "late" in lost_keys(regions, HERE)
        assert names(regions[THERE]) == []


def test_a_fenced_region_does_not_read_what_it_cannot_apply(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        failover(regions, HERE)
        regions.cut(HERE)
        home.call("PutItem", put("late"))
        failover(regions, THERE)
        for number in range(5):
            regions[THERE].call("PutItem", put(f"pet {number}"))
        regions.mend(HERE)
        regions.settle()
        limits: list[int] = []
        read = replica_store.written_since

        def written_since(*given: Any) -> Any:
            limits.append(given[-1])
            return read(*given)

        monkeypatch.setattr(replica_store, "written_since", written_since)
        follow(regions, (HERE, THERE))
        assert limits == [1]  # one row says that there is more


def test_an_old_writer_that_lost_nothing_follows_at_once(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        failover(regions, HERE)
        home.call("PutItem", put("rex"))
        regions.settle()
        regions.cut(HERE)
        failover(regions, THERE, lost=[HERE])
        regions[THERE].call("PutItem", put("tom"))
        regions.mend(HERE)
        regions.settle()
        assert fenced(regions) == []
        assert names(home) == ["rex", "tom"]


def test_what_only_a_third_region_has_read_is_pulled_from_it(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        failover(regions, HERE)
        home.call("PutItem", put("rex"))
        follow(regions, (ELSEWHERE, HERE))
        regions.cut(HERE)
        failover(regions, THERE, lost=[HERE])
        assert names(regions[THERE]) == ["rex"]
        regions.mend(HERE)
        regions.settle()
        assert fenced(regions) == []
        assert is_equal(regions, THERE, ELSEWHERE)


def test_a_third_region_that_has_what_was_lost_is_fenced_too(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        failover(regions, HERE)
        home.call("PutItem", put("rex"))
        follow(regions, (ELSEWHERE, HERE))
        regions.cut(HERE)
        regions.cut(ELSEWHERE)
        failover(regions, THERE, lost=[HERE, ELSEWHERE])
        regions.mend(HERE, THERE)
        regions.settle()
        rejoin(regions, HERE)
        regions.settle()
        # Its numbers go on after those it lost: how far it was read does not show what a region lacks.
        failover(regions, HERE)
        home.call("PutItem", put("tom"))
        regions.mend(ELSEWHERE)
        regions.settle()
        assert fenced(regions) == [ELSEWHERE]
        assert lost_keys(regions, ELSEWHERE) == ["rex"]
        rejoin(regions, ELSEWHERE)
        regions.settle()
        assert [names(regions[one]) for one in ALL] == [["tom"]] * 3


def test_a_fail_over_back_to_the_old_writer(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        for writer in (HERE, THERE, HERE, THERE, HERE):
            failover(regions, writer)
            regions[writer].call("PutItem", put("rex", by=writer))
            regions.settle()
        assert found(home, "rex") == found(regions[THERE], "rex") == item("rex", by=HERE)
        group = home.tables["pets"].replicas
        assert group is not None
        assert [(one.epoch, one.writer) for one in group.takeovers][-1] == (5, HERE)


@pytest.mark.parametrize("broken", ["fence", "_open_writer"])
def test_a_fail_over_that_was_broken_off_is_completed_by_starting_it_again(
    clock: Clock, store: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    with regions_of(clock, path=store) as regions:
        home = replicate(regions)
        failover(regions, HERE)
        home.call("PutItem", put("rex"))

        def killed(*given: object, **more: object) -> None:
            """The step is done as far as the old writer is concerned, then the process ends."""
            if broken == "fence":
                fence(regions, plan_failover(regions, THERE)[0], lost=[THERE])
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(failing_over, broken, killed)
            with pytest.raises((KeyboardInterrupt, ServiceError)):
                failover(regions, THERE)
    with regions_of(clock, path=store) as regions:
        regions.settle()
        assert [refuses(regions[one]) for one in (HERE, THERE)] == [True, True]  # none writes, none is lost
        (done,) = failover(regions, THERE)
        assert done.epoch == 2
        regions.settle()
        assert [refuses(regions[one]) for one in (HERE, THERE)] == [True, False]
        assert fenced(regions) == []
        assert names(regions[THERE]) == ["rex"]


def test_a_broken_off_fail_over_may_go_to_another_region(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        replicate(regions, THERE, ELSEWHERE)
        failover(regions, HERE)
        (plan,) = plan_failover(regions, THERE)
        fence(regions, plan)
        (done,) = failover(regions, ELSEWHERE)
        assert done.epoch > plan.epoch
        regions.settle()
        assert [refuses(regions[one]) for one in ALL] == [True, True, False]


def test_of_two_fail_overs_at_once_one_is_refused_and_one_region_writes(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with regions_of(clock) as regions:
        replicate(regions)
        (other,) = plan_failover(regions, HERE)

        def fenced_twice(*given: Any) -> None:
            fence(*given)
            fence(regions, other)

        with monkeypatch.context() as patch:
            patch.setattr(failing_over, "fence", fenced_twice)
            with pytest.raises(FailoverRefused, match="another fail-over was begun"):
                failover(regions, THERE)
        assert [refuses(regions[one]) for one in (HERE, THERE)] == [True, True]
        failover(regions, HERE)
        assert [refuses(regions[one]) for one in (HERE, THERE)] == [False, True]


def test_a_fenced_region_whose_own_fail_over_was_broken_off_is_copied_from_another(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        regions.cut(HERE)
        home.call("PutItem", put("late"))
        failover(regions, THERE, lost=[HERE])
        regions[THERE].call("PutItem", put("new"))
        (plan,) = plan_failover(regions, HERE, lost=[THERE, ELSEWHERE])
        fence(regions, plan, lost=[THERE, ELSEWHERE])
        regions.mend(HERE)
        regions.settle()
        assert lost_keys(regions, HERE) == ["late"]
        with pytest.raises(FailoverRefused, match=f"let {HERE} rejoin first"):
            failover(regions, HERE)
        rejoin(regions, HERE)
        regions.settle()
        assert fenced(regions) == []
        failover(regions, HERE)
        regions.settle()
        assert [names(regions[one]) for one in ALL] == [["new"]] * 3
        assert [refuses(regions[one]) for one in ALL] == [False, True, True]


def test_a_writer_takes_over_again_when_a_fail_over_without_it_was_broken_off(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        failover(regions, HERE)
        regions.settle()
        (plan,) = plan_failover(regions, THERE, lost=[HERE])
        fence(regions, plan, lost=[HERE])
        home.call("PutItem", put("rex"))  # it has not heard of it
        (done,) = failover(regions, HERE)
        assert (done.before, done.epoch > plan.epoch) == (HERE, True)
        regions.settle()
        assert [refuses(regions[one]) for one in (HERE, THERE)] == [False, True]
        assert names(regions[THERE]) == ["rex"]


def test_where_an_earlier_release_let_all_regions_write_again_any_may_be_unread(clock: Clock) -> None:
    with regions_of(clock) as regions:
        replicate(regions)
        failover(regions, HERE)
        regions.settle()
        for region in regions:
            table = regions[region].tables["pets"]
            assert table.replicas is not None
            released = replace(table, replicas=replace(table.replicas, epoch=2, writer=None))
            regions[region].session.write(partial(WriteTransaction.save_table, table=released))
        regions[THERE].call("PutItem", put("rex"))
        (plan,) = plan_failover(regions, HERE, lost=[THERE])
        assert (plan.before, plan.unread) == (None, [THERE])


def test_rejoining_goes_on_after_a_restart(
    clock: Clock, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "COPIED", 2)
    with regions_of(clock, path=store) as regions:
        home = replicate(regions)
        for number in range(9):
            home.call("PutItem", put(f"pet {number}"))
        failover(regions, HERE)
        regions.cut(HERE)
        home.call("PutItem", put("late"))
        failover(regions, THERE, lost=[HERE])
        regions.mend(HERE)
        follow(regions, (HERE, THERE))
        rejoin(regions, HERE)
        follow(regions, (HERE, THERE), (HERE, THERE))
        assert refuses(home)
    with regions_of(clock, path=store) as regions:
        assert regions[HERE].tables["pets"].replicas is not None
        regions.settle()
        assert is_equal(regions)
        assert fenced(regions) == []


def test_a_copy_begins_again_when_the_writer_changes_in_between(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "COPIED", 2)
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        for number in range(9):
            home.call("PutItem", put(f"pet {number}"))
        regions.settle()
        failover(regions, THERE)
        regions.settle()
        rejoin(regions, HERE)
        follow(regions, (HERE, THERE))
        failover(regions, ELSEWHERE, lost=[HERE])
        regions[ELSEWHERE].call("DeleteItem", keyed("pet 0"))
        regions.settle()
        assert is_equal(regions, THERE, ELSEWHERE)
        assert refuses(home)


# --- what is refused ---


def test_a_region_that_is_not_whole_cannot_become_the_writer(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        failover(regions, HERE)
        regions.cut(HERE)
        home.call("PutItem", put("late"))
        failover(regions, THERE, lost=[HERE])
        regions.mend(HERE)
        regions.settle()
        with pytest.raises(FailoverRefused, match=f"let {HERE} rejoin first"):
            failover(regions, HERE)
        rejoin(regions, HERE)
        regions.cut(HERE)
        with pytest.raises(FailoverRefused, match="still being copied"):
            failover(regions, HERE)
        regions.mend(HERE)
        regions.settle()
        assert not refuses(regions[THERE])


def test_what_is_not_there_is_refused(clock: Clock) -> None:
    with regions_of(clock) as regions:
        replicate(regions)
        with pytest.raises(FailoverRefused, match="there is no region mars"):
            failover(regions, "mars")
        with pytest.raises(FailoverRefused, match="cats has no replicas"):
            failover(regions, HERE, ["cats"])
        with pytest.raises(FailoverRefused, match="is not fenced"):
            rejoin(regions, HERE, ["pets"])
        assert rejoin(regions, HERE) == []
        failover(regions, HERE)
        regions.settle()
        clock.move(timedelta(days=1))
        with pytest.raises(ServiceError, match="fail over to another region first"):
            regions[THERE].call("UpdateTable", update("Delete", HERE))


def test_expired_items_are_swept_by_the_writer_only(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        specification = {"Enabled": True, "AttributeName": "until"}
        home.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": specification})
        home.call("PutItem", put("rex", until=int(clock.now().timestamp()) + 10))
        regions.settle()
        failover(regions, HERE)
        regions.cut(HERE)
        clock.move(timedelta(minutes=1))
        regions[THERE].settle()
        assert names(regions[THERE]) == ["rex"]
        home.settle()
        regions.mend(HERE)
        regions.settle()
        assert names(home) == names(regions[THERE]) == []


def test_a_slow_line_does_not_make_a_planned_fail_over_lose_writes(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        failover(regions, HERE)
        regions.line(THERE, HERE).lag = timedelta(hours=1)
        home.call("PutItem", put("rex"))
        regions.settle()
        assert names(regions[THERE]) == []
        failover(regions, THERE)
        assert names(regions[THERE]) == ["rex"]
        regions.settle()
        assert fenced(regions) == []
