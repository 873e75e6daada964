"""Ownership moves to another user: the files, versions and folders of someone who leaves (CC-X12).

A task moves one file after another, so any number can be moved. Must hold: a file has one owner at every moment, and
its bytes are counted for that owner, by one transaction for each file; a run that was killed is gone on with.
"""

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
from tablewright.systems.campus.files.library import trash_of
from tablewright.systems.campus.model import File, Task, User
from tablewright.systems.campus.people.notifications import Notifier
from tablewright.systems.campus.repository import SYSTEM, Repository

TRANSFER = "transfer"
_AGAIN = timedelta(minutes=5)


class Transfer:
    """Gives everything a user owns to another."""

    def __init__(self, repository: Repository, notifier: Notifier) -> None:
        self._repository, self._notifier = repository, notifier

    def start(self, user_id: str, to_id: str, by: User) -> Task:
        """Begin a transfer; QUOTA_EXCEEDED if the new owner has no room for it."""
        owner, to = self._repository.user(user_id), self._repository.user(to_id)
        if owner.user_id == to.user_id:
            raise Refused("SAME_OWNER", "Choose another user: these files are theirs already.", "to")
        if owner.storage_used > quota.free_of(to):
            facts = {"size": owner.storage_used, "free": quota.free_of(to)}
            words = f"{to.name} has no room for these files. Raise the quota first."
            raise TooLarge("QUOTA_EXCEEDED", words, "to", facts)
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
        to = self._repository.user(task.to)
        folders = list(self._repository.db.all(d.folders_of_user(user_id=task.about)))
        # The top has the id of its user, and is not a folder of anyone.
        for folder in (each for each in folders if each.folder_id != each.user_id):
            moved = folder.model_copy(update={"user_id": to.user_id})
            self._repository.db.write(
                d.folders.discard(folder.user_id, folder.folder_id), d.folders.create(moved)
            )
        files = list(self._repository.db.all(d.files_of_owner(user_id=task.about)))
        count = sum([self._move(file, to) for file in files])
        if count < len(files):
            return Postponed(self._repository.now() + _AGAIN, f"{len(files) - count} files are being changed")
        entry = self._repository.audit(
            f"user:{task.about}", "transferred", SYSTEM, None, {"to": to.user_id, "files": count}
        )
        told = self._notifier.tell(
            to, "account", "Files were transferred to you.", link="/console/campus/files"
        )
        return Finished((entry, *told))

    def _move(self, file: File, to: User) -> bool:
        """One file to its new owner; False if it was changed at this moment or is not a file yet: run again."""
        if file.upload_state == "pending" or file.purged_at is not None:
            return False
        place = file.folder_id or to.user_id
        if file.status == "deleted":
            place = trash_of(to.user_id)
        after = file.model_copy(update={"user_id": to.user_id, "place": place, "version": 1})
        versions = list(self._repository.db.all(d.versions_of_file(file_id=file.file_id)))
        size = sum(version.file_size for version in versions)
        rows: list[Write[Any]] = [
            d.files.delete(file),
            d.files.create(after),
            *(
                d.file_versions.update(version.file_id, version.version_number)
                .at(lambda it: it.user_id)
                .set(to.user_id)
                for version in versions[:90]
            ),
            _owner_change(file.user_id, -size, -1),
            _owner_change(to.user_id, size, 1),
            self._repository.audit(f"file:{file.file_id}", "owner changed", SYSTEM, None, {"to": to.user_id}),
        ]
        try:
            self._repository.db.write(*rows)
        except WriteRefused:
            return False
        self._move_shares(file.file_id, to)
        return True

    def _move_shares(self, file_id: str, to: User) -> None:
        for share in list(self._repository.db.all(d.shares_of_file(file_id=file_id))):
            write = d.shares.update(share.file_id, share.shared_with_user_id).at(lambda it: it.owner_id)
            self._repository.try_write(write.set(to.user_id))


def _owner_change(user_id: str, size: int, files: int) -> Write[User]:
    return (
        d.users.update(user_id)
        .at(lambda u: u.storage_used)
        .add(size)
        .at(lambda u: u.statistics.total_files)
        .add(files)
    )
