"""AttributeUpdates, AttributesToGet and KeyConditions, as they were before expressions.

Elsewhere: conditions of the old kind (test_legacy_parameters.py).
"""

from __future__ import annotations

import pytest
from tests.conformance.talk import Answered, Json, NewKey, Refused

INVALID = "One or more parameter values were invalid: "
ITEM: Json = {
    "n": {"N": "5"},
    "s": {"S": "hello"},
    "ss": {"SS": ["a", "b"]},
    "l": {"L": [{"N": "1"}, {"S": "two"}]},
}


def compare(operator: str, *values: Json) -> Json:
    return {"ComparisonOperator": operator, "AttributeValueList": list(values)}


@pytest.mark.parametrize(
    ("updates", "after"),
    [
        ({"n": {"Action": "PUT", "Value": {"S": "x"}}}, {"n": {"S": "x"}}),
        ({"n": {"Value": {"N": "6"}}}, {"n": {"N": "6"}}),
        ({"n": {"Action": "ADD", "Value": {"N": "-1"}}}, {"n": {"N": "4"}}),
        ({"new": {"Action": "ADD", "Value": {"N": "7"}}}, {"new": {"N": "7"}}),
        ({"ss": {"Action": "ADD", "Value": {"SS": ["b", "c"]}}}, {"ss": {"SS": ["a", "b", "c"]}}),
        ({"l": {"Action": "ADD", "Value": {"L": [{"N": "9"}]}}}, {"l": {"L": [*ITEM["l"]["L"], {"N": "9"}]}}),
        ({"ss": {"Action": "DELETE", "Value": {"SS": ["a"]}}}, {"ss": {"SS": ["b"]}}),
        ({"ss": {"Action": "DELETE", "Value": {"SS": ["a", "b"]}}}, {"ss": None}),
        ({"n": {"Action": "DELETE"}}, {"n": None}),
        ({"nope": {"Action": "DELETE"}}, {}),
        ({}, {}),
    ],
    ids=str,
)
def test_attribute_updates_put_add_and_delete(
    answered: Answered, comp_table: str, key: NewKey, updates: Json, after: Json
) -> None:
    own = {"pk": {"S": key()}, "sk": {"S": "1"}}
    answered("PutItem", {"TableName": comp_table, "Item": {**own, **ITEM}})
    request = {"TableName": comp_table, "Key": own, "AttributeUpdates": updates, "ReturnValues": "ALL_NEW"}
    got = answered("UpdateItem", request)["Attributes"]
    wanted = {name: value for name, value in {**own, **ITEM, **after}.items() if value is not None}
    for item in (got, wanted):
        item.update({"ss": {"SS": sorted(item["ss"]["SS"])}} if "ss" in item else {})
    assert got == wanted


def test_attribute_updates_that_only_delete_make_no_item(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    where = {"TableName": hash_table, "Key": {"pk": {"S": key()}}}
    answered("UpdateItem", {**where, "AttributeUpdates": {"a": {"Action": "DELETE"}}})
    assert answered("GetItem", {**where, "ConsistentRead": True}) == {}
    answered("UpdateItem", {**where, "AttributeUpdates": {}})
    assert answered("GetItem", {**where, "ConsistentRead": True}) == {"Item": where["Key"]}


def test_attribute_updates_return_what_they_touched(answered: Answered, comp_table: str, key: NewKey) -> None:
    own = {"pk": {"S": key()}, "sk": {"S": "1"}}
    answered("PutItem", {"TableName": comp_table, "Item": {**own, **ITEM}})
    updates = {"n": {"Action": "ADD", "Value": {"N": "1"}}, "s": {"Action": "DELETE"}}
    request = {"TableName": comp_table, "Key": own, "AttributeUpdates": updates}
    new = answered("UpdateItem", {**request, "ReturnValues": "UPDATED_NEW"})
    assert new["Attributes"] == {"n": {"N": "6"}}
    old = answered("UpdateItem", {**request, "ReturnValues": "UPDATED_OLD"})
    assert old["Attributes"] == {"n": {"N": "6"}}


@pytest.mark.parametrize(
    ("updates", "message"),
    [
        (
            {"a": {"Action": "PUT"}},
            INVALID + "Only DELETE action is allowed when no attribute value is specified",
        ),
        ({"a": {}}, INVALID + "Only DELETE action is allowed when no attribute value is specified"),
        (
            {"a": {"Action": "ADD", "Value": {"S": "x"}}},
            INVALID + "ADD action is not supported for the type STRING",
        ),
        (
            {"a": {"Action": "DELETE", "Value": {"N": "1"}}},
            INVALID + "DELETE action with value is not supported for the type NUMBER",
        ),
        (
            {"pk": {"Action": "PUT", "Value": {"S": "x"}}},
            INVALID + "Cannot update attribute pk. This attribute is part of the key",
        ),
        (
            {"a": {"Action": "XX", "Value": {"S": "x"}}},
            "1 validation error detected: Value 'XX' at 'attributeUpdates.a.member.action' failed to satisfy "
            "constraint: Member must satisfy enum value set: [ADD, DELETE, PUT]",
        ),
        ({"a": {"Value": {"SS": []}}}, INVALID + "An string set  may not be empty"),
    ],
    ids=str,
)
def test_attribute_updates_must_make_sense(
    refused: Refused, hash_table: str, key: NewKey, updates: Json, message: str
) -> None:
    request = {"TableName": hash_table, "Key": {"pk": {"S": key()}}, "AttributeUpdates": updates}
    assert refused("UpdateItem", request) == ("ValidationException", message)


# AttributesToGet and KeyConditions


def test_attributes_to_get_are_whole_attributes_by_name(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    where = {"pk": {"S": key()}}
    item = {**where, "m": {"M": {"x": {"N": "1"}}}, "m.x": {"S": "dot"}, "status": {"S": "reserved"}}
    answered("PutItem", {"TableName": hash_table, "Item": item})
    request = {"TableName": hash_table, "Key": where, "AttributesToGet": ["m.x", "status", "nope"]}
    assert answered("GetItem", request) == {"Item": {"m.x": item["m.x"], "status": item["status"]}}


def test_attributes_to_get_are_named_once_and_at_least_once(
    refused: Refused, hash_table: str, key: NewKey
) -> None:
    request = {"TableName": hash_table, "Key": {"pk": {"S": key()}}}
    assert refused("GetItem", {**request, "AttributesToGet": ["a", "b", "a"]}) == (
        "ValidationException",
        INVALID + "Duplicate value in attribute name: a",
    )
    assert refused("GetItem", {**request, "AttributesToGet": []}) == (
        "ValidationException",
        "1 validation error detected: Value '[]' at 'attributesToGet' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1",
    )


EMPTY = "Empty attribute name"
LONG = "Attribute name is too large, must be at most 65535 bytes"
LONG_NAME = "n" * 65536


@pytest.mark.parametrize(("name", "message"), [("", EMPTY), (LONG_NAME, LONG)], ids=["empty", "64 KB"])
def test_a_name_no_attribute_can_have_is_refused_and_not_stored(
    refused: Refused, answered: Answered, hash_table: str, key: NewKey, name: str, message: str
) -> None:
    where = {"pk": {"S": key()}}
    place = {"TableName": hash_table, "Key": where}
    there = {"ComparisonOperator": "NOT_NULL"}
    for verb, members in (
        ("UpdateItem", {**place, "AttributeUpdates": {name: {"Value": {"S": "x"}}}}),
        ("UpdateItem", {**place, "AttributeUpdates": {name: {"Action": "DELETE"}}}),
        ("UpdateItem", {**place, "Expected": {name: {"Exists": False}}}),
        ("DeleteItem", {**place, "Expected": {name: {"Exists": False}}}),
        ("PutItem", {"TableName": hash_table, "Item": where, "Expected": {name: {"Exists": False}}}),
        ("Scan", {"TableName": hash_table, "ScanFilter": {name: there}}),
        (
            "Query",
            {
                "TableName": hash_table,
                "KeyConditions": {"pk": compare("EQ", where["pk"])},
                "QueryFilter": {name: there},
            },
        ),
    ):
        assert refused(verb, members) == ("ValidationException", message), verb
    assert answered("GetItem", place) == {}


def test_an_empty_name_is_no_attribute_to_get(refused: Refused, hash_table: str, key: NewKey) -> None:
    where = {"pk": {"S": key()}}
    keys = {"Keys": [where], "AttributesToGet": [""]}
    for verb, members in (
        ("GetItem", {"TableName": hash_table, "Key": where, "AttributesToGet": ["pk", ""]}),
        ("Scan", {"TableName": hash_table, "AttributesToGet": [""]}),
        ("BatchGetItem", {"RequestItems": {hash_table: keys}}),
    ):
        assert refused(verb, members) == ("ValidationException", EMPTY), verb


@pytest.fixture(scope="module")
def partition(answered: Answered, comp_table: str) -> Json:
    own: Json = {"S": "k-legacy-key-conditions"}
    for sort in ("a1", "a2", "b1", "b2"):
        answered("PutItem", {"TableName": comp_table, "Item": {"pk": own, "sk": {"S": sort}}})
    return own


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        (None, ["a1", "a2", "b1", "b2"]),
        (compare("EQ", {"S": "a2"}), ["a2"]),
        (compare("LT", {"S": "b1"}), ["a1", "a2"]),
        (compare("LE", {"S": "b1"}), ["a1", "a2", "b1"]),
        (compare("GT", {"S": "b1"}), ["b2"]),
        (compare("GE", {"S": "b1"}), ["b1", "b2"]),
        (compare("BEGINS_WITH", {"S": "a"}), ["a1", "a2"]),
        (compare("BETWEEN", {"S": "a2"}, {"S": "b1"}), ["a2", "b1"]),
    ],
    ids=str,
)
def test_key_conditions_find_items(
    answered: Answered, comp_table: str, partition: Json, condition: Json | None, found: list[str]
) -> None:
    conditions = {"pk": compare("EQ", partition), **({"sk": condition} if condition else {})}
    request = {"TableName": comp_table, "KeyConditions": conditions, "AttributesToGet": ["sk"]}
    assert [item["sk"]["S"] for item in answered("Query", request)["Items"]] == found


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"pk": compare("NE", {"S": "a"})}, "Query key condition not supported"),
        ({"pk": compare("CONTAINS", {"S": "a"})}, "Query key condition not supported"),
        ({"pk": compare("GT", {"S": "a"})}, "Query key condition not supported"),
        (
            {name: compare("EQ", {"S": "a"}) for name in ("pk", "sk", "z")},
            "Conditions can be of length 1 or 2 only",
        ),
        (
            {"pk": compare("EQ")},
            INVALID + "Invalid number of argument(s) for the EQ ComparisonOperator",
        ),
        ({"sk": compare("EQ", {"S": "a"})}, "Query condition missed key schema element: pk"),
        (
            {"pk": compare("EQ", {"S": "a"}), "z": compare("EQ", {"S": "a"})},
            "Query condition missed key schema element: sk",
        ),
        (
            {"pk": compare("EQ", {"N": "1"})},
            INVALID + "Condition parameter type does not match schema type",
        ),
    ],
    ids=str,
)
def test_key_conditions_must_fit_the_key(
    refused: Refused, comp_table: str, conditions: Json, message: str
) -> None:
    reply = refused("Query", {"TableName": comp_table, "KeyConditions": conditions})
    assert reply == ("ValidationException", message)
