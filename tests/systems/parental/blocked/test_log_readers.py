"""What gateways stopped becomes counts: heard, batched, tried again. Real gateways: firewall/test_whole_gateway.py."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from tablewright.systems.parental.blocked import log_readers as sensors_module
from tablewright.systems.parental.blocked.events import EVENTS_PER_BATCH, Batch
from tablewright.systems.parental.blocked.log_readers import LOOK_EVERY, Sensors
from tablewright.systems.parental.firewall.driver import BlockedFlow, Unavailable
from tablewright.systems.parental.model import Device
from tablewright.testing import Clock


def device(name: str, kind: str = "nftables", enabled: bool = True) -> Device:
    return Device.model_validate(
        {"deviceId": name, "kind": kind, "name": name, "accessPolicyId": "-", "enabled": enabled}
    )


@dataclass
class Ear:
    """A reader that hears what it is told."""

    said: list[BlockedFlow] = field(default_factory=list)
    is_broken: bool = False
    is_closed: bool = False

    def read(self, seconds: float = 1.0) -> list[BlockedFlow]:
        if self.is_broken:
            raise Unavailable("the kernel is silent")
        said, self.said = self.said, []
        return said

    def close(self) -> None:
        self.is_closed = True


class Rig:
    def __init__(self, *devices: Device) -> None:
        self.clock = Clock()
        self.devices: Sequence[Device] = devices
        self.ears: dict[str, Ear] = {}
        self.deaf: set[str] = set()
        self.taken: list[Batch] = []
        self.refused: list[str] = []
        self.trouble: list[Exception] = []
        self.sensors = Sensors(self.clock.world(), lambda: self.devices, self.listen, self.take)

    def listen(self, device: Device) -> Ear:
        if device.device_id in self.deaf:
            raise Unavailable("not permitted")
        self.ears[device.device_id] = Ear()
        return self.ears[device.device_id]

    def take(self, batch: Batch) -> None:
        if self.trouble:
            self.refused.append(batch.batch_id)
            raise self.trouble.pop(0)
        self.taken.append(batch)

    def flows(self, count: int = 1) -> list[BlockedFlow]:
        one = BlockedFlow(
            self.clock.now(), "PARENTAL_BLOCK_1_V", "Video", "10.0.0.1", "192.0.2.1", "TCP", 443
        )
        return [one] * count


def test_only_gateways_that_are_in_use_are_heard() -> None:
    rig = Rig(device("a"), device("b", "simulated"), device("c", enabled=False))
    rig.sensors.step()
    assert set(rig.ears) == {"a"}


def test_what_was_stopped_is_handed_on_in_batches() -> None:
    rig = Rig(device("a"), device("b"))
    rig.sensors.step()
    rig.ears["a"].said, rig.ears["b"].said = rig.flows(EVENTS_PER_BATCH), rig.flows()
    assert rig.sensors.step() == EVENTS_PER_BATCH + 1
    assert [len(batch.events) for batch in rig.taken] == [EVENTS_PER_BATCH, 1]
    event = rig.taken[0].events[0]
    assert (event.private_ip, event.app_name, event.rule_name) == ("10.0.0.1", "Video", "PARENTAL_BLOCK_1_V")
    assert len({batch.batch_id for batch in rig.taken}) == 2


def test_a_batch_that_failed_comes_again_as_the_same_batch() -> None:
    rig = Rig(device("a"))
    rig.sensors.step()
    rig.ears["a"].said = rig.flows()
    rig.trouble = [RuntimeError("the table is busy")]
    rig.sensors.step()
    assert rig.taken == []
    rig.sensors.step()
    assert [batch.batch_id for batch in rig.taken] == rig.refused


def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sensors_module, "MOST_WAITING", 2)
    rig = Rig(device("a"))
    rig.sensors.step()
    rig.trouble = [RuntimeError("down")] * 5
    for _ in range(5):
        rig.ears["a"].said = rig.flows()
        rig.sensors.step()
    rig.sensors.step()
    assert len(rig.taken) == 2


def test_a_gateway_that_cannot_be_heard_is_tried_again_and_keeps_no_other_waiting() -> None:
    rig = Rig(device("a"), device("b"))
    rig.deaf = {"a"}
    rig.sensors.step()
    rig.ears["b"].said = rig.flows()
    assert rig.sensors.step() == 1
    rig.deaf = set()
    rig.clock.move(LOOK_EVERY)
    rig.sensors.step()
    rig.ears["b"].is_broken = True
    rig.ears["a"].said = rig.flows()
    assert rig.sensors.step() == 1
    assert rig.ears["b"].is_closed
    rig.clock.move(LOOK_EVERY)
    rig.sensors.step()
    assert not rig.ears["b"].is_closed


def test_a_gateway_that_was_switched_off_is_let_go() -> None:
    rig = Rig(device("a"))
    rig.sensors.step()
    rig.devices = ()
    rig.clock.move(LOOK_EVERY - timedelta(seconds=1))
    rig.sensors.step()
    assert not rig.ears["a"].is_closed
    rig.clock.move(timedelta(seconds=1))
    rig.sensors.step()
    assert rig.ears["a"].is_closed
    assert not rig.sensors.is_listening


def test_closing_lets_all_go() -> None:
    rig = Rig(device("a"), device("b"))
    rig.sensors.step()
    rig.sensors.close()
    assert all(ear.is_closed for ear in rig.ears.values())
