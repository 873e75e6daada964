"""Processes that share tables, and firewalls that one process drives: which one, and what the others are refused."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.app.test_endpoint import URL, eventually

from tablewright import Engine
from tablewright.app import leases
from tablewright.app.endpoint import Endpoint, FirewallsTaken, make_secrets
from tablewright.app.place import Firewalls
from tablewright.app.runtime import Runtime, open_on_endpoint
from tablewright.app.systems import PARENTAL
from tablewright.client import embedded
from tablewright.systems.parental import seed
from tablewright.systems.parental.errors import FirewallOfOneProcess
from tablewright.systems.parental.firewall.devices import NotAsked
from tablewright.systems.parental.firewall.driver import Flow
from tablewright.systems.parental.model import BlockedApp, Device
from tablewright.systems.parental.parental import Parental
from tablewright.systems.parental.policy.policies import Draft
from tablewright.world import real_world

SMALL = replace(PARENTAL, seed=lambda parental, told: seed.seed(parental, told, families=1))
DEVICE, SPOTIFY = "ftd-device-001", Flow("10.20.30.40", name="open.spotify.com")
Open = Callable[..., Runtime]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Open]:
    """Starts a process of parental controls over one engine's tables."""
    make_secrets(tmp_path / "secrets", (), real_world())
    (tmp_path / "objects").mkdir()
    with Engine.open(":memory:") as engine:
        call = embedded(engine)
        shared = Endpoint(call, call, "the engine", tmp_path / "secrets", str(tmp_path / "objects"))

        def started(firewalls: Firewalls | None, *, jobs: bool = False, seeded: bool = False) -> Runtime:
            endpoint = replace(shared, firewalls=firewalls)
            return open_on_endpoint(endpoint, systems=(SMALL,), url=URL, jobs=jobs, seed=seeded)

        yield started


def parental_of(runtime: Runtime) -> Parental:
    found: Parental = runtime.running[0].service
    return found


def test_without_a_declared_process_a_firewall_of_one_process_is_refused_by_name(start: Open) -> None:
    simulated = Device(device_id="attic", kind="simulated", name="Attic", access_policy_id="")
    with start(None) as runtime, pytest.raises(FirewallOfOneProcess, match=r"attic: .*--firewalls here"):
        parental_of(runtime).devices.add(simulated)
    with pytest.raises(FirewallOfOneProcess, match=DEVICE):
        start(None, seeded=True)
    with start("here") as runtime:
        parental_of(runtime).devices.add(simulated)
    with pytest.raises(FirewallOfOneProcess, match="attic"):
        start(None)


def test_one_process_at_a_time_drives_firewalls(start: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "PATIENCE", timedelta(seconds=1.5))
    with start("here"), pytest.raises(FirewallsTaken, match="--firewalls here"):
        start("here")
    start("here").close()  # the first gave it back


def test_what_is_written_at_another_process_is_enforced_by_the_one_that_drives(start: Open) -> None:
    with start("here", jobs=True, seeded=True) as driving, start("elsewhere", jobs=True) as other:
        theirs, ours = parental_of(driving), parental_of(other)
        with pytest.raises(NotAsked, match="another process drives the firewalls"):
            ours.devices.call(DEVICE, lambda driver: driver.list())
        assert not ours.devices.health(DEVICE).is_ok
        firewall = theirs.devices.simulated(DEVICE)
        assert firewall is not None
        assert not firewall.is_blocked(SPOTIFY)
        child = ours.repository.child_of_phone(seed.SARAH)
        assert child is not None
        ours.policies.create(child, Draft([BlockedApp(app_name="Spotify")], ()), seed.ANNA)
        eventually(lambda: firewall.is_blocked(SPOTIFY))
        names = {due.job.name for due in other.schedule.listed()}
        assert "notices" in names
        assert names.isdisjoint({"verify", "tasks", "sweep", "sessions"})
