"""How much work a read may do in one go, and what it holds while it works."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.engine.tables import definition, put

from tablewright import testing
from tablewright.engine import Engine
from tablewright.engine.read_budget import Bounded, ExceedsBudget

FILTER = {"FilterExpression": "attribute_exists(x)"}


class Noticing:
    """An effort that does something once the read has let go of a store in memory, and is still at work."""

    def __init__(self, engine: Engine, then: Callable[[], None]) -> None:
        self.lock, self.then, self.is_done = engine._storage.write_lock, then, False

    def spend(self, amount: int) -> None:
        if not self.is_done and not self.lock.locked():
            self.is_done = True
            self.then()


@pytest.fixture
def engine() -> Iterator[Engine]:
    """1.5 MB of items: more than a page."""
    with testing.engine() as engine:
        engine.call(
            "CreateTable",
            {
                "TableName": "pages",
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            },
        )
        engine.settle()
        for number in range(300):
            item = {"pk": {"S": str(number)}, "x": {"S": "x" * 5000}}
            engine.call("PutItem", {"TableName": "pages", "Item": item})
        yield engine


@pytest.mark.parametrize(
    ("verb", "asked"),
    [
        ("Scan", {"TableName": "pages", **FILTER}),
        ("ExecuteStatement", {"Statement": "SELECT * FROM pages WHERE attribute_type(x, 'S')"}),
    ],
)
def test_a_store_in_memory_can_be_written_while_a_page_is_filtered(
    engine: Engine, verb: str, asked: dict[str, object]
) -> None:
    def change() -> None:
        engine.call("PutItem", {"TableName": "pages", "Item": {"pk": {"S": "0"}}})
        engine.call("DeleteTable", {"TableName": "pages"})
        engine.settle()

    effort = Noticing(engine, change)
    whole = engine.answer(verb, asked)
    assert engine.answer(verb, asked, effort) == whole
    assert effort.is_done
    assert engine.call("ListTables", {}) == {"TableNames": []}


def test_a_store_in_memory_can_be_written_while_a_page_of_an_index_is_filtered() -> None:
    asked = {
        "TableName": "pets",
        "IndexName": "colour",
        "FilterExpression": "pk <> :rex",
        "ExpressionAttributeValues": {":rex": {"S": "rex"}},
    }
    with testing.engine() as engine:
        made = definition(indexes=("colour",))
        made["GlobalSecondaryIndexes"][0]["Projection"] = {"ProjectionType": "KEYS_ONLY"}
        engine.call("CreateTable", made)
        engine.settle()
        for name in ("rex", "tom", "tim"):
            engine.call("PutItem", put(name, colour="red"))

        def change() -> None:
            engine.call("DeleteTable", {"TableName": "pets"})
            engine.settle()

        effort = Noticing(engine, change)
        whole = engine.answer("Scan", asked)
        assert engine.answer("Scan", asked, effort) == whole
        assert effort.is_done


def test_a_read_stops_where_its_bound_is(engine: Engine) -> None:
    one = {"TableName": "pages", "Limit": 65}
    assert engine.answer("Scan", one, Bounded(65 * 6000)) == engine.answer("Scan", one)
    with pytest.raises(ExceedsBudget):
        engine.answer("Scan", one, Bounded(64 * 5000))


def test_a_filter_costs_by_its_parts(engine: Engine) -> None:
    def scan(parts: int) -> dict[str, object]:
        return {
            "TableName": "pages",
            "Limit": 10,
            "FilterExpression": " AND ".join(["attribute_exists(x)"] * parts),
        }

    engine.answer("Scan", scan(1), Bounded(100_000))
    with pytest.raises(ExceedsBudget):
        engine.answer("Scan", scan(20), Bounded(100_000))
