"""Restoring: what a table that is being filled answers, which moments can be gone back to, and who is refused."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.engine.history_requests import back_up, recover, restore
from tests.engine.stepped_engine import SteppedEngine
from tests.engine.tables import Json, definition, keyed, names, put, transaction

from tablewright import ServiceError
from tablewright.engine.history import bulk_load
from tablewright.engine.history.bulk_load import upsert_items
from tablewright.engine.history.store import StoredItem
from tablewright.engine.transaction import WriteTransaction
from tablewright.testing import Clock

MINUTE = timedelta(minutes=1)


@pytest.fixture
def pets(clock: Clock) -> Iterator[SteppedEngine]:
    with SteppedEngine.stepped(world=clock.world()) as engine:
        engine.call("CreateTable", definition(indexes=("colour",)))
        for number in range(5):
            engine.call("PutItem", put(f"pet {number}", colour="red"))
        yield engine
        engine.settle()
        assert engine.verify() == []


@pytest.fixture
def backup(pets: SteppedEngine) -> str:
    arn = back_up(pets)
    pets.settle()
    return arn


def refusal(engine: SteppedEngine, verb: str, request: Json) -> tuple[str, str]:
    with pytest.raises(ServiceError) as refused:
        engine.call(verb, request)
    return refused.value.name, refused.value.message


NOT_FOUND = "ResourceNotFoundException"
NAMED = "Requested resource not found: Table: back not found"
TAGGED = "arn:aws:dynamodb:us-east-1:000000000000:table/back"


@pytest.mark.parametrize(
    ("verb", "request_", "answer"),
    [
        ("GetItem", keyed("pet 1", "back"), (NOT_FOUND, "Requested resource not found")),
        ("PutItem", put("pet 1", "back"), (NOT_FOUND, "Requested resource not found")),
        ("Scan", {"TableName": "back"}, (NOT_FOUND, "Requested resource not found")),
        ("TransactWriteItems", transaction({"Put": put("x", "back")}), (NOT_FOUND, "Requested resource not found")),
        ("UpdateTable", {"TableName": "back", "DeletionProtectionEnabled": True}, (NOT_FOUND, NAMED)),
        ("DescribeTimeToLive", {"TableName": "back"}, (NOT_FOUND, NAMED)),
        (
            "UpdateTimeToLive",
            {"TableName": "back", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "a"}},
            (NOT_FOUND, NAMED),
        ),
        (
            "TagResource",
            {"ResourceArn": TAGGED, "Tags": [{"Key": "a", "Value": "b"}]},
            (NOT_FOUND, f"Requested resource not found: ResourcArn: {TAGGED} not found"),
        ),
        (
            "DeleteTable",
            {"TableName": "back"},
            (
                "ResourceInUseException",
                "Attempt to change a resource which is still in use: Table is being created: back",
            ),
        ),
        ("CreateTable", definition("back"), ("ResourceInUseException", "Table is being used: back")),
        (
            "CreateBackup",
            {"TableName": "back", "BackupName": "some"},
            ("TableNotFoundException", "Table not found: back"),
        ),
        (
            "DescribeContinuousBackups",
            {"TableName": "back"},
            ("TableNotFoundException", "Table not found: back"),
        ),
    ],
)  # fmt: skip
def test_a_table_that_is_being_filled_only_describes_itself(
    pets: SteppedEngine, backup: str, verb: str, request_: Json, answer: tuple[str, str]
) -> None:
    restore(pets, backup, "back")
    pets.job_step()
    assert refusal(pets, verb, request_) == answer
    described = pets.call("DescribeTable", {"TableName": "back"})["Table"]
    assert described["TableStatus"] == "CREATING"
    assert described["RestoreSummary"]["RestoreInProgress"]
    assert "back" in pets.call("ListTables", {})["TableNames"]
    pets.settle()
    described = pets.call("DescribeTable", {"TableName": "back"})["Table"]
    assert described["TableStatus"] == "ACTIVE"
    assert described["RestoreSummary"]["RestoreInProgress"] is False
    assert described["RestoreSummary"]["SourceBackupArn"] == backup
    assert names(pets, table="back") == names(pets)


def test_a_table_is_not_called_a_backup_when_a_moment_of_it_is_being_restored(pets: SteppedEngine) -> None:
    recover(pets)
    restore(pets, "pets", "then")
    request = {"SourceTableName": "pets", "TargetTableName": "then", "UseLatestRestorableTime": True}
    arn = pets.call("DescribeTable", {"TableName": "pets"})["Table"]["TableArn"]
    assert refusal(pets, "RestoreTableToPointInTime", request) == (
        "TableInUseException",
        f"Table: then is already being restored from table: {arn}",
    )
    pets.settle()
    assert refusal(pets, "RestoreTableToPointInTime", request) == (
        "TableAlreadyExistsException",
        "Table already exists: then",
    )


def test_a_backup_feeds_one_restore_at_a_time_and_stays_until_that_is_done(
    pets: SteppedEngine, backup: str
) -> None:
    restore(pets, backup, "back")
    again = {"BackupArn": backup, "TargetTableName": "other"}
    assert refusal(pets, "RestoreTableFromBackup", again) == (
        "BackupInUseException",
        f"Backup is being used to restore another table: {backup}",
    )
    assert refusal(pets, "RestoreTableFromBackup", again | {"TargetTableName": "back"}) == (
        "TableInUseException",
        f"Table: back is already being restored from backup: {backup}",
    )
    assert refusal(pets, "DeleteBackup", {"BackupArn": backup}) == (
        "BackupInUseException",
        f"Backup is being used to restore table: {backup}",
    )
    pets.settle()
    pets.call("DeleteBackup", {"BackupArn": backup})


def test_a_backup_that_is_not_whole_cannot_be_restored_or_deleted(pets: SteppedEngine) -> None:
    arn = back_up(pets)
    wanted = ("BackupInUseException", f"Backup is being created: {arn}")
    assert refusal(pets, "RestoreTableFromBackup", {"BackupArn": arn, "TargetTableName": "back"}) == wanted
    assert refusal(pets, "DeleteBackup", {"BackupArn": arn}) == wanted


def test_a_backup_may_go_while_recovery_uses_it_on_the_way(pets: SteppedEngine, clock: Clock) -> None:
    recover(pets)
    pets.settle()
    for number in range(20):
        pets.call("PutItem", put(f"pet {number % 7}", colour="blue", age=number))
    arn = back_up(pets)
    pets.settle()
    before, moment = pets.call("Scan", {"TableName": "pets"})["Items"], clock.now().timestamp()
    clock.move(MINUTE)
    for number in range(9):
        pets.call("DeleteItem", keyed(f"pet {number}"))
    clock.move(5 * MINUTE)
    restore(pets, "pets", "then", RestoreDateTime=moment)
    pets.call("DeleteBackup", {"BackupArn": arn})
    pets.background.run_maintenance_step(due=True)
    pets.settle()
    assert sorted(pets.call("Scan", {"TableName": "then"})["Items"], key=str) == sorted(before, key=str)


def test_fifty_restores_go_on_at_once_and_no_more(pets: SteppedEngine) -> None:
    recover(pets)
    for number in range(50):
        restore(pets, "pets", f"then-{number}")
    request = {"SourceTableName": "pets", "TargetTableName": "more", "UseLatestRestorableTime": True}
    assert refusal(pets, "RestoreTableToPointInTime", request) == (
        "LimitExceededException",
        "Subscriber limit exceeded: Only 50 restore operations can be done simultaneously",
    )


# --- the window ---


def window(engine: SteppedEngine) -> tuple[int, int]:
    shown = engine.call("DescribeContinuousBackups", {"TableName": "pets"})["ContinuousBackupsDescription"]
    recovery: dict[str, Any] = shown["PointInTimeRecoveryDescription"]
    return recovery["EarliestRestorableDateTime"], recovery["LatestRestorableDateTime"]


def test_the_window_ends_five_minutes_ago_and_begins_when_recovery_was_enabled_or_days_ago(
    pets: SteppedEngine, clock: Clock
) -> None:
    start = int(clock.now().timestamp())
    recover(pets, RecoveryPeriodInDays=2)
    assert window(pets) == (start, start)
    clock.move(3 * MINUTE)
    assert window(pets) == (start, start)
    clock.move(7 * MINUTE)
    assert window(pets) == (start, start + 300)
    clock.move(timedelta(days=2))
    now = int(clock.now().timestamp())
    assert window(pets) == (now - 2 * 86_400, now - 300)


def test_a_longer_period_does_not_bring_back_what_a_shorter_one_let_go(
    pets: SteppedEngine, clock: Clock
) -> None:
    recover(pets, RecoveryPeriodInDays=1)
    clock.move(timedelta(days=3))
    now = int(clock.now().timestamp())
    recover(pets, RecoveryPeriodInDays=35)
    assert window(pets)[0] == now - 86_400
    clock.move(timedelta(days=1))
    assert window(pets)[0] == now - 86_400


def test_a_table_can_be_gone_back_to_any_second(pets: SteppedEngine, clock: Clock) -> None:
    clock.move(timedelta(milliseconds=300))
    start = int(clock.now().timestamp())
    recover(pets)
    for second in range(1, 6):
        clock.move(timedelta(seconds=1))
        pets.call("PutItem", put("clock", colour=f"c{second}"))
        pets.call("DeleteItem", keyed(f"pet {second - 1}"))
    clock.move(5 * MINUTE)
    for second in range(6):
        restore(pets, "pets", f"then-{second}", RestoreDateTime=start + second)
    pets.settle()
    for second in range(6):
        # A change at 3.3 is not there at 3.
        done = max(second - 1, 0)
        found = pets.call("GetItem", keyed("clock", f"then-{second}")).get("Item")
        assert found == (None if done == 0 else {"pk": {"S": "clock"}, "colour": {"S": f"c{done}"}})
        assert len(names(pets, table=f"then-{second}")) == 5 - done + (done > 0)


def test_a_moment_may_be_named_to_the_microsecond(pets: SteppedEngine, clock: Clock) -> None:
    recover(pets)
    clock.move(timedelta(microseconds=250_000))
    moment = clock.now().timestamp()
    pets.call("PutItem", put("late"))
    clock.move(5 * MINUTE)
    restore(pets, "pets", "before", RestoreDateTime=moment - 0.000_001)
    restore(pets, "pets", "after", RestoreDateTime=moment)
    pets.settle()
    assert "late" not in names(pets, table="before")
    assert "late" in names(pets, table="after")


@pytest.mark.parametrize("seconds", [-2, 1, 10**9, -(10**10)])
def test_moments_before_the_window_and_in_the_future_are_refused(
    pets: SteppedEngine, clock: Clock, seconds: int
) -> None:
    recover(pets)
    moment = clock.now().timestamp() + seconds
    request = {"SourceTableName": "pets", "TargetTableName": "then", "RestoreDateTime": moment}
    assert refusal(pets, "RestoreTableToPointInTime", request)[0] == "InvalidRestoreTimeException"


def test_a_moment_of_the_last_five_minutes_is_refused_and_the_latest_is_not(
    pets: SteppedEngine, clock: Clock
) -> None:
    recover(pets)
    clock.move(7 * MINUTE)
    earliest, latest = window(pets)
    request = {"SourceTableName": "pets", "TargetTableName": "then", "RestoreDateTime": latest + 1}
    name, message = refusal(pets, "RestoreTableToPointInTime", request)
    assert name == "InvalidRestoreTimeException"
    first, last = (
        datetime.fromtimestamp(one, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for one in (earliest, latest)
    )
    assert f"EarliestRestorableDateTime '{first}' and LatestRestorableDateTime '{last}'" in message
    restore(pets, "pets", "named", RestoreDateTime=latest)
    restore(pets, "pets", "latest")


def test_a_new_table_of_the_same_name_has_a_past_of_its_own(pets: SteppedEngine, clock: Clock) -> None:
    recover(pets)
    moment = clock.now().timestamp()
    clock.move(MINUTE)
    pets.call("DeleteTable", {"TableName": "pets"})
    pets.call("CreateTable", definition())
    clock.move(MINUTE)
    recover(pets)
    request = {"SourceTableName": "pets", "TargetTableName": "then", "RestoreDateTime": moment}
    assert refusal(pets, "RestoreTableToPointInTime", request)[0] == "InvalidRestoreTimeException"
    (left,) = pets.call("ListBackups", {"BackupType": "SYSTEM"})["BackupSummaries"]
    pets.settle()
    restore(pets, left["BackupArn"], "then")
    pets.settle()
    assert len(names(pets, table="then")) == 5
    assert len(names(pets, "colour", table="then")) == 5


# --- filling ---


def test_filling_over_what_is_there_keeps_the_later_of_two(
    pets: SteppedEngine, backup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk_load, "INDEXED_ITEMS", 2)
    restore(pets, backup, "back")
    for _ in range(2):
        pets.job_step()

    def again(writing: WriteTransaction) -> int:
        table = writing.tables["back"]
        there = [
            StoredItem(key, size, item)
            for _, key, size, item, _ in writing.rows.rows_with_checksums(table.number, 0, 10)
        ]
        upsert_items(writing, table, [*there, *there])
        return len(there)

    assert pets._session.write(again) == 4
    assert pets.verify() == []
    pets.settle()
    assert names(pets, "colour", table="back") == names(pets)
