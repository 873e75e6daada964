"""Sync of whole documents, asked for as RxDB asks, without it: what it would hardly send, and what it cannot see.

With RxDB itself: systems/travel/test_rxdb.py.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.systems.talk import given, refused
from tests.systems.travel.people import Api, Home, bearer
from tests.systems.travel.talk import ANNA, PHONE, TABLET, Gadget, Place

from tablewright.edge.errors import BadRequest, Forbidden
from tablewright.systems.travel.errors import ResyncRequired
from tablewright.systems.travel.rules import PUSH_AT_MOST
from tablewright.systems.travel.sync.documents import Checkpoint, Document, PushedDocuments, Row


def doc(code: str = "FR", /, **more: Any) -> Document:
    return Document.model_validate(
        {"id": f"country#{code}", "region_type": "country", "region_code": code, **more}
    )


def row(assumed: Document | None, new: Document) -> Row:
    return Row(assumedMasterState=assumed, newDocumentState=new)


def edited(at: Place, of: Document, **more: Any) -> Document:
    """The document after an edit, at another moment than any before."""
    at.clock.move(timedelta(seconds=1))
    return of.model_copy(update={"edited_at": at.clock.now(), **more})


def push(at: Place, *rows: Row, device: str = PHONE) -> PushedDocuments:
    return at.travel.documents.push(ANNA, device, rows)


def marked(at: Place, code: str = "FR", /, **more: Any) -> Document:
    """A place the phone has marked and was told of."""
    (told,) = push(at, row(None, edited(at, doc(code), **more))).conflicts
    return told


# --- push ---


def test_a_push_is_answered_with_what_each_place_is_now(at: Place) -> None:
    told = marked(at, notes="Paris")
    assert (told.version, told.notes, told.region_name, told.edited_at) == (1, "Paris", "France", None)
    assert told.marked_from_device == PHONE
    assert push(at, row(told, told)).conflicts == []


def test_a_row_that_is_sent_again_is_done_once(at: Place) -> None:
    told = marked(at)
    again = row(told, edited(at, told, notes="Paris"))
    first, second = push(at, again), push(at, again)
    assert first.conflicts == second.conflicts
    assert [(one.status, one.replayed) for one in second.results] == [("applied", True)]
    visit = at.visit()
    assert visit is not None
    assert visit.sync_version == 2


def test_a_row_that_is_sent_again_when_much_has_happened_since_is_done_once(at: Place) -> None:
    told = marked(at, notes="P")
    again = row(told, edited(at, told, notes="Paris"))
    first = push(at, again)
    at.travel.visits.unmark(ANNA, "country", "FR")
    at.travel.visits.mark(ANNA, "country", "FR", {"visited_date": "2020"})
    after = push(at, again)
    assert [one.replayed for one in after.results] == [True]
    assert [(one.status, one.operation_id) for one in after.results] == [
        (one.status, one.operation_id) for one in first.results
    ]
    assert [(one.notes, one.visited_date) for one in after.conflicts] == [(None, "2020")]


def test_the_same_edit_at_another_moment_is_another_edit(at: Place, tablet: Gadget) -> None:
    told = marked(at, notes="Paris")
    (none,) = push(at, row(told, edited(at, told, notes=None))).conflicts
    (paris,) = push(at, row(none, edited(at, none, notes="Paris"))).conflicts
    assert (none.notes, paris.notes, paris.version) == (None, "Paris", 3)


def test_only_what_a_device_changed_is_compared(at: Place) -> None:
    told = marked(at, notes="Paris")
    (dated,) = push(at, row(told, edited(at, told, visited_date="2020")), device=TABLET).conflicts
    after = push(at, row(told, edited(at, told, notes="Lyon")))
    assert [one.status for one in after.results] == ["merged"]
    assert (after.conflicts[0].notes, after.conflicts[0].visited_date) == ("Lyon", "2020")
    assert dated.notes == "Paris"


def test_a_device_that_edits_again_before_it_is_answered_does_not_conflict_with_itself(at: Place) -> None:
    told = marked(at, notes="P")
    push(at, row(told, edited(at, told, notes="Pa")))
    after = push(at, row(told, edited(at, told, notes="Paris")))
    assert [one.status for one in after.results] == ["applied"]
    assert after.conflicts[0].notes == "Paris"


def test_a_row_that_was_overtaken_by_a_later_one_of_its_device_does_not_win_in_silence(at: Place) -> None:
    told = marked(at, notes="P", visited_date="2001")
    late = row(
        told, edited(at, told, notes="Pa", visited_date="2002")
    )  # is on its way for longer than the next one
    later = row(told, edited(at, told, notes="Paris", visited_date="2003"))
    assert [one.status for one in push(at, later).results] == ["applied"]
    after = push(at, late)
    (result,) = after.results
    assert (result.status, after.conflicts[0].visited_date) == ("conflict", "2003")
    sides = {one.field: (one.server, one.client) for one in result.conflicts}
    assert sides == {"visited_date": ("2003", "2002"), "notes": ("Paris", "Pa")}
    kept = at.travel.sync.conflicts(ANNA).items
    assert [one.operation_id for one in kept] == [result.operation_id]


def test_a_row_that_was_overtaken_unmarks_nothing(at: Place) -> None:
    told = marked(at)
    late = row(told, edited(at, told, is_deleted=True))
    push(at, row(told, edited(at, told, notes="Paris")))
    after = push(at, late)
    assert [one.status for one in after.results] == ["conflict"]
    assert [(one.is_deleted, one.notes) for one in after.conflicts] == [(False, "Paris")]


@pytest.mark.parametrize(
    ("said", "fields"), [({"notes": "Rome"}, ["notes"]), ({"visited_date": "1999"}, ["notes"])]
)
def test_a_state_the_server_never_had_is_not_believed(
    at: Place, said: dict[str, Any], fields: list[str]
) -> None:
    told = marked(at, notes="Paris")
    other = told.model_copy(update=said)  # the same version, of another history
    after = push(at, row(other, edited(at, other, notes="Lyon")), device=TABLET)
    (result,) = after.results
    assert (result.status, [one.field for one in result.conflicts]) == ("conflict", fields)
    assert after.conflicts[0].notes is not None
    assert {"Paris", "Lyon"} <= set(after.conflicts[0].notes.replace(":", "").split())


def test_a_state_from_before_a_place_was_forgotten_and_marked_anew_is_not_believed(
    at: Place, phone: Gadget
) -> None:
    told = marked(at, visited_date="2001")
    at.travel.visits.unmark(ANNA, "country", "FR")
    at.clock.move(timedelta(days=181))
    at.travel.visits.mark(ANNA, "country", "FR", {"visited_date": "2020"})
    after = push(at, row(told, edited(at, told, visited_date="2002")))
    assert [one.strategy for one in after.results] == ["server_wins"]
    assert after.conflicts[0].visited_date == "2020"


def test_what_another_device_wrote_in_between_is_still_a_conflict(at: Place) -> None:
    told = marked(at, notes="P")
    (mine,) = push(at, row(told, edited(at, told, visited_date="2020"))).conflicts
    push(at, row(mine, edited(at, mine, notes="Lyon")), device=TABLET)
    after = push(at, row(told, edited(at, told, visited_date="2021", notes="Paris")))
    assert [one.status for one in after.results] == ["conflict"]
    assert [one.field for one in after.results[0].conflicts] == ["notes"]
    assert after.conflicts[0].visited_date == "2021"


def test_marked_and_unmarked_before_the_answer_it_is_gone(at: Place) -> None:
    new = edited(at, doc())
    push(at, row(None, new))
    after = push(at, row(None, edited(at, new, is_deleted=True)))
    assert [one.is_deleted for one in after.conflicts] == [True]
    visit = at.visit()
    assert visit is not None
    assert visit.is_deleted


def test_unmarking_what_only_another_device_marked_leaves_it(at: Place) -> None:
    new = edited(at, doc())
    push(at, row(None, new), device=TABLET)
    after = push(at, row(None, edited(at, doc(), is_deleted=True)))
    assert after.results == []
    assert [one.is_deleted for one in after.conflicts] == [False]


def test_trips_come_and_go_one_by_one(at: Place) -> None:
    trip = {"start": "2020", "end": None, "notes": None}
    told = marked(at, trips={"a": trip, "b": trip})
    push(at, row(told, edited(at, told, trips={"a": trip, "b": trip, "c": trip})), device=TABLET)
    (after,) = push(at, row(told, edited(at, told, trips={"b": trip}))).conflicts
    assert after.trips == {"b": trip, "c": trip}


def test_one_document_that_cannot_be_keeps_no_other_back(at: Place) -> None:
    rows = [
        row(None, edited(at, doc("XX"))),
        row(None, edited(at, doc("JP"), trips={"a": "nonsense"})),
        row(None, edited(at, doc("IS"))),
    ]
    after = push(at, *rows)
    assert [one.error for one in after.results] == ["UNKNOWN_REGION", "INVALID_FIELD", None]
    assert {one.id: one.is_deleted for one in after.conflicts} == {
        "country#XX": True,
        "country#JP": True,
        "country#IS": False,
    }


def test_a_push_of_documents_has_a_limit(at: Place) -> None:
    new = edited(at, doc())
    with pytest.raises(BadRequest, match="at most") as refusal:
        push(at, *([row(None, new)] * (PUSH_AT_MOST + 1)))
    assert refusal.value.code == "BATCH_TOO_LARGE"


def test_an_unknown_device_may_not_even_ask_what_is_the_same(at: Place) -> None:
    with pytest.raises(Forbidden):
        push(at, row(doc(), doc()), device="stolen")


# --- pull ---


def test_who_has_no_checkpoint_gets_everything_and_then_what_is_new(at: Place) -> None:
    for code in ("FR", "JP", "IS"):
        marked(at, code)
    everything = at.travel.documents.pull(ANNA, TABLET, Checkpoint())
    assert {one.region_code for one in everything.documents} == {"FR", "JP", "IS"}
    assert everything.checkpoint == Checkpoint(feed=3, seal=at.head().seal)
    marked(at, "DE")
    news = at.travel.documents.pull(ANNA, TABLET, everything.checkpoint)
    assert [one.region_code for one in news.documents] == ["DE"]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_page_is_full_unless_it_is_the_last(at: Place, phone: Gadget, size: int) -> None:
    # A client stops at a page with fewer documents than it asked for.
    codes = ["FR", "JP", "IS", "DE", "IT"]
    phone.mark()
    for number in range(10):
        phone.change(notes=f"the {number}th time")
    for code in codes[1:]:
        phone.mark(("country", code))
    phone.push()
    at.travel.sync.change_user(ANNA, {"display_name": "Anna"})
    told: dict[str, Document] = {}
    here = Checkpoint(feed=0)
    while True:
        page = at.travel.documents.pull(ANNA, TABLET, here, size=size)
        told |= {one.region_code: one for one in page.documents}
        here = page.checkpoint
        if len(page.documents) < size:
            break
    assert told.keys() == set(codes)
    assert told["FR"].notes == "the 9th time"
    assert here == Checkpoint(feed=16, seal=at.head().seal)


def test_a_walk_through_everything_goes_on_where_it_was_left(at: Place, phone: Gadget) -> None:
    codes = [region.region_code for region in at.travel.geography.of("country")][:23]
    for code in codes:
        phone.mark(("country", code))
    phone.push()
    found, here = [], Checkpoint()
    while True:
        page = at.travel.documents.pull(ANNA, TABLET, here, size=5)
        found += [one.region_code for one in page.documents]
        here = page.checkpoint
        if len(page.documents) < 5:
            break
    assert sorted(found) == sorted(codes)
    assert here == Checkpoint(feed=23, seal=at.head().seal)


def test_a_walk_that_was_left_for_a_day_begins_anew(at: Place, phone: Gadget) -> None:
    for code in ("FR", "JP", "IS"):
        phone.mark(("country", code))
    phone.push()
    first = at.travel.documents.pull(ANNA, TABLET, Checkpoint(), size=1)
    assert first.checkpoint.snapshot is not None
    at.clock.move(timedelta(days=2))
    again = at.travel.documents.pull(ANNA, TABLET, first.checkpoint)
    assert {one.region_code for one in again.documents} == {"FR", "JP", "IS"}
    assert again.checkpoint == Checkpoint(feed=3, seal=at.head().seal)


def test_a_walk_that_was_left_until_tombstones_went_has_to_begin_from_nothing(
    at: Place, phone: Gadget
) -> None:
    for code in ("FR", "JP", "IS"):
        phone.mark(("country", code))
    phone.push()
    half = at.travel.documents.pull(ANNA, TABLET, Checkpoint(), size=1)
    phone.unmark(("country", half.documents[0].region_code))
    phone.push()
    at.clock.move(timedelta(days=181))
    with pytest.raises(ResyncRequired):
        at.travel.documents.pull(ANNA, TABLET, half.checkpoint)


def test_who_comes_back_after_a_month_hears_of_what_was_deleted(at: Place, phone: Gadget) -> None:
    phone.mark()
    phone.push()
    known = at.travel.documents.pull(ANNA, TABLET, Checkpoint()).checkpoint
    phone.unmark()
    phone.push()
    at.clock.move(timedelta(days=40))
    news = at.travel.documents.pull(ANNA, TABLET, known)
    assert [(one.region_code, one.is_deleted) for one in news.documents] == [("FR", True)]


def test_a_device_has_seen_what_it_asks_from_and_not_what_is_on_its_way(at: Place, phone: Gadget) -> None:
    for notes in ("one", "two", "three", "four"):
        phone.edit("update" if notes != "one" else "create", data={"notes": notes})
    phone.push()
    page = at.travel.documents.pull(ANNA, TABLET, Checkpoint(feed=1), size=2)
    assert page.checkpoint == Checkpoint(feed=4, seal=at.head().seal)
    assert at.travel.repository.device(ANNA, TABLET).acknowledged_version == 1
    at.travel.documents.pull(ANNA, TABLET, page.checkpoint)
    assert at.travel.repository.device(ANNA, TABLET).acknowledged_version == 4


# --- over HTTP ---


@pytest.fixture
def login(home: Home, api: Api) -> dict[str, str]:
    return bearer(api.sign_in(home))


def test_a_device_too_long_away_has_to_begin_anew(home: Home, api: Api) -> None:
    first = api.sign_in(home)
    given(api.put("/visits/country/FR", {}, headers=bearer(first)))
    given(api.get("/sync/documents/pull?feed=1", headers=bearer(first)))
    given(api.delete("/visits/country/FR", headers=bearer(first)))
    home.clock.move(timedelta(days=200))
    login = bearer(api.sign_in(home))
    answer = api.get("/sync/documents/pull?feed=1", headers=login)
    assert refused(answer) == (410, "FULL_RESYNC_REQUIRED")
    anew = given(api.get("/sync/documents/pull", headers=login))
    assert [one for one in anew["documents"] if not one["_deleted"]] == []
    assert (anew["checkpoint"]["feed"], anew["checkpoint"]["snapshot"]) == (2, None)
    assert anew["checkpoint"]["seal"] is not None


def test_a_checkpoint_from_before_the_server_went_back_to_a_backup_begins_anew(
    api: Api, login: dict[str, str]
) -> None:
    answer = api.get("/sync/documents/pull?feed=77", headers=login)
    assert refused(answer) == (410, "FULL_RESYNC_REQUIRED")


def test_a_document_without_the_moment_of_its_change_is_refused(api: Api, login: dict[str, str]) -> None:
    sent = {"newDocumentState": {"id": "country#FR", "region_type": "country", "region_code": "FR"}}
    answer = api.post("/sync/documents/push", {"rows": [sent]}, headers=login)
    assert refused(answer) == (400, "EDITED_AT_MISSING")


def test_a_moment_without_a_zone_is_taken_for_utc(api: Api, login: dict[str, str]) -> None:
    new = {
        "id": "country#FR",
        "region_type": "country",
        "region_code": "FR",
        "edited_at": "2030-06-14T14:00:00",
    }
    answer = api.post("/sync/documents/push", {"rows": [{"newDocumentState": new}]}, headers=login)
    assert given(answer)["results"][0]["status"] == "applied"


def test_a_document_under_another_ones_id_is_refused(api: Api, login: dict[str, str]) -> None:
    sent = {"newDocumentState": {"id": "country#JP", "region_type": "country", "region_code": "FR"}}
    answer = api.post("/sync/documents/push", {"rows": [sent]}, headers=login)
    assert refused(answer) == (400, "INVALID_ID")


@pytest.mark.parametrize("limit", [0, 501])
def test_a_page_of_documents_has_limits(api: Api, login: dict[str, str], limit: int) -> None:
    answer = api.get(f"/sync/documents/pull?limit={limit}", headers=login)
    assert refused(answer) == (400, "INVALID_PAGE_SIZE")
