"""The quota recounted: what a user's versions and open uploads really are (CC-D31).

Must hold: a correction is written only if nothing was changed while it was counted, by the version of the user.
Also: files in a folder that is gone are at the top again.
"""

import logging

from tablewright.kit.rounds import Stretch
from tablewright.systems.campus import design as d
from tablewright.systems.campus.files import quota
from tablewright.systems.campus.files.folders import Folders
from tablewright.systems.campus.model import File, Upload, User
from tablewright.systems.campus.repository import Repository

log = logging.getLogger("tablewright.campus")
_AT_ONCE = 500


class Recount:
    """Recounts quotas, some users at a time."""

    def __init__(self, repository: Repository, folders: Folders) -> None:
        self._repository, self._folders = repository, folders

    def run(self) -> int:
        """Visit the next users of today's round; how many. A job."""
        return d.rounds.run(self._repository.db, "recount", self._among, lambda user_id: self.user(user_id))

    def _among(self, after: str | None) -> Stretch[str]:
        ids = sorted(user.user_id for user in self._repository.db.every(d.users))
        left = [one for one in ids if after is None or one > after]
        return Stretch(left[:_AT_ONCE], left[_AT_ONCE - 1] if len(left) > _AT_ONCE else None)

    def user(self, user_id: str) -> bool:
        """Count one user's bytes; True if they were corrected."""
        before = self._repository.db.one(d.user_by_id(user_id))
        if before is None:
            return False
        used, pending, files = self._counted(user_id)
        uploads = self._open_uploads(user_id)
        # Those of new files are among the pending ones.
        reserved = pending + sum(one.file_size for one in uploads if one.purpose == "version")
        by_links = sum(one.file_size for one in uploads if one.link_id is not None)
        statistics = before.statistics.model_copy(update={"total_files": files})
        right = {
            "storage_used": used,
            "storage_reserved": reserved,
            "link_reserved": by_links,
            "statistics": statistics,
        }
        after = before.model_copy(
            update=right | {"quota_notice": quota.notice_of(used, before.storage_quota)}
        )
        if _sums(after) == _sums(before):
            return False
        if not self._repository.try_write(d.users.change(before, after)):
            return False  # something was uploaded or purged in between: the next round counts again
        log.warning("quota corrected", extra={"used": used - before.storage_used})
        return True

    def _counted(self, user_id: str) -> tuple[int, int, int]:
        """The bytes of complete files, those of files that are being uploaded, and how many are complete."""
        known = {None, *self._folders.tree(user_id).by_id}
        used = pending = files = 0
        for file in self._repository.db.all(d.files_of_owner(user_id=user_id)):
            if file.upload_state == "pending":
                pending += file.file_size
                continue
            used += self._stored(file)
            files += 1
            if file.folder_id not in known and file.status != "deleted":
                self._to_the_top(file)
        return used, pending, files

    def _stored(self, file: File) -> int:
        if file.purged_at is None:
            return file.stored_bytes
        # Some of its versions may be gone already.
        return sum(
            version.file_size for version in self._repository.db.all(d.versions_of_file(file_id=file.file_id))
        )

    def _open_uploads(self, user_id: str) -> list[Upload]:
        """Each is read again, since the index may still have those that are complete."""
        db = self._repository.db
        found = list(db.all(d.uploads_of_user(owner_id=user_id)))
        rows = db.many([d.uploads.get(one.upload_id) for one in found], consistent=True) if found else []
        return [row for row in rows if row is not None]

    def _to_the_top(self, file: File) -> None:
        fresh = self._repository.db.one(d.files.get(file.user_id, file.file_id), consistent=True)
        if fresh is not None and fresh.folder_id == file.folder_id:
            moved = fresh.model_copy(update={"folder_id": None, "place": fresh.user_id})
            self._repository.try_write(d.files.change(fresh, moved))


def _sums(user: User) -> tuple[int, int, int, int]:
    return user.storage_used, user.storage_reserved, user.link_reserved, user.statistics.total_files
