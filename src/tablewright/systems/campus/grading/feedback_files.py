"""Files that go with a mark: a marker's file, whose bytes are pinned when the mark is saved (CC-43).

Must hold: the students of a grade read the bytes that the marker chose, whatever the marker uploads or deletes later,
until the submission is archived, and then they are in the archive; a file that no mark has any more is not held, also
if a crash came between the file and the mark: a task that is written with the hold looks again.
Elsewhere: held files (files/library.py, files/purge.py), the archive (courses/archive.py).
"""

from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta

from tablewright.edge.errors import NotFound, Refused
from tablewright.kit.tables import Actor
from tablewright.kit.tasks import Finished
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import PinnedFile, Submission
from tablewright.systems.campus.files.library import Library
from tablewright.systems.campus.grade_model import Mark
from tablewright.systems.campus.model import File, Task
from tablewright.systems.campus.repository import Repository

CHECK, CHECKED_AFTER = "feedback", timedelta(hours=1)


class FeedbackFiles:
    """Pins the files of marks."""

    def __init__(self, repository: Repository, library: Library) -> None:
        self._repository, self._library = repository, library

    def pinned(self, submission: Submission, file_id: str | None, actor: Actor) -> PinnedFile | None:
        """The bytes for a mark: those that a mark of the submission has of this file, else those it has now.

        UNKNOWN_FILE unless it is a file of the marker.
        """
        if file_id is None:
            return None
        for mark in self._marks(submission.submission_id):
            if mark.feedback_file_id == file_id:
                return self.of_mark(mark)

        def attempt() -> PinnedFile:
            file = self._repository.file(file_id)
            if file.user_id != actor.subject or file.upload_state != "complete" or file.status != "active":
                raise Refused("UNKNOWN_FILE", "Attach one of your own files.", "feedbackFileId")
            hold = self._library.hold(file, submission.submission_id)
            self._repository.write("FILE", hold, d.tasks.add(self._checking(submission, file_id)))
            return pin_of(file)

        return self._repository.retried(None, attempt)

    def _checking(self, submission: Submission, file_id: str) -> Task:
        now, id = self._repository.now(), self._repository.new_uuid()
        about = submission.submission_id
        return Task(
            task_id=id, kind=CHECK, created_at=now, due_at=now + CHECKED_AFTER, about=about, to=file_id
        )

    def check(self, task: Task) -> Finished:
        """Handles the task `feedback`: hold the file no longer if its mark was never saved."""
        used = self.ids_of(task.about)
        with suppress(NotFound):  # it was taken back
            used.add(self._repository.submission(task.about).feedback_file_id or "")
        self.release(task.about, {task.to or ""} - used)
        return Finished()

    def of_mark(self, mark: Mark | Submission) -> PinnedFile | None:
        """The pinned bytes of a mark or a grade; of one that is older than pins, those the file has now."""
        if mark.feedback_file is not None or mark.feedback_file_id is None:
            return mark.feedback_file
        with suppress(NotFound):
            return pin_of(self._repository.file(mark.feedback_file_id))
        return None

    def of_submission(self, submission: Submission) -> list[PinnedFile]:
        """All that is pinned for a submission, each object once."""
        found = [self.of_mark(submission), *map(self.of_mark, self._marks(submission.submission_id))]
        return list({pin.object_name: pin for pin in found if pin is not None}.values())

    def ids_of(self, submission_id: str) -> set[str]:
        """The files that the marks of a submission have."""
        return {mark.feedback_file_id for mark in self._marks(submission_id) if mark.feedback_file_id}

    def release_unused(self, submission: Submission, before: Iterable[str]) -> None:
        """Hold those files no longer that no mark has any more, nor the grade."""
        used = self.ids_of(submission.submission_id) | {submission.feedback_file_id}
        self.release(submission.submission_id, set(before) - used)

    def release(self, submission_id: str, file_ids: Iterable[str]) -> None:
        """Hold files no longer for a submission."""
        for file_id in sorted(set(file_ids)):
            self._repository.retried(None, lambda id=file_id: self._release(submission_id, id))  # type: ignore[misc]  # bound now

    def _release(self, submission_id: str, file_id: str) -> None:
        with suppress(NotFound):
            file = self._repository.file(file_id)
            if submission_id in file.held_by:
                self._repository.write("FILE", self._library.unhold(file, submission_id))

    def _marks(self, submission_id: str) -> list[Mark]:
        return list(self._repository.db.all(d.marks_of_submission(submission_id=submission_id)))


def pin_of(file: File) -> PinnedFile:
    return PinnedFile(
        file_id=file.file_id,
        filename=file.filename,
        file_size=file.file_size,
        content_type=file.content_type,
        version_id=file.version_id,
        object_name=file.object_name,
        checksum=file.checksum,
    )
