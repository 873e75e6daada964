"""DescribeContinuousBackups and UpdateContinuousBackups: point-in-time recovery and its window.

A change takes effect at once. Enabling begins a first checkpoint; disabling discards the history, and a new
window begins when it is enabled again.
"""

from dataclasses import replace

from tablewright.engine.api.common_members import FLAG, TABLE_NAME
from tablewright.engine.api.operation import read_verb, write_verb
from tablewright.engine.api.shapes import Answer, Request, Struct, Whole
from tablewright.engine.errors import invalid
from tablewright.engine.history.backups import find_source
from tablewright.engine.history.pitr_window import described, window
from tablewright.engine.history.snapshots import CHECKPOINT, begin_snapshot
from tablewright.engine.limits import RECOVERY_DAYS
from tablewright.engine.transaction import ReadTransaction, WriteTransaction


@read_verb("DescribeContinuousBackups", {"TableName": TABLE_NAME}, required=("TableName",))
def describe_continuous_backups(txn: ReadTransaction, request: Request) -> Answer:
    table = find_source(txn.tables, request["TableName"])
    return {"ContinuousBackupsDescription": described(table, txn.now_us())}


@write_verb(
    "UpdateContinuousBackups",
    {
        "TableName": TABLE_NAME,
        "PointInTimeRecoverySpecification": Struct(
            "PointInTimeRecoverySpecification",
            {"PointInTimeRecoveryEnabled": FLAG, "RecoveryPeriodInDays": Whole(least=1, most=RECOVERY_DAYS)},
            required=("PointInTimeRecoveryEnabled",),
        ),
    },
    required=("TableName", "PointInTimeRecoverySpecification"),
)
def update_continuous_backups(txn: WriteTransaction, request: Request) -> Answer:
    asked = request["PointInTimeRecoverySpecification"]
    enabled, days = asked["PointInTimeRecoveryEnabled"], asked.get("RecoveryPeriodInDays")
    if days is not None and not enabled:
        raise invalid(
            "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."
        )
    table = find_source(txn.tables, request["TableName"])
    before, now = table, txn.position.at
    if not enabled:
        table = replace(table, recovery_since=None, recovery_days=RECOVERY_DAYS)
    elif table.recovery_since is None:
        table = replace(table, recovery_since=now, recovery_days=int(days or RECOVERY_DAYS))
        begin_snapshot(txn, table.number, CHECKPOINT)
    elif days is not None:
        # A longer period cannot bring back what was pruned under a shorter one.
        table = replace(table, recovery_since=window(table, now)[0], recovery_days=int(days))
    if table != before:
        txn.save_table(table)
    return {"ContinuousBackupsDescription": described(table, now)}
