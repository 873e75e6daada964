"""Assignments and their other dates: `/courses/{id}/assignments`, `/assignments/{id}` with `/extensions`."""

from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import Field

from tablewright.edge.routes import Router
from tablewright.kit.http import Body, Moment, Page, RequiredMoment, listed
from tablewright.systems.campus.access import (
    AnyMember,
    InstructorAssignment,
    InstructorMember,
    Me,
    OpenAssignment,
    StaffAssignment,
)
from tablewright.systems.campus.api.content import content_response
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.course_model import (
    Assignment,
    Audience,
    LatePenalty,
    LatePolicy,
    Override,
    Points,
)
from tablewright.systems.campus.courses.eligibility import Eligibility, eligibility_of
from tablewright.systems.campus.model import Value

_MIB = 1024**2


class AssignmentFields(Body):
    """What an instructor sets."""

    title: str = Field("", max_length=1000)
    description: str = ""
    instructions: str | None = None
    available_from: Moment = None
    accept_until: Moment = None
    max_file_size: int = 10 * _MIB
    allowed_file_types: list[str] = Field(default_factory=list)
    max_submissions: int = 1
    points: Points | None = None
    extra_credit: bool = False
    rubric_url: str | None = None
    attachments: list[str] = Field(default_factory=list)
    late_policy: LatePolicy = "accept"
    late_penalty: LatePenalty = LatePenalty()
    grace_minutes: int = 0
    missing_grade: Points | None = None
    group_set_id: str | None = None
    grade_each: bool = False
    statement: str | None = None
    anonymous: bool = False
    hidden_graders: bool = False
    second_marking: bool = False
    rubric_id: str | None = None
    grade_group_id: str | None = None
    counts: bool = True
    regrade_days: int = 7


class NewAssignment(AssignmentFields):
    due_date: RequiredMoment


class AssignmentChange(AssignmentFields):
    """The fields that are sent change; `updatedAt` is that of the assignment as it was read."""

    due_date: Moment = None
    updated_at: Moment = None


class MyEligibility(Value):
    """The dates that apply to the caller, the attempts made, and what submitting now costs."""

    available_from: datetime | None = None
    due_date: datetime
    accept_until: datetime | None = None
    time_zone: str
    is_open: bool
    excused: bool
    attempts: int
    max_submissions: int
    is_late_now: bool
    penalty_now: Points
    late_days_now: int
    late_days_left: int
    team_id: str | None = None


class AssignmentView(Value):
    assignment: Assignment
    mine: MyEligibility | None = None


class NewOverride(Body):
    available_from: Moment = None
    due_date: Moment = None
    accept_until: Moment = None
    extra_submissions: int = 0
    excused: bool = False
    reason: str | None = None


def assignments(campus: Campus) -> APIRouter:
    api = Router(tags=["assignments"])
    _add_assignments(api, campus)
    _add_extensions(api, campus)
    return api


def _add_assignments(api: APIRouter, campus: Campus) -> None:
    service = campus.assignments

    @api.get("/courses/{course_id}/assignments", response_model_exclude_none=True)
    def list_assignments(member: AnyMember) -> Page[AssignmentView]:
        """By due date; drafts for staff alone."""
        return listed(_view(eligibility_of(campus.owners, member, each), each) for each in service.of(member))

    @api.get("/me/assignments", response_model_exclude_none=True)
    def my_assignments(user: Me) -> Page[Assignment]:
        """The assignments that you made as an instructor, newest first."""
        return listed(service.of_instructor(user))

    @api.post("/courses/{course_id}/assignments", status_code=201, response_model_exclude_none=True)
    def create_assignment(body: NewAssignment, member: InstructorMember) -> Assignment:
        return service.create(member, dict(body))

    @api.get("/assignments/{assignment_id}", response_model_exclude_none=True)
    def get_assignment(found: OpenAssignment) -> AssignmentView:
        return _view(eligibility_of(campus.owners, found.member, found.assignment), found.assignment)

    @api.put("/assignments/{assignment_id}", response_model_exclude_none=True)
    def change_assignment(body: AssignmentChange, found: InstructorAssignment) -> Assignment:
        changes = body.changes()
        seen = changes.pop("updated_at", None)
        if changes.get("due_date", ...) is None:
            del changes["due_date"]
        return service.change(found.member, found.assignment.assignment_id, changes, seen)

    @api.post("/assignments/{assignment_id}:publish", response_model_exclude_none=True)
    def publish(found: InstructorAssignment) -> Assignment:
        return service.publish(found.member, found.assignment.assignment_id)

    @api.post("/assignments/{assignment_id}:close", response_model_exclude_none=True)
    def close(found: InstructorAssignment) -> Assignment:
        return service.close(found.member, found.assignment.assignment_id)

    @api.post("/assignments/{assignment_id}:reopen", response_model_exclude_none=True)
    def reopen(found: InstructorAssignment) -> Assignment:
        return service.reopen(found.member, found.assignment.assignment_id)

    @api.get("/assignments/{assignment_id}/attachments/{file_id}")
    def get_attachment(request: Request, found: OpenAssignment, file_id: str) -> Response:
        """The bytes of an attached file."""
        eligibility = eligibility_of(campus.owners, found.member, found.assignment)
        file = service.attachment(
            found.assignment, file_id, is_early=eligibility is not None and eligibility.is_early
        )
        campus.file_access.refuse_locked(file)
        return content_response(
            request,
            lambda start, end: campus.library.open(file, start, end),
            size=file.file_size,
            filename=file.filename,
            content_type=file.content_type,
            tag=file.version_id,
        )


def _add_extensions(api: APIRouter, campus: Campus) -> None:
    @api.get("/assignments/{assignment_id}/extensions", response_model_exclude_none=True)
    def list_extensions(found: StaffAssignment) -> Page[Override]:
        return listed(campus.repository.overrides_of(found.assignment.assignment_id))

    @api.put(
        "/assignments/{assignment_id}/extensions/{audience}/{audience_id}", response_model_exclude_none=True
    )
    def set_extension(
        body: NewOverride, found: StaffAssignment, audience: Audience, audience_id: str
    ) -> Override:
        """Other dates for a student, a section or a team; or excused. The most generous applies."""
        id = found.assignment.assignment_id
        return campus.assignments.override(found.member, id, audience, audience_id, dict(body))

    @api.delete("/assignments/{assignment_id}/extensions/{audience}/{audience_id}", status_code=204)
    def remove_extension(found: StaffAssignment, audience: Audience, audience_id: str) -> None:
        campus.assignments.remove_override(
            found.member, found.assignment.assignment_id, audience, audience_id
        )


def _view(eligibility: Eligibility | None, assignment: Assignment) -> AssignmentView:
    if eligibility is None:
        return AssignmentView(assignment=assignment)
    return AssignmentView(assignment=eligibility.shown(assignment), mine=_mine(eligibility))


def _mine(eligibility: Eligibility) -> MyEligibility:
    dates, late = eligibility.dates, eligibility.lateness
    given: dict[str, Any] = {
        "available_from": dates.available_from,
        "due_date": dates.due,
        "accept_until": dates.accept_until,
        "time_zone": eligibility.time_zone,
        "is_open": eligibility.is_open,
        "excused": dates.excused,
        "attempts": eligibility.attempts,
        "max_submissions": eligibility.most,
        "is_late_now": late.is_late,
        "penalty_now": late.penalty,
        "late_days_now": late.days_used,
        "late_days_left": eligibility.late_days_left,
        "team_id": eligibility.team.team_id if eligibility.team is not None else None,
    }
    return MyEligibility(**given)
