"""The gradebook: all students for staff, with the distribution as a picture; own grades with what-if for students."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from tablewright.edge.errors import CallerError, NotFound
from tablewright.pages.charts import Bar, bars
from tablewright.pages.forms import Asked, Form, FormWrong, Posted
from tablewright.pages.layout import Crumb
from tablewright.systems.campus.access import AnyMember, InstructorMember, StaffMember
from tablewright.systems.campus.api.gradebook import gradebook_csv, sheet_opened
from tablewright.systems.campus.course_model import Assignment, Course, GradeGroup, GradeLetter
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.grading.gradebook import Sheet, share_of
from tablewright.systems.campus.grading.mark_entries import typed_number
from tablewright.systems.campus.pages.courses import course_crumbs, course_path, course_tabs
from tablewright.systems.campus.pages.grades import grade_path
from tablewright.systems.campus.pages.marks import mark_path, plain, whole
from tablewright.systems.campus.pages.page import CampusPages

STATE_WORDS = {"submitted": "not graded", "missing": "missing", "excused": "excused", "open": ""}
_BLANKS = 2


def add_gradebook(router: APIRouter, pages: CampusPages) -> None:
    _add_sheet(router, pages)
    _add_import(router, pages)
    _add_scheme(router, pages)
    _add_own(router, pages)


# --- staff ---


def _add_sheet(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    @router.get("/courses/{course_id}/gradebook")
    def gradebook(request: Request, member: StaffMember, form: Asked) -> Response:
        sheet_opened(campus, member, "gradebook opened")
        sheet = campus.gradebook.for_staff(member.course)
        known = {each.assignment_id: each for each in sheet.assignments}
        chosen = known.get(form.get("assignment"))
        return pages.page(
            request,
            "gradebook",
            title="Gradebook",
            crumbs=course_crumbs(member.course),
            tabs=course_tabs(member, "Gradebook"),
            member=member,
            course=member.course,
            sheet=sheet,
            columns=[(_heading(each), "number") for each in sheet.assignments],
            chosen=chosen,
            chart=distribution_chart(sheet, chosen.assignment_id if chosen else None),
            words=STATE_WORDS,
            plain=plain,
            mark_path=mark_path,
            at=f"{course_path(member.course.course_id)}/gradebook",
        )

    @router.get("/courses/{course_id}/gradebook.csv")
    def get_csv(member: StaffMember) -> Response:
        return gradebook_csv(campus, member)


def _heading(assignment: Assignment) -> str:
    """A title that leaves room for others, and the points."""
    title = assignment.title if len(assignment.title) <= 28 else assignment.title[:27].rstrip() + "…"
    return f"{title} ({plain(assignment.points)})" if assignment.points is not None else title


def distribution_chart(sheet: Sheet, assignment_id: str | None) -> Markup:
    """How many students are in each band of ten per cent, as bars; nothing without a grade."""
    bands = sheet.distribution(assignment_id)
    if not any(bands):
        return Markup("")
    last = len(bands) - 1
    rows = [
        Bar(f"{n * 10}–{'100' if n == last else n * 10 + 9} %", count)
        for n, count in reversed([*enumerate(bands)])
    ]
    return bars(rows, about="Number of students by percentage")


# --- from a file ---


def _add_import(router: APIRouter, pages: CampusPages) -> None:
    service = pages.campus.grade_import

    def page(
        request: Request, member: CourseMember, form: Form, status: int = 200, **values: Any
    ) -> Response:
        path = course_path(member.course.course_id)
        return pages.page(
            request, "gradebook_import", title="Import grades", member=member, course=member.course, form=form,
            plain=plain,
            crumbs=(*course_crumbs(member.course), Crumb("Gradebook", f"{path}/gradebook")),
            at=f"{path}/gradebook", status=status, **{"is_done": False, "lost": [], **values},
        )  # fmt: skip

    @router.get("/courses/{course_id}/gradebook/import")
    def show(request: Request, member: StaffMember) -> Response:
        return page(request, member, Form())

    @router.post("/courses/{course_id}/gradebook/import")
    def preview_or_apply(request: Request, member: StaffMember, form: Posted) -> Response:
        content = form.files["file"].content if "file" in form.files else form.get("content").encode()
        text = content.decode("utf-8", "replace")
        try:
            if not content.strip():
                return page(request, member, form.wrong("file", "Choose a CSV file."), 422)
            if form.get("do") == "apply":
                plan, lost = service.apply(member, content, form.get("digest"))
                return page(request, member, Form(), plan=plan, lost=lost, is_done=True)
            return page(request, member, Form(), plan=service.preview(member, content), text=text)
        except CallerError as mistake:
            if mistake.code not in ("VERSION_CONFLICT", "WRONG_CELLS"):
                return page(request, member, Form({}, {"file": mistake.message}), mistake.status)
        words = "Grades changed after this preview, so nothing was imported. Look at the new preview."
        return page(
            request, member, Form({}, {}, words), 409, plan=service.preview(member, content), text=text
        )


# --- groups and letters ---


def _add_scheme(router: APIRouter, pages: CampusPages) -> None:
    def page(request: Request, member: CourseMember, form: Form, status: int = 200) -> Response:
        count = max(len(member.course.grade_groups), *(_numbers(form, "name")), 0) + _BLANKS
        return pages.page(
            request, "grade_scheme", title="Weights and letters", crumbs=course_crumbs(member.course),
            course=member.course,
            form=form, count=count, at=f"{course_path(member.course.course_id)}/gradebook/scheme", status=status,
        )  # fmt: skip

    @router.get("/courses/{course_id}/gradebook/scheme")
    def show(request: Request, member: InstructorMember) -> Response:
        return page(request, member, _scheme_form(member.course))

    @router.post("/courses/{course_id}/gradebook/scheme")
    def save(request: Request, member: InstructorMember, form: Posted) -> Response:
        try:
            groups, letters = _scheme_of(form)
            version = whole(form, "version") or 0
            pages.campus.gradebook.set_scheme(member.course, groups, letters, member.actor, version)
        except FormWrong as wrong:
            return page(request, member, wrong.form, 422)
        except CallerError as mistake:
            fields = {"gradeGroups": "name:1", "letters": "letters"}
            field = fields.get(mistake.field or "")
            found = form.wrong(field, mistake.message) if field else form.refused(mistake)
            return page(request, member, found, mistake.status)
        return pages.console.go(
            f"{course_path(member.course.course_id)}/gradebook", "Weights and letters saved."
        )


def _scheme_form(course: Course) -> Form:
    values = {"version": str(course.version)}
    for n, group in enumerate(course.grade_groups, 1):
        values |= {f"id:{n}": group.group_id, f"name:{n}": group.name}
        values |= {f"weight:{n}": plain(group.weight), f"drop:{n}": str(group.drop_lowest)}
    letters = sorted(course.letters, key=lambda each: each.from_percent, reverse=True)
    values["letters"] = "\n".join(f"{each.letter} {plain(each.from_percent)}" for each in letters)
    return Form(values)


def _numbers(form: Form, field: str) -> list[int]:
    found = [name.partition(":")[2] for name in form.values if name.startswith(f"{field}:")]
    return [0, *(int(each) for each in found if each.isdecimal() and len(each) < 3)]


def _scheme_of(form: Form) -> tuple[list[GradeGroup], list[GradeLetter]]:
    """Groups with a name, and letters as lines such as `A 90`; FormWrong names what cannot be read."""
    wrong, groups, letters = form, [], []
    for n in range(1, max(_numbers(form, "name")) + 1):
        name = form.get(f"name:{n}").strip()
        if not name:
            continue
        weight, drop = number_of(form.get(f"weight:{n}")), form.get(f"drop:{n}").strip() or "0"
        if weight is None or not drop.isdecimal() or len(drop) > 3:
            wrong = wrong.wrong(f"weight:{n}", "Enter a number for the weight and for how many are dropped.")
            continue
        group_id = form.get(f"id:{n}")
        groups.append(GradeGroup(group_id=group_id, name=name, weight=weight, drop_lowest=int(drop)))
    for line in form.get("letters").splitlines():
        letter, _, bound = line.strip().rpartition(" ")
        percent = number_of(bound.rstrip("%"))
        if line.strip() and (not letter or percent is None):
            wrong = wrong.wrong(
                "letters", f"“{line.strip()[:30]}” is not a letter and a percentage, such as A 90."
            )
        elif percent is not None:
            letters.append(GradeLetter(letter=letter.strip(), from_percent=percent))
    if wrong.errors:
        raise FormWrong(wrong)
    return groups, letters


def number_of(text: str) -> Decimal | None:
    """A number as people type it; None if it is not one."""
    found = typed_number(text)
    return found if found is not None and 0 <= found <= 100_000 else None


# --- a student ---


def _add_own(router: APIRouter, pages: CampusPages) -> None:
    @router.get("/courses/{course_id}/grades")
    def my_grades(request: Request, member: AnyMember, form: Asked) -> Response:
        """The own results; with guesses in the address, what the total would be."""
        if member.enrolment is None or member.is_staff:
            raise NotFound("grade", "Only students of a course have grades in it.")
        guesses, asked = _guesses(form)
        assignments, row = pages.campus.gradebook.for_student(member.course, member.enrolment)
        _, guessed = pages.campus.gradebook.for_student(member.course, member.enrolment, guesses)
        return pages.page(
            request,
            "my_grades",
            title="My grades",
            crumbs=course_crumbs(member.course),
            tabs=course_tabs(member, "My grades"),
            course=member.course,
            assignments=assignments,
            row=row,
            guessed=guessed if guesses else None,
            groups={each.group.group_id: each for each in row.total.groups},
            form=asked,
            words=STATE_WORDS,
            plain=plain,
            share_of=share_of,
            grade_path=grade_path,
            at=f"{course_path(member.course.course_id)}/grades",
            zone=member.user.time_zone,
        )


def _guesses(form: Form) -> tuple[Mapping[str, Decimal], Form]:
    """The guesses of the address, by assignment; what is not a number is said beside its field."""
    found: dict[str, Decimal] = {}
    for name, text in form.values.items():
        if name.startswith("guess:") and text.strip():
            value = number_of(text)
            if value is None:
                form = form.wrong(name, "Enter a number.")
            else:
                found[name.partition(":")[2]] = value
    return found, form
