"""Regrade requests: the queue of a course for staff, and a thread for staff and its student."""

from typing import get_args

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Asked, Form, Posted
from tablewright.systems.campus.access import OpenSubmission, StaffMember
from tablewright.systems.campus.api.regrades import shown, thread_of
from tablewright.systems.campus.courses.course_members import MemberAssignment, MemberSubmission
from tablewright.systems.campus.grade_model import Regrade, RegradeStatus
from tablewright.systems.campus.grading.regrades import open_until
from tablewright.systems.campus.pages.assignments import assignment_crumbs
from tablewright.systems.campus.pages.courses import course_crumbs, course_tabs
from tablewright.systems.campus.pages.page import HOME, CampusPages

STATUSES: tuple[RegradeStatus, ...] = get_args(RegradeStatus)
TONES = {"open": "warn", "answered": "busy", "closed": ""}


def regrade_path(regrade: Regrade) -> str:
    return f"{HOME}/regrades/{regrade.submission_id}/{regrade.regrade_id}"


def add_regrades(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    @router.get("/courses/{course_id}/regrades")
    def queue(request: Request, member: StaffMember, form: Asked) -> Response:
        status: RegradeStatus = next((each for each in STATUSES if each == form.get("status")), "open")
        after = form.get("after") or None
        found = campus.regrades.queue(member.course.course_id, status, member.user.user_id, 50, after)
        titles = {each.assignment_id: each.title for each in campus.assignments.of(member)}
        return pages.page(
            request, "regrades", title="Regrade requests", crumbs=course_crumbs(member.course),
            tabs=course_tabs(member, "Marking"), course=member.course, rows=found.items, next=found.next, chosen=status,
            statuses=STATUSES, titles=titles, tones=TONES, zone=member.user.time_zone,
        )  # fmt: skip

    @router.get("/regrades/{submission_id}/{regrade_id}")
    def thread(request: Request, found: OpenSubmission, regrade_id: str) -> Response:
        return _page(pages, request, found, thread_of(campus, found, regrade_id))

    @router.post("/regrades/{submission_id}/{regrade_id}")
    def reply(request: Request, found: OpenSubmission, regrade_id: str, form: Posted) -> Response:
        regrade = thread_of(campus, found, regrade_id)
        try:
            campus.regrades.reply(
                found.assignment, found.submission, regrade, form.get("text"), found.member.actor
            )
        except CallerError as mistake:
            return _page(pages, request, found, regrade, form.refused(mistake), mistake.status)
        return pages.console.go(regrade_path(regrade), "Sent.")

    @router.post("/regrades/{submission_id}/{regrade_id}/close")
    def close(found: OpenSubmission, regrade_id: str) -> Response:
        regrade = thread_of(campus, found, regrade_id)
        try:
            campus.regrades.close(regrade, found.member.actor)
        except CallerError as mistake:
            return pages.console.go(regrade_path(regrade), mistake.message, "bad")
        return pages.console.go(regrade_path(regrade), "The request is closed.", "note")


def _page(
    pages: CampusPages,
    request: Request,
    found: MemberSubmission,
    regrade: Regrade,
    form: Form | None = None,
    status: int = 200,
) -> Response:
    now = pages.campus.repository.now()
    until = open_until(found.assignment, found.submission, now)
    return pages.page(
        request,
        "regrade",
        title="Regrade request",
        assignment=found.assignment,
        crumbs=assignment_crumbs(MemberAssignment(found.member, found.assignment)),
        member=found.member,
        submission=found.submission,
        regrade=shown(found, regrade),
        may_write=regrade.status != "closed"
        and (found.member.is_staff or (until is not None and now <= until)),
        form=form or Form(),
        at=regrade_path(regrade),
        tones=TONES,
        zone=found.member.user.time_zone,
        status=status,
    )
