"""The acceptance scenarios CC-S12, CC-S13, CC-S18 and CC-S20, through the API, on every way to a database."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from functools import partial

import httpx
import pytest
from tests.client.ways import WAYS
from tests.systems.campus.grading.classroom import Classroom, levels
from tests.systems.campus.talk import Api, Place
from tests.systems.talk import at_once, given, refused

from tablewright.systems.campus.jobs import run_tasks

D = Decimal


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_cc_s12_a_teaching_assistant_sees_the_queue_and_the_submissions_of_the_own_course_only(
    at: Place, api: Api, room: Classroom
) -> None:
    other = Classroom(at, "MA200-2030-SPRING", {}, instructor="noether", assistant="emmy")
    room.enrol("lin")
    other.enrol("lin")
    own = room.submission(room.assignment(), "lin")
    foreign = other.submission(other.assignment(), "lin")
    tessa = room.users["tessa"]
    queue = given(api.get(f"/courses/{room.course_id}/grading-queue", by=tessa))
    assert [each["submissionId"] for each in queue["items"]] == [own.submission_id]
    assert refused(api.get(f"/courses/{other.course_id}/grading-queue", by=tessa)) == (
        404,
        "COURSE_NOT_FOUND",
    )
    for path in (f"/submissions/{foreign.submission_id}", f"/submissions/{foreign.submission_id}/grade"):
        assert refused(api.get(path, by=tessa)) == (404, "SUBMISSION_NOT_FOUND")
    body = {"version": 1, "score": 50}
    grade = f"/submissions/{foreign.submission_id}/grade"
    assert refused(api.put(grade, body, by=tessa)) == (404, "SUBMISSION_NOT_FOUND")
    # A student of the course is not staff of it.
    assert refused(api.get(f"/courses/{room.course_id}/grading-queue", by=room.users["lin"])) == (
        403,
        "COURSE_STAFF_ONLY",
    )
    assert given(api.get(f"/submissions/{own.submission_id}/grade", by=tessa))["studentName"] == "Lin"


def test_cc_s13_of_two_graders_who_save_from_the_same_version_one_is_refused_and_the_history_has_both(
    api: Api, room: Classroom
) -> None:
    room.enrol("lin")
    submission = room.submission(room.assignment(), "lin")
    path = f"/submissions/{submission.submission_id}/grade"
    saves = [
        partial(api.put, path, {"version": 1, "score": score, "publish": True}, by=room.users[name])
        for name, score in (("tessa", 70), ("brandt", 80))
    ]
    answers = [each for each in at_once(saves) if isinstance(each, httpx.Response)]
    assert sorted(each.status_code for each in answers) == [200, 409]
    lost = next(each for each in answers if each.status_code == 409)
    assert refused(lost) == (409, "VERSION_CONFLICT")
    won = next(each for each in answers if each.status_code == 200).json()
    row = room.again(submission)
    assert row.grade == D(str(won["grade"]))
    history = room.history(submission)
    assert sorted(each.action for each in history) == ["grade published", "grade refused"]
    tried = {each.action: (each.after.get("grade") or each.after.get("score")) for each in history}
    assert {float(str(each)) for each in tried.values()} == {70.0, 80.0}


def test_cc_s18_grades_released_at_noon_are_seen_at_noon_to_the_second(
    at: Place, api: Api, room: Classroom
) -> None:
    names = ("lin", "omar", "noor")
    for name in names:
        room.enrol(name)
    assignment = room.assignment(anonymous=True, hidden_graders=True)
    rows = {name: room.submission(assignment, name) for name in names}
    for name, row in rows.items():
        room.mark(row, "80", feedback=f"Well done, {name}.")
    noon = room.now() + timedelta(hours=2)
    brandt = room.users["brandt"]
    release = {"at": noon.isoformat()}
    assert refused(
        api.post(f"/assignments/{assignment.assignment_id}:release", release, by=room.users["tessa"])
    ) == (
        403,
        "INSTRUCTOR_ONLY",
    )
    given(api.post(f"/assignments/{assignment.assignment_id}:release", release, by=brandt))

    def seen(name: str) -> tuple[int, object, object]:
        user, id = room.users[name], rows[name].submission_id
        grade = api.get(f"/submissions/{id}/grade", by=user)
        row = given(api.get(f"/submissions/{id}", by=user))
        total = given(api.get(f"/courses/{room.course_id}/grades", by=user))
        return grade.status_code, row.get("grade"), total.get("percent")

    at.later(hours=1, minutes=59, seconds=59)
    run_tasks(at.campus)
    assert [seen(name) for name in names] == [(404, None, None)] * 3
    assert [room.notices(name) for name in names] == [[], [], []]
    at.later(seconds=1)
    # No job has run yet.
    assert [seen(name) for name in names] == [(200, 80.0, 80.0)] * 3
    for _ in range(3):
        run_tasks(at.campus)
    assert [len(room.notices(name)) for name in names] == [1, 1, 1]
    assert {room.again(row).status for row in rows.values()} == {"returned"}
    view = given(api.get(f"/submissions/{rows['lin'].submission_id}/grade", by=room.users["lin"]))
    assert view["gradedByName"] == "Grader"
    assert "gradedBy" not in view


def test_cc_s20_a_level_that_changes_from_5_to_4_points_changes_30_totals_once_with_history_of_both(
    at: Place, api: Api, room: Classroom
) -> None:
    rubric = room.rubric(("0", "5"), ("0", "10"))
    assignment = room.assignment(points=D(15), rubric_id=rubric.rubric_id)
    rows = []
    for n in range(31):
        room.enrol(f"student{n:02d}")
        row = room.submission(assignment, f"student{n:02d}")
        rows.append(room.mark(row, None, publish=n < 30, criteria=levels(rubric, 1, 1)))
    body = rubric.model_dump(mode="json", by_alias=True, include={"title", "criteria", "version"})
    body["criteria"][0]["levels"][1]["points"] = 4
    path = f"/courses/{room.course_id}/rubrics/{rubric.rubric_id}"
    given(api.put(path, body, by=room.users["brandt"]))
    for _ in range(2):
        run_tasks(at.campus)
    found = [room.again(row) for row in rows]
    assert [each.grade for each in found] == [D(14)] * 30 + [None]
    # Published: one version more, once. The draft's row did not change, its mark did.
    assert [each.version for each in found] == [row.version + 1 for row in rows[:30]] + [rows[30].version]
    draft = at.campus.marks.one(rows[30].submission_id, room.users["tessa"].user_id)
    assert draft is not None
    assert draft.score == D(14)
    for row in rows:
        changes = [each for each in room.history(row) if each.action == "rubric changed"]
        assert [(each.before["score"], each.after["score"]) for each in changes] == [(15.0, 14.0)]


def test_of_many_requests_for_one_regrade_and_many_saves_one_is_done_each(
    at: Place, api: Api, room: Classroom
) -> None:
    room.enrol("lin")
    assignment = room.assignment(released_at=room.now())
    row = room.submission(assignment, "lin")
    path, tessa, lin = f"/submissions/{row.submission_id}", room.users["tessa"], room.users["lin"]
    body = {"version": 1, "score": 70, "publish": True}
    saves = [partial(api.put, f"{path}/grade", body, by=tessa) for _ in range(8)]
    answers = [each.status_code for each in at_once(saves) if isinstance(each, httpx.Response)]
    assert sorted(answers) == [200] + [409] * 7
    assert len(room.notices("lin")) == 1
    asked = [partial(api.post, f"{path}/regrades", {"text": "Why?"}, by=lin) for _ in range(8)]
    answers = [each.status_code for each in at_once(asked) if isinstance(each, httpx.Response)]
    assert sorted(answers) == [201] + [409] * 7
    assert len(at.campus.regrades.of(row.submission_id)) == 1
