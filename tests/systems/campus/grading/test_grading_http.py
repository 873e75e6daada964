"""Grading over HTTP: worksheets that were uploaded before, feedback files, agreed grades, and how many comments."""

from __future__ import annotations

from typing import Any

from tests.systems.campus.files.helpers import EICAR
from tests.systems.campus.grading.classroom import Classroom
from tests.systems.campus.grading.test_worksheet import as_csv, as_zip, sheet, work
from tests.systems.campus.talk import Api, Place
from tests.systems.talk import given, refused

from tablewright.systems.campus.course_model import Assignment, Submission

# --- worksheets that were uploaded before ---


def graded_zip(api: Api, room: Classroom, assignment: Assignment) -> bytes:
    table = sheet(api, room, assignment)
    for each in table:
        each["Score"] = "64"
    return as_zip({"worksheet.csv": as_csv(table)})


def test_an_uploaded_worksheet_is_applied_once(at: Place, api: Api, room: Classroom) -> None:
    assignment, rows = work(at, room)
    tessa, content = room.users["tessa"], graded_zip(api, room, assignment)
    file = at.campus.uploads.store_whole(tessa, "marked.zip", [content], len(content))
    path = f"/assignments/{assignment.assignment_id}/worksheet:import"

    def outcomes() -> set[str]:
        answer = given(api.post(path, {"fileId": file.file_id, "publish": True}, by=tessa))
        return {each["outcome"] for each in answer["items"]}

    assert outcomes() == {"saved"}
    assert {room.again(row).grade for row in rows.values()} == {64}
    assert outcomes() == {"unchanged"}


def test_an_uploaded_worksheet_that_is_not_published_makes_drafts(
    at: Place, api: Api, room: Classroom
) -> None:
    assignment, rows = work(at, room)
    tessa, content = room.users["tessa"], graded_zip(api, room, assignment)
    file = at.campus.uploads.store_whole(tessa, "marked.zip", [content], len(content))
    path = f"/assignments/{assignment.assignment_id}/worksheet:import"
    given(api.post(path, {"fileId": file.file_id}, by=tessa))
    assert {room.again(row).grade for row in rows.values()} == {None}
    drafts = [at.campus.marks.of(row.submission_id) for row in rows.values()]
    assert [[mark.score for mark in each] for each in drafts] == [[64], [64]]


def test_an_uploaded_worksheet_must_be_the_markers_own_and_not_infected(
    at: Place, api: Api, room: Classroom
) -> None:
    assignment, rows = work(at, room)
    tessa, lin = room.users["tessa"], room.users["lin"]
    content = graded_zip(api, room, assignment)
    others = at.campus.uploads.store_whole(lin, "marked.zip", [content], len(content))
    bad = at.campus.uploads.store_whole(tessa, "marked.zip", [EICAR], len(EICAR))
    room.run_tasks()
    path = f"/assignments/{assignment.assignment_id}/worksheet:import"
    assert refused(api.post(path, {"fileId": others.file_id}, by=tessa))[0] in (403, 404)
    assert refused(api.post(path, {"fileId": bad.file_id}, by=tessa)) == (423, "QUARANTINED")
    assert refused(api.post(path, {"fileId": at.world.new_id()}, by=tessa)) == (404, "FILE_NOT_FOUND")
    assert refused(api.post(path, {"fileId": others.file_id}, by=lin))[0] in (403, 404)
    assert {room.again(row).grade for row in rows.values()} == {None}


# --- feedback files ---


def test_a_feedback_file_reaches_its_student_with_the_grade_and_after_its_scan(
    at: Place, api: Api, room: Classroom
) -> None:
    lin, omar = room.enrol("lin"), room.enrol("omar")
    tessa = room.users["tessa"]
    submission = room.submission(room.assignment(), "lin")
    path = f"/submissions/{submission.submission_id}"
    stored = given(
        api.post(f"{path}/feedback-file?filename=n%C3%B6tes.txt", by=tessa, content=b"Read page 3."), 201
    )
    assert stored["filename"] == "nötes.txt"
    version = given(api.get(f"{path}/grade", by=tessa))["version"]
    body = {"version": version, "score": 70, "feedbackFileId": stored["fileId"], "publish": True}
    given(api.put(f"{path}/grade", body, by=tessa))
    assert refused(api.get(f"{path}/feedback-file", by=lin)) == (404, "FILE_NOT_FOUND")
    given(api.post(f"{path}:return", by=room.users["brandt"]))
    assert refused(api.get(f"{path}/feedback-file", by=lin)) == (423, "SCAN_PENDING")
    room.run_tasks()
    answer = api.get(f"{path}/feedback-file", by=lin)
    assert answer.content == b"Read page 3."
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert refused(api.get(f"{path}/feedback-file", by=omar))[0] == 404


def test_a_feedback_file_is_stored_by_staff_and_is_not_empty(api: Api, room: Classroom) -> None:
    lin, tessa = room.enrol("lin"), room.users["tessa"]
    submission = room.submission(room.assignment(), "lin")
    path = f"/submissions/{submission.submission_id}/feedback-file"
    assert refused(api.post(f"{path}?filename=a.txt", by=tessa)) == (422, "FILE_EMPTY")
    assert refused(api.post(f"{path}?filename=..", by=tessa, content=b"x")) == (400, "INVALID_NAME")
    assert refused(api.post(path, by=tessa, content=b"x"))[0] == 422
    assert refused(api.post(f"{path}?filename=a.txt", by=lin, content=b"x"))[0] in (403, 404)
    assert refused(api.get(path, by=tessa)) == (404, "FILE_NOT_FOUND")


# --- agreed grades ---


def marked_twice(api: Api, room: Classroom) -> tuple[Submission, str]:
    submission = room.submission(room.assignment(second_marking=True), "lin")
    path = f"/submissions/{submission.submission_id}"
    for name, score in (("tessa", 70), ("brandt", 80)):
        version = given(api.get(f"{path}/grade", by=room.users[name]))["version"]
        body = {"version": version, "score": score, "publish": True}
        given(api.put(f"{path}/grade", body, by=room.users[name]))
    return submission, path


def test_the_grade_that_two_markers_agree_on_is_published_once(api: Api, room: Classroom) -> None:
    room.enrol("lin")
    brandt = room.users["brandt"]
    submission, path = marked_twice(api, room)
    body: dict[str, Any] = {"version": room.again(submission).version, "score": 75, "feedback": "Good."}
    agreed = given(api.put(f"{path}/grade:agree", body, by=brandt))
    assert (agreed["status"], agreed["grade"], agreed["feedback"]) == ("graded", 75, "Good.")
    assert refused(api.put(f"{path}/grade:agree", body | {"score": 90}, by=brandt)) == (
        409,
        "VERSION_CONFLICT",
    )
    assert room.again(submission).grade == 75


def test_markers_agree_when_both_have_marked_and_on_a_grade_within_its_bounds(
    api: Api, room: Classroom
) -> None:
    lin, brandt = room.enrol("lin"), room.users["brandt"]
    unmarked = room.submission(room.assignment(second_marking=True), "lin")
    at = f"/submissions/{unmarked.submission_id}/grade:agree"
    assert refused(api.put(at, {"version": unmarked.version, "score": 75}, by=brandt)) == (
        409,
        "MARKS_MISSING",
    )
    submission, path = marked_twice(api, room)
    version = room.again(submission).version
    assert refused(api.put(f"{path}/grade:agree", {"score": 75}, by=brandt))[0] in (400, 422, 428)
    high = api.put(f"{path}/grade:agree", {"version": version, "score": 101}, by=brandt)
    assert refused(high) == (422, "GRADE_OUT_OF_RANGE")
    mine = api.put(f"{path}/grade:agree", {"version": version, "score": 100}, by=lin)
    assert refused(mine)[0] in (403, 404)
    assert room.again(submission).grade is None


# --- comments ---


def test_comments_are_limited_for_each_marker(at: Place, api: Api, room: Classroom) -> None:
    room.enrol("lin")
    submission = room.submission(room.assignment(), "lin")
    path, body = f"/submissions/{submission.submission_id}/comments", {"text": "?", "partId": "none"}
    tessa, brandt = room.users["tessa"], room.users["brandt"]
    answers = [api.post(path, body, by=tessa).status_code for _ in range(121)]
    assert (set(answers[:-1]), answers[-1]) == ({422}, 429)
    good = {"text": "Why?", "partId": submission.parts[0].part_id, "line": 2}
    assert refused(api.post(path, good, by=tessa)) == (429, "RATE_LIMIT")
    assert given(api.post(path, good, by=brandt), 201)["text"] == "Why?"
    at.later(minutes=1)
    given(api.post(path, good, by=tessa), 201)
    assert len(given(api.get(path, by=tessa))["items"]) == 2
