"""Who wins when two devices disagree, and that nothing is lost without a word."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.properties.effort import effort

from tablewright.systems.travel.model import Stamp
from tablewright.systems.travel.sync.merge import (
    FORGOTTEN,
    NOTES_AT_MOST,
    STAMPS_OF_GONE,
    WHOLE,
    Author,
    Clash,
    Fields,
    Known,
    Merge,
    Verb,
    both_notes,
    merge,
    settle,
    unseen_by,
)

PHONE, TABLET = "phone", "tablet"
texts = st.sampled_from(("a", "b", "c"))
names = st.sampled_from(("notes", "visited_date", "trips/1", "trips/2"))
states = st.dictionaries(names, texts)
edits = st.dictionaries(names, st.one_of(st.none(), texts))


def live(version: int = 3, **fields: Any) -> Known:
    """A visit at a version, everything in it set by its last change, on the phone."""
    stamp = Stamp(version=version, device=PHONE)
    return Known(fields, {WHOLE: stamp, **dict.fromkeys(fields, stamp)}, version)


def tombstone(version: int = 4, **fields: Any) -> Known:
    known = live(version - 1, **fields)
    stamps = {**known.stamps, WHOLE: Stamp(version=version, device=PHONE)}
    return Known(known.fields, stamps, version, is_deleted=True)


def by(base: int, device: str = TABLET, **more: Any) -> Author:
    return Author(device, base, label="the tablet", **more)


def trip(start: str) -> JsonValue:
    return {"start": start}


# --- fields ---


def difference(before: Fields, after: Fields) -> Fields:
    """The edit that makes one of the other."""
    names = dict.fromkeys((*before, *after))
    return {name: after.get(name) for name in names if before.get(name) != after.get(name)}


def three_way(base: Fields, server: Fields, client: Fields, label: str = "") -> Merge:
    """What both sides made of one state, merged."""
    return merge(difference(base, client), server, difference(base, server).keys(), label)


def test_a_field_that_one_side_changed_is_that_sides() -> None:
    base = {"notes": "x", "visited_date": "2024"}
    merged = three_way(base, {"notes": "y", "visited_date": "2024"}, {"notes": "x", "visited_date": "2025"})
    assert (merged.set, merged.clashes) == ({"visited_date": "2025"}, ())


def test_the_same_change_on_both_sides_is_no_conflict() -> None:
    merged = three_way({}, {"notes": "y"}, {"notes": "y"})
    assert (merged.set, merged.clashes) == ({}, ())


def test_notes_of_both_sides_are_kept_with_where_they_come_from() -> None:
    merged = three_way({}, {"notes": "Paris"}, {"notes": "Lyon"}, "the tablet")
    both = "Paris — from the tablet: Lyon"
    assert merged.set == {"notes": both}
    assert merged.clashes == (Clash("notes", "Paris", "Lyon", both, "merged"),)


def test_notes_that_are_too_long_together_wait_for_a_person() -> None:
    merged = three_way({}, {"notes": "P" * 300}, {"notes": "L" * 300}, "the tablet")
    assert merged.set == {}
    assert [clash.strategy for clash in merged.clashes] == ["manual"]


@pytest.mark.parametrize("letter", ["é", "🗺", "語"])
def test_the_length_of_notes_is_counted_in_code_points(letter: str) -> None:
    around = len(" — from the tablet: ")
    fits = letter * (NOTES_AT_MOST - around - 1)
    assert both_notes(fits, "x", "the tablet") is not None
    assert both_notes(fits + letter, "x", "the tablet") is None


def test_any_other_field_keeps_what_the_server_has() -> None:
    merged = three_way({}, {"visited_date": "2024"}, {"visited_date": "2025"})
    assert merged.set == {}
    assert merged.clashes == (Clash("visited_date", "2024", "2025", "2024", "server_wins"),)


def test_trips_are_merged_one_by_one() -> None:
    one, two, three = (trip(start) for start in ("2022", "2023-04", "2024-05-01"))
    base: Fields = {"trips/1": one}
    merged = three_way(base, {"trips/1": one, "trips/2": two}, {"trips/3": three})
    assert (merged.set, merged.clashes) == ({"trips/1": None, "trips/3": three}, ())


@given(states, states, states)
@effort(200)
def test_without_conflicts_it_does_not_matter_who_came_first(
    base: Fields, one: Fields, other: Fields
) -> None:
    first, second = three_way(base, one, other), three_way(base, other, one)
    assert bool(first.clashes) == bool(second.clashes)
    if not first.clashes:
        assert difference({**one, **first.set}, {**other, **second.set}) == {}


@given(states, edits, st.sets(names))
@effort(200)
def test_merging_again_changes_nothing(server: Fields, edit: Fields, changed: set[str]) -> None:
    merged = merge(edit, server, changed)
    after = {**server, **merged.set}
    assert merge(edit, after, changed).set == {}


@given(states, edits, st.sets(names))
@effort(200)
def test_whatever_an_edit_says_is_there_or_in_a_conflict(
    server: Fields, edit: Fields, changed: set[str]
) -> None:
    merged = merge(edit, server, changed)
    after = {**server, **merged.set}
    told = {clash.field: clash for clash in merged.clashes}
    for name, value in edit.items():
        assert after.get(name) == value or told[name].client == value
    for name, clash in told.items():
        assert (clash.server, clash.kept) == (server.get(name), after.get(name))


@given(states, edits, st.sets(names))
@effort(200)
def test_what_an_edit_does_not_name_stays(server: Fields, edit: Fields, changed: set[str]) -> None:
    assert merge(edit, server, changed).set.keys() <= edit.keys()


# --- entities ---


def test_an_edit_of_the_newest_version_is_applied() -> None:
    settled = settle("update", {"notes": "new"}, live(notes="old"), by(3))
    assert (settled.outcome, settled.known.version, settled.known.fields) == ("applied", 4, {"notes": "new"})


def test_an_edit_that_says_what_is_there_makes_no_version() -> None:
    settled = settle("update", {"notes": "old"}, live(notes="old"), by(3))
    assert (settled.changed, settled.known.version) == (False, 3)


def test_only_fields_others_set_since_are_unseen() -> None:
    stamps = {"notes": Stamp(version=2, device=PHONE), "visited_date": Stamp(version=4, device=PHONE)}
    assert unseen_by(by(3), Known({}, stamps, 4)) == {"visited_date"}


def test_a_device_has_seen_what_it_did_itself_if_it_says_so() -> None:
    stamps = {
        "notes": Stamp(version=4, device=TABLET, feed=7),
        "visited_date": Stamp(version=5, device=PHONE, feed=8),
        "trips/1": Stamp(version=6, device=TABLET, feed=9),
    }
    known = Known({}, stamps, 6)
    assert unseen_by(by(3, follows=8), known) == {"visited_date", "trips/1"}
    assert unseen_by(by(3), known) == stamps.keys()


def test_merged_notes_were_seen_by_nobody() -> None:
    merged = settle("update", {"notes": "Lyon"}, live(4, notes="Paris"), by(3)).known
    again = settle("update", {"notes": "Nice"}, merged, by(3, follows=99))
    assert again.outcome == "conflict"
    assert again.known.fields["notes"] == "Paris — from the tablet: Lyon — from the tablet: Nice"


def test_a_version_nobody_has_had_yet_counts_as_having_seen_nothing() -> None:
    settled = settle("update", {"visited_date": "2025"}, live(2, visited_date="2024"), by(9))
    assert (settled.outcome, settled.known.fields) == ("conflict", {"visited_date": "2024"})


def test_a_device_that_was_away_too_long_has_seen_nothing() -> None:
    settled = settle("update", {"visited_date": "2025"}, live(2, visited_date="2024"), by(2, is_stale=True))
    assert settled.outcome == "conflict"


def test_deleting_the_newest_version_deletes() -> None:
    settled = settle("delete", {}, live(notes="x"), by(3))
    assert (settled.outcome, settled.known.is_deleted, settled.known.version) == ("applied", True, 4)


def test_deleting_what_was_edited_meanwhile_does_not() -> None:
    settled = settle("delete", {}, live(4, notes="x"), by(3))
    assert (settled.outcome, settled.changed, settled.strategy) == ("conflict", False, "server_wins")
    assert settled.clashes == (Clash(WHOLE, {"notes": "x"}, None, {"notes": "x"}, "server_wins"),)


def test_editing_what_was_deleted_meanwhile_leaves_it_deleted() -> None:
    settled = settle("update", {"notes": "y"}, tombstone(4, notes="x"), by(3))
    assert (settled.outcome, settled.known.is_deleted) == ("conflict", True)
    assert settled.clashes == (Clash(WHOLE, None, {"notes": "y"}, None, "server_wins"),)


def test_an_edit_of_a_deletion_that_was_seen_brings_the_place_back() -> None:
    settled = settle("update", {"notes": "y"}, tombstone(4, visited_date="2024"), by(4))
    assert (settled.outcome, settled.known.is_deleted) == ("applied", False)
    assert settled.known.fields == {"notes": "y", "visited_date": "2024"}


def test_marking_anew_begins_without_what_was_said_before() -> None:
    settled = settle("create", {"notes": "y"}, tombstone(4, visited_date="2024"), by(4))
    assert (settled.outcome, settled.known.fields, settled.known.version) == ("applied", {"notes": "y"}, 5)


def test_restoring_brings_back_what_was_said_before() -> None:
    settled = settle("restore", {}, tombstone(4, visited_date="2024"), by(4))
    assert settled.known.fields == {"visited_date": "2024"}


@pytest.mark.parametrize("deed", ["create", "restore"])
def test_marking_without_knowing_of_the_deletion_wins_and_is_told(deed: Verb) -> None:
    settled = settle(deed, {"notes": "y"}, tombstone(4), by(0))
    assert (settled.outcome, settled.strategy, settled.known.is_deleted) == ("conflict", "client_wins", False)


def test_deleting_twice_is_deleting_once() -> None:
    settled = settle("delete", {}, tombstone(4), by(3))
    assert (settled.outcome, settled.changed) == ("merged", False)


def test_an_edit_of_what_was_forgotten_does_not_bring_it_back() -> None:
    settled = settle("update", {"notes": "y"}, Known(), by(3))
    assert (settled.outcome, settled.changed) == ("conflict", False)


@pytest.mark.parametrize("deed", ["create", "update", "restore"])
def test_an_edit_of_what_never_was_begins_it(deed: Verb) -> None:
    settled = settle(deed, {"notes": "y", "visited_date": None}, Known(), by(0))
    assert (settled.outcome, settled.known.version, settled.known.fields) == ("applied", 1, {"notes": "y"})


def with_trips_come_and_gone(known: Known, device: str = TABLET) -> Known:
    for number in range(2 * STAMPS_OF_GONE):
        for said in (trip("2024"), None):
            author = by(known.version, device, feed=known.version)
            known = settle("update", {f"trips/{number}": said}, known, author).known
    return known


def test_trips_that_are_gone_have_one_stamp_together_in_the_end() -> None:
    known = with_trips_come_and_gone(live(1))
    assert len(known.stamps) == 2 + STAMPS_OF_GONE
    assert f"trips/{2 * STAMPS_OF_GONE - 1}" in known.stamps
    assert known.stamps[FORGOTTEN].version == 1 + 2 * STAMPS_OF_GONE


@pytest.mark.parametrize("is_marked_anew", [False, True])
def test_a_trip_that_went_long_ago_does_not_come_back_unasked(is_marked_anew: bool) -> None:
    known = with_trips_come_and_gone(live(1))
    if is_marked_anew:
        known = settle("delete", {}, known, by(known.version)).known
        known = settle("create", {"notes": "anew"}, known, by(known.version)).known
    settled = settle("update", {"trips/0": trip("2025")}, known, by(2, PHONE))
    assert settled.outcome == "conflict"
    assert settled.clashes == (Clash("trips/0", None, trip("2025"), None, "server_wins"),)
    assert settle("update", {"trips/0": trip("2025")}, known, by(known.version, PHONE)).outcome == "applied"


def test_a_device_whose_own_trips_went_may_add_another() -> None:
    known = with_trips_come_and_gone(live(1))
    author = by(1, follows=known.version)
    assert settle("update", {"trips/new": trip("2025")}, known, author).outcome == "applied"
    known = settle("update", {"trips/0": None}, with_trips_come_and_gone(known, PHONE), by(9999)).known
    assert settle("update", {"trips/new": trip("2025")}, known, author).outcome == "conflict"


def test_a_field_that_a_deletion_took_away_does_not_come_back_unasked_when_the_place_does() -> None:
    anew = settle("create", {}, tombstone(4, visited_date="2024"), by(4)).known
    settled = settle("update", {"visited_date": "2025"}, anew, by(3, PHONE))
    assert (settled.outcome, settled.known.fields) == ("conflict", {})


@given(
    st.lists(
        st.tuples(
            st.sampled_from(("create", "update", "delete", "restore")), edits, st.integers(0, 6),
            st.sampled_from((PHONE, TABLET)),
        ),
        max_size=8,
    )
)  # fmt: skip
@effort(300)
def test_a_version_more_for_each_change_and_none_otherwise(
    deeds: list[tuple[Verb, Fields, int, str]],
) -> None:
    known = Known()
    for deed, edit, base, device in deeds:
        settled = settle(deed, edit, known, by(base, device))
        assert settled.known.version == known.version + settled.changed
        if not settled.changed:
            assert settled.known == known
        assert (settled.outcome == "conflict") == bool(settled.clashes)
        assert max((stamp.version for stamp in settled.known.stamps.values()), default=0) <= (
            settled.known.version
        )
        known = settled.known
