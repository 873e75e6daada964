"""How enforcement is doing, for operators and their monitors: by device and by stream, as numbers and as text.

What is in the tables holds for everybody; what was measured (meters.py) is of this process. Must hold: nothing here
names a child or an address.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate, islice
from operator import itemgetter
from typing import Any

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, Metric, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

from tablewright.mapping import Consumer
from tablewright.systems.parental import design as d
from tablewright.systems.parental.enforcement.dispatch import Parts
from tablewright.systems.parental.enforcement.history import rule_of
from tablewright.systems.parental.enforcement.meters import BOUNDS, Measured, Times
from tablewright.systems.parental.enforcement.plan import NEVER
from tablewright.systems.parental.enforcement.queue import Backlog
from tablewright.systems.parental.firewall.devices import RATES, is_well
from tablewright.systems.parental.model import Device, OpenStatus, RuleMapping

# Every active rule is to be compared with its device within this (PC-43).
VERIFIED_WITHIN = timedelta(minutes=30)
# What is counted one by one is counted so far and no further.
COUNTED = 1000
NO_BACKLOG = Backlog()
CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
_PREFIX = "tablewright_parental_"


@dataclass(frozen=True, slots=True)
class DeviceFigures:
    """One device. `in_doubt`: not known whether they are there; `unverified`: active, and not compared for long.

    `queued`: children for whom something is to be looked at in this process; `overdue`: how long ago it was to be done
    for the first of them.
    """

    device: Device
    rules: Mapping[str, int]
    in_doubt: int
    unverified: int
    failing: int
    failing_since: datetime | None
    waiting: int
    queued: int
    overdue: timedelta
    calls_lately: int
    calls_a_minute: int | None
    asked: int
    failed: int
    call_times: Times
    enforced: Times

    @property
    def failure_ratio(self) -> float | None:
        return self.failed / self.asked if self.asked else None

    @property
    def is_well(self) -> bool:
        return self.device.enabled and is_well(self.device)


@dataclass(frozen=True, slots=True)
class Figures:
    """All of it at one moment. `lag` is how far behind each table's follower is; `failures` are rules, not
    attempts; of attempts, and of `due`, COUNTED are read.

    `due`: children who are to be looked at by now, in whatever process; `overdue`: since how long the first of them.
    """

    devices: tuple[DeviceFigures, ...]
    failures: Mapping[OpenStatus, int]
    lag: Mapping[str, timedelta]
    due: int
    overdue: timedelta
    measured: Measured

    @property
    def enforced(self) -> Times:
        return sum((one.enforced for one in self.devices), Times())

    @property
    def longest_lag(self) -> timedelta:
        return max(self.lag.values(), default=timedelta())


def read(parental: Parts, consumers: Iterable[Consumer]) -> Figures:
    """As it is now; `consumers` are the followers of the tables, for how far behind they are (on_change.consumers)."""
    repository = parental.repository
    measured = parental.devices.meters.measured()
    statuses: tuple[OpenStatus, ...] = ("failed", "pending")
    now = repository.now()
    wakes = [wake.at for wake in islice(repository.db.all(d.wakes_due(until=now)), COUNTED)]
    return Figures(
        tuple(of_device(parental, device, measured) for device in parental.devices.all()),
        {
            status: len(
                {
                    rule_of(one)
                    for one in islice(repository.db.all(d.actions_by_status(status=status)), COUNTED)
                }
            )
            for status in statuses
        },
        {consumer.table: consumer.lag() for consumer in consumers},
        len(wakes),
        now - min(wakes, default=now),
        measured,
    )


def of_device(parental: Parts, device: Device, measured: Measured) -> DeviceFigures:
    """One device as it is now."""
    id = device.device_id
    rules = parental.repository.db.all(d.rules_of_device(device_id=id))
    return device_figures(
        device,
        rules,
        measured,
        parental.repository.now(),
        waiting=parental.devices.waiting(id),
        backlog=parental.queues.backlog(id),
        calls_lately=parental.devices.calls_lately(id),
    )


def device_figures(
    device: Device,
    rules: Iterable[RuleMapping],
    measured: Measured,
    now: datetime,
    *,
    waiting: int = 0,
    backlog: Backlog = NO_BACKLOG,
    calls_lately: int = 0,
) -> DeviceFigures:
    """The figures of a device from its rules and what was measured. Pure."""
    counts: Counter[str] = Counter()
    in_doubt = unverified = 0
    failing = []
    for rule in rules:
        counts[rule.status] += 1
        in_doubt += rule.last_verified == NEVER
        unverified += rule.status == "active" and now - rule.last_verified > VERIFIED_WITHIN
        if rule.failing_since is not None:
            failing.append(rule.failing_since)
    id = device.device_id
    return DeviceFigures(
        device=device,
        rules=dict(counts),
        in_doubt=in_doubt,
        unverified=unverified,
        failing=len(failing),
        failing_since=min(failing, default=None),
        waiting=waiting,
        queued=backlog.count,
        overdue=max(now - (backlog.since or now), timedelta()),
        calls_lately=calls_lately,
        calls_a_minute=RATES[device.kind],
        asked=measured.calls_of(id),
        failed=measured.calls_of(id, "unavailable", "limited", "refused"),
        call_times=measured.call_times.get(id, Times()),
        enforced=measured.enforced_on(id),
    )


# --- told ---


def as_json(figures: Figures) -> dict[str, Any]:
    """The figures as an answer of the API."""
    return {
        "failures": dict(figures.failures),
        "streamLagSeconds": {table: lag.total_seconds() for table, lag in figures.lag.items()},
        "due": figures.due,
        "overdueSeconds": figures.overdue.total_seconds(),
        "enforcement": _times_json(figures.enforced),
        "devices": [
            {
                "deviceId": one.device.device_id,
                "isWell": one.is_well,
                "rules": dict(one.rules),
                "inDoubt": one.in_doubt,
                "unverified": one.unverified,
                "failing": one.failing,
                "waiting": one.waiting,
                "queued": one.queued,
                "overdueSeconds": one.overdue.total_seconds(),
                "calls": one.asked,
                "failedCalls": one.failed,
                "callSeconds": _times_json(one.call_times),
                "enforcement": _times_json(one.enforced),
            }
            for one in figures.devices
        ],
    }


def _times_json(times: Times) -> dict[str, float | int | None]:
    return {"count": times.count, "p50": times.share(0.5), "p95": times.share(0.95), "most": times.most}


def as_prometheus(figures: Figures) -> bytes:
    """The figures in Prometheus' text format (0.0.4)."""
    return generate_latest(_Collector(figures))


# Gauges of a device: name, meaning, value.
_OF_DEVICE: tuple[tuple[str, str, Callable[[DeviceFigures], float]], ...] = (
    ("rules_in_doubt", "Rules that are not confirmed", lambda one: one.in_doubt),
    ("rules_unverified", "Active rules not compared with their device for 30 minutes", lambda one: one.unverified),
    ("rules_failing", "Rules that could not be added or removed", lambda one: one.failing),
    ("device_up", "1 if the device answered the last call", lambda one: one.is_well),
    ("device_waiting", "Callers in this process waiting for the device", lambda one: one.waiting),
    ("device_queued", "Children waiting for the device in this process, or being processed", lambda one: one.queued),
    ("device_overdue_seconds", "How long the first of them has been overdue",
     lambda one: one.overdue.total_seconds()),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Collector:
    """What prometheus_client prints."""

    figures: Figures

    def collect(self) -> Iterator[Metric]:
        figures, measured = self.figures, self.figures.measured
        rules = [
            ((one.device.device_id, status), count)
            for one in figures.devices
            for status, count in sorted(one.rules.items())
        ]
        yield _gauge("rules", "Rules by device and status", rules, "device", "status")
        for name, about, value in _OF_DEVICE:
            by_device = [((one.device.device_id,), value(one)) for one in figures.devices]
            yield _gauge(name, about, by_device, "device")
        yield _gauge("due", f"Children due for a check, at most {COUNTED}", [((), figures.due)])
        overdue = figures.overdue.total_seconds()
        yield _gauge("overdue_seconds", "How long the first of them has been due", [((), overdue)])
        calls = CounterMetricFamily(
            f"{_PREFIX}device_calls", "Calls to devices by result.", labels=["device", "answer"]
        )
        for key, count in sorted(measured.calls.items()):
            calls.add_metric(key, count)
        yield calls
        failures = [((status,), count) for status, count in figures.failures.items()]
        yield _gauge("failures", f"Open failures, at most {COUNTED}", failures, "status")
        lag = [((table,), behind.total_seconds()) for table, behind in sorted(figures.lag.items())]
        yield _gauge("stream_lag_seconds", "How far a table's change feed is behind", lag, "table")
        times = [((id,), times) for id, times in sorted(measured.call_times.items())]
        yield _histogram("device_call_seconds", "Response time of devices", times, "device")
        about = "Time from a change to the rule on the device"
        enforced = sorted(measured.enforced.items(), key=itemgetter(0))
        yield _histogram("enforcement_seconds", about, enforced, "device", "cause")


def _gauge(
    name: str, about: str, values: Iterable[tuple[Sequence[str], float]], *labels: str
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"{_PREFIX}{name}", f"{about}.", labels=labels)
    for texts, value in values:
        family.add_metric(texts, value)
    return family


def _histogram(
    name: str, about: str, values: Iterable[tuple[Sequence[str], Times]], *labels: str
) -> HistogramMetricFamily:
    family = HistogramMetricFamily(f"{_PREFIX}{name}", f"{about}.", labels=labels)
    bounds = (*(f"{one:g}" for one in BOUNDS), "+Inf")
    for texts, times in values:
        counts = accumulate(times.spread)
        family.add_metric(texts, list(zip(bounds, counts, strict=True)), times.sum)
    return family
