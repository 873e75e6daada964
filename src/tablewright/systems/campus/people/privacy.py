"""A user's personal data: where it is, its export, and its erasure with a certificate (CC-X11, CC-X12).

Files go with their bytes, but for those that a submission holds. Submissions and grades are education records: they
stay for their time, without the name. Elsewhere: the list, the order of the parts, the certificate (kit/subjects.py).
"""

from functools import partial
from typing import Any

from tablewright.edge.errors import NotFound, Refused
from tablewright.kit.erased import Certificate, ErasedList
from tablewright.kit.subjects import Left, Part, Step, Subject
from tablewright.kit.tables import Actor
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Enrolment, Submission
from tablewright.systems.campus.files.library import Library
from tablewright.systems.campus.files.purge import Purge
from tablewright.systems.campus.files.uploads import Uploads
from tablewright.systems.campus.grade_model import Regrade
from tablewright.systems.campus.model import NotificationPreferences, User
from tablewright.systems.campus.repository import Repository

NAME, DOMAIN = "Erased user", "erased.invalid"
_RECORDS = "education records, for the semester and two years; without the name"


class Privacy:
    """Export and erasure of users. Who may is decided before."""

    def __init__(
        self, repository: Repository, erased: ErasedList, library: Library, purge: Purge, uploads: Uploads
    ) -> None:
        self._repository, self._erased = repository, erased
        self._library, self._purge, self._uploads = library, purge, uploads
        self.user: Subject[User] = Subject(
            "user",
            repository,
            lambda user: user.user_id,
            (
                Part(d.files_of_owner, "files", keep="only what a submission holds"),
                Step(
                    "files",
                    self._remove_files,
                    (d.files, d.file_versions, d.uploads),
                    "parts of files, which are exported",
                ),
                Part(d.folders_of_user, "folders"),
                Part(d.links_of_owner, "links"),
                Part(d.shares_with, "sharedWithMe"),
                Part(d.courses_of_user, "courses", redact=_nameless_enrolment),
                Part(d.submissions_of_student, "submissions", keep=_RECORDS),
                Step(
                    "submissions",
                    self._redact_submissions,
                    (d.submissions, d.regrades, d.drafts),
                    "shown with the submissions they belong to",
                ),
                Part(d.notifications_of_user, "notifications"),
                Part(d.outbox.owned, "messages", show=repository.outbox.exported),
                Step("login", self._remove_login, (d.logins,), "its id is in the user"),
                Left((d.audit.entries,), "who accessed files and grades: for a year, for which it is a duty"),
                Left((d.marks, d.comments), "what graders wrote; it stays with the submission"),
                Left((d.teams, d.team_memberships), "ids only, for the submissions of the team"),
                Left((d.switches,), "which admin switched links off"),
                Left((d.overrides,), "what teachers decided about dates, with the course"),
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
        return self.user.erase(user)

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
            self.user.erase(user)
        return len(back)

    # --- steps ---

    def _remove_files(self, user: User) -> int:
        db = self._repository.db
        for upload in list(db.all(d.uploads_of_user(owner_id=user.user_id))):
            self._uploads.abandon(upload.upload_id)
        for file in list(db.all(d.files_of_owner(user_id=user.user_id))):
            if file.upload_state == "complete" and file.purged_at is None:
                self._library.trash_erased(user, file.file_id)
        return self._purge.empty_trash(user)

    def _redact_submissions(self, user: User) -> int:
        found = list(self._repository.db.all(d.submissions_of_student(student_id=user.user_id)))
        for assignment_id in {each.assignment_id for each in found}:
            self._repository.db.write(d.drafts.discard(assignment_id, user.user_id))
        own = [each for each in found if isinstance(each, Submission)]
        for submission in own:
            self._repository.retried(None, partial(self._redact, submission))
            for request in list(self._requests(submission)):
                self._repository.retried(None, partial(self._redact_request, request))
        return len(own)

    def _requests(self, submission: Submission) -> Any:
        return self._repository.db.all(d.regrades_of_submission(submission_id=submission.submission_id))

    def _redact(self, found: Submission) -> None:
        now = self._repository.submission(found.submission_id)
        nameless = {"student_name": NAME, "student_email": "", "university_id": None, "comments": None}
        self._repository.write("SUBMISSION", d.submissions.change(now, now.model_copy(update=nameless)))

    def _redact_request(self, found: Regrade) -> None:
        key = found.submission_id, found.regrade_id
        now = self._repository.found(
            self._repository.db.one(d.regrades.get(*key), consistent=True), "REGRADE"
        )
        posts = [
            post.model_copy(update={"author_name": NAME}) if post.author_id == now.student_id else post
            for post in now.posts
        ]
        after = now.model_copy(update={"student_name": NAME, "posts": posts})
        self._repository.write("REGRADE", d.regrades.change(now, after))

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
            erased_at=row.erased_at or self._repository.now(),
        )


def _nameless_enrolment(user: User, row: Enrolment) -> Enrolment:
    return row.model_copy(update={"name": NAME, "email": f"{user.user_id}@{DOMAIN}", "university_id": None})
