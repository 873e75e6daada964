"""What is shared with someone, with its name and its owner: the rows of "Shared with me".

Must hold: a share whose file was deleted or is locked stays in the list and says so, so pages are full.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tablewright.systems.campus import design as d
from tablewright.systems.campus.model import File, Folder, Share, User
from tablewright.systems.campus.repository import Repository
from tablewright.systems.campus.sharing.access_check import FileAccess
from tablewright.systems.campus.sharing.links import is_locked

State = Literal["open", "deleted", "locked"]


@dataclass(frozen=True, slots=True)
class Received:
    """A share as its recipient sees it."""

    share: Share
    name: str
    owner_name: str
    file_size: int | None
    content_type: str | None
    state: State


class ReceivedShares:
    """Describes shares to their recipients."""

    def __init__(self, repository: Repository, access: FileAccess) -> None:
        self._repository, self._access = repository, access

    def described(self, shares: Sequence[Share]) -> list[Received]:
        """The shares with what they lead to, read in three calls whatever their number."""
        db = self._repository.db
        files = [d.files.get(one.owner_id, one.file_id) for one in shares if one.target == "file"]
        folders = [d.folders.get(one.owner_id, one.file_id) for one in shares if one.target == "folder"]
        owners = [d.users.get(user_id) for user_id in dict.fromkeys(one.owner_id for one in shares)]
        found: dict[str, File | Folder] = {}
        found |= {file.file_id: file for file in (db.many(files) if files else []) if file is not None}
        found |= {one.folder_id: one for one in (db.many(folders) if folders else []) if one is not None}
        people = {user.user_id: user for user in (db.many(owners) if owners else []) if user is not None}
        return [self._described(one, found.get(one.file_id), people.get(one.owner_id)) for one in shares]

    def _described(self, share: Share, item: File | Folder | None, owner: User | None) -> Received:
        owner_name = owner.name if owner is not None else "someone who left"
        if item is None:
            return Received(share, "deleted", owner_name, None, None, "deleted")
        if isinstance(item, Folder):
            return Received(share, item.name, owner_name, None, None, "open")
        state: State = "locked" if is_locked(self._access, item) else "open"
        state = "deleted" if item.status == "deleted" else state
        return Received(share, item.filename, owner_name, item.file_size, item.content_type, state)
