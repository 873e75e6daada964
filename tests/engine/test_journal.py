"""The journal: what a change leaves behind, what leaves nothing, and time that never falls.

Elsewhere: the same as laws over random histories (tests/properties/test_journal_laws.py).
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.engine.tables import add, definition, item, keyed, put, records, transaction

from tablewright import Engine, ServiceError
from tablewright.engine.journal import CLIENT, JournalPosition, microseconds, position_at
from tablewright.testing import Clock

START = microseconds(datetime(2026, 1, 1, tzinfo=UTC))

BAD_UPDATE = {**keyed("rex"), "UpdateExpression": "SET age = wings"}
BAD_ITEM = {"pk": {"N": "1"}}


def images(engine: Engine) -> list[tuple[Any, Any]]:
    """What each record says was there before and after."""
    return [
        (None if old is None else orjson.loads(old), None if new is None else orjson.loads(new))
        for _, _, _, _, _, old, new in records(engine)
    ]


def test_a_record_has_a_number_a_time_a_source_a_table_a_key_and_both_images(engine: Engine) -> None:
    engine.call("PutItem", put("rex", age=3))
    engine.call("PutItem", put("rex", age=4))
    engine.call("DeleteItem", keyed("rex"))
    assert images(engine) == [
        (None, item("rex", age=3)),
        (item("rex", age=3), item("rex", age=4)),
        (item("rex", age=4), None),
    ]
    assert [(seq, at, source) for seq, at, source, *_ in records(engine)] == [
        (n, START, CLIENT) for n in (1, 2, 3)
    ]
    assert len({(table, key) for _, _, _, table, key, _, _ in records(engine)}) == 1


@pytest.mark.parametrize(
    ("verb", "request_"),
    [
        ("PutItem", put("rex", age=3)),
        ("PutItem", {"TableName": "pets", "Item": {"age": {"N": "3.0"}, "pk": {"S": "rex"}}}),
        ("UpdateItem", {**keyed("rex"), "UpdateExpression": "REMOVE wings"}),
        ("UpdateItem", keyed("rex")),
        ("UpdateItem", add("rex", 0) | {"UpdateExpression": "ADD age :n"}),
        ("DeleteItem", keyed("tom")),
        ("BatchWriteItem", {"RequestItems": {"pets": [{"PutRequest": {"Item": item("rex", age=3)}}]}}),
        ("TransactWriteItems", transaction({"Put": put("rex", age=3)}, {"Delete": keyed("tom")})),
        (
            "TransactWriteItems",
            transaction({"ConditionCheck": keyed("rex") | {"ConditionExpression": "attribute_exists(pk)"}}),
        ),
    ],
)
def test_a_write_that_changes_nothing_leaves_no_record(
    engine: Engine, verb: str, request_: dict[str, Any]
) -> None:
    engine.call("PutItem", put("rex", age=3))
    engine.call(verb, request_)
    assert len(records(engine)) == 1


@pytest.mark.parametrize(
    ("verb", "request_"),
    [
        ("PutItem", put("rex") | {"ConditionExpression": "attribute_not_exists(pk)"}),
        ("UpdateItem", BAD_UPDATE),
        ("TransactWriteItems", transaction({"Put": put("new")}, {"Update": BAD_UPDATE})),
        ("BatchWriteItem", {"RequestItems": {"pets": [{"PutRequest": {"Item": item("new")}}] * 2}}),
        (
            "BatchWriteItem",
            {"RequestItems": {"pets": [{"PutRequest": {"Item": i}} for i in (item("a"), BAD_ITEM)]}},
        ),
    ],
)
def test_a_refused_write_leaves_no_record(engine: Engine, verb: str, request_: dict[str, Any]) -> None:
    engine.call("PutItem", put("rex", age=3))
    with pytest.raises(ServiceError):
        engine.call(verb, request_)
    assert images(engine) == [(None, item("rex", age=3))]


def test_a_batch_and_a_transaction_leave_one_record_for_each_item_they_change(engine: Engine) -> None:
    batch = [{"PutRequest": {"Item": item(name)}} for name in ("a", "b", "c")]
    engine.call("BatchWriteItem", {"RequestItems": {"pets": batch}})
    engine.call(
        "TransactWriteItems", transaction({"Update": add("a")}, {"Delete": keyed("b")}, {"Put": put("d")})
    )
    assert [seq for seq, *_ in records(engine)] == [1, 2, 3, 4, 5, 6]


def test_tables_and_settings_leave_no_record(engine: Engine) -> None:
    engine.call("CreateTable", definition("other", indexes=("colour",)))
    engine.call("DeleteTable", {"TableName": "other"})
    assert records(engine) == []


def test_records_of_a_dropped_table_stay_and_a_new_one_of_its_name_has_another_number(engine: Engine) -> None:
    engine.call("PutItem", put("rex"))
    engine.call("DeleteTable", {"TableName": "pets"})
    engine.settle()
    engine.call("CreateTable", definition())
    engine.call("PutItem", put("rex"))
    first, second = records(engine)
    assert first[3] != second[3]


def test_a_clock_set_back_does_not_turn_the_journal_back(engine: Engine, clock: Clock) -> None:
    for move in (timedelta(0), timedelta(seconds=5), timedelta(hours=-3), timedelta(seconds=1)):
        clock.move(move)
        engine.call("UpdateItem", add("rex"))
    five = 5_000_000
    assert [at - START for _, at, *_ in records(engine)] == [0, five, five, five]


def test_a_clock_set_back_between_two_openings_does_not_turn_the_journal_back(store: Path) -> None:
    clock = Clock()
    with Engine.open(store, world=clock.world()) as engine:
        engine.call("CreateTable", definition())
        engine.call("PutItem", put("rex"))
    clock.move(timedelta(days=-1))
    with Engine.open(store, world=clock.world()) as engine:
        engine.call("PutItem", put("tom"))
        assert [(seq, at) for seq, at, *_ in records(engine)] == [(1, START), (2, START)]
        assert engine.verify() == []


def test_the_pen_goes_on_from_the_last_record_and_never_back_in_time() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    assert position_at(JournalPosition(7, 0), moment) == JournalPosition(7, START)
    assert position_at(JournalPosition(7, START + 9), moment) == JournalPosition(7, START + 9)


def test_times_are_whole_microseconds_since_1970() -> None:
    assert microseconds(datetime(1970, 1, 2, 0, 0, 1, 5, tzinfo=UTC)) == 86_401_000_005
