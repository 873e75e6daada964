"""CreateBackup: a backup of a table's current state. It is CREATING until a job has copied the items."""

from typing import Any

from tablewright.engine.api.common_members import TABLE_NAME
from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.shapes import Request, Struct
from tablewright.engine.history.backups import BACKUP_NAME, back_up, details, find_source
from tablewright.engine.transaction import WriteTransaction

SHAPE = Struct(
    "CreateBackupInput",
    {"TableName": TABLE_NAME, "BackupName": BACKUP_NAME},
    required=("TableName", "BackupName"),
)


def create_backup(txn: WriteTransaction, request: Request) -> dict[str, Any]:
    table = find_source(txn.tables, request["TableName"])
    return {"BackupDetails": details(back_up(txn, table, request["BackupName"]))}


OPERATION = WriteOperation("CreateBackup", SHAPE, create_backup)
