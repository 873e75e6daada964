"""Courses, rosters, teams, assignments: who may what, CSV, dates, closing, reminders, the archive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

import pytest
from tests.systems.campus.courses.talk import COURSE, Class, file_part, text
from tests.systems.campus.talk import refuses
from tests.systems.talk import at_once

from tablewright.systems.campus import design as d
from tablewright.systems.campus.course_model import Audience, Course
from tablewright.systems.campus.courses.archive import archive_name
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.courses.csv_rows import rows_of

ROSTER = b"""\xef\xbb\xbfE-Mail;Name;Role;Section
u1@campus.example;Someone;student;B
ada@campus.example;Ada Lovelace;student;A
bob@campus.example;Bob;TA;
not an address;Carl;student;A
dora@campus.example;;student;A
ada@campus.example;Ada again;student;B
"""


# --- rosters ---


def test_a_roster_is_previewed_without_a_write_then_imported_and_the_same_again_changes_nothing(
    lesson: Class,
) -> None:
    roster, teacher = lesson.campus.roster, lesson.teacher
    expected = ["changed", "new person", "new person", "refused", "refused", "refused"]
    before = lesson.campus.courses.members(COURSE)
    preview = roster.preview(teacher, ROSTER, lesson.member())
    assert [each.outcome for each in preview.entries] == expected
    assert lesson.campus.courses.members(COURSE) == before
    assert lesson.campus.users.by_email("ada@campus.example") is None
    done = roster.load(teacher, ROSTER, lesson.member())
    assert [each.outcome for each in done.entries] == expected
    assert [(each.name, each.role) for each in lesson.campus.courses.members(COURSE)] == [
        ("grace", "instructor"), ("Bob", "ta"), ("Ada Lovelace", "student"), ("u1", "student"), ("u2", "student"),
    ]  # fmt: skip
    again = roster.load(teacher, ROSTER, lesson.member())
    assert [each.outcome for each in again.entries] == ["unchanged"] * 3 + ["refused"] * 3


def test_a_roster_without_roles_and_sections_leaves_those_that_people_have(lesson: Class) -> None:
    roster, teacher = lesson.campus.roster, lesson.teacher
    roster.load(teacher, b"email,name,role,section\nbob@campus.example,Bob,ta,A\n", lesson.member())
    before = lesson.campus.courses.members(COURSE)
    addresses = f"email\n{teacher.email}\nbob@campus.example\nu1@campus.example\n".encode()
    done = roster.load(teacher, addresses, lesson.member())
    assert {each.outcome for each in done.entries} == {"unchanged"}
    assert lesson.campus.courses.members(COURSE) == before


def test_nobody_takes_the_course_from_themselves_by_another_role(lesson: Class) -> None:
    roster, teacher = lesson.campus.roster, lesson.teacher
    row = f"email,role\n{teacher.email},student\n".encode()
    for act in (roster.preview, roster.load):
        [entry] = act(teacher, row, lesson.member()).entries
        assert (entry.outcome, "own role" in entry.message) == ("refused", True)
    with refuses("OWN_ENROLMENT"):
        lesson.campus.courses.place(lesson.member(), teacher, "student", None)
    assert lesson.campus.courses.members(COURSE)[0].role == "instructor"


def test_someone_on_a_roster_signs_in_later_and_is_in_the_course(lesson: Class) -> None:
    lesson.campus.roster.load(lesson.teacher, b"email,name\nada@campus.example,Ada\n", lesson.member())
    ada = lesson.at.user("ada", email="ADA@campus.example")
    assert [course.course_id for course, _ in lesson.campus.courses.of(ada)] == [COURSE]


def test_an_admin_imports_courses_with_their_sections(lesson: Class) -> None:
    admin = lesson.at.user("root", "admin")
    rows = (
        b"course,course name,semester,semester end,email,name,role,section\n"
        b"BIO1,Biology,2030 spring,2030-07-31,eve@campus.example,Eve,instructor,\n"
        b"BIO1,Biology,2030 spring,2030-07-31,u1@campus.example,,student,North\n"
        b"NO END,Chaos,2030,,u2@campus.example,,student,\n"
    )
    report = lesson.campus.roster.load(admin, rows)
    assert [each.outcome for each in report.entries] == ["new person", "enrolled", "refused"]
    course = lesson.campus.repository.course("BIO1")
    assert (course.name, course.sections) == ("Biology", ["North"])
    again = lesson.campus.roster.load(admin, rows)
    assert [each.outcome for each in again.entries] == ["unchanged", "unchanged", "refused"]
    other = rows.replace(b"BIO1", b"BIO2")
    assert {each.outcome for each in lesson.campus.roster.preview(lesson.teacher, other).entries} == {
        "refused"
    }


def test_two_imports_at_once_make_each_person_once(lesson: Class) -> None:
    rows = b"email,name\n" + b"".join(b"p%d@campus.example,P%d\n" % (n, n) for n in range(10))
    member = lesson.member()
    work = [lambda: lesson.campus.roster.load(lesson.teacher, rows, member)] * 3
    assert not [each for each in at_once(work, 3) if isinstance(each, Exception)]
    students = lesson.campus.courses.members(COURSE, "student")
    assert len(students) == len({each.email for each in students}) == 12


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"name,role\nAda,student\n", "MISSING_COLUMN"),
        (b"email\n\xff\xfe\n", "INVALID_CSV"),
        (b"email\n\x00\n", "INVALID_CSV"),
        (b"email\n" + b"x" * 2_200_000, "FILE_TOO_LARGE"),
        (b"email\n" + b"a@b.example\n" * 10_001, "FILE_TOO_LARGE"),
        (b"", "MISSING_COLUMN"),
    ],
)
def test_a_file_that_is_not_such_a_table_is_refused_as_a_whole(
    lesson: Class, content: bytes, code: str
) -> None:
    with refuses(code):
        lesson.campus.roster.preview(lesson.teacher, content, lesson.member())


def test_separators_quotes_and_our_own_guard_against_formulas_are_understood() -> None:
    (row,) = rows_of(b'Team,E-Mail\n"\'=Team ""A"", b",x@y.example\n', ("team", "email"), {"e mail": "email"})
    assert (row.line, dict(row.cells)) == (2, {"team": '=Team "A", b', "email": "x@y.example"})
    assert [dict(each.cells) for each in rows_of(b"a\tb\r\n1\t2\r\n\r\n", ("a",), {})] == [
        {"a": "1", "b": "2"}
    ]


# --- teams ---


def test_a_student_is_in_one_team_of_a_set(lesson: Class) -> None:
    group_set, one = lesson.team("u1")
    _, other = lesson.team("u2", group_set=group_set)
    u1 = lesson.people["u1"].user_id
    with refuses("ALREADY_IN_TEAM"):
        lesson.campus.teams.add(lesson.member(), group_set, other.team_id, u1)
    with refuses("ALREADY_IN_TEAM"):
        lesson.campus.teams.create_team(lesson.member(), group_set, "Third", [u1])
    lesson.campus.teams.take_out(lesson.member(), group_set, one.team_id, u1)
    assert u1 in lesson.campus.teams.add(lesson.member(), group_set, other.team_id, u1).member_ids


def test_students_who_join_at_once_never_overfill_a_team(lesson: Class) -> None:
    for n in range(3, 9):
        lesson.person(f"u{n}")
    group_set = lesson.campus.teams.create_set(lesson.member(), "Labs", self_enrolment=True, team_size=3)
    team = lesson.campus.teams.create_team(lesson.member(), group_set, "Lab 1")
    members = [lesson.member(f"u{n}") for n in range(1, 9)]

    def join(member: CourseMember) -> object:
        return lesson.campus.teams.join(member, group_set, team.team_id)

    at_once([lambda member=member: join(member) for member in members], 8)  # type: ignore[misc]  # member is bound
    assert len(lesson.campus.teams.teams(group_set)[0].member_ids) == 3


def test_only_sets_that_say_so_are_joined_by_students(lesson: Class) -> None:
    group_set, team = lesson.team("u1")
    with refuses("NO_SELF_ENROLMENT"):
        lesson.campus.teams.join(lesson.member("u2"), group_set, team.team_id)


def test_at_random_everyone_is_in_a_team_of_nearly_equal_size(lesson: Class) -> None:
    for n in range(3, 12):
        lesson.person(f"u{n}")
    group_set = lesson.campus.teams.create_set(lesson.member(), "Random")
    made = lesson.campus.teams.at_random(lesson.member(), group_set, 3)
    assert sorted(len(team.member_ids) for team in made) == [2, 3, 3, 3]
    assert lesson.campus.teams.without_team(group_set) == []
    assert lesson.campus.teams.at_random(lesson.member(), group_set, 3) == []


def test_teams_from_csv_are_the_same_when_loaded_again(lesson: Class) -> None:
    group_set = lesson.campus.teams.create_set(lesson.member(), "CSV")
    rows = b"team,email\nRed,u1@campus.example\nRed,u2@campus.example\nBlue,nobody@campus.example\n"
    first = lesson.campus.teams.load(lesson.member(), group_set, rows)
    again = lesson.campus.teams.load(lesson.member(), group_set, rows)
    assert [row.outcome.partition(":")[0] for row in first] == ["added", "added", "refused"]
    assert [row.outcome.partition(":")[0] for row in again] == ["unchanged", "unchanged", "refused"]


def test_a_row_that_is_refused_leaves_no_team(lesson: Class) -> None:
    group_set, _ = lesson.team("u1")
    rows = b"team,email\nGreen,u1@campus.example\nBLUE,u2@campus.example\nblue,u2@campus.example\n"
    report = lesson.campus.teams.load(lesson.member(), group_set, rows)
    assert [row.outcome.partition(":")[0] for row in report] == ["refused", "added", "unchanged"]
    names = [team.name for team in lesson.campus.teams.teams(group_set)]
    assert ("BLUE" in names, "Green" in names, "blue" in names) == (True, False, False)


def test_staff_of_a_course_are_in_no_team(lesson: Class) -> None:
    group_set, team = lesson.team("u1")
    staff = lesson.member().user.user_id
    with refuses("STUDENTS_ONLY"):
        lesson.campus.teams.add(lesson.member(), group_set, team.team_id, staff)
    with refuses("STUDENTS_ONLY"):
        lesson.campus.teams.create_team(lesson.member(), group_set, "Staff", [staff])
    assert len(lesson.campus.teams.teams(group_set)) == 1


def test_two_teams_of_a_set_have_different_names(lesson: Class) -> None:
    teams, member = lesson.campus.teams, lesson.member()
    group_set, other = teams.create_set(member, "One"), teams.create_set(member, "Two")
    teams.create_team(member, group_set, "Team 2")
    with refuses("TEAM_EXISTS"):
        teams.create_team(member, group_set, " team 2 ")
    teams.create_team(member, other, "Team 2")
    made = teams.at_random(member, group_set, 1)
    assert "Team 2" not in {team.name for team in made}


def test_a_removed_student_leaves_the_teams(lesson: Class) -> None:
    group_set, _ = lesson.team("u1", "u2")
    lesson.campus.courses.remove(lesson.member(), lesson.people["u1"].user_id)
    assert lesson.campus.teams.teams(group_set)[0].member_ids == [lesson.people["u2"].user_id]


def test_a_student_who_becomes_staff_leaves_the_teams(lesson: Class) -> None:
    group_set, team = lesson.team("u1", "u2")
    lesson.campus.courses.place(lesson.member(), lesson.people["u1"], "ta", None)
    assert lesson.campus.teams.teams(group_set)[0].member_ids == [lesson.people["u2"].user_id]
    lesson.campus.courses.place(lesson.member(), lesson.people["u1"], "student", None)
    lesson.campus.teams.add(lesson.member(), group_set, team.team_id, lesson.people["u1"].user_id)


# --- assignments ---


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"title": " "}, "INVALID_TITLE"),
        ({"available_from": timedelta(days=9)}, "INVALID_DATES"),
        ({"accept_until": timedelta(days=1)}, "INVALID_DATES"),
        ({"accept_until": timedelta(days=9), "late_policy": "reject"}, "INVALID_DATES"),
        ({"max_submissions": 0}, "INVALID_LIMIT"),
        ({"max_file_size": 0}, "INVALID_SIZE"),
        ({"allowed_file_types": ["pdf"]}, "INVALID_TYPE"),
        ({"rubric_url": "http://example.edu"}, "INVALID_URL"),
        ({"missing_grade": 11, "points": 10}, "INVALID_POINTS"),
        ({"late_policy": "penalise"}, "INVALID_PERCENT"),
        ({"grade_each": True}, "NO_TEAMS"),
        ({"group_set_id": "00000000-0000-4000-8000-00000000ffff"}, "GROUP_SET_NOT_FOUND"),
        ({"attachments": ["00000000-0000-4000-8000-00000000ffff"]}, "FILE_NOT_FOUND"),
        ({"grace_minutes": -1}, "INVALID_GRACE"),
    ],
)
def test_an_assignment_with_a_mistake_is_refused(lesson: Class, fields: dict[str, object], code: str) -> None:
    given = {
        name: lesson.now() + value if isinstance(value, timedelta) else value
        for name, value in fields.items()
    }
    with refuses(code):
        lesson.assignment(published=False, **given)


def test_students_see_an_assignment_once_it_is_published_and_are_told_once(lesson: Class) -> None:
    assignment = lesson.assignment(published=False)
    assert lesson.campus.assignments.of(lesson.member("u1")) == []
    lesson.campus.assignments.publish(lesson.member(), assignment.assignment_id)
    lesson.campus.assignments.publish(lesson.member(), assignment.assignment_id)
    lesson.run_tasks()
    lesson.run_tasks()
    assert [each.title for each in lesson.campus.assignments.of(lesson.member("u1"))] == ["Lab 1"]
    news = list(lesson.at.db.all(lesson.campus.notifier.of(lesson.people["u1"])))
    assert [each.kind for each in news] == ["assignment"]
    assert "Lab 1" in news[0].text


def test_only_instructors_edit_and_a_change_after_what_was_seen_is_a_conflict(lesson: Class) -> None:
    assignment, service = lesson.assignment(), lesson.campus.assignments
    lesson.person("tom", "ta")
    with refuses("INSTRUCTOR_ONLY"):
        service.change(lesson.member("tom"), assignment.assignment_id, {"title": "Mine"})
    seen = assignment.updated_at
    lesson.submit("u1", assignment)
    lesson.campus.submission_counts.count(
        COURSE, assignment.assignment_id
    )  # changes the version, not the text
    changed = service.change(lesson.member(), assignment.assignment_id, {"title": "Lab one"}, seen)
    assert (changed.title, changed.submission_count) == ("Lab one", 1)
    with refuses("VERSION_CONFLICT"):
        service.change(lesson.member(), assignment.assignment_id, {"title": "Lab eins"}, seen)


def test_a_new_name_of_the_course_reaches_its_assignments(lesson: Class) -> None:
    assignment = lesson.assignment()
    lesson.campus.courses.change(lesson.member(), {"name": "Computing for all"})
    lesson.run_tasks()
    assert lesson.again(assignment).course_name == "Computing for all"


def test_teams_are_fixed_once_it_is_published(lesson: Class) -> None:
    group_set, _ = lesson.team("u1")
    with refuses("PUBLISHED"):
        lesson.campus.assignments.change(
            lesson.member(), lesson.assignment().assignment_id, {"group_set_id": group_set.group_set_id}
        )


def test_it_closes_when_the_last_extension_is_over(lesson: Class) -> None:
    assignment, service = lesson.assignment(late_policy="reject"), lesson.campus.assignments
    fields = {"due_date": assignment.due_date + timedelta(days=2)}
    u1 = lesson.people["u1"].user_id
    service.override(lesson.member(), assignment.assignment_id, "student", u1, fields)
    lesson.at.clock.move(assignment.due_date + timedelta(seconds=1) - lesson.now())
    assert service.close_due() == 0
    lesson.at.later(days=2)
    assert service.close_due() == 1
    assert service.close_due() == 0
    assert lesson.again(assignment).status == "closed"
    with refuses("INVALID_DATES"):
        service.reopen(lesson.member(), assignment.assignment_id)


def test_late_work_that_is_accepted_keeps_it_open_until_the_semester_ends(lesson: Class) -> None:
    assignment = lesson.assignment(late_policy="accept")
    lesson.at.later(days=30)
    assert lesson.campus.assignments.close_due() == 0
    lesson.at.later(days=100)
    assert lesson.campus.assignments.close_due() == 1
    assert lesson.again(assignment).status == "closed"


@pytest.mark.parametrize(
    ("audience", "id", "fields", "code"),
    [
        ("student", "user-nobody", {"excused": True}, "AUDIENCE_NOT_FOUND"),
        ("section", "Z", {"excused": True}, "AUDIENCE_NOT_FOUND"),
        ("team", "00000000-0000-4000-8000-00000000ffff", {"excused": True}, "AUDIENCE_NOT_FOUND"),
        ("section", "A", {}, "NOTHING_TO_CHANGE"),
        ("section", "A", {"extra_submissions": 99}, "INVALID_LIMIT"),
    ],
)
def test_an_override_with_a_mistake_is_refused(
    lesson: Class, audience: Audience, id: str, fields: dict[str, object], code: str
) -> None:
    assignment = lesson.assignment()
    with refuses(code):
        lesson.campus.assignments.override(
            lesson.member(),
            assignment.assignment_id,
            audience,
            id,
            fields,
        )
    assert lesson.campus.repository.overrides_of(assignment.assignment_id) == []


def test_a_removed_override_makes_work_late_again(lesson: Class) -> None:
    assignment, service = lesson.assignment(), lesson.campus.assignments
    fields = {"due_date": assignment.due_date + timedelta(days=2)}
    service.override(lesson.member(), assignment.assignment_id, "section", "A", fields)
    lesson.at.clock.move(assignment.due_date + timedelta(days=1) - lesson.now())
    made = lesson.submit("u1", assignment)
    assert not made.is_late
    service.remove_override(lesson.member(), assignment.assignment_id, "section", "A")
    lesson.run_tasks()
    stored = lesson.row(made)
    assert stored is not None
    assert stored.is_late


def test_a_day_before_it_is_due_who_has_not_submitted_is_reminded_once(lesson: Class) -> None:
    assignment = lesson.assignment()
    lesson.run_tasks()
    lesson.person("u3")
    u3 = lesson.people["u3"].user_id
    later = {"due_date": assignment.due_date + timedelta(days=3)}
    lesson.campus.assignments.override(lesson.member(), assignment.assignment_id, "student", u3, later)
    lesson.submit("u1", assignment)

    def reminded() -> list[str]:
        lesson.campus.reminders.plan()
        lesson.run_tasks()
        news = {
            name: lesson.at.db.all(lesson.campus.notifier.of(user)) for name, user in lesson.people.items()
        }
        return [name for name, found in news.items() for each in found if each.kind == "reminder"]

    assert reminded() == []
    lesson.at.clock.move(assignment.due_date - timedelta(hours=23) - lesson.now())
    assert reminded() == ["u2"]
    assert reminded() == ["u2"]
    lesson.at.later(days=3)
    assert reminded() == ["u2", "u3"]


def test_a_date_that_was_moved_is_reminded_of_again(lesson: Class) -> None:
    assignment = lesson.assignment()
    lesson.at.clock.move(assignment.due_date - timedelta(hours=23) - lesson.now())

    def reminders() -> list[str]:
        lesson.campus.reminders.plan()
        lesson.run_tasks()
        found = lesson.at.db.all(lesson.campus.notifier.of(lesson.people["u1"]))
        return [each.text for each in found if each.kind == "reminder"]

    assert len(reminders()) == 1
    moved = assignment.due_date + timedelta(days=2)
    lesson.campus.assignments.change(lesson.member(), assignment.assignment_id, {"due_date": moved})
    assert len(reminders()) == 1
    lesson.at.later(days=2)
    assert len(reminders()) == 2
    assert len(reminders()) == 2


def test_an_extension_of_one_member_moves_the_reminder_and_the_missing_grade_of_the_team(
    lesson: Class,
) -> None:
    lesson.person("u3")
    lesson.person("u4", section="B")
    group_set, _ = lesson.team("u1", "u3")
    lesson.team("u2", group_set=group_set)
    lesson.team("u4", group_set=group_set)
    assignment = lesson.assignment(
        group_set_id=group_set.group_set_id, late_policy="reject", missing_grade=Decimal(0)
    )
    later = {"due_date": assignment.due_date + timedelta(days=3)}
    change = lesson.campus.assignments.override
    change(lesson.member(), assignment.assignment_id, "student", lesson.people["u3"].user_id, later)
    change(
        lesson.member(), assignment.assignment_id, "student", lesson.people["u4"].user_id, {"excused": True}
    )
    lesson.run_tasks()

    def told(kind: str) -> dict[str, list[str]]:
        news = {
            name: lesson.at.db.all(lesson.campus.notifier.of(user)) for name, user in lesson.people.items()
        }
        return {name: [each.text for each in found if each.kind == kind] for name, found in news.items()}

    def reminded() -> list[str]:
        lesson.campus.reminders.plan()
        lesson.run_tasks()
        return sorted(name for name, texts in told("reminder").items() if texts)

    def states() -> dict[str, tuple[str, Decimal | None]]:
        course = lesson.campus.repository.course(COURSE)
        names = {user.user_id: name for name, user in lesson.people.items()}
        staff = {row.student.user_id: row for row in lesson.campus.gradebook.for_staff(course).rows}
        found: dict[str, tuple[str, Decimal | None]] = {}
        for id, row in staff.items():
            _, own = lesson.campus.gradebook.for_student(course, row.student)
            result = row.results[assignment.assignment_id]
            assert own.results[assignment.assignment_id].state == result.state
            found[names[id]] = (result.state, result.score)
        return found

    published = told("assignment")
    assert published["u1"] == published["u3"] != published["u2"]
    lesson.at.clock.move(assignment.due_date - timedelta(hours=23) - lesson.now())
    assert reminded() == ["u2"]
    lesson.at.later(days=1)
    excused, missing, still_open = ("excused", None), ("missing", Decimal(0)), ("open", None)
    assert states() == {"u1": still_open, "u2": missing, "u3": still_open, "u4": excused}
    lesson.at.later(days=2)
    assert reminded() == ["u1", "u2", "u3"]
    lesson.at.later(days=1)
    assert states() == {"u1": missing, "u2": missing, "u3": missing, "u4": excused}


def test_an_extension_of_a_members_section_is_one_for_the_team_in_the_gradebook(lesson: Class) -> None:
    group_set, _ = lesson.team("u1", "u2")
    assignment = lesson.assignment(
        group_set_id=group_set.group_set_id, late_policy="reject", missing_grade=Decimal(0)
    )
    later = {"due_date": assignment.due_date + timedelta(days=3)}
    lesson.campus.assignments.override(lesson.member(), assignment.assignment_id, "section", "B", later)
    lesson.at.clock.move(assignment.due_date + timedelta(days=1) - lesson.now())
    sheet = lesson.campus.gradebook.for_staff(lesson.campus.repository.course(COURSE))
    assert [row.results[assignment.assignment_id].state for row in sheet.rows] == ["open", "open"]


# --- the archive ---


def test_two_years_after_the_semester_a_course_is_archived_verified_and_dropped(lesson: Class) -> None:
    assignment, file = lesson.assignment(), lesson.file("u1", b"%PDF-1.7 kept\n", "report.pdf")
    made = lesson.submit("u1", assignment, file_part(file))
    lesson.submit("u2", assignment, text("short"))
    lesson.at.later(days=120 + 2 * 365)
    lesson.run_tasks()
    assert lesson.row(made) is not None
    lesson.at.later(days=2)
    lesson.run_tasks()
    assert lesson.row(made) is None
    assert lesson.campus.assignments.count(assignment.assignment_id) == 0
    assert lesson.campus.repository.file(file.file_id).held_by == []
    assert lesson.campus.repository.course(COURSE).archived_at is not None
    archive = lesson.campus.archive._archive
    name = archive_name(lesson.campus.repository.course(COURSE))
    lines = [json.loads(line) for line in archive.lines(name)]
    rows = [line["item"] for line in lines if line["kind"] == "submission"]
    assert {row["studentName"] for row in rows} == {"u1", "u2"}
    assert [line["partId"] for line in lines if line["kind"] == "bytes"] == [made.parts[0].part_id]
    lesson.at.later(days=5 * 365 - 1)
    lesson.run_tasks()
    assert list(archive.names()) == [name]
    lesson.at.later(days=2)
    lesson.run_tasks()
    assert list(archive.names()) == []


def test_a_crash_while_dropping_continues_and_does_not_archive_again(lesson: Class) -> None:
    assignment = lesson.assignment()
    made = [lesson.submit(name, assignment) for name in ("u1", "u2")]
    lesson.at.later(days=120 + 2 * 365 + 2)
    archive = lesson.campus.archive
    course = archive._stored(lesson.campus.repository.course(COURSE))
    archive._drop(made[0])
    stored = archive._archive.manifest(archive_name(course))
    lesson.run_tasks()
    assert lesson.campus.assignments.count(assignment.assignment_id) == 0
    assert archive._archive.manifest(archive_name(course)) == stored
    assert lesson.campus.repository.course(COURSE).archived_at == course.archived_at
    assert lesson.at.db.one(d.attempts.get(assignment.assignment_id, lesson.people["u1"].user_id)) is None


def test_of_two_workers_that_archive_a_course_the_slower_replaces_nothing(
    lesson: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    assignment = lesson.assignment()
    for name in ("u1", "u2"):
        lesson.submit(name, assignment)
    lesson.at.later(days=120 + 2 * 365 + 2)
    archive, lines_of = lesson.campus.archive, lesson.campus.archive._lines

    def slowly(course: Course) -> Iterator[bytes]:
        lines = lines_of(course)
        yield next(lines)
        monkeypatch.undo()
        lesson.run_tasks()  # its lease has run out: another worker archives the course and drops its records
        yield from lines

    monkeypatch.setattr(archive, "_lines", slowly)
    with refuses("VERSION_CONFLICT"):
        archive._stored(lesson.campus.repository.course(COURSE))
    assert lesson.campus.assignments.count(assignment.assignment_id) == 0
    name = archive_name(lesson.campus.repository.course(COURSE))
    rows = [json.loads(line) for line in archive._archive.lines(name)]
    assert [row["item"]["studentName"] for row in rows if row["kind"] == "submission"] == ["u1", "u2"]
    assert list(archive._archive.names()) == [name]
