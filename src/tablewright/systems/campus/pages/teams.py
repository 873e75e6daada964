"""Teams of a course: group sets, made by hand, at random, by the students, or from a CSV file."""

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, Posted
from tablewright.pages.layout import Crumb
from tablewright.systems.campus.access import AnyMember, StaffMember
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.teams import TeamRow
from tablewright.systems.campus.pages.courses import course_crumbs, course_path, course_tabs
from tablewright.systems.campus.pages.page import CampusPages


def teams_path(course_id: str, group_set_id: str = "") -> str:
    return f"{course_path(course_id)}/teams/{group_set_id}".rstrip("/")


def add_teams(router: APIRouter, pages: CampusPages) -> None:
    _add_sets(router, pages)
    _add_set(router, pages)
    _add_members(router, pages)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 5 else None


def _add_sets(router: APIRouter, pages: CampusPages) -> None:
    teams = pages.campus.teams

    def page(request: Request, member: CourseMember, form: Form, status: int = 200) -> Response:
        course, me = member.course, member.user.user_id
        rows = [
            (each, teams.team_of(course.course_id, each.group_set_id, me))
            for each in teams.sets(course.course_id)
        ]
        return pages.page(
            request, "teams", title="Teams", crumbs=course_crumbs(course), member=member, user=member.user,
            course=course,
            rows=rows, tabs=course_tabs(member, "Teams"), form=form, status=status,
        )  # fmt: skip

    @router.get("/courses/{course_id}/teams")
    def sets(request: Request, member: AnyMember) -> Response:
        return page(request, member, Form())

    @router.post("/courses/{course_id}/teams")
    def create(request: Request, member: StaffMember, form: Posted) -> Response:
        size = form.get("teamSize").strip()
        if size and _number(size) is None:
            return page(request, member, form.wrong("teamSize", "Enter a number of members."), 422)
        try:
            made = teams.create_set(
                member,
                form.get("name"),
                self_enrolment=form.is_ticked("selfEnrolment"),
                team_size=_number(size),
            )
        except CallerError as mistake:
            return page(request, member, form.refused(mistake), mistake.status)
        return pages.console.go(
            teams_path(member.course.course_id, made.group_set_id), "Created. Add its teams next."
        )


def _page(
    pages: CampusPages,
    request: Request,
    member: CourseMember,
    group_set_id: str,
    form: Form,
    status: int = 200,
    report: list[TeamRow] | None = None,
) -> Response:
    campus, course = pages.campus, member.course
    group_set = campus.teams.group_set(course.course_id, group_set_id)
    people = {each.user_id: each.name for each in campus.courses.members(course.course_id)}
    teams = campus.teams.teams(group_set)
    mine = next((team for team in teams if member.user.user_id in team.member_ids), None)
    return pages.page(
        request,
        "group_set",
        title=group_set.name,
        crumbs=(*course_crumbs(course), Crumb("Teams", teams_path(course.course_id))),
        member=member,
        user=member.user,
        course=course,
        group_set=group_set,
        teams=teams,
        people=people,
        alone=campus.teams.without_team(group_set) if member.is_staff else [],
        mine=mine,
        path=teams_path(course.course_id, group_set_id),
        form=form,
        report=report,
        status=status,
    )


def _add_set(router: APIRouter, pages: CampusPages) -> None:
    teams = pages.campus.teams

    @router.get("/courses/{course_id}/teams/{group_set_id}")
    def group_set(request: Request, member: AnyMember, group_set_id: str) -> Response:
        return _page(pages, request, member, group_set_id, Form())

    @router.post("/courses/{course_id}/teams/{group_set_id}")
    def change(request: Request, member: StaffMember, group_set_id: str, form: Posted) -> Response:
        found = teams.group_set(member.course.course_id, group_set_id)
        report, said = None, ""
        try:
            if form.get("do") == "random":
                made = teams.at_random(
                    member, found, _number(form.get("teamSize")) or 0, by_section=form.is_ticked("bySection")
                )
                said = f"{len(made)} teams made."
            elif form.get("do") == "load":
                report = teams.load(member, found, form.get("file").encode())
            else:
                said = f"{teams.create_team(member, found, form.get('name')).name} is added."
        except CallerError as mistake:
            wrong = form.refused(mistake)
            return _page(pages, request, member, group_set_id, wrong, mistake.status)
        if report is not None:
            return _page(pages, request, member, group_set_id, form, report=report)
        return pages.console.go(teams_path(member.course.course_id, group_set_id), said)


def _add_members(router: APIRouter, pages: CampusPages) -> None:
    teams = pages.campus.teams

    @router.post("/courses/{course_id}/teams/{group_set_id}/{team_id}")
    def change(member: AnyMember, group_set_id: str, team_id: str, form: Posted) -> Response:
        """Join or leave as a student; put a student in or take one out as staff."""
        found = teams.group_set(member.course.course_id, group_set_id)
        user_id, act = form.get("userId"), form.get("do")
        path = teams_path(member.course.course_id, group_set_id)
        try:
            if not member.is_staff:
                (teams.leave if act == "leave" else teams.join)(member, found, team_id)
            elif act == "remove":
                teams.take_out(member, found, team_id, user_id)
            else:
                teams.add(member, found, team_id, user_id)
        except CallerError as mistake:
            return pages.console.go(path, mistake.message, "bad")
        return pages.console.go(path, "Saved.")
