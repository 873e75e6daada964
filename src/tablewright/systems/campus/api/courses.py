"""Courses, who is in them, rosters and teams: `/courses`, `/roster`."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field

from tablewright.edge.request_bodies import body_of
from tablewright.edge.routes import Router
from tablewright.kit.http import Body, Moment, Page, RequiredMoment, VersionRead, listed, marked
from tablewright.systems.campus.access import Admin, AnyMember, InstructorMember, Me, StaffMember
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.course_model import (
    Course,
    CourseRole,
    Enrolment,
    GradeGroup,
    GradeLetter,
    GroupSet,
    Team,
)
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.roster import Report
from tablewright.systems.campus.courses.teams import TeamRow
from tablewright.systems.campus.model import Value

GroupSetId = Annotated[str, Path(alias="groupSetId")]


class NewCourse(Body):
    course_id: str = Field(max_length=64)
    name: str = Field(max_length=200)
    semester: str = Field(max_length=40)
    semester_end: RequiredMoment
    time_zone: str = "UTC"
    sections: list[str] = Field(default_factory=list)
    late_days: int = 0


class CourseChange(Body):
    name: str = Field("", max_length=200)
    semester: str = Field("", max_length=40)
    semester_end: Moment = None
    time_zone: str = "UTC"
    sections: list[str] = Field(default_factory=list)
    late_days: int = 0
    grade_groups: list[GradeGroup] = Field(default_factory=list)
    letters: list[GradeLetter] = Field(default_factory=list)


class MyCourse(Value):
    """A course of the caller, with the role there."""

    course: Course
    role: CourseRole
    section: str | None = None


class NewEnrolment(Body):
    """A person by the address; `name` is for someone who is new here."""

    email: str = Field(max_length=320)
    role: CourseRole = "student"
    section: str | None = Field(None, max_length=40)
    name: str | None = Field(None, max_length=200)


class RosterRow(Value):
    line: int
    course_id: str
    email: str
    name: str
    role: CourseRole
    section: str | None = None
    outcome: str
    message: str


class RosterReport(Value):
    """What an import does or did, row by row."""

    rows: list[RosterRow]
    new_courses: list[str]
    counts: dict[str, int]


class NewGroupSet(Body):
    name: str = Field(max_length=100)
    self_enrolment: bool = False
    team_size: int | None = None


class NewTeam(Body):
    name: str = Field(max_length=100)
    member_ids: list[str] = Field(default_factory=list, max_length=50)


class RandomTeams(Body):
    team_size: int
    by_section: bool = False


def courses(campus: Campus) -> APIRouter:
    api = Router(tags=["courses"])
    _add_courses(api, campus)
    _add_people(api, campus)
    _add_teams(api, campus)
    _add_memberships(api, campus)
    return api


def _add_courses(api: APIRouter, campus: Campus) -> None:
    @api.get("/courses", response_model_exclude_none=True)
    def list_courses(user: Me) -> Page[MyCourse]:
        """The caller's courses, the newest semester first."""
        mine = campus.courses.of(user)
        return listed(
            MyCourse(course=course, role=member.role, section=member.section) for course, member in mine
        )

    @api.post("/courses", status_code=201, response_model_exclude_none=True)
    def create_course(body: NewCourse, user: Me, response: Response) -> Course:
        return marked(response, campus.courses.create(user, dict(body)))

    @api.get("/courses/{course_id}", response_model_exclude_none=True)
    def get_course(member: AnyMember, response: Response) -> Course:
        return marked(response, member.course)

    @api.patch("/courses/{course_id}", response_model_exclude_none=True)
    def change_course(
        body: CourseChange, member: InstructorMember, response: Response, version: VersionRead = None
    ) -> Course:
        changes = {name: value for name, value in body.changes().items() if value is not None}
        return marked(response, campus.courses.change(member, changes, version))


def _add_people(api: APIRouter, campus: Campus) -> None:
    @api.get("/courses/{course_id}/enrollments", response_model_exclude_none=True)
    def list_enrolments(member: StaffMember, role: CourseRole | None = None) -> Page[Enrolment]:
        """Everyone in the course, staff first."""
        return listed(campus.courses.members(member.course.course_id, role))

    @api.post("/courses/{course_id}/enrollments", status_code=201, response_model_exclude_none=True)
    def enrol(body: NewEnrolment, member: InstructorMember) -> Enrolment:
        """Enrol a person; the same again changes nothing, another role or section changes it."""
        return campus.courses.enrol(member, body.email, body.role, body.section, body.name)

    @api.delete("/courses/{course_id}/enrollments/{user_id}", status_code=204)
    def remove_person(member: InstructorMember, user_id: str) -> None:
        campus.courses.remove(member, user_id)

    @api.post("/courses/{course_id}/roster:preview")
    def preview_roster(request: Request, member: InstructorMember) -> RosterReport:
        """What importing a CSV file (the body) would do; nothing is written."""
        return report_view(campus.roster.preview(member.user, body_of(request.scope), member))

    @api.post("/courses/{course_id}/roster")
    def load_roster(request: Request, member: InstructorMember) -> RosterReport:
        """Import a CSV file (the body); the same file again changes nothing."""
        return report_view(campus.roster.load(member.user, body_of(request.scope), member))

    @api.post("/roster:preview")
    def preview_rosters(request: Request, user: Admin) -> RosterReport:
        """The same for many courses, which are created if they are new."""
        return report_view(campus.roster.preview(user, body_of(request.scope)))

    @api.post("/roster")
    def load_rosters(request: Request, user: Admin) -> RosterReport:
        return report_view(campus.roster.load(user, body_of(request.scope)))


def _add_teams(api: APIRouter, campus: Campus) -> None:
    teams = campus.teams

    @api.get("/courses/{course_id}/group-sets", response_model_exclude_none=True)
    def list_group_sets(member: AnyMember) -> Page[GroupSet]:
        return listed(teams.sets(member.course.course_id))

    @api.post("/courses/{course_id}/group-sets", status_code=201, response_model_exclude_none=True)
    def create_group_set(body: NewGroupSet, member: StaffMember) -> GroupSet:
        return teams.create_set(
            member, body.name, self_enrolment=body.self_enrolment, team_size=body.team_size
        )

    @api.get("/courses/{course_id}/group-sets/{groupSetId}/teams", response_model_exclude_none=True)
    def list_teams(member: AnyMember, group_set_id: GroupSetId) -> Page[Team]:
        return listed(teams.teams(_set_of(campus, member, group_set_id)))

    @api.post(
        "/courses/{course_id}/group-sets/{groupSetId}/teams",
        status_code=201,
        response_model_exclude_none=True,
    )
    def create_team(body: NewTeam, member: StaffMember, group_set_id: GroupSetId) -> Team:
        return teams.create_team(member, _set_of(campus, member, group_set_id), body.name, body.member_ids)

    @api.post("/courses/{course_id}/group-sets/{groupSetId}/teams:random", response_model_exclude_none=True)
    def divide(body: RandomTeams, member: StaffMember, group_set_id: GroupSetId) -> Page[Team]:
        """Divide the students who are in no team of the set."""
        found = _set_of(campus, member, group_set_id)
        return listed(teams.at_random(member, found, body.team_size, by_section=body.by_section))

    @api.post("/courses/{course_id}/group-sets/{groupSetId}/teams:load")
    def load_teams(request: Request, member: StaffMember, group_set_id: GroupSetId) -> list[dict[str, Any]]:
        """Teams from a CSV file (the body) with the columns team and email."""
        rows: list[TeamRow] = teams.load(
            member, _set_of(campus, member, group_set_id), body_of(request.scope)
        )
        return [asdict(row) for row in rows]


def _add_memberships(api: APIRouter, campus: Campus) -> None:
    teams = campus.teams
    path = "/courses/{course_id}/group-sets/{groupSetId}/teams/{team_id}"

    @api.put(path + "/members/{user_id}", response_model_exclude_none=True)
    def add_member(member: StaffMember, group_set_id: GroupSetId, team_id: str, user_id: str) -> Team:
        return teams.add(member, _set_of(campus, member, group_set_id), team_id, user_id)

    @api.delete(path + "/members/{user_id}", response_model_exclude_none=True)
    def remove_member(member: StaffMember, group_set_id: GroupSetId, team_id: str, user_id: str) -> Team:
        return teams.take_out(member, _set_of(campus, member, group_set_id), team_id, user_id)

    @api.post(path + ":{action}", response_model_exclude_none=True)
    def join_or_leave(
        member: AnyMember, group_set_id: GroupSetId, team_id: str, action: Literal["join", "leave"]
    ) -> Team:
        """A student joins or leaves a team, where the set allows it."""
        do = teams.join if action == "join" else teams.leave
        return do(member, _set_of(campus, member, group_set_id), team_id)


def _set_of(campus: Campus, member: CourseMember, group_set_id: str) -> GroupSet:
    return campus.teams.group_set(member.course.course_id, group_set_id)


def report_view(report: Report) -> RosterReport:
    rows = [
        RosterRow(
            line=each.line, course_id=each.course_id, email=each.email, name=each.name, role=each.role,
            section=each.section, outcome=each.outcome, message=each.message,
        )
        for each in report.entries
    ]  # fmt: skip
    outcomes = sorted({each.outcome for each in report.entries})
    counts: dict[str, int] = {outcome: report.count(outcome) for outcome in outcomes}
    return RosterReport(rows=rows, new_courses=list(report.new_courses), counts=counts)
