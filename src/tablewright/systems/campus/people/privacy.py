"""A user's personal data: where it is, its export, and its erasure with a certificate (CC-X11, CC-X12).

Files go with their bytes, but for those that a submission holds. Submissions and grades are education records: they
stay for their time, without the name. Elsewhere: the list, the order of the parts, the certificate (kit/subjects.py).
"""

from functools import partial
from pathlib import PurePosixPath
from typing import Any

from tablewright.edge.errors import NotFound, Refused
from tablewright.kit.erased import Certificate, ErasedList
from tablewright.kit.subjects import Left, Part, Step, Subject
from tablewright.kit.tables import Actor
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Enrolment
from tablewright.systems.campus.files.library import Library
from tablewright.systems.campus.files.purge import Purge
from tablewright.systems.campus.files.uploads import Uploads
from tablewright.systems.campus.model import File, NotificationPreferences, Statistics, User
from tablewright.systems.campus.people.name_copies import NAME, NameCopies
from tablewright.systems.campus.repository import Repository
from tablewright.systems.campus.sharing import recipients
from tablewright.systems.campus.sharing.access_check import FileAccess
from tablewright.systems.campus.sharing.ended_rows import all_even_ended

DOMAIN = "erased.invalid"
_RECORDS = "education records, for the semester and two years; without the name"


class Privacy:
    """Export and erasure of users. Who may is decided before."""

    def __init__(
        self,
        repository: Repository,
        erased: ErasedList,
        library: Library,
        purge: Purge,
        uploads: Uploads,
        access: FileAccess,
    ) -> None:
        self._repository, self._erased, self._access = repository, erased, access
        self._library, self._purge, self._uploads = library, purge, uploads
        copies = NameCopies(repository)
        self.user: Subject[User] = Subject(
            "user",
            repository,
            lambda user: user.user_id,
            (
                Step("notices", copies.in_notices, (d.notifications,), "what others were told"),
                Part(d.files_of_owner, "files", keep="only what a submission holds; without the name"),
                Step(
                    "files",
                    self._remove_files,
                    (d.files, d.file_versions, d.uploads, d.shares),
                    "parts of files, which are exported",
                ),
                Part(d.folders_of_user, "folders"),
                Part(d.links_of_owner, "links"),
                Step("shares", self._remove_ended, (d.shares,), "they have ended already"),
                Part(d.shares_with, "sharedWithMe"),
                Part(d.shares_with, "sharedWithMyAddress", lambda user: recipients.of_address(user.email)),
                Step("preparation", copies.in_preparation, (d.drafts, d.overrides), "with the course"),
                Part(d.courses_of_user, "courses", redact=_nameless_enrolment),
                Part(d.submissions_of_student, "submissions", keep=_RECORDS),
                Step(
                    "submissions",
                    copies.in_submissions,
                    (d.submissions, d.regrades),
                    "shown with the submissions they belong to",
                ),
                Step("assignments", copies.in_assignments, (d.assignments,), "what staff asked for"),
                Step(
                    "grading",
                    copies.in_grading,
                    (d.marks, d.comments, d.regrades),
                    "what graders wrote; it stays with the submission",
                ),
                Part(d.notifications_of_user, "notifications"),
                Part(d.outbox.owned, "messages", show=repository.outbox.exported),
                Step("login", self._remove_login, (d.logins,), "its id is in the user"),
                Left((d.audit.entries,), "who accessed files and grades: for a year, for which it is a duty"),
                Left((d.teams, d.team_memberships), "ids only, for the submissions of the team"),
                Left((d.former_enrolments,), "ids only, to find what was written in a course"),
                Left((d.switches,), "which admin switched links off"),
                Part(d.user_by_id, "user", redact=self._nameless),
            ),
            erased,
        )

    def export(self, user: User) -> dict[str, Any]:
        """What is kept about a user. The bytes of files are downloaded from the list."""
        return self.user.export(user)

    def erase(self, user_id: str, by: User) -> Certificate:
        """Erase a user for good; a repetition continues an interrupted erasure."""
        if user_id == by.user_id:
            raise Refused("OWN_ACCOUNT", "You cannot erase your own account. Ask another admin.")
        user = self._repository.user(user_id)
        actor = Actor(by.name, "admin", by.user_id)
        self._repository.db.write(self._repository.audit(f"user:{user_id}", "erased", actor))
        return self.user.erase(self._locked(user))

    def certificate(self, user_id: str) -> Certificate:
        found = self._erased.proof(self._repository.user(user_id).user_id, Certificate)
        if found is None:
            raise NotFound("certificate", "This user was not erased.")
        return found

    def erase_again(self) -> int:
        """Erase again those on the list whom a restored table brought back; how many."""
        found = [self._repository.db.one(d.user_by_id(entry)) for entry in self._erased.entries()]
        back = [user for user in found if user is not None and user.erased_at is None]
        for user in back:
            self.user.erase(self._locked(user))
        return len(back)

    # --- steps ---

    def _locked(self, user: User) -> User:
        """Suspended first: who is being erased makes nothing new behind the steps that are done."""

        def attempt() -> User:
            before = self._repository.user(user.user_id)
            if before.status == "suspended":
                return before
            write = d.users.move(before, before.model_copy(update={"status": "suspended"}), by="admin")
            self._repository.write("USER", write)
            assert write.item is not None
            return write.item

        return self._repository.retried(None, attempt)

    def _remove_files(self, user: User) -> int:
        db = self._repository.db
        for upload in list(db.all(d.uploads_of_user(owner_id=user.user_id))):
            self._uploads.abandon(upload.upload_id)
        for file in list(db.all(d.files_of_owner(user_id=user.user_id))):
            if file.upload_state == "complete" and file.purged_at is None:
                self._library.trash_erased(user, file.file_id)
                self._access.forget(file.file_id)
        for folder in list(db.all(d.folders_of_user(user_id=user.user_id))):
            self._access.forget(folder.folder_id)
        count = self._purge.remove_trashed(user)
        for file in list(db.all(d.files_of_owner(user_id=user.user_id))):
            self._repository.retried(None, partial(self._redact_file, file))
        return count

    def _remove_ended(self, user: User) -> int:
        """Shares with the user whose end has come, and that no other read finds any more."""
        db, now = self._repository.db, self._repository.now()
        mine = (user.user_id, recipients.of_address(user.email))
        found = [share for one in mine for share in db.all(all_even_ended(d.shares_with(recipient=one)))]
        ended = [share for share in found if share.removed_at is not None and share.removed_at <= now]
        for share in ended:
            db.write(d.shares.discard(share.file_id, share.shared_with_user_id))
        return len(ended)

    def _redact_file(self, found: File) -> None:
        """What a submission holds keeps its bytes, and nothing that its owner wrote about it."""
        now = self._repository.db.one(d.files.get(found.user_id, found.file_id), consistent=True)
        if now is not None:
            name = f"file{PurePosixPath(now.filename).suffix[:8]}"
            bare: dict[str, Any] = {"filename": name, "description": None, "tags": [], "metadata": {}}
            self._repository.write("FILE", d.files.change(now, now.model_copy(update=bare)))

    def _remove_login(self, user: User) -> int:
        if user.login is None:
            return 0
        self._repository.db.write(d.logins.discard(user.login))
        return 1

    def _nameless(self, user: User, row: User) -> User:
        """The row that stays, so that the address is free and the login is known to be erased."""
        kept = {
            name: getattr(row, name)
            for name in ("user_id", "created_at", "storage_used", "storage_reserved", "version", "status")
        }
        return User(
            **kept,
            email=f"{row.user_id}@{DOMAIN}".lower(),
            name=NAME,
            role="student",
            storage_quota=0,
            notification_preferences=NotificationPreferences(email_notifications=False),
            # What a submission holds is still counted, until it is archived.
            statistics=Statistics(total_files=row.statistics.total_files),
            erased_at=row.erased_at or self._repository.now(),
        )


def _nameless_enrolment(user: User, row: Enrolment) -> Enrolment:
    return row.model_copy(update={"name": NAME, "email": f"{user.user_id}@{DOMAIN}", "university_id": None})
