"""Promotions that have not heard of each other; regions that come over to another line, or copy meanwhile."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.engine.replicating import ALL, ELSEWHERE, HERE, THERE, cut_off, regions_of, replicate, update
from tests.engine.tables import definition, keyed, names, put
from tests.engine.test_replica_roles import promoted
from tests.engine.test_replica_succession import unreads, visit

from tablewright import ServiceError
from tablewright.engine import Regions, replica_telling
from tablewright.engine.replica_control import promote, rejoin, release
from tablewright.engine.replica_group import Group
from tablewright.engine.replica_plans import promotion
from tablewright.engine.replica_standings import ReplicasMistake, standing, unread
from tablewright.engine.replicas import TRACES_KEPT
from tablewright.testing import Clock

FOURTH = "ap-east-1"
LONG = timedelta(microseconds=TRACES_KEPT, seconds=1)


def alone(regions: Regions, region: str) -> None:
    """Promote a region without asking anybody else."""
    asked = {region: regions.ask(region)}
    promote(asked, promotion(asked, region, "pets"), lambda: None, force=True)


def group(regions: Regions, region: str) -> Group:
    found = regions[region].tables["pets"].replicas
    assert found is not None
    return found


def with_group(regions: Regions, region: str, **fields: Any) -> None:
    table = replace(regions[region].tables["pets"], replicas=replace(group(regions, region), **fields))
    regions[region].doors.write(lambda writing: writing.save_table(table))


def heard(regions: Regions, reader: str, source: str) -> bool:
    """One visit; whether something came of it, so that the next is made without a pause."""
    (follower,) = [
        one for one in regions._followers if (one.line.reader, one.line.source) == (reader, source)
    ]
    return follower.visit()


def begin_mirror(regions: Regions, region: str) -> None:
    epoch = group(regions, region).epoch
    regions.ask(region)("PeerRejoin", {"Table": "pets", "Epoch": epoch})


# --- from one line to another ---


def test_who_gave_up_a_write_gets_it_again_from_a_writer_with_whom_it_counts(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        regions.line(THERE, HERE).is_cut = True
        home.call("PutItem", put("late"))
        regions.settle()
        cut_off(regions, ELSEWHERE)
        alone(regions, THERE)
        regions.line(THERE, HERE).is_cut = False
        regions.settle()
        rejoin(regions.ask(HERE), "pets", regions.settle)
        assert names(home) == []
        # This one has it, and its epoch is the higher one by its name.
        alone(regions, ELSEWHERE)
        cut_off(regions, ELSEWHERE, False)
        regions.settle()
        assert unreads(regions) == dict.fromkeys(ALL)
        assert names(home) == names(regions[THERE]) == names(regions[ELSEWHERE]) == ["late"]


def test_one_that_is_held_is_not_let_go_by_one_that_has_only_heard_that_all_write(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        alone(regions, THERE)
        visit(regions, (HERE, THERE), (ELSEWHERE, THERE))
        alone(regions, HERE)
        release(regions.ask(HERE), "pets")
        regions[THERE].call("PutItem", put("late"))
        visit(regions, (THERE, HERE), (ELSEWHERE, THERE), (THERE, ELSEWHERE))
        assert unreads(regions) == {HERE: None, THERE: 1, ELSEWHERE: 0}
        with pytest.raises(ServiceError, match="takes no writes in sa-east-1"):
            regions[ELSEWHERE].call("PutItem", put("mine"))
        regions.settle()
        assert unreads(regions) == {HERE: None, THERE: 1, ELSEWHERE: None}


def test_two_that_are_held_for_the_same_write_do_not_let_each_other_go(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        cut_off(regions, ELSEWHERE)
        alone(regions, THERE)
        regions[THERE].call("PutItem", put("late"))
        regions.settle()
        # Its epoch is the same, and the higher one by its name.
        alone(regions, ELSEWHERE)
        release(regions.ask(ELSEWHERE), "pets")
        cut_off(regions, ELSEWHERE, False)
        for _ in range(3):
            visit(regions, (HERE, ELSEWHERE), (HERE, THERE), (THERE, ELSEWHERE), (THERE, HERE))
        assert unreads(regions) == {HERE: 1, THERE: 1, ELSEWHERE: None}


def test_what_a_region_is_not_to_take_over_is_no_news(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        home.call("PutItem", put("old"))
        regions.settle()
        cut_off(regions, HERE)
        home.call("PutItem", put("late"))
        alone(regions, THERE)
        regions[THERE].call("DeleteItem", keyed("old"))
        release(regions.ask(THERE), "pets")
        # The one reads, the other does not: its writes do not count, and it cannot hear of that.
        regions.line(THERE, HERE).is_cut = False
        heard(regions, THERE, HERE)
        assert not heard(regions, THERE, HERE)
        # It is held for so long that the trace of the delete is given up, which it is not to hear of either.
        cut_off(regions, HERE, False)
        heard(regions, HERE, THERE)
        cut_off(regions, HERE)
        clock.move(LONG)
        regions.settle()
        cut_off(regions, HERE, False)
        heard(regions, HERE, THERE)
        assert not heard(regions, HERE, THERE)


# --- stores from before takeovers were noted ---


def test_in_stores_from_before_an_old_writer_is_held_if_it_lost_something(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        cut_off(regions, HERE)
        home.call("PutItem", put("late"))
        alone(regions, THERE)
        regions.settle()
        regions[THERE].call("PutItem", put("new"))
        for region in ALL:
            with_group(regions, region, line=())
        cut_off(regions, HERE, False)
        regions.settle()
        assert unreads(regions) == {HERE: 1, THERE: None, ELSEWHERE: None}
        assert [len(unread(regions.ask(one), "pets")) for one in ALL] == [1, 0, 0]
        assert names(regions[ELSEWHERE]) == ["new"]
        rejoin(regions.ask(HERE), "pets", regions.settle)
        assert names(home) == ["new"]
        promoted(regions, HERE)
        assert unreads(regions) == dict.fromkeys(ALL)


# --- while one copies ---


def test_who_joins_while_its_source_gives_up_a_write_is_held_with_it(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_telling, "COPIED", 2)
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        for number in range(6):
            home.call("PutItem", put(f"pet {number}"))
        regions.settle()
        cut_off(regions, THERE)
        for number in range(6):
            home.call("PutItem", put(f"pet {number}", age=1))
        home.call("UpdateTable", update("Create", ELSEWHERE))
        visit(regions, (HERE, ELSEWHERE), (ELSEWHERE, HERE))
        alone(regions, THERE)
        for reader, source in ((HERE, THERE), (THERE, HERE)):
            regions.line(reader, source).is_cut = False
        visit(regions, (HERE, THERE))
        rejoin(regions.ask(HERE), "pets", lambda: visit(regions, (HERE, THERE)))
        assert standing(regions.ask(ELSEWHERE), "pets").is_copying
        cut_off(regions, THERE, False)
        regions.settle()
        assert unreads(regions)[ELSEWHERE]
        rejoin(regions.ask(ELSEWHERE), "pets", regions.settle)
        assert names(regions[ELSEWHERE]) == names(home)
        assert unreads(regions) == dict.fromkeys(ALL)


def test_a_mirror_goes_over_to_who_is_promoted_meanwhile(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_telling, "COPIED", 2)
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        for number in range(6):
            home.call("PutItem", put(f"pet {number}"))
        regions.settle()
        cut_off(regions, HERE)
        home.call("PutItem", put("late"))
        promoted(regions, THERE, HERE, force=True)
        cut_off(regions, HERE, False)
        regions.settle()
        begin_mirror(regions, HERE)
        visit(regions, (HERE, THERE))
        cut_off(regions, HERE)
        promoted(regions, ELSEWHERE, HERE)
        for number in range(6):
            regions[ELSEWHERE].call("PutItem", put(f"pet {number}", age=1))
        regions.settle()
        regions.line(HERE, THERE).is_cut = False
        visit(regions, *[(HERE, THERE)] * 6)
        # The one it began with is gone for good.
        cut_off(regions, HERE, False)
        cut_off(regions, THERE)
        regions.settle()
        assert unreads(regions)[HERE] is None
        assert names(home) == names(regions[ELSEWHERE])


def test_who_has_copied_does_not_pass_on_less_than_it_should(clock: Clock) -> None:
    with regions_of(clock, *ALL, FOURTH) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        home.call("PutItem", put("old"))
        regions.settle()
        cut_off(regions, ELSEWHERE)
        home.call("DeleteItem", keyed("old"))
        clock.move(LONG)
        regions.settle()
        # This one comes when nobody has a trace of the delete any more.
        regions[THERE].call("UpdateTable", update("Create", FOURTH))
        regions.settle()
        promoted(regions, FOURTH, ELSEWHERE)
        cut_off(regions, ELSEWHERE, False)
        cut_off(regions, HERE)
        regions.settle()
        assert names(regions[ELSEWHERE]) == []


def test_a_write_that_is_given_up_may_leave_what_was_there_before_there_were_replicas(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = regions[HERE]
        home.call("CreateTable", definition())
        home.call("PutItem", put("rex", age=1))
        home.call("UpdateTable", update("Create", THERE))
        regions.settle()
        promoted(regions, HERE)
        cut_off(regions, HERE)
        home.call("PutItem", put("rex", age=2))
        home.call("PutItem", put("rex", age=1))
        alone(regions, THERE)
        cut_off(regions, HERE, False)
        regions.settle()
        rejoin(regions.ask(HERE), "pets", regions.settle)
        assert home.verify() == []


# --- when all write again ---


def released_with_one_behind(regions: Regions, clock: Clock) -> None:
    """Home writes twice; THERE has read one, ELSEWHERE none, when THERE takes over and lets all write again."""
    home = replicate(regions, ELSEWHERE)
    clock.move(timedelta(days=2))
    home.call("UpdateTable", update("Create", THERE))
    regions.settle()
    promoted(regions, HERE)
    cut_off(regions, ELSEWHERE)
    home.call("PutItem", put("one"))
    regions.settle()
    cut_off(regions, HERE)
    home.call("PutItem", put("late"))
    alone(regions, THERE)
    release(regions.ask(THERE), "pets")


def test_what_came_along_with_a_writer_is_passed_on_although_all_write_again(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        released_with_one_behind(regions, clock)
        for reader, source in ((ELSEWHERE, THERE), (THERE, ELSEWHERE)):
            regions.line(reader, source).is_cut = False
        regions.settle()
        assert names(regions[ELSEWHERE]) == names(regions[THERE]) == ["one"]


def test_who_rejoins_does_not_mirror_one_that_has_less_than_came_along(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        released_with_one_behind(regions, clock)
        # This one is on the line of the others, but has not read yet what came along.
        regions.line(HERE, THERE).is_cut = regions.line(THERE, HERE).is_cut = False
        visit(regions, (HERE, THERE))
        with_group(regions, ELSEWHERE, epoch=3, writer=None, line=group(regions, THERE).line, held=None)
        regions.line(HERE, ELSEWHERE).is_cut = regions.line(ELSEWHERE, HERE).is_cut = False
        begin_mirror(regions, HERE)
        visit(regions, *[(HERE, ELSEWHERE)] * 4)
        assert standing(regions.ask(HERE), "pets").is_copying
        cut_off(regions, ELSEWHERE, False)
        regions.settle()
        assert names(regions[HERE]) == names(regions[ELSEWHERE]) == names(regions[THERE]) == ["one"]


def test_what_a_region_wrote_that_is_gone_comes_from_who_has_read_it(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        replicate(regions, THERE, ELSEWHERE)
        clock.move(timedelta(days=2))
        cut_off(regions, ELSEWHERE)
        regions[THERE].call("PutItem", put("rex"))
        regions.settle()
        regions[HERE].call("UpdateTable", update("Delete", THERE))
        regions.settle()
        cut_off(regions, ELSEWHERE, False)
        regions.settle()
        assert names(regions[ELSEWHERE]) == names(regions[HERE]) == ["rex"]


def test_one_that_is_held_goes_on_alone_also_where_all_write(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        cut_off(regions, HERE)
        home.call("PutItem", put("late"))
        alone(regions, THERE)
        release(regions.ask(THERE), "pets")
        cut_off(regions, HERE, False)
        regions.settle()
        with pytest.raises(ReplicasMistake, match="let us-east-1 rejoin"):
            promoted(regions, HERE, force=True)
        cut_off(regions, HERE)
        with pytest.raises(ReplicasMistake, match="was left behind when another region took over"):
            promoted(regions, HERE, THERE)
        promoted(regions, HERE, THERE, force=True)
        home.call("PutItem", put("new"))
        cut_off(regions, HERE, False)
        regions.settle()
        assert names(home) == names(regions[THERE]) == ["late", "new"]
