"""DescribeBackup: a backup, and the definition of its table at that time."""

from typing import Any

from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct
from tablewright.engine.history.backups import BACKUP_ARN, description, find_backup
from tablewright.engine.transaction import ReadTransaction

SHAPE = Struct("DescribeBackupInput", {"BackupArn": BACKUP_ARN}, required=("BackupArn",))


def describe_backup(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    return {"BackupDescription": description(find_backup(txn.rows, request["BackupArn"]))}


OPERATION = ReadOperation("DescribeBackup", SHAPE, describe_backup)
