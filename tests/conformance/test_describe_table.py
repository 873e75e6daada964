"""DescribeTable: the table as it stands, by name or by ARN."""

from __future__ import annotations

from typing import Any

import pytest
from tests.conformance.talk import (
    COMP_TABLE,
    HASH_TABLE,
    NUM_TABLE,
    Answered,
    Json,
    NewTable,
    Refused,
)


def described(answered: Answered, table: str) -> Json:
    description: Json = answered("DescribeTable", {"TableName": table})["Table"]
    return description


def by_name(listed: list[Json], member: str) -> list[Any]:
    return sorted(listed, key=lambda one: str(one[member]))


def test_a_missing_table_is_named(refused: Refused) -> None:
    expected = "Requested resource not found: Table: conf-no-such-table not found"
    asked = {"TableName": "conf-no-such-table"}
    assert refused("DescribeTable", asked) == ("ResourceNotFoundException", expected)


@pytest.mark.parametrize("asked", [{}, {"TableName": ""}, {"TableName": "abc;"}, {"TableName": "a" * 1025}])
def test_a_name_no_table_can_have_is_refused(refused: Refused, asked: Json) -> None:
    code, message = refused("DescribeTable", asked)
    assert code == "ValidationException"
    assert "tablename" in message.lower()


def test_a_plain_table_is_described_by_its_key(answered: Answered, hash_table: str) -> None:
    table = described(answered, hash_table)
    assert table["TableName"] == hash_table
    assert table["TableStatus"] == "ACTIVE"
    assert table["KeySchema"] == HASH_TABLE["KeySchema"]
    assert table["AttributeDefinitions"] == HASH_TABLE["AttributeDefinitions"]


def test_number_keys_are_described_as_numbers(answered: Answered, num_table: str) -> None:
    definitions = described(answered, num_table)["AttributeDefinitions"]
    assert by_name(definitions, "AttributeName") == NUM_TABLE["AttributeDefinitions"]


def test_indexes_are_described_as_they_were_asked_for(answered: Answered, comp_table: str) -> None:
    table = described(answered, comp_table)
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        asked = by_name(COMP_TABLE[kind], "IndexName")
        shown = by_name(table[kind], "IndexName")
        for given, one in zip(asked, shown, strict=True):
            assert {name: one[name] for name in given} == given
    assert all(one["IndexStatus"] == "ACTIVE" for one in table["GlobalSecondaryIndexes"])
    definitions = by_name(table["AttributeDefinitions"], "AttributeName")
    assert definitions == by_name(COMP_TABLE["AttributeDefinitions"], "AttributeName")


def test_two_descriptions_agree(answered: Answered, comp_table: str) -> None:
    first, second = described(answered, comp_table), described(answered, comp_table)
    for counted in ("ItemCount", "TableSizeBytes", "GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        first.pop(counted), second.pop(counted)
    assert first == second


def test_a_table_may_be_named_by_its_arn(answered: Answered, hash_table: str) -> None:
    table = described(answered, hash_table)
    assert described(answered, table["TableArn"])["TableId"] == table["TableId"]


def test_counts_are_whole_numbers(answered: Answered, comp_table: str) -> None:
    table = described(answered, comp_table)
    counted = [table[name] for name in ("ItemCount", "TableSizeBytes")]
    for one in table["GlobalSecondaryIndexes"] + table["LocalSecondaryIndexes"]:
        counted += [one["ItemCount"], one["IndexSizeBytes"]]
    assert all(isinstance(count, int) and count >= 0 for count in counted)


def test_an_arn_names_a_table_for_every_item_verb(answered: Answered, new_table: NewTable) -> None:
    arn = described(answered, new_table())["TableArn"]
    key = {"pk": {"S": "by arn"}}
    item = {**key, "n": {"N": "1"}}
    answered("PutItem", {"TableName": arn, "Item": item})
    assert answered("GetItem", {"TableName": arn, "Key": key})["Item"] == item
    query = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "by arn"}}}
    assert answered("Query", {"TableName": arn, **query})["Items"] == [item]
    assert answered("Scan", {"TableName": arn})["Items"] == [item]
    update = {"UpdateExpression": "SET n = :n", "ExpressionAttributeValues": {":n": {"N": "2"}}}
    answered("UpdateItem", {"TableName": arn, "Key": key, **update})
    batch = answered("BatchGetItem", {"RequestItems": {arn: {"Keys": [key]}}})
    assert [found["n"] for (found,) in batch["Responses"].values()] == [{"N": "2"}]
    got = answered("TransactGetItems", {"TransactItems": [{"Get": {"TableName": arn, "Key": key}}]})
    assert got["Responses"] == [{"Item": {**key, "n": {"N": "2"}}}]
    answered("BatchWriteItem", {"RequestItems": {arn: [{"DeleteRequest": {"Key": key}}]}})
    answered("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": arn, "Item": item}}]})
    answered("DeleteItem", {"TableName": arn, "Key": key})
    assert answered("Scan", {"TableName": arn})["Items"] == []
