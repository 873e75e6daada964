"""Tasks are finished whatever happens: broken off anywhere, run by several at once, with late writers (PC-D23)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.systems.parental.talk import ANNA, OTHER_PHONE, PHONE, SECRET, Place
from tests.systems.talk import at_once

from tablewright.kit.erased import ErasedList
from tablewright.mapping import Db
from tablewright.systems.parental import design as d
from tablewright.systems.parental.blocked.events import Batch, Event
from tablewright.systems.parental.family.subjects import FamilySubjects
from tablewright.systems.parental.family.tasks import FamilyTasks
from tablewright.systems.parental.model import Child
from tablewright.systems.parental.repository import Repository

# After it, what a dead process had is taken up.
LEASE = timedelta(minutes=5)
APPS = ("TikTok", "Instagram", "YouTube")


class Died(Exception):
    """The process ended here."""


def _dying(at: Place, lives: int) -> FamilyTasks:
    """FamilyTasks of a process that dies with its `lives`-th call to the store, and stays dead."""
    left = [lives]

    def call(verb: str, request: Any) -> Any:
        left[0] -= 1
        if left[0] <= 0:
            raise Died
        return at.call(verb, request)

    db = Db(call, d.PARENTAL, world=at.clock.world(), secret=SECRET, environment=at.db.environment)
    repository = Repository(db, at.clock.world())
    people = FamilySubjects(repository, ErasedList())
    return FamilyTasks(repository, at.parental.reconciler.reconcile, people)


def _lived(at: Place) -> Child:
    child = at.child()
    at.policy(child, *APPS, notes="kept")
    at.policy(child, "TikTok")
    at.parental.overrides.add(child, "block", "*", at.clock.now() + timedelta(hours=3), ANNA)
    at.clock.move(timedelta(minutes=1))
    _count(at, "b", PHONE)
    return child


def _count(at: Place, batch: str, phone: str) -> None:
    events = [
        Event(at=at.clock.now() - timedelta(seconds=n), app_name=app, phone_number=phone, count=n + 1)
        for n, app in enumerate(APPS)
    ]
    at.parental.ingest.take(Batch(batch, events))


def _finish(at: Place) -> None:
    at.clock.move(timedelta(minutes=11))
    at.parental.tasks.run_due()
    assert list(d.tasks.open(at.db)) == []


@pytest.mark.parametrize("lives", [2, 3, 5, 8, 13, 21, 34])
def test_pc_d24_a_change_of_number_that_dies_anywhere_is_taken_up_again(at: Place, lives: int) -> None:
    child = _lived(at)
    at.parental.children.prove(OTHER_PHONE, ANNA)
    moved = at.parental.children.change_number(child, OTHER_PHONE, at.code(OTHER_PHONE), ANNA)
    at.clock.move(timedelta(minutes=1))
    _count(at, "b2", OTHER_PHONE)
    for _ in range(3):
        with suppress(Died):
            _dying(at, lives).run_due()
        at.clock.move(LEASE)
    at.parental.tasks.run_due()
    counts = {metric.app_name: metric.blocked_count for metric in at.parental.records.metrics(moved)}
    assert counts == {"TikTok": 2, "Instagram": 4, "YouTube": 6}
    assert all(m.blocked_count == sum(m.hourly.values()) for m in at.parental.records.metrics(moved))
    assert len(at.parental.policies.of_child(moved)) == 2
    assert len(at.parental.overrides.of_child(moved)) == 1
    assert at.parental.records.metrics(child) == []
    assert at.parental.policies.of_child(child) == []
    _finish(at)


def test_pc_d24_two_processes_at_once_move_everything_once(at: Place) -> None:
    child = _lived(at)
    at.parental.children.prove(OTHER_PHONE, ANNA)
    moved = at.parental.children.change_number(child, OTHER_PHONE, at.code(OTHER_PHONE), ANNA)
    at_once([_dying(at, 10_000).run_due for _ in range(4)])
    at.parental.tasks.run_due()
    counts = {metric.app_name: metric.blocked_count for metric in at.parental.records.metrics(moved)}
    assert counts == {"TikTok": 1, "Instagram": 2, "YouTube": 3}
    assert len(at.parental.policies.of_child(moved)) == 2
    assert len(at.parental.overrides.of_child(moved)) == 1
    _finish(at)


def test_an_exception_made_under_a_new_number_stays_beside_those_that_come_after_it(at: Place) -> None:
    child = _lived(at)
    at.parental.children.prove(OTHER_PHONE, ANNA)
    moved = at.parental.children.change_number(child, OTHER_PHONE, at.code(OTHER_PHONE), ANNA)
    (old,) = at.parental.overrides.of_child(child)
    made = at.parental.overrides.add(moved, "block", "Instagram", timedelta(hours=1), ANNA)
    assert made.override_id == old.override_id, "both are the first of their day"
    at.parental.tasks.run_due()
    kept = {(one.kind, one.app_name) for one in at.parental.overrides.of_child(moved)}
    assert kept == {(old.kind, old.app_name), ("block", "Instagram")}
    _finish(at)


def test_a_policy_made_under_a_new_number_stays_beside_those_that_come_after_it(at: Place) -> None:
    child = _lived(at)
    first, second = at.parental.policies.of_child(child)
    at.parental.policies.delete(child, second.policy_id, ANNA)
    at.parental.children.prove(OTHER_PHONE, ANNA)
    moved = at.parental.children.change_number(child, OTHER_PHONE, at.code(OTHER_PHONE), ANNA)
    made = [at.policy(moved, "Instagram", notes=f"made there {number}") for number in (1, 2)]
    assert [one.policy_id for one in made] == [first.policy_id, second.policy_id], "the same numbers"
    at.parental.tasks.run_due()
    assert at.parental.policies.of_child(child) == []
    after = {one.policy_id: one.notes for one in at.parental.policies.of_child(moved)}
    day = first.policy_id[:-3]
    assert after == {f"{day}001": "made there 1", f"{day}002": "made there 2", f"{day}003": "kept"}
    (purge,) = at.db.all(d.purges_of_child(child=moved.child))
    assert purge.policy_id == f"{day}004", "what was deleted is purged under its new number"
    audit = [entry.subject for entry in at.db.all(d.audit.of(moved.family_id))]
    assert audit.count(f"{moved.child}/{day}003") == 2, "made, and renumbered"
    assert not [one for one in audit if one.startswith(f"{child.child}/")]
    _finish(at)


@pytest.mark.parametrize("lives", [2, 4, 6, 9, 14])
def test_pc_d23_a_change_of_address_that_dies_anywhere_is_taken_up_again(at: Place, lives: int) -> None:
    _lived(at)
    new = replace(ANNA, email="anna@new.example")
    at.parental.guardians.change_email(new)
    for _ in range(2):
        with suppress(Died):
            _dying(at, lives).run_due()
        at.clock.move(LEASE)
    at.parental.tasks.run_due()
    assert len(at.parental.policies.of_parent(new).items) == 2
    assert len(at.parental.records.metrics_of_parent(new).items) == 3
    assert list(at.db.all(d.metrics_of_parent(parent_email="anna@example.com"))) == []
    _finish(at)


def test_pc_d23_what_was_written_by_the_old_address_meanwhile_follows(at: Place) -> None:
    child = _lived(at)
    new = replace(ANNA, email="anna@new.example")
    at.parental.guardians.change_email(new)
    at.parental.tasks.run_due()
    (late,) = at.parental.records.metrics(child, app="TikTok")
    again = d.metrics.update(child.child, late.date, "TikTok")
    at.db.write(again.at(lambda metric: metric.parent_email).set("anna@example.com"))
    at.clock.move(timedelta(minutes=11))
    assert at.parental.tasks.run_due() == 0
    assert len(at.parental.records.metrics_of_parent(new).items) == 3
    assert at.parental.tasks.run_due() == 1


def test_an_address_that_has_another_family_too_keeps_that_one(at: Place) -> None:
    """Two owners have had one address: what the one changes is not the other's."""
    _lived(at)
    twin = replace(ANNA, subject="anna-2")
    other = at.child(twin, OTHER_PHONE, "Tom")
    at.policy(other, "TikTok", by=twin)
    at.clock.move(timedelta(minutes=1))
    _count(at, "b3", OTHER_PHONE)
    at.parental.guardians.change_email(replace(ANNA, email="anna@new.example"))
    at.parental.tasks.run_due()
    assert at.parental.families.child(twin, OTHER_PHONE).parent_email == "anna@example.com"
    assert {m.parent_email for m in at.parental.records.metrics(other)} == {"anna@example.com"}
    assert [policy.child for policy in at.parental.policies.of_parent(twin).items] == [OTHER_PHONE]


@pytest.mark.parametrize("lives", [2, 5, 9, 15, 22])
def test_an_erasure_that_dies_anywhere_is_taken_up_again(at: Place, lives: int) -> None:
    child = _lived(at)
    at.parental.privacy.erase(child, ANNA)
    _count(at, "b4", PHONE)
    for _ in range(2):
        with suppress(Died):
            _dying(at, lives).run_due()
        at.clock.move(LEASE)
    at.clock.move(timedelta(minutes=11))
    with suppress(Died):
        _dying(at, lives).run_due()
    at.clock.move(LEASE)
    at.parental.tasks.run_due()
    quarantined = [text for text in at.mentions(PHONE, "Sarah") if "QUARANTINE#" not in text]
    assert quarantined == []
