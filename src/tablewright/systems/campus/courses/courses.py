"""Courses and who is in them (CC-D17). The role in a course decides what a user may do there.

Must hold: who creates a course is its instructor, in the same transaction; a user is in a course once, with one role;
a student who is removed, or becomes staff, leaves its teams in the same transaction.
Elsewhere: many at once (roster.py), teams (teams.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from zoneinfo import available_timezones

from tablewright.design import Query, Write
from tablewright.edge.errors import Conflict, Forbidden, NotFound, Refused
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Course, CourseRole, Enrolment, FormerEnrolment
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.course_names import name_task
from tablewright.systems.campus.courses.retention import archive_task
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.model import Task, User
from tablewright.systems.campus.people.users import Users
from tablewright.systems.campus.repository import Repository, is_course_id

MOST_SECTIONS = 50
MOST_LATE_DAYS = 60
OWN_ROLE = "You cannot change your own role. Ask another instructor."
_RANK: Mapping[CourseRole, int] = {"instructor": 0, "ta": 1, "student": 2}


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something in a request that cannot be: the field, and what to do about it."""

    code: str
    field: str
    message: str


def refuse(mistakes: Sequence[Mistake]) -> None:
    """Raise the first mistake; the others are among its facts."""
    if mistakes:
        first, *others = mistakes
        facts = (
            {"mistakes": [{"field": each.field, "message": each.message} for each in others]}
            if others
            else {}
        )
        raise Refused(first.code, first.message, first.field, facts)


def mistakes_in_course(course: Course) -> list[Mistake]:
    found = []
    if not is_course_id(course.course_id):
        words = "Use 2 to 64 letters, digits, dots, dashes or underscores, such as CS101-2026-AUTUMN."
        found.append(Mistake("INVALID_ID", "courseId", words))
    if not 1 <= len(course.name.strip()) <= 200:
        found.append(Mistake("INVALID_NAME", "name", "Enter a name of up to 200 characters."))
    if not 1 <= len(course.semester.strip()) <= 40:
        found.append(Mistake("INVALID_SEMESTER", "semester", "Enter the semester, such as 2026 autumn."))
    if course.time_zone not in available_timezones():
        found.append(Mistake("INVALID_ZONE", "timeZone", "Enter a time zone such as Europe/Berlin."))
    if len(course.sections) > MOST_SECTIONS or any(not 1 <= len(each) <= 40 for each in course.sections):
        words = f"Enter up to {MOST_SECTIONS} sections with names of up to 40 characters."
        found.append(Mistake("INVALID_SECTIONS", "sections", words))
    if not 0 <= course.late_days <= MOST_LATE_DAYS:
        found.append(Mistake("INVALID_LATE_DAYS", "lateDays", f"Enter 0 to {MOST_LATE_DAYS} days."))
    return found


def refuse_creation_by_students(user: User) -> None:
    """Raise INSTRUCTOR_ONLY for someone who cannot create a course."""
    if user.role == "student":
        raise Forbidden("INSTRUCTOR_ONLY", "Only instructors can create courses.")


class Courses:
    """Courses and enrolments."""

    def __init__(self, repository: Repository, users: Users) -> None:
        self._repository, self._users = repository, users

    # --- courses ---

    def create(self, by: User, fields: Mapping[str, Any], *, enrolled: bool = True) -> Course:
        """Create a course; its creator is its instructor, unless an admin creates it for others."""
        refuse_creation_by_students(by)
        now = self._repository.now()
        course = Course(**{**fields, "created_at": now, "updated_at": now})
        refuse(mistakes_in_course(course))
        member = CourseMember(by, course, "instructor")
        self._repository.write(
            "COURSE",
            d.courses.create(course),
            d.tasks.add(archive_task(self._repository, course)),
            *([d.enrolments.create(self.enrolment(course.course_id, by, "instructor"))] if enrolled else []),
            self._repository.audit(f"course:{course.course_id}", "created", member.actor, None, course),
        )
        return course

    def change(self, member: CourseMember, changes: Mapping[str, Any], expected: int | None = None) -> Course:
        """Change fields of a course."""

        def attempt() -> Course:
            before = self._repository.course(member.course.course_id)
            if expected is not None and before.version != expected:
                raise Changed()
            moment = self._repository.later_than(before.updated_at)
            after = before.model_copy(update={**changes, "updated_at": moment})
            refuse(mistakes_in_course(after))
            write = d.courses.change(before, after)
            entry = self._repository.audit(
                f"course:{after.course_id}", "changed", member.actor, before, after
            )
            self._repository.write("COURSE", write, entry, *map(d.tasks.add, self._tasks(before, after)))
            assert write.item is not None
            return write.item

        return self._repository.retried(expected, attempt)

    def _tasks(self, before: Course, after: Course) -> list[Task]:
        """What follows a change: another day for the archive, another name in the assignments."""
        moved = before.semester_end != after.semester_end
        found = [archive_task(self._repository, after)] if moved else []
        return [*found, name_task(self._repository, after)] if before.name != after.name else found

    def of(self, user: User) -> list[tuple[Course, Enrolment]]:
        """A user's courses, the newest semester first."""
        mine = self._repository.courses_of(user.user_id)
        found = self._repository.db.many([d.courses.get(each.course_id) for each in mine])
        pairs = [(course, each) for course, each in zip(found, mine, strict=True) if course is not None]
        return sorted(pairs, key=lambda pair: (-pair[0].semester_end.timestamp(), pair[0].name.lower()))

    def all(self) -> Query[Course]:
        """All courses, the newest semester first."""
        return d.all_courses()

    def search(self, text: str, at_most: int = 50) -> list[Course]:
        """Courses that have the text in their id, name or semester, in whatever case; the newest semester first."""
        wanted = text.strip().lower()
        found = (
            course
            for course in self._repository.db.all(self.all())
            if wanted in f"{course.course_id} {course.name} {course.semester}".lower()
        )
        return list(islice(found, at_most))

    # --- enrolments ---

    def members(self, course_id: str, role: CourseRole | None = None) -> list[Enrolment]:
        """Everyone in a course: staff first, then by name."""
        found = self._repository.db.all(d.enrolments_of_course(course_id=course_id))
        wanted = [each for each in found if role is None or each.role == role]
        return sorted(wanted, key=lambda each: (_RANK[each.role], each.name.lower(), each.user_id))

    def enrolment(
        self, course_id: str, user: User, role: CourseRole, section: str | None = None
    ) -> Enrolment:
        """An enrolment as a value."""
        return Enrolment(
            user_id=user.user_id,
            course_id=course_id,
            role=role,
            section=section,
            name=user.name,
            email=user.email,
            university_id=user.university_id,
            enrolled_at=self._repository.now(),
        )

    def enrol(
        self,
        member: CourseMember,
        email: str,
        role: CourseRole,
        section: str | None = None,
        name: str | None = None,
    ) -> Enrolment:
        """Enrol the user of an address, who is created if there is none; the same again changes nothing."""
        self._refuse_section(member, section)
        user = self._users.by_email(email)
        if user is None and not name:
            raise NotFound("user", "No user has this address. Enter a name to add the person.", "email")
        user = user or self._users.invited(email, name or "")
        return self.place(member, user, role, section)[0]

    def place(
        self,
        member: CourseMember,
        user: User,
        role: CourseRole,
        section: str | None,
        university_id: str | None = None,
    ) -> tuple[Enrolment, str]:
        """Enrol a user with this role and section; what it was: enrolled, changed or unchanged.

        `university_id` is the one that a roster of the staff has, if it has one.
        """
        course_id = member.course.course_id

        def attempt() -> tuple[Enrolment, str]:
            before = self._repository.enrolment(user.user_id, course_id)
            if before is None:
                after = self.enrolment(course_id, user, role, section)
                after = after.model_copy(update={"university_id": university_id or after.university_id})
                write, done = d.enrolments.create(after), "enrolled"
            elif (before.role, before.section) == (role, section) and university_id in (
                None,
                before.university_id,
            ):
                return before, "unchanged"
            elif user.user_id == member.user.user_id and before.role != role:
                raise Refused("OWN_ENROLMENT", OWN_ROLE, "role")
            else:
                id = university_id or before.university_id
                after = before.model_copy(update={"role": role, "section": section, "university_id": id})
                write, done = d.enrolments.change(before, after), "changed"
            entry = self._repository.audit(
                f"course:{course_id}", f"person {done}", member.actor, before, after
            )
            follows = self._after_role(before) if before is not None and before.role != role else []
            self._repository.write("ENROLMENT", write, *follows, entry)
            return write.item or after, done

        return self._repository.retried(None, attempt, on=(Changed, Conflict))

    def remove(self, member: CourseMember, user_id: str) -> None:
        """Remove a user from the course and from its teams. What was submitted stays."""
        before = self._repository.enrolment(user_id, member.course.course_id)
        if before is None:
            raise NotFound("enrolment", "This person is not in this course.")
        if user_id == member.user.user_id:
            raise Refused("OWN_ENROLMENT", "You cannot remove yourself. Ask another instructor.")
        entry = self._repository.audit(
            f"course:{before.course_id}", "person removed", member.actor, before, None
        )
        teams = self._out_of_teams(before)
        self._repository.write("ENROLMENT", d.enrolments.delete(before), self._former(before), *teams, entry)

    def _after_role(self, before: Enrolment) -> list[Write[Any]]:
        """What follows when someone gets another role: only students are in teams."""
        teams = self._out_of_teams(before) if before.role == "student" else []
        return [self._former(before), *teams]

    def _former(self, enrolment: Enrolment) -> Write[FormerEnrolment]:
        """That the user had this role: an erasure finds by it what the user wrote here."""
        ids = {"user_id": enrolment.user_id, "course_id": enrolment.course_id}
        former = FormerEnrolment(**ids, role=enrolment.role, ended_at=self._repository.now())
        return d.former_enrolments.put(former)

    def _out_of_teams(self, enrolment: Enrolment) -> list[Write[Any]]:
        course_id, writes = enrolment.course_id, list[Write[Any]]()
        for group_set in self._repository.db.all(d.group_sets_of_course(course_id=course_id)):
            key = course_id, group_set.group_set_id, enrolment.user_id
            membership = self._repository.db.one(d.team_memberships.get(*key), consistent=True)
            if membership is None:
                continue
            team = self._repository.db.one(
                d.teams.get(course_id, group_set.group_set_id, membership.team_id), consistent=True
            )
            writes.append(d.team_memberships.delete(membership))
            if team is not None:
                left = [each for each in team.member_ids if each != enrolment.user_id]
                writes.append(d.teams.change(team, team.model_copy(update={"member_ids": left})))
        return writes

    def _refuse_section(self, member: CourseMember, section: str | None) -> None:
        if section is not None and section not in member.course.sections:
            words = f"{member.course.course_id} has no section {section}. Add it to the course first."
            raise Refused("SECTION_NOT_FOUND", words, "section")
