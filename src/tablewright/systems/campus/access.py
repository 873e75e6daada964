"""Who may do what in Campus Cloud: the dependencies of its API and its pages.

A login says who someone is and the role on campus (CC-D21); the user's row says whether the account is suspended, read
consistently with each request. In a course the enrolment decides: to anyone without one the course does not exist.
Elsewhere: who may read or write a file (sharing/access_check.py).
"""

from typing import Annotated

from fastapi import Depends, Request

from tablewright.edge import Principal
from tablewright.edge.errors import NotFound
from tablewright.kit.access import Access
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.courses.course_members import CourseMember, MemberAssignment, MemberSubmission
from tablewright.systems.campus.courses.unsubmitted import handed_in
from tablewright.systems.campus.grading.release import visible
from tablewright.systems.campus.model import User

CAMPUS: Access[Campus] = Access("campus")


def _unsuspended(campus: Campus, caller: Principal) -> User:
    return campus.users.entered(caller)


me = CAMPUS.require_record(_unsuspended)  # the caller's own record; SUSPENDED if the account is
admin = CAMPUS.require_record(_unsuspended, "admin", code="ADMIN_ONLY")

Caller = Annotated[Principal, Depends(CAMPUS.caller)]  # anyone: for public routes
Me = Annotated[User, Depends(me)]
Admin = Annotated[User, Depends(admin)]


def member_of(campus: Campus, user: User, course_id: str) -> CourseMember:
    """The user as a member of a course; COURSE_NOT_FOUND without an enrolment, unless for an admin."""
    course = campus.repository.course(course_id)
    enrolment = campus.repository.enrolment(user.user_id, course_id)
    if enrolment is not None:
        return CourseMember(user, course, enrolment.role, enrolment)
    if user.role == "admin":
        return CourseMember(user, course, "instructor")
    raise NotFound("course")


def member(request: Request, course_id: str, user: Me) -> CourseMember:
    """A dependency: the caller in the course of the path."""
    return member_of(CAMPUS.service(request), user, course_id)


AnyMember = Annotated[CourseMember, Depends(member)]


# What only looks at what was found is async: FastAPI would run a plain function in a thread.


async def staff_member(found: AnyMember) -> CourseMember:
    """A dependency: staff of the course of the path."""
    return _staff(found)


async def instructor_member(found: AnyMember) -> CourseMember:
    """A dependency: an instructor of the course of the path."""
    return _instructor(found)


StaffMember = Annotated[CourseMember, Depends(staff_member)]
InstructorMember = Annotated[CourseMember, Depends(instructor_member)]


def _staff(found: CourseMember) -> CourseMember:
    found.refuse_students()
    return found


def _instructor(found: CourseMember) -> CourseMember:
    found.refuse_all_but_instructors()
    return found


def member_assignment(request: Request, assignment_id: str, user: Me) -> MemberAssignment:
    """A dependency: the assignment of the path for a member of its course; a draft is there for staff alone."""
    return member_assignment_of(CAMPUS.service(request), user, assignment_id)


def member_assignment_of(campus: Campus, user: User, assignment_id: str) -> MemberAssignment:
    assignment = campus.repository.assignment(assignment_id)
    try:
        found = member_of(campus, user, assignment.course_id)
    except NotFound:
        raise NotFound("assignment") from None
    if assignment.status == "draft" and not found.is_staff:
        raise NotFound("assignment")
    return MemberAssignment(found, assignment)


OpenAssignment = Annotated[MemberAssignment, Depends(member_assignment)]


async def staff_assignment(found: OpenAssignment) -> MemberAssignment:
    """A dependency: the assignment of the path, for staff of its course."""
    _staff(found.member)
    return found


async def instructor_assignment(found: OpenAssignment) -> MemberAssignment:
    """A dependency: the assignment of the path, for an instructor of its course."""
    _instructor(found.member)
    return found


StaffAssignment = Annotated[MemberAssignment, Depends(staff_assignment)]
InstructorAssignment = Annotated[MemberAssignment, Depends(instructor_assignment)]


def member_submission(request: Request, submission_id: str, user: Me) -> MemberSubmission:
    """A dependency: the submission of the path, for its student or team and for staff of its course (CC-S12)."""
    return member_submission_of(CAMPUS.service(request), user, submission_id)


def member_submission_of(campus: Campus, user: User, submission_id: str) -> MemberSubmission:
    submission = campus.repository.submission(submission_id)
    try:
        found = member_assignment_of(campus, user, submission.assignment_id)
    except NotFound:
        raise NotFound("submission") from None
    own = user.user_id == submission.student_id or user.user_id in submission.member_ids
    if not own and not found.member.is_staff:
        raise NotFound("submission")
    is_seen = handed_in(submission) or visible(found.assignment, submission, campus.repository.now())
    if not is_seen and not found.member.is_staff:
        raise NotFound("submission")
    return MemberSubmission(found.member, found.assignment, submission)


OpenSubmission = Annotated[MemberSubmission, Depends(member_submission)]


async def staff_submission(found: OpenSubmission) -> MemberSubmission:
    """A dependency: the submission of the path, for staff of its course."""
    _staff(found.member)
    return found


async def instructor_submission(found: OpenSubmission) -> MemberSubmission:
    """A dependency: the submission of the path, for an instructor of its course."""
    _instructor(found.member)
    return found


StaffSubmission = Annotated[MemberSubmission, Depends(staff_submission)]
InstructorSubmission = Annotated[MemberSubmission, Depends(instructor_submission)]
