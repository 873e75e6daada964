"""From a parent's policy to a packet that does not arrive, and from there to the parent's dashboard: all parts real.

The tests named `anchor` are what people ask of the filters they have at home and do not get: each is shown here with
real packets through a real gateway, the way a parent would have it.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from tests.systems.parental.firewall.contract import CHILD, HOSTS, SIBLING
from tests.systems.parental.firewall.network import DOH_SERVER, HOSTS6, Network, open_network, why_not
from tests.systems.parental.talk import ANNA, PHONE, SECRET, START, ZONE, Place, window

from tablewright import testing
from tablewright.client import embedded
from tablewright.edge import Issuer
from tablewright.mapping import Db
from tablewright.systems.parental import design as d
from tablewright.systems.parental.blocked.log_readers import Sensors
from tablewright.systems.parental.enforcement import due, regular_checks
from tablewright.systems.parental.firewall.nflog import NflogReader
from tablewright.systems.parental.firewall.nftables import NftablesFirewall, NftOptions
from tablewright.systems.parental.model import BlockedApp, Child, Device, DnsGuard, Port
from tablewright.systems.parental.parental import Parental, open_parental
from tablewright.systems.parental.policy.policies import Draft
from tablewright.testing import Clock

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"no real packets: {why_not()}")
VIDEO, OTHER = HOSTS["video.example"], HOSTS["other.example"]
GATEWAY = Device(device_id="gateway-1", kind="nftables", name="Gateway", access_policy_id="-")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    with open_network(tmp_path_factory.mktemp("network")) as opened:
        yield opened


@dataclass(frozen=True)
class Runtime:
    """A family behind a real gateway."""

    place: Place
    network: Network

    @property
    def parental(self) -> Parental:
        return self.place.parental

    def child(self, *windows: dict[str, object], zone: str = ZONE) -> Child:
        """A child whose phone is on the network, and for whom somebody's own list of names is blocked."""
        child = self.place.child(zone=zone)
        mine = BlockedApp(app_name="Video", domains=["video.example"], ports=[Port(port=443)])
        self.parental.policies.create(child, Draft([mine], windows), ANNA)
        self.parental.sessions.event("start", PHONE, "s1", ip=CHILD, device=GATEWAY.device_id)
        self.parental.reconciler.reconcile(child.child)
        return child

    def blocked(self, source: str = CHILD) -> tuple[bool, bool, bool]:
        """Whether a child is kept from the video, from the video over QUIC, and from everything else."""
        self.network.look_up("video.example")
        go = self.network
        return (
            not go.connects(VIDEO, 443, source),
            not go.echoes(VIDEO, 443, source),
            not go.connects(OTHER, 443, source),
        )

    def is_blocked_at(self, day: int, time: str, zone: str = ZONE) -> bool:
        """Whether the video is blocked when a clock on the child's wall shows this in June 2030; the gateway is asked
        after what happens by itself has happened."""
        hour, minute = map(int, time.split(":"))
        then = datetime(2030, 6, day, hour, minute, tzinfo=ZoneInfo(zone))
        # Session and firewall are heard of in between, or the session would be over after a day.
        self.place.clock.move(then - self.place.clock.now())
        self.parental.sessions.event("heartbeat", PHONE, "s1", heartbeat_seconds=86_400)
        due.check_due(self.parental)
        over_tcp, over_quic, other = self.blocked()
        assert over_tcp == over_quic
        assert not other
        return over_tcp


@contextmanager
def _opened(network: Network, tmp_path: Path) -> Iterator[Runtime]:
    network.nft("flush", "ruleset")
    clock = Clock(START)
    issuer = Issuer(tmp_path / "keys", "https://id.example", clock.world())
    options = NftOptions(tmp_path / "gateway", names=network.names(), namespace=network.gateway)
    with testing.engine(world=clock.world()) as engine:
        db = Db(embedded(engine), d.PARENTAL, world=clock.world(), secret=SECRET)
        db.create_tables()
        parental = open_parental(
            db,
            clock.world(),
            SECRET,
            lambda subject, roles, email: "",
            drivers=lambda device: NftablesFirewall(replace(options, guard=device.guard)),
        )
        parental.registry.load()
        parental.devices.add(GATEWAY)
        yield Runtime(Place(parental, db, embedded(engine), clock, issuer, engine), network)
        parental.close()


@pytest.fixture
def runtime(network: Network, tmp_path: Path) -> Iterator[Runtime]:
    with _opened(network, tmp_path) as opened:
        yield opened


@pytest.fixture
def guarded(network: Network, tmp_path: Path) -> Iterator[Runtime]:
    """A gateway that answers DNS itself and refuses encrypted DNS."""
    with _opened(network, tmp_path) as opened:
        guard = DnsGuard(guarded=["10.20.30.0/24"], refuses_encrypted_dns=True)
        opened.parental.devices.change(GATEWAY.device_id, guard=guard)
        yield opened
    network.nft("flush", "ruleset")


def test_anchor_quic_is_no_way_around_and_nothing_else_is_blocked(runtime: Runtime) -> None:
    assert runtime.blocked() == (False, False, False)
    child = runtime.child()
    assert runtime.blocked() == (True, True, False)
    assert runtime.blocked(SIBLING) == (False, False, False)
    assert [(one.app, one.state) for one in runtime.parental.reconciler.status(child.child)] == [
        ("Video", "enforced")
    ]


def test_anchor_a_temporary_grant_frees_for_its_time_and_blocks_again_by_itself(runtime: Runtime) -> None:
    child, clock = runtime.child(), runtime.place.clock
    runtime.parental.overrides.add(child, "allow", "Video", clock.now() + timedelta(minutes=30), ANNA)
    runtime.parental.reconciler.reconcile(child.child)
    assert runtime.blocked() == (False, False, False)
    clock.move(timedelta(minutes=30))
    due.check_due(runtime.parental)
    assert runtime.blocked() == (True, True, False)


def test_anchor_a_rule_follows_the_child_to_another_address(runtime: Runtime) -> None:
    child = runtime.child()
    runtime.parental.sessions.event("update-ip", PHONE, "s1", ip=SIBLING, device=GATEWAY.device_id)
    runtime.parental.reconciler.reconcile(child.child)
    assert runtime.blocked(SIBLING) == (True, True, False)
    assert runtime.blocked(CHILD) == (False, False, False)


# --- schedules: June 14th 2030 is a Friday; where the child lives it is ten in the morning ---


def test_anchor_several_windows_on_one_day_open_and_close_each(runtime: Runtime) -> None:
    runtime.child(window("11:00", "12:00"), window("13:30", "14:00"), window("18:00", "20:00"))
    times = ("10:59", "11:00", "11:59", "12:00", "13:30", "14:00", "17:59", "18:00", "19:59", "20:00")
    shown = {time: runtime.is_blocked_at(14, time) for time in times}
    assert [time for time, is_blocked in shown.items() if is_blocked] == [
        "11:00", "11:59", "13:30", "18:00", "19:59",
    ]  # fmt: skip


def test_anchor_a_window_past_midnight_belongs_to_the_day_it_begins_on(runtime: Runtime) -> None:
    runtime.child(window("22:00", "06:00", "FRI"))
    assert not runtime.is_blocked_at(14, "21:59")
    assert runtime.is_blocked_at(14, "22:00")
    assert runtime.is_blocked_at(15, "00:00")
    assert runtime.is_blocked_at(15, "05:59")
    assert not runtime.is_blocked_at(15, "06:00")
    assert not runtime.is_blocked_at(15, "22:00")


def test_anchor_a_schedule_may_be_about_a_domain_of_the_parents_own(runtime: Runtime) -> None:
    child = runtime.child(window("16:00", "17:00"))
    (policy,) = runtime.parental.policies.of_child(child)
    assert policy.blocked_apps[0].domains == ["video.example"]
    assert runtime.parental.registry.app("Video") is None
    assert [runtime.is_blocked_at(14, time) for time in ("15:59", "16:00", "17:00")] == [False, True, False]


@pytest.mark.parametrize("zone", ["Asia/Kathmandu", "Europe/Berlin", "America/New_York"])
def test_anchor_windows_go_by_the_clock_on_the_childs_own_wall(runtime: Runtime, zone: str) -> None:
    runtime.child(window("20:00", "21:00"), zone=zone)
    days = [runtime.is_blocked_at(15, time, zone) for time in ("19:59", "20:00", "20:59", "21:00")]
    assert days == [False, True, True, False]


# --- ways around ---


def test_anchor_another_dns_server_is_no_way_around(guarded: Runtime) -> None:
    guarded.child()
    # Whom the child asks, the gateway answers, and so it knows where the name leads.
    assert guarded.network.look_up("video.example", DOH_SERVER) == {VIDEO, HOSTS6["video.example"]}
    assert not guarded.network.connects(VIDEO, 443)
    assert not guarded.network.echoes(VIDEO, 443)
    assert guarded.network.connects(OTHER, 443)


def test_anchor_dns_over_https_and_over_tls_are_no_way_around(guarded: Runtime) -> None:
    guarded.child()
    assert not guarded.network.connects(DOH_SERVER, 443), "DNS over HTTPS, by a server that is known for it"
    assert not guarded.network.connects(OTHER, 853), "DNS over TLS, whose port is its own"
    assert guarded.network.connects(OTHER, 443)


def test_a_guard_that_an_operator_sets_is_in_force_at_once_and_so_is_its_end(runtime: Runtime) -> None:
    runtime.child()
    devices, go = runtime.parental.devices, runtime.network
    assert go.connects(DOH_SERVER, 443)
    guard = DnsGuard(guarded=["10.20.30.0/24"], refuses_encrypted_dns=True, safe=[f"{VIDEO}/32"])
    told = devices.change(GATEWAY.device_id, guard=guard)
    assert told.guard_kept == told.guard == guard
    assert not go.connects(DOH_SERVER, 443)
    assert go.look_up("video.example", DOH_SERVER)
    assert go.connects(VIDEO, 443), "it is safe now, though a policy blocks it"
    devices.change(GATEWAY.device_id, guard=DnsGuard())
    assert go.connects(DOH_SERVER, 443)
    assert go.look_up("video.example", DOH_SERVER) == frozenset()
    assert not go.connects(VIDEO, 443), "the rule was there all the time"


def test_anchor_without_the_guard_encrypted_dns_is_blocked_by_a_policy_that_names_it(
    runtime: Runtime,
) -> None:
    child = runtime.child()
    assert runtime.network.connects(DOH_SERVER, 443)
    entry = BlockedApp(app_name="Encrypted DNS")
    runtime.parental.policies.create(child, Draft([entry]), ANNA)
    runtime.parental.reconciler.reconcile(child.child)
    assert not runtime.network.connects(DOH_SERVER, 443)


# --- and what holds beside ---


def test_a_gateway_that_lost_its_rules_has_them_again_after_the_check(runtime: Runtime) -> None:
    runtime.child()
    runtime.network.nft("flush", "ruleset")
    assert runtime.blocked() == (False, False, False)
    runtime.place.clock.move(timedelta(minutes=30))
    regular_checks.verify(runtime.parental)
    assert runtime.blocked() == (True, True, False)


def test_what_was_stopped_is_counted_once_each_for_the_parents(runtime: Runtime) -> None:
    child = runtime.child()
    world = runtime.place.clock.world()
    sensors = Sensors(
        world,
        runtime.parental.devices.all,
        lambda device: NflogReader(world, namespace=runtime.network.gateway),
        runtime.parental.ingest.take,
    )
    try:
        sensors.step(0)
        for _ in range(3):
            assert runtime.blocked() == (True, True, False)
        heard, end = 0, time.monotonic() + 5
        while heard < 6 and time.monotonic() < end:
            heard += sensors.step(0.3)
    finally:
        sensors.close()
    today = runtime.parental.figures.of_child(child).day
    assert (heard, today.blocked) == (6, 6)
