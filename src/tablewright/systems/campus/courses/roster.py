"""A roster from a CSV file: courses, sections, people and their roles (CC-X29). First a preview, then the import.

    course,name,email,role,section,university id
    CS101-2026-AUTUMN,Ada Lovelace,ada@university.edu,student,A,S1234567

Columns `course name`, `semester` and `semester end` create a course that does not exist, for admins. Without a column
`course`, all rows are about the course the file was sent to.
Must hold: a row is imported as a whole or not at all, each with its outcome; the same file again changes nothing; a row
with a mistake does not stop the others; what a row leaves empty stays as it is. The preview writes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Literal

from tablewright.edge.errors import CallerError, NotFound
from tablewright.edge.mail_addresses import NotAnAddress, normalise_address
from tablewright.systems.campus.course_model import Course, CourseRole
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.courses import OWN_ROLE, Courses
from tablewright.systems.campus.courses.csv_rows import Row, rows_of
from tablewright.systems.campus.model import User
from tablewright.systems.campus.people.users import LONGEST_UNIVERSITY_ID, Users
from tablewright.systems.campus.repository import Repository, is_course_id

Outcome = Literal["new person", "enrolled", "changed", "unchanged", "refused"]
_KNOWN = {"e mail": "email", "mail": "email", "course id": "course", "student id": "university id"}
_ROLES: Mapping[str, CourseRole] = {
    "student": "student", "ta": "ta", "teaching assistant": "ta", "assistant": "ta", "instructor": "instructor",
    "teacher": "instructor", "lecturer": "instructor",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a roster as it is understood, with what happens or happened to it."""

    line: int
    course_id: str
    email: str
    name: str
    role: CourseRole
    section: str | None
    university_id: str | None
    outcome: Outcome
    message: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What an import does, row by row, and the courses and sections that it creates."""

    entries: Sequence[Entry]
    new_courses: Sequence[str]
    new_sections: Sequence[tuple[str, str]]

    def count(self, outcome: Outcome) -> int:
        return sum(each.outcome == outcome for each in self.entries)


class _RowRefused(Exception):
    pass


class Roster:
    """Imports of rosters."""

    def __init__(self, repository: Repository, users: Users, courses: Courses) -> None:
        self._repository, self._users, self._courses = repository, users, courses

    def preview(self, by: User, content: bytes, member: CourseMember | None = None) -> Report:
        """What importing the file would do; nothing is written. With a member, all rows are about their course."""
        return self._plan(by, content, member)[0]

    def load(self, by: User, content: bytes, member: CourseMember | None = None) -> Report:
        """Import the file; the report says what was done with each row."""
        plan, courses = self._plan(by, content, member)
        members = {course_id: self._ready(by, course, plan) for course_id, course in courses.items()}
        done = [self._load(members, entry) for entry in plan.entries]
        return replace(plan, entries=done)

    def _plan(
        self, by: User, content: bytes, member: CourseMember | None
    ) -> tuple[Report, dict[str, Course]]:
        rows = rows_of(content, ("email",) if member is not None else ("email", "course"), _KNOWN)
        courses: dict[str, Course] = {}
        created: list[str] = []
        entries: list[Entry] = []
        seen: set[tuple[str, str]] = set()
        ids: dict[str, dict[str, str]] = {}
        for row in rows:
            try:
                course = self._course(by, row, member, courses, created)
                entry = self._understood(by, row, course)
                if course.course_id not in ids:
                    ids[course.course_id] = self._ids(course)
                _refuse_taken(entry, ids[course.course_id])
                if (entry.course_id, entry.email) in seen:
                    raise _RowRefused("This person is in the file twice; the first row is used.")
                seen.add((entry.course_id, entry.email))
            except _RowRefused as mistake:
                entry = _refused(row, member, str(mistake))
            entries.append(entry)
        sections = [
            (each.course_id, each.section)
            for each in entries
            if each.outcome != "refused" and each.section is not None
            and each.section not in courses[each.course_id].sections
        ]  # fmt: skip
        return Report(entries, created, list(dict.fromkeys(sections))), courses

    def _ids(self, course: Course) -> dict[str, str]:
        """The university ids in a course, each with the address of its person."""
        members = self._courses.members(course.course_id)
        return {each.university_id: each.email.lower() for each in members if each.university_id}

    def _course(
        self, by: User, row: Row, member: CourseMember | None, courses: dict[str, Course], created: list[str]
    ) -> Course:
        course_id = row.get("course") or (member.course.course_id if member is not None else "")
        if member is not None and course_id != member.course.course_id:
            raise _RowRefused(f"This row is about {course_id}; import it there.")
        if course_id in courses:
            return courses[course_id]
        try:
            courses[course_id] = self._repository.course(course_id)
        except NotFound:
            courses[course_id] = self._new_course(by, row, course_id)
            created.append(course_id)
        return courses[course_id]

    def _new_course(self, by: User, row: Row, course_id: str) -> Course:
        name, semester, end = row.get("course name"), row.get("semester"), row.get("semester end")
        if not is_course_id(course_id) or by.role != "admin":
            raise _RowRefused(f"There is no course {course_id}.")
        if name is None or semester is None or end is None:
            raise _RowRefused("A new course needs the columns course name, semester and semester end.")
        try:
            last = datetime.combine(date.fromisoformat(end), time(23, 59, 59), UTC)
        except ValueError:
            raise _RowRefused("Enter semester end as a date such as 2027-02-28.") from None
        now = self._repository.now()
        return Course(
            course_id=course_id, name=name[:200], semester=semester[:40], semester_end=last, created_at=now,
            updated_at=now,
        )  # fmt: skip

    def _understood(self, by: User, row: Row, course: Course) -> Entry:
        """What a row says. What it leaves empty stays as it is for who is in the course already."""
        try:
            email = normalise_address(row.get("email") or "")
        except NotAnAddress:
            raise _RowRefused("This is not a valid e-mail address.") from None
        user = self._users.by_email(email)
        before = self._repository.enrolment(user.user_id, course.course_id) if user is not None else None
        role = _ROLES.get((row.get("role") or (before.role if before is not None else "student")).lower())
        if role is None:
            raise _RowRefused("The role must be student, ta or instructor.")
        if before is not None and before.user_id == by.user_id and before.role != role:
            raise _RowRefused(OWN_ROLE)
        section = row.get("section") or (before.section if before is not None else None)
        if section is not None and len(section) > 40:
            raise _RowRefused("A section has at most 40 characters.")
        if len(row.get("university id") or "") > LONGEST_UNIVERSITY_ID:
            raise _RowRefused(f"A university id has at most {LONGEST_UNIVERSITY_ID} characters.")
        if user is None and row.get("name") is None:
            raise _RowRefused("This person is new here: enter a name.")
        entry = Entry(
            row.line, course.course_id, email, user.name if user is not None else (row.get("name") or "")[:200],
            role, section, row.get("university id"), "new person",
        )  # fmt: skip
        return entry if user is None else replace(entry, outcome=self._outcome(user, entry))

    def _outcome(self, user: User, entry: Entry) -> Outcome:
        before = self._repository.enrolment(user.user_id, entry.course_id)
        if before is None:
            return "enrolled"
        id = entry.university_id or before.university_id
        is_same = (before.role, before.section, before.university_id) == (entry.role, entry.section, id)
        return "unchanged" if is_same else "changed"

    def _ready(self, by: User, course: Course, plan: Report) -> CourseMember:
        """The course with all its sections, created if it is new; another import may do the same at this moment."""
        if course.course_id in plan.new_courses:
            try:
                fields = {name: getattr(course, name) for name in Course.model_fields}
                self._courses.create(by, fields, enrolled=False)
            except CallerError:
                self._repository.course(course.course_id)
        member = CourseMember(by, self._repository.course(course.course_id), "instructor")
        wanted = [section for course_id, section in plan.new_sections if course_id == course.course_id]
        new = [section for section in wanted if section not in member.course.sections]
        if new:
            changed = self._courses.change(member, {"sections": [*member.course.sections, *new]})
            member = replace(member, course=changed)
        return member

    def _load(self, members: Mapping[str, CourseMember], entry: Entry) -> Entry:
        if entry.outcome in ("refused", "unchanged"):
            return entry
        try:
            user = self._users.invited(entry.email, entry.name, entry.university_id)
            _, done = self._courses.place(
                members[entry.course_id], user, entry.role, entry.section, entry.university_id
            )
        except CallerError as mistake:
            return replace(entry, outcome="refused", message=mistake.message)
        outcomes: Mapping[str, Outcome] = {"enrolled": "enrolled", "changed": "changed"}
        found = outcomes.get(done, "unchanged")
        return (
            entry if entry.outcome == "new person" and found == "enrolled" else replace(entry, outcome=found)
        )


def _refuse_taken(entry: Entry, ids: dict[str, str]) -> None:
    """Two people of a course never have the same university id: grades are imported by it."""
    if entry.university_id is None:
        return
    if ids.setdefault(entry.university_id, entry.email) != entry.email:
        raise _RowRefused(f"{ids[entry.university_id]} has this university id already.")


def _refused(row: Row, member: CourseMember | None, message: str) -> Entry:
    course_id = row.get("course") or (member.course.course_id if member is not None else "")
    email, name = row.get("email") or "", row.get("name") or ""
    return Entry(row.line, course_id, email, name, "student", row.get("section"), None, "refused", message)
