"""The states of a server's alarms: read, evaluated every minute, changed once.

Must hold: a change is a write on the version that was read, with everything that tells of it: of two processes that see
the same, one makes it. An alarm that cannot be evaluated does not keep others from it.
Elsewhere: the rules (evaluation.py), metrics of systems (published.py), who hears of it (notices.py).
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from tablewright.app.alarms.declared import DeclaredAlarm
from tablewright.app.alarms.design import (
    AlarmChange,
    AlarmState,
    alarm_changes,
    alarm_states,
    changes_of,
    states_of,
)
from tablewright.app.alarms.evaluation import MINUTE, MinutePoint, State, Verdict, evaluate, range_of
from tablewright.app.alarms.notices import AlarmNotices
from tablewright.app.alarms.published import PublishedMetrics
from tablewright.design import Write
from tablewright.engine.errors import fault
from tablewright.engine.metrics.collector import MetricsCollector
from tablewright.kit.jobs import Job
from tablewright.mapping import AlreadyExists, Db, Stale
from tablewright.world import World

log = logging.getLogger("tablewright.alarms")

EVERY = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class AlarmStatus:
    """An alarm with its state. Without a stored state it was never evaluated, or never had data."""

    declared: DeclaredAlarm
    stored: AlarmState | None

    @property
    def state(self) -> State:
        return self.stored.state if self.stored is not None else "INSUFFICIENT_DATA"


@dataclass(frozen=True)
class Alarms:
    """All alarms of one process."""

    db: Db
    world: World
    declared: Sequence[DeclaredAlarm]
    # None if the tables are on an endpoint, which has metrics of its own.
    metrics: MetricsCollector | None
    published: PublishedMetrics
    notices: AlarmNotices

    def run(self) -> int:
        """Evaluate every alarm; how many changed. What tells of them is written, and sent by others (notices.py)."""
        self.published.flush()
        before, known = self._stored(), self._known()
        changed = 0
        for each in self.declared:
            try:
                changed += self._step(each, before.get((each.system, each.name)), known(each))
            except Exception as mistake:
                facts = {"system": each.system, "alarm": each.name}
                log.error("an alarm was not evaluated", extra={**facts, **fault(mistake)})
        return changed

    def status(self) -> list[AlarmStatus]:
        """Every alarm with its state, in the order of the designs."""
        stored = self._stored()
        return [AlarmStatus(each, stored.get((each.system, each.name))) for each in self.declared]

    def changes(self, declared: DeclaredAlarm) -> list[AlarmChange]:
        """When it changed lately, the newest first."""
        return list(self.db.page(changes_of(system=declared.system, name=declared.name)).items)

    def points(self, declared: DeclaredAlarm, since: datetime, until: datetime) -> list[MinutePoint]:
        """The points of an alarm's metric in whole minutes."""
        alarm = declared.alarm
        if not declared.is_of_store:
            return self.published.points(declared.system, alarm.metric, since, until)
        if self.metrics is None:
            return []
        detail = declared.series.region or alarm.operation or None
        found = self.metrics.series(
            alarm.metric, table=declared.table, index=alarm.index, operation=detail, since=since, until=until,
            period=MINUTE,
        )  # fmt: skip
        return [MinutePoint(each.at, each.samples, each.sum, each.least, each.most) for each in found]

    # --- parts ---

    def _stored(self) -> dict[tuple[str, str], AlarmState]:
        systems = dict.fromkeys(each.system for each in self.declared)
        found = (state for system in systems for state in self.db.all(states_of(system=system)))
        return {(state.system, state.name): state for state in found}

    def _known(self) -> Callable[[DeclaredAlarm], bool]:
        """Whether a metric has any points. Most alarms are on what has never happened: reading it would be in vain."""
        kept = self.metrics.known() if self.metrics is not None else ()
        series = {(each.metric, each.table, each.index_name) for each in kept}
        return lambda each: (
            not each.is_of_store or (each.alarm.metric, each.table, each.alarm.index) in series
        )

    def _step(self, declared: DeclaredAlarm, before: AlarmState | None, has_points: bool) -> bool:
        now = self.world.now()
        current: State = before.state if before is not None else "INSUFFICIENT_DATA"
        points = self.points(declared, *range_of(declared.alarm, now)) if has_points else []
        verdict = evaluate(declared.alarm, points, now, current)
        return verdict.state != current and self._change(declared, before, current, verdict, now)

    def _change(
        self, declared: DeclaredAlarm, before: AlarmState | None, current: State, verdict: Verdict, now: datetime
    ) -> bool:  # fmt: skip
        named = {"system": declared.system, "name": declared.name}
        value = None if verdict.value is None else Decimal(repr(float(verdict.value)))
        change = AlarmChange(**named, at=now, state=verdict.state, before=current, value=value)
        told = list(self.notices.writes(declared, change))
        try:
            self.db.write(
                _state_write(before, declared, verdict.state, now), alarm_changes.put(change), *told
            )
        except (Stale, AlreadyExists):  # another process was first, and tells of it
            return False
        self.notices.log(declared, change)
        return True


def _state_write(
    before: AlarmState | None, declared: DeclaredAlarm, state: State, now: datetime
) -> Write[AlarmState]:
    if before is not None:
        return alarm_states.change(before, before.model_copy(update={"state": state, "since": now}))
    return alarm_states.create(AlarmState(system=declared.system, name=declared.name, state=state, since=now))


def counts(statuses: Sequence[AlarmStatus]) -> Mapping[State, int]:
    """How many alarms are in each state."""
    states: tuple[State, ...] = ("ALARM", "INSUFFICIENT_DATA", "OK")
    return {state: sum(each.state == state for each in statuses) for state in states}


def alarms_job(alarms: Alarms) -> Job[object]:
    return Job(
        "alarms",
        EVERY,
        lambda _: alarms.run(),
        "Evaluates every alarm, and writes what tells of those that changed.",
    )
