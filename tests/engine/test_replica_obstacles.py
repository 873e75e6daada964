"""What keeps a region from being promoted, from giving way or from being taken away, and what is said of it before."""

from datetime import timedelta

import pytest
from tests.engine.replicating import (
    ALL,
    ELSEWHERE,
    HERE,
    THERE,
    asks,
    cut_off,
    engine_in,
    regions_of,
    replicate,
    update,
)
from tests.engine.tables import definition, names, put
from tests.engine.test_replica_branches import FOURTH, alone
from tests.engine.test_replica_roles import promoted
from tests.engine.test_replica_succession import unreads, visit

from tablewright import ServiceError
from tablewright.engine import Regions, replica_looks
from tablewright.engine.regions import asking
from tablewright.engine.replica_control import promote, release
from tablewright.engine.replica_group import NEVER, Group, Member
from tablewright.engine.replica_plans import promotion
from tablewright.engine.replica_roles import with_yielded
from tablewright.engine.replica_standings import ReplicasMistake, unread
from tablewright.testing import Clock


def test_nobody_yields_if_one_has_heard_meanwhile_that_it_was_left_behind(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        alone(regions, ELSEWHERE)
        release(regions.ask(ELSEWHERE), "pets")
        asked = asks(regions)
        plan = promotion(asked, ELSEWHERE, "pets")
        home.call("PutItem", put("late"))
        regions.settle()
        with pytest.raises(ReplicasMistake, match=r"us-east-1 was left behind.*Nothing was done"):
            promote(asked, plan, regions.settle, force=True)
        regions[THERE].call("PutItem", put("rex"))


# --- a writer that is taken away ---


@pytest.mark.parametrize(("reader", "source"), [(THERE, ELSEWHERE), (ELSEWHERE, THERE)])
def test_a_writer_is_not_taken_away_by_one_that_has_not_heard_of_it(
    clock: Clock, reader: str, source: str
) -> None:
    with regions_of(clock, *ALL) as regions:
        replicate(regions, THERE, ELSEWHERE)
        clock.move(timedelta(days=2))
        promoted(regions, HERE)
        alone(regions, THERE)
        regions[THERE].call("PutItem", put("rex"))
        regions[ELSEWHERE].call("UpdateTable", update("Delete", THERE))
        visit(regions, (reader, source))  # it is told, or hears of it
        regions.settle()
        assert names(regions[ELSEWHERE]) == names(regions[THERE]) == ["rex"]


def test_nobody_gives_way_to_a_region_that_is_being_taken_away(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        clock.move(timedelta(days=2))
        promoted(regions, HERE)
        home.call("UpdateTable", update("Delete", THERE))
        with pytest.raises(ServiceError, match="eu-west-1 is being taken away from the replicas of pets"):
            regions.ask(HERE)("PeerYield", {"Table": "pets", "Epoch": 2, "Writer": THERE})
        home.call("PutItem", put("rex"))


def test_a_replica_is_made_by_another_if_who_was_asked_for_it_is_gone(clock: Clock) -> None:
    with regions_of(clock, *ALL, FOURTH) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        clock.move(timedelta(days=2))
        home.call("PutItem", put("rex"))
        regions.settle()
        cut_off(regions, FOURTH)
        regions[THERE].call("UpdateTable", update("Create", FOURTH))
        regions[ELSEWHERE].call("UpdateTable", update("Delete", THERE))
        regions.settle()
        cut_off(regions, FOURTH, False)
        regions.settle()
        assert names(regions[FOURTH]) == ["rex"]


# --- what an operator is told before ---


def test_who_was_left_behind_is_told_who_was_not(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        cut_off(regions, HERE)
        home.call("PutItem", put("late"))
        promoted(regions, THERE, HERE, force=True)
        cut_off(regions, HERE, False)
        regions.settle()
        cut_off(regions, THERE)
        assert promotion(asks(regions, THERE), HERE, "pets").obstacles[1:] == [
            "us-east-1 was left behind when eu-west-1 took over: what it has from before would count again",
            "sa-east-1 was not left behind, and would lose less if it were promoted",
        ]


def test_a_writer_that_has_not_taken_over_yet_does_not_yield_without_force(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        regions.line(THERE, HERE).is_cut = True
        home.call("PutItem", put("rex"))
        regions.ask(HERE)("PeerYield", {"Table": "pets", "Epoch": 2, "Writer": THERE})
        visit(regions, (ELSEWHERE, HERE))
        plan = promotion(asks(regions), ELSEWHERE, "pets")
        assert plan.unfinished == [HERE]
        assert (
            "eu-west-1 has not read everything of us-east-1 yet, which gave way to it: what it lacks would stay there"
            in plan.obstacles
        )
        regions.line(THERE, HERE).is_cut = False
        regions.settle()
        assert promotion(asks(regions), ELSEWHERE, "pets").obstacles == []


def held_and_given_way_to(regions: Regions) -> None:
    """Home takes a write while all write, and THERE, which has not read it, takes over."""
    home = replicate(regions)
    promoted(regions, HERE)
    release(regions.ask(HERE), "pets")
    home.call("PutItem", put("rex"))
    alone(regions, THERE)
    regions[THERE].call("PutItem", put("rex"))


def test_nobody_gives_way_to_a_region_that_hears_only_now_that_it_is_held(clock: Clock) -> None:
    with regions_of(clock) as regions:
        held_and_given_way_to(regions)
        asked = asks(regions)
        plan = promotion(asked, HERE, "pets")
        assert plan.obstacles == []
        with pytest.raises(ReplicasMistake, match=r"let us-east-1 rejoin\. Nothing was done"):
            promote(asked, plan, regions.settle)
        regions[THERE].call("PutItem", put("tom"))


def test_who_gave_way_to_a_region_that_is_held_can_go_on(clock: Clock) -> None:
    with regions_of(clock) as regions:
        held_and_given_way_to(regions)
        regions.settle()
        regions.ask(THERE)("PeerYield", {"Table": "pets", "Epoch": 3, "Writer": HERE})
        regions.settle()
        promoted(regions, THERE)
        regions[THERE].call("PutItem", put("tom"))
        regions.settle()
        assert unreads(regions) == {HERE: 1, THERE: None}


def test_who_was_read_to_the_end_for_a_handover_that_broke_off_is_read_again_for_the_next() -> None:
    members = tuple(Member(region, NEVER, status="ACTIVE") for region in ALL)
    group = with_yielded(Group("id", THERE, members, 0, 0), 1, HERE, {})
    assert group.has_drained(HERE, 1)
    group = with_yielded(group, 4, ELSEWHERE, {})
    assert (group.writer, group.drained) == (None, (ELSEWHERE,))
    assert with_yielded(group, 4, HERE, {}).writer == THERE


# --- a writer that is lost ---


def test_the_plan_without_the_writer_names_who_has_read_more_of_it(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        regions.line(THERE, HERE).is_cut = True
        home.call("PutItem", put("late"))
        regions.settle()
        cut_off(regions, HERE)
        asked = asks(regions, HERE)
        assert promotion(asked, THERE, "pets").obstacles == [
            "us-east-1 does not answer: what it has and eu-west-1 has not stays there",
            "sa-east-1 has 1 write that eu-west-1 has not, and would lose less if it were promoted",
        ]
        assert promotion(asked, ELSEWHERE, "pets").ahead == {}
        promoted(regions, ELSEWHERE, HERE, force=True)
        assert names(regions[THERE]) == ["late"]


def test_a_writer_that_came_back_without_its_table_takes_force_and_no_guessing(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        home.call("PutItem", put("rex"))
        regions.settle()
        with engine_in(HERE, clock) as empty:
            asked = asks(regions) | {HERE: asking(empty)}
            plan = promotion(asked, THERE, "pets")
            assert plan.obstacles == [
                "us-east-1 has no pets any more: what eu-west-1 has not read of it is lost"
            ]
            promote(asked, plan, regions.settle, force=True)
        regions[THERE].call("PutItem", put("tom"))


def test_everything_that_is_given_up_is_listed_however_much_it_is(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_looks, "LISTED", 3)
    with regions_of(clock) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        cut_off(regions, HERE)
        for number in range(10):
            home.call("PutItem", put(f"pet {number}"))
        promoted(regions, THERE, HERE, force=True)
        cut_off(regions, HERE, False)
        regions.settle()
        listed = [one["Keys"]["pk"]["S"] for one in unread(regions.ask(HERE), "pets")]
        assert sorted(listed) == [f"pet {number}" for number in range(10)]


def test_who_takes_a_region_for_another_is_refused(clock: Clock) -> None:
    with (
        engine_in(HERE, clock) as here,
        engine_in(ELSEWHERE, clock) as elsewhere,
        Regions({HERE: here}, HERE, {THERE: asking(elsewhere)}, period=None) as regions,
    ):
        here.call("CreateTable", definition())
        here.call("UpdateTable", update("Create", THERE))
        with pytest.raises(ServiceError, match=r"takes this region, sa-east-1, for eu-west-1"):
            regions.settle()
        assert "pets" not in elsewhere.tables
