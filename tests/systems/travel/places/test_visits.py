"""Marks on the web, lists of them, and who may see them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from pydantic import JsonValue
from tests.systems.talk import at_once
from tests.systems.travel.talk import ANNA, FR, PHONE, Gadget, Place, Spot, sign_up

from tablewright.edge.errors import BadRequest, NotFound
from tablewright.mapping import Consumer
from tablewright.systems.travel import design as d
from tablewright.systems.travel.errors import VersionConflict
from tablewright.systems.travel.geography.regions import Retired
from tablewright.systems.travel.model import SERVER
from tablewright.systems.travel.travel import Travel, open_travel

NY: Spot = ("us_state", "US-NY")
SHARING: dict[str, JsonValue] = {"privacy_settings": {"share_visits": True}}
PRIVATE: dict[str, JsonValue] = {"privacy_settings": {"share_visits": False}}


def item_of(at: Place, sort: str, user_id: str = ANNA) -> dict[str, Any]:
    (item,) = [
        item for item in at.items() if item["SK"]["S"] == sort and item["PK"]["S"] == f"USER#{user_id}"
    ]
    return item


def index_keys(item: dict[str, Any]) -> dict[str, str]:
    return {name: value["S"] for name, value in item.items() if name.startswith("GSI")}


# --- on the web ---


def test_a_mark_on_the_web_reaches_devices_like_any_other(at: Place, phone: Gadget) -> None:
    result = at.travel.visits.mark(ANNA, *FR, {"notes": "Paris"})
    assert result.status == "applied"
    phone.pull()
    assert phone.places()["country#FR"]["notes"] == "Paris"
    assert at.travel.visits.one(ANNA, *FR).marked_from_device == SERVER
    at.travel.visits.unmark(ANNA, *FR)
    phone.pull()
    assert phone.places() == {}


def test_who_insists_on_a_version_is_told_of_a_newer_one(at: Place) -> None:
    at.travel.visits.mark(ANNA, *FR, {}, 0)
    at.travel.visits.mark(ANNA, *FR, {"notes": "new"}, 1)
    writes: list[Any] = [
        partial(at.travel.visits.mark, ANNA, *FR, {"notes": "late"}, 1),
        partial(at.travel.visits.unmark, ANNA, *FR, 1),
        partial(at.travel.visits.mark, ANNA, *FR, {}, 0),
    ]
    for write in writes:
        with pytest.raises(VersionConflict) as refused:
            write()
        assert refused.value.facts["current"]["data"]["notes"] == "new"


@pytest.mark.parametrize(
    ("fields", "code"),
    [({"notes": "x" * 501}, "NOTES_TOO_LONG"), ({"visited_date": "2999"}, "FUTURE_DATE")],
)
def test_what_a_device_may_not_say_the_web_may_not_either(
    at: Place, fields: dict[str, Any], code: str
) -> None:
    with pytest.raises(BadRequest) as refused:
        at.travel.visits.mark(ANNA, *FR, fields)
    assert refused.value.code == code


def test_a_region_nobody_knows_cannot_be_marked_or_looked_at(at: Place) -> None:
    for look in (at.travel.visits.mark, at.travel.visits.unmark, at.travel.visits.one):
        with pytest.raises(BadRequest) as refused:
            look(ANNA, "country", "ZZ")
        assert refused.value.code == "UNKNOWN_REGION"


def test_what_is_not_marked_cannot_be_unmarked(at: Place) -> None:
    with pytest.raises(NotFound) as refused:
        at.travel.visits.unmark(ANNA, *FR)
    assert refused.value.code == "VISIT_NOT_FOUND"


# --- lists ---


def test_lists_are_by_type_the_latest_first_without_what_was_deleted(at: Place, phone: Gadget) -> None:
    for spot in (("country", "DE"), FR, NY, ("country", "IT")):
        phone.mark(spot)
        phone.push()
        at.clock.move(timedelta(minutes=1))
    phone.unmark(FR)
    phone.push()
    visits = at.travel.visits
    assert [visit.region_code for visit in visits.of_type(ANNA, "country").items] == ["IT", "DE"]
    assert [visit.region_code for visit in visits.recent(ANNA)] == ["IT", "US-NY", "DE"]
    assert [visit.region_code for visit in visits.recent(ANNA, 2)] == ["IT", "US-NY"]
    assert [visit.region_code for visit in visits.all(ANNA)] == ["DE", "IT", "US-NY"]


def test_a_list_comes_in_pages(at: Place, phone: Gadget) -> None:
    codes = [region.region_code for region in at.travel.geography.of("country")][:7]
    for code in codes:
        phone.mark(("country", code))
        at.clock.move(timedelta(seconds=1))
    phone.push()
    seen: list[str] = []
    after: str | None = None
    while after is not None or not seen:
        page = at.travel.visits.of_type(ANNA, "country", 3, after)
        seen += [visit.region_code for visit in page.items]
        after = page.next
    assert seen == codes[::-1]


# --- keys (SK-D7, SK-D34) ---


def test_a_private_visit_is_in_no_list_of_its_region(at: Place, phone: Gadget) -> None:
    phone.mark()
    phone.push()
    keys = index_keys(item_of(at, "VISIT#country#FR"))
    assert keys.keys() == {"GSI2PK", "GSI2SK"}
    assert keys["GSI2PK"] == "USER#anna#country"
    assert at.db.count(d.visitors_of(region_type=FR[0], region_code=FR[1])) == 0


def test_a_shared_visit_is_listed_by_time_in_one_of_sixteen_parts(at: Place, phone: Gadget) -> None:
    at.travel.sync.change_user(ANNA, SHARING)
    phone.mark()
    phone.push()
    item = item_of(at, "VISIT#country#FR")
    keys, moment = index_keys(item), item["timestamp_ms"]["N"]
    assert keys["GSI1PK"].rpartition("#")[0] == "REGION#country#FR"
    assert keys["GSI1PK"].rpartition("#")[2] in {f"{shard:02d}" for shard in range(16)}
    assert keys["GSI1SK"] == f"VISIT#{moment}#anna"
    assert keys["GSI2SK"] == f"VISIT#{moment}"
    assert len(moment) == 13


def test_a_tombstone_loses_all_four_index_keys_and_expires(at: Place, phone: Gadget) -> None:
    at.travel.sync.change_user(ANNA, SHARING)
    phone.mark()
    phone.push()
    phone.unmark()
    phone.push()
    item = item_of(at, "VISIT#country#FR")
    assert index_keys(item) == {}
    assert int(item["ttl"]["N"]) == int((at.clock.now() + timedelta(days=180)).timestamp())


# --- visitors ---


def test_the_list_of_a_region_has_those_who_share_and_nothing_they_wrote(at: Place) -> None:
    for number in range(20):
        sign_up(at.db, at.clock, f"user{number}", (PHONE,))
        if number % 2 == 0:
            at.travel.sync.change_user(f"user{number}", SHARING)
        at.travel.visits.mark(f"user{number}", *FR, {"notes": "secret"})
        at.clock.move(timedelta(seconds=1))
    listed = d.visitors_of(region_type=FR[0], region_code=FR[1])
    page = at.db.page(listed, size=4)
    assert [visitor.user_id for visitor in page.items] == ["user18", "user16", "user14", "user12"]
    assert all(visitor.model_dump().keys() == {"user_id", "timestamp_ms"} for visitor in page.items)
    rest = at.db.page(listed, size=10, after=page.next)
    assert len(rest.items) == 6


def test_turning_the_switch_lists_and_unlists_everything(at: Place, phone: Gadget) -> None:
    for region in at.travel.geography.of("country")[:50]:
        phone.mark(("country", region.region_code))
    phone.push()
    versions = {visit.region_code: visit.sync_version for visit in at.travel.visits.all(ANNA)}
    for switch, listed in ((SHARING, True), (PRIVATE, False)):
        at.travel.sync.change_user(ANNA, switch)
        assert {visit.is_listed for visit in at.travel.visits.all(ANNA)} == {listed}
        (item,) = [item for item in at.items() if item["SK"]["S"] == "VISIT#country#AD"]
        assert ("GSI1PK" in item) is listed
    assert {visit.region_code: visit.sync_version for visit in at.travel.visits.all(ANNA)} == versions


def test_marks_that_are_made_while_the_switch_turns_end_up_as_it_says(at: Place) -> None:
    codes = [region.region_code for region in at.travel.geography.of("country")][:40]
    work: list[Any] = [partial(at.travel.visits.mark, ANNA, "country", code) for code in codes]
    for number in range(0, 40, 8):
        switch = SHARING if number % 16 else PRIVATE
        work.insert(number, partial(at.travel.sync.change_user, ANNA, switch))
    outcomes = at_once(work, threads=6)
    assert not [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    at.travel.regions.relist(ANNA)
    shares = at.head().shares_visits
    assert at.travel.repository.profile(ANNA).privacy_settings.share_visits is shares
    assert {visit.is_listed for visit in at.travel.visits.all(ANNA)} == {shares}


def test_a_count_of_visitors_follows_the_stream_and_counts_each_once(at: Place) -> None:
    follower = at.travel.follower()
    follower.create_tables()
    people = [f"user{number}" for number in range(12)]
    for person in people:
        sign_up(at.db, at.clock, person, (PHONE,))
        at.travel.sync.change_user(person, SHARING)
        at.travel.visits.mark(person, *FR)
    follower.run_once()
    assert at.travel.regions.count(*FR) == 12
    at.travel.visits.unmark(people[0], *FR)
    at.travel.sync.change_user(people[1], PRIVATE)
    at.travel.visits.mark(people[2], *FR, {"notes": "x"})
    follower.run_once()
    assert at.travel.regions.count(*FR) == 10
    tallies = {item["PK"]["S"] for item in at.items() if item["PK"]["S"].startswith("TALLY#")}
    assert len(tallies) > 3


def test_a_change_that_is_told_twice_counts_once(at: Place) -> None:
    told: list[Any] = []
    watcher = Consumer(at.db, [d.visits], d.table.table.name, "watcher", told.append)
    watcher.create_tables()
    at.travel.sync.change_user(ANNA, SHARING)
    at.travel.visits.mark(ANNA, *FR)
    watcher.run_once()
    for change in told * 3:
        at.travel.regions.follow_visit(change)
    assert at.travel.regions.count(*FR) == 1


def test_a_mark_that_is_changed_while_it_is_taken_away_stays(
    at: Place, phone: Gadget, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone.mark(FR)
    phone.push()
    apply = at.travel.sync.apply

    def slow(*given: Any, **more: Any) -> Any:
        phone.change(FR, notes="Paris")
        phone.push()
        return apply(*given, **more)

    monkeypatch.setattr(at.travel.sync, "apply", slow)
    with pytest.raises(VersionConflict):
        at.travel.visits.unmark(ANNA, *FR)
    assert at.travel.visits.one(ANNA, *FR).notes == "Paris"
    assert not at.travel.sync.conflicts(ANNA).items


# --- codes that are retired later (SK-X12) ---


def retired(at: Place, code: str, *became: str) -> Travel:
    """Skratch of a later day, when a country's code was retired."""
    now = at.travel.geography
    without = {each: region for each, region in now.regions["country"].items() if each != code}
    later = replace(
        now,
        regions={**now.regions, "country": without},
        retired={**now.retired, "country": {code: Retired(code, "Once", 2031, became)}},
    )
    return open_travel(at.db, at.clock.world(), places=later)


def test_visits_of_a_code_that_is_retired_later_move_to_the_present_one(at: Place, phone: Gadget) -> None:
    phone.mark(FR, notes="Paris", visited_date="2024")
    phone.push()
    marked = at.travel.visits.one(ANNA, *FR).marked_at
    at.clock.move(timedelta(days=400))
    travel = retired(at, "FR", "DE")
    assert [result.status for result in travel.visits.follow_codes(ANNA)] == ["applied"]
    (visit,) = travel.visits.all(ANNA)
    assert (visit.region_code, visit.notes, visit.visited_date) == ("DE", "Paris", "2024")
    assert visit.marked_at == marked
    assert at.head().countries_visited == 1
    assert travel.visits.follow_codes(ANNA) == []
    phone.pull()
    assert list(phone.places()) == ["country#DE"]


@pytest.mark.parametrize("became", [("DE",), ("DE", "IT")])
@pytest.mark.parametrize("by", ["a device", "the web", "the web that saw it"])
def test_a_mark_that_is_taken_away_by_its_retired_code_before_it_moved_stays_away(
    at: Place, phone: Gadget, became: tuple[str, ...], by: str
) -> None:
    phone.mark(FR, notes="Paris")
    phone.push()
    travel = retired(at, "FR", *became)
    if by == "a device":
        (result,) = travel.sync.push(ANNA, PHONE, [phone.unmark(FR)]).results
        assert (result.status, [state.entity_id for state in result.entities]) == (
            "applied",
            ["anna#country#FR"],
        )
    else:
        travel.visits.unmark(ANNA, *FR, phone.told["anna#country#FR"].entity_version if "saw" in by else None)
    assert travel.visits.follow_codes(ANNA) == []
    assert travel.visits.all(ANNA) == []
    assert at.head().countries_visited == 0


def test_a_mark_that_has_moved_is_taken_away_on_the_web_by_its_retired_code_too(at: Place) -> None:
    at.travel.visits.mark(ANNA, "country", "MM", {"notes": "Bagan"})
    at.travel.visits.unmark(ANNA, "country", "BU")
    assert at.travel.visits.all(ANNA) == []


def test_a_mark_that_is_changed_by_its_retired_code_moves_with_the_change(at: Place, phone: Gadget) -> None:
    phone.mark(FR, notes="Paris")
    phone.push()
    travel = retired(at, "FR", "DE")
    (result,) = travel.sync.push(ANNA, PHONE, [phone.change(FR, notes="Lyon")]).results
    assert result.status == "applied"
    travel.visits.follow_codes(ANNA)
    assert [(visit.region_code, visit.notes) for visit in travel.visits.all(ANNA)] == [("DE", "Lyon")]


@pytest.mark.parametrize("code", ["FR", "DE"])
def test_a_mark_under_a_retired_code_is_found_and_changed_by_either(
    at: Place, phone: Gadget, code: str
) -> None:
    phone.mark(FR, notes="Paris")
    phone.push()
    travel = retired(at, "FR", "DE")
    travel.visits.mark(ANNA, "country", code, {"notes": "Lyon"})
    assert travel.visits.one(ANNA, "country", code).notes == "Lyon"
    assert len(travel.visits.all(ANNA)) == 1
    assert at.head().countries_visited == travel.statistics.of(ANNA).countries_visited == 1
    travel.visits.unmark(ANNA, "country", code)
    assert travel.visits.all(ANNA) == []


def test_a_device_that_marks_the_present_code_does_not_count_a_place_twice(at: Place, phone: Gadget) -> None:
    phone.mark(FR, notes="Paris")
    phone.push()
    travel = retired(at, "FR", "DE")
    (result,) = travel.sync.push(ANNA, PHONE, [phone.mark(("country", "DE"), visited_date="2024")]).results
    assert result.status in ("applied", "merged")
    (visit,) = travel.visits.all(ANNA)
    assert (visit.region_code, visit.notes, visit.visited_date) == ("DE", "Paris", "2024")
    assert at.head().countries_visited == travel.statistics.of(ANNA).countries_visited == 1


def test_what_was_seen_under_a_former_code_is_not_taken_for_what_is_under_the_present_one(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    tablet.mark(("country", "DE"), notes="Berlin")
    tablet.push()
    for year in ("2018", "2019", "2020"):
        phone.edit("restore", FR, {"visited_date": year})
    phone.push()
    travel = retired(at, "FR", "DE")
    travel.visits.follow_codes(ANNA)
    (result,) = travel.sync.push(ANNA, PHONE, [phone.unmark(FR)]).results
    assert result.status == "conflict"
    assert [(visit.region_code, visit.notes) for visit in travel.visits.all(ANNA)] == [("DE", "Berlin")]


def test_a_mark_that_is_changed_while_it_moves_is_moved_the_next_time(
    at: Place, phone: Gadget, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone.mark(FR, notes="Paris")
    phone.push()
    travel = retired(at, "FR", "DE")
    move = travel.sync._move

    def slow(visit: Any, code: str) -> Any:
        at.travel.visits.mark(ANNA, *FR, {"notes": "Lyon"})
        return move(visit, code)

    with monkeypatch.context() as patched:
        patched.setattr(travel.sync, "_move", slow)
        assert travel.visits.follow_codes(ANNA) == []
    travel.visits.follow_codes(ANNA)
    assert [(visit.region_code, visit.notes) for visit in travel.visits.all(ANNA)] == [("DE", "Lyon")]
