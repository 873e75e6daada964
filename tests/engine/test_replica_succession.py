"""Writers one after the other: what came along with them, and what a region that comes back still has beside it."""

from dataclasses import replace
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
    cut_off,
    engine_in,
    regions_of,
    replicate,
    update,
)
from tests.engine.tables import found, item, keyed, names, put
from tests.engine.test_replica_roles import promoted

from tablewright import ServiceError
from tablewright.engine import Regions, replica_succession, replica_telling, verify
from tablewright.engine.replica_control import rejoin, release
from tablewright.engine.replica_group import Takeover
from tablewright.engine.replica_plans import promotion
from tablewright.engine.replica_standings import ReplicasMistake, standing, unread
from tablewright.engine.replica_succession import lengthened, missed, outlived
from tablewright.engine.replicas import TRACES_KEPT
from tablewright.engine.storage_replicas import mark, save_mark
from tablewright.engine.writing import Writing
from tablewright.testing import Clock

ONE = Takeover(1, "a", {"a": 5, "b": 3})
TWO = Takeover(2, "b", {"a": 4, "b": 7})
TWIN = Takeover(2, "a", {"a": 6, "b": 3})
THREE = Takeover(3, "a", {"a": 6, "b": 7, "c": 1})


def test_what_was_missed_begins_after_the_last_takeover_that_both_have_followed() -> None:
    assert missed((), (ONE, TWO)) == (ONE, TWO)
    assert missed((ONE,), (ONE, TWO, THREE)) == (TWO, THREE)
    assert missed((ONE, TWIN), (ONE, TWO, THREE)) == (TWO, THREE)
    assert missed((ONE, TWO), (ONE, TWO)) == ()


def test_a_write_outlives_takeovers_if_each_of_the_new_writers_had_read_it() -> None:
    assert outlived((TWO, THREE)) == {"a": 4, "b": 7, "c": 0}


def test_a_long_line_is_kept_short_and_stays_as_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica_succession, "KEPT", 2)
    line = lengthened((ONE, TWO), THREE)
    assert line == (Takeover(2, "b", {"a": 4, "b": 3}), THREE)
    assert outlived(missed((), line)) == outlived((ONE, TWO, THREE))
    assert missed((ONE, TWO), line) == (THREE,)


def unreads(regions: Regions) -> dict[str, int | None]:
    return {region: standing(regions.ask(region), "pets").unread for region in regions}


def test_a_standby_gets_from_the_new_writer_what_it_had_not_read_of_the_old_one(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        home.call("PutItem", put("old"))
        regions.settle()
        regions.line(ELSEWHERE, HERE).is_cut = True
        for number in range(5):
            home.call("PutItem", put(f"pet {number}"))
        home.call("DeleteItem", keyed("old"))
        promoted(regions, THERE)
        # The old writer is out of reach for good; the new one has all of it.
        cut_off(regions, HERE)
        regions.settle()
        assert names(regions[ELSEWHERE]) == names(regions[THERE]) == [f"pet {number}" for number in range(5)]
        assert [lag.pending for lag in regions.lag() if lag.reader == ELSEWHERE] == [0]


def test_a_standby_that_missed_a_delete_for_too_long_copies_the_new_writer(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        home.call("PutItem", put("old"))
        home.call("PutItem", put("rex"))
        regions.settle()
        cut_off(regions, ELSEWHERE)
        home.call("DeleteItem", keyed("old"))
        promoted(regions, THERE, ELSEWHERE)
        clock.move(timedelta(microseconds=TRACES_KEPT, seconds=1))
        regions.settle()
        cut_off(regions, ELSEWHERE, False)
        cut_off(regions, HERE)
        regions.settle()
        assert names(regions[ELSEWHERE]) == ["rex"]


def given_up_while_one_is_away(regions: Regions) -> None:
    """Home writes, ELSEWHERE reads that and is cut off; THERE is promoted without it, and home promoted back."""
    home = replicate(regions, THERE, ELSEWHERE)
    promoted(regions, HERE)
    regions.line(THERE, HERE).is_cut = True
    home.call("PutItem", put("late"))
    regions.settle()
    cut_off(regions, ELSEWHERE)
    promoted(regions, THERE, HERE, ELSEWHERE, force=True)
    regions.line(THERE, HERE).is_cut = False
    regions.settle()
    rejoin(regions.ask(HERE), "pets", regions.settle)
    promoted(regions, HERE, ELSEWHERE)


def test_who_was_away_while_a_write_was_given_up_is_held_with_it(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        given_up_while_one_is_away(regions)
        regions[HERE].call("PutItem", put("new"))
        cut_off(regions, ELSEWHERE, False)
        regions.settle()
        assert unreads(regions) == {HERE: None, THERE: None, ELSEWHERE: 1}
        assert [one["Keys"] for one in unread(regions.ask(ELSEWHERE), "pets")] == [{"pk": {"S": "late"}}]
        rejoin(regions.ask(ELSEWHERE), "pets", regions.settle)
        regions.settle()
        assert names(regions[ELSEWHERE]) == names(regions[HERE]) == names(regions[THERE]) == ["new"]


def test_who_is_held_with_a_write_stays_so_when_its_writer_gives_it_up(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, HERE)
        regions.line(THERE, HERE).is_cut = True
        home.call("PutItem", put("late"))
        regions.settle()
        promoted(regions, THERE, HERE, force=True)
        regions.line(THERE, HERE).is_cut = False
        regions.settle()
        assert unreads(regions) == {HERE: 1, THERE: None, ELSEWHERE: 1}
        rejoin(regions.ask(HERE), "pets", regions.settle)
        regions.settle()
        assert unreads(regions) == {HERE: None, THERE: None, ELSEWHERE: 1}


def test_when_all_write_again_who_was_left_behind_does_not_until_it_has_rejoined(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        given_up_while_one_is_away(regions)
        release(regions.ask(HERE), "pets")
        cut_off(regions, ELSEWHERE, False)
        regions.settle()
        regions[THERE].call("PutItem", put("new"))
        with pytest.raises(ServiceError, match=r"takes no writes in sa-east-1: .* let sa-east-1 rejoin"):
            regions[ELSEWHERE].call("PutItem", put("mine"))
        plan = promotion(asks(regions), HERE, "pets", regions.settle)
        assert plan.obstacles == [
            "sa-east-1 was left behind when another region took over, and has writes nobody else has: let it rejoin "
            "first"
        ]
        with pytest.raises(ReplicasMistake, match="may have writes the others do not have"):
            promoted(regions, ELSEWHERE, force=True)
        assert names(regions[THERE]) == ["new"]
        rejoin(regions.ask(ELSEWHERE), "pets", regions.settle)
        regions[ELSEWHERE].call("PutItem", put("mine"))
        regions.settle()
        assert names(regions[HERE]) == names(regions[THERE]) == names(regions[ELSEWHERE]) == ["mine", "new"]


def test_by_force_a_region_is_promoted_although_one_was_left_behind(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        given_up_while_one_is_away(regions)
        release(regions.ask(HERE), "pets")
        cut_off(regions, ELSEWHERE, False)
        regions.settle()
        promoted(regions, THERE, force=True)
        regions[THERE].call("PutItem", put("new"))
        regions.settle()
        assert unreads(regions) == {HERE: None, THERE: None, ELSEWHERE: 1}
        assert names(regions[HERE]) == ["new"]


def test_who_mirrors_one_that_was_left_behind_itself_mirrors_another_instead(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE, ELSEWHERE)
        promoted(regions, ELSEWHERE)
        cut_off(regions, ELSEWHERE)
        # The two that stay behind have each other's word only, and neither of them is to be mirrored.
        regions[ELSEWHERE].call("PutItem", put("late"))
        promoted(regions, THERE, ELSEWHERE, force=True)
        promoted(regions, HERE, ELSEWHERE)
        release(regions.ask(HERE), "pets")
        regions.settle()
        cut_off(regions, ELSEWHERE, False)
        regions.settle()
        assert unreads(regions) == {HERE: None, THERE: None, ELSEWHERE: 1}
        rejoin(regions.ask(ELSEWHERE), "pets", regions.settle)
        home.call("PutItem", put("new"))
        regions.settle()
        assert names(regions[ELSEWHERE]) == names(home) == ["new"]


def test_a_replica_made_from_a_region_that_is_held_is_held_too(clock: Clock) -> None:
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions, THERE)
        promoted(regions, HERE)
        cut_off(regions, HERE)
        home.call("PutItem", put("late"))
        promoted(regions, THERE, HERE, force=True)
        cut_off(regions, HERE, False)
        regions.settle()
        home.call("UpdateTable", update("Create", ELSEWHERE))
        regions.settle()
        assert names(regions[ELSEWHERE]) == ["late"]
        assert unreads(regions) == {HERE: 1, THERE: None, ELSEWHERE: 1}


def test_a_replica_that_is_being_made_during_a_handover_is_not_held(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica_telling, "COPIED", 2)
    with regions_of(clock, *ALL) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        for number in range(6):
            home.call("PutItem", put(f"pet {number}"))
        regions.settle()
        home.call("UpdateTable", update("Create", ELSEWHERE))
        visit(regions, (HERE, ELSEWHERE), (ELSEWHERE, HERE))
        regions.ask(HERE)("PeerYield", {"Table": "pets", "Epoch": 2, "Writer": THERE})
        visit(regions, (THERE, HERE), (ELSEWHERE, THERE))
        regions[THERE].call("PutItem", put("pet 5", age=1))
        visit(regions, (HERE, THERE), (HERE, THERE))
        assert standing(regions.ask(ELSEWHERE), "pets").is_copying
        regions.settle()
        assert unreads(regions) == dict.fromkeys(ALL)
        assert found(regions[ELSEWHERE], "pet 5") == item("pet 5", age=1)


def visit(regions: Regions, *pairs: tuple[str, str]) -> None:
    for pair in pairs:
        for follower in regions._followers:
            if (follower.line.reader, follower.line.source) == pair:
                follower.visit()


def test_one_that_is_held_can_go_on_alone_and_who_wrote_meanwhile_is_held_then(clock: Clock) -> None:
    with regions_of(clock) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        cut_off(regions, HERE)
        home.call("PutItem", put("late"))
        promoted(regions, THERE, HERE, force=True)
        cut_off(regions, HERE, False)
        regions.settle()
        cut_off(regions, THERE)
        regions[THERE].call("PutItem", put("lost"))
        plan = promotion(asks(regions, THERE), HERE, "pets")
        assert plan.obstacles == [
            "eu-west-1 does not answer: what it has and us-east-1 has not stays there",
            "us-east-1 was left behind when eu-west-1 took over: what it has from before would count again",
        ]
        promoted(regions, HERE, THERE, force=True)
        home.call("PutItem", put("new"))
        cut_off(regions, THERE, False)
        regions.settle()
        assert unreads(regions) == {HERE: None, THERE: 1}
        rejoin(regions.ask(THERE), "pets", regions.settle)
        assert names(home) == names(regions[THERE]) == ["late", "new"]


def test_verify_names_a_line_of_takeovers_that_cannot_be(clock: Clock) -> None:
    def said(**fields: Any) -> list[str]:
        changed = replace(table, replicas=replace(group, **fields))
        home.doors.write(lambda writing: writing.save_table(changed))
        return home.verify()

    with regions_of(clock) as regions:
        home = replicate(regions)
        promoted(regions, HERE)
        table = home.tables["pets"]
        assert table.replicas is not None
        group = table.replicas
        (mine,) = group.line
        other = Takeover(1, THERE, {})
        assert said(line=(mine, other)) == [
            "replicas of pets: the takeover (1, 'eu-west-1') is noted after (1, 'us-east-1')",
            "replicas of pets: us-east-1 writes in (1, 'us-east-1'), but the last takeover noted is (1, 'eu-west-1')",
        ]
        assert said(writer=THERE) == [
            "replicas of pets: the takeover (1, 'us-east-1') is noted, but the epoch is (1, 'eu-west-1')"
        ]
        assert said(line=()) == said(line=(mine,)) == []


def test_verify_names_a_store_that_has_read_more_of_another_than_was_written_there(
    clock: Clock, tmp_path: Path
) -> None:
    engines = {HERE: engine_in(HERE, clock, tmp_path)}
    engines[THERE] = engine_in(THERE, clock, tmp_path / "regions" / THERE)
    with Regions(engines, HERE, period=None) as regions:
        home = replicate(regions)
        home.call("PutItem", put("rex"))
        regions.settle()
        assert regions.verify() == []
        number = regions[THERE].tables["pets"].number

        def forge(writing: Writing) -> None:
            known = mark(writing.rows, number, HERE)
            save_mark(writing.rows, number, HERE, known._replace(number=known.number + 3))

        regions[THERE].doors.write(forge)
        broken = ["eu-west-1: it has read pets of us-east-1 beyond its last write"]
        assert regions.verify() == broken
    assert verify(tmp_path) == broken
