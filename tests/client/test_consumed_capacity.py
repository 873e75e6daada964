"""Consumed capacity as values."""

from __future__ import annotations

from tests.client.ways import keyed, put

from tablewright import Engine
from tablewright.client import Units, embedded, units_of


def test_a_plain_figure_is_read_or_write_by_its_verb() -> None:
    answer = {"ConsumedCapacity": {"TableName": "pets", "CapacityUnits": 2.5}}
    assert units_of("Query", answer) == (Units("pets", read=2.5),)
    assert units_of("UpdateItem", answer) == (Units("pets", write=2.5),)


def test_the_units_of_indexes_are_part_of_the_whole() -> None:
    told = {
        "TableName": "pets",
        "CapacityUnits": 6.0,
        "Table": {"CapacityUnits": 1.0},
        "LocalSecondaryIndexes": {"by-age": {"CapacityUnits": 2.0}},
        "GlobalSecondaryIndexes": {"by-owner": {"CapacityUnits": 3.0}},
    }
    (units,) = units_of("PutItem", {"ConsumedCapacity": told})
    assert units == Units("pets", write=6.0)


def test_a_replayed_transaction_costs_reads(engine: Engine) -> None:
    call = embedded(engine)
    request = {
        "TransactItems": [{"Put": put("rex")}],
        "ClientRequestToken": "again",
        "ReturnConsumedCapacity": "TOTAL",
    }
    first, second = (units_of("TransactWriteItems", call("TransactWriteItems", request)) for _ in range(2))
    assert first == (Units("pets", write=2.0),)
    assert second == (Units("pets", read=2.0),)


def test_an_answer_that_says_nothing_costs_nothing(engine: Engine) -> None:
    assert units_of("GetItem", embedded(engine)("GetItem", keyed("rex"))) == ()
    assert units_of("ListTables", {"ConsumedCapacity": {"TableName": "x"}}) == ()
