"""Campus Cloud's results of a search: own files, courses and assignments; users for admins.

Must hold: a caller finds only what they may read.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from tablewright.edge import Principal
from tablewright.edge.errors import CallerError
from tablewright.pages.area import Hit
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.files.file_lists import Wanted
from tablewright.systems.campus.model import User
from tablewright.systems.campus.pages.page import HOME

_FEWEST_LETTERS, _HITS = 2, 5
Find = Callable[[Campus, User, str], Iterator[Hit]]


def _files(campus: Campus, user: User, text: str) -> Iterator[Hit]:
    for file in campus.listing.page(user, Wanted(text=text), _HITS).items:
        yield Hit(file.filename, f"{HOME}/files/{file.file_id}", "File")


def _courses(campus: Campus, user: User, text: str) -> Iterator[Hit]:
    for course, _ in campus.courses.of(user):
        if text in f"{course.course_id} {course.name}".casefold():
            yield Hit(course.name, f"{HOME}/courses/{course.course_id}", f"Course, {course.course_id}")


def _assignments(campus: Campus, user: User, text: str) -> Iterator[Hit]:
    for course, mine in campus.courses.of(user):
        for assignment in campus.assignments.of(CourseMember(user, course, mine.role, mine)):
            if text in assignment.title.casefold():
                where = f"{HOME}/assignments/{assignment.assignment_id}"
                yield Hit(assignment.title, where, f"Assignment, {course.name}")


def _users(campus: Campus, user: User, text: str) -> Iterator[Hit]:
    if user.role == "admin":
        for found in campus.users.search(text, _HITS):
            yield Hit(
                found.name, f"{HOME}/admin/users/{found.user_id}", f"{found.role.capitalize()}, {found.email}"
            )


FINDERS: tuple[Find, ...] = (_files, _courses, _assignments, _users)


def finder(campus: Campus) -> Callable[[Principal, str], Sequence[Hit]]:
    def search(caller: Principal, text: str) -> Sequence[Hit]:
        wanted = text.strip().casefold()
        if len(wanted) < _FEWEST_LETTERS or not caller.is_known:
            return ()
        try:
            user = campus.users.entered(caller)
        except CallerError:
            return ()
        return tuple(hit for find in FINDERS for hit in islice(find(campus, user, wanted), _HITS))

    return search
