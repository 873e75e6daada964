"""BatchWriteItem: up to twenty-five puts and deletes, each on its own, refused together.

Must hold: a request that is refused has written nothing.
Elsewhere: keys of secondary indexes on this path (test_secondary_indexes.py).
"""

from __future__ import annotations

import pytest
from tests.conformance.talk import Answered, Json, NewKey, Refused

RCC = (
    "Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint:"
    " Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
)
RICM = (
    "Value 'BOGUS2' at 'returnItemCollectionMetrics' failed to satisfy constraint:"
    " Member must satisfy enum value set: [SIZE, NONE]"
)
MISMATCH = "The provided key element does not match the schema"
EMPTY = "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an"


def put(**item: Json) -> Json:
    return {"PutRequest": {"Item": item}}


def delete(**key: Json) -> Json:
    return {"DeleteRequest": {"Key": key}}


def batch(table: str, *requests: Json) -> Json:
    return {"RequestItems": {table: list(requests)}}


def found(answered: Answered, table: str, **key: Json) -> Json:
    item: Json = answered("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True}).get("Item", {})
    return item


def test_puts_and_deletes_happen_and_nothing_is_left_over(
    answered: Answered, hash_table: str, key: NewKey
) -> None:
    old, new = {"S": key()}, {"S": key()}
    answered("PutItem", {"TableName": hash_table, "Item": {"pk": old, "n": {"N": "1"}}})
    request = batch(hash_table, put(pk=new, n={"N": "2"}), delete(pk=old), delete(pk={"S": key()}))
    assert answered("BatchWriteItem", request) == {"UnprocessedItems": {}}
    assert found(answered, hash_table, pk=old) == {}
    assert found(answered, hash_table, pk=new) == {"pk": new, "n": {"N": "2"}}


def test_a_put_replaces_the_whole_item(answered: Answered, hash_table: str, key: NewKey) -> None:
    pk = {"S": key()}
    answered("PutItem", {"TableName": hash_table, "Item": {"pk": pk, "a": {"S": "x"}, "b": {"S": "y"}}})
    answered("BatchWriteItem", batch(hash_table, put(pk=pk, b={"S": "z"})))
    assert found(answered, hash_table, pk=pk) == {"pk": pk, "b": {"S": "z"}}


def test_twenty_five_requests_over_two_tables_fit(
    answered: Answered, hash_table: str, comp_table: str, key: NewKey
) -> None:
    pk = key()
    request = batch(hash_table, *(put(pk={"S": f"{pk}-{n}"}) for n in range(12)))
    request["RequestItems"][comp_table] = [put(pk={"S": pk}, sk={"S": str(n)}) for n in range(13)]
    assert answered("BatchWriteItem", request)["UnprocessedItems"] == {}
    query = {
        "TableName": comp_table,
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": pk}},
        "Select": "COUNT",
    }
    assert answered("Query", query)["Count"] == 13
    assert all(found(answered, hash_table, pk={"S": f"{pk}-{n}"}) for n in range(12))


def test_the_largest_item_fits(answered: Answered, hash_table: str, key: NewKey) -> None:
    pk = {"S": key()}
    largest = put(pk=pk, x={"S": "x" * (409_600 - 3 - len(pk["S"]))})
    assert answered("BatchWriteItem", batch(hash_table, largest))["UnprocessedItems"] == {}


# ---------------------------------------------------------------- refusals


def test_something_must_be_asked_for(refused: Refused) -> None:
    code, message = refused("BatchWriteItem", {"RequestItems": {}})
    assert code == "ValidationException"
    assert message in (
        "The requestItems parameter is required for BatchWriteItem",
        "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint:"
        " Member must have length greater than or equal to 1",
    )


@pytest.mark.parametrize("count", [0, 26])
def test_a_table_takes_1_to_25_requests(
    refused: Refused, answered: Answered, hash_table: str, key: NewKey, count: int
) -> None:
    pk = key()
    code, message = refused(
        "BatchWriteItem", batch(hash_table, *(put(pk={"S": f"{pk}-{n}"}) for n in range(count)))
    )
    assert code == "ValidationException"
    prefix = f"1 validation error detected: Value '{{{hash_table}=["
    suffix = (
        "]}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: [Member must"
        " have length less than or equal to 25, Member must have length greater than or equal to 1]"
    )
    assert message.startswith(prefix)
    assert message.endswith(suffix)
    assert found(answered, hash_table, pk={"S": f"{pk}-0"}) == {}


def test_twenty_six_requests_over_two_tables_are_too_many(
    refused: Refused, answered: Answered, hash_table: str, comp_table: str, key: NewKey
) -> None:
    pk = key()
    request = batch(hash_table, *(put(pk={"S": f"{pk}-{n}"}) for n in range(13)))
    request["RequestItems"][comp_table] = [put(pk={"S": pk}, sk={"S": str(n)}) for n in range(13)]
    expected = "Too many items requested for the BatchWriteItem call"
    assert refused("BatchWriteItem", request) == ("ValidationException", expected)
    assert found(answered, hash_table, pk={"S": f"{pk}-0"}) == {}


@pytest.mark.parametrize("second", ["put", "delete"])
def test_one_item_twice_is_refused(
    refused: Refused, answered: Answered, hash_table: str, key: NewKey, second: str
) -> None:
    pk = {"S": key()}
    again = put(pk=pk, a={"S": "other"}) if second == "put" else delete(pk=pk)
    expected = "Provided list of item keys contains duplicates"
    assert refused("BatchWriteItem", batch(hash_table, put(pk=pk), again)) == (
        "ValidationException",
        expected,
    )
    assert found(answered, hash_table, pk=pk) == {}


def test_one_number_written_two_ways_is_one_item(refused: Refused, num_table: str) -> None:
    request = batch(num_table, put(pk={"N": "1"}, sk={"N": "10"}), delete(pk={"N": "1.0"}, sk={"N": "1e1"}))
    expected = ("ValidationException", "Provided list of item keys contains duplicates")
    assert refused("BatchWriteItem", request) == expected


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (put(zz={"S": "1"}), MISMATCH),
        (put(pk={"N": "1"}), MISMATCH),
        (put(pk={"L": [{"S": "x"}]}), MISMATCH),
        (delete(zz={"S": "1"}), MISMATCH),
        (delete(pk={"N": "1"}), MISMATCH),
        (delete(pk={"S": "x"}, zz={"S": "1"}), MISMATCH),
        (put(pk={"S": ""}), EMPTY + " empty string value. Key: pk"),
        (delete(pk={"S": ""}), EMPTY + " empty string value. Key: pk"),
        (put(pk={"S": "big"}, x={"S": "x" * 409_600}), "Item size has exceeded the maximum allowed size"),
        (
            put(pk={"S": "x"}, s={"SS": []}),
            "One or more parameter values were invalid: An string set  may not be empty",
        ),
    ],
    ids=[
        "put without key",
        "put of another type",
        "put of a list",
        "delete without key",
        "delete of another type",
        "delete with more than the key",
        "put of an empty key",
        "delete of an empty key",
        "an item too large",
        "an empty set",
    ],
)
def test_one_bad_request_refuses_them_all(
    refused: Refused, answered: Answered, hash_table: str, key: NewKey, request_: Json, expected: str
) -> None:
    good = {"S": key()}
    asked = batch(hash_table, put(pk=good), request_)
    assert refused("BatchWriteItem", asked) == ("ValidationException", expected)
    assert found(answered, hash_table, pk=good) == {}


@pytest.mark.parametrize(
    "request_", [put(pk={"B": ""}, sk={"B": "AA=="}), delete(pk={"B": ""}, sk={"B": "AA=="})]
)
def test_an_empty_binary_key_is_refused(refused: Refused, bin_table: str, request_: Json) -> None:
    expected = EMPTY + " empty binary value. Key: pk"
    assert refused("BatchWriteItem", batch(bin_table, request_)) == ("ValidationException", expected)


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {**put(pk={"S": "conf-both-a"}), **delete(pk={"S": "conf-both-b"})},
        {"UpdateRequest": {"Key": {"pk": {"S": "conf-both-c"}}}},
    ],
    ids=["nothing", "both", "an update"],
)
def test_a_request_is_one_put_or_one_delete(
    refused: Refused, answered: Answered, hash_table: str, request_: Json
) -> None:
    assert refused("BatchWriteItem", batch(hash_table, request_))[0] == "ValidationException"
    assert found(answered, hash_table, pk={"S": "conf-both-a"}) == {}


def test_a_missing_table_fails_the_batch(
    refused: Refused, answered: Answered, hash_table: str, key: NewKey
) -> None:
    good = {"S": key()}
    request = batch(hash_table, put(pk=good))
    request["RequestItems"]["conf-no-such-table"] = [put(pk=good)]
    expected = ("ResourceNotFoundException", "Requested resource not found")
    assert refused("BatchWriteItem", request) == expected
    assert found(answered, hash_table, pk=good) == {}


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"ReturnConsumedCapacity": "BOGUS"}, f"1 validation error detected: {RCC}"),
        ({"ReturnItemCollectionMetrics": "BOGUS2"}, f"1 validation error detected: {RICM}"),
        (
            {"ReturnConsumedCapacity": "BOGUS", "ReturnItemCollectionMetrics": "BOGUS2"},
            f"2 validation errors detected: {RCC}; {RICM}",
        ),
    ],
)
@pytest.mark.parametrize("exists", [True, False], ids=["table", "no table"])
def test_unknown_enum_values_are_named_together_before_a_missing_table(
    refused: Refused,
    answered: Answered,
    hash_table: str,
    key: NewKey,
    members: Json,
    expected: str,
    exists: bool,
) -> None:
    pk = {"S": key()}
    request = batch(hash_table if exists else "conf-no-such-table", put(pk=pk)) | members
    assert refused("BatchWriteItem", request) == ("ValidationException", expected)
    assert found(answered, hash_table, pk=pk) == {}


def test_a_malformed_table_name_is_a_constraint_on_the_map(refused: Refused) -> None:
    code, message = refused("BatchWriteItem", batch("bad!name", put(pk={"S": "x"})))
    assert code == "ValidationException"
    assert "bad!name" in message
    assert "[a-zA-Z0-9_.-]+" in message


def test_a_table_named_twice_is_still_one_table(
    refused: Refused, answered: Answered, hash_table: str, key: NewKey
) -> None:
    arn = answered("DescribeTable", {"TableName": hash_table})["Table"]["TableArn"]
    pk = {"S": key()}
    code, _ = refused("BatchWriteItem", {"RequestItems": {hash_table: [put(pk=pk)], arn: [put(pk=pk)]}})
    assert code == "ValidationException"
    assert found(answered, hash_table, pk=pk) == {}


@pytest.mark.parametrize("nothing", [None, [None], [None] * 26])
def test_nothing_in_the_place_of_requests_is_refused(
    refused: Refused, hash_table: str, nothing: Json
) -> None:
    code, _ = refused("BatchWriteItem", {"RequestItems": {hash_table: nothing}})
    assert code == "ValidationException"
