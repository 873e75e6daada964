"""Versions of a file: the bytes it has and had (CC-X6).

Restoring a version makes its bytes the current ones again; nothing is copied, and no quota is charged. A new version
comes with an upload (uploads.py) by the owner or by someone who may write (CC-D32).
Must hold: the current version is one of the list; bytes that are infected never become current.
"""

from tablewright.edge.errors import NotFound
from tablewright.systems.campus import design as d
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.files.library import Library
from tablewright.systems.campus.files.names import actor_of
from tablewright.systems.campus.files.slots import current
from tablewright.systems.campus.model import File, FileVersion, User
from tablewright.systems.campus.repository import Repository
from tablewright.systems.campus.sharing.access_check import FileAccess


class Versions:
    """The versions of files."""

    def __init__(self, repository: Repository, library: Library, access: FileAccess) -> None:
        self._repository, self._library, self._access = repository, library, access

    def of(self, file: File) -> list[FileVersion]:
        """All versions, newest first."""
        return list(self._repository.db.all(d.versions_of_file(file_id=file.file_id)))

    def one(self, file: File, number: int) -> FileVersion:
        found = self._repository.db.one(d.file_versions.get(file.file_id, number), consistent=True)
        if found is None:
            raise NotFound("version")
        return found

    def readable(self, user: User, file_id: str, number: int) -> tuple[File, FileVersion]:
        """A version whose bytes this user may read: those that may write see older ones too."""
        file = self._library.readable(user, file_id, write=True)
        version = self.one(file, number)
        self._access.refuse_locked_bytes(version.object_name, is_own=file.user_id == user.user_id)
        return file, version

    def restore(self, user: User, file_id: str, number: int, expected: int | None = None) -> File:
        """Make a previous version the current one."""
        repository = self._repository

        def attempt() -> File:
            file, version = self.readable(user, file_id, number)
            if expected is not None and file.version != expected:
                raise Changed
            if file.version_number == number:
                return file
            change = {**current(version), "last_modified": repository.later_than(file.last_modified)}
            write = d.files.change(file, file.model_copy(update=change))
            # The scan of the version ends by changing its row: it must not end between our read and this.
            status = version.virus_scan_status
            same = d.file_versions.check(file_id, number).when(lambda v: v.virus_scan_status == status)
            entry = repository.audit(
                f"file:{file_id}", "version restored", actor_of(user), {}, {"version": number}
            )
            repository.write("FILE", write, same, entry)
            return write.item or file

        return repository.retried(expected, attempt)
