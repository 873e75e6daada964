"""A student's grade of a submission: with rubric, comments beside the document, and a request for a regrade.

Must hold: nothing of the marking is on the page before the grade is visible, to the second.
Elsewhere: all grades of a course (gradebook.py), threads (regrades.py).
"""

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import CallerError
from tablewright.pages.forms import Form, Posted
from tablewright.systems.campus.access import OpenSubmission
from tablewright.systems.campus.courses.course_members import MemberAssignment, MemberSubmission
from tablewright.systems.campus.grading.disclosure import comments_for_student, for_student
from tablewright.systems.campus.grading.regrades import open_until
from tablewright.systems.campus.grading.release import visible
from tablewright.systems.campus.pages.assignments import assignment_crumbs
from tablewright.systems.campus.pages.documents import documents_of, place_words
from tablewright.systems.campus.pages.marks import mark_path, plain
from tablewright.systems.campus.pages.page import HOME, CampusPages
from tablewright.systems.campus.pages.regrades import regrade_path


def grade_path(submission_id: str) -> str:
    return f"{HOME}/submissions/{submission_id}/grade"


def add_grades(router: APIRouter, pages: CampusPages) -> None:
    campus = pages.campus

    @router.get("/submissions/{submission_id}/grade")
    def grade(request: Request, found: OpenSubmission) -> Response:
        if found.member.is_staff:
            return pages.console.go(mark_path(found.submission.submission_id))
        return _page(pages, request, found)

    @router.post("/submissions/{submission_id}/regrade")
    def request_regrade(request: Request, found: OpenSubmission, form: Posted) -> Response:
        try:
            made = campus.regrades.request(
                found.assignment, found.submission, form.get("text"), found.member.actor
            )
        except CallerError as mistake:
            return _page(pages, request, found, form.refused(mistake), mistake.status)
        return pages.console.go(regrade_path(made), "Your request is sent.")


def _page(
    pages: CampusPages, request: Request, found: MemberSubmission, form: Form | None = None, status: int = 200
) -> Response:
    campus, assignment, row = pages.campus, found.assignment, found.submission
    user, now = found.member.user, pages.campus.repository.now()
    is_visible = visible(assignment, row, now)
    comments = comments_for_student(assignment, campus.comments.of(row.submission_id)) if is_visible else []
    marks = campus.marks.of(row.submission_id) if is_visible else []
    published = next((each for each in marks if each.published), None)
    until = open_until(assignment, row, now)
    shown = for_student(assignment, row, user.user_id, now)
    return pages.page(
        request,
        "grade",
        title=f"Grade: {assignment.title}",
        crumbs=assignment_crumbs(MemberAssignment(found.member, assignment)),
        member=found.member,
        assignment=assignment,
        submission=shown,
        is_visible=is_visible,
        documents=documents_of(campus, found, shown, comments),
        place_words=place_words,
        rubric=campus.rubrics.of_assignment(assignment)
        if published is not None and published.criteria
        else None,
        criteria=published.criteria if published is not None else {},
        adjustment=published.adjustment if published is not None else None,
        regrade=campus.regrades.own(row.submission_id, user.user_id) if is_visible else None,
        until=until if until is not None and now <= until else None,
        form=form or Form(),
        plain=plain,
        at=f"{HOME}/submissions/{row.submission_id}",
        zone=user.time_zone,
        status=status,
    )
