"""CreateBackup: keep a table as it is at this moment. It is CREATING until its items are copied, beside the writes."""

from typing import Any

from tablewright.engine.backups import BACKUP_NAME, back_up, details, find_source
from tablewright.engine.members import TABLE_NAME
from tablewright.engine.shapes import Request, Struct
from tablewright.engine.writing import Writing

SHAPE = Struct(
    "CreateBackupInput",
    {"TableName": TABLE_NAME, "BackupName": BACKUP_NAME},
    required=("TableName", "BackupName"),
)


def create_backup(writing: Writing, request: Request) -> dict[str, Any]:
    table = find_source(writing.tables, request["TableName"])
    return {"BackupDetails": details(back_up(writing, table, request["BackupName"]))}
