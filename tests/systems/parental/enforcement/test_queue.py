"""A firewall that hangs holds up those who need it and nobody else; what waits for it is not lost when we die."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.systems.parental.lanes import PATIENCE, Hanging, watched, within
from tests.systems.parental.rig import ANNA, BEN, DEVICE, IP, NIGHT, OTHER_IP, START, Rig, closing, make_rig

from tablewright import testing
from tablewright.client import embedded
from tablewright.systems.parental import design as d
from tablewright.systems.parental import jobs
from tablewright.systems.parental.enforcement import monitoring
from tablewright.systems.parental.enforcement.apply import KEPT_CLAIM
from tablewright.systems.parental.enforcement.queue import Lanes, Task, enqueue
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
    return not any(rig.lanes.backlog(id).count for id in (DEVICE, HEALTHY))


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
        jobs.verify(rig)
        assert hanging.is_asked.wait(PATIENCE)
        rig.devices.change(HEALTHY, enabled=True)
        assert within(lambda: is_blocked_for_ben(rig))
        rig.firewalls[HEALTHY].wipe()
        jobs.verify(rig)
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
        assert jobs.run_errands(rig) == 0
        assert hanging.is_asked.wait(PATIENCE)
        assert within(lambda: not rig.rules(BEN))
        assert not is_blocked_for_ben(rig)
        hanging.go.set()
        assert within(lambda: not rig.rules(ANNA) and not rig.is_blocked())
    rig.move(minutes=11)
    assert jobs.run_errands(rig) == 2


def test_an_errand_that_was_called_off_while_it_waited_is_not_done(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok")
    errand = erasure.begin(rig.repository, ANNA, SYSTEM)
    hold = threading.Event()
    with watched(rig):
        rig.lanes.take(Task("another", run=lambda: hold.wait(PATIENCE)), ())
        jobs.run_errands(rig)
        rig.db.write(d.errands.discard(errand.errand_id))
        after = threading.Event()
        rig.lanes.take(Task("after it", run=after.set), ())
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
    with rig.lanes.open(lambda tasks: None):
        rig.policy("TikTok")
        rig.follow()
    assert not rig.is_blocked()
    rig.follow()
    assert not rig.is_blocked(), "its change was told"
    rig.tick()
    assert rig.is_blocked()


def test_a_lane_that_fails_is_told_and_who_was_in_it_comes_up_again(rig: Rig) -> None:
    two_children(rig)
    rig.follow()
    tried = threading.Event()

    def failing(tasks: object) -> None:
        tried.set()
        raise RuntimeError("no")

    with rig.lanes.open(failing):
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


def test_a_claim_is_short_and_lasts_as_long_as_somebody_is_at_the_rule(rig: Rig) -> None:
    two_children(rig)
    rig.policy("TikTok")
    attempts = rig.reconciler._attempts
    hanging = Hanging(rig.firewall)
    with rig.reconciler.keeping_claims(), ThreadPoolExecutor(1) as other:
        asked = other.submit(rig.reconciler.reconcile, ANNA)
        assert hanging.is_asked.wait(PATIENCE)
        for _ in range(5):
            rig.move(seconds=15)
            assert attempts.renew() == 1
            (rule,) = rig.rules()
            assert rule.next_try_at == rig.repository.now() + KEPT_CLAIM
            assert attempts.renew() == 0, "not more often than need be"
        hanging.go.set()
        assert [one.error for one in asked.result(PATIENCE).done] == [None]
    (rule,) = rig.rules()
    assert (rule.status, rule.next_try_at) == ("active", None)
    assert attempts.renew() == 0


def test_what_somebody_died_over_is_taken_up_when_its_short_claim_has_run_out(rig: Rig) -> None:
    two_children(rig)
    rig.policy("TikTok")

    def dies(place: str) -> None:
        raise SystemExit("gone")

    rig.firewall.at = dies
    with rig.reconciler.keeping_claims(), pytest.raises(SystemExit):
        rig.reconciler.reconcile(ANNA)
    rig.firewall.at = lambda place: None
    rig.move(seconds=KEPT_CLAIM.total_seconds() - 1)
    rig.tick()
    assert not rig.is_blocked()
    rig.move(seconds=1)
    rig.tick()
    assert rig.is_blocked()


def test_a_claim_that_another_took_over_is_renewed_no_more(rig: Rig) -> None:
    two_children(rig)
    rig.policy("TikTok")
    attempts = rig.reconciler._attempts
    hanging = Hanging(rig.firewall)
    with rig.reconciler.keeping_claims(), ThreadPoolExecutor(1) as other:
        asked = other.submit(rig.reconciler.reconcile, ANNA)
        assert hanging.is_asked.wait(PATIENCE)
        (rule,) = rig.rules()
        rig.db.write(d.rules.change(rule, rule.moved(error="taken by another")))
        rig.move(seconds=15)
        assert attempts.renew() == 0
        assert attempts._claims == {}
        hanging.go.set()
        asked.result(PATIENCE)


# --- lanes themselves ---


def test_lanes_have_bounded_room_and_each_child_once(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablewright.systems.parental.enforcement.queue.ROOM", 3)
    begun, go = threading.Event(), threading.Event()
    done: list[str] = []

    def slow(tasks: list[Task]) -> None:
        begun.set()
        assert go.wait(PATIENCE)
        done.extend(task.key for task in tasks)

    lanes = Lanes(rig.repository)
    with lanes.open(slow):  # type: ignore[arg-type]
        assert lanes.take(Task("a"), ("one",))
        assert begun.wait(PATIENCE)
        assert lanes.take(Task("a"), ("one",)), "it is being looked at"
        assert lanes.take(Task("b", since=START), ("one",))
        assert lanes.take(Task("b"), ("one",), is_news=True)
        assert lanes.take(Task("c", since=START + timedelta(1)), ("one", "two"))
        assert not lanes.take(Task("e"), ("two",)), "no room"
        assert (lanes.backlog("one").count, lanes.backlog("one").since) == (3, START)
        assert lanes.backlog("two").count == 1
        go.set()
        assert within(lambda: lanes.backlog("one").count == 0)
    assert sorted(done) == ["a", "b", "c"]
    assert not lanes.take(Task("a"), ("one",)), "they are closed"


def test_the_figures_say_what_waits_for_a_firewall_and_since_when(rig: Rig) -> None:
    two_children(rig)
    rig.policy("TikTok", windows=[NIGHT])
    rig.follow()
    hanging = Hanging(rig.firewall)
    with watched(rig, hanging):
        rig.move(hours=1)
        assert hanging.is_asked.wait(PATIENCE)
        rig.move(seconds=90)
        figures = monitoring.read(rig)
        slow, well = figures.devices
        assert (slow.queued, slow.overdue, well.queued) == (1, timedelta(seconds=90), 0)
        assert (figures.due, figures.overdue) == (1, timedelta(seconds=90))
        text = monitoring.as_prometheus(figures)
        assert f'tablewright_parental_device_queued{{device="{DEVICE}"}} 1' in text
        assert f'tablewright_parental_device_overdue_seconds{{device="{DEVICE}"}} 90' in text
        assert "tablewright_parental_overdue_seconds 90\n" in text
        told = monitoring.as_json(figures)
        assert (told["due"], told["devices"][0]["overdueSeconds"]) == (1, 90.0)
