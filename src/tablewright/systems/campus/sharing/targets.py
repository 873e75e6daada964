"""What is shared or linked to: a file or a folder, and who may decide about it.

Must hold: only the owner shares, and only what is whole: not an upload that is not complete, nothing in the trash,
nothing quarantined.
"""

from dataclasses import dataclass
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Forbidden, NotFound
from tablewright.systems.campus import design as d
from tablewright.systems.campus.errors import Gone, Locked
from tablewright.systems.campus.model import File, Folder, ShareTarget, User
from tablewright.systems.campus.repository import Repository
from tablewright.systems.campus.sharing.access_check import FileAccess


@dataclass(frozen=True, slots=True)
class Target:
    """A file or a folder of an owner."""

    kind: ShareTarget
    id: str
    owner_id: str
    name: str

    @property
    def subject(self) -> str:
        """Where its audit entries are."""
        return f"{self.kind}:{self.id}"

    def check(self) -> Write[Any]:
        """Makes a transaction depend on this owner having it: a transfer may be at it."""
        at = self.owner_id, self.id
        return d.files.check(*at) if self.kind == "file" else d.folders.check(*at)


def target_of(item: File | Folder) -> Target:
    if isinstance(item, File):
        return Target("file", item.file_id, item.user_id, item.filename)
    return Target("folder", item.folder_id, item.user_id, item.name)


class Targets:
    """Finds what a user wants to share."""

    def __init__(self, repository: Repository, access: FileAccess) -> None:
        self._repository, self._access = repository, access

    def file(self, user: User, file_id: str) -> Target:
        """A file of this user; OWNER_ONLY to those it is shared with, NOT_SHARED to all others."""
        file = self._repository.file(file_id)
        if file.upload_state != "complete":
            raise NotFound("file")
        if self._access.check(user, file) is not None:
            raise owner_only("file")
        if file.status == "deleted":
            raise Gone("DELETED", "This file is in the trash. Restore it before you share it.")
        if file.status == "quarantined":
            raise Locked("QUARANTINED", "A virus was found in this file, so it cannot be shared.")
        return target_of(file)

    def folder(self, user: User, folder_id: str) -> Target:
        folder = self._repository.folder(folder_id)
        if self._access.check_folder(user, folder) is not None:
            raise owner_only("folder")
        return target_of(folder)

    def of(self, user: User, kind: ShareTarget, id: str) -> Target:
        return self.file(user, id) if kind == "file" else self.folder(user, id)


def owner_only(noun: str) -> Forbidden:
    return Forbidden("OWNER_ONLY", f"Only the owner of this {noun} can do this.")
