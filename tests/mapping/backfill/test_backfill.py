"""Backfills in place: what is written, resuming, rate, workers, versions of the design."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from pydantic import BaseModel
from tests.mapping.backfill.tasks import (
    BACKFILL,
    NEW,
    OLD_TASKS,
    TASKS,
    Killed,
    Place,
    Task,
    by_id,
    opened,
    tasks_design,
    with_fill,
)

from tablewright.design import Design, Expires, Schema
from tablewright.mapping import Stale
from tablewright.mapping.backfill import (
    Backfill,
    Superseded,
    advance,
    backfill_context,
    change_of,
    count_lacking,
)
from tablewright.values import Item


@pytest.fixture
def at() -> Iterator[Place]:
    with opened() as place:
        for number in range(7):
            place.old.write(OLD_TASKS.create(Task(id=str(number), state="OPEN")))
        yield place


ALL = {("STATE#OPEN", str(number)) for number in range(7)}


def test_every_item_is_in_the_index_afterwards_and_was_written_once(at: Place) -> None:
    before = at.items()
    assert at.indexed() == set()
    progress = at.finish()
    assert (progress.items, progress.filled, progress.unreadable) == (7, 7, 0)
    assert at.indexed() == ALL
    assert set(at.written.values()) == {1}
    added = {"GPK", "GSK"}
    assert {
        name: {k: v for k, v in item.items() if k not in added} for name, item in at.items().items()
    } == before


def test_items_that_have_it_are_not_written(at: Place) -> None:
    at.finish()
    at.written.clear()
    context = at.context()
    context.begin(again=True)
    while not advance(context, "me").is_over:
        pass
    assert (context.run().number, at.written.total()) == (2, 0)


def test_what_the_entity_no_longer_has_is_removed_from_the_index(at: Place) -> None:
    at.finish()
    task = at.old.one(OLD_TASKS.get("3"))
    assert task is not None
    at.old.write(OLD_TASKS.change(task, task.model_copy(update={"state": None})))
    assert at.indexed() == ALL
    at.context().begin(again=True)
    at.finish()
    assert at.indexed() == ALL - {("STATE#OPEN", "3")}


def test_a_check_counts_what_is_missing_and_writes_nothing(at: Place) -> None:
    before = at.items()
    counted = count_lacking(at.context())
    assert (counted.items, counted.filled, counted.is_over, at.items()) == (7, 7, False, before)
    at.finish()
    assert count_lacking(at.context()).is_over


def test_an_item_that_does_not_fit_is_counted_and_left_as_it_is(at: Place) -> None:
    odd: Item = {"PK": {"S": "TASK#odd"}, "SK": {"S": "TASK"}, "id": {"S": "odd"}, "count": {"S": "many"}}
    at.call("PutItem", {"TableName": "tasks", "Item": odd})
    assert at.finish().unreadable == 1
    assert at.items()["TASK#odd"] == odd
    assert at.indexed() == ALL


# --- concurrency ---


def test_a_change_between_the_read_and_the_write_is_kept_and_filled(at: Place) -> None:
    def change(number: int, verb: str, table: str) -> None:
        task = at.old.one(OLD_TASKS.get("3"))
        assert task is not None
        if (verb, table, task.state) == (
            "UpdateItem",
            "tasks",
            "OPEN",
        ):  # by code of the old version, which writes no key
            at.old.write(OLD_TASKS.change(task, task.model_copy(update={"state": "DONE"})))

    context = at.context(before=change)
    context.begin(segments=1)
    while not advance(context, "me").is_over:
        pass
    assert at.indexed() == ALL - {("STATE#OPEN", "3")} | {("STATE#DONE", "3")}
    assert at.items()["TASK#3"]["state"] == {"S": "DONE"}


def test_a_deleted_item_is_not_made_again(at: Place) -> None:
    def delete(number: int, verb: str, table: str) -> None:
        if (verb, table) == ("UpdateItem", "tasks"):
            at.old.write(OLD_TASKS.discard("3"))

    context = at.context(before=delete)
    context.begin(segments=1)
    while not advance(context, "me").is_over:
        pass
    assert at.indexed() == ALL - {("STATE#OPEN", "3")}
    assert "TASK#3" not in at.items()


def test_a_killed_worker_leaves_its_segment_to_another_when_its_lease_ends(at: Place) -> None:
    def kill(number: int, verb: str, table: str) -> None:
        if at.written.total() == 4:
            raise Killed

    context = at.context(after=kill)
    context.begin(segments=1)
    with pytest.raises(Killed):
        advance(context, "killed")
    other = at.context()
    other.begin()
    assert not advance(other, "other").worked
    at.clock.move(timedelta(seconds=11))
    assert advance(other, "other").is_over
    assert at.indexed() == ALL
    assert set(at.written.values()) == {1}


def test_the_rate_is_kept_by_pauses_and_stays_with_the_run(at: Place) -> None:
    context = at.context()
    context.begin(rate=2, segments=1)
    while not advance(context, "me").is_over:
        pass
    assert sum(at.naps) == pytest.approx(7 / 2)
    assert at.context().begin().rate == 2


def test_another_version_of_the_design_is_another_run_and_ends_the_old_workers(at: Place) -> None:
    at.finish()
    later, *_ = tasks_design(has_index=True, template="STAGE#{state}")
    newer = Backfill(later, later.tables["tasks"])
    old = at.context()
    assert at.context(newer).begin().number == 2
    with pytest.raises(Superseded):
        advance(old, "old")
    at.finish(newer)
    assert at.indexed() == {(f"STAGE#{state.removeprefix('STATE#')}", id) for state, id in ALL}


# --- fields that the design cannot derive ---


def done(item: Item) -> Item:
    return {"state": {"S": "DONE"}} if item.get("state") == {"S": "OPEN"} else {}


def test_a_field_is_filled_with_its_index_key_and_a_program_that_read_before_is_told(at: Place) -> None:
    task = at.new.one(TASKS.get("3"))
    assert task is not None
    at.finish(with_fill(done))
    assert at.indexed() == {("STATE#DONE", str(number)) for number in range(7)}
    with pytest.raises(Stale):
        at.new.write(TASKS.change(task, task.model_copy(update={"count": 1})))


def test_an_entity_that_is_not_named_is_left_alone(at: Place) -> None:
    at.finish(Backfill(NEW, NEW.tables["tasks"], ("note",)))
    assert at.indexed() == set()


def test_a_context_of_its_own_has_the_clock_of_the_process(at: Place) -> None:
    context = backfill_context(at.call, BACKFILL)
    assert context.find_run() is None
    context.begin()
    while not advance(context, "me").is_over:
        pass
    assert (context.run().ended is not None, at.indexed()) == (True, ALL)


# --- forms and times ---


class Page(BaseModel):
    id: str
    form: int = 1
    title: str
    seen: datetime | None = None


def renamed(item: Item) -> Item:
    return {**{name: value for name, value in item.items() if name != "name"}, "title": item["name"]}


def test_an_item_of_an_older_form_is_written_whole_and_gets_its_expiry() -> None:
    design = Design("pages")
    table = design.table("pages", pk="PK", ttl="until")
    shape = table.entity(
        Page, by_id, tag="page", pk="PAGE#{id}", schema=Schema("form", (renamed,)),
        expires=Expires("seen", timedelta(days=1)),
    ).shape  # fmt: skip
    fill = Backfill(design.build(), shape.table)
    key: Item = {"PK": {"S": "PAGE#a"}, "id": {"S": "a"}, "seen": {"S": "2040-01-01T00:00:00.000000Z"}}
    change = change_of(fill, shape, {**key, "name": {"S": "first"}})
    assert change is not None
    assert change.verb == "PutItem"
    assert change.request["Item"] == {
        **change.request["Item"], "title": {"S": "first"}, "form": {"N": "2"}, "until": {"N": "2209075200"}
    }  # fmt: skip
    assert "name" not in change.request["Item"]
    assert "#" in change.request["ConditionExpression"]
    assert change_of(fill, shape, change.request["Item"]) is None
