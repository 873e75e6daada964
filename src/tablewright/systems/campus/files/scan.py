"""Scans: every version of a file is given to the scanner once, as a task (CC-D6, CC-S5).

Must hold: infected bytes are locked in the transaction that ends their scan, so nothing can be shared or downloaded
after it: the version, and the file if it has no clean version to fall back to; a version that the scanner cannot read
whole is unscanned, never clean. A scanner that does not answer is asked again, and the file stays pending.
Elsewhere: scanners (scanner.py), who may read what is not clean (sharing/access_check.py).
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Conflict, NotFound
from tablewright.kit.objects.store import ObjectMissing, ObjectStore
from tablewright.kit.tasks import Finished, Postponed
from tablewright.systems.campus import design as d
from tablewright.systems.campus.files.library import trash_of
from tablewright.systems.campus.files.names import actor_of
from tablewright.systems.campus.files.scanner import (
    ClamdScanner,
    Clean,
    Infected,
    NoScanner,
    Scanner,
    Unscanned,
)
from tablewright.systems.campus.files.signature_scanner import SignatureScanner
from tablewright.systems.campus.files.slots import current
from tablewright.systems.campus.model import File, FileVersion, ScanStatus, Task, User
from tablewright.systems.campus.people.notifications import Notifier
from tablewright.systems.campus.repository import SYSTEM, Repository


class ScannerAbsent(Exception):
    """The scanner did not answer; the scan is tried again."""


class ScannerUnknown(ValueError):
    """The settings name a scanner that does not exist."""


def scanner_of(setting: str, checksums: Iterable[str] = ()) -> Scanner:
    """The scanner that the settings name: `none`, `signatures` with its checksums, or `clamd:` with its address."""
    if setting == "none":
        return NoScanner()
    if setting == "signatures":
        listed = [one.lower().removeprefix("sha256:") for one in checksums]
        return SignatureScanner({one: f"Listed-{one[:12]}" for one in listed})
    kind, _, address = setting.partition(":")
    if kind != "clamd" or not address:
        raise ScannerUnknown(f"scanner must be none, signatures or clamd:address, not {setting}")
    return ClamdScanner(address)


class Scans:
    """Scans of files, and what admins decide about what was found."""

    def __init__(
        self,
        repository: Repository,
        objects: ObjectStore,
        scanner: Scanner,
        notifier: Notifier,
    ) -> None:
        self._repository, self._objects, self._scanner = repository, objects, scanner
        self._notifier = notifier

    def run(self, task: Task) -> Finished | Postponed:
        """The task of a version. Raises if the scanner does not answer: it is run again."""
        _, file_id, number = task.about.split("/")
        version = self._repository.db.one(d.file_versions.get(file_id, int(number)), consistent=True)
        if version is None or version.virus_scan_status != "pending":
            return Finished()  # purged, or scanned before
        try:
            with self._objects.read(version.object_name) as stream:
                found = self._scanner.scan(stream)
        except ObjectMissing:
            return Finished()
        file = self._file_of(version)
        if file is None:
            return Finished()
        if isinstance(found, Unscanned) and found.retry:
            raise ScannerAbsent(found.reason)
        if isinstance(found, Infected):
            return Finished(tuple(self._quarantined(file, version, found.signature)))
        status: ScanStatus = "clean" if isinstance(found, Clean) else "unscanned"
        return Finished(tuple(self._passed(file, version, status)))

    def _file_of(self, version: FileVersion) -> File | None:
        """By the owner that the version has, or by its id: it may be on its way to another owner."""
        found = self._repository.db.one(d.files.get(version.user_id, version.file_id), consistent=True)
        with suppress(NotFound):
            return found or self._repository.file(version.file_id)
        return None

    def _passed(self, file: File, version: FileVersion, status: ScanStatus) -> list[Write[Any]]:
        writes: list[Write[Any]] = [_scanned(version, status)]
        if file.version_id == version.version_id:
            writes.append(d.files.change(file, self._marked(file, status)))
        elif file.status == "quarantined" and status == "clean":
            # The virus is in another version, whose scan ended first.
            infected = d.file_versions.update(file.file_id, file.version_number)
            writes.append(_in_review(infected, file.virus_signature))
            after = self._with_bytes(file, version).model_copy(
                update={"virus_scan_status": status, "status": "active"}
            )
            writes.append(d.files.move(file, after, by="system"))
        return writes

    def _with_bytes(self, file: File, version: FileVersion) -> File:
        """The file with a clean version as its current one."""
        now = self._repository.later_than(file.last_modified)
        marks = {"virus_scan_date": self._repository.now(), "virus_signature": None, "last_modified": now}
        return file.model_copy(update={**current(version), **marks})

    def _newest_clean(self, file: File) -> FileVersion | None:
        versions = self._repository.db.all(d.versions_of_file(file_id=file.file_id))
        return next((one for one in versions if one.virus_scan_status == "clean"), None)

    def _quarantined(self, file: File, version: FileVersion, signature: str) -> list[Write[Any]]:
        """The writes for a virus: it locks the version alone if the file has other bytes, or had clean ones."""
        is_current = file.version_id == version.version_id
        clean = self._newest_clean(file) if is_current and file.status != "quarantined" else None
        if clean is not None or not is_current:
            return self._locked_alone(file, version, signature, clean)
        writes: list[Write[Any]] = [_scanned(version, "infected")]
        after = self._marked(file, "infected", signature)
        if file.status == "active":
            moved = after.model_copy(update={"status": "quarantined"})
            writes.append(d.files.move(file, moved, by="system"))
        else:  # in the trash already: it cannot be restored
            writes.append(d.files.change(file, after))
        return writes + self._told(file, version, signature, f"{file.filename}. The file is locked.")

    def _locked_alone(
        self, file: File, version: FileVersion, signature: str, clean: FileVersion | None
    ) -> list[Write[Any]]:
        """The writes for a version that is locked; the file goes on with the clean one, if that is given."""
        writes: list[Write[Any]] = [_in_review(_scanned(version, "infected"), signature)]
        words = f"version {version.version_number} of {file.filename}. That version is locked."
        if clean is not None:
            words += f" The file has version {clean.version_number} again."
            writes.append(d.files.change(file, self._with_bytes(file, clean)))
            # An admin may decide about it at this moment.
            same = d.file_versions.check(file.file_id, clean.version_number)
            writes.append(same.when(lambda v: v.virus_scan_status == "clean"))
        return writes + self._told(file, version, signature, words)

    def _told(self, file: File, version: FileVersion, signature: str, where: str) -> list[Write[Any]]:
        """The owner is told, and it is recorded."""
        owner = self._repository.user(file.user_id)
        words = f"A virus ({signature}) was found in {where}"
        link = f"/console/campus/files/{file.file_id}"
        facts = {"signature": signature, "version": version.version_number}
        return [
            *self._notifier.tell(owner, "virus", words, link=link),
            self._repository.audit(f"file:{file.file_id}", "quarantined", SYSTEM, {}, facts),
        ]

    def _marked(self, file: File, status: ScanStatus, signature: str | None = None) -> File:
        now = self._repository.now()
        return file.model_copy(
            update={"virus_scan_status": status, "virus_scan_date": now, "virus_signature": signature}
        )

    # --- review by admins ---

    def quarantine(self) -> list[File]:
        """The files in quarantine, newest first."""
        return list(self._repository.db.all(d.files_by_status(status="quarantined")))

    def reviewed(self, admin: User, file_id: str) -> File:
        """A file in quarantine whose bytes an admin reads, to review it; recorded."""
        file = self._in_quarantine(file_id)
        self._repository.db.write(self._repository.audit(f"file:{file_id}", "reviewed", actor_of(admin)))
        return file

    def release(self, admin: User, file_id: str, reason: str) -> File:
        """A false alarm: the file is as it was, and counts as clean."""

        def attempt() -> File:
            file = self._in_quarantine(file_id)
            after = self._marked(file, "clean").model_copy(update={"status": "active"})
            move = d.files.move(file, after, by="admin")
            version = (
                d.file_versions.update(file_id, file.version_number)
                .at(lambda v: v.virus_scan_status)
                .set("clean")
            )
            entry = self._repository.audit(
                f"file:{file_id}", "released", actor_of(admin), file, after, reason
            )
            self._repository.write("FILE", move, version, entry)
            return move.item or after

        return self._repository.retried(None, attempt)

    def discard(self, admin: User, file_id: str, reason: str) -> File:
        """The file goes to its owner's trash, from where it cannot be restored."""

        def attempt() -> File:
            file = self._in_quarantine(file_id)
            gone = {
                "status": "deleted",
                "deleted_at": self._repository.now(),
                "place": trash_of(file.user_id),
            }
            after = file.model_copy(update=gone)
            move = d.files.move(file, after, by="admin")
            entry = self._repository.audit(f"file:{file_id}", "deleted", actor_of(admin), file, after, reason)
            self._repository.write("FILE", move, entry)
            return move.item or after

        return self._repository.retried(None, attempt)

    def versions_in_review(self) -> list[FileVersion]:
        """Infected versions of files that have other bytes, newest first."""
        return list(self._repository.db.all(d.versions_in_review(in_review="QUARANTINE")))

    def reviewed_version(self, admin: User, file_id: str, number: int) -> tuple[File, FileVersion]:
        """The same as `reviewed` for such a version."""
        file, version = self._repository.file(file_id), self._version(file_id, number)
        facts = {"version": number}
        entry = self._repository.audit(f"file:{file_id}", "reviewed", actor_of(admin), {}, facts)
        self._repository.db.write(entry)
        return file, version

    def decide_version(
        self, admin: User, file_id: str, number: int, reason: str, *, is_clean: bool
    ) -> FileVersion:
        """A false alarm, or locked for good: then only the end of the file removes its bytes."""
        self._repository.file(file_id)
        before = self._version(file_id, number)
        decided = d.file_versions.update(file_id, number).at(lambda v: v.in_review).remove()
        if is_clean:
            decided = decided.at(lambda v: v.virus_scan_status).set("clean")
        action = "version released" if is_clean else "version locked"
        entry = self._repository.audit(
            f"file:{file_id}", action, actor_of(admin), {}, {"version": number}, reason
        )
        self._repository.write("VERSION", decided.when(lambda v: v.in_review == "QUARANTINE"), entry)
        status = "clean" if is_clean else "infected"
        return before.model_copy(update={"in_review": None, "virus_scan_status": status})

    def _version(self, file_id: str, number: int) -> FileVersion:
        version = self._repository.db.one(d.file_versions.get(file_id, number), consistent=True)
        if version is None or version.in_review is None:
            raise Conflict("NOT_QUARANTINED", "This version is not in quarantine.")
        return version

    def _in_quarantine(self, file_id: str) -> File:
        file = self._repository.file(file_id)
        if file.status != "quarantined":
            raise Conflict("NOT_QUARANTINED", "This file is not in quarantine.")
        return file


def _scanned(version: FileVersion, status: ScanStatus) -> Write[FileVersion]:
    write = d.file_versions.update(version.file_id, version.version_number)
    return (
        write.at(lambda v: v.virus_scan_status).set(status).when(lambda v: v.virus_scan_status == "pending")
    )


def _in_review(write: Write[FileVersion], signature: str | None) -> Write[FileVersion]:
    """An infected version of a file that is not quarantined itself: admins find it in their list."""
    marked = write.at(lambda v: v.in_review).set("QUARANTINE")
    return marked.at(lambda v: v.virus_signature).set(signature)
