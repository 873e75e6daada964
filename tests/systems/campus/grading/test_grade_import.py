"""The gradebook from a file: looked at first, all mistakes at once, and only if nothing changed since."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.systems.campus.grading.classroom import Classroom, levels
from tests.systems.campus.talk import Api
from tests.systems.talk import given, refused

from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import LatePenalty

D = Decimal
PATH = "/courses/CS101-2030-SPRING/gradebook"


def file_of(api: Api, room: Classroom) -> list[dict[str, str]]:
    text = api.get(f"{PATH}.csv", by=room.users["tessa"]).text
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def as_csv(rows: list[dict[str, str]]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def preview(api: Api, room: Classroom, content: bytes) -> dict[str, Any]:
    answer: dict[str, Any] = given(api.post(f"{PATH}:preview", by=room.users["tessa"], content=content))
    return answer


def applied(api: Api, room: Classroom, content: bytes, digest: str) -> Any:
    return api.post(f"{PATH}:import?digest={digest}", by=room.users["tessa"], content=content)


def changes(plan: dict[str, Any]) -> list[tuple[str, str, Any, Any]]:
    return [(each["student"], each["assignment"], each.get("old"), each["new"]) for each in plan["changes"]]


def problems(plan: dict[str, Any]) -> list[tuple[int, str, str]]:
    return [(each["line"], each["column"], each["message"]) for each in plan["wrong"]]


def test_the_file_that_was_downloaded_changes_nothing(api: Api, room: Classroom) -> None:
    room.enrol("lin")
    room.enrol("omar")
    essay, same = room.assignment("Essay"), room.assignment("Essay")
    room.assignment("=cmd|' /C calc'!A0")
    room.mark(room.submission(essay, "lin"), "80")
    room.mark(room.submission(same, "omar"), "12.5")
    content = as_csv(file_of(api, room))
    assert b"'=cmd" in content, "a spreadsheet runs nothing"
    plan = preview(api, room, content)
    assert (plan["changes"], plan["wrong"], plan["unknownColumns"], plan["unchanged"]) == ([], [], [], 2)
    answer = given(applied(api, room, content, plan["digest"]))
    assert answer == {"saved": 0, "refused": []}


def test_one_file_changes_grades_of_all_assignments_after_they_were_looked_at(
    api: Api, room: Classroom
) -> None:
    room.enrol("lin")
    room.enrol("omar")
    essay, exam = room.assignment("Essay"), room.assignment("Exam", points=D(20))
    first = room.submission(essay, "lin")
    room.mark(first, "80", feedback="Good.")
    second = room.submission(essay, "omar")
    rows = file_of(api, room)
    assert [row["Student"] for row in rows] == ["Lin", "Omar"]
    rows[0]["Essay (100)"], rows[1]["Essay (100)"], rows[1]["Exam (20)"] = "85,5", "70", "18"
    content = as_csv(rows)
    plan = preview(api, room, content)
    assert changes(plan) == [
        ("Lin", "Essay", 80, 85.5),
        ("Omar", "Essay", None, 70),
        ("Omar", "Exam", None, 18),
    ]
    assert [each["byHand"] for each in plan["changes"]] == [False, False, True]
    assert room.again(second).grade is None, "a preview writes nothing"
    assert given(applied(api, room, content, plan["digest"])) == {"saved": 3, "refused": []}
    assert (room.again(first).grade, room.again(first).feedback) == (D("85.5"), "Good.")
    assert room.again(second).grade == D(70)
    hand = room.at.campus.hand_grades.of_owner(exam, room.users["omar"].user_id)
    assert hand is not None
    assert (hand.grade, hand.status) == (D(18), "graded"), "seen after the release"
    again = preview(api, room, content)
    assert (again["changes"], again["unchanged"]) == ([], 3)


def test_students_and_columns_that_are_unknown_are_named_and_left_out(api: Api, room: Classroom) -> None:
    room.enrol("lin")
    room.assignment("Essay")
    content = (
        b"Name;E-mail;University ID;essay;Attendance\n"
        b"Lin;;S-lin;60;1\nEva;eva@elsewhere.example;;90;1\nTessa;tessa@campus.example;;50;1\n"
    )
    plan = preview(api, room, content)
    assert changes(plan) == [("Lin", "Essay", None, 60)]
    assert plan["unknownColumns"] == ["Attendance"]
    assert plan["unknownStudents"] == [{"line": 3, "student": "Eva"}, {"line": 4, "student": "Tessa"}]


def test_all_wrong_cells_are_reported_at_once_and_nothing_is_applied(api: Api, room: Classroom) -> None:
    for name in ("lin", "omar", "noor"):
        room.enrol(name)
    essay = room.assignment("Essay")
    room.assignment("Second", second_marking=True)
    room.assignment("Blind", anonymous=True)
    row = room.submission(essay, "lin")
    head = "E-mail,University id,Essay,Second,Blind\n"
    lines = (
        "lin@campus.example,,101,5,5", "omar@campus.example,,x,,", "lin@campus.example,,3,,",
        "noor@campus.example,S-omar,4,,",
    )  # fmt: skip
    content = (head + "\n".join(lines)).encode()
    plan = preview(api, room, content)
    assert problems(plan) == [
        (2, "Blind", "This assignment is marked anonymously; import its grades after the release."),
        (2, "Essay", "The grade must be 0 to 100."),
        (2, "Second", "Two markers agree on this grade: use the page of the submission."),
        (3, "Essay", "“x” is not a number."),
        (4, "", "This student is in the file twice."),
        (5, "", "The address and the university id are those of two students."),
    ]
    answer = applied(api, room, content, plan["digest"])
    assert refused(answer) == (422, "WRONG_CELLS")
    assert len(answer.json()["cells"]) == 6
    assert room.again(row).version == row.version


def test_a_column_that_is_there_twice_is_wrong(api: Api, room: Classroom) -> None:
    room.enrol("lin")
    room.assignment("Essay")
    for other in ("ESSAY", "Essay (100)"):
        plan = preview(api, room, f"E-mail,Essay,{other}\nlin@campus.example,1,2\n".encode())
        assert problems(plan)[0] == (1, other, "This column is in the file twice.")


def test_it_is_refused_if_a_grade_changed_after_the_preview(api: Api, room: Classroom) -> None:
    room.enrol("lin")
    room.enrol("omar")
    essay = room.assignment("Essay")
    first, second = room.submission(essay, "lin"), room.submission(essay, "omar")
    room.mark(second, "50")
    content = b"E-mail,Essay\nlin@campus.example,60\nomar@campus.example,50\n"
    plan = preview(api, room, content)
    room.mark(second, "55", by="brandt")
    # The file would now change Omar's grade back, which was not in the preview.
    assert refused(applied(api, room, content, plan["digest"])) == (409, "VERSION_CONFLICT")
    assert room.again(first).grade is None
    again = preview(api, room, content)
    assert changes(again) == [("Lin", "Essay", None, 60), ("Omar", "Essay", 55, 50)]
    room.mark(first, "1", by="brandt", publish=False)
    assert refused(applied(api, room, content, again["digest"])) == (409, "VERSION_CONFLICT")


def test_a_grade_that_is_lost_in_the_middle_is_reported_and_the_others_stay(
    api: Api, room: Classroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("lin", "omar"):
        room.enrol(name)
    essay = room.assignment("Essay")
    rows = {name: room.submission(essay, name) for name in ("lin", "omar")}
    content = b"E-mail,Essay\nlin@campus.example,60\nomar@campus.example,50\n"
    plan = preview(api, room, content)
    marks = room.at.campus.marks
    save = type(marks).save

    def faster(self: Any, assignment: Any, row: Any, *more: Any, **named: Any) -> Any:
        """Another grader saves Omar's grade between the check and the write."""
        monkeypatch.setattr(type(marks), "save", save)
        room.mark(rows["omar"], "99", by="brandt")
        return save(self, assignment, row, *more, **named)

    monkeypatch.setattr(type(marks), "save", faster)
    answer = given(applied(api, room, content, plan["digest"]))
    assert answer["saved"] == 1
    assert [(each["line"], each["student"]) for each in answer["refused"]] == [(3, "Omar")]
    assert (room.again(rows["lin"]).grade, room.again(rows["omar"]).grade) == (D(60), D(99))


def test_a_number_is_the_grade_after_the_late_penalty(api: Api, room: Classroom) -> None:
    room.enrol("lin")
    essay = room.assignment("Essay", late_policy="penalise", late_penalty=LatePenalty(percent=D(10)))
    late = essay.due_date + timedelta(hours=1)
    row = room.submission(essay, "lin", submitted_at=late)
    room.mark(row, "80")
    assert file_of(api, room)[0]["Essay (100)"] == "72"
    content = b"E-mail,Essay\nlin@campus.example,77.77\n"
    plan = preview(api, room, content)
    assert changes(plan) == [("Lin", "Essay", 72, 77.77)]
    given(applied(api, room, content, plan["digest"]))
    assert room.again(row).grade == D("77.77")
    wrong = preview(api, room, b"E-mail,Essay\nlin@campus.example,95\n")
    assert problems(wrong) == [(2, "Essay", "The grade must be 0 to 90 after the late penalty of 10 %.")]


def test_levels_of_a_rubric_stay_and_the_adjustment_makes_up_the_difference(
    api: Api, room: Classroom
) -> None:
    room.enrol("lin")
    rubric = room.rubric(("0", "5"), ("0", "10"))
    essay = room.assignment("Essay", rubric_id=rubric.rubric_id)
    row = room.submission(essay, "lin")
    room.mark(row, None, criteria=levels(rubric, 1, 1))
    content = b"E-mail,Essay\nlin@campus.example,13\n"
    given(applied(api, room, content, preview(api, room, content)["digest"]))
    mark = room.at.campus.marks.one(row.submission_id, room.users["tessa"].user_id)
    assert mark is not None
    assert (mark.score, mark.adjustment, len(mark.criteria)) == (D(13), D(-2), 2)


def test_members_of_a_team_get_one_grade_or_one_each(api: Api, room: Classroom) -> None:
    for name in ("lin", "omar"):
        room.enrol(name)
    project, each = room.assignment("Project"), room.assignment("Talk", grade_each=True)
    one = room.submission(project, "lin", members=("lin", "omar"))
    two = room.submission(each, "lin", members=("lin", "omar"))
    room.mark(one, "80")
    content = b"E-mail,Project,Talk\nlin@campus.example,85,70\nomar@campus.example,80,60\n"
    plan = preview(api, room, content)
    words = "All members of a team get the same grade in this assignment; the file has 80 and 85."
    assert problems(plan) == [(2, "Project", words)]
    content = content.replace(b",80,", b",,")
    plan = preview(api, room, content)
    assert len(plan["changes"]) == 3
    given(applied(api, room, content, plan["digest"]))
    assert room.again(one).grade == D(85)
    assert room.again(two).grades == {room.users["lin"].user_id: D(70), room.users["omar"].user_id: D(60)}


def test_students_cannot_import(api: Api, room: Classroom) -> None:
    lin = room.enrol("lin")
    answer = api.post(f"{PATH}:preview", by=lin, content=b"E-mail,Essay\n")
    assert refused(answer) == (403, "COURSE_STAFF_ONLY")
    answer = api.post(f"{PATH}:preview", by=room.users["tessa"], content=b"Essay\n1\n")
    assert refused(answer) == (400, "MISSING_COLUMN")


def test_an_id_that_two_students_have_names_neither_of_them(api: Api, room: Classroom) -> None:
    room.assignment("Essay")
    for name in ("lin", "omar"):
        user = room.enrol(name)
        row = d.enrolments.update(user.user_id, room.course_id).at(lambda it: it.university_id)
        room.at.db.write(row.set("S1"))
    plan = preview(api, room, b"University id,Essay\nS1,80\n")
    assert (plan["changes"], problems(plan)) == ([], [(2, "", "Two students have this university id.")])
