"""Copies of a user's name in records that stay when the user is erased: courses, grading, what others were told.

Submissions and grades are education records and are kept, without the name; so is what staff wrote about them.
Must hold: no row outside of the audit log has the name or the address of an erased user, in a field of its own or in a
sentence of ours. What people wrote themselves (a submission, feedback, a message of a thread) stays as they wrote it.
Elsewhere: the erasure that calls this (privacy.py).
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any, TypeVar

from pydantic import BaseModel

from tablewright.design import Entity, Get
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import (
    Assignment,
    CourseRole,
    Draft,
    Part,
    Submission,
    TeamMembership,
)
from tablewright.systems.campus.grade_model import Comment, Mark, Regrade
from tablewright.systems.campus.grading.disclosure import plain_name
from tablewright.systems.campus.grading.marks import AGREED
from tablewright.systems.campus.model import Message, Notification, User
from tablewright.systems.campus.repository import Repository

NAME = "Erased user"
E = TypeVar("E", bound=BaseModel)


class NameCopies:
    """Removes the copies of names. Each method returns how many rows it changed, and may be repeated."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    # --- what a student has in courses ---

    def in_submissions(self, user: User) -> int:
        """The user's submissions and requests, also those about work of a team."""
        db, changed = self._repository.db, 0
        for found in list(db.all(d.submissions_of_student(student_id=user.user_id))):
            key = found.assignment_id, found.owner_id, found.submission_number
            row = d.submissions.get(*key)
            nameless = _submission if isinstance(found, Submission) else _team_submission
            changed += self._changed(d.submissions, row, partial(nameless, user))
            submission = db.one(row, consistent=True)
            if submission is not None:
                changed += self._in_threads(user, submission)
        return changed

    def in_preparation(self, user: User) -> int:
        """Drafts, which go, with what the user added to those of teams; and the reasons of other dates."""
        changed, db = 0, self._repository.db
        for assignment in self._assignments(self._courses(user)):
            draft = d.drafts.get(assignment.assignment_id, user.user_id)
            if db.one(draft, consistent=True) is not None:
                db.write(d.drafts.discard(assignment.assignment_id, user.user_id))
                changed += 1
            if (team := self._team_of(assignment, user)) is not None:
                of_team = d.drafts.get(assignment.assignment_id, team.team_id)
                changed += self._changed(d.drafts, of_team, partial(_team_draft, user))
            override = d.overrides.get(assignment.assignment_id, "student", user.user_id)
            changed += self._changed(d.overrides, override, lambda it: {"reason": None})
        return changed

    # --- what staff has in courses ---

    def in_assignments(self, user: User) -> int:
        """The assignments that name the user as their instructor."""
        nameless = {"instructor_name": NAME, "instructor_email": ""}
        found = list(self._repository.db.all(d.assignments_of_instructor(instructor_id=user.user_id)))
        rows = [d.assignments.get(each.course_id, each.assignment_id) for each in found]
        return sum(self._changed(d.assignments, row, lambda it: nameless) for row in rows)

    def in_grading(self, user: User) -> int:
        """Grades, marks, comments and answers of someone who was staff of a course, or an admin."""
        db, changed = self._repository.db, 0
        for assignment in self._assignments(self._taught(user)):
            rows = d.submissions_of_assignment(assignment_id=assignment.assignment_id)
            for found in list(db.all(rows)):
                changed += self._in_marking(user, found)
        return changed

    def _in_marking(self, user: User, found: Submission) -> int:
        db, id = self._repository.db, found.submission_id
        key = found.assignment_id, found.owner_id, found.submission_number
        changed = int(self._changed(d.submissions, d.submissions.get(*key), partial(_graded, user)))
        for mark in list(db.all(d.marks_of_submission(submission_id=id))):
            changed += self._changed(d.marks, d.marks.get(id, mark.marker_id), partial(_mark, user))
        for one in list(db.all(d.comments_of_submission(submission_id=id))):
            changed += self._changed(d.comments, d.comments.get(id, one.comment_id), partial(_comment, user))
        return changed + self._in_threads(user, found)

    def _in_threads(self, user: User, submission: Submission) -> int:
        id = submission.submission_id
        threads = list(self._repository.db.all(d.regrades_of_submission(submission_id=id)))
        rows = [d.regrades.get(id, each.regrade_id) for each in threads]
        return sum(self._changed(d.regrades, row, partial(_thread, user)) for row in rows)

    # --- what others were told ---

    def in_notices(self, user: User) -> int:
        """Notices and mails to others, by a Scan: what they are about may be deleted, or another's by now."""
        db, changed = self._repository.db, 0
        for notice in db.every(d.notifications):
            text = without_name(notice.text, user)
            if notice.user_id != user.user_id and text != notice.text:
                row: Any = d.notifications.update(notice.user_id, notice.notification_id)
                changed += self._repository.try_write(row.at(_text).set(text))
        for message in db.every(d.outbox.messages):
            if message.user_id != user.user_id:
                changed += self._in_message(user, message)
        return changed

    def _in_message(self, user: User, message: Message) -> bool:
        """An invitation to the user's address is of no user, since it is older than the account: it goes."""
        if message.recipient.lower() == user.email.lower():
            return self._repository.try_write(d.outbox.discard(message))
        values = {name: without_name(text, user) for name, text in message.values.items()}
        if values == message.values:
            return False
        row: Any = d.outbox.messages.update(message.message_id)
        return self._repository.try_write(row.at(lambda it: it.values).set(values))

    # --- parts ---

    def _courses(self, user: User) -> set[str]:
        return {course_id for course_id, _ in self._roles(user)}

    def _taught(self, user: User) -> set[str]:
        if user.role == "admin":  # staff of every course
            return {course.course_id for course in self._repository.db.all(d.all_courses())}
        return {course_id for course_id, role in self._roles(user) if role != "student"}

    def _roles(self, user: User) -> set[tuple[str, CourseRole]]:
        """The courses of the user and the roles there, also those that have ended."""
        former = self._repository.db.all(d.former_enrolments_of_user(user_id=user.user_id))
        now = {(each.course_id, each.role) for each in self._repository.courses_of(user.user_id)}
        return now | {(each.course_id, each.role) for each in former}

    def _assignments(self, course_ids: Iterable[str]) -> Iterator[Assignment]:
        for course_id in sorted(course_ids):
            yield from list(self._repository.db.all(d.assignments_of_course(course_id=course_id)))

    def _team_of(self, assignment: Assignment, user: User) -> TeamMembership | None:
        if assignment.group_set_id is None:
            return None
        key = assignment.course_id, assignment.group_set_id, user.user_id
        return self._repository.db.one(d.team_memberships.get(*key), consistent=True)

    def _changed(self, entity: Entity[E, ...], row: Get[E], nameless: Callable[[E], dict[str, Any]]) -> bool:
        """Change a row as it is at this moment; False if nothing in it is to be changed."""

        def attempt() -> bool:
            before = self._repository.db.one(row, consistent=True)
            after = before.model_copy(update=nameless(before)) if before is not None else None
            if before is None or after is None or before == after:
                return False
            self._repository.write(entity.tag.upper(), entity.change(before, after))
            return True

        return self._repository.retried(None, attempt)


def without_name(text: str, user: User) -> str:
    """A sentence of ours without the user's name and address."""
    for word, instead in ((user.email, ""), (user.name, NAME)):
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", instead, text, flags=re.IGNORECASE)
    return text


def _text(notice: Notification) -> str:
    return notice.text


def _submission(user: User, row: Submission) -> dict[str, Any]:
    nameless = {"student_name": NAME, "student_email": "", "university_id": None, "comments": None}
    return {**nameless, **_team_submission(user, row)}


def _team_submission(user: User, row: Submission) -> dict[str, Any]:
    """What a member of a team has in the team's submission: parts."""
    parts = [_part(user, part, number) for number, part in enumerate(row.parts, 1)]
    files = [part.filename for part in parts if part.filename is not None]
    return {"parts": parts, "filename": files[0] if files else None}


def _team_draft(user: User, row: Draft) -> dict[str, Any]:
    return {"parts": [part for part in row.parts if part.added_by != user.user_id]}


def _part(user: User, part: Part, number: int) -> Part:
    """People call a file by their own name."""
    if part.added_by != user.user_id:
        return part
    return part.model_copy(update={"filename": plain_name(part, number)})


def _graded(user: User, row: Submission) -> dict[str, Any]:
    return {"graded_by_name": NAME, **_feedback(row)} if row.graded_by == user.user_id else {}


def _mark(user: User, row: Mark) -> dict[str, Any]:
    # The agreed mark of two markers does not say who wrote it but by the name.
    is_own = row.marker_id == user.user_id or (row.marker_id == AGREED and row.marker_name == user.name)
    return {"marker_name": NAME, **_feedback(row)} if is_own else {}


def _feedback(row: Mark | Submission) -> dict[str, Any]:
    """The marker's file keeps its bytes, without the name that the marker gave it."""
    pin = row.feedback_file
    if pin is None:
        return {}
    name = f"feedback{PurePosixPath(pin.filename).suffix[:8]}"
    return {"feedback_file": pin.model_copy(update={"filename": name})}


def _comment(user: User, row: Comment) -> dict[str, Any]:
    return {"author_name": NAME} if row.author_id == user.user_id else {}


def _thread(user: User, row: Regrade) -> dict[str, Any]:
    posts = [
        post.model_copy(update={"author_name": NAME}) if post.author_id == user.user_id else post
        for post in row.posts
    ]
    return {"posts": posts} | ({"student_name": NAME} if row.student_id == user.user_id else {})
