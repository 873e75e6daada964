"""Firewalls: the list, how each is reached, and what keeps a failing device from delaying others.

Each device has one caller at a time, a rate it can bear, and a breaker: after three failures in a row it is paused
for half a minute, doubling to five, and then one caller tries whether it is healthy again. The breaker is kept with the
device, so every process heeds it. Where processes share the tables, gateways and simulated firewalls are driven by
the one that was declared to. Must hold: a device that was not asked raises NotAsked, so that it does not count as
an attempt. Elsewhere: what is asked of devices (enforcement/reconciler.py), who waits for which
(enforcement/queue.py), the drivers themselves (firewall/).
"""

import hashlib
import logging
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from tablewright.edge.errors import BadRequest, Conflict, Refused
from tablewright.mapping import Stale
from tablewright.systems.parental import design as d
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.enforcement.meters import Answer, Meters
from tablewright.systems.parental.errors import FirewallOfOneProcess, VersionConflict
from tablewright.systems.parental.firewall.cisco_fmc import CiscoFmc
from tablewright.systems.parental.firewall.device_secrets import WITH_SECRET, DeviceSecrets, Secret
from tablewright.systems.parental.firewall.driver import (
    FirewallDriver,
    FirewallMistake,
    Health,
    LearnsNames,
    RateLimited,
    Rejected,
    Unavailable,
)
from tablewright.systems.parental.firewall.endpoints import endpoint, is_local
from tablewright.systems.parental.firewall.fmc_client import Connection
from tablewright.systems.parental.firewall.nftables import NftablesFirewall, NftOptions, options_in
from tablewright.systems.parental.firewall.simulated import SimulatedFirewall
from tablewright.systems.parental.model import Device
from tablewright.systems.parental.repository import Repository
from tablewright.world import World

log = logging.getLogger("tablewright.parental")

T = TypeVar("T")
Drivers: TypeAlias = Callable[[Device], FirewallDriver]
FAILURES = 3
FIRST_REST, LONGEST_REST = timedelta(seconds=30), timedelta(minutes=5)
# How long one caller has to find out whether a device is well again.
PROBE = timedelta(seconds=30)
# No caller tries it while it is off (jobs.py); when it is switched on, everything that waits is due.
WHEN_OFF = timedelta(seconds=1)
CLOSE_SECONDS = 5.0
NOTE_OK_EVERY = timedelta(minutes=5)
PACE = timedelta(minutes=1)
# Calls a minute; an FMC takes 120 requests and a call is at least one. None: as fast as it answers.
RATES: dict[str, int | None] = {"cisco_fmc": 120, "nftables": None, "simulated": None}
# Kinds that cannot end a connection which stands: it is judged by the rules of when it began.
LETS_OPEN_ONES_GO_ON = frozenset(("cisco_fmc",))
# Kinds whose rules are on the machine of a process, or in its files.
OF_ONE_PROCESS = frozenset(("nftables", "simulated"))
# What can be part of a URL unescaped, and is not a path segment.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
# A network namespace, or what an operator notes of a simulated firewall.
_PLACE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,63}")
# Kinds that answer questions for names, and so can be told whose (model.DnsGuard).
GUARDS_DNS = frozenset(("nftables",))


class NotAsked(Unavailable):
    """The device was not asked: it is resting, switched off or has had enough for now. `until` then."""

    def __init__(self, words: str, until: datetime) -> None:
        self.until = until
        super().__init__(words)


class NoSuchDevice(Rejected):
    """There is no device of that name."""


@dataclass(slots=True)
class _Line:
    """The way to one device in this process."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    waiting: int = 0
    calls: deque[datetime] = field(default_factory=deque)
    quiet_until: datetime | None = None
    opened_for: tuple[object, ...] = ()
    driver: FirewallDriver | None = None


class Devices:
    """All firewalls. Close it to let go of what the drivers hold."""

    def __init__(
        self,
        repository: Repository,
        drivers: Drivers,
        secrets: DeviceSecrets | None = None,
        drives: Callable[[], bool] | None = lambda: True,
    ) -> None:
        """`secrets` says which address a secret may be sent to; without it nothing is checked in advance.

        `drives` says whether this process drives them; None if several do, so those of one process are refused.
        """
        self.meters = Meters()
        self._drives = drives
        self._repository, self._open, self._secrets = repository, drivers, secrets
        self._lines: dict[str, _Line] = {}
        self._lock = threading.Lock()

    @property
    def are_driven_here(self) -> bool:
        """Whether this process may call them now; no other does then, unless all are such that several can."""
        return self._drives is None or self._drives()

    def refuse_unshared(self, devices: Iterable[Device]) -> None:
        """FirewallOfOneProcess if several processes drive firewalls, and one of these is not such."""
        names = [one.device_id for one in devices if one.kind in OF_ONE_PROCESS]
        if names and self._drives is None:
            raise FirewallOfOneProcess(names)

    # --- which there are ---

    def all(self) -> list[Device]:
        return list(self._repository.db.all(d.all_devices()))

    def get(self, device_id: str) -> Device:
        return self._repository.found(self._row(device_id), "DEVICE")

    def add(self, device: Device) -> Device:
        """A new device; EXISTS if the name is taken."""
        if _ID.fullmatch(device.device_id) is None or device.device_id == "new":
            words = (
                "Use letters, digits, '-', '_' and '.', starting with a letter or digit. 'new' is reserved."
            )
            raise BadRequest("INVALID_DEVICE", words, "deviceId")
        self.refuse_unshared([device])
        self._check_reached(device)
        new = device.model_copy(update={"added_at": self._now()})
        self._repository.write("DEVICE", d.devices.create(new))
        return new

    def change(self, device_id: str, expected: int | None = None, **fields: Any) -> Device:
        """Other facts of a device; VERSION_CONFLICT if it is not the version the caller has seen.

        Another guard is told to the device at once; one that cannot be told now is told later (`guard_kept`).
        """
        if "guard" in fields:
            fields["guard"] = field_rules.dns_guard(fields["guard"])

        def changed(before: Device) -> Device:
            if before.leaving_at is not None:
                raise Conflict("DEVICE_LEAVING", "This firewall is being removed.")
            if fields.get("guard", before.guard) != before.guard and before.kind not in GUARDS_DNS:
                words = "This firewall has no DNS filter; only a Linux gateway has one."
                raise BadRequest("INVALID_DEVICE", words, "guard")
            # Who switches it on means that it is well: it is asked at once.
            fresh = (
                {"failures": 0, "breaker_until": None} if fields.get("enabled") and not before.enabled else {}
            )
            after = before.model_copy(update={**fresh, **fields})
            if fields.keys() & {"address", "access_policy_id", "secret_name"}:
                self._check_reached(after)
            return after

        device = self._rewrite(device_id, expected, changed)
        return self._guarding(device) if "guard" in fields else device

    def leave(self, device_id: str, expected: int | None = None) -> Device:
        """Begin to remove a device that is switched off; DEVICE_IN_USE if it is not. It cannot be switched on again."""

        def left(before: Device) -> Device:
            if before.leaving_at is not None:
                return before
            if before.enabled:
                words = "Switch this firewall off first; while it is on, rules are added to it."
                raise Conflict("DEVICE_IN_USE", words, "enabled")
            return before.model_copy(update={"leaving_at": self._now()})

        return self._rewrite(device_id, expected, left)

    def _rewrite(self, device_id: str, expected: int | None, changed: Callable[[Device], Device]) -> Device:
        """A device as `changed` makes it; VERSION_CONFLICT if it is not the version the caller has seen."""

        def attempt() -> Device:
            before = self.get(device_id)
            if expected is not None and before.version != expected:
                raise VersionConflict(before)
            after = changed(before)
            if after is before:
                return before
            write = d.devices.change(before, after)
            self._repository.write("DEVICE", write)
            assert write.item is not None
            return write.item

        return self._repository.retried(expected, attempt)

    def forget(self, device: Device) -> bool:
        """The end of a device that was leaving, as it is; whether it was not another's doing."""
        is_done = self._repository.try_write(d.devices.delete(device))
        with self._lock:
            line = self._lines.pop(device.device_id, None)
        if line is not None:
            _let_go(line)
        return is_done

    def keep_guard(self, device_id: str) -> Device:
        """Apply a device's DNS filter; any FirewallMistake if that cannot be done now."""
        device = self.get(device_id)
        self.call(device_id, lambda driver: driver.keep_guard())
        if device.guard_kept == device.guard:
            return device
        return self.change(device_id, guard_kept=device.guard)

    def _guarding(self, device: Device) -> Device:
        if device.guard_kept == device.guard or device.kind not in GUARDS_DNS:
            return device
        try:
            return self.keep_guard(device.device_id)
        except FirewallMistake as mistake:
            log.warning(
                "gateway not told its guard",
                extra={"device": device.device_id, "mistake": type(mistake).__name__},
            )
            return self.get(device.device_id)

    def _check_reached(self, device: Device) -> None:
        """Refuse a device without what it takes to reach one of its kind, or with the secret of another."""
        refuse_unreachable(device)
        if self._secrets is not None and device.kind in WITH_SECRET:
            self._secrets.refuse_elsewhere(device)

    # --- asking them ---

    def call(self, device_id: str, work: Callable[[FirewallDriver], T]) -> T:
        """Ask a device something, when it is our turn; any FirewallMistake, NotAsked if it was not asked at all."""
        line = self._line(device_id)
        with self._turn(line), self._measured(device_id):
            device = self._admitted(device_id, line)
            try:
                answer = work(self._driver(device, line))
            except RateLimited as mistake:
                line.quiet_until = self._now() + timedelta(seconds=mistake.retry_after)
                raise
            except Unavailable as mistake:
                self._failed(device, mistake)
                raise
            except FirewallMistake:
                self._answered(device)  # it says no: so it is there
                raise
            self._answered(device)
            return answer

    def try_now(self, device_id: str) -> None:
        """End the rest of a device after failures: the next caller asks it, as one does at the end of a rest."""
        device, now = self._row(device_id), self._now()
        if device is not None and device.breaker_until is not None and device.breaker_until > now:
            self._note(device, breaker_until=now)

    def ends_connections(self, device_id: str) -> bool:
        """Whether a new rule cuts open connections; on some devices they continue until they end."""
        device = self._row(device_id)
        return device is None or device.kind not in LETS_OPEN_ONES_GO_ON

    def needs_deploy(self, device_id: str) -> bool:
        """Whether changes of a device take effect with a deployment only."""
        device = self._row(device_id)
        return device is not None and self._opened(device).needs_deploy

    def learns_names(self, device_id: str) -> bool:
        """Whether a device has to be told names before it can block them."""
        return isinstance(self._opened(self.get(device_id)), LearnsNames)

    def needs_no_names(self, device_id: str) -> bool:
        """Whether it is known, without waiting for anything, that a device has no use for names."""
        driver = self._line(device_id).driver
        return driver is not None and not isinstance(driver, LearnsNames)

    def simulated(self, device_id: str) -> SimulatedFirewall | None:
        """The device itself, if it is simulated: to inject faults."""
        driver = self._opened(self.get(device_id))
        return driver if isinstance(driver, SimulatedFirewall) else None

    def health(self, device_id: str) -> Health:
        """How a device says it is; asked even while it rests, and what it says is noted."""
        device, line = self.get(device_id), self._line(device_id)
        with self._turn(line):
            try:
                told = self._driver(device, line).health()
            except FirewallMistake as mistake:
                told = Health(is_ok=False, detail=str(mistake))
            if told.is_ok:
                self._answered(device)
            return told

    def calls_lately(self, device_id: str) -> int:
        """How often it was asked in the last minute, by this process."""
        since = self._now() - PACE
        return sum(at > since for at in tuple(self._line(device_id).calls))

    def waiting(self, device_id: str) -> int:
        """How many callers of this process wait for their turn or have it."""
        return self._line(device_id).waiting

    def close(self) -> None:
        with self._lock:
            for line in self._lines.values():
                _let_go(line)

    # --- turns ---

    def _line(self, device_id: str) -> _Line:
        with self._lock:
            return self._lines.setdefault(device_id, _Line())

    @contextmanager
    def _turn(self, line: _Line) -> Iterator[None]:
        with self._lock:
            line.waiting += 1
        try:
            with line.lock:
                yield
        finally:
            with self._lock:
                line.waiting -= 1

    @contextmanager
    def _measured(self, device_id: str) -> Iterator[None]:
        began = time.monotonic()
        answer: Answer = "done"
        try:
            yield
        except NoSuchDevice:
            # Anybody can name a device that is not there: nothing is kept of those.
            device_id = ""
            raise
        except FirewallMistake as mistake:
            answer = _answer(mistake)
            raise
        finally:
            if device_id:
                self.meters.called(device_id, answer, time.monotonic() - began)

    def _opened(self, device: Device) -> FirewallDriver:
        """The driver, without a turn: it is not asked anything. Waits only if it has to be opened."""
        line = self._line(device.device_id)
        driver = line.driver
        if driver is None:
            with line.lock:
                driver = self._driver(device, line)
        return driver

    def _driver(self, device: Device, line: _Line) -> FirewallDriver:
        """The driver, opened again if the device's address or secret changed."""
        self._refuse_elsewhere()
        how = (device.kind, device.address, device.access_policy_id, device.secret_name, device.guard)
        if line.driver is None or line.opened_for != how:
            if line.driver is not None:
                line.driver.close()
            line.driver, line.opened_for = self._open(device), how
        return line.driver

    # --- may it be asked? ---

    def _admitted(self, device_id: str, line: _Line) -> Device:
        self._refuse_elsewhere()
        now, device = self._now(), self._row(device_id)
        if device is None:
            raise NoSuchDevice(f"there is no firewall {device_id}")
        if not device.enabled:
            raise NotAsked("the firewall is switched off", now + WHEN_OFF)
        if device.breaker_until is not None:
            device = self._probing(device, now)
        self._paced(device, line, now)
        return device

    def _refuse_elsewhere(self) -> None:
        if not self.are_driven_here:
            raise NotAsked("another process drives the firewalls", self._now() + WHEN_OFF)

    def _probing(self, device: Device, now: datetime) -> Device:
        """Of all who wait for a device to be well again, one tries; its rest is prolonged for the others."""
        until = device.breaker_until
        assert until is not None
        if now < until:
            raise NotAsked(f"the firewall does not respond: {device.last_error}", until)
        write = d.devices.change(device, device.model_copy(update={"breaker_until": now + PROBE}))
        try:
            self._repository.db.write(write)
        except Stale:
            raise NotAsked(
                "the firewall does not respond; another process is trying it", now + PROBE
            ) from None
        assert write.item is not None
        return write.item

    def _paced(self, device: Device, line: _Line, now: datetime) -> None:
        if line.quiet_until is not None and now < line.quiet_until:
            raise NotAsked("the firewall accepts no more requests for now", line.quiet_until)
        rate = RATES[device.kind]
        while line.calls and line.calls[0] <= now - PACE:
            line.calls.popleft()
        if rate is not None and len(line.calls) >= rate:
            raise NotAsked("the firewall's request limit is reached for now", line.calls[0] + PACE)
        line.calls.append(now)

    # --- how it went ---

    def _failed(self, device: Device, mistake: FirewallMistake) -> None:
        failures = device.failures + 1
        rest = None
        if failures >= FAILURES:
            rest = self._now() + min(FIRST_REST * 2 ** min(failures - FAILURES, 10), LONGEST_REST)
            log.warning(
                "firewall paused after failures", extra={"device": device.device_id, "failures": failures}
            )
        self._note(device, failures=failures, breaker_until=rest, last_error=str(mistake))

    def _answered(self, device: Device) -> None:
        now = self._now()
        is_news = device.failures > 0 or device.breaker_until is not None
        if is_news or device.last_ok_at is None or now - device.last_ok_at >= NOTE_OK_EVERY:
            self._note(device, failures=0, breaker_until=None, last_error=None, last_ok_at=now)

    def _note(self, device: Device, **fields: Any) -> None:
        # Another process that wrote first saw the same device at the same time.
        with suppress(Stale):
            self._repository.db.write(d.devices.change(device, device.model_copy(update=fields)))

    def _row(self, device_id: str) -> Device | None:
        return self._repository.db.one(d.devices.get(device_id), consistent=True)

    def _now(self) -> datetime:
        return self._repository.now()


def _let_go(line: _Line) -> None:
    # One that hangs is let go of all the same.
    has_turn = line.lock.acquire(timeout=CLOSE_SECONDS)
    try:
        if line.driver is not None:
            line.driver.close()
        line.driver = None
    finally:
        if has_turn:
            line.lock.release()


def refuse_unreachable(device: Device) -> None:
    """INVALID_DEVICE without what it takes to reach a device of its kind; INVALID_ADDRESS for a malformed address."""
    if device.kind != "cisco_fmc":
        if device.address and _PLACE.fullmatch(device.address) is None:
            words = "Use only letters, digits, '.', '-', '_' and ':', or leave this empty."
            raise Refused("INVALID_ADDRESS", words, "address")
        return
    if not device.address.strip():
        raise BadRequest("INVALID_DEVICE", "Enter the address of this FMC: host or host:port.", "address")
    if not device.access_policy_id.strip():
        words = "Enter the ID of the access policy on this FMC that gets our rules."
        raise BadRequest("INVALID_DEVICE", words, "accessPolicyId")
    try:
        endpoint(device.address)
    except FirewallMistake as mistake:
        raise Refused("INVALID_ADDRESS", f"{str(mistake).capitalize()}.", "address") from None


def _answer(mistake: FirewallMistake) -> Answer:
    match mistake:
        case NotAsked():
            return "not asked"
        case RateLimited():
            return "limited"
        case Unavailable():
            return "unavailable"
        case _:
            return "refused"


def is_well(device: Device) -> bool:
    """Whether a device answered when it was last asked."""
    return device.failures == 0 and device.breaker_until is None


def open_driver(home: Path, world: World, secret_of: Callable[[Device], Secret]) -> Drivers:
    """How devices are reached, by their kind. What drivers keep is below `home`, a directory for each device.

    `secret_of` gives what a device is entered with, if its address is the one that the secret is for. Of an nftables
    gateway, `address` is the network namespace it is in, if it is in one.
    """

    def opened(device: Device) -> FirewallDriver:
        match device.kind:
            case "simulated":
                return SimulatedFirewall(world, home / _directory(device) / "rules.jsonl")
            case "nftables":
                return NftablesFirewall(gateway_options(home, device))
            case "cisco_fmc":
                secret = secret_of(device)
                reached = Connection(
                    device.address, secret.user, secret.password, may_be_local=is_local(secret.endpoint.host)
                )
                return CiscoFmc(reached, device.access_policy_id, world)

    return opened


def gateway_options(home: Path, device: Device) -> NftOptions:
    """How an nftables gateway is driven and heard; its directory may hold a file that says more (nftables.py)."""
    return options_in(home / _directory(device), device.address or None, device.guard)


def _directory(device: Device) -> str:
    """A name that is one place below home, whatever a device is called."""
    shown = re.sub(r"[^A-Za-z0-9_-]", "-", device.device_id)
    return f"{shown}-{hashlib.sha256(device.device_id.encode()).hexdigest()[:8]}"
