"""What happens by itself: streams, windows, retries, sessions nobody hears of, clean-up. Any number of times."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from tests.systems.parental.rig import ANNA, BEN, DEVICE, IP, NIGHT, OTHER_IP, START, Rig, closing, make_rig
from tests.systems.parental.written import window

from tablewright import testing
from tablewright.client import embedded
from tablewright.mapping import Consumer
from tablewright.systems.parental import design as d
from tablewright.systems.parental import jobs
from tablewright.systems.parental.enforcement import dispatch, due, on_change, regular_checks
from tablewright.systems.parental.enforcement.queue import enqueue
from tablewright.systems.parental.enforcement.reconciler import Done, Reconciler
from tablewright.systems.parental.model import Cause
from tablewright.systems.parental.repository import Repository
from tablewright.testing import Clock


@pytest.fixture
def rig() -> Iterator[Rig]:
    clock = Clock(START)
    # Chance decides how long to pause before another try; here nobody pauses.
    world = replace(clock.world(), jitter=lambda: 0.0)
    with (
        testing.engine(world=world) as engine,
        closing(make_rig(embedded(engine), clock, engine, world=world)) as made,
    ):
        yield made


def consumer(rig: Rig, table: str) -> Consumer:
    return next(one for one in on_change.consumers(rig) if one.table == table)


def follow(rig: Rig, table: str) -> None:
    consumer(rig, table).run_once()
    due.check_due(rig)


def counted(rig: Rig) -> list[str]:
    """From now on, which children are looked at."""
    looked: list[str] = []

    class Counting(Reconciler):
        def reconcile_all(self, children, skip_backoff=frozenset()) -> dict[str, tuple[Done, ...]]:  # type: ignore[no-untyped-def]
            keys = list(children)
            looked.extend(keys)
            return super().reconcile_all(keys, skip_backoff)

    rig.reconciler = Counting(rig.repository, rig.registry, rig.devices, b"a secret for names of rules")
    return looked


# --- what follows a change ---


def test_pc_40_a_policy_is_followed_when_it_is_made_changed_and_deleted(rig: Rig) -> None:
    rig.child()
    rig.start()
    policy = rig.policy("TikTok")
    follow(rig, "ParentalPolicies")
    assert rig.is_blocked()
    apps = rig.policy("Instagram").blocked_apps
    write = d.policies.change(policy, policy.model_copy(update={"blocked_apps": apps}))
    rig.db.write(write)
    follow(rig, "ParentalPolicies")
    assert (rig.is_blocked(), rig.is_blocked("instagram.com")) == (False, True)
    for each in rig.repository.policies_of(ANNA):
        rig.delete(each)
    follow(rig, "ParentalPolicies")
    assert rig.on_device() == []


def test_a_pause_of_the_child_and_its_end_are_followed(rig: Rig) -> None:
    rig.child()
    rig.start()
    rig.policy("TikTok")
    rig.follow()
    child = rig.repository.child(ANNA)
    paused = child.model_copy(update={"paused_until": START + timedelta(minutes=30)})
    rig.db.write(d.children.change(child, paused))
    rig.follow()
    assert not rig.is_blocked()
    rig.move(minutes=30)
    rig.tick()
    assert rig.is_blocked()


def test_another_time_zone_is_followed(rig: Rig) -> None:
    """22:00 in New York is 19:00 in Los Angeles: who moves there is free until it is ten there."""
    rig.child()
    rig.start()
    rig.policy("TikTok", windows=[NIGHT])
    rig.move(hours=1)
    rig.follow()
    assert rig.is_blocked()
    child = rig.repository.child(ANNA)
    rig.db.write(d.children.change(child, child.model_copy(update={"timezone": "America/Los_Angeles"})))
    rig.follow()
    assert not rig.is_blocked()
    rig.move(hours=3)
    rig.tick()
    assert rig.is_blocked()


def test_what_a_family_allows_is_followed_for_all_its_children(rig: Rig) -> None:
    for phone, ip in ((ANNA, IP), (BEN, OTHER_IP)):
        rig.child(phone)
        rig.policy("TikTok", child=phone)
        rig.start(ip, phone)
    rig.follow()
    family = rig.repository.family("family-1")
    rig.db.write(d.families.change(family, family.model_copy(update={"allowed_domains": ["musical.ly"]})))
    rig.follow()
    for ip in (IP, OTHER_IP):
        assert (rig.is_blocked(ip=ip), rig.is_blocked("musical.ly", ip)) == (True, False)


def test_heartbeats_names_and_mail_addresses_are_no_news_for_firewalls(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok")
    rig.start()
    rig.follow()
    looked = counted(rig)
    rig.move(minutes=1)
    rig.sessions.event("heartbeat", ANNA, "s1")
    child = rig.repository.child(ANNA)
    rig.db.write(d.children.change(child, child.model_copy(update={"child_name": "Ann"})))
    family = rig.repository.family("family-1")
    rig.db.write(d.families.change(family, family.model_copy(update={"name": "Jones"})))
    rig.follow()
    assert looked == []


def test_a_poisonous_change_is_parked_after_five_attempts_and_keeps_no_other_child_waiting(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.child()
    rig.child(BEN, "family-2")
    rig.start()
    rig.start(OTHER_IP, BEN, "b1")
    rig.follow()
    tried: list[str] = []

    def poisoned(repository: Repository, child: str, cause: Cause, since: datetime | None) -> None:
        tried.append(child)
        if child == ANNA:
            raise RuntimeError("this child is trouble")
        enqueue(repository, child, cause, since)

    monkeypatch.setattr(on_change, "enqueue", poisoned)
    rig.policy("TikTok")
    rig.policy("TikTok", child=BEN)
    following = consumer(rig, "ParentalPolicies")
    following.run_once()
    due.check_due(rig)
    assert (tried.count(ANNA), len(following.parked())) == (5, 1)
    assert rig.is_blocked(ip=OTHER_IP)
    monkeypatch.setattr(on_change, "enqueue", enqueue)
    following.replay()
    due.check_due(rig)
    assert rig.is_blocked()
    assert following.parked() == []


def test_followers_that_were_away_for_days_go_on_and_the_sweep_mends_what_they_missed(rig: Rig) -> None:
    rig.child()
    rig.start()
    rig.follow()
    rig.policy("TikTok")
    rig.move(days=3)
    assert rig.engine is not None
    rig.engine.settle()
    rig.sessions.event("start", ANNA, "s1", ip=IP, device=DEVICE)
    assert regular_checks.sweep(rig) == 1
    assert rig.is_blocked()
    rig.follow()


# --- windows ---


def test_several_windows_of_a_day_open_and_close_each(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok", windows=[window("21:10-21:20"), window("21:30-21:40")])
    rig.start()
    rig.follow()
    seen = []
    for _ in range(9):
        seen.append(rig.is_blocked())
        rig.move(minutes=5)
        rig.tick()
    assert seen == [False, False, True, True, False, False, True, True, False]


def test_a_child_that_is_trouble_keeps_nobody_elses_window_closed(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for phone, ip in ((ANNA, IP), (BEN, OTHER_IP)):
        rig.child(phone)
        rig.policy("TikTok", windows=[NIGHT], child=phone)
        rig.start(ip, phone)
    rig.follow()
    read = Reconciler._read

    def trouble(self: Reconciler, key: str) -> object:
        if key == ANNA:
            raise RuntimeError("this child is trouble")
        return read(self, key)

    monkeypatch.setattr(Reconciler, "_read", trouble)
    rig.move(hours=1)
    assert due.check_due(rig) == 2
    assert rig.is_blocked(ip=OTHER_IP)
    assert due.check_due(rig) == 0, "not every second"
    monkeypatch.setattr(Reconciler, "_read", read)
    rig.move(minutes=1)
    assert due.check_due(rig) == 1
    assert rig.is_blocked()


def test_the_watch_opens_windows_until_it_is_told_to_stop(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok", windows=[NIGHT])
    rig.start()
    rig.follow()
    stop, done = threading.Event(), threading.Event()
    rig.firewall.at = lambda place: done.set() if place == "ensure:after" else None
    thread = threading.Thread(target=due.watch, args=(rig, stop, 0.01))
    thread.start()
    try:
        rig.move(hours=1)
        assert done.wait(20)
    finally:
        stop.set()
        thread.join(20)
    assert not thread.is_alive()
    assert rig.is_blocked()


# --- sessions ---


def test_a_session_that_nobody_hears_of_any_more_is_ended_and_its_rules_go(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok")
    rig.sessions.event("start", ANNA, "s1", ip=IP, device=DEVICE, heartbeat_seconds=300)
    rig.follow()
    rig.move(minutes=15)
    assert regular_checks.reap_sessions(rig) == 0
    assert rig.is_blocked()
    rig.move(seconds=1)
    assert regular_checks.reap_sessions(rig) == 1
    assert (rig.on_device(), rig.rules(), rig.sessions.open_of(ANNA)) == ([], [], [])
    assert regular_checks.reap_sessions(rig) == 0


# --- clean-up ---


def test_pc_d30_a_deleted_policy_goes_for_good_after_30_days(rig: Rig) -> None:
    rig.child()
    gone, kept = rig.delete(rig.policy("TikTok")), rig.policy("Instagram")
    rig.move(days=30, seconds=-1)
    assert jobs.purge_policies(rig) == 0
    rig.move(seconds=1)
    assert jobs.purge_policies(rig) == 1
    assert rig.repository.policies_of(ANNA, deleted=True) == [kept]
    assert gone.status == "deleted"


def test_errands_and_notices_have_their_turns(rig: Rig) -> None:
    assert (dispatch.run_tasks(rig), jobs.run_notices(rig)) == (0, 0)


def test_a_failure_of_more_than_five_minutes_is_told_to_the_parents(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok")
    rig.start()
    rig.stop_device()
    rig.follow()
    assert jobs.run_notices(rig) == 0
    rig.pass_time(330, 10)
    assert jobs.run_notices(rig) == 1


def test_every_table_with_a_stream_that_matters_has_a_follower(rig: Rig) -> None:
    tables = [one.table for one in on_change.consumers(rig)]
    streams = [table.name for table in d.PARENTAL.tables.values() if table.stream is not None]
    assert sorted(tables) == sorted(streams)
