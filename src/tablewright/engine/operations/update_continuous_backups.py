"""UpdateContinuousBackups: point-in-time recovery on or off, and for how many days back. It holds at once.

Enabling takes a first checkpoint; disabling forgets the past, and a new window begins when it is enabled again.
"""

from dataclasses import replace
from typing import Any

from tablewright.engine.backups import find_source
from tablewright.engine.checkpoints import CHECKPOINT, begin
from tablewright.engine.errors import invalid
from tablewright.engine.limits import RECOVERY_DAYS
from tablewright.engine.members import FLAG, TABLE_NAME
from tablewright.engine.recovery import described, window
from tablewright.engine.shapes import Request, Struct, Whole
from tablewright.engine.writing import Writing

SHAPE = Struct(
    "UpdateContinuousBackupsInput",
    {
        "TableName": TABLE_NAME,
        "PointInTimeRecoverySpecification": Struct(
            "PointInTimeRecoverySpecification",
            {
                "PointInTimeRecoveryEnabled": FLAG,
                "RecoveryPeriodInDays": Whole(least=1, most=RECOVERY_DAYS),
            },
            required=("PointInTimeRecoveryEnabled",),
        ),
    },
    required=("TableName", "PointInTimeRecoverySpecification"),
)


def update_continuous_backups(writing: Writing, request: Request) -> dict[str, Any]:
    asked = request["PointInTimeRecoverySpecification"]
    enabled, days = asked["PointInTimeRecoveryEnabled"], asked.get("RecoveryPeriodInDays")
    if days is not None and not enabled:
        raise invalid(
            "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
        )
    table = find_source(writing.tables, request["TableName"])
    before, now = table, writing.pen.at
    if not enabled:
        table = replace(table, recovery_since=None, recovery_days=RECOVERY_DAYS)
    elif table.recovery_since is None:
        table = replace(table, recovery_since=now, recovery_days=int(days or RECOVERY_DAYS))
        begin(writing, table.number, CHECKPOINT)
    elif days is not None:
        # A longer period cannot bring back what a shorter one has let go.
        table = replace(table, recovery_since=window(table, now)[0], recovery_days=int(days))
    if table != before:
        writing.save_table(table)
    return {"ContinuousBackupsDescription": described(table, now)}
