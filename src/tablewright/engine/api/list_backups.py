"""ListBackups: backups in the order they were made, a page at a time; those of users unless others are asked for."""

from typing import Any

from tablewright.engine.api.arguments import table_name
from tablewright.engine.api.common_members import TABLE_NAME
from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Moment, Request, Struct, Text, Whole
from tablewright.engine.errors import invalid
from tablewright.engine.history import store as history_store
from tablewright.engine.history.backups import BACKUP_ARN, USER, status_of, summary
from tablewright.engine.history.pitr_window import microseconds_of
from tablewright.engine.history.store import Backup
from tablewright.engine.transaction import ReadTransaction

MOST = 100

SHAPE = Struct(
    "ListBackupsInput",
    {
        "TableName": TABLE_NAME,
        "Limit": Whole(least=1, most=MOST),
        "TimeRangeLowerBound": Moment(),
        "TimeRangeUpperBound": Moment(),
        "ExclusiveStartBackupArn": BACKUP_ARN,
        "BackupType": Text(one_of=("USER", "SYSTEM", "AWS_BACKUP", "ALL")),
    },
)


def list_backups(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    limit = int(request.get("Limit") or MOST)
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
    answer: dict[str, Any] = {"BackupSummaries": [summary(backup) for backup in found[:limit]]}
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


OPERATION = ReadOperation("ListBackups", SHAPE, list_backups)
