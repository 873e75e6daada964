"""What runs by itself: jobs with a period that outlives restarts, and followers that go on after a failure."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.app.library import LIBRARY

from tablewright import testing
from tablewright.app import schedule as scheduling
from tablewright.app.leases import Leases
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.schedule import Schedule
from tablewright.app.systems import PORTAL
from tablewright.kit.jobs import Follower, Job
from tablewright.systems.portal.portal import Portal
from tablewright.systems.portal.rules import local_day
from tablewright.systems.portal.seed import ADMIN

DAY = timedelta(days=1)


@pytest.fixture
def clock() -> testing.Clock:
    return testing.Clock()


@pytest.fixture
def runtime(clock: testing.Clock) -> Iterator[Runtime]:
    with open_app(memory=True, systems=(), world=clock.world(), jobs=False) as opened:
        yield opened


def scheduled(runtime: Runtime, *work: Job[Any] | Follower[Any], leases: Leases | None = None) -> Schedule:
    schedule = Schedule(runtime.db, runtime.world, leases=leases)
    schedule.add("library", work)
    return schedule


def test_a_job_has_its_turn_at_once_and_then_once_a_period(runtime: Runtime, clock: testing.Clock) -> None:
    ran: list[int] = []
    schedule = scheduled(runtime, Job("count", DAY, lambda _: ran.append(1)))
    assert schedule.run_due() == ["library.count"]
    assert schedule.run_due() == []
    clock.move(DAY - timedelta(seconds=1))
    assert schedule.run_due() == []
    clock.move(timedelta(seconds=1))
    assert schedule.run_due() == ["library.count"]
    assert ran == [1, 1]


def test_a_clock_that_was_ahead_and_is_put_right_stops_no_job(runtime: Runtime, clock: testing.Clock) -> None:
    schedule = scheduled(runtime, Job("count", DAY, lambda _: None))
    clock.move(DAY * 1000)
    assert schedule.run_due() == ["library.count"]
    clock.move(timedelta(hours=-1))
    assert schedule.run_due() == []
    clock.move(DAY * -999)
    assert schedule.run_due() == ["library.count"]


def test_a_restart_does_not_give_a_job_another_turn(runtime: Runtime) -> None:
    assert scheduled(runtime, Job("count", DAY, lambda _: None)).run_due() == ["library.count"]
    assert scheduled(runtime, Job("count", DAY, lambda _: None)).run_due() == []


def test_a_job_that_fails_is_told_and_has_its_next_turn_all_the_same(
    runtime: Runtime, clock: testing.Clock, caplog: pytest.LogCaptureFixture
) -> None:
    ran: list[int] = []

    def broken(_: object) -> None:
        raise ValueError("not for the log: somebody@example.com")

    schedule = scheduled(runtime, Job("broken", DAY, broken), Job("fine", DAY, lambda _: ran.append(1)))
    assert schedule.run_due() == ["library.broken", "library.fine"]
    assert ran == [1]
    assert [due.last and due.last.error for due in schedule.listed()] == ["ValueError", None]
    assert "a job failed" in caplog.text
    clock.move(DAY)
    assert schedule.run_due() == ["library.broken", "library.fine"]


def test_two_processes_do_not_both_take_a_turn(runtime: Runtime) -> None:
    first, second = (scheduled(runtime, Job("count", DAY, lambda _: None)) for _ in range(2))
    beside: list[str] = []
    first_job: Job[object] = Job("count", DAY, lambda _: beside.extend(second.run_due()))
    assert scheduled(runtime, first_job).run_due() == ["library.count"]
    assert beside == []
    assert first.run_due() == []


def killed(runtime: Runtime, work: Job[Any], leases: Leases | None = None) -> None:
    """A run of a process that is killed while it works."""

    def dies(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scheduled(runtime, replace(work, run=dies), leases=leases).run_due()


def test_a_run_that_did_not_end_is_made_again_soon_and_each_time_later(
    runtime: Runtime, clock: testing.Clock
) -> None:
    job: Job[Any] = Job("back up", DAY, lambda _: None)
    for minutes in (1, 2, 4):
        killed(runtime, job)
        clock.move(timedelta(minutes=minutes, seconds=-1))
        assert scheduled(runtime, job).run_due() == []
        clock.move(timedelta(seconds=1))
    assert scheduled(runtime, job).run_due() == ["library.back up"]
    clock.move(timedelta(hours=1))
    assert scheduled(runtime, job).run_due() == [], "it has ended now"


def test_a_run_that_another_process_still_works_at_is_not_made_again(
    runtime: Runtime, clock: testing.Clock
) -> None:
    mine, other = (Leases(runtime.db, runtime.world) for _ in range(2))
    job: Job[Any] = Job("back up", DAY, lambda _: None)
    killed(runtime, job, mine)
    lease = other.take("job library back up")
    assert lease is not None, "given back by the one that ended"
    clock.move(timedelta(minutes=1))
    lease = other.renewed(lease)
    assert lease is not None
    assert scheduled(runtime, job, leases=mine).run_due() == []
    clock.move(timedelta(seconds=31))  # that one was killed
    assert scheduled(runtime, job, leases=mine).run_due() == ["library.back up"]


def test_a_follower_that_fails_is_started_again_and_ends_with_the_app(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduling, "FIRST_PAUSE", 0.001)
    again, calls = threading.Event(), []

    def follow(_: object, stop: threading.Event) -> None:
        calls.append(1)
        if len(calls) < 3:
            raise OSError("the line is down")
        again.set()
        stop.wait(30)

    schedule = scheduled(runtime, Follower("tail", follow))
    schedule.start()
    assert again.wait(30)
    schedule.close()
    assert len(calls) == 3
    assert not any(thread.name == "tablewright-library-tail" for thread in threading.enumerate())


def test_jobs_of_a_house_run_and_stop_with_it(tmp_path: Path) -> None:
    ran = threading.Event()
    system = replace(LIBRARY, jobs=lambda service: (Job("once", DAY, lambda _: ran.set()),))
    with open_app(tmp_path, systems=(system,)) as runtime:
        assert ran.wait(30)
        assert [due.job.name for due in runtime.schedule.listed()] == ["once", "metrics", "charges", "alarms"]
    assert not any(thread.name == "tablewright-schedule" for thread in threading.enumerate())


def test_the_portal_keeps_its_tallies_while_the_app_is_up() -> None:
    with open_app(memory=True, systems=(replace(PORTAL, seed=None),)) as runtime:
        portal = runtime.running[0].service
        portal.tenants.at_checkout("somebody@example.com", None)
        met = threading.Event()
        for _ in range(300):
            if portal.tenants.tally().active == 1:
                break
            met.wait(0.1)
        assert portal.tenants.tally().counts == {"UNVALIDATED": 1}
        assert {due.job.name for due in runtime.schedule.listed()} == {
            "alarms",
            "backups",
            "charges",
            "metrics",
            "ending campaigns",
            "prices",
            "purge proposal",
            "reminders",
            "restored",
            "tallies",
            "unpaid orders",
        }


def test_the_schedule_tells_the_portals_staff_of_ending_campaigns_and_of_whom_to_purge(
    clock: testing.Clock,
) -> None:
    system = replace(PORTAL, seed=None)
    with open_app(memory=True, systems=(system,), world=clock.world(), jobs=False) as runtime:
        runtime.accounts.add("boss@bbws.example", roles=["portal.admin"])
        runtime.accounts.add("reader@bbws.example", roles=["portal.support"])
        portal: Portal = runtime.running[0].service
        old = portal.tenants.at_checkout("never@example.com", None)
        clock.move(90 * DAY)
        today = local_day(clock.now())
        fields = {"name": "Plan", "description": "A plan.", "price": Decimal(10), "billing_cycle": "monthly"}
        product, _ = portal.catalogue.create_product({**fields, "features": ["1 site"]}, ADMIN)
        campaign = {
            "code": "SOON",
            "description": "A tenth off.",
            "discount_percentage": Decimal(10),
            "product_id": product.id,
            "terms_conditions_link": "https://bbws.example/terms",
            "from_date": today,
            "to_date": today + 2 * DAY,
        }
        portal.catalogue.create_campaign(campaign, ADMIN)
        assert {"portal.purge proposal", "portal.ending campaigns"} <= set(runtime.schedule.run_due())
        waiting = portal.repository.db.all(portal.repository.outbox.in_state("PENDING"))
        mails = {(mail.recipient, mail.template): mail.values for mail in waiting}
        boss = "boss@bbws.example"
        assert mails[boss, "purge proposal"] == {"count": "1", "ids": old.id}
        assert mails[boss, "campaign ends"] == {"code": "SOON", "day": f"{today + 2 * DAY:%-d %B %Y}"}
        assert {recipient for recipient, _ in mails} == {boss}
