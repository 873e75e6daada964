"""Every driver keeps the same contract (contract.py); here is what each is tried with."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.systems.parental.firewall import fake_fmc
from tests.systems.parental.firewall.contract import Bench, promises

from tablewright.systems.parental.firewall.driver import Flow, Rule
from tablewright.systems.parental.firewall.simulated import SimulatedFirewall
from tablewright.world import real_world

OFFICE = Rule(name="OFFICE_1", source="10.9.9.9", ranges=("203.0.113.0/24",))


@dataclass(frozen=True, slots=True)
class SimulatedBench:
    driver: SimulatedFirewall

    def is_blocked(self, flow: Flow) -> bool:
        return self.driver.is_blocked(flow)

    def add_foreign(self) -> None:
        self.driver.ensure(OFFICE)

    def has_foreign(self) -> bool:
        return [rule.name for rule in self.driver.list("OFFICE")] == [OFFICE.name]


@contextmanager
def in_memory(_: Path) -> Iterator[Bench]:
    yield SimulatedBench(SimulatedFirewall(real_world()))


@contextmanager
def in_a_file(home: Path) -> Iterator[Bench]:
    yield SimulatedBench(SimulatedFirewall(real_world(), home / "device.jsonl"))


@contextmanager
def with_deployments(_: Path) -> Iterator[Bench]:
    yield SimulatedBench(SimulatedFirewall(real_world(), needs_deploy=True))


BENCHES: dict[str, Callable[[Path], AbstractContextManager[Bench]]] = {
    "simulated": in_memory,
    "simulated-file": in_a_file,
    "simulated-deploy": with_deployments,
    "cisco_fmc": fake_fmc.bench,
}


@pytest.fixture(params=BENCHES)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    with BENCHES[request.param](tmp_path) as made:
        yield made


@promises
def test_a_driver_keeps_the_promise(bench: Bench, promise: Callable[[Bench], None]) -> None:
    promise(bench)
