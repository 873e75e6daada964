"""What parents see of what was blocked: sums that agree with each other, on the days of the child's own clock."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.client.ways import WAYS
from tests.systems.parental.talk import ANNA, OTHER_PHONE, PHONE, Place, refuses

from tablewright.systems.parental.blocked.counters import kept_until
from tablewright.systems.parental.blocked.dashboard import (
    AppFigures,
    DayFigures,
    Figures,
    dashboard,
    period,
    weeks,
)
from tablewright.systems.parental.blocked.events import Batch, Event
from tablewright.systems.parental.blocked.ingest import Ingest
from tablewright.systems.parental.model import Metric

TODAY = date(2030, 6, 14)  # a Friday


@pytest.fixture(params=["embedded"])
def way(request: pytest.FixtureRequest) -> str:
    return "http" if request.config.getoption("--endpoint") else str(request.param)


def metric(days_ago: int, app: str, **hours: int) -> Metric:
    """Counts of a day: `h08=5` five in the hour of eight."""
    day = TODAY - timedelta(days=days_ago)
    hourly = {name[1:]: count for name, count in hours.items()}
    times = [datetime(day.year, day.month, day.day, int(hour), 30, tzinfo=UTC) for hour in sorted(hourly)]
    return Metric(
        child=PHONE, date=day, app_name=app, parent_email="anna@example.com", blocked_count=sum(hourly.values()),
        hourly=hourly, timestamp_first=times[0], timestamp_last=times[-1], tz="UTC", kept_until=kept_until(day),
    )  # fmt: skip


SOME = [
    metric(0, "TikTok", h08=5, h22=7),
    metric(0, "YouTube", h22=3),
    metric(6, "TikTok", h09=2),
    metric(7, "TikTok", h09=10),
    metric(29, "Fortnite", h16=1),
    metric(30, "Fortnite", h16=100),
]


def test_pc_x16_today_7_and_30_days_hold_their_days_and_no_other() -> None:
    found = dashboard(SOME, TODAY)
    assert (found.day.blocked, found.week.blocked, found.month.blocked) == (15, 17, 28)
    assert (found.week.since, found.week.until) == (date(2030, 6, 8), TODAY)
    assert len(found.month.by_day) == 30
    assert found.month.by_day[0] == DayFigures(date(2030, 5, 16), 1)
    assert [one.blocked for one in found.week.by_day] == [2, 0, 0, 0, 0, 0, 15]


def test_apps_come_most_blocked_first_with_their_share_and_their_first_and_last_attempt() -> None:
    (tiktok, youtube) = dashboard(SOME, TODAY).day.by_app
    assert tiktok == AppFigures(
        "TikTok", 12, 0.8, datetime(2030, 6, 14, 8, 30, tzinfo=UTC), datetime(2030, 6, 14, 22, 30, tzinfo=UTC)
    )
    assert (youtube.app_name, youtube.blocked) == ("YouTube", 3)


def test_the_heat_map_has_each_hour_of_each_day_of_the_week() -> None:
    month = dashboard(SOME, TODAY).month
    friday, saturday, thursday = month.heat[4], month.heat[5], month.heat[3]
    assert (friday[8], friday[9], friday[22]) == (5, 10, 10)
    assert saturday[9] == 2  # six days ago
    assert thursday[16] == 1  # 29 days ago; what was 30 days ago is not in it
    assert month.busiest_hour == 9


def test_weeks_are_compared_day_by_day() -> None:
    found = weeks(SOME, TODAY)
    assert (found.this, found.before) == (17, 10)
    assert found.change == pytest.approx(0.7)
    this, before = found.days[-1]
    assert (this.date, before.date) == (TODAY, date(2030, 6, 7))
    assert this.date.weekday() == before.date.weekday()
    assert weeks([], TODAY).change is None


def test_nothing_blocked_is_a_dashboard_too() -> None:
    found = dashboard([], TODAY)
    assert found.month.blocked == 0
    assert (found.month.first, found.month.last, found.month.busiest_hour) == (None, None, None)
    assert found.month.by_app == ()


@given(
    counts=st.lists(
        st.tuples(st.integers(0, 45), st.sampled_from("ABC"), st.integers(0, 23), st.integers(1, 50)),
        max_size=40,
        unique_by=lambda one: one[:2],
    ),
    days=st.sampled_from([1, 7, 30]),
)
def test_days_apps_and_heat_of_a_period_all_sum_up_to_its_total(
    counts: list[tuple[int, str, int, int]], days: int
) -> None:
    found = period([metric(ago, app, **{f"h{hour:02}": n}) for ago, app, hour, n in counts], TODAY, days)
    expected = sum(n for ago, _, _, n in counts if ago < days)
    assert found.blocked == expected
    assert sum(one.blocked for one in found.by_day) == expected
    assert sum(one.blocked for one in found.by_app) == expected
    assert sum(map(sum, found.heat)) == expected
    assert sum(one.share for one in found.by_app) == pytest.approx(1.0 if expected else 0.0)


@pytest.mark.parametrize("way", sorted(WAYS), indirect=True)
def test_a_childs_dashboard_is_of_its_own_today_and_a_parents_of_all_children(at: Place) -> None:
    near = at.child(zone="America/New_York")
    at.child(ANNA, OTHER_PHONE, "Tom", "Pacific/Kiritimati")
    now = at.clock.now()  # 10:00 on the 14th in New York, 04:00 on the 15th in Kiritimati
    events = [
        Event(at=now, app_name="TikTok", phone_number=phone, count=count)
        for phone, count in ((PHONE, 3), (OTHER_PHONE, 4))
    ]
    Ingest(at.parental.repository).take(Batch("one", events))
    figures = Figures(at.parental.repository)
    tom = at.parental.repository.child_of_phone(OTHER_PHONE)
    assert tom is not None
    here, there = figures.of_child(near), figures.of_child(tom)
    assert (here.today, here.day.blocked, here.day.busiest_hour) == (date(2030, 6, 14), 3, 10)
    assert (there.today, there.day.blocked, there.day.busiest_hour) == (date(2030, 6, 15), 4, 4)
    both = figures.of_parent("anna@example.com", date(2030, 6, 15))
    assert (both.day.blocked, both.week.blocked) == (4, 7)


def test_pc_28_and_pc_30_a_range_of_days_of_all_apps_or_one(at: Place) -> None:
    child = at.child()
    ingest, figures = Ingest(at.parental.repository), Figures(at.parental.repository)
    for day in range(3):
        at.clock.move(timedelta(days=1))
        now = at.clock.now()
        events = [Event(at=now, app_name=app, phone_number=PHONE) for app in ("TikTok", "YouTube")]
        ingest.take(Batch(f"day {day}", events))
    first, last = date(2030, 6, 15), date(2030, 6, 16)
    assert len(figures.between(child.child, first, last)) == 4
    assert [one.date for one in figures.between(child.child, first, last, "TikTok")] == [first, last]
    with refuses("INVALID_RANGE", "from"):
        figures.between(child.child, last, first)
    with refuses("INVALID_RANGE", "from"):
        figures.between(child.child, first, first + timedelta(days=400))
