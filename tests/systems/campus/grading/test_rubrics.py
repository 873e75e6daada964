"""Rubrics: what they may be, who may change them, and totals that follow a change after a crash too."""

from __future__ import annotations

from decimal import Decimal

import pytest
from tests.systems.campus.grading.classroom import Classroom, levels
from tests.systems.campus.talk import Api, Place, refuses
from tests.systems.talk import given, refused

from tablewright.systems.campus import design as d
from tablewright.systems.campus.errors import Changed
from tablewright.systems.campus.grade_model import Level, Rubric

D = Decimal


def body_of(rubric: Rubric, points: int) -> dict[str, object]:
    """The rubric with other points for its first criterion's last level."""
    body = rubric.model_dump(mode="json", by_alias=True, include={"title", "criteria", "version"})
    body["criteria"][0]["levels"][-1]["points"] = points
    return body


def cheaper(rubric: Rubric, points: str) -> list[object]:
    first, *rest = rubric.criteria
    last = first.levels[-1].model_copy(update={"points": D(points)})
    return [first.model_copy(update={"levels": [*first.levels[:-1], last]}), *rest]


@pytest.mark.parametrize(
    "criteria",
    [
        [],
        [{"title": "", "levels": [{"title": "Good", "points": 1}]}],
        [{"title": "Style", "levels": []}],
        [{"title": "Style", "levels": [{"title": "Good", "points": -1}]}],
        [{"title": "Style", "levels": [{"levelId": "a", "title": t, "points": 1} for t in ("Good", "Bad")]}],
    ],
)
def test_a_rubric_that_cannot_be_is_refused(api: Api, room: Classroom, criteria: list[object]) -> None:
    body = {"title": "Essay", "criteria": criteria}
    answer = api.post(f"/courses/{room.course_id}/rubrics", body, by=room.users["tessa"])
    assert refused(answer) == (422, "INVALID_RUBRIC")


def test_ids_stay_when_a_rubric_is_changed(api: Api, room: Classroom) -> None:
    rubric = room.rubric(("0", "5"))
    path = f"/courses/{room.course_id}/rubrics/{rubric.rubric_id}"
    changed = given(api.put(path, body_of(rubric, 4), by=room.users["brandt"]))
    assert changed["criteria"][0]["criterionId"] == rubric.criteria[0].criterion_id
    assert given(api.get(path, by=room.users["tessa"]))["version"] == 2
    assert refused(api.put(path, body_of(rubric, 3), by=room.users["brandt"])) == (409, "VERSION_CONFLICT")
    assert refused(api.put(path, body_of(rubric, 3), by=room.users["tessa"])) == (403, "INSTRUCTOR_ONLY")


def test_a_change_without_other_points_recomputes_nothing(at: Place, room: Classroom) -> None:
    rubric = room.rubric(("0", "5"))
    at.campus.rubrics.change(rubric, "Another title", rubric.criteria, room.actor("brandt"), 1)
    assert list(d.tasks.open(at.db)) == []


def test_a_recomputation_that_crashed_continues_and_changes_each_total_once(
    at: Place, room: Classroom
) -> None:
    rubric = room.rubric(("0", "5"))
    assignment = room.assignment(rubric_id=rubric.rubric_id)
    rows = []
    for n in range(5):
        room.enrol(f"student{n}")
        rows.append(room.mark(room.submission(assignment, f"student{n}"), None, criteria=levels(rubric, 1)))
    at.campus.rubrics.change(rubric, "Essay", cheaper(rubric, "4"), room.actor("brandt"), 1)  # type: ignore[arg-type]  # criteria
    task = next(iter(d.tasks.open(at.db)))
    left = [2]

    def dying(*args: object) -> int:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return at.campus.marks.recompute(*args)  # type: ignore[arg-type]  # as given

    with pytest.raises(KeyboardInterrupt):
        at.campus.rubrics.run(task, dying)
    assert sorted(room.again(row).grade or 0 for row in rows) == [4, 4, 5, 5, 5]
    for _ in range(2):
        room.run_tasks()
    assert {room.again(row).grade for row in rows} == {D(4)}
    assert {room.again(row).version - row.version for row in rows} == {1}
    assert [room.actions(row).count("rubric changed") for row in rows] == [1] * 5


def test_a_visible_grade_that_a_rubric_changes_is_told(at: Place, room: Classroom) -> None:
    room.enrol("lin")
    rubric = room.rubric(("0", "5"))
    assignment = room.assignment(rubric_id=rubric.rubric_id)
    graded = room.mark(room.submission(assignment, "lin"), None, criteria=levels(rubric, 1))
    at.campus.marks.return_to_student(assignment, graded, room.actor("tessa"))
    at.campus.rubrics.change(rubric, "Essay", cheaper(rubric, "4"), room.actor("brandt"), 1)  # type: ignore[arg-type]  # criteria
    room.run_tasks()
    assert room.notices("lin")[0].text == "Your grade for “Essay” was changed."


def test_a_mark_of_a_level_that_is_gone_keeps_its_total(at: Place, room: Classroom) -> None:
    rubric = room.rubric(("0", "5"), ("0", "3"))
    assignment = room.assignment(rubric_id=rubric.rubric_id)
    rows = {}
    for name, level in (("lin", 1), ("omar", 0)):
        room.enrol(name)
        row = room.submission(assignment, name)
        rows[name] = room.mark(row, None, criteria=levels(rubric, level, 1))
    first, second = rubric.criteria
    kept, gone = first.levels
    renamed = gone.model_copy(update={"level_id": "", "title": "Outstanding"})
    more = Level(level_id="", title="Good", points=D(3))
    dearer = second.levels[1].model_copy(update={"points": D(4)})
    criteria = [
        first.model_copy(update={"levels": [kept, more, renamed]}),
        second.model_copy(update={"levels": [second.levels[0], dearer]}),
    ]
    at.campus.rubrics.change(rubric, "Essay", criteria, room.actor("brandt"), 1)
    room.run_tasks()
    assert {name: room.again(row).grade for name, row in rows.items()} == {"lin": D(8), "omar": D(4)}


def test_an_assignment_is_marked_with_a_rubric_of_its_course(at: Place, room: Classroom) -> None:
    other = Classroom(at, "MA200-2030-SPRING", {}, instructor="noether", assistant="emmy")
    own, foreign = room.rubric(("0", "5")), other.rubric(("0", "5"))
    assignment = room.assignment()
    used = at.campus.rubrics.use(assignment, own.rubric_id, room.actor("brandt"), assignment.version)
    assert used.rubric_id == own.rubric_id
    with refuses("RUBRIC_NOT_FOUND"):
        at.campus.rubrics.use(used, foreign.rubric_id, room.actor("brandt"))
    with pytest.raises(Changed):
        at.campus.rubrics.use(assignment, None, room.actor("brandt"), 7)
