"""The pages of courses over HTTP in the demo world, as a browser without a script uses them.

Who may see what; all mistakes of a form at once and nothing typed is lost; a team's draft; the receipt.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

import httpx
import pytest
from tests.app.browsing import Enter, browsers, ticking
from tests.app.portal_forms import forms_of, words_of

from tablewright import testing
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import CAMPUS as SYSTEM
from tablewright.edge import serving_app
from tablewright.systems.campus.access import member_of
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.course_model import Assignment
from tablewright.systems.campus.model import User

HOME = "/console/campus"
NOW = datetime(2026, 11, 16, 8, 0, tzinfo=UTC)
LIN, OMAR, TESSA, BRANDT = "student_lin", "student_omar", "ta_tessa", "prof_brandt"
HOSTILE = '<script>alert("x")</script>'


@pytest.fixture(scope="module")
def clock() -> testing.Clock:
    return testing.Clock(NOW)


@pytest.fixture(scope="module")
def runtime(clock: testing.Clock) -> Iterator[Runtime]:
    with open_app(memory=True, systems=(SYSTEM,), world=ticking(clock), jobs=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def campus(runtime: Runtime) -> Campus:
    found: Campus = runtime.running[0].service
    return found


@pytest.fixture(scope="module")
def url(runtime: Runtime) -> Iterator[str]:
    with serving_app(app_of(runtime)) as served:
        yield served


@pytest.fixture
def enter(url: str) -> Iterator[Enter]:
    with browsers(url) as entered:
        yield entered


@pytest.fixture(scope="module")
def teacher(campus: Campus) -> User:
    found = campus.users.by_email("brandt@campus.example")
    assert found is not None
    return found


@pytest.fixture(scope="module")
def course_id(campus: Campus, teacher: User) -> str:
    return next(
        course.course_id for course, _ in campus.courses.of(teacher) if course.course_id.startswith("CS101")
    )


@pytest.fixture
def assignment(campus: Campus, teacher: User, course_id: str) -> Assignment:
    """A published assignment that is due in a week."""
    member = member_of(campus, teacher, course_id)
    fields = {
        "title": "A test", "description": HOSTILE, "due_date": campus.repository.now() + timedelta(days=7),
        "max_file_size": 10_000, "allowed_file_types": [], "max_submissions": 2, "statement": "My own work.",
    }  # fmt: skip
    made = campus.assignments.create(member, fields)
    return campus.assignments.publish(member, made.assignment_id)


def _form(page: httpx.Response, action: str) -> dict[str, str | list[str]]:
    """The values of the form of a page that is sent to this path."""
    return next(form.values for form in forms_of(page) if form.action.endswith(action))


def _team_assignment(campus: Campus, teacher: User, course_id: str) -> str:
    """The path of a published assignment for teams."""
    member = member_of(campus, teacher, course_id)
    group_set = campus.teams.sets(course_id)[0]
    fields = {
        "title": "Together", "description": "", "due_date": campus.repository.now() + timedelta(days=7),
        "max_file_size": 1000, "allowed_file_types": [], "group_set_id": group_set.group_set_id,
    }  # fmt: skip
    made = campus.assignments.create(member, fields)
    campus.assignments.publish(member, made.assignment_id)
    return f"{HOME}/assignments/{made.assignment_id}"


# --- who may see what ---


def test_students_see_their_pages_and_not_those_of_staff(
    enter: Enter, course_id: str, assignment: Assignment
) -> None:
    get = enter(LIN).get
    course, page = f"{HOME}/courses/{course_id}", f"{HOME}/assignments/{assignment.assignment_id}"
    for path in (f"{HOME}/courses", course, f"{course}/teams", page, f"{page}/submit"):
        assert get(path).status_code == 200, path
    for path in (
        f"{course}/people",
        f"{course}/roster",
        f"{course}/settings",
        f"{page}/edit",
        f"{page}/extensions",
    ):
        assert get(path).status_code == 403, path
    assert get(f"{HOME}/courses/NOT-MINE").status_code == 404


def test_a_teaching_assistant_sees_people_and_dates_but_does_not_edit(
    enter: Enter, course_id: str, assignment: Assignment
) -> None:
    get = enter(TESSA).get
    course, page = f"{HOME}/courses/{course_id}", f"{HOME}/assignments/{assignment.assignment_id}"
    assert [get(f"{course}/people").status_code, get(f"{page}/extensions").status_code] == [200, 200]
    assert [get(f"{course}/roster").status_code, get(f"{page}/edit").status_code] == [403, 403]


def test_what_a_teacher_wrote_is_shown_and_never_run(enter: Enter, assignment: Assignment) -> None:
    page = enter(LIN).get(f"{HOME}/assignments/{assignment.assignment_id}")
    assert HOSTILE not in page.text
    assert HOSTILE in words_of(page)


# --- dates and costs ---


def test_a_late_student_reads_what_it_costs_and_dates_have_their_zone(
    enter: Enter, campus: Campus, teacher: User, course_id: str, clock: testing.Clock
) -> None:
    member = member_of(campus, teacher, course_id)
    soon = campus.repository.now() + timedelta(hours=1)
    fields = {
        "title": "Costly", "description": "", "due_date": soon, "max_file_size": 1000, "allowed_file_types": [],
        "late_policy": "penalise", "late_penalty": {"percent": 10, "unit": "hour"}, "group_set_id": None,
    }  # fmt: skip
    made = campus.assignments.create(member, fields)
    campus.assignments.publish(member, made.assignment_id)
    campus.courses.change(member, {"late_days": 0})
    lin, path = enter(LIN), f"{HOME}/assignments/{made.assignment_id}"
    assert "costs" not in words_of(lin.get(path)).split("Rules")[0]
    clock.move(timedelta(hours=1, minutes=10))
    assert "Submitting now costs 10 %. It was due Mon 16 November 2026," in words_of(lin.get(path))
    assert "CET" in words_of(lin.get(path))
    assert "Submitting now costs 10 %." in words_of(lin.get(f"{HOME}/courses/{course_id}"))


# --- the editor ---


def test_a_form_with_mistakes_shows_all_of_them_and_keeps_what_was_typed(
    enter: Enter, course_id: str
) -> None:
    path = f"{HOME}/courses/{course_id}/new-assignment"
    typed = {
        "title": "", "dueDate": "soon", "maxSubmissions": "many", "maxMegabytes": "5", "points": "ten",
        "description": "Kept.", "latePolicy": "accept",
    }  # fmt: skip
    answer = enter(BRANDT).post(path, data=typed)
    words = words_of(answer)
    assert answer.status_code == 422
    for sentence in (
        "Enter a day and a time.",
        "Enter a number of attempts.",
        "Enter a number of points.",
        "Enter a title of up to 200 characters.",
        "Kept.",
    ):
        assert sentence in words
    ruled = {
        **typed,
        "dueDate": "2026-12-01T18:00",
        "maxSubmissions": "0",
        "points": "10",
        "missingGrade": "11",
    }
    words = words_of(enter(BRANDT).post(path, data=ruled))
    for sentence in (
        "Enter a title of up to 200 characters.",
        "Enter 1 to 50 attempts.",
        "Enter 0 to 10 points",
    ):
        assert sentence in words


def test_from_a_draft_to_an_open_assignment_edited_and_closed(
    enter: Enter, campus: Campus, course_id: str
) -> None:
    brandt, lin = enter(BRANDT), enter(LIN)
    page = brandt.get(f"{HOME}/courses/{course_id}/new-assignment")
    typed = _form(page, "/new-assignment") | {"title": "From the page", "dueDate": "2026-12-18T23:59"}
    made = brandt.post(f"{HOME}/courses/{course_id}/new-assignment", data=typed)
    assert "Saved as a draft." in words_of(made)
    path = made.url.path
    assert lin.get(path).status_code == 404
    stored = campus.repository.assignment(path.rpartition("/")[2])
    assert stored.due_date == datetime(2026, 12, 18, 22, 59, 59, tzinfo=UTC)  # the last second, in Berlin
    assert "Published." in words_of(brandt.post(f"{path}/state", data={"do": "publish"}))
    assert lin.get(path).status_code == 200
    edit = _form(brandt.get(f"{path}/edit"), "/edit")
    assert edit["dueDate"] == "2026-12-18T23:59"
    assert "Saved." in words_of(brandt.post(f"{path}/edit", data=edit | {"title": "Edited"}))
    late = brandt.post(f"{path}/edit", data=edit | {"title": "Too late"})
    assert late.status_code == 409
    assert "Someone else changed this assignment after you opened it." in words_of(late)
    assert "Too late" in late.text
    assert "Closed." in words_of(brandt.post(f"{path}/state", data={"do": "close"}))
    assert campus.repository.assignment(stored.assignment_id).status == "closed"


def test_files_that_are_attached_outlive_an_edit_by_a_colleague_and_those_deleted_are_named(
    enter: Enter, campus: Campus, teacher: User, course_id: str
) -> None:
    member = member_of(campus, teacher, course_id)
    kept, gone = (campus.uploads.store_whole(teacher, f"{name}.txt", [b"x"], 1) for name in ("kept", "gone"))
    fields = {
        "title": "With files", "description": "", "due_date": campus.repository.now() + timedelta(days=7),
        "max_file_size": 1000, "allowed_file_types": [], "attachments": [kept.file_id, gone.file_id],
    }  # fmt: skip
    made = campus.assignments.create(member, fields)
    campus.assignments.publish(member, made.assignment_id)
    path = f"{HOME}/assignments/{made.assignment_id}"
    campus.library.trash(teacher, gone.file_id)
    campus.purge.empty_trash(teacher)
    shown = enter(LIN).get(path)
    assert shown.status_code == 200
    assert "kept.txt" in words_of(shown)
    assert "cannot be opened any more" not in words_of(shown)
    brandt = enter(BRANDT)
    assert "1 attached file cannot be opened any more" in words_of(brandt.get(path))
    for number in range(50):  # a form lists the newest
        campus.uploads.store_whole(teacher, f"newer {number}.txt", [b"x"], 1)
    edit = _form(brandt.get(f"{path}/edit"), "/edit")
    assert "Saved." in words_of(brandt.post(f"{path}/edit", data=edit | {"title": "With one"}))
    assert campus.repository.assignment(made.assignment_id).attachments == [kept.file_id]


def test_other_dates_are_set_and_seen_by_whom_they_are_for(enter: Enter, assignment: Assignment) -> None:
    path = f"{HOME}/assignments/{assignment.assignment_id}"
    brandt = enter(BRANDT)
    assert "Choose who this is for." in words_of(brandt.post(f"{path}/extensions", data={"audienceId": ""}))
    typed = {"audienceId": f"student {LIN}", "dueDate": "2026-12-24T18:00", "reason": "a hospital stay"}
    saved = brandt.post(f"{path}/extensions", data=typed)
    assert "Lin Zhao" in words_of(saved)
    assert "Thu 24 December 2026, 18:00 CET" in words_of(enter(LIN).get(path))
    assert "24 December" not in words_of(enter(OMAR).get(path))
    assert "hospital" not in words_of(enter(LIN).get(path))
    removed = brandt.post(f"{path}/extensions/remove", data={"audienceId": f"student {LIN}"})
    assert "Everyone has the same dates" in words_of(removed)


# --- submitting ---


def test_parts_are_collected_submitted_with_the_statement_and_have_a_receipt(
    enter: Enter, campus: Campus, assignment: Assignment
) -> None:
    lin, path = enter(LIN), f"{HOME}/assignments/{assignment.assignment_id}"
    empty = lin.post(f"{path}/submit/parts", data={"version": "0"})
    assert "Choose a file, write a text or enter a link." in words_of(empty)
    bad = lin.post(
        f"{path}/submit/parts", data={"version": "0", "url": "http://insecure.example", "text": ""}
    )
    assert "Enter an address that begins with https://." in words_of(bad)
    added = lin.post(
        f"{path}/submit/parts", data={"version": "0", "text": HOSTILE, "url": "https://example.edu"}
    )
    assert HOSTILE in words_of(added)
    assert HOSTILE not in added.text
    form = _form(added, "/submit")
    refused = lin.post(f"{path}/submit", data=form | {"comments": "please look"})
    assert refused.status_code == 422
    assert "Confirm the statement before you submit." in words_of(refused)
    assert "please look" in words_of(refused)
    receipt = lin.post(f"{path}/submit", data=form | {"agreed": "on"})
    assert "Attempt 1 is submitted." in words_of(receipt)
    assert "My own work." in words_of(receipt)
    assert "sha256:" in receipt.text
    again = lin.post(f"{path}/submit", data=form | {"agreed": "on"})  # the same form twice
    assert again.url == receipt.url
    assert campus.assignments.count(assignment.assignment_id) == 1
    withdrawn = lin.post(receipt.url.path.replace("receipt", "withdraw"))
    assert "Withdrawn." in words_of(withdrawn)
    assert campus.assignments.count(assignment.assignment_id) == 0


def test_submit_takes_what_is_typed_and_was_not_added_and_a_refusal_keeps_it(
    enter: Enter, campus: Campus, assignment: Assignment
) -> None:
    lin, path = enter(LIN), f"{HOME}/assignments/{assignment.assignment_id}"
    typed = {"text": "All my work.", "url": "https://example.edu/plan"}
    for before in ([], ["An added part."]):  # with nothing added yet, and after a part
        for text in before:
            lin.post(f"{path}/submit/parts", data={"version": "0", "text": text})
        form = _form(lin.get(f"{path}/submit"), "/submit") | typed
        refused = lin.post(f"{path}/submit", data=form)
        assert refused.status_code == 422
        kept = _form(refused, "/submit")
        assert {name: kept[name] for name in typed} == typed
        wrong = lin.post(f"{path}/submit", data=kept | {"agreed": "on", "url": "http://insecure.example"})
        assert "Enter an address that begins with https://." in words_of(wrong)
        receipt = lin.post(f"{path}/submit", data=kept | {"agreed": "on"})
        again = lin.post(f"{path}/submit", data=kept | {"agreed": "on"})  # the same form twice
        assert again.url == receipt.url
        made = campus.repository.submission(receipt.url.path.split("/")[-2])
        assert [part.text or part.url for part in made.parts] == [*before, *typed.values()]
    assert campus.assignments.count(assignment.assignment_id) == 2


def test_what_is_typed_stays_in_a_draft_that_is_kept(enter: Enter, assignment: Assignment) -> None:
    lin, path = enter(LIN), f"{HOME}/assignments/{assignment.assignment_id}"
    typed = {"version": "0", "do": "keep", "text": "Half of it.", "comments": "Not done yet."}
    kept = lin.post(f"{path}/submit/parts", data=typed)
    assert (kept.url.path, "Kept as a draft." in words_of(kept)) == (path, True)
    page = lin.get(f"{path}/submit")
    assert "Half of it." in words_of(page)
    form = _form(page, "/submit")
    assert (form["comments"], form["text"]) == ("Not done yet.", "")
    nothing = lin.post(f"{path}/submit/parts", data=form | {"do": "keep"})
    assert nothing.url.path == path


def test_a_text_that_was_not_added_joins_the_attempt_that_a_teammate_made_in_between(
    enter: Enter, campus: Campus, teacher: User, course_id: str
) -> None:
    path = _team_assignment(campus, teacher, course_id)
    lin, omar = enter(LIN), enter(OMAR)
    lin.post(f"{path}/submit/parts", data={"version": "0", "text": "Lin's half"})
    seen = _form(omar.get(f"{path}/submit"), "/submit")
    one = lin.post(f"{path}/submit", data=_form(lin.get(f"{path}/submit"), "/submit"))
    other = omar.post(f"{path}/submit", data=seen | {"text": "Omar's half"})
    assert one.url == other.url
    made = campus.repository.submission(one.url.path.split("/")[-2])
    assert [part.text for part in made.parts] == ["Lin's half", "Omar's half"]


def test_a_part_that_a_teammate_added_is_seen_before_ones_own_is(
    enter: Enter, campus: Campus, teacher: User, course_id: str
) -> None:
    path = _team_assignment(campus, teacher, course_id)
    lin, omar = enter(LIN), enter(OMAR)
    seen = _form(omar.get(f"{path}/submit"), "/submit")
    lin.post(f"{path}/submit/parts", data={"version": "0", "text": "Lin's half"})
    conflict = omar.post(f"{path}/submit/parts", data=seen | {"text": "Omar's half"})
    assert conflict.status_code == 409
    words = words_of(conflict)
    assert "A part was added or removed after you opened this page." in words
    assert "Lin's half" in words
    assert "Omar's half" in words
    both = omar.post(f"{path}/submit/parts", data=_form(conflict, "/submit"))
    assert "added by Lin Zhao" in words_of(both)
    assert "added by Omar Haddad" in words_of(both)
    submit = _form(both, "/submit")
    one = omar.post(f"{path}/submit", data=submit)
    other = lin.post(f"{path}/submit", data=submit | {"key": "another-key-of-lin"})
    assert one.url == other.url
    assert campus.assignments.count(path.rpartition("/")[2]) == 1


def test_a_teacher_hands_in_what_a_student_sent_by_mail(
    enter: Enter, campus: Campus, assignment: Assignment
) -> None:
    brandt, path = enter(BRANDT), f"{HOME}/assignments/{assignment.assignment_id}"
    form = _form(brandt.get(f"{path}/submit-for"), "/submit-for")
    assert "Choose the student this is for." in words_of(
        brandt.post(f"{path}/submit-for", data=form | {"text": "x"})
    )
    typed = form | {"onBehalfOf": OMAR, "text": ""}
    assert "Add a file, a text or a link first." in words_of(brandt.post(f"{path}/submit-for", data=typed))
    receipt = brandt.post(f"{path}/submit-for", data=typed | {"text": "sent by mail"})
    assert "Attempt 1 of Omar Haddad is submitted." in words_of(receipt)
    assert "Handed in by staff yes" in words_of(receipt)
    again = brandt.post(f"{path}/submit-for", data=typed | {"text": "sent by mail"})
    assert (again.url, campus.assignments.count(assignment.assignment_id)) == (receipt.url, 1)
    assert enter(LIN).get(f"{path}/submit-for").status_code == 403


# --- rosters and teams ---


def test_a_roster_is_previewed_then_imported(enter: Enter, campus: Campus, course_id: str) -> None:
    brandt, path = enter(BRANDT), f"{HOME}/courses/{course_id}/roster"
    rows = f"email;name;role\nnew.person@campus.example;{HOSTILE};student\nnot an address;X;student\n"
    preview = brandt.post(path, data={"file": rows, "do": "preview"})
    words = words_of(preview)
    assert "Preview" in words
    assert "This is not a valid e-mail address." in words
    assert HOSTILE not in preview.text
    assert campus.users.by_email("new.person@campus.example") is None
    loaded = brandt.post(path, data=_form(preview, "/roster") | {"do": "load"})
    assert "Imported" in words_of(loaded)
    assert campus.users.by_email("new.person@campus.example") is not None


def test_a_file_that_is_no_roster_says_why(enter: Enter, course_id: str) -> None:
    answer = enter(BRANDT).post(f"{HOME}/courses/{course_id}/roster", data={"file": "a,b\n1,2\n"})
    assert answer.status_code == 400
    assert "The first line must name the columns; missing: email." in words_of(answer)


def test_teams_are_made_at_random_and_by_the_students(enter: Enter, course_id: str) -> None:
    brandt, lin = enter(BRANDT), enter(LIN)
    made = brandt.post(f"{HOME}/courses/{course_id}/teams", data={"name": "Seminar", "selfEnrolment": "on"})
    path = made.url.path
    brandt.post(path, data={"do": "create", "name": "Mondays"})
    team = next(form.action for form in forms_of(lin.get(path)) if form.action.startswith(f"{path}/"))
    assert "my team" in words_of(lin.post(team, data={"do": "join"}))
    assert "No members yet." in words_of(lin.post(team, data={"do": "leave"}))
    assert "teams made." in words_of(brandt.post(path, data={"do": "random", "teamSize": "4"}))
    assert "Enter 1 to 30 members." in words_of(brandt.post(path, data={"do": "random", "teamSize": "99"}))


def test_a_course_is_created_and_changed_with_all_mistakes_at_once(enter: Enter, campus: Campus) -> None:
    brandt = enter(BRANDT)
    post = partial(brandt.post, f"{HOME}/new-course")
    wrong = post(
        data={"courseId": "a b", "name": "", "semester": "", "semesterEnd": "x", "timeZone": "Mars/Base"}
    )
    assert wrong.status_code == 422
    assert "Enter the last day of the semester." in words_of(wrong)
    assert "Choose a time zone." in words_of(wrong)
    typed = {
        "courseId": "a b",
        "name": "",
        "semester": "x",
        "semesterEnd": "2027-03-31",
        "timeZone": "Europe/Berlin",
    }
    ruled = words_of(post(data=typed))
    assert "Enter a name of up to 200 characters." in ruled
    assert "such as CS101-2026-AUTUMN" in ruled
    made = post(data={**typed, "courseId": "PAGE-1", "name": "Pages", "sections": "A\nB\nA"})
    assert "Course created." in words_of(made)
    course = campus.repository.course("PAGE-1")
    assert (course.sections, course.semester_end) == (
        ["A", "B"],
        datetime(2027, 3, 31, 21, 59, 59, tzinfo=UTC),
    )
    assert enter(LIN).get(f"{HOME}/new-course").status_code == 403
    twice = post(data={**typed, "courseId": "PAGE-1", "name": "Pages"})
    assert "A course with this ID already exists." in words_of(twice)
