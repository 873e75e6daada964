"""Finding backups by name or ARN; shared by the commands that use backups."""

from collections.abc import Iterator
from typing import Any

from tablewright.cli.output import UsageError
from tablewright.client import Call, pages


def all_backups(call: Call, table: str | None = None) -> Iterator[dict[str, Any]]:
    """The summaries of the backups of one table, or of all tables."""
    request = {"BackupType": "ALL"} | ({} if table is None else {"TableName": table})
    for page in pages(call, "ListBackups", request):
        yield from page["BackupSummaries"]


def backup_arn(call: Call, text: str) -> str:
    """The ARN of the backup with this ARN or this unique name."""
    if text.startswith("arn:"):
        return text
    found = [one["BackupArn"] for one in all_backups(call) if one["BackupName"] == text]
    if len(found) == 1:
        return str(found[0])
    if not found:
        raise UsageError(f"no backup named {text}; `tablewright db backup list` lists all backups")
    raise UsageError(f"{len(found)} backups are named {text}; give the ARN instead: {', '.join(found)}")
