"""Campus Cloud's reads and writes in its own words. Errors of mapping become errors of Campus Cloud.

Must hold: what is found through an index is read again consistently before anything is decided on it (CC-D2); a change
is written in one transaction with its audit entry and everything that follows from it.
"""

import re
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from tablewright.design import Query, Write
from tablewright.edge.errors import Conflict
from tablewright.kit.messages import MessageTemplates, read_templates
from tablewright.kit.outbox import Mailbox
from tablewright.kit.sealed_text import seal_of
from tablewright.kit.tables import Actor, Refusals, Tables, is_user_id
from tablewright.mapping import AlreadyExists, Db, NotUnique
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Course, Enrolment, Override, Submission
from tablewright.systems.campus.errors import Changed, RaceLost
from tablewright.systems.campus.model import AuditEntry, File, Folder, Share, Upload, User
from tablewright.world import World

MAIL = Path(__file__).parent / "pages" / "mail"
SYSTEM = Actor("system:campus", "system")
_COURSE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,63}")


def _taken(noun: str, refused: AlreadyExists | NotUnique) -> Exception:
    what = refused.constraint if isinstance(refused, NotUnique) else refused.entity
    if what == "email":
        return Conflict("EMAIL_EXISTS", "A user with this e-mail address already exists.", "email")
    if what == "share":
        return Conflict("ALREADY_SHARED", "This is already shared with this recipient.", "recipients")
    return Conflict("EXISTS", f"This {what.replace('_', ' ')} already exists.", "id")


REFUSALS = Refusals(
    changed=lambda _: Changed(),
    lost=lambda _: RaceLost(),
    race=Changed,
    busy=lambda: Conflict("BUSY", "This is being changed right now. Try again in a moment."),
    taken=_taken,
    page_words="pageSize must be 1 to {at_most}.",
)


def is_uuid(text: str) -> bool:
    """True for a UUID as ids are written: lower case, with its dashes."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def is_course_id(text: str) -> bool:
    return _COURSE_ID.fullmatch(text) is not None


class Repository(Tables):
    """The tables of Campus Cloud."""

    def __init__(self, db: Db, world: World, secret: bytes) -> None:
        """`secret` is the key that seals the secrets in messages."""
        super().__init__(db, world, d.CAMPUS, REFUSALS)
        self.outbox = Mailbox(
            d.outbox, self, MessageTemplates(read_templates(MAIL), seal_of(secret, "campus mail", world))
        )

    # --- one ---

    def user(self, user_id: str) -> User:
        self.refuse_impossible(is_user_id(user_id), "USER")
        return self.found(self.db.one(d.user_by_id(user_id)), "USER")

    def user_of(self, email: str) -> User | None:
        """The user of an address, read through its unique guard: never out of date."""
        return self.db.holder(d.users, "email", email=email)

    def file(self, file_id: str) -> File:
        """A file by its id alone: its owner through the index, then the file itself, consistently."""
        self.refuse_impossible(is_uuid(file_id), "FILE")
        found = self.found(self.db.first(d.file_by_id(file_id=file_id)), "FILE")
        return self.file_of(found.user_id, file_id)

    def file_of(self, user_id: str, file_id: str) -> File:
        return self.found(self.db.one(d.files.get(user_id, file_id), consistent=True), "FILE")

    def folder(self, folder_id: str) -> Folder:
        self.refuse_impossible(is_uuid(folder_id), "FOLDER")
        found = self.found(self.db.first(d.folders_by_id(folder_id=folder_id)), "FOLDER")
        # The top of a user's folders has the id of its user, and is not a folder that can be shared or filled.
        self.refuse_impossible(found.folder_id != found.user_id, "FOLDER")
        return self.found(self.db.one(d.folders.get(found.user_id, folder_id), consistent=True), "FOLDER")

    def upload(self, upload_id: str) -> Upload:
        self.refuse_impossible(is_uuid(upload_id), "UPLOAD")
        return self.found(self.db.one(d.uploads.get(upload_id), consistent=True), "UPLOAD")

    def share(self, share_id: str) -> Share:
        self.refuse_impossible(is_uuid(share_id), "SHARE")
        found = self.found(self.db.first(d.share_by_id(share_id=share_id)), "SHARE")
        return self.found(
            self.db.one(d.shares.get(found.file_id, found.shared_with_user_id), consistent=True), "SHARE"
        )

    def course(self, course_id: str) -> Course:
        self.refuse_impossible(is_course_id(course_id), "COURSE")
        return self.found(self.db.one(d.courses.get(course_id), consistent=True), "COURSE")

    def enrolment(self, user_id: str, course_id: str) -> Enrolment | None:
        return self.db.one(d.enrolments.get(user_id, course_id), consistent=True)

    def assignment(self, assignment_id: str) -> Assignment:
        self.refuse_impossible(is_uuid(assignment_id), "ASSIGNMENT")
        found = self.found(self.db.first(d.assignment_by_id(assignment_id=assignment_id)), "ASSIGNMENT")
        return self.found(
            self.db.one(d.assignments.get(found.course_id, assignment_id), consistent=True), "ASSIGNMENT"
        )

    def submission(self, submission_id: str) -> Submission:
        self.refuse_impossible(is_uuid(submission_id), "SUBMISSION")
        found = self.found(self.db.first(d.submission_by_id(submission_id=submission_id)), "SUBMISSION")
        key = found.assignment_id, found.owner_id, found.submission_number
        return self.found(self.db.one(d.submissions.get(*key), consistent=True), "SUBMISSION")

    # --- many ---

    def courses_of(self, user_id: str) -> list[Enrolment]:
        return list(self.db.all(d.courses_of_user(user_id=user_id)))

    def overrides_of(self, assignment_id: str) -> list[Override]:
        return list(self.db.all(d.overrides_of_assignment(assignment_id=assignment_id)))

    # --- writes ---

    def new_uuid(self) -> str:
        """An id as the document wants them: a UUID."""
        return self.world.new_id()

    def audit(
        self,
        subject: str,
        action: str,
        actor: Actor,
        before: BaseModel | dict[str, Any] | None = None,
        after: BaseModel | dict[str, Any] | None = None,
        reason: str | None = None,
    ) -> Write[AuditEntry]:
        """The audit entry of a change, to be written with it; `subject` such as `file:{id}`."""
        return d.audit.entry(self, subject, action, actor, before, after, reason)

    def history(self, subject: str) -> Query[AuditEntry]:
        return d.audit.of(subject)

    def history_of_month(self, at: datetime) -> Query[AuditEntry]:
        """The audit entries of all records in a month, newest first."""
        return d.audit.of_month(at)
