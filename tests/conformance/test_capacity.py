"""ReturnConsumedCapacity and ReturnItemCollectionMetrics: what every verb costs, to the unit, table and index.

Must hold: reads are charged by 4 KB and writes by 1 KB of what is stored; an index is charged for what changes
in it; transactions double the table's part alone. Sizes here are chosen to stand on the edges.
Elsewhere: how large a value is (the item tests).
"""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from tests.conformance.talk import (
    Answered,
    Json,
    NewKey,
    NewTable,
    Refused,
    Send,
    attribute,
    index,
    key_schema,
)

KB = 1024
READ = {"ReturnConsumedCapacity": "TOTAL"}
FULL = {"ReturnConsumedCapacity": "INDEXES"}


@pytest.fixture(scope="module")
def priced(session_table: NewTable) -> str:
    """pk S, sk S; gsi-inc(g) INCLUDE proj; gsi-keys(k) KEYS_ONLY; lsi(l) ALL: each index has its own lever."""
    return session_table(
        AttributeDefinitions=[attribute(name, "S") for name in ("pk", "sk", "g", "k", "l")],
        KeySchema=key_schema("pk", "sk"),
        GlobalSecondaryIndexes=[
            index("gsi-inc", ("g",), "INCLUDE", ("proj",)),
            index("gsi-keys", ("k",), "KEYS_ONLY"),
        ],
        LocalSecondaryIndexes=[index("lsi", ("pk", "l"), "ALL")],
    )


def text(value: str) -> Json:
    return {"S": value}


def sized(size: int, **attributes: Json) -> Json:
    """An item of strings that weighs exactly `size` bytes, its attribute `x` being the ballast."""
    used = sum(len(name) + len(value["S"]) for name, value in attributes.items())
    return {**attributes, "x": text("x" * (size - used - 1))}


def put(answered: Answered, table: str, item: Json) -> Json:
    answered("PutItem", {"TableName": table, "Item": item})
    return item


def units(answered: Answered, verb: str, request: Json) -> float:
    """The total of a single-item verb, a Query or a Scan."""
    consumed = answered(verb, {**request, **READ})["ConsumedCapacity"]
    assert consumed == {"TableName": request["TableName"], "CapacityUnits": consumed["CapacityUnits"]}
    return float(consumed["CapacityUnits"])


def arms(consumed: Json) -> dict[str, float]:
    """INDEXES as a flat map: total, table and each index that appears."""
    assert set(consumed) <= {
        "TableName",
        "CapacityUnits",
        "Table",
        "GlobalSecondaryIndexes",
        "LocalSecondaryIndexes",
    }
    flat = {"total": consumed["CapacityUnits"], "table": consumed["Table"]["CapacityUnits"]}
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        for name, arm in consumed.get(kind, {}).items():
            assert set(arm) == {"CapacityUnits"}
            flat[name] = arm["CapacityUnits"]
    return flat


def spent(answered: Answered, verb: str, request: Json) -> dict[str, float]:
    return arms(answered(verb, {**request, **FULL})["ConsumedCapacity"])


# ---------------------------------------------------------------- reads


@pytest.mark.parametrize(
    ("size", "eventual"), [(100, 0.5), (4 * KB, 0.5), (4 * KB + 1, 1), (8 * KB, 1), (400 * KB, 50)]
)
def test_a_get_costs_half_a_unit_for_4_kb_and_twice_that_strongly(
    answered: Answered, hash_table: str, key: NewKey, size: int, eventual: float
) -> None:
    item = put(answered, hash_table, sized(size, pk=text(key())))
    asked = {"TableName": hash_table, "Key": {"pk": item["pk"]}}
    assert units(answered, "GetItem", asked) == eventual
    assert units(answered, "GetItem", {**asked, "ConsistentRead": True}) == 2 * eventual


def test_a_get_of_nothing_costs_the_least(answered: Answered, hash_table: str, key: NewKey) -> None:
    asked = {"TableName": hash_table, "Key": {"pk": text(key())}}
    assert units(answered, "GetItem", asked) == 0.5
    assert units(answered, "GetItem", {**asked, "ConsistentRead": True}) == 1


def test_a_projection_makes_no_read_cheaper(answered: Answered, hash_table: str, key: NewKey) -> None:
    item = put(answered, hash_table, sized(9 * KB, pk=text(key())))
    asked = {"TableName": hash_table, "Key": {"pk": item["pk"]}, "ProjectionExpression": "pk"}
    assert units(answered, "GetItem", asked) == 1.5


def test_a_batch_of_gets_costs_each_of_them_and_reports_by_table(
    answered: Answered, hash_table: str, comp_table: str, key: NewKey
) -> None:
    item = put(answered, hash_table, sized(5 * KB, pk=text(key())))
    asked = {
        "RequestItems": {
            hash_table: {"Keys": [{"pk": item["pk"]}, {"pk": text(key())}], "ConsistentRead": True},
            comp_table: {"Keys": [{"pk": text(key()), "sk": text("1")}]},
        },
        **READ,
    }
    consumed = answered("BatchGetItem", asked)["ConsumedCapacity"]
    by_table = {one["TableName"]: one["CapacityUnits"] for one in consumed}
    assert by_table == {hash_table: 3, comp_table: 0.5}
    full = answered("BatchGetItem", {**asked, **FULL})["ConsumedCapacity"]
    assert {one["TableName"]: one["Table"] for one in full} == {
        hash_table: {"CapacityUnits": 3},
        comp_table: {"CapacityUnits": 0.5},
    }


def test_a_transactional_get_costs_two_units_for_4_kb_even_of_nothing(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    item = put(answered, hash_table, sized(5 * KB, pk=text(key())))
    gets = [{"Get": {"TableName": hash_table, "Key": {"pk": pk}}} for pk in (item["pk"], text(key()))]
    (total,) = answered("TransactGetItems", {"TransactItems": gets, **READ})["ConsumedCapacity"]
    assert total == {"TableName": hash_table, "CapacityUnits": 6, "ReadCapacityUnits": 6}
    (full,) = answered("TransactGetItems", {"TransactItems": gets, **FULL})["ConsumedCapacity"]
    assert full == {**total, "Table": {"CapacityUnits": 6, "ReadCapacityUnits": 6}}


def partition(table: str, pk: Json, **rest: Any) -> Json:
    values = {":p": pk, **rest.pop("values", {})}
    return {
        "TableName": table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": values,
        **rest,
    }


def test_a_query_costs_the_sum_of_its_page_rounded_once(answered: Answered, priced: str, key: NewKey) -> None:
    pk = text(key())
    for sk in ("1", "2", "3"):
        put(answered, priced, sized(3 * KB, pk=pk, sk=text(sk)))
    asked = partition(priced, pk)
    assert units(answered, "Query", asked) == 1.5
    assert units(answered, "Query", {**asked, "ConsistentRead": True}) == 3
    assert units(answered, "Query", {**asked, "Limit": 1}) == 0.5
    assert units(answered, "Query", {**asked, "Limit": 2}) == 1
    assert spent(answered, "Query", asked) == {"total": 1.5, "table": 1.5}


def test_filters_projections_and_counting_make_no_query_cheaper(
    answered: Answered, priced: str, key: NewKey
) -> None:
    pk = text(key())
    for sk in ("1", "2", "3"):
        put(answered, priced, sized(3 * KB, pk=pk, sk=text(sk)))
    none = {"FilterExpression": "x = :n", "values": {":n": text("none")}}
    for rest in ({"ProjectionExpression": "sk"}, {"Select": "COUNT"}, none):
        assert units(answered, "Query", partition(priced, pk, **rest)) == 1.5


def test_an_empty_query_costs_the_least(answered: Answered, priced: str, key: NewKey) -> None:
    asked = partition(priced, text(key()))
    assert units(answered, "Query", asked) == 0.5
    assert units(answered, "Query", {**asked, "ConsistentRead": True}) == 1


def test_a_scan_costs_the_sum_of_its_page_filtered_or_not(
    answered: Answered, session_table: NewTable
) -> None:
    table = session_table()
    for number in range(5):
        put(answered, table, sized(2 * KB, pk=text(str(number))))
    asked: Json = {"TableName": table}
    assert units(answered, "Scan", asked) == 1.5
    assert units(answered, "Scan", {**asked, "ConsistentRead": True}) == 3
    values = {":n": text("none")}
    filtered = {**asked, "FilterExpression": "pk = :n", "ExpressionAttributeValues": values}
    assert units(answered, "Scan", filtered) == 1.5
    assert units(answered, "Scan", {**asked, "Select": "COUNT"}) == 1.5
    assert spent(answered, "Scan", asked) == {"total": 1.5, "table": 1.5}


def test_an_index_query_costs_the_index_and_not_the_table(
    answered: Answered, priced: str, key: NewKey
) -> None:
    pk, g = text(key()), text(key())
    for sk in ("1", "2"):
        put(answered, priced, sized(5 * KB, pk=pk, sk=text(sk), g=g, l=text(sk)))
    by_group = {
        "TableName": priced,
        "IndexName": "gsi-inc",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": g},
    }
    assert spent(answered, "Query", by_group) == {"total": 0.5, "table": 0, "gsi-inc": 0.5}
    local = partition(priced, pk, IndexName="lsi")
    assert spent(answered, "Query", local) == {"total": 1.5, "table": 0, "lsi": 1.5}
    assert spent(answered, "Query", {**local, "ConsistentRead": True}) == {"total": 3, "table": 0, "lsi": 3}


@pytest.mark.parametrize(("consistent", "rate"), [(False, 0.5), (True, 1.0)])
@pytest.mark.parametrize("fetching", [{"Select": "ALL_ATTRIBUTES"}, {"ProjectionExpression": "x"}])
def test_what_a_local_index_fetches_is_charged_to_the_table_item_by_item(
    answered: Answered, comp_table: str, key: NewKey, fetching: Json, consistent: bool, rate: float
) -> None:
    pk = text(key())
    for number, size in enumerate((100, 5 * KB)):
        item = sized(size - 4 - 1 - number, pk=pk, sk=text(str(number)))
        put(answered, comp_table, {**item, "lsk": {"N": str(number)}})
    asked = partition(comp_table, pk, IndexName="lsi1", ConsistentRead=consistent, **fetching)
    assert spent(answered, "Query", asked) == {"total": 4 * rate, "table": 3 * rate, "lsi1": rate}


def test_a_local_index_that_holds_everything_asked_for_fetches_nothing(
    answered: Answered, comp_table: str, key: NewKey
) -> None:
    pk = text(key())
    put(answered, comp_table, {**sized(5 * KB, pk=pk, sk=text("1")), "lsk": {"N": "1"}})
    for shown in ({"ProjectionExpression": "sk, lsk"}, {"Select": "COUNT"}, {}):
        asked = partition(comp_table, pk, IndexName="lsi1", **shown)
        assert spent(answered, "Query", asked) == {"total": 0.5, "table": 0, "lsi1": 0.5}


def test_an_index_scan_costs_the_index(answered: Answered, session_table: NewTable) -> None:
    table = session_table(
        AttributeDefinitions=[attribute("pk", "S"), attribute("g", "S")],
        GlobalSecondaryIndexes=[index("gsi", ("g",), "ALL")],
    )
    for number in range(3):
        put(answered, table, sized(3 * KB, pk=text(str(number)), g=text("same")))
    put(answered, table, sized(50 * KB, pk=text("not in it")))
    asked = {"TableName": table, "IndexName": "gsi"}
    assert spent(answered, "Scan", asked) == {"total": 1.5, "table": 0, "gsi": 1.5}


# ---------------------------------------------------------------- writes to a table


@pytest.mark.parametrize(("size", "cost"), [(100, 1), (KB, 1), (KB + 1, 2), (3 * KB, 3), (400 * KB, 400)])
def test_a_put_costs_a_unit_for_each_kb(
    answered: Answered, hash_table: str, key: NewKey, size: int, cost: int
) -> None:
    asked = {"TableName": hash_table, "Item": sized(size, pk=text(key()))}
    assert units(answered, "PutItem", asked) == cost


@pytest.mark.parametrize(("old", "new"), [(3 * KB, 100), (100, 3 * KB), (3 * KB, 3 * KB)])
def test_a_put_over_an_item_costs_the_larger_of_the_two(
    answered: Answered, hash_table: str, key: NewKey, old: int, new: int
) -> None:
    pk = text(key())
    put(answered, hash_table, sized(old, pk=pk))
    assert units(answered, "PutItem", {"TableName": hash_table, "Item": sized(new, pk=pk)}) == 3


def test_a_write_that_changes_nothing_costs_as_much(answered: Answered, hash_table: str, key: NewKey) -> None:
    item = put(answered, hash_table, sized(2 * KB, pk=text(key())))
    assert units(answered, "PutItem", {"TableName": hash_table, "Item": item}) == 2
    same = {
        "TableName": hash_table,
        "Key": {"pk": item["pk"]},
        "UpdateExpression": "SET x = :x",
        "ExpressionAttributeValues": {":x": item["x"]},
    }
    assert units(answered, "UpdateItem", same) == 2


def test_a_tiny_update_costs_the_whole_item(answered: Answered, hash_table: str, key: NewKey) -> None:
    item = put(answered, hash_table, sized(3 * KB, pk=text(key())))
    asked = {
        "TableName": hash_table,
        "Key": {"pk": item["pk"]},
        "UpdateExpression": "SET n = :n",
        "ExpressionAttributeValues": {":n": {"N": "1"}},
    }
    assert units(answered, "UpdateItem", asked) == 4
    shrink = {"TableName": hash_table, "Key": {"pk": item["pk"]}, "UpdateExpression": "REMOVE x, n"}
    assert units(answered, "UpdateItem", shrink) == 4
    assert units(answered, "UpdateItem", shrink) == 1


def test_an_update_that_creates_costs_what_it_creates(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    asked = {
        "TableName": hash_table,
        "Key": {"pk": text(key())},
        "UpdateExpression": "SET x = :x",
        "ExpressionAttributeValues": {":x": text("x" * 2 * KB)},
    }
    assert units(answered, "UpdateItem", asked) == 3


def test_a_delete_costs_what_it_deletes_and_at_least_one(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    item = put(answered, hash_table, sized(3 * KB, pk=text(key())))
    asked = {"TableName": hash_table, "Key": {"pk": item["pk"]}}
    assert units(answered, "DeleteItem", asked) == 3
    assert units(answered, "DeleteItem", asked) == 1


def test_a_failed_condition_reports_no_capacity(send: Send, hash_table: str, key: NewKey) -> None:
    asked = {"TableName": hash_table, "Item": {"pk": text(key())}, **READ}
    reply = send("PutItem", {**asked, "ConditionExpression": "attribute_exists(pk)"})
    assert reply.code == "ConditionalCheckFailedException"
    assert "ConsumedCapacity" not in reply.body


def test_a_batch_of_writes_costs_each_of_them_and_reports_by_table(
    answered: Answered, hash_table: str, priced: str, key: NewKey
) -> None:
    old = put(answered, hash_table, sized(3 * KB, pk=text(key())))
    indexed = {"pk": text(key()), "sk": text("1"), "g": text(key())}
    asked = {
        "RequestItems": {
            hash_table: [
                {"PutRequest": {"Item": sized(2 * KB, pk=text(key()))}},
                {"DeleteRequest": {"Key": {"pk": old["pk"]}}},
                {"DeleteRequest": {"Key": {"pk": text(key())}}},
            ],
            priced: [
                {"PutRequest": {"Item": indexed}},
                {"PutRequest": {"Item": {"pk": text(key()), "sk": text("1")}}},
            ],
        },
        **FULL,
    }
    consumed = answered("BatchWriteItem", asked)["ConsumedCapacity"]
    assert {one["TableName"]: arms(one) for one in consumed} == {
        hash_table: {"total": 6, "table": 6},
        priced: {"total": 3, "table": 2, "gsi-inc": 1},
    }


# ---------------------------------------------------------------- writes to indexes


WHERE = {"pk": text("set by the test"), "sk": text("1")}
LONG = text("p" * 2 * KB)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        # absent -> absent
        ({}, {"n": text("1")}, {"table": 1}),
        # absent -> present
        ({}, {"g": text("a")}, {"table": 1, "gsi-inc": 1}),
        ({}, {"l": text("a")}, {"table": 1, "lsi": 1}),
        (
            {},
            {"g": text("a"), "k": text("a"), "l": text("a")},
            {"table": 1, "gsi-inc": 1, "gsi-keys": 1, "lsi": 1},
        ),
        ({}, {"g": text("a"), "proj": LONG}, {"table": 3, "gsi-inc": 3}),
        # present -> absent
        ({"g": text("a")}, {}, {"table": 1, "gsi-inc": 1}),
        ({"g": text("a"), "proj": LONG}, {}, {"table": 3, "gsi-inc": 3}),
        ({"l": text("a"), "n": LONG}, {"n": LONG}, {"table": 3, "lsi": 3}),
        # the same entry
        ({"g": text("a")}, {"g": text("a")}, {"table": 1}),
        ({"g": text("a")}, {"g": text("a"), "n": text("not projected")}, {"table": 1}),
        ({"k": text("a"), "n": text("1")}, {"k": text("a"), "n": LONG}, {"table": 3}),
        (
            {"g": text("a"), "proj": {"SS": ["x", "y"]}},
            {"g": text("a"), "proj": {"SS": ["y", "x"]}},
            {"table": 1},
        ),
        # another entry under the same key
        (
            {"g": text("a"), "proj": text("1")},
            {"g": text("a"), "proj": text("2")},
            {"table": 1, "gsi-inc": 1},
        ),
        ({"g": text("a")}, {"g": text("a"), "proj": LONG}, {"table": 3, "gsi-inc": 3}),
        ({"g": text("a"), "proj": LONG}, {"g": text("a")}, {"table": 3, "gsi-inc": 3}),
        ({"l": text("a")}, {"l": text("a"), "n": LONG}, {"table": 3, "lsi": 3}),
        # another key
        ({"g": text("a")}, {"g": text("b")}, {"table": 1, "gsi-inc": 2}),
        ({"l": text("a")}, {"l": text("b")}, {"table": 1, "lsi": 2}),
        ({"g": text("a"), "proj": LONG}, {"g": text("b")}, {"table": 3, "gsi-inc": 4}),
        (
            {"g": text("a"), "l": text("a")},
            {"g": text("b"), "l": text("a")},
            {"table": 1, "gsi-inc": 2, "lsi": 1},
        ),
        ({"g": text("a"), "l": text("a")}, {"g": text("a"), "l": text("b")}, {"table": 1, "lsi": 2}),
    ],
)
def test_an_index_is_charged_for_what_changes_in_it(
    answered: Answered, priced: str, key: NewKey, before: Json, after: Json, expected: dict[str, float]
) -> None:
    where = {**WHERE, "pk": text(key())}
    put(answered, priced, {**where, **before})
    consumed = spent(answered, "PutItem", {"TableName": priced, "Item": {**where, **after}})
    assert consumed == {"total": sum(expected.values()), **expected}


@pytest.mark.parametrize(
    ("expression", "values", "expected"),
    [
        ("SET n = :v", {":v": text("2")}, {"table": 1, "lsi": 1}),
        ("SET proj = :v", {":v": text("2")}, {"table": 1, "gsi-inc": 1, "lsi": 1}),
        ("SET g = :v", {":v": text("2")}, {"table": 1, "gsi-inc": 2, "lsi": 1}),
        ("REMOVE g", None, {"table": 1, "gsi-inc": 1, "lsi": 1}),
        ("SET l = :v", {":v": text("2")}, {"table": 1, "lsi": 2}),
        ("REMOVE l", None, {"table": 1, "lsi": 1}),
        ("SET n = :v", {":v": text("1")}, {"table": 1}),
    ],
)
def test_an_update_is_charged_like_the_put_it_amounts_to(
    answered: Answered,
    priced: str,
    key: NewKey,
    expression: str,
    values: Json | None,
    expected: dict[str, float],
) -> None:
    where = {**WHERE, "pk": text(key())}
    put(
        answered,
        priced,
        {**where, "g": text("1"), "k": text("1"), "l": text("1"), "proj": text("1"), "n": text("1")},
    )
    asked: Json = {"TableName": priced, "Key": where, "UpdateExpression": expression}
    if values is not None:
        asked["ExpressionAttributeValues"] = values
    assert spent(answered, "UpdateItem", asked) == {"total": sum(expected.values()), **expected}


def test_a_delete_is_charged_to_every_index_the_item_was_in(
    answered: Answered, priced: str, key: NewKey
) -> None:
    where = {**WHERE, "pk": text(key())}
    put(answered, priced, {**where, "g": text("1"), "l": text("1"), "n": LONG})
    asked = {"TableName": priced, "Key": where}
    expected: dict[str, float] = {"total": 7, "table": 3, "gsi-inc": 1, "lsi": 3}
    assert spent(answered, "DeleteItem", asked) == expected
    assert spent(answered, "DeleteItem", asked) == {"total": 1, "table": 1}


def test_the_total_has_the_indexes_in_it(answered: Answered, priced: str, key: NewKey) -> None:
    item = {**WHERE, "pk": text(key()), "g": text("1"), "l": text("1")}
    assert units(answered, "PutItem", {"TableName": priced, "Item": item}) == 3


# ---------------------------------------------------------------- transactions


def transacted(answered: Answered, *actions: Json, **rest: Any) -> list[Json]:
    asked = {"TransactItems": list(actions), **FULL, **rest}
    consumed: list[Json] = answered("TransactWriteItems", asked)["ConsumedCapacity"]
    return consumed


def written(cost: float) -> Json:
    return {"CapacityUnits": cost, "WriteCapacityUnits": cost}


@pytest.mark.parametrize("kind", ["Put", "Update", "Delete", "ConditionCheck"])
@pytest.mark.parametrize(("size", "cost"), [(100, 2), (3 * KB, 6)])
def test_a_transactional_write_costs_twice_the_larger_image(
    answered: Answered, hash_table: str, key: NewKey, kind: str, size: int, cost: int
) -> None:
    old = put(answered, hash_table, sized(size, pk=text(key())))
    where = {"TableName": hash_table, "Key": {"pk": old["pk"]}}
    action: Json = {
        "Put": {"TableName": hash_table, "Item": {"pk": old["pk"]}},
        "Update": {**where, "UpdateExpression": "REMOVE x"},
        "Delete": where,
        "ConditionCheck": {**where, "ConditionExpression": "attribute_exists(pk)"},
    }[kind]
    assert transacted(answered, {kind: action}) == [
        {"TableName": hash_table, **written(cost), "Table": written(cost)}
    ]


@pytest.mark.parametrize("kind", ["Update", "Delete", "ConditionCheck"])
def test_a_transactional_write_to_nothing_costs_two(
    answered: Answered, hash_table: str, key: NewKey, kind: str
) -> None:
    where = {"TableName": hash_table, "Key": {"pk": text(key())}}
    action: Json = {
        "Update": {**where, "UpdateExpression": "REMOVE x"},
        "Delete": where,
        "ConditionCheck": {**where, "ConditionExpression": "attribute_not_exists(pk)"},
    }[kind]
    (consumed,) = transacted(answered, {kind: action}, **READ)
    assert consumed == {"TableName": hash_table, **written(2)}


def test_a_transaction_reports_by_table_and_does_not_double_indexes(
    answered: Answered, hash_table: str, priced: str, key: NewKey
) -> None:
    puts = [
        {"Put": {"TableName": hash_table, "Item": sized(2 * KB, pk=text(key()))}},
        {"Put": {"TableName": hash_table, "Item": {"pk": text(key())}}},
        {
            "Put": {
                "TableName": priced,
                "Item": {**WHERE, "pk": text(key()), "g": text("1"), "l": text("1"), "proj": LONG},
            }
        },
    ]
    consumed = sorted(transacted(answered, *puts), key=lambda one: one["TableName"] == priced)
    assert consumed == [
        {"TableName": hash_table, **written(6), "Table": written(6)},
        {
            "TableName": priced,
            **written(12),
            "Table": written(6),
            "GlobalSecondaryIndexes": {"gsi-inc": written(3)},
            "LocalSecondaryIndexes": {"lsi": written(3)},
        },
    ]


def test_a_replayed_token_costs_reads_of_what_was_written(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    action = {"Put": {"TableName": hash_table, "Item": sized(5 * KB, pk=text(key()))}}
    token = str(uuid.uuid4())
    (first,) = transacted(answered, action, ClientRequestToken=token, **READ)
    assert first == {"TableName": hash_table, **written(10)}
    (again,) = transacted(answered, action, ClientRequestToken=token, **READ)
    assert again == {"TableName": hash_table, "CapacityUnits": 4, "ReadCapacityUnits": 4}


# ---------------------------------------------------------------- how it is reported


@pytest.mark.parametrize("wanted", [{}, {"ReturnConsumedCapacity": "NONE"}])
def test_nothing_is_reported_unless_asked_for(
    answered: Answered, hash_table: str, key: NewKey, wanted: Json
) -> None:
    pk = {"pk": text(key())}
    one = {"TableName": hash_table, **wanted}
    assert answered("PutItem", {**one, "Item": pk}) == {}
    assert answered("GetItem", {**one, "Key": pk}) == {"Item": pk}
    assert "ConsumedCapacity" not in answered("Query", {**partition(hash_table, pk["pk"]), **wanted})
    batch = {"RequestItems": {hash_table: {"Keys": [pk]}}, **wanted}
    assert "ConsumedCapacity" not in answered("BatchGetItem", batch)
    get = {"TransactItems": [{"Get": {"TableName": hash_table, "Key": pk}}], **wanted}
    assert "ConsumedCapacity" not in answered("TransactGetItems", get)
    assert answered("DeleteItem", {**one, "Key": pk}) == {}


def test_by_indexes_a_plain_table_reports_itself(answered: Answered, hash_table: str, key: NewKey) -> None:
    pk = {"pk": text(key())}
    assert spent(answered, "PutItem", {"TableName": hash_table, "Item": pk}) == {"total": 1, "table": 1}
    assert spent(answered, "GetItem", {"TableName": hash_table, "Key": pk}) == {"total": 0.5, "table": 0.5}


def test_an_unknown_wish_is_refused(refused: Refused, hash_table: str, key: NewKey) -> None:
    asked = {"TableName": hash_table, "Key": {"pk": text(key())}, "ReturnConsumedCapacity": "SOME"}
    code, message = refused("GetItem", asked)
    assert code == "ValidationException"
    assert "[INDEXES, TOTAL, NONE]" in message


# ---------------------------------------------------------------- item collections


SIZE = {"ReturnItemCollectionMetrics": "SIZE"}


def collection(pk: Json) -> Json:
    return {"ItemCollectionKey": {"pk": pk}, "SizeEstimateRangeGB": [0.0, 1.0]}


def test_a_write_to_a_table_with_local_indexes_measures_the_collection(
    answered: Answered, priced: str, key: NewKey
) -> None:
    where = {**WHERE, "pk": text(key())}
    expected = {"ItemCollectionMetrics": collection(where["pk"])}
    assert answered("PutItem", {"TableName": priced, "Item": {**where, "l": text("1")}, **SIZE}) == expected
    update = {"TableName": priced, "Key": where, "UpdateExpression": "REMOVE l", **SIZE}
    assert answered("UpdateItem", update) == expected
    assert answered("DeleteItem", {"TableName": priced, "Key": where, **SIZE}) == expected


def test_batches_and_transactions_measure_collections_by_table(
    answered: Answered, priced: str, hash_table: str, key: NewKey
) -> None:
    where = {**WHERE, "pk": text(key())}
    batch = {
        "RequestItems": {
            priced: [{"PutRequest": {"Item": where}}],
            hash_table: [{"PutRequest": {"Item": {"pk": text(key())}}}],
        },
        **SIZE,
    }
    expected = {priced: [collection(where["pk"])]}
    assert answered("BatchWriteItem", batch)["ItemCollectionMetrics"] == expected
    transaction = {"TransactItems": [{"Delete": {"TableName": priced, "Key": where}}], **SIZE}
    assert answered("TransactWriteItems", transaction)["ItemCollectionMetrics"] == expected


def test_a_table_without_local_indexes_has_no_collections(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    pk = {"pk": text(key())}
    assert answered("PutItem", {"TableName": hash_table, "Item": pk, **SIZE}) == {}
    assert answered("DeleteItem", {"TableName": hash_table, "Key": pk, **SIZE}) == {}


def test_collections_are_not_measured_unless_asked_for(answered: Answered, priced: str, key: NewKey) -> None:
    item = {**WHERE, "pk": text(key())}
    asked = {"TableName": priced, "Item": item, "ReturnItemCollectionMetrics": "NONE"}
    assert answered("PutItem", asked) == {}
