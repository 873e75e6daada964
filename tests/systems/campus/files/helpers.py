"""What the tests of files say: a file that is stored, one that is scanned, sums that must agree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.systems.campus.talk import Place

from tablewright.systems.campus import design as d
from tablewright.systems.campus import jobs
from tablewright.systems.campus.course_model import Assignment
from tablewright.systems.campus.model import File, Upload, User

EICAR = rb"X5O!P%@AP[4\PZX54(P^)7CC)7}$EICAR" + b"-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"
MIB = 1024 * 1024


def store(
    at: Place, user: User, name: str = "notes.txt", content: bytes = b"a few words", **slot: Any
) -> File:
    """A file that is complete and not scanned yet."""
    return at.campus.uploads.store_whole(user, name, [content], len(content), **slot)


def store_clean(
    at: Place, user: User, name: str = "notes.txt", content: bytes = b"a few words", **slot: Any
) -> File:
    """A file that was scanned, with all others."""
    file = store(at, user, name, content, **slot)
    scan(at)
    return at.campus.repository.file(file.file_id)


def begin(at: Place, user: User, size: int, name: str = "notes.txt", **slot: Any) -> Upload:
    return at.campus.uploads.begin(user, filename=name, size=size, content_type="text/plain", **slot)


def scan(at: Place) -> int:
    return jobs.run_tasks(at.campus)


def content_of(at: Place, file: File, start: int = 0, end: int | None = None) -> bytes:
    with at.campus.library.open(file, start, end) as stream:
        return b"".join(stream)


def set_quota(at: Place, user: User, quota: int, used: int = 0) -> User:
    """Another quota, and bytes that count as used, behind the back of the service."""
    before = at.again(user)
    at.db.write(
        d.users.change(before, before.model_copy(update={"storage_quota": quota, "storage_used": used}))
    )
    return at.again(user)


def names(files: Iterable[File]) -> list[str]:
    return [file.filename for file in files]


def real_use(at: Place, user: User) -> int:
    """The bytes of all versions that a user has, by their rows."""
    files = at.db.all(d.files_of_owner(user_id=user.user_id))
    versions = [one for file in files for one in at.db.all(d.versions_of_file(file_id=file.file_id))]
    return sum(one.file_size for one in versions)


def assignment_for_files(at: Place, **limits: object) -> str:
    """An assignment that takes small texts and PDF files, by its row alone."""
    now = at.clock.now()
    made = Assignment.model_validate(
        {
            "course_id": "CS101", "assignment_id": at.world.new_id(), "course_name": "Programming", "title": "Essay",
            "description": "", "instructor_id": "i", "instructor_email": "i@campus.example", "instructor_name": "I",
            "created_at": now, "updated_at": now, "due_date": now, "max_file_size": 10,
            "allowed_file_types": ["application/pdf", "text/plain"], **limits,
        }
    )  # fmt: skip
    at.db.write(d.assignments.create(made))
    return made.assignment_id
