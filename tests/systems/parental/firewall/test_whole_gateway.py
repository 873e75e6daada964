"""From a parent's policy to a packet that does not arrive, and from there to the parent's dashboard: all parts real."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from tests.systems.parental.firewall.contract import CHILD, HOSTS, SIBLING
from tests.systems.parental.firewall.network import Network, open_network, why_not
from tests.systems.parental.talk import ANNA, PHONE, SECRET, START, Place

from tablewright import testing
from tablewright.client import embedded
from tablewright.edge import Issuer
from tablewright.mapping import Db
from tablewright.systems.parental import design as d
from tablewright.systems.parental import jobs
from tablewright.systems.parental.firewall.nflog import NflogReader
from tablewright.systems.parental.firewall.nftables import NftablesFirewall, NftOptions
from tablewright.systems.parental.model import BlockedApp, Child, Device, Port
from tablewright.systems.parental.policies import Draft
from tablewright.systems.parental.sensors import Sensors
from tablewright.systems.parental.service import Parental, open_parental
from tablewright.testing import Clock

pytestmark = pytest.mark.skipif(why_not() is not None, reason=f"no real packets: {why_not()}")
VIDEO, OTHER = HOSTS["video.example"], HOSTS["other.example"]
GATEWAY = Device(device_id="gateway-1", kind="nftables", name="Gateway", access_policy_id="-")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    with open_network(tmp_path_factory.mktemp("network")) as opened:
        yield opened


@dataclass(frozen=True)
class House:
    """A family behind a real gateway."""

    place: Place
    network: Network

    @property
    def parental(self) -> Parental:
        return self.place.parental

    def child(self) -> Child:
        """A child whose phone is on the network, and for whom somebody's own list of names is blocked."""
        child = self.place.child()
        mine = BlockedApp(app_name="Video", domains=["video.example"], ports=[Port(port=443)])
        self.parental.policies.create(child, Draft([mine], []), ANNA)
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


@pytest.fixture
def house(network: Network, tmp_path: Path) -> Iterator[House]:
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
            drivers=lambda device: NftablesFirewall(options),
        )
        parental.registry.load()
        parental.devices.add(GATEWAY)
        yield House(Place(parental, db, embedded(engine), clock, issuer, engine), network)
        parental.close()


def test_what_a_parent_blocks_is_blocked_with_quic_and_nothing_else(house: House) -> None:
    assert house.blocked() == (False, False, False)
    child = house.child()
    assert house.blocked() == (True, True, False)
    assert house.blocked(SIBLING) == (False, False, False)
    assert [(one.app, one.state) for one in house.parental.reconciler.status(child.child)] == [
        ("Video", "enforced")
    ]


def test_a_grant_frees_for_its_time_and_blocks_again_by_itself(house: House) -> None:
    child, clock = house.child(), house.place.clock
    house.parental.overrides.add(child, "allow", "Video", clock.now() + timedelta(minutes=30), ANNA)
    house.parental.reconciler.reconcile(child.child)
    assert house.blocked() == (False, False, False)
    clock.move(timedelta(minutes=30))
    jobs.open_windows(house.parental)
    assert house.blocked() == (True, True, False)


def test_the_block_follows_the_child_to_another_address(house: House) -> None:
    child = house.child()
    house.parental.sessions.event("update-ip", PHONE, "s1", ip=SIBLING, device=GATEWAY.device_id)
    house.parental.reconciler.reconcile(child.child)
    assert house.blocked(SIBLING) == (True, True, False)
    assert house.blocked(CHILD) == (False, False, False)


def test_a_gateway_that_lost_its_rules_has_them_again_after_the_check(house: House) -> None:
    house.child()
    house.network.nft("flush", "ruleset")
    assert house.blocked() == (False, False, False)
    house.place.clock.move(timedelta(minutes=30))
    jobs.verify(house.parental)
    assert house.blocked() == (True, True, False)


def test_what_was_stopped_is_counted_once_each_for_the_parents(house: House) -> None:
    child = house.child()
    world = house.place.clock.world()
    sensors = Sensors(
        world,
        house.parental.devices.all,
        lambda device: NflogReader(world, namespace=house.network.gateway),
        house.parental.ingest.take,
    )
    try:
        sensors.step(0)
        for _ in range(3):
            assert house.blocked() == (True, True, False)
        heard, end = 0, time.monotonic() + 5
        while heard < 6 and time.monotonic() < end:
            heard += sensors.step(0.3)
    finally:
        sensors.close()
    today = house.parental.figures.of_child(child).day
    assert (heard, today.blocked) == (6, 6)
