"""Blocked attempts: today, 7 and 30 days; by app, by hour, this week compared with the last.

Must hold: days are those of the child's time zone, and every number of a chart also appears as text.
Elsewhere: the sums (systems/parental/blocked/dashboard.py).
"""

from fastapi import APIRouter, Request, Response

from tablewright.english import day_and_month, plural
from tablewright.systems.parental.blocked.dashboard import Dashboard, Period
from tablewright.systems.parental.pages.charts import Column, columns, heat_rows, meter
from tablewright.systems.parental.pages.page import ParentalPages
from tablewright.systems.parental.pages.words import SHORT_DAYS, change_of_weeks

PERIODS = (("1", "Today"), ("7", "7 days"), ("30", "30 days"))
_TAB = "/dashboard"


def add_dashboard(router: APIRouter, pages: ParentalPages) -> None:
    @router.get("/children/{key}/dashboard")
    def dashboard(request: Request, key: str, days: str = "7") -> Response:
        look = pages.look(request, key)
        found = pages.parental.figures.of_child(look.child)
        period = {"1": found.day, "30": found.month}.get(days, found.week)
        return pages.child_page(
            request,
            look,
            "dashboard",
            tab=_TAB,
            period=period,
            periods=[(words, look.at(_TAB, days=n), str(period.days) == n) for n, words in PERIODS],
            over_time=_over_time(period),
            heat=heat_rows(period.heat),
            weeks=found.weeks,
            compared=_compared(found),
            change=change_of_weeks(found.weeks.change),
            apps=[(app, meter(app.share)) for app in period.by_app],
        )


def _over_time(period: Period) -> str:
    if period.days == 1:
        hours = [sum(row[hour] for row in period.heat) for hour in range(24)]
        given = [
            Column(f"{hour:02}:00", count, f"{hour:02}:00: {plural(count, 'attempt')}")
            for hour, count in enumerate(hours)
        ]
        return columns(given, "Blocked attempts today, by hour")
    given = [
        Column(
            SHORT_DAYS[day.date.weekday()] if period.days <= 7 else f"{day.date.day}.{day.date.month}.",
            day.blocked,
            f"{SHORT_DAYS[day.date.weekday()]} {day_and_month(day.date)}: {plural(day.blocked, 'attempt')}",
        )
        for day in period.by_day
    ]
    return columns(given, f"Blocked attempts in the last {period.days} days, by day")


def _compared(found: Dashboard) -> str:
    given = [
        Column(
            SHORT_DAYS[this.date.weekday()],
            this.blocked,
            f"{SHORT_DAYS[this.date.weekday()]}: {this.blocked}, the week before {before.blocked}",
            before.blocked,
        )
        for this, before in found.weeks.days
    ]
    return columns(
        given,
        f"The last seven days, {found.weeks.this}, compared with the seven days before, {found.weeks.before}",
    )
