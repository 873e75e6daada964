"""Rubrics of a course: a list, and a form with a block for each criterion; and the saved comments.

Levels are lines such as `5 Excellent`. Must hold: a level keeps its id if its title stays or, with as many levels as
before, its place; so marks that chose it follow a change of its points.
"""

from decimal import Decimal

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, FormWrong, Posted
from tablewright.systems.campus.access import InstructorMember, StaffMember
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.grade_model import Criterion, Level, Rubric
from tablewright.systems.campus.grading.totals import rubric_points
from tablewright.systems.campus.pages.courses import course_crumbs, course_path, course_tabs
from tablewright.systems.campus.pages.gradebook import number_of
from tablewright.systems.campus.pages.marks import plain, whole
from tablewright.systems.campus.pages.page import CampusPages

_BLANKS = 3


def rubrics_path(course_id: str) -> str:
    return f"{course_path(course_id)}/rubrics"


def add_rubrics(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    @router.get("/courses/{course_id}/rubrics")
    def rubrics(request: Request, member: StaffMember) -> Response:
        course_id = member.course.course_id
        return pages.page(
            request, "rubrics", title="Rubrics", crumbs=course_crumbs(member.course), tabs=course_tabs(member,
            "Marking"),
            course=member.course, rubrics=campus.rubrics.of_course(course_id), points=rubric_points, plain=plain,
            member=member, saved=campus.comments.saved(course_id),
        )  # fmt: skip

    @router.get("/courses/{course_id}/rubrics/new")
    def new(request: Request, member: StaffMember) -> Response:
        return _form_page(pages, request, member, Form())

    @router.post("/courses/{course_id}/rubrics/new")
    def create(request: Request, member: StaffMember, form: Posted) -> Response:
        try:
            campus.rubrics.create(
                member.course.course_id, form.get("title"), criteria_of(form, None), member.actor
            )
        except (FormWrong, CallerError) as mistake:
            return _form_page(pages, request, member, _refused(form, mistake), status=mistake.status)
        return pages.console.go(rubrics_path(member.course.course_id), "Rubric created.")

    @router.get("/courses/{course_id}/rubrics/{rubric_id}")
    def edit(request: Request, member: InstructorMember, rubric_id: str) -> Response:
        rubric = campus.rubrics.get(member.course.course_id, rubric_id)
        return _form_page(pages, request, member, _form_of(rubric), rubric)

    @router.post("/courses/{course_id}/rubrics/{rubric_id}")
    def change(request: Request, member: InstructorMember, rubric_id: str, form: Posted) -> Response:
        rubric = campus.rubrics.get(member.course.course_id, rubric_id)
        version = whole(form, "version") or 0
        try:
            criteria = criteria_of(form, rubric)
            campus.rubrics.change(rubric, form.get("title"), criteria, member.actor, version)
        except (FormWrong, CallerError) as mistake:
            return _form_page(pages, request, member, _refused(form, mistake), rubric, mistake.status)
        return pages.console.go(
            rubrics_path(member.course.course_id), "Rubric saved. Totals follow in a moment."
        )


def _form_page(
    pages: CampusPages,
    request: Request,
    member: CourseMember,
    form: Form,
    rubric: Rubric | None = None,
    status: int = 200,
) -> Response:
    base = rubrics_path(member.course.course_id)
    shown = max(max(_numbers(form)) + 1, _BLANKS)
    return pages.page(
        request,
        "rubric_form",
        title=rubric.title if rubric is not None else "New rubric",
        crumbs=course_crumbs(member.course),
        rubric=rubric,
        form=form,
        shown=shown,
        count=shown + _BLANKS,
        at=f"{base}/{rubric.rubric_id if rubric is not None else 'new'}",
        back=base,
        status=status,
    )


def _numbers(form: Form) -> list[int]:
    found = [
        name.partition(":")[2] for name, text in form.values.items() if name.startswith("criterion:") and text
    ]
    return [0, *(int(each) for each in found if each.isdecimal() and len(each) < 3)]


def _form_of(rubric: Rubric) -> Form:
    values = {"title": rubric.title, "version": str(rubric.version)}
    for n, each in enumerate(rubric.criteria, 1):
        lines = "\n".join(f"{plain(level.points)} {level.title}" for level in each.levels)
        values |= {f"id:{n}": each.criterion_id, f"criterion:{n}": each.title}
        values |= {f"about:{n}": each.description or "", f"levels:{n}": lines}
    return Form(values)


def criteria_of(form: Form, rubric: Rubric | None) -> list[Criterion]:
    """The criteria that have a title; FormWrong names the lines that cannot be read."""
    known = {each.criterion_id: each for each in rubric.criteria} if rubric is not None else {}
    wrong, found = form, []
    for n in range(1, max(_numbers(form)) + 1):
        title = form.get(f"criterion:{n}").strip()
        if not title:
            continue
        levels: list[tuple[Decimal, str]] = []
        for line in form.get(f"levels:{n}").splitlines():
            points, _, words = line.strip().partition(" ")
            value = number_of(points)
            if value is not None and words.strip():
                levels.append((value, words.strip()))
            elif line.strip():
                wrong = wrong.wrong(
                    f"levels:{n}", f"“{line.strip()[:30]}” is not points and a name, such as 5 Excellent."
                )
        if not levels and f"levels:{n}" not in wrong.errors:
            wrong = wrong.wrong(f"levels:{n}", "Enter a level, such as 5 Excellent.")
        id = form.get(f"id:{n}")
        before = known[id].levels if id in known else []
        about = form.get(f"about:{n}").strip() or None
        made = leveled(levels, before)
        found.append(
            Criterion(criterion_id=id if id in known else "", title=title, description=about, levels=made)
        )
    if wrong.errors:
        raise FormWrong(wrong)
    return found


def leveled(levels: list[tuple[Decimal, str]], before: list[Level]) -> list[Level]:
    """Levels with the ids they had: by title, else by place if there are as many as before."""
    by_title = {each.title: each.level_id for each in before}
    taken = {by_title[title] for _, title in levels if title in by_title}
    found = []
    for place, (points, title) in enumerate(levels):
        id = by_title.get(title, "")
        if not id and len(levels) == len(before) and before[place].level_id not in taken:
            id = before[place].level_id
        found.append(Level(level_id=id, title=title, points=points))
    return found


def _refused(form: Form, mistake: FormWrong | CallerError) -> Form:
    if isinstance(mistake, FormWrong):
        return form.refused(mistake)
    if mistake.field == "title":
        return form.wrong("title", mistake.message.replace("title", "The title", 1))
    return Form(form.values, {}, mistake.message)
