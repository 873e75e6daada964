"""The feed of a server that went back to a backup, and of devices that were signed out or away for too long.

Whoever is told to begin anew keeps what it has not sent, and what it sends then overwrites nothing in silence and
brings nothing back.
"""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.systems.talk import given, refused
from tests.systems.travel.people import Api, Home, bearer
from tests.systems.travel.talk import ANNA, PHONE, TABLET, Gadget, Place, Spot, sync_all

from tablewright.edge.errors import Forbidden
from tablewright.systems.travel import design as d
from tablewright.systems.travel.account.devices import Gadget as Gadgets

DE: Spot = ("country", "DE")
IT: Spot = ("country", "IT")


# --- after a backup was restored ---


@pytest.fixture
def astray(at: Place, phone: Gadget, tablet: Gadget) -> Gadget:
    """A tablet that knows what was lost: the server went back, and is by now as far as the tablet is, or farther."""
    phone.mark(notes="Paris")
    sync_all(phone, tablet)
    backup = list(at.items())
    phone.mark(DE)
    phone.change(notes="lost")
    sync_all(phone, tablet)
    tablet.pull()
    at.set_back(backup)
    fresh = at.gadget(PHONE)
    fresh.pull()
    fresh.mark(IT)
    fresh.change(notes="Lyon")
    fresh.push()
    assert at.head().server_version == tablet.since
    return tablet


@pytest.mark.parametrize("farther", [False, True], ids=["as-far", "farther"])
def test_a_device_of_a_history_that_was_undone_takes_everything_anew(
    at: Place, astray: Gadget, farther: bool
) -> None:
    if farther:
        at.travel.visits.mark(ANNA, "country", "JP")
    assert at.travel.feed.pull(ANNA, TABLET, astray.since, astray.seal).full_resync_required
    astray.pull()
    shown = {f"country#{visit.region_code}": visit.notes for visit in at.travel.visits.all(ANNA)}
    assert {place: data["notes"] for place, data in astray.places().items()} == shown
    assert ("country#JP" in shown) == farther
    assert "country#DE" not in shown
    again = at.travel.feed.pull(ANNA, TABLET, astray.since, astray.seal)
    assert not again.full_resync_required


def test_what_it_had_not_sent_is_kept_and_overwrites_nothing_in_silence(at: Place, astray: Gadget) -> None:
    astray.change(notes="from the tablet")  # made from a version that now means something else
    (result,) = astray.push()
    assert (result.status, [one.field for one in result.conflicts]) == ("conflict", ["notes"])
    visit = at.visit()
    assert visit is not None
    assert visit.notes is not None
    assert "Lyon" in visit.notes
    astray.pull()
    assert astray.places()["country#FR"]["notes"] == visit.notes


def test_who_was_up_to_date_when_everything_expired_need_not_begin_anew(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    phone.mark()
    sync_all(phone, tablet)
    at.clock.move(timedelta(days=40))
    assert not at.travel.feed.pull(ANNA, TABLET, tablet.since, tablet.seal).full_resync_required
    phone.pull()
    phone.mark(DE)
    phone.push()
    news = at.travel.feed.pull(ANNA, TABLET, tablet.since, tablet.seal)
    assert (news.full_resync_required, len(news.changes)) == (False, 1)


def test_every_change_follows_the_one_before(at: Place, phone: Gadget) -> None:
    phone.mark(DE)
    phone.mark(IT)
    phone.push()
    at.travel.sync.change_user(ANNA, {"display_name": "Anna"})
    phone.batch("batch_delete", [DE, IT])
    phone.push()
    changes = list(at.db.all(d.changes_between(user_id=ANNA)))
    assert [one.follows for one in changes] == [None, *(one.seal for one in changes[:-1])]
    assert len({one.seal for one in changes}) == 3, "one for each write"
    assert at.head().seal == changes[-1].seal


def test_over_http_a_seal_goes_with_every_place_in_the_feed(home: Home, api: Api) -> None:
    login = bearer(api.sign_in(home))
    given(api.put("/visits/country/FR", {}, headers=login))
    pulled = given(api.get("/sync/pull", headers=login))
    assert pulled["seal"] == given(api.get("/sync/snapshot", headers=login))["seal"]
    given(api.get(f"/sync/pull?since=1&seal={pulled['seal']}", headers=login))
    answer = api.get("/sync/pull?since=1&seal=another", headers=login)
    assert refused(answer) == (410, "FULL_RESYNC_REQUIRED")
    edit = {
        "operation_id": "o1",
        "operation_type": "update",
        "region_type": "country",
        "region_code": "FR",
        "client_version": 1,
        "entity_data": {"notes": "Paris"},
        "client_timestamp": "2030-06-14T14:00:00Z",
    }
    pushed = given(
        api.post("/sync/push", {"operations": [edit], "since": 1, "seal": "another"}, headers=login)
    )
    assert pushed["results"][0]["status"] == "merged", "what it knew counts for nothing"


# --- signed out, and back after tombstones went ---


@pytest.fixture
def back(at: Place, phone: Gadget, tablet: Gadget) -> Gadget:
    """A tablet that was signed out, and came back when France had been unmarked, forgotten and marked again."""
    phone.mark(visited_date="2001")
    phone.mark(DE)
    sync_all(phone, tablet)
    at.travel.devices.revoke(ANNA, TABLET, ANNA)
    phone.unmark()
    phone.unmark(DE)
    phone.push()
    phone.pull()
    at.clock.move(timedelta(days=40))
    phone.pull()
    assert at.travel.feed.purge(ANNA) == 2
    phone.mark(visited_date="2020")
    phone.push()
    with pytest.raises(Forbidden, match="signed out"):
        tablet.pull()
    at.travel.devices.register(ANNA, Gadgets(TABLET, "Tablet"), proved=True)
    return tablet


def test_a_device_that_was_signed_out_does_not_overwrite_what_it_never_saw(at: Place, back: Gadget) -> None:
    back.change(visited_date="2002")  # from version 1 of another life of the place
    (result,) = back.push()
    assert (result.status, result.strategy) == ("conflict", "server_wins")
    visit = at.visit()
    assert visit is not None
    assert visit.visited_date == "2020"


def test_a_device_that_was_signed_out_takes_everything_anew_and_brings_nothing_back(
    at: Place, back: Gadget
) -> None:
    back.change(DE, notes="Berlin")
    assert at.travel.feed.pull(ANNA, TABLET, back.since, back.seal).full_resync_required
    assert [result.status for result in back.push()] == ["conflict"]
    back.pull()
    assert back.places().keys() == {"country#FR"}
    assert [visit.region_code for visit in at.travel.visits.all(ANNA)] == ["FR"]


def test_who_has_seen_the_deletions_is_believed_after_tombstones_went(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    phone.mark()
    phone.push()
    phone.unmark()
    phone.push()
    phone.mark(DE, notes="Bonn")
    sync_all(phone, tablet)
    for _ in range(2):
        phone.pull()
        tablet.pull()
    at.clock.move(timedelta(days=40))
    sync_all(phone, tablet)
    assert at.travel.feed.purge(ANNA) == 1
    tablet.change(DE, notes="Berlin")
    assert [result.status for result in tablet.push()] == ["applied"]
