"""Grades without a submission: no attempt, never late, seen after the release, and gone when real work comes in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal

import pytest
from tests.systems.campus.grading.classroom import Classroom
from tests.systems.campus.talk import Api, Place
from tests.systems.talk import given, refused

from tablewright.edge.errors import CallerError
from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Assignment, LatePenalty, Override, Submission
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.parts import NewPart
from tablewright.systems.campus.grading.mark_entries import MarkEntry

D = Decimal


def member_of(room: Classroom, name: str) -> CourseMember:
    user = room.users[name]
    enrolment = room.at.campus.repository.enrolment(user.user_id, room.course_id)
    assert enrolment is not None
    return CourseMember(user, room.course(), enrolment.role, enrolment)


def by_hand(
    room: Classroom, assignment: Assignment, name: str, score: str, *, publish: bool = True
) -> Submission:
    return room.at.campus.hand_grades.save(
        member_of(room, "tessa"), assignment, room.users[name].user_id, MarkEntry(D(score)), publish=publish
    )


def result_of(room: Classroom, name: str, *, own: bool = False) -> tuple[str, Decimal | None]:
    book, user = room.at.campus.gradebook, room.users[name]
    if own:
        enrolment = room.at.campus.repository.enrolment(user.user_id, room.course_id)
        assert enrolment is not None
        _, row = book.for_student(room.course(), enrolment)
    else:
        row = next(
            each for each in book.for_staff(room.course()).rows if each.student.user_id == user.user_id
        )
    (result,) = row.results.values()
    return result.state, result.score


def published(room: Classroom, **more: object) -> Assignment:
    """An assignment that students can submit to."""
    at, now = room.at, room.now()
    fields = {
        "title": "Oral exam", "description": "Talk.", "due_date": now + timedelta(days=1), "max_file_size": 10_000_000,
        "allowed_file_types": ["text/plain"], "points": D(20), **more,
    }  # fmt: skip
    made = at.campus.assignments.create(member_of(room, "brandt"), fields)
    return at.campus.assignments.publish(member_of(room, "brandt"), made.assignment_id)


def test_a_student_without_a_submission_is_listed_graded_and_sees_it_after_the_release(
    api: Api, room: Classroom
) -> None:
    lin, omar, tessa = room.enrol("lin"), room.enrol("omar"), room.users["tessa"]
    assignment = room.assignment(points=D(20))
    room.submission(assignment, "omar")
    path = f"/assignments/{assignment.assignment_id}/without-submission"
    assert [each["name"] for each in given(api.get(path, by=tessa))["items"]] == ["Lin"]
    assert refused(api.get(path, by=lin)) == (403, "COURSE_STAFF_ONLY")
    body = {"score": 18, "feedback": "Well explained.", "publish": True}
    row = given(api.put(f"{path}/{lin.user_id}/grade", body, by=tessa))
    assert (row["submissionNumber"], row["grade"], row["status"]) == (0, 18, "graded")
    assert given(api.get(path, by=tessa))["items"] == []
    # Not before the release, by no way.
    id = row["submissionId"]
    assert refused(api.get(f"/submissions/{id}", by=lin)) == (404, "SUBMISSION_NOT_FOUND")
    assert refused(api.get(f"/submissions/{id}/grade", by=lin)) == (404, "SUBMISSION_NOT_FOUND")
    assert given(api.get("/me/submissions", by=lin))["items"] == []
    assert result_of(room, "lin", own=True) == ("open", None)
    assert result_of(room, "lin") == ("graded", D(18))
    room.at.campus.release.release(assignment, room.actor("brandt"))
    room.run_tasks()
    assert given(api.get(f"/submissions/{id}/grade", by=lin))["grade"] == 18
    assert result_of(room, "lin", own=True) == ("graded", D(18))
    assert [each.text for each in room.notices("lin")] == ["Your grade for “Essay” is available."]
    assert refused(api.get(f"/submissions/{id}", by=omar)) == (404, "SUBMISSION_NOT_FOUND")


def test_it_is_no_attempt_and_real_work_takes_its_place(at: Place, api: Api, room: Classroom) -> None:
    lin = room.enrol("lin")
    assignment = published(room, max_submissions=1)
    by_hand(room, assignment, "lin", "0")
    assert at.campus.assignments.count(assignment.assignment_id) == 0
    mine = f"/assignments/{assignment.assignment_id}/submissions"
    assert given(api.get(mine, by=lin))["items"] == []
    assert given(api.get(mine, by=room.users["tessa"]))["items"] == []
    made = at.campus.submissions.submit(
        member_of(room, "lin"), assignment, parts=[NewPart("text", text="After all")]
    )
    assert made.submission_number == 1
    assert at.campus.assignments.count(assignment.assignment_id) == 1
    assert [row.submission_id for row in at.campus.worksheets.newest(assignment)] == [made.submission_id]
    assert result_of(room, "lin") == ("graded", D(0)), "until the new work is marked"
    room.mark(made, "15")
    assert result_of(room, "lin") == ("graded", D(15))


def test_a_student_who_has_submitted_is_not_graded_beside_it(api: Api, room: Classroom) -> None:
    lin = room.enrol("lin")
    assignment = published(room)
    made = room.at.campus.submissions.submit(
        member_of(room, "lin"), assignment, parts=[NewPart("text", text="x")]
    )
    path = f"/assignments/{assignment.assignment_id}/without-submission/{lin.user_id}/grade"
    answer = api.put(path, {"score": 1, "publish": True}, by=room.users["tessa"])
    assert refused(answer) == (409, "HAS_SUBMISSION")
    assert answer.json()["submissionId"] == made.submission_id


def test_of_a_submission_and_a_grade_by_hand_at_once_the_work_is_never_lost(
    at: Place, room: Classroom
) -> None:
    names = [f"s{n}" for n in range(8)]
    for name in names:
        room.enrol(name)
    assignment = published(room)

    def submits(name: str) -> None:
        at.campus.submissions.submit(member_of(room, name), assignment, parts=[NewPart("text", text="x")])

    lost: list[str] = []

    def grades(name: str) -> None:
        try:
            by_hand(room, assignment, name, "5")
        except CallerError as refusal:
            lost.append(refusal.code)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda act: act[0](act[1]), [(do, name) for name in names for do in (submits, grades)]))
    assert set(lost) <= {"HAS_SUBMISSION", "BUSY", "VERSION_CONFLICT"}
    rows = list(at.db.all(d.submissions_of_assignment(assignment_id=assignment.assignment_id)))
    attempts = {row.owner_id for row in rows if row.submission_number == 1}
    assert attempts == {room.users[name].user_id for name in names}
    for hand in (row for row in rows if row.submission_number == 0):
        real = next(row for row in rows if row.owner_id == hand.owner_id and row.submission_number == 1)
        assert hand.submitted_at <= real.submitted_at


def test_it_is_never_late(at: Place, room: Classroom) -> None:
    room.enrol("lin")
    assignment = room.assignment(late_policy="penalise", late_penalty=LatePenalty(percent=D(10)))
    at.clock.move(timedelta(days=5))
    row = by_hand(room, assignment, "lin", "80")
    assert (row.grade, row.is_late, row.penalty_percent) == (D(80), False, D(0))
    member = member_of(room, "brandt")
    at.campus.assignments.change(
        member, assignment.assignment_id, {"due_date": assignment.due_date - timedelta(hours=2)}
    )
    room.run_tasks()
    row = room.again(row)
    assert (row.grade, row.is_late) == (D(80), False)


def test_the_excused_drafts_and_strangers_are_refused_and_nothing_is_written(
    api: Api, room: Classroom
) -> None:
    lin, tessa = room.enrol("lin"), room.users["tessa"]
    assignment = room.assignment()
    excused = Override(
        assignment_id=assignment.assignment_id, audience="student", audience_id=lin.user_id, excused=True,
        created_by="x", created_at=room.now(),
    )  # fmt: skip
    room.at.db.write(d.overrides.create(excused))
    path = f"/assignments/{assignment.assignment_id}/without-submission"
    body = {"score": 1, "publish": True}
    assert given(api.get(path, by=tessa))["items"] == []
    assert refused(api.put(f"{path}/{lin.user_id}/grade", body, by=tessa)) == (409, "EXCUSED")
    assert refused(api.put(f"{path}/nobody/grade", body, by=tessa)) == (404, "STUDENT_NOT_FOUND")
    draft = room.assignment(status="draft")
    other = f"/assignments/{draft.assignment_id}/without-submission/{lin.user_id}/grade"
    assert refused(api.put(other, body, by=tessa)) == (409, "NOT_PUBLISHED")
    noor = room.enrol("noor")
    for wrong in ({"score": 101, "publish": True}, {"publish": True}):
        answer = api.put(f"{path}/{noor.user_id}/grade", wrong, by=tessa)
        assert answer.status_code == 422, wrong
    assert room.at.campus.hand_grades.of_owner(assignment, noor.user_id) is None


def test_in_anonymous_marking_the_chosen_has_a_pseudonym_until_the_release(api: Api, room: Classroom) -> None:
    lin, tessa = room.enrol("lin"), room.users["tessa"]
    assignment = room.assignment(anonymous=True)
    path = f"/assignments/{assignment.assignment_id}/without-submission"
    (listed,) = given(api.get(path, by=tessa))["items"]
    assert listed["name"].startswith("Participant ")
    assert refused(api.put(f"{path}/{lin.user_id}/grade", {"score": 1}, by=tessa)) == (
        404,
        "STUDENT_NOT_FOUND",
    )
    body = {"score": 40, "publish": True}
    row = given(api.put(f"{path}/{listed['studentId']}/grade", body, by=tessa))
    assert (row["studentName"], row["studentEmail"]) == (listed["name"], "")
    assert lin.user_id not in str(row)
    assert result_of(room, "lin") == ("open", None), "the gradebook has names"
    room.at.campus.release.release(assignment, room.actor("brandt"))
    assert given(api.get(f"/submissions/{row['submissionId']}/grade", by=tessa))["studentName"] == "Lin"


def test_a_team_is_graded_as_one_and_every_member_finds_it(api: Api, room: Classroom) -> None:
    for name in ("lin", "omar"):
        room.enrol(name)
    group_set = room.at.campus.teams.create_set(member_of(room, "brandt"), "Projects")
    ids = [room.users[name].user_id for name in ("lin", "omar")]
    team = room.at.campus.teams.create_team(member_of(room, "brandt"), group_set, "Team L", ids)
    assignment = room.assignment(group_set_id=group_set.group_set_id, grade_each=True)
    path = f"/assignments/{assignment.assignment_id}/without-submission"
    (listed,) = given(api.get(path, by=room.users["tessa"]))["items"]
    assert (listed["studentId"], listed["name"]) == (team.team_id, "Team L")
    body = {"scores": {ids[0]: 70, ids[1]: 60}, "publish": True}
    given(api.put(f"{path}/{team.team_id}/grade", body, by=room.users["tessa"]))
    room.at.campus.release.release(assignment, room.actor("brandt"))
    assert result_of(room, "lin", own=True) == ("graded", D(70))
    assert result_of(room, "omar", own=True) == ("graded", D(60))


def test_a_grade_for_the_wrong_student_is_removed_until_it_is_seen(api: Api, room: Classroom) -> None:
    room.enrol("lin")
    room.enrol("omar")
    tessa, assignment = room.users["tessa"], room.assignment()
    campus = room.at.campus
    file = campus.uploads.store_whole(room.at.again(tessa), "notes.txt", [b"Well done."], 10)
    entry = MarkEntry(D("80"), feedback_file_id=file.file_id)
    row = campus.hand_grades.save(
        member_of(room, "tessa"), assignment, room.users["lin"].user_id, entry, publish=True
    )
    assert campus.repository.file(file.file_id).held_by == [row.submission_id]
    assert api.delete(f"/submissions/{row.submission_id}/grade", by=tessa).status_code == 204
    assert campus.hand_grades.of_owner(assignment, room.users["lin"].user_id) is None
    room.run_tasks()
    assert campus.marks.of(row.submission_id) == []
    assert campus.repository.file(file.file_id).held_by == []
    seen = by_hand(room, assignment, "lin", "70")
    room.at.campus.marks.return_to_student(assignment, seen, room.actor("brandt"))
    answer = api.delete(f"/submissions/{seen.submission_id}/grade", by=tessa)
    assert refused(answer) == (409, "RELEASED")
    real = room.submission(assignment, "omar")
    answer = api.delete(f"/submissions/{real.submission_id}/grade", by=tessa)
    assert refused(answer) == (409, "HAS_SUBMISSION")


def test_of_two_graders_at_once_one_is_refused(at: Place, room: Classroom) -> None:
    room.enrol("lin")
    assignment = room.assignment()

    def grade(score: int) -> str:
        try:
            by_hand(room, assignment, "lin", str(score))
        except CallerError as lost:
            return lost.code
        return "saved"

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(grade, range(6)))
    assert found.count("saved") == 1, found
    assert set(found) <= {"saved", "ALREADY_MARKED", "VERSION_CONFLICT"}


def test_it_cannot_be_set_back_to_a_draft(api: Api, room: Classroom) -> None:
    lin = room.enrol("lin")
    assignment = room.assignment()
    row = room.at.campus.hand_grades.begin(member_of(room, "tessa"), assignment, lin.user_id)
    answer = api.post(f"/submissions/{row.submission_id}:set-back", {}, by=room.users["tessa"])
    assert refused(answer) == (409, "NOT_LAST")
    assert room.again(row).version == row.version
    receipt = api.get(f"/submissions/{row.submission_id}/receipt", by=room.users["tessa"])
    assert refused(receipt) == (404, "RECEIPT_NOT_FOUND")


@pytest.mark.parametrize("score", ["0", "12.5"])
def test_a_draft_counts_nowhere(room: Classroom, score: str) -> None:
    room.enrol("lin")
    assignment = room.assignment()
    by_hand(room, assignment, "lin", score, publish=False)
    assert result_of(room, "lin") == ("open", None)
