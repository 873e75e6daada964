"""DeleteBackup: the backup is deleted at once; chunks that no other snapshot shares are deleted in small steps."""

from typing import Any

from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.shapes import Request, Struct
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.history import store as history_store
from tablewright.engine.history.backups import BACKUP_ARN, SYSTEM, description, find_backup, status_of
from tablewright.engine.history.pitr_window import moment_text
from tablewright.engine.history.restore import is_being_restored
from tablewright.engine.history.snapshots import discard
from tablewright.engine.transaction import WriteTransaction

SHAPE = Struct("DeleteBackupInput", {"BackupArn": BACKUP_ARN}, required=("BackupArn",))


def delete_backup(txn: WriteTransaction, request: Request) -> dict[str, Any]:
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


OPERATION = WriteOperation("DeleteBackup", SHAPE, delete_backup)
