"""The copies of the first version's table in which words are readable, and when each ends (ZC-27, ZC-D31, ZC-52).

The first version has words as they are, so a destroyed key does not protect its copies: backups, recovery to a moment,
the stream of changes. An erasure makes a new backup for the migration and deletes those before it. The others stay
until their time is over, and the certificate of an erasure and the published policy name them.
Must hold: no copy that exists is left out; what cannot be listed is said to be there, for as long as copies are kept.
Elsewhere: backups of the migration (archive.py), daily ones (app/copies), the policy (family/retention.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from tablewright.kit.tables import Actor
from tablewright.mapping import CallRefused, every_page
from tablewright.systems.chat import design as d
from tablewright.systems.chat.legacy.archive import BACKUPS_KEPT, TableArchive
from tablewright.systems.chat.repository import Repository

# How long the stream of a table shows a change.
STREAM_KEPT = timedelta(days=1)
# The published policy is read by everyone; backups are listed a few times a second at most.
_KNOWN_FOR = timedelta(minutes=1)
_GONE = ("ResourceNotFoundException", "TableNotFoundException")


@dataclass(frozen=True, slots=True)
class ClearCopy:
    """A copy with readable words, and when the last of what was deleted by now is gone from it."""

    name: str
    until: datetime

    def __str__(self) -> str:
        return f"{self.name}, until {self.until:%Y-%m-%d}"


class ClearCopies:
    """Copies of the first version's table."""

    def __init__(self, repository: Repository, archive: TableArchive) -> None:
        self._repository, self._archive = repository, archive
        self._known: tuple[datetime, tuple[ClearCopy, ...]] | None = None

    def replace_backups(self, actor: Actor) -> int:
        """Instead of the migration's backups, one of the table as it is now; how many were deleted.

        Without a table there is nothing to back up. One that is in use is left, and named with the others.
        """
        before = self._archive.backup_arns()
        if not before:
            return 0
        try:
            self._archive.back_up(actor)
        except CallRefused as refused:
            if refused.name not in _GONE:
                raise
        return self._archive.remove(before, actor)

    def now(self) -> tuple[ClearCopy, ...]:
        """The copies that there are; none once the table is deleted and its backups have ended."""
        return tuple(one for one in self._found() if one.until > self._repository.now())

    def known(self) -> tuple[ClearCopy, ...]:
        """As `now`, as it was a minute ago at most."""
        now = self._repository.now()
        if self._known is None or not self._known[0] <= now < self._known[0] + _KNOWN_FOR:
            self._known = now, self.now()
        return self._known[1]

    # --- parts ---

    @property
    def _table(self) -> str:
        return self._repository.db.physical(d.v1_table.table.name)

    def _found(self) -> Iterator[ClearCopy]:
        try:
            yield from self._of_table()
            yield from self._backups()
        except CallRefused:
            yield ClearCopy(
                "copies of the table that could not be listed", self._repository.now() + BACKUPS_KEPT
            )

    def _of_table(self) -> Iterator[ClearCopy]:
        """What there is while the table exists."""
        now = self._repository.now()
        try:
            answer = self._repository.db.call("DescribeContinuousBackups", {"TableName": self._table})
        except CallRefused as refused:
            if refused.name in _GONE:
                return
            raise
        described = answer["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
        if described.get("PointInTimeRecoveryStatus") == "ENABLED":
            days = timedelta(days=int(described.get("RecoveryPeriodInDays", BACKUPS_KEPT.days)))
            yield ClearCopy("recovery of the table to a moment", now + days)
        yield ClearCopy("the stream of changes of the table", now + STREAM_KEPT)

    def _backups(self) -> Iterator[ClearCopy]:
        request = {"TableName": self._table, "BackupType": "ALL"}
        for page in every_page(self._repository.db.call, "ListBackups", request):
            for one in page["BackupSummaries"]:
                yield ClearCopy(f"backup {one['BackupName']}", _end_of(one))


def _end_of(backup: dict[str, Any]) -> datetime:
    """When a backup ends: as it says, or after the time that copies of tables are kept."""
    if "BackupExpiryDateTime" in backup:
        return datetime.fromtimestamp(float(backup["BackupExpiryDateTime"]), UTC)
    return datetime.fromtimestamp(float(backup["BackupCreationDateTime"]), UTC) + BACKUPS_KEPT
