"""RestoreTableFromBackup: a new table with the items of a backup. It is CREATING until all of them are loaded."""

from typing import Any

from tablewright.engine.api.common_members import INDEX_NAME
from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.shapes import Request, Struct
from tablewright.engine.errors import ServiceError
from tablewright.engine.history import store as history_store
from tablewright.engine.history.backups import BACKUP_ARN, find_backup, source_of, status_of
from tablewright.engine.history.restore import (
    OVERRIDES,
    create,
    definition_from,
    described,
    is_being_restored,
    pin_name,
    refuse_target,
    refuse_too_many,
)
from tablewright.engine.history.time_travel import pin_snapshot
from tablewright.engine.transaction import WriteTransaction

SHAPE = Struct(
    "RestoreTableFromBackupInput",
    # The name of a new table, never an ARN: the same pattern as an index name.
    {"TargetTableName": INDEX_NAME, "BackupArn": BACKUP_ARN, **OVERRIDES},
    required=("TargetTableName", "BackupArn"),
    refused=("VectorIndexOverride",),
)


def restore_table_from_backup(txn: WriteTransaction, request: Request) -> dict[str, Any]:
    name, arn = request["TargetTableName"], request["BackupArn"]
    backup = find_backup(txn.rows, arn)
    source = source_of(backup)
    table = definition_from(source, request)
    refuse_target(txn.tables, name)
    if status_of(backup) == "CREATING":
        raise ServiceError("BackupInUseException", f"Backup is being created: {arn}")
    snapshot = history_store.snapshot(txn.rows, backup.snapshot)
    if snapshot is None or snapshot.status != "AVAILABLE":
        raise ServiceError("BackupNotFoundException", f"Backup not found: {arn}")
    if is_being_restored(txn.tables, arn):
        raise ServiceError("BackupInUseException", f"Backup is being used to restore another table: {arn}")
    refuse_too_many(txn)
    summary = {
        "SourceBackupArn": arn,
        "SourceTableArn": source.arn,
        "RestoreDateTime": backup.at // 1000 / 1000,
    }
    made = create(txn, table, name, summary)
    pin_snapshot(txn, pin_name(made.number), snapshot)
    return described(txn, made)


OPERATION = WriteOperation("RestoreTableFromBackup", SHAPE, restore_table_from_backup)
