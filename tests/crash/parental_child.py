"""The process that is killed while it enforces: `python parental_child.py DIR PLACE COUNT`.

It opens the database and the firewall's file in DIR, has a child's session start, move and its app blocked, and kills
itself when it comes to PLACE for the COUNTth time: a place of the device ("ensure:after") or of the database ("write").
Elsewhere: what must hold afterwards (test_parental_reconciler.py).
"""

import os
import signal
import sys
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.systems.parental.rig import ANNA, DEVICE, IP, OTHER_IP, START, Rig, closing, make_rig

from tablewright import Engine
from tablewright.client import Call, embedded
from tablewright.testing import Clock

WRITES = frozenset(("PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"))
Die = Callable[[], None]


class Mine:
    """Goes off at a place, the count-th time somebody comes by."""

    def __init__(self, place: str, count: int, die: Die) -> None:
        self.place, self.left, self.die = place, count, die
        self.is_armed = False

    def at(self, place: str) -> None:
        if self.is_armed and place == self.place:
            self.left -= 1
            if self.left == 0:
                self.die()

    def around(self, call: Call) -> Call:
        """The way to the database, with the mine before and after each write."""

        def mined(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
            if verb not in WRITES:
                return call(verb, request)
            self.at("write:before")
            answer = call(verb, request)
            self.at("write:after")
            return answer

        return mined


def opened(home: Path, engine: Engine, clock: Clock, mine: Mine | None = None) -> Rig:
    call = embedded(engine)
    rig = make_rig(
        call if mine is None else mine.around(call),
        clock,
        engine,
        path=lambda device: home / f"{device}.jsonl",
    )
    if mine is not None:
        rig.firewall.at = mine.at
    return rig


def prepare(rig: Rig) -> None:
    rig.child()
    rig.policy("TikTok", "Instagram")


def live(rig: Rig) -> None:
    """What happens to the child. Every step may be told again: events carry their own times and names."""
    minutes = [START + timedelta(minutes=number) for number in range(4)]
    moves: tuple[Callable[[], object], ...] = (
        lambda: rig.sessions.event("start", ANNA, "s1", ip=IP, device=DEVICE, at=minutes[0], once="e1"),
        lambda: rig.sessions.event("update-ip", ANNA, "s1", ip=OTHER_IP, at=minutes[1], once="e2"),
        lambda: rig.sessions.event("stop", ANNA, "s1", at=minutes[2], once="e3"),
        lambda: rig.sessions.event("start", ANNA, "s2", ip=IP, device=DEVICE, at=minutes[3], once="e4"),
    )
    for move in moves:
        move()
        rig.reconciler.reconcile(ANNA)


def main(home: Path, place: str, count: int) -> None:
    clock = Clock(START)
    mine = Mine(place, count, lambda: os.kill(os.getpid(), signal.SIGKILL))
    with (
        Engine.open(home / "parental.db", world=clock.world()) as engine,
        closing(opened(home, engine, clock, mine)) as rig,
    ):
        prepare(rig)
        clock.move(timedelta(minutes=5))
        mine.is_armed = True
        live(rig)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
