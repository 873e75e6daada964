"""The archive of a course: two years after its semester, submissions and marks leave the tables (CC-53, CC-D24).

    archive/courses/CS101-2026-AUTUMN/{archiveId}   lines of JSON: {"kind": "submission", "item": {...}}, and
                                                    {"kind": "bytes", ...}

A task for each course waits for its day. Must hold: nothing is dropped before its archive, with the bytes of every
file, was stored and verified, and the course says so; after a crash the task continues where that leaves it. Of two
workers at one course (the lease of the first ran out) each writes an archive of its own, and the course has the first
that was complete: the slower one, which no longer finds what was dropped, replaces nothing.
"""

import base64
from collections.abc import Iterator

import orjson
from pydantic import BaseModel

from tablewright.kit.objects.archive import Archive
from tablewright.kit.tasks import Finished, Postponed
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, Course, Submission
from tablewright.systems.campus.courses.acceptance import Acceptance
from tablewright.systems.campus.courses.retention import archive_day
from tablewright.systems.campus.design import A_YEAR
from tablewright.systems.campus.files.library import Library
from tablewright.systems.campus.grading.feedback_files import FeedbackFiles
from tablewright.systems.campus.model import Task
from tablewright.systems.campus.repository import SYSTEM, Repository


def archive_name(course: Course) -> str:
    """The archive of a course that was archived; those from before there were ids have none in their name."""
    folder = _folder(course)
    return folder if course.archive_id is None else f"{folder}/{course.archive_id}"


def _folder(course: Course) -> str:
    return f"courses/{course.course_id}"


class CourseArchive:
    """Archives courses."""

    def __init__(
        self, repository: Repository, library: Library, feedback: FeedbackFiles, archive: Archive, years: int
    ) -> None:
        """An archive is kept for so many years."""
        self._repository, self._library, self._archive = repository, library, archive
        self._feedback = feedback
        self._years, self._acceptance = years, Acceptance(repository)

    def run(self, task: Task) -> Finished | Postponed:
        """Handles the task `archive`: store, verify, drop the hot copy; years later, the archive."""
        course = self._repository.db.one(d.courses.get(task.about), consistent=True)
        if course is None:
            return Finished()
        if self._repository.now() < archive_day(course):
            return Postponed(archive_day(course), "the semester was moved")
        if course.archived_at is None:
            course = self._stored(course)
        for assignment in self._assignments(course):
            for submission in self._submissions(assignment):
                self._drop(submission)
            self._repository.write("ASSIGNMENT", *self._acceptance.removed(assignment.assignment_id))
        return self._kept(course)

    def _kept(self, course: Course) -> Finished | Postponed:
        """The archive itself goes when its time is over."""
        assert course.archived_at is not None
        end = course.archived_at + self._years * A_YEAR
        if self._repository.now() < end:
            return Postponed(end, "the archive is kept")
        self._archive.remove(archive_name(course))
        self._archive.remove_below(_folder(course))  # and what workers that were killed have left
        return Finished((self._repository.audit(f"course:{course.course_id}", "archive removed", SYSTEM),))

    def _stored(self, course: Course) -> Course:
        after = course.model_copy(update={"archive_id": self._repository.new_uuid()})
        name = archive_name(after)
        try:
            self._archive.store(
                name, self._lines(course), {"course": course.course_id, "semester": course.semester}
            )
            self._archive.verify(name)
            after = after.model_copy(update={"archived_at": self._repository.now()})
            write = d.courses.change(course, after)
            entry = self._repository.audit(f"course:{course.course_id}", "archived", SYSTEM, course, after)
            self._repository.write("COURSE", write, entry)
        except Exception:  # damaged, or another worker was faster
            self._archive.remove(name)
            raise
        return write.item or after

    # --- what is in it ---

    def _lines(self, course: Course) -> Iterator[bytes]:
        db, course_id = self._repository.db, course.course_id
        yield _line("course", course)
        for entity in (
            db.all(d.enrolments_of_course(course_id=course_id)),
            db.all(d.rubrics_of_course(course_id=course_id)),
            db.all(d.group_sets_of_course(course_id=course_id)),
        ):
            yield from (_line(type(each).__name__.lower(), each) for each in entity)
        for assignment in self._assignments(course):
            yield _line("assignment", assignment)
            for override in self._repository.overrides_of(assignment.assignment_id):
                yield _line("override", override)
            for submission in self._submissions(assignment):
                yield from self._lines_of(submission)

    def _lines_of(self, submission: Submission) -> Iterator[bytes]:
        db, id = self._repository.db, submission.submission_id
        yield _line("submission", submission)
        yield from (_line("mark", each) for each in db.all(d.marks_of_submission(submission_id=id)))
        yield from (_line("comment", each) for each in db.all(d.comments_of_submission(submission_id=id)))
        yield from (_line("regrade", each) for each in db.all(d.regrades_of_submission(submission_id=id)))
        for part in submission.parts:
            if part.object_name is not None:
                yield from self._bytes({"partId": part.part_id}, part.object_name)
        for pin in self._feedback.of_submission(submission):
            yield from self._bytes(
                {"feedbackFileId": pin.file_id, "versionId": pin.version_id}, pin.object_name
            )

    def _bytes(self, of: dict[str, str], object_name: str) -> Iterator[bytes]:
        with self._library.open_object(object_name) as stream:
            for number, chunk in enumerate(stream):
                data = base64.b64encode(chunk).decode()
                yield orjson.dumps({"kind": "bytes", **of, "number": number, "data": data})

    # --- dropping ---

    def _drop(self, submission: Submission) -> None:
        """What belongs to a submission first, the row last: after a crash the row leads here again."""
        repository, id = self._repository, submission.submission_id
        key = submission.assignment_id, submission.owner_id
        self._feedback.release(id, {pin.file_id for pin in self._feedback.of_submission(submission)})
        for mark in repository.db.all(d.marks_of_submission(submission_id=id)):
            repository.try_write(d.marks.delete(mark))
        for comment in repository.db.all(d.comments_of_submission(submission_id=id)):
            repository.try_write(d.comments.delete(comment))
        for regrade in repository.db.all(d.regrades_of_submission(submission_id=id)):
            repository.try_write(d.regrades.delete(regrade))
        for file_id in dict.fromkeys(part.file_id for part in submission.parts if part.file_id is not None):
            file = repository.file(file_id)
            if id in file.held_by:
                repository.write("FILE", self._library.unhold(file, id))
        members = [each for each in submission.member_ids if each != submission.student_id]
        repository.write(
            "SUBMISSION",
            d.submissions.delete(submission),
            d.attempts.discard(*key),
            d.drafts.discard(*key),
            *(d.member_entries.discard(*key, submission.submission_number, each) for each in members),
        )

    def _assignments(self, course: Course) -> Iterator[Assignment]:
        return self._repository.db.all(d.assignments_of_course(course_id=course.course_id))

    def _submissions(self, assignment: Assignment) -> Iterator[Submission]:
        query = d.submissions_of_assignment(assignment_id=assignment.assignment_id)
        return iter(list(self._repository.db.all(query)))


def _line(kind: str, item: BaseModel) -> bytes:
    return orjson.dumps({"kind": kind, "item": item.model_dump(mode="json", by_alias=True)})
