"""ListBackups: backups in the order they were made, a page at a time; those of users unless others are asked for."""

from typing import Any

from tablewright.engine import storage_history as past
from tablewright.engine.arguments import table_name
from tablewright.engine.backups import BACKUP_ARN, USER, source_of, status_of, summary
from tablewright.engine.errors import invalid
from tablewright.engine.members import TABLE_NAME
from tablewright.engine.recovery import microseconds_of
from tablewright.engine.shapes import Moment, Request, Struct, Text, Whole
from tablewright.engine.storage_history import Backup
from tablewright.engine.writing import Reading

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


def list_backups(reading: Reading, request: Request) -> dict[str, Any]:
    limit = int(request.get("Limit") or MOST)
    low, high = request.get("TimeRangeLowerBound"), request.get("TimeRangeUpperBound")
    if low is not None and high is not None and low > high:
        raise invalid("Time range lower bound must be less than or equal to upper bound")
    start = request.get("ExclusiveStartBackupArn")
    if start is not None and "/backup/" not in start:
        raise invalid("Invalid Backup ARN")
    found = [
        backup
        for backup in sorted(past.backups(reading.rows), key=lambda backup: _place(backup.arn))
        if _is_asked_for(backup, request) and (start is None or _place(backup.arn) > _place(start))
    ]
    answer: dict[str, Any] = {"BackupSummaries": [summary(backup) for backup in found[:limit]]}
    if len(found) > limit:
        answer["LastEvaluatedBackupArn"] = found[limit - 1].arn
    return answer


def _place(arn: str) -> tuple[str, str]:
    """Where a backup stands in the list: its ARN ends with its time. The cursor need not be there any more."""
    return arn.rpartition("/")[2], arn


def _is_asked_for(backup: Backup, request: Request) -> bool:
    name, kind = request.get("TableName"), request.get("BackupType") or USER
    low, high = request.get("TimeRangeLowerBound"), request.get("TimeRangeUpperBound")
    # To the millisecond, as the times of backups are shown.
    at = backup.at // 1000 * 1000
    return (
        status_of(backup) != "DELETED"
        and kind in ("ALL", backup.type)
        and (name is None or source_of(backup).name == table_name(name))
        and (low is None or at >= microseconds_of(low))
        and (high is None or at < microseconds_of(high))
    )
