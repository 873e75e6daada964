"""CreateBackup, DescribeBackup, ListBackups and DeleteBackup.

A backup is CREATING until a job has copied the items. It is deleted at once; chunks that no other snapshot shares are
deleted in small steps.
"""

from tablewright.engine.api.arguments import table_name
from tablewright.engine.api.common_members import TABLE_NAME
from tablewright.engine.api.operation import read_verb, write_verb
from tablewright.engine.api.shapes import Answer, Moment, Request, Text, Whole
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.history import store as history_store
from tablewright.engine.history.backups import (
    BACKUP_ARN,
    BACKUP_NAME,
    SYSTEM,
    USER,
    back_up,
    description,
    details,
    find_backup,
    find_source,
    status_of,
    summary,
)
from tablewright.engine.history.pitr_window import microseconds_of, moment_text
from tablewright.engine.history.restore import is_being_restored
from tablewright.engine.history.snapshots import discard
from tablewright.engine.history.store import Backup
from tablewright.engine.limits import LIST_PAGE
from tablewright.engine.transaction import ReadTransaction, WriteTransaction


@write_verb(
    "CreateBackup", {"TableName": TABLE_NAME, "BackupName": BACKUP_NAME}, required=("TableName", "BackupName")
)
def create_backup(txn: WriteTransaction, request: Request) -> Answer:
    table = find_source(txn.tables, request["TableName"])
    return {"BackupDetails": details(back_up(txn, table, request["BackupName"]))}


@read_verb("DescribeBackup", {"BackupArn": BACKUP_ARN}, required=("BackupArn",))
def describe_backup(txn: ReadTransaction, request: Request) -> Answer:
    return {"BackupDescription": description(find_backup(txn.rows, request["BackupArn"]))}


@read_verb(
    "ListBackups",
    {
        "TableName": TABLE_NAME,
        "Limit": Whole(least=1, most=LIST_PAGE),
        "TimeRangeLowerBound": Moment(),
        "TimeRangeUpperBound": Moment(),
        "ExclusiveStartBackupArn": BACKUP_ARN,
        "BackupType": Text(one_of=("USER", "SYSTEM", "AWS_BACKUP", "ALL")),
    },
)
def list_backups(txn: ReadTransaction, request: Request) -> Answer:
    limit = int(request.get("Limit") or LIST_PAGE)
    low, high = request.get("TimeRangeLowerBound"), request.get("TimeRangeUpperBound")
    if low is not None and high is not None and low > high:
        raise invalid("Time range lower bound must be less than or equal to upper bound")
    start = request.get("ExclusiveStartBackupArn")
    if start is not None and "/backup/" not in start:
        raise invalid("Invalid Backup ARN")
    found = [
        backup
        for backup in sorted(history_store.backups(txn.rows), key=lambda backup: _place(backup.arn))
        if _is_asked_for(backup, request) and (start is None or _place(backup.arn) > _place(start))
    ]
    answer: Answer = {"BackupSummaries": [summary(backup) for backup in found[:limit]]}
    if len(found) > limit:
        answer["LastEvaluatedBackupArn"] = found[limit - 1].arn
    return answer


def _place(arn: str) -> tuple[str, str]:
    """The sort key of a backup: its ARN ends with its time. The backup of a cursor may have been deleted."""
    return arn.rpartition("/")[2], arn


def _is_asked_for(backup: Backup, request: Request) -> bool:
    name, kind = request.get("TableName"), request.get("BackupType") or USER
    low, high = request.get("TimeRangeLowerBound"), request.get("TimeRangeUpperBound")
    # To the millisecond, as the times of backups are shown.
    at = backup.at // 1000 * 1000
    # The table's name is in the ARN; parsing the definition of each backup instead made a page of 2 160 take 0.3 s.
    return (
        status_of(backup) != "DELETED"
        and kind in ("ALL", backup.type)
        and (name is None or backup.arn.split("/")[1] == table_name(name))
        and (low is None or at >= microseconds_of(low))
        and (high is None or at < microseconds_of(high))
    )


@write_verb("DeleteBackup", {"BackupArn": BACKUP_ARN}, required=("BackupArn",))
def delete_backup(txn: WriteTransaction, request: Request) -> Answer:
    backup = find_backup(txn.rows, request["BackupArn"])
    if backup.type == SYSTEM:
        raise invalid(
            f"User is not allowed to delete the system backup with arn {backup.arn}. "
            f"It will automatically expire on {moment_text(backup.expires or 0)}"
        )
    if status_of(backup) == "CREATING":
        raise ServiceError("BackupInUseException", f"Backup is being created: {backup.arn}")
    if is_being_restored(txn.tables, backup.arn):
        raise ServiceError("BackupInUseException", f"Backup is being used to restore table: {backup.arn}")
    discard(txn, backup.snapshot)
    history_store.forget_backup(txn.rows, backup.arn)
    return {"BackupDescription": description(backup, "DELETED")}
