"""Assignments: written as drafts, published, closed, reopened; with other dates for some (CC-X18).

Must hold: who is in which team set is fixed when it is published; every change of a date is written with a task that
rewrites the due date and lateness of what was submitted (CC-D15), and with the rows on which a submission that is
being made depends: so no submission keeps dates that were changed while it was written. An assignment that students can
see is announced once to each of them.
Elsewhere: whether it accepts work (acceptance.py), the task (late_updates.py), what an assignment may say
(assignment_rules.py), reminders (reminders.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import BadRequest, Conflict, NotFound, Refused
from tablewright.mapping import Stale
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, AssignmentStatus, Audience, Course, Override
from tablewright.systems.campus.courses.acceptance import Acceptance
from tablewright.systems.campus.courses.assignment_rules import mistakes_in, mistakes_in_override
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.courses import Mistake, refuse
from tablewright.systems.campus.courses.dates import last_end, whole_second
from tablewright.systems.campus.courses.teams import Teams
from tablewright.systems.campus.courses.unsubmitted import BY_HAND
from tablewright.systems.campus.errors import Changed, RaceLost
from tablewright.systems.campus.model import File, Task, User
from tablewright.systems.campus.repository import SYSTEM, Repository, is_uuid

LATE, PUBLISHED = "late", "published"
# A change of one of these changes when something was late, or what that costs.
_DATES = frozenset(("due_date", "accept_until", "grace_minutes", "late_policy", "late_penalty"))
EDITABLE = frozenset(
    ("title", "description", "instructions", "available_from", "due_date", "accept_until", "max_file_size",
     "allowed_file_types", "max_submissions", "points", "extra_credit", "rubric_url", "attachments", "late_policy",
     "late_penalty", "grace_minutes", "missing_grade", "group_set_id", "grade_each", "statement", "anonymous",
     "hidden_graders", "second_marking", "rubric_id", "grade_group_id", "counts", "regrade_days")
)  # fmt: skip


class Assignments:
    """The assignments of courses."""

    def __init__(self, repository: Repository, teams: Teams, acceptance: Acceptance) -> None:
        self._repository, self._teams, self._acceptance = repository, teams, acceptance

    # --- reads ---

    def of(self, member: CourseMember) -> list[Assignment]:
        """A course's assignments by due date; drafts for staff alone."""
        found = self._repository.db.all(d.assignments_of_course(course_id=member.course.course_id))
        shown = [each for each in found if member.is_staff or each.status != "draft"]
        return sorted(shown, key=lambda each: (each.due_date, each.title))

    def of_instructor(self, user: User) -> list[Assignment]:
        """What a user made in courses they still teach, newest first (CC-30)."""
        db = self._repository.db
        members = db.all(d.courses_of_user(user_id=user.user_id))
        taught = {member.course_id for member in members if member.role == "instructor"}
        found = db.all(d.assignments_of_instructor(instructor_id=user.user_id))
        return [each for each in found if each.course_id in taught]

    def count(self, assignment_id: str) -> int:
        """The exact number of submissions; `submission_count` may be a moment behind (CC-D14)."""
        query = d.submissions_of_assignment(assignment_id=assignment_id)
        attempts = query.where(lambda row: row.submission_number > BY_HAND)
        return self._repository.db.count(replace(attempts, consistent=True))

    # --- the editor ---

    def create(self, member: CourseMember, fields: Mapping[str, Any]) -> Assignment:
        """A draft, by an instructor."""
        member.refuse_all_but_instructors()
        now, user, course = self._repository.now(), member.user, member.course
        assignment = Assignment(
            **{name: value for name, value in fields.items() if name in EDITABLE},
            course_id=course.course_id,
            assignment_id=self._repository.new_uuid(),
            course_name=course.name,
            instructor_id=user.user_id,
            instructor_email=user.email,
            instructor_name=user.name,
            created_at=now,
            updated_at=now,
        )
        self._refuse_mistakes(assignment, member)
        self._write(member, "created", d.assignments.create(assignment), None, assignment)
        return assignment

    def mistakes(
        self, assignment: Assignment, member: CourseMember, before: Assignment | None = None
    ) -> list[Mistake]:
        """All that is wrong with an assignment, for a form. What was attached `before` may stay."""
        known = before.attachments if before is not None else ()
        return [*mistakes_in(assignment, member.course), *self._missing(assignment, member, known)]

    def change(
        self,
        member: CourseMember,
        assignment_id: str,
        changes: Mapping[str, Any],
        seen: datetime | None = None,
    ) -> Assignment:
        """Change fields; VERSION_CONFLICT if it was changed after `seen`, the `updated_at` that the caller read."""
        member.refuse_all_but_instructors()
        edited = {name: value for name, value in changes.items() if name in EDITABLE}

        def attempt() -> Assignment:
            before = self._repository.assignment(assignment_id)
            if seen is not None and before.updated_at != seen:
                raise RaceLost()
            moment = self._repository.later_than(before.updated_at)
            after = before.model_copy(update={**edited, "updated_at": moment})
            if before.status != "draft" and after.group_set_id != before.group_set_id:
                raise Conflict("PUBLISHED", "Teams cannot be changed once it is published.", "groupSetId")
            self._refuse_mistakes(after, member, before)
            moved = any(getattr(before, name) != getattr(after, name) for name in _DATES)
            tasks = self._late(after) if moved and before.status != "draft" else []
            write = d.assignments.change(before, after)
            self._write(member, "changed", write, before, after, *tasks, *self._acceptance.moved(after))
            return write.item or after

        # The number of submissions changes the version too: a race with that is not a conflict of editors.
        return self._repository.retried(None, attempt)

    # --- states ---

    def publish(self, member: CourseMember, assignment_id: str) -> Assignment:
        """Show it to the students, who are told; again changes nothing."""
        member.refuse_all_but_instructors()
        before = self._repository.assignment(assignment_id)
        if before.status != "draft":
            return before
        if before.due_date <= self._repository.now():
            raise Refused("INVALID_DATES", "The due date has passed. Choose a later one first.", "dueDate")
        return self._move(member, before, "active", "published", d.tasks.add(self._task(PUBLISHED, before)))

    def close(self, member: CourseMember, assignment_id: str) -> Assignment:
        member.refuse_all_but_instructors()
        before = self._repository.assignment(assignment_id)
        if before.status == "draft":
            raise Conflict("NOT_PUBLISHED", "A draft cannot be closed: publish it, or leave it.")
        return before if before.status == "closed" else self._move(member, before, "closed", "closed")

    def reopen(self, member: CourseMember, assignment_id: str) -> Assignment:
        """Accept work again; the last date must be in the future, or it would close at once."""
        member.refuse_all_but_instructors()
        before = self._repository.assignment(assignment_id)
        if before.status != "closed":
            return before
        if self._end(before, member.course) < whole_second(self._repository.now()):
            words = "No date allows more work. Set a later due date or end first."
            raise Refused("INVALID_DATES", words, "acceptUntil")
        return self._move(member, before, "active", "reopened")

    def close_due(self) -> int:
        """A job: close what accepts no more work, the last extension included (CC-D44); how many."""
        now, closed = self._repository.now(), 0
        courses: dict[str, Course] = {}
        for each in self._repository.db.all(d.assignments_by_due_date(status="active", until=now)):
            if each.course_id not in courses:
                courses[each.course_id] = self._repository.course(each.course_id)
            if self._end(each, courses[each.course_id]) >= whole_second(now):
                continue
            # What the index shows may be old: the write requires the version that was read here.
            before = self._repository.assignment(each.assignment_id)
            if before.status == "active" and self._end(before, courses[each.course_id]) < whole_second(now):
                moment = self._repository.later_than(before.updated_at)
                after = before.model_copy(update={"status": "closed", "updated_at": moment})
                entry = self._repository.audit(
                    f"assignment:{before.assignment_id}", "closed", SYSTEM, before, after
                )
                move = d.assignments.move(before, after, by="system")
                closed += self._repository.try_write(move, *self._acceptance.moved(after), entry)
        return closed

    def _end(self, assignment: Assignment, course: Course) -> datetime:
        return last_end(
            assignment, self._repository.overrides_of(assignment.assignment_id), course.semester_end
        )

    # --- other dates for some ---

    def override(
        self,
        member: CourseMember,
        assignment_id: str,
        audience: Audience,
        audience_id: str,
        fields: Mapping[str, Any],
    ) -> Override:
        """Set other dates for a student, a section or a team; they replace what they had before."""
        member.refuse_students()

        def attempt() -> Override:
            assignment = self._repository.assignment(assignment_id)
            self._refuse_audience(assignment, member.course, audience, audience_id)
            get = d.overrides.get(assignment_id, audience, audience_id)
            before = self._repository.db.one(get, consistent=True)
            after = Override(
                **fields,
                assignment_id=assignment_id,
                audience=audience,
                audience_id=audience_id,
                created_by=member.user.user_id,
                created_at=self._repository.now(),
                version=before.version if before is not None else 1,
            )
            refuse(mistakes_in_override(after, assignment))
            write = d.overrides.create(after) if before is None else d.overrides.change(before, after)
            self._write(
                member, "dates set", write, before, after, *self._touched(assignment), about=assignment_id
            )
            return write.item or after

        return self._repository.retried(None, attempt, on=(Changed, RaceLost))

    def remove_override(
        self, member: CourseMember, assignment_id: str, audience: Audience, audience_id: str
    ) -> None:
        member.refuse_students()

        def attempt() -> None:
            assignment = self._repository.assignment(assignment_id)
            get = d.overrides.get(assignment_id, audience, audience_id)
            before = self._repository.found(self._repository.db.one(get, consistent=True), "EXTENSION")
            delete = d.overrides.delete(before)
            self._write(
                member, "dates removed", delete, before, None, *self._touched(assignment), about=assignment_id
            )

        self._repository.retried(None, attempt, on=(Changed, RaceLost))

    def _touched(self, assignment: Assignment) -> list[Write[Any]]:
        """The acceptance rows, and the task that rewrites what was submitted; the status must still be the same."""
        status = assignment.status
        same = d.assignments.check(assignment.course_id, assignment.assignment_id).when(
            lambda a: a.status == status
        )
        return [same, *self._acceptance.moved(assignment), *self._late(assignment)]

    # --- parts ---

    def _late(self, assignment: Assignment) -> list[Write[Any]]:
        return [d.tasks.add(self._task(LATE, assignment))]

    def _task(self, kind: str, assignment: Assignment) -> Task:
        now = self._repository.now()
        task_id = self._repository.new_uuid()
        return Task(task_id=task_id, kind=kind, created_at=now, due_at=now, about=assignment.assignment_id)

    def _move(
        self,
        member: CourseMember,
        before: Assignment,
        status: AssignmentStatus,
        action: str,
        *writes: Write[Any],
    ) -> Assignment:
        def attempt() -> Assignment:
            current = self._repository.assignment(before.assignment_id)
            if current.status != before.status:
                raise Conflict("STATUS_CONFLICT", f"It is {current.status} by now. Reload the page.")
            moment = self._repository.later_than(current.updated_at)
            after = current.model_copy(update={"status": status, "updated_at": moment})
            write = d.assignments.move(current, after, by="staff")
            self._write(member, action, write, current, after, *writes, *self._acceptance.moved(after))
            return write.item or after

        return self._repository.retried(None, attempt)

    def _write(
        self,
        member: CourseMember,
        action: str,
        write: Write[Any],
        before: Any,
        after: Any,
        *writes: Write[Any],
        about: str | None = None,
    ) -> None:
        subject = about or after.assignment_id
        entry = self._repository.audit(f"assignment:{subject}", action, member.actor, before, after)
        with self._repository.translated("ASSIGNMENT"):
            try:
                self._repository.db.write(write, *writes, entry)
            except Stale:
                raise Changed() from None

    def _refuse_mistakes(
        self, assignment: Assignment, member: CourseMember, before: Assignment | None = None
    ) -> None:
        refuse(self.mistakes(assignment, member, before))

    def _missing(
        self, assignment: Assignment, member: CourseMember, attached: Sequence[str]
    ) -> list[Mistake]:
        """What the assignment names and does not exist."""
        found = []
        course_id, db = assignment.course_id, self._repository.db
        set_id, rubric_id = assignment.group_set_id, assignment.rubric_id
        if set_id is not None and (
            not is_uuid(set_id) or db.one(d.group_sets.get(course_id, set_id)) is None
        ):
            found.append(Mistake("GROUP_SET_NOT_FOUND", "groupSetId", "This course has no such group set."))
        if rubric_id is not None and (
            not is_uuid(rubric_id) or db.one(d.rubrics.get(course_id, rubric_id)) is None
        ):
            found.append(Mistake("RUBRIC_NOT_FOUND", "rubricId", "This course has no such rubric."))
        new = [file_id for file_id in assignment.attachments if file_id not in attached]
        if not all(self._is_attachable(file_id, member) for file_id in new):
            found.append(Mistake("FILE_NOT_FOUND", "attachments", "Attach files of your own."))
        return found

    def _is_attachable(self, file_id: str, member: CourseMember) -> bool:
        """Of another's file a course would get what its owner has not shared with it."""
        file = self._attached(file_id)
        return file is not None and file.user_id == member.user.user_id

    def _attached(self, file_id: str) -> File | None:
        """A file as it is, unless it was deleted or has a virus."""
        try:
            file = self._repository.file(file_id)
        except NotFound:
            return None
        return file if file.status == "active" and file.upload_state == "complete" else None

    def attachments(self, assignment: Assignment) -> list[File]:
        """The attached files that are still there."""
        found = map(self._attached, assignment.attachments)
        return [file for file in found if file is not None]

    def attachment(self, assignment: Assignment, file_id: str, *, is_early: bool = False) -> File:
        """An attached file, for everyone in the course; for students once the assignment is available."""
        file = self._attached(file_id) if file_id in assignment.attachments and not is_early else None
        if file is None:
            raise NotFound("file")
        return file

    def _refuse_audience(self, assignment: Assignment, course: Course, audience: Audience, id: str) -> None:
        if audience == "section":
            exists = id in course.sections
        elif audience == "team":
            set_id = assignment.group_set_id
            exists = set_id is not None and is_uuid(id)
            exists = (
                exists and self._repository.db.one(d.teams.get(course.course_id, str(set_id), id)) is not None
            )
        else:
            exists = self._repository.enrolment(id, course.course_id) is not None
        if not exists:
            raise BadRequest(
                "AUDIENCE_NOT_FOUND", f"There is no such {audience} in this course.", "audienceId"
            )
