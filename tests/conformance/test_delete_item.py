"""DeleteItem: what is gone, what comes back, what stops it.

Elsewhere: keys of the wrong shape, for all three verbs that take a Key (test_get_item.py).
"""

from __future__ import annotations

import pytest
from tests.conformance.talk import Answered, Json, NewKey, Refused, Send

CONDITION_FAILED = ("ConditionalCheckFailedException", "The conditional request failed")


@pytest.fixture
def item(answered: Answered, hash_table: str, key: NewKey) -> Json:
    """An item that is in hash_table."""
    there = {"pk": {"S": key()}, "v": {"N": "1"}, "s": {"SS": ["a"]}}
    answered("PutItem", {"TableName": hash_table, "Item": there})
    return there


def is_there(answered: Answered, table: str, item: Json) -> bool:
    read = answered("GetItem", {"TableName": table, "Key": {"pk": item["pk"]}, "ConsistentRead": True})
    return read == {"Item": item}


def test_a_deleted_item_is_gone(answered: Answered, hash_table: str, item: Json) -> None:
    request = {"TableName": hash_table, "Key": {"pk": item["pk"]}}
    assert answered("DeleteItem", request) == {}
    assert answered("GetItem", {**request, "ConsistentRead": True}) == {}


def test_deleting_nothing_succeeds(answered: Answered, hash_table: str, key: NewKey) -> None:
    request = {"TableName": hash_table, "Key": {"pk": {"S": key()}}}
    assert answered("DeleteItem", request) == {}
    assert answered("DeleteItem", {**request, "ReturnValues": "ALL_OLD"}) == {}


def test_all_old_returns_the_deleted_item(answered: Answered, hash_table: str, item: Json) -> None:
    request = {"TableName": hash_table, "Key": {"pk": item["pk"]}, "ReturnValues": "ALL_OLD"}
    assert answered("DeleteItem", request) == {"Attributes": item}


def test_only_the_item_under_the_whole_key_is_deleted(
    answered: Answered, comp_table: str, key: NewKey
) -> None:
    partition = {"S": key()}
    for sort in ("1", "2"):
        answered("PutItem", {"TableName": comp_table, "Item": {"pk": partition, "sk": {"S": sort}}})
    answered("DeleteItem", {"TableName": comp_table, "Key": {"pk": partition, "sk": {"S": "1"}}})
    left = answered("GetItem", {"TableName": comp_table, "Key": {"pk": partition, "sk": {"S": "2"}}})
    assert left == {"Item": {"pk": partition, "sk": {"S": "2"}}}


def test_a_condition_that_holds_lets_the_item_go(answered: Answered, hash_table: str, item: Json) -> None:
    request = {
        "TableName": hash_table,
        "Key": {"pk": item["pk"]},
        "ConditionExpression": "v = :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    assert answered("DeleteItem", request) == {}
    assert not is_there(answered, hash_table, item)


def test_a_failed_condition_leaves_the_item_and_shows_it_when_asked(
    answered: Answered, send: Send, hash_table: str, item: Json
) -> None:
    request = {
        "TableName": hash_table,
        "Key": {"pk": item["pk"]},
        "ConditionExpression": "v > :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    hidden = send("DeleteItem", request)
    assert ((hidden.code, hidden.message), "Item" in hidden.body) == (CONDITION_FAILED, False)
    shown = send("DeleteItem", {**request, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})
    assert ((shown.code, shown.message), shown.body.get("Item")) == (CONDITION_FAILED, item)
    assert is_there(answered, hash_table, item)


def test_a_condition_on_a_missing_item_sees_no_attributes(
    answered: Answered, refused: Refused, hash_table: str, key: NewKey
) -> None:
    request = {"TableName": hash_table, "Key": {"pk": {"S": key()}}}
    assert (
        refused("DeleteItem", {**request, "ConditionExpression": "attribute_exists(pk)"}) == CONDITION_FAILED
    )
    assert answered("DeleteItem", {**request, "ConditionExpression": "attribute_not_exists(pk)"}) == {}


@pytest.mark.parametrize("form", ["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])
def test_a_delete_returns_old_values_or_none(
    answered: Answered, refused: Refused, hash_table: str, item: Json, form: str
) -> None:
    request = {"TableName": hash_table, "Key": {"pk": item["pk"]}, "ReturnValues": form}
    assert refused("DeleteItem", request) == (
        "ValidationException",
        "ReturnValues can only be ALL_OLD or NONE",
    )
    assert is_there(answered, hash_table, item)


def test_a_wrong_condition_is_refused_before_the_table_is_looked_up(refused: Refused, key: NewKey) -> None:
    request = {"TableName": key(), "Key": {"pk": {"S": "a"}}, "ConditionExpression": "a =="}
    assert refused("DeleteItem", request) == (
        "ValidationException",
        'Invalid ConditionExpression: Syntax error; token: "=", near: "=="',
    )
