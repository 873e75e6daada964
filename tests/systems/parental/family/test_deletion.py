"""The end of a family: a plan, a week to undo it, and then no table says anything of it (PC-X12)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.client.ways import WAYS
from tests.systems.parental.lived import ADDRESS, NAME, lived
from tests.systems.parental.talk import (
    ANNA,
    BEN,
    OTHER_PHONE,
    PHONE,
    SUPPORT,
    ZOE,
    Api,
    Place,
    refuses,
)
from tests.systems.talk import at_once, given, refused

from tablewright.systems.parental.firewall.simulated import Faults

WEEK = timedelta(days=7)


def _run(at: Place, times: int = 4) -> None:
    """FamilyTasks as they run, until what others may write is over."""
    for _ in range(times):
        at.clock.move(timedelta(minutes=6))
        at.parental.tasks.run_due()


def _left(at: Place, *words: str) -> list[str]:
    """Where any of the words stands, after what runs out by itself within hours was swept away."""
    at.clock.move(timedelta(hours=3))
    if at.engine is not None:
        at.engine.settle()
    return at.mentions(*words)


class TestOnEveryWay:
    @pytest.fixture(params=list(WAYS))
    def way(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    def test_pc_x12_after_its_week_no_table_says_anything_of_a_deleted_family(self, at: Place) -> None:
        child = lived(at)
        family = at.parental.families.own(ANNA)
        at.guardian(family, BEN)
        at.parental.guardians.invite(family.family_id, "grandma@example.com", ANNA)
        at.parental.children.prove("+15550001111", ANNA)
        at.parental.deletion.delete(family.family_id, ANNA)
        at.clock.move(WEEK - timedelta(minutes=1))
        at.parental.tasks.run_due()
        assert at.parental.families.child(BEN, PHONE) == child, "until then all is as before"
        assert list(at.firewalls["fw"].list()) != []

        at.clock.move(timedelta(minutes=1))
        _run(at, 6)
        assert list(at.firewalls["fw"].list()) == []
        words = (
            PHONE,
            NAME,
            ADDRESS,
            family.family_id,
            family.name,
            "anna@",
            "ben@",
            "grandma@",
            "+15550001111",
        )
        assert _left(at, *words) == []
        assert at.parental.families.of(ANNA) == []


def test_a_plan_tells_what_would_go_and_changes_nothing(at: Place) -> None:
    child = lived(at)
    family = at.parental.families.own(ANNA)
    at.guardian(family, BEN)
    before = at.everything()
    plan = at.parental.deletion.plan(family.family_id, ANNA)
    assert [(one.child.child, one.policies, one.rules) for one in plan.children] == [(child.child, 1, 2)]
    assert sorted(one.email for one in plan.guardians) == ["anna@example.com", "ben@example.com"]
    assert plan.closes_at == at.clock.now() + WEEK
    assert at.everything() == before


def test_a_family_is_kept_while_its_week_lasts_and_everybody_of_it_is_told_both(at: Place) -> None:
    child = at.child()
    family = at.parental.families.own(ANNA)
    at.guardian(family, BEN)
    at.clock.move(timedelta(hours=1))
    closing = at.parental.deletion
    assert closing.delete(family.family_id, ANNA).closes_at == at.clock.now() + WEEK
    assert at.parental.families.own(BEN).closes_at == at.clock.now() + WEEK
    at.clock.move(timedelta(days=6))
    assert closing.keep(family.family_id, ANNA).closes_at is None
    for person in ("anna@example.com", "ben@example.com"):
        told = at.messages(person)
        assert any("will be deleted" in text for text in told), person
        assert any("cancelled the deletion" in text for text in told), person
    at.clock.move(timedelta(days=30))
    _run(at)
    assert at.parental.families.child(ANNA, PHONE).child == child.child
    assert [action for action, _ in at.audit(family)][:2] == ["family kept", "family deleted"]


def test_asked_again_the_week_does_not_begin_anew_and_may_be_ended(at: Place) -> None:
    at.child()
    family = at.parental.families.own(ANNA)
    closing = at.parental.deletion
    first = closing.delete(family.family_id, ANNA).closes_at
    at.clock.move(timedelta(days=2))
    assert closing.delete(family.family_id, ANNA).closes_at == first
    closing.delete(family.family_id, ANNA, at_once=True)
    with refuses("FAMILY_NOT_FOUND"):
        closing.keep(family.family_id, ANNA)
    _run(at)
    assert _left(at, PHONE, family.family_id) == []


def test_only_the_owner_deletes_and_keeps_a_family(at: Place) -> None:
    family = at.family()
    at.guardian(family, BEN)
    at.parental.deletion.delete(family.family_id, ANNA)
    for work in (at.parental.deletion.plan, at.parental.deletion.delete, at.parental.deletion.keep):
        with refuses("OWNER_ONLY"):
            work(family.family_id, BEN)
        for stranger in (ZOE, SUPPORT):
            with refuses("FAMILY_NOT_FOUND"):
                work(family.family_id, stranger)


def test_when_the_week_is_over_it_is_too_late_also_if_nothing_was_done_yet(at: Place) -> None:
    family = at.family()
    at.parental.deletion.delete(family.family_id, ANNA)
    at.clock.move(WEEK)
    with refuses("FAMILY_CLOSED"):
        at.parental.deletion.keep(family.family_id, ANNA)


def test_of_keeping_and_deleting_at_once_one_holds(at: Place) -> None:
    at.child()
    family = at.parental.families.own(ANNA)
    closing = at.parental.deletion
    closing.delete(family.family_id, ANNA)
    at_once(
        [
            lambda: closing.keep(family.family_id, ANNA),
            lambda: closing.delete(family.family_id, ANNA, at_once=True),
        ],
        threads=2,
    )
    _run(at, 5)
    left = at.parental.families.of(ANNA)
    assert [one.closes_at for one in left] == ([None] if left else [])
    assert bool(_left(at, PHONE)) == bool(left), "whole or not at all"


def test_a_device_that_is_away_keeps_a_deleted_family_waiting_and_nothing_else(at: Place) -> None:
    lived(at)
    family = at.parental.families.own(ANNA)
    at.firewalls["fw"].faults = Faults(is_down=True)
    at.parental.deletion.delete(family.family_id, ANNA, at_once=True)
    _run(at)
    assert at.parental.families.of(ANNA) == []
    assert {one.kind for one in at.parental.tasks.open(family.family_id)} == {"erase", "family"}
    at.firewalls["fw"].faults = Faults()
    at.parental.devices.health("fw")
    _run(at, 5)
    assert list(at.firewalls["fw"].list()) == []
    assert _left(at, PHONE, NAME, family.family_id) == []


def test_the_rest_of_the_world_stays_and_the_number_may_be_had_by_somebody_else(at: Place) -> None:
    at.child()
    others = at.child(ZOE, OTHER_PHONE, name="Tom")
    at.policy(others, "TikTok", by=ZOE)
    at.parental.deletion.delete(at.parental.families.own(ANNA).family_id, ANNA, at_once=True)
    _run(at)
    assert [one.child for one in at.parental.families.children(ZOE)] == [others.child]
    assert len(at.parental.policies.of_child(others)) == 1
    again = at.child(ZOE, PHONE)
    assert again.child == PHONE


def test_a_family_is_deleted_and_kept_through_the_api(at: Place, api: Api) -> None:
    at.child()
    id = at.parental.families.own(ANNA).family_id
    plan = given(api.get(f"/families/{id}/deletion", by=ANNA))
    assert (plan["isOnItsWay"], [one["childName"] for one in plan["children"]]) == (False, ["Sarah"])
    closes = given(api.delete(f"/families/{id}", by=ANNA), 202)
    assert "35 days" in closes["backups"]
    assert given(api.get(f"/families/{id}", by=ANNA))["closesAt"] == closes["closesAt"]
    assert refused(api.delete(f"/families/{id}", by=ZOE)) == (404, "FAMILY_NOT_FOUND")
    assert "closesAt" not in given(api.post(f"/families/{id}:keep", by=ANNA))
    given(api.delete(f"/families/{id}?atOnce=true", by=ANNA), 202)
    assert refused(api.get(f"/families/{id}", by=ANNA)) == (404, "FAMILY_NOT_FOUND")
