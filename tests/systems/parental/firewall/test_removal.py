"""A firewall that will not come back: removed by an operator, and what waited for it goes on."""

from __future__ import annotations

from datetime import timedelta

from tests.systems.parental.lived import ADDRESS, NAME, lived
from tests.systems.parental.talk import ANNA, OPERATOR, PHONE, Api, Place, refuses
from tests.systems.talk import given, refused

from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import due, regular_checks
from tablewright.systems.parental.firewall import removal
from tablewright.systems.parental.firewall.simulated import Faults
from tablewright.systems.parental.model import Device, Session


def _gone(at: Place) -> None:
    """The firewall fails for good, and is switched off."""
    at.firewalls["fw"].faults = Faults(is_down=True)
    at.parental.devices.change("fw", enabled=False)
    at.clock.move(timedelta(minutes=1))


def test_a_firewall_that_is_on_is_not_removed(at: Place, api: Api) -> None:
    lived(at)
    before = at.everything()
    assert refused(api.delete("/devices/fw", by=OPERATOR)) == (409, "DEVICE_IN_USE")
    assert refused(api.delete("/devices/fw", by=ANNA))[0] == 403
    assert refused(api.delete("/devices/none", by=OPERATOR)) == (404, "DEVICE_NOT_FOUND")
    assert at.everything() == before


def test_a_firewall_is_removed_by_the_version_that_was_read(at: Place, api: Api) -> None:
    lived(at)
    _gone(at)
    version = at.parental.devices.get("fw").version
    old = {"If-Match": f'"{version - 1}"'}
    assert refused(api.delete("/devices/fw", by=OPERATOR, headers=old)) == (409, "VERSION_CONFLICT")
    given(api.delete("/devices/fw", by=OPERATOR, headers={"If-Match": f'"{version}"'}))
    assert refused(api.get("/devices/fw", by=OPERATOR)) == (404, "DEVICE_NOT_FOUND")


def test_a_removal_gives_up_what_its_plan_says_and_the_history_says_so(at: Place, api: Api) -> None:
    child = lived(at)
    _gone(at)
    plan = given(api.get("/devices/fw/removal", by=OPERATOR))
    assert plan == {"rulesLeft": 2, "rulesWaiting": 0, "children": 1, "sessions": 1}
    assert given(api.delete("/devices/fw", by=OPERATOR)) == {"rulesLeft": 2}
    assert at.scan("FTDRuleMapping") == at.scan("SubscriberSessions") == []
    last = given(api.get(f"/children/{PHONE}/enforcement?pageSize=2", by=ANNA))["items"]
    assert {one["appName"] for one in last} == {"TikTok", "Instagram"}
    for one in last:
        assert (one["action"], one["status"]) == ("unblock", "failed")
        assert one["errorMessage"] == "given up: the firewall was removed, and may still have this rule"
    assert {one.state for one in at.parental.reconciler.status(child.child)} == {"no session"}


def test_what_was_never_asked_of_a_firewall_goes_without_a_word_and_is_no_open_matter(at: Place) -> None:
    parental = at.parental
    child = at.child()
    parental.devices.add(Device(device_id="fw", kind="simulated", name="Gateway", access_policy_id="p"))
    parental.devices.change("fw", enabled=False)
    parental.sessions.event("start", PHONE, "s1", ip=ADDRESS, device="fw")
    at.policy(child, "TikTok")
    parental.reconciler.reconcile(child.child)
    plan = removal.plan(parental.repository, parental.devices, "fw")
    assert (plan.left, plan.waiting) == (0, 1)
    assert len(parental.records.failures(OPERATOR, "pending").items) == 1
    assert removal.remove(parental.repository, parental.devices, "fw", OPERATOR) == 0
    assert parental.records.failures(OPERATOR, "pending").items == ()
    assert [one.status for one in parental.records.history(child, ANNA).items] == ["pending"]


def test_an_erasure_that_waits_for_a_firewall_goes_on_when_that_is_removed(at: Place) -> None:
    child = lived(at)
    _gone(at)
    assert at.parental.privacy.erase(child, ANNA).note == "firewall rules to be removed"
    at.clock.move(timedelta(minutes=30))
    assert at.parental.tasks.run_due() == 0
    removal.remove(at.parental.repository, at.parental.devices, "fw", OPERATOR)
    due.check_due(at.parental)
    assert at.parental.tasks.run_due() == 1
    assert at.mentions(PHONE, NAME, ADDRESS) == []


def test_whoever_dies_while_a_firewall_is_removed_another_goes_on(at: Place) -> None:
    lived(at)
    _gone(at)
    left = at.parental.devices.leave("fw")
    with refuses("DEVICE_LEAVING"):
        at.parental.devices.change("fw", enabled=True)
    with refuses("UNKNOWN_DEVICE"):
        at.parental.sessions.event("start", PHONE, "s2", ip="10.20.30.41", device="fw")
    assert at.parental.devices.leave("fw") == left
    due.retry(at.parental)
    assert at.parental.devices.all() == []
    assert at.scan("FTDRuleMapping") == at.scan("SubscriberSessions") == []


def test_a_rule_that_somebody_changes_meanwhile_is_given_up_as_it_is_then(at: Place) -> None:
    child = lived(at)
    _gone(at)
    device = at.parental.devices.leave("fw")
    old = at.parental.records.rules(child)[0]
    at.db.write(d.rules.change(old, old.moved(policy_ids=["another"])))
    assert not removal._give_up(at.parental.repository, old)
    assert removal.step(at.parental.repository, at.parental.devices, device) == 2
    given_up = [one for one in at.parental.records.history(child, ANNA).items if one.rule_id == old.rule_id]
    assert given_up[0].policy_ids == ["another"]
    assert [one.error_message for one in given_up].count(removal.GIVEN_UP) == 1


def test_a_firewall_of_the_same_name_does_not_inherit_who_was_behind_the_former_one(at: Place) -> None:
    child = at.child()
    device = Device(device_id="fw", kind="simulated", name="Gateway", access_policy_id="p")
    at.parental.devices.add(device)
    at.parental.sessions.event("start", PHONE, "s1", ip=ADDRESS, device="fw")
    at.parental.devices.change("fw", enabled=False)
    removal.remove(at.parental.repository, at.parental.devices, "fw", OPERATOR)
    at.policy(child, "TikTok")
    assert {one.state for one in at.parental.reconciler.status(child.child)} == {"no session"}
    at.clock.move(timedelta(minutes=1))
    at.parental.devices.add(device)
    at.parental.reconciler.reconcile(child.child)
    assert {one.state for one in at.parental.reconciler.status(child.child)} == {"no session"}
    at.clock.move(timedelta(minutes=1))
    at.parental.sessions.event("start", PHONE, "s1", ip=ADDRESS, device="fw")
    at.parental.reconciler.reconcile(child.child)
    assert {one.state for one in at.parental.reconciler.status(child.child)} == {"enforced"}


def test_sessions_behind_a_firewall_that_is_no_more_go_when_their_family_is_walked_by(at: Place) -> None:
    child = at.child()
    at.parental.devices.add(Device(device_id="fw", kind="simulated", name="Gateway", access_policy_id="p"))
    at.parental.devices.add(Device(device_id="other", kind="simulated", name="Other", access_policy_id="p"))
    for number, device in enumerate(("fw", "other")):
        at.parental.sessions.event("start", PHONE, device, ip=f"10.20.30.{number}", device=device)
    at.parental.devices.change("fw", enabled=False)
    removal.remove(at.parental.repository, at.parental.devices, "fw", OPERATOR)
    regular_checks.sweep(at.parental)
    left: list[Session] = at.parental.sessions.of(child.child)
    assert [one.device_id for one in left] == ["other"]
