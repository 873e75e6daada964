"""What a parent sees of what was blocked: sums of today, 7 and 30 days, by app, by hour, this week against the last.

All of it is of the days of the child's own clock, as they were counted. Must hold: the sums of a period's days, of its
apps and of its heat map are all its total. Pure but for `Figures`, which reads. Elsewhere: the counting (counters.py).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from tablewright.edge.errors import BadRequest
from tablewright.systems.parental import design as d
from tablewright.systems.parental.model import Child, Metric
from tablewright.systems.parental.repository import Repository

PERIODS = (1, 7, 30)
WEEK = 7
LONGEST = 400
# Seven rows of 24, Monday and midnight first.
Heat = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class DayFigures:
    """A day, also one on which nothing was blocked."""

    date: date
    blocked: int


@dataclass(frozen=True, slots=True)
class AppFigures:
    """An app in a period: how often, which part of all, and the first and the last attempt."""

    app_name: str
    blocked: int
    share: float
    first: datetime | None
    last: datetime | None


@dataclass(frozen=True, slots=True)
class Period:
    """Some days up to today."""

    days: int
    since: date
    until: date
    blocked: int
    by_day: tuple[DayFigures, ...]
    by_app: tuple[AppFigures, ...]
    heat: Heat
    first: datetime | None
    last: datetime | None

    @property
    def busiest_hour(self) -> int | None:
        """The hour of the day with the most attempts, if there was any."""
        hours = [sum(row[hour] for row in self.heat) for hour in range(24)]
        return hours.index(max(hours)) if self.blocked else None


@dataclass(frozen=True, slots=True)
class Weeks:
    """The last seven days against the seven before; each pair is the same day of the week, oldest first."""

    this: int
    before: int
    days: tuple[tuple[DayFigures, DayFigures], ...]

    @property
    def change(self) -> float | None:
        """By which part it went up or down; None where there was nothing before."""
        return (self.this - self.before) / self.before if self.before else None


@dataclass(frozen=True, slots=True)
class Dashboard:
    """Everything of the page. `today` is the child's."""

    today: date
    day: Period
    week: Period
    month: Period
    weeks: Weeks


def dashboard(metrics: Iterable[Metric], today: date) -> Dashboard:
    """The figures of some items as they stand on a day; what is not of the last 30 days is passed over."""
    found = list(metrics)
    day, week, month = (period(found, today, days) for days in PERIODS)
    return Dashboard(today, day, week, month, weeks(found, today))


def period(metrics: Sequence[Metric], today: date, days: int) -> Period:
    """The figures of so many days, today the last of them."""
    since = today - timedelta(days=days - 1)
    found = [metric for metric in metrics if since <= metric.date <= today]
    total = sum(metric.blocked_count for metric in found)
    firsts, lasts = _times(found)
    return Period(
        days,
        since,
        today,
        total,
        by_day(found, since, today),
        by_app(found),
        heat(found),
        min(firsts, default=None),
        max(lasts, default=None),
    )


def by_day(metrics: Iterable[Metric], since: date, until: date) -> tuple[DayFigures, ...]:
    """Each day from one to another, both included, oldest first."""
    counts = dict.fromkeys((since + timedelta(days=n) for n in range((until - since).days + 1)), 0)
    for metric in metrics:
        if metric.date in counts:
            counts[metric.date] += metric.blocked_count
    return tuple(DayFigures(day, blocked) for day, blocked in counts.items())


def by_app(metrics: Iterable[Metric]) -> tuple[AppFigures, ...]:
    """Each app, the most blocked first."""
    apps: dict[str, list[Metric]] = {}
    for metric in metrics:
        apps.setdefault(metric.app_name, []).append(metric)
    total = sum(metric.blocked_count for found in apps.values() for metric in found)
    figures = []
    for name, found in apps.items():
        firsts, lasts = _times(found)
        blocked = sum(metric.blocked_count for metric in found)
        share = blocked / total if total else 0.0
        figures.append(AppFigures(name, blocked, share, min(firsts, default=None), max(lasts, default=None)))
    return tuple(sorted(figures, key=lambda app: (-app.blocked, app.app_name.casefold())))


def heat(metrics: Iterable[Metric]) -> Heat:
    """How often in each hour of each day of the week."""
    rows = [[0] * 24 for _ in range(7)]
    for metric in metrics:
        for hour, count in metric.hourly.items():
            rows[metric.date.weekday()][int(hour)] += count
    return tuple(tuple(row) for row in rows)


def weeks(metrics: Sequence[Metric], today: date) -> Weeks:
    """The seven days up to today, and the seven before them."""
    this = by_day(metrics, today - timedelta(days=WEEK - 1), today)
    before = by_day(metrics, today - timedelta(days=2 * WEEK - 1), today - timedelta(days=WEEK))
    totals = [sum(day.blocked for day in days) for days in (this, before)]
    return Weeks(totals[0], totals[1], tuple(zip(this, before, strict=True)))


def today_of(child: Child, now: datetime) -> date:
    """The day it is on a child's clock."""
    return now.astimezone(ZoneInfo(child.timezone)).date()


def _times(metrics: Iterable[Metric]) -> tuple[list[datetime], list[datetime]]:
    found = list(metrics)
    firsts = [metric.timestamp_first for metric in found if metric.timestamp_first is not None]
    lasts = [metric.timestamp_last for metric in found if metric.timestamp_last is not None]
    return firsts, lasts


class Figures:
    """Reads what the figures are made of. Who may see them is the caller's business."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def of_child(self, child: Child) -> Dashboard:
        """A child's dashboard as of its own today (PC-X16)."""
        today = today_of(child, self._repository.now())
        return dashboard(self.between(child.child, today - timedelta(days=PERIODS[-1] - 1), today), today)

    def of_parent(self, parent_email: str, today: date) -> Dashboard:
        """All children of an address together, on the days of their own clocks (PC-29)."""
        since = today - timedelta(days=PERIODS[-1] - 1)
        query = d.metrics_of_parent(parent_email=parent_email, since=since, until=today)
        return dashboard(self._repository.db.all(query), today)

    def between(self, child: str, since: date, until: date, app_name: str | None = None) -> list[Metric]:
        """A child's items from a day to a day, both included; of one app if named (PC-28, PC-30)."""
        if not timedelta() <= until - since < timedelta(days=LONGEST):
            words = f"The last day must not be before the first, and at most {LONGEST} days are returned."
            raise BadRequest("INVALID_RANGE", words, "from")
        found = self._repository.db.all(d.metrics_of_child(child=child, since=since, until=until))
        return [metric for metric in found if app_name is None or metric.app_name == app_name]
