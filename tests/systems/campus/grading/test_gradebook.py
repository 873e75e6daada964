"""The gradebook: what a student has, what counts, and the spreadsheet."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from decimal import Decimal

from tests.systems.campus.grading.classroom import Classroom
from tests.systems.campus.talk import Api, Place
from tests.systems.talk import given, refused

from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import MemberEntry, Override

D = Decimal


def scheme(room: Classroom, api: Api, groups: list[tuple[str, int, int]]) -> dict[str, str]:
    body = {
        "version": room.course().version,
        "gradeGroups": [
            {"groupId": "", "name": name, "weight": w, "dropLowest": drop} for name, w, drop in groups
        ],
        "letters": [{"letter": "A", "fromPercent": 90}, {"letter": "B", "fromPercent": 80}],
    }
    given(api.put(f"/courses/{room.course_id}/grade-scheme", body, by=room.users["brandt"]))
    return {each.name: each.group_id for each in room.course().grade_groups}


def test_a_student_sees_released_results_a_total_and_what_if(api: Api, room: Classroom) -> None:
    room.enrol("lin")
    ids = scheme(room, api, [("Homework", 40, 1), ("Exam", 60, 0)])
    now = room.now()
    homework = [room.assignment(f"HW {n}", grade_group_id=ids["Homework"], released_at=now) for n in range(3)]
    exam = room.assignment("Exam", grade_group_id=ids["Exam"])
    for each, score in zip(homework, ("50", "90", "100"), strict=True):
        room.mark(room.submission(each, "lin"), score)
    room.mark(room.submission(exam, "lin"), "80")  # not released
    path, lin = f"/courses/{room.course_id}/grades", room.users["lin"]
    found = given(api.get(path, by=lin))
    assert (found["percent"], found["letter"]) == (95.0, "A")
    states = {each["assignmentId"]: (each["state"], each["dropped"]) for each in found["results"]}
    assert states[homework[0].assignment_id] == ("graded", True)
    assert states[exam.assignment_id] == ("submitted", False)
    guess = given(api.get(f"{path}?guess={exam.assignment_id}:70", by=lin))
    assert (guess["percent"], guess.get("letter")) == (80.0, "B")
    assert refused(api.get(f"{path}?guess={exam.assignment_id}:x", by=lin)) == (400, "INVALID_SCORE")
    staff = given(api.get(f"/courses/{room.course_id}/gradebook", by=room.users["tessa"]))
    assert staff["students"][0]["percent"] == 86.0
    assert staff["distribution"][8] == 1
    assert refused(api.get(f"/courses/{room.course_id}/gradebook", by=lin)) == (403, "COURSE_STAFF_ONLY")
    assert refused(api.get(path, by=room.users["tessa"])) == (404, "GRADE_NOT_FOUND")


def test_missing_excused_and_newest_attempts(at: Place, api: Api, room: Classroom) -> None:
    room.enrol("lin")
    room.enrol("omar")
    past = room.now() - timedelta(days=1)
    zero = room.assignment("Zero", due_date=past, accept_until=past, missing_grade=D(0))
    nothing = room.assignment("Nothing", due_date=past)
    tries = room.assignment("Tries")
    override = Override(
        assignment_id=zero.assignment_id, audience="student", audience_id=room.users["omar"].user_id, excused=True,
        created_by="brandt", created_at=room.now(),
    )  # fmt: skip
    at.db.write(d.overrides.create(override))
    for name in ("lin", "omar"):
        room.mark(room.submission(tries, name), "60")
        at.later(minutes=1)
        room.mark(room.submission(tries, name, 2), "80")
        room.submission(tries, name, 3, withdrawn_at=room.now())
    found = given(api.get(f"/courses/{room.course_id}/gradebook", by=room.users["tessa"]))["students"]
    states = [
        {each["assignmentId"]: (each["state"], each.get("score")) for each in one["results"]} for one in found
    ]
    assert states[0] == {
        zero.assignment_id: ("missing", 0.0),
        nothing.assignment_id: ("missing", None),
        tries.assignment_id: ("graded", 80.0),
    }
    assert states[1][zero.assignment_id] == ("excused", None)
    assert [one["percent"] for one in found] == [40.0, 80.0]


def test_a_student_keeps_the_grade_of_a_team_after_leaving_it(at: Place, api: Api, room: Classroom) -> None:
    room.enrol("lin")
    omar = room.enrol("omar")
    assignment = room.assignment(released_at=room.now())
    row = room.submission(assignment, "lin", members=("lin", "omar"))
    entry = MemberEntry(
        assignment_id=row.assignment_id, owner_id=row.owner_id, submission_number=1, student_id=omar.user_id,
        submitted_at=row.submitted_at,
    )  # fmt: skip
    at.db.write(d.member_entries.create(entry))
    room.mark(row, "70")
    for name in ("lin", "omar"):
        assert given(api.get(f"/courses/{room.course_id}/grades", by=room.users[name]))["percent"] == 70.0


def test_the_spreadsheet_runs_no_formula(api: Api, room: Classroom) -> None:
    room.enrol("lin")
    assignment = room.assignment('=HYPERLINK("evil")')
    room.mark(room.submission(assignment, "lin"), "80")
    answer = api.get(f"/courses/{room.course_id}/gradebook.csv", by=room.users["tessa"])
    rows = list(csv.reader(io.StringIO(answer.text.removeprefix("\ufeff"))))
    assert rows[0][4] == '\'=HYPERLINK("evil") (100)'
    assert rows[1] == ["Lin", "S-lin", "lin@campus.example", "", "80", "80", ""]


def test_who_takes_the_grades_of_a_course_or_the_work_of_an_assignment_is_recorded(
    at: Place, api: Api, room: Classroom
) -> None:
    room.enrol("lin")
    assignment, tessa = room.assignment(), room.users["tessa"]
    room.submission(assignment, "lin")
    book, sheet = f"/courses/{room.course_id}/gradebook", f"/assignments/{assignment.assignment_id}/worksheet"
    for path in (book, f"{book}.csv", sheet, f"{sheet}.csv"):
        assert api.get(path, by=tessa).status_code == 200

    def actions(subject: str) -> list[tuple[str, str]]:
        entries = reversed(list(at.db.all(d.audit.of(subject))))
        return [(each.action, each.actor) for each in entries]

    assert actions(f"course:{room.course_id}") == [
        ("gradebook opened", tessa.name),
        ("gradebook downloaded", tessa.name),
    ]
    assert actions(f"assignment:{assignment.assignment_id}") == [
        ("submissions downloaded", tessa.name),
        ("worksheet downloaded", tessa.name),
    ]


def test_a_scheme_that_cannot_be_is_refused(api: Api, room: Classroom) -> None:
    path, brandt = f"/courses/{room.course_id}/grade-scheme", room.users["brandt"]
    bad = {"version": 1, "gradeGroups": [{"groupId": "", "name": "A", "weight": -1}]}
    assert refused(api.put(path, bad, by=brandt)) == (422, "INVALID_GROUPS")
    twice = {
        "version": 1,
        "letters": [{"letter": "A", "fromPercent": 90}, {"letter": "B", "fromPercent": 90}],
    }
    assert refused(api.put(path, twice, by=brandt)) == (422, "INVALID_LETTERS")
    assert refused(api.put(path, {"version": 9}, by=brandt)) == (409, "VERSION_CONFLICT")
    assert refused(api.put(path, {}, by=brandt)) == (428, "PRECONDITION_REQUIRED")
