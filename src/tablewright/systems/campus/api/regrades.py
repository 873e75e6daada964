"""Regrade requests: a thread about a visible grade, and the queue of a course."""

from fastapi import APIRouter

from tablewright.edge.errors import NotFound
from tablewright.edge.routes import Router
from tablewright.kit.http import Cursor, Page, VersionRead, based_on, listed
from tablewright.systems.campus.access import OpenSubmission, StaffMember
from tablewright.systems.campus.api import grade_bodies as bodies
from tablewright.systems.campus.api.me import PageSize
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.courses.course_members import MemberSubmission
from tablewright.systems.campus.grade_model import Regrade, RegradeStatus
from tablewright.systems.campus.grading.disclosure import regrade_for_student


def regrades(campus: Campus) -> APIRouter:
    api = Router(tags=["grading"])

    @api.get("/courses/{course_id}/regrades")
    def list_regrades(
        member: StaffMember, status: RegradeStatus = "open", size: PageSize = None, after: Cursor = None
    ) -> Page[Regrade]:
        """The requests of a course in a status, oldest first."""
        found = campus.regrades.queue(member.course.course_id, status, member.user.user_id, size, after)
        return listed(found.items, found.next)

    @api.get("/submissions/{submission_id}/regrades")
    def regrades_of_submission(found: OpenSubmission) -> Page[Regrade]:
        """Staff sees all threads of a submission, a student the own one."""
        every = campus.regrades.of(found.submission.submission_id)
        return listed(shown(found, each) for each in every if may_see(found, each))

    @api.post("/submissions/{submission_id}/regrades", status_code=201)
    def request_regrade(found: OpenSubmission, body: bodies.TextBody) -> Regrade:
        """Ask to look at a grade again, as one of its students."""
        made = campus.regrades.request(found.assignment, found.submission, body.text, found.member.actor)
        return shown(found, made)

    @api.post("/submissions/{submission_id}/regrades/{regrade_id}/posts", status_code=201)
    def reply(found: OpenSubmission, regrade_id: str, body: bodies.TextBody) -> Regrade:
        """Write in a thread: staff answers it, the student asks again."""
        thread = thread_of(campus, found, regrade_id)
        return shown(
            found,
            campus.regrades.reply(found.assignment, found.submission, thread, body.text, found.member.actor),
        )

    @api.post("/submissions/{submission_id}/regrades/{regrade_id}:close")
    def close(
        found: OpenSubmission,
        regrade_id: str,
        body: bodies.VersionBody | None = None,
        read: VersionRead = None,
    ) -> Regrade:
        thread = thread_of(campus, found, regrade_id)
        expected = based_on(read, body.version if body is not None else None)
        return shown(found, campus.regrades.close(thread, found.member.actor, expected))

    return api


def may_see(found: MemberSubmission, regrade: Regrade) -> bool:
    return found.member.is_staff or regrade.student_id == found.member.user.user_id


def thread_of(campus: Campus, found: MemberSubmission, regrade_id: str) -> Regrade:
    """A thread, for staff or the student who opened it."""
    thread = campus.regrades.get(found.submission.submission_id, regrade_id)
    if not may_see(found, thread):
        raise NotFound("regrade")
    return thread


def shown(found: MemberSubmission, regrade: Regrade) -> Regrade:
    if found.member.is_staff:
        return regrade
    return regrade_for_student(found.assignment, regrade, found.member.user.user_id)
