"""Conditions from before expressions: Expected, QueryFilter, ScanFilter; and no request with both kinds.

Elsewhere: AttributeUpdates, AttributesToGet, KeyConditions (test_legacy_updates_and_keys.py).
"""

from __future__ import annotations

import pytest
from tests.conformance.talk import Answered, Json, NewKey, Refused

INVALID = "One or more parameter values were invalid: "
BOTH = (
    "Can not use both expression and non-expression parameters in the same request: "
    "Non-expression parameters: {{{}}} Expression parameters: {{{}}}"
)
CONDITION_FAILED = ("ConditionalCheckFailedException", "The conditional request failed")
OPERATORS = "[IN, NULL, BETWEEN, LT, NOT_CONTAINS, EQ, GT, NOT_NULL, NE, LE, BEGINS_WITH, GE, CONTAINS]"

ITEM: Json = {
    "n": {"N": "5"},
    "s": {"S": "hello"},
    "b": {"B": "aGVsbG8="},
    "ss": {"SS": ["a", "b"]},
    "l": {"L": [{"N": "1"}, {"S": "two"}]},
    "nul": {"NULL": True},
}


def compare(operator: str, *values: Json) -> Json:
    """A condition of the old kind; NULL and NOT_NULL take no list at all."""
    return {"ComparisonOperator": operator, **({"AttributeValueList": list(values)} if values else {})}


HOLD: list[tuple[str, Json]] = [
    ("n", compare("EQ", {"N": "5.0"})),
    ("n", compare("NE", {"N": "4"})),
    ("n", compare("NE", {"S": "5"})),
    ("n", compare("LT", {"N": "6"})),
    ("n", compare("LE", {"N": "5"})),
    ("n", compare("GT", {"N": "4"})),
    ("n", compare("GE", {"N": "5"})),
    ("n", compare("BETWEEN", {"N": "4"}, {"N": "6"})),
    ("n", compare("IN", {"N": "4"}, {"N": "5"})),
    ("n", compare("NOT_NULL")),
    ("nul", compare("NOT_NULL")),
    ("nope", compare("NULL")),
    ("s", compare("BEGINS_WITH", {"S": "he"})),
    ("b", compare("BEGINS_WITH", {"B": "aGU="})),
    ("s", compare("CONTAINS", {"S": "ll"})),
    ("ss", compare("CONTAINS", {"S": "a"})),
    ("l", compare("CONTAINS", {"S": "two"})),
    ("s", compare("NOT_CONTAINS", {"S": "z"})),
    ("ss", compare("NOT_CONTAINS", {"S": "z"})),
    ("ss", compare("EQ", {"SS": ["b", "a"]})),
    ("l", compare("EQ", {"L": [{"N": "1"}, {"S": "two"}]})),
]
FAIL: list[tuple[str, Json]] = [
    ("n", compare("EQ", {"N": "4"})),
    ("n", compare("EQ", {"S": "5"})),
    ("nope", compare("EQ", {"N": "5"})),
    ("nope", compare("LT", {"N": "5"})),
    ("nope", compare("NOT_NULL")),
    ("n", compare("NULL")),
    ("nul", compare("NULL")),
    ("n", compare("GT", {"N": "5"})),
    ("s", compare("GT", {"N": "1"})),
    ("n", compare("BETWEEN", {"N": "6"}, {"N": "7"})),
    ("n", compare("IN", {"N": "6"}, {"N": "7"})),
    ("s", compare("BEGINS_WITH", {"S": "lo"})),
    ("s", compare("CONTAINS", {"S": "z"})),
    ("ss", compare("NOT_CONTAINS", {"S": "a"})),
]


@pytest.fixture(scope="module")
def item(answered: Answered, comp_table: str) -> Json:
    """An item that is there; putting it again under a condition that holds changes nothing."""
    there = {"pk": {"S": "k-legacy-parameters"}, "sk": {"S": "1"}, **ITEM}
    answered("PutItem", {"TableName": comp_table, "Item": there})
    return there


def under(item: Json) -> Json:
    return {"pk": compare("EQ", item["pk"])}


def scanned(answered: Answered, request: Json) -> int:
    """How many items a scan finds on all its pages: other tests have filled the table too."""
    count = 0
    start: Json = {}
    while True:
        answer = answered("Scan", {**request, **start})
        count += int(answer["Count"])
        if "LastEvaluatedKey" not in answer:
            return count
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


@pytest.mark.parametrize(("name", "condition"), HOLD, ids=str)
def test_a_condition_of_the_old_kind_holds(
    answered: Answered, comp_table: str, item: Json, name: str, condition: Json
) -> None:
    conditions = {name: condition}
    put = {"TableName": comp_table, "Item": item, "Expected": conditions}
    query = {"TableName": comp_table, "KeyConditions": under(item), "QueryFilter": conditions}
    scan = {"TableName": comp_table, "ScanFilter": {**conditions, **under(item)}}
    assert answered("PutItem", put) == {}
    assert answered("Query", query)["Count"] == 1
    assert scanned(answered, scan) == 1


@pytest.mark.parametrize(("name", "condition"), FAIL, ids=str)
def test_a_condition_of_the_old_kind_fails(
    answered: Answered, refused: Refused, comp_table: str, item: Json, name: str, condition: Json
) -> None:
    conditions = {name: condition}
    put = {"TableName": comp_table, "Item": item, "Expected": conditions}
    query = {"TableName": comp_table, "KeyConditions": under(item), "QueryFilter": conditions}
    scan = {"TableName": comp_table, "ScanFilter": {**conditions, **under(item)}}
    assert refused("PutItem", put) == CONDITION_FAILED
    assert answered("Query", query)["Count"] == 0
    assert scanned(answered, scan) == 0


@pytest.mark.parametrize(
    ("expected", "holds"),
    [
        ({"n": {"Value": {"N": "5"}}}, True),
        ({"n": {"Value": {"N": "5"}, "Exists": True}}, True),
        ({"n": {"Value": {"N": "4"}}}, False),
        ({"nope": {"Value": {"N": "5"}}}, False),
        ({"nope": {"Exists": False}}, True),
        ({"n": {"Exists": False}}, False),
        ({"n": {"Value": {"N": "6"}, "ComparisonOperator": "LT"}}, True),
        ({"n": {"Value": {"N": "5"}}, "nope": {"Exists": False}}, True),
        ({"n": {"Value": {"N": "5"}}, "s": {"Exists": False}}, False),
    ],
    ids=str,
)
@pytest.mark.parametrize("verb", ["UpdateItem", "PutItem", "DeleteItem"])
def test_expected_compares_a_value_or_its_absence(
    answered: Answered,
    refused: Refused,
    comp_table: str,
    key: NewKey,
    verb: str,
    expected: Json,
    holds: bool,
) -> None:
    own = {"pk": {"S": key()}, "sk": {"S": "1"}}
    answered("PutItem", {"TableName": comp_table, "Item": {**own, **ITEM}})
    place = {"Item": own} if verb == "PutItem" else {"Key": own}
    request = {"TableName": comp_table, "Expected": expected, **place}
    if holds:
        assert answered(verb, request) == {}
    else:
        assert refused(verb, request) == CONDITION_FAILED


@pytest.mark.parametrize(("operator", "count"), [("AND", 0), ("OR", 1), (None, 0)])
def test_several_conditions_are_joined_by_the_conditional_operator(
    answered: Answered, refused: Refused, comp_table: str, item: Json, operator: str | None, count: int
) -> None:
    conditions = {"n": compare("EQ", {"N": "5"}), "s": compare("EQ", {"S": "other"})}
    joined = {"ConditionalOperator": operator} if operator else {}
    query = {"TableName": comp_table, "KeyConditions": under(item), "QueryFilter": conditions, **joined}
    assert answered("Query", query)["Count"] == count
    put = {"TableName": comp_table, "Item": item, "Expected": conditions, **joined}
    if count:
        assert answered("PutItem", put) == {}
    else:
        assert refused("PutItem", put) == CONDITION_FAILED


FOR_ATTRIBUTE = " for Attribute: q"
ARGUMENTS = "Invalid number of argument(s) for the {} ComparisonOperator"


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({}, "Value must be provided when Exists is null" + FOR_ATTRIBUTE),
        ({"Exists": True}, "Value must be provided when Exists is true" + FOR_ATTRIBUTE),
        (
            {"Exists": False, "Value": {"S": "1"}},
            "Value cannot be used when Exists is false" + FOR_ATTRIBUTE,
        ),
        (
            {"Exists": True, **compare("EQ", {"S": "1"})},
            "Exists and ComparisonOperator cannot be used together" + FOR_ATTRIBUTE,
        ),
        (
            {"Value": {"S": "1"}, "AttributeValueList": [{"S": "1"}]},
            "Value and AttributeValueList cannot be used together" + FOR_ATTRIBUTE,
        ),
        (
            {"AttributeValueList": [{"S": "1"}]},
            "AttributeValueList can only be used with a ComparisonOperator" + FOR_ATTRIBUTE,
        ),
        (
            {"ComparisonOperator": "LT"},
            "Value or AttributeValueList must be used with ComparisonOperator: LT" + FOR_ATTRIBUTE,
        ),
        ({"ComparisonOperator": "EQ", "AttributeValueList": []}, ARGUMENTS.format("EQ")),
        (compare("EQ", {"S": "1"}, {"S": "2"}), ARGUMENTS.format("EQ")),
        (compare("NULL", {"S": "1"}), ARGUMENTS.format("NULL")),
        (compare("NOT_NULL", {"S": "1"}), ARGUMENTS.format("NOT_NULL")),
        (compare("BETWEEN", {"N": "1"}), ARGUMENTS.format("BETWEEN")),
        (compare("BETWEEN", {"N": "1"}, {"N": "2"}, {"N": "3"}), ARGUMENTS.format("BETWEEN")),
        ({"ComparisonOperator": "IN", "AttributeValueList": []}, ARGUMENTS.format("IN")),
    ],
    ids=str,
)
def test_an_expectation_must_make_sense(
    refused: Refused, hash_table: str, key: NewKey, condition: Json, message: str
) -> None:
    request = {"TableName": hash_table, "Item": {"pk": {"S": key()}}, "Expected": {"q": condition}}
    assert refused("PutItem", request) == ("ValidationException", INVALID + message)


@pytest.mark.parametrize(
    ("request_part", "message"),
    [
        ({"ConditionalOperator": "OR"}, "ConditionalOperator cannot be used without Filter or Expected"),
        (
            {"ConditionalOperator": "OR", "ScanFilter": {"a": compare("NULL")}},
            "ConditionalOperator can only be used when Filter or Expected has two or more elements",
        ),
        (
            {"ScanFilter": {"a": compare("FOO", {"S": "x"})}},
            "1 validation error detected: Value 'FOO' at 'scanFilter.a.member.comparisonOperator' failed to "
            f"satisfy constraint: Member must satisfy enum value set: {OPERATORS}",
        ),
        (
            {"ScanFilter": {"a": compare("NULL", {"S": "x"})}},
            INVALID + ARGUMENTS.format("NULL"),
        ),
    ],
    ids=str,
)
def test_a_filter_of_the_old_kind_must_make_sense(
    refused: Refused, comp_table: str, request_part: Json, message: str
) -> None:
    reply = refused("Scan", {"TableName": comp_table, **request_part})
    assert reply == ("ValidationException", message)


# Never both kinds in one request

EQUALS_A = compare("EQ", {"S": "a"})
KEY_CONDITION = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}


@pytest.mark.parametrize(
    ("verb", "parts", "old", "new"),
    [
        (
            "PutItem",
            {"Expected": {"q": {"Exists": False}}, "ConditionExpression": "attribute_exists(pk)"},
            "Expected",
            "ConditionExpression",
        ),
        (
            "DeleteItem",
            {"Expected": {"q": {"Exists": False}}, "ConditionExpression": "attribute_exists(pk)"},
            "Expected",
            "ConditionExpression",
        ),
        (
            "UpdateItem",
            {"AttributeUpdates": {"a": {"Value": {"S": "b"}}}, "UpdateExpression": "REMOVE a"},
            "AttributeUpdates",
            "UpdateExpression",
        ),
        (
            "UpdateItem",
            {"AttributeUpdates": {"a": {"Value": {"S": "b"}}}, "ConditionExpression": "attribute_exists(a)"},
            "AttributeUpdates",
            "ConditionExpression",
        ),
        (
            "UpdateItem",
            {
                "AttributeUpdates": {"a": {"Value": {"S": "b"}}},
                "Expected": {"q": {"Exists": False}},
                "UpdateExpression": "REMOVE a",
            },
            "AttributeUpdates, Expected",
            "UpdateExpression",
        ),
        (
            "UpdateItem",
            {"Expected": {"q": {"Exists": False}}, "UpdateExpression": "REMOVE a"},
            "Expected",
            "UpdateExpression",
        ),
        (
            "GetItem",
            {"AttributesToGet": ["m"], "ProjectionExpression": "m"},
            "AttributesToGet",
            "ProjectionExpression",
        ),
        (
            "Query",
            {"KeyConditions": {"pk": EQUALS_A}, **KEY_CONDITION},
            "KeyConditions",
            "KeyConditionExpression",
        ),
        ("Query", {"QueryFilter": {"a": EQUALS_A}, **KEY_CONDITION}, "QueryFilter", "KeyConditionExpression"),
        (
            "Query",
            {"ConditionalOperator": "AND", **KEY_CONDITION},
            "ConditionalOperator",
            "KeyConditionExpression",
        ),
        ("Query", {"AttributesToGet": ["a"], **KEY_CONDITION}, "AttributesToGet", "KeyConditionExpression"),
        (
            "Query",
            {
                "KeyConditions": {"pk": EQUALS_A},
                "AttributesToGet": ["a"],
                "FilterExpression": "attribute_exists(a)",
            },
            "AttributesToGet",
            "FilterExpression",
        ),
        (
            "Scan",
            {"ScanFilter": {"a": EQUALS_A}, "FilterExpression": "attribute_exists(a)"},
            "ScanFilter",
            "FilterExpression",
        ),
        (
            "Scan",
            {"AttributesToGet": ["a"], "ProjectionExpression": "a"},
            "AttributesToGet",
            "ProjectionExpression",
        ),
    ],
    ids=lambda part: str(part)[:40],
)
def test_the_two_kinds_never_share_a_request(
    refused: Refused, hash_table: str, key: NewKey, verb: str, parts: Json, old: str, new: str
) -> None:
    own = {"pk": {"S": key()}}
    places: dict[str, Json] = {"PutItem": {"Item": own}, "Query": {}, "Scan": {}}
    place = places.get(verb, {"Key": own})
    for table in (hash_table, key()):
        reply = refused(verb, {"TableName": table, **place, **parts})
        assert reply == ("ValidationException", BOTH.format(old, new))
