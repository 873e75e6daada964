"""Pushing and pulling: what is done once, what is refused, what is told, and what many at once come to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.systems.talk import at_once
from tests.systems.travel.talk import (
    ANNA,
    BEN,
    FR,
    PHONE,
    TABLET,
    Form,
    Gadget,
    Place,
    Spot,
    sign_up,
    sync_all,
)

from tablewright.edge.errors import BadRequest, CallerError, Conflict, Forbidden, NotFound, TooManyRequests
from tablewright.mapping import Db
from tablewright.systems.travel import design as d
from tablewright.systems.travel.api import bodies
from tablewright.systems.travel.errors import ClientTooOld
from tablewright.systems.travel.model import PrivacySettings
from tablewright.systems.travel.sync.operations import Edit, Offer, Result
from tablewright.systems.travel.sync.push import Sync

DE: Spot = ("country", "DE")


def countries(at: Place, number: int) -> list[Spot]:
    return [("country", region.region_code) for region in at.travel.geography.of("country")][:number]


def refusal(gadget: Gadget) -> str | None:
    """The code of the last operation of a push, which is refused."""
    result = gadget.push()[-1]
    assert result.status == "failed"
    assert result.message is not None
    return result.error


# --- done once ---


def test_an_operation_is_done_once_though_its_answer_was_lost(at: Place, phone: Gadget) -> None:
    phone.mark()
    at.travel.sync.push(ANNA, PHONE, phone.queue)
    phone.change(notes="again")
    results = phone.push()
    assert [(result.status, result.replayed) for result in results] == [("applied", True), ("applied", False)]
    assert at.head().server_version == 2


def test_a_refused_operation_is_refused_once_and_for_all(at: Place, phone: Gadget) -> None:
    edit = phone.mark(("country", "ZZ"))
    first = phone.push()[0]
    again = at.travel.sync.push(ANNA, PHONE, [edit]).results[0]
    assert (again.error, again.replayed) == (first.error, True)
    operation = at.travel.repository.operation(ANNA, edit.operation_id)
    assert (operation.status, operation.processing_error, operation.is_processed) == (
        "failed",
        "UNKNOWN_REGION",
        False,
    )
    assert at.head().server_version == 0


def test_an_id_that_was_used_for_something_else_is_a_mistake(at: Place, phone: Gadget) -> None:
    phone.edit("create", FR, id="one")
    phone.push()
    phone.edit("create", DE, id="one")
    assert refusal(phone) == "OPERATION_ID_REUSED"
    two = [phone.edit("create", spot, id="two") for spot in (FR, DE)]
    results = at.travel.sync.push(ANNA, PHONE, two).results
    assert [(result.status, result.error) for result in results] == [
        ("applied", None),
        ("failed", "OPERATION_ID_REUSED"),
    ]


def test_the_same_operation_twice_in_one_push_is_done_once(at: Place, phone: Gadget) -> None:
    edit = phone.mark()
    results = at.travel.sync.push(ANNA, PHONE, [edit, edit]).results
    assert [result.status for result in results] == ["applied", "applied"]
    assert at.head().server_version == 1


def test_another_travellers_operation_with_the_same_id_is_another(at: Place, phone: Gadget) -> None:
    sign_up(at.db, at.clock, BEN)
    ben = at.gadget(PHONE, BEN)
    for gadget in (phone, ben):
        gadget.edit("create", FR, id="one")
        assert not gadget.push()[0].replayed


def test_a_lost_answer_is_forgotten_with_its_receipt_after_30_days(at: Place, phone: Gadget) -> None:
    edit = phone.mark()
    phone.push()
    at.clock.move(timedelta(days=30, seconds=1))
    assert at.travel.sync.push(ANNA, PHONE, [edit]).results[0].status == "merged"
    assert at.head().countries_visited == 1


# --- the order of a device's own operations ---


def test_a_device_that_edits_twice_offline_is_not_in_conflict_with_itself(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    phone.mark()
    sync_all(phone, tablet)
    for text in ("one", "two", "three"):
        tablet.change(notes=text)
    assert [result.status for result in tablet.push()] == ["applied"] * 3
    visit = at.visit()
    assert visit is not None
    assert (visit.notes, visit.sync_version) == ("three", 4)


def test_an_operation_that_comes_before_the_one_it_follows_waits_for_it(at: Place, phone: Gadget) -> None:
    first, second = phone.mark(), phone.change(notes="later")
    early = at.travel.sync.push(ANNA, PHONE, [second]).results[0]
    assert (early.status, early.error) == ("waiting", "OUT_OF_ORDER")
    assert at.visit() is None
    results = at.travel.sync.push(ANNA, PHONE, [first, second]).results
    assert [result.status for result in results] == ["applied", "applied"]


def test_an_operation_does_not_overtake_one_that_waits(at: Place, phone: Gadget) -> None:
    edits = [phone.mark(), phone.change(notes="later"), phone.change(visited_date="2024")]
    early = at.travel.sync.push(ANNA, PHONE, edits[1:]).results
    assert [result.status for result in early] == ["waiting", "waiting"]
    assert at.visit() is None
    assert [result.status for result in phone.push()] == ["applied"] * 3


def test_an_operation_does_not_wait_for_one_whose_receipt_is_gone(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    phone.mark()
    first = phone.change(notes="one", visited_date="2024")
    late = phone.change(notes="two")
    at.travel.sync.push(ANNA, PHONE, phone.queue[:2])
    phone.queue = [late]
    assert late.previous == first.operation_id
    at.clock.move(timedelta(days=31))
    tablet.pull()
    tablet.change(visited_date="2025")
    tablet.push()
    assert [result.status for result in phone.push()] == ["conflict"]  # nobody knows what it had seen
    visit = at.visit()
    assert visit is not None
    assert (visit.notes, visit.visited_date) == ("one — from anna's phone: two", "2025")


@pytest.mark.parametrize("ahead", [timedelta(days=1), timedelta(days=3000), timedelta(days=-3000)])
def test_nobody_waits_for_ever_whatever_their_clock_says(at: Place, phone: Gadget, ahead: timedelta) -> None:
    lost = phone.edit("create", FR, at=at.clock.now() + ahead)
    late = phone.edit("update", FR, {"notes": "x"}, at=at.clock.now() + ahead)
    assert late.previous == lost.operation_id
    assert at.travel.sync.push(ANNA, PHONE, [late]).results[0].status == "applied"
    told = at.travel.sync.push(ANNA, PHONE, [lost]).results[0]
    assert told.status == "merged"


@pytest.mark.parametrize("previous", ["", "a b", "x" * 65, "B.0-45", "itself"])
def test_a_predecessor_that_cannot_be_one_is_a_mistake(at: Place, phone: Gadget, previous: str) -> None:
    edit = phone.edit("create", FR, id="itself")
    phone.queue = [edit.model_copy(update={"previous": previous})]
    assert refusal(phone) == "INVALID_ID"
    assert at.visit() is None


def test_a_deletion_after_an_own_edit_is_no_conflict_but_after_anothers_it_is(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    phone.mark()
    sync_all(phone, tablet)
    phone.change(notes="mine")
    phone.unmark()
    assert [result.status for result in phone.push()] == ["applied", "applied"]
    phone.mark()
    sync_all(phone, tablet)
    tablet.change(notes="theirs")
    tablet.push()
    phone.change(visited_date="2024")
    phone.unmark()
    assert [result.status for result in phone.push()] == ["merged", "conflict"]
    visit = at.visit()
    assert visit is not None
    assert (visit.is_deleted, visit.notes) == (False, "theirs")


# --- batches ---


def test_a_batch_is_written_in_transactions_of_at_most_45_places(
    at: Place, phone: Gadget, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    write = Db.write

    def counting(self: Db, *writes: Any, **more: Any) -> Any:
        sizes.append(sum(one.shape.tag == "visit" for one in writes))
        return write(self, *writes, **more)

    monkeypatch.setattr(Db, "write", counting)
    edit = phone.batch("batch_create", countries(at, 100))
    (result,) = phone.push()
    assert [size for size in sizes if size] == [45, 45, 10]
    assert (result.operation_id, result.status, len(result.entities)) == (edit.operation_id, "applied", 100)
    (again,) = at.travel.sync.push(ANNA, PHONE, [edit]).results
    assert (again.replayed, len(again.entities)) == (True, 100)
    assert at.head().server_version == 100


def test_a_batch_that_was_half_done_is_finished_when_it_comes_again(
    at: Place, phone: Gadget, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit = phone.batch("batch_create", countries(at, 60))
    piece = Sync._piece

    def dying(self: Sync, source: Any, tasks: Any) -> dict[str, Result]:
        if tasks[0].id.endswith(".45-60"):
            raise KeyboardInterrupt
        return piece(self, source, tasks)

    with monkeypatch.context() as patched:
        patched.setattr(Sync, "_piece", dying)
        with pytest.raises(KeyboardInterrupt):
            phone.push()
    assert at.head().server_version == 45
    (result,) = at.travel.sync.push(ANNA, PHONE, [edit]).results
    assert (result.status, result.replayed) == ("applied", False)
    assert at.head().server_version == 60


def test_a_thousand_operations_are_a_push_and_one_more_is_not(at: Place, phone: Gadget) -> None:
    spots = countries(at, 250)
    for number in range(1_000):
        phone.edit("create", spots[number % 250], {"notes": str(number)})
    edits = list(phone.queue)
    results = phone.push()
    assert {result.status for result in results} == {"applied"}
    assert at.head().server_version == 1_000
    with pytest.raises(BadRequest) as refused:
        at.travel.sync.push(ANNA, PHONE, [*edits, edits[0]])
    assert refused.value.code == "BATCH_TOO_LARGE"


def test_a_batch_with_one_wrong_place_does_nothing(at: Place, phone: Gadget) -> None:
    phone.batch("batch_create", [*countries(at, 60), ("country", "ZZ")])
    assert refusal(phone) == "UNKNOWN_REGION"
    assert at.head().server_version == 0


def test_a_batch_can_be_changed_and_deleted_as_one(at: Place, phone: Gadget) -> None:
    spots = countries(at, 30)
    for kind, data in (
        ("batch_create", {}),
        ("batch_update", {"visited_date": "2024"}),
        ("batch_delete", {}),
    ):
        phone.batch(kind, spots, **data)  # type: ignore[arg-type]  # the three kinds
        assert phone.push()[0].status == "applied"
        if kind == "batch_update":
            assert {visit.visited_date for visit in at.travel.visits.all(ANNA)} == {"2024"}
    assert not at.travel.visits.all(ANNA)
    assert at.head().countries_visited == 0


# --- what is refused ---


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"notes": "x" * 501}, "NOTES_TOO_LONG"),
        ({"visited_date": "2030-06-15"}, "FUTURE_DATE"),
        ({"visited_date": "2031"}, "FUTURE_DATE"),
        ({"visited_date": "yesterday"}, "INVALID_DATE"),
        ({"visited_date": "2024-02-30"}, "INVALID_DATE"),
        ({"visited_date": 2024}, "INVALID_DATE"),
        ({"trips": {"a b": {"start": "2024"}}}, "INVALID_ID"),
        ({"trips": {"a": {"start": "2024", "end": "2023"}}}, "INVALID_DATE"),
        ({"trips": {"a": {"start": "2030-06-15"}}}, "FUTURE_DATE"),
        ({"trips": {"a": {"start": "2024", "end": "2030-06-15"}}}, "FUTURE_DATE"),
        ({"trips": {"a": {"begin": "2024"}}}, "INVALID_FIELD"),
        ({"trips": {f"t{n}": {"start": "2024"} for n in range(21)}}, "TOO_MANY_TRIPS"),
        ({"rating": 5}, "INVALID_FIELD"),
        ({"notes": ["x"] * 20_000}, "OPERATION_TOO_LARGE"),
    ],
)
def test_what_cannot_be_said_of_a_place_is_refused_with_a_code(
    phone: Gadget, data: dict[str, Any], code: str
) -> None:
    phone.mark(FR, **data)
    assert refusal(phone) == code


@pytest.mark.parametrize("notes", ["🗺" * 500, "é" * 500])
def test_notes_of_500_code_points_fit(at: Place, phone: Gadget, notes: str) -> None:
    phone.mark(notes=notes)
    assert phone.push()[0].status == "applied"
    visit = at.visit()
    assert visit is not None
    assert visit.notes == notes


def test_one_refused_operation_does_not_stop_the_others(at: Place, phone: Gadget) -> None:
    phone.mark(FR)
    phone.mark(("country", "ZZ"))
    phone.mark(DE)
    assert [result.status for result in phone.push()] == ["applied", "failed", "applied"]
    assert at.head().countries_visited == 2


def test_a_batch_without_places_and_a_place_without_a_region_are_refused(at: Place, phone: Gadget) -> None:
    bare = Edit(operation_id="a", operation_type="batch_create", client_timestamp=at.clock.now())
    phone.queue = [bare, bare.model_copy(update={"operation_id": "b", "operation_type": "create"})]
    assert [result.error for result in phone.push()] == ["INVALID_OPERATION", "INVALID_OPERATION"]


def test_an_app_that_is_too_old_is_told_to_be_updated(
    at: Place, phone: Gadget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablewright.systems.travel.sync.push.OLDEST_SCHEMA", 2)
    phone.mark()
    for call in (phone.push, phone.pull, phone.resync):
        with pytest.raises(ClientTooOld) as refused:
            call()
        assert refused.value.facts == {"schema": 1, "minimumSchema": 2}


def test_an_app_of_the_future_is_refused(at: Place) -> None:
    with pytest.raises(BadRequest) as refused:
        at.travel.feed.pull(ANNA, PHONE, 0, schema=99)
    assert refused.value.code == "UNKNOWN_SCHEMA"


def test_a_device_nobody_knows_or_that_was_signed_out_cannot_sync(at: Place, phone: Gadget) -> None:
    with pytest.raises(Forbidden) as refused:
        at.gadget("stolen").push()
    assert refused.value.code == "DEVICE_UNKNOWN"
    device = at.travel.repository.device(ANNA, PHONE)
    at.db.write(d.devices.change(device, device.model_copy(update={"revoked_at": at.clock.now()})))
    for call in (phone.push, phone.pull, phone.resync):
        with pytest.raises(Forbidden) as refused:
            call()
        assert refused.value.code == "DEVICE_REVOKED"


def test_a_device_pushes_sixty_times_a_minute_and_no_more(at: Place, phone: Gadget, tablet: Gadget) -> None:
    outcomes = at_once([phone.push] * 70, threads=8)
    late = [outcome for outcome in outcomes if isinstance(outcome, TooManyRequests)]
    assert len(late) == 10
    assert {(error.code, error.retry_after) for error in late} == {("PUSH_LIMIT", 60)}
    tablet.push()
    at.clock.move(timedelta(minutes=1))
    phone.push()


# --- many at once ---


def test_devices_that_push_at_once_are_all_done_and_counted(at: Place) -> None:
    names = [f"device{number}" for number in range(8)]
    sign_up(at.db, at.clock, BEN, names)
    gadgets = [at.gadget(name, BEN) for name in names]
    spots = countries(at, 40)
    for number, gadget in enumerate(gadgets):
        for spot in spots[number * 4 : number * 4 + 12]:
            gadget.mark(spot, notes=gadget.device_id)
    outcomes = at_once([gadget.push for gadget in gadgets], threads=8)
    assert not [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    for gadget in gadgets:
        gadget.pull(7)
        assert gadget.places() == gadgets[0].places()
    assert at.travel.statistics.repair(BEN) is None
    told = [change.server_version for change in at.db.all(d.changes_between(user_id=BEN))]
    assert told == list(range(1, at.head(BEN).server_version + 1))


def test_the_same_push_from_eight_threads_is_done_once(at: Place, phone: Gadget) -> None:
    edits = [phone.mark(spot) for spot in countries(at, 30)]
    outcomes = at_once([lambda: at.travel.sync.push(ANNA, PHONE, edits)] * 8, threads=8)
    assert not [outcome for outcome in outcomes if isinstance(outcome, Exception)]
    assert at.head().server_version == 30
    assert len(list(at.db.all(d.operations_of(user_id=ANNA)))) == 30


# --- the feed ---


def test_a_pull_comes_in_pages_and_can_be_repeated(at: Place, phone: Gadget) -> None:
    for spot in countries(at, 7):
        phone.mark(spot)
    phone.push()
    first = at.travel.feed.pull(ANNA, TABLET, 0, size=3)
    assert (len(first.changes), first.next, first.more, first.server_version) == (3, 3, True, 7)
    assert at.travel.feed.pull(ANNA, TABLET, 0, size=3) == first
    last = at.travel.feed.pull(ANNA, TABLET, 6, size=3)
    assert (len(last.changes), last.next, last.more) == (1, 7, False)


def test_a_pull_tells_of_an_entity_once_and_as_it_is_now(at: Place, phone: Gadget, tablet: Gadget) -> None:
    phone.mark()
    phone.change(notes="one")
    phone.change(notes="two")
    phone.push()
    pulled = at.travel.feed.pull(ANNA, TABLET, 0, size=2)
    assert [state.data["notes"] for state in pulled.changes] == ["two"]
    assert (pulled.next, pulled.more) == (2, True)
    phone.unmark()
    phone.push()
    tablet.pull()
    assert tablet.places() == {}


@pytest.mark.parametrize("since", [99, 1])
def test_a_device_that_knows_more_than_the_server_takes_everything_anew(at: Place, since: int) -> None:
    assert at.travel.feed.pull(ANNA, PHONE, since).full_resync_required


@pytest.mark.parametrize(("since", "size"), [(-1, 10), (0, 0), (0, 501)])
def test_a_pull_from_nowhere_or_of_a_wrong_size_is_refused(at: Place, since: int, size: int) -> None:
    with pytest.raises(BadRequest):
        at.travel.feed.pull(ANNA, PHONE, since, size=size)


def test_a_snapshot_is_right_though_things_change_while_it_is_read(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    spots = countries(at, 12)
    for spot in spots[1:11]:
        phone.mark(spot)
    phone.push()
    first = at.travel.feed.snapshot(ANNA, TABLET, size=3)
    phone.mark(spots[0])  # before what was read
    phone.mark(spots[11])  # behind it
    phone.unmark(spots[1])  # was read
    phone.unmark(spots[10])  # was not
    phone.change(spots[2], notes="new")
    phone.push()
    page, seen = first, list(first.entities)
    while page.after is not None:
        page = at.travel.feed.snapshot(ANNA, TABLET, page.after, size=3)
        assert page.as_of == first.as_of
        seen += page.entities
    for state in seen:
        tablet.take(state)
    tablet.since = first.as_of
    tablet.pull()
    phone.pull()
    assert tablet.places() == phone.places()
    assert len(tablet.places()) == 10


def test_an_answer_that_comes_after_a_snapshot_brings_nothing_back(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    phone.mark()
    sent = list(phone.queue)
    late = at.travel.sync.push(ANNA, PHONE, sent)
    tablet.pull()
    tablet.unmark()
    tablet.push()
    phone.resync()
    phone.answered(sent, late)
    phone.pull()
    assert phone.places() == {}


def test_a_snapshots_token_is_for_its_traveller_and_cannot_be_made_up(at: Place, phone: Gadget) -> None:
    sign_up(at.db, at.clock, BEN)
    for spot in countries(at, 5):
        phone.mark(spot)
    phone.push()
    token = at.travel.feed.snapshot(ANNA, PHONE, size=2).after
    for user, wrong in ((BEN, token), (ANNA, "7"), (ANNA, "7.x"), (ANNA, "x")):
        with pytest.raises(BadRequest) as refused:
            at.travel.feed.snapshot(user, PHONE, wrong, size=2)
        assert refused.value.code == "BAD_TOKEN"


# --- tombstones (SK-D29) ---


def test_a_tombstone_waits_for_every_device_and_at_least_a_month(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    phone.mark()
    phone.push()
    phone.unmark()
    phone.push()
    sync_all(phone, tablet)
    phone.pull()
    assert at.travel.feed.purge(ANNA) == 0
    at.clock.move(timedelta(days=29))
    assert at.travel.feed.purge(ANNA) == 0
    at.clock.move(timedelta(days=1))
    tablet.pull()
    phone.pull()
    assert at.travel.feed.purge(ANNA) == 1
    assert at.visit() is None


def test_a_tombstone_stays_while_a_device_has_not_seen_it(at: Place, phone: Gadget, tablet: Gadget) -> None:
    phone.mark()
    sync_all(phone, tablet)
    phone.unmark()
    phone.push()
    phone.pull()
    phone.pull()
    at.clock.move(timedelta(days=60))
    phone.pull()
    assert at.travel.feed.purge(ANNA) == 0
    at.clock.move(timedelta(days=119))
    phone.pull()
    tablet.change(notes="late")
    assert tablet.push()[0].status == "conflict"
    assert at.travel.feed.purge(ANNA) == 0
    at.clock.move(timedelta(days=2))
    assert at.visit() is None  # 180 days are enough for anybody


def test_a_device_that_comes_back_after_the_tombstone_went_does_not_bring_the_place_back(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    phone.mark()
    sync_all(phone, tablet)
    phone.unmark()
    phone.push()
    tablet.change(notes="half a year ago")
    at.clock.move(timedelta(days=181))
    assert at.visit() is None
    assert tablet.push()[0].status == "conflict"
    tablet.pull()
    assert tablet.places() == {}


def test_versions_of_before_a_place_was_forgotten_are_not_believed(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    phone.mark()
    phone.push()
    phone.change(visited_date="2020")
    phone.push()
    sync_all(phone, tablet)
    phone.unmark()
    phone.push()
    tablet.change(visited_date="2021")
    at.clock.move(timedelta(days=181))
    phone.mark()
    phone.change(visited_date="2029")
    phone.push()
    assert tablet.push()[0].status == "conflict"
    visit = at.visit()
    assert visit is not None
    assert visit.visited_date == "2029"


def test_versions_of_before_a_place_was_purged_are_not_believed(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    """The tablet has seen the deletion, so the tombstone may go; what it did before that still waits in its queue."""
    for year in ("2018", "2019", "2020"):
        phone.edit("restore", FR, {"visited_date": year})
    sync_all(phone, tablet)
    tablet.change(visited_date="2021")
    phone.unmark()
    phone.push()
    for _ in range(2):
        phone.pull()
        tablet.pull()
    at.clock.move(timedelta(days=31))
    assert at.travel.feed.purge(ANNA) == 1
    phone.mark(visited_date="2028")
    phone.change(visited_date="2029")
    phone.push()
    assert tablet.push()[0].status == "conflict"
    visit = at.visit()
    assert visit is not None
    assert visit.visited_date == "2029"


# --- conflicts ---


def in_conflict(phone: Gadget, tablet: Gadget) -> Edit:
    phone.mark()
    sync_all(phone, tablet)
    phone.change(visited_date="2020")
    phone.push()
    edit = tablet.change(visited_date="2021")
    assert tablet.push()[0].strategy == "server_wins"
    return edit


def test_a_conflict_can_be_settled_with_something_else(at: Place, phone: Gadget, tablet: Gadget) -> None:
    edit = in_conflict(phone, tablet)
    result = at.travel.sync.resolve(ANNA, edit.operation_id, "manual", {"visited_date": "2022"})
    assert result.status == "applied"
    sync_all(phone, tablet)
    assert {gadget.places()["country#FR"]["visited_date"] for gadget in (phone, tablet)} == {"2022"}
    operation = at.travel.repository.operation(ANNA, edit.operation_id)
    assert (operation.status, operation.resolution_strategy, operation.has_conflict) == (
        "processed",
        "manual",
        True,
    )


def test_a_conflict_is_settled_once(at: Place, phone: Gadget, tablet: Gadget) -> None:
    edit = in_conflict(phone, tablet)
    settled = at_once([lambda: at.travel.sync.resolve(ANNA, edit.operation_id, "client_wins")] * 4, threads=4)
    assert [outcome.code for outcome in settled if isinstance(outcome, CallerError)].count(
        "ALREADY_RESOLVED"
    ) + sum(isinstance(outcome, Result) for outcome in settled) == 4
    visit = at.visit()
    assert visit is not None
    assert (visit.visited_date, visit.sync_version) == ("2021", 3)
    with pytest.raises(Conflict) as refused:
        at.travel.sync.resolve(ANNA, edit.operation_id, "server_wins")
    assert refused.value.code == "ALREADY_RESOLVED"


def test_a_deletion_that_lost_can_be_made_to_win(at: Place, phone: Gadget, tablet: Gadget) -> None:
    phone.mark()
    sync_all(phone, tablet)
    phone.change(notes="x")
    phone.push()
    edit = tablet.unmark()
    tablet.push()
    at.travel.sync.resolve(ANNA, edit.operation_id, "client_wins")
    assert not at.travel.visits.all(ANNA)


def test_what_is_wrong_with_a_settlement_is_said(at: Place, phone: Gadget, tablet: Gadget) -> None:
    edit = in_conflict(phone, tablet)
    for choice, data in (("manual", None), ("server_wins", {"notes": "x"})):
        with pytest.raises(BadRequest) as refused:
            at.travel.sync.resolve(ANNA, edit.operation_id, choice, data)  # type: ignore[arg-type]  # two choices
        assert refused.value.code == "INVALID_CHOICE"
    with pytest.raises(NotFound) as unknown:
        at.travel.sync.resolve(ANNA, "nothing", "server_wins")
    assert unknown.value.code == "OPERATION_NOT_FOUND"
    sign_up(at.db, at.clock, BEN)
    with pytest.raises(NotFound):
        at.travel.sync.resolve(BEN, edit.operation_id, "server_wins")


# --- states and their countries (SK-X4) ---


def test_a_state_offers_its_country_unless_it_is_marked(phone: Gadget) -> None:
    phone.mark(("us_state", "US-NY"))
    phone.mark(("canadian_province", "CA-ON"))
    offers = [result.offers for result in phone.push()]
    assert offers == [
        [Offer(region_type="country", region_code="US")],
        [Offer(region_type="country", region_code="CA")],
    ]
    phone.mark(("country", "US"))
    phone.mark(("us_state", "US-CA"))
    assert [result.offers for result in phone.push()] == [[], []]


def test_a_state_marks_its_country_for_who_wants_that(at: Place, phone: Gadget, tablet: Gadget) -> None:
    at.travel.sync.change_user(ANNA, {"mark_country": "always"})
    states: list[Spot] = [("us_state", region.region_code) for region in at.travel.geography.of("us_state")]
    phone.batch("batch_create", states)
    (result,) = phone.push()
    assert (result.status, result.offers) == ("applied", [])
    assert (at.head().us_states_visited, at.head().countries_visited) == (50, 1)
    tablet.pull()
    assert "country#US" in tablet.places()


def test_nothing_is_offered_to_who_does_not_want_it(at: Place, phone: Gadget) -> None:
    at.travel.sync.change_user(ANNA, {"mark_country": "never"})
    phone.mark(("us_state", "US-NY"))
    assert phone.push()[0].offers == []


def test_unmarking_a_country_leaves_its_states_and_the_other_way_round(at: Place, phone: Gadget) -> None:
    for spot in (("us_state", "US-NY"), ("country", "US")):
        phone.mark(spot)
    phone.push()
    phone.unmark(("country", "US"))
    phone.push()
    assert [visit.region_code for visit in at.travel.visits.all(ANNA)] == ["US-NY"]
    phone.mark(("country", "US"))
    phone.unmark(("us_state", "US-NY"))
    phone.push()
    assert [visit.region_code for visit in at.travel.visits.all(ANNA)] == ["US"]


# --- settings ---


def setting(gadget: Gadget, base: int, **data: Any) -> Result:
    edit = Edit(
        operation_id=f"set-{gadget.device_id}-{base}-{len(gadget.results)}",
        operation_type="update",
        entity_type="user",
        client_version=base,
        entity_data=data,
        client_timestamp=gadget.clock.now(),
    )
    gadget.queue.append(edit)
    return gadget.push()[0]


def test_settings_are_merged_switch_by_switch(at: Place, phone: Gadget, tablet: Gadget) -> None:
    setting(phone, 1, privacy_settings={"share_visits": True}, display_name="Anna")
    merged = setting(tablet, 1, privacy_settings={"profile_public": True})
    assert (merged.status, merged.conflicts) == ("merged", [])
    lost = setting(tablet, 1, display_name="Annie")
    assert (lost.status, lost.strategy) == ("conflict", "server_wins")
    profile = at.travel.repository.profile(ANNA)
    assert (profile.display_name, profile.entity_version) == ("Anna", 3)
    assert (profile.privacy_settings.share_visits, profile.privacy_settings.profile_public) == (True, True)
    sync_all(phone, tablet)
    assert phone.told[ANNA].data == tablet.told[ANNA].data


@pytest.mark.parametrize("public", [{}, {"profile_public": True}, {"share_visits": True}])
def test_notes_alone_cannot_be_made_public(at: Place, phone: Gadget, public: dict[str, bool]) -> None:
    refused = setting(phone, 1, privacy_settings={**public, "show_notes": True})
    assert (refused.status, refused.error) == ("failed", "NOTES_NEED_PUBLIC_PLACES")
    assert at.travel.repository.profile(ANNA).privacy_settings == PrivacySettings()


@pytest.mark.parametrize("name", ["profile_public", "share_visits"])
def test_notes_are_private_again_with_the_profile_and_do_not_come_back_with_it(
    at: Place, phone: Gadget, tablet: Gadget, name: str
) -> None:
    everything: dict[str, Any] = {"profile_public": True, "share_visits": True, "show_notes": True}
    assert setting(phone, 1, privacy_settings=everything).status == "applied"
    assert setting(phone, 2, privacy_settings={name: False}).status == "applied"
    assert not at.travel.repository.profile(ANNA).privacy_settings.show_notes
    assert setting(phone, 3, privacy_settings={name: True}).status == "applied"
    settings = at.travel.repository.profile(ANNA).privacy_settings
    assert (settings.shows_places, settings.show_notes) == (True, False)
    sync_all(phone, tablet)
    assert phone.told[ANNA].data == tablet.told[ANNA].data


def test_a_device_that_missed_that_the_profile_is_private_cannot_publish_notes(
    at: Place, phone: Gadget, tablet: Gadget
) -> None:
    setting(phone, 1, privacy_settings={"profile_public": True, "share_visits": True})
    tablet.pull()
    setting(phone, 2, privacy_settings={"profile_public": False})
    late = setting(tablet, 2, privacy_settings={"show_notes": True})
    assert (late.status, late.error) == ("failed", "NOTES_NEED_PUBLIC_PLACES")
    assert not at.travel.repository.profile(ANNA).privacy_settings.show_notes


def test_a_switch_that_was_kept_without_effect_is_off(at: Place, phone: Gadget) -> None:
    profile = at.travel.repository.profile(ANNA)
    kept = PrivacySettings(show_notes=True)
    at.db.write(d.profiles.change(profile, profile.model_copy(update={"privacy_settings": kept})))
    assert not bodies.me_view(at.travel.repository.profile(ANNA)).privacy_settings.show_notes
    setting(phone, 1, privacy_settings={"profile_public": True, "share_visits": True})
    assert not at.travel.repository.profile(ANNA).privacy_settings.show_notes


def test_settings_that_are_told_again_are_told_with_the_version_they_have_now(
    at: Place, phone: Gadget
) -> None:
    setting(phone, 1, display_name="Anna")
    (edit,) = (one for one in at.db.all(d.operations_of(user_id=ANNA)))
    again = Edit(
        operation_id=edit.operation_id,
        operation_type="update",
        entity_type="user",
        client_version=1,
        entity_data={"display_name": "Anna"},
        client_timestamp=at.clock.now(),
    )
    at.travel.sync.change_user(ANNA, {"display_name": "Annie"})
    (result,) = at.travel.sync.push(ANNA, PHONE, [again]).results
    (state,) = result.entities
    assert (result.replayed, state.data["display_name"], state.server_version) == (True, "Annie", 2)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"time_zone": "Mars/Olympus"}, "INVALID_TIME_ZONE"),
        ({"time_zone": "../../etc/passwd"}, "INVALID_TIME_ZONE"),
        ({"display_name": "x" * 101}, "INVALID_FIELD"),
        ({"mark_country": "sometimes"}, "INVALID_FIELD"),
        ({"privacy_settings": {"everything": True}}, "INVALID_FIELD"),
        ({"privacy_settings": {"share_visits": "yes"}}, "INVALID_FIELD"),
        ({"email": "a@example.org"}, "INVALID_FIELD"),
    ],
)
def test_settings_that_cannot_be_are_refused(phone: Gadget, data: dict[str, Any], code: str) -> None:
    assert setting(phone, 1, **data).error == code


def test_a_travellers_settings_cannot_be_deleted(at: Place, phone: Gadget) -> None:
    edit = Edit(
        operation_id="x", operation_type="delete", entity_type="user", client_timestamp=at.clock.now()
    )
    phone.queue.append(edit)
    assert refusal(phone) == "INVALID_OPERATION"


def test_a_young_travellers_map_stays_private(at: Place) -> None:
    sign_up(at.db, at.clock, BEN, is_minor=True)
    result = setting(at.gadget(PHONE, BEN), 1, privacy_settings={"share_visits": True})
    assert result.error == "MINOR_STAYS_PRIVATE"
    assert not at.head(BEN).shares_visits


# --- clocks and days ---


@pytest.mark.parametrize(("zone", "is_fine"), [("Pacific/Kiritimati", True), ("Pacific/Pago_Pago", False)])
def test_a_date_is_in_the_future_by_the_travellers_own_calendar(
    at: Place, phone: Gadget, zone: str, is_fine: bool
) -> None:
    at.travel.sync.change_user(ANNA, {"time_zone": zone})  # 14 June 14:00 UTC: the 15th, and the 14th
    phone.mark(visited_date="2030-06-15")
    assert (phone.push()[0].status == "applied") is is_fine


def test_a_clock_that_is_years_behind_is_taken_for_a_month_behind(at: Place, phone: Gadget) -> None:
    edit = phone.edit("create", FR, at=at.clock.now() - timedelta(days=4000))
    phone.push()
    operation = at.travel.repository.operation(ANNA, edit.operation_id)
    earliest = at.clock.now() - timedelta(days=30)
    assert operation.timestamp_ms == int(earliest.timestamp() * 1000)


@pytest.mark.parametrize(
    "says",
    ["0001-01-01T00:00:00+14:00", "0900-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2030-06-14T14:00:00"],
)
def test_whatever_a_clock_says_the_operation_is_done_and_listed(at: Place, says: str) -> None:
    said = {"operation_id": "op", "operation_type": "create", "region_type": "country", "region_code": "FR"}
    edit = Edit.model_validate({**said, "client_timestamp": says})
    (result,) = at.travel.sync.push(ANNA, PHONE, [edit]).results
    assert result.status == "applied"
    assert [it.operation_id for it in at.travel.sync.operations(ANNA).items] == ["op"]


# --- codes that were retired (SK-X12) ---


def test_a_code_that_was_renamed_is_followed(at: Place, phone: Gadget) -> None:
    phone.mark(("country", "BU"))
    assert phone.push()[0].status == "applied"
    assert [visit.region_code for visit in at.travel.visits.all(ANNA)] == ["MM"]


def test_a_code_that_was_divided_is_asked_about(at: Place, phone: Gadget) -> None:
    phone.mark(("country", "CS"))
    (result,) = phone.push()
    assert result.error == "REGION_DIVIDED"
    assert "RS" in (result.message or "")


# --- what a predecessor covers ---


def two_tabs(phone: Gadget) -> tuple[Form, Form]:
    """A place with a note that was not sent yet, open in two tabs."""
    phone.mark()
    phone.push()
    phone.change(notes="first")
    return phone.look(), phone.look()


def test_an_edit_from_a_form_that_was_open_meanwhile_does_not_replace_what_the_other_tab_saved(
    at: Place, phone: Gadget
) -> None:
    one, two = two_tabs(phone)
    phone.edit("update", data={"notes": "of tab two"}, form=two)
    phone.edit("update", data={"notes": "of tab one"}, form=one)
    assert [result.status for result in phone.push()] == ["applied", "applied", "conflict"]
    visit = at.visit()
    assert visit is not None
    assert visit.notes == "of tab two — from anna's phone: of tab one"
    assert len(at.travel.sync.conflicts(ANNA).items) == 1


def test_a_form_from_before_does_not_delete_what_the_other_tab_saved(at: Place, phone: Gadget) -> None:
    one, two = two_tabs(phone)
    phone.edit("update", data={"notes": "of tab two"}, form=two)
    phone.push()
    phone.edit("delete", form=one)
    assert [result.status for result in phone.push()] == ["conflict"]
    visit = at.visit()
    assert visit is not None
    assert not visit.is_deleted


def test_a_predecessor_about_another_place_says_nothing_about_this_one(at: Place, phone: Gadget) -> None:
    elsewhere = phone.mark(FR)
    phone.push()
    at.travel.sync.push(ANNA, PHONE, [phone.edit("create", DE, {"visited_date": "2024"}, id="de")])
    later = phone.edit("update", FR, {"notes": "later"})
    phone.push()
    blind = phone.edit("update", DE, {"visited_date": "2025"})
    for previous in (elsewhere, later):
        said = {"previous": previous.operation_id, "client_version": 0}
        said["operation_id"] = f"blind-{previous.operation_id}"
        result = at.travel.sync.push(ANNA, PHONE, [blind.model_copy(update=said)]).results[0]
        assert (result.status, result.strategy) == ("conflict", "server_wins")


def test_a_batch_has_seen_what_its_device_did_to_each_of_its_places(at: Place, phone: Gadget) -> None:
    phone.mark(FR, notes="one")
    phone.mark(DE, notes="two")
    phone.batch("batch_update", [FR, DE], notes="three")
    assert [result.status for result in phone.push()] == ["applied"] * 3


def test_who_follows_a_refused_operation_has_seen_what_that_one_had(at: Place, phone: Gadget) -> None:
    phone.mark(notes="one")
    phone.change(notes="x" * 501)
    phone.change(notes="two")
    assert [result.status for result in phone.push()] == ["applied", "failed", "applied"]
