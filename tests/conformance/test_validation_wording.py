"""The wording of request validation since June 2026, to the letter: here the number of errors counts, too.

PutItem, UpdateItem and DeleteItem put `1 validation error detected: ` before every fault of the request; GetItem,
BatchGetItem and Query have the same words without it; BatchWriteItem, the transactions and Scan have the words of
before. Faults that are found against the table are everywhere as they were.
Must hold: a refused write writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.conformance.talk import Answered, Json, NewKey, Send

ONE = "1 validation error detected: "
INVALID = "One or more parameter values were invalid: "
NO_NUMBER = "The parameter cannot be converted to a numeric value"
NESTING = (
    "Nesting Levels have exceeded supported limits: "
    "Attributes in the item have nested levels beyond supported limit"
)
EMPTY_NAME = (
    "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"
)
NO_RETURN_VALUES = (
    "Failed to satisfy constraint: "
    "Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
)
OLD_RETURN_VALUES = (
    "Value '{}' at 'returnValues' failed to satisfy constraint: "
    "Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
)
NO_CAPACITY = (
    "Value 'hi' at 'returnConsumedCapacity' failed to satisfy constraint: "
    "Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
)
SINGLE_WRITES = ["PutItem", "UpdateItem", "DeleteItem"]
EXISTS: Json = {"ConditionExpression": "attribute_exists(a)"}


def deep(levels: int) -> Json:
    value: Json = {"S": "leaf"}
    for _ in range(levels):
        value = {"M": {"n": value}}
    return value


# A value, its text since June 2026, and its text before.
BAD_VALUES: dict[str, tuple[Json, str, str]] = {
    "no number": ({"N": "abc"}, f"{NO_NUMBER}: abc", f"{NO_NUMBER}: abc"),
    "an empty number": ({"N": ""}, f"{NO_NUMBER}: ", NO_NUMBER),
    "an empty number in a set": ({"NS": ["1", ""]}, f"{NO_NUMBER}: ", NO_NUMBER),
    "repeated texts": (
        {"SS": ["b", "a", "b"]},
        INVALID + 'Input collection ["a", "b", "b"] contains duplicates.',
        INVALID + "Input collection [b, a, b] contains duplicates.",
    ),
    "repeated binaries": (
        {"BS": ["/w==", "AA==", "AA=="]},
        INVALID + 'Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.',
        INVALID + "Input collection [/w==, AA==, AA==]of type BS contains duplicates.",
    ),
    "repeated numbers": (
        {"NS": ["2", "1", "2.0"]},
        INVALID + "Input collection contains duplicates.",
        "Input collection contains duplicates",
    ),
    "an empty set": (
        {"SS": []},
        INVALID + "An string set  may not be empty",
        INVALID + "An string set  may not be empty",
    ),
    "NULL that is false": (
        {"NULL": False},
        INVALID + "Null attribute value types must have the value of true",
        INVALID + "Null attribute value types must have the value of true",
    ),
    "32 levels": (deep(32), NESTING, NESTING),
}


@pytest.fixture
def where(key: NewKey) -> Json:
    return {"pk": {"S": key()}}


@pytest.fixture
def words(send: Send, hash_table: str) -> Callable[[str, Json], str]:
    """words(verb, members) -> the exact text of a ValidationException."""

    def ask(verb: str, members: Json) -> str:
        named = {} if verb.startswith(("Batch", "Transact")) else {"TableName": hash_table}
        reply = send(verb, {**named, **members})
        assert (reply.status, reply.code) == (400, "ValidationException"), reply.raw[:1000]
        return str(reply.body["message"])

    return ask


Words = Callable[[str, Json], str]


def placed(verb: str, where: Json) -> Json:
    """The members that name the item of a write."""
    return {"Item" if verb == "PutItem" else "Key": where}


def is_absent(answered: Answered, table: str, where: Json) -> bool:
    return answered("GetItem", {"TableName": table, "Key": where, "ConsistentRead": True}) == {}


# ---------------------------------------------------------------- values


@pytest.mark.parametrize("bad", BAD_VALUES)
def test_a_write_of_one_item_counts_a_bad_value_wherever_it_stands(
    words: Words, answered: Answered, hash_table: str, where: Json, bad: str
) -> None:
    value, expected, _ = BAD_VALUES[bad]
    other = {
        "ConditionExpression": "attribute_not_exists(pk) OR n = :v",
        "ExpressionAttributeValues": {":v": value},
    }
    update = {"Key": where, "UpdateExpression": "SET n = :v", "ExpressionAttributeValues": {":v": value}}
    asked: list[tuple[str, Json]] = [
        ("PutItem", {"Item": {**where, "n": value}}),
        ("PutItem", {"Item": where, **other}),
        ("PutItem", {"Item": where, "Expected": {"n": {"Value": value}}}),
        ("UpdateItem", update),
        ("UpdateItem", {"Key": where, "AttributeUpdates": {"n": {"Value": value}}}),
        ("UpdateItem", {"Key": {"pk": value}}),
        ("DeleteItem", {"Key": where, **other}),
        ("DeleteItem", {"Key": {"pk": value}}),
    ]
    assert [words(verb, members) for verb, members in asked] == [ONE + expected] * len(asked)
    assert is_absent(answered, hash_table, where)


@pytest.mark.parametrize("bad", BAD_VALUES)
def test_a_read_says_the_same_without_the_number_and_without_the_wrapper(
    words: Words, hash_table: str, where: Json, bad: str
) -> None:
    value, expected, _ = BAD_VALUES[bad]
    of_one: Json = {"KeyConditionExpression": "pk = :p"}
    values = {":p": where["pk"]}
    is_equal = {"ComparisonOperator": "EQ", "AttributeValueList": [where["pk"]]}
    filtered = {"n": {"ComparisonOperator": "EQ", "AttributeValueList": [value]}}
    asked: list[tuple[str, Json]] = [
        ("GetItem", {"Key": {"pk": value}}),
        ("BatchGetItem", {"RequestItems": {hash_table: {"Keys": [{"pk": value}]}}}),
        ("Query", {**of_one, "ExpressionAttributeValues": {":p": value}}),
        (
            "Query",
            {**of_one, "FilterExpression": "n = :v", "ExpressionAttributeValues": {**values, ":v": value}},
        ),
        ("Query", {**of_one, "ExpressionAttributeValues": values, "ExclusiveStartKey": {"pk": value}}),
        ("Query", {"KeyConditions": {"pk": is_equal}, "QueryFilter": filtered}),
    ]
    assert [words(verb, members) for verb, members in asked] == [expected] * len(asked)


@pytest.mark.parametrize("bad", BAD_VALUES)
def test_batches_of_writes_transactions_and_scans_have_the_words_of_before(
    words: Words, hash_table: str, where: Json, bad: str
) -> None:
    value, _, expected = BAD_VALUES[bad]
    named = {"TableName": hash_table}
    wrapped = f"ExpressionAttributeValues contains invalid value: {expected} for key :v"
    given = {"ExpressionAttributeValues": {":v": value}}
    condition = {"ConditionExpression": "n = :v", **given}
    put = {**named, "Item": {**where, "n": value}}
    update = {**named, "Key": where, "UpdateExpression": "SET n = :v", **given}

    def together(**action: Json) -> Json:
        return {"TransactItems": [action]}

    asked: list[tuple[str, Json, str]] = [
        ("BatchWriteItem", {"RequestItems": {hash_table: [{"PutRequest": {"Item": put["Item"]}}]}}, expected),
        (
            "BatchWriteItem",
            {"RequestItems": {hash_table: [{"DeleteRequest": {"Key": {"pk": value}}}]}},
            expected,
        ),
        ("TransactWriteItems", together(Put=put), expected),
        ("TransactWriteItems", together(Update=update), wrapped),
        ("TransactWriteItems", together(Delete={**named, "Key": where, **condition}), wrapped),
        ("TransactWriteItems", together(ConditionCheck={**named, "Key": where, **condition}), wrapped),
        ("TransactGetItems", together(Get={**named, "Key": {"pk": value}}), expected),
        ("Scan", {"FilterExpression": "n = :v", **given}, wrapped),
        ("Scan", {"ExclusiveStartKey": {"pk": value}}, expected),
    ]
    assert [words(verb, members) for verb, members, _ in asked] == [text for _, _, text in asked]


# ---------------------------------------------------------------- expressions and parameters


COUNTED: dict[str, tuple[Json, str]] = {
    "values without an expression": (
        {"ExpressionAttributeValues": {":v": {"S": "x"}}},
        "ExpressionAttributeValues can only be specified when using expressions",
    ),
    "names without an expression": (
        {"ExpressionAttributeNames": {"#a": "a"}},
        "ExpressionAttributeNames can only be specified when using expressions",
    ),
    "names beside Expected": (
        {"Expected": {"a": {"Exists": False}}, "ExpressionAttributeNames": {"#a": "a"}},
        "ExpressionAttributeNames can only be specified when using expressions",
    ),
    "no values": (
        {**EXISTS, "ExpressionAttributeValues": {}},
        "ExpressionAttributeValues must not be empty",
    ),
    "no names": ({**EXISTS, "ExpressionAttributeNames": {}}, "ExpressionAttributeNames must not be empty"),
    "a value that is not used": (
        {**EXISTS, "ExpressionAttributeValues": {":u": {"S": "x"}}},
        "Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}",
    ),
    "a value that is not defined": (
        {"ConditionExpression": "a = :v"},
        "Invalid ConditionExpression: An expression attribute value used in expression is not defined; "
        "attribute value: :v",
    ),
    "an empty condition": (
        {"ConditionExpression": ""},
        "Invalid ConditionExpression: The expression can not be empty;",
    ),
    "a syntax error": (
        {"ConditionExpression": "a = = b"},
        'Invalid ConditionExpression: Syntax error; token: "=", near: "= = b"',
    ),
    "redundant parentheses": (
        {"ConditionExpression": "((attribute_exists(a)))"},
        "Invalid ConditionExpression: The expression has redundant parentheses;",
    ),
    "both styles": (
        {**EXISTS, "Expected": {"a": {"Exists": False}}},
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}",
    ),
    "Exists without a value": (
        {"Expected": {"a": {"Exists": True}}},
        INVALID + "Value must be provided when Exists is true for Attribute: a",
    ),
    "an operator without its values": (
        {"Expected": {"a": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"S": "x"}]}}},
        INVALID + "Invalid number of argument(s) for the BETWEEN ComparisonOperator",
    ),
    "a conditional operator alone": (
        {"ConditionalOperator": "AND"},
        "ConditionalOperator cannot be used without Filter or Expected",
    ),
    "an unknown conditional operator": (
        {"Expected": {"a": {"Exists": False}, "b": {"Exists": False}}, "ConditionalOperator": "XOR"},
        "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]",
    ),
}


@pytest.mark.parametrize("fault", COUNTED)
@pytest.mark.parametrize("verb", SINGLE_WRITES)
def test_a_write_of_one_item_counts_every_fault_of_its_request(
    words: Words, answered: Answered, hash_table: str, where: Json, verb: str, fault: str
) -> None:
    members, expected = COUNTED[fault]
    assert words(verb, {**placed(verb, where), **members}) == ONE + expected
    assert is_absent(answered, hash_table, where)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"UpdateExpression": ""}, "Invalid UpdateExpression: The expression can not be empty;"),
        (
            {"UpdateExpression": "INVALID SYNTAX HERE"},
            'Invalid UpdateExpression: Syntax error; token: "INVALID", near: "INVALID SYNTAX"',
        ),
        (
            {"UpdateExpression": "SET a = :v"},
            "Invalid UpdateExpression: An expression attribute value used in expression is not defined; "
            "attribute value: :v",
        ),
        (
            {"UpdateExpression": "REMOVE a", "AttributeUpdates": {"a": {"Action": "DELETE"}}},
            "Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {AttributeUpdates} Expression parameters: {UpdateExpression}",
        ),
        (
            {"AttributeUpdates": {"a": {"Action": "ADD", "Value": {"S": "x"}}}},
            INVALID + "ADD action is not supported for the type STRING",
        ),
    ],
    ids=["empty", "syntax", "not defined", "both styles", "legacy"],
)
def test_an_update_counts_the_faults_of_its_change(
    words: Words, where: Json, members: Json, expected: str
) -> None:
    assert words("UpdateItem", {"Key": where, **members}) == ONE + expected


@pytest.mark.parametrize("verb", ["PutItem", "DeleteItem"])
@pytest.mark.parametrize("value", ["ALL_NEW", "UPDATED_NEW"])
def test_a_put_and_a_delete_return_what_was(words: Words, where: Json, verb: str, value: str) -> None:
    asked = {**placed(verb, where), "ReturnValues": value}
    assert words(verb, asked) == ONE + "ReturnValues can only be ALL_OLD or NONE"


def test_what_is_found_against_the_table_is_not_counted(
    words: Words, answered: Answered, hash_table: str, where: Json
) -> None:
    answered("PutItem", {"TableName": hash_table, "Item": {**where, "s": {"S": "text"}}})
    empty = (
        "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
        "an empty string value. Key: pk"
    )
    no_match = "The provided key element does not match the schema"
    one = {":v": {"S": "1"}}
    asked: list[tuple[str, Json, str]] = [
        ("PutItem", {"Item": {"pk": {"S": ""}}}, empty),
        ("UpdateItem", {"Key": {"pk": {"S": ""}}}, empty),
        ("DeleteItem", {"Key": {"pk": {"S": ""}}}, empty),
        ("PutItem", {"Item": {"a": {"S": "x"}}}, INVALID + "Missing the key pk in the item"),
        (
            "PutItem",
            {"Item": {"pk": {"N": "1"}}},
            INVALID + "Type mismatch for key pk expected: S actual: N",
        ),
        ("UpdateItem", {"Key": {"pk": {"N": "1"}}}, no_match),
        ("DeleteItem", {"Key": {"pk": {"L": []}}}, no_match),
        (
            "UpdateItem",
            {"Key": where, "UpdateExpression": "SET pk = :v", "ExpressionAttributeValues": one},
            INVALID + "Cannot update attribute pk. This attribute is part of the key",
        ),
        (
            "UpdateItem",
            {"Key": where, "UpdateExpression": "SET q = absent"},
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            "UpdateItem",
            {"Key": where, "UpdateExpression": "SET s.x = :v", "ExpressionAttributeValues": one},
            "The document path provided in the update expression is invalid for update",
        ),
    ]
    assert [words(verb, members) for verb, members, _ in asked] == [text for _, _, text in asked]


# ---------------------------------------------------------------- constraints


@pytest.mark.parametrize("verb", [*SINGLE_WRITES, "GetItem", "Query"])
def test_an_empty_table_name_is_reported_alone(send: Send, where: Json, verb: str) -> None:
    rest: Json = {"ReturnConsumedCapacity": "hi"}
    if verb in SINGLE_WRITES:
        rest["ReturnValues"] = "hi"
    if verb != "Query":
        rest |= placed(verb, where)
    reply = send(verb, {"TableName": "", **rest})
    assert (reply.code, reply.body["message"]) == ("ValidationException", ONE + EMPTY_NAME)


def test_wrong_enums_of_a_put_and_a_delete_are_reported_together(words: Words, where: Json) -> None:
    wrong = {"ReturnConsumedCapacity": "hi", "ReturnValues": "hi"}
    metrics = (
        "Value 'hi' at 'returnItemCollectionMetrics' failed to satisfy constraint: "
        "Member must satisfy enum value set: [SIZE, NONE]"
    )
    assert words("DeleteItem", {"Key": where, **wrong}) == (
        f"2 validation errors detected: {NO_CAPACITY}; {NO_RETURN_VALUES}"
    )
    assert words("PutItem", {"Item": where, **wrong, "ReturnItemCollectionMetrics": "hi"}) == (
        f"3 validation errors detected: {NO_CAPACITY}; {NO_RETURN_VALUES}; {metrics}"
    )


def test_of_the_wrong_enums_of_an_update_the_first_is_reported(words: Words, where: Json) -> None:
    wrong = {"ReturnConsumedCapacity": "hi", "ReturnValues": "hi"}
    assert words("UpdateItem", {"Key": where, **wrong}) == ONE + NO_RETURN_VALUES


def test_beside_a_missing_member_constraints_have_the_words_of_before(words: Words) -> None:
    wrong = {"TableName": "abc", "ReturnConsumedCapacity": "hi", "ReturnValues": "hi"}
    no_key = "Value null at 'key' failed to satisfy constraint: Member must not be null"
    message = words("UpdateItem", wrong)
    assert message.startswith("3 validation errors detected: ")
    told = message.partition(": ")[2].split("; ")
    assert sorted(told) == sorted([NO_CAPACITY, OLD_RETURN_VALUES.format("hi"), no_key])


def test_a_query_does_not_count_a_wrong_conditional_operator(words: Words, where: Json) -> None:
    null = {"ComparisonOperator": "NULL"}
    is_equal = {"ComparisonOperator": "EQ", "AttributeValueList": [where["pk"]]}
    asked = {
        "KeyConditions": {"pk": is_equal},
        "QueryFilter": {"b": null, "c": null},
        "ConditionalOperator": "XOR",
        "Select": "BOGUS",
    }
    assert words("Query", asked) == (
        "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"
    )


@pytest.mark.parametrize(
    ("members", "expected"),
    [
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
            {"Select": "SPECIFIC_ATTRIBUTES"},
            "Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES",
        ),
    ],
)
def test_a_query_counts_a_wrong_select_and_a_scan_does_not(
    words: Words, where: Json, members: Json, expected: str
) -> None:
    of_one = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": where["pk"]}}
    assert words("Query", {**of_one, **members}) == ONE + expected
    assert words("Scan", members) == expected


def test_the_expressions_of_reads_are_not_counted(words: Words, hash_table: str, where: Json) -> None:
    overlap = (
        "Invalid ProjectionExpression: Two document paths overlap with each other; "
        "must remove or rewrite one of these paths; path one: [a], path two: [a]"
    )
    of_one: Json = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": where["pk"]}}
    twice = {"ProjectionExpression": "a, a"}
    assert words("GetItem", {"Key": where, **twice}) == overlap
    assert words("Query", {**of_one, **twice}) == overlap
    assert words("BatchGetItem", {"RequestItems": {hash_table: {"Keys": [where], **twice}}}) == overlap
    unused = {"ExpressionAttributeNames": {"#u": "u"}}
    expected = "Value provided in ExpressionAttributeNames unused in expressions: keys: {#u}"
    assert words("Query", {**of_one, **unused}) == expected
    assert words("GetItem", {"Key": where, **unused}) == (
        "ExpressionAttributeNames can only be specified when using expressions"
    )


def test_a_batch_of_no_reads_is_a_constraint_and_one_of_no_writes_is_not(words: Words) -> None:
    nothing: dict[str, Any] = {"RequestItems": {}}
    assert words("BatchGetItem", nothing) == (
        ONE + "Value at 'RequestItems' failed to satisfy constraint: "
        "Member must have length greater than or equal to 1"
    )
    assert words("BatchWriteItem", nothing) == "The requestItems parameter is required for BatchWriteItem"


def test_a_batch_of_reads_echoes_a_table_name_that_cannot_be_as_json(words: Words) -> None:
    assert words("BatchGetItem", {"RequestItems": {"bad!name": {"Keys": [{"pk": {"S": "a"}}]}}}) == (
        ONE
        + """Value '{"bad!name":{"Keys":[{"pk":{"S":"a"}}]}}' at 'requestItems' failed to satisfy constraint: """
        "Map keys must satisfy constraint: [Member must have length less than or equal to 255, "
        "Member must have length greater than or equal to 3, "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]"
    )
