"""Courses: the list, a course for students and for staff, its settings, people, and the import of a roster.

Elsewhere: assignments (assignments.py), teams (teams.py), the gradebook (gradebook.py).
"""

from collections.abc import Mapping
from datetime import UTC, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, Posted
from tablewright.pages.layout import Crumb
from tablewright.pages.zones import ZONES
from tablewright.systems.campus.access import AnyMember, InstructorMember, Me, StaffMember
from tablewright.systems.campus.course_model import Assignment, Course, CourseRole
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.courses import mistakes_in_course, refuse_creation_by_students
from tablewright.systems.campus.courses.eligibility import Eligibility, eligibility_of
from tablewright.systems.campus.model import User
from tablewright.systems.campus.pages.page import HOME, CampusPages

LIST = f"{HOME}/courses"
LISTED = Crumb("Courses", LIST)
ROLES: Mapping[CourseRole, str] = {
    "student": "Student",
    "ta": "Teaching assistant",
    "instructor": "Instructor",
}


def course_path(course_id: str) -> str:
    return f"{LIST}/{course_id}"


def course_crumbs(course: Course) -> tuple[Crumb, ...]:
    return LISTED, Crumb(course.course_id, course_path(course.course_id))


def course_tabs(member: CourseMember, here: str) -> list[tuple[str, str, bool]]:
    """The pages of a course that this reader may see."""
    base = course_path(member.course.course_id)
    staff = [("People", f"{base}/people"), ("Gradebook", f"{base}/gradebook"), ("Marking", f"{base}/grading")]
    mine = [("My grades", f"{base}/grades")]
    shown = [("Assignments", base), ("Teams", f"{base}/teams"), *(staff if member.is_staff else mine)]
    if member.role == "instructor":
        shown.append(("Settings", f"{base}/settings"))
    return [(title, href, title == here) for title, href in shown]


def add_courses(router: APIRouter, pages: CampusPages) -> None:
    _add_list(router, pages)
    _add_course(router, pages)
    _add_settings(router, pages)
    _add_people(router, pages)
    _add_roster(router, pages)


def _add_list(router: APIRouter, pages: CampusPages) -> None:
    service = pages.campus.courses

    @router.get("/courses")
    def courses(request: Request, user: Me) -> Response:
        mine = [(course, ROLES[member.role], member.section) for course, member in service.of(user)]
        now = pages.campus.repository.now()
        return pages.page(request, "courses", title="Courses", user=user, mine=mine, now=now)

    def new_page(request: Request, user: User, form: Form, status: int = 200) -> Response:
        refuse_creation_by_students(user)
        return pages.page(
            request, "course_form", title="New course", crumbs=(LISTED,), user=user, form=form, zones=ZONES,
            course=None, status=status,
        )  # fmt: skip

    # Not below /courses/{course_id}: a course may be called anything.
    @router.get("/new-course")
    def new(request: Request, user: Me) -> Response:
        return new_page(request, user, Form({"timeZone": user.time_zone, "lateDays": "0"}))

    @router.post("/new-course")
    def create(request: Request, user: Me, form: Posted) -> Response:
        try:
            fields = _fields_of(form)
            now = pages.campus.repository.now()
            course = Course(**fields, course_id=form.get("courseId").strip(), created_at=now, updated_at=now)
            mistakes = mistakes_in_course(course)
            if mistakes:
                for each in mistakes:
                    form = form.wrong(each.field, each.message)
                return new_page(request, user, form, 422)
            made = service.create(user, {**fields, "course_id": course.course_id})
        except _Unreadable as wrong:
            return new_page(request, user, wrong.form, 422)
        except CallerError as mistake:
            taken = {"EXISTS": form.wrong("courseId", "A course with this ID already exists.")}
            found = taken.get(mistake.code) or form.refused(mistake)
            return new_page(request, user, found, mistake.status)
        return pages.console.go(course_path(made.course_id), "Course created. Add people next.")


def _add_course(router: APIRouter, pages: CampusPages) -> None:
    @router.get("/courses/{course_id}")
    def course(request: Request, member: AnyMember) -> Response:
        campus = pages.campus
        found = campus.assignments.of(member)
        rows = [(each, eligibility_of(campus.owners, member, each)) for each in found]
        staff = [each for each in campus.courses.members(member.course.course_id) if each.role != "student"]
        return pages.page(
            request,
            "course",
            title=member.course.name,
            crumbs=(LISTED,),
            member=member,
            course=member.course,
            user=member.user,
            tabs=course_tabs(member, "Assignments"),
            rows=rows,
            staff=[(each.name, ROLES[each.role]) for each in staff],
            state=assignment_state,
            late_words=late_words,
            left=max(0, member.course.late_days - member.enrolment.late_days_used) if member.enrolment else 0,
        )


def _add_settings(router: APIRouter, pages: CampusPages) -> None:
    def page(request: Request, member: CourseMember, form: Form, status: int = 200) -> Response:
        return pages.page(
            request, "course_form", title="Settings", crumbs=course_crumbs(member.course), member=member,
            user=member.user,
            course=member.course, form=form, zones=ZONES, tabs=course_tabs(member, "Settings"), status=status,
        )  # fmt: skip

    @router.get("/courses/{course_id}/settings")
    def settings(request: Request, member: InstructorMember) -> Response:
        course = member.course
        end = course.semester_end.astimezone(ZoneInfo(course.time_zone)).date()
        values = {
            "name": course.name, "semester": course.semester, "semesterEnd": end.isoformat(),
            "timeZone": course.time_zone, "sections": "\n".join(course.sections), "lateDays": str(course.late_days),
        }  # fmt: skip
        return page(request, member, Form(values))

    @router.post("/courses/{course_id}/settings")
    def save(request: Request, member: InstructorMember, form: Posted) -> Response:
        try:
            fields = _fields_of(form)
            for each in mistakes_in_course(member.course.model_copy(update=fields)):
                form = form.wrong(each.field, each.message)
            if form.errors:
                return page(request, member, form, 422)
            pages.campus.courses.change(member, fields)
        except _Unreadable as wrong:
            return page(request, member, wrong.form, 422)
        except CallerError as mistake:
            return page(request, member, form.refused(mistake), mistake.status)
        return pages.console.go(f"{course_path(member.course.course_id)}/settings", "Saved.")


class _Unreadable(Exception):
    def __init__(self, form: Form) -> None:
        super().__init__("a field of the form cannot be read")
        self.form = form


def _fields_of(form: Form) -> dict[str, Any]:
    """The fields of a course as they were typed; the last day counts to its end."""
    found = form
    zone = form.get("timeZone")
    if zone not in {value for value, _ in ZONES}:
        found, zone = found.wrong("timeZone", "Choose a time zone."), "UTC"
    try:
        last = datetime.combine(
            datetime.fromisoformat(form.get("semesterEnd")).date(), time(23, 59, 59), ZoneInfo(zone)
        )
        if not 2000 <= last.year < 9000:
            raise ValueError(last)
    except ValueError:
        found, last = (
            found.wrong("semesterEnd", "Enter the last day of the semester."),
            datetime.max.replace(tzinfo=UTC),
        )
    late_days = form.get("lateDays").strip() or "0"
    if not late_days.isdecimal():
        found, late_days = found.wrong("lateDays", "Enter a number of days."), "0"
    if found.errors:
        raise _Unreadable(found)
    return {
        "name": form.get("name").strip(),
        "semester": form.get("semester").strip(),
        "semester_end": last.astimezone(UTC),
        "time_zone": zone,
        "sections": list(
            dict.fromkeys(line.strip() for line in form.get("sections").splitlines() if line.strip())
        ),
        "late_days": int(late_days),
    }


def _add_people(router: APIRouter, pages: CampusPages) -> None:
    service = pages.campus.courses

    def page(request: Request, member: CourseMember, form: Form, status: int = 200) -> Response:
        return pages.page(
            request,
            "people",
            title="People",
            crumbs=course_crumbs(member.course),
            member=member,
            user=member.user,
            course=member.course,
            members=service.members(member.course.course_id),
            roles=ROLES,
            tabs=course_tabs(member, "People"),
            form=form,
            status=status,
        )

    @router.get("/courses/{course_id}/people")
    def people(request: Request, member: StaffMember) -> Response:
        return page(request, member, Form())

    @router.post("/courses/{course_id}/people")
    def add(request: Request, member: InstructorMember, form: Posted) -> Response:
        role: CourseRole = next((each for each in ROLES if each == form.get("role")), "student")
        section, name = form.get("section").strip() or None, form.get("name").strip() or None
        try:
            added = service.enrol(member, form.get("email").strip(), role, section, name)
        except CallerError as mistake:
            return page(request, member, form.refused(mistake), mistake.status)
        where = f"{course_path(member.course.course_id)}/people"
        return pages.console.go(where, f"{added.name} is in the course as {ROLES[added.role].lower()}.")

    @router.post("/courses/{course_id}/people/{user_id}/remove")
    def remove(member: InstructorMember, user_id: str) -> Response:
        service.remove(member, user_id)
        return pages.console.go(
            f"{course_path(member.course.course_id)}/people",
            "Removed from the course. Their submissions stay.",
            "note",
        )


def _add_roster(router: APIRouter, pages: CampusPages) -> None:
    def page(
        request: Request, member: CourseMember, form: Form, status: int = 200, **values: Any
    ) -> Response:
        return pages.page(
            request, "roster", title="Import a roster", user=member.user, member=member, form=form,
            at=f"{course_path(member.course.course_id)}/roster", back=f"{course_path(member.course.course_id)}/people",
            crumbs=(*course_crumbs(member.course), Crumb("People", f"{course_path(member.course.course_id)}/people")),
            roles=ROLES, has_courses=False, status=status, **values,
        )  # fmt: skip

    @router.get("/courses/{course_id}/roster")
    def roster(request: Request, member: InstructorMember) -> Response:
        return page(request, member, Form())

    @router.post("/courses/{course_id}/roster")
    def preview_or_load(request: Request, member: InstructorMember, form: Posted) -> Response:
        content = form.get("file").encode()
        is_load = form.get("do") == "load"
        try:
            act = pages.campus.roster.load if is_load else pages.campus.roster.preview
            report = act(member.user, content, member)
        except CallerError as mistake:
            return page(request, member, form.refused(mistake), mistake.status)
        return page(request, member, form, report=report, is_loaded=is_load)


# --- words ---


def assignment_state(assignment: Assignment, eligibility: Eligibility | None) -> tuple[str, str]:
    """A word for a list, with its colour: where the reader stands."""
    if eligibility is None:
        tones = {"draft": "", "active": "good", "closed": ""}
        return {"active": "open"}.get(assignment.status, assignment.status), tones[assignment.status]
    if eligibility.dates.excused:
        return "excused", ""
    if eligibility.attempts:
        return (
            ("submitted late", "warn")
            if eligibility.last and eligibility.last.is_late
            else ("submitted", "good")
        )
    if eligibility.is_early and assignment.status == "active":
        return "not open yet", ""
    if not eligibility.is_open:
        return (
            "no team yet" if eligibility.owner_id is None and assignment.status == "active" else "missing",
            "bad",
        )
    return ("late", "warn") if eligibility.lateness.is_late else ("to do", "busy")


def late_words(eligibility: Eligibility) -> str:
    """What submitting now costs."""
    late = eligibility.lateness
    if not late.is_late:
        return ""
    days = f"{late.days_used} late {'day' if late.days_used == 1 else 'days'}"
    if late.penalty and late.days_used:
        return f"Submitting now costs {late.penalty:f} % and {days}."
    if late.penalty:
        return f"Submitting now costs {late.penalty:f} %."
    return f"Submitting now uses {days}." if late.days_used else "Submitting now counts as late."
