"""What parents read and look at: sentences about blocks, and pictures of days and weeks. Pure."""

import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablewright.pages.forms import Form
from tablewright.systems.parental.enforcement.plan import AppStatus
from tablewright.systems.parental.firewall.removal import GIVEN_UP
from tablewright.systems.parental.model import Action, BlockedApp, Child, Day, Override, Policy, Port, Window
from tablewright.systems.parental.pages import forms
from tablewright.systems.parental.pages import words as texts
from tablewright.systems.parental.pages.charts import (
    Column,
    blocks,
    columns,
    day_timeline,
    heat_rows,
    week_grid,
)
from tablewright.systems.parental.policy import effective, windows
from tablewright.systems.parental.policy.effective import Effective, Span, Why
from tablewright.systems.parental.policy.windows import DAYS, day_bounds

NEW_YORK = "America/New_York"
NOW = datetime(2026, 11, 16, 18, 0, tzinfo=UTC)  # Monday, 13:00 in New York
CHILD = Child(
    child="+15551234567", phone="+15551234567", held_phone="+15551234567", family_id="f", child_name="Sarah",
    timezone=NEW_YORK, parent_email="a@example.com", created_at=NOW, updated_at=NOW,
)  # fmt: skip


def window(start: str, end: str, *days: Day) -> Window:
    return Window(start_time=start, end_time=end, days=list(days or DAYS))


# --- words ---


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (DAYS, "every day"),
        (("MON", "TUE", "WED", "THU", "FRI"), "Monday to Friday"),
        (("SUN", "MON", "TUE", "WED", "THU"), "Sunday to Thursday"),
        (("SAT", "SUN"), "Saturday and Sunday"),
        (("MON", "WED", "FRI"), "Monday, Wednesday and Friday"),
        (("FRI",), "Friday"),
        (("SAT", "SUN", "MON"), "Saturday to Monday"),
    ],
)
def test_days_are_called_as_people_call_them(days: tuple[str, ...], words: str) -> None:
    assert texts.days_words(days) == words


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (window("22:00", "06:00"), "22:00 to 06:00 the next day, every day"),
        (window("08:00", "15:00", "MON"), "08:00 to 15:00, Monday"),
        (window("20:00", "00:00", "SAT"), "20:00 to midnight, Saturday"),
        (window("07:00", "07:00", "SUN"), "24 hours from 07:00, Sunday"),
    ],
)
def test_a_window_says_when_it_ends_on_the_next_day(given: Window, words: str) -> None:
    assert texts.window_words(given) == words


@pytest.mark.parametrize(
    ("hours", "words"),
    [
        (1, "today at 14:00"),
        (11, "tomorrow at 00:00"),
        (72, "on Thursday at 13:00"),
        (-24, "yesterday at 13:00"),
        (24 * 20, "on 6 December at 13:00"),
        (24 * 60, "on 15 January 2027 at 13:00"),
    ],
)
def test_a_moment_is_one_of_the_childs_clock(hours: int, words: str) -> None:
    assert texts.moment(NOW + timedelta(hours=hours), NEW_YORK, NOW) == words


def state(*apps: str, at: datetime = NOW, allowed: tuple[str, ...] = ()) -> Effective:
    return Effective(at, {app: Why(("p",)) for app in apps}, allowed, "*" in apps, None)


LATER = NOW + timedelta(hours=2)


@pytest.mark.parametrize(
    ("now", "then", "words"),
    [
        (state(), None, "No scheduled changes."),
        (state(), state("A", at=LATER), "A will be blocked at 15:00."),
        (state("A"), state("B", "C", at=LATER), "B and C will be blocked and A will be unblocked at 15:00."),
        (state("A"), state("A", "*", at=LATER), "Everything will be blocked at 15:00."),
        (state("*"), state(at=LATER), "Everything will be unblocked at 15:00."),
        (state("*", "A"), state("A", at=LATER), "At 15:00 everything will be unblocked, but A will stay blocked."),
        (state("A"), state("*", at=LATER), "Everything will be blocked at 15:00."),
    ],
)  # fmt: skip
def test_what_changes_next_is_said_in_a_sentence(now: Effective, then: Effective | None, words: str) -> None:
    assert texts.change_words(now, then, NEW_YORK, NOW) == words


def test_what_is_blocked_is_said_in_a_sentence() -> None:
    assert texts.now_words(state()) == "Nothing is blocked"
    assert texts.now_words(state("B", "A")) == "A and B are blocked"
    assert texts.now_words(state("*", allowed=("YouTube",))) == "Everything is blocked, except YouTube"


@pytest.mark.parametrize(
    ("windows", "freed", "paused", "words"),
    [
        ([], (), False, "active"),
        ([], ("A", "B"), False, "suspended by an exception"),
        ([], ("B",), False, "active, except B"),
        ([], (), True, "paused until 14:00"),
        ([window("20:00", "22:00")], (), False, "not active now"),
        ([window("20:00", "22:00")], (), True, "not active now"),
    ],
)
def test_a_policy_says_what_keeps_it_from_blocking_now(
    windows: list[Window], freed: tuple[str, ...], paused: bool, words: str
) -> None:
    child = CHILD.model_copy(update={"paused_until": NOW + timedelta(hours=1)}) if paused else CHILD
    policy = Policy(
        child=child.child, policy_id="p", child_name="Sarah", parent_email="a@example.com", time_windows=windows,
        blocked_apps=[BlockedApp(app_name="A"), BlockedApp(app_name="B")], created_at=NOW, updated_at=NOW,
    )  # fmt: skip
    exceptions = [
        Override(
            child=child.child, override_id=app, kind="allow", app_name=app, begins_at=NOW,
            until=NOW + timedelta(hours=1), by="a@example.com",
        )
        for app in freed
    ]  # fmt: skip
    holding = effective.effective(child, [policy], exceptions, NOW)
    in_time = effective.in_their_time(child, [policy], NOW)
    assert texts.policy_state(policy, holding, in_time, child, ())[0] == words


def test_a_status_never_says_more_than_is_known() -> None:
    def said(status: AppStatus) -> str:
        return texts.status_words(status, CHILD, NOW)

    assert said(AppStatus("A", "enforced", since=NOW)) == "Blocked on the network since 13:00."
    kept = AppStatus("A", "enforced", since=NOW, reason="open connections continue")
    assert said(kept) == "Blocked on the network since 13:00. Open connections continue."
    assert said(AppStatus("A", "pending", reason="on its way")) == "Applying…"
    assert (
        said(AppStatus("A", "pending", reason="the device is away", since=NOW))
        == "Should be blocked, not confirmed since 13:00: the device is away. We keep trying."
    )
    assert said(AppStatus("A", "failed", reason="no domains")) == "Should be blocked, but is not: no domains."
    assert "as soon as the phone is on the network" in said(AppStatus("A", "no session"))
    still = said(AppStatus("A", "pending", wanted=False, reason="it is being unblocked"))
    assert still == "Being unblocked…"


def test_a_rule_that_was_given_up_is_told_as_that_and_not_as_something_that_is_tried_again() -> None:
    entry = Action(
        child=CHILD.child, occurred_at=NOW, action_id="a", action="unblock", app_name="TikTok", privateIP="10.20.30.40",
        status="failed", error_message=GIVEN_UP,
    )  # fmt: skip
    said = texts.failure_words(entry)
    assert said == "Given up: the firewall was removed, and may still have this rule"
    assert "10.1.2.3" not in texts.failure_words(
        entry.model_copy(update={"error_message": "no route to 10.1.2.3"})
    )


# --- the week ---


def test_what_goes_past_midnight_goes_on_at_the_top_of_the_next_day() -> None:
    evening, morning = blocks([window("22:00", "06:00", "SUN")])
    assert (evening.day, evening.start, evening.end, evening.is_rest) == (6, 22 * 60, 24 * 60, False)
    assert (morning.day, morning.start, morning.end, morning.is_rest) == (0, 0, 6 * 60, True)
    assert morning.words == "Sun 22:00 to Mon 06:00"


def test_a_window_to_midnight_has_no_rest() -> None:
    assert [block.is_rest for block in blocks([window("20:00", "00:00", "MON")])] == [False]


@settings(deadline=None)  # others work on this machine too
@given(
    st.lists(
        st.builds(
            lambda start, end, days: window(f"{start:02}:30", f"{end:02}:00", *days),
            st.integers(0, 23),
            st.integers(0, 23),
            st.lists(st.sampled_from(DAYS), min_size=1, unique=True),
        ),
        max_size=4,
    )
)
def test_the_week_that_is_drawn_is_the_week_that_is_enforced(given: list[Window]) -> None:
    drawn = {
        (block.day, minute)
        for block in blocks(given)
        for minute in range(0, 24 * 60, 30)
        if block.start <= minute < block.end
    }
    week = windows.week(given) if given else windows.Week((), ())
    monday = datetime(2026, 11, 16)
    meant = {
        (day, minute)
        for day in range(7)
        for minute in range(0, 24 * 60, 30)
        if week.holds(monday + timedelta(days=day, minutes=minute))
    }
    assert drawn == meant


def test_no_windows_are_drawn_as_always_and_a_form_without_times_as_nothing() -> None:
    assert str(week_grid(())).count("week-block") == 7
    assert str(week_grid((), is_empty=True)).count("week-block") == 0


# --- the day ---


def test_a_day_on_which_the_clocks_change_is_drawn_as_long_as_it_is() -> None:
    zone = ZoneInfo(NEW_YORK)
    start, end = day_bounds(date(2026, 3, 8), zone)
    assert end - start == timedelta(hours=23)
    noon = datetime(2026, 3, 8, 12, tzinfo=zone)
    made = str(day_timeline([Span(noon, end, "A", Why(("p",)))], start, end, NOW, zone))
    bar = re.search(r'class="day-bar by-policy" x="([\d.]+)%"', made)
    assert bar is not None
    assert float(bar[1]) == pytest.approx(100 * 11 / 23, abs=0.01)  # noon is the eleventh hour of this day
    assert "A from 12:00 to midnight" in made


def test_now_is_a_line_on_its_own_day_only() -> None:
    zone = ZoneInfo(NEW_YORK)
    today, tomorrow = day_bounds(date(2026, 11, 16), zone), day_bounds(date(2026, 11, 17), zone)
    spans = [Span(*today, "A", Why(override_id="o"))]
    assert "now 13:00" in str(day_timeline(spans, *today, NOW, zone))
    assert "by-exception" in str(day_timeline(spans, *today, NOW, zone))
    assert "now-line" not in str(day_timeline(spans, *tomorrow, NOW, zone))


def test_heat_and_columns_tell_each_number() -> None:
    heat = [[0] * 24 for _ in range(7)]
    heat[2][21], heat[3][8] = 10, 1
    rows = heat_rows(heat)
    assert rows[2][1][21].words == "Wednesday 21:00: 10 attempts"
    assert (rows[2][1][21].level, rows[3][1][8].level, rows[0][1][0].level) == (5, 1, 0)
    made = str(columns([Column("Mon", 4, "Mon: 4", 2), Column("Tue", 0, "Tue: 0", 0)], "Two days"))
    assert made.count("bar-before") == 2
    assert "<title>Mon: 4</title>" in made
    assert "height=" in str(columns([], "Nothing"))


# --- the editor's form ---


def a_policy(*entries: BlockedApp, given: tuple[Window, ...] = ()) -> Policy:
    return Policy(
        child="c", policy_id="p", child_name="Sarah", parent_email="a@example.com", blocked_apps=list(entries),
        time_windows=list(given), created_at=NOW, updated_at=NOW, version=7,
    )  # fmt: skip


def test_a_policy_survives_the_way_through_the_form() -> None:
    policy = a_policy(
        BlockedApp(app_name="*"),
        BlockedApp(app_name="TikTok"),
        BlockedApp(
            app_name="Own",
            domains=["a.example"],
            ip_ranges=["203.0.113.0/24"],
            ports=[Port(port=53, protocol="UDP")],
        ),
        given=(window("22:00", "06:00", "FRI"),),
    )
    found = forms.draft_of(forms.form_of_policy(policy), "active").draft
    assert list(found.blocked_apps) == policy.blocked_apps
    assert [Window.model_validate(one) for one in found.time_windows] == policy.time_windows


def test_everything_on_some_ports_only_keeps_its_ports() -> None:
    policy = a_policy(BlockedApp(app_name="*", ports=[Port(port=443)]))
    found = forms.draft_of(forms.form_of_policy(policy), "active").draft
    assert list(found.blocked_apps) == policy.blocked_apps


@pytest.mark.parametrize(
    ("pasted", "site"),
    [
        ("https://www.Puzzles.example/game?x=1", "puzzles.example"),
        ("www.puzzles.example/game", "puzzles.example"),
        ("puzzles.example,", "puzzles.example"),
        ("https://m.puzzles.example", "m.puzzles.example"),
        ("https://www.co.uk/", "www.co.uk"),
    ],
)
def test_pc_d19_the_address_of_a_page_stands_for_its_site(pasted: str, site: str) -> None:
    form = Form({"when": "always", "o0-name": "", "o0-to": pasted})
    (entry,) = forms.draft_of(form, "active").draft.blocked_apps
    assert (entry.app_name, entry.domains) == (site, [site])


def test_pc_d10_a_row_of_ones_own_says_what_is_blocked_of_it_and_what_is_not() -> None:
    to = "www.cheat.example m.puzzle.example cloudfront.net 142.250.0.0/15 school.example nonsense!"
    told = forms.site_effect(forms.OwnRow(0, "Puzzles", to, "443"), ["school.example"])
    assert told.blocked == (
        "cheat.example is blocked, including all its subdomains.",
        "Only m.puzzle.example and its subdomains are blocked, not the rest of puzzle.example. To block all of it, "
        "write puzzle.example.",
    )
    assert [text.split(" is not blocked (")[0] for text in told.unmet] == [
        "cloudfront.net",
        "nonsense!",
        "school.example",
        "142.250.0.0/15",
    ]
    assert forms.site_effect(forms.OwnRow(0, "", "", "many"), ()) == forms.SiteEffect((), ())
