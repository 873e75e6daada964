"""Whether a user may read or write a file: as its owner, or through a share of it or of a folder above it.

A share can be for the user, the user's address, a course or a team. Of several active shares the most permissive
counts. Must hold: the decision rests on consistent reads of the shares' own rows, judged at this moment
(rules.share_status), so a revoked or expired share is refused at once on every node, whatever TTL has swept (CC-S3,
CC-S4); who never had a share learns nothing about a file but that it is not shared with them.
Elsewhere: making and revoking shares (shares.py), public links (links.py).
"""

from collections.abc import Iterable, Sequence
from itertools import product

from tablewright.edge.errors import Forbidden
from tablewright.systems.campus import design as d
from tablewright.systems.campus import rules
from tablewright.systems.campus.errors import Gone, Locked
from tablewright.systems.campus.model import File, FileVersion, Folder, ScanStatus, Share, User
from tablewright.systems.campus.repository import Repository
from tablewright.systems.campus.settings import Settings
from tablewright.systems.campus.sharing import recipients
from tablewright.systems.campus.sharing.access_counts import AccessCounts
from tablewright.systems.campus.sharing.ended_rows import all_even_ended, even_ended

MAX_DEPTH = 50  # more than a folder can have; ends the walk if rows are damaged


class FileAccess:
    """Decides who may read and write files and folders."""

    def __init__(self, repository: Repository, settings: Settings) -> None:
        self._repository, self._settings = repository, settings
        self.counts = AccessCounts(repository)

    def check(self, user: User, file: File, write: bool = False) -> Share | None:
        """The share that allows it, None for the owner; NOT_SHARED, READ_ONLY, SHARE_EXPIRED, SHARE_REVOKED.

        Bytes that others must not get are 423 for everyone but the owner: QUARANTINED, SCAN_PENDING.
        """
        share = self.share_of(user, file, write)
        if share is not None:
            self.refuse_locked(file)
        return share

    def share_of(self, user: User, file: File, write: bool = False) -> Share | None:
        """The same, whatever the state of the bytes: such as for who has just sent a new version."""
        if user.user_id == file.user_id:
            return None
        targets = [file.file_id, *(each.folder_id for each in self.above(file.user_id, file.folder_id))]
        return self._share(user, targets, write)

    def check_folder(self, user: User, folder: Folder, write: bool = False) -> Share | None:
        """The same for a folder."""
        if user.user_id == folder.user_id:
            return None
        return self._share(
            user, [each.folder_id for each in self.above(folder.user_id, folder.folder_id)], write
        )

    def used(self, share: Share) -> None:
        """Count an access through a share (CC-22)."""
        self.counts.add(share)

    def forget(self, target_id: str) -> None:
        """Remove the shares of something that was deleted for good."""
        for share in list(self._repository.db.all(all_even_ended(d.shares_of_file(file_id=target_id)))):
            self._repository.db.write(d.shares.discard(share.file_id, share.shared_with_user_id))

    def refuse_locked(self, file: File) -> None:
        """423 for bytes that only their owner may have: infected, or not scanned yet (CC-D6)."""
        self._refuse("infected" if file.status == "quarantined" else file.virus_scan_status)

    def refuse_locked_bytes(self, object_name: str, *, is_own: bool = False) -> FileVersion:
        """The same for bytes that are known by their name: by the scan of the version they are, and by nothing else.

        The file may have another version since, or be in the trash. `is_own`: for who has sent them.
        """
        version = self.version_of(object_name)
        if version.virus_scan_status == "infected" or not is_own:
            self._refuse(version.virus_scan_status)
        return version

    def version_of(self, object_name: str) -> FileVersion:
        """The version that has these bytes; DELETED if there is none."""
        _, file_id, _ = [*object_name.split("/"), "", ""][:3]
        for version in self._repository.db.all(d.versions_of_file(file_id=file_id)):
            if version.object_name == object_name:
                return version
        raise Gone("DELETED", "The bytes of this file are gone.")

    def _refuse(self, status: ScanStatus) -> None:
        if status == "infected":
            raise Locked("QUARANTINED", "A virus was found in this file, so it cannot be opened.")
        if status == "pending" and (self._settings.has_scanner or not self._settings.shares_unscanned):
            raise Locked(
                "SCAN_PENDING", "This file is still being checked for viruses. Try again in a minute."
            )
        if status == "unscanned" and not self._settings.shares_unscanned:
            raise Locked(
                "NOT_SCANNED", "This file could not be checked for viruses, so only its owner can open it."
            )

    def above(self, owner_id: str, folder_id: str | None) -> list[Folder]:
        """A folder and all folders above it, the nearest first."""
        found: list[Folder] = []
        while folder_id is not None and len(found) < MAX_DEPTH:
            folder = self._repository.db.one(d.folders.get(owner_id, folder_id), consistent=True)
            if folder is None:
                break
            found.append(folder)
            folder_id = folder.parent_id
        return found

    # --- parts ---

    def _share(self, user: User, targets: Sequence[str], write: bool) -> Share:
        """The most permissive active share. Teams are looked up only if nothing else allows it: they cost more."""
        found = self._rows(targets, recipients.personal(self._repository, user))
        if (best := self._best(found, write)) is not None:
            return best
        found += self._rows(targets, recipients.teams_of(self._repository, user))
        if (best := self._best(found, write)) is not None:
            return best
        raise self._refusal(found)

    def _rows(self, targets: Sequence[str], who: Sequence[str]) -> list[Share]:
        gets = [even_ended(d.shares.get(target, one)) for target, one in product(targets, who)]
        rows = self._repository.db.many(gets, consistent=True) if gets else []
        return [row for row in rows if row is not None]

    def _best(self, found: Iterable[Share], write: bool) -> Share | None:
        now = self._repository.now()
        active = [share for share in found if rules.share_status(share, now) == "active"]
        allowing = [share for share in active if share.permissions == "write" or not write]
        return max(allowing, key=lambda share: share.permissions == "write", default=None)

    def _refusal(self, found: Sequence[Share]) -> Forbidden:
        now = self._repository.now()
        states = {rules.share_status(share, now) for share in found}
        if "active" in states:
            return Forbidden("READ_ONLY", "This is shared with you for reading only.")
        if "expired" in states:
            return Forbidden("SHARE_EXPIRED", "This is no longer shared with you: the share has ended.")
        if "revoked" in states:
            return Forbidden("SHARE_REVOKED", "This is no longer shared with you: its owner ended the share.")
        return Forbidden("NOT_SHARED", "This is not shared with you. Ask its owner to share it.")
