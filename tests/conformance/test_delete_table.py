"""DeleteTable: the table goes with everything in it, unless it is protected."""

from __future__ import annotations

import time

from tests.conformance.talk import COMP_TABLE, Answered, Json, Line, NewTable, Refused


def gone(line: Line, table: str) -> bool:
    for _ in range(500):
        if line.call("DescribeTable", {"TableName": table}).code == "ResourceNotFoundException":
            return True
        time.sleep(0.02)
    return False


def test_a_missing_table_is_named(refused: Refused) -> None:
    expected = "Requested resource not found: Table: conf-no-such-table not found"
    assert refused("DeleteTable", {"TableName": "conf-no-such-table"}) == (
        "ResourceNotFoundException",
        expected,
    )


def test_a_table_must_be_named(refused: Refused) -> None:
    code, message = refused("DeleteTable", {})
    assert code == "ValidationException"
    assert "tablename" in message.lower()


def test_a_name_no_table_can_have_is_refused_before_it_is_looked_up(refused: Refused) -> None:
    code, message = refused("DeleteTable", {"TableName": "abc;"})
    assert code == "ValidationException"
    assert "tablename" in message.lower()


def test_the_answer_describes_the_table_that_goes(answered: Answered, new_table: NewTable) -> None:
    table = new_table()
    before = answered("DescribeTable", {"TableName": table})["Table"]
    description = answered("DeleteTable", {"TableName": table})["TableDescription"]
    assert description["TableName"] == table
    assert description["TableStatus"] == "DELETING"
    assert description["TableId"] == before["TableId"]
    assert description["TableArn"] == before["TableArn"]


def test_the_answer_no_longer_shows_keys_indexes_and_birth(answered: Answered, new_table: NewTable) -> None:
    table = new_table(**COMP_TABLE)
    description = answered("DeleteTable", {"TableName": table})["TableDescription"]
    gone = {"CreationDateTime", "KeySchema", "AttributeDefinitions"}
    assert description.keys().isdisjoint(gone | {"LocalSecondaryIndexes", "GlobalSecondaryIndexes"})
    assert description["ProvisionedThroughput"]["ReadCapacityUnits"] == 0


def test_a_deleted_table_can_no_longer_be_described_listed_read_or_written(
    answered: Answered, refused: Refused, line: Line, new_table: NewTable
) -> None:
    table = new_table()
    answered("PutItem", {"TableName": table, "Item": {"pk": {"S": "x"}}})
    answered("DeleteTable", {"TableName": table})
    assert gone(line, table)
    just_before = {"ExclusiveStartTableName": table[:-1], "Limit": 1}
    assert table not in answered("ListTables", just_before)["TableNames"]
    calls: list[tuple[str, Json]] = [
        ("GetItem", {"Key": {"pk": {"S": "x"}}}),
        ("PutItem", {"Item": {"pk": {"S": "x"}}}),
        ("Scan", {}),
    ]
    for verb, request in calls:
        expected = ("ResourceNotFoundException", "Requested resource not found")
        assert refused(verb, {"TableName": table, **request}) == expected


def test_a_protected_table_stays_until_it_is_unprotected(
    answered: Answered, refused: Refused, line: Line, new_table: NewTable
) -> None:
    table = new_table(DeletionProtectionEnabled=True)
    expected = (
        "Resource cannot be deleted as it is currently protected against deletion."
        " Disable deletion protection first."
    )
    assert refused("DeleteTable", {"TableName": table}) == ("ValidationException", expected)
    answered("PutItem", {"TableName": table, "Item": {"pk": {"S": "still here"}}})
    answered("UpdateTable", {"TableName": table, "DeletionProtectionEnabled": False})
    answered("DeleteTable", {"TableName": table})
    assert gone(line, table)


def test_a_table_may_be_named_by_its_arn(answered: Answered, line: Line, new_table: NewTable) -> None:
    table = new_table()
    arn = answered("DescribeTable", {"TableName": table})["Table"]["TableArn"]
    assert answered("DeleteTable", {"TableName": arn})["TableDescription"]["TableName"] == table
    assert gone(line, table)


def test_deleting_twice_fails_the_second_time(
    answered: Answered, refused: Refused, line: Line, new_table: NewTable
) -> None:
    table = new_table()
    answered("DeleteTable", {"TableName": table})
    code, _ = refused("DeleteTable", {"TableName": table})
    assert code in ("ResourceNotFoundException", "ResourceInUseException")
    assert gone(line, table)
