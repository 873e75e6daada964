"""Query: every key operator in both directions, pages, start keys, filters, projections and their refusals.

Must hold: a page's LastEvaluatedKey continues exactly where the page ended, in either direction; filters and
projections change what is shown, never what is read.
Elsewhere: indexes of every kind (test_secondary_indexes.py), units consumed (test_capacity.py).
"""

from __future__ import annotations

import base64
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from tests.conformance.talk import Answered, Json, NewKey, NewTable, Refused, attribute, index

INVALID = "One or more parameter values were invalid: "
Model = tuple[str, list[Any], Callable[[Any], Json], Callable[[Any], Any]]

# Already in the service's order: unsigned UTF-8 bytes, which UTF-16 and locales would shuffle.
TEXTS = ["10", "9", "B", "Z", "a", "aa", "ab", "z", "~", "é", "ÿ", "\ufffd", "😀"]
NUMBERS = [
    "-9" + "9" * 37 + "0" * 88,
    "-1000000",
    "-12.5",
    "-12.25",
    "-2",
    "-1",
    "-0.5",
    "-0." + "0" * 129 + "1",
    "0",
    "0." + "0" * 129 + "1",
    "0.001",
    "0.5",
    "1",
    "1.5",
    "2",
    "9",
    "10",
    "99.99",
    "100",
    "1" + "0" * 125,
]
BYTES = [b"\x00", b"\x00\x00", b"\x00\x01", b"\x01", b"\x7f", b"\x80", b"\xff", b"\xff\x00", b"\xff\xff"]


def binary(value: bytes) -> Json:
    return {"B": base64.b64encode(value).decode()}


# kind -> (table fixture, sort keys in order, to wire, to something Python orders as the service does)
MODELS: dict[str, Model] = {
    "S": ("comp_table", TEXTS, lambda text: {"S": text}, lambda text: text.encode()),
    "N": ("num_table", NUMBERS, lambda number: {"N": number}, Decimal),
    "B": ("bin_table", BYTES, binary, lambda value: value),
}


def query(table: str, pk: Json, and_also: str = "", **rest: Any) -> Json:
    """A Query of one partition; values for `and_also` come as keyword :name=... through `values`."""
    values = {":p": pk, **rest.pop("values", {})}
    condition = f"pk = :p AND {and_also}" if and_also else "pk = :p"
    return {
        "TableName": table,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": values,
        **rest,
    }


def write(answered: Answered, table: str, items: list[Json]) -> None:
    for start in range(0, len(items), 25):
        puts = [{"PutRequest": {"Item": item}} for item in items[start : start + 25]]
        assert answered("BatchWriteItem", {"RequestItems": {table: puts}})["UnprocessedItems"] == {}


def drained(answered: Answered, request: Json) -> list[Json]:
    """Every item, page by page; a page with no LastEvaluatedKey is the last."""
    items: list[Json] = []
    while True:
        answer = answered("Query", request)
        items += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return items
        request = {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]}


# ---------------------------------------------------------------- key conditions, every type and direction


@pytest.fixture(scope="module")
def partitions(request: pytest.FixtureRequest, answered: Answered) -> dict[str, tuple[str, Json]]:
    """For S, N and B: a table, and the partition in it that holds one item per sort key of the model."""
    made = {}
    for kind, (fixture, keys, wire, _) in MODELS.items():
        table: str = request.getfixturevalue(fixture)
        pk = {"S": "query-model"} if kind == "S" else {"N": "8.25"} if kind == "N" else binary(b"query")
        # Written out of order, so that the order found is the engine's own.
        write(answered, table, [{"pk": pk, "sk": wire(key)} for key in sorted(keys, key=repr)])
        made[kind] = (table, pk)
    return made


def sort_keys(items: list[Json]) -> list[Json]:
    return [item["sk"] for item in items]


@pytest.mark.parametrize("kind", MODELS)
def test_items_come_in_the_order_of_their_sort_key(
    answered: Answered, partitions: dict[str, tuple[str, Json]], kind: str
) -> None:
    _, keys, wire, _ = MODELS[kind]
    expected = [wire(key) for key in keys]
    request = query(*partitions[kind])
    assert sort_keys(answered("Query", request)["Items"]) == expected
    backward = answered("Query", {**request, "ScanIndexForward": False})
    assert sort_keys(backward["Items"]) == expected[::-1]


@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize("operator", ["=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("kind", MODELS)
def test_a_comparison_selects_one_side_of_its_value(
    answered: Answered, partitions: dict[str, tuple[str, Json]], kind: str, operator: str, forward: bool
) -> None:
    _, keys, wire, order = MODELS[kind]
    between = {"S": "Y", "N": "1.75", "B": b"\x40"}[kind]
    ranked = [order(key) for key in keys]
    for value in [keys[0], keys[len(keys) // 2], keys[-1], between]:
        low, high = bisect_left(ranked, order(value)), bisect_right(ranked, order(value))
        chosen = {"=": (low, high), "<": (0, low), "<=": (0, high), ">": (high, None), ">=": (low, None)}
        expected = [wire(key) for key in keys[slice(*chosen[operator])]]
        asked = query(*partitions[kind], f"sk {operator} :v", values={":v": wire(value)})
        found = sort_keys(answered("Query", {**asked, "ScanIndexForward": forward})["Items"])
        assert found == (expected if forward else expected[::-1])


@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize("kind", MODELS)
def test_between_includes_both_bounds(
    answered: Answered, partitions: dict[str, tuple[str, Json]], kind: str, forward: bool
) -> None:
    _, keys, wire, _ = MODELS[kind]
    for low, high in [(0, 0), (1, 4), (2, len(keys) - 1), (0, len(keys) - 1)]:
        values = {":l": wire(keys[low]), ":h": wire(keys[high])}
        asked = query(*partitions[kind], "sk BETWEEN :l AND :h", values=values, ScanIndexForward=forward)
        expected = [wire(key) for key in keys[low : high + 1]]
        assert sort_keys(answered("Query", asked)["Items"]) == (expected if forward else expected[::-1])


@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize("kind", ["S", "B"])
def test_begins_with_selects_by_prefix(
    answered: Answered, partitions: dict[str, tuple[str, Json]], kind: str, forward: bool
) -> None:
    _, keys, wire, order = MODELS[kind]
    prefixes: list[Any] = (
        ["a", "aa", "é", "😀", "nothing"] if kind == "S" else [b"\x00", b"\xff", b"\xff\xff"]
    )
    for prefix in prefixes:
        expected = [wire(key) for key in keys if order(key).startswith(order(prefix))]
        asked = query(*partitions[kind], "begins_with(sk, :x)", values={":x": wire(prefix)})
        found = sort_keys(answered("Query", {**asked, "ScanIndexForward": forward})["Items"])
        assert found == (expected if forward else expected[::-1])


def test_a_number_key_is_found_however_it_is_written(
    answered: Answered, partitions: dict[str, tuple[str, Json]]
) -> None:
    table, _ = partitions["N"]
    for pk, sk in [("8.25", "1.5"), ("+8.250", "1.50"), ("825e-2", "15E-1"), ("0008.25", "01.5")]:
        asked = query(table, {"N": pk}, "sk = :s", values={":s": {"N": sk}})
        assert sort_keys(answered("Query", asked)["Items"]) == [{"N": "1.5"}]


@pytest.mark.parametrize(
    "expression", [":p = pk AND :q <= sk", "(pk = :p) AND (sk >= :q)", "sk >= :q AND pk = :p"]
)
def test_operands_may_be_swapped_and_conditions_stand_in_any_order(
    answered: Answered, partitions: dict[str, tuple[str, Json]], expression: str
) -> None:
    table, pk = partitions["S"]
    values = {":p": pk, ":q": {"S": "z"}}
    asked = {"TableName": table, "KeyConditionExpression": expression, "ExpressionAttributeValues": values}
    assert sort_keys(answered("Query", asked)["Items"]) == [{"S": key} for key in TEXTS[TEXTS.index("z") :]]


def test_a_partition_nobody_wrote_to_is_empty(answered: Answered, comp_table: str, key: NewKey) -> None:
    assert answered("Query", query(comp_table, {"S": key()})) == {"Items": [], "Count": 0, "ScannedCount": 0}


def test_a_table_without_sort_key_has_partitions_of_one(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    item = {"pk": {"S": key()}, "n": {"N": "1"}}
    answered("PutItem", {"TableName": hash_table, "Item": item})
    for page in ({}, {"Limit": 1}, {"ScanIndexForward": False}):
        answer = answered("Query", query(hash_table, item["pk"], **page))
        assert answer == {"Items": [item], "Count": 1, "ScannedCount": 1}


def test_a_query_of_a_table_without_sort_key_cannot_be_continued(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    item = {"pk": {"S": key()}}
    answered("PutItem", {"TableName": hash_table, "Item": item})
    asked = query(hash_table, item["pk"], ExclusiveStartKey=item)
    expected = "The query can return at most one row and cannot be restarted"
    assert refused("Query", asked) == ("ValidationException", expected)


# ---------------------------------------------------------------- pages


@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("kind", MODELS)
def test_pages_of_any_size_show_every_item_once_in_order(
    answered: Answered, partitions: dict[str, tuple[str, Json]], kind: str, limit: int, forward: bool
) -> None:
    _, keys, wire, _ = MODELS[kind]
    asked = query(*partitions[kind], Limit=limit, ScanIndexForward=forward)
    expected = [wire(key) for key in keys]
    assert sort_keys(drained(answered, asked)) == (expected if forward else expected[::-1])


@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
def test_pages_within_a_range_stay_within_it(
    answered: Answered, partitions: dict[str, tuple[str, Json]], forward: bool
) -> None:
    values = {":l": {"S": "B"}, ":h": {"S": "z"}}
    asked = query(*partitions["S"], "sk BETWEEN :l AND :h", values=values, Limit=2, ScanIndexForward=forward)
    expected = [{"S": key} for key in ["B", "Z", "a", "aa", "ab", "z"]]
    assert sort_keys(drained(answered, asked)) == (expected if forward else expected[::-1])


def test_a_page_as_long_as_the_rest_still_names_a_last_key(
    answered: Answered, partitions: dict[str, tuple[str, Json]]
) -> None:
    table, pk = partitions["S"]
    full = answered("Query", query(table, pk, Limit=len(TEXTS)))
    assert full["LastEvaluatedKey"] == {"pk": pk, "sk": {"S": TEXTS[-1]}}
    after = answered("Query", query(table, pk, ExclusiveStartKey=full["LastEvaluatedKey"]))
    assert after == {"Items": [], "Count": 0, "ScannedCount": 0}
    assert "LastEvaluatedKey" not in answered("Query", query(table, pk, Limit=len(TEXTS) + 1))


@pytest.mark.parametrize(("forward", "expected"), [(True, ["B", "Z"]), (False, ["9", "10"])])
def test_a_start_key_need_not_exist(
    answered: Answered, partitions: dict[str, tuple[str, Json]], forward: bool, expected: list[str]
) -> None:
    table, pk = partitions["S"]
    start = {"pk": pk, "sk": {"S": "A"}}
    asked = query(table, pk, ExclusiveStartKey=start, Limit=2, ScanIndexForward=forward)
    assert sort_keys(answered("Query", asked)["Items"]) == [{"S": key} for key in expected]


def test_the_limit_counts_items_read_not_items_kept(answered: Answered, comp_table: str, key: NewKey) -> None:
    pk = {"S": key()}
    items = [{"pk": pk, "sk": {"S": str(n)}, "n": {"N": str(n)}} for n in range(6)]
    write(answered, comp_table, items)
    asked = query(comp_table, pk, FilterExpression="n > :n", values={":n": {"N": "3"}}, Limit=3)
    first = answered("Query", asked)
    assert (first["Items"], first["Count"], first["ScannedCount"]) == ([], 0, 3)
    assert first["LastEvaluatedKey"] == {"pk": pk, "sk": {"S": "2"}}
    second = answered("Query", {**asked, "ExclusiveStartKey": first["LastEvaluatedKey"]})
    assert (sort_keys(second["Items"]), second["ScannedCount"]) == ([{"S": "4"}, {"S": "5"}], 3)


@pytest.fixture(scope="module")
def heavy(answered: Answered, comp_table: str) -> Json:
    """A partition of forty items of a little over 30,000 bytes: the thirty-fifth crosses the megabyte."""
    pk = {"S": "query-heavy"}
    filler = {"S": "x" * 30_000}
    items = [
        {"pk": pk, "sk": {"S": f"{n:02}"}, "lsk": {"N": str(n)}, "a": filler, "n": {"N": str(n)}}
        for n in range(40)
    ]
    write(answered, comp_table, items)
    return pk


HEAVY = [f"{n:02}" for n in range(40)]


@pytest.mark.parametrize(
    "rest",
    [
        {},
        {"IndexName": "lsia"},
        {"ConsistentRead": True},
        {"ProjectionExpression": "sk"},
        {"Limit": 36},
    ],
    ids=["whole items", "an index of all attributes", "strongly", "one attribute shown", "a larger limit"],
)
def test_a_page_ends_with_the_item_that_crosses_a_megabyte(
    answered: Answered, comp_table: str, heavy: Json, rest: Json
) -> None:
    answer = answered("Query", query(comp_table, heavy, **rest))
    assert [item["sk"]["S"] for item in answer["Items"]] == HEAVY[:35]
    assert (answer["Count"], answer["ScannedCount"]) == (35, 35)
    assert answer["LastEvaluatedKey"]["sk"] == {"S": "34"}
    rest = {**rest, "ExclusiveStartKey": answer["LastEvaluatedKey"]}
    last = answered("Query", query(comp_table, heavy, **rest))
    assert [item["sk"]["S"] for item in last["Items"]] == HEAVY[35:]
    assert "LastEvaluatedKey" not in last


def test_a_page_ends_at_a_megabyte_backward_too(answered: Answered, comp_table: str, heavy: Json) -> None:
    answer = answered("Query", query(comp_table, heavy, ScanIndexForward=False))
    assert [item["sk"]["S"] for item in answer["Items"]] == HEAVY[:4:-1]


def test_what_a_filter_drops_counts_towards_the_megabyte(
    answered: Answered, comp_table: str, heavy: Json
) -> None:
    asked = query(comp_table, heavy, FilterExpression="n >= :n", values={":n": {"N": "38"}})
    first = answered("Query", asked)
    assert (first["Count"], first["ScannedCount"]) == (0, 35)
    second = answered("Query", {**asked, "ExclusiveStartKey": first["LastEvaluatedKey"]})
    assert (second["Count"], second["ScannedCount"]) == (2, 5)
    assert "LastEvaluatedKey" not in second


def test_a_count_has_pages_too(answered: Answered, comp_table: str, heavy: Json) -> None:
    answer = answered("Query", query(comp_table, heavy, Select="COUNT"))
    assert "Items" not in answer
    assert (answer["Count"], answer["ScannedCount"]) == (35, 35)


def test_the_page_of_an_index_is_measured_by_what_it_holds(
    answered: Answered, comp_table: str, heavy: Json
) -> None:
    answer = answered("Query", query(comp_table, heavy, IndexName="lsi1"))
    assert answer["Count"] == 40
    assert "LastEvaluatedKey" not in answer


# ---------------------------------------------------------------- start keys that cannot be


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ({"pk": {"S": "p"}}, "The provided starting key is invalid"),
        ({"pk": {"S": "p"}, "zz": {"S": "1"}}, "The provided starting key is invalid"),
        (
            {"pk": {"S": "p"}, "sk": {"S": "1"}, "zz": {"S": "1"}},
            "The provided starting key is invalid",
        ),
        ({"pk": {"S": "p"}, "sk": {"N": "1"}}, "The provided key element does not match the schema"),
        (
            {"pk": {"S": "other"}, "sk": {"S": "1"}},
            "The provided starting key is outside query boundaries based on provided conditions",
        ),
    ],
)
def test_a_start_key_of_the_wrong_shape_or_place_is_refused(
    refused: Refused, comp_table: str, start: Json, expected: str
) -> None:
    code, message = refused("Query", query(comp_table, {"S": "p"}, ExclusiveStartKey=start))
    assert code == "ValidationException"
    assert expected in message


@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize(
    ("and_also", "outside"),
    [("sk < :s", "9"), ("sk > :s", "1"), ("begins_with(sk, :s)", "4"), ("sk BETWEEN :s AND :s", "4")],
)
def test_a_start_key_outside_the_range_is_refused(
    refused: Refused, comp_table: str, and_also: str, outside: str, forward: bool
) -> None:
    start = {"pk": {"S": "p"}, "sk": {"S": outside}}
    asked = query(comp_table, {"S": "p"}, and_also, values={":s": {"S": "3"}}, ExclusiveStartKey=start)
    expected = "The provided starting key does not match the range key predicate"
    assert refused("Query", {**asked, "ScanIndexForward": forward}) == ("ValidationException", expected)


# ---------------------------------------------------------------- select, projection, filter


@pytest.fixture(scope="module")
def zoo(answered: Answered, comp_table: str) -> Json:
    """A partition of three items, two of them black."""
    pk = {"S": "query-zoo"}
    colours = {"1": "black", "2": "white", "3": "black"}
    items = [
        {
            "pk": pk,
            "sk": {"S": sk},
            "colour": {"S": colour},
            "m": {"M": {"x": {"N": sk}, "y": {"L": [{"S": "p"}, {"S": "q"}, {"S": "r"}]}}},
        }
        for sk, colour in colours.items()
    ]
    write(answered, comp_table, items)
    return pk


def test_count_counts_and_shows_nothing(answered: Answered, comp_table: str, zoo: Json) -> None:
    assert answered("Query", query(comp_table, zoo, Select="COUNT")) == {"Count": 3, "ScannedCount": 3}


def test_a_filter_keeps_what_it_holds_for_and_counts_all(
    answered: Answered, comp_table: str, zoo: Json
) -> None:
    asked = query(comp_table, zoo, FilterExpression="colour = :c", values={":c": {"S": "black"}})
    answer = answered("Query", asked)
    assert sort_keys(answer["Items"]) == [{"S": "1"}, {"S": "3"}]
    assert (answer["Count"], answer["ScannedCount"]) == (2, 3)
    counted = answered("Query", {**asked, "Select": "COUNT"})
    assert counted == {"Count": 2, "ScannedCount": 3}


def test_a_projection_shows_only_its_paths(answered: Answered, comp_table: str, zoo: Json) -> None:
    asked = query(comp_table, zoo, "sk = :s", values={":s": {"S": "2"}})
    shown = {"ProjectionExpression": "sk, m.y[2], m.y[0]", "Select": "SPECIFIC_ATTRIBUTES"}
    for rest in (shown, {"ProjectionExpression": shown["ProjectionExpression"]}):
        items = answered("Query", {**asked, **rest})["Items"]
        assert items == [{"sk": {"S": "2"}, "m": {"M": {"y": {"L": [{"S": "p"}, {"S": "r"}]}}}}]


def test_a_projection_of_nothing_there_shows_empty_items(
    answered: Answered, comp_table: str, zoo: Json
) -> None:
    answer = answered("Query", query(comp_table, zoo, ProjectionExpression="nothing"))
    assert (answer["Items"], answer["Count"]) == ([{}, {}, {}], 3)


def test_a_filter_may_use_what_a_projection_hides(answered: Answered, comp_table: str, zoo: Json) -> None:
    asked = query(comp_table, zoo, FilterExpression="m.x > :x", values={":x": {"N": "2"}})
    assert answered("Query", {**asked, "ProjectionExpression": "sk"})["Items"] == [{"sk": {"S": "3"}}]


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        (
            {"Select": "FOO"},
            "1 validation error detected: Value 'FOO' at 'select' failed to satisfy constraint: Member must"
            " satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
        ),
        (
            {"Select": "SPECIFIC_ATTRIBUTES"},
            "1 validation error detected: Must specify the AttributesToGet or ProjectionExpression"
            " when choosing to get SPECIFIC_ATTRIBUTES",
        ),
        (
            {"Select": "COUNT", "ProjectionExpression": "a"},
            "Cannot specify the ProjectionExpression when choosing to get only the Count",
        ),
        (
            {"Select": "ALL_ATTRIBUTES", "ProjectionExpression": "a"},
            "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES",
        ),
        (
            {"Select": "ALL_PROJECTED_ATTRIBUTES"},
            "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName",
        ),
        (
            {"Limit": 0},
            "1 validation error detected: Value at 'Limit' failed to satisfy constraint:"
            " Member must have value greater than or equal to 1",
        ),
        (
            {"ReturnConsumedCapacity": "FOO"},
            "1 validation error detected: Value 'FOO' at 'returnConsumedCapacity' failed to satisfy"
            " constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]",
        ),
        ({"IndexName": "nope"}, "The table does not have the specified index: nope"),
        (
            {"FilterExpression": "sk = :p"},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: sk",
        ),
        (
            {"FilterExpression": "a = :p AND pk = :p"},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: pk",
        ),
        (
            {"FilterExpression": "#q = :p"},
            "Invalid FilterExpression: An expression attribute name used in the document path is not"
            " defined; attribute name: #q",
        ),
        (
            {"ExpressionAttributeNames": {"#z": "z"}},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#z}",
        ),
    ],
)
def test_a_query_that_asks_for_what_cannot_be_is_refused(
    refused: Refused, comp_table: str, rest: Json, expected: str
) -> None:
    asked = query(comp_table, {"S": "p"}, **rest)
    assert refused("Query", asked) == ("ValidationException", expected)


# ---------------------------------------------------------------- key conditions that cannot be


def operand(operator: str, kind: str) -> str:
    return (
        "Invalid KeyConditionExpression: Incorrect operand type for operator or function;"
        f" operator or function: {operator}, operand type: {kind}"
    )


SCHEMA_TYPE = INVALID + "Condition parameter type does not match schema type"
EMPTY_KEY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute"
    " cannot contain an empty string value. Key: "
)
TEXT, NUMBER, BOOLEAN, EMPTY = {"S": "a"}, {"N": "1"}, {"BOOL": True}, {"S": ""}


@pytest.mark.parametrize(
    ("expression", "values", "expected"),
    [
        ("", {":p": TEXT}, "Invalid KeyConditionExpression: The expression can not be empty;"),
        ("sk = :p", {":p": TEXT}, "Query condition missed key schema element: pk"),
        ("zz = :p", {":p": TEXT}, "Query condition missed key schema element: pk"),
        ("pk = :p AND zz = :p", {":p": TEXT}, "Query condition missed key schema element: sk"),
        ("pk > :p", {":p": TEXT}, "Query key condition not supported"),
        ("begins_with(pk, :p)", {":p": TEXT}, "Query key condition not supported"),
        ("pk BETWEEN :p AND :p", {":p": TEXT}, "Query key condition not supported"),
        ("pk <> :p", {":p": TEXT}, "Invalid operator used in KeyConditionExpression: <>"),
        ("pk = :p OR sk = :p", {":p": TEXT}, "Invalid operator used in KeyConditionExpression: OR"),
        ("NOT pk = :p", {":p": TEXT}, "Invalid operator used in KeyConditionExpression: NOT"),
        ("pk IN (:p)", {":p": TEXT}, "Invalid operator used in KeyConditionExpression: IN"),
        ("pk = :p AND sk <> :p", {":p": TEXT}, "Invalid operator used in KeyConditionExpression: <>"),
        (
            "pk = :p AND contains(sk, :p)",
            {":p": TEXT},
            "Invalid operator used in KeyConditionExpression: contains",
        ),
        (
            "pk = :p AND attribute_exists(sk)",
            {":p": TEXT},
            "Invalid operator used in KeyConditionExpression: attribute_exists",
        ),
        (
            "pk = :p AND sk > :a AND sk < :b",
            {":p": TEXT, ":a": TEXT, ":b": TEXT},
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
        ),
        (
            "pk = :p AND pk = :p",
            {":p": TEXT},
            "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key",
        ),
        (
            "pk = :p AND sk > :p AND extra = :p",
            {":p": TEXT},
            "The number of query conditions (3) exceeds the number of key attributes"
            " defined in the schema (2)",
        ),
        ("pk = :p", {":p": NUMBER}, SCHEMA_TYPE),
        ("pk = :p AND sk = :v", {":p": TEXT, ":v": BOOLEAN}, SCHEMA_TYPE),
        ("pk = :p AND sk < :v", {":p": TEXT, ":v": BOOLEAN}, operand("<", "BOOL")),
        ("pk = :p AND :v >= sk", {":p": TEXT, ":v": BOOLEAN}, operand(">=", "BOOL")),
        (
            "pk = :p AND sk BETWEEN :a AND :b",
            {":p": TEXT, ":a": BOOLEAN, ":b": BOOLEAN},
            operand("BETWEEN", "BOOL"),
        ),
        ("pk = :p AND begins_with(sk, :v)", {":p": TEXT, ":v": NUMBER}, operand("begins_with", "N")),
        ("pk = :p AND begins_with(sk, :v)", {":p": TEXT, ":v": BOOLEAN}, operand("begins_with", "BOOL")),
        ("pk = :p", {":p": EMPTY}, EMPTY_KEY + "pk"),
        ("pk = :p AND sk = :v", {":p": TEXT, ":v": EMPTY}, EMPTY_KEY + "sk"),
        ("pk = :p AND begins_with(sk, :v)", {":p": TEXT, ":v": EMPTY}, EMPTY_KEY + "sk"),
        (
            "pk = :p AND sk BETWEEN :b AND :a",
            {":p": TEXT, ":a": {"S": "1"}, ":b": {"S": "2"}},
            "Invalid KeyConditionExpression: The BETWEEN operator requires upper bound to be greater than or"
            " equal to lower bound; lower bound operand: AttributeValue: {S:2},"
            " upper bound operand: AttributeValue: {S:1}",
        ),
        (
            "((pk = :p))",
            {":p": TEXT},
            "Invalid KeyConditionExpression: The expression has redundant parentheses;",
        ),
        (
            "pk.x = :p",
            {":p": TEXT},
            "Invalid KeyConditionExpression:"
            " KeyConditionExpressions cannot have conditions on nested attributes",
        ),
        (
            "pk = sk",
            None,
            "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
        ),
        (
            "pk = :p AND size(sk) > :q",
            {":p": TEXT, ":q": NUMBER},
            "KeyConditionExpressions cannot contain nested operations",
        ),
        (
            "pk = :p",
            {":v": TEXT},
            "Invalid KeyConditionExpression: An expression attribute value used in expression is not"
            " defined; attribute value: :p",
        ),
    ],
)
def test_a_key_condition_that_cannot_be_is_refused(
    refused: Refused, comp_table: str, expression: str, values: Json | None, expected: str
) -> None:
    asked: Json = {"TableName": comp_table, "KeyConditionExpression": expression}
    if values is not None:
        asked["ExpressionAttributeValues"] = values
    assert refused("Query", asked) == ("ValidationException", expected)


@pytest.mark.parametrize(
    ("expression", "values", "expected"),
    [
        ("pk = :p AND begins_with(sk, :v)", {":p": NUMBER, ":v": NUMBER}, operand("begins_with", "N")),
        ("pk = :p AND begins_with(sk, :v)", {":p": NUMBER, ":v": TEXT}, SCHEMA_TYPE),
        ("pk = :p AND sk > :v", {":p": NUMBER, ":v": TEXT}, SCHEMA_TYPE),
    ],
)
def test_a_number_key_takes_numbers_and_has_no_prefix(
    refused: Refused, num_table: str, expression: str, values: Json, expected: str
) -> None:
    asked = {"TableName": num_table, "KeyConditionExpression": expression}
    assert refused("Query", {**asked, "ExpressionAttributeValues": values}) == (
        "ValidationException",
        expected,
    )


def test_a_key_condition_is_required(refused: Refused, comp_table: str) -> None:
    expected = (
        "Either the KeyConditions or KeyConditionExpression parameter must be specified in the request."
    )
    assert refused("Query", {"TableName": comp_table}) == ("ValidationException", expected)


def test_a_table_without_sort_key_takes_one_condition(refused: Refused, hash_table: str) -> None:
    asked = query(hash_table, TEXT, "sk = :p")
    assert refused("Query", asked)[0] == "ValidationException"


def test_a_missing_table_is_found_out_last(refused: Refused) -> None:
    asked = query("conf-no-such-table", TEXT, "begins_with(sk, :v)", values={":v": TEXT})
    expected = ("ResourceNotFoundException", "Requested resource not found")
    assert refused("Query", asked) == expected
    bad = query("conf-no-such-table", TEXT, "begins_with(sk, :v)", values={":v": NUMBER})
    assert refused("Query", bad) == ("ValidationException", operand("begins_with", "N"))


@pytest.mark.parametrize(
    ("expression", "values", "expected"),
    [
        ("pk = :missing AND begins_with(sk, :n)", {":n": NUMBER}, "attribute value: :missing"),
        ("begins_with(sk, :n) AND pk = :missing", {":n": NUMBER}, "operand type: N"),
        ("pk = :p AND begins_with(sk, :n) AND sk > :p", {":p": TEXT, ":n": NUMBER}, "operand type: N"),
    ],
)
def test_the_first_mistake_in_the_text_is_the_one_named(
    refused: Refused, comp_table: str, expression: str, values: Json, expected: str
) -> None:
    asked = {"TableName": comp_table, "KeyConditionExpression": expression}
    code, message = refused("Query", {**asked, "ExpressionAttributeValues": values})
    assert code == "ValidationException"
    assert message.endswith(expected)


# ---------------------------------------------------------------- the parameters of before expressions


def legacy(operator: str, *values: Json) -> Json:
    return {"ComparisonOperator": operator, "AttributeValueList": list(values)}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (legacy("EQ", {"S": "a"}), ["a"]),
        (legacy("LT", {"S": "B"}), ["10", "9"]),
        (legacy("LE", {"S": "B"}), ["10", "9", "B"]),
        (legacy("GT", {"S": "ÿ"}), ["\ufffd", "😀"]),
        (legacy("GE", {"S": "ÿ"}), ["ÿ", "\ufffd", "😀"]),
        (legacy("BEGINS_WITH", {"S": "a"}), ["a", "aa", "ab"]),
        (legacy("BETWEEN", {"S": "B"}, {"S": "a"}), ["B", "Z", "a"]),
    ],
)
def test_key_conditions_have_the_same_operators(
    answered: Answered, partitions: dict[str, tuple[str, Json]], condition: Json, expected: list[str]
) -> None:
    table, pk = partitions["S"]
    asked = {"TableName": table, "KeyConditions": {"pk": legacy("EQ", pk), "sk": condition}}
    assert sort_keys(answered("Query", asked)["Items"]) == [{"S": key} for key in expected]


def test_query_filter_and_attributes_to_get_still_work(
    answered: Answered, comp_table: str, zoo: Json
) -> None:
    asked = {
        "TableName": comp_table,
        "KeyConditions": {"pk": legacy("EQ", zoo)},
        "QueryFilter": {"colour": legacy("NE", {"S": "white"}), "sk2": {"ComparisonOperator": "NULL"}},
        "ConditionalOperator": "AND",
        "AttributesToGet": ["sk"],
    }
    answer = answered("Query", asked)
    assert answer["Items"] == [{"sk": {"S": "1"}}, {"sk": {"S": "3"}}]
    assert (answer["Count"], answer["ScannedCount"]) == (2, 3)


@pytest.mark.parametrize(
    ("members", "old", "new"),
    [
        (
            {"KeyConditionExpression": "pk = :p", "KeyConditions": {}},
            "KeyConditions",
            "KeyConditionExpression",
        ),
        (
            {"KeyConditionExpression": "pk = :p", "QueryFilter": {"a": legacy("EQ", TEXT)}},
            "QueryFilter",
            "KeyConditionExpression",
        ),
        (
            {"FilterExpression": "a = :p", "QueryFilter": {}, "KeyConditions": {"pk": legacy("EQ", TEXT)}},
            "QueryFilter",
            "FilterExpression",
        ),
        (
            {"KeyConditionExpression": "pk = :p", "ConditionalOperator": "AND"},
            "ConditionalOperator",
            "KeyConditionExpression",
        ),
    ],
)
def test_old_and_new_parameters_do_not_mix(
    refused: Refused, comp_table: str, members: Json, old: str, new: str
) -> None:
    asked = {"TableName": comp_table, "ExpressionAttributeValues": {":p": TEXT}, **members}
    expected = (
        "Can not use both expression and non-expression parameters in the same request:"
        f" Non-expression parameters: {{{old}}} Expression parameters: {{{new}}}"
    )
    assert refused("Query", asked) == ("ValidationException", expected)


@pytest.mark.parametrize(
    "members",
    [
        {
            "FilterExpression": "colour <> :white",
            "ExpressionAttributeValues": {":white": {"S": "white"}},
            "ProjectionExpression": "sk",
        },
        {
            "FilterExpression": "attribute_exists(sk2) OR NOT colour IN (:white)",
            "ExpressionAttributeValues": {":white": {"S": "white"}},
            "ProjectionExpression": "#s",
            "ExpressionAttributeNames": {"#s": "sk"},
        },
    ],
)
def test_key_conditions_stand_beside_expressions_that_are_not_about_keys(
    answered: Answered, comp_table: str, zoo: Json, members: Json
) -> None:
    asked = {"TableName": comp_table, "KeyConditions": {"pk": legacy("EQ", zoo)}, **members}
    answer = answered("Query", asked)
    assert answer["Items"] == [{"sk": {"S": "1"}}, {"sk": {"S": "3"}}]
    assert (answer["Count"], answer["ScannedCount"]) == (2, 3)


def test_key_conditions_name_as_many_attributes_as_the_index_has(
    answered: Answered, refused: Refused, new_table: NewTable
) -> None:
    names = ("a", "b", "c", "d")
    kinds = ("HASH", "HASH", "RANGE", "RANGE")
    schema = [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, kinds, strict=True)]
    table = new_table(
        AttributeDefinitions=[attribute(name, "S") for name in ("pk", *names)],
        GlobalSecondaryIndexes=[
            {"IndexName": "wide", "KeySchema": schema, "Projection": {"ProjectionType": "ALL"}},
            index("narrow", ("a", "b"), "ALL"),
        ],
    )
    for last in "123":
        parts = {name: {"S": name} for name in names} | {"d": {"S": last}}
        answered("PutItem", {"TableName": table, "Item": {"pk": {"S": last}, **parts}})
    conditions = {name: legacy("EQ", {"S": name}) for name in names}
    conditions["d"] = legacy("GE", {"S": "2"})
    asked = {"TableName": table, "IndexName": "wide", "KeyConditions": conditions}
    assert [item["pk"]["S"] for item in answered("Query", asked)["Items"]] == ["2", "3"]
    del conditions["d"]
    assert answered("Query", asked)["Count"] == 3
    for place in ({"IndexName": "narrow"}, {}):
        asked = {"TableName": table, **place, "KeyConditions": conditions}
        assert refused("Query", asked) == (
            "ValidationException",
            "Conditions can be of length 1 or 2 only",
        )


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (
            {"pk": legacy("EQ")},
            {INVALID + "Invalid number of argument(s) for the EQ ComparisonOperator"},
        ),
        (
            {"pk": legacy("NE", TEXT)},
            {
                "Query key condition not supported",
                "Attempted conditional constraint is not an indexable operation",
            },
        ),
        (
            {"pk": legacy("EQ", TEXT), "sk": legacy("CONTAINS", TEXT)},
            {
                "Query key condition not supported",
                "Attempted conditional constraint is not an indexable operation",
            },
        ),
        (
            {"pk": legacy("EQ", TEXT), "sk": legacy("EQ", TEXT), "z": legacy("EQ", TEXT)},
            {"Conditions can be of length 1 or 2 only"},
        ),
    ],
)
def test_key_conditions_that_cannot_be_are_refused(
    refused: Refused, comp_table: str, conditions: Json, expected: set[str]
) -> None:
    code, message = refused("Query", {"TableName": comp_table, "KeyConditions": conditions})
    assert code == "ValidationException"
    assert message in expected
