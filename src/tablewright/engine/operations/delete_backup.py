"""DeleteBackup: the backup is gone at once; its chunks are removed in small steps, those that no other snapshot has."""

from typing import Any

from tablewright.engine import storage_history as past
from tablewright.engine.backups import BACKUP_ARN, SYSTEM, description, find_backup, status_of
from tablewright.engine.checkpoints import give_up
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.recovery import text
from tablewright.engine.restoring import is_being_restored
from tablewright.engine.shapes import Request, Struct
from tablewright.engine.writing import Writing

SHAPE = Struct("DeleteBackupInput", {"BackupArn": BACKUP_ARN}, required=("BackupArn",))


def delete_backup(writing: Writing, request: Request) -> dict[str, Any]:
    backup = find_backup(writing.rows, request["BackupArn"])
    if backup.type == SYSTEM:
        raise invalid(
            f"User is not allowed to delete the system backup with arn {backup.arn}. "
            f"It will automatically expire on {text(backup.expires or 0)}"
        )
    if status_of(backup) == "CREATING":
        raise ServiceError("BackupInUseException", f"Backup is being created: {backup.arn}")
    if is_being_restored(writing.tables, backup.arn):
        raise ServiceError("BackupInUseException", f"Backup is being used to restore table: {backup.arn}")
    give_up(writing, backup.snapshot)
    past.forget_backup(writing.rows, backup.arn)
    return {"BackupDescription": description(backup, "DELETED")}
