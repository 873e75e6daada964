"""A user's files: one of them, lists, changes, the trash, and the bytes (CC-X3 to CC-X5).

Must hold: only the owner moves, deletes and restores; a writer also edits description and tags (CC-D32). A file that
was deleted is 410, one that is quarantined is 423 for everybody, and bytes that no scanner has found clean are for
their owner alone. What is deleted stays for 30 days, and its bytes as long as a submission holds them (CC-D18).
Elsewhere: lists in other orders (file_lists.py), new bytes (uploads.py, versions.py), the end of the trash (purge.py),
shares (sharing/access_check.py), how often a file was downloaded (download_counts.py).
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Forbidden, NotFound
from tablewright.kit.objects.store import ObjectMissing, ObjectStore, ObjectStream, SignedRequest
from tablewright.systems.campus import design as d
from tablewright.systems.campus.errors import Changed, Gone, Locked
from tablewright.systems.campus.files.download_counts import DownloadCounts
from tablewright.systems.campus.files.folders import Folders
from tablewright.systems.campus.files.names import (
    actor_of,
    checked_description,
    checked_metadata,
    checked_name,
    checked_tags,
)
from tablewright.systems.campus.files.readers import of_user
from tablewright.systems.campus.model import File, Share, User
from tablewright.systems.campus.repository import SYSTEM, Repository
from tablewright.systems.campus.sharing.access_check import FileAccess

LINK_LASTS = timedelta(minutes=5)
WRITERS_FIELDS = frozenset(("description", "tags"))


class Library:
    """The files of a campus."""

    def __init__(
        self,
        repository: Repository,
        objects: ObjectStore,
        access: FileAccess,
        folders: Folders,
        counts: DownloadCounts,
    ) -> None:
        self._repository, self._objects, self._access = repository, objects, access
        self._folders, self._counts = folders, counts

    # --- one file ---

    def readable(self, user: User, file_id: str, write: bool = False) -> File:
        """A file whose bytes this user may read, or replace; 404, 403, 410 or 423."""
        return self.reached(user, file_id, write)[0]

    def reached(self, user: User, file_id: str, write: bool = False) -> tuple[File, Share | None]:
        """The same, with the share that allows it; None for the owner."""
        file = self._complete(file_id)
        share = self._access.check(user, file, write)
        if file.status == "deleted":
            raise Gone("DELETED", "This file was deleted.")
        if file.status == "quarantined":
            raise Locked("QUARANTINED", "A virus was found in this file, so it cannot be opened.")
        return file, share

    def shown(self, user: User, file_id: str) -> File:
        """What is known of a file: also of one in the trash or in quarantine, for its owner."""
        file = self._complete(file_id)
        return file if file.user_id == user.user_id else self.readable(user, file_id)

    def owned(self, user: User, file_id: str) -> File:
        """A file of this user, in whatever state; OWNER_ONLY to those it is shared with."""
        file = self._complete(file_id)
        if file.user_id != user.user_id:
            self._access.check(user, file)
            raise Forbidden("OWNER_ONLY", "Only the owner of this file can do this.")
        return file

    def _complete(self, file_id: str) -> File:
        file = self._repository.file(file_id)
        if file.upload_state != "complete" or file.purged_at is not None:
            raise NotFound("file")
        return file

    # --- bytes ---

    def open(self, file: File, start: int = 0, end: int | None = None) -> ObjectStream:
        """The bytes of a file, from `start` to before `end`."""
        return self.open_object(file.object_name, start, end)

    def open_object(self, object_name: str, start: int = 0, end: int | None = None) -> ObjectStream:
        """Bytes that are known by their name, such as those a submission holds."""
        try:
            return self._objects.read(object_name, start, end)
        except ObjectMissing:
            raise Gone("DELETED", "The bytes of this file are gone.") from None

    def download_link(self, user: User, file_id: str) -> SignedRequest:
        """A link to the bytes that is valid for five minutes; counted as a download (CC-X3)."""
        file, share = self.reached(user, file_id)
        self.downloaded(file, user, share)
        return self._objects.sign_get(
            file.object_name,
            LINK_LASTS,
            filename=file.filename,
            content_type=file.content_type,
            subject=of_user(user.user_id).subject,
        )

    def active_user(self, user_id: str) -> User:
        """The user a link was signed for; SUSPENDED if the account is suspended or erased."""
        user = self._repository.user(user_id)
        if user.status == "suspended" or user.erased_at is not None:
            raise Forbidden("SUSPENDED", "This account is suspended.")
        return user

    def refuse_reader(self, user: User, object_name: str) -> None:
        """Raise unless this user may read these bytes now, which may be of an older version."""
        version = self._access.version_of(object_name)
        file = self.readable(user, version.file_id)
        self._access.refuse_locked_bytes(object_name, is_own=user.user_id == file.user_id)

    def downloaded(self, file: File, by: User | None, share: Share | None = None) -> None:
        """Count a download, once for each action of a user, and record who it was."""
        self._counts.add(file)
        if share is not None:
            self._access.used(share)
        if by is not None:
            self._repository.db.write(
                self._repository.audit(f"file:{file.file_id}", "downloaded", actor_of(by))
            )

    def fetched(self, file: File, by: User, share: Share | None = None) -> None:
        """Count a request for bytes: the first in ten minutes, whatever its range; the others are its parts."""
        if self._counts.begins(by.user_id, file.version_id):
            self.downloaded(file, by, share)

    # --- changes ---

    def edit(self, user: User, file_id: str, changes: dict[str, Any], version: int | None = None) -> File:
        """Change name, folder, metadata, description or tags; others who may write change the last two only."""
        given = dict(changes)
        if "filename" in given:
            given["filename"] = checked_name(given["filename"])
        if "tags" in given:
            given["tags"] = checked_tags(given["tags"] or [])
        if "description" in given:
            given["description"] = checked_description(given["description"])
        if "metadata" in given:
            given["metadata"] = checked_metadata(given["metadata"])
        is_for_owner = not WRITERS_FIELDS.issuperset(given)

        def attempt() -> File:
            before = self.readable(user, file_id, write=True)
            if is_for_owner and before.user_id != user.user_id:
                raise Forbidden("OWNER_ONLY", "Only the owner can rename or move this file.")
            checks = self._folder_checks(before.user_id, given)
            after = before.model_copy(update=given | self._new_place(before, given))
            return self._changed(user, before, after, "changed", version, *checks)

        return self._repository.retried(version, attempt)

    def _folder_checks(self, owner_id: str, given: dict[str, Any]) -> list[Write[Any]]:
        if given.get("folder_id") is None:
            return []
        folder = self._repository.folder(given["folder_id"])
        if folder.user_id != owner_id or folder.folder_id == owner_id:
            raise NotFound("folder")
        return [d.folders.check(owner_id, folder.folder_id)]

    @staticmethod
    def _new_place(before: File, given: dict[str, Any]) -> dict[str, Any]:
        return {"place": given["folder_id"] or before.user_id} if "folder_id" in given else {}

    def _changed(
        self,
        user: User,
        before: File,
        after: File,
        action: str,
        version: int | None = None,
        *more: Write[Any],
    ) -> File:
        if version is not None and before.version != version:
            raise Changed
        after = after.model_copy(update={"last_modified": self._repository.later_than(before.last_modified)})
        if before.status == after.status:
            write = d.files.change(before, after)
        else:
            write = d.files.move(before, after, by=actor_of(user).role)
        self._repository.write(
            "FILE", write, *more, self._repository.audit(_subject(before), action, actor_of(user))
        )
        assert write.item is not None
        return write.item

    # --- the trash ---

    def trash(self, user: User, file_id: str, version: int | None = None) -> File:
        """Move a file to the trash. It stays for 30 days; a submission keeps its bytes for longer (CC-S10)."""

        def attempt() -> File:
            before = self.owned(user, file_id)
            if before.status == "deleted":
                return before
            if before.status == "quarantined":
                raise Locked("QUARANTINED", "A virus was found in this file: an admin decides about it.")
            gone = {
                "status": "deleted",
                "deleted_at": self._repository.now(),
                "place": trash_of(user.user_id),
            }
            return self._changed(user, before, before.model_copy(update=gone), "deleted", version)

        return self._repository.retried(version, attempt)

    def restore(self, user: User, file_id: str) -> File:
        """Take a file out of the trash, into its folder if that is still there."""

        def attempt() -> File:
            before = self.owned(user, file_id)
            if before.status != "deleted":
                return before
            if before.virus_scan_status == "infected":
                raise Locked("QUARANTINED", "A virus was found in this file, so it cannot be restored.")
            folder_id = self._still_there(before)
            back = {
                "status": "active",
                "deleted_at": None,
                "folder_id": folder_id,
                "place": folder_id or user.user_id,
            }
            checks = [d.folders.check(user.user_id, folder_id)] if folder_id is not None else []
            return self._changed(user, before, before.model_copy(update=back), "restored", None, *checks)

        return self._repository.retried(None, attempt)

    def _still_there(self, file: File) -> str | None:
        if file.folder_id is None:
            return None
        folder = self._repository.db.one(d.folders.get(file.user_id, file.folder_id), consistent=True)
        return folder.folder_id if folder is not None else None

    def trashed(self, user: User) -> Iterator[File]:
        """Everything in a user's trash; files whose removal has begun are not in it any more."""
        return self._repository.db.all(d.files_in_place(place=trash_of(user.user_id)))

    def trash_folder(self, user: User, folder_id: str) -> int:
        """Move all files of a folder and those below it to the trash, and delete the folders; how many files."""
        tree, count = self._folders.tree(user.user_id), 0
        for folder in [tree.folder(folder_id), *tree.below(folder_id)]:
            for file in list(self._repository.db.all(d.files_in_place(place=folder.folder_id))):
                count += self._taken_out(user, file)
        for gone in self._folders.remove(user, folder_id):
            self._access.forget(gone.folder_id)
        return count

    def _taken_out(self, user: User, file: File) -> bool:
        """Out of a folder that is deleted, to the trash; False for what is quarantined: it moves to the top."""
        try:
            self.trash(user, file.file_id)
            return True
        except Locked:
            top = {"folder_id": None, "place": user.user_id}
            keep = lambda: self._moved(user, file.file_id, top)  # noqa: E731  # tried several times
            self._repository.retried(None, keep)
            return False

    def _moved(self, user: User, file_id: str, place: dict[str, Any]) -> File:
        before = self.owned(user, file_id)
        return self._changed(user, before, before.model_copy(update=place), "changed")

    def trash_erased(self, user: User, file_id: str) -> None:
        """Move a file of a user who is erased to the trash, also out of quarantine."""

        def attempt() -> None:
            before = self.owned(user, file_id)
            if before.status != "deleted":
                gone = {"status": "deleted", "deleted_at": self._repository.now()}
                after = before.model_copy(update=gone | {"place": trash_of(user.user_id)})
                entry = self._repository.audit(_subject(before), "deleted", SYSTEM)
                self._repository.write("FILE", d.files.move(before, after, by="system"), entry)

        self._repository.retried(None, attempt)

    # --- submissions ---

    def hold(self, file: File, submission_id: str) -> Write[File]:
        """Keep the bytes for a submission: to be written with it. Stale if the file was changed since it was read."""
        held = [*file.held_by, submission_id]
        return d.files.change(file, file.model_copy(update={"held_by": list(dict.fromkeys(held))}))

    def unhold(self, file: File, submission_id: str) -> Write[File]:
        """A submission does not need the bytes any more. A deleted file is then purged after 30 more days."""
        left = {"held_by": [one for one in file.held_by if one != submission_id]}
        if file.status == "deleted" and not left["held_by"]:
            return d.files.change(file, file.model_copy(update=left | {"deleted_at": self._repository.now()}))
        return d.files.change(file, file.model_copy(update=left))


def trash_of(user_id: str) -> str:
    """The place of a user's deleted files."""
    return f"trash-{user_id}"


def _subject(file: File) -> str:
    return f"file:{file.file_id}"
