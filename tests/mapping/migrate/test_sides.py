"""Programs know a table by one name: requests go to the side that is open, and to no other."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest
from tests.mapping.migrate.cards import CARDS, At, card, key, old, old_cards, opened
from tests.mapping.migrate.test_phases import copied, switched

from tablewright.client import Call, CallFailed
from tablewright.mapping.migrate import (
    NotRouted,
    SideChanged,
    WritesPaused,
    record_report,
    routed,
    switch,
    verify,
)
from tablewright.mapping.tables import create_table

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table"


@pytest.fixture
def at() -> Iterator[At]:
    with opened() as found:
        yield found


def counting(call: Call, verbs: list[tuple[str, Any]]) -> Call:
    def counted(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        verbs.append((verb, request.get("TableName")))
        return call(verb, request)

    return counted


def test_where_nothing_is_planned_a_request_costs_nothing_more(at: At) -> None:
    verbs: list[tuple[str, Any]] = []
    program = at.program(counting(at.call, verbs))
    for _ in range(50):
        program("PutItem", {"TableName": "cards", "Item": card("a")})
        program("ListTables", {})
    assert [verb for verb, _ in verbs].count("GetItem") == 1
    at.clock.move(timedelta(seconds=1.5))
    program("PutItem", {"TableName": "cards", "Item": card("a")})
    assert [verb for verb, _ in verbs].count("GetItem") == 2


def test_without_migrations_there_is_no_router(at: At) -> None:
    assert routed(at.call) is at.call


def test_every_verb_is_led_and_answers_with_the_name_that_was_asked_for(at: At) -> None:
    switched(at)
    program = at.program()
    item = {**key("a"), "id": {"S": "a"}, "title": {"S": "x"}}
    written = {"RequestItems": {"cards": [{"PutRequest": {"Item": item}}]}, "ReturnConsumedCapacity": "TOTAL"}
    assert program("BatchWriteItem", written)["ConsumedCapacity"][0]["TableName"] == "cards"
    other = {"Put": {"TableName": "cards", "Item": {**item, **key("b")}}}
    program("TransactWriteItems", {"TransactItems": [other]})
    got = program("BatchGetItem", {"RequestItems": {"cards": {"Keys": [key("a")]}}})
    assert got["Responses"] == {"cards": [item]}
    assert program("Scan", {"TableName": "cards", "Select": "COUNT"})["Count"] == 2
    assert at.items("cards") == {}
    gets = [{"Get": {"TableName": "cards", "Key": key("b")}}]
    assert program("TransactGetItems", {"TransactItems": gets})["Responses"][0]["Item"]["PK"] == {
        "S": "CARD#b"
    }


@pytest.mark.parametrize(
    ("verb", "request_"),
    [
        ("ExecuteStatement", {"Statement": 'SELECT * FROM "cards"'}),
        ("BatchExecuteStatement", {"Statements": [{"Statement": 'SELECT * FROM "new_cards"'}]}),
        ("PutItem", {"TableName": "new_cards", "Item": card("a")}),
        ("Scan", {"TableName": f"{ARN}/cards"}),
        ("PutItem", {"TableName": f"{ARN}/new_cards", "Item": card("a")}),
        ("BatchGetItem", {"RequestItems": {f"{ARN}/cards": {"Keys": [key("a")]}}}),
        (
            "TransactWriteItems",
            {
                "TransactItems": [
                    {"Put": {"TableName": "cards", "Item": card("a")}},
                    {"Put": {"TableName": f"{ARN}/cards", "Item": card("b")}},
                ]
            },
        ),
        (
            "BatchWriteItem",
            {
                "RequestItems": {
                    "cards": [{"PutRequest": {"Item": card("a")}}],
                    f"{ARN}/new_cards": [{"PutRequest": {"Item": card("b")}}],
                }
            },
        ),
    ],
)
def test_what_cannot_be_led_is_refused(at: At, verb: str, request_: Mapping[str, Any]) -> None:
    with pytest.raises(NotRouted):
        at.program()(verb, request_)
    assert at.items("cards") == {}


def test_other_tables_are_none_of_its_business_however_they_are_named(at: At) -> None:
    at.call("CreateTable", create_table(old, old_cards.shape.table) | {"TableName": "cards_of_others"})
    program = at.program()
    program("PutItem", {"TableName": f"{ARN}/cards_of_others", "Item": card("a")})
    found = program("DescribeTable", {"TableName": "cards"})["Table"]["TableArn"]
    # What is about a table itself, and takes nothing but an ARN, means the table that has it.
    assert program("ListTagsOfResource", {"ResourceArn": found})["Tags"] == []
    assert len(at.items("cards_of_others")) == 1


def test_writes_wait_while_sides_are_changed_and_are_refused_if_it_takes_long(at: At) -> None:
    context = copied(at)
    record_report(context, verify(context, context.state()))
    now = at.clock.now()
    context.move(context.state(), "pausing", paused_from="verified", pause_ends=now + timedelta(minutes=1))
    program = at.program()
    assert program("Scan", {"TableName": "cards", "Select": "COUNT"})["Count"] == 0
    with pytest.raises(WritesPaused):
        program("PutItem", {"TableName": "cards", "Item": card("a")})

    def reopen(seconds: float) -> None:
        context.end_pause(context.state())

    at.program(sleep=reopen)("PutItem", {"TableName": "cards", "Item": card("a")})
    assert len(at.items("cards")) == 1


def test_a_pause_whose_maker_died_is_ended_by_whoever_comes(at: At) -> None:
    context = copied(at)
    record_report(context, verify(context, context.state()))
    context.move(
        context.state(), "pausing", paused_from="verified", pause_ends=at.clock.now() + timedelta(minutes=1)
    )
    at.clock.move(timedelta(minutes=1))
    at.program()("PutItem", {"TableName": "cards", "Item": card("a")})
    assert context.state().phase == "verified"


def test_an_answer_that_comes_after_the_switch_is_no_acknowledgement(at: At) -> None:
    context = copied(at)
    record_report(context, verify(context, context.state()))

    def slow(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if verb == "PutItem":
            switch(context)
        return at.call(verb, request)

    with pytest.raises(SideChanged):
        at.program(slow)("PutItem", {"TableName": "cards", "Item": card("a")})


def test_who_cannot_look_writes_nothing_and_is_led_nowhere_else(at: At) -> None:
    """A failure is a failure: nothing falls back to the other side because one did not answer."""
    is_cut = threading.Event()
    asked: list[tuple[str, Any]] = []

    def line(verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        if is_cut.is_set() and request.get("TableName") == "migrations":
            raise CallFailed("no answer")
        return at.call(verb, request)

    program = at.program(counting(line, asked))
    program("PutItem", {"TableName": "cards", "Item": card("a")})
    is_cut.set()
    program("PutItem", {"TableName": "cards", "Item": card("b")})
    at.clock.move(CARDS.term)
    with pytest.raises(CallFailed):
        program("PutItem", {"TableName": "cards", "Item": card("c")})
    assert len(at.items("cards")) == 2
    assert "new_cards" not in [table for _, table in asked]
