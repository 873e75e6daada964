"""What the commands about backups share: finding one by its name or its ARN."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tablewright.cli.where import Misused

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.client import Call


class BackupUnclear(Misused):
    """A name under which there is no backup, or more than one."""


def all_backups(call: "Call", table: str | None = None) -> Iterator[dict[str, Any]]:
    """The summaries of all backups, of one table or of all."""
    from tablewright.client import pages

    request: dict[str, Any] = (
        {"BackupType": "ALL"} if table is None else {"BackupType": "ALL", "TableName": table}
    )
    for page in pages(call, "ListBackups", request):
        yield from page["BackupSummaries"]


def backup_arn(call: "Call", text: str) -> str:
    """The ARN of a backup that is named by it, or by a name that only one has."""
    if text.startswith("arn:"):
        return text
    found = [one["BackupArn"] for one in all_backups(call) if one["BackupName"] == text]
    if len(found) == 1:
        return str(found[0])
    if not found:
        raise BackupUnclear(f"there is no backup {text}; `tablewright db backup list` shows those there are")
    raise BackupUnclear(f"{len(found)} backups are named {text}; name one by its ARN: {', '.join(found)}")
