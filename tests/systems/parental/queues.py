"""Jobs as they run by themselves, in queues, and firewalls that answer no more: for tests of who waits for whom."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.systems.parental.rig import Rig

from tablewright.systems.parental.enforcement import due
from tablewright.systems.parental.firewall.simulated import SimulatedFirewall

PATIENCE = 60.0


class Hanging:
    """A firewall that answers no more, from the next call on, until it is let go."""

    def __init__(self, firewall: SimulatedFirewall) -> None:
        self.is_asked, self.go = threading.Event(), threading.Event()
        firewall.at = self._at

    def _at(self, place: str) -> None:
        if place.endswith(":before"):
            self.is_asked.set()
            assert self.go.wait(2 * PATIENCE)


def within(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


@contextmanager
def watched(rig: Rig, hanging: Hanging | None = None) -> Iterator[None]:
    """Everything that runs by itself each second, in its threads; what hangs is let go in the end."""
    stop = threading.Event()
    thread = threading.Thread(target=due.watch, args=(rig, stop, 0.02))
    thread.start()
    try:
        assert within(lambda: rig.queues.is_open)
        yield
    finally:
        if hanging is not None:
            hanging.go.set()
        stop.set()
        thread.join(PATIENCE)
    assert not thread.is_alive()
    assert [one.name for one in threading.enumerate() if one.name.startswith("tablewright-queue")] == []
