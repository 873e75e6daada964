"""Marks: drafts, publishing, bounds, lateness, teams, second marking, and what is kept."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from tests.systems.campus.grading.classroom import Classroom, levels
from tests.systems.campus.talk import Api, Place, refuses

from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import LatePenalty
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.grading.mark_entries import MarkEntry
from tablewright.systems.campus.grading.marks import AGREED

D = Decimal


def test_a_draft_is_seen_by_no_student_and_changes_only_the_state(room: Classroom) -> None:
    room.enrol("lin")
    submission = room.submission(room.assignment(), "lin")
    saved = room.mark(submission, "80", publish=False)
    assert (saved.status, saved.marking_state, saved.grade) == ("submitted", "in marking", None)
    assert room.notices("lin") == []


def test_publishing_writes_the_grade_and_who_gave_it(room: Classroom) -> None:
    room.enrol("lin")
    submission = room.submission(room.assignment(), "lin")
    saved = room.mark(submission, "80", feedback=" Well done. ")
    assert room.again(submission) == saved
    assert (saved.status, saved.marking_state) == ("graded", "in review")
    assert (saved.grade, saved.max_grade, saved.feedback) == (D(80), D(100), "Well done.")
    assert (saved.graded_by, saved.graded_by_name, saved.graded_at) == (
        room.users["tessa"].user_id,
        room.actor("tessa").name,
        room.now(),
    )
    assert room.notices("lin") == []
    assert room.actions(submission) == ["grade published"]


def test_returning_tells_the_student_once(room: Classroom) -> None:
    room.enrol("lin")
    assignment = room.assignment()
    submission = room.submission(assignment, "lin")
    marks = room.at.campus.marks
    with refuses("NOT_GRADED"):
        marks.return_to_student(assignment, submission, room.actor("tessa"))
    graded = room.mark(submission, "80")
    returned = marks.return_to_student(assignment, graded, room.actor("tessa"))
    assert (returned.status, returned.marking_state, returned.returned_at) == (
        "returned",
        "released",
        room.now(),
    )
    assert marks.return_to_student(assignment, returned, room.actor("tessa")) == returned
    assert [notice.text for notice in room.notices("lin")] == ["Your grade for “Essay” is available."]


def test_a_grade_that_was_returned_stays_visible_when_it_is_changed(room: Classroom) -> None:
    room.enrol("lin")
    assignment = room.assignment()
    graded = room.mark(room.submission(assignment, "lin"), "80")
    room.at.campus.marks.return_to_student(assignment, graded, room.actor("tessa"))
    again = room.mark(graded, "85", by="brandt")
    assert (again.status, again.grade) == ("returned", D(85))
    assert len(room.notices("lin")) == 2
    published = [mark.marker_name for mark in room.at.campus.marks.of(graded.submission_id) if mark.published]
    assert published == [room.actor("brandt").name]


@pytest.mark.parametrize("score", ["-1", "100.5"])
def test_a_grade_out_of_its_bounds_changes_nothing(room: Classroom, score: str) -> None:
    room.enrol("lin")
    submission = room.submission(room.assignment(), "lin")
    with refuses("GRADE_OUT_OF_RANGE"):
        room.mark(submission, score)
    assert room.again(submission) == submission
    assert room.at.campus.marks.of(submission.submission_id) == []


def test_extra_credit_may_exceed_the_points(room: Classroom) -> None:
    room.enrol("lin")
    submission = room.submission(room.assignment(extra_credit=True), "lin")
    assert room.mark(submission, "110").grade == D(110)


def test_a_late_submission_loses_its_penalty_and_keeps_its_score(room: Classroom) -> None:
    room.enrol("lin")
    penalty = LatePenalty(percent=D(10), unit="day", floor=D(50))
    assignment = room.assignment(
        late_policy="penalise", late_penalty=penalty, due_date=room.now() - timedelta(hours=30)
    )
    graded = room.mark(room.submission(assignment, "lin", is_late=True), "90")
    assert (graded.score, graded.penalty_percent, graded.grade) == (D(90), D(20), D(72))


def test_a_withdrawn_submission_cannot_be_graded(room: Classroom) -> None:
    room.enrol("lin")
    submission = room.submission(room.assignment(), "lin", withdrawn_at=room.now())
    with refuses("WITHDRAWN"):
        room.mark(submission, "50")


def test_a_grade_needs_a_score(room: Classroom) -> None:
    room.enrol("lin")
    submission = room.submission(room.assignment(), "lin")
    with refuses("GRADE_MISSING"):
        room.mark(submission, None, feedback="Nice.")


# --- teams ---


def test_a_team_gets_one_grade_or_one_each(room: Classroom) -> None:
    room.enrol("lin")
    room.enrol("omar")
    one = room.submission(room.assignment("One"), "lin", members=("lin", "omar"))
    each = room.submission(room.assignment("Each", grade_each=True), "lin", members=("lin", "omar"))
    lin, omar = (room.users[name].user_id for name in ("lin", "omar"))
    assert room.mark(one, "70").grade == D(70)
    with refuses("ONE_GRADE"):
        room.mark(one, None, scores={lin: D(10)})
    graded = room.mark(each, None, scores={lin: D(80), omar: D(60)})
    assert graded.grades == {lin: D(80), omar: D(60)}
    with refuses("UNKNOWN_MEMBER"):
        room.mark(each, None, scores={room.users["tessa"].user_id: D(1)})


def test_every_member_of_a_team_is_told(room: Classroom) -> None:
    room.enrol("lin")
    room.enrol("omar")
    assignment = room.assignment()
    graded = room.mark(room.submission(assignment, "lin", members=("lin", "omar")), "70")
    room.at.campus.marks.return_to_student(assignment, graded, room.actor("tessa"))
    assert len(room.notices("lin")) == len(room.notices("omar")) == 1


# --- rubrics ---


def test_a_rubric_gives_the_score(room: Classroom) -> None:
    room.enrol("lin")
    rubric = room.rubric(("0", "3", "5"), ("0", "10"))
    submission = room.submission(room.assignment(points=D(15), rubric_id=rubric.rubric_id), "lin")
    graded = room.mark(submission, None, criteria=levels(rubric, 1, 1), adjustment=D("-0.5"))
    assert graded.grade == D("12.5")


@pytest.mark.parametrize("adjustment", ["NaN", "1e400", "-10001"])
def test_an_adjustment_is_a_number_of_points(room: Classroom, adjustment: str) -> None:
    room.enrol("lin")
    rubric = room.rubric(("0", "3"))
    submission = room.submission(room.assignment(rubric_id=rubric.rubric_id), "lin")
    with refuses("GRADE_OUT_OF_RANGE"):
        room.mark(submission, None, criteria=levels(rubric, 1), adjustment=D(adjustment))


def test_a_file_of_another_user_cannot_be_attached(at: Place, room: Classroom) -> None:
    lin = room.enrol("lin")
    submission = room.submission(room.assignment(), "lin")
    own = at.campus.uploads.store_whole(lin, "secret.txt", [b"secret"], 6)
    with refuses("UNKNOWN_FILE"):
        room.mark(submission, "80", feedback_file_id=own.file_id)
    assert room.at.campus.marks.of(submission.submission_id) == []


def test_an_unknown_level_is_refused(room: Classroom) -> None:
    room.enrol("lin")
    rubric, other = room.rubric(("0", "3")), room.rubric(("0", "3"), title="Another")
    submission = room.submission(room.assignment(rubric_id=rubric.rubric_id), "lin")
    with refuses("UNKNOWN_CRITERION"):
        room.mark(submission, None, criteria=levels(other, 1))


# --- second marking ---


def test_two_markers_do_not_disturb_each_other_and_agree_on_a_third_mark(room: Classroom) -> None:
    room.enrol("lin")
    assignment = room.assignment(second_marking=True)
    submission = room.submission(assignment, "lin")
    marks = room.at.campus.marks
    # Both opened it before the other saved.
    for name, score in (("tessa", "70"), ("brandt", "80")):
        marks.save(assignment, submission, MarkEntry(D(score)), room.actor(name), 0)
    with refuses("MARKS_MISSING"):
        marks.agree(assignment, room.again(submission), MarkEntry(D(75)), room.actor("brandt"), 3)
    for name, score in (("tessa", "70"), ("brandt", "80")):
        room.mark(submission, score, by=name)
    row = room.again(submission)
    assert (row.status, row.marking_state, row.grade) == ("submitted", "in review", None)
    agreed = marks.agree(
        assignment, row, MarkEntry(D(75), feedback="Good."), room.actor("brandt"), row.version
    )
    assert (agreed.status, agreed.grade) == ("graded", D(75))
    found = {mark.marker_id: (mark.score, mark.published) for mark in marks.of(submission.submission_id)}
    assert found == {
        room.users["tessa"].user_id: (D(70), False),
        room.users["brandt"].user_id: (D(80), False),
        AGREED: (D(75), True),
    }


def test_a_mark_after_the_agreed_grade_leaves_it_as_it_is(room: Classroom) -> None:
    room.enrol("lin")
    assignment = room.assignment(second_marking=True)
    submission = room.submission(assignment, "lin")
    for name, score in (("tessa", "70"), ("brandt", "80")):
        room.mark(submission, score, by=name)
    row = room.again(submission)
    marks = room.at.campus.marks
    agreed = marks.agree(assignment, row, MarkEntry(D(75)), room.actor("brandt"), row.version)
    marks.return_to_student(assignment, agreed, room.actor("brandt"))
    after = room.mark(submission, "10", publish=False)
    assert (after.status, after.marking_state, after.grade) == ("returned", "released", D(75))


def test_a_second_marker_sees_the_first_mark_after_finishing_the_own(room: Classroom) -> None:
    room.enrol("lin")
    assignment = room.assignment(second_marking=True)
    submission = room.submission(assignment, "lin")
    room.mark(submission, "70")
    marks = room.at.campus.marks
    assert marks.seen_by(assignment, room.again(submission), room.actor("brandt")) == []
    room.mark(submission, "80", by="brandt")
    assert len(marks.seen_by(assignment, room.again(submission), room.actor("brandt"))) == 2


def test_an_own_mark_that_was_saved_elsewhere_is_not_overwritten(room: Classroom) -> None:
    room.enrol("lin")
    assignment = room.assignment(second_marking=True)
    submission = room.submission(assignment, "lin")
    room.mark(submission, "70", publish=False)
    with pytest.raises(Changed):
        room.at.campus.marks.save(assignment, submission, MarkEntry(D(10)), room.actor("tessa"), 0)
    assert room.actions(submission) == ["mark saved", "mark refused"]


# --- at the same moment ---


def test_a_rubric_that_changes_while_a_mark_is_saved_gives_its_new_points(at: Place, room: Classroom) -> None:
    room.enrol("lin")
    rubric = room.rubric(("0", "5"))
    assignment = room.assignment(rubric_id=rubric.rubric_id)
    submission = room.submission(assignment, "lin")
    changed = [
        rubric.criteria[0].model_copy(
            update={
                "levels": [
                    each.model_copy(update={"points": each.points * 2}) for each in rubric.criteria[0].levels
                ]
            }
        )
    ]
    campus, original = at.campus, at.campus.repository.write

    def meddle(noun: str, *writes: object, **more: object) -> object:
        at.campus.repository.write = original  # type: ignore[method-assign]  # once
        campus.rubrics.change(rubric, rubric.title, changed, room.actor("brandt"), rubric.version)
        return original(noun, *writes, **more)  # type: ignore[arg-type]  # as given

    at.campus.repository.write = meddle  # type: ignore[method-assign]  # someone acts in between
    assert room.mark(submission, None, criteria=levels(rubric, 1)).score == D(10)


def test_a_grade_published_at_the_moment_of_the_release_is_visible_with_its_notice(
    at: Place, room: Classroom
) -> None:
    room.enrol("lin")
    assignment = room.assignment()
    submission = room.submission(assignment, "lin")
    original = at.campus.repository.write

    def meddle(noun: str, *writes: object, **more: object) -> object:
        at.campus.repository.write = original  # type: ignore[method-assign]  # once
        at.campus.release.release(assignment, room.actor("brandt"))
        room.run_tasks()
        return original(noun, *writes, **more)  # type: ignore[arg-type]  # as given

    at.campus.repository.write = meddle  # type: ignore[method-assign]  # someone acts in between
    assert room.mark(submission, "80").status == "returned"
    assert len(room.notices("lin")) == 1
    assert list(at.db.all(d.grading_queue(course_id=room.course_id))) == []


@pytest.mark.parametrize("number", ["1e-300", f"1.{'0' * 59}1", "12.345", "1e30"])
@pytest.mark.parametrize("field", ["score", "adjustment", "scores", "criteria"])
def test_numbers_with_more_digits_than_points_have_are_refused(
    api: Api, room: Classroom, number: str, field: str
) -> None:
    user = room.enrol("lin")
    rubric = room.rubric(("0", "10"))
    assignment = room.assignment(rubric_id=rubric.rubric_id)
    row = room.submission(assignment, "lin")
    value: object = number
    if field == "scores":
        value = {user.user_id: number}
    if field == "criteria":
        value = {rubric.criteria[0].criterion_id: {"points": number}}
    body = {"version": row.version, field: value}
    answer = api.put(f"/submissions/{row.submission_id}/grade", body, by=room.users["tessa"])
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.json()["field"].startswith(field)
    assert room.again(row) == row
