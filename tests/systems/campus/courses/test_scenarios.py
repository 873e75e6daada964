"""The acceptance scenarios of courses, through the API where a client would use it, on every way to a database."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256

import httpx
import pytest
from tests.client.ways import WAYS
from tests.systems.campus.courses.talk import COURSE, Class, file_part, text
from tests.systems.campus.talk import Api
from tests.systems.talk import at_once, given, refused

from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Submission

FILE = b"%PDF-1.7\nmeasured: 42\n"


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _responses(answers: list[httpx.Response | Exception]) -> list[httpx.Response]:
    assert not [each for each in answers if isinstance(each, Exception)]
    return [each for each in answers if isinstance(each, httpx.Response)]


def test_cc_s6_of_ten_submits_at_once_exactly_three_are_made(lesson: Class, api: Api) -> None:
    assignment, student = lesson.assignment(max_submissions=3), lesson.people["u1"]
    consumer = lesson.campus.submission_counts.consumer()
    consumer.create_tables()
    file = lesson.file("u1", FILE, "report.pdf")
    path = f"/assignments/{assignment.assignment_id}/submissions"
    body = {"parts": [{"kind": "file", "fileId": file.file_id}]}
    calls = [
        partial(api.post, path, body, by=student, headers={"Idempotency-Key": f"attempt-{n}"})
        for n in range(10)
    ]
    answers = _responses(at_once(calls, 10))
    assert Counter(each.status_code for each in answers) == {201: 3, 409: 7}
    assert {refused(each) for each in answers if each.status_code == 409} == {(409, "SUBMISSION_LIMIT")}
    rows = lesson.campus.owners.submissions(assignment.assignment_id, student.user_id)
    assert [row.submission_number for row in rows] == [1, 2, 3]
    consumer.run_once()
    assert lesson.again(assignment).submission_count == 3
    assert lesson.campus.assignments.count(assignment.assignment_id) == 3
    assert lesson.at.again(student).statistics.assignments_submitted == 1
    for row in reversed(rows):
        lesson.campus.withdrawals.set_back(lesson.member(), row)
    consumer.run_once()
    assert lesson.at.again(student).statistics.assignments_submitted == 0


def test_cc_s7_the_same_key_five_times_is_one_submission_and_one_answer(lesson: Class, api: Api) -> None:
    assignment, student = lesson.assignment(), lesson.people["u1"]
    file = lesson.file("u1", FILE, "report.pdf")
    path = f"/assignments/{assignment.assignment_id}/submissions"
    body = {"parts": [{"kind": "file", "fileId": file.file_id}]}
    headers = {"Idempotency-Key": "once-only"}
    answers = _responses(at_once([partial(api.post, path, body, by=student, headers=headers)] * 5, 5))
    assert [each.status_code for each in answers] == [201] * 5
    assert len({each.text for each in answers}) == 1
    assert lesson.campus.assignments.count(assignment.assignment_id) == 1
    other = api.post(path, {"parts": [{"kind": "text", "text": "another"}]}, by=student, headers=headers)
    assert refused(other) == (422, "IDEMPOTENCY_KEY_REUSED")


def test_cc_s8_lateness_by_whole_seconds_and_again_when_the_date_is_moved(lesson: Class, api: Api) -> None:
    lesson.at.clock.move(datetime(2024, 1, 20, tzinfo=UTC) - lesson.now())
    due = datetime(2024, 2, 1, 23, 59, 59, tzinfo=UTC)
    assignment = lesson.assignment(due_date=due)
    lesson.at.clock.move(due + timedelta(milliseconds=500) - lesson.now())
    first = lesson.submit("u1", assignment)
    lesson.at.clock.move(timedelta(milliseconds=500))
    second = lesson.submit("u1", assignment)
    assert (first.is_late, second.is_late) == (False, True)
    path = f"/assignments/{assignment.assignment_id}"
    given(api.put(path, {"dueDate": "2024-02-02T12:00:00.000Z"}, by=lesson.teacher))
    assert lesson.run_tasks() >= 1
    rows = [lesson.row(each) for each in (first, second)]
    assert [(row.is_late, row.due_date.isoformat()) for row in rows if row is not None] == [
        (False, "2024-02-02T12:00:00+00:00")
    ] * 2
    (entry, *_) = lesson.at.db.all(d.audit.of(f"submission:{second.submission_id}"))
    assert entry.action == "due date changed"
    assert (entry.before or {})["isLate"] is True
    assert (entry.after or {})["isLate"] is False


def test_cc_s9_a_students_submissions_are_in_numeric_order_and_their_own(lesson: Class, api: Api) -> None:
    assignment = lesson.assignment(max_submissions=20)
    lesson.person("u12")
    for _ in range(12):
        lesson.submit("u1", assignment)
    lesson.submit("u12", assignment)
    found = given(api.get(f"/assignments/{assignment.assignment_id}/submissions", by=lesson.people["u1"]))[
        "items"
    ]
    assert [row["submissionNumber"] for row in found] == list(range(1, 13))
    assert {row["studentId"] for row in found} == {lesson.people["u1"].user_id}


def test_cc_s10_a_submitted_file_that_its_student_deletes_stays_for_the_grader(
    lesson: Class, api: Api
) -> None:
    assignment, student = lesson.assignment(), lesson.people["u1"]
    file = lesson.file("u1", FILE, "report.pdf")
    made = lesson.submit("u1", assignment, file_part(file))
    lesson.run_tasks()  # the scan
    used = lesson.at.again(student).storage_used
    given(api.delete(f"/files/{file.file_id}", by=student))
    assert [one["fileId"] for one in given(api.get("/files", by=student))["items"]] == []
    lesson.at.later(days=40)
    lesson.campus.purge.run()
    path = f"/submissions/{made.submission_id}/parts/{made.parts[0].part_id}/content"
    content = api.get(path, by=lesson.teacher)
    assert content.status_code == 200
    assert content.content == FILE
    assert f"sha256:{sha256(content.content).hexdigest()}" == made.parts[0].checksum == made.file_checksum
    assert lesson.at.again(student).storage_used == used


def test_cc_s16_a_team_that_submits_from_two_browsers_at_once_has_both_parts_and_one_attempt(
    lesson: Class, api: Api
) -> None:
    lesson.person("u3")
    group_set, team = lesson.team("u1", "u2", "u3")
    assignment = lesson.assignment(group_set_id=group_set.group_set_id, max_submissions=1)
    files = {name: lesson.file(name, FILE + name.encode(), f"{name}.pdf") for name in ("u1", "u2")}
    path = f"/assignments/{assignment.assignment_id}/submissions"
    bodies = {
        name: {"attempt": 1, "parts": [{"kind": "file", "fileId": f.file_id}]} for name, f in files.items()
    }
    calls = [partial(api.post, path, body, by=lesson.people[name]) for name, body in bodies.items()]
    answers = _responses(at_once(calls, 2))
    assert [each.status_code for each in answers] == [201, 201], [each.text for each in answers]
    (row,) = lesson.campus.owners.submissions(assignment.assignment_id, team.team_id)
    assert {part.filename for part in row.parts} == {"u1.pdf", "u2.pdf"}
    assert sorted(row.member_ids) == sorted(lesson.people[name].user_id for name in ("u1", "u2", "u3"))
    for name in ("u1", "u2", "u3"):
        mine = given(api.get("/me/submissions", by=lesson.people[name]))["items"]
        assert [each["submissionId"] for each in mine] == [row.submission_id]
    third = api.post(
        path, {"attempt": 2, "parts": [{"kind": "text", "text": "more"}]}, by=lesson.people["u3"]
    )
    assert refused(third) == (409, "SUBMISSION_LIMIT")


def test_cc_s17_what_late_costs_is_shown_before_submitting_and_moves_for_a_section_only(
    lesson: Class, api: Api
) -> None:
    friday = datetime(2030, 2, 8, 18, tzinfo=UTC)
    assignment = lesson.assignment(
        due_date=friday, points=100, late_policy="penalise", late_penalty={"percent": 10, "floor": 50}
    )
    path = f"/assignments/{assignment.assignment_id}"
    costs = []
    thursday = friday + timedelta(days=6)
    saturday = friday + timedelta(days=1)
    moments = (friday, saturday - timedelta(seconds=1), saturday + timedelta(seconds=1), thursday)
    given(api.put(f"{path}/extensions/section/B", {"dueDate": "2030-02-09T18:00:00Z"}, by=lesson.teacher))
    for moment in moments:
        lesson.at.clock.move(moment - lesson.now())
        mine = [given(api.get(path, by=lesson.people[name]))["mine"]["penaltyNow"] for name in ("u1", "u2")]
        costs.append(tuple(mine))
    assert costs == [(0, 0), (10, 0), (20, 10), (50, 50)]
    excused = {"excused": True, "reason": "ill"}
    u1 = lesson.people["u1"].user_id
    given(api.put(f"{path}/extensions/student/{u1}", excused, by=lesson.teacher))
    assert given(api.get(path, by=lesson.people["u1"]))["mine"]["excused"] is True


def test_a_course_that_someone_is_not_in_does_not_exist_for_them(lesson: Class, api: Api) -> None:
    stranger = lesson.at.user("mallory")
    assignment = lesson.assignment()
    assert refused(api.get(f"/courses/{COURSE}", by=stranger)) == (404, "COURSE_NOT_FOUND")
    path = f"/assignments/{assignment.assignment_id}"
    assert refused(api.get(path, by=stranger)) == (404, "ASSIGNMENT_NOT_FOUND")
    answer = api.post(f"{path}/submissions", {"parts": [{"kind": "text", "text": "hi"}]}, by=stranger)
    assert refused(answer) == (404, "ASSIGNMENT_NOT_FOUND")
    made = lesson.submit("u1", assignment, text())
    assert refused(api.get(f"/submissions/{made.submission_id}", by=lesson.people["u2"]))[0] == 404
    assert isinstance(made, Submission)
