"""PutItem: what is stored, what comes back, which items and keys are refused.

Elsewhere: numbers and sizes (test_numbers_and_sizes.py), conditions (test_expressions_in_conditions.py),
Expected (test_legacy_parameters.py).
"""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.conformance.talk import Answered, Json, NewKey, Refused, Send

INVALID = "One or more parameter values were invalid: "
CONDITION_FAILED = ("ConditionalCheckFailedException", "The conditional request failed")
EVERYTHING: Json = {
    "s": {"S": "text, é, 😀"},
    "n": {"N": "-56.789"},
    "b": {"B": "AAEC/w=="},
    "yes": {"BOOL": True},
    "no": {"BOOL": False},
    "nothing": {"NULL": True},
    "strings": {"SS": ["a", "b"]},
    "numbers": {"NS": ["-1.5", "2"]},
    "binaries": {"BS": ["AA==", "AQ=="]},
    "list": {"L": [{"S": "a"}, {"N": "1"}, {"L": []}, {"M": {"x": {"SS": ["z"]}}}]},
    "map": {"M": {"x": {"M": {"y": {"L": [{"NULL": True}]}}}, "z": {"B": "AA=="}}},
}


def stored(answered: Answered, table: str, key: Json) -> Json | None:
    item: Json | None = answered("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True}).get(
        "Item"
    )
    return item


def test_an_item_of_all_ten_types_comes_back_as_it_was_put(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    where = {"pk": {"S": key()}}
    answered("PutItem", {"TableName": hash_table, "Item": {**where, **EVERYTHING}})
    assert stored(answered, hash_table, where) == {**where, **EVERYTHING}


def test_the_sdk_reads_back_the_binary_it_wrote(client: Any, bin_table: str, key: NewKey) -> None:
    where = {"pk": {"B": key().encode()}, "sk": {"B": b"\x00\xff"}}
    client.put_item(TableName=bin_table, Item={**where, "x": {"B": b"\x01\x02"}})
    assert client.get_item(TableName=bin_table, Key=where)["Item"]["x"] == {"B": b"\x01\x02"}


def test_a_put_answers_nothing_unless_asked(answered: Answered, hash_table: str, key: NewKey) -> None:
    item = {"pk": {"S": key()}}
    assert answered("PutItem", {"TableName": hash_table, "Item": item}) == {}
    assert answered("PutItem", {"TableName": hash_table, "Item": item, "ReturnValues": "NONE"}) == {}


def test_a_put_replaces_the_whole_item(answered: Answered, hash_table: str, key: NewKey) -> None:
    where = {"pk": {"S": key()}}
    answered("PutItem", {"TableName": hash_table, "Item": {**where, "a": {"S": "1"}, "b": {"S": "2"}}})
    answered("PutItem", {"TableName": hash_table, "Item": {**where, "c": {"S": "3"}}})
    assert stored(answered, hash_table, where) == {**where, "c": {"S": "3"}}


def test_items_of_one_partition_differ_by_their_sort_key(
    answered: Answered, comp_table: str, key: NewKey
) -> None:
    partition = {"S": key()}
    for sort in ("1", "2"):
        item = {"pk": partition, "sk": {"S": sort}, "a": {"S": sort}}
        answered("PutItem", {"TableName": comp_table, "Item": item})
    first = stored(answered, comp_table, {"pk": partition, "sk": {"S": "1"}})
    assert first == {"pk": partition, "sk": {"S": "1"}, "a": {"S": "1"}}


def test_all_old_returns_what_was_replaced(answered: Answered, hash_table: str, key: NewKey) -> None:
    old = {"pk": {"S": key()}, "a": {"N": "1"}, "b": {"SS": ["x"]}}
    request = {"TableName": hash_table, "Item": old, "ReturnValues": "ALL_OLD"}
    assert answered("PutItem", request) == {}
    assert answered("PutItem", {**request, "Item": {"pk": old["pk"]}}) == {"Attributes": old}


def test_a_table_can_be_named_by_its_arn(answered: Answered, hash_table: str, key: NewKey) -> None:
    arn = answered("DescribeTable", {"TableName": hash_table})["Table"]["TableArn"]
    item = {"pk": {"S": key()}, "a": {"S": "1"}}
    answered("PutItem", {"TableName": arn, "Item": item})
    assert stored(answered, hash_table, {"pk": item["pk"]}) == item


def test_members_the_service_does_not_know_are_ignored(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    item = {"pk": {"S": key()}}
    request = {"TableName": hash_table, "Item": item, "Surprise": 1, "ConditionExpression": None}
    assert answered("PutItem", request) == {}


@pytest.mark.parametrize(
    "value",
    [
        {"S": ""},
        {"B": ""},
        {"L": []},
        {"M": {}},
        {"SS": [""]},
        {"BS": [""]},
        {"L": [{"S": ""}, {"B": ""}, {"L": []}, {"M": {}}]},
        {"M": {"x": {"S": ""}, "y": {"M": {}}}},
    ],
    ids=str,
)
def test_empty_values_are_stored_outside_keys(
    answered: Answered, hash_table: str, key: NewKey, value: Json
) -> None:
    where = {"pk": {"S": key()}}
    answered("PutItem", {"TableName": hash_table, "Item": {**where, "x": value}})
    assert stored(answered, hash_table, where) == {**where, "x": value}


REFUSED_VALUES = [
    ({}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
    ({"X": "a"}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
    ({"S": None}, "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"),
    (
        {"S": "a", "N": "1"},
        "Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported "
        "datatypes",
    ),
    ({"NULL": False}, INVALID + "Null attribute value types must have the value of true"),
    ({"SS": []}, INVALID + "An string set  may not be empty"),
    ({"NS": []}, INVALID + "An number set  may not be empty"),
    ({"BS": []}, INVALID + "Binary sets should not be empty"),
    ({"SS": ["a", "b", "a"]}, INVALID + 'Input collection ["a", "b", "a"] contains duplicates.'),
    ({"NS": ["1", "2", "1.0"]}, INVALID + "Input collection contains duplicates."),
    ({"BS": ["YQ==", "YQ=="]}, INVALID + 'Input collection ["YQ==","YQ=="]of type BS contains duplicates.'),
    ({"N": ""}, "The parameter cannot be converted to a numeric value: "),
    ({"N": "one"}, "The parameter cannot be converted to a numeric value: one"),
    ({"NS": ["1", "b"]}, "The parameter cannot be converted to a numeric value: b"),
]


@pytest.mark.parametrize(("value", "message"), REFUSED_VALUES, ids=str)
@pytest.mark.parametrize("nested", [False, True], ids=["top", "nested"])
def test_a_malformed_value_is_refused_wherever_it_stands(
    refused: Refused, hash_table: str, key: NewKey, value: Json, message: str, nested: bool
) -> None:
    placed = {"M": {"y": {"L": [value]}}} if nested else value
    item = {"pk": {"S": key()}, "x": placed}
    assert refused("PutItem", {"TableName": hash_table, "Item": item}) == ("ValidationException", message)


def test_a_malformed_value_is_refused_before_the_table_is_looked_up(refused: Refused, key: NewKey) -> None:
    code, message = refused("PutItem", {"TableName": key(), "Item": {"pk": {"S": "a"}, "x": {"SS": []}}})
    assert (code, message) == ("ValidationException", INVALID + "An string set  may not be empty")


def test_an_attribute_needs_a_name(refused: Refused, hash_table: str, key: NewKey) -> None:
    item = {"pk": {"S": key()}, "": {"S": "a"}}
    code, message = refused("PutItem", {"TableName": hash_table, "Item": item})
    assert (code, message) == ("ValidationException", "Empty attribute name")


def test_a_table_that_is_not_there_is_not_found(refused: Refused, key: NewKey) -> None:
    reply = refused("PutItem", {"TableName": key(), "Item": {"pk": {"S": "a"}}})
    assert reply == ("ResourceNotFoundException", "Requested resource not found")


@pytest.mark.parametrize("item", [{}, {"other": {"S": "a"}}], ids=str)
def test_an_item_without_its_key_is_refused(refused: Refused, hash_table: str, item: Json) -> None:
    reply = refused("PutItem", {"TableName": hash_table, "Item": item})
    assert reply == ("ValidationException", INVALID + "Missing the key pk in the item")


def test_an_item_without_its_sort_key_is_refused(refused: Refused, comp_table: str, key: NewKey) -> None:
    reply = refused("PutItem", {"TableName": comp_table, "Item": {"pk": {"S": key()}}})
    assert reply == ("ValidationException", INVALID + "Missing the key sk in the item")


@pytest.mark.parametrize(
    "value",
    [
        {"N": "1"},
        {"B": "AA=="},
        {"BOOL": True},
        {"NULL": True},
        {"SS": ["a"]},
        {"NS": ["1"]},
        {"BS": ["AA=="]},
        {"L": []},
        {"M": {}},
    ],
    ids=str,
)
def test_a_key_of_another_type_is_refused(refused: Refused, hash_table: str, value: Json) -> None:
    (kind,) = value
    reply = refused("PutItem", {"TableName": hash_table, "Item": {"pk": value}})
    assert reply == ("ValidationException", f"{INVALID}Type mismatch for key pk expected: S actual: {kind}")


EMPTY_KEY = (
    "One or more parameter values are not valid. "
    "The AttributeValue for a key attribute cannot contain an empty {} value. Key: {}"
)


def test_an_empty_key_is_refused(refused: Refused, comp_table: str, bin_table: str, key: NewKey) -> None:
    empty_hash = {"TableName": comp_table, "Item": {"pk": {"S": ""}, "sk": {"S": "a"}}}
    empty_sort = {"TableName": comp_table, "Item": {"pk": {"S": key()}, "sk": {"S": ""}}}
    empty_binary = {"TableName": bin_table, "Item": {"pk": {"B": "YQ=="}, "sk": {"B": ""}}}
    assert refused("PutItem", empty_hash) == ("ValidationException", EMPTY_KEY.format("string", "pk"))
    assert refused("PutItem", empty_sort) == ("ValidationException", EMPTY_KEY.format("string", "sk"))
    assert refused("PutItem", empty_binary) == ("ValidationException", EMPTY_KEY.format("binary", "sk"))


LONG_HASH = INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes"
LONG_SORT = INVALID + "Aggregated size of all range keys has exceeded the size limit of 1024 bytes"


def test_a_hash_key_may_have_2048_bytes_of_utf8(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    longest = key() + "é" * ((2048 - len(key())) // 2)
    assert len(longest.encode()) == 2048
    assert answered("PutItem", {"TableName": hash_table, "Item": {"pk": {"S": longest}}}) == {}
    reply = refused("PutItem", {"TableName": hash_table, "Item": {"pk": {"S": longest + "a"}}})
    assert reply == ("ValidationException", LONG_HASH)


def test_a_sort_key_may_have_1024_bytes_of_utf8(
    answered: Answered, refused: Refused, comp_table: str, key: NewKey
) -> None:
    partition = {"S": key()}
    item = {"pk": partition, "sk": {"S": "é" * 512}}
    assert answered("PutItem", {"TableName": comp_table, "Item": item}) == {}
    longer = {"pk": partition, "sk": {"S": "é" * 512 + "a"}}
    reply = refused("PutItem", {"TableName": comp_table, "Item": longer})
    assert reply == ("ValidationException", LONG_SORT)


def test_binary_keys_are_measured_unencoded(
    answered: Answered, refused: Refused, bin_table: str, key: NewKey
) -> None:
    def item(sort_bytes: int) -> Json:
        partition = b64encode(key().encode().ljust(2048)).decode()
        return {"pk": {"B": partition}, "sk": {"B": b64encode(b"\xff" * sort_bytes).decode()}}

    assert answered("PutItem", {"TableName": bin_table, "Item": item(1024)}) == {}
    reply = refused("PutItem", {"TableName": bin_table, "Item": item(1025)})
    assert reply == ("ValidationException", LONG_SORT)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"gpk": {"N": "1"}},
            INVALID + "Type mismatch for Index Key gpk Expected: S Actual: N IndexName: gsi1",
        ),
        (
            {"gpk": {"S": "g"}, "gsk": {"S": "1"}},
            INVALID + "Type mismatch for Index Key gsk Expected: N Actual: S IndexName: gsi1",
        ),
        (
            {"lsk": {"M": {}}},
            INVALID + "Type mismatch for Index Key lsk Expected: N Actual: M IndexName: lsi1",
        ),
        (
            {"gpk": {"S": ""}},
            "One or more parameter values are not valid. A value specified for a secondary index key is not "
            "supported. The AttributeValue for a key attribute cannot contain an empty string value. "
            "IndexName: gsi1, IndexKey: gpk",
        ),
    ],
    ids=str,
)
def test_an_index_key_of_wrong_type_or_empty_fails_the_write(
    refused: Refused, answered: Answered, comp_table: str, key: NewKey, wrong: Json, message: str
) -> None:
    where = {"pk": {"S": key()}, "sk": {"S": "1"}}
    reply = refused("PutItem", {"TableName": comp_table, "Item": {**where, **wrong}})
    assert reply == ("ValidationException", message)
    assert stored(answered, comp_table, where) is None


def test_an_item_may_lack_the_keys_of_an_index(answered: Answered, comp_table: str, key: NewKey) -> None:
    item = {"pk": {"S": key()}, "sk": {"S": "1"}, "gsk": {"N": "1"}}
    assert answered("PutItem", {"TableName": comp_table, "Item": item}) == {}


def test_a_condition_decides_whether_the_item_is_put(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    where = {"pk": {"S": key()}}
    request = {
        "TableName": hash_table,
        "Item": {**where, "v": {"N": "1"}},
        "ConditionExpression": "attribute_not_exists(pk)",
    }
    assert answered("PutItem", request) == {}
    assert refused("PutItem", {**request, "Item": {**where, "v": {"N": "2"}}}) == CONDITION_FAILED
    assert stored(answered, hash_table, where) == {**where, "v": {"N": "1"}}


def test_a_condition_looks_at_the_stored_item_not_at_the_new_one(
    refused: Refused, hash_table: str, key: NewKey
) -> None:
    request = {
        "TableName": hash_table,
        "Item": {"pk": {"S": key()}, "v": {"N": "1"}},
        "ConditionExpression": "v = :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    assert refused("PutItem", request) == CONDITION_FAILED


def test_a_failed_condition_shows_the_item_only_when_asked(
    send: Send, answered: Answered, hash_table: str, key: NewKey
) -> None:
    item = {"pk": {"S": key()}, "v": {"L": [{"N": "1"}]}}
    answered("PutItem", {"TableName": hash_table, "Item": item})
    request = {"TableName": hash_table, "Item": item, "ConditionExpression": "attribute_not_exists(pk)"}
    shown = send("PutItem", {**request, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})
    assert (shown.code, shown.body.get("Item")) == (CONDITION_FAILED[0], item)
    for more in ({}, {"ReturnValuesOnConditionCheckFailure": "NONE"}):
        hidden = send("PutItem", {**request, **more})
        assert (hidden.code, "Item" in hidden.body) == (CONDITION_FAILED[0], False)


def test_a_failed_condition_on_nothing_has_no_item_to_show(send: Send, hash_table: str, key: NewKey) -> None:
    request = {
        "TableName": hash_table,
        "Item": {"pk": {"S": key()}},
        "ConditionExpression": "attribute_exists(pk)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    reply = send("PutItem", request)
    assert (reply.code, "Item" in reply.body) == (CONDITION_FAILED[0], False)


def test_the_sdk_raises_the_modelled_exception_with_the_item(
    client: Any, hash_table: str, key: NewKey
) -> None:
    item = {"pk": {"S": key()}, "v": {"N": "1"}}
    client.put_item(TableName=hash_table, Item=item)
    with pytest.raises(client.exceptions.ConditionalCheckFailedException) as failed:
        client.put_item(
            TableName=hash_table,
            Item=item,
            ConditionExpression="attribute_not_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert isinstance(failed.value, ClientError)
    assert failed.value.response["Item"] == item


@pytest.mark.parametrize("form", ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
def test_a_put_returns_old_values_or_none(refused: Refused, hash_table: str, key: NewKey, form: str) -> None:
    request = {"TableName": hash_table, "Item": {"pk": {"S": key()}}, "ReturnValues": form}
    assert refused("PutItem", request) == (
        "ValidationException",
        "ReturnValues can only be ALL_OLD or NONE",
    )


@pytest.mark.parametrize(
    ("member", "path", "values"),
    [
        ("ReturnConsumedCapacity", "returnConsumedCapacity", "INDEXES, TOTAL, NONE"),
        ("ReturnItemCollectionMetrics", "returnItemCollectionMetrics", "SIZE, NONE"),
    ],
)
def test_an_unknown_choice_is_refused_with_the_choices(
    refused: Refused, hash_table: str, key: NewKey, member: str, path: str, values: str
) -> None:
    request = {"TableName": hash_table, "Item": {"pk": {"S": key()}}, member: "hi"}
    assert refused("PutItem", request) == (
        "ValidationException",
        f"1 validation error detected: Value 'hi' at '{path}' failed to satisfy constraint: "
        f"Member must satisfy enum value set: [{values}]",
    )


def test_an_unknown_choice_for_a_failed_condition_is_refused(
    refused: Refused, hash_table: str, key: NewKey
) -> None:
    request = {
        "TableName": hash_table,
        "Item": {"pk": {"S": key()}},
        "ReturnValuesOnConditionCheckFailure": "hi",
    }
    code, message = refused("PutItem", request)
    # The order in which the service lists these two has not been captured.
    assert code == "ValidationException"
    assert re.fullmatch(
        "1 validation error detected: Value 'hi' at 'returnValuesOnConditionCheckFailure' failed to satisfy "
        r"constraint: Member must satisfy enum value set: \[(ALL_OLD, NONE|NONE, ALL_OLD)\]",
        message,
    )


def test_all_missing_members_are_named_at_once(refused: Refused) -> None:
    code, message = refused("PutItem", {})
    count, _, found = message.partition(" detected: ")
    assert (code, count) == ("ValidationException", "2 validation errors")
    assert sorted(found.split("; ")) == [
        "Value null at 'item' failed to satisfy constraint: Member must not be null",
        "Value null at 'tableName' failed to satisfy constraint: Member must not be null",
    ]


def test_a_missing_item_is_named_before_the_table_is_looked_up(refused: Refused, key: NewKey) -> None:
    assert refused("PutItem", {"TableName": key()}) == (
        "ValidationException",
        "1 validation error detected: Value null at 'item' failed to satisfy constraint: "
        "Member must not be null",
    )
