"""A firewall that is not there: rules in memory or a file, faults on demand, and an answer to "would that be blocked?".

It is the embedded default, and what the reconciler is tested with. Must hold: it keeps the contract of every driver
(driver.py); what it answered it remembers, also after the process died (with a file); all that goes wrong does so by
the World's chance and clock, so a run can be repeated.

The file is a list of changes, one JSON object a line, and is written by one process at a time; a line torn by a crash
is as if it had never been.
"""

import json
import os
import threading
import time
from collections import deque
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
    FirewallDriver,
    FirewallMistake,
    Flow,
    Health,
    PortOf,
    RateLimited,
    Rejected,
    Rule,
    Unavailable,
    stops,
)
from tablewright.world import World

VERSION = "simulated 1"


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


class SimulatedFirewall(FirewallDriver):
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
        self._calls: deque[datetime] = deque()
        self._next: deque[FirewallMistake] = deque()
        self._path = path
        if path is not None:
            _read(path, self._state)

    # --- the driver ---

    def ensure(self, rule: Rule) -> DeviceRule:
        with self._call("ensure") as state:
            if rule.label in self.faults.rejected_labels:
                raise Rejected(f"the device refuses rules labelled {rule.label}")
            id = state.ids.get(rule.name) or self._world.new_id()
            self._change({"ensure": id, "rule": asdict(rule)})
            return self._device_rule(id)

    def remove(self, device_rule_id: str) -> None:
        with self._call("remove") as state:
            if device_rule_id in state.rules:
                self._change({"remove": device_rule_id})

    def get(self, device_rule_id: str) -> DeviceRule | None:
        with self._call("get") as state:
            return self._device_rule(device_rule_id) if device_rule_id in state.rules else None

    def list(self, prefix: str = PREFIX) -> Sequence[DeviceRule]:
        """All rules whose name begins so, by name."""
        with self._call("list") as state:
            found = [
                self._device_rule(id) for id, rule in state.rules.items() if rule.name.startswith(prefix)
            ]
        return sorted(found, key=lambda rule: rule.name)

    def deploy(self) -> Deployed:
        """Make what was changed take effect, if the device was opened as one that needs that."""
        with self._call("deploy") as state:
            if not self.needs_deploy or state.running == state.rules:
                return Deployed(was_needed=False)
            self._change({"deploy": True})
            return Deployed(was_needed=True)

    def health(self) -> Health:
        """How the device is; a device that is down says so instead of raising."""
        try:
            with self._call("health") as state:
                return Health(is_ok=True, version=VERSION, detail=f"{len(state.rules)} rules")
        except FirewallMistake as mistake:
            return Health(is_ok=False, version=VERSION, detail=str(mistake))

    # --- what only a simulation has ---

    def fail_next(self, *mistakes: FirewallMistake) -> None:
        """Let the next calls fail so, one each."""
        with self._lock:
            self._next.extend(mistakes)

    def is_blocked(self, flow: Flow) -> bool:
        """Whether the device would stop this flow now."""
        with self._lock:
            return any(stops(rule, flow) for rule in self._state.running.values())

    def wipe(self) -> None:
        """Lose every rule, as a device that was replaced."""
        with self._lock:
            for id in tuple(self._state.rules):
                self._change({"remove": id, "live": True})

    # --- inside ---

    @contextmanager
    def _call(self, name: str) -> Iterator[_State]:
        """One request over the network: it may be slow, refused, or answered into the void."""
        if self.faults.latency:
            self._sleep(self.faults.latency)
        with self._lock:
            self._may_fail()
            is_lost = self.faults.lost_answers > 0 and self._world.jitter() < self.faults.lost_answers
            self.at(f"{name}:before")
            yield self._state
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

    def _change(self, change: dict[str, Any]) -> None:
        """Remember first, then do: what a process that dies in between did is done when the file is read."""
        change = change if self.needs_deploy else {**change, "live": True}
        if self._path is not None:
            with open(self._path, "a") as file:
                file.write(_line(change))
        _apply(self._state, change)

    def _device_rule(self, id: str) -> DeviceRule:
        rule = self._state.rules[id]
        in_force = "yes" if self._state.running.get(id) == rule else "not deployed"
        return DeviceRule(
            id=id,
            name=rule.name,
            source=rule.source,
            digest=rule.digest,
            details={"inForce": in_force, "label": rule.label},
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


def _read(path: Path, state: _State) -> None:
    """Read the file of a device into its state, and rewrite it without what is past."""
    private_directory(path.parent)
    for line in path.read_text().splitlines(keepends=True) if path.exists() else ():
        if line.endswith("\n"):
            _apply(state, json.loads(line))
    fresh = path.with_suffix(".new")
    with open(private_file(fresh, os.O_WRONLY | os.O_TRUNC), "w") as file:
        file.writelines(_line(change) for change in _changes(state))
    fresh.replace(path)


def _changes(state: _State) -> Iterator[dict[str, Any]]:
    """The changes that lead to a state: what is in force first, then what was not deployed."""
    yield from ({"ensure": id, "rule": asdict(rule)} for id, rule in state.running.items())
    yield {"deploy": True}
    yield from ({"remove": id} for id in state.running if id not in state.rules)
    for id, rule in state.rules.items():
        if state.running.get(id) != rule:
            yield {"ensure": id, "rule": asdict(rule)}


def _line(change: dict[str, Any]) -> str:
    return json.dumps(change, separators=(",", ":")) + "\n"
