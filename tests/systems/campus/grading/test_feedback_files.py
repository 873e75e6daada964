"""Feedback files: the bytes that a marker chose reach the student, whatever becomes of the marker's file."""

from __future__ import annotations

import base64
import json

import pytest
from tests.systems.campus.grading.classroom import Classroom
from tests.systems.campus.talk import Api, Place, refuses

from tablewright.systems.campus import design as d
from tablewright.systems.campus.access import member_of
from tablewright.systems.campus.course_model import Attempts, Submission
from tablewright.systems.campus.courses.archive import archive_name
from tablewright.systems.campus.grading.comments import CommentPosition as Line
from tablewright.systems.campus.model import File


@pytest.fixture
def graded(room: Classroom) -> tuple[Submission, File]:
    """A grade that its student sees, with a feedback file of tessa's."""
    room.enrol("lin")
    submission = room.submission(room.assignment(), "lin")
    file = stored(room, b"Read page 3.")
    row = room.mark(submission, "70", feedback_file_id=file.file_id)
    at = room.at
    assignment = at.campus.repository.assignment(row.assignment_id)
    return at.campus.marks.return_to_student(assignment, row, room.actor("brandt")), file


def stored(room: Classroom, content: bytes, file_id: str | None = None) -> File:
    tessa, uploads = room.at.again(room.users["tessa"]), room.at.campus.uploads
    made = uploads.store_whole(tessa, "notes.txt", [content], len(content), file_id=file_id)
    room.run_tasks()
    return room.at.campus.repository.file(made.file_id)


def seen(api: Api, room: Classroom, row: Submission) -> bytes:
    content: bytes = api.get(f"/submissions/{row.submission_id}/feedback-file", by=room.users["lin"]).content
    return content


def test_a_student_reads_the_feedback_that_the_marker_has_deleted(
    api: Api, room: Classroom, graded: tuple[Submission, File]
) -> None:
    row, file = graded
    tessa, campus = room.users["tessa"], room.at.campus
    campus.library.trash(tessa, file.file_id)
    campus.purge.empty_trash(tessa)
    room.at.later(days=40)
    campus.purge.run()
    assert seen(api, room, row) == b"Read page 3."


def test_a_student_reads_the_feedback_that_was_released_and_not_a_later_version_of_the_file(
    api: Api, room: Classroom, graded: tuple[Submission, File]
) -> None:
    row, file = graded
    stored(room, b"Something else.", file.file_id)
    assert seen(api, room, row) == b"Read page 3."


def test_feedback_outlives_the_account_of_the_marker(
    at: Place, api: Api, room: Classroom, graded: tuple[Submission, File]
) -> None:
    row, _ = graded
    at.campus.privacy.erase(room.users["tessa"].user_id, at.user("kaya", "admin"))
    assert seen(api, room, row) == b"Read page 3."


def test_a_feedback_file_that_was_replaced_is_held_no_longer(room: Classroom) -> None:
    room.enrol("lin")
    submission = room.submission(room.assignment(), "lin")
    first, second = stored(room, b"first"), stored(room, b"second")
    room.mark(submission, "70", feedback_file_id=first.file_id)
    room.mark(submission, "70", feedback_file_id=second.file_id)
    repository = room.at.campus.repository
    assert repository.file(first.file_id).held_by == []
    assert repository.file(second.file_id).held_by == [submission.submission_id]


def test_a_draft_with_another_file_leaves_the_released_one_held(
    api: Api, room: Classroom, graded: tuple[Submission, File]
) -> None:
    row, file = graded
    room.mark(row, "60", publish=False, feedback_file_id=stored(room, b"later").file_id)
    assert room.at.campus.repository.file(file.file_id).held_by == [row.submission_id]
    assert seen(api, room, row) == b"Read page 3."


def test_a_save_that_is_refused_holds_no_file(room: Classroom) -> None:
    room.enrol("lin")
    submission = room.submission(room.assignment(), "lin")
    file = stored(room, b"first")
    with refuses("GRADE_OUT_OF_RANGE"):
        room.mark(submission, "1000", feedback_file_id=file.file_id)
    assert room.at.campus.repository.file(file.file_id).held_by == []


def test_a_crash_between_a_file_and_its_mark_leaves_the_file_held_for_an_hour(
    room: Classroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    room.enrol("lin")
    submission = room.submission(room.assignment(), "lin")
    lost, kept = stored(room, b"lost"), stored(room, b"kept")

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(room.at.campus.marks), "_save", killed)
        patch.setattr(type(room.at.campus.feedback_files), "release_unused", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            room.mark(submission, "70", feedback_file_id=lost.file_id)
    room.mark(submission, "70", feedback_file_id=kept.file_id)
    repository = room.at.campus.repository
    assert repository.file(lost.file_id).held_by == [submission.submission_id]
    room.at.later(hours=2)
    room.run_tasks()
    assert repository.file(lost.file_id).held_by == []
    assert repository.file(kept.file_id).held_by == [submission.submission_id]


def test_the_archive_of_a_course_has_the_bytes_of_feedback_and_lets_go_of_them(
    room: Classroom, graded: tuple[Submission, File]
) -> None:
    row, file = graded
    campus = room.at.campus
    stored(room, b"Something else.", file.file_id)
    archive = campus.archive
    name = archive_name(archive._stored(room.course()))
    lines = [json.loads(line) for line in archive._archive.lines(name)]
    kept = [each for each in lines if each.get("feedbackFileId") == file.file_id]
    assert b"".join(base64.b64decode(each["data"]) for each in kept) == b"Read page 3."
    archive._drop(campus.repository.submission(row.submission_id))
    assert campus.repository.file(file.file_id).held_by == []


def test_what_markers_wrote_about_an_attempt_goes_when_it_is_taken_back(room: Classroom) -> None:
    room.enrol("lin")
    campus, assignment = room.at.campus, room.assignment()
    submission = room.submission(assignment, "lin")
    counter = Attempts(assignment_id=assignment.assignment_id, owner_id=submission.owner_id, attempts=1)
    room.at.db.write(d.attempts.create(counter))
    file = stored(room, b"first")
    room.mark(submission, "70", publish=False, feedback_file_id=file.file_id)
    campus.comments.add(submission, submission.parts[0].part_id, Line(1), "Good.", room.actor("tessa"))
    campus.withdrawals.set_back(member_of(campus, room.users["brandt"], room.course_id), submission)
    with refuses("SUBMISSION_NOT_FOUND"):
        campus.comments.add(submission, submission.parts[0].part_id, Line(1), "Late.", room.actor("tessa"))
    room.run_tasks()
    assert campus.marks.of(submission.submission_id) == []
    assert campus.comments.of(submission.submission_id) == []
    assert campus.repository.file(file.file_id).held_by == []
