"""The weekly report to every guardian of a family on Monday morning (PC-X10).

The next report of a family is an item of its own, found by its time: a run reads only what is due.
Must hold: a week is reported once, in however many processes and runs, because the message is written with a receipt; a
run is short and continues where the last one stopped; a family whose report fails delays no other.
Elsewhere: the item of a new family (family/families.py), families that have none (family/rounds.py), when it runs
(jobs.py).
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from itertools import islice

from tablewright.english import day_and_month
from tablewright.systems.parental import design as d
from tablewright.systems.parental.family.notices import app_words, most, tell
from tablewright.systems.parental.model import Child, Family, ReportDue
from tablewright.systems.parental.policy.windows import zone
from tablewright.systems.parental.repository import Repository

log = logging.getLogger("tablewright.parental")

REPORT_HOUR = time(7)
A_WEEK = timedelta(days=7)
AFTER_TROUBLE = timedelta(hours=1)
# A run takes so many, some seconds' work; of a morning when more are due the next run takes the next.
AT_MOST = 1_000
# Where Monday begins first.
EARLIEST = timezone(timedelta(hours=14))


@dataclass(frozen=True, slots=True)
class WeekOfChild:
    """A child's week in figures."""

    name: str
    attempts: int
    before: int
    apps: tuple[tuple[str, int], ...]


def run(repository: Repository, at_most: int = AT_MOST) -> int:
    """Report the week that ended, from Monday seven o'clock in the zone of a family's first child; returns how many
    reports were written."""
    due = list(islice(repository.db.all(d.reports_due(until=repository.now())), at_most))
    return sum([_told(repository, one) for one in due])


def _told(repository: Repository, due: ReportDue) -> bool:
    family = repository.db.one(d.families.get(due.family_id), consistent=True)
    if family is None:
        repository.db.write(d.reports.discard(due.family_id))
        return False
    is_told, now = False, repository.now()
    try:
        children = repository.children_of(family.family_id)
        at = _this_week(children, now)
        if at <= now:
            is_told = bool(children) and _tell(repository, family, children, at.date())
            at += A_WEEK  # the same hour on the wall, also where clocks change in between
    except Exception as mistake:
        log.error("week not reported", extra={"mistake": type(mistake).__name__})
        at = now + AFTER_TROUBLE
    # Last: after a crash the report is repeated and finds the receipt. Another process has set the same time.
    repository.try_write(d.reports.change(due, due.model_copy(update={"at": at})))
    return is_told


def _this_week(children: Sequence[Child], now: datetime) -> datetime:
    """When last week's report is due; without a child, the earliest time in any zone."""
    clock = zone(children[0].timezone) if children else EARLIEST
    local = now.astimezone(clock).date()
    return datetime.combine(local - timedelta(days=local.weekday()), REPORT_HOUR, clock)


def _tell(repository: Repository, family: Family, children: Sequence[Child], monday: date) -> bool:
    once = f"weekly:{family.family_id}:{monday.isoformat()}"
    # A family that was created this week gets no report for the week before.
    if family.created_at.date() >= monday or repository.db.done(once, d.PARENTAL) is not None:
        return False
    first = monday - A_WEEK
    weeks = [_week(repository, child, first) for child in children]
    to = [guardian.email for guardian in repository.guardians_of(family.family_id)]
    values = {"family": family.name, "report": report(weeks, first)}
    about = [child.child for child in children]
    return tell(repository, to, family.family_id, "week", values, once, about)


def _week(repository: Repository, child: Child, first: date) -> WeekOfChild:
    since, until = first - A_WEEK, first + timedelta(days=6)
    metrics = list(repository.db.all(d.metrics_of_child(child=child.child, since=since, until=until)))
    now = [metric for metric in metrics if metric.date >= first]
    before = sum(metric.blocked_count for metric in metrics if metric.date < first)
    total = sum(metric.blocked_count for metric in now)
    return WeekOfChild(child.child_name, total, before, most(now))


def report(weeks: Sequence[WeekOfChild], first: date) -> str:
    """A week in sentences."""
    until = first + timedelta(days=6)
    lines = [f"Blocked attempts from {day_and_month(first)} to {day_and_month(until)}."]
    for week in weeks:
        change = week.attempts - week.before
        compared = "the same as" if not change else f"{abs(change)} {'more' if change > 0 else 'fewer'} than"
        lines.append(f"\n{week.name}: {week.attempts}, {compared} the week before.")
        lines += [f"  {app_words(app)}: {count}" for app, count in week.apps]
    return "\n".join(lines)
