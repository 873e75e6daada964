"""The first page: what is due, what waits for a grade, what is new, how much room is left."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from fastapi import APIRouter, Request, Response

from tablewright.edge.errors import Conflict
from tablewright.systems.campus.access import Me
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.course_model import Assignment, Course
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.model import User
from tablewright.systems.campus.pages.page import CampusPages

_AHEAD, _MISSED_FOR = timedelta(days=14), timedelta(days=7)
_MOST_COUNTED = 50


@dataclass(frozen=True, slots=True)
class Due:
    """An assignment of a student that is due soon, or was missed."""

    assignment: Assignment
    course: Course
    at: datetime
    submitted: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits in a course for its staff; `most` says that there may be more."""

    course: Course
    submissions: int
    regrades: int


def add_home(router: APIRouter, pages: CampusPages) -> None:
    @router.get("")
    def home(request: Request, user: Me) -> Response:
        campus = pages.campus
        members = [CourseMember(user, course, mine.role, mine) for course, mine in campus.courses.of(user)]
        news = campus.repository.page(campus.notifier.of(user), 5, None, user.user_id).items
        return pages.page(
            request,
            "home",
            title="Campus Cloud",
            user=user,
            news=news,
            due=sorted(
                (one for member in members if not member.is_staff for one in _due(campus, member)),
                key=lambda one: one.at,
            ),
            waiting=[_waiting(campus, user, member.course) for member in members if member.is_staff],
            now=campus.repository.now(),
            most=_MOST_COUNTED,
        )


def _due(campus: Campus, member: CourseMember) -> list[Due]:
    now = campus.repository.now()
    found = []
    for assignment in campus.assignments.of(member):
        if assignment.status != "active" or member.enrolment is None:
            continue
        try:
            dates = campus.owners.of(assignment, member.enrolment).dates
        except Conflict:  # it is for teams, and the student is in none yet
            dates = campus.owners.dates(assignment, member.enrolment)
        if not dates.excused and now - _MISSED_FOR <= dates.due <= now + _AHEAD:
            made = len(campus.submissions.of_student(member, assignment))
            if dates.due > now or not made:
                found.append(Due(assignment, member.course, dates.due, made))
    return found


def _waiting(campus: Campus, user: User, course: Course) -> Waiting:
    submissions = campus.marks.queue(course.course_id, user.user_id, _MOST_COUNTED)
    regrades = campus.regrades.queue(course.course_id, "open", user.user_id, _MOST_COUNTED)
    return Waiting(course, len(submissions.items), len(regrades.items))
