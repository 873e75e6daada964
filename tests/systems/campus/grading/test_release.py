"""Release, disclosure, regrade requests and comments: who sees what, from when on, and for how long."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.systems.campus.grading.classroom import Classroom
from tests.systems.campus.talk import Api, Place, refuses
from tests.systems.talk import given, refused

from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Part, Submission
from tablewright.systems.campus.courses.assignment_rules import mistakes_in
from tablewright.systems.campus.grading.comments import CommentPosition as On
from tablewright.systems.campus.grading.disclosure import for_staff, for_student
from tablewright.systems.campus.grading.release import visible

D = Decimal


def published(room: Classroom, name: str = "lin", **more: Any) -> Submission:
    """A grade that its student sees."""
    if name not in room.users:
        room.enrol(name)
    assignment = room.assignment(**more)
    graded = room.mark(room.submission(assignment, name), "80", feedback="Well done.")
    return room.at.campus.marks.return_to_student(assignment, graded, room.actor("tessa"))


# --- release ---


def test_a_grade_is_visible_when_it_is_returned_or_its_assignment_released(room: Classroom) -> None:
    room.enrol("lin")
    now = room.now()
    assignment = room.assignment()
    row = room.submission(assignment, "lin")
    late = assignment.model_copy(update={"released_at": now + timedelta(seconds=1)})
    released = assignment.model_copy(update={"released_at": now})
    for status, seen in (
        ("submitted", (False, False, False)),
        ("graded", (False, False, True)),
        ("returned", (True, True, True)),
    ):
        found = row.model_copy(update={"status": status, "graded_at": now})
        assert tuple(visible(each, found, now) for each in (assignment, late, released)) == seen, status


def test_a_single_grade_is_released_by_an_instructor_and_not_by_a_teaching_assistant(
    api: Api, room: Classroom
) -> None:
    room.enrol("lin")
    row = room.mark(room.submission(room.assignment(), "lin"), "80")
    path = f"/submissions/{row.submission_id}:return"
    assert refused(api.post(path, by=room.users["tessa"])) == (403, "INSTRUCTOR_ONLY")
    assert (room.again(row).status, room.notices("lin")) == ("graded", [])
    assert given(api.post(path, by=room.users["brandt"]))["status"] == "returned"


def test_a_single_grade_of_an_anonymous_assignment_is_not_released_before_all_are(
    at: Place, api: Api, room: Classroom
) -> None:
    room.enrol("lin")
    soon = room.now() + timedelta(hours=1)
    assignment = room.assignment(anonymous=True, released_at=soon)
    row = room.mark(room.submission(assignment, "lin"), "80")
    path, brandt = f"/submissions/{row.submission_id}:return", room.users["brandt"]
    assert refused(api.post(path, by=brandt)) == (422, "ANONYMOUS")
    assert room.again(row).status == "graded"
    at.later(hours=2)
    assert given(api.post(path, by=brandt))["status"] == "returned"


def test_a_single_grade_is_not_released_if_the_assignment_was_made_anonymous_since_it_was_read(
    at: Place, room: Classroom
) -> None:
    room.enrol("lin")
    read = room.assignment()
    row = room.mark(room.submission(read, "lin"), "80")
    at.db.write(d.assignments.change(read, read.model_copy(update={"anonymous": True})))
    with refuses("VERSION_CONFLICT"):
        at.campus.marks.return_to_student(read, row, room.actor("brandt"))
    assert room.again(row).status == "graded"


def test_a_moment_can_be_moved_and_taken_back_until_it_has_come(at: Place, room: Classroom) -> None:
    release, brandt = at.campus.release, room.actor("brandt")
    room.enrol("lin")
    assignment = room.assignment()
    graded = room.mark(room.submission(assignment, "lin"), "80")
    soon = release.release(assignment, brandt, room.now() + timedelta(hours=1))
    later = release.release(soon, brandt, room.now() + timedelta(hours=3))
    at.later(hours=2)
    room.run_tasks()
    assert room.again(graded).status == "graded"
    held = release.hold(later, brandt)
    at.later(hours=2)
    room.run_tasks()
    assert (held.released_at, room.again(graded).status, room.notices("lin")) == (None, "graded", [])
    release.release(held, brandt)
    room.run_tasks()
    assert room.again(graded).status == "returned"
    with refuses("RELEASED"):
        release.hold(at.campus.repository.assignment(assignment.assignment_id), brandt)


# --- disclosure ---


def test_a_student_sees_nothing_of_the_marking_before_the_release(room: Classroom) -> None:
    room.enrol("lin")
    assignment = room.assignment()
    graded = room.mark(room.submission(assignment, "lin"), "80", feedback="Well done.")
    seen = for_student(assignment, graded, room.users["lin"].user_id, room.now())
    shown = seen.model_dump(exclude_none=True)
    assert not {"grade", "score", "feedback", "graded_by", "graded_by_name", "graded_at"} & shown.keys()
    assert (seen.status, seen.marking_state) == ("submitted", "not marked")


def test_markers_of_an_anonymous_assignment_see_no_names_until_the_release(api: Api, room: Classroom) -> None:
    room.enrol("lin")
    assignment = room.assignment(anonymous=True)
    row = room.submission(assignment, "lin")
    tessa = room.users["tessa"]
    graded = room.mark(row, "80")
    answers = [
        api.get(f"/submissions/{row.submission_id}/grade", by=tessa),
        api.get(f"/submissions/{row.submission_id}", by=tessa),
        api.get(f"/assignments/{assignment.assignment_id}/submissions", by=tessa),
        api.get(f"/assignments/{assignment.assignment_id}/worksheet.csv", by=tessa),
    ]
    for answer in answers:
        assert answer.status_code == 200, answer.text
        for name in ("Lin", "lin@campus.example", "S-lin", room.users["lin"].user_id):
            assert name not in answer.text, (str(answer.url), name)
    assert refused(api.get(f"/submissions/{row.submission_id}/history", by=tessa)) == (422, "ANONYMOUS")
    # With the names beside it the gradebook has no grade of it.
    book = given(api.get(f"/courses/{room.course_id}/gradebook", by=tessa))
    assert book["students"][0]["results"][0]["state"] == "submitted"
    assert "submissionId" not in book["students"][0]["results"][0]
    after = assignment.model_copy(update={"released_at": room.now()})
    assert for_staff(after, graded, room.now(), room.at.campus.pseudonyms).student_name == "Lin"


def test_a_grade_for_each_member_cannot_be_given_anonymously(room: Classroom) -> None:
    found = room.assignment(anonymous=True, grade_each=True, group_set_id=room.at.world.new_id())
    assert [each.field for each in mistakes_in(found, room.course())] == ["anonymous"]


def test_names_of_files_are_plain_in_anonymous_marking(at: Place, api: Api, room: Classroom) -> None:
    lin = room.enrol("lin")
    assignment = room.assignment(anonymous=True)
    file = at.campus.uploads.store_whole(lin, "lin-zhao.txt", [b"essay"], 5)
    part = Part(
        part_id=at.world.new_id(), kind="file", file_id=file.file_id, filename=file.filename, file_size=5,
        content_type="text/plain", object_name=file.object_name, added_by=lin.user_id, added_at=room.now(),
    )  # fmt: skip
    row = room.submission(assignment, "lin", parts=[part], filename=file.filename)
    room.run_tasks()  # the scan
    tessa = room.users["tessa"]
    for url in (
        f"/submissions/{row.submission_id}",
        f"/submissions/{row.submission_id}/parts/{part.part_id}/content",
        f"/assignments/{assignment.assignment_id}/worksheet",
    ):
        answer = api.get(url, by=tessa)
        assert answer.status_code == 200, answer.text
        assert "file-1.txt" in f"{answer.headers} {answer.content!r}"
        assert "zhao" not in f"{answer.headers} {answer.content!r}"


def test_a_member_of_a_team_sees_the_own_grade_only(room: Classroom) -> None:
    room.enrol("lin")
    room.enrol("omar")
    lin, omar = (room.users[name].user_id for name in ("lin", "omar"))
    assignment = room.assignment(grade_each=True, released_at=room.now())
    graded = room.mark(
        room.submission(assignment, "lin", members=("lin", "omar")), None, scores={lin: D(80), omar: D(60)}
    )
    seen = for_student(assignment, graded, omar, room.now())
    assert (seen.grade, seen.grades, seen.scores) == (D(60), {}, {})


# --- regrades ---


def test_a_regrade_is_asked_answered_asked_again_and_closed(api: Api, room: Classroom) -> None:
    row = published(room)
    path, lin, tessa = f"/submissions/{row.submission_id}/regrades", room.users["lin"], room.users["tessa"]
    thread = given(api.post(path, {"text": "Question 2 is right."}, by=lin), 201)
    assert thread["status"] == "open"
    assert refused(api.post(path, {"text": "Again."}, by=lin)) == (409, "REGRADE_EXISTS")
    queue = given(api.get(f"/courses/{room.course_id}/regrades", by=tessa))["items"]
    assert [each["regradeId"] for each in queue] == [thread["regradeId"]]
    assert [each.kind for each in room.notices("tessa")] == ["regrade"]
    own = f"{path}/{thread['regradeId']}"
    assert given(api.post(f"{own}/posts", {"text": "It is not."}, by=tessa), 201)["status"] == "answered"
    assert room.notices("lin")[0].kind == "regrade"
    assert given(api.post(f"{own}/posts", {"text": "See page 3."}, by=lin), 201)["status"] == "open"
    assert given(api.post(f"{own}:close", by=tessa))["status"] == "closed"
    assert refused(api.post(f"{own}/posts", {"text": "But."}, by=lin)) == (409, "REGRADE_CLOSED")
    assert [each["text"] for each in given(api.get(path, by=lin))["items"][0]["posts"]][-1] == "See page 3."


def test_the_window_of_regrades_begins_with_the_grade_and_ends_to_the_second(
    at: Place, room: Classroom
) -> None:
    row = published(room, regrade_days=7)
    assignment = at.campus.repository.assignment(row.assignment_id)
    at.later(days=7, seconds=1)
    with refuses("WINDOW_CLOSED"):
        at.campus.regrades.request(assignment, row, "Please.", room.actor("lin"))
    at.later(seconds=-1)
    at.campus.regrades.request(assignment, row, "Please.", room.actor("lin"))


def test_a_grade_that_is_not_visible_cannot_be_asked_about(api: Api, room: Classroom) -> None:
    room.enrol("lin")
    row = room.mark(room.submission(room.assignment(), "lin"), "80")
    answer = api.post(f"/submissions/{row.submission_id}/regrades", {"text": "Why?"}, by=room.users["lin"])
    assert refused(answer) == (409, "NOT_GRADED")


def test_graders_are_hidden_in_answers_to_a_student(api: Api, room: Classroom) -> None:
    row = published(room, hidden_graders=True)
    lin, tessa = room.users["lin"], room.users["tessa"]
    part = row.parts[0].part_id
    given(
        api.post(
            f"/submissions/{row.submission_id}/comments", {"partId": part, "line": 2, "text": "?"}, by=tessa
        ),
        201,
    )
    path = f"/submissions/{row.submission_id}/regrades"
    thread = given(api.post(path, {"text": "Why?"}, by=lin), 201)
    given(api.post(f"{path}/{thread['regradeId']}/posts", {"text": "Because."}, by=tessa), 201)
    for url in (
        f"/submissions/{row.submission_id}/grade",
        f"/submissions/{row.submission_id}/comments",
        path,
    ):
        text = api.get(url, by=lin).text
        assert "Grader" in text
        assert room.actor("tessa").name not in text
        assert tessa.user_id not in text


# --- comments ---


def test_comments_have_a_place_and_are_seen_with_the_grade(api: Api, room: Classroom) -> None:
    room.enrol("lin")
    assignment = room.assignment()
    row = room.submission(assignment, "lin")
    path, part = f"/submissions/{row.submission_id}/comments", row.parts[0].part_id
    lin, tessa = room.users["lin"], room.users["tessa"]
    made = given(api.post(path, {"partId": part, "line": 2, "text": "Too short."}, by=tessa), 201)
    given(api.post(path, {"partId": part, "page": 1, "x": 0.25, "y": 0.5, "text": "Here."}, by=tessa), 201)
    assert given(api.get(path, by=lin))["items"] == []
    room.at.campus.marks.return_to_student(assignment, room.mark(row, "80"), room.actor("tessa"))
    assert [each["text"] for each in given(api.get(path, by=lin))["items"]] == ["Too short.", "Here."]
    own = f"{path}/{made['commentId']}"
    assert refused(api.patch(own, {"text": "Mine."}, by=room.users["brandt"])) == (403, "NOT_YOURS")
    assert given(api.patch(own, {"text": "Too long."}, by=tessa))["text"] == "Too long."
    given(api.delete(own, by=tessa), 204)
    assert refused(api.post(path, {"partId": part, "text": "I am lin."}, by=lin)) == (
        403,
        "COURSE_STAFF_ONLY",
    )


@pytest.mark.parametrize(
    "place", [On(line=0), On(page=0), On(x=D("0.5")), On(x=D(2), y=D(0)), On(x=D("NaN"), y=D(0))]
)
def test_a_place_outside_of_the_document_is_refused(at: Place, room: Classroom, place: On) -> None:
    room.enrol("lin")
    row = room.submission(room.assignment(), "lin")
    with refuses("INVALID_PLACE"):
        at.campus.comments.add(row, row.parts[0].part_id, place, "Here.", room.actor("tessa"))


def test_saved_comments_are_kept_once_for_a_course(api: Api, room: Classroom) -> None:
    path, tessa = f"/courses/{room.course_id}/saved-comments", room.users["tessa"]
    first = given(api.post(path, {"text": " Cite your source. "}, by=tessa), 201)
    assert given(api.post(path, {"text": "Cite your source."}, by=tessa), 201) == first
    assert [each["text"] for each in given(api.get(path, by=tessa))["items"]] == ["Cite your source."]
    given(api.delete(f"{path}/{first['savedCommentId']}", by=tessa), 204)
    assert given(api.get(path, by=tessa))["items"] == []
