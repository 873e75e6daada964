"""The end of a file: 30 days after it was deleted, or when its owner empties the trash (CC-51, CC-S11, CC-S15).

In this order: the file is marked, so that it cannot be restored; the bytes of all its versions are removed, then its
shares and links; at last its rows, in transactions that free exactly the quota of the rows they remove.
Must hold: killed at any point, the next run goes on where this one stopped. A file that a submission holds stays.
Elsewhere: moving to the trash (library.py), sums that do not fit (recount.py).
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import NotFound
from tablewright.kit.objects.store import ObjectStore
from tablewright.kit.objects.sweep import sweep
from tablewright.mapping import ConditionNotMet, Missing, Stale
from tablewright.systems.campus import design as d
from tablewright.systems.campus.files import quota
from tablewright.systems.campus.files.library import Library
from tablewright.systems.campus.model import File, FileKey, FileVersion, User
from tablewright.systems.campus.repository import SYSTEM, Repository
from tablewright.systems.campus.settings import Settings

# How long the job may have been stopped.
LOOK_BACK = timedelta(days=3 * 365)
SWEEP_AGE = timedelta(days=3)
# Rows of versions in a transaction, which may have 100 actions.
_AT_ONCE = 90
_A_DAY = timedelta(days=1)


class Purge:
    """Removes files for good."""

    def __init__(
        self, repository: Repository, objects: ObjectStore, library: Library, settings: Settings
    ) -> None:
        self._repository, self._objects, self._library = repository, objects, library
        self._kept = timedelta(days=settings.trash_days)

    def run(self) -> int:
        """Remove what has been in the trash for long enough; how many files. A job."""
        return sum(self._purge_due(key) for key in self._due())

    def empty_trash(self, user: User) -> int:
        """Remove everything in a user's trash now, but for what a submission holds."""
        return sum([self._purge(file) for file in list(self._library.trashed(user))])

    def remove_trashed(self, user: User) -> int:
        """The same for a user who is erased: by the files themselves, since the index of the trash may be behind."""
        found = list(self._repository.db.all(d.files_of_owner(user_id=user.user_id)))
        return sum([self._purge(file) for file in found if file.status == "deleted"])

    def _due(self) -> Iterator[FileKey]:
        last = self._repository.now() - self._kept
        day = last - LOOK_BACK
        while day.date() <= last.date():
            yield from self._repository.db.all(d.purgeable_files(day=day, until=last))
            day += _A_DAY

    def _purge_due(self, key: FileKey) -> bool:
        file = self._repository.db.one(d.files.get(key.user_id, key.file_id), consistent=True)
        last = self._repository.now() - self._kept
        if file is None or file.status != "deleted" or file.deleted_at is None or file.deleted_at > last:
            return False  # the index is behind
        return self._purge(file)

    # --- one file ---

    def _purge(self, file: File) -> bool:
        """Remove a deleted file; False if it is held, or was restored at this moment."""
        marked = self._marked(file)
        if marked is None:
            return False
        versions = list(self._repository.db.all(d.versions_of_file(file_id=file.file_id)))
        for version in versions:
            self._objects.remove(version.object_name)
        self._remove_shares(marked)
        return self._remove_rows(marked, versions)

    def _marked(self, file: File) -> File | None:
        if file.purged_at is not None:
            return file
        if file.held_by:
            return None
        # A change is conditional on the version that was read: held, restored or changed since, it is left alone.
        # From here on it is in no list, and due for the job if this run is killed.
        now = self._repository.now()
        due = min(file.deleted_at or now, now - self._kept)
        marks = {"purged_at": now, "place": None, "deleted_at": due}
        write = d.files.change(file, file.model_copy(update=marks))
        return write.item if self._repository.try_write(write) else None

    def _remove_shares(self, file: File) -> None:
        db = self._repository.db
        for share in list(db.all(d.shares_of_file(file_id=file.file_id))):
            db.write(d.shares.discard(share.file_id, share.shared_with_user_id))
        for link in list(db.all(d.links_of_owner(owner_id=file.user_id))):
            if link.target_id == file.file_id:
                with suppress(Stale, Missing):
                    db.write(d.links.delete(link))

    def _remove_rows(self, file: File, versions: list[FileVersion]) -> bool:
        """The rows of the versions, some at a time, the file with the last of them."""
        groups = _groups_of(versions)
        for group in groups:
            is_last = group is groups[-1]
            try:
                self._remove_group(file, group, is_last)
            except (Stale, Missing, ConditionNotMet):
                return False  # another run has removed them
        return True

    def _remove_group(self, file: File, group: list[FileVersion], is_last: bool) -> None:
        rows: list[Write[Any]] = [d.file_versions.delete(version) for version in group]
        size = sum(version.file_size for version in group)
        if is_last:
            rows.append(d.files.delete(file))
            rows.append(self._repository.audit(f"file:{file.file_id}", "purged", SYSTEM))
        with suppress(NotFound):
            # An erased owner has no quota.
            owner = self._repository.user(file.user_id)
            rows.append(quota.freed(owner, size, 1 if is_last else 0))
        self._repository.db.write(*rows)

    # --- bytes without an owner ---

    def sweep(self) -> int:
        """Remove bytes that a crash has left: older than three days, and of no version. A job."""
        found = sweep(self._objects, "files/", self._is_owned, SWEEP_AGE, self._repository.world)
        return sum(1 for _ in found)

    def _is_owned(self, name: str) -> bool:
        _, file_id, version_id = [*name.split("/"), "", ""][:3]
        versions = self._repository.db.all(d.versions_of_file(file_id=file_id))
        return any(version.version_id == version_id for version in versions)


def _groups_of(versions: list[FileVersion]) -> list[list[FileVersion]]:
    return [versions[start : start + _AT_ONCE] for start in range(0, len(versions), _AT_ONCE)] or [[]]
