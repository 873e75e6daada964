"""Who enforces may die at any place: between the claim, the device and the note. What is left is mended by who is next.

Every place is tried by an exception that nothing catches; some by a real kill of a real process. Afterwards the events
are told again, as the network does, and the jobs run. Must hold then: the device has exactly the rules that are wanted,
each once, the table says so, and nothing is an open matter.
"""

from __future__ import annotations

import os
import signal
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from tests import fork_server
from tests.crash import parental_child
from tests.crash.parental_child import Mine, live, opened, prepare
from tests.systems.parental.rig import IP, OTHER_IP, START, Rig, closing

from tablewright import Engine, testing
from tablewright.systems.parental.enforcement import regular_checks
from tablewright.testing import Clock

DEVICE_PLACES = ("ensure:before", "ensure:after", "remove:before", "remove:after")


class Died(BaseException):
    """The process is gone."""


def mended(rig: Rig) -> None:
    """What happens after a restart, and what must hold then."""
    live(rig)
    for _ in range(20):
        rig.move(seconds=30)
        rig.tick()
    regular_checks.verify(rig)
    rules = rig.on_device()
    assert sorted(rule.source for rule in rules) == [IP, IP]
    mappings = rig.rules()
    assert {one.rule_name: (one.status, one.device_rule_id) for one in mappings} == {
        rule.name: ("active", rule.id) for rule in rules
    }
    assert (rig.is_blocked(), rig.is_blocked("instagram.com"), rig.is_blocked(ip=OTHER_IP)) == (
        True,
        True,
        False,
    )
    assert rig.open_actions("failed") == []
    assert rig.open_actions("pending") == []


@pytest.mark.parametrize("place", [*DEVICE_PLACES, "write:before", "write:after"])
def test_whoever_dies_anywhere_leaves_nothing_that_is_not_mended(tmp_path: Path, place: str) -> None:
    count, deaths = 1, 0
    while True:
        home = tmp_path / f"{count}"
        clock = Clock(START)

        def die() -> None:
            raise Died

        mine = Mine(place, count, die)
        with testing.engine(world=clock.world()) as engine:
            rig = opened(home, engine, clock, mine)
            prepare(rig)
            clock.move(timedelta(minutes=5))
            mine.is_armed = True
            try:
                live(rig)
            except Died:
                deaths += 1
                with closing(opened(home, engine, clock)) as after:
                    mended(after)
            else:
                break
        # Each place of the device, and every third write: they come in the same order again and again.
        count += 3 if place.startswith("write") else 1
    assert deaths >= 4


@pytest.mark.parametrize(
    ("place", "count"), [("ensure:after", 1), ("write:after", 4), ("remove:after", 2), ("write:before", 13)]
)
def test_a_process_that_is_killed_leaves_nothing_that_is_not_mended(
    tmp_path: Path, place: str, count: int
) -> None:
    root = Path(__file__).parents[2]
    ended = fork_server.run(
        [sys.executable, parental_child.__file__, tmp_path, place, str(count)],
        env={"PYTHONPATH": os.pathsep.join([str(root), *filter(None, sys.path)]), "PATH": ""},
    )
    assert ended.returncode == -signal.SIGKILL
    clock = Clock(START + timedelta(minutes=10))
    with (
        Engine.open(tmp_path / "parental.db", world=clock.world()) as engine,
        closing(opened(tmp_path, engine, clock)) as rig,
    ):
        mended(rig)
        assert engine.verify() == []
