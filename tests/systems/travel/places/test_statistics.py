"""Figures: what is counted of what, and that following changes comes to what counting everything does."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.properties.effort import effort
from tests.systems.travel.talk import ANNA, FR, START, Gadget, Place

from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.geography.regions import geography
from tablewright.systems.travel.model import Change, Mark
from tablewright.systems.travel.places import statistics
from tablewright.systems.travel.places.statistics import Asked, advanced, figures, share, streak

TODAY = date(2030, 6, 14)


def asked(zone: str = "UTC") -> Asked:
    return Asked(ANNA, 1, zone, START)


def mark(day: str | None = None, ms: int = 1_900_000_000_000) -> Mark:
    return Mark(timestamp_ms=ms, visited_date=day)


# --- pure ---


def test_only_what_is_countable_is_in_a_count_and_in_its_denominator() -> None:
    marks = {"country#FR": mark(), "country#GL": mark(), "us_state#US-NY": mark(), "us_state#US-DC": mark()}
    found = figures(marks, geography(), asked())
    assert (found.countries_visited, found.countries_percentage) == (1, Decimal("0.5"))
    assert (found.us_states_visited, found.us_states_percentage) == (1, Decimal("2.0"))
    assert (found.total_regions_visited, found.total_regions_percentage) == (2, Decimal("0.8"))
    assert len(found.recent_visits) == 4


def test_all_of_it_is_a_hundred_per_cent() -> None:
    known = geography()
    marks = {
        f"{kind}#{region.region_code}": mark()
        for kind in ("country", "us_state", "canadian_province")
        for region in known.of(kind)
    }
    found = figures(marks, known, asked())
    counts = (found.countries_visited, found.us_states_visited, found.canadian_provinces_visited)
    assert counts == (195, 50, 13)
    assert found.total_regions_percentage == Decimal("100.0")
    assert found.continents_visited == ["AF", "AN", "AS", "EU", "NA", "OC", "SA"]


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [(0, 195, "0.0"), (1, 195, "0.5"), (1, 8, "12.5"), (1, 16, "6.3"), (0, 0, "0.0")],
)
def test_a_share_has_one_place_halves_up(part: int, whole: int, said: str) -> None:
    assert str(share(part, whole)) == said


def test_a_state_counts_for_its_continent() -> None:
    assert figures({"us_state#US-NY": mark()}, geography(), asked()).continents_visited == ["NA"]


@pytest.mark.parametrize(
    ("days", "length"),
    [
        ([], 0),
        ([0], 1),
        ([1], 1),
        ([2], 0),
        ([0, 1, 2], 3),
        ([1, 2, 3, 5], 3),
        ([0, 2, 3], 1),
        ([0, 0, 1], 2),
    ],
)
def test_a_streak_ends_today_or_yesterday(days: list[int], length: int) -> None:
    dates = [TODAY - timedelta(days=back) for back in days]
    assert streak([(day, day) for day in dates], TODAY) == length


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8)), max_size=8))
def test_a_streak_of_trips_is_that_of_their_days(trips: list[tuple[int, int]]) -> None:
    spans = [(TODAY - timedelta(days=back + long), TODAY - timedelta(days=back)) for back, long in trips]
    days = {first + timedelta(days=n) for first, last in spans for n in range((last - first).days + 1)}
    assert streak(spans, TODAY) == streak([(day, day) for day in days], TODAY)
    run = next((n for n in range(50) if TODAY - timedelta(days=n + (TODAY not in days)) not in days), 0)
    assert streak(spans, TODAY) == run


def test_a_streak_counts_days_of_visiting_and_never_the_day_of_marking() -> None:
    noon = int(START.timestamp() * 1000)
    marks = {
        "country#FR": mark("2030-06-12"),
        "country#DE": mark("2030-06-13"),
        "country#IT": mark(None, noon),
        "country#ES": mark("2030", noon - 3 * 86_400_000),
    }
    assert figures(marks, geography(), asked()).travel_streak_days == 2
    assert figures({"country#IT": mark(None, noon)}, geography(), asked()).travel_streak_days == 0


def test_a_streak_counts_the_days_of_trips(at: Place) -> None:
    today = rules.today_in("UTC", at.clock.now())
    trip = {"start": str(today - timedelta(days=4)), "end": str(today - timedelta(days=1))}
    trips: dict[str, JsonValue] = {"one": {**trip}, "two": {"start": str(today)}, "three": {"start": "2019"}}
    at.travel.visits.mark(ANNA, "country", "FR", {"trips": trips})
    assert at.travel.statistics.of(ANNA).travel_streak_days == 5
    at.travel.visits.mark(ANNA, "country", "DE", {"visited_date": str(today - timedelta(days=5))})
    found = at.travel.statistics.of(ANNA)
    assert found.travel_streak_days == 6
    assert found.marks == statistics.counted(at.travel.visits.all(ANNA)), "changes carry what a count finds"


def test_figures_of_an_earlier_form_are_counted_again(at: Place) -> None:
    today = rules.today_in("UTC", at.clock.now())
    at.travel.visits.mark(ANNA, "country", "FR", {"trips": {"one": {"start": str(today)}}})
    made = at.travel.statistics.of(ANNA)
    bare = {place: one.model_copy(update={"trip_days": []}) for place, one in made.marks.items()}
    old = made.model_copy(update={"marks": bare, "marks_form": 1, "travel_streak_days": 9})
    at.db.write(d.statistics.put(old))
    assert at.travel.statistics.of(ANNA) == made


def test_the_last_ten_are_shown_the_latest_first() -> None:
    codes = [region.region_code for region in geography().of("country")][:12]
    marks = {f"country#{code}": mark(None, 1_900_000_000_000 + n) for n, code in enumerate(codes)}
    shown = figures(marks, geography(), asked()).recent_visits
    assert [visit.region_code for visit in shown] == codes[:1:-1]


places = st.sampled_from(
    [("country", "FR"), ("country", "GL"), ("us_state", "US-NY"), ("canadian_province", "CA-ON")]
)
deeds = st.lists(
    st.tuples(places, st.booleans(), st.integers(0, 5), st.sampled_from([None, "2024", "2030-06-13"])),
    max_size=30,
)


@given(deeds, st.integers(0, 30))
@effort(200)
def test_following_changes_from_anywhere_comes_to_the_last_word_on_each_place(
    said: list[tuple[tuple[str, str], bool, int, str | None]], cut: int
) -> None:
    changes = [
        Change(
            user_id=ANNA,
            server_version=number,
            entity_type="visited_place",
            entity_id=f"{ANNA}#{place[0]}#{place[1]}",
            entity_version=number,
            kind="set" if is_live else "deleted",
            region_type=place[0],  # type: ignore[arg-type]  # a type of region
            region_code=place[1],
            timestamp_ms=1_900_000_000_000 + late,
            visited_date=day,
            device_id="phone",
            operation_id=str(number),
            changed_at=START,
        )
        for number, (place, is_live, late, day) in enumerate(said, 1)
    ]
    last = {f"{place[0]}#{place[1]}": (is_live, late, day) for place, is_live, late, day in said}
    wanted = {
        place: Mark(timestamp_ms=1_900_000_000_000 + late, visited_date=day)
        for place, (is_live, late, day) in last.items()
        if is_live
    }
    half = advanced({}, changes[:cut])
    assert advanced(half, changes[cut:]) == advanced({}, changes) == wanted
    # A change that is followed twice, with all after it, changes nothing.
    assert advanced(advanced({}, changes), changes[cut:]) == wanted


# --- kept ---


def test_figures_that_hold_are_not_counted_again(at: Place, phone: Gadget) -> None:
    phone.mark()
    phone.push()
    first = at.travel.statistics.of(ANNA)
    at.clock.move(timedelta(hours=2))
    assert at.travel.statistics.of(ANNA) == first


def test_a_new_day_and_another_zone_are_counted_anew(at: Place, phone: Gadget) -> None:
    phone.mark(visited_date="2030-06-14")
    phone.push()
    assert at.travel.statistics.of(ANNA).travel_streak_days == 1
    at.clock.move(timedelta(days=2))
    later = at.travel.statistics.of(ANNA)
    assert (later.travel_streak_days, later.calculation_date) == (0, date(2030, 6, 16))
    at.travel.sync.change_user(ANNA, {"time_zone": "Pacific/Kiritimati"})
    assert at.travel.statistics.of(ANNA).calculation_date == date(2030, 6, 17)


def test_figures_are_brought_up_to_date_by_changes_without_reading_all_visits(
    at: Place, phone: Gadget
) -> None:
    for region in at.travel.geography.of("country")[:100]:
        phone.mark(("country", region.region_code))
    phone.push()
    at.travel.statistics.of(ANNA)
    phone.mark(("us_state", "US-NY"))
    phone.unmark(("country", "AD"))
    phone.push()
    before = at.db.meter.spent().get("visits_of")
    found = at.travel.statistics.of(ANNA)
    assert at.db.meter.spent().get("visits_of") == before
    assert found.marks == statistics.counted(at.travel.visits.all(ANNA))
    assert (found.us_states_visited, found.server_version) == (1, at.head().server_version)


def test_figures_are_counted_from_visits_where_the_feed_no_longer_reaches(at: Place, phone: Gadget) -> None:
    phone.mark()
    phone.push()
    stale = at.travel.statistics.of(ANNA)
    phone.mark(("country", "DE"))
    phone.push()
    at.clock.move(timedelta(days=40))
    at.db.write(d.statistics.put(stale.model_copy(update={"calculated_at": at.clock.now()})))
    assert at.travel.statistics.of(ANNA).countries_visited == 2


def test_the_stream_keeps_figures_warm(at: Place, phone: Gadget) -> None:
    follower = at.travel.follower()
    follower.create_tables()
    for code in ("FR", "DE", "IT"):
        phone.mark(("country", code))
    phone.push()
    follower.run_once()
    kept = at.db.first(d.statistics_of(user_id=ANNA))
    assert kept is not None
    assert (kept.countries_visited, kept.server_version) == (3, 3)


def test_a_head_that_counts_wrongly_is_found_and_put_right(at: Place, phone: Gadget) -> None:
    phone.mark()
    phone.push()
    assert at.travel.statistics.repair(ANNA) is None
    head = at.head()
    at.db.write(d.heads.change(head, head.model_copy(update={"countries_visited": 7})))
    drift = at.travel.statistics.repair(ANNA)
    assert drift is not None
    assert (drift.said["countries_visited"], drift.found["countries_visited"]) == (7, 1)
    assert at.head().countries_visited == at.travel.repository.profile(ANNA).countries_visited == 1
    assert at.travel.statistics.repair(ANNA) is None


def test_a_mark_that_does_not_count_is_in_no_counter(at: Place, phone: Gadget) -> None:
    phone.mark(("country", "GL"))
    phone.mark(FR)
    phone.push()
    assert at.head().countries_visited == at.travel.statistics.of(ANNA).countries_visited == 1
    phone.unmark(("country", "GL"))
    phone.push()
    assert at.head().countries_visited == 1
