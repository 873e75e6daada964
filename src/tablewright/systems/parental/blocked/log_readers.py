"""What gateways stopped, on its way to the parents' dashboard: the kernel's log of each nftables device is read here.

A batch that could not be counted is tried again under the same id, so it is counted once (ingest.py). Must hold: a
device that cannot be heard keeps no other from being heard; what waits is bounded, and what is given up is told to the
log. Elsewhere: reading the log (firewall/nflog.py), when this runs (the app's schedule).
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeAlias

from tablewright.systems.parental.blocked.events import EVENTS_PER_BATCH, Batch, Event, event_of
from tablewright.systems.parental.blocked.ingest import Ingest
from tablewright.systems.parental.family.notices import Notices
from tablewright.systems.parental.firewall.devices import Devices, gateway_options
from tablewright.systems.parental.firewall.driver import BlockedFlow, FirewallMistake
from tablewright.systems.parental.firewall.nflog import NflogReader
from tablewright.systems.parental.model import Device
from tablewright.systems.parental.repository import Repository
from tablewright.world import World

log = logging.getLogger("tablewright.parental")

# How often it is looked which devices there are, and tried to hear those that could not be heard.
LOOK_EVERY = timedelta(minutes=1)
MOST_WAITING = 200
LISTEN_SECONDS = 1.0


class Reader(Protocol):
    """An open ear at a device (nflog.NflogReader)."""

    def read(self, seconds: float = ...) -> list[BlockedFlow]: ...
    def close(self) -> None: ...


# How a device is listened to.
Listen: TypeAlias = Callable[[Device], Reader]


class Parts(Protocol):
    """What sensors need of parental controls."""

    @property
    def repository(self) -> Repository: ...
    @property
    def devices(self) -> Devices: ...
    @property
    def ingest(self) -> Ingest: ...
    @property
    def notices(self) -> Notices: ...


class Sensors:
    """The ears of one process, one for each gateway. Close it to let go of them."""

    def __init__(
        self,
        world: World,
        devices: Callable[[], Sequence[Device]],
        listen: Listen,
        take: Callable[[Batch], object],
    ) -> None:
        self._world, self._devices, self._listen, self._take = world, devices, listen, take
        self._readers: dict[str, Reader] = {}
        self._waiting: deque[Batch] = deque()
        self._looked: datetime | None = None

    def step(self, seconds: float = LISTEN_SECONDS) -> int:
        """Hear every gateway for a while and count what it stopped; how many connections that were."""
        self._look()
        heard: list[Event] = []
        for device_id in tuple(self._readers):
            flows = self._hear(device_id, seconds / len(self._readers))
            heard += [event_of(flow, device_id) for flow in flows]
        for start in range(0, len(heard), EVENTS_PER_BATCH):
            some = heard[start : start + EVENTS_PER_BATCH]
            self._waiting.append(Batch(f"nflog/{self._world.new_id()}", some))
        self._deliver()
        return len(heard)

    def close(self) -> None:
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()

    @property
    def is_listening(self) -> bool:
        return bool(self._readers)

    def _look(self) -> None:
        now = self._world.now()
        if self._looked is not None and now - self._looked < LOOK_EVERY:
            return
        self._looked = now
        wanted = {one.device_id: one for one in self._devices() if one.kind == "nftables" and one.enabled}
        for device_id in self._readers.keys() - wanted.keys():
            self._readers.pop(device_id).close()
        for device_id in wanted.keys() - self._readers.keys():
            try:
                self._readers[device_id] = self._listen(wanted[device_id])
            except FirewallMistake as mistake:
                log.warning("gateway cannot be heard", extra={"device": device_id, "why": str(mistake)})

    def _hear(self, device_id: str, seconds: float) -> list[BlockedFlow]:
        try:
            return self._readers[device_id].read(seconds)
        except FirewallMistake as mistake:
            log.warning("gateway cannot be heard", extra={"device": device_id, "why": str(mistake)})
            self._readers.pop(device_id).close()
            return []

    def _deliver(self) -> None:
        while self._waiting:
            try:
                self._take(self._waiting[0])
            except Exception as error:  # whatever it is, the events are kept and tried again
                log.warning("blocked requests wait", extra={"batches": len(self._waiting), "why": str(error)})
                break
            self._waiting.popleft()
        while len(self._waiting) > MOST_WAITING:
            given_up = self._waiting.popleft()
            log.error("blocked requests given up", extra={"events": len(given_up.events)})


def open_log_readers(home: Path, world: World) -> Listen:
    """How gateways are listened to, by what is kept of them below `home`, where their drivers keep it."""

    def listen(device: Device) -> Reader:
        options = gateway_options(home, device)
        return NflogReader(world, options.log_group, options.namespace)

    return listen


def watch(parental: Parts, listen: Listen, stop: threading.Event) -> None:
    """Hear all gateways until told to stop."""

    def take(batch: Batch) -> None:
        # Who fails behind the counting counts nothing twice: the batch has its id.
        parental.notices.blocked_often(parental.ingest.take(batch).touched)

    sensors = Sensors(parental.repository.world, parental.devices.all, listen, take)
    try:
        while not stop.is_set():
            sensors.step()
            if not sensors.is_listening:
                stop.wait(LISTEN_SECONDS)
    finally:
        sensors.close()
