"""Windows and policies against a watchman who looks at the clock on the wall every minute.

He knows the rules only as sentences: which day a window belongs to, which policies count, who has the last word. His
nights are those in which clocks change: by an hour, by half an hour, by two, at midnight, over a whole day, or not at
all. What he writes down must be what the evaluator says, and the moments at which his notes change must be its edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.effort import effort
from tests.systems.parental.written import child, override, policy

from tablewright.systems.parental.model import EVERYTHING, Child, Override, Policy, PolicyStatus, Window
from tablewright.systems.parental.policy.effective import Why, effective, next_visible, timeline
from tablewright.systems.parental.policy.windows import DAYS, edges, is_inside, merged, week

MINUTE = timedelta(minutes=1)
INSTANT = timedelta(microseconds=1)
# A zone, and a day (UTC) on which something happens to its clocks.
NIGHTS = (
    ("America/New_York", "2025-03-09"), ("America/New_York", "2025-11-02"), ("Europe/Berlin", "2025-03-30"),
    ("Europe/Berlin", "2025-10-26"), ("Europe/Dublin", "2025-10-26"), ("Australia/Lord_Howe", "2025-04-05"),
    ("Australia/Lord_Howe", "2025-10-04"), ("Africa/Johannesburg", "2025-06-01"), ("Asia/Kathmandu", "2025-06-01"),
    ("Pacific/Apia", "2011-12-30"), ("Pacific/Apia", "2012-03-31"), ("Pacific/Chatham", "2025-04-05"),
    ("America/Sao_Paulo", "2018-11-04"), ("America/Sao_Paulo", "2018-02-18"), ("Africa/Cairo", "2025-04-24"),
    ("Africa/Casablanca", "2025-02-23"), ("Antarctica/Troll", "2025-03-30"), ("Antarctica/Troll", "2025-10-26"),
    ("America/St_Johns", "2005-04-03"), ("UTC", "2025-06-01"),
)  # fmt: skip
ZONES = sorted({name for name, _ in NIGHTS})
YEARS = ("America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Chatham")
APPS = ("TikTok", "YouTube", EVERYTHING)

# Hours around which clocks change are the interesting ones; minutes of every kind.
clock_times = st.builds(
    lambda hour, minute: f"{hour:02}:{minute:02}",
    st.one_of(st.integers(0, 3), st.integers(0, 23)),
    st.one_of(st.sampled_from([0, 15, 30, 45]), st.integers(0, 59)),
)
windows = st.builds(
    lambda start, end, days: Window(start_time=start, end_time=end, days=[d for d in DAYS if d in days]),
    clock_times,
    st.one_of(clock_times, st.just("00:00")),
    st.sets(st.sampled_from(DAYS), min_size=1),
)
nights = st.sampled_from(NIGHTS)


@st.composite
def moments(draw: st.DrawFn, night: str) -> datetime:
    """Some minute of the day before, of the day or of the day after."""
    start = datetime.fromisoformat(night).replace(tzinfo=UTC) - timedelta(days=1)
    return start + draw(st.integers(0, 3 * 24 * 60)) * MINUTE


# --- the watchman ---


def shows_a_time_of(window: Window, wall: datetime) -> bool:
    """Whether a window that begins today or yesterday is running by the clock on the wall."""
    for day in (wall.date(), wall.date() - timedelta(days=1)):
        start = datetime.fromisoformat(f"{day} {window.start_time}")
        end = datetime.fromisoformat(f"{day} {window.end_time}")
        if end <= start:
            end += timedelta(days=1)
        if DAYS[day.weekday()] in window.days and start <= wall < end:
            return True
    return False


def is_running(written: Sequence[Window], zone: str, at: datetime) -> bool:
    wall = at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    return not written or any(shows_a_time_of(window, wall) for window in written)


Notes = tuple[dict[str, Why], set[str]]


def notes(of: Child, policies: Sequence[Policy], overrides: Sequence[Override], at: datetime) -> Notes:
    """What the watchman writes down: what is blocked and why, and what is free that would not be."""
    in_force = [
        one
        for one in policies
        if (
            one.status == "active" or (one.status == "paused" and one.paused_until and one.paused_until <= at)
        )
        and is_running(one.time_windows, one.timezone or of.timezone, at)
    ]
    running = [one for one in overrides if one.begins_at <= at < one.until]
    pausing = of.paused_until is not None and at < of.paused_until

    def last_word(name: str) -> Override | None:
        about = [one for one in running if one.app_name in (name, EVERYTHING)]
        if not about:
            return None
        latest = max(one.begins_at for one in about)
        about = [one for one in about if one.begins_at == latest]
        own = [one for one in about if one.app_name == name] or about
        kind = "allow" if any(one.kind == "allow" for one in own) else "block"
        return max((one for one in own if one.kind == kind), key=lambda one: one.override_id)

    def wanting(name: str) -> tuple[str, ...]:
        return tuple(
            sorted(
                one.policy_id for one in in_force if name in [entry.app_name for entry in one.blocked_apps]
            )
        )

    def reason(name: str) -> Why | None:
        word, ids = last_word(name), wanting(name)
        counting = () if pausing else ids
        if word is None:
            return Why(counting) if counting else None
        if word.kind == "allow" or not (counting or word.app_name == name):
            return None
        return Why(counting, word.override_id)

    blocked = {name: why for name in APPS if (why := reason(name)) is not None}
    free = set()
    for name in APPS:
        word = last_word(name)
        is_allowed = word is not None and word.kind == "allow"
        # Free: it would be blocked by a policy, or by everything being blocked, but for an exception or the pause.
        if name in blocked:
            continue
        by_name = is_allowed and word is not None and word.app_name == name and EVERYTHING in blocked
        by_pause = bool(wanting(name)) and pausing and not is_allowed and EVERYTHING not in blocked
        if by_name or by_pause or (bool(wanting(name)) and is_allowed):
            free.add(name)
    return blocked, free


# --- windows ---


@given(st.data())
@effort(40)
def test_a_window_is_open_in_exactly_the_minutes_a_watchman_finds_it_open(data: st.DataObject) -> None:
    zone, night = data.draw(nights)
    written = data.draw(st.lists(windows, min_size=1, max_size=4))
    start = data.draw(moments(night))
    meant, place = week(written), ZoneInfo(zone)
    was = is_running(written, zone, start)
    assert is_inside(meant, place, start) == was
    found = []
    for minute in range(1, 36 * 60):
        at = start + minute * MINUTE
        now = is_running(written, zone, at)
        assert is_inside(meant, place, at) == now
        if now != was:
            found.append(at)
            was = now
    told = []
    for edge in edges(meant, place, start):
        if edge >= start + timedelta(hours=36):
            break
        told.append(edge)
    assert told == found


@given(st.data())
@effort(150)
def test_nothing_changes_before_the_next_edge_and_something_does_at_it(data: st.DataObject) -> None:
    zone, night = data.draw(nights)
    written = data.draw(st.lists(windows, min_size=1, max_size=3))
    start = data.draw(moments(night)) + data.draw(st.integers(0, 59_999_999)) * INSTANT
    meant, place = week(written), ZoneInfo(zone)
    edge = next(edges(meant, place, start), None)
    if edge is None:
        assert meant.spans == ((0, 7 * 24 * 60),)
        return
    before = is_inside(meant, place, start)
    assert edge > start
    assert is_inside(meant, place, edge - INSTANT) == before
    assert is_inside(meant, place, edge) != before
    # Edges do not hang on where one begins to look.
    between = start + (edge - start) * data.draw(st.floats(0, 0.999))
    assert next(edges(meant, place, between), None) == edge


@given(st.lists(windows, max_size=6), st.sampled_from(ZONES), st.integers(0, 7 * 24 * 60 - 1))
@effort(200)
def test_merging_changes_no_minute_and_leaves_no_overlap(
    written: list[Window], zone: str, minute: int
) -> None:
    done = merged(written)
    assert week(done.windows) == week(written)
    assert merged(done.windows).notices == ()
    assert bool(done.notices) or done.windows == tuple(written)
    at = datetime(2025, 6, 2, tzinfo=UTC) + minute * MINUTE
    open_now = [one for one in done.windows if is_running([one], "UTC", at)]
    assert len(open_now) <= 1
    assert bool(written and open_now) == bool(written and is_running(written, "UTC", at))


@pytest.mark.parametrize("zone", YEARS)
def test_a_year_of_nights_has_an_edge_wherever_the_watchman_sees_one(zone: str) -> None:
    """Every quarter of an hour of a year: no change of clocks is missed, whatever the zone."""
    written = [Window(start_time="22:00", end_time="02:30", days=list(DAYS))]
    start, step, place = datetime(2025, 1, 1, tzinfo=UTC), timedelta(minutes=15), ZoneInfo(zone)
    seen = [is_running(written, zone, start + n * step) for n in range(366 * 96)]
    found = [start + n * step for n in range(1, len(seen)) if seen[n] != seen[n - 1]]
    told = edges(week(written), place, start)
    assert [next(told) for _ in found] == found


# --- policies and exceptions ---


@st.composite
def situations(draw: st.DrawFn) -> tuple[Child, list[Policy], list[Override], datetime]:
    zone, night = draw(nights)
    at = draw(moments(night))
    soon = st.integers(-12 * 60, 30 * 60).map(lambda minutes: at + minutes * MINUTE)
    statuses: list[PolicyStatus] = ["active", "active", "active", "paused", "draft", "deleted"]
    policies = [
        policy(
            f"policy-{number}",
            draw(st.lists(st.sampled_from(APPS), min_size=1, max_size=2, unique=True)),
            *draw(st.lists(windows, max_size=2)),
            status=draw(st.sampled_from(statuses)),
            timezone=draw(st.one_of(st.none(), st.sampled_from(ZONES))),
            paused_until=draw(st.one_of(st.none(), soon)),
        )
        for number in range(draw(st.integers(0, 3)))
    ]
    overrides = [
        override(
            draw(st.sampled_from(["allow", "block"])),
            draw(st.sampled_from(APPS)),
            begins := draw(soon),
            begins + draw(st.integers(1, 20 * 60)) * MINUTE,
            f"override-{number}",
        )
        for number in range(draw(st.integers(0, 3)))
    ]
    return child(zone, draw(st.one_of(st.none(), soon))), policies, overrides, at


@given(situations())
@effort(50)
def test_what_is_blocked_is_what_a_watchman_writes_down_and_changes_when_his_notes_do(
    situation: tuple[Child, list[Policy], list[Override], datetime],
) -> None:
    of, policies, overrides, at = situation
    hours = 30
    now = effective(of, policies, overrides, at)
    first = notes(of, policies, overrides, at)
    assert (dict(now.blocked), set(now.allowed)) == first
    assert now.everything == (EVERYTHING in now.blocked)
    changed = next(
        (
            moment
            for n in range(1, hours * 60)
            if notes(of, policies, overrides, moment := at + n * MINUTE) != first
        ),
        None,
    )
    if changed is None:
        assert now.next_change is None or now.next_change >= at + timedelta(hours=hours)
    else:
        assert now.next_change == changed


@given(situations(), st.integers(0, 59_999_999))
@effort(150)
def test_from_now_to_the_next_change_nothing_changes_and_at_it_something_does(
    situation: tuple[Child, list[Policy], list[Override], datetime], micros: int
) -> None:
    of, policies, overrides, minute = situation
    at = minute + micros * INSTANT
    now = effective(of, policies, overrides, at)
    if now.next_change is None:
        far = effective(of, policies, overrides, at + timedelta(days=200))
        assert (far.blocked, far.allowed) == (now.blocked, now.allowed)
        return
    assert now.next_change > at
    just_before = effective(of, policies, overrides, now.next_change - INSTANT)
    assert (just_before.blocked, just_before.allowed) == (now.blocked, now.allowed)
    assert just_before.next_change == now.next_change
    then = effective(of, policies, overrides, now.next_change)
    assert (then.blocked, then.allowed) != (now.blocked, now.allowed)


@given(situations())
@effort(40)
def test_a_timeline_says_of_every_minute_what_is_blocked_then(
    situation: tuple[Child, list[Policy], list[Override], datetime],
) -> None:
    of, policies, overrides, at = situation
    end = at + timedelta(hours=24)
    spans = timeline(of, policies, overrides, at, end)
    assert all(at <= span.start < span.end <= end for span in spans)
    for n in range(0, 24 * 60, 7):
        moment = at + n * MINUTE
        shown = {span.app: span.why for span in spans if span.start <= moment < span.end}
        assert shown == notes(of, policies, overrides, moment)[0]


@given(situations())
@effort(60)
def test_the_next_visible_change_is_the_first_at_which_another_set_of_apps_is_blocked(
    situation: tuple[Child, list[Policy], list[Override], datetime],
) -> None:
    of, policies, overrides, at = situation
    now = set(effective(of, policies, overrides, at).blocked)
    later = next_visible(of, policies, overrides, at)
    until = at + timedelta(days=3) if later is None else later.at
    if later is not None:
        assert set(later.blocked) != now
    spans = timeline(of, policies, overrides, at, min(until, at + timedelta(days=14)))
    for edge in {at, *(span.start for span in spans), *(span.end for span in spans)}:
        if edge < min(until, at + timedelta(days=14)):
            assert {span.app for span in spans if span.start <= edge < span.end} == now


@given(situations())
@effort(60)
def test_the_answer_does_not_hang_on_the_order_in_which_things_were_read(
    situation: tuple[Child, list[Policy], list[Override], datetime],
) -> None:
    of, policies, overrides, at = situation
    told = effective(of, policies, overrides, at)
    assert effective(of, policies[::-1], overrides[::-1], at) == told
