"""Assignments: the page for students and staff, the editor, publishing and closing, other dates for some.

Elsewhere: submitting (submit.py), typed values (assignment_form.py), marking (marks.py).
"""

from datetime import datetime, timedelta
from typing import Any

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, Posted
from tablewright.pages.layout import Crumb
from tablewright.systems.campus.access import (
    InstructorAssignment,
    InstructorMember,
    OpenAssignment,
    StaffAssignment,
)
from tablewright.systems.campus.api.content import content_response
from tablewright.systems.campus.api.submissions import seen
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.course_model import Assignment, Audience, Override, Submission
from tablewright.systems.campus.courses.course_members import CourseMember, MemberAssignment
from tablewright.systems.campus.courses.dates import dates_of
from tablewright.systems.campus.courses.eligibility import Eligibility, eligibility_of
from tablewright.systems.campus.courses.submissions import is_author
from tablewright.systems.campus.files.file_lists import Wanted
from tablewright.systems.campus.files.type_words import kinds_of
from tablewright.systems.campus.grading.release import visible
from tablewright.systems.campus.pages.assignment_form import (
    POLICIES,
    TYPES,
    form_of_assignment,
    local_moment,
    new_form,
    read_assignment,
    with_mistakes,
)
from tablewright.systems.campus.pages.courses import (
    assignment_state,
    course_crumbs,
    late_words,
)
from tablewright.systems.campus.pages.page import HOME, CampusPages

A_WEEK = timedelta(days=7)
_AUDIENCES: dict[str, Audience] = {"student": "student", "section": "section", "team": "team"}


def assignment_path(assignment_id: str) -> str:
    return f"{HOME}/assignments/{assignment_id}"


def assignment_crumbs(found: MemberAssignment) -> tuple[Crumb, ...]:
    path = assignment_path(found.assignment.assignment_id)
    return (*course_crumbs(found.member.course), Crumb(found.assignment.title, path))


def add_assignments(router: APIRouter, pages: CampusPages) -> None:
    _add_page(router, pages)
    _add_editor(router, pages)
    _add_states(router, pages)
    _add_overrides(router, pages)


def _add_page(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    @router.get("/assignments/{assignment_id}")
    def assignment(request: Request, found: OpenAssignment) -> Response:
        member, given = found.member, found.assignment
        eligibility = eligibility_of(campus.owners, member, given)
        shown = eligibility.shown(given) if eligibility is not None else given
        mine = campus.submissions.of_student(member, given) if eligibility is not None else []
        files = campus.assignments.attachments(shown)
        return pages.page(
            request,
            "assignment",
            title=given.title,
            crumbs=course_crumbs(member.course),
            member=member,
            user=member.user,
            course=member.course,
            assignment=shown,
            eligibility=eligibility,
            state=assignment_state(given, eligibility),
            late=late_words(eligibility) if eligibility is not None else "",
            by_hand=_hand_grade(campus, eligibility, member, given),
            mine=[seen(campus, member, given, each) for each in reversed(mine)],
            files=files,
            lost=len(shown.attachments) - len(files),
            count=campus.assignments.count(given.assignment_id) if member.is_staff else 0,
            late_work=_late_words(given),
            types=_type_words(given),
            zone=member.user.time_zone if eligibility is not None else member.course.time_zone,
        )

    @router.get("/assignments/{assignment_id}/attachments/{file_id}")
    def attachment(request: Request, found: OpenAssignment, file_id: str) -> Response:
        eligibility = eligibility_of(campus.owners, found.member, found.assignment)
        is_early = eligibility is not None and eligibility.is_early
        file = campus.assignments.attachment(found.assignment, file_id, is_early=is_early)
        campus.file_access.refuse_locked(file)
        return content_response(
            request, lambda start, end: campus.library.open(file, start, end), size=file.file_size,
            filename=file.filename, content_type=file.content_type, tag=file.version_id,
        )  # fmt: skip


def _hand_grade(
    campus: Campus, eligibility: Eligibility | None, member: CourseMember, assignment: Assignment
) -> Submission | None:
    """The grade that a student has without a submission, once it is visible."""
    if eligibility is None or eligibility.owner_id is None:
        return None
    row = campus.hand_grades.of_owner(assignment, eligibility.owner_id)
    if row is None or not is_author(row, member.user.user_id):
        return None
    is_visible = visible(assignment, row, campus.repository.now())
    return seen(campus, member, assignment, row) if is_visible else None


def _type_words(assignment: Assignment) -> str:
    return kinds_of(assignment.allowed_file_types) or "any file"


def _late_words(assignment: Assignment) -> str:
    """What becomes of late work, in one line."""
    costs = assignment.late_penalty
    if assignment.late_policy == "reject":
        return "Not accepted"
    if assignment.late_policy == "accept":
        return "Accepted, and marked as late"
    most = min(costs.most, 100 - costs.floor)
    return f"Costs {costs.percent:f} % for each started {costs.unit}, at most {most:f} %"


# --- the editor ---


def _form_page(
    pages: CampusPages,
    request: Request,
    member: CourseMember,
    form: Form,
    found: Assignment | None = None,
    status: int = 200,
) -> Response:
    campus, course = pages.campus, member.course
    attached = campus.assignments.attachments(found) if found is not None else []
    newest = campus.listing.page(member.user, Wanted(), 50).items
    files = {each.file_id: each for each in (*attached, *newest) if each.status == "active"}
    crumbs = course_crumbs(course)
    if found is not None:
        crumbs = (*crumbs, Crumb(found.title, assignment_path(found.assignment_id)))
    return pages.page(
        request,
        "assignment_form",
        title="Edit" if found is not None else "New assignment",
        crumbs=crumbs,
        member=member,
        user=member.user,
        course=course,
        assignment=found,
        form=form,
        types=TYPES,
        policies=POLICIES,
        sets=[(each.group_set_id, each.name) for each in campus.teams.sets(course.course_id)],
        rubrics=[(each.rubric_id, each.title) for each in campus.rubrics.of_course(course.course_id)],
        groups=[(each.group_id, each.name) for each in course.grade_groups],
        files=list(files.values()),
        status=status,
    )


def _add_editor(router: APIRouter, pages: CampusPages) -> None:
    service, repository = pages.campus.assignments, pages.campus.repository

    @router.get("/courses/{course_id}/new-assignment")
    def new(request: Request, member: InstructorMember) -> Response:
        form = new_form(repository.now() + A_WEEK, member.course.time_zone)
        return _form_page(pages, request, member, form)

    @router.post("/courses/{course_id}/new-assignment")
    def create(request: Request, member: InstructorMember, form: Posted) -> Response:
        fields, form = read_assignment(form, member.course.time_zone)
        try:
            mistakes = service.mistakes(_as_if(pages, member, fields), member)
            if form.errors or mistakes:
                return _form_page(pages, request, member, with_mistakes(form, mistakes), status=422)
            made = service.create(member, fields)
        except CallerError as mistake:
            return _form_page(pages, request, member, form.refused(mistake), status=mistake.status)
        said = "Saved as a draft. Students see it once you publish it."
        return pages.console.go(assignment_path(made.assignment_id), said)

    @router.get("/assignments/{assignment_id}/edit")
    def edit(request: Request, found: InstructorAssignment) -> Response:
        form = form_of_assignment(found.assignment, found.member.course.time_zone)
        return _form_page(pages, request, found.member, form, found.assignment)

    @router.post("/assignments/{assignment_id}/edit")
    def save(request: Request, found: InstructorAssignment, form: Posted) -> Response:
        member, stored = found.member, found.assignment
        fields, form = read_assignment(form, member.course.time_zone)
        mistakes = service.mistakes(stored.model_copy(update=fields), member, stored)
        if form.errors or mistakes:
            return _form_page(pages, request, member, with_mistakes(form, mistakes), stored, 422)
        if stored.status != "draft":
            fields.pop("group_set_id")
        try:
            seen_at = datetime.fromisoformat(form.get("updatedAt"))
            service.change(member, stored.assignment_id, fields, seen_at)
        except (CallerError, ValueError) as mistake:
            words = "Someone else changed this assignment after you opened it. Reload the page to see their version."
            refused = (
                mistake.message
                if isinstance(mistake, CallerError) and mistake.code != "VERSION_CONFLICT"
                else words
            )
            status = mistake.status if isinstance(mistake, CallerError) else 409
            return _form_page(pages, request, member, Form(form.values, {}, refused), stored, status)
        said = "Saved. Due dates of work that was handed in already are being updated."
        moved = stored.status != "draft" and fields["due_date"] != stored.due_date
        return pages.console.go(assignment_path(stored.assignment_id), said if moved else "Saved.")


def _as_if(pages: CampusPages, member: CourseMember, fields: dict[str, Any]) -> Assignment:
    """An assignment with these fields, to find its mistakes; what could not be read is as on a new form."""
    now, user = pages.campus.repository.now(), member.user
    due = fields.get("accept_until") or (fields.get("available_from") or now) + A_WEEK
    return Assignment(
        **{"due_date": due, "max_file_size": 1, **fields}, course_id=member.course.course_id, assignment_id="new",
        course_name=member.course.name, instructor_id=user.user_id, instructor_email=user.email,
        instructor_name=user.name, created_at=now, updated_at=now,
    )  # fmt: skip


def _add_states(router: APIRouter, pages: CampusPages) -> None:
    service = pages.campus.assignments
    said = {
        "publish": "Published. Students get a notification.",
        "close": "Closed. No more work is accepted.",
        "reopen": "Open again.",
    }
    acts = {"publish": service.publish, "close": service.close, "reopen": service.reopen}

    @router.post("/assignments/{assignment_id}/state")
    def change_state(found: InstructorAssignment, form: Posted) -> Response:
        act = form.get("do")
        path = assignment_path(found.assignment.assignment_id)
        if act not in acts:
            return pages.console.go(path)
        try:
            acts[act](found.member, found.assignment.assignment_id)
        except CallerError as mistake:
            return pages.console.go(path, mistake.message, "bad")
        return pages.console.go(path, said[act])


# --- other dates ---


def _add_overrides(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    def page(request: Request, found: MemberAssignment, form: Form, status: int = 200) -> Response:
        member, given = found.member, found.assignment
        course, overrides = member.course, campus.repository.overrides_of(given.assignment_id)
        students = campus.courses.members(course.course_id, "student")
        teams = _teams(pages, given)
        names = {each.user_id: each.name for each in students} | dict(teams)
        options = [
            *((f"student {each.user_id}", each.name) for each in students),
            *((f"section {each}", f"Section {each}") for each in course.sections),
            *((f"team {team_id}", f"Team {name}") for team_id, name in teams),
        ]
        rows = [(each, _audience_name(each, names), _applied(given, each)) for each in overrides]
        return pages.page(
            request, "extensions", title="Other dates", crumbs=assignment_crumbs(found), member=member,
            user=member.user,
            course=course, assignment=given, rows=rows, options=options, form=form, status=status,
        )  # fmt: skip

    @router.get("/assignments/{assignment_id}/extensions")
    def extensions(request: Request, found: StaffAssignment) -> Response:
        return page(request, found, Form())

    @router.post("/assignments/{assignment_id}/extensions")
    def save(request: Request, found: StaffAssignment, form: Posted) -> Response:
        given, zone = found.assignment, found.member.course.time_zone
        kind, _, id = form.get("audienceId").partition(" ")
        fields: dict[str, Any] = {
            "excused": form.is_ticked("excused"),
            "reason": form.get("reason").strip() or None,
        }
        wrong = form if kind in _AUDIENCES else form.wrong("audienceId", "Choose who this is for.")
        names = {"availableFrom": "available_from", "dueDate": "due_date", "acceptUntil": "accept_until"}
        for name, field in names.items():
            try:
                fields[field] = local_moment(form.get(name), zone) if form.get(name).strip() else None
            except ValueError:
                wrong = wrong.wrong(name, "Enter a day and a time.")
        extra = form.get("extraSubmissions").strip() or "0"
        if not extra.isdecimal():
            wrong = wrong.wrong("extraSubmissions", "Enter a number of attempts.")
        if wrong.errors:
            return page(request, found, wrong, 422)
        try:
            campus.assignments.override(
                found.member,
                given.assignment_id,
                _AUDIENCES[kind],
                id,
                {**fields, "extra_submissions": int(extra)},
            )
        except CallerError as mistake:
            return page(request, found, form.refused(mistake), mistake.status)
        return pages.console.go(f"{assignment_path(given.assignment_id)}/extensions", "Saved.")

    @router.post("/assignments/{assignment_id}/extensions/remove")
    def remove(found: StaffAssignment, form: Posted) -> Response:
        given = found.assignment
        kind, _, id = form.get("audienceId").partition(" ")
        if kind in _AUDIENCES:
            campus.assignments.remove_override(found.member, given.assignment_id, _AUDIENCES[kind], id)
        return pages.console.go(f"{assignment_path(given.assignment_id)}/extensions", "Removed.", "note")


def _teams(pages: CampusPages, assignment: Assignment) -> list[tuple[str, str]]:
    if assignment.group_set_id is None:
        return []
    group_set = pages.campus.teams.group_set(assignment.course_id, assignment.group_set_id)
    return [(team.team_id, team.name) for team in pages.campus.teams.teams(group_set)]


def _audience_name(override: Override, names: dict[str, str]) -> str:
    if override.audience == "section":
        return f"Section {override.audience_id}"
    return names.get(override.audience_id, "someone who left the course")


def _applied(assignment: Assignment, override: Override) -> Any:
    """The dates that this override alone makes."""
    return dates_of(assignment, [override], {(override.audience, override.audience_id)})
