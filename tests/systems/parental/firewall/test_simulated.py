"""The simulated firewall beyond the contract: faults on demand, places to die, a memory that survives."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.systems.parental.firewall.contract import rule, to

from tablewright.systems.parental.firewall.driver import (
    Conflict,
    RateLimited,
    Rejected,
    Unavailable,
)
from tablewright.systems.parental.firewall.simulated import Faults, SimulatedFirewall
from tablewright.testing import Clock
from tablewright.world import World, real_world


class Died(BaseException):
    """The process, at a place of the test's choice."""


def dies_at(place: str) -> Callable[[str], None]:
    def at(here: str) -> None:
        if here == place:
            raise Died

    return at


def with_chances(*chances: float) -> World:
    """A world whose chance is written down."""
    drawn = iter(chances)
    return replace(real_world(), jitter=lambda: next(drawn))


# --- faults ---


def test_a_device_that_is_down_does_nothing_and_says_so() -> None:
    device = SimulatedFirewall(real_world(), faults=Faults(is_down=True))
    with pytest.raises(Unavailable):
        device.ensure(rule())
    assert not device.health().is_ok
    device.faults = Faults()
    assert device.list() == []
    assert device.health().is_ok


def test_failures_come_by_the_worlds_chance_and_so_can_be_repeated() -> None:
    device = SimulatedFirewall(with_chances(0.4, 0.6), faults=Faults(failures=0.5))
    with pytest.raises(Unavailable):
        device.ensure(rule())
    device.ensure(rule())
    device.faults = Faults()
    assert len(device.list()) == 1


def test_an_answer_that_is_lost_leaves_the_rule_on_the_device() -> None:
    device = SimulatedFirewall(with_chances(0.0), faults=Faults(lost_answers=0.5))
    with pytest.raises(Unavailable, match="no answer"):
        device.ensure(rule())
    device.faults = Faults()
    assert [one.name for one in device.list()] == [rule().name]
    assert device.is_blocked(to("video.example"))


def test_more_calls_a_minute_than_allowed_are_refused_until_the_minute_is_over() -> None:
    clock = Clock()
    device = SimulatedFirewall(clock.world(), faults=Faults(calls_per_minute=2))
    device.ensure(rule())
    clock.move(timedelta(seconds=20))
    device.list()
    with pytest.raises(RateLimited) as refused:
        device.list()
    assert refused.value.retry_after == 40.0
    clock.move(timedelta(seconds=refused.value.retry_after))
    assert len(device.list()) == 1
    with pytest.raises(RateLimited):
        device.list()


def test_the_next_calls_fail_as_they_are_told_to() -> None:
    device = SimulatedFirewall(real_world())
    device.fail_next(Conflict("somebody writes"), Unavailable("gone"))
    for mistake in (Conflict, Unavailable):
        with pytest.raises(mistake):
            device.ensure(rule())
    assert device.ensure(rule()).name == rule().name


def test_a_label_may_be_refused_for_good() -> None:
    device = SimulatedFirewall(real_world(), faults=Faults(rejected_labels=frozenset(("Video",))))
    with pytest.raises(Rejected):
        device.ensure(rule())
    device.ensure(rule("000000000002_Game", label="Game"))
    assert [one.details["label"] for one in device.list()] == ["Game"]


def test_every_call_takes_its_time() -> None:
    slept: list[float] = []
    device = SimulatedFirewall(real_world(), faults=Faults(latency=0.25), sleep=slept.append)
    device.ensure(rule())
    device.list()
    assert slept == [0.25, 0.25]


# --- dying ---


@pytest.mark.parametrize(("place", "is_there"), [("ensure:before", False), ("ensure:after", True)])
def test_who_dies_at_a_call_leaves_the_device_as_it_was_at_that_place(
    tmp_path: Path, place: str, is_there: bool
) -> None:
    with pytest.raises(Died):
        SimulatedFirewall(real_world(), tmp_path / "device", at=dies_at(place)).ensure(rule())
    again = SimulatedFirewall(real_world(), tmp_path / "device")
    assert again.is_blocked(to("video.example")) is is_there
    assert again.ensure(rule()) == again.list()[0]
    assert len(again.list()) == 1


def test_a_line_torn_by_a_crash_never_was(tmp_path: Path) -> None:
    file = tmp_path / "device"
    SimulatedFirewall(real_world(), file).ensure(rule())
    whole = file.read_bytes()
    SimulatedFirewall(real_world(), file).ensure(rule("000000000002_Game", domains=("game.example",)))
    longer = file.read_bytes()
    for length in range(len(whole), len(longer), 7):
        file.write_bytes(longer[:length])
        device = SimulatedFirewall(real_world(), file)
        assert [one.name for one in device.list()] == [rule().name]
        device.ensure(rule("000000000003_Game"))
        assert len(SimulatedFirewall(real_world(), file).list()) == 2


# --- memory ---


def test_rules_survive_the_process_and_so_does_what_was_not_deployed(tmp_path: Path) -> None:
    file = tmp_path / "device"
    before = SimulatedFirewall(real_world(), file, needs_deploy=True)
    id = before.ensure(rule()).id
    before.deploy()
    game = rule("000000000002_Game", domains=("game.example",))
    before.ensure(game)
    before.remove(id)
    after = SimulatedFirewall(real_world(), file, needs_deploy=True)
    assert [(one.name, one.details["inForce"]) for one in after.list()] == [(game.name, "not deployed")]
    assert after.is_blocked(to("video.example"))
    assert not after.is_blocked(to("game.example"))
    assert after.deploy().was_needed
    assert not after.deploy().was_needed


def test_a_file_is_opened_without_its_history_and_says_the_same(tmp_path: Path) -> None:
    file = tmp_path / "device"
    device = SimulatedFirewall(real_world(), file, needs_deploy=True)
    _, gone, _ = (device.ensure(rule(f"00000000000{n}_Video", source=f"10.0.0.{n}")).id for n in range(3))
    device.deploy()
    device.remove(gone)
    device.ensure(rule("000000000002_Video", source="10.0.0.2", domains=("game.example",)))
    for _ in range(30):
        device.ensure(rule("000000000009_Video"))
    length = file.stat().st_size
    again = SimulatedFirewall(real_world(), file, needs_deploy=True)
    assert file.stat().st_size < length / 3
    flows = [to(name, source=f"10.0.0.{n}") for name in ("video.example", "game.example") for n in range(3)]
    assert again.list() == device.list()
    assert [again.is_blocked(flow) for flow in flows] == [device.is_blocked(flow) for flow in flows]


# --- packets ---


def test_questions_for_names_are_never_blocked() -> None:
    device = SimulatedFirewall(real_world())
    device.ensure(rule(domains=(), ports=()))
    assert device.is_blocked(to("other.example"))
    assert not device.is_blocked(to("other.example", 53, "UDP"))


def test_a_device_that_was_replaced_has_no_rules(tmp_path: Path) -> None:
    device = SimulatedFirewall(real_world(), tmp_path / "device", needs_deploy=True)
    device.ensure(rule())
    device.deploy()
    device.wipe()
    assert device.list() == []
    assert not device.is_blocked(to("video.example"))
    assert SimulatedFirewall(real_world(), tmp_path / "device").list() == []
