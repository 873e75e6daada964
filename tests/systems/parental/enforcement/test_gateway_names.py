"""Names on their way to gateways: told before they are blocked, looked up anew, and never to who needs none."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator

import pytest
from tests.systems.parental.queues import watched, within
from tests.systems.parental.rig import DEVICE, START, Rig, closing, make_rig
from tests.systems.parental.written import app

from tablewright import testing
from tablewright.client import embedded
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement import due, gateway_names
from tablewright.systems.parental.firewall.driver import LearnsNames, Unavailable
from tablewright.systems.parental.firewall.nftables import NftablesFirewall
from tablewright.systems.parental.firewall.simulated import SimulatedFirewall
from tablewright.testing import Clock

GATEWAY = "gateway"


class Gateway(SimulatedFirewall):
    """A firewall that has to know where names lead, and writes down what it was told."""

    heard: list[tuple[str, ...]]
    looks: int = 0
    is_deaf: bool = False
    gate: threading.Event | None = None

    def learn(self, domains: Iterable[str]) -> None:
        if self.gate is not None:
            assert self.gate.wait(60)
        if self.is_deaf:
            raise Unavailable("no DNS server answers")
        self.heard.append(tuple(domains))

    def look_up_again(self) -> int:
        self.looks += 1
        return 0


@pytest.fixture
def gateway() -> Gateway:
    made = Gateway(Clock(START).world())
    made.heard = []
    return made


@pytest.fixture
def rig(gateway: Gateway) -> Iterator[Rig]:
    clock = Clock(START)
    with (
        testing.engine(world=clock.world()) as engine,
        closing(make_rig(embedded(engine), clock, engine)) as made,
    ):
        made.firewalls[GATEWAY] = gateway
        made.device(GATEWAY)
        yield made


def test_the_driver_of_linux_gateways_is_one_that_learns_names() -> None:
    assert issubclass(NftablesFirewall, LearnsNames)
    assert not issubclass(SimulatedFirewall, LearnsNames)


def test_all_names_of_the_registry_are_told_at_the_start_and_looked_up(rig: Rig, gateway: Gateway) -> None:
    with watched(rig):
        assert within(lambda: gateway.looks == 1)
        rig.move(seconds=due.LOOK_UP_EVERY.total_seconds())
        assert within(lambda: gateway.looks == 2)
    names = {"tiktok.com", "musical.ly", "instagram.com", "youtube.com"}
    assert [set(told) for told in gateway.heard] == [names, names]


def test_a_gateway_that_hangs_keeps_no_other_from_being_told_names(rig: Rig, gateway: Gateway) -> None:
    slow = Gateway(rig.clock.world())
    slow.heard, slow.gate = [], threading.Event()
    # Its name sorts first, so whoever asked one after the other would ask it first.
    rig.firewalls["a-slow-gateway"] = slow
    rig.device("a-slow-gateway")
    with watched(rig):
        try:
            assert within(lambda: gateway.looks == 1)
            assert slow.heard == []
            told = len(gateway.heard)
            for name in ("one.example", "two.example"):
                gateway_names.tell_names(rig, [name])
            assert within(lambda: len(gateway.heard) == told + 2)
        finally:
            slow.gate.set()
        assert within(lambda: {("one.example",), ("two.example",)} <= {*slow.heard})


def test_a_device_that_needs_no_names_is_not_asked(rig: Rig, gateway: Gateway) -> None:
    assert gateway_names.tell_names(rig, ["tiktok.com"]) == 1
    assert gateway_names.look_up_again(rig) == 1
    assert rig.devices.get(DEVICE).last_ok_at is None
    assert rig.devices.meters.measured().calls_of(DEVICE) == 0
    assert rig.devices.meters.measured().calls_of(GATEWAY) == 2


def test_a_change_of_the_registry_tells_its_names_before_rules_are_made(rig: Rig, gateway: Gateway) -> None:
    rig.follow()
    gateway.heard.clear()
    rig.db.write(d.apps.create(app("Puzzles", ["puzzles.example"])))
    rig.follow()
    assert gateway.heard == [("puzzles.example",)]


def test_a_gateway_that_learns_nothing_keeps_no_rule_from_being_made_elsewhere(
    rig: Rig, gateway: Gateway
) -> None:
    rig.child()
    rig.start()
    rig.policy("TikTok")
    rig.follow()
    gateway.is_deaf = True
    before = rig.db.one(d.app_by_name(app_name="TikTok"))
    assert before is not None
    rig.db.write(d.apps.change(before, before.model_copy(update={"domains": ["tiktok.com", "more.example"]})))
    rig.follow()
    assert rig.is_blocked("cdn.more.example")


def test_a_gateway_that_is_switched_off_is_left_alone(rig: Rig, gateway: Gateway) -> None:
    rig.devices.change(GATEWAY, enabled=False)
    assert gateway_names.tell_names(rig, ["tiktok.com"]) == 0
    assert gateway.heard == []
