"""CreateBackup, DescribeBackup, ListBackups, DeleteBackup."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.conformance.past_talk import back_up, enable
from tests.conformance.talk import COMP_TABLE, Answered, Json, Line, NewTable, Refused, Send, drop

NO_SUCH = "arn:aws:dynamodb:us-east-1:000000000000:table/gone/backup/01489602797149-73d8d5bc"
# Seconds between backups whose times are compared: times have milliseconds, as floating-point numbers.
_APART = 0.005


@pytest.fixture
def pets(answered: Answered, new_table: NewTable) -> str:
    table = new_table()
    for number in range(3):
        answered("PutItem", {"TableName": table, "Item": {"pk": {"S": f"pet {number}"}}})
    return table


def listed(answered: Answered, **request: Any) -> list[Json]:
    found: list[Json] = answered("ListBackups", request)["BackupSummaries"]
    return found


def test_a_backup_is_creating_and_then_available(send: Send, answered: Answered, pets: str) -> None:
    before = time.time()
    details = back_up(send, pets, "first")
    assert details["BackupStatus"] == "CREATING"
    assert details["BackupType"] == "USER"
    assert details["BackupName"] == "first"
    assert "BackupExpiryDateTime" not in details
    assert before - 1 <= details["BackupCreationDateTime"] <= time.time() + 1
    arn = answered("DescribeTable", {"TableName": pets})["Table"]["TableArn"]
    assert re.fullmatch(rf"{arn}/backup/[0-9]{{14}}-[0-9a-f]{{8}}", details["BackupArn"])
    shown = answered("DescribeBackup", {"BackupArn": details["BackupArn"]})["BackupDescription"]
    assert shown["BackupDetails"]["BackupStatus"] == "AVAILABLE"
    assert shown["BackupDetails"]["BackupCreationDateTime"] == details["BackupCreationDateTime"]


def test_a_backup_describes_the_table_it_was_made_of(
    send: Send, answered: Answered, new_table: NewTable
) -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    table = new_table(**COMP_TABLE, StreamSpecification=stream)
    answered(
        "UpdateTimeToLive",
        {"TableName": table, "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "until"}},
    )
    described = answered("DescribeTable", {"TableName": table})["Table"]
    details = back_up(send, table)
    shown = answered("DescribeBackup", {"BackupArn": details["BackupArn"]})["BackupDescription"]
    source = shown["SourceTableDetails"]
    for member in ("TableName", "TableArn", "TableId", "KeySchema"):
        assert source[member] == described[member]
    assert source["TableCreationDateTime"] == described["CreationDateTime"]
    assert source["BillingMode"] == "PAY_PER_REQUEST"
    assert source["ProvisionedThroughput"] == {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}
    features = shown["SourceTableFeatureDetails"]
    assert features["StreamDescription"] == stream
    assert features["TimeToLiveDescription"]["AttributeName"] == "until"
    assert {one["IndexName"] for one in features["GlobalSecondaryIndexes"]} == {"gsi1", "gsik", "gsii"}
    assert {one["IndexName"] for one in features["LocalSecondaryIndexes"]} == {"lsi1", "lsia"}
    assert all("IndexStatus" not in one for one in features["GlobalSecondaryIndexes"])


def test_a_plain_table_has_no_features(send: Send, answered: Answered, pets: str) -> None:
    details = back_up(send, pets)
    shown = answered("DescribeBackup", {"BackupArn": details["BackupArn"]})["BackupDescription"]
    assert shown["SourceTableFeatureDetails"] == {}


def test_names_of_backups_are_not_unique(send: Send, answered: Answered, pets: str) -> None:
    arns = [back_up(send, pets, "same")["BackupArn"] for _ in range(3)]
    assert len(set(arns)) == 3
    assert [one["BackupArn"] for one in listed(answered, TableName=pets)] == arns


def test_a_deleted_backup_is_gone_at_once(
    send: Send, answered: Answered, refused: Refused, pets: str
) -> None:
    arn = back_up(send, pets)["BackupArn"]
    shown = answered("DeleteBackup", {"BackupArn": arn})["BackupDescription"]
    assert shown["BackupDetails"]["BackupStatus"] == "DELETED"
    assert shown["SourceTableDetails"]["TableName"] == pets
    assert listed(answered, TableName=pets) == []
    for verb in ("DescribeBackup", "DeleteBackup"):
        assert refused(verb, {"BackupArn": arn}) == ("BackupNotFoundException", f"Backup not found: {arn}")


def test_backups_outlive_their_table(
    send: Send, line: Line, answered: Answered, pets: str, new_table: NewTable
) -> None:
    arn = back_up(send, pets)["BackupArn"]
    drop(line, pets)
    shown = answered("DescribeBackup", {"BackupArn": arn})["BackupDescription"]
    assert shown["BackupDetails"]["BackupStatus"] == "AVAILABLE"
    assert shown["SourceTableDetails"]["TableName"] == pets
    new_table(TableName=pets)
    other = back_up(send, pets)["BackupArn"]
    found = listed(answered, TableName=pets)
    assert [one["BackupArn"] for one in found] == [arn, other]
    assert len({one["TableId"] for one in found}) == 2
    assert len({one["TableArn"] for one in found}) == 1


# --- lists ---


@pytest.fixture
def many(send: Send, answered: Answered, new_table: NewTable) -> Iterator[tuple[str, list[Json]]]:
    """Four backups of a table, each made a while after the one before by the times of the service."""
    table = new_table()
    made: list[Json] = []
    while len(made) < 4:
        one = back_up(send, table, f"b-{len(made)}")
        if made and one["BackupCreationDateTime"] < made[-1]["BackupCreationDateTime"] + _APART:
            answered("DeleteBackup", {"BackupArn": one["BackupArn"]})
        else:
            made.append(one)
    yield table, made
    for one in made:
        answered("DeleteBackup", {"BackupArn": one["BackupArn"]})


def test_pages_follow_one_another_without_gap_or_repetition(
    answered: Answered, many: tuple[str, list[Json]]
) -> None:
    table, made = many
    found: list[str] = []
    more: Json = {}
    while True:
        answer = answered("ListBackups", {"TableName": table, "Limit": 3, **more})
        found += [one["BackupArn"] for one in answer["BackupSummaries"]]
        if "LastEvaluatedBackupArn" not in answer:
            break
        assert answer["LastEvaluatedBackupArn"] == found[-1]
        more = {"ExclusiveStartBackupArn": found[-1]}
    assert found == [one["BackupArn"] for one in made]


def test_a_full_last_page_says_that_nothing_follows(answered: Answered, many: tuple[str, list[Json]]) -> None:
    table, made = many
    assert "LastEvaluatedBackupArn" not in answered("ListBackups", {"TableName": table, "Limit": len(made)})


def test_a_list_may_go_on_from_a_backup_that_is_gone(
    send: Send, answered: Answered, many: tuple[str, list[Json]]
) -> None:
    table, made = many
    gone = back_up(send, table)["BackupArn"]
    answered("DeleteBackup", {"BackupArn": gone})
    assert listed(answered, TableName=table, ExclusiveStartBackupArn=gone) == []
    before = made[0]["BackupArn"]
    assert len(listed(answered, TableName=table, ExclusiveStartBackupArn=before)) == 3


def test_times_bound_a_list_below_inclusively_and_above_exclusively(
    answered: Answered, many: tuple[str, list[Json]]
) -> None:
    table, made = many
    times = [one["BackupCreationDateTime"] for one in made]
    assert times == sorted(set(times))
    low, high = times[1], times[3]
    found = listed(answered, TableName=table, TimeRangeLowerBound=low, TimeRangeUpperBound=high)
    assert [one["BackupName"] for one in found] == ["b-1", "b-2"]
    assert listed(answered, TableName=table, TimeRangeLowerBound=times[3] + 0.001) == []
    assert len(listed(answered, TableName=table, TimeRangeUpperBound=times[0] + 0.001)) == 1


@pytest.mark.parametrize(("kind", "count"), [("USER", 4), ("ALL", 4), ("SYSTEM", 0), ("AWS_BACKUP", 0)])
def test_a_list_shows_backups_of_one_type(
    answered: Answered, many: tuple[str, list[Json]], kind: str, count: int
) -> None:
    assert len(listed(answered, TableName=many[0], BackupType=kind)) == count


def test_a_table_may_be_named_by_its_arn(answered: Answered, many: tuple[str, list[Json]]) -> None:
    arn = many[1][0]["BackupArn"].partition("/backup/")[0]
    assert len(listed(answered, TableName=arn)) == 4


def test_a_table_without_backups_or_none_at_all_has_an_empty_list(
    answered: Answered, hash_table: str
) -> None:
    assert listed(answered, TableName=hash_table) == []
    assert listed(answered, TableName="never-made") == []


def test_an_sdk_pages_through_all(client: Any, many: tuple[str, list[Json]]) -> None:
    pages = client.get_paginator("list_backups").paginate(TableName=many[0], PaginationConfig={"PageSize": 3})
    assert [one["BackupName"] for page in pages for one in page["BackupSummaries"]] == [
        f"b-{number}" for number in range(4)
    ]


# --- a table that was deleted ---


def test_a_table_with_recovery_leaves_a_backup_that_only_the_service_can_delete(
    send: Send, line: Line, answered: Answered, refused: Refused, pets: str
) -> None:
    enable(send, pets)
    drop(line, pets)
    give_up = time.monotonic() + 60
    while not (found := listed(answered, TableName=pets, BackupType="SYSTEM")):
        assert time.monotonic() < give_up, "there is no backup"
        time.sleep(0.1)
    (left,) = found
    assert left["BackupName"] == f"{pets}$DeletedTableBackup"
    assert left["BackupType"] == "SYSTEM"
    assert left["BackupArn"].endswith("-00000000")
    days = (left["BackupExpiryDateTime"] - left["BackupCreationDateTime"]) / 86_400
    assert round(days) == 35
    assert listed(answered, TableName=pets) == []
    code, message = refused("DeleteBackup", {"BackupArn": left["BackupArn"]})
    assert code == "ValidationException"
    assert message.startswith(
        f"User is not allowed to delete the system backup with arn {left['BackupArn']}. "
        "It will automatically expire on "
    )


def test_a_table_without_recovery_leaves_none(line: Line, answered: Answered, pets: str) -> None:
    drop(line, pets)
    assert listed(answered, TableName=pets, BackupType="ALL") == []


# --- refusals ---


@pytest.mark.parametrize(
    ("verb", "request_", "code", "words"),
    [
        (
            "CreateBackup",
            {"TableName": "never-made", "BackupName": "some"},
            "TableNotFoundException",
            "Table not found: never-made",
        ),
        (
            "CreateBackup",
            {"TableName": "never-made", "BackupName": "no/name"},
            "ValidationException",
            "1 validation error detected: Value 'no/name' at 'backupName' failed to satisfy constraint: "
            "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
        ),
        ("DescribeBackup", {"BackupArn": NO_SUCH}, "BackupNotFoundException", f"Backup not found: {NO_SUCH}"),
        ("DeleteBackup", {"BackupArn": NO_SUCH}, "BackupNotFoundException", f"Backup not found: {NO_SUCH}"),
        (
            "DescribeBackup",
            {"BackupArn": "arn:aws:dynamodb:us-east-1:000000000000:table/gone"},
            "ValidationException",
            "Invalid Backup ARN",
        ),
        (
            "ListBackups",
            {"TimeRangeLowerBound": 2000, "TimeRangeUpperBound": 1000},
            "ValidationException",
            "Time range lower bound must be less than or equal to upper bound",
        ),
        (
            "ListBackups",
            {"Limit": 101},
            "ValidationException",
            "1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: "
            "Member must have value less than or equal to 100",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_these_words(
    refused: Refused, verb: str, request_: Json, code: str, words: str
) -> None:
    assert refused(verb, request_) == (code, words)


def test_an_unknown_type_is_refused(refused: Refused) -> None:
    code, message = refused("ListBackups", {"BackupType": "user"})
    assert code == "ValidationException"
    assert "Member must satisfy enum value set" in message


def test_a_time_that_is_a_text_is_no_time(send: Send) -> None:
    reply = send("ListBackups", {"TimeRangeLowerBound": "yesterday"})
    assert reply.code == "SerializationException"
