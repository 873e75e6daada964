"""DescribeBackup: a backup, and the table it was made of as it was then."""

from typing import Any

from tablewright.engine.backups import BACKUP_ARN, description, find_backup
from tablewright.engine.shapes import Request, Struct
from tablewright.engine.writing import Reading

SHAPE = Struct("DescribeBackupInput", {"BackupArn": BACKUP_ARN}, required=("BackupArn",))


def describe_backup(reading: Reading, request: Request) -> dict[str, Any]:
    return {"BackupDescription": description(find_backup(reading.rows, request["BackupArn"]))}
