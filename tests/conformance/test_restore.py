"""RestoreTableFromBackup and RestoreTableToPointInTime: what comes back, what does not, and what is refused."""

from __future__ import annotations

import time
from typing import Any

import pytest
from tests.conformance.past_talk import back_up, enable, items, patiently, restored
from tests.conformance.talk import (
    COMP_TABLE,
    Answered,
    Json,
    Line,
    NewTable,
    Refused,
    Send,
    drop,
    index,
)

FROM_BACKUP, TO_TIME = "RestoreTableFromBackup", "RestoreTableToPointInTime"
UNITS = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6}


@pytest.fixture
def names(line: Line, request: pytest.FixtureRequest) -> Any:
    """names() -> a table's name that nobody uses; a table of that name is dropped after the test."""
    made: list[str] = []

    def name() -> str:
        made.append(f"conf-restored-{time.monotonic_ns()}-{len(made)}")
        return made[-1]

    yield name
    for one in made:
        drop(line, one)


@pytest.fixture(scope="module")
def source(send: Send, answered: Answered, session_table: NewTable) -> str:
    """A table with indexes, a stream, TTL, tags, protection and items, and recovery since they were there."""
    table = session_table(
        **COMP_TABLE,
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        Tags=[{"Key": "team", "Value": "zoo"}],
        DeletionProtectionEnabled=True,
        TableClass="STANDARD_INFREQUENT_ACCESS",
        OnDemandThroughput={"MaxReadRequestUnits": 100, "MaxWriteRequestUnits": 50},
    )
    answered(
        "UpdateTimeToLive",
        {"TableName": table, "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "until"}},
    )
    for number in range(7):
        item = {
            "pk": {"S": f"p{number % 2}"},
            "sk": {"S": str(number)},
            "gpk": {"S": "g"},
            "gsk": {"N": str(number)},
            "lsk": {"N": str(-number)},
            "a": {"S": "x" * number},
        }
        answered("PutItem", {"TableName": table, "Item": item})
    time.sleep(1.1)  # so that the first whole second of the window comes after the items
    enable(send, table)
    return table


@pytest.fixture(scope="module")
def backup(send: Send, source: str) -> str:
    arn: str = back_up(send, source)["BackupArn"]
    return arn


def ask(kind: str, source: str, backup: str, target: str, **more: Any) -> tuple[str, Json]:
    if kind == FROM_BACKUP:
        return kind, {"BackupArn": backup, "TargetTableName": target, **more}
    return kind, {
        "SourceTableName": source,
        "TargetTableName": target,
        "UseLatestRestorableTime": True,
        **more,
    }


BOTH = pytest.mark.parametrize("kind", [FROM_BACKUP, TO_TIME])


@BOTH
def test_items_and_indexes_come_back(
    line: Line, answered: Answered, source: str, backup: str, names: Any, kind: str
) -> None:
    table = names()
    described = restored(line, answered, *ask(kind, source, backup, table))
    original = answered("DescribeTable", {"TableName": source})["Table"]
    assert items(answered, table) == items(answered, source)
    for member in ("KeySchema", "OnDemandThroughput"):
        assert described[member] == original[member]
    assert described["BillingModeSummary"]["BillingMode"] == "PAY_PER_REQUEST"
    assert sorted(one["AttributeName"] for one in described["AttributeDefinitions"]) == sorted(
        one["AttributeName"] for one in original["AttributeDefinitions"]
    )
    for member in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        shown = [{m: one[m] for m in ("IndexName", "KeySchema", "Projection")} for one in described[member]]
        wanted = [{m: one[m] for m in ("IndexName", "KeySchema", "Projection")} for one in original[member]]
        assert sorted(shown, key=str) == sorted(wanted, key=str)
    for name, key in (("gsi1", {"gpk": "g"}), ("lsia", {"pk": "p1"})):
        ((attribute, value),) = key.items()
        request = {
            "IndexName": name,
            "KeyConditionExpression": f"{attribute} = :v",
            "ExpressionAttributeValues": {":v": {"S": value}},
        }
        answers = [answered("Query", {"TableName": one, **request})["Items"] for one in (table, source)]
        assert answers[0] == answers[1]
        assert answers[0]


@BOTH
def test_settings_do_not_come_back(
    line: Line, answered: Answered, source: str, backup: str, names: Any, kind: str
) -> None:
    table = names()
    described = restored(line, answered, *ask(kind, source, backup, table))
    original = answered("DescribeTable", {"TableName": source})["Table"]
    assert described["TableId"] != original["TableId"]
    assert described["TableArn"].endswith(f"/{table}")
    for member in ("StreamSpecification", "LatestStreamArn", "TableClassSummary"):
        assert member not in described
    assert described["RestoreSummary"]["RestoreInProgress"] is False
    assert described["RestoreSummary"]["SourceTableArn"] == original["TableArn"]
    assert described["DeletionProtectionEnabled"] is False
    ttl = answered("DescribeTimeToLive", {"TableName": table})["TimeToLiveDescription"]
    assert ttl == {"TimeToLiveStatus": "DISABLED"}
    assert answered("ListTagsOfResource", {"ResourceArn": described["TableArn"]})["Tags"] == []
    recovery = answered("DescribeContinuousBackups", {"TableName": table})["ContinuousBackupsDescription"]
    assert recovery["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "DISABLED"


@BOTH
def test_the_answer_describes_a_table_that_is_being_restored(
    send: Send, source: str, backup: str, names: Any, kind: str
) -> None:
    shown = patiently(send, *ask(kind, source, backup, names()))["TableDescription"]
    assert shown["TableStatus"] == "CREATING"
    summary = shown["RestoreSummary"]
    assert summary["RestoreInProgress"] is True
    assert summary["SourceTableArn"].endswith(f"/{source}")
    assert ("SourceBackupArn" in summary) == (kind == FROM_BACKUP)
    assert summary["RestoreDateTime"] <= time.time() + 1


@BOTH
def test_a_restored_table_can_be_written_to_backed_up_and_restored(
    send: Send, line: Line, answered: Answered, source: str, backup: str, names: Any, kind: str
) -> None:
    first, second = names(), names()
    restored(line, answered, *ask(kind, source, backup, first))
    key = {"pk": {"S": "p0"}, "sk": {"S": "0"}}
    answered("DeleteItem", {"TableName": first, "Key": key})
    answered("PutItem", {"TableName": first, "Item": {**key, "sk": {"S": "new"}, "gpk": {"S": "h"}}})
    arn = back_up(send, first)["BackupArn"]
    restored(line, answered, FROM_BACKUP, {"BackupArn": arn, "TargetTableName": second})
    assert items(answered, second) == items(answered, first)
    answered("DeleteBackup", {"BackupArn": arn})


def test_a_backup_of_a_deleted_table_can_be_restored_under_its_name(
    send: Send, line: Line, answered: Answered, new_table: NewTable
) -> None:
    table = new_table()
    answered("PutItem", {"TableName": table, "Item": {"pk": {"S": "rex"}}})
    arn = back_up(send, table)["BackupArn"]
    drop(line, table)
    restored(line, answered, FROM_BACKUP, {"BackupArn": arn, "TargetTableName": table})
    assert items(answered, table) == [{"pk": {"S": "rex"}}]


def test_the_table_may_be_named_by_its_arn(line: Line, answered: Answered, source: str, names: Any) -> None:
    arn = answered("DescribeTable", {"TableName": source})["Table"]["TableArn"]
    table = names()
    request = {"SourceTableArn": arn, "TargetTableName": table, "UseLatestRestorableTime": True}
    restored(line, answered, TO_TIME, request)
    assert len(items(answered, table)) == 7


# --- what may be changed on the way ---


@BOTH
def test_indexes_may_be_left_out(
    line: Line, answered: Answered, source: str, backup: str, names: Any, kind: str
) -> None:
    none: Json = {"GlobalSecondaryIndexOverride": [], "LocalSecondaryIndexOverride": []}
    described = restored(line, answered, *ask(kind, source, backup, names(), **none))
    assert "GlobalSecondaryIndexes" not in described
    assert "LocalSecondaryIndexes" not in described
    assert len(described["AttributeDefinitions"]) == 2


def test_some_indexes_may_be_chosen_and_renamed(
    line: Line, answered: Answered, source: str, backup: str, names: Any
) -> None:
    table = names()
    chosen = {
        "GlobalSecondaryIndexOverride": [index("other", ("gpk",), "KEYS_ONLY")],
        "LocalSecondaryIndexOverride": [index("lsi1", ("pk", "lsk"), "KEYS_ONLY")],
    }
    described = restored(line, answered, *ask(FROM_BACKUP, source, backup, table, **chosen))
    assert [one["IndexName"] for one in described["GlobalSecondaryIndexes"]] == ["other"]
    assert [one["IndexName"] for one in described["LocalSecondaryIndexes"]] == ["lsi1"]
    assert len(answered("Scan", {"TableName": table, "IndexName": "other"})["Items"]) == 7


def test_billing_and_throughput_may_be_changed(
    line: Line, answered: Answered, source: str, backup: str, names: Any
) -> None:
    given = {
        "BillingModeOverride": "PROVISIONED",
        "ProvisionedThroughputOverride": UNITS,
        "GlobalSecondaryIndexOverride": [
            {**index("gsik", ("gpk",), "KEYS_ONLY"), "ProvisionedThroughput": UNITS}
        ],
    }
    described = restored(line, answered, *ask(FROM_BACKUP, source, backup, names(), **given))
    assert described["ProvisionedThroughput"]["WriteCapacityUnits"] == 6
    assert described["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"]["ReadCapacityUnits"] == 5
    assert "OnDemandThroughput" not in described


def test_on_demand_ceilings_may_be_changed(
    line: Line, answered: Answered, source: str, backup: str, names: Any
) -> None:
    given = {"OnDemandThroughputOverride": {"MaxReadRequestUnits": 7, "MaxWriteRequestUnits": 8}}
    described = restored(line, answered, *ask(TO_TIME, source, backup, names(), **given))
    assert described["OnDemandThroughput"] == {"MaxReadRequestUnits": 7, "MaxWriteRequestUnits": 8}


# --- refusals ---


@BOTH
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"ProvisionedThroughputOverride": UNITS},
            "Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED",
        ),
        (
            {"BillingModeOverride": "PROVISIONED"},
            "Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED",
        ),
        (
            {
                "BillingModeOverride": "PROVISIONED",
                "ProvisionedThroughputOverride": UNITS,
                "OnDemandThroughputOverride": {"MaxReadRequestUnits": 5},
            },
            "Cannot override MaxReadRequestUnits for OnDemandThroughput unless BillingModeOverride is PAY_PER_REQUEST",
        ),
        (
            {"GlobalSecondaryIndexOverride": [index("fresh", ("gsk",), "ALL")]},
            "Index fresh does not match a secondary index that existed in the source table "
            "and cannot be created during the restore operation",
        ),
        (
            {"GlobalSecondaryIndexOverride": [index(f"gsi{n}", ("gpk",), "KEYS_ONLY") for n in range(21)]},
            "One or more parameter values were invalid: "
            "GlobalSecondaryIndex count exceeds the per-table limit of 20",
        ),
        (
            {"GlobalSecondaryIndexOverride": [index("gsik", ("gpk",), "ALL")]},
            "Index gsik does not match a secondary index that existed in the source table "
            "and cannot be created during the restore operation",
        ),
        (
            {
                "BillingModeOverride": "PROVISIONED",
                "ProvisionedThroughputOverride": UNITS,
                "GlobalSecondaryIndexOverride": [index("gsik", ("gpk",), "KEYS_ONLY")],
            },
            "Must specify provisioned throughput for index gsik",
        ),
    ],
)
def test_overrides_that_cannot_be_are_refused(
    refused: Refused, source: str, backup: str, names: Any, kind: str, given: Json, words: str
) -> None:
    assert refused(*ask(kind, source, backup, names(), **given)) == ("ValidationException", words)


def test_a_restored_table_has_the_requested_encryption(
    answered: Answered, source: str, backup: str, names: Any
) -> None:
    name = names()
    answered(*ask(FROM_BACKUP, source, backup, name, SSESpecificationOverride={"Enabled": True}))
    described = answered("DescribeTable", {"TableName": name})["Table"]["SSEDescription"]
    assert (described["Status"], described["SSEType"]) == ("ENABLED", "KMS")
    assert described["KMSMasterKeyArn"].startswith("arn:aws:kms:")


def test_a_target_that_exists_is_refused(refused: Refused, source: str, backup: str, hash_table: str) -> None:
    wanted = ("TableAlreadyExistsException", f"Table already exists: {hash_table}")
    assert refused(*ask(FROM_BACKUP, source, backup, hash_table)) == wanted
    assert refused(*ask(TO_TIME, source, backup, hash_table)) == wanted


def test_a_backup_that_is_not_there_is_refused(refused: Refused, backup: str, names: Any) -> None:
    arn = backup[:-8] + "00000001"
    request = {"BackupArn": arn, "TargetTableName": names()}
    assert refused(FROM_BACKUP, request) == ("BackupNotFoundException", f"Backup not found: {arn}")
    request = {"BackupArn": backup.partition("/backup")[0], "TargetTableName": names()}
    assert refused(FROM_BACKUP, request) == ("ValidationException", "Invalid Backup ARN")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {
                "SourceTableName": "some",
                "SourceTableArn": "arn:aws:dynamodb:us-east-1:000000000000:table/some",
            },
            "Must provide exactly one of: sourceTableArn, sourceTableName",
        ),
        ({}, "The parameter 'TableName' is required but was not present in the request"),
        ({"SourceTableArn": "some"}, "sourceTableArn is not a valid ARN"),
    ],
)
def test_the_source_is_named_once(refused: Refused, names: Any, given: Json, words: str) -> None:
    request = {"TargetTableName": names(), "UseLatestRestorableTime": True, **given}
    assert refused(TO_TIME, request) == ("ValidationException", words)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"UseLatestRestorableTime": True, "RestoreDateTime": 1767225600},
            "Invalid Request: Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time "
            "restore request. Pleas",
        ),
        (
            {},
            "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both",
        ),
        (
            {"UseLatestRestorableTime": False},
            "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both",
        ),
    ],
)
def test_the_time_is_named_once(
    refused: Refused, hash_table: str, names: Any, given: Json, words: str
) -> None:
    request = {"SourceTableName": hash_table, "TargetTableName": names(), **given}
    code, message = refused(TO_TIME, request)
    assert code == "ValidationException"
    assert message.startswith(words)


def test_a_table_without_recovery_cannot_be_gone_back_to(
    refused: Refused, new_table: NewTable, hash_table: str
) -> None:
    table = new_table()
    # Said before anything about the time or the target.
    for more in ({"UseLatestRestorableTime": True}, {"RestoreDateTime": 0}):
        assert refused(TO_TIME, {"SourceTableName": table, "TargetTableName": hash_table, **more}) == (
            "PointInTimeRecoveryUnavailableException",
            f"Point in time recovery is not enabled for table '{table}'",
        )


def test_a_source_that_is_not_there_is_refused(refused: Refused, hash_table: str) -> None:
    request = {
        "SourceTableName": "never-made",
        "TargetTableName": hash_table,
        "UseLatestRestorableTime": True,
    }
    assert refused(TO_TIME, request) == ("TableNotFoundException", "Table not found: never-made")


@pytest.mark.parametrize("hours", [-2, 2])
def test_a_moment_outside_of_the_window_is_refused(
    refused: Refused, source: str, hash_table: str, hours: int
) -> None:
    moment = int(time.time()) + hours * 3600
    # Said before anything about the target.
    request = {"SourceTableName": source, "TargetTableName": hash_table, "RestoreDateTime": moment}
    code, message = refused(TO_TIME, request)
    assert code == "InvalidRestoreTimeException"
    said = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
    assert message.startswith(f"RestoreDateTime '{said}' must be within EarliestRestorableDateTime '")
    assert "and LatestRestorableDateTime '" in message


@pytest.mark.parametrize("member", ["TargetTableName", "BackupArn"])
def test_required_members_are_required(refused: Refused, backup: str, member: str) -> None:
    request = {"BackupArn": backup, "TargetTableName": "some"}
    del request[member]
    code, message = refused(FROM_BACKUP, request)
    assert code == "ValidationException"
    assert "must not be null" in message


def test_a_target_is_a_name(refused: Refused, backup: str) -> None:
    code, message = refused(FROM_BACKUP, {"BackupArn": backup, "TargetTableName": "bad name!"})
    assert code == "ValidationException"
    assert message.startswith(
        "1 validation error detected: Value 'bad name!' at 'targetTableName' failed to satisfy"
    )
