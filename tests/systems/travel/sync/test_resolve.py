"""Settling what devices disagree on: from the version that was seen, once, and never half."""

from __future__ import annotations

from typing import Any

import pytest
from tests.systems.travel.talk import ANNA, FR, Gadget, Place, sync_all

from tablewright.edge.errors import BadRequest, NotFound
from tablewright.systems.travel.errors import VersionConflict
from tablewright.systems.travel.model import Strategy
from tablewright.systems.travel.sync.operations import Edit, place_id

FRANCE = place_id(ANNA, *FR)


def in_conflict(phone: Gadget, tablet: Gadget) -> Edit:
    phone.mark()
    sync_all(phone, tablet)
    phone.change(visited_date="2020")
    phone.push()
    edit = tablet.change(visited_date="2021")
    assert tablet.push()[0].strategy == "server_wins"
    return edit


def date(at: Place) -> str | None:
    return at.travel.visits.one(ANNA, *FR).visited_date


# --- from the version that was seen ---


@pytest.mark.parametrize(("choice", "data"), [("client_wins", None), ("manual", {"visited_date": "2022"})])
def test_what_was_changed_since_the_conflict_is_not_overwritten_by_settling_it(
    at: Place, phone: Gadget, tablet: Gadget, choice: Strategy, data: Any
) -> None:
    edit = in_conflict(phone, tablet)
    phone.change(visited_date="2019")
    phone.push()
    before = at.head().server_version
    with pytest.raises(VersionConflict):
        at.travel.sync.resolve(ANNA, edit.operation_id, choice, data)
    assert (date(at), at.head().server_version) == ("2019", before)
    assert [it.operation_id for it in at.travel.sync.conflicts(ANNA).items] == [edit.operation_id]


def test_who_has_looked_again_settles_from_what_is_there_now(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    edit = in_conflict(phone, tablet)
    phone.change(visited_date="2019")
    phone.push()
    seen = {FRANCE: phone.told[FRANCE].entity_version}
    assert at.travel.sync.resolve(ANNA, edit.operation_id, "client_wins", versions=seen).status == "applied"
    assert date(at) == "2021"
    assert not at.travel.sync.conflicts(ANNA).items


def test_a_change_of_something_else_is_not_in_the_way_of_settling(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    edit = in_conflict(phone, tablet)
    phone.change(notes="Paris")
    phone.push()
    at.travel.sync.resolve(ANNA, edit.operation_id, "client_wins")
    visit = at.travel.visits.one(ANNA, *FR)
    assert (visit.visited_date, visit.notes) == ("2021", "Paris")


def test_a_deletion_does_not_win_over_what_was_written_since(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    phone.mark()
    sync_all(phone, tablet)
    phone.change(notes="x")
    phone.push()
    edit = tablet.unmark()
    tablet.push()
    phone.change(notes="more")
    phone.push()
    with pytest.raises(VersionConflict):
        at.travel.sync.resolve(ANNA, edit.operation_id, "client_wins")
    assert at.travel.visits.one(ANNA, *FR).notes == "more"


def test_leaving_it_as_it_is_needs_no_version(at: Place, phone: Gadget, tablet: Gadget) -> None:
    edit = in_conflict(phone, tablet)
    phone.change(visited_date="2019")
    phone.push()
    assert at.travel.sync.resolve(ANNA, edit.operation_id, "server_wins").status == "applied"
    assert date(at) == "2019"


def test_settings_are_settled_from_the_version_that_was_seen(at: Place, phone: Gadget) -> None:
    for name in ("Anna", "Annie"):
        edit = Edit(
            operation_id=f"name-{name}",
            operation_type="update",
            entity_type="user",
            client_version=1,
            entity_data={"display_name": name},
            client_timestamp=at.clock.now(),
        )
        phone.queue.append(edit)
        phone.push()
    at.travel.sync.change_user(ANNA, {"display_name": "Anna B."})
    with pytest.raises(VersionConflict):
        at.travel.sync.resolve(ANNA, "name-Annie", "client_wins")
    assert at.travel.repository.profile(ANNA).display_name == "Anna B."


# --- refused ---


def test_a_settlement_that_is_refused_leaves_its_conflict_open(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    """What the tablet said of a deleted place had 20 trips; meanwhile it is marked again and has trips of its own."""
    phone.mark()
    sync_all(phone, tablet)
    phone.unmark()
    phone.push()
    edit = tablet.change(trips={f"a{n}": {"start": "2024"} for n in range(20)})
    assert tablet.push()[0].status == "conflict"
    phone.mark(trips={"b": {"start": "2023"}})
    phone.push()
    seen = {FRANCE: phone.told[FRANCE].entity_version}
    for _ in range(2):
        with pytest.raises(BadRequest) as refused:
            at.travel.sync.resolve(ANNA, edit.operation_id, "client_wins", versions=seen)
        assert refused.value.code == "TOO_MANY_TRIPS"
        assert [it.operation_id for it in at.travel.sync.conflicts(ANNA).items] == [edit.operation_id]
    at.travel.sync.resolve(ANNA, edit.operation_id, "server_wins")
    assert list(at.travel.visits.one(ANNA, *FR).trips) == ["b"]


@pytest.mark.parametrize("id", ["", "x.y", "a b"])
def test_an_id_that_cannot_be_one_is_of_no_operation(at: Place, id: str) -> None:
    with pytest.raises(NotFound):
        at.travel.sync.resolve(ANNA, id, "server_wins")
