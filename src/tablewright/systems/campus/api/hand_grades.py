"""Grades of students who handed in nothing: `/assignments/{id}/without-submission`."""

from fastapi import APIRouter

from tablewright.edge.routes import Router
from tablewright.kit.http import Page, listed
from tablewright.systems.campus.access import StaffAssignment, StaffSubmission
from tablewright.systems.campus.api import grade_bodies as bodies
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.grading.disclosure import for_staff


def hand_grades(campus: Campus) -> APIRouter:
    api = Router(tags=["grading"])

    @api.get("/assignments/{assignment_id}/without-submission", response_model_exclude_none=True)
    def list_without_submission(found: StaffAssignment) -> Page[bodies.CandidateView]:
        """Students or teams without a submission or grade, except the excused; in anonymous marking by pseudonym."""
        every = campus.hand_grades.candidates(found.assignment)
        return listed(
            bodies.CandidateView(student_id=each.id, name=each.name, section=each.section) for each in every
        )

    @api.put(
        "/assignments/{assignment_id}/without-submission/{student_id}/grade", response_model_exclude_none=True
    )
    def grade_without_submission(
        found: StaffAssignment, student_id: str, body: bodies.HandGradeBody
    ) -> bodies.GradeView:
        """Grade a student or team that handed in nothing. Later changes go to `/submissions/{id}/grade`."""
        saved = campus.hand_grades.save(
            found.member, found.assignment, student_id, body.entry(), publish=body.publish
        )
        shown = for_staff(found.assignment, saved, campus.repository.now(), campus.pseudonyms)
        version = campus.marks.version_for(found.assignment, saved, found.member.actor)
        return bodies.grade_view(shown, version)

    @api.delete("/submissions/{submission_id}/grade", status_code=204)
    def remove_grade(found: StaffSubmission) -> None:
        """Remove a grade that was given without a submission, before its students see it."""
        campus.hand_grades.remove(found.member, found.assignment, found.submission)

    return api
