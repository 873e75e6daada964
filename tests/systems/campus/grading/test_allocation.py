"""Allocation: evenly, by section, by hand."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given as holds
from hypothesis import strategies as st
from tests.systems.campus.grading.classroom import Classroom
from tests.systems.campus.talk import Api, refuses
from tests.systems.talk import given, refused

from tablewright.systems.campus.course_model import Submission
from tablewright.systems.campus.grading.allocation import evenly
from tablewright.testing import Clock

NOW = Clock().now()


def row(number: int, grader: str | None = None, second: str | None = None) -> Submission:
    return Submission(
        assignment_id="a", submission_id=str(number), owner_id=str(number), course_id="c", student_id=str(number),
        student_email="", student_name="", submitted_at=NOW, submitted_by="", submission_number=1, due_date=NOW,
        grader_id=grader, second_grader_id=second,
    )  # fmt: skip


@holds(
    st.lists(st.sampled_from([None, "x", "y"]), max_size=30),
    st.lists(st.sampled_from(["x", "y", "z"]), min_size=1, unique=True),
)
def test_an_even_allocation_keeps_graders_and_evens_out_the_rest(
    given_: list[str | None], graders: list[str]
) -> None:
    rows = [row(n, grader) for n, grader in enumerate(given_)]
    found = evenly(rows, graders, second=False)
    assert set(found) == {each.submission_id for each in rows if each.grader_id is None}
    new = Counter(each.first for each in found.values())
    kept = Counter(each.grader_id for each in rows if each.grader_id is not None)
    # No grader got one while another had two fewer.
    for busy in graders:
        for idle in graders:
            assert not new[busy] or new[busy] + kept[busy] <= new[idle] + kept[idle] + 1


@holds(st.integers(0, 20), st.lists(st.sampled_from("xyz"), min_size=2, unique=True))
def test_the_second_grader_is_another_person(count: int, graders: list[str]) -> None:
    found = evenly([row(n) for n in range(count)], graders, second=True)
    assert len(found) == count
    assert all(each.first and each.second and each.first != each.second for each in found.values())


def test_submissions_are_shared_evenly_once(api: Api, room: Classroom) -> None:
    assignment = room.assignment()
    rows = []
    for n in range(5):
        room.enrol(f"student{n}")
        rows.append(room.submission(assignment, f"student{n}"))
    brandt, tessa = room.users["brandt"], room.users["tessa"]
    path = f"/assignments/{assignment.assignment_id}/allocation"
    body = {"method": "evenly", "graders": [brandt.user_id, tessa.user_id]}
    assert refused(api.post(path, body, by=tessa)) == (403, "INSTRUCTOR_ONLY")
    assert given(api.post(path, body, by=brandt)) == {"allocated": 5}
    assert given(api.post(path, body, by=brandt)) == {"allocated": 0}
    found = Counter(room.again(each).grader_id for each in rows)
    assert sorted(found.values()) == [2, 3]
    mine = given(api.get(f"/courses/{room.course_id}/grading-queue?mine=true", by=tessa))["items"]
    assert len(mine) == found[tessa.user_id]
    bad = {"method": "evenly", "graders": [room.users["student0"].user_id]}
    assert refused(api.post(path, bad, by=brandt)) == (422, "UNKNOWN_GRADER")


def test_a_section_has_its_grader_and_a_hand_moves_one(api: Api, room: Classroom) -> None:
    assignment = room.assignment()
    room.enrol("lin", section="A")
    room.enrol("omar", section="B")
    lin, omar = (
        room.submission(assignment, "lin", section="A"),
        room.submission(assignment, "omar", section="B"),
    )
    brandt, tessa = room.users["brandt"], room.users["tessa"]
    body = {"method": "section", "sections": {"A": tessa.user_id}}
    given(api.post(f"/assignments/{assignment.assignment_id}/allocation", body, by=brandt))
    assert (room.again(lin).grader_id, room.again(omar).grader_id) == (tessa.user_id, None)
    graders = {"graderId": brandt.user_id}
    path = f"/submissions/{lin.submission_id}/graders"
    assert refused(api.put(path, graders, by=tessa)) == (403, "INSTRUCTOR_ONLY")
    assert room.again(lin).grader_id == tessa.user_id
    assert given(api.put(path, graders, by=brandt))["graderId"] == brandt.user_id
    same = {"graderId": brandt.user_id, "secondGraderId": brandt.user_id}
    assert refused(api.put(path, same, by=brandt)) == (422, "SAME_GRADER")


@pytest.mark.parametrize("graders", [[], ["tessa"]])
def test_second_marking_needs_two_graders(room: Classroom, graders: list[str]) -> None:
    assignment = room.assignment(second_marking=True)
    with refuses("GRADERS_MISSING"):
        room.at.campus.allocation.evenly(
            assignment, [room.users[each].user_id for each in graders], room.actor("brandt")
        )
