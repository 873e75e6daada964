"""Submissions and drafts: `/assignments/{id}/submissions` and `/draft`, `/submissions/{id}`, `/me/submissions`.

Elsewhere: grades (marks.py).
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import Field

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.errors import NotFound
from tablewright.edge.routes import Router
from tablewright.kit.http import Body, Cursor, IdempotencyKey, Page, VersionRead, based_on, listed, view_of
from tablewright.systems.campus.access import CAMPUS, Me, OpenAssignment, OpenSubmission, StaffSubmission
from tablewright.systems.campus.api.content import content_response
from tablewright.systems.campus.api.me import PageSize
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.course_model import Assignment, Draft, Submission
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.parts import MOST_PARTS, NewPart
from tablewright.systems.campus.courses.unsubmitted import handed_in
from tablewright.systems.campus.grading.disclosure import (
    draft_for_staff,
    for_staff,
    for_student,
    is_anonymous,
)
from tablewright.systems.campus.model import User, Value

_Version = Annotated[
    int | None, Query(alias="version", description="the version of the draft you saw; 0: none")
]


class PartBody(Body):
    """A file by its id, a text, or a link."""

    kind: Literal["file", "text", "link"] = "file"
    file_id: str | None = None
    text: str | None = None
    url: str | None = None

    @property
    def new(self) -> NewPart:
        return NewPart(self.kind, self.file_id, self.text, self.url)


class AddedPart(PartBody):
    version: int | None = None


class DraftChange(Body):
    comments: str | None = None
    version: int | None = None


class SubmitBody(Body):
    """Parts, or with `draftVersion` those of the draft. `attempt` is the number you expect this submission to have."""

    parts: list[PartBody] | None = Field(None, max_length=MOST_PARTS)
    draft_version: int | None = None
    attempt: int | None = None
    on_behalf_of: str | None = None
    agreed: bool | None = None
    comments: str | None = None


class SetBack(Body):
    reason: str | None = Field(None, max_length=500)


class ReceiptPart(Value):
    kind: str
    filename: str | None = None
    file_size: int | None = None
    checksum: str | None = None


class Receipt(Value):
    """What was received, and when; staff can check the `code`, which is made of all of it."""

    submission_id: str
    assignment_id: str
    submission_number: int
    submitted_at: datetime
    is_late: bool
    parts: list[ReceiptPart]
    code: str


class ReceiptCode(Body):
    code: str = Field(max_length=200)


class CheckedReceiptView(Value):
    """What a code confirms: so many parts, received at a moment; `newest` unless a teammate added parts since."""

    valid: bool
    submitted_at: datetime | None = None
    parts: int
    newest: bool


def submissions(campus: Campus, buckets: RateLimiter) -> APIRouter:
    api = Router(tags=["submissions"])
    _add_submit(api, campus, buckets)
    _add_drafts(api, campus)
    _add_submissions(api, campus)
    return api


def seen(campus: Campus, member: CourseMember, assignment: Assignment, submission: Submission) -> Submission:
    """A submission as this reader may see it."""
    now = campus.repository.now()
    if member.is_staff:
        return for_staff(assignment, submission, now, campus.pseudonyms)
    return for_student(assignment, submission, member.user.user_id, now)


def receipt_of(
    campus: Campus, member: CourseMember, assignment: Assignment, submission: Submission
) -> Receipt:
    shown = seen(campus, member, assignment, submission)
    if not handed_in(submission):
        raise NotFound("receipt", "This grade was given without a submission, which has no receipt.")
    parts = [
        ReceiptPart(kind=part.kind, filename=part.filename, file_size=part.file_size, checksum=part.checksum)
        for part in shown.parts
    ]
    return Receipt(
        submission_id=submission.submission_id,
        assignment_id=submission.assignment_id,
        submission_number=submission.submission_number,
        submitted_at=submission.submitted_at,
        is_late=submission.is_late,
        parts=parts,
        code=campus.receipts.code(submission),
    )


def _add_submit(api: APIRouter, campus: Campus, buckets: RateLimiter) -> None:
    pace = Depends(limit_rate(buckets, "submit", per_minute=60, burst=60, identity=CAMPUS.caller))

    @api.post(
        "/assignments/{assignment_id}/submissions", status_code=201, dependencies=[pace],
        response_model_exclude_none=True,
    )  # fmt: skip
    def submit(body: SubmitBody, found: OpenAssignment, key: IdempotencyKey) -> Submission:
        """Submit. With an Idempotency-Key, a repeated request returns the first submission."""
        made = campus.submissions.submit(
            found.member,
            found.assignment,
            parts=[part.new for part in body.parts] if body.parts is not None else None,
            draft=body.draft_version,
            key=key,
            attempt=body.attempt,
            on_behalf_of=body.on_behalf_of,
            agreed=body.agreed,
            comments=body.comments,
        )
        return seen(campus, found.member, found.assignment, made)

    @api.get("/assignments/{assignment_id}/submissions", response_model_exclude_none=True)
    def list_submissions(
        found: OpenAssignment, size: PageSize = None, after: Cursor = None
    ) -> Page[Submission]:
        """For staff all, by student or team and number; for a student their own or their team's, by number.

        With anonymous marking all are in one answer, by pseudonym.
        """
        member, assignment = found.member, found.assignment
        if member.is_staff:
            if assignment.anonymous:  # in the order of ids, a list of students would tell whose is whose
                every = sorted(
                    campus.submissions.every(member, assignment),
                    key=lambda row: campus.pseudonyms.of(row.assignment_id, row.owner_id),
                )
                return listed(seen(campus, member, assignment, each) for each in every)
            page = campus.submissions.page(member, assignment, size, after)
            return listed((seen(campus, member, assignment, each) for each in page.items), page.next)
        mine = campus.submissions.of_student(member, assignment)
        return listed(seen(campus, member, assignment, each) for each in mine)


def _add_drafts(api: APIRouter, campus: Campus) -> None:
    drafts = campus.drafts

    @api.get("/assignments/{assignment_id}/draft", response_model_exclude_none=True)
    def get_draft(found: OpenAssignment) -> Draft:
        """The draft of the caller or the caller's team; version 0 if there is none yet."""
        return drafts.mine(found.member, found.assignment)

    @api.post("/assignments/{assignment_id}/draft/parts", status_code=201, response_model_exclude_none=True)
    def add_part(body: AddedPart, found: OpenAssignment, read: VersionRead = None) -> Draft:
        """Add a part to the draft you saw; 409 if it was changed since."""
        return drafts.add(found.member, found.assignment, body.new, based_on(read, body.version))

    @api.delete("/assignments/{assignment_id}/draft/parts/{part_id}", response_model_exclude_none=True)
    def remove_part(
        found: OpenAssignment, part_id: str, read: VersionRead = None, version: _Version = None
    ) -> Draft:
        return drafts.remove(found.member, found.assignment, part_id, based_on(read, version))

    @api.patch("/assignments/{assignment_id}/draft", response_model_exclude_none=True)
    def change_draft(body: DraftChange, found: OpenAssignment, read: VersionRead = None) -> Draft:
        return drafts.comment(found.member, found.assignment, body.comments, based_on(read, body.version))


def _add_submissions(api: APIRouter, campus: Campus) -> None:
    service = campus.submissions

    @api.get("/me/submissions", response_model_exclude_none=True)
    def my_submissions(user: Me, size: PageSize = None, after: Cursor = None) -> Page[Submission]:
        """The caller's submissions and those of their teams, newest first."""
        page = service.history(user, size, after)
        return listed(_of_user(campus, user, page.items), page.next)

    @api.get("/submissions/{submission_id}", response_model_exclude_none=True)
    def get_submission(found: OpenSubmission) -> Submission:
        return seen(campus, found.member, found.assignment, found.submission)

    @api.get("/submissions/{submission_id}/receipt", response_model_exclude_none=True)
    def get_receipt(found: OpenSubmission) -> Receipt:
        return receipt_of(campus, found.member, found.assignment, found.submission)

    @api.post("/submissions/{submission_id}:check-receipt", response_model_exclude_none=True)
    def check_receipt(body: ReceiptCode, found: StaffSubmission) -> CheckedReceiptView:
        """Whether a code that a student shows is a receipt of this submission."""
        return view_of(CheckedReceiptView, campus.receipts.check(found.submission, body.code))

    @api.post("/submissions/{submission_id}:withdraw", response_model_exclude_none=True)
    def withdraw(found: OpenSubmission) -> Draft:
        """Take the last attempt back until it is due; its parts are a draft again."""
        return campus.withdrawals.withdraw(found.member, found.assignment, found.submission)

    @api.post("/submissions/{submission_id}:set-back", response_model_exclude_none=True)
    def set_back(body: SetBack, found: StaffSubmission) -> Draft:
        """Staff makes the last attempt a draft again."""
        hidden = is_anonymous(found.assignment, found.submission, campus.repository.now())
        draft = campus.withdrawals.set_back(found.member, found.submission, body.reason)
        return draft_for_staff(draft, campus.pseudonyms, hidden=hidden)

    @api.get("/submissions/{submission_id}/parts/{part_id}/content")
    def get_content(request: Request, found: OpenSubmission, part_id: str) -> Response:
        """The bytes of a file as they were submitted, whatever became of the file since (CC-S10)."""
        part = service.content(found.member, found.submission, part_id)
        # In anonymous marking a file has another name.
        shown = seen(campus, found.member, found.assignment, found.submission)
        return content_response(
            request,
            lambda start, end: campus.library.open_object(part.object_name or "", start, end),
            size=part.file_size or 0,
            filename=next(each.filename for each in shown.parts if each.part_id == part_id) or "file",
            content_type=part.content_type or "application/octet-stream",
            tag=part.version_id or part.part_id,
        )


def _of_user(campus: Campus, user: User, found: Any) -> list[Submission]:
    """Each as the user may see it; those of courses the user has left are still theirs."""
    views, now = [], campus.repository.now()
    assignments: dict[str, Assignment] = {}
    for each in found:
        if each.assignment_id not in assignments:
            assignments[each.assignment_id] = campus.repository.assignment(each.assignment_id)
        views.append(for_student(assignments[each.assignment_id], each, user.user_id, now))
    return views
