"""A writer and its standbys: promotion, the fence around the old writer, comparison, rejoining, failing back."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.engine.replicating import (
    ALL,
    ELSEWHERE,
    HERE,
    THERE,
    asks,
    breaking,
    cut_off,
    engine_in,
    regions_of,
    replicate,
    update,
)
from tests.engine.tables import definition, found, item, keyed, names, put, transaction

from tablewright import Engine, ServiceError
from tablewright.engine import Regions, replica_looks, replica_telling
from tablewright.engine.replica_control import promote, rejoin, release
from tablewright.engine.replica_plans import Promotion, promotion
from tablewright.engine.replica_pulls import _question
from tablewright.engine.replica_standings import ReplicasMistake, compare, standing, unread, unwritten
from tablewright.engine.replica_taking import take_told
from tablewright.testing import Clock

SECOND = timedelta(seconds=1)


def promoted(regions: Regions, region: str, *without: str, force: bool = False) -> Promotion:
    """Promote a region with everybody but those who cannot be asked."""
    asked = asks(regions, *without)
    plan = promotion(asked, region, "pets", regions.settle)
    promote(asked, plan, regions.settle, force=force)
    regions.settle()
    return plan


def refused(engine: Engine, name: str = "rex") -> str:
    with pytest.raises(ServiceError, match="ReplicaNotWriter") as refusal:
        engine.call("PutItem", put(name))
    return refusal.value.message


def test_once_a_region_is_the_writer_the_others_refuse_writes_and_follow(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        regions[THERE].call("PutItem", put("before"))
        plan = promoted(regions, HERE)
        assert (plan.writer, plan.obstacles) == (None, [])
        assert names(home) == ["before"]
        home.call("PutItem", put("rex"))
        assert refused(regions[THERE]) == (
            "Table pets takes no writes in eu-west-1: since epoch 1 its writer is us-east-1. "
            "Write there, or promote eu-west-1"
        )
        regions.settle()
        assert names(regions[THERE]) == ["before", "rex"]


@pytest.mark.parametrize("verb", ["UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"])
def test_every_verb_that_writes_is_refused_by_a_standby(clock: Clock, verb: str) -> None:
    requests = {
        "UpdateItem": keyed("rex"),
        "DeleteItem": keyed("rex"),
        "BatchWriteItem": {"RequestItems": {"pets": [{"PutRequest": {"Item": item("rex")}}]}},
        "TransactWriteItems": transaction({"Put": put("rex")}),
    }
    with regions_of(clock) as regions:
        replicate(regions)
        promoted(regions, HERE)
        with pytest.raises(ServiceError, match="ReplicaNotWriter"):
            regions[THERE].call(verb, requests[verb])
        assert names(regions[THERE]) == []


def test_a_standby_deletes_nothing_by_itself(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        specification = {"Enabled": True, "AttributeName": "until"}
        home.call("UpdateTimeToLive", {"TableName": "pets", "TimeToLiveSpecification": specification})
        home.call("PutItem", put("rex", until=int(clock.now().timestamp()) + 1))
        promoted(regions, HERE)
        clock.move(timedelta(minutes=1))
        cut_off(regions, THERE)
        regions[THERE].settle()
        assert names(regions[THERE]) == ["rex"]
        cut_off(regions, THERE, False)
        regions.settle()
        assert names(regions[THERE]) == []


def test_a_handover_loses_nothing_and_the_old_writer_becomes_a_standby(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        for number in range(20):
            home.call("PutItem", put(f"pet {number}"))
        promoted(regions, THERE)
        assert names(regions[THERE]) == names(home)
        refused(home)
        regions[THERE].call("PutItem", put("new"))
        regions.settle()
        assert "new" in names(home)
        assert "new" in names(regions[ELSEWHERE])
        assert [standing(regions.ask(region), "pets").unread for region in ALL] == [None] * 3


def test_a_handover_that_is_broken_off_goes_on_by_itself(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        home.call("PutItem", put("rex"))
        regions.ask(HERE)("PeerYield", {"Table": "pets", "Epoch": 2, "Writer": THERE})
        refused(home)
        refused(regions[THERE])
        regions.settle()
        assert names(regions[THERE]) == ["rex"]
        regions[THERE].call("PutItem", put("tom"))
        regions.settle()
        assert names(home) == ["rex", "tom"]


def test_a_writer_that_does_not_answer_takes_force(clock: Clock) -> None:
    with regions_of(clock) as regions:
        replicate(regions)
        promoted(regions, HERE)
        cut_off(regions, HERE)
        with pytest.raises(ReplicasMistake, match="us-east-1 does not answer"):
            promoted(regions, THERE, HERE)
        refused(regions[THERE])
        promoted(regions, THERE, HERE, force=True)
        regions[THERE].call("PutItem", put("rex"))


def test_the_old_writer_is_fenced_and_its_late_writes_are_not_taken_over(
    clock: Clock, tmp_path: Path
) -> None:
    with regions_of(clock, path=tmp_path) as regions:
        home, there = replicate(regions), regions[THERE]
        promoted(regions, HERE)
        home.call("PutItem", put("rex", age=1))
        regions.settle()
        cut_off(regions, HERE)
        home.call("PutItem", put("rex", age=2))
        home.call("PutItem", put("late"))
        promoted(regions, THERE, HERE, force=True)
        clock.move(SECOND)
        home.call("PutItem", put("later"))  # it has not heard yet
        there.call("PutItem", put("tom"))
        cut_off(regions, HERE, False)
        regions.settle()
        refused(home)
        assert names(there) == ["rex", "tom"]
        assert found(there, "rex") == item("rex", age=1)
        # Held: it takes over nothing either, until somebody has looked.
        assert names(home) == ["late", "later", "rex"]
        assert standing(regions.ask(HERE), "pets").unread == 3
        lost = unread(regions.ask(HERE), "pets")
        assert sorted(one["Keys"]["pk"]["S"] for one in lost) == ["late", "later", "rex"]
    engines = {name: engine_in(name, clock, tmp_path / name) for name in (HERE, THERE)}
    with Regions(engines, HERE, period=None) as regions:
        refused(regions[HERE])
        with pytest.raises(ReplicasMistake, match="let us-east-1 rejoin"):
            promoted(regions, HERE, force=True)


def overheard(regions: Regions, reader: str, source: str) -> dict[str, Any]:
    """An answer that is still on its way."""
    question = regions[reader].doors.read(lambda reading: _question(reading, source, None))
    (told,) = regions.ask(source)("PeerChanges", question)["Tables"]
    assert told["Changes"]
    answer: dict[str, Any] = told
    return answer


def test_an_answer_that_comes_after_the_promotion_is_not_taken(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home, there = replicate(regions), regions[THERE]
        promoted(regions, HERE)
        cut_off(regions, HERE)
        home.call("PutItem", put("late"))
        told = overheard(regions, THERE, HERE)
        promoted(regions, THERE, HERE, force=True)
        assert there.doors.write(lambda writing: take_told(writing, HERE, told)) == []
        assert names(there) == []


def test_an_answer_of_an_epoch_that_is_over_is_not_taken(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home, there = replicate(regions), regions[THERE]
        promoted(regions, HERE)
        cut_off(regions, HERE)
        home.call("PutItem", put("given up"))
        told = overheard(regions, THERE, HERE)
        promoted(regions, THERE, HERE, force=True)
        cut_off(regions, HERE, False)
        regions.settle()
        rejoin(regions.ask(HERE), "pets", regions.settle)
        promoted(regions, HERE)
        assert there.doors.write(lambda writing: take_told(writing, HERE, told)) == []
        assert names(there) == names(home) == []


def test_an_old_writer_is_fenced_by_who_asks_it(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        promote_here = asks(regions, HERE)
        cut_off(regions, HERE)
        promote(promote_here, promotion(promote_here, THERE, "pets"), regions.settle, force=True)
        # The old writer still cannot ask anybody, but it is asked.
        regions.line(THERE, HERE).is_cut = False
        next(one for one in regions._followers if one.line.reader == THERE).visit()
        refused(home)


def test_an_old_writer_that_lost_nothing_follows_by_itself(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        home.call("PutItem", put("rex"))
        regions.settle()
        cut_off(regions, HERE)
        promoted(regions, THERE, HERE, force=True)
        regions[THERE].call("PutItem", put("tom"))
        cut_off(regions, HERE, False)
        regions.settle()
        assert names(home) == ["rex", "tom"]
        assert standing(regions.ask(HERE), "pets").unread is None


def test_a_standby_that_knew_more_than_the_new_writer_is_held_too(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        regions.line(THERE, HERE).is_cut = True
        home.call("PutItem", put("rex"))
        regions.settle()
        assert names(regions[ELSEWHERE]) == ["rex"]
        cut_off(regions, HERE)
        promoted(regions, THERE, HERE, force=True)
        assert standing(regions.ask(ELSEWHERE), "pets").unread == 1
        rejoin(regions.ask(ELSEWHERE), "pets", regions.settle)
        assert names(regions[ELSEWHERE]) == names(regions[THERE]) == []


def test_after_rejoining_it_is_the_same_as_the_writer_and_can_be_promoted_back(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_telling, "COPIED", 2)
    with regions_of(clock) as regions:
        home, there = replicate(regions), regions[THERE]
        promoted(regions, HERE)
        for number in range(7):
            home.call("PutItem", put(f"pet {number}", age=1))
        regions.settle()
        cut_off(regions, HERE)
        home.call("DeleteItem", keyed("pet 1"))
        home.call("PutItem", put("pet 2", age=2))
        home.call("PutItem", put("only here"))
        promoted(regions, THERE, HERE, force=True)
        there.call("PutItem", put("only there"))
        there.call("DeleteItem", keyed("pet 3"))
        cut_off(regions, HERE, False)
        regions.settle()
        found_ = compare(regions.ask(HERE), regions.ask(THERE), "pets")
        kinds = {one.keys["pk"]["S"]: one.kind for one in found_.differences}
        assert kinds == {
            "pet 1": "only in eu-west-1",
            "pet 2": "differs",
            "pet 3": "only in us-east-1",
            "only here": "only in us-east-1",
            "only there": "only in eu-west-1",
        }
        with pytest.raises(ReplicasMistake, match="5 of the items of pets are not the same"):
            promoted(regions, HERE)
        refused(home)
        rejoin(regions.ask(HERE), "pets", regions.settle)
        assert compare(regions.ask(HERE), regions.ask(THERE), "pets").is_equal
        promoted(regions, HERE)
        home.call("PutItem", put("back"))
        regions.settle()
        refused(there)
        assert names(home) == names(there)
        assert standing(regions.ask(HERE), "pets").epoch == 3


def test_released_all_write_again(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        with pytest.raises(ReplicasMistake, match="is not its writer"):
            release(regions.ask(THERE), "pets")
        release(regions.ask(HERE), "pets")
        regions.settle()
        regions[THERE].call("PutItem", put("tom"))
        home.call("PutItem", put("rex"))
        regions.settle()
        assert names(home) == names(regions[THERE]) == ["rex", "tom"]


def test_two_promotions_at_once_end_with_one_writer(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        cut_off(regions, HERE)
        cut_off(regions, THERE)
        for region in (THERE, ELSEWHERE):
            alone = {region: regions.ask(region)}
            promote(alone, promotion(alone, region, "pets"), regions.settle, force=True)
        for region in (HERE, THERE):
            cut_off(regions, region, False)
        regions.settle()
        writers = {standing(regions.ask(region), "pets").writer for region in ALL}
        assert writers == {ELSEWHERE}
        refused(regions[THERE])


def test_an_epoch_that_was_looked_at_too_long_ago_is_refused(clock: Clock) -> None:
    with regions_of(clock) as regions:
        replicate(regions)
        asked = asks(regions)
        plan = promotion(asked, HERE, "pets", regions.settle)
        promoted(regions, THERE)
        with pytest.raises(ServiceError, match="changed since you looked"):
            promote(asked, plan, regions.settle)


def test_equal_tables_are_compared_without_moving_items(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_looks, "DIGESTED", 10)
    with regions_of(clock) as regions:
        home = replicate(regions)
        for number in range(95):
            home.call("PutItem", put(f"pet {number}", b="1", a="2"))
        regions.settle()
        regions[THERE].call(
            "PutItem", put("pet 3", a="2", b="1")
        )  # the same, its attributes in another order
        said: list[str] = []

        def listening(verb: str, request: dict[str, object]) -> dict[str, object]:
            answer = regions.ask(THERE)(verb, request)
            said.extend(answer)
            return answer

        found_ = compare(regions.ask(HERE), listening, "pets")
        assert found_.is_equal
        assert found_.items == (95, 95)
        assert said.count("Each") == 1  # the empty list at the end


def test_what_is_on_its_way_is_no_difference(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        home.call("PutItem", put("rex"))
        assert not compare(regions.ask(HERE), regions.ask(THERE), "pets").is_equal
        assert compare(regions.ask(HERE), regions.ask(THERE), "pets", regions.settle).is_equal


def test_a_table_without_replicas_cannot_be_promoted(clock: Clock) -> None:
    with regions_of(clock) as regions:
        regions[HERE].call("CreateTable", definition())
        with pytest.raises(ReplicasMistake, match="has no replicas"):
            promotion(asks(regions), HERE, "pets")
        with pytest.raises(ServiceError, match="UnknownOperation"):
            regions.ask(HERE)("PeerNonsense", {})
        with pytest.raises(ServiceError, match="not of the form"):
            regions.ask(HERE)("PeerItems", {"Table": 3})


def test_replicas_can_be_changed_while_there_is_a_writer(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        home.call("PutItem", put("rex"))
        home.call("UpdateTable", update("Create", ELSEWHERE))
        regions.settle()
        refused(regions[ELSEWHERE])
        assert names(regions[ELSEWHERE]) == ["rex"]


def test_the_writer_cannot_be_taken_away_before_another_was_promoted(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        promoted(regions, THERE)
        with pytest.raises(ServiceError, match="promote another region first"):
            home.call("UpdateTable", update("Delete", THERE))
        with pytest.raises(ServiceError, match="promote another region first"):
            regions[THERE].call("DeleteTable", {"TableName": "pets"})
        promoted(regions, HERE)
        home.call("UpdateTable", update("Delete", THERE))
        regions.settle()
        assert "Replicas" not in home.call("DescribeTable", {"TableName": "pets"})["Table"]
        home.call("PutItem", put("rex"))


def roles(regions: Regions) -> dict[str, tuple[int, str | None]]:
    found = {region: standing(regions.ask(region), "pets") for region in regions}
    return {region: (one.epoch, one.writer) for region, one in found.items()}


def test_a_handover_across_a_line_that_does_not_work_is_refused_before_anybody_stops(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        asked = asks(regions)
        plan = promotion(asked, THERE, "pets")
        assert plan.obstacles == []
        # Nothing says that it is cut; only no answer comes.
        with pytest.raises(
            ReplicasMistake, match=r"eu-west-1 does not hear from us-east-1.*Nothing was done"
        ):
            promote(asked, plan, lambda: None)
        cut_off(regions, THERE)
        assert promotion(asked, THERE, "pets").unheard == [HERE]
        assert roles(regions) == {HERE: (1, HERE), THERE: (1, HERE)}
        home.call("PutItem", put("rex"))


def test_a_handover_that_fails_on_the_way_gives_the_role_back(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home, there = replicate(regions), regions[THERE]
        promoted(regions, HERE)
        asked = breaking(regions, put("rex"))
        plan = promotion(asked, THERE, "pets", regions.settle)
        with pytest.raises(ReplicasMistake, match=r"takes too long.*us-east-1 goes on writing pets, epoch 3"):
            promote(asked, plan, regions.settle)
        home.call("PutItem", put("tom"))
        refused(there)
        cut_off(regions, THERE, False)
        regions.settle()
        assert roles(regions) == {HERE: (3, HERE), THERE: (3, HERE)}
        assert names(there) == ["rex", "tom"]
        assert standing(regions.ask(THERE), "pets").unread is None
        promoted(regions, THERE)
        there.call("PutItem", put("new"))
        regions.settle()
        assert names(home) == ["new", "rex", "tom"]


def test_a_handover_that_fails_on_the_way_is_gone_through_with_by_force(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home, there = replicate(regions), regions[THERE]
        promoted(regions, HERE)
        asked = breaking(regions, put("late"))
        plan = promotion(asked, THERE, "pets", regions.settle)
        now = promote(asked, plan, regions.settle, force=True)
        assert (now.epoch, now.writer) == (2, THERE)
        there.call("PutItem", put("new"))
        refused(home)
        cut_off(regions, THERE, False)
        regions.settle()
        assert standing(regions.ask(HERE), "pets").unread == 1
        assert names(there) == ["new"]


def test_who_was_handed_the_role_and_took_it_does_not_give_it_back(clock: Clock) -> None:
    with regions_of(clock) as regions:
        replicate(regions)
        promoted(regions, HERE)
        regions.ask(HERE)("PeerYield", {"Table": "pets", "Epoch": 2, "Writer": THERE})
        request = {"Table": "pets", "Epoch": 3, "Writer": HERE, "Seen": 1}
        regions.settle()
        assert roles(regions)[THERE] == (2, THERE)
        for seen in (1, 2):
            with pytest.raises(ServiceError, match="that has changed since you looked"):
                regions.ask(THERE)("PeerYield", request | {"Seen": seen})
        regions[THERE].call("PutItem", put("rex"))
        regions.settle()


def test_a_role_that_was_given_away_and_not_taken_goes_back_when_the_old_writer_is_promoted(
    clock: Clock,
) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        cut_off(regions, THERE)
        home.call("PutItem", put("rex"))
        regions.ask(HERE)("PeerYield", {"Table": "pets", "Epoch": 2, "Writer": THERE})
        asked = asks(regions)
        assert [one.region for one in unwritten([standing(ask, "pets") for ask in asked.values()])] == [THERE]
        plan = promotion(asked, HERE, "pets")
        assert (plan.is_back, plan.obstacles) == (True, [])
        promote(asked, plan, lambda: None)
        home.call("PutItem", put("tom"))
        assert unwritten([standing(ask, "pets") for ask in asked.values()]) == []
        cut_off(regions, THERE, False)
        regions.settle()
        assert names(regions[THERE]) == ["rex", "tom"]


def test_a_region_that_cannot_be_promoted_stops_nobody_even_by_force(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home, there = replicate(regions), regions[THERE]
        promoted(regions, HERE)
        cut_off(regions, HERE)
        home.call("PutItem", put("late"))
        promoted(regions, THERE, HERE, force=True)
        cut_off(regions, HERE, False)
        regions.settle()
        there.call("PutItem", put("new"))
        asked = asks(regions)
        with pytest.raises(ReplicasMistake, match=r"let us-east-1 rejoin\. Nothing was done"):
            promote(asked, promotion(asked, HERE, "pets", regions.settle), regions.settle, force=True)
        there.call("PutItem", put("newer"))
