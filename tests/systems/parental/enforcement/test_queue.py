"""A firewall that hangs holds up those who need it and nobody else; what waits for it is not lost when we die."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.systems.parental.queues import PATIENCE, Hanging, watched, within
from tests.systems.parental.rig import ANNA, BEN, DEVICE, IP, NIGHT, OTHER_IP, START, Rig, closing, make_rig

from tablewright import testing
from tablewright.client import embedded
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import dispatch, monitoring, on_change, regular_checks
from tablewright.systems.parental.enforcement.apply import CLAIM
from tablewright.systems.parental.enforcement.queue import Check, DeviceQueues, enqueue
from tablewright.systems.parental.family import erasure
from tablewright.systems.parental.firewall.driver import Flow
from tablewright.systems.parental.repository import SYSTEM
from tablewright.testing import Clock

HEALTHY = "ftd-device-002"


@pytest.fixture
def rig() -> Iterator[Rig]:
    clock = Clock(START)
    world = replace(clock.world(), jitter=lambda: 0.0)
    with (
        testing.engine(world=world) as engine,
        closing(make_rig(embedded(engine), clock, engine, world=world)) as made,
    ):
        made.device(HEALTHY)
        made.devices.simulated(HEALTHY)
        yield made


def two_children(rig: Rig) -> None:
    """Anna behind a firewall that will hang, Ben behind one that is well."""
    rig.child()
    rig.child(BEN, "family-2")
    rig.start()
    rig.start(OTHER_IP, BEN, "b1", HEALTHY)


def is_blocked_for_ben(rig: Rig) -> bool:
    return rig.firewalls[HEALTHY].is_blocked(Flow(source=OTHER_IP, name="www.tiktok.com"))


def is_settled(rig: Rig) -> bool:
    return not any(rig.queues.backlog(id).count for id in (DEVICE, HEALTHY))


# --- one hangs, the other is well ---


def test_a_change_for_a_child_is_enforced_while_the_firewall_of_another_hangs(rig: Rig) -> None:
    two_children(rig)
    rig.follow()
    hanging = Hanging(rig.firewall)
    with watched(rig, hanging):
        for name in ("TikTok", "Instagram", "YouTube"):
            rig.override("block", name, 60)
        rig.follow()
        assert hanging.is_asked.wait(PATIENCE)
        rig.override("block", "TikTok", 60, child=BEN)
        rig.follow()
        assert within(lambda: is_blocked_for_ben(rig))
        assert not hanging.go.is_set()
        hanging.go.set()
        assert within(lambda: rig.is_blocked() and rig.is_blocked("youtube.com"))


def test_a_window_opens_for_a_child_while_the_firewall_of_another_hangs(rig: Rig) -> None:
    two_children(rig)
    for phone in (ANNA, BEN):
        rig.policy("TikTok", windows=[NIGHT], child=phone)
    rig.follow()
    hanging = Hanging(rig.firewall)
    with watched(rig, hanging):
        rig.move(hours=1)
        assert hanging.is_asked.wait(PATIENCE)
        assert within(lambda: is_blocked_for_ben(rig))
        hanging.go.set()
        assert within(rig.is_blocked)


def test_retries_and_comparisons_of_one_firewall_do_not_wait_for_another(rig: Rig) -> None:
    two_children(rig)
    rig.policy("TikTok", child=BEN)
    rig.devices.change(HEALTHY, enabled=False)
    rig.follow()
    hanging = Hanging(rig.firewall)
    with watched(rig, hanging):
        regular_checks.verify(rig)
        assert hanging.is_asked.wait(PATIENCE)
        rig.devices.change(HEALTHY, enabled=True)
        assert within(lambda: is_blocked_for_ben(rig))
        rig.firewalls[HEALTHY].wipe()
        regular_checks.verify(rig)
        assert within(lambda: is_blocked_for_ben(rig))


def test_an_errand_for_a_child_does_not_wait_for_the_firewall_of_another(rig: Rig) -> None:
    two_children(rig)
    for phone in (ANNA, BEN):
        rig.policy("TikTok", child=phone)
    rig.follow()
    for phone in (ANNA, BEN):
        erasure.begin(rig.repository, phone, SYSTEM)
    hanging = Hanging(rig.firewall)
    with watched(rig, hanging):
        assert dispatch.run_tasks(rig) == 0
        assert hanging.is_asked.wait(PATIENCE)
        assert within(lambda: not rig.rules(BEN))
        assert not is_blocked_for_ben(rig)
        hanging.go.set()
        assert within(lambda: not rig.rules(ANNA) and not rig.is_blocked())
    rig.move(minutes=11)
    assert dispatch.run_tasks(rig) == 2


def test_an_errand_that_was_called_off_while_it_waited_is_not_done(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok")
    task = erasure.begin(rig.repository, ANNA, SYSTEM)
    hold = threading.Event()
    with watched(rig):
        rig.queues.put("another", lambda: hold.wait(PATIENCE), ())
        dispatch.run_tasks(rig)
        rig.db.write(d.tasks.cancel(task.task_id))
        after = threading.Event()
        rig.queues.put("after it", after.set, ())
        hold.set()
        assert after.wait(PATIENCE)
    assert len(rig.repository.policies_of(ANNA)) == 1


def test_who_gets_an_address_does_not_wait_for_the_firewall_its_former_holder_went_to(rig: Rig) -> None:
    rig.child()
    rig.child(BEN, "family-2")
    rig.policy("TikTok")
    rig.policy("Instagram", child=BEN)
    rig.start(IP, ANNA, "s1", HEALTHY)
    rig.follow()
    assert [rule.source for rule in rig.on_device(HEALTHY)] == [IP]
    hanging = Hanging(rig.firewall)
    with watched(rig, hanging):
        rig.start(OTHER_IP, ANNA, "s1", DEVICE)
        rig.start(IP, BEN, "b1", HEALTHY)
        rig.follow()
        assert hanging.is_asked.wait(PATIENCE)
        healthy = rig.firewalls[HEALTHY]
        assert within(lambda: healthy.is_blocked(Flow(source=IP, name="instagram.com")))
        assert within(lambda: not healthy.is_blocked(Flow(source=IP, name="www.tiktok.com")))
        hanging.go.set()
        assert within(lambda: rig.is_blocked(ip=OTHER_IP))


def test_what_changes_while_a_firewall_hangs_is_looked_at_afterwards(rig: Rig) -> None:
    two_children(rig)
    rig.follow()
    hanging = Hanging(rig.firewall)
    with watched(rig, hanging):
        first = rig.override("block", "TikTok", 60)
        rig.follow()
        assert hanging.is_asked.wait(PATIENCE)
        rig.override("block", "Instagram", 60)
        rig.db.write(d.overrides.discard(first.child, first.override_id))
        rig.follow()
        hanging.go.set()
        assert within(lambda: rig.is_blocked("instagram.com") and not rig.is_blocked())
        assert within(lambda: is_settled(rig))


# --- nothing is lost ---


def test_what_was_followed_and_not_done_before_we_died_is_done_by_who_is_next(rig: Rig) -> None:
    two_children(rig)
    rig.follow()
    with rig.queues.open(lambda checks: None):
        rig.policy("TikTok")
        rig.follow()
    assert not rig.is_blocked()
    rig.tick()
    assert rig.is_blocked()


def test_a_queue_that_fails_is_told_and_who_was_in_it_comes_up_again(rig: Rig) -> None:
    two_children(rig)
    rig.follow()
    tried = threading.Event()

    def failing(checks: object) -> None:
        tried.set()
        raise RuntimeError("no")

    with rig.queues.open(failing):
        rig.policy("TikTok")
        rig.follow()
        assert tried.wait(PATIENCE)
    with watched(rig):
        assert within(rig.is_blocked)


def test_who_is_at_a_child_sees_that_there_is_something_new(rig: Rig) -> None:
    two_children(rig)
    rig.policy("TikTok", windows=[NIGHT])
    rig.follow()
    enqueue(rig.repository, ANNA)
    first = rig.db.one(d.wake_of_child(child=ANNA))
    enqueue(rig.repository, ANNA)
    second = rig.db.one(d.wake_of_child(child=ANNA))
    assert first is not None
    assert second is not None
    assert (second.at, second.version) == (first.at, first.version + 1)


def test_what_somebody_died_over_is_taken_up_when_its_claim_has_run_out(rig: Rig) -> None:
    two_children(rig)
    rig.policy("TikTok")

    def dies(place: str) -> None:
        raise SystemExit("gone")

    rig.firewall.at = dies
    with pytest.raises(SystemExit):
        rig.reconciler.reconcile(ANNA)
    rig.firewall.at = lambda place: None
    rig.move(seconds=CLAIM.total_seconds() - 1)
    rig.tick()
    assert not rig.is_blocked()
    rig.move(seconds=1)
    rig.tick()
    assert rig.is_blocked()


# --- the queues themselves ---


def test_queues_have_bounded_room_and_each_child_once(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablewright.systems.parental.enforcement.queue.ROOM", 3)
    begun, go = threading.Event(), threading.Event()
    done: dict[str, Check] = {}

    def slow(checks: Mapping[str, Check]) -> None:
        begun.set()
        assert go.wait(PATIENCE)
        done.update(checks)

    hurried = Check(skip_backoff=frozenset(("one",)))
    queues = DeviceQueues(rig.repository)
    with queues.open(slow):
        assert queues.put("a", Check(), ("one",))
        assert begun.wait(PATIENCE)
        assert queues.put("a", Check(), ("one",)), "it is being checked"
        assert not queues.put("a", hurried, ("one",)), "it is being checked, but not in a hurry"
        assert queues.put("b", Check(since=START), ("one",))
        assert queues.put("b", hurried, ("one",))
        assert queues.put("c", Check(since=START + timedelta(1)), ("one", "two"))
        assert not queues.put("e", Check(), ("two",)), "no room"
        assert (queues.backlog("one").count, queues.backlog("one").since) == (3, START)
        assert queues.backlog("two").count == 1
        go.set()
        assert within(lambda: queues.backlog("one").count == 0)
    assert sorted(done) == ["a", "b", "c"]
    assert done["b"] == Check(since=START, skip_backoff=frozenset(("one",)))
    assert not queues.put("a", Check(), ("one",)), "they are closed"


def test_children_are_checked_together_where_one_deployment_serves_them(rig: Rig) -> None:
    together: list[list[str]] = []
    begun, go = threading.Event(), threading.Event()

    def slow(checks: Mapping[str, Check]) -> None:
        begun.set()
        assert go.wait(PATIENCE)
        together.append(list(checks))

    with rig.queues.open(slow, lambda place: 2):
        rig.queues.put("a", Check(), ("one",))
        assert begun.wait(PATIENCE)
        for key in ("b", "c", "d"):
            rig.queues.put(key, Check(), ("one",))
        rig.queues.put("verify", lambda: together.append(["verify"]), ("one",))
        rig.queues.put("e", Check(), ("one",))
        go.set()
        assert within(lambda: rig.queues.backlog("one").count == 0)
    assert together == [["a"], ["b", "c"], ["d"], ["verify"], ["e"]]


def test_the_figures_say_what_waits_for_a_firewall_and_since_when(rig: Rig) -> None:
    two_children(rig)
    rig.policy("TikTok", windows=[NIGHT])
    rig.follow()
    hanging = Hanging(rig.firewall)
    with watched(rig, hanging):
        rig.move(hours=1)
        assert hanging.is_asked.wait(PATIENCE)
        rig.move(seconds=90)
        figures = monitoring.read(rig, on_change.consumers(rig))
        slow, well = figures.devices
        assert (slow.queued, slow.overdue, well.queued) == (1, timedelta(seconds=90), 0)
        assert (figures.due, figures.overdue) == (1, timedelta(seconds=90))
        text = monitoring.as_prometheus(figures).decode()
        assert f'tablewright_parental_device_queued{{device="{DEVICE}"}} 1.0' in text
        assert f'tablewright_parental_device_overdue_seconds{{device="{DEVICE}"}} 90.0' in text
        assert "tablewright_parental_overdue_seconds 90.0\n" in text
        told = monitoring.as_json(figures)
        assert (told["due"], told["devices"][0]["overdueSeconds"]) == (1, 90.0)
