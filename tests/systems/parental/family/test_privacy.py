"""Export and erasure of a child, proved by a look into every table (PC-X12); what the name of a rule gives away."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from tests.client.ways import WAYS
from tests.systems.parental.lived import ADDRESS, NAME, lived
from tests.systems.parental.talk import (
    ANNA,
    BEN,
    OTHER_PHONE,
    PHONE,
    ZOE,
    Api,
    Place,
    refuses,
)
from tests.systems.talk import given, refused

from tablewright.mapping import Change, Consumer
from tablewright.systems.parental import design as d
from tablewright.systems.parental import jobs
from tablewright.systems.parental.blocked.events import Batch, Event
from tablewright.systems.parental.enforcement import due, on_change
from tablewright.systems.parental.firewall.simulated import Faults


class TestOnEveryWay:
    @pytest.fixture(params=list(WAYS))
    def way(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    def test_pc_x12_after_an_erasure_no_table_says_anything_of_the_child(self, at: Place) -> None:
        child = lived(at)
        tables = {where.partition(":")[0] for where in at.mentions(PHONE, NAME)}
        assert tables >= {
            "ParentalPolicies",
            "EnforcementHistory",
            "BlockedRequestMetrics",
            "FTDRuleMapping",
            "SubscriberSessions",
            "ChildProfiles",
            "ParentalFamilies",
        }
        assert at.firewalls["fw"].list()
        task = at.parental.privacy.erase(child, ANNA)
        assert task.note is None
        assert list(at.firewalls["fw"].list()) == []
        # What others wrote meanwhile by what they knew before goes with the last look.
        at.clock.move(timedelta(minutes=11))
        assert at.parental.tasks.run_due() == 1
        assert at.mentions(PHONE, NAME, ADDRESS) == []
        assert at.parental.families.children(ANNA, released=True) == []
        kept = [action for action, _ in at.audit(child.family_id)]
        assert "child erased" in kept
        assert "family changed" in kept


def test_who_follows_the_changes_brings_nothing_of_an_erased_child_back(at: Place) -> None:
    followers = on_change.consumers(at.parental)
    for follower in followers:
        follower.create_tables()
    child = lived(at)
    for follower in followers:
        follower.run_once()
    at.parental.privacy.erase(child, ANNA)
    for follower in followers:
        follower.run_once()
    at.clock.move(timedelta(minutes=11))
    at.parental.tasks.run_due()
    for follower in followers:
        follower.run_once()
        assert list(follower.parked()) == []
    due.check_due(at.parental)
    assert at.mentions(PHONE, NAME, ADDRESS) == []
    assert list(at.firewalls["fw"].list()) == []


def _parks(at: Place) -> list[Consumer]:
    """Follow the changes with nobody able to deal with a policy or a child; the followers."""

    def breaks(told: Change[Any]) -> None:
        raise ValueError("nobody can follow this")

    found = [
        Consumer(at.db, [d.policies], "ParentalPolicies", d.FOLLOWER, breaks, attempts=1),
        Consumer(at.db, [d.children], "ChildProfiles", d.FOLLOWER, breaks, attempts=1),
    ]
    for follower in found:
        follower.create_tables()
        follower.run_once()
    return found


def test_pc_x12_what_was_parked_of_a_childs_changes_goes_with_the_child(at: Place) -> None:
    for follower in on_change.consumers(at.parental):
        follower.create_tables()
    child = lived(at)
    other = at.child(phone=OTHER_PHONE, name="Tom")
    at.policy(other, "TikTok")
    followers = _parks(at)
    parked = [len(follower.parked()) for follower in followers]
    at.parental.privacy.erase(child, ANNA)
    at.clock.move(timedelta(minutes=11))
    at.parental.tasks.run_due()
    left = [follower.parked() for follower in followers]
    assert [0 < len(mine) < before for mine, before in zip(left, parked, strict=True)] == [True, True]
    assert not [record for mine in left for record in mine if child.child in record.key]


def test_a_change_that_nobody_can_follow_is_forgotten_after_a_month(at: Place) -> None:
    for follower in on_change.consumers(at.parental):
        follower.create_tables()
    lived(at)
    followers = _parks(at)
    assert jobs.forget_what_was_parked(at.parental) == 0
    at.clock.move(timedelta(days=31))
    assert jobs.forget_what_was_parked(at.parental) > 0
    assert [follower.parked() for follower in followers] == [[], []]


def test_what_had_expired_before_an_erasure_goes_with_the_sweep(at: Place) -> None:
    child = lived(at)
    at.clock.move(timedelta(days=91))
    at.parental.privacy.erase(child, ANNA)
    at.clock.move(timedelta(minutes=11))
    at.parental.tasks.run_due()
    if at.engine is not None:
        at.engine.settle()
        assert at.mentions(PHONE, NAME, ADDRESS) == []


def test_the_rest_of_the_family_stays(at: Place) -> None:
    child = lived(at)
    other = at.child(phone=OTHER_PHONE, name="Tom")
    at.policy(other, "TikTok")
    before = at.parental.privacy.export(other)
    at.parental.privacy.erase(child, ANNA)
    at.clock.move(timedelta(minutes=11))
    at.parental.tasks.run_due()
    after = at.parental.privacy.export(other)
    assert {**after, "exportedAt": ""} == {**before, "exportedAt": ""}


def test_a_device_that_is_away_keeps_only_its_rules_and_they_go_when_it_is_back(at: Place) -> None:
    child = lived(at)
    at.firewalls["fw"].faults = Faults(is_down=True)
    task = at.parental.privacy.erase(child, ANNA)
    assert task.note == "firewall rules to be removed"
    assert at.mentions(NAME) == [text for text in at.mentions(NAME) if "task_" in text]
    assert at.scan("ParentalPolicies") == at.scan("BlockedRequestMetrics") == []
    at.clock.move(timedelta(minutes=30))
    assert at.parental.tasks.run_due() == 0
    at.firewalls["fw"].faults = Faults()
    for _ in range(3):
        at.clock.move(timedelta(minutes=10))
        at.parental.tasks.run_due()
    assert at.mentions(PHONE, NAME, ADDRESS) == []
    assert list(at.firewalls["fw"].list()) == []


def test_while_an_erasure_waits_for_a_device_nobody_is_told_of_the_child(at: Place, api: Api) -> None:
    child = lived(at)
    at.firewalls["fw"].faults = Faults(is_down=True)
    given(api.delete(f"/children/{PHONE}", by=ANNA), 202)
    path = f"/children/{PHONE}"
    for part in ("", "/policies", "/enforcement", "/rules", "/sessions", "/status", "/metrics", "/export"):
        assert refused(api.get(f"{path}{part}", by=ANNA)) == (404, "CHILD_NOT_FOUND"), part
    assert refused(api.patch(path, {"childName": "X"}, by=ANNA)) == (404, "CHILD_NOT_FOUND")
    assert given(api.get("/children?includeReleased=true", by=ANNA)) == []
    left = at.parental.repository.child(child.child)
    assert (left.child_name, left.parent_email) == ("[erased]", "[erased]")
    assert given(api.delete(path, by=ANNA), 202)["waitsFor"] == "firewall rules to be removed"


def test_a_number_is_nobody_elses_until_its_erasure_is_over(at: Place) -> None:
    """The last look must not take what the next family has made meanwhile."""
    child = lived(at)
    at.parental.privacy.erase(child, ANNA)
    second = at.child(ZOE, PHONE, "Emil")
    assert second.child == f"{PHONE}~2"
    at.policy(second, "TikTok", by=ZOE)
    at.clock.move(timedelta(minutes=11))
    at.parental.tasks.run_due()
    assert len(at.parental.policies.of_child(second)) == 1
    assert at.parental.families.child(ZOE, PHONE) == second
    assert at.mentions(NAME) == []


def test_erasing_twice_is_erasing_once_and_a_stranger_erases_nothing(at: Place, api: Api) -> None:
    child = lived(at)
    at.guardian(at.parental.families.own(ANNA), BEN)
    assert refused(api.delete(f"/children/{PHONE}", by=ZOE)) == (404, "CHILD_NOT_FOUND")
    assert refused(api.delete(f"/children/{PHONE}", by=BEN)) == (403, "OWNER_ONLY")
    first = given(api.delete(f"/children/{PHONE}", by=ANNA), 202)
    assert "35 days" in first["backups"]
    assert given(api.delete(f"/children/{PHONE}", by=ANNA), 202) == first
    assert len(at.parental.tasks.open(child.family_id)) == 1


def test_a_child_whose_number_changed_is_erased_with_what_it_had_under_the_old_one(at: Place) -> None:
    child = lived(at)
    at.parental.children.prove(OTHER_PHONE, ANNA)
    moved = at.parental.children.change_number(child, OTHER_PHONE, at.code(OTHER_PHONE), ANNA)
    at.parental.tasks.run_due()
    at.firewalls["fw"].faults = Faults(is_down=True)
    at.parental.privacy.erase(moved, ANNA)
    assert [text for text in at.mentions(NAME) if "task_" not in text] == []
    with refuses("CHILD_NOT_FOUND"):
        at.parental.families.child(ANNA, PHONE)
    at.firewalls["fw"].faults = Faults()
    at.clock.move(timedelta(minutes=11))
    at.parental.tasks.run_due()
    # The other event in quarantine is under that number by chance of this test; nothing else may be.
    assert at.mentions(PHONE, NAME, OTHER_PHONE, ADDRESS) == []


def test_pc_x12_what_was_quarantined_of_a_child_goes_though_its_number_is_anothers_by_now(at: Place) -> None:
    child = at.child()
    at.clock.move(timedelta(minutes=1))

    def kept_aside(name: str) -> None:
        event = Event(at=at.clock.now(), app_name="bad#name", phone_number=PHONE)
        at.parental.ingest.take(Batch(name, [event]))
        at.clock.move(timedelta(minutes=1))

    kept_aside("hers")
    at.parental.children.release(child, ANNA)
    at.child(ZOE, PHONE)
    at.clock.move(timedelta(minutes=1))
    kept_aside("the next one's")
    before = at.parental.ingest.waiting().items
    assert len(before) == 2
    at.parental.privacy.erase(at.parental.repository.child(child.child), ANNA)
    at.parental.tasks.run_due()
    (left,) = at.parental.ingest.waiting().items
    assert left == max(before, key=lambda one: one.events[0]["at"])


def test_pc_d24_what_was_counted_for_a_number_moves_with_the_child_and_is_counted_once(at: Place) -> None:
    child = lived(at)
    at.parental.children.prove(OTHER_PHONE, ANNA)
    moved = at.parental.children.change_number(child, OTHER_PHONE, at.code(OTHER_PHONE), ANNA)
    at.clock.move(timedelta(minutes=1))
    late = Event(at=at.clock.now(), app_name="TikTok", phone_number=OTHER_PHONE, count=2)
    at.parental.ingest.take(Batch("batch-2", [late]))
    for _ in range(3):
        at.parental.tasks.run_due()
        at.clock.move(timedelta(minutes=6))
    (metric,) = at.parental.records.metrics(moved)
    assert metric.blocked_count == sum(metric.hourly.values()) == 7
    assert metric.timestamp_first is not None
    assert metric.timestamp_last == late.at
    assert metric.timestamp_first < late.at
    assert at.parental.records.history(moved, ANNA).items
    # The family's own record may say which number the child had; nothing else may.
    kinds = ("AUDIT#", "QUARANTINE#", "MESSAGE#")
    assert [where for where in at.mentions(PHONE) if not any(kind in where for kind in kinds)] == []


def test_an_export_has_everything_that_is_kept(at: Place, api: Api) -> None:
    lived(at)
    export = given(api.get(f"/children/{PHONE}/export", by=ANNA))
    assert export["child"]["childName"] == NAME
    for part in ("policies", "overrides", "enforcement", "metrics", "sessions", "rules", "audit", "messages"):
        assert export[part], part
    assert refused(api.get(f"/children/{PHONE}/export", by=ZOE)) == (404, "CHILD_NOT_FOUND")


def test_an_export_has_the_messages_about_the_child_and_none_that_only_say_its_name(at: Place) -> None:
    child = at.child(ANNA, name="Tom")
    named = at.parental.children.change(child, {"child_name": "code"}, ANNA)
    at.parental.children.prove("+15550009999", ANNA)  # a number of somebody else
    at.parental.guardians.invite(child.family_id, "ben@example.com", ANNA)
    values = {"child": "code", "count": "9", "day": "Monday", "apps": "TikTok (9)"}
    about = at.parental.repository.outbox.mail(
        "anna@example.com", "blocked often", values, child.family_id, children=[child.child]
    )
    at.db.write(about)
    told = at.parental.privacy.export(named)["messages"]
    assert {(one["recipient"], one["subject"]) for one in told} == {
        (PHONE, "Your code"),
        ("anna@example.com", "code: 9 blocked attempts"),
    }
    assert at.code("+15550009999") not in repr(told)
    assert at.code(PHONE) not in repr(told), "also of the child's own number the code is covered"


def test_messages_about_a_child_follow_it_to_its_new_number(at: Place) -> None:
    child = at.child(ANNA)
    values = {"child": NAME, "count": "9", "day": "Monday", "apps": "TikTok (9)"}
    write = at.parental.repository.outbox.mail(
        "anna@example.com", "blocked often", values, child.family_id, children=[child.child]
    )
    at.db.write(write)
    at.parental.children.prove(OTHER_PHONE, ANNA)
    moved = at.parental.children.change_number(child, OTHER_PHONE, at.code(OTHER_PHONE), ANNA)
    at.parental.tasks.run_due()
    subjects = [one["subject"] for one in at.parental.privacy.export(moved)["messages"]]
    assert f"{NAME}: 9 blocked attempts" in subjects


@pytest.mark.parametrize(
    ("of", "column", "value"),
    [("metrics", "blockedCount", "5"), ("history", "action", "block"), ("policies", "status", "active")],
)
def test_an_export_comes_as_sheets_too(at: Place, api: Api, of: str, column: str, value: str) -> None:
    lived(at)
    answer = api.get(f"/children/{PHONE}/export?format=csv&of={of}", by=ANNA)
    assert answer.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert rows[0][column] == value


def test_a_sheet_runs_nothing_when_it_is_opened(at: Place) -> None:
    child = at.child()
    at.policy(child, "TikTok", notes='=HYPERLINK("http://x.example")')
    (row,) = csv.DictReader(io.StringIO(at.parental.privacy.sheet(child, "policies")))
    assert row["notes"].startswith("'=")


def test_pc_d21_what_is_on_a_firewall_names_nobody(at: Place) -> None:
    lived(at)
    shown = repr(at.firewalls["fw"].list())
    assert PHONE[1:] not in shown
    assert NAME not in shown


def test_a_receipt_does_not_say_whose_it_is(at: Place) -> None:
    lived(at)
    at.parental.families.create("Two", ANNA, key="key-00009")
    kept = repr(at.scan("receipts"))
    assert PHONE not in kept
    assert "anna" not in kept
    with refuses("CHILD_NOT_FOUND"):
        at.parental.families.child(ZOE, PHONE)


def test_pc_s15_no_answer_to_the_next_family_of_a_number_has_anything_of_the_one_before(
    at: Place, api: Api
) -> None:
    first = lived(at)
    at.parental.children.release(first, ANNA)
    at.parental.tasks.run_due()
    assert list(at.firewalls["fw"].list()) == []
    at.child(ZOE, PHONE, "Emil")
    paths = given(api.client.get("/openapi.json"))["paths"]
    gets = [path.removeprefix("/parental/v1") for path, methods in paths.items() if "get" in methods]
    asked = [
        path
        for path in gets
        if path.startswith(("/children", "/parents", "/families")) and "{id}" not in path
    ]
    assert len(asked) >= 14
    for path in asked:
        text = api.get(path.replace("{phone}", PHONE).replace("{who}", "me"), by=ZOE).text
        for word in (NAME, "anna@", ADDRESS, "policy_", "TikTok", first.family_id):
            assert word not in text, path
    # And the family before keeps its own.
    assert given(api.get(f"/children/{PHONE}/metrics", by=ANNA))[0]["blockedCount"] == 5
    assert given(api.get(f"/children/{PHONE}/enforcement", by=ANNA))["items"]
