"""Marking: the queue of a course, `/submissions/{id}/grade`, `:return`, feedback files, comments in place, history."""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.errors import NotFound, Refused
from tablewright.edge.etags import mark as mark_version
from tablewright.edge.request_bodies import body_of
from tablewright.edge.routes import Router
from tablewright.kit.http import Cursor, Page, VersionRead, based_on, listed, version_needed
from tablewright.systems.campus.access import (
    CAMPUS,
    InstructorSubmission,
    OpenSubmission,
    StaffMember,
    StaffSubmission,
)
from tablewright.systems.campus.api import grade_bodies as bodies
from tablewright.systems.campus.api.content import content_response
from tablewright.systems.campus.api.me import PageSize
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.course_model import Assignment, PinnedFile
from tablewright.systems.campus.courses.course_members import MemberSubmission
from tablewright.systems.campus.grade_model import Comment
from tablewright.systems.campus.grading.comments import CommentPosition
from tablewright.systems.campus.grading.disclosure import (
    comments_for_student,
    for_staff,
    for_student,
    is_anonymous,
    marks_for_staff,
)
from tablewright.systems.campus.grading.mark_entries import MarkEntry
from tablewright.systems.campus.grading.release import visible
from tablewright.systems.campus.model import AuditEntry

Filename = Annotated[str, Query(max_length=255)]


def marks(campus: Campus, buckets: RateLimiter) -> APIRouter:
    api = Router(tags=["grading"])
    _add_queue(api, campus)
    _add_grades(api, campus)
    _add_feedback_files(api, campus)
    comments = limit_rate(buckets, "comments", per_minute=120, burst=120, identity=CAMPUS.caller)
    _add_comments(api, campus, [Depends(comments)])
    return api


def _add_queue(api: APIRouter, campus: Campus) -> None:
    @api.get("/courses/{course_id}/grading-queue", response_model_exclude_none=True)
    def grading_queue(
        member: StaffMember, size: PageSize = None, after: Cursor = None, mine: bool = False
    ) -> Page[bodies.GradeView]:
        """The submissions of a course that wait for a grade, oldest first; `mine`: those allocated to the caller."""
        found = campus.marks.queue(member.course.course_id, member.user.user_id, size, after, mine=mine)
        known: dict[str, Assignment] = {}
        now = campus.repository.now()
        views = []
        for row in found.items:
            if row.assignment_id not in known:
                known[row.assignment_id] = campus.repository.assignment(row.assignment_id)
            views.append(bodies.grade_view(for_staff(known[row.assignment_id], row, now, campus.pseudonyms)))
        return listed(views, found.next)


def _add_grades(api: APIRouter, campus: Campus) -> None:
    @api.get("/submissions/{submission_id}/grade", response_model_exclude_none=True)
    def get_grade(found: OpenSubmission, response: Response) -> bodies.MarkingView:
        """The grade with rubric and comments; for students from the moment of its release on."""
        view = _staff_view(campus, found) if found.member.is_staff else _student_view(campus, found)
        mark_version(response, view.version)
        return view

    @api.put("/submissions/{submission_id}/grade", response_model_exclude_none=True)
    def put_grade(
        found: StaffSubmission, body: bodies.GradeBody, response: Response, read: VersionRead = None
    ) -> bodies.GradeView:
        """Save a mark: a draft, or the grade with `publish`. 409 if it was changed since the version that was read."""
        expected = version_needed(based_on(read, body.version))
        actor = found.member.actor
        saved = campus.marks.save(
            found.assignment,
            found.submission,
            entry_of(campus, found, body),
            actor,
            expected,
            publish=body.publish,
        )
        shown = for_staff(found.assignment, saved, campus.repository.now(), campus.pseudonyms)
        version = campus.marks.version_for(found.assignment, saved, actor)
        mark_version(response, version)
        return bodies.grade_view(shown, version)

    @api.put("/submissions/{submission_id}/grade:agree", response_model_exclude_none=True)
    def agree(found: StaffSubmission, body: bodies.GradeBody, read: VersionRead = None) -> bodies.GradeView:
        """With second marking: publish the grade that both markers agreed on."""
        expected = version_needed(based_on(read, body.version))
        saved = campus.marks.agree(
            found.assignment, found.submission, entry_of(campus, found, body), found.member.actor, expected
        )
        return bodies.grade_view(
            for_staff(found.assignment, saved, campus.repository.now(), campus.pseudonyms)
        )

    @api.post("/submissions/{submission_id}:return", response_model_exclude_none=True)
    def return_to_student(
        found: InstructorSubmission, body: bodies.VersionBody | None = None, read: VersionRead = None
    ) -> bodies.GradeView:
        """Make a published grade visible to its students now. Not for anonymous marking: release all at once."""
        expected = based_on(read, body.version if body is not None else None)
        saved = campus.marks.return_to_student(
            found.assignment, found.submission, found.member.actor, expected
        )
        return bodies.grade_view(
            for_staff(found.assignment, saved, campus.repository.now(), campus.pseudonyms)
        )

    @api.get("/submissions/{submission_id}/history", response_model_exclude_none=True)
    def get_history(found: StaffSubmission, size: PageSize = None) -> Page[AuditEntry]:
        """What happened to a submission and its marks, newest first. Not for anonymous marking: it has names."""
        if is_anonymous(found.assignment, found.submission, campus.repository.now()):
            raise Refused("ANONYMOUS", "The history has names, so it can be read after the release.")
        return listed(campus.marks.history(found.submission.submission_id, found.member.user.user_id, size))


def entry_of(campus: Campus, found: MemberSubmission, body: bodies.GradeBody) -> MarkEntry:
    """What was entered; in anonymous marking members are named as the answers name them."""
    hidden = is_anonymous(found.assignment, found.submission, campus.repository.now())
    scores = campus.pseudonyms.real(found.submission, body.scores, hidden=hidden)
    return replace(body.entry(), scores=scores)


def _staff_view(campus: Campus, found: MemberSubmission) -> bodies.MarkingView:
    assignment, row, actor = found.assignment, found.submission, found.member.actor
    now = campus.repository.now()
    seen = campus.marks.seen_by(assignment, row, actor)
    own = next((each for each in seen if each.marker_id == actor.subject), None)
    return bodies.marking_view(
        for_staff(assignment, row, now, campus.pseudonyms),
        campus.marks.version_for(assignment, row, actor),
        marks_for_staff(seen, campus.pseudonyms, hidden=is_anonymous(assignment, row, now)),
        own.criteria if own is not None else {},
        campus.rubrics.of_assignment(assignment),
        campus.comments.of(row.submission_id),
    )


def _student_view(campus: Campus, found: MemberSubmission) -> bodies.MarkingView:
    assignment, row, now = found.assignment, found.submission, campus.repository.now()
    if not visible(assignment, row, now):
        raise NotFound("grade", "There is no grade yet.")
    published = next((each for each in campus.marks.of(row.submission_id) if each.published), None)
    return bodies.marking_view(
        for_student(assignment, row, found.member.user.user_id, now),
        row.version,
        (),
        published.criteria if published is not None else {},
        campus.rubrics.of_assignment(assignment),
        comments_for_student(assignment, campus.comments.of(row.submission_id)),
    )


def _add_feedback_files(api: APIRouter, campus: Campus) -> None:
    @api.post("/submissions/{submission_id}/feedback-file", status_code=201)
    def store_feedback_file(request: Request, found: StaffSubmission, filename: Filename) -> dict[str, str]:
        """Store a small file, the body of the request, for a mark's `feedbackFileId`. Larger ones: upload a file."""
        content = body_of(request.scope)
        if not content:
            raise Refused("FILE_EMPTY", "The body of the request is the file, and it is empty.", "body")
        stored = campus.uploads.store_whole(
            found.member.user, filename, [content], len(content), purpose="feedback"
        )
        return {"fileId": stored.file_id, "filename": stored.filename}

    @api.get("/submissions/{submission_id}/feedback-file")
    def get_feedback_file(request: Request, found: OpenSubmission) -> Response:
        """The file that came with the grade."""
        file = feedback_file_of(campus, found)
        return content_response(
            request,
            lambda start, end: campus.library.open_object(file.object_name, start, end),
            size=file.file_size,
            filename=file.filename,
            content_type=file.content_type,
            tag=file.version_id,
        )


def feedback_file_of(campus: Campus, found: MemberSubmission) -> PinnedFile:
    """The feedback file of a published grade as it was then, for staff or the students who see the grade."""
    row = found.submission
    is_seen = found.member.is_staff or visible(found.assignment, row, campus.repository.now())
    file = campus.feedback_files.of_mark(row) if is_seen else None
    if file is None:
        raise NotFound("file")
    campus.file_access.refuse_locked_bytes(file.object_name)
    return file


def _add_comments(api: APIRouter, campus: Campus, pace: list[Any]) -> None:
    @api.get("/submissions/{submission_id}/comments", response_model_exclude_none=True)
    def list_comments(found: OpenSubmission) -> Page[Comment]:
        """The comments in place; for students with the grade."""
        row = found.submission
        if found.member.is_staff:
            return listed(campus.comments.of(row.submission_id))
        if not visible(found.assignment, row, campus.repository.now()):
            return listed(())
        return listed(comments_for_student(found.assignment, campus.comments.of(row.submission_id)))

    @api.post(
        "/submissions/{submission_id}/comments",
        status_code=201,
        response_model_exclude_none=True,
        dependencies=pace,
    )
    def add_comment(found: StaffSubmission, body: bodies.CommentBody) -> Comment:
        """A comment on a line, on a page and position, or on the whole of a part."""
        place = CommentPosition(body.line, body.page, body.x, body.y)
        return campus.comments.add(found.submission, body.part_id, place, body.text, found.member.actor)

    @api.patch("/submissions/{submission_id}/comments/{comment_id}", response_model_exclude_none=True)
    def change_comment(found: StaffSubmission, comment_id: str, body: bodies.TextBody) -> Comment:
        return campus.comments.change(
            found.submission.submission_id, comment_id, body.text, found.member.actor
        )

    @api.delete("/submissions/{submission_id}/comments/{comment_id}", status_code=204)
    def remove_comment(found: StaffSubmission, comment_id: str) -> None:
        campus.comments.remove(found.submission.submission_id, comment_id, found.member.actor)
