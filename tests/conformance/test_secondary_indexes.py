"""Secondary indexes: who is in them, what they show, in which order, and which writes they forbid.

Must hold: an item is in an index exactly when it has every key attribute of it, and leaves with its key;
pages show every entry once even where index keys are equal.
Elsewhere: building an index on a live table (test_update_table.py), scanning one (test_scan.py).
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.talk import Answered, Json, NewKey, NewTable, Refused, Send, attribute, index

INVALID = "One or more parameter values were invalid: "
NOT_VALID = "One or more parameter values are not valid. "


def query(table: str, name: str, condition: str, values: Json, **rest: Any) -> Json:
    return {
        "TableName": table,
        "IndexName": name,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": values,
        **rest,
    }


def put(answered: Answered, table: str, **attributes: Json) -> Json:
    answered("PutItem", {"TableName": table, "Item": attributes})
    return attributes


def drained(answered: Answered, request: Json) -> list[Json]:
    items: list[Json] = []
    while True:
        answer = answered("Query", request)
        items += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return items
        request = {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]}


def group(table: str, value: str, name: str = "gsi1", **rest: Any) -> Json:
    return query(table, name, "gpk = :g", {":g": {"S": value}}, **rest)


# ---------------------------------------------------------------- membership


def test_an_item_without_an_index_key_is_not_in_the_index(
    answered: Answered, comp_table: str, key: NewKey
) -> None:
    g = key()
    whole = {"pk": {"S": key()}, "sk": {"S": "1"}, "gpk": {"S": g}, "gsk": {"N": "1"}}
    half = {"pk": {"S": key()}, "sk": {"S": "1"}, "gpk": {"S": g}}
    put(answered, comp_table, **whole)
    put(answered, comp_table, **half)
    assert answered("Query", group(comp_table, g))["Items"] == [whole]
    # gsik needs gpk alone, so it holds both.
    assert answered("Query", group(comp_table, g, "gsik"))["Count"] == 2


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"UpdateExpression": "REMOVE gsk"}, []),
        (
            {"UpdateExpression": "SET gsk = :n", "ExpressionAttributeValues": {":n": {"N": "5"}}},
            [{"N": "5"}],
        ),
        (
            {"UpdateExpression": "ADD gsk :n", "ExpressionAttributeValues": {":n": {"N": "1"}}},
            [{"N": "2"}],
        ),
        ({"UpdateExpression": "SET a = :a", "ExpressionAttributeValues": {":a": {"S": "x"}}}, [{"N": "1"}]),
    ],
    ids=["the key removed", "the key replaced", "the key counted up", "another attribute set"],
)
def test_an_update_moves_the_entry(
    answered: Answered, comp_table: str, key: NewKey, change: Json, expected: list[Json]
) -> None:
    g = key()
    item = put(answered, comp_table, pk={"S": key()}, sk={"S": "1"}, gpk={"S": g}, gsk={"N": "1"})
    asked = {"TableName": comp_table, "Key": {"pk": item["pk"], "sk": item["sk"]}, **change}
    answered("UpdateItem", asked)
    assert [one["gsk"] for one in answered("Query", group(comp_table, g))["Items"]] == expected


def test_an_entry_leaves_when_its_item_is_deleted_or_overwritten(
    answered: Answered, comp_table: str, key: NewKey
) -> None:
    g = key()
    first = put(answered, comp_table, pk={"S": key()}, sk={"S": "1"}, gpk={"S": g}, gsk={"N": "1"})
    second = put(answered, comp_table, pk={"S": key()}, sk={"S": "1"}, gpk={"S": g}, gsk={"N": "2"})
    answered("DeleteItem", {"TableName": comp_table, "Key": {name: first[name] for name in ("pk", "sk")}})
    put(answered, comp_table, pk=second["pk"], sk=second["sk"])
    assert answered("Query", group(comp_table, g))["Count"] == 0
    assert answered("Query", group(comp_table, g, "gsik"))["Count"] == 0


def test_every_kind_of_write_reaches_the_index(answered: Answered, comp_table: str, key: NewKey) -> None:
    g = key()

    def item(number: int) -> Json:
        return {"pk": {"S": key()}, "sk": {"S": "1"}, "gpk": {"S": g}, "gsk": {"N": str(number)}}

    put(answered, comp_table, **item(1))
    answered("BatchWriteItem", {"RequestItems": {comp_table: [{"PutRequest": {"Item": item(2)}}]}})
    answered("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": comp_table, "Item": item(3)}}]})
    upsert = {
        "TableName": comp_table,
        "Key": {"pk": {"S": key()}, "sk": {"S": "1"}},
        "UpdateExpression": "SET gpk = :g, gsk = :n",
        "ExpressionAttributeValues": {":g": {"S": g}, ":n": {"N": "4"}},
    }
    answered("UpdateItem", upsert)
    found = [one["gsk"]["N"] for one in answered("Query", group(comp_table, g))["Items"]]
    assert found == ["1", "2", "3", "4"]


# ---------------------------------------------------------------- what is shown


@pytest.fixture(scope="module")
def shelf(answered: Answered, comp_table: str) -> Json:
    """Three items of one partition and one group, with attributes that only some indexes hold."""
    items = [
        put(
            answered,
            comp_table,
            pk={"S": "index-shelf"},
            sk={"S": str(number)},
            gpk={"S": "index-shelf-group"},
            gsk={"N": str(number)},
            lsk={"N": str(-number)},
            a={"S": f"a{number}"},
            big={"S": f"big{number}"},
        )
        for number in range(3)
    ]
    return {"items": items, "pk": items[0]["pk"], "gpk": items[0]["gpk"]}


def only(items: list[Json], *names: str) -> list[Json]:
    return [{name: item[name] for name in names} for item in items]


@pytest.mark.parametrize("select", [{}, {"Select": "ALL_PROJECTED_ATTRIBUTES"}])
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("gsi1", ("pk", "sk", "gpk", "gsk", "lsk", "a", "big")),
        ("gsik", ("pk", "sk", "gpk")),
        ("gsii", ("pk", "sk", "gpk", "a")),
    ],
)
def test_a_global_index_shows_what_it_projects(
    answered: Answered, comp_table: str, shelf: Json, name: str, shown: tuple[str, ...], select: Json
) -> None:
    answer = answered("Query", query(comp_table, name, "gpk = :g", {":g": shelf["gpk"]}, **select))
    assert sorted(answer["Items"], key=lambda item: str(item["sk"])) == only(shelf["items"], *shown)


@pytest.mark.parametrize("consistent", [True, False])
@pytest.mark.parametrize(
    ("rest", "shown"),
    [
        ({"IndexName": "lsi1"}, ("pk", "sk", "lsk")),
        ({"IndexName": "lsia"}, ("pk", "sk", "gpk", "gsk", "lsk", "a", "big")),
        ({"IndexName": "lsi1", "Select": "ALL_ATTRIBUTES"}, ("pk", "sk", "gpk", "gsk", "lsk", "a", "big")),
        ({"IndexName": "lsi1", "ProjectionExpression": "sk, big"}, ("sk", "big")),
    ],
    ids=["keys only", "all", "all, fetched", "one attribute fetched"],
)
def test_a_local_index_shows_and_fetches_in_its_own_order(
    answered: Answered, comp_table: str, shelf: Json, rest: Json, shown: tuple[str, ...], consistent: bool
) -> None:
    asked = query(comp_table, rest["IndexName"], "pk = :p", {":p": shelf["pk"]}, ConsistentRead=consistent)
    assert answered("Query", {**asked, **rest})["Items"] == only(shelf["items"][::-1], *shown)


def test_a_local_index_filters_by_what_it_holds(answered: Answered, comp_table: str, shelf: Json) -> None:
    values = {":p": shelf["pk"], ":b": {"S": "big1"}}
    asked = query(comp_table, "lsia", "pk = :p", values, FilterExpression="big = :b")
    answer = answered("Query", asked)
    assert (answer["Count"], answer["ScannedCount"]) == (1, 3)


def test_a_strong_read_of_a_local_index_sees_the_write_before_it(
    answered: Answered, comp_table: str, key: NewKey
) -> None:
    pk = {"S": key()}
    for number in range(20):
        put(answered, comp_table, pk=pk, sk={"S": "same"}, lsk={"N": str(number)})
        asked = query(comp_table, "lsi1", "pk = :p", {":p": pk}, ConsistentRead=True)
        assert [item["lsk"]["N"] for item in answered("Query", asked)["Items"]] == [str(number)]


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ({"ConsistentRead": True}, "Consistent reads are not supported on global secondary indexes"),
        (
            {"Select": "ALL_ATTRIBUTES"},
            INVALID + "Select type ALL_ATTRIBUTES is not supported for global secondary index gsik"
            " because its projection type is not ALL",
        ),
        ({"ProjectionExpression": "big"}, INVALID + "Global secondary index gsik does not project [big]"),
        (
            {"FilterExpression": "big = :g"},
            INVALID + "Secondary index gsik does not project one or more filter attributes: [big]",
        ),
        (
            {"FilterExpression": "gpk = :g"},
            "Filter Expression can only contain non-primary key attributes: Primary key attribute: gpk",
        ),
    ],
)
def test_a_global_index_refuses_what_it_cannot_answer(
    refused: Refused, comp_table: str, rest: Json, expected: str
) -> None:
    asked = group(comp_table, "any", "gsik", **rest)
    assert refused("Query", asked) == ("ValidationException", expected)


def test_the_keys_of_the_table_may_be_filtered_in_a_global_index(
    answered: Answered, comp_table: str, shelf: Json
) -> None:
    values = {":g": shelf["gpk"], ":s": {"S": "1"}}
    answer = answered("Query", query(comp_table, "gsi1", "gpk = :g", values, FilterExpression="sk = :s"))
    assert (answer["Count"], answer["ScannedCount"]) == (1, 3)


# ---------------------------------------------------------------- order and pages


@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
def test_a_number_key_orders_the_index_as_numbers(
    answered: Answered, comp_table: str, key: NewKey, forward: bool
) -> None:
    g = key()
    numbers = ["-100", "-9.5", "-9", "0", "0.01", "2", "10", "100"]
    for number in sorted(numbers):
        put(answered, comp_table, pk={"S": key()}, sk={"S": "1"}, gpk={"S": g}, gsk={"N": number})
    found = [item["gsk"]["N"] for item in drained(answered, group(comp_table, g, ScanIndexForward=forward))]
    assert found == (numbers if forward else numbers[::-1])
    ranged = query(comp_table, "gsi1", "gpk = :g AND gsk BETWEEN :a AND :b", {":g": {"S": g}})
    ranged["ExpressionAttributeValues"] |= {":a": {"N": "-9"}, ":b": {"N": "2.0"}}
    assert [item["gsk"]["N"] for item in answered("Query", ranged)["Items"]] == ["-9", "0", "0.01", "2"]


@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize("limit", [1, 2, 5])
@pytest.mark.parametrize("name", ["gsi1", "gsik", "gsii"])
def test_entries_with_equal_index_keys_are_paged_exactly_once(
    answered: Answered, comp_table: str, key: NewKey, name: str, limit: int, forward: bool
) -> None:
    g, pks = key(), [key() for _ in range(4)]
    for pk in pks:
        for sk in ("same", "sane"):
            put(answered, comp_table, pk={"S": pk}, sk={"S": sk}, gpk={"S": g}, gsk={"N": "7"})
    asked = group(comp_table, g, name, Limit=limit, ScanIndexForward=forward)
    found = [(item["pk"]["S"], item["sk"]["S"]) for item in drained(answered, asked)]
    assert sorted(found) == sorted((pk, sk) for pk in pks for sk in ("same", "sane"))
    assert len(found) == len(set(found))


@pytest.mark.parametrize("limit", [1, 3])
def test_equal_keys_of_a_local_index_are_paged_exactly_once(
    answered: Answered, comp_table: str, key: NewKey, limit: int
) -> None:
    pk = {"S": key()}
    for number in range(6):
        put(answered, comp_table, pk=pk, sk={"S": str(number)}, lsk={"N": str(number // 3)})
    asked = query(comp_table, "lsi1", "pk = :p", {":p": pk}, Limit=limit)
    assert [item["sk"]["S"] for item in drained(answered, asked)] == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("name", "condition", "members"),
    [
        ("gsi1", "gpk = :v", ("gpk", "gsk", "pk", "sk")),
        ("gsik", "gpk = :v", ("gpk", "pk", "sk")),
        ("gsii", "gpk = :v", ("gpk", "pk", "sk")),
        ("lsi1", "pk = :v", ("pk", "sk", "lsk")),
        ("lsia", "pk = :v", ("pk", "sk", "lsk")),
    ],
)
def test_the_last_key_of_a_page_has_index_and_table_key(
    answered: Answered, comp_table: str, shelf: Json, name: str, condition: str, members: tuple[str, ...]
) -> None:
    value = shelf["gpk" if condition.startswith("g") else "pk"]
    answer = answered("Query", query(comp_table, name, condition, {":v": value}, Limit=1))
    (item,) = (one for one in shelf["items"] if one["sk"] == answer["Items"][0]["sk"])
    assert answer["LastEvaluatedKey"] == {name: item[name] for name in members}


@pytest.mark.parametrize(
    "start",
    [
        {"gpk": {"S": "g"}, "gsk": {"N": "1"}},
        {"pk": {"S": "p"}, "sk": {"S": "s"}},
        {"gpk": {"S": "g"}, "gsk": {"N": "1"}, "pk": {"S": "p"}, "sk": {"S": "s"}, "zz": {"S": "z"}},
    ],
)
def test_a_start_key_without_exactly_both_keys_is_refused(
    refused: Refused, comp_table: str, start: Json
) -> None:
    code, message = refused("Query", group(comp_table, "g", ExclusiveStartKey=start))
    assert code == "ValidationException"
    assert message.startswith("The provided starting key is invalid")


def test_a_start_key_of_another_group_is_refused(refused: Refused, comp_table: str) -> None:
    start = {"gpk": {"S": "other"}, "gsk": {"N": "1"}, "pk": {"S": "p"}, "sk": {"S": "s"}}
    expected = "The provided starting key is outside query boundaries based on provided conditions"
    asked = group(comp_table, "g", ExclusiveStartKey=start)
    assert refused("Query", asked) == ("ValidationException", expected)


@pytest.mark.parametrize(
    ("name", "condition", "expected"),
    [
        ("gsi1", "pk = :v", "Query condition missed key schema element: gpk"),
        ("gsi1", "gpk = :v AND sk = :v", "Query condition missed key schema element: gsk"),
        ("lsi1", "pk = :v AND sk = :v", "Query condition missed key schema element: lsk"),
        ("gsi1", "gpk > :v", "Query key condition not supported"),
    ],
)
def test_the_condition_is_on_the_keys_of_the_index(
    refused: Refused, comp_table: str, name: str, condition: str, expected: str
) -> None:
    asked = query(comp_table, name, condition, {":v": {"S": "v"}})
    assert refused("Query", asked) == ("ValidationException", expected)


# ---------------------------------------------------------------- writes an index forbids


TYPE_MISMATCH = INVALID + "Type mismatch for Index Key gpk Expected: S Actual: N IndexName: gsi1"
EMPTY_PUT = (
    NOT_VALID + "A value specified for a secondary index key is not supported. The AttributeValue for a key"
    " attribute cannot contain an empty string value. IndexName: gsi1, IndexKey: gpk"
)
EMPTY_UPDATE = (
    NOT_VALID + "The update expression attempted to update a secondary index key to a value that is not"
    " supported. The AttributeValue for a key attribute cannot contain an empty string value."
)


def writes(table: str, pk: str, value: Json) -> dict[str, tuple[str, Json]]:
    """Every way to write {gpk: value} to the item (pk, 1)."""
    where = {"pk": {"S": pk}, "sk": {"S": "1"}}
    update = {
        "TableName": table,
        "Key": where,
        "UpdateExpression": "SET gpk = :v",
        "ExpressionAttributeValues": {":v": value},
    }
    item = {**where, "gpk": value}
    legacy = {"TableName": table, "Key": where, "AttributeUpdates": {"gpk": {"Value": value}}}
    return {
        "PutItem": ("PutItem", {"TableName": table, "Item": item}),
        "UpdateItem": ("UpdateItem", update),
        "AttributeUpdates": ("UpdateItem", legacy),
        "BatchWriteItem": ("BatchWriteItem", {"RequestItems": {table: [{"PutRequest": {"Item": item}}]}}),
        "TransactPut": (
            "TransactWriteItems",
            {"TransactItems": [{"Put": {"TableName": table, "Item": item}}]},
        ),
        "TransactUpdate": ("TransactWriteItems", {"TransactItems": [{"Update": update}]}),
    }


WAYS = ["PutItem", "UpdateItem", "AttributeUpdates", "BatchWriteItem", "TransactPut", "TransactUpdate"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("value", [{"N": "1"}, {"L": [{"S": "x"}]}], ids=["a number", "a list"])
def test_an_index_key_of_the_wrong_type_is_refused_however_it_is_written(
    send: Send, answered: Answered, comp_table: str, key: NewKey, way: str, value: Json
) -> None:
    pk = key()
    expected = TYPE_MISMATCH.replace("Actual: N", f"Actual: {next(iter(value))}")
    verb, request = writes(comp_table, pk, value)[way]
    reply = send(verb, request)
    assert reply.status == 400
    if way.startswith("Transact"):
        assert reply.code == "TransactionCanceledException"
        assert reply.body["CancellationReasons"] == [{"Code": "ValidationError", "Message": expected}]
    else:
        assert (reply.code, reply.message) == ("ValidationException", expected)
    where = {"TableName": comp_table, "Key": {"pk": {"S": pk}, "sk": {"S": "1"}}}
    assert answered("GetItem", where) == {}


@pytest.mark.parametrize("way", WAYS)
def test_an_empty_index_key_is_refused_however_it_is_written(
    refused: Refused, answered: Answered, comp_table: str, key: NewKey, way: str
) -> None:
    pk = key()
    expected = EMPTY_UPDATE if way in ("UpdateItem", "TransactUpdate") else EMPTY_PUT
    code, message = refused(*writes(comp_table, pk, {"S": ""})[way])
    assert code == "ValidationException"
    if way == "AttributeUpdates":
        assert message.startswith(NOT_VALID)
    else:
        assert message == expected
    where = {"TableName": comp_table, "Key": {"pk": {"S": pk}, "sk": {"S": "1"}}}
    assert answered("GetItem", where) == {}


@pytest.mark.parametrize("way", WAYS)
def test_an_index_key_too_long_is_refused_however_it_is_written(
    send: Send, comp_table: str, key: NewKey, way: str
) -> None:
    reply = send(*writes(comp_table, key(), {"S": "x" * 2049})[way])
    assert reply.status == 400
    assert reply.code in ("ValidationException", "TransactionCanceledException")
    assert "Size of hashkey has exceeded the maximum size limit of2048 bytes" in reply.raw.decode()


def test_an_index_key_too_long_names_the_limit_of_its_place(
    refused: Refused, new_table: NewTable, key: NewKey
) -> None:
    table = new_table(
        AttributeDefinitions=[attribute(name, "S") for name in ("pk", "g", "r")],
        GlobalSecondaryIndexes=[index("gsi", ("g", "r"), "ALL")],
    )
    for g, r, expected in (
        (2049, 1, "Size of hashkey has exceeded the maximum size limit of2048 bytes"),
        (2048, 1025, "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"),
    ):
        item = {"pk": {"S": key()}, "g": {"S": "g" * g}, "r": {"S": "r" * r}}
        assert refused("PutItem", {"TableName": table, "Item": item}) == (
            "ValidationException",
            INVALID + expected,
        )


def test_the_longest_index_key_fits(answered: Answered, comp_table: str, key: NewKey) -> None:
    g = (key() + "é" * 2048)[:1041]
    while len(g.encode()) > 2048:
        g = g[:-1]
    put(answered, comp_table, pk={"S": key()}, sk={"S": "1"}, gpk={"S": g}, gsk={"N": "1"})
    assert answered("Query", group(comp_table, g))["Count"] == 1


def test_a_local_index_forbids_the_wrong_type_too(refused: Refused, comp_table: str, key: NewKey) -> None:
    item = {"pk": {"S": key()}, "sk": {"S": "1"}, "lsk": {"S": "text"}}
    expected = INVALID + "Type mismatch for Index Key lsk Expected: N Actual: S IndexName: lsi1"
    assert refused("PutItem", {"TableName": comp_table, "Item": item}) == ("ValidationException", expected)


# ---------------------------------------------------------------- keys of several attributes


WIDE_ITEMS = {
    "p1": ("T", "live", "b", "r1"),
    "p2": ("T", "live", "a", "r2"),
    "p3": ("T", "live", "a", "r1"),
    "p4": ("T", "draft", "c", "r1"),
    "p5": ("F", "live", "a", "r0"),
    "p6": ("T", "live", None, "r1"),
}
WIDE_VALUES = {
    ":h": {"S": "o1"},
    ":a": {"S": "T"},
    ":b": {"S": "live"},
    ":c": {"S": "a"},
    ":d": {"S": "r"},
    ":x": {"S": "r1"},
}


def elements(hashes: str, ranges: str) -> list[Json]:
    return [{"AttributeName": name, "KeyType": "HASH"} for name in hashes] + [
        {"AttributeName": name, "KeyType": "RANGE"} for name in ranges
    ]


@pytest.fixture(scope="module")
def wide(session_table: NewTable, answered: Answered) -> str:
    """pk S; `tall`: h HASH, a b c d RANGE, all S; `deep`: four HASH (S N B S), four RANGE (N S B N)."""
    kinds = {**dict.fromkeys(("pk", *"habcd"), "S"), **dict(zip("ijklmnop", "SNBSNSBN", strict=True))}
    shown = {"Projection": {"ProjectionType": "ALL"}}
    table = session_table(
        AttributeDefinitions=[attribute(name, kind) for name, kind in kinds.items()],
        GlobalSecondaryIndexes=[
            {"IndexName": "tall", "KeySchema": elements("h", "abcd"), **shown},
            {"IndexName": "deep", "KeySchema": elements("ijkl", "mnop"), **shown},
        ],
    )
    for pk, values in WIDE_ITEMS.items():
        given = {name: {"S": value} for name, value in zip("abcd", values, strict=True) if value}
        put(answered, table, pk={"S": pk}, h={"S": "o1"}, **given)
    return table


def tall(table: str, condition: str, **rest: Any) -> Json:
    values = {name: value for name, value in WIDE_VALUES.items() if name in condition}
    return query(table, "tall", condition, values, **rest)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("h = :h", "p5 p4 p3 p2 p1"),
        ("h = :h AND a = :a", "p4 p3 p2 p1"),
        ("h = :h AND a < :a", "p5"),
        ("h = :h AND a = :a AND b = :b", "p3 p2 p1"),
        ("h = :h AND a = :a AND b < :b", "p4"),
        ("h = :h AND a = :a AND b = :b AND c = :c", "p3 p2"),
        ("h = :h AND a = :a AND b = :b AND c > :c", "p1"),
        ("h = :h AND a = :a AND b = :b AND c = :c AND begins_with(d, :d)", "p3 p2"),
        ("h = :h AND a = :a AND b = :b AND c = :c AND d BETWEEN :x AND :x", "p3"),
        ("h = :h AND a = :a AND b = :b AND c = :c AND d = :x", "p3"),
        ("b = :b AND h = :h AND a = :a", "p3 p2 p1"),
        (":a = a AND :h = h AND :b > b", "p4"),
    ],
)
def test_range_attributes_narrow_from_the_left(
    answered: Answered, wide: str, condition: str, expected: str
) -> None:
    for forward in (True, False):
        answer = answered("Query", tall(wide, condition, ScanIndexForward=forward))
        found = [item["pk"]["S"] for item in answer["Items"]]
        assert found == (expected.split() if forward else expected.split()[::-1])


@pytest.mark.parametrize("forward", [True, False], ids=["forward", "backward"])
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_wide_index_is_paged_exactly_once(answered: Answered, wide: str, limit: int, forward: bool) -> None:
    for condition, expected in [("h = :h", "p5 p4 p3 p2 p1"), ("h = :h AND a = :a AND b = :b", "p3 p2 p1")]:
        asked = tall(wide, condition, Limit=limit, ScanIndexForward=forward)
        found = [item["pk"]["S"] for item in drained(answered, asked)]
        assert found == (expected.split() if forward else expected.split()[::-1])


def test_the_last_key_of_a_wide_page_has_every_component(answered: Answered, wide: str) -> None:
    answer = answered("Query", tall(wide, "h = :h AND a = :a", Limit=2))
    last = answer["Items"][-1]
    assert last["pk"] == {"S": "p3"}
    assert answer["LastEvaluatedKey"] == {name: last[name] for name in ("pk", *"habcd")}


RANGE_GAP = (
    "RANGE key attributes {} must have equality conditions specified in the query because a condition is"
)
HASH_GAP = "HASH key attributes {} must have equality conditions specified in the query"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("h = :h AND b = :b", RANGE_GAP.format("a") + " present on key attribute b"),
        ("h = :h AND a = :a AND c = :c", RANGE_GAP.format("b") + " present on key attribute c"),
        ("h = :h AND a = :a AND b > :b AND c = :c", RANGE_GAP.format("b") + " present on key attribute c"),
    ],
)
def test_a_gap_or_a_range_before_the_last_is_refused(
    refused: Refused, wide: str, condition: str, expected: str
) -> None:
    assert refused("Query", tall(wide, condition)) == ("ValidationException", expected)


def deep_item(pk: str, m: str, n: str, o: str, p: str) -> Json:
    ranges = {"m": {"N": m}, "n": {"S": n}, "o": {"B": o}, "p": {"N": p}}
    return {"pk": {"S": pk}, "i": {"S": "x"}, "j": {"N": "1"}, "k": {"B": "AA=="}, "l": {"S": "y"}, **ranges}


DEEP_HASH = "i = :i AND j = :j AND k = :k AND l = :l"
DEEP_VALUES = {":i": {"S": "x"}, ":j": {"N": "1.0"}, ":k": {"B": "AA=="}, ":l": {"S": "y"}}


@pytest.fixture(scope="module")
def deep(wide: str, answered: Answered) -> str:
    """Items of one deep group, named in the order the index must show them: each range has its own type."""
    rows = [
        ("d0", "-10", "b", "AA==", "1"),
        ("d1", "-9", "a", "AA==", "1"),
        ("d2", "9", "a", "AA==", "2"),
        ("d3", "9", "a", "AA==", "10"),
        ("d4", "9", "a", "/w==", "1"),
        ("d5", "9", "é", "AA==", "1"),
        ("d6", "10", "a", "AA==", "1"),
    ]
    for row in reversed(rows):
        put(answered, wide, **deep_item(*row))
    incomplete = deep_item("lost", "9", "a", "AA==", "3")
    del incomplete["l"]
    put(answered, wide, **incomplete)
    return wide


def test_four_hash_and_four_range_attributes_order_by_their_own_types(answered: Answered, deep: str) -> None:
    asked = query(deep, "deep", DEEP_HASH, DEEP_VALUES)
    expected = [f"d{number}" for number in range(7)]
    assert [item["pk"]["S"] for item in answered("Query", asked)["Items"]] == expected
    assert [item["pk"]["S"] for item in drained(answered, {**asked, "Limit": 1})] == expected


def test_a_deep_range_is_narrowed_by_numbers(answered: Answered, deep: str) -> None:
    values = {**DEEP_VALUES, ":m": {"N": "9.00"}, ":n": {"S": "a"}, ":o": {"B": "AA=="}, ":p": {"N": "3"}}
    condition = f"{DEEP_HASH} AND m = :m AND n = :n AND o = :o AND p > :p"
    answer = answered("Query", query(deep, "deep", condition, values))
    assert [item["pk"]["S"] for item in answer["Items"]] == ["d3"]


@pytest.mark.parametrize("missing", "ijkl")
def test_every_hash_attribute_needs_an_equality(refused: Refused, deep: str, missing: str) -> None:
    condition = " AND ".join(f"{name} = :{name}" for name in "ijkl" if name != missing)
    values = {name: value for name, value in DEEP_VALUES.items() if name in condition}
    code, message = refused("Query", query(deep, "deep", condition, values))
    assert code == "ValidationException"
    assert message in (HASH_GAP.format(missing), f"Query condition missed key schema element: {missing}")


def test_a_hash_attribute_takes_no_range(refused: Refused, deep: str) -> None:
    condition = DEEP_HASH.replace("l = :l", "l > :l")
    assert refused("Query", query(deep, "deep", condition, DEEP_VALUES))[0] == "ValidationException"


def test_a_wide_key_of_the_wrong_type_is_refused(refused: Refused, wide: str, key: NewKey) -> None:
    item = {"pk": {"S": key()}, "m": {"S": "not a number"}}
    expected = INVALID + "Type mismatch for Index Key m Expected: N Actual: S IndexName: deep"
    assert refused("PutItem", {"TableName": wide, "Item": item}) == ("ValidationException", expected)
