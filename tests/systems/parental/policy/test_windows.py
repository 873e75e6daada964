"""Windows: what parents may write, what it means on a wall clock, and the exact moments at which it changes."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from tests.systems.parental.written import EVERY_DAY, SCHOOL_DAYS, utc, window

from tablewright.edge.errors import BadRequest
from tablewright.systems.parental.model import Window
from tablewright.systems.parental.policy.windows import (
    check,
    day_bounds,
    edges,
    is_inside,
    merged,
    week,
    zone,
)

NEW_YORK = ZoneInfo("America/New_York")
BERLIN = ZoneInfo("Europe/Berlin")
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")
KATHMANDU = ZoneInfo("Asia/Kathmandu")
APIA = ZoneInfo("Pacific/Apia")
CAIRO = ZoneInfo("Africa/Cairo")


def local(place: ZoneInfo, text: str, fold: int = 0) -> datetime:
    """The moment at which a clock there shows this; the second time if `fold`."""
    return datetime.fromisoformat(text).replace(tzinfo=place, fold=fold).astimezone(UTC)


def changes(
    times: str, place: ZoneInfo, after: datetime, until: datetime, days: str = EVERY_DAY
) -> list[str]:
    """What a clock there shows when a window opens and closes."""
    found = []
    for edge in edges(week([window(times, days)]), place, after):
        if edge >= until:
            break
        found.append(f"{edge.astimezone(place):%a %H:%M %z}")
    return found


# --- what may be written ---


@pytest.mark.parametrize("text", ["24:00", "7:00", "07:60", "0700", "", "٠٧:٠٠", "07:00:00", None, 700])
@pytest.mark.parametrize("name", ["startTime", "endTime"])
def test_a_time_that_is_none_is_refused_with_its_field(name: str, text: object) -> None:
    good = {"startTime": "08:00", "endTime": "15:00", "days": ["MON"]}
    with pytest.raises(BadRequest) as refused:
        check([good, {**good, name: text}])
    assert (refused.value.code, refused.value.field) == ("INVALID_WINDOW", f"timeWindows[1].{name}")
    assert "00:00 to 23:59" in refused.value.message


def test_pc_x14_an_unknown_day_is_refused_with_its_field() -> None:
    with pytest.raises(BadRequest, match="'MONDAY' isn't a valid day") as refused:
        check([{"startTime": "08:00", "endTime": "15:00", "days": ["TUE", "MONDAY"]}])
    assert (refused.value.code, refused.value.field) == ("INVALID_WINDOW", "timeWindows[0].days[1]")


@pytest.mark.parametrize("days", [[], "MON", None, {"MON": 1}])
def test_a_window_begins_on_some_day(days: object) -> None:
    with pytest.raises(BadRequest, match="at least one day") as refused:
        check([{"startTime": "08:00", "endTime": "15:00", "days": days}])
    assert refused.value.field == "timeWindows[0].days"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"startTime": "08:00", "days": ["MON"]}, "endTime is missing"),
        ({"startTime": "08:00", "endTime": "09:00", "days": ["MON"], "tz": "x"}, "tz is not known"),
        ("08:00-09:00", "startTime, endTime and days"),
    ],
)
def test_a_window_has_three_parts_and_no_more(raw: dict[str, object], words: str) -> None:
    with pytest.raises(BadRequest, match=words) as refused:
        check([raw])
    assert refused.value.field == "timeWindows[0]"


def test_days_are_kept_once_and_in_order() -> None:
    (kept,) = check([{"startTime": "08:00", "endTime": "15:00", "days": ["FRI", "MON", "FRI"]}]).windows
    assert kept == Window(start_time="08:00", end_time="15:00", days=["MON", "FRI"])


@pytest.mark.parametrize(
    "name", ["Mars/Olympus", "", "../../etc/passwd", "/etc/localtime", "america/new_york"]
)
def test_a_zone_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(BadRequest) as refused:
        zone(name)
    assert (refused.value.code, refused.value.field) == ("INVALID_TIMEZONE", "timezone")


def test_a_zone_is_known_by_its_name() -> None:
    assert zone("Pacific/Apia") == APIA


# --- overlaps ---


def test_pc_x14_overlapping_windows_are_merged_with_a_notice() -> None:
    done = check([window("21:00-23:00"), window("22:00-06:00")])
    assert done.windows == (window("21:00-06:00"),)
    (notice,) = done.notices
    assert (notice.code, notice.field) == ("WINDOWS_MERGED", "timeWindows[1]")
    assert notice.message == (
        "21:00-23:00 every day and 22:00-06:00 every day overlap; they were merged into 21:00-06:00 every day."
    )


def test_windows_that_do_not_overlap_stay_as_they_were_written() -> None:
    """Several windows a day are a matter of course, and those that only touch are no mistake."""
    given = (window("08:00-12:00", SCHOOL_DAYS), window("12:00-15:00", "MON"), window("22:00-06:00"))
    assert merged(given).windows == given
    assert merged(given).notices == ()


def test_only_the_windows_that_overlap_are_rewritten() -> None:
    apart = window("08:00-15:00", SCHOOL_DAYS)
    done = merged([window("20:00-21:00", "SAT"), apart, window("20:30-22:00", "SAT")])
    assert done.windows == (window("20:00-22:00", "SAT"), apart)


def test_an_overlap_past_midnight_is_seen_and_splits_by_day() -> None:
    done = merged([window("22:00-06:00"), window("05:00-07:00", SCHOOL_DAYS)])
    assert done.windows == (window("22:00-06:00", "FRI SAT"), window("22:00-07:00", "MON TUE WED THU SUN"))


def test_an_overlap_past_the_end_of_the_week_is_seen() -> None:
    done = merged([window("23:00-02:00", "SUN"), window("01:00-03:00", "MON")])
    assert done.windows == (window("23:00-03:00", "SUN"),)


def test_overlaps_that_fill_more_than_a_day_become_windows_of_at_most_a_day() -> None:
    done = merged([window("08:00-08:00", "MON TUE"), window("07:00-10:00", "WED")])
    assert done.windows == (window("08:00-08:00", "MON TUE"), window("08:00-10:00", "WED"))


def test_overlaps_that_fill_the_week_become_whole_days() -> None:
    done = merged([window("08:00-08:00"), window("09:00-10:00", "WED")])
    assert done.windows == (window("00:00-00:00"),)


def test_the_same_window_twice_is_one() -> None:
    done = merged([window("08:00-15:00", "MON"), window("08:00-15:00", "MON")])
    assert done.windows == (window("08:00-15:00", "MON"),)
    assert len(done.notices) == 1


def test_what_overlaps_through_a_third_is_merged_into_one() -> None:
    done = merged([window("08:00-10:00", "MON"), window("12:00-14:00", "MON"), window("09:00-13:00", "MON")])
    assert done.windows == (window("08:00-14:00", "MON"),)
    assert len(done.notices) == 1


# --- on the wall ---


def test_a_window_past_midnight_belongs_to_the_day_on_which_it_starts() -> None:
    friday = week([window("22:00-06:00", "FRI")])
    inside = [
        local(NEW_YORK, text)
        for text in ("2025-10-03 22:00", "2025-10-03 23:59:59", "2025-10-04 00:00", "2025-10-04 05:59:59")
    ]
    outside = [
        local(NEW_YORK, text)
        for text in ("2025-10-03 05:00", "2025-10-03 21:59:59", "2025-10-04 06:00", "2025-10-04 22:00")
    ]
    assert all(is_inside(friday, NEW_YORK, moment) for moment in inside)
    assert not any(is_inside(friday, NEW_YORK, moment) for moment in outside)


def test_equal_times_are_a_whole_day_from_that_time_on() -> None:
    assert changes("12:00-12:00", BERLIN, utc("2025-06-01 00:00"), utc("2025-06-08 00:00"), "TUE") == [
        "Tue 12:00 +0200",
        "Wed 12:00 +0200",
    ]


def test_no_windows_mean_always() -> None:
    assert is_inside(week([]), BERLIN, utc("2025-06-01 03:00"))
    assert next(edges(week([]), BERLIN, utc("2025-06-01 03:00")), None) is None


def test_whole_days_that_follow_each_other_never_change() -> None:
    assert next(edges(week([window("08:00-08:00")]), NEW_YORK, utc("2025-03-08 03:00")), None) is None


def test_windows_that_touch_have_no_edge_between_them() -> None:
    both = week([window("08:00-12:00", "MON"), window("12:00-15:00", "MON")])
    assert next(edges(both, BERLIN, local(BERLIN, "2025-06-02 08:00")), None) == local(
        BERLIN, "2025-06-02 15:00"
    )


def test_an_edge_is_later_than_the_moment_asked_for() -> None:
    night = week([window("22:00-06:00")])
    at = local(BERLIN, "2025-06-02 22:00")
    assert next(edges(night, BERLIN, at - timedelta(microseconds=1)), None) == at
    assert next(edges(night, BERLIN, at), None) == local(BERLIN, "2025-06-03 06:00")


def test_a_zone_with_odd_minutes_has_edges_at_its_own_minutes() -> None:
    assert next(edges(week([window("22:00-06:00")]), KATHMANDU, utc("2025-06-02 00:20")), None) == utc(
        "2025-06-02 16:15"
    )


# --- clocks that change ---


def test_pc_d8_a_night_is_an_hour_shorter_in_spring_and_longer_in_autumn() -> None:
    night = week([window("22:00-06:00")])
    lengths = {}
    for day in ("2025-03-08", "2025-06-08", "2025-11-01"):
        start = local(NEW_YORK, f"{day} 22:00")
        end = next(edges(night, NEW_YORK, start), None)
        assert end is not None
        lengths[day] = end - start
    assert lengths == {
        "2025-03-08": timedelta(hours=7), "2025-06-08": timedelta(hours=8), "2025-11-01": timedelta(hours=9)
    }  # fmt: skip


def test_pc_d8_a_window_within_skipped_times_does_not_happen() -> None:
    assert changes("02:10-02:50", NEW_YORK, utc("2025-03-08 12:00"), utc("2025-03-10 12:00")) == [
        "Mon 02:10 -0400",
        "Mon 02:50 -0400",
    ]


def test_pc_d8_a_window_that_begins_within_skipped_times_begins_when_the_clock_has_jumped() -> None:
    assert changes("02:30-04:00", BERLIN, utc("2025-03-29 12:00"), utc("2025-03-30 12:00")) == [
        "Sun 03:00 +0200",
        "Sun 04:00 +0200",
    ]


def test_pc_d8_times_that_come_twice_count_twice() -> None:
    assert changes("01:15-01:45", NEW_YORK, utc("2025-11-02 04:00"), utc("2025-11-02 12:00")) == [
        "Sun 01:15 -0400", "Sun 01:45 -0400", "Sun 01:15 -0500", "Sun 01:45 -0500"
    ]  # fmt: skip


def test_a_clock_set_back_into_a_window_that_had_ended_opens_it_again() -> None:
    assert changes("23:00-01:30", NEW_YORK, utc("2025-11-02 04:00"), utc("2025-11-02 12:00")) == [
        "Sun 01:30 -0400", "Sun 01:00 -0500", "Sun 01:30 -0500"
    ]  # fmt: skip


@pytest.mark.parametrize("seconds", [-1, -0.5, 0, 0.5, 1])
def test_a_change_of_clocks_is_found_to_the_second_also_a_day_ahead(seconds: float) -> None:
    after = utc("2025-03-29 01:00") + timedelta(seconds=seconds)
    night = week([window("02:30-04:00", "SUN")])
    assert next(edges(night, BERLIN, after), None) == utc("2025-03-30 01:00")


def test_half_an_hour_of_summer_time_is_reckoned_as_half_an_hour() -> None:
    """Lord Howe Island goes from 02:00 to 02:30 and back."""
    assert changes("02:15-03:00", LORD_HOWE, utc("2025-10-04 12:00"), utc("2025-10-05 00:00")) == [
        "Sun 02:30 +1100", "Sun 03:00 +1100"
    ]  # fmt: skip
    assert changes("01:45-01:50", LORD_HOWE, utc("2025-04-05 12:00"), utc("2025-04-06 00:00")) == [
        "Sun 01:45 +1100", "Sun 01:50 +1100", "Sun 01:45 +1030", "Sun 01:50 +1030"
    ]  # fmt: skip


def test_a_midnight_that_is_skipped_opens_what_begins_at_midnight() -> None:
    """Cairo goes from 23:59:59 to 01:00 on the last Friday of April."""
    assert changes("00:00-06:00", CAIRO, utc("2025-04-24 12:00"), utc("2025-04-25 12:00")) == [
        "Fri 01:00 +0300", "Fri 06:00 +0300"
    ]  # fmt: skip


def test_a_day_that_a_country_left_out_has_no_windows() -> None:
    """Samoa had no 30 December 2011: what was meant for Fridays came a week later, and the night went on."""
    friday = week([window("08:00-09:00", "FRI")])
    assert next(edges(friday, APIA, utc("2011-12-29 12:00")), None) == local(APIA, "2012-01-06 08:00")
    night = changes("22:00-06:00", APIA, utc("2011-12-30 00:00"), utc("2011-12-31 12:00"), "THU")
    assert night == ["Thu 22:00 -1000", "Sat 00:00 +1400"]


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2025, 3, 30), 23), (date(2025, 10, 26), 25), (date(2025, 6, 1), 24)]
)
def test_a_day_is_as_long_as_it_was_on_the_wall(day: date, hours: int) -> None:
    start, end = day_bounds(day, BERLIN)
    assert end - start == timedelta(hours=hours)
    assert start.astimezone(BERLIN).hour == 0
