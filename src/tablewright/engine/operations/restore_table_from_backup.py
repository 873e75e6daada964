"""RestoreTableFromBackup: a new table with the items of a backup. It is CREATING until all of them are in."""

from typing import Any

from tablewright.engine import storage_history as past
from tablewright.engine.backups import BACKUP_ARN, find_backup, source_of, status_of
from tablewright.engine.errors import ServiceError
from tablewright.engine.history import hold_snapshot
from tablewright.engine.members import INDEX_NAME
from tablewright.engine.restoring import (
    OVERRIDES,
    create,
    hold_name,
    is_being_restored,
    like,
    refuse_many,
    refuse_target,
    shown,
)
from tablewright.engine.shapes import Request, Struct
from tablewright.engine.writing import Writing

SHAPE = Struct(
    "RestoreTableFromBackupInput",
    # A new table is named as an index is: by its name, never by an ARN.
    {"TargetTableName": INDEX_NAME, "BackupArn": BACKUP_ARN, **OVERRIDES},
    required=("TargetTableName", "BackupArn"),
    refused=("VectorIndexOverride",),
)


def restore_table_from_backup(writing: Writing, request: Request) -> dict[str, Any]:
    name, arn = request["TargetTableName"], request["BackupArn"]
    backup = find_backup(writing.rows, arn)
    source = source_of(backup)
    table = like(source, request)
    refuse_target(writing.tables, name)
    if status_of(backup) == "CREATING":
        raise ServiceError("BackupInUseException", f"Backup is being created: {arn}")
    snapshot = past.snapshot(writing.rows, backup.snapshot)
    if snapshot is None or snapshot.status != "AVAILABLE":
        raise ServiceError("BackupNotFoundException", f"Backup not found: {arn}")
    if is_being_restored(writing.tables, arn):
        raise ServiceError("BackupInUseException", f"Backup is being used to restore another table: {arn}")
    refuse_many(writing)
    summary = {
        "SourceBackupArn": arn,
        "SourceTableArn": source.arn,
        "RestoreDateTime": backup.at // 1000 / 1000,
    }
    made = create(writing, table, name, summary)
    hold_snapshot(writing, hold_name(made.number), snapshot)
    return shown(writing, made)
