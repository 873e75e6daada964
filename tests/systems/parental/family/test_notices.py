"""What families are told by themselves: failures, many attempts, the week; the outbox (PC-X10)."""

from __future__ import annotations

from datetime import date, timedelta

from tests.systems.parental.talk import ANNA, BEN, OTHER_PHONE, PHONE, START, Place

from tablewright.kit.delivery import OutgoingMessage
from tablewright.systems.parental.blocked import weekly_report
from tablewright.systems.parental.blocked.events import Batch, Event
from tablewright.systems.parental.blocked.weekly_report import WeekOfChild, report
from tablewright.systems.parental.family.notices import KNOWN_FOR, Notices
from tablewright.systems.parental.firewall.simulated import Faults
from tablewright.systems.parental.model import Device


def _online(at: Place) -> None:
    at.parental.devices.add(Device(device_id="fw", kind="simulated", name="G", access_policy_id="p"))
    at.parental.devices.health("fw")
    at.parental.sessions.event("start", PHONE, "s1", ip="10.20.30.40", device="fw")


def test_pc_x10_what_fails_for_five_minutes_is_told_once_a_day(at: Place) -> None:
    child = at.child()
    _online(at)
    at.policy(child, "TikTok")
    at.firewalls["fw"].faults = Faults(is_down=True)
    at.parental.reconciler.reconcile(child.child)
    assert at.parental.notices.failures() == 0
    at.clock.move(timedelta(minutes=5))
    assert at.parental.notices.failures() == 1
    at.clock.move(timedelta(minutes=5))
    assert at.parental.notices.failures() == 0
    (text,) = [text for text in at.messages("anna@example.com") if "TikTok" in text]
    assert "Sarah" in text
    assert "10:00" in text


def test_pc_x10_a_family_is_told_though_its_firewall_was_switched_off_and_not_even_asked(at: Place) -> None:
    child = at.child()
    _online(at)
    at.parental.devices.change("fw", enabled=False)
    at.policy(child, "TikTok")
    at.parental.reconciler.reconcile(child.child)
    assert at.parental.notices.failures() == 0
    for expected in (1, 0, 0):
        at.clock.move(timedelta(minutes=5))
        at.parental.reconciler.reconcile(child.child)
        assert at.parental.notices.failures() == expected


def test_pc_x10_every_family_is_told_of_a_firewall_that_was_left_alone_after_failing_for_others(
    at: Place,
) -> None:
    sarah, tom = at.child(), at.child(BEN, OTHER_PHONE, "Tom")
    _online(at)
    at.parental.sessions.event("start", OTHER_PHONE, "s2", ip="10.20.30.41", device="fw")
    at.firewalls["fw"].faults = Faults(is_down=True)
    for child, owner in ((sarah, ANNA), (tom, BEN)):
        at.policy(child, "TikTok", "YouTube", "Instagram", by=owner)
        at.parental.reconciler.reconcile(child.child)
    assert at.parental.devices.get("fw").breaker_until is not None
    at.clock.move(timedelta(minutes=5))
    assert at.parental.notices.failures() == 6
    assert [text for text in at.messages(tom.parent_email) if "TikTok for Tom" in text]


def test_what_was_put_right_is_not_told(at: Place) -> None:
    child = at.child()
    _online(at)
    at.policy(child, "TikTok")
    at.firewalls["fw"].faults = Faults(is_down=True)
    at.parental.reconciler.reconcile(child.child)
    at.firewalls["fw"].faults = Faults()
    at.clock.move(timedelta(minutes=1))
    at.parental.reconciler.reconcile(child.child)
    at.clock.move(timedelta(minutes=6))
    assert at.parental.notices.failures() == 0


def test_pc_x10_many_attempts_are_told_once_a_day_and_only_to_who_asked(at: Place) -> None:
    child = at.child()
    at.clock.move(timedelta(minutes=1))

    def count(number: int, times: int) -> int:
        event = Event(at=at.clock.now(), app_name="TikTok", phone_number=PHONE, count=times)
        touched = at.parental.ingest.take(Batch(f"b{number}", [event])).touched
        return at.parental.notices.blocked_often(touched)

    assert count(1, 500) == 0
    at.parental.families.change(child.family_id, {"alert_after_blocks": 505}, ANNA)
    at.clock.move(KNOWN_FOR)
    assert count(2, 4) == 0
    assert count(3, 1) == 1
    assert count(4, 100) == 0
    at.clock.move(timedelta(days=1))
    assert count(5, 505) == 1


def test_children_of_a_batch_are_looked_at_together_and_not_again_once_their_family_was_told(
    at: Place,
) -> None:
    sarah, tom = at.child(), at.child(phone=OTHER_PHONE, name="Tom")
    at.parental.families.change(sarah.family_id, {"alert_after_blocks": 3}, ANNA)
    at.clock.move(timedelta(minutes=1))
    blocked = [
        Event(at=at.clock.now(), app_name="TikTok", phone_number=phone, count=3)
        for phone in (PHONE, OTHER_PHONE)
    ]
    touched = at.parental.ingest.take(Batch("b", blocked)).touched
    assert len(touched) == 2

    def calls() -> int:
        return sum(spent.requests for spent in at.db.meter.spent().values())

    before = calls()
    assert at.parental.notices.blocked_often([*touched, ("nobody", date(2030, 6, 14))]) == 2
    assert (
        calls() - before == 2 + 2 * 3
    )  # the children, their families; of each its counts, itself, the message
    before = calls()
    assert at.parental.notices.blocked_often(touched) == 0
    assert calls() == before
    elsewhere = Notices(at.parental.repository)
    assert elsewhere.blocked_often(touched) == 0  # the receipt is there
    assert any("Tom" in text for text in at.messages(tom.parent_email))


def test_pc_x10_the_week_is_reported_on_monday_morning_to_every_guardian(at: Place) -> None:
    child = at.child()
    at.guardian(at.parental.families.own(ANNA), BEN)
    at.clock.move(timedelta(minutes=1))
    events = [
        Event(at=at.clock.now(), app_name=app, phone_number=PHONE, count=count)
        for app, count in (("TikTok", 12), ("YouTube", 3))
    ]
    at.parental.ingest.take(Batch("b", events))
    assert weekly_report.run(at.parental.repository) == 0
    monday = START + timedelta(days=3)
    at.clock.move(monday.replace(hour=10, minute=59) - at.clock.now())
    assert weekly_report.run(at.parental.repository) == 0
    at.clock.move(timedelta(minutes=1))
    assert weekly_report.run(at.parental.repository) == 1
    assert weekly_report.run(at.parental.repository) == 0
    for address in ("anna@example.com", "ben@example.com"):
        (text,) = [text for text in at.messages(address) if "Blocked attempts" in text]
        assert "Sarah: 15, 15 more than the week before." in text
        assert "TikTok: 12" in text
    at.clock.move(timedelta(days=7))
    assert weekly_report.run(at.parental.repository) == 1
    assert child.child_name in at.messages("ben@example.com")[-1]


def test_a_report_reads_like_one() -> None:
    week = WeekOfChild("Sarah", 10, 12, (("TikTok", 7), ("*", 3)))
    assert report([week], date(2030, 6, 10)) == (
        "Blocked attempts from 10 June to 16 June.\n\nSarah: 10, 2 fewer than the week before.\n"
        "  TikTok: 7\n  Everything: 3"
    )


def test_mail_and_texts_leave_the_outbox_by_one_way(at: Place) -> None:
    family = at.family()
    at.parental.guardians.invite(family.family_id, "ben@example.com", ANNA)
    at.parental.children.prove("+27821234567", ANNA, family.family_id)
    sent: list[OutgoingMessage] = []
    assert at.parental.dispatch.run(sent.append).sent == 2
    assert {letter.recipient: letter.is_text for letter in sent} == {
        "ben@example.com": False,
        "+27821234567": True,
    }
    assert at.parental.dispatch.run(sent.append).sent == 0
    assert {each.attempts for each in at.parental.dispatch.by_state("SENT")} == {1}
