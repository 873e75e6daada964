"""The pages of grading over HTTP in the demo world, as a browser without a script uses them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import httpx
import pytest
from tests.app.browsing import Enter, browsers, ticking
from tests.app.portal_forms import forms_of, send, words_of

from tablewright import testing
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.serve import app_of
from tablewright.app.systems import CAMPUS as SYSTEM
from tablewright.edge import serving_app
from tablewright.systems.campus import design as d
from tablewright.systems.campus.access import member_of
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.course_model import Assignment, Submission
from tablewright.systems.campus.courses.parts import NewPart
from tablewright.systems.campus.grade_model import Criterion, Level
from tablewright.systems.campus.grading.mark_entries import MarkEntry
from tablewright.systems.campus.jobs import run_tasks
from tablewright.systems.campus.pages.rubrics import leveled

D = Decimal
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
def course_id(campus: Campus) -> str:
    teacher = campus.users.by_email("brandt@campus.example")
    assert teacher is not None
    return next(
        each.course_id for each, _ in campus.courses.of(teacher) if each.course_id.startswith("CS101")
    )


@pytest.fixture
def essay(campus: Campus, course_id: str) -> Assignment:
    """An assignment that Lin and Omar have submitted a text to."""
    return made(campus, course_id)


def made(campus: Campus, course_id: str, **more: object) -> Assignment:
    teacher = campus.users.by_email("brandt@campus.example")
    assert teacher is not None
    member = member_of(campus, teacher, course_id)
    fields = {
        "title": "An essay", "description": "Write.", "due_date": campus.repository.now() + timedelta(days=7),
        "max_file_size": 10_000, "allowed_file_types": [], "points": D(10), **more,
    }  # fmt: skip
    found = campus.assignments.publish(member, campus.assignments.create(member, fields).assignment_id)
    for name in ("lin", "omar"):
        student = campus.users.by_email(f"{name}@campus.example")
        assert student is not None
        text = NewPart("text", text=f"{HOSTILE}\nThe second line of {name}")
        campus.submissions.submit(
            member_of(campus, student, course_id), found, parts=[text], key=campus.repository.new_uuid()
        )
    return found


def submission_of(campus: Campus, assignment: Assignment, name: str = "lin") -> Submission:
    rows = campus.repository.db.all(d.submissions_of_assignment(assignment_id=assignment.assignment_id))
    return next(row for row in rows if row.student_email == f"{name}@campus.example")


def form_of(page: httpx.Response, ending: str) -> dict[str, object]:
    return dict(next(form.values for form in forms_of(page) if form.action.endswith(ending)))


def test_a_grader_marks_from_the_queue_and_a_student_sees_it_after_the_release(
    campus: Campus, enter: Enter, essay: Assignment, course_id: str
) -> None:
    tessa, lin = enter(TESSA), enter(LIN)
    row = submission_of(campus, essay)
    path = f"{HOME}/submissions/{row.submission_id}/mark"
    assert path in tessa.get(f"{HOME}/courses/{course_id}/grading").text
    page = tessa.get(path)
    assert page.status_code == 200
    assert HOSTILE not in page.text
    typed = {**form_of(page, "/mark"), "score": "8,5", "feedback": HOSTILE, "do": "publish"}
    assert "Grade saved." in words_of(tessa.post(path, data=typed))
    assert campus.repository.submission(row.submission_id).grade == D("8.5")
    own = f"{HOME}/submissions/{row.submission_id}/grade"
    assert "No grade yet" in words_of(lin.get(own))
    assert "8.5" not in words_of(lin.get(own))
    brandt = enter(BRANDT)
    brandt.post(f"{HOME}/assignments/{essay.assignment_id}/grading/release", data={})
    seen = lin.get(own)
    assert "8.5 of 10" in words_of(seen)
    assert HOSTILE not in seen.text
    assert "8.5 of 10" in words_of(lin.get(f"{HOME}/courses/{course_id}/grades"))


def test_what_is_typed_wrong_stays_with_the_mistake_beside_it(
    campus: Campus, enter: Enter, essay: Assignment
) -> None:
    tessa, row = enter(TESSA), submission_of(campus, essay)
    path = f"{HOME}/submissions/{row.submission_id}/mark"
    typed = {**form_of(tessa.get(path), "/mark"), "score": "eight", "feedback": "Nearly", "do": "publish"}
    page = tessa.post(path, data=typed)
    assert page.status_code == 422
    assert "Enter a number, such as 12.5." in words_of(page)
    assert form_of(page, "/mark")["score"] == "eight"
    assert form_of(page, "/mark")["feedback"] == "Nearly"
    page = tessa.post(path, data={**typed, "score": "11"})
    assert "must be 0 to 10" in words_of(page)


def test_the_slower_grader_keeps_what_was_typed_and_reads_the_other_grade(
    campus: Campus, enter: Enter, essay: Assignment
) -> None:
    tessa, brandt, row = enter(TESSA), enter(BRANDT), submission_of(campus, essay)
    path = f"{HOME}/submissions/{row.submission_id}/mark"
    first, second = form_of(tessa.get(path), "/mark"), form_of(brandt.get(path), "/mark")
    tessa.post(path, data={**first, "score": "7", "do": "publish"})
    page = brandt.post(path, data={**second, "score": "9", "do": "publish"})
    assert page.status_code == 409
    assert "The grade is 7 now, by Tessa Alvarez." in words_of(page)
    again = form_of(page, "/mark")
    assert again["score"] == "9"
    brandt.post(path, data={**again, "do": "publish"})
    assert campus.repository.submission(row.submission_id).grade == D(9)


def test_a_comment_on_a_line_is_beside_the_document_of_the_student(
    campus: Campus, enter: Enter, essay: Assignment
) -> None:
    tessa, row = enter(TESSA), submission_of(campus, essay)
    base = f"{HOME}/submissions/{row.submission_id}"
    part = row.parts[0].part_id
    said = tessa.post(f"{base}/comments", data={"partId": part, "line": "2", "text": HOSTILE, "keep": "on"})
    assert "Comment added." in words_of(said)
    assert "Line 2" in words_of(tessa.get(f"{base}/mark"))
    tessa.post(
        f"{base}/mark", data={**form_of(tessa.get(f"{base}/mark"), "/mark"), "score": "5", "do": "publish"}
    )
    lin = enter(LIN)
    assert "Line 2" not in words_of(lin.get(f"{base}/grade"))
    enter(BRANDT).post(f"{base}/return", data={})
    page = lin.get(f"{base}/grade")
    assert f'href="#{part}-L2"' in page.text
    assert f'id="{part}-L2"' in page.text
    assert HOSTILE not in page.text
    assert lin.post(f"{base}/comments", data={"partId": part, "text": "mine"}).status_code == 403


def test_a_single_grade_is_released_and_a_grader_chosen_by_an_instructor_alone(
    campus: Campus, enter: Enter, essay: Assignment
) -> None:
    tessa, brandt, row = enter(TESSA), enter(BRANDT), submission_of(campus, essay)
    base, grading = (
        f"{HOME}/submissions/{row.submission_id}",
        f"{HOME}/assignments/{essay.assignment_id}/grading",
    )
    assert f"{base}/grader" in brandt.get(grading).text
    assert f"{base}/grader" not in tessa.get(grading).text
    assert tessa.post(f"{base}/grader", data={"graderId": ""}).status_code == 403
    tessa.post(
        f"{base}/mark", data={**form_of(tessa.get(f"{base}/mark"), "/mark"), "score": "5", "do": "publish"}
    )
    assert "Release this grade now" not in tessa.get(f"{base}/mark").text
    assert tessa.post(f"{base}/return", data={}).status_code == 403
    assert campus.repository.submission(row.submission_id).status == "graded"
    assert "Release this grade now" in brandt.get(f"{base}/mark").text
    assert "Grade released to the student." in words_of(brandt.post(f"{base}/return", data={}))
    assert campus.repository.submission(row.submission_id).status == "returned"


def test_a_regrade_goes_from_the_student_to_the_queue_and_back(
    campus: Campus, enter: Enter, essay: Assignment, course_id: str
) -> None:
    tessa, lin, row = enter(TESSA), enter(LIN), submission_of(campus, essay)
    base = f"{HOME}/submissions/{row.submission_id}"
    tessa.post(
        f"{base}/mark", data={**form_of(tessa.get(f"{base}/mark"), "/mark"), "score": "5", "do": "publish"}
    )
    enter(BRANDT).post(f"{base}/return", data={})
    page = lin.post(f"{base}/regrade", data={"text": ""})
    assert page.status_code == 422
    thread = lin.post(f"{base}/regrade", data={"text": "My second line is fine."})
    assert "Your request is sent." in words_of(thread)
    queue = tessa.get(f"{HOME}/courses/{course_id}/regrades")
    assert "An essay" in words_of(queue)
    path = thread.url.path
    assert "Sent." in words_of(tessa.post(path, data={"text": "It is not."}))
    assert "It is not." in words_of(lin.get(path))
    assert enter(OMAR).get(path).status_code == 404
    assert "closed" in words_of(lin.post(f"{path}/close", data={}))


def test_names_are_on_no_page_of_an_anonymous_assignment_before_the_release(
    campus: Campus, enter: Enter, course_id: str
) -> None:
    essay = made(campus, course_id, anonymous=True, title="Blind")
    tessa, row = enter(TESSA), submission_of(campus, essay)
    for path in (
        f"{HOME}/submissions/{row.submission_id}/mark",
        f"{HOME}/assignments/{essay.assignment_id}/grading",
        f"{HOME}/assignments/{essay.assignment_id}/grading/worksheet.csv",
        f"{HOME}/submissions/{row.submission_id}/receipt",
    ):
        page = tessa.get(path)
        assert page.status_code == 200
        assert "Participant" in page.text
        known = ("Lin Zhao", "Omar Haddad", "lin@campus", row.student_id, row.university_id)
        for name in filter(None, known):
            # Beside the demo's list of people, in the frame.
            assert name not in page.text.partition("<main")[2] + page.text.partition("\ufeff")[2], (
                path,
                name,
            )
    queue = words_of(tessa.get(f"{HOME}/courses/{course_id}/grading"))
    assert "Participant" in queue


def test_a_worksheet_that_is_pasted_is_reported_row_by_row(
    campus: Campus, enter: Enter, essay: Assignment
) -> None:
    tessa, path = enter(TESSA), f"{HOME}/assignments/{essay.assignment_id}/grading"
    sheet = "E-mail,Score\nlin@campus.example,9\nomar@campus.example,99\n"
    page = words_of(tessa.post(f"{path}/worksheet", data={"sheet": sheet, "publish": "on"}))
    assert "saved" in page
    assert "refused score must be 0 to 10." in page
    assert campus.repository.submission(submission_of(campus, essay).submission_id).grade == D(9)
    assert "unchanged" in words_of(tessa.post(f"{path}/worksheet", data={"sheet": sheet, "publish": "on"}))
    assert tessa.get(f"{path}/worksheet.zip").content[:2] == b"PK"
    assert enter(LIN).get(path).status_code == 403


def test_a_student_without_a_submission_is_graded_and_reads_it_after_the_release(
    campus: Campus, enter: Enter, course_id: str, essay: Assignment
) -> None:
    tessa, noor = enter(TESSA), enter("student_noor")
    path = f"{HOME}/assignments/{essay.assignment_id}/grading"
    page = tessa.get(path)
    assert "Without a submission" in words_of(page)
    user = campus.users.by_email("noor@campus.example")
    assert user is not None
    mark = tessa.post(f"{path}/by-hand", data={"studentId": user.user_id})
    assert mark.url.path.endswith("/mark")
    assert "Graded without a submission." in words_of(mark)
    assert "Receipt" not in words_of(mark)
    wrong = send(tessa, mark, mark.url.path, score="11", do="publish")
    assert "score must be 0 to 10." in words_of(wrong)
    send(tessa, mark, mark.url.path, score="9", feedback="A good talk.", do="publish")
    mine = noor.get(f"{HOME}/assignments/{essay.assignment_id}")
    assert "without a submission" not in words_of(mine)
    assert noor.get(mark.url.path.replace("/mark", "/grade")).status_code == 404
    enter(BRANDT).post(f"{path}/release", data={})
    words = words_of(noor.get(f"{HOME}/assignments/{essay.assignment_id}"))
    assert "9 of 10 , without a submission" in words.replace("10,", "10 ,")
    assert "0 of 3" in words or "0 of 1" in words, "no attempt is used"
    grade = words_of(noor.get(mark.url.path.replace("/mark", "/grade")))
    assert "A good talk." in grade
    assert "Graded without a submission." in grade
    # What was begun for the wrong student is removed.
    other = campus.users.by_email("ada@campus.example")
    assert other is not None
    begun = tessa.post(f"{path}/by-hand", data={"studentId": other.user_id})
    assert "no submission" in words_of(tessa.get(path))
    removed = tessa.post(begun.url.path.replace("/mark", "/remove-grade"), data={})
    assert "Removed." in words_of(removed)
    assert tessa.get(begun.url.path).status_code == 404


def test_a_marker_gives_points_of_their_own_within_the_criterion(
    campus: Campus, enter: Enter, course_id: str
) -> None:
    teacher = campus.users.by_email("brandt@campus.example")
    assert teacher is not None
    criteria = [
        Criterion(criterion_id="", title="Ideas", levels=leveled([(D(0), "None"), (D(5), "Many")], []))
    ]
    actor = member_of(campus, teacher, course_id).actor
    rubric = campus.rubrics.create(course_id, "Ideas", criteria, actor)
    assignment = made(campus, course_id, rubric_id=rubric.rubric_id)
    row, tessa = submission_of(campus, assignment), enter(TESSA)
    path, first = f"{HOME}/submissions/{row.submission_id}/mark", rubric.criteria[0]
    page = tessa.get(path)
    level = first.levels[0].level_id
    typed = {f"level:{first.criterion_id}": level, f"points:{first.criterion_id}": "2,5"}
    above = send(tessa, page, path, **{**typed, f"points:{first.criterion_id}": "6", "do": "publish"})
    assert above.status_code == 422
    assert f"The points of “{first.title}” must be 0 to 5." in words_of(above)
    letters = send(tessa, page, path, **{**typed, f"points:{first.criterion_id}": "many", "do": "publish"})
    assert "Enter a number, such as 12.5." in words_of(letters)
    send(tessa, page, path, **typed, do="publish")
    assert campus.repository.submission(row.submission_id).score == D("2.5")
    again = next(
        form.values for form in forms_of(tessa.get(path)) if f"points:{first.criterion_id}" in form.values
    )
    assert (again[f"points:{first.criterion_id}"], again[f"level:{first.criterion_id}"]) == ("2.5", level)
    enter(BRANDT).post(path.replace("/mark", "/return"), data={})
    assert "2.5 points given" in words_of(enter(LIN).get(path.replace("/mark", "/grade")))


def test_the_gradebook_is_imported_from_a_file_after_a_preview(
    campus: Campus, enter: Enter, course_id: str, essay: Assignment
) -> None:
    tessa, path = enter(TESSA), f"{HOME}/courses/{course_id}/gradebook/import"

    def chosen(content: str) -> httpx.Response:
        return tessa.post(path, data={"do": "preview"}, files={"file": ("grades.csv", content.encode())})

    assert "Choose a CSV file." in words_of(tessa.post(path, data={"do": "preview"}))
    book = tessa.get(f"{HOME}/courses/{course_id}/gradebook.csv").text
    column = next(
        each
        for each in book.splitlines()[0].split(",")
        if essay.assignment_id[-6:] in each or each == f"{essay.title} (10)"
    )
    wrong = words_of(chosen(f"E-mail,{column},Bonus\nlin@campus.example,11,1\nx@x.example,1,1\n"))
    for words in ("The grade must be 0 to 10.", "Bonus", "x@x.example (line 3)", "Nothing can be imported"):
        assert words in wrong
    assert "Import 1 grade" not in wrong
    page = chosen(f"E-mail,{column}\nlin@campus.example,7\nomar@campus.example,=1+1\n")
    assert "“=1+1” is not a number." in words_of(page)
    page = chosen(f"E-mail,{column}\nlin@campus.example,7\nada@campus.example,5\n")
    assert "Import 2 grades" in words_of(page)
    assert "without a submission" in words_of(page)
    stale = next(form.values for form in forms_of(page) if "digest" in form.values)
    # Another grader is faster: nothing is imported, and the new preview says so.
    row = submission_of(campus, essay)
    actor = member_of(campus, campus.users.by_id(row.student_id), course_id).actor
    campus.marks.save(essay, row, MarkEntry(D(3)), actor, row.version)

    def sent(values: Mapping[str, object]) -> httpx.Response:
        return tessa.post(path, files={name: (None, str(value)) for name, value in values.items()})

    refusal = sent({**stale, "do": "apply"})
    assert refusal.status_code == 409
    assert "nothing was imported" in words_of(refusal)
    fresh = next(form.values for form in forms_of(refusal) if "digest" in form.values)
    done = sent({**fresh, "do": "apply"})
    assert "Grades saved 2" in words_of(done)
    assert campus.repository.submission(row.submission_id).grade == D(7)
    assert enter(LIN).get(path).status_code == 403


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_a_worksheet_is_taken_from_the_computer_as_csv_or_zip(
    campus: Campus, enter: Enter, essay: Assignment
) -> None:
    tessa, path = enter(TESSA), f"{HOME}/assignments/{essay.assignment_id}/grading"
    sheet = b"E-mail,Score,Folder,Feedback\nlin@campus.example,8,Lin,'=1+1\nomar@campus.example,x,Omar,\n"

    def taken(name: str, content: bytes) -> httpx.Response:
        return tessa.post(f"{path}/worksheet", data={"publish": "on"}, files={"worksheet": (name, content)})

    page = words_of(taken("worksheet.csv", sheet))
    assert "saved" in page
    assert "“x” is not a number." in page
    row = campus.repository.submission(submission_of(campus, essay).submission_id)
    assert (row.grade, row.feedback) == (D(8), "=1+1"), "a formula is text, here and in the next file"
    assert "'=1+1" in tessa.get(f"{path}/worksheet.csv").text
    page = words_of(
        taken("marked.zip", zipped({"worksheet.csv": sheet, "Lin/feedback/notes.txt": b"Read this."}))
    )
    assert "saved" in page
    row = campus.repository.submission(row.submission_id)
    assert row.feedback_file_id is not None


def test_a_file_from_the_computer_that_wants_to_do_harm_is_refused_beside_its_field(
    campus: Campus, enter: Enter, essay: Assignment
) -> None:
    tessa, path = enter(TESSA), f"{HOME}/assignments/{essay.assignment_id}/grading"
    bomb = zipped({"worksheet.csv": b"E-mail,Score\n", "Lin/feedback/zeros.txt": bytes(80 * 1024 * 1024)})
    assert len(bomb) < 1_000_000
    harmful = {
        "bomb.zip": (bomb, 413, "A file in this zip file has more than 64 MiB when it is unpacked."),
        "out.zip": (zipped({"../../worksheet.csv": b"x"}), 400, "has a name that leads out of it."),
        "large.zip": (bytes(16_000_001), 413, "This file is larger than 16 MB."),
        "empty.csv": (b" ", 422, "This file is empty."),
        "photo.csv": (b"\x89PNG\xff", 400, "This file is not UTF-8 text."),
    }
    for name, (content, status, words) in harmful.items():
        page = tessa.post(f"{path}/worksheet", files={"worksheet": (name, content)})
        assert (page.status_code, words in words_of(page)) == (status, True), name
    assert submission_of(campus, essay).status == "submitted"


def test_graders_are_allocated_and_a_release_is_set_and_withdrawn(
    campus: Campus, enter: Enter, essay: Assignment
) -> None:
    brandt, path = enter(BRANDT), f"{HOME}/assignments/{essay.assignment_id}/grading"
    values = next(form.values for form in forms_of(brandt.get(path)) if form.values.get("method") == "evenly")
    assert "2 submissions allocated." in words_of(brandt.post(f"{path}/allocate", data=values))
    assert submission_of(campus, essay).grader_id is not None
    closed = (
        brandt.get(path)
        .text.partition("<summary>Release all grades…</summary>")[2]
        .partition("</details>")[0]
    )
    for words in ("This cannot be undone.", "2 of 2 submissions not marked yet.", f'action="{path}/release"'):
        assert words in closed, "the button is behind what it does"
    page = brandt.post(f"{path}/release", data={"releaseAt": "tomorrow"})
    assert "Enter a date and a time." in words_of(page)
    brandt.post(f"{path}/release", data={"releaseAt": "2027-01-01T12:00"})
    zone = campus.repository.course(essay.course_id).time_zone
    moment = campus.repository.assignment(essay.assignment_id).released_at
    assert moment is not None
    assert moment.year in (2026, 2027), zone
    assert "withdrawn" in words_of(brandt.post(f"{path}/hold", data={}))
    assert enter(TESSA).post(f"{path}/release", data={}).status_code == 403


def test_a_rubric_is_written_as_lines_and_its_points_change_the_totals(
    campus: Campus, enter: Enter, course_id: str, essay: Assignment
) -> None:
    brandt, tessa = enter(BRANDT), enter(TESSA)
    base = f"{HOME}/courses/{course_id}/rubrics"
    wrong = brandt.post(f"{base}/new", data={"title": "", "criterion:1": "Style", "levels:1": "good"})
    assert "is not points and a name" in words_of(wrong)
    brandt.post(f"{base}/new", data={"title": "Lines", "criterion:1": "Style", "levels:1": "5 Good\n0 Bad"})
    rubric = next(each for each in campus.rubrics.of_course(course_id) if each.title == "Lines")
    grading = f"{HOME}/assignments/{essay.assignment_id}/grading"
    brandt.post(f"{grading}/rubric", data={"rubricId": rubric.rubric_id})
    row = submission_of(campus, essay)
    path = f"{HOME}/submissions/{row.submission_id}/mark"
    good = rubric.criteria[0].levels[0]
    level = {f"level:{rubric.criteria[0].criterion_id}": good.level_id}
    tessa.post(path, data={**form_of(tessa.get(path), "/mark"), **level, "do": "publish"})
    assert campus.repository.submission(row.submission_id).grade == D(5)
    form = form_of(brandt.get(f"{base}/{rubric.rubric_id}"), f"/{rubric.rubric_id}")
    brandt.post(f"{base}/{rubric.rubric_id}", data={**form, "levels:1": "4 Good\n0 Bad"})
    run_tasks(campus)
    assert campus.repository.submission(row.submission_id).grade == D(4)


def test_levels_keep_their_ids_by_title_then_by_place() -> None:
    before = [Level(level_id=id, title=title, points=D(1)) for id, title in (("a", "Good"), ("b", "Bad"))]

    def ids(*titles: str) -> list[str]:
        return [each.level_id for each in leveled([(D(1), title) for title in titles], before)]

    assert ids("Good", "Bad") == ["a", "b"]
    assert ids("Bad", "Good") == ["b", "a"]
    assert ids("Great", "Bad") == ["a", "b"]
    assert ids("Best", "Good", "Bad") == ["", "a", "b"]
    assert ids("Bad", "Worse") == ["b", ""]


def test_the_gradebook_has_a_chart_a_scheme_and_what_if(campus: Campus, enter: Enter, course_id: str) -> None:
    brandt, lin = enter(BRANDT), enter(LIN)
    page = brandt.get(f"{HOME}/courses/{course_id}/gradebook")
    assert "Lin Zhao" in words_of(page)
    assert "Number of students by percentage" in page.text
    assert brandt.get(f"{HOME}/courses/{course_id}/gradebook.csv").text.startswith("\ufeffStudent,")
    scheme = f"{HOME}/courses/{course_id}/gradebook/scheme"
    form = form_of(brandt.get(scheme), "/scheme")
    wrong = brandt.post(scheme, data={**form, "weight:1": "x", "letters": "A\nB 80"})
    assert wrong.status_code == 422
    assert "such as A 90" in words_of(wrong)
    assert "Weights and letters saved." in words_of(
        brandt.post(scheme, data={**form, "letters": "A 90\nB 80"})
    )
    mine = lin.get(f"{HOME}/courses/{course_id}/grades")
    guess = next(name for form in forms_of(mine) for name in form.values if name.startswith("guess:"))
    assert "With your guesses" in words_of(lin.get(f"{HOME}/courses/{course_id}/grades", params={guess: "1"}))
    assert "Enter a number." in words_of(lin.get(f"{HOME}/courses/{course_id}/grades", params={guess: "x"}))
    assert lin.get(f"{HOME}/courses/{course_id}/gradebook").status_code == 403
    assert brandt.get(f"{HOME}/courses/{course_id}/grades").status_code == 404


def test_two_markers_agree_on_a_page(campus: Campus, enter: Enter, course_id: str) -> None:
    essay = made(campus, course_id, second_marking=True, title="Twice")
    row = submission_of(campus, essay)
    path = f"{HOME}/submissions/{row.submission_id}/mark"
    for name, score in ((TESSA, "6"), (BRANDT, "8")):
        grader = enter(name)
        page = grader.get(path)
        assert "Agree on a grade" not in words_of(page)
        done = grader.post(path, data={**form_of(page, "/mark"), "score": score, "do": "publish"})
        assert "Your mark is finished." in words_of(done)
    brandt = enter(BRANDT)
    page = brandt.get(path)
    assert "Both marks are finished" in words_of(page)
    values = next(form.values for form in forms_of(page) if form.action.endswith("/mark"))
    brandt.post(path, data={**values, "score": "7", "do": "agree"})
    assert campus.repository.submission(row.submission_id).grade == D(7)


def test_a_draft_of_a_marker_is_in_the_form_again(campus: Campus, enter: Enter, essay: Assignment) -> None:
    row = submission_of(campus, essay, "omar")
    tessa = campus.users.by_email("tessa@campus.example")
    assert tessa is not None
    actor = member_of(campus, tessa, essay.course_id).actor
    campus.marks.save(essay, row, MarkEntry(D("3.50"), feedback="So far."), actor, row.version)
    form = form_of(enter(TESSA).get(f"{HOME}/submissions/{row.submission_id}/mark"), "/mark")
    assert (form["score"], form["feedback"]) == ("3.5", "So far.")


def test_next_follows_the_queue_with_the_own_ones_first_and_leads_back_to_it(
    campus: Campus, enter: Enter, course_id: str
) -> None:
    tessa, reader = enter(TESSA), campus.users.by_email("tessa@campus.example")
    assert reader is not None
    made(campus, course_id, title="Queue one")
    late = submission_of(campus, made(campus, course_id, title="Queue two"), "omar")
    teacher = campus.users.by_email("brandt@campus.example")
    assert teacher is not None
    actor = member_of(campus, teacher, course_id).actor
    campus.allocation.by_hand(
        campus.repository.assignment(late.assignment_id), late, reader.user_id, None, actor
    )

    queue = campus.marks.waiting(course_id, reader.user_id)
    own = [each for each in queue if each.grader_id == reader.user_id]
    rest = [each.submitted_at for each in queue[len(own) :]]
    assert late.submission_id in [each.submission_id for each in own]
    assert queue[: len(own)] == own
    assert rest == sorted(rest)
    left = [each.submission_id for each in queue]
    at = f"{HOME}/submissions/{left[0]}/mark"
    for after in left[1:]:
        page = tessa.get(at)
        following = f"{HOME}/submissions/{after}/mark"
        assert f'href="{following}" rel="next"' in page.text
        at = following
    page = tessa.get(at)
    assert 'rel="next"' not in page.text.partition("<main")[2]
    # From the middle: what is marked leaves the queue, and the next one is the one that stood behind it.
    at = f"{HOME}/submissions/{late.submission_id}/mark"
    typed = {**form_of(tessa.get(at), "/mark"), "score": "7", "do": "next"}
    said = tessa.post(at, data=typed)
    behind = left[left.index(late.submission_id) + 1]
    assert str(said.url).partition("?")[0].endswith(f"/submissions/{behind}/mark")
    last = [each.submission_id for each in campus.marks.waiting(course_id, reader.user_id)][-1]
    at = f"{HOME}/submissions/{last}/mark"
    typed = {**form_of(tessa.get(at), "/mark"), "score": "7", "do": "next"}
    said = tessa.post(at, data=typed)
    assert str(said.url).partition("?")[0].endswith(f"/courses/{course_id}/grading"), said.url


def test_staff_checks_the_code_of_a_receipt(campus: Campus, enter: Enter, essay: Assignment) -> None:
    row = submission_of(campus, essay)
    path, code = f"{HOME}/submissions/{row.submission_id}/receipt", campus.receipts.code(row)
    assert "Your teacher can check it" in words_of(enter(LIN).get(path))
    assert code in enter(LIN).get(path).text
    tessa = enter(TESSA)
    assert "This code is right" in words_of(tessa.get(path, params={"code": code}))
    assert "not a receipt of this attempt" in words_of(tessa.get(path, params={"code": code[:-1] + "x"}))
    assert "This code is right" not in words_of(enter(LIN).get(path, params={"code": code}))
