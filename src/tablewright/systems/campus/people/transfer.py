"""Ownership moves to another user: files, versions, folders, shares and links of someone who leaves (CC-X12).

In this order: the folders are copied, and their shares and links are the new owner's; the files move one after another;
the old folders are deleted. Must hold: a file has one owner at every moment, and its bytes are counted for that owner:
one transaction for each file has the file, its shares and links and both quotas. A recipient can open what is shared
at every moment. A run that was killed is continued by the next one; nothing is counted twice.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Refused
from tablewright.kit.tables import Actor
from tablewright.kit.tasks import Finished, Postponed
from tablewright.mapping import WriteRefused
from tablewright.systems.campus import design as d
from tablewright.systems.campus.errors import TooLarge
from tablewright.systems.campus.files import quota
from tablewright.systems.campus.files.folders import MAX_FOLDERS, Folders
from tablewright.systems.campus.files.library import trash_of
from tablewright.systems.campus.model import File, Link, Task, User
from tablewright.systems.campus.people.notifications import Notifier
from tablewright.systems.campus.repository import SYSTEM, Repository

TRANSFER = "transfer"
_AGAIN = timedelta(minutes=5)
# What one transaction can hold, with room for the file itself, the quotas and the audit entry.
_AT_ONCE = 90


class Transfer:
    """Gives everything a user owns to another."""

    def __init__(self, repository: Repository, notifier: Notifier, folders: Folders) -> None:
        self._repository, self._notifier, self._folders = repository, notifier, folders

    def start(self, user_id: str, to_id: str, by: User) -> Task:
        """Begin a transfer; QUOTA_EXCEEDED or FOLDER_LIMIT if the new owner has no room for it."""
        owner, to = self._repository.user(user_id), self._repository.user(to_id)
        if owner.user_id == to.user_id:
            raise Refused("SAME_OWNER", "Choose another user: these files are theirs already.", "to")
        if owner.storage_used > quota.free_of(to):
            facts = {"size": owner.storage_used, "free": quota.free_of(to)}
            words = f"{to.name} has no room for these files. Raise the quota first."
            raise TooLarge("QUOTA_EXCEEDED", words, "to", facts)
        folders = [len(self._folders.tree(one.user_id).by_id) for one in (owner, to)]
        if sum(folders) > MAX_FOLDERS:
            words = f"{to.name} would have more than {MAX_FOLDERS} folders. Delete some first."
            raise Refused("FOLDER_LIMIT", words, "to")
        now = self._repository.now()
        task = Task(
            task_id=self._repository.new_uuid(),
            kind=TRANSFER,
            created_at=now,
            due_at=now,
            about=user_id,
            to=to_id,
            by=by.user_id,
        )
        actor = Actor(by.name, "admin", by.user_id)
        entry = self._repository.audit(f"user:{user_id}", "transfer started", actor, None, {"to": to_id})
        self._repository.write("TRANSFER", d.tasks.add(task), entry)
        return task

    def run(self, task: Task) -> Finished | Postponed:
        """The handler of the task: everything that is still the old owner's. Open uploads are waited for."""
        assert task.to is not None
        old, to = self._repository.user(task.about), self._repository.user(task.to)
        try:
            self._copy_folders(old, to)
        except WriteRefused:
            return self._postponed("folders are being changed")
        files = list(self._repository.db.all(d.files_of_owner(user_id=old.user_id)))
        links, busy = self._links_of(old), self._being_replaced(old)
        try:
            left = [file for file in files if file.file_id in busy or not self._move(file, to, links)]
        except TooLarge:
            return self._postponed(f"{to.name} has no room for all of the files: raise the quota")
        if left:
            return self._postponed(f"{len(left)} files are being changed")
        if not self._folders.remove_copied(old, to) or not self._move_links(old, to):
            return self._postponed("folders or links are being changed")
        try:
            self._write_in_groups(list(self._late_shares(to)))
        except WriteRefused:
            return self._postponed("shares are being changed")
        facts = {"to": to.user_id, "files": len(files)}
        entry = self._repository.audit(f"user:{old.user_id}", "transferred", SYSTEM, None, facts)
        words = "Files were transferred to you."
        notices = self._notifier.tell(to, "account", words, link="/console/campus/files")
        return Finished((entry, *notices))

    def _postponed(self, note: str) -> Postponed:
        return Postponed(self._repository.now() + _AGAIN, note)

    def _copy_folders(self, old: User, to: User) -> None:
        links = self._links_of(old)
        for folder in self._folders.copy(old, to):
            self._write_in_groups(self._followers(folder.folder_id, to, links))

    def _being_replaced(self, old: User) -> set[str]:
        """The files that an open upload adds a version to."""
        found = self._repository.db.all(d.uploads_of_user(owner_id=old.user_id))
        return {upload.file_id for upload in found if upload.purpose == "version"}

    # --- one file ---

    def _move(self, file: File, to: User, links: Sequence[Link]) -> bool:
        """One file to its new owner; False if it was changed at this moment or is not a file yet: run again."""
        if file.upload_state == "pending" or file.purged_at is not None:
            return False
        place = trash_of(to.user_id) if file.status == "deleted" else file.folder_id or to.user_id
        after = file.model_copy(update={"user_id": to.user_id, "place": place, "version": file.version + 1})
        followers = [*self._versions(file, to), *self._followers(file.file_id, to, links)]
        try:
            self._write_in_groups(followers[:-_AT_ONCE])
            self._repository.db.write(
                d.files.delete(file),
                d.files.create(after),
                quota.freed(self._repository.user(file.user_id), file.stored_bytes, 1),
                quota.received(self._repository.user(to.user_id), file.stored_bytes),
                *followers[-_AT_ONCE:],
                self._repository.audit(
                    f"file:{file.file_id}", "owner changed", SYSTEM, None, {"to": to.user_id}
                ),
            )
            # What was shared while the transaction was made; from here on the old owner cannot share it.
            self._write_in_groups(list(self._shares(file.file_id, to)))
        except WriteRefused:
            return False
        return True

    def _versions(self, file: File, to: User) -> Iterator[Write[Any]]:
        for version in self._repository.db.all(d.versions_of_file(file_id=file.file_id)):
            if version.user_id != to.user_id:
                row = d.file_versions.update(version.file_id, version.version_number)
                yield row.at(lambda it: it.user_id).set(to.user_id)

    # --- shares and links ---

    def _followers(self, target_id: str, to: User, links: Sequence[Link]) -> list[Write[Any]]:
        """The writes that give the shares and links of a file or folder to its new owner."""
        return [
            *self._shares(target_id, to),
            *(_link(link, to) for link in links if link.target_id == target_id),
        ]

    def _shares(self, target_id: str, to: User) -> Iterator[Write[Any]]:
        """One with the new owner ends: it is theirs."""
        for share in self._repository.db.all(d.shares_of_file(file_id=target_id)):
            key = share.file_id, share.shared_with_user_id
            if share.shared_with_user_id == to.user_id:
                yield d.shares.discard(*key)
            elif share.owner_id != to.user_id:
                yield d.shares.update(*key).at(lambda it: it.owner_id).set(to.user_id)

    def _late_shares(self, to: User) -> Iterator[Write[Any]]:
        """Those of what the new owner has that were made while it moved; now the old owner can make none."""
        files = self._repository.db.all(d.files_of_owner(user_id=to.user_id))
        for id in (*self._folders.tree(to.user_id).by_id, *(file.file_id for file in files)):
            yield from self._shares(id, to)

    def _links_of(self, user: User) -> list[Link]:
        """A user's links, each as it is: the index may be behind."""
        db = self._repository.db
        found = list(db.all(d.links_of_owner(owner_id=user.user_id)))
        rows = db.many([d.links.get(one.token_digest) for one in found], consistent=True) if found else []
        return [row for row in rows if row is not None and row.owner_id == user.user_id]

    def _move_links(self, old: User, to: User) -> bool:
        """Links that were made while their target moved, and those to what is gone."""
        moves = [self._repository.try_write(_link(link, to)) for link in self._links_of(old)]
        return all(moves)

    def _write_in_groups(self, writes: Sequence[Write[Any]]) -> None:
        for start in range(0, len(writes), _AT_ONCE):
            self._repository.db.write(*writes[start : start + _AT_ONCE])


def _link(link: Link, to: User) -> Write[Link]:
    """Not a change of the whole row, which each download would refuse; its place in the index needs all three."""
    before = link.owner_id
    return (
        d.links.update(link.token_digest)
        .at(lambda it: it.owner_id)
        .set(to.user_id)
        .at(lambda it: it.created_at)
        .set(link.created_at)
        .at(lambda it: it.link_id)
        .set(link.link_id)
        .when(lambda it: it.owner_id == before)
    )
