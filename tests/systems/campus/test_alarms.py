"""CC-57: the alarms of the document ring, end, and are told of, in a Campus Cloud that is served over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from tests.systems.campus.files.helpers import store
from tests.systems.campus.talk import START, Place

from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import CAMPUS
from tablewright.edge import serving_app
from tablewright.kit.system import Person
from tablewright.systems.campus.campus import Campus
from tablewright.testing import Clock

MINUTE = timedelta(minutes=1)


@pytest.fixture
def clock() -> Clock:
    return Clock(START)


@pytest.fixture
def runtime(clock: Clock) -> Iterator[Runtime]:
    system = replace(CAMPUS, seed=None)
    with open_app(
        memory=True, systems=(system,), world=clock.world(), jobs=False, alarm_mail=["ops@example.org"]
    ) as opened:
        opened.schedule.run_due()
        yield opened


@pytest.fixture
def at(runtime: Runtime, clock: Clock) -> Place:
    (running,) = runtime.running
    campus: Campus = running.service
    return Place(campus, running.db, runtime.call, clock, runtime.issuer, runtime.engine, runtime.world)


def _run(runtime: Runtime, clock: Clock, minutes: int = 1) -> None:
    """So many minutes of the server's jobs."""
    for _ in range(minutes):
        clock.move(MINUTE)
        runtime.schedule.run_due()


def _state(runtime: Runtime, name: str) -> str:
    return next(each.state for each in runtime.alarms.status() if each.declared.name == name)


def _mail(runtime: Runtime) -> list[str]:
    found: list[Any] = []
    runtime.code_login.dispatch.run(found.append)
    return [letter.subject for letter in found]


def test_cc_57_storage_over_80_per_cent_of_a_quota_rings_and_ends(
    at: Place, runtime: Runtime, clock: Clock
) -> None:
    lin, ada = at.user("lin"), at.user("ada", "admin")
    store(at, lin, "thesis.txt", b"x" * 90)
    _run(runtime, clock, 11)
    assert _state(runtime, "StorageQuotaHigh") == "OK"
    at.campus.users.set_quota(lin.user_id, 100, ada)
    _run(runtime, clock, 11)
    assert _state(runtime, "StorageQuotaHigh") == "ALARM"
    assert _mail(runtime) == ["Alarm: StorageQuotaHigh of Campus Cloud"]
    at.campus.users.set_quota(lin.user_id, 1000, ada)
    _run(runtime, clock, 45)  # the highest value of half an hour
    assert _state(runtime, "StorageQuotaHigh") == "OK"
    assert _mail(runtime) == ["Over: StorageQuotaHigh of Campus Cloud"]


def test_cc_57_an_error_rate_over_5_per_cent_for_five_minutes_rings_and_ends(
    at: Place, runtime: Runtime, clock: Clock
) -> None:
    lin = at.user("lin")
    token = runtime.token_for(Person("user-lin", "Lin", "", "", ("student",), lin.email, system="campus"))
    with (
        serving_app(app_of(runtime)) as url,
        httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}) as api,
    ):

        def ask(count: int) -> set[int]:
            return {api.get("/campus/v1/me/notifications").status_code for _ in range(count)}

        for _ in range(5):
            assert ask(2) == {200}
            _run(runtime, clock)
        assert _state(runtime, "ErrorRateHigh") == "OK"
        # A table is lost: what needs it fails, the rest is served.
        at.call("DeleteTable", {"TableName": "campus-cloud-notifications"})
        for minute in range(5):
            assert _state(runtime, "ErrorRateHigh") == "OK", minute
            assert ask(2) == {500}
            assert api.get("/campus/v1/me").status_code == 200
            _run(runtime, clock)
        assert _state(runtime, "ErrorRateHigh") == "ALARM"
        assert "Alarm: ErrorRateHigh of Campus Cloud" in _mail(runtime)
        at.db.create_tables()
        assert ask(2) == {200}
        _run(runtime, clock)
        assert _state(runtime, "ErrorRateHigh") == "OK"
        assert "Over: ErrorRateHigh of Campus Cloud" in _mail(runtime)


def test_cc_57_more_than_ten_throttled_requests_in_five_minutes_ring(
    at: Place, runtime: Runtime, clock: Clock
) -> None:
    name = "campus-cloud-files-throttling"
    for count in (10, 1):
        for _ in range(count):
            runtime.engine.metrics.record(
                "ThrottledRequests", 1, table="campus-cloud-files", detail="GetItem"
            )
        _run(runtime, clock, 2)
        assert _state(runtime, name) == ("OK" if count == 10 else "ALARM")
    _run(runtime, clock, 15)
    assert _state(runtime, name) == "OK"


def test_cc_57_a_failed_backup_rings_until_one_is_made(at: Place, runtime: Runtime, clock: Clock) -> None:
    _run(runtime, clock)
    assert _state(runtime, "failed-backups") == "OK"
    runtime.call("DeleteTable", {"TableName": "campus-cloud-audit"})
    clock.move(timedelta(days=1))
    _run(runtime, clock, 2)
    assert _state(runtime, "failed-backups") == "ALARM"
    assert "Alarm: failed-backups of Campus Cloud" in _mail(runtime)
    clock.move(timedelta(hours=5))
    _run(runtime, clock)
    assert _state(runtime, "failed-backups") == "ALARM", "no backup was made since"
    at.db.create_tables()
    clock.move(timedelta(days=1))
    _run(runtime, clock, 62)
    assert _state(runtime, "failed-backups") == "OK"
