"""The archive of the first version's table: sealed, with an end (ZC-51, ZC-D47), and the ttl of the table itself.

Each conversation is sealed with the key of its child, so that an erasure makes it unreadable there too; the whole is
sealed with a key of the archive. The name of the object says when it ends: when the last conversation in it would have
expired. Then the key is destroyed and the object removed. A backup of the table has the words of children as they are:
it is replaced when a person is erased (clear_copies.py), deleted when the migration is finished, and after 35 days in
any case.
Must hold: nothing is in an archive longer than it would have been kept in the table; no backup of the table is kept
longer than other backups are.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tablewright.edge.errors import Conflict
from tablewright.kit.objects.store import Objects
from tablewright.kit.subject_keys import KeyDestroyed
from tablewright.kit.tables import Actor
from tablewright.mapping import CallRefused, every_page
from tablewright.systems.chat import design as d
from tablewright.systems.chat.repository import SYSTEM, Repository

FOLDER = "v1-archive"
SUBJECT = "migration:conversation-v2"
BACKUPS_KEPT = timedelta(days=35)
_TTL_ON, _TTL_OFF = "ttl enabled on the first version", "ttl disabled on the first version"
_BACKUP, _BACKUP_TIME = "-before-v2-", "%Y%m%dT%H%M%S"


@dataclass(frozen=True, slots=True)
class ArchivedTable:
    """An archive: how many conversations it has is in the compliance log."""

    name: str
    until: datetime

    @property
    def key_subject(self) -> str:
        return f"archive:{self.name}"


class TableArchive:
    """Archives of the first version's table."""

    def __init__(self, repository: Repository, objects: Objects) -> None:
        self._repository, self._objects = repository, objects

    # --- ttl ---

    @property
    def has_ttl(self) -> bool:
        """Whether the table deletes what has expired."""
        try:
            found = self._repository.db.call("DescribeTimeToLive", {"TableName": self._table})
        except CallRefused:
            return False  # the table is deleted
        status = found["TimeToLiveDescription"].get("TimeToLiveStatus", "DISABLED")
        return status in ("ENABLED", "ENABLING")

    def enable_ttl(self, actor: Actor) -> None:
        """Let the table delete what has expired (ZC-49). Before the cut-over it would delete live chats (ZC-D22)."""
        if not self.has_ttl:
            self._set_ttl(True)
            self._note(_TTL_ON, actor, {})

    def restore_ttl(self, actor: Actor) -> bool:
        """Disable the ttl if the cut-over enabled it; True if it was. MIGRATION_REFUSED if that is not possible now."""
        log = self._repository.db.all(self._repository.compliance_log(SUBJECT))
        last = next((entry.action for entry in log if entry.action in (_TTL_ON, _TTL_OFF)), _TTL_OFF)
        if last == _TTL_OFF or not self.has_ttl:
            return False
        try:
            self._set_ttl(False)
        except CallRefused as refused:
            words = (
                f"The ttl of the first version cannot be disabled now; try again in an hour ({refused.name})."
            )
            raise Conflict("MIGRATION_REFUSED", words) from None
        self._note(_TTL_OFF, actor, {})
        return True

    def _set_ttl(self, is_on: bool) -> None:
        wanted = {"Enabled": is_on, "AttributeName": "ttl"}
        self._repository.db.call(
            "UpdateTimeToLive", {"TableName": self._table, "TimeToLiveSpecification": wanted}
        )

    # --- backup ---

    def back_up(self, actor: Actor) -> str:
        """A backup of the table before anything is changed (ZC-52); its ARN."""
        name = f"{self._table}{_BACKUP}{self._repository.now():{_BACKUP_TIME}}"
        made = self._repository.db.call("CreateBackup", {"TableName": self._table, "BackupName": name})
        arn = str(made["BackupDetails"]["BackupArn"])
        self._note("backup taken", actor, {"backup": arn})
        return arn

    def backups(self) -> list[str]:
        """The names of the backups that were taken for the migration."""
        return sorted(name for name, _ in self._backups())

    def backup_arns(self) -> list[str]:
        return [arn for _, arn in self._backups()]

    def remove_backups(self, actor: Actor, kept: timedelta = timedelta(0)) -> int:
        """Delete the backups that are at least as old as this; how many."""
        limit = self._repository.now() - kept
        return self.remove([arn for name, arn in self._backups() if _backup_time(name) <= limit], actor)

    def remove(self, arns: Sequence[str], actor: Actor) -> int:
        """Delete these backups; how many. One that is refused is left for later."""
        removed = 0
        for arn in arns:
            with suppress(CallRefused):
                self._repository.db.call("DeleteBackup", {"BackupArn": arn})
                self._note("backup of the first version deleted", actor, {"backup": arn})
                removed += 1
        return removed

    def _backups(self) -> Iterator[tuple[str, str]]:
        """Names and ARNs."""
        request = {"TableName": self._table}
        for page in every_page(self._repository.db.call, "ListBackups", request):
            for one in page["BackupSummaries"]:
                if _BACKUP in one["BackupName"]:
                    yield str(one["BackupName"]), str(one["BackupArn"])

    # --- archive ---

    def archive(self, actor: Actor) -> ArchivedTable:
        """Seal every conversation of the table into an object that ends when the last of them would have."""
        items = list(self._items())
        now = self._repository.now()
        ends = [int(item["ttl"]["N"]) for item in items if "N" in item.get("ttl", {})]
        until = datetime.fromtimestamp(max(ends, default=int(now.timestamp())), UTC)
        name = f"{FOLDER}/{int(until.timestamp()):012d}-{self._repository.new_ulid()}"
        made = ArchivedTable(name, until)
        lines = [line for item in items if (line := self._sealed(item)) is not None]
        content = self._repository.keys.seal(made.key_subject, "archive", json.dumps(lines))
        self._objects.put(name, content.encode())
        self._note("first version archived", actor, {"archive": name, "conversations": len(lines)})
        return made

    def archives(self) -> list[ArchivedTable]:
        """The archives that are kept, the first to end first."""
        names = sorted(self._objects.names(f"{FOLDER}/"))
        return [ArchivedTable(name, _end_of(name)) for name in names]

    def read(self, archive: ArchivedTable) -> list[dict[str, Any]]:
        """The items in an archive, but for those of erased people."""
        content = self._objects.get(archive.name)
        if content is None:
            raise Conflict("ARCHIVE_ENDED", "This archive was deleted.")
        lines = json.loads(self._repository.keys.open(archive.key_subject, "archive", content.decode()))
        found = [self._opened(user, conversation, sealed) for user, conversation, sealed in lines]
        return [item for item in found if item is not None]

    def end_due(self) -> int:
        """Destroy archives and backups whose time is over; how many."""
        due = [archive for archive in self.archives() if archive.until <= self._repository.now()]
        for archive in due:
            self._repository.keys.destroy(archive.key_subject)
            self._objects.remove(archive.name)
            self._note("archive of the first version destroyed", SYSTEM, {"archive": archive.name})
        return len(due) + self.remove_backups(SYSTEM, BACKUPS_KEPT)

    # --- parts ---

    @property
    def _table(self) -> str:
        return self._repository.db.physical(d.v1_table.table.name)

    def _items(self) -> Iterator[dict[str, Any]]:
        request = {"TableName": self._table, "ConsistentRead": True}
        for page in every_page(self._repository.db.call, "Scan", request):
            yield from (item for item in page["Items"] if d.v1_conversations.shape.recognises(item))

    def _sealed(self, item: dict[str, Any]) -> tuple[str, str, str] | None:
        user, conversation = str(item["userId"]["S"]), str(item["conversationId"]["S"])
        try:
            text = self._repository.keys.seal(user, f"archive/{conversation}", json.dumps(item))
        except KeyDestroyed:
            return None
        return user, conversation, text

    def _opened(self, user: str, conversation: str, sealed: str) -> dict[str, Any] | None:
        try:
            found = json.loads(self._repository.keys.open(user, f"archive/{conversation}", sealed))
        except KeyDestroyed:
            return None
        assert isinstance(found, dict)
        return found

    def _note(self, action: str, actor: Actor, what: dict[str, Any]) -> None:
        self._repository.db.write(self._repository.audit(SUBJECT, action, actor, after=what))


def _end_of(name: str) -> datetime:
    return datetime.fromtimestamp(int(name.removeprefix(f"{FOLDER}/").partition("-")[0]), UTC)


def _backup_time(name: str) -> datetime:
    return datetime.strptime(name.rpartition(_BACKUP)[2], _BACKUP_TIME).replace(tzinfo=UTC)
