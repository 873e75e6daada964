"""Consumers of a table go along when it changes sides, those that begin in the same moment too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest
from tests.mapping.migrate.cards import At, card, forward, opened
from tests.mapping.migrate.test_phases import copied, followed

from tablewright.client import Call
from tablewright.engine.streams import shards
from tablewright.mapping import Consumer, Db, stream_consumers
from tablewright.mapping.migrate import MigrationContext, record_report, rollback, switch, verify


@pytest.fixture
def at() -> Iterator[At]:
    with opened() as found:
        yield found


def consumer(at: At, call: Call, name: str, heard: list[str]) -> Consumer:
    """As a program has it: it knows the table by one name."""

    def hear(record: Mapping[str, Any]) -> None:
        image = record["dynamodb"].get("NewImage") or {}
        if "id" in image:
            heard.append(f"{image['id']['S']} {image.get('title', image.get('text', {})).get('S')}")

    return Consumer(Db(at.program(call), stream_consumers, world=at.clock.world()), None, "cards", name, hear)


def ready(at: At) -> MigrationContext:
    at.put(card("a", "one", "g"), card("b", "two"))
    context = copied(at)
    record_report(context, verify(context, context.state()))
    return context


def before(at: At, is_it: Callable[[str, Mapping[str, Any]], bool], act: Callable[[], object]) -> Call:
    """A line on which something happens before one call, once."""
    done: list[bool] = []

    def line(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if not done and is_it(verb, request):
            done.append(True)
            act()
        return at.call(verb, request)

    return line


def is_flip(verb: str, request: Mapping[str, Any]) -> bool:
    return verb == "TransactWriteItems" and "switched_at" in str(request) and "pausing" in str(request)


def is_start(verb: str, request: Mapping[str, Any]) -> bool:
    return verb in ("TransactWriteItems", "PutItem") and "START" in str(request)


def written(at: At, program: Call, id: str) -> None:
    program("PutItem", {"TableName": "cards", "Item": forward(card(id, "since"))[0]})


def test_who_begins_between_the_listing_and_the_change_of_sides_goes_along(at: At) -> None:
    context, heard = ready(at), list[str]()
    late = consumer(at, at.call, "late", heard)
    state = switch(at.context(before(at, is_flip, late.register)))
    assert state.phase == "switched"
    written(at, at.program(), "c")
    followed(context)
    for _ in range(3):
        late.run_once()
    assert heard == ["a one", "b two", "c since"], (
        "what was written to the table, and nothing that was copied"
    )


def test_what_was_written_after_idle_days_and_before_the_change_of_sides_is_not_taken_for_lost(
    at: At, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shards that took it over are known and not read yet; the last change anybody heard of is days old."""
    context, heard = ready(at), list[str]()
    watching = consumer(at, at.call, "watch", heard)
    watching.register()
    for _ in range(5):
        watching.run_once()
        idle(at, context)
    heard.clear()
    monkeypatch.setattr(shards, "SHARD_RECORDS", 2)
    at.put(*(card("c", f"text {n}") for n in range(3)))
    at.engine.settle()
    at.put(card("c", "last"))
    watching.register()
    followed(context)
    assert switch(context).phase == "switched"
    for _ in range(3):
        watching.run_once()
    assert heard == ["c text 0", "c text 1", "c text 2", "c last"]


def idle(at: At, context: MigrationContext) -> None:
    """Some hours in which nobody writes, and who follows goes on."""
    at.clock.move(timedelta(hours=6))
    at.engine.settle()
    followed(context)


@pytest.mark.parametrize("others", [0, 1])
def test_who_begins_with_the_shards_of_a_side_that_was_left_meanwhile_looks_again(
    at: At, others: int
) -> None:
    context, heard = ready(at), list[str]()
    # So old that its stream could have lost something: who is not known there is not let in from its beginning.
    for _ in range(5):
        idle(at, context)
    for number in range(others):
        consumer(at, at.call, f"other {number}", []).register()
        consumer(at, at.call, f"other {number}", []).run_once()
    late = consumer(at, before(at, is_start, lambda: switch(context)), "late", heard)
    late.register()
    assert context.state().phase == "switched"
    written(at, at.program(), "c")
    followed(context)
    for _ in range(3):
        late.run_once()
    assert heard[-1] == "c since"
    for number in range(others):
        consumer(at, at.call, f"other {number}", []).run_once()
    assert rollback(context).phase == "rolled_back"
    at.program()("PutItem", {"TableName": "cards", "Item": card("d", "back")})
    for _ in range(3):
        late.run_once()
    assert heard[-2:] == ["c since", "d back"]
