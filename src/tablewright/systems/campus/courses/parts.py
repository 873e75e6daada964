"""The parts of a submission: files with their pinned bytes, texts, links (CC-X17).

Must hold: a file's type and size are those of the stored bytes, not of its name or what a client says (CC-D39); a part
has the checksum of its content.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tablewright.edge.errors import BadRequest, Conflict, Forbidden, NotFound, Refused
from tablewright.systems.campus.course_model import Assignment, Part
from tablewright.systems.campus.courses.assignment_rules import is_https
from tablewright.systems.campus.errors import Locked, TooLarge
from tablewright.systems.campus.files.library import Library
from tablewright.systems.campus.files.sniff import is_allowed
from tablewright.systems.campus.model import File, User
from tablewright.systems.campus.repository import Repository
from tablewright.systems.campus.sharing.access_check import FileAccess

MOST_PARTS = 20
MOST_TEXT = 100_000


@dataclass(frozen=True, slots=True)
class NewPart:
    """A part as a client sends it: the id of a file, a text, or an address."""

    kind: Literal["file", "text", "link"]
    file_id: str | None = None
    text: str | None = None
    url: str | None = None

    @property
    def content(self) -> str:
        return f"{self.kind} {self.file_id or self.text or self.url}"


class Parts:
    """Makes parts."""

    def __init__(self, repository: Repository, library: Library, access: FileAccess) -> None:
        self._repository, self._library, self._access = repository, library, access

    def part(self, user: User, assignment: Assignment, new: NewPart) -> Part:
        """A part of this user; TYPE_NOT_ALLOWED, FILE_TOO_LARGE, QUARANTINED, INVALID_TEXT, INVALID_URL."""
        made = {
            "part_id": self._repository.new_uuid(),
            "added_by": user.user_id,
            "added_at": self._repository.now(),
        }
        if new.kind == "file":
            file = self._library.readable(user, new.file_id or "")
            if file.user_id != user.user_id:  # a submission pins bytes, and they count for their owner
                words = f"{file.filename} belongs to someone else. Save a copy in My files first."
                raise Forbidden("NOT_YOUR_FILE", words, "fileId")
            refuse_file(assignment, file)
            pinned = {
                "file_id": file.file_id, "filename": file.filename, "file_size": file.file_size,
                "content_type": file.content_type, "version_id": file.version_id, "object_name": file.object_name,
                "checksum": file.checksum,
            }  # fmt: skip
            return Part.model_validate({"kind": "file", **made, **pinned})
        if new.kind == "text":
            if not (new.text or "").strip() or len(new.text or "") > MOST_TEXT:
                raise BadRequest("INVALID_TEXT", f"Enter a text of up to {MOST_TEXT} characters.", "text")
            return Part.model_validate(
                {"kind": "text", **made, "text": new.text, "checksum": checksum(new.text or "")}
            )
        if not is_https(new.url or ""):
            raise BadRequest("INVALID_URL", "Enter an address that begins with https://.", "url")
        return Part.model_validate(
            {"kind": "link", **made, "url": new.url, "checksum": checksum(new.url or "")}
        )

    def refuse_locked(self, part: Part, reader_id: str | None) -> None:
        """423 for bytes with a virus; for others than their author also for bytes that are not scanned yet.

        Every way to the bytes of a part asks this: the file may be another by now, and its own state says nothing.
        """
        is_own = reader_id is not None and reader_id == part.added_by
        self._access.refuse_locked_bytes(part.object_name or "", is_own=is_own)

    def file(self, assignment: Assignment, part: Part) -> File:
        """The file of a part, which must still be there and allowed."""
        try:
            file = self._repository.file(part.file_id or "")
        except NotFound:
            words = f"{part.filename} was deleted for good. Remove it here."
            raise Conflict("DELETED", words, "parts") from None
        if file.status == "deleted":
            raise Conflict("DELETED", f"{part.filename} was deleted. Remove it here, or restore it.", "parts")
        pinned = {
            "file_size": part.file_size,
            "content_type": part.content_type,
            "virus_scan_status": self._access.version_of(part.object_name or "").virus_scan_status,
        }
        refuse_file(assignment, file.model_copy(update=pinned))
        return file


def refuse_file(assignment: Assignment, file: File) -> None:
    """Raise unless the assignment takes such a file."""
    if file.status == "quarantined" or file.virus_scan_status == "infected":
        raise Locked("QUARANTINED", f"{file.filename} has a virus and cannot be submitted.", "fileId")
    if file.file_size > assignment.max_file_size:
        words = f"{file.filename} is larger than this assignment allows."
        size = {"fileSize": file.file_size, "maxFileSize": assignment.max_file_size}
        raise TooLarge("FILE_TOO_LARGE", words, "fileId", size)
    if assignment.allowed_file_types and not is_allowed(file.content_type, assignment.allowed_file_types):
        facts = {"contentType": file.content_type, "allowed": assignment.allowed_file_types}
        words = f"{file.filename} is {file.content_type}, which this assignment does not take."
        raise BadRequest("TYPE_NOT_ALLOWED", words, "fileId", facts)


def refuse_count(parts: Sequence[Part]) -> None:
    if not parts:
        raise Refused("NO_PARTS", "Add a file, a text or a link first.", "parts")
    if len(parts) > MOST_PARTS:
        raise Refused("TOO_MANY_PARTS", f"A submission has at most {MOST_PARTS} parts.", "parts")
    if sum(len(part.text or "") for part in parts) > MOST_TEXT:
        raise Refused("TEXT_TOO_LONG", f"All texts together have at most {MOST_TEXT} characters.", "parts")


def first_file(parts: Sequence[Part]) -> dict[str, Any]:
    """The document's fields of the first file."""
    file = next((part for part in parts if part.kind == "file"), None)
    if file is None:
        return {}
    return {
        "file_id": file.file_id, "filename": file.filename, "file_size": file.file_size,
        "file_version_id": file.version_id, "file_checksum": file.checksum,
    }  # fmt: skip


def checksum(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
