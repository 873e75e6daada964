"""What is blocked now and what changes next, as sentences; the laws behind them are in tests/properties."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from tests.systems.parental.written import SCHOOL_DAYS, child, override, policy, utc, window

from tablewright.systems.parental.model import EVERYTHING, BlockedApp, PolicyStatus
from tablewright.systems.parental.policy.effective import Span, Why, asked, effective, next_visible, timeline

SARAH = child()
# Friday, 3 October 2025, 12:00 in New York.
NOON = utc("2025-10-03 16:00")
BEDTIME = policy("bedtime", ["TikTok", "YouTube"], window("22:00-06:00"))
ALWAYS = policy("always", ["TikTok"])
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


# --- policies ---


def test_pc_s1_an_overnight_window_of_friday_holds_until_saturday_morning_and_comes_back_in_a_week() -> None:
    friday = [policy("bedtime", ["TikTok"], window("22:00-06:00", "FRI"))]
    opens, closes = utc("2025-10-04 02:00"), utc("2025-10-04 10:00")
    now = effective(SARAH, friday, [], NOON)
    assert (dict(now.blocked), now.next_change) == ({}, opens)
    during = effective(SARAH, friday, [], opens)
    assert (during.blocked, during.next_change) == ({"TikTok": Why(("bedtime",))}, closes)
    assert effective(SARAH, friday, [], closes - MINUTE).blocked == during.blocked
    after = effective(SARAH, friday, [], closes)
    assert (dict(after.blocked), after.next_change) == ({}, opens + timedelta(days=7))


def test_several_windows_a_day_each_open_and_close() -> None:
    school = policy(
        "school",
        ["TikTok"],
        window("08:00-10:00", "FRI"),
        window("11:00-13:00", "FRI"),
        window("14:00-15:00", "FRI"),
    )
    spans = timeline(SARAH, [school], [], utc("2025-10-03 04:00"), utc("2025-10-04 04:00"))
    assert [(span.start.hour - 4, span.end.hour - 4) for span in spans] == [(8, 10), (11, 13), (14, 15)]


def test_pc_41_what_several_policies_block_adds_up() -> None:
    school = policy("school", ["TikTok", "Instagram"], window("08:00-15:00", SCHOOL_DAYS))
    now = effective(SARAH, [school, ALWAYS, BEDTIME], [], NOON)
    assert now.blocked == {"Instagram": Why(("school",)), "TikTok": Why(("always", "school"))}


def test_pc_d35_closing_one_window_does_not_unblock_what_another_policy_blocks() -> None:
    school = policy("school", ["TikTok"], window("08:00-15:00", SCHOOL_DAYS))
    now = effective(SARAH, [school, ALWAYS], [], NOON)
    assert now.next_change == utc("2025-10-03 19:00")
    assert effective(SARAH, [school, ALWAYS], [], now.next_change).blocked == {"TikTok": Why(("always",))}


def test_pc_x4_a_policy_without_windows_is_always_in_force_and_never_changes() -> None:
    now = effective(SARAH, [ALWAYS], [], NOON)
    assert (now.blocked, now.next_change) == ({"TikTok": Why(("always",))}, None)


@pytest.mark.parametrize("status", ["paused", "draft", "deleted"])
def test_a_policy_that_is_not_active_does_nothing(status: PolicyStatus) -> None:
    now = effective(SARAH, [policy("off", ["TikTok"], status=status)], [], NOON)
    assert (dict(now.blocked), now.allowed, now.next_change) == ({}, (), None)


def test_pc_x4_a_policy_paused_until_a_time_comes_back_by_itself() -> None:
    paused = policy("p", ["TikTok"], window("08:00-15:00"), status="paused", paused_until=NOON + HOUR)
    now = effective(SARAH, [paused], [], NOON)
    assert (dict(now.blocked), now.next_change) == ({}, NOON + HOUR)
    assert "TikTok" in effective(SARAH, [paused], [], NOON + HOUR).blocked


def test_a_pause_that_ends_outside_the_windows_changes_nothing_until_one_opens() -> None:
    paused = policy("p", ["TikTok"], window("22:00-06:00"), status="paused", paused_until=NOON + HOUR)
    assert effective(SARAH, [paused], [], NOON).next_change == utc("2025-10-04 02:00")


def test_a_draft_is_not_woken_by_a_pause_that_ran_out() -> None:
    draft = policy("p", ["TikTok"], status="draft", paused_until=NOON - HOUR)
    assert not effective(SARAH, [draft], [], NOON).blocked


def test_pc_x3_windows_are_read_on_the_childs_clock_unless_the_policy_has_its_own() -> None:
    at = utc("2025-10-03 20:30")  # 22:30 in Berlin, 16:30 in New York
    assert effective(child("Europe/Berlin"), [BEDTIME], [], at).blocked
    assert not effective(child("America/New_York"), [BEDTIME], [], at).blocked
    berlin = policy("b", ["TikTok"], window("22:00-06:00"), timezone="Europe/Berlin")
    assert effective(child("America/New_York"), [berlin], [], at).blocked


def test_pc_x3_the_next_change_is_right_across_a_change_of_clocks() -> None:
    at = utc("2025-11-02 03:00")  # Saturday 23:00 in New York; the clocks go back in this night
    assert effective(SARAH, [BEDTIME], [], at).next_change == utc("2025-11-02 11:00")


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="must have a time zone"):
        effective(SARAH, [], [], datetime(2025, 10, 3))


# --- exceptions ---


def test_pc_x4_a_grant_ends_by_itself_and_the_app_is_blocked_again() -> None:
    grant = override("allow", "TikTok", NOON, NOON + 30 * MINUTE)
    now = effective(SARAH, [ALWAYS], [grant], NOON)
    assert (dict(now.blocked), now.allowed, now.next_change) == ({}, ("TikTok",), NOON + 30 * MINUTE)
    after = effective(SARAH, [ALWAYS], [grant], NOON + 30 * MINUTE)
    assert (after.blocked, after.allowed, after.next_change) == ({"TikTok": Why(("always",))}, (), None)


def test_a_grant_for_one_app_leaves_the_others_blocked() -> None:
    night = utc("2025-10-04 03:00")
    grant = override("allow", "YouTube", night, night + HOUR)
    now = effective(SARAH, [BEDTIME], [grant], night)
    assert (set(now.blocked), now.allowed) == ({"TikTok"}, ("YouTube",))


def test_an_exception_that_is_not_yet_or_no_longer_does_nothing() -> None:
    over = override("block", "YouTube", NOON - HOUR, NOON)
    coming = override("block", "YouTube", NOON + HOUR, NOON + 2 * HOUR, "coming")
    now = effective(SARAH, [], [over, coming], NOON)
    assert (dict(now.blocked), now.next_change) == ({}, NOON + HOUR)


def test_an_app_no_policy_knows_can_be_blocked_for_a_while() -> None:
    block = override("block", "YouTube", NOON, NOON + HOUR)
    now = effective(SARAH, [], [block], NOON)
    assert (now.blocked, now.next_change) == ({"YouTube": Why((), "block-YouTube")}, NOON + HOUR)


def test_block_everything_now_and_what_policies_block_is_still_known() -> None:
    dinner = override("block", EVERYTHING, NOON, NOON + HOUR)
    now = effective(SARAH, [ALWAYS], [dinner], NOON)
    assert now.everything
    assert now.blocked == {
        EVERYTHING: Why((), "block-everything"),
        "TikTok": Why(("always",), "block-everything"),
    }
    assert not effective(SARAH, [ALWAYS], [dinner], NOON + HOUR).everything


def test_a_policy_may_block_everything_at_bedtime() -> None:
    night = policy("night", [EVERYTHING], window("22:00-06:00"))
    now = effective(SARAH, [night], [], utc("2025-10-04 03:00"))
    assert now.everything
    assert now.blocked == {EVERYTHING: Why(("night",))}


def test_allow_everything_frees_what_policies_block_and_says_what() -> None:
    holiday = override("allow", EVERYTHING, NOON, NOON + HOUR)
    now = effective(SARAH, [ALWAYS], [holiday], NOON)
    assert (dict(now.blocked), now.allowed, now.everything) == ({}, ("TikTok",), False)


def test_the_exception_that_began_last_has_the_last_word() -> None:
    grant = override("allow", "YouTube", NOON, NOON + 3 * HOUR)
    dinner = override("block", EVERYTHING, NOON + HOUR, NOON + 2 * HOUR)
    during = effective(SARAH, [], [grant, dinner], NOON + HOUR)
    assert during.everything
    assert during.allowed == ()
    homework = override("allow", "YouTube", NOON + HOUR + MINUTE, NOON + 3 * HOUR, "homework")
    opened = effective(SARAH, [], [homework, dinner, grant], NOON + HOUR + MINUTE)
    assert opened.everything
    assert opened.allowed == ("YouTube",)


def test_begun_in_the_same_moment_the_app_beats_everything_and_allow_beats_block() -> None:
    everything = override("allow", EVERYTHING, NOON, NOON + HOUR)
    block = override("block", "YouTube", NOON, NOON + HOUR)
    allow = override("allow", "YouTube", NOON, NOON + HOUR)
    assert set(effective(SARAH, [], [block, everything], NOON).blocked) == {"YouTube"}
    for order in ([block, allow], [allow, block]):
        assert not effective(SARAH, [], order, NOON).blocked


def test_an_exception_for_what_is_not_blocked_frees_nothing() -> None:
    now = effective(SARAH, [], [override("allow", "YouTube", NOON, NOON + HOUR)], NOON)
    assert (now.allowed, now.next_change) == ((), None)


# --- a paused child ---


def test_pc_x4_a_paused_child_is_free_of_its_policies_until_the_time_given() -> None:
    paused = child(paused_until=NOON + HOUR)
    now = effective(paused, [ALWAYS], [], NOON)
    assert (dict(now.blocked), now.allowed, now.next_change) == ({}, ("TikTok",), NOON + HOUR)
    assert effective(paused, [ALWAYS], [], NOON + HOUR).blocked


def test_an_exception_blocks_also_while_the_child_is_paused() -> None:
    paused = child(paused_until=NOON + HOUR)
    dinner = override("block", EVERYTHING, NOON, NOON + 2 * HOUR)
    now = effective(paused, [ALWAYS], [dinner], NOON)
    assert (set(now.blocked), now.allowed) == ({EVERYTHING}, ())


def test_a_paused_policy_is_no_reason_for_what_an_exception_blocks() -> None:
    block = override("block", "TikTok", NOON, NOON + HOUR)
    now = effective(child(paused_until=NOON + 2 * HOUR), [ALWAYS], [block], NOON)
    assert now.blocked == {"TikTok": Why((), "block-TikTok")}


def test_a_pause_without_an_end_in_sight_is_answered_in_time() -> None:
    """Two policies whose windows never show through each other: only the end of the pause is a change."""
    paused = child(paused_until=utc("2090-01-01 00:00"))
    many = [ALWAYS, policy("school", ["TikTok"], window("08:00-15:00", SCHOOL_DAYS))]
    assert effective(paused, many, [], NOON).next_change == utc("2090-01-01 00:00")


# --- what comes next, for people ---


def test_the_next_visible_change_passes_over_what_only_changes_the_reason() -> None:
    school = policy("school", ["TikTok"], window("08:00-15:00", SCHOOL_DAYS))
    day = policy("day", ["TikTok"], window("10:00-18:00"))
    assert effective(SARAH, [school, day], [], NOON).next_change == utc("2025-10-03 19:00")
    later = next_visible(SARAH, [school, day], [], NOON)
    assert later is not None
    assert (later.at, dict(later.blocked)) == (utc("2025-10-03 22:00"), {})


def test_there_is_no_visible_change_where_only_reasons_change() -> None:
    school = policy("school", ["TikTok"], window("08:00-15:00", SCHOOL_DAYS))
    assert next_visible(SARAH, [school, ALWAYS], [], NOON) is None
    assert next_visible(SARAH, [ALWAYS], [], NOON) is None


# --- the picture of a day ---


def test_a_timeline_shows_each_app_from_when_to_when_and_why() -> None:
    night = utc("2025-10-04 03:00")
    grant = override("allow", "YouTube", night, night + HOUR)
    start, end = utc("2025-10-03 04:00"), utc("2025-10-04 04:00")
    why, opens = Why(("bedtime",)), utc("2025-10-04 02:00")
    assert timeline(SARAH, [BEDTIME], [grant], start, end) == [
        Span(start, utc("2025-10-03 10:00"), "TikTok", why),
        Span(start, utc("2025-10-03 10:00"), "YouTube", why),
        Span(opens, end, "TikTok", why),
        Span(opens, night, "YouTube", why),
    ]


def test_a_timeline_of_what_never_changes_is_one_span() -> None:
    start, end = NOON, NOON + timedelta(days=7)
    assert timeline(SARAH, [ALWAYS], [], start, end) == [Span(start, end, "TikTok", Why(("always",)))]


def test_a_timeline_tells_when_the_reason_changes() -> None:
    school = policy("school", ["TikTok"], window("08:00-15:00", "FRI"))
    spans = timeline(SARAH, [school, ALWAYS], [], utc("2025-10-03 04:00"), utc("2025-10-04 04:00"))
    assert [span.why.policy_ids for span in spans] == [("always",), ("always", "school"), ("always",)]


def test_a_timeline_of_no_time_is_empty() -> None:
    assert timeline(SARAH, [ALWAYS], [], NOON, NOON) == []


# --- what the compiler is asked ---


def test_what_is_asked_of_an_app_is_what_the_policies_in_force_say_of_it() -> None:
    own = BlockedApp(app_name="TikTok", domains=["example.com"])
    more = BlockedApp(app_name="TikTok", domains=["example.org"])
    both = [policy("day", [own], window("08:00-15:00")), policy("night", [more], window("22:00-06:00"))]
    why = effective(SARAH, both, [], NOON).blocked["TikTok"]
    assert asked("TikTok", why, both) == [own]


def test_an_exception_means_the_app_as_the_family_knows_it() -> None:
    own = BlockedApp(app_name="Our list", domains=["example.com"])
    night = policy("night", [own], window("22:00-06:00"))
    draft = policy("draft", [BlockedApp(app_name="Our list", domains=["example.org"])], status="draft")
    block = override("block", "Our list", NOON, NOON + HOUR)
    why = effective(SARAH, [night, draft], [block], NOON).blocked["Our list"]
    assert asked("Our list", why, [night, draft]) == [own]
    assert asked("Unknown", Why((), "x"), [night]) == [BlockedApp(app_name="Unknown")]


def test_an_exception_for_everything_is_not_narrowed_by_a_policy() -> None:
    web_only = BlockedApp.model_validate({"appName": EVERYTHING, "ports": [{"port": 443}]})
    night = policy("night", [web_only])
    assert asked(EVERYTHING, Why(("night",)), [night]) == [web_only]
    assert asked(EVERYTHING, Why(("night",), "x"), [night]) == [BlockedApp(app_name=EVERYTHING)]
