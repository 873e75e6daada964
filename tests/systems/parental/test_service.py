"""The whole app with both systems, as `serve` starts it: what a parent writes is enforced by what runs by itself.

Real time, real HTTP, a real directory; nobody here calls the reconciler.
"""

import html
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import PARENTAL, PORTAL
from tablewright.edge import serving_app
from tablewright.kit.system import System
from tablewright.systems.parental import seed as parental_seed
from tablewright.systems.parental.firewall.driver import Flow
from tablewright.systems.parental.model import Device
from tablewright.systems.parental.parental import Parental
from tablewright.systems.portal import seed as portal_seed

API = "/parental/v1"
SARAH, HER_ADDRESS, HER_DEVICE = parental_seed.SARAH, "10.20.30.40", "ftd-device-001"
SPOTIFY = Flow(HER_ADDRESS, name="open.spotify.com")
PROMISED = 5.0
Enter = Callable[[str], httpx.Client]


def small() -> tuple[System, ...]:
    return (
        replace(PORTAL, seed=lambda portal, told: portal_seed.seed(portal, told, tenants=5)),
        replace(PARENTAL, seed=lambda parental, told: parental_seed.seed(parental, told, families=1)),
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("app")


@pytest.fixture(scope="module")
def runtime(home: Path) -> Iterator[Runtime]:
    with open_app(home, systems=small(), durability="relaxed") as opened:
        yield opened


@pytest.fixture(scope="module")
def parental(runtime: Runtime) -> Parental:
    found: Parental = runtime.running[1].service
    return found


@pytest.fixture(scope="module")
def url(runtime: Runtime) -> Iterator[str]:
    with serving_app(app_of(runtime)) as served:
        yield served


@pytest.fixture(scope="module")
def enter(url: str) -> Iterator[Enter]:
    with ExitStack() as stack:

        def entered(person: str) -> httpx.Client:
            client = stack.enter_context(
                httpx.Client(base_url=url, headers={"Origin": url}, follow_redirects=True, timeout=30)
            )
            assert client.post("/sign-in", data={"person": person}).status_code == 200
            return client

        yield entered


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Whether something came to be in time."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_a_policy_written_by_a_parent_is_enforced_within_five_seconds_and_gone_as_soon(
    enter: Enter, parental: Parental
) -> None:
    anna, olga = enter("parent_anna"), enter("operator_olga")
    device = parental.devices.simulated(HER_DEVICE)
    assert device is not None
    assert not device.is_blocked(SPOTIFY)
    made = anna.post(
        f"{API}/children/{SARAH}/policies",
        json={"blockedApps": [{"appName": "Spotify"}], "timeWindows": []},
    )
    assert made.status_code == 201, made.text
    assert within(PROMISED, lambda: device.is_blocked(SPOTIFY))

    def state() -> str | None:
        told = anna.get(f"{API}/children/{SARAH}/status").json()
        return next((one["state"] for one in told if one["appName"] == "Spotify"), None)

    assert within(PROMISED, lambda: state() == "enforced")
    tried = {"source": HER_ADDRESS, "destination": "open.spotify.com"}
    page = f"/console/parental/devices/{HER_DEVICE}"
    assert "Blocked: 10.20.30.40 can't reach open.spotify.com" in html.unescape(
        olga.get(page, params=tried).text
    )

    policy = made.json()
    gone = anna.delete(
        f"{API}/children/{SARAH}/policies/{policy['policyId']}",
        headers={"If-Match": f'"{policy["version"]}"'},
    )
    assert gone.status_code < 300, gone.text
    assert within(PROMISED, lambda: not device.is_blocked(SPOTIFY))
    assert "Not blocked" in olga.get(page, params=tried).text


def test_a_session_that_a_gateway_reports_is_followed_by_the_rules_of_its_child(
    enter: Enter, parental: Parental
) -> None:
    gateway = enter("gateway_east")
    device = parental.devices.simulated("ftd-device-002")
    assert device is not None
    here = Flow("10.77.0.9", name="www.tiktok.com")
    event = {
        "kind": "start",
        "phoneNumber": parental_seed.TOM,
        "sessionId": "laptop",
        "deviceId": "ftd-device-002",
    }
    told = gateway.post(f"{API}/sessions/events", json={**event, "privateIP": "10.77.0.9"})
    assert told.status_code == 200, told.text
    assert within(PROMISED, lambda: device.is_blocked(here))
    gateway.post(f"{API}/sessions/events", json={**event, "kind": "stop"})
    assert within(PROMISED, lambda: not device.is_blocked(here))


def test_a_firewall_that_hangs_holds_up_no_child_behind_another_and_the_operator_sees_it(
    enter: Enter, parental: Parental
) -> None:
    anna, chidi, olga = enter("parent_anna"), enter("parent_chidi"), enter("operator_olga")
    slow, well = (parental.devices.simulated(id) for id in (HER_DEVICE, "ftd-device-002"))
    assert slow is not None
    assert well is not None
    is_asked, go = threading.Event(), threading.Event()

    def hang(place: str) -> None:
        is_asked.set()
        assert go.wait(60)

    def blocks(parent: httpx.Client, child: str, app: str) -> None:
        policy = {"blockedApps": [{"appName": app}], "timeWindows": []}
        made = parent.post(f"{API}/children/{child}/policies", json=policy)
        assert made.status_code == 201, made.text

    slow.at = hang
    try:
        for app in ("Twitch", "Reddit", "Pinterest"):
            blocks(anna, SARAH, app)
        assert is_asked.wait(30)
        blocks(chidi, parental_seed.ADA, "Twitch")
        assert within(PROMISED, lambda: well.is_blocked(Flow("10.40.7.15", name="www.twitch.tv")))
        line = f'tablewright_parental_device_overdue_seconds{{device="{HER_DEVICE}"}} '

        def overdue() -> float:
            told = olga.get(f"{API}/metrics").text
            return float(next(one for one in told.splitlines() if one.startswith(line)).removeprefix(line))

        assert within(10, lambda: overdue() > 1.0)
        assert " overdue" in olga.get("/console/parental/devices").text
        assert " overdue" in olga.get(f"/console/parental/devices/{HER_DEVICE}").text
        assert not go.is_set()
    finally:
        slow.at = lambda place: None
        go.set()
    assert within(PROMISED, lambda: slow.is_blocked(Flow(HER_ADDRESS, name="www.twitch.tv")))


def test_what_was_enforced_is_measured_by_its_cause(enter: Enter, parental: Parental) -> None:
    olga = enter("operator_olga")
    policy = {"blockedApps": [{"appName": "Netflix"}], "timeWindows": []}
    made = enter("parent_anna").post(f"{API}/children/{SARAH}/policies", json=policy)
    assert made.status_code == 201

    def told() -> str:
        return olga.get(f"{API}/metrics").text

    line = f'tablewright_parental_enforcement_seconds_count{{cause="policy",device="{HER_DEVICE}"}}'
    assert within(PROMISED, lambda: line in told())
    times = parental.devices.meters.measured().enforced[HER_DEVICE, "policy"]
    assert sum(times.spread) > 0
    assert "Rule saved" in olga.get(f"/console/parental/devices/{HER_DEVICE}").text


def test_a_registry_change_reaches_the_rules_without_a_policy_being_touched(
    enter: Enter, parental: Parental
) -> None:
    olga = enter("operator_olga")
    device = parental.devices.simulated(HER_DEVICE)
    assert device is not None
    policy = {"blockedApps": [{"appName": "Discord"}], "timeWindows": []}
    assert enter("parent_anna").post(f"{API}/children/{SARAH}/policies", json=policy).status_code == 201
    assert within(PROMISED, lambda: device.is_blocked(Flow(HER_ADDRESS, name="discord.com")))
    new = Flow(HER_ADDRESS, name="cdn.discord-files.example")
    assert not device.is_blocked(new)
    app: dict[str, Any] = olga.get(f"{API}/apps/Discord").json()
    kept = ("appCategory", "defaultPorts", "ipRanges", "description", "popularity", "source")
    body = {name: app[name] for name in kept if name in app}
    saved = olga.put(
        f"{API}/apps/Discord", json={**body, "domains": [*app["domains"], "*.discord-files.example"]}
    )
    assert saved.status_code == 200, saved.text
    assert within(60, lambda: device.is_blocked(new))


def test_each_sees_what_is_theirs_and_nothing_else(enter: Enter) -> None:
    chidi, olga, gateway = enter("parent_chidi"), enter("operator_olga"), enter("gateway_east")
    assert chidi.get(f"{API}/children/{SARAH}/policies").status_code == 404
    assert chidi.get("/console/parental/devices").status_code == 403
    assert olga.get(f"{API}/children/{SARAH}").status_code in (403, 404)
    assert gateway.get(f"{API}/devices").status_code == 403
    assert gateway.get(f"{API}/metrics").status_code == 200
    assert chidi.get(f"{API}/metrics").status_code == 403
    # A role of one system is none in the other.
    assert olga.get("/console/portal/tenants").status_code == 403


def test_every_job_of_both_systems_takes_its_turn_without_a_mistake(runtime: Runtime) -> None:
    def have_run() -> bool:
        return all(due.last is not None and due.last.took_ms is not None for due in runtime.schedule.listed())

    assert within(60, have_run)
    assert [
        (due.job.name, due.last.error) for due in runtime.schedule.listed() if due.last and due.last.error
    ] == []
    names = {due.job.name for due in runtime.schedule.listed() if due.system == "parental"}
    assert names == {
        "tasks",
        "restored",
        "sessions",
        "notices",
        "verify",
        "metrics",
        "files",
        "purge",
        "parked",
        "sweep",
        "demo",
    }


def test_the_home_page_shows_both_systems(enter: Enter) -> None:
    page = enter("parent_anna").get("/").text
    assert "Customer portal" in page
    assert "Parental controls" in page


def test_rules_and_devices_outlive_a_restart_and_nothing_is_seeded_again(tmp_path: Path) -> None:
    with open_app(tmp_path, systems=small()[1:], durability="relaxed", jobs=False) as runtime:
        first: Parental = runtime.running[0].service
        device = first.devices.simulated(HER_DEVICE)
        assert device is not None
        # Tom's policy "Not yet" holds at any time.
        assert device.is_blocked(Flow("10.20.30.41", name="www.snapchat.com"))
        count = len(device.list())
    heard: list[Any] = []
    with open_app(
        tmp_path, systems=small()[1:], progress=lambda *step: heard.append(step), jobs=False
    ) as runtime:
        again: Parental = runtime.running[0].service
        device = again.devices.simulated(HER_DEVICE)
        assert device is not None
        assert len(device.list()) == count
    assert heard == []


def test_without_the_demo_nobody_is_kept_on_the_network(tmp_path: Path) -> None:
    with open_app(tmp_path, systems=(PARENTAL,), seed=False, durability="relaxed", jobs=False) as runtime:
        parental: Parental = runtime.running[0].service
        assert "demo" not in {due.job.name for due in runtime.schedule.listed()}
        assert parental.devices.all() == []


def test_the_secret_of_a_firewall_is_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    with open_app(tmp_path, systems=(PARENTAL,), seed=False, durability="relaxed", jobs=False) as runtime:
        parental: Parental = runtime.running[0].service
        parental.devices.add(
            Device(
                device_id="fmc", kind="cisco_fmc", name="FMC", address="192.0.2.1", access_policy_id="p",
                secret_name="fmc-login",
            )
        )  # fmt: skip
        assert "there is no secret fmc-login" in parental.devices.health("fmc").detail
        secret = tmp_path / "systems" / "parental" / "secrets" / "fmc-login"
        secret.parent.mkdir(parents=True)
        secret.write_text("api:password\n192.0.2.1")
        secret.chmod(0o644)
        assert "other users can read" in parental.devices.health("fmc").detail
