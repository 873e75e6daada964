"""Submissions: parts become an attempt, with exact numbers, once, and with bytes that stay (CC-D13, CC-X17, CC-X19).

Must hold: attempt n+1 is written in one transaction that requires the assignment to be active and unchanged since its
dates were read, the counter to be n, and number n+1 to be free; with it the bytes are held, late days are taken, and
the receipt of the request is kept. So numbers have no gaps, the maximum is exact, and a repeated request makes nothing.
A team has one counter. A member's submission names the attempt that the member saw: if a teammate made that attempt in
the meantime and it is not being marked, the parts are added to it, so both are in and one attempt is used (CC-S16).
Elsewhere: drafts (drafts.py), parts (parts.py), the dates that apply (owners.py), taking an attempt back
(withdrawals.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tablewright.design import Query, Write, absent
from tablewright.edge.errors import CallerError, Conflict, Forbidden, NotFound, Refused
from tablewright.kit.tables import OnceRequest, digest
from tablewright.mapping import AlreadyExists, ConditionNotMet, Missing, Page, Stale
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import (
    AcceptanceRow,
    Assignment,
    Attempts,
    Draft,
    MemberEntry,
    Part,
    Submission,
    SubmissionStatus,
)
from tablewright.systems.campus.courses.acceptance import Acceptance, unchanged
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.drafts import MOST_COMMENTS, Drafts
from tablewright.systems.campus.courses.lateness import Lateness, lateness
from tablewright.systems.campus.courses.owners import Owner, Owners
from tablewright.systems.campus.courses.parts import NewPart, Parts, first_file, refuse_count
from tablewright.systems.campus.courses.unsubmitted import BY_HAND, handed_in
from tablewright.systems.campus.errors import Changed, Gone
from tablewright.systems.campus.files.library import Library
from tablewright.systems.campus.model import User
from tablewright.systems.campus.repository import Repository

RACES = (AlreadyExists, ConditionNotMet, Missing, Stale)
# In a rush one student's requests meet only each other; the team or the file may be changed by others too.
_ATTEMPTS = 40


@dataclass(frozen=True, slots=True)
class _Request:
    """A request to submit. `parts` are made already; None takes those of the draft at version `draft`, and `more`."""

    member: CourseMember
    on_behalf: bool
    parts: Sequence[Part] | None
    draft: int | None
    more: Sequence[Part]
    comments: str | None
    attempt: int | None
    statement: str | None
    key: str | None
    once: OnceRequest


class Submissions:
    """Makes submissions and takes them back."""

    def __init__(
        self,
        repository: Repository,
        library: Library,
        owners: Owners,
        parts: Parts,
        drafts: Drafts,
        acceptance: Acceptance,
    ) -> None:
        self._repository, self._library, self._acceptance = repository, library, acceptance
        self._owners, self._parts, self._drafts = owners, parts, drafts

    # --- reads ---

    def page(
        self, member: CourseMember, assignment: Assignment, size: int | None = None, after: str | None = None
    ) -> Page[Submission]:
        """A page of an assignment's submissions, by owner and number, for staff."""
        member.refuse_students()
        query = d.submissions_of_assignment(assignment_id=assignment.assignment_id)
        attempts = query.where(lambda row: row.submission_number > BY_HAND)
        return self._repository.page(attempts, size, after, member.user.user_id)

    def every(self, member: CourseMember, assignment: Assignment) -> list[Submission]:
        """All of an assignment's submissions, for staff."""
        member.refuse_students()
        rows = self._repository.db.all(d.submissions_of_assignment(assignment_id=assignment.assignment_id))
        return list(filter(handed_in, rows))

    def in_status(self, status: SubmissionStatus) -> Query[Submission]:
        """The submissions of all courses, oldest first (CC-42)."""
        return d.submissions_by_status(status=status)

    def of_student(self, member: CourseMember, assignment: Assignment) -> list[Submission]:
        """A student's own submissions, or those of the team that the student was part of, by number (CC-X19)."""
        try:
            owner = self._owners.of(assignment, self._owners.student(member))
        except Conflict:  # without a team there are none
            return []
        rows = self._owners.submissions(assignment.assignment_id, owner.owner_id)
        return [each for each in rows if is_author(each, member.user.user_id)]

    def next_attempt(
        self, member: CourseMember, assignment: Assignment, on_behalf_of: str | None = None
    ) -> int:
        """The number that the next attempt of a student or their team will have."""
        owner = self._owners.of(assignment, self._owners.student(member, on_behalf_of or None))
        return self._owners.attempts(assignment, owner.owner_id) + 1

    def history(self, user: User, size: int | None = None, after: str | None = None) -> Page[Submission]:
        """A user's submissions and those of their teams, newest first."""
        query = d.submissions_of_student(student_id=user.user_id)
        page = self._repository.page(query, size, after, user.user_id)
        gets = [
            d.submissions.get(one.assignment_id, one.owner_id, one.submission_number) for one in page.items
        ]
        found = self._repository.db.many(gets)
        shown = tuple(each for each in found if each is not None and handed_in(each))
        return Page(shown, page.next, page.read_units)

    def readable(self, member: CourseMember, submission: Submission, part_id: str) -> Part:
        """A file of a submission; 423 if it has a virus or, for others than its author, is unscanned."""
        part = next((each for each in submission.parts if each.part_id == part_id), None)
        if part is None or part.kind != "file":
            raise NotFound("part")
        self._parts.refuse_locked(part, member.user.user_id)
        return part

    def content(self, member: CourseMember, submission: Submission, part_id: str) -> Part:
        """A file of a submission that is opened, which is recorded for staff."""
        part = self.readable(member, submission, part_id)
        if member.is_staff:
            subject = f"submission:{submission.submission_id}"
            self._repository.db.write(
                self._repository.audit(subject, "file opened", member.actor, None, {"part": part_id})
            )
        return part

    # --- submit ---

    def submit(
        self,
        member: CourseMember,
        assignment: Assignment,
        *,
        parts: Sequence[NewPart] | None = None,
        draft: int | None = None,
        more: Sequence[NewPart] = (),
        key: str | None = None,
        attempt: int | None = None,
        on_behalf_of: str | None = None,
        agreed: bool | None = None,
        comments: str | None = None,
    ) -> Submission:
        """Submit parts, or the draft at the version that was seen with `more` parts after its own.

        With `key`, repetitions return the same submission.
        `attempt` is the number that the caller expects to make; a team's must have it. DEADLINE_PASSED,
        SUBMISSION_LIMIT, STATEMENT_REQUIRED, VERSION_CONFLICT, and what is wrong with a part.
        """
        student = self._owners.student(member, on_behalf_of)
        contents = [] if parts is not None else [f"draft {draft}"]
        contents += [part.content for part in (*(parts or ()), *more)]
        once = OnceRequest(
            f"submit:{digest(assignment.assignment_id, member.user.user_id, key)}" if key else None,
            digest(student.user_id, *contents),
            "This key was already used for a different submission. Use a new key.",
        )
        earlier = self._earlier(once)
        if earlier is not None:
            return earlier
        if len(comments or "") > MOST_COMMENTS:
            raise Refused("TEXT_TOO_LONG", f"Enter at most {MOST_COMMENTS} characters.", "comments")
        made = (
            [self._parts.part(member.user, assignment, part) for part in parts] if parts is not None else None
        )
        added = [self._parts.part(member.user, assignment, part) for part in more]
        statement = _agreed(assignment, agreed, on_behalf=member.is_staff)
        request = _Request(
            member, member.is_staff, made, draft, added, comments, attempt, statement, key, once
        )
        try:
            return self._repository.retried(
                None,
                lambda: self._attempt(request, assignment.assignment_id, student.user_id),
                on=RACES,
                attempts=_ATTEMPTS,
            )
        except CallerError:
            # The same request may have succeeded in parallel and have used the last attempt.
            earlier = self._earlier(once)
            if earlier is None:
                raise
            return earlier

    def _earlier(self, once: OnceRequest) -> Submission | None:
        kept = self._repository.earlier(once)
        return self._kept(kept) if kept is not None else None

    def _kept(self, kept: Mapping[str, str]) -> Submission:
        key = kept["assignmentId"], kept["ownerId"], int(kept["number"])
        found = self._repository.db.one(d.submissions.get(*key), consistent=True)
        if found is None or found.submission_id != kept["submissionId"]:
            raise Gone("WITHDRAWN", "This was submitted, and withdrawn since.")
        return found

    def _attempt(self, request: _Request, assignment_id: str, student_id: str) -> Submission:
        row = self._acceptance.of(assignment_id, student_id)
        assignment = self._repository.assignment(assignment_id)
        student = self._repository.enrolment(student_id, assignment.course_id)
        if student is None:
            raise Forbidden("NOT_ENROLLED", "You are not enrolled in this course.")
        owner = self._owners.of(assignment, student)
        attempts = self._owners.attempts(assignment, owner.owner_id)
        draft = self._drafts.of(assignment, owner.owner_id)
        if owner.team is not None and request.attempt is None:
            raise Refused(
                "ATTEMPT_REQUIRED", "Send the number of the attempt that you are making.", "attempt"
            )
        if row is None or assignment.status != "active":
            raise _closed(owner)
        self._refuse_dates(request, owner)
        if request.attempt is not None and request.attempt <= attempts:
            return self._joined(request, assignment, owner, row, attempts, draft)
        if request.attempt is not None and request.attempt != attempts + 1:
            raise Changed()
        return self._create(request, assignment, owner, row, attempts, draft)

    def _refuse_dates(self, request: _Request, owner: Owner) -> None:
        """Staff may hand in for a student at any time while the assignment is open."""
        now = self._repository.now()
        if owner.dates.is_over(now) and not request.on_behalf:
            raise _closed(owner)
        if owner.dates.is_early(now) and not request.on_behalf:
            raise Refused("NOT_AVAILABLE", "This assignment is not open yet.")

    def _content(
        self, request: _Request, draft: Draft | None
    ) -> tuple[Sequence[Part], str | None, list[Write[Any]]]:
        """Parts and comments, and the end of the draft they come from."""
        if request.parts is not None:
            return request.parts, request.comments, []
        if draft is None:
            if not request.more:
                raise Refused("NO_PARTS", "Add a file, a text or a link first.", "parts")
            return request.more, request.comments, []
        if request.draft is not None and draft.version != request.draft:
            raise Changed()
        return [*draft.parts, *request.more], request.comments or draft.comments, [d.drafts.delete(draft)]

    def _create(
        self,
        request: _Request,
        assignment: Assignment,
        owner: Owner,
        row: AcceptanceRow,
        attempts: int,
        draft: Draft | None,
    ) -> Submission:
        most = assignment.max_submissions + owner.dates.extra_submissions
        if attempts >= most:
            facts = {"attempts": attempts, "maxSubmissions": most}
            raise Conflict("SUBMISSION_LIMIT", f"You have used all {most} attempts.", facts=facts)
        if request.more and request.draft and draft is None:
            raise Changed()  # the draft that was seen is gone: never less than the caller saw
        parts, comments, ended = self._content(request, draft)
        refuse_count(parts)
        last = self._owners.last(assignment, owner.owner_id, attempts)
        late = self._owners.lateness(assignment, request.member.course, owner, last)
        submission = self._submission(request, assignment, owner, attempts + 1, parts, comments, late)
        entry = self._repository.audit(
            f"submission:{submission.submission_id}",
            "submitted",
            request.member.actor,
            {},
            {"number": attempts + 1},
        )
        writes = [
            d.submissions.create(submission),
            _counted(assignment, owner.owner_id, attempts),
            unchanged(row),
            *same_members(owner),
            *self._bank(request, owner, late.days_used - (last.late_days_used if last is not None else 0)),
            *self._held(assignment, submission, parts),
            *member_entries_of(submission),
            *ended,
            entry,
        ]
        return self._written(request, submission, writes)

    def _joined(
        self,
        request: _Request,
        assignment: Assignment,
        owner: Owner,
        row: AcceptanceRow,
        attempts: int,
        draft: Draft | None,
    ) -> Submission:
        """Add a member's parts to the attempt that a teammate made since the member looked."""
        before = self._owners.last(assignment, owner.owner_id, attempts)
        if owner.team is None or before is None or request.attempt != attempts:
            raise Changed()
        if not is_author(before, owner.student.user_id):  # joined the team since: a new attempt is needed
            raise Changed()
        if before.status != "submitted" or before.marking_state != "not marked":
            words = f"Attempt {attempts} is being marked already. Reload the page and make a new one."
            raise Conflict("ALREADY_MARKED", words)
        if request.parts is None and draft is None and not request.more:
            return before  # the teammate submitted the draft with these parts in it
        parts, comments, ended = self._content(request, draft)
        due = owner.dates.due
        if lateness(assignment, due, self._repository.now()) != lateness(
            assignment, due, before.submitted_at
        ):
            words = f"A teammate submitted attempt {attempts} earlier, and adding yours would make it later. Reload."
            raise Conflict("LATE_FOR_ATTEMPT", words)
        known = {part.part_id for part in before.parts}
        new = [part for part in parts if part.part_id not in known]
        after = before.model_copy(
            update={
                "parts": [*before.parts, *new],
                "comments": "\n\n".join(filter(None, (before.comments, comments))) or None,
                "submitted_at": max(self._repository.now(), before.submitted_at),
            }
        )
        after = after.model_copy(update=first_file(after.parts))
        refuse_count(after.parts)
        entry = self._repository.audit(
            f"submission:{before.submission_id}", "parts added", request.member.actor, {}, {"parts": len(new)}
        )
        change = d.submissions.change(before, after)
        writes = [
            change,
            unchanged(row),
            *self._held(assignment, after, new),
            *member_entries_of(after),
            *ended,
            entry,
        ]
        return self._written(request, change.item or after, writes)

    def _written(self, request: _Request, submission: Submission, writes: Sequence[Write[Any]]) -> Submission:
        kept = self._repository.write_once(
            request.once,
            *writes,
            submissionId=submission.submission_id,
            assignmentId=submission.assignment_id,
            ownerId=submission.owner_id,
            number=str(submission.submission_number),
        )
        return submission if kept is None else self._kept(kept)

    # --- parts of a transaction ---

    def _submission(
        self,
        request: _Request,
        assignment: Assignment,
        owner: Owner,
        number: int,
        parts: Sequence[Part],
        comments: str | None,
        late: Lateness,
    ) -> Submission:
        student, team = owner.student, owner.team
        fields: dict[str, Any] = {
            "assignment_id": assignment.assignment_id,
            "submission_id": self._repository.new_uuid(),
            "owner_id": owner.owner_id,
            "course_id": assignment.course_id,
            "student_id": student.user_id,
            "student_email": student.email,
            "student_name": student.name,
            "university_id": student.university_id,
            "section": student.section,
            "team_id": team.team_id if team is not None else None,
            "team_name": team.name if team is not None else None,
            "member_ids": owner.member_ids if team is not None else [],
            "parts": list(parts),
            "submitted_at": self._repository.now(),
            "submitted_by": request.member.user.user_id,
            "on_behalf": request.on_behalf,
            "submission_number": number,
            "is_late": late.is_late,
            "late_days_used": late.days_used,
            "due_date": owner.dates.due,
            "statement_agreed": request.statement,
            "comments": comments,
            "idempotency_key": request.key,
        }
        return Submission(**fields, **first_file(parts))

    def _held(
        self, assignment: Assignment, submission: Submission, parts: Sequence[Part]
    ) -> list[Write[Any]]:
        """The bytes of the files stay while the submission does (CC-D18); one write for each file."""
        files = {part.file_id: self._parts.file(assignment, part) for part in parts if part.kind == "file"}
        return [self._library.hold(file, submission.submission_id) for file in files.values()]

    def _bank(self, request: _Request, owner: Owner, days: int) -> list[Write[Any]]:
        """Late days that this attempt takes beyond those of earlier ones; or only that the student is enrolled."""
        student, most = owner.student, request.member.course.late_days
        if days <= 0:
            return [d.enrolments.check(student.user_id, student.course_id)]
        take = (
            d.enrolments.update(student.user_id, student.course_id).at(lambda e: e.late_days_used).add(days)
        )
        return [take.when(lambda e: e.late_days_used <= most - days)]


def _agreed(assignment: Assignment, agreed: bool | None, *, on_behalf: bool) -> str | None:
    """The statement that the student agreed to; not asked for where staff submits."""
    if assignment.statement is None or on_behalf:
        return None
    if not agreed:
        raise Refused("STATEMENT_REQUIRED", "Confirm the statement before you submit.", "agreed")
    return assignment.statement


def _counted(assignment: Assignment, owner_id: str, attempts: int) -> Write[Any]:
    start = Attempts(assignment_id=assignment.assignment_id, owner_id=owner_id)
    counted = d.attempts.upsert(start).at(lambda a: a.attempts).add(1)
    if attempts == 0:
        return counted.when(lambda a: absent(a.attempts) | (a.attempts == 0))
    return counted.when(lambda a: a.attempts == attempts)


def _closed(owner: Owner) -> Refused:
    end = owner.dates.accept_until
    facts = {"acceptUntil": end.isoformat() if end is not None else None}
    return Refused("DEADLINE_PASSED", "This assignment does not accept work any more.", facts=facts)


def same_members(owner: Owner) -> list[Write[Any]]:
    team = owner.team
    if team is None:
        return []
    version = team.version
    return [
        d.teams.check(team.course_id, team.group_set_id, team.team_id).when(lambda t: t.version == version)
    ]


def is_author(submission: Submission, user_id: str) -> bool:
    """Whether it is this student's, or the student was in the team when it was made (CC-X19)."""
    return user_id == submission.student_id or user_id in submission.member_ids


def other_members(submission: Submission) -> list[str]:
    return [member for member in submission.member_ids if member != submission.student_id]


def member_entries_of(submission: Submission) -> list[Write[Any]]:
    """The team's submission in the history of each other member."""
    return [
        d.member_entries.put(
            MemberEntry(
                assignment_id=submission.assignment_id,
                owner_id=submission.owner_id,
                submission_number=submission.submission_number,
                student_id=member,
                submitted_at=submission.submitted_at,
            )
        )
        for member in other_members(submission)
    ]
