"""The gradebook of a course: for staff, for a student, as CSV; groups, weights and letters."""

from decimal import Decimal
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from tablewright.edge.downloads import download
from tablewright.edge.errors import BadRequest, NotFound
from tablewright.edge.request_bodies import body_of
from tablewright.edge.routes import Router
from tablewright.kit.http import VersionRead, based_on, version_needed, view_of
from tablewright.systems.campus.access import AnyMember, InstructorMember, StaffMember
from tablewright.systems.campus.api import grade_bodies as bodies
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.grading.gradebook import StudentRow
from tablewright.systems.campus.grading.mark_entries import typed_number

Guesses = Annotated[
    list[str] | None, Query(alias="guess", description="`assignmentId:score`, for what-if", max_length=200)
]

PlanDigest = Annotated[str, Query(description="the `digest` of the preview", max_length=200)]


def gradebook(campus: Campus) -> APIRouter:
    api = Router(tags=["grading"])

    @api.get("/courses/{course_id}/gradebook", response_model_exclude_none=True)
    def get_gradebook(member: StaffMember) -> bodies.GradebookView:
        """Every student's results and total. Recorded, as a download of it is."""
        sheet_opened(campus, member, "gradebook opened")
        sheet = campus.gradebook.for_staff(member.course)
        return bodies.GradebookView(
            course_id=member.course.course_id,
            assignments=[
                {"assignmentId": each.assignment_id, "title": each.title} for each in sheet.assignments
            ],
            students=[student_view(row) for row in sheet.rows],
            distribution=sheet.distribution(),
        )

    @api.get("/courses/{course_id}/gradebook.csv")
    def get_gradebook_csv(member: StaffMember) -> Response:
        return gradebook_csv(campus, member)

    @api.post("/courses/{course_id}/gradebook:preview", response_model_exclude_none=True)
    def preview_gradebook(request: Request, member: StaffMember) -> bodies.GradePlanView:
        """What a gradebook as CSV, the body of the request, would change. Nothing is written."""
        plan = campus.grade_import.preview(member, body_of(request.scope))
        return bodies.GradePlanView(
            changes=[view_of(bodies.GradeChangeView, each) for each in plan.changes],
            wrong=[view_of(bodies.WrongCellView, each) for each in plan.wrong],
            unknown_students=[
                bodies.UnknownStudentView(line=line, student=name) for line, name in plan.unknown_students
            ],
            unknown_columns=list(plan.unknown_columns),
            unchanged=plan.unchanged,
            digest=plan.digest,
        )

    @api.post("/courses/{course_id}/gradebook:import")
    def import_gradebook(request: Request, member: StaffMember, digest: PlanDigest) -> bodies.GradeImportView:
        """Apply the file that was previewed; 409 if grades changed since, 422 with all wrong cells."""
        plan, lost = campus.grade_import.apply(member, body_of(request.scope), digest)
        return bodies.GradeImportView(
            saved=len(plan.changes) - len(lost),
            refused=[view_of(bodies.WrongCellView, each) for each in lost],
        )

    @api.get("/courses/{course_id}/grades", response_model_exclude_none=True)
    def my_grades(member: AnyMember, guesses: Guesses = None) -> bodies.StudentGradesView:
        """The caller's own results and total; with guesses, what the total would be."""
        if member.enrolment is None or member.is_staff:
            raise NotFound("grade", "Only students of a course have grades in it.")
        _, row = campus.gradebook.for_student(member.course, member.enrolment, guesses_of(guesses or []))
        return student_view(row)

    @api.put("/courses/{course_id}/grade-scheme")
    def set_scheme(
        member: InstructorMember, body: bodies.SchemeBody, read: VersionRead = None
    ) -> dict[str, int]:
        """Groups with weights, and letters; an assignment names its group."""
        expected = version_needed(based_on(read, body.version))
        saved = campus.gradebook.set_scheme(
            member.course, body.grade_groups, body.letters, member.actor, expected
        )
        return {"version": saved.version}

    return api


def sheet_opened(campus: Campus, member: CourseMember, action: str) -> None:
    """Record who saw everyone's grades (CC-X11)."""
    entry = campus.repository.audit(f"course:{member.course.course_id}", action, member.actor)
    campus.repository.db.write(entry)


def gradebook_csv(campus: Campus, member: CourseMember) -> Response:
    sheet_opened(campus, member, "gradebook downloaded")
    subject = f"{member.course.course_id}-gradebook"
    return download(campus.gradebook.csv(member.course), "campus", subject, campus.repository.now(), "csv")


def student_view(row: StudentRow) -> bodies.StudentGradesView:
    return bodies.StudentGradesView(
        student_id=row.student.user_id,
        name=row.student.name,
        results=[
            bodies.ResultView(
                assignment_id=each.assignment_id,
                submission_id=row.submissions.get(each.assignment_id),
                points=each.points,
                score=each.score,
                state=each.state,
                counts=each.counts,
                dropped=each.assignment_id in row.total.dropped,
            )
            for each in row.results.values()
        ],
        groups=[
            bodies.GroupView(
                group_id=each.group.group_id,
                name=each.group.name,
                weight=each.group.weight,
                percent=each.percent,
            )
            for each in row.total.groups
        ],
        percent=row.total.percent,
        letter=row.total.letter,
    )


def guesses_of(texts: list[str]) -> dict[str, Decimal]:
    """`assignmentId:score` as numbers; what is not a number is refused."""
    found: dict[str, Decimal] = {}
    for text in texts:
        id, _, score = text.partition(":")
        value = typed_number(score)
        if value is None:
            words = "A guess is an assignment's id, a colon and a score."
            raise BadRequest("INVALID_SCORE", words, "guess")
        if not 0 <= value <= 100_000:
            raise BadRequest("INVALID_SCORE", "A guess cannot be negative.", "guess")
        found[id] = value
    return found
