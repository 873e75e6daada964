"""Batches that do not fit into one transaction: what follows them, what they disagree on, how large they become."""

from __future__ import annotations

from typing import Any

import pytest
from tests.systems.travel.talk import ANNA, PHONE, Gadget, Place, Spot, sync_all

from tablewright.mapping import Db
from tablewright.systems.travel.sync.operations import Edit
from tablewright.systems.travel.sync.push import Sync

ITEM_BYTES, TRANSACTION_BYTES, TRANSACTION_ACTIONS = 400 * 1024, 4 * 1024 * 1024, 100


def countries(at: Place, number: int) -> list[Spot]:
    return [("country", region.region_code) for region in at.travel.geography.of("country")][:number]


@pytest.fixture
def sizes(at: Place, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many writes each transaction had."""
    seen: list[int] = []
    write = Db.write

    def counting(self: Db, *writes: Any, **more: Any) -> Any:
        seen.append(len(writes))
        return write(self, *writes, **more)

    monkeypatch.setattr(Db, "write", counting)
    return seen


def largest_item(at: Place) -> int:
    """The bytes of the largest item: names and texts, and a little for each value."""
    return max(sum(len(name.encode()) + _bytes(value) for name, value in item.items()) for item in at.items())


def _bytes(value: dict[str, Any]) -> int:
    ((kind, held),) = value.items()
    if kind == "M":
        return 3 + sum(1 + len(name.encode()) + _bytes(each) for name, each in held.items())
    if kind == "L":
        return 3 + sum(1 + _bytes(each) for each in held)
    return len(str(held).encode())


def full(text: str = "🗺") -> dict[str, Any]:
    """As much as can be said of a place."""
    return {
        "notes": text * 500,
        "visited_date": "2024-05-01",
        "trips": {
            f"{n:02}" + "t" * 62: {"start": "2024-05-01", "end": "2024-05-02", "notes": text * 100}
            for n in range(20)
        },
    }


def test_the_record_of_a_batch_says_what_was_asked_for_each_place(at: Place, phone: Gadget) -> None:
    spots = countries(at, 3)
    batch = phone.batch("batch_create", spots, notes="by train")
    phone.push()
    record = at.travel.repository.operation(ANNA, batch.operation_id)
    names = ["#".join(spot) for spot in spots]
    fields = {name: {"notes": "by train"} for name in names}
    assert record.entity_data == {"visits": names, "fields": fields}


# --- what follows a batch ---


def test_an_operation_that_follows_a_large_batch_is_done_when_the_batch_was(at: Place, phone: Gadget) -> None:
    spots = countries(at, 100)
    batch = phone.batch("batch_create", spots)
    after = phone.change(spots[3], notes="after all")
    assert after.previous == batch.operation_id
    assert at.travel.sync.push(ANNA, PHONE, [batch]).results[0].status == "applied"
    assert [(result.status, result.replayed) for result in phone.push()] == [
        ("applied", True),
        ("applied", False),
    ]


def test_an_operation_waits_for_the_whole_batch_that_it_follows(
    at: Place, phone: Gadget, monkeypatch: pytest.MonkeyPatch
) -> None:
    spots = countries(at, 100)
    batch = phone.batch("batch_create", spots)
    after = phone.change(spots[99], notes="after all")
    with monkeypatch.context() as patched:
        patched.setattr(Sync, "_piece", dying_after(1))
        with pytest.raises(KeyboardInterrupt):
            at.travel.sync.push(ANNA, PHONE, [batch])
    assert at.travel.sync.push(ANNA, PHONE, [after]).results[0].status == "waiting"
    assert [result.status for result in phone.push()] == ["applied", "applied"]
    assert at.head().server_version == 101


def dying_after(pieces: int) -> Any:
    """The server dies when so many pieces were written."""
    piece, left = Sync._piece, [pieces]

    def dying(self: Sync, *given: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return piece(self, *given)

    return dying


# --- what a batch disagrees on ---


def test_a_conflict_of_a_large_batch_is_settled_by_the_batchs_own_id(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    spots = countries(at, 100)
    phone.batch("batch_create", spots)
    sync_all(phone, tablet)
    for spot in (spots[0], spots[50], spots[99]):
        phone.change(spot, visited_date="2020")
    phone.push()
    batch = tablet.batch("batch_update", spots, visited_date="2021")
    (result,) = tablet.push()
    assert (result.operation_id, result.status, len(result.conflicts)) == (batch.operation_id, "conflict", 3)
    settled = at.travel.sync.resolve(ANNA, batch.operation_id, "client_wins")
    assert (settled.operation_id, settled.status, len(settled.entities)) == (batch.operation_id, "applied", 3)
    assert {visit.visited_date for visit in at.travel.visits.all(ANNA)} == {"2021"}
    assert not at.travel.sync.conflicts(ANNA).items


def test_each_part_of_a_large_batch_is_settled_by_itself_as_well(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    spots = countries(at, 100)
    phone.batch("batch_create", spots)
    sync_all(phone, tablet)
    for spot in (spots[0], spots[50], spots[99]):
        phone.change(spot, visited_date="2020")
    phone.push()
    batch = tablet.batch("batch_update", spots, visited_date="2021")
    tablet.push()
    parts = sorted(operation.operation_id for operation in at.travel.sync.conflicts(ANNA).items)
    assert parts == [f"{batch.operation_id}.{part}" for part in ("0-45", "45-90", "90-100")]
    at.travel.sync.resolve(ANNA, parts[2], "server_wins")
    assert len(at.travel.sync.conflicts(ANNA).items) == 2
    at.travel.sync.resolve(ANNA, batch.operation_id, "client_wins")
    assert not at.travel.sync.conflicts(ANNA).items
    dates = {visit.region_code: visit.visited_date for visit in at.travel.visits.all(ANNA)}
    assert {code: date for code, date in dates.items() if date != "2021"} == {spots[99][1]: "2020"}


# --- how large they become ---


@pytest.mark.parametrize("kind", ["batch_delete", "batch_update", "batch_create"])
def test_what_is_written_of_a_batch_in_dispute_fits_into_items_however_much_is_said(
    at: Place, phone: Gadget, tablet: Gadget, kind: Any
) -> None:
    spots = countries(at, 30)
    for spot in spots:
        phone.mark(spot, **full("🗺"))
    phone.push()
    tablet.batch(kind, spots, **({} if kind == "batch_delete" else full("🚲")))
    (result,) = tablet.push()
    assert result.status == "conflict"
    assert {conflict.entity_id for conflict in result.conflicts} == {
        f"{ANNA}#{kind}#{code}" for kind, code in spots
    }
    assert largest_item(at) < ITEM_BYTES


def test_a_batch_that_brings_much_to_places_that_were_deleted_fits_into_items(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    spots = countries(at, 30)
    phone.batch("batch_create", spots)
    phone.push()
    phone.batch("batch_delete", spots)
    phone.push()
    tablet.batch("batch_create", spots, **full())
    assert {conflict.strategy for conflict in tablet.push()[0].conflicts} == {"client_wins"}
    assert largest_item(at) < ITEM_BYTES


def test_an_operation_names_no_more_trips_than_a_place_may_have(at: Place, phone: Gadget) -> None:
    phone.mark()
    phone.push()
    phone.unmark()
    phone.push()
    phone.told.clear()
    phone.change(trips={f"t{n}": {"start": "2024"} for n in range(21)})
    assert phone.push()[0].error == "TOO_MANY_TRIPS"


def test_a_thousand_operations_in_dispute_fit_into_transactions(
    at: Place, phone: Gadget, tablet: Gadget, sizes: list[int]
) -> None:
    spots = countries(at, 40)
    for spot in spots:
        phone.mark(spot, **full("🗺"))
    phone.push()
    for spot in spots:
        tablet.change(spot, **full("🚲"))
    assert {result.status for result in tablet.push()} == {"conflict"}
    assert max(sizes) <= TRANSACTION_ACTIONS


@pytest.mark.parametrize("mark_country", ["ask", "always"])
def test_states_that_bring_their_countries_along_fit_into_transactions(
    at: Place, phone: Gadget, sizes: list[int], mark_country: str
) -> None:
    """Whether they do is changed by the first operation of the push, and their countries are taken away again."""
    setting = Edit(
        operation_id="setting",
        operation_type="update",
        entity_type="user",
        client_version=1,
        entity_data={"mark_country": "always"},
        client_timestamp=at.clock.now(),
    )
    at.travel.sync.change_user(ANNA, {"mark_country": mark_country})
    phone.queue = [setting]
    states: list[Spot] = [("us_state", region.region_code) for region in at.travel.geography.of("us_state")]
    provinces: list[Spot] = [
        ("canadian_province", region.region_code) for region in at.travel.geography.of("canadian_province")
    ]
    for number, spot in enumerate(pair for two in zip(states, provinces, strict=False) for pair in two):
        phone.mark(spot)
        if number % 4 == 3:
            phone.unmark(("country", "US"))
    phone.batch("batch_create", [*states[20:], *provinces[:5]])
    assert {result.status for result in phone.push()} <= {"applied", "merged", "conflict"}
    assert max(sizes) <= TRANSACTION_ACTIONS
    assert at.travel.statistics.repair(ANNA) is None
