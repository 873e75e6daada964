"""UpdateContinuousBackups and DescribeContinuousBackups: recovery on and off, and the window it opens."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.conformance.past_talk import enable, recovery
from tests.conformance.talk import Answered, Json, NewTable, Refused, Send


def state(answered: Answered, table: str) -> Json:
    described: Json = answered("DescribeContinuousBackups", {"TableName": table})[
        "ContinuousBackupsDescription"
    ]
    return described


def ask(table: str, enabled: bool, **more: int) -> Json:
    return {"TableName": table, "PointInTimeRecoverySpecification": recovery(enabled, **more)}


def test_a_new_table_has_backups_and_no_recovery(send: Send, answered: Answered, new_table: NewTable) -> None:
    table = new_table()
    enable(send, table)
    answered("UpdateContinuousBackups", ask(table, False))
    assert state(answered, table) == {
        "ContinuousBackupsStatus": "ENABLED",
        "PointInTimeRecoveryDescription": {"PointInTimeRecoveryStatus": "DISABLED"},
    }


def test_enabling_answers_at_once_with_a_window_that_begins_now(send: Send, new_table: NewTable) -> None:
    before = int(time.time())
    shown = enable(send, new_table())
    assert shown["PointInTimeRecoveryStatus"] == "ENABLED"
    assert shown["RecoveryPeriodInDays"] == 35
    assert shown["EarliestRestorableDateTime"] == shown["LatestRestorableDateTime"]
    assert before - 1 <= shown["EarliestRestorableDateTime"] <= time.time() + 1


def test_an_sdk_reads_the_window_as_times(client: Any, send: Send, new_table: NewTable) -> None:
    table = new_table()
    enable(send, table)
    shown = client.describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]
    window = shown["PointInTimeRecoveryDescription"]
    assert window["EarliestRestorableDateTime"].year >= 2024
    assert window["EarliestRestorableDateTime"] <= window["LatestRestorableDateTime"]


def test_enabling_twice_changes_nothing(send: Send, answered: Answered, new_table: NewTable) -> None:
    table = new_table()
    first = enable(send, table)
    again = answered("UpdateContinuousBackups", ask(table, True))["ContinuousBackupsDescription"]
    assert (
        again["PointInTimeRecoveryDescription"]["EarliestRestorableDateTime"]
        == first["EarliestRestorableDateTime"]
    )


def test_disabling_twice_changes_nothing(send: Send, answered: Answered, new_table: NewTable) -> None:
    table = new_table()
    enable(send, table)
    for _ in range(2):
        shown = answered("UpdateContinuousBackups", ask(table, False))["ContinuousBackupsDescription"]
        assert shown["PointInTimeRecoveryDescription"] == {"PointInTimeRecoveryStatus": "DISABLED"}


def test_the_period_can_be_changed_and_is_forgotten_when_recovery_is_disabled(
    send: Send, answered: Answered, new_table: NewTable
) -> None:
    table = new_table()
    assert enable(send, table, RecoveryPeriodInDays=7)["RecoveryPeriodInDays"] == 7
    answered("UpdateContinuousBackups", ask(table, True, RecoveryPeriodInDays=1))
    assert state(answered, table)["PointInTimeRecoveryDescription"]["RecoveryPeriodInDays"] == 1
    answered("UpdateContinuousBackups", ask(table, True))
    assert state(answered, table)["PointInTimeRecoveryDescription"]["RecoveryPeriodInDays"] == 1
    answered("UpdateContinuousBackups", ask(table, False))
    assert enable(send, table)["RecoveryPeriodInDays"] == 35


def test_a_table_may_be_named_by_its_arn(send: Send, answered: Answered, new_table: NewTable) -> None:
    arn = answered("DescribeTable", {"TableName": new_table()})["Table"]["TableArn"]
    enable(send, arn)
    assert state(answered, arn)["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"


@pytest.mark.parametrize(
    ("verb", "more"),
    [
        ("DescribeContinuousBackups", {}),
        ("UpdateContinuousBackups", {"PointInTimeRecoverySpecification": recovery(True)}),
    ],
)
def test_a_table_that_is_not_there_is_told_in_these_words(refused: Refused, verb: str, more: Json) -> None:
    assert refused(verb, {"TableName": "never-made", **more}) == (
        "TableNotFoundException",
        "Table not found: never-made",
    )


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            recovery(True, RecoveryPeriodInDays=36),
            "1 validation error detected: Value '36' at 'pointInTimeRecoverySpecification.recoveryPeriodInDays' "
            "failed to satisfy constraint: Member must have value less than or equal to 35",
        ),
        (
            recovery(True, RecoveryPeriodInDays=0),
            "1 validation error detected: Value '0' at 'pointInTimeRecoverySpecification.recoveryPeriodInDays' "
            "failed to satisfy constraint: Member must have value greater than or equal to 1",
        ),
        (
            recovery(False, RecoveryPeriodInDays=7),
            "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.",
        ),
        (
            {},
            "1 validation error detected: Value null at 'pointInTimeRecoverySpecification.pointInTimeRecoveryEnabled' "
            "failed to satisfy constraint: Member must not be null",
        ),
    ],
)
def test_a_specification_that_cannot_be_is_refused(
    refused: Refused, hash_table: str, asked: Json, words: str
) -> None:
    request = {"TableName": hash_table, "PointInTimeRecoverySpecification": asked}
    assert refused("UpdateContinuousBackups", request) == ("ValidationException", words)


@pytest.mark.parametrize("member", ["TableName", "PointInTimeRecoverySpecification"])
def test_required_members_are_required(refused: Refused, hash_table: str, member: str) -> None:
    request = {"TableName": hash_table, "PointInTimeRecoverySpecification": recovery(True)}
    del request[member]
    code, message = refused("UpdateContinuousBackups", request)
    assert code == "ValidationException"
    assert "must not be null" in message
