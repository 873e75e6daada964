"""A firewall that is not there: rules in memory or a file, faults on demand, and an answer to "would that be blocked?".

It is the embedded default, and what the reconciler is tested with. Must hold: it keeps the contract of every driver
(driver.py); what it answered it remembers, also after the process died (with a file); all that goes wrong does so by
the World's chance and clock, so a run can be repeated. Several processes may open one file. Hits are counted in memory,
as a device counts them: from its last start on.

The file is a list of changes, one JSON object a line; a line torn by a crash is as if it had never been.
"""

import fcntl
import json
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tablewright.private_files import private_directory, private_file
from tablewright.systems.parental.firewall.driver import (
    PREFIX,
    Deployed,
    DeviceRule,
    FirewallMistake,
    Health,
    PortOf,
    RateLimited,
    Rejected,
    Rule,
    Unavailable,
)
from tablewright.systems.parental.firewall.flows import BlockedFlow, Flow, stops
from tablewright.world import World

VERSION = "simulated 1"
REMEMBERED_FLOWS = 1000
# A file is rewritten when it is opened and most of it is history.
MAX_HISTORY = 1000


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong. Rates are chances from 0 to 1 of one call.

    `lost_answers`: the device does what it was asked, and the caller hears Unavailable: the fault that tells a
    reconciler from a script.
    """

    latency: float = 0.0
    failures: float = 0.0
    lost_answers: float = 0.0
    calls_per_minute: int | None = None
    is_down: bool = False
    rejected_labels: frozenset[str] = frozenset()


@dataclass(slots=True)
class _State:
    """What the device has: rules by id, ids by name, and which rules are in force."""

    rules: dict[str, Rule] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    running: dict[str, Rule] = field(default_factory=dict)


class SimulatedFirewall:
    """A device and the driver to it in one. Calls may come from any thread.

    `at` is called with the name of each place at which a process may die: "ensure:before", "ensure:after" and so on
    for remove and deploy. What it raises goes through to the caller, with the device's state as it is at that place.
    """

    def __init__(
        self,
        world: World,
        path: Path | None = None,
        *,
        faults: Faults | None = None,
        needs_deploy: bool = False,
        sleep: Callable[[float], None] = time.sleep,
        at: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.needs_deploy = needs_deploy
        self.faults = faults or Faults()
        self.at = at
        self._world = world
        self._sleep = sleep
        self._lock = threading.RLock()
        self._state = _State()
        self._hits: Counter[str] = Counter()
        self._seen: deque[BlockedFlow] = deque(maxlen=REMEMBERED_FLOWS)
        self._calls: deque[datetime] = deque()
        self._next: deque[FirewallMistake] = deque()
        self._journal = None if path is None else _Journal(path, self._state)

    # --- the driver ---

    def ensure(self, rule: Rule) -> DeviceRule:
        """Make the rule, or make the one of that name equal to it."""
        with self._call("ensure") as state:
            if rule.label in self.faults.rejected_labels:
                raise Rejected(f"the device refuses rules labelled {rule.label}")
            id = state.ids.get(rule.name) or self._world.new_id()
            self._change({"ensure": id, "rule": asdict(rule)})
            return self._told(id)

    def remove(self, device_rule_id: str) -> None:
        """Take a rule away; fine if there is none."""
        with self._call("remove") as state:
            if device_rule_id in state.rules:
                self._change({"remove": device_rule_id})

    def get(self, device_rule_id: str) -> DeviceRule | None:
        """A rule by the device's own id."""
        with self._call("get") as state:
            return self._told(device_rule_id) if device_rule_id in state.rules else None

    def list(self, prefix: str = PREFIX) -> Sequence[DeviceRule]:
        """All rules whose name begins so, by name."""
        with self._call("list") as state:
            found = [self._told(id) for id, rule in state.rules.items() if rule.name.startswith(prefix)]
        return sorted(found, key=lambda rule: rule.name)

    def deploy(self) -> Deployed:
        """Make what was changed take effect, if the device was opened as one that needs that."""
        with self._call("deploy") as state:
            if not self.needs_deploy or state.running == state.rules:
                return Deployed(was_needed=False)
            self._change({"deploy": True})
            return Deployed(was_needed=True, task=self._world.new_id())

    def health(self) -> Health:
        """How the device is; a device that is down says so instead of raising."""
        try:
            with self._call("health") as state:
                return Health(is_ok=True, version=VERSION, detail=f"{len(state.rules)} rules")
        except FirewallMistake as mistake:
            return Health(is_ok=False, version=VERSION, detail=str(mistake))

    def close(self) -> None:
        """Nothing is held open between calls; closing is part of being a driver."""

    # --- what only a simulation has ---

    def fail_next(self, *mistakes: FirewallMistake) -> None:
        """Let the next calls fail so, one each."""
        with self._lock:
            self._next.extend(mistakes)

    def is_blocked(self, flow: Flow) -> bool:
        """Whether the device would stop this flow now."""
        with self._reading() as state:
            return any(stops(rule, flow) for rule in state.running.values())

    def send(self, flow: Flow) -> bool:
        """Try a flow: counted and remembered if it is blocked. Whether it went through."""
        with self._reading() as state:
            hit = [rule for rule in state.running.values() if stops(rule, flow)]
            for rule in hit[:1]:
                self._hits[rule.name] += 1
                self._seen.append(_blocked(flow, rule, self._world.now()))
            return not hit

    def blocked_flows(self) -> tuple[BlockedFlow, ...]:
        """What was blocked lately, oldest first."""
        with self._lock:
            return tuple(self._seen)

    def wipe(self) -> None:
        """Lose every rule, as a device that was replaced."""
        with self._reading() as state:
            for id in tuple(state.rules):
                self._change({"remove": id, "live": True})

    # --- inside ---

    @contextmanager
    def _call(self, name: str) -> Iterator[_State]:
        """One request over the network: it may be slow, refused, or answered into the void."""
        if self.faults.latency:
            self._sleep(self.faults.latency)
        with self._reading() as state:
            self._may_fail()
            is_lost = self.faults.lost_answers > 0 and self._world.jitter() < self.faults.lost_answers
            self.at(f"{name}:before")
            yield state
            self.at(f"{name}:after")
        if is_lost:
            raise Unavailable("the device gave no answer")

    def _may_fail(self) -> None:
        if self.faults.is_down:
            raise Unavailable("the device is down")
        self._count_call()
        if self._next:
            raise self._next.popleft()
        if self.faults.failures > 0 and self._world.jitter() < self.faults.failures:
            raise Unavailable("the device failed")

    def _count_call(self) -> None:
        if self.faults.calls_per_minute is None:
            return
        now = self._world.now()
        while self._calls and self._calls[0] <= now - timedelta(minutes=1):
            self._calls.popleft()
        if len(self._calls) >= self.faults.calls_per_minute:
            raise RateLimited((self._calls[0] + timedelta(minutes=1) - now).total_seconds())
        self._calls.append(now)

    @contextmanager
    def _reading(self) -> Iterator[_State]:
        with self._lock:
            if self._journal is None:
                yield self._state
                return
            with self._journal.held():
                self._journal.catch_up()
                yield self._state

    def _change(self, change: dict[str, Any]) -> None:
        """Remember first, then do: what a process that dies in between did is done when the file is read."""
        change = change if self.needs_deploy else {**change, "live": True}
        if self._journal is not None:
            self._journal.append(change)
        _apply(self._state, change)

    def _told(self, id: str) -> DeviceRule:
        rule = self._state.rules[id]
        in_force = "yes" if self._state.running.get(id) == rule else "not deployed"
        return DeviceRule(
            id=id,
            name=rule.name,
            source=rule.source,
            digest=rule.digest,
            hits=self._hits[rule.name],
            details={"inForce": in_force, "label": rule.label},
        )


def _blocked(flow: Flow, rule: Rule, at: datetime) -> BlockedFlow:
    return BlockedFlow(
        at, rule.name, rule.label, flow.source, flow.destination or flow.name, flow.protocol, flow.port
    )


def _apply(state: _State, change: dict[str, Any]) -> None:
    """One line of the file, done."""
    match change:
        case {"ensure": str(id), "rule": dict(told)}:
            rule = _rule(told)
            state.rules[id], state.ids[rule.name] = rule, id
            if change.get("live"):
                state.running[id] = rule
        case {"remove": str(id)}:
            gone = state.rules.pop(id, None)
            if gone is not None:
                state.ids.pop(gone.name, None)
            if change.get("live"):
                state.running.pop(id, None)
        case {"deploy": _}:
            state.running = dict(state.rules)


def _rule(told: dict[str, Any]) -> Rule:
    lists = {name: tuple(told[name]) for name in ("domains", "ranges", "allowed_domains")}
    return Rule(**{**told, **lists, "ports": tuple(PortOf(**port) for port in told["ports"])})


class _Journal:
    """The file behind a device. Held by one process at a time; each reads what the others wrote before it acts."""

    def __init__(self, path: Path, state: _State) -> None:
        self._path = path
        self._state = state
        self._file = self._inode = -1
        self._read = 0
        private_directory(path.parent)
        with self.held():
            self.catch_up()
            self._shorten()

    @contextmanager
    def held(self) -> Iterator[None]:
        """The file, open and locked."""
        while True:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            # It may have been replaced by a shorter one while we waited for the lock.
            if os.path.exists(self._path) and os.path.samestat(os.fstat(self._file), os.stat(self._path)):
                break
            os.close(self._file)
        try:
            yield
        finally:
            os.close(self._file)

    def catch_up(self) -> None:
        """Do what others wrote since; all of it, if the file is another one by now."""
        status = os.fstat(self._file)
        if status.st_ino != self._inode:
            self._inode, self._read = status.st_ino, 0
            for table in (self._state.rules, self._state.ids, self._state.running):
                table.clear()
        whole, _, torn = os.pread(self._file, status.st_size - self._read, self._read).rpartition(b"\n")
        for line in whole.splitlines():
            _apply(self._state, json.loads(line))
        if torn:
            os.ftruncate(self._file, status.st_size - len(torn))
        self._read = status.st_size - len(torn)

    def append(self, change: dict[str, Any]) -> None:
        line = json.dumps(change, separators=(",", ":")).encode() + b"\n"
        os.write(self._file, line)
        self._read += len(line)

    def _shorten(self) -> None:
        """Write only what is, if most of the file is what was."""
        lines = os.pread(self._file, self._read, 0).count(b"\n")
        if lines < MAX_HISTORY + 2 * (len(self._state.rules) + len(self._state.running)):
            return
        changes: list[dict[str, Any]] = [
            *({"ensure": id, "rule": asdict(rule)} for id, rule in self._state.running.items()),
            {"deploy": True},
            *({"remove": id} for id in self._state.running if id not in self._state.rules),
            *(
                {"ensure": id, "rule": asdict(rule)}
                for id, rule in self._state.rules.items()
                if self._state.running.get(id) != rule
            ),
        ]
        shorter = self._path.with_suffix(".new")
        with open(private_file(shorter, os.O_WRONLY | os.O_TRUNC), "w") as file:
            file.writelines(json.dumps(change, separators=(",", ":")) + "\n" for change in changes)
        shorter.replace(self._path)
