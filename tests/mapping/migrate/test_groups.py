"""One item of the source becomes many of a table that holds others too, and many become one again."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from tests.mapping.migrate.albums import Shelf, header_item, page_item, shelf

from tablewright.mapping.migrate import (
    MigrationContext,
    VerifyReport,
    abandon,
    advance,
    begin,
    is_up_to_date,
    record_report,
    rollback,
    switch,
    verify,
)


@pytest.fixture
def at() -> Iterator[Shelf]:
    with shelf() as found:
        yield found


def followed(context: MigrationContext) -> None:
    while not advance(context, "me", page=3).is_idle or not is_up_to_date(context, context.state()):
        context.sleep(0.01)


def copied(at: Shelf) -> MigrationContext:
    context = at.context()
    context.plan(segments=2)
    begin(context)
    followed(context)
    return context


def verified(context: MigrationContext) -> VerifyReport:
    report = verify(context, context.state())
    record_report(context, report)
    return report


def switched(at: Shelf) -> MigrationContext:
    context = copied(at)
    assert verified(context).is_right
    switch(context)
    return context


def test_one_item_becomes_many_and_follows_what_is_appended(at: Shelf) -> None:
    at.album("a", "one", "two")
    context = copied(at)
    at.append_old("a", "three")
    followed(context)
    assert at.texts("new-a") == ["one", "two", "three"]
    assert at.new()["ALBUM#new-a", "HEADER"]["count"] == {"N": "3"}


def test_an_item_that_becomes_more_than_a_transaction_holds_is_copied_whole(at: Shelf) -> None:
    texts = [f"page {n}" for n in range(250)]
    at.album("a", *texts)
    context = copied(at)
    assert at.texts("new-a") == texts
    at.call("DeleteItem", {"TableName": "albums", "Key": {"id": {"S": "a"}}})
    followed(context)
    assert at.new() == {}


def test_items_that_are_stored_differently_and_equal_in_plain_are_not_written_again(at: Shelf) -> None:
    at.album("a", "one", "two")
    context = copied(at)
    before = at._items("new_albums")
    report = verified(context)
    assert (report.is_right, report.digests_agree) == (True, True)
    assert at._items("new_albums") == before


def test_what_the_new_table_held_before_is_not_an_orphan(at: Shelf) -> None:
    at.album("a", "one")
    at.put_new(header_item("own", 1), page_item("own", 0, "mine"))
    context = copied(at)
    report = verified(context)
    assert (report.is_right, report.digests_agree, report.goal_items) == (True, True, 2)
    assert at.texts("own") == ["mine"]


def test_a_page_that_was_added_to_a_copy_is_found_and_removed(at: Shelf) -> None:
    at.album("a", "one")
    context = copied(at)
    at.put_new(page_item("new-a", 7, "stray"))
    report = verify(context, context.state())
    assert (report.is_right, report.extra) == (False, 1)
    verify(context, context.state(), repair=True)
    assert at.texts("new-a") == ["one"]


def test_a_rollback_brings_back_what_was_written_meanwhile_as_one_item(at: Shelf) -> None:
    at.album("a", "one")
    at.album("b", "only")
    context = switched(at)
    at.append_new("new-a", "two")
    at.append_new("new-a", "three")
    at.put_new(header_item("own", 1), page_item("own", 0, "mine"))
    followed(context)
    assert at.old() == {"a": ["one", "two", "three"], "b": ["only"]}
    rollback(context)
    assert context.state().phase == "rolled_back"
    assert at.old() == {"a": ["one", "two", "three"], "b": ["only"]}


def test_a_group_that_is_deleted_after_the_switch_is_deleted_in_the_old_table(at: Shelf) -> None:
    at.album("a", "one")
    context = switched(at)
    for place in ("PAGE#0000", "HEADER"):
        key = {"PK": {"S": "ALBUM#new-a"}, "SK": {"S": place}}
        at.call("DeleteItem", {"TableName": "new_albums", "Key": key})
    followed(context)
    assert at.old() == {}


def test_a_part_that_goes_alone_is_missing_in_the_old_table_too(at: Shelf) -> None:
    """As when a part expires: the anchor is not written."""
    at.album("a", "one", "two")
    context = switched(at)
    key = {"PK": {"S": "ALBUM#new-a"}, "SK": {"S": "PAGE#0000"}}
    at.call("DeleteItem", {"TableName": "new_albums", "Key": key})
    followed(context)
    assert at.old() == {"a": ["two"]}


def test_a_shared_table_loses_only_the_copies_when_a_migration_is_given_up(at: Shelf) -> None:
    at.album("a", *(f"page {n}" for n in range(120)))
    at.put_new(header_item("own", 1), page_item("own", 0, "mine"))
    context = copied(at)
    abandon(context)
    assert set(at.new()) == {("ALBUM#own", "HEADER"), ("ALBUM#own", "PAGE#0000")}


def test_it_can_be_migrated_again_after_a_rollback(at: Shelf) -> None:
    at.album("a", "one")
    context = switched(at)
    at.append_new("new-a", "two")
    rollback(context)
    abandon(context)
    assert at.new() == {}
    at.append_old("a", "three")
    switched(at)
    assert at.texts("new-a") == ["one", "two", "three"]


@pytest.mark.parametrize("seed", range(6))
def test_no_order_of_appends_rounds_and_changes_of_sides_loses_a_page(at: Shelf, seed: int) -> None:
    pick, wanted = random.Random(seed), {"a": ["0"], "b": ["0"]}
    for id in wanted:
        at.album(id, "0")
    context = at.context()
    context.plan(segments=1)
    begin(context)
    for step in range(1, 60):
        id = pick.choice(("a", "b"))
        match pick.randrange(4):
            case 0 | 1:
                is_new = context.state().side == "target"
                (at.append_new if is_new else at.append_old)(f"new-{id}" if is_new else id, str(step))
                wanted[id].append(str(step))
            case 2:
                advance(context, pick.choice(("me", "you")), pages=1, page=1)
            case _ if context.state().phase == "switched" and pick.random() < 0.3:
                rollback(context)
                abandon(context)
                context.plan(segments=1)
                begin(context)
            case _ if context.state().copied and context.state().side == "source":
                if verified(context).is_right:
                    switch(context)
    if context.state().side == "target":
        rollback(context)
    assert at.old() == wanted
