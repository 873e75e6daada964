"""Alarms: all of them with their state, and of each the curve of its metric with the threshold.

An alarm on the tables of a design is one line, in the state of the worst of them; on its own page a table is chosen.
Must hold: an address with an unknown choice is refused.
Elsewhere: the evaluation (app/alarms/), what is declared (each design).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.alarms.evaluation import State, values_in
from tablewright.app.alarms.notices import page_of
from tablewright.app.alarms.states import Alarms, AlarmStatus, counts
from tablewright.app.designs.choices import chosen, refuse_unknown
from tablewright.app.designs.metrics import ms, number_of_few_digits
from tablewright.app.runtime import Runtime
from tablewright.design.alarms import SERVER_ERRORS, Alarm
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import not_found
from tablewright.english import grouped, number
from tablewright.pages.charts import Line, Timeline
from tablewright.pages.forms import Form, asked
from tablewright.pages.layout import Console, Crumb

# A state as people read it, and its tone; the worst first.
STATES: dict[State, tuple[str, str]] = {
    "ALARM": ("in alarm", "bad"),
    "INSUFFICIENT_DATA": ("no data", ""),
    "OK": ("ok", "good"),
}
# How long back a curve goes, by the longest period: (minutes, hours).
_SPANS = ((1, 3), (5, 8), (10, 12), (30, 24), (60, 96), (1440, 14 * 24))
_MISSING = {
    "missing": "no data: the state is not known",
    "ignore": "the state stays as it is",
    "breaching": "counts as over the threshold",
    "notBreaching": "counts as within the threshold",
}


@dataclass(frozen=True, slots=True)
class AlarmGroup:
    """An alarm of a design, on one table or on many."""

    members: tuple[AlarmStatus, ...]

    @property
    def alarm(self) -> Alarm:
        return self.members[0].declared.alarm

    @property
    def worst(self) -> AlarmStatus:
        return min(self.members, key=lambda each: list(STATES).index(each.state))

    @property
    def words(self) -> tuple[str, str]:
        return STATES[self.worst.state]

    @property
    def ringing(self) -> list[AlarmStatus]:
        return [each for each in self.members if each.state == "ALARM"]

    @property
    def href(self) -> str:
        return (
            page_of(self.worst.declared) if self.ringing else page_of(self.worst.declared).partition("?")[0]
        )


def groups_of(statuses: Sequence[AlarmStatus]) -> dict[str, list[AlarmGroup]]:
    """The alarms by the title of their system. Two alarms of a system have different names."""
    found: dict[str, dict[str, list[AlarmStatus]]] = {}
    for each in statuses:
        found.setdefault(each.declared.title, {}).setdefault(each.declared.alarm.name, []).append(each)
    return {
        title: [AlarmGroup(tuple(members)) for members in named.values()] for title, named in found.items()
    }


def add_alarms(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    guard, alarms = [Depends(allowed)], runtime.alarms

    @router.get("/alarms", dependencies=guard)
    def overview(request: Request) -> Response:
        statuses = alarms.status()
        number_of = counts(statuses)
        return console.page(
            request,
            "designs/alarms.html",
            title="Alarms",
            figures=[
                ("In alarm", number_of["ALARM"], "now"),
                ("Ok", number_of["OK"], ""),
                ("Without data", number_of["INSUFFICIENT_DATA"], "not known yet"),
            ],
            ringing=[each for each in statuses if each.state == "ALARM"],
            groups=groups_of(statuses),
            page_of=page_of,
        )

    @router.get("/alarms/{system}/{name}", dependencies=guard)
    def one(request: Request, system: str, name: str, form: Annotated[Form, Depends(asked)]) -> Response:
        refuse_unknown(form, ("series",))
        members = [
            each
            for each in alarms.status()
            if (each.declared.system, each.declared.alarm.name) == (system, name)
        ]
        if not members:
            raise not_found("NO_SUCH_ALARM", "There is no alarm of this name.")
        names = [each.declared.name for each in members]
        series = chosen(form, "series", names, AlarmGroup(tuple(members)).worst.declared.name)
        status = members[names.index(series)]
        return console.page(
            request,
            "designs/alarm.html",
            title=name,
            crumbs=[Crumb("Alarms", "/console/designs/alarms")],
            one=status,
            words=STATES[status.state],
            form=Form({"series": series}),
            choices=[(each.declared.name, _looks_at(each)) for each in members],
            looks_at=_looks_at(status) if status.declared.series.table else "",
            chart=curve(alarms, status, runtime.world.now()),
            facts=_facts(status.declared.alarm),
            changes=[(change, *STATES[change.state]) for change in alarms.changes(status.declared)],
            shown=shown_by(status.declared.alarm),
        )


def _looks_at(status: AlarmStatus) -> str:
    series, index = status.declared.series, status.declared.alarm.index
    parts = [series.table, index and f"index {index}", series.region and f"to {series.region}"]
    return ", ".join(part for part in parts if part) or status.declared.title


def shown_by(alarm: Alarm) -> Callable[[float], str]:
    """How a value of its metric is written."""
    if alarm.metric == SERVER_ERRORS:
        return lambda value: f"{number(round(value * 100, 1))} %"
    if alarm.unit.startswith("per cent"):
        return lambda value: f"{number_of_few_digits(value)} %"
    return {"ms": ms, "US dollars": lambda value: f"${grouped(value, 2)}"}.get(
        alarm.unit, number_of_few_digits
    )


def _facts(alarm: Alarm) -> list[tuple[str, Any]]:
    enough = f"{alarm.breaches} of {alarm.periods}" if alarm.periods > 1 else ""
    return [
        ("What to do", alarm.advice),
        ("Metric", f"{alarm.metric} ({alarm.namespace})"),
        ("Operation", alarm.operation),
        ("Periods over the threshold", enough),
        ("A period without data", _MISSING[alarm.missing]),
        ("Tells", ", ".join(alarm.actions)),
        ("Requirement", alarm.requirement),
    ]


def curve(alarms: Alarms, status: AlarmStatus, now: datetime) -> Timeline:
    """The metric of an alarm in its own periods, and the threshold."""
    alarm = status.declared.alarm
    hours = next(hours for minutes, hours in _SPANS if alarm.minutes <= minutes)
    count = timedelta(hours=hours) // alarm.period
    end = now.replace(second=0, microsecond=0)
    start = end - alarm.period * count
    values = values_in(alarms.points(status.declared, start, end), alarm.statistic, start, end, alarm.period)
    if status.declared.is_of_store and alarm.statistic == "Sum":
        values = [
            value or 0.0 for value in values
        ]  # the engine counts events: without a point there was none
    limit = float(alarm.threshold)
    lines = (
        Line(alarm.statistic, values),
        Line("threshold", [limit] * count, is_limit=True),
    )
    return Timeline(alarm.metric, alarm.condition, start, alarm.period, lines, shown_by(alarm))
