"""GetItem: the item under a key, whole or in part, and which keys and projections are refused."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.talk import Answered, Json, NewKey, Refused

INVALID = "One or more parameter values were invalid: "
DOES_NOT_MATCH = ("ValidationException", "The provided key element does not match the schema")
DOCUMENT: Json = {
    "a": {"S": "top"},
    "m.x": {"S": "one name with a dot"},
    "m": {"M": {"x": {"N": "1"}, "y": {"M": {"z": {"N": "2"}, "w": {"N": "3"}}}}},
    "l": {
        "L": [
            {"M": {"a": {"N": "1"}, "b": {"N": "2"}}},
            {"M": {"a": {"N": "3"}, "b": {"N": "4"}}},
            {"N": "7"},
            {"L": [{"S": "deep"}, {"S": "deeper"}]},
        ]
    },
}


def test_a_missing_item_is_an_empty_answer(answered: Answered, hash_table: str, key: NewKey) -> None:
    assert answered("GetItem", {"TableName": hash_table, "Key": {"pk": {"S": key()}}}) == {}


@pytest.mark.parametrize("consistent", [True, False, None])
def test_an_item_is_read_whole(
    answered: Answered, hash_table: str, key: NewKey, consistent: bool | None
) -> None:
    item = {"pk": {"S": key()}, **DOCUMENT}
    answered("PutItem", {"TableName": hash_table, "Item": item})
    request = {"TableName": hash_table, "Key": {"pk": item["pk"]}, "ConsistentRead": consistent}
    assert answered("GetItem", request) == {"Item": item}


def test_equal_numbers_are_one_key(answered: Answered, num_table: str, key: NewKey) -> None:
    partition = str(int(key()[2:], 16) % 10**30)
    item = {"pk": {"N": partition}, "sk": {"N": "10"}, "a": {"S": "x"}}
    answered("PutItem", {"TableName": num_table, "Item": item})
    for spelling in ("10", "10.0", "1e1", "+10", "0010.00"):
        where = {"pk": {"N": partition + ".0"}, "sk": {"N": spelling}}
        assert answered("GetItem", {"TableName": num_table, "Key": where}) == {"Item": item}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a", {"a": DOCUMENT["a"]}),
        ("a, m.x", {"a": DOCUMENT["a"], "m": {"M": {"x": {"N": "1"}}}}),
        ("m.y.z, m.x", {"m": {"M": {"x": {"N": "1"}, "y": {"M": {"z": {"N": "2"}}}}}}),
        ("l[0].a, l[1].b", {"l": {"L": [{"M": {"a": {"N": "1"}}}, {"M": {"b": {"N": "4"}}}]}}),
        ("l[0].b, l[0].a", {"l": {"L": [{"M": {"a": {"N": "1"}, "b": {"N": "2"}}}]}}),
        ("l[2], l[0].a", {"l": {"L": [{"M": {"a": {"N": "1"}}}, {"N": "7"}]}}),
        ("l[3][1]", {"l": {"L": [{"L": [{"S": "deeper"}]}]}}),
        ("l[9], a", {"a": DOCUMENT["a"]}),
        ("nope", {}),
        ("nope.x, a.b, l.x, m[0]", {}),
        (" a ,\n\tm.x ", {"a": DOCUMENT["a"], "m": {"M": {"x": {"N": "1"}}}}),
    ],
)
def test_a_projection_returns_exactly_its_paths(
    answered: Answered, hash_table: str, key: NewKey, expression: str, expected: Json
) -> None:
    where = {"pk": {"S": key()}}
    answered("PutItem", {"TableName": hash_table, "Item": {**where, **DOCUMENT}})
    request = {"TableName": hash_table, "Key": where, "ProjectionExpression": expression}
    assert answered("GetItem", request) == {"Item": expected}


def test_a_projection_of_a_missing_item_is_an_empty_answer(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    request = {"TableName": hash_table, "Key": {"pk": {"S": key()}}, "ProjectionExpression": "a"}
    assert answered("GetItem", request) == {}


@pytest.mark.parametrize(
    ("names", "expression", "expected"),
    [
        ({"#n": "m.x"}, "#n", {"m.x": DOCUMENT["m.x"]}),
        ({"#m": "m", "#x": "x"}, "#m.#x", {"m": {"M": {"x": {"N": "1"}}}}),
        ({"#0": "a"}, "#0", {"a": DOCUMENT["a"]}),
        ({"#name_1": "a", "#L": "l"}, "#name_1, #L[2]", {"a": DOCUMENT["a"], "l": {"L": [{"N": "7"}]}}),
    ],
    ids=str,
)
def test_a_placeholder_stands_for_one_whole_name(
    answered: Answered, hash_table: str, key: NewKey, names: Json, expression: str, expected: Json
) -> None:
    where = {"pk": {"S": key()}}
    answered("PutItem", {"TableName": hash_table, "Item": {**where, **DOCUMENT}})
    request = {
        "TableName": hash_table,
        "Key": where,
        "ProjectionExpression": expression,
        "ExpressionAttributeNames": names,
    }
    assert answered("GetItem", request) == {"Item": expected}


OVERLAP = "Two document paths overlap with each other; must remove or rewrite one of these paths; "
CONFLICT = "Two document paths conflict with each other; must remove or rewrite one of these paths; "


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "The expression can not be empty;"),
        ("m, m", OVERLAP + "path one: [m], path two: [m]"),
        ("m, m.x", OVERLAP + "path one: [m], path two: [m, x]"),
        ("m.x, a, m", OVERLAP + "path one: [m, x], path two: [m]"),
        ("l[1], l[1].a", OVERLAP + "path one: [l, [1]], path two: [l, [1], a]"),
        ("m.x, m[0]", CONFLICT + "path one: [m, x], path two: [m, [0]]"),
        ("a,,b", 'Syntax error; token: ",", near: ",,b"'),
        ("a,", 'Syntax error; token: "<EOF>", near: ","'),
        ("!!! INVALID !!!", 'Syntax error; token: "!", near: "!!"'),
        ("a-b", 'Syntax error; token: "-", near: "a-b"'),
        ("_a", 'Syntax error; token: "_", near: "_a"'),
        ("status", "Attribute name is a reserved keyword; reserved keyword: status"),
        ("a.ABSolute", "Attribute name is a reserved keyword; reserved keyword: ABSolute"),
        (
            "#a",
            "An expression attribute name used in the document path is not defined; attribute name: #a",
        ),
    ],
)
def test_a_wrong_projection_is_refused_whether_or_not_there_is_an_item(
    refused: Refused, hash_table: str, key: NewKey, expression: str, message: str
) -> None:
    for table in (hash_table, key()):
        request = {"TableName": table, "Key": {"pk": {"S": key()}}, "ProjectionExpression": expression}
        assert refused("GetItem", request) == (
            "ValidationException",
            "Invalid ProjectionExpression: " + message,
        )


@pytest.mark.parametrize(
    "expression",
    ["whatever(stuff)", ":a", "abort,", "a..b", "a[b]", "a[-1]", "(a.b).c", "(a)", "(a),(b)", "(a,b)", "a b"],
)
def test_a_projection_is_only_paths_and_commas(refused: Refused, key: NewKey, expression: str) -> None:
    request = {"TableName": key(), "Key": {"pk": {"S": "a"}}, "ProjectionExpression": expression}
    code, message = refused("GetItem", request)
    assert code == "ValidationException"
    assert message.startswith("Invalid ProjectionExpression: Syntax error; ")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"ExpressionAttributeNames": {"#a": "a"}},
            "ExpressionAttributeNames can only be specified when using expressions",
        ),
        (
            {"ExpressionAttributeNames": {}, "ProjectionExpression": "a"},
            "ExpressionAttributeNames must not be empty",
        ),
        (
            {"ExpressionAttributeNames": {"a": "a"}, "ProjectionExpression": "a"},
            'ExpressionAttributeNames contains invalid key: Syntax error; key: "a"',
        ),
        (
            {"ExpressionAttributeNames": {"#a": ""}, "ProjectionExpression": "#a"},
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a",
        ),
        (
            {"ExpressionAttributeNames": {"#u": "x"}, "ProjectionExpression": "a"},
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}",
        ),
    ],
    ids=str,
)
def test_names_are_given_only_to_be_used(
    refused: Refused, hash_table: str, key: NewKey, more: Json, message: str
) -> None:
    request = {"TableName": hash_table, "Key": {"pk": {"S": key()}}, **more}
    assert refused("GetItem", request) == ("ValidationException", message)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"other": {"S": "a"}},
        {"pk": {"S": "a"}, "other": {"S": "a"}},
        {"pk": {"N": "1"}},
        {"pk": {"B": "AA=="}},
        {"pk": {"BOOL": True}},
        {"pk": {"NULL": True}},
        {"pk": {"SS": ["a"]}},
        {"pk": {"NS": ["1"]}},
        {"pk": {"BS": ["AA=="]}},
        {"pk": {"L": []}},
        {"pk": {"M": {}}},
    ],
    ids=str,
)
@pytest.mark.parametrize("verb", ["GetItem", "DeleteItem", "UpdateItem"])
def test_a_key_of_the_wrong_shape_does_not_match_the_schema(
    refused: Refused, hash_table: str, verb: str, wrong: Json
) -> None:
    assert refused(verb, {"TableName": hash_table, "Key": wrong}) == DOES_NOT_MATCH


@pytest.mark.parametrize("verb", ["GetItem", "DeleteItem", "UpdateItem"])
def test_half_a_key_does_not_match_the_schema(
    refused: Refused, comp_table: str, key: NewKey, verb: str
) -> None:
    assert refused(verb, {"TableName": comp_table, "Key": {"pk": {"S": key()}}}) == DOES_NOT_MATCH


EMPTY_KEY = (
    "One or more parameter values are not valid. "
    "The AttributeValue for a key attribute cannot contain an empty {} value. Key: {}"
)


@pytest.mark.parametrize("verb", ["GetItem", "DeleteItem", "UpdateItem"])
def test_an_empty_key_is_refused(
    refused: Refused, comp_table: str, bin_table: str, key: NewKey, verb: str
) -> None:
    empty_hash = {"TableName": comp_table, "Key": {"pk": {"S": ""}, "sk": {"S": "a"}}}
    empty_sort = {"TableName": comp_table, "Key": {"pk": {"S": key()}, "sk": {"S": ""}}}
    empty_binary = {"TableName": bin_table, "Key": {"pk": {"B": "YQ=="}, "sk": {"B": ""}}}
    assert refused(verb, empty_hash) == ("ValidationException", EMPTY_KEY.format("string", "pk"))
    assert refused(verb, empty_sort) == ("ValidationException", EMPTY_KEY.format("string", "sk"))
    assert refused(verb, empty_binary) == ("ValidationException", EMPTY_KEY.format("binary", "sk"))


@pytest.mark.parametrize("verb", ["GetItem", "DeleteItem", "UpdateItem"])
def test_a_key_longer_than_the_limit_is_refused(
    refused: Refused, comp_table: str, key: NewKey, verb: str
) -> None:
    long_hash = {"TableName": comp_table, "Key": {"pk": {"S": "a" * 2049}, "sk": {"S": "a"}}}
    long_sort = {"TableName": comp_table, "Key": {"pk": {"S": key()}, "sk": {"S": "a" * 1025}}}
    assert refused(verb, long_hash) == (
        "ValidationException",
        INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
    )
    assert refused(verb, long_sort) == (
        "ValidationException",
        INVALID + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes",
    )


@pytest.mark.parametrize("verb", ["GetItem", "DeleteItem", "UpdateItem"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
        ({"SS": []}, INVALID + "An string set  may not be empty"),
        ({"N": "b"}, "The parameter cannot be converted to a numeric value: b"),
        (
            {"N": "1e126"},
            "Number overflow. Attempting to store a number with magnitude larger than supported range",
        ),
    ],
    ids=str,
)
def test_a_malformed_key_value_is_refused_before_the_table_is_looked_up(
    refused: Refused, key: NewKey, verb: str, value: Json, message: str
) -> None:
    reply = refused(verb, {"TableName": key(), "Key": {"pk": value}})
    assert reply == ("ValidationException", message)


@pytest.mark.parametrize("verb", ["GetItem", "DeleteItem", "UpdateItem"])
def test_a_table_that_is_not_there_is_not_found(refused: Refused, key: NewKey, verb: str) -> None:
    reply = refused(verb, {"TableName": key(), "Key": {"pk": {"S": "a"}}})
    assert reply == ("ResourceNotFoundException", "Requested resource not found")


@pytest.mark.parametrize("verb", ["GetItem", "DeleteItem", "UpdateItem"])
def test_all_missing_members_are_named_at_once(refused: Refused, verb: str) -> None:
    code, message = refused(verb, {})
    count, _, found = message.partition(" detected: ")
    assert (code, count) == ("ValidationException", "2 validation errors")
    assert sorted(found.split("; ")) == [
        "Value null at 'key' failed to satisfy constraint: Member must not be null",
        "Value null at 'tableName' failed to satisfy constraint: Member must not be null",
    ]


def test_an_unknown_choice_is_refused_with_the_choices(
    refused: Refused, hash_table: str, key: NewKey
) -> None:
    request = {"TableName": hash_table, "Key": {"pk": {"S": key()}}, "ReturnConsumedCapacity": "hi"}
    assert refused("GetItem", request) == (
        "ValidationException",
        "1 validation error detected: Value 'hi' at 'returnConsumedCapacity' failed to satisfy constraint: "
        "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]",
    )


def test_the_sdk_finds_no_item_where_there_is_none(client: Any, hash_table: str, key: NewKey) -> None:
    assert "Item" not in client.get_item(TableName=hash_table, Key={"pk": {"S": key()}})
