"""Limits: minutes in a day, quiet hours in the family's zone, messages in a minute over processes (ZC-X8)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.effort import effort
from tests.systems.chat.family.home import Household, again, household
from tests.systems.chat.place import Place, refuses

from tablewright.edge.errors import TooManyRequests
from tablewright.systems.chat.family.limits import is_between, seconds_until
from tablewright.systems.chat.family_model import Limits, User


@pytest.fixture
def home(at: Place) -> Household:
    return household(at)  # in Los Angeles, where it is 02:00


def limited(at: Place, home: Household, **limits: object) -> User:
    return at.chat.children.set_limits(again(at, home.child), Limits(**limits), home.parent)  # type: ignore[arg-type]  # of its fields


def test_the_minutes_of_a_day_are_counted_between_messages(at: Place, home: Household) -> None:
    child = limited(at, home, daily_minutes=10)
    at.chat.limits.spend(child)  # a first message: one minute
    for _ in range(2):
        at.later(minutes=4)
        at.chat.limits.spend(child)
    assert at.chat.limits.used_today(child).seconds == 9 * 60
    at.later(minutes=30)
    at.chat.limits.spend(child)  # after a pause: one minute
    with refuses("DAILY_TIME_USED"):
        at.chat.limits.spend(child)


def test_the_next_day_of_the_family_begins_at_its_midnight(at: Place, home: Household) -> None:
    child = limited(at, home, daily_minutes=5)
    at.later(hours=12)
    for _ in range(2):
        at.chat.limits.spend(child)
        at.later(minutes=4)
    with pytest.raises(TooManyRequests) as refused:
        at.chat.limits.spend(child)
    assert refused.value.code == "DAILY_TIME_USED"
    at.later(seconds=refused.value.retry_after)
    assert at.clock.now().astimezone(ZoneInfo("America/Los_Angeles")).time() == time()
    at.chat.limits.spend(child)


def test_quiet_hours_are_those_of_the_family_and_pass_midnight(at: Place, home: Household) -> None:
    child = limited(at, home, quiet_from="20:00", quiet_until="07:00")
    with pytest.raises(TooManyRequests) as refused:
        at.chat.limits.spend(child)
    assert (refused.value.code, refused.value.retry_after) == ("QUIET_HOURS", 5 * 3600)
    at.later(hours=5)
    at.chat.limits.spend(child)


def test_messages_in_a_minute_are_limited_however_many_processes_take_them(
    at: Place, home: Household
) -> None:
    child, codes = limited(at, home, messages_per_minute=7), set()

    def send(_: int) -> bool:
        try:
            at.chat.limits.spend(child)
            return True
        except TooManyRequests as refused:
            codes.add(refused.code)
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(send, range(24))) == 7
    assert codes == {"RATE_LIMIT"}
    at.later(minutes=1)
    assert send(0)


def test_adults_have_no_day_and_no_quiet_hours(at: Place, home: Household) -> None:
    parent = home.parent.model_copy(
        update={"limits": Limits(daily_minutes=5, quiet_from="00:00", quiet_until="23:59")}
    )
    for _ in range(5):
        at.chat.limits.spend(parent)
        at.later(minutes=4)


@pytest.mark.parametrize(
    "limits",
    [{"daily_minutes": 1}, {"messages_per_minute": 0}, {"quiet_from": "8 pm", "quiet_until": "07:00"},
     {"quiet_from": "20:00"}, {"quiet_from": "20:00", "quiet_until": "20:00"}],
)  # fmt: skip
def test_limits_that_make_no_sense_are_refused(at: Place, home: Household, limits: dict[str, object]) -> None:
    with pytest.raises(Exception, match=r"must be|Quiet hours"):
        limited(at, home, **limits)


TIMES = st.times().map(lambda at: at.replace(second=0, microsecond=0))


@effort(200)
@given(TIMES, TIMES, TIMES)
def test_quiet_hours_and_the_hours_between_share_the_day(now: time, begin: time, end: time) -> None:
    if begin != end:
        assert is_between(now, begin, end) != is_between(now, end, begin)


@effort(200)
@given(
    st.datetimes(datetime(2029, 1, 1), datetime(2031, 1, 1)),
    TIMES,
    st.sampled_from(["America/Los_Angeles", "Europe/Berlin", "Australia/Lord_Howe", "UTC"]),
)
def test_the_time_until_an_hour_is_at_most_a_day_and_the_longest_hour(
    local: datetime, at: time, zone: str
) -> None:
    here = local.replace(tzinfo=ZoneInfo(zone))
    assert 0 < seconds_until(here, at) <= timedelta(hours=26).total_seconds()
