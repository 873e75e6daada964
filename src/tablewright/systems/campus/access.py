"""Who may do what in Campus Cloud: the dependencies of its API and its pages.

A login says who someone is and the role on campus (CC-D21); the user's row says whether the account is suspended, read
consistently with each request. In a course the enrolment decides: to anyone without one the course does not exist.
Elsewhere: who may read or write a file (sharing/access_check.py).
"""

from typing import Annotated

from fastapi import Depends, Request

from tablewright.edge import Principal
from tablewright.edge.errors import Forbidden, NotFound
from tablewright.kit.access import Access, itself
from tablewright.kit.tables import Actor
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.courses.seats import AssignmentSeat, Seat, SubmissionSeat
from tablewright.systems.campus.courses.unsubmitted import handed_in
from tablewright.systems.campus.grading.release import visible
from tablewright.systems.campus.model import User

CAMPUS: Access[Campus] = Access("campus")


signed_in = CAMPUS.require(itself)
admin_only = CAMPUS.require(itself, "admin", code="ADMIN_ONLY")
Caller = Annotated[Principal, Depends(CAMPUS.caller)]  # anyone: for public routes
SignedIn = Annotated[Principal, Depends(signed_in)]
AdminLogin = Annotated[Principal, Depends(admin_only)]


def me(request: Request, caller: SignedIn) -> User:
    """A dependency: the caller's own record; SUSPENDED if the account is."""
    return CAMPUS.service(request).users.entered(caller)


def admin(request: Request, caller: AdminLogin) -> User:
    """A dependency: an admin, whose account is not suspended."""
    return CAMPUS.service(request).users.entered(caller)


Me = Annotated[User, Depends(me)]
Admin = Annotated[User, Depends(admin)]


def actor_of(user: User) -> Actor:
    return Actor(user.name, "admin" if user.role == "admin" else "user", user.user_id, user.email)


def seat_of(campus: Campus, user: User, course_id: str) -> Seat:
    """The user's seat in a course; COURSE_NOT_FOUND without an enrolment, unless for an admin."""
    course = campus.repository.course(course_id)
    enrolment = campus.repository.enrolment(user.user_id, course_id)
    if enrolment is not None:
        return Seat(user, course, enrolment.role, enrolment)
    if user.role == "admin":
        return Seat(user, course, "instructor")
    raise NotFound("course")


def seat(request: Request, course_id: str, user: Me) -> Seat:
    """A dependency: the caller in the course of the path."""
    return seat_of(CAMPUS.service(request), user, course_id)


CourseSeat = Annotated[Seat, Depends(seat)]


def staff_seat(found: CourseSeat) -> Seat:
    """A dependency: staff of the course of the path."""
    return _staff(found)


def instructor_seat(found: CourseSeat) -> Seat:
    """A dependency: an instructor of the course of the path."""
    return _instructor(found)


StaffSeat = Annotated[Seat, Depends(staff_seat)]
InstructorSeat = Annotated[Seat, Depends(instructor_seat)]


def _staff(found: Seat) -> Seat:
    if not found.is_staff:
        raise Forbidden("COURSE_STAFF_ONLY", "Only staff of this course can do this.")
    return found


def _instructor(found: Seat) -> Seat:
    if found.role != "instructor":
        raise Forbidden("INSTRUCTOR_ONLY", "Only an instructor of this course can do this.")
    return found


def assignment_seat(request: Request, assignment_id: str, user: Me) -> AssignmentSeat:
    """A dependency: the assignment of the path for a member of its course; a draft is there for staff alone."""
    return assignment_seat_of(CAMPUS.service(request), user, assignment_id)


def assignment_seat_of(campus: Campus, user: User, assignment_id: str) -> AssignmentSeat:
    assignment = campus.repository.assignment(assignment_id)
    try:
        found = seat_of(campus, user, assignment.course_id)
    except NotFound:
        raise NotFound("assignment") from None
    if assignment.status == "draft" and not found.is_staff:
        raise NotFound("assignment")
    return AssignmentSeat(found, assignment)


OpenAssignment = Annotated[AssignmentSeat, Depends(assignment_seat)]


def staff_assignment(found: OpenAssignment) -> AssignmentSeat:
    """A dependency: the assignment of the path, for staff of its course."""
    _staff(found.seat)
    return found


def instructor_assignment(found: OpenAssignment) -> AssignmentSeat:
    """A dependency: the assignment of the path, for an instructor of its course."""
    _instructor(found.seat)
    return found


StaffAssignment = Annotated[AssignmentSeat, Depends(staff_assignment)]
InstructorAssignment = Annotated[AssignmentSeat, Depends(instructor_assignment)]


def submission_seat(request: Request, submission_id: str, user: Me) -> SubmissionSeat:
    """A dependency: the submission of the path, for its student or team and for staff of its course (CC-S12)."""
    return submission_seat_of(CAMPUS.service(request), user, submission_id)


def submission_seat_of(campus: Campus, user: User, submission_id: str) -> SubmissionSeat:
    submission = campus.repository.submission(submission_id)
    try:
        found = assignment_seat_of(campus, user, submission.assignment_id)
    except NotFound:
        raise NotFound("submission") from None
    own = user.user_id == submission.student_id or user.user_id in submission.member_ids
    if not own and not found.seat.is_staff:
        raise NotFound("submission")
    is_seen = handed_in(submission) or visible(found.assignment, submission, campus.repository.now())
    if not is_seen and not found.seat.is_staff:
        raise NotFound("submission")
    return SubmissionSeat(found.seat, found.assignment, submission)


OpenSubmission = Annotated[SubmissionSeat, Depends(submission_seat)]


def staff_submission(found: OpenSubmission) -> SubmissionSeat:
    """A dependency: the submission of the path, for staff of its course."""
    _staff(found.seat)
    return found


def instructor_submission(found: OpenSubmission) -> SubmissionSeat:
    """A dependency: the submission of the path, for an instructor of its course."""
    _instructor(found.seat)
    return found


StaffSubmission = Annotated[SubmissionSeat, Depends(staff_submission)]
InstructorSubmission = Annotated[SubmissionSeat, Depends(instructor_submission)]
