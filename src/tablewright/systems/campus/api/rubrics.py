"""Rubrics and saved comments of a course."""

from fastapi import APIRouter, Response

from tablewright.edge.routes import Router
from tablewright.kit.http import Page, VersionRead, based_on, listed, marked, version_needed
from tablewright.systems.campus.access import InstructorMember, StaffAssignment, StaffMember
from tablewright.systems.campus.api import grade_bodies as bodies
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.grade_model import Rubric, SavedComment


def rubrics(campus: Campus) -> APIRouter:
    api = Router(tags=["grading"])

    @api.get("/courses/{course_id}/rubrics", response_model_exclude_none=True)
    def list_rubrics(member: StaffMember) -> Page[Rubric]:
        return listed(campus.rubrics.of_course(member.course.course_id))

    @api.post("/courses/{course_id}/rubrics", status_code=201, response_model_exclude_none=True)
    def create_rubric(member: StaffMember, body: bodies.RubricBody, response: Response) -> Rubric:
        made = campus.rubrics.create(member.course.course_id, body.title, body.as_criteria(), member.actor)
        return marked(response, made)

    @api.get("/courses/{course_id}/rubrics/{rubric_id}", response_model_exclude_none=True)
    def get_rubric(member: StaffMember, rubric_id: str, response: Response) -> Rubric:
        return marked(response, campus.rubrics.get(member.course.course_id, rubric_id))

    @api.put("/courses/{course_id}/rubrics/{rubric_id}", response_model_exclude_none=True)
    def change_rubric(
        member: InstructorMember,
        rubric_id: str,
        body: bodies.RubricBody,
        response: Response,
        read: VersionRead = None,
    ) -> Rubric:
        """Change a rubric. If points change, the totals of all marks made with it are recomputed."""
        expected = version_needed(based_on(read, body.version))
        before = campus.rubrics.get(member.course.course_id, rubric_id)
        after = campus.rubrics.change(before, body.title, body.as_criteria(), member.actor, expected)
        return marked(response, after)

    @api.put("/assignments/{assignment_id}/rubric")
    def choose_rubric(
        found: StaffAssignment, body: bodies.ChosenRubric, read: VersionRead = None
    ) -> dict[str, str | None]:
        """The rubric that an assignment is marked with; null for none."""
        expected = based_on(read, body.version)
        saved = campus.rubrics.use(found.assignment, body.rubric_id, found.member.actor, expected)
        return {"assignmentId": saved.assignment_id, "rubricId": saved.rubric_id}

    @api.get("/courses/{course_id}/saved-comments")
    def list_saved_comments(member: StaffMember) -> Page[SavedComment]:
        return listed(campus.comments.saved(member.course.course_id))

    @api.post("/courses/{course_id}/saved-comments", status_code=201)
    def save_comment(member: StaffMember, body: bodies.TextBody) -> SavedComment:
        """Keep a comment for the markers of a course."""
        return campus.comments.save(member.course.course_id, body.text)

    @api.delete("/courses/{course_id}/saved-comments/{saved_comment_id}", status_code=204)
    def forget_comment(member: StaffMember, saved_comment_id: str) -> None:
        campus.comments.forget(member.course.course_id, saved_comment_id)

    return api
