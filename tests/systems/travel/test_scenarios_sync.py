"""The document's scenarios about sync and figures, to the letter: SK-S1 to S4, S7 to S9, S12, S15."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from tests.systems.travel.talk import ANNA, FR, Gadget, Place, sync_all

from tablewright.systems.travel import design as d
from tablewright.systems.travel.sync.operations import FieldConflict, place_id, visit_state

FRANCE = "country#FR"


def at_version_3(phone: Gadget, tablet: Gadget) -> None:
    """France, marked and changed twice, known to both."""
    phone.mark()
    phone.push()
    for notes in ("first", "second"):
        phone.change(notes=notes)
        phone.push()
    sync_all(phone, tablet)
    assert {gadget.look(FR).version for gadget in (phone, tablet)} == {3}


def test_sk_s1_two_devices_that_mark_a_country_offline_make_one_visit(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    phone.mark()
    at.clock.move(timedelta(hours=3))
    tablet.mark()
    assert [result.status for result in phone.push()] == ["applied"]
    assert [result.status for result in tablet.push()] == ["merged"]
    for gadget in (phone, tablet):
        gadget.pull()
    visits = [item for item in at.items() if item["SK"]["S"].startswith("VISIT#")]
    assert [item["SK"]["S"] for item in visits] == ["VISIT#country#FR"]
    assert at.head().countries_visited == 1
    assert at.travel.repository.profile(ANNA).countries_visited == 1
    assert phone.told == tablet.told


def test_sk_s2_edits_of_different_fields_are_both_kept(at: Place, phone: Gadget, tablet: Gadget) -> None:
    at_version_3(phone, tablet)
    phone.change(notes="Paris")
    tablet.change(visited_date="2024-05-01")
    assert phone.push()[0].status == "applied"
    merged = tablet.push()[0]
    assert (merged.status, merged.conflicts) == ("merged", [])
    visit = at.visit()
    assert visit is not None
    assert (visit.notes, visit.visited_date, visit.sync_version) == ("Paris", "2024-05-01", 5)
    assert not at.travel.sync.conflicts(ANNA).items


def test_sk_s3_notes_that_do_not_fit_together_are_a_conflict_until_somebody_settles_it(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    at_version_3(phone, tablet)
    ours, theirs = "P" * 300, "T" * 300
    phone.change(notes=ours)
    edit = tablet.change(notes=theirs)
    assert phone.push()[0].status == "applied"
    refused = tablet.push()[0]
    assert (refused.status, refused.strategy) == ("conflict", "manual")
    (conflict,) = at.travel.sync.conflicts(ANNA).items
    assert (conflict.operation_id, conflict.has_conflict) == (edit.operation_id, True)
    assert conflict.conflict_details is not None
    said = FieldConflict.model_validate(conflict.conflict_details["fields"][0])  # type: ignore[index]  # any JSON
    assert (said.field, said.server, said.client) == ("notes", ours, theirs)
    before = at.visit()
    assert before is not None
    assert (before.sync_version, before.notes) == (4, ours)

    at.travel.sync.resolve(ANNA, edit.operation_id, "client_wins")
    after = at.visit()
    assert after is not None
    assert (after.sync_version, after.notes) == (5, theirs)
    assert not at.travel.sync.conflicts(ANNA).items
    sync_all(phone, tablet)
    assert phone.told == tablet.told


def test_sk_s3_notes_that_fit_are_both_kept_and_still_told(at: Place, phone: Gadget, tablet: Gadget) -> None:
    at_version_3(phone, tablet)
    phone.change(notes="Paris")
    edit = tablet.change(notes="Lyon")
    phone.push()
    told = tablet.push()[0]
    assert (told.status, told.strategy) == ("conflict", "merged")
    visit = at.visit()
    assert visit is not None
    assert (visit.notes, visit.sync_version) == ("Paris — from anna's tablet: Lyon", 5)
    assert [op.operation_id for op in at.travel.sync.conflicts(ANNA).items] == [edit.operation_id]
    at.travel.sync.resolve(ANNA, edit.operation_id, "merged")
    settled = at.visit()
    assert settled is not None
    assert settled.sync_version == 5
    assert not at.travel.sync.conflicts(ANNA).items


def test_sk_s4_a_push_that_is_sent_three_times_is_done_once(at: Place, phone: Gadget) -> None:
    codes = [region.region_code for region in at.travel.geography.of("country") if region.countable][:40]
    edits = [phone.mark(("country", code)) for code in codes]
    answers = [at.travel.sync.push(ANNA, "phone", edits) for _ in range(3)]
    assert at.head().server_version == at.head().countries_visited == 40
    assert at.travel.repository.profile(ANNA).countries_visited == 40
    visits = at.travel.visits.all(ANNA)
    assert sorted(visit.region_code for visit in visits) == sorted(codes)
    changed_since = [visit for visit in visits if visit.sync_version != visit.server_version]
    assert changed_since == []
    operations = list(at.db.all(d.operations_of(user_id=ANNA)))
    assert len(operations) == 40
    assert [result.replayed for result in answers[0].results] == [False] * 40
    assert [result.replayed for result in answers[2].results] == [True] * 40
    first, *again = [
        [result.model_copy(update={"replayed": False}) for result in answer.results] for answer in answers
    ]
    assert again == [first, first]


def test_sk_s7_a_device_that_was_away_for_31_days_takes_everything_anew(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    codes = [region.region_code for region in at.travel.geography.of("country")]
    for code in codes[:10]:
        phone.mark(("country", code))
    phone.push()
    tablet.pull()
    assert tablet.since == 10
    phone.mark(("country", codes[10]))
    phone.unmark(("country", codes[0]))
    phone.push()
    at.clock.move(timedelta(days=31))
    phone.mark(("country", codes[11]))
    phone.push()
    assert at.travel.feed.pull(ANNA, "tablet", 10).full_resync_required
    tablet.resync(size=3)
    assert tablet.places() == {
        f"{visit.region_type}#{visit.region_code}": dict(visit_state(visit).data)
        for visit in at.travel.visits.all(ANNA)
    }
    assert len(tablet.places()) == 11


def test_sk_s8_an_edit_of_a_place_that_was_deleted_meanwhile_stays_deleted_and_is_told(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    at_version_3(phone, tablet)
    phone.unmark()
    edit = tablet.change(notes="Sunny")
    phone.push()
    told = tablet.push()[0]
    assert (told.status, told.strategy) == ("conflict", "server_wins")
    sync_all(phone, tablet)
    assert phone.places() == tablet.places() == {}
    assert at.head().countries_visited == 0
    (conflict,) = at.travel.sync.conflicts(ANNA).items
    assert conflict.entity_id == place_id(ANNA, "country", "FR")
    at.travel.sync.resolve(ANNA, edit.operation_id, "client_wins")
    sync_all(phone, tablet)
    assert phone.told == tablet.told
    assert phone.places()[FRANCE]["notes"] == "Sunny"
    assert at.head().countries_visited == 1


def test_sk_s8_a_place_that_was_edited_meanwhile_is_not_deleted_and_that_is_told(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    at_version_3(phone, tablet)
    tablet.change(notes="Sunny")
    phone.unmark()
    tablet.push()
    told = phone.push()[0]
    assert (told.status, told.strategy) == ("conflict", "server_wins")
    sync_all(phone, tablet)
    assert phone.told == tablet.told
    assert phone.places()[FRANCE]["notes"] == "Sunny"


def test_sk_s9_a_place_that_is_marked_again_counts_once(at: Place, phone: Gadget) -> None:
    for edit in (phone.mark, phone.unmark, phone.mark):
        edit()
        phone.push()
    assert at.head().countries_visited == 1
    visit = at.visit()
    assert visit is not None
    assert (visit.is_deleted, visit.deleted_at, visit.sync_version) == (False, None, 3)
    recent = at.travel.visits.recent(ANNA)
    assert [(visit.region_type, visit.region_code) for visit in recent] == [FR]
    (item,) = [item for item in at.items() if item["SK"]["S"] == "VISIT#country#FR"]
    assert "ttl" not in item


def test_sk_s12_figures_follow_a_push_at_once_and_are_kept_for_a_week(at: Place, phone: Gadget) -> None:
    assert at.travel.statistics.of(ANNA).countries_visited == 0
    phone.mark()
    phone.push()
    at.clock.move(timedelta(seconds=1))
    figures = at.travel.statistics.of(ANNA)
    assert (figures.countries_visited, figures.continents_visited) == (1, ["EU"])
    (item,) = [item for item in at.items() if item["SK"]["S"].startswith("STATS#")]
    assert int(item["ttl"]["N"]) == int((at.clock.now() + timedelta(days=7)).timestamp())
    at.clock.move(timedelta(days=8))
    assert at.db.first(d.statistics_of(user_id=ANNA)) is None
    again = at.travel.statistics.of(ANNA)
    assert (again.countries_visited, again.calculated_at) == (1, at.clock.now())


def test_sk_s15_a_clock_that_is_years_ahead_is_taken_for_a_few_minutes_ahead(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    far = datetime(2035, 1, 1, tzinfo=ZoneInfo("UTC"))
    edit = phone.edit("create", FR, {"notes": "from the future"}, at=far)
    assert phone.push()[0].status == "applied"
    latest = int((at.clock.now() + timedelta(minutes=5)).timestamp() * 1000)
    operation = at.travel.repository.operation(ANNA, edit.operation_id)
    assert (operation.timestamp_ms, operation.client_timestamp) == (latest, far)
    tablet.pull()
    tablet.change(notes="from now")
    assert tablet.push()[0].status == "applied"
    visit = at.visit()
    assert visit is not None
    assert visit.notes == "from now"
    versions = [change.operation_id for change in at.db.all(d.changes_between(user_id=ANNA))]
    assert versions[0] == edit.operation_id
    assert len(versions) == 2
