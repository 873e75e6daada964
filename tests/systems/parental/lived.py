"""A child with a past: there is something of it in every table, and on a firewall."""

from __future__ import annotations

from datetime import timedelta

from tests.systems.parental.talk import ANNA, OTHER_PHONE, PHONE, SUPPORT, Place, window

from tablewright.systems.parental import design as d
from tablewright.systems.parental.blocked.events import Batch, Event
from tablewright.systems.parental.model import Child, Device, Quarantined
from tablewright.systems.parental.policy.policies import Draft

ADDRESS = "10.20.30.40"
NAME = "Sarah-Marie"


def lived(at: Place) -> Child:
    """A child of whom there is something in every table."""
    parental = at.parental
    child = at.child(name=NAME)
    family = parental.families.own(ANNA)
    parental.families.change(family.family_id, {"alert_after_blocks": 3}, ANNA)
    parental.devices.add(Device(device_id="fw", kind="simulated", name="Gateway", access_policy_id="p"))
    at.clock.move(timedelta(minutes=1))
    parental.sessions.event("start", PHONE, "s1", ip=ADDRESS, device="fw", once="event-1")
    policy = at.policy(child, "TikTok", "Instagram", notes=f"for {NAME}")
    parental.policies.replace(
        child,
        policy.policy_id,
        Draft(policy.blocked_apps, [window("00:00", "00:00")], notes=f"for {NAME}"),
        ANNA,
        1,
    )
    parental.reconciler.reconcile(child.child)
    parental.overrides.add(
        child, "allow", "YouTube", at.clock.now() + timedelta(hours=5), ANNA, key="key-00001"
    )
    events = [Event(at=at.clock.now(), app_name="TikTok", phone_number=PHONE, count=5)]
    touched = parental.ingest.take(Batch("batch-1", events)).touched
    parental.notices.blocked_often(touched)
    parental.families.child(SUPPORT, PHONE, reason=f"asked about {NAME}")
    at.db.write(
        d.quarantine.put(
            Quarantined(
                quarantine_id="q1",
                day="2030-06-14",
                reason="UNKNOWN_NUMBER",
                events=[{"phoneNumber": PHONE, "appName": "X"}, {"phoneNumber": OTHER_PHONE, "appName": "X"}],
                expires_at=at.clock.now() + timedelta(days=3),
            )
        )
    )
    return child
