"""All submissions of an assignment: who marks them, when grades are released, worksheets out and in.

Elsewhere: one submission (marks.py).
"""

import io
from datetime import datetime
from typing import IO

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, Posted
from tablewright.systems.campus.access import (
    InstructorAssignment,
    InstructorSubmission,
    StaffAssignment,
    StaffSubmission,
)
from tablewright.systems.campus.api.worksheets import uploaded, worksheet_csv, worksheet_zip
from tablewright.systems.campus.courses.course_members import MemberAssignment
from tablewright.systems.campus.errors import TooLarge
from tablewright.systems.campus.files.file_lists import Wanted
from tablewright.systems.campus.grading.disclosure import for_staff
from tablewright.systems.campus.grading.release import is_released
from tablewright.systems.campus.grading.totals import most_of, rubric_points
from tablewright.systems.campus.grading.worksheet import RowReport
from tablewright.systems.campus.pages.assignment_form import local_moment
from tablewright.systems.campus.pages.assignments import assignment_crumbs
from tablewright.systems.campus.pages.marks import STATE_TONES, mark_path, plain
from tablewright.systems.campus.pages.page import HOME, CampusPages

# A larger zip file is uploaded to My files first.
MOST_SENT = 16_000_000
# Of System.form_bodies: above what is taken, so that a file that is somewhat too large is refused beside its field.
FORM_BODIES = {"/assignments/*/grading/worksheet": 24_000_000, "/courses/*/gradebook/import": 4_000_000}


def add_releases(router: APIRouter, pages: CampusPages) -> None:
    _add_page(router, pages)
    _add_release(router, pages)
    _add_allocation(router, pages)
    _add_hand_grades(router, pages)
    _add_worksheets(router, pages)


def grading_path(assignment_id: str) -> str:
    return f"{HOME}/assignments/{assignment_id}/grading"


def _page(
    pages: CampusPages,
    request: Request,
    found: MemberAssignment,
    form: Form | None = None,
    lines: list[RowReport] | None = None,
    status: int = 200,
) -> Response:
    campus, assignment, now = pages.campus, found.assignment, pages.campus.repository.now()
    rows = [
        for_staff(assignment, each, now, campus.pseudonyms) for each in campus.worksheets.newest(assignment)
    ]
    staff = campus.allocation.staff(assignment.course_id)
    rubric = campus.rubrics.of_assignment(assignment)
    mine = campus.listing.page(found.member.user, Wanted(), 50).items
    return pages.page(
        request,
        "assignment_grading",
        title=f"Marking: {assignment.title}",
        crumbs=assignment_crumbs(found),
        member=found.member,
        course=found.member.course,
        assignment=assignment,
        rows=sorted(rows, key=lambda row: (row.team_name or row.student_name, row.submission_id)),
        marked=sum(1 for row in rows if row.status != "submitted"),
        absent=campus.hand_grades.candidates(assignment) if assignment.status != "draft" else [],
        without=sum(1 for row in rows if row.status == "submitted" and row.grader_id is None),
        staff=staff,
        names={each.user_id: each.name for each in staff},
        sections=sorted({row.section for row in rows if row.section}),
        is_released=is_released(assignment, now),
        rubric_points=rubric_points(rubric) if rubric is not None else None,
        most=most_of(assignment, rubric),
        rubrics=[(each.rubric_id, each.title) for each in campus.rubrics.of_course(assignment.course_id)],
        files=[
            (each.file_id, each.filename) for each in mine if each.filename.lower().endswith((".zip", ".csv"))
        ],
        lines=lines,
        form=form or Form({"rubricId": assignment.rubric_id or ""}),
        at=grading_path(assignment.assignment_id),
        tones=STATE_TONES,
        plain=plain,
        zone=found.member.course.time_zone,
        status=status,
    )


def _add_page(router: APIRouter, pages: CampusPages) -> None:
    @router.get("/assignments/{assignment_id}/grading")
    def show(request: Request, found: StaffAssignment) -> Response:
        return _page(pages, request, found)

    @router.post("/assignments/{assignment_id}/grading/rubric")
    def choose_rubric(request: Request, found: StaffAssignment, form: Posted) -> Response:
        to = grading_path(found.assignment.assignment_id)
        try:
            pages.campus.rubrics.use(found.assignment, form.get("rubricId") or None, found.member.actor)
        except CallerError as mistake:
            return pages.console.go(to, mistake.message, "bad")
        return pages.console.go(to, "Rubric chosen." if form.get("rubricId") else "No rubric any more.")


# --- release ---


def _add_release(router: APIRouter, pages: CampusPages) -> None:
    release = pages.campus.release

    @router.post("/assignments/{assignment_id}/grading/release")
    def release_grades(request: Request, found: InstructorAssignment, form: Posted) -> Response:
        try:
            at = moment_of(form.get("releaseAt"), found.member.course.time_zone)
            saved = release.release(found.assignment, found.member.actor, at)
        except ValueError:
            wrong = form.wrong("releaseAt", "Enter a date and a time.")
            return _page(pages, request, found, wrong, status=422)
        except CallerError as mistake:
            return _page(pages, request, found, form.refused(mistake), status=mistake.status)
        is_now = is_released(saved, pages.campus.repository.now())
        words = "Grades are released." if is_now else "Grades will be released at this moment."
        return pages.console.go(grading_path(saved.assignment_id), words)

    @router.post("/assignments/{assignment_id}/grading/hold")
    def hold(found: InstructorAssignment) -> Response:
        to = grading_path(found.assignment.assignment_id)
        try:
            release.hold(found.assignment, found.member.actor)
        except CallerError as mistake:
            return pages.console.go(to, mistake.message, "bad")
        return pages.console.go(to, "The release is withdrawn.", "note")


def moment_of(text: str, zone: str) -> datetime | None:
    """A local date and time as a form sends it; None for nothing, ValueError for anything else."""
    if not text.strip():
        return None
    return local_moment(text.strip(), zone)


# --- allocation ---


def _add_allocation(router: APIRouter, pages: CampusPages) -> None:
    allocation = pages.campus.allocation

    @router.post("/assignments/{assignment_id}/grading/allocate")
    def allocate(request: Request, found: InstructorAssignment, form: Posted) -> Response:
        actor = found.member.actor
        try:
            if form.get("method") == "section":
                sections = {
                    name.partition(":")[2]: value
                    for name, value in form.values.items()
                    if name.startswith("section:") and value
                }
                count = allocation.by_section(found.assignment, sections, actor)
            else:
                count = allocation.evenly(found.assignment, form.get("graders").split(), actor)
        except CallerError as mistake:
            wrong = Form(form.values, {"graders": mistake.message})
            return _page(pages, request, found, wrong, status=mistake.status)
        words = f"{count} submissions allocated." if count != 1 else "1 submission allocated."
        return pages.console.go(grading_path(found.assignment.assignment_id), words)

    @router.post("/submissions/{submission_id}/grader")
    def set_grader(found: InstructorSubmission, form: Posted) -> Response:
        to = f"{grading_path(found.assignment.assignment_id)}#submissions"
        first, second = (form.get(name) or None for name in ("graderId", "secondGraderId"))
        try:
            allocation.by_hand(found.assignment, found.submission, first, second, found.member.actor)
        except CallerError as mistake:
            return pages.console.go(to, mistake.message, "bad")
        return pages.console.go(to, "Grader saved.")


# --- without a submission ---


def _add_hand_grades(router: APIRouter, pages: CampusPages) -> None:
    hand_grades = pages.campus.hand_grades

    @router.post("/assignments/{assignment_id}/grading/by-hand")
    def begin(found: StaffAssignment, form: Posted) -> Response:
        try:
            row = hand_grades.begin(found.member, found.assignment, form.get("studentId"))
        except CallerError as mistake:
            return pages.console.go(grading_path(found.assignment.assignment_id), mistake.message, "bad")
        return pages.console.go(mark_path(row.submission_id))

    @router.post("/submissions/{submission_id}/remove-grade")
    def remove(found: StaffSubmission) -> Response:
        try:
            hand_grades.remove(found.member, found.assignment, found.submission)
        except CallerError as mistake:
            return pages.console.go(mark_path(found.submission.submission_id), mistake.message, "bad")
        return pages.console.go(grading_path(found.assignment.assignment_id), "Removed.", "note")


# --- worksheets ---


def _add_worksheets(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    @router.get("/assignments/{assignment_id}/grading/worksheet.zip")
    def get_zip(found: StaffAssignment) -> Response:
        return worksheet_zip(campus, found)

    @router.get("/assignments/{assignment_id}/grading/worksheet.csv")
    def get_csv(found: StaffAssignment) -> Response:
        return worksheet_csv(campus, found)

    @router.post("/assignments/{assignment_id}/grading/worksheet")
    def take(request: Request, found: StaffAssignment, form: Posted) -> Response:
        field = "worksheet"
        try:
            if "worksheet" in form.files:
                content = form.files["worksheet"].content
                if len(content) > MOST_SENT:
                    words = "This file is larger than 16 MB. Upload it to My files, and choose it there."
                    raise TooLarge("FILE_TOO_LARGE", words, "worksheet")
                source: IO[bytes] = io.BytesIO(content)
            elif form.get("fileId"):
                field, source = "fileId", uploaded(campus, found, form.get("fileId"))
            else:
                field = "sheet" if form.get("sheet").strip() else field
                source = io.BytesIO(form.get("sheet").strip().encode())
            is_empty = not source.read(64).strip()
            source.seek(0)
            if is_empty:
                words = (
                    "This file is empty."
                    if form.files
                    else "Choose a file, or paste the rows of the worksheet."
                )
                return _page(pages, request, found, form.wrong(field, words), status=422)
            publish = form.is_ticked("publish")
            lines = campus.worksheets.take(
                found.assignment, source, found.member.user, found.member.actor, publish=publish
            )
        except CallerError as mistake:
            return _page(pages, request, found, form.wrong(field, mistake.message), status=mistake.status)
        return _page(pages, request, found, lines=lines)
