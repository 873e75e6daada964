"""Worksheets: a zip out, the same zip in, once; and archives that want to do harm."""

from __future__ import annotations

import csv
import io
import zipfile
from decimal import Decimal

import pytest
from tests.systems.campus.grading.classroom import Classroom, levels
from tests.systems.campus.talk import Api, Place, refuses
from tests.systems.talk import given, refused

from tablewright.kit.objects.store import ObjectStream
from tablewright.systems.campus.course_model import Assignment, Part, Submission
from tablewright.systems.campus.grading import zip_files
from tablewright.systems.campus.grading.zip_files import opened_zip, safe_name

D = Decimal
Rows = list[dict[str, str]]


def rows_in(text: str) -> Rows:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def as_csv(rows: Rows) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def as_zip(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def sheet(api: Api, room: Classroom, assignment: Assignment) -> Rows:
    return rows_in(
        api.get(f"/assignments/{assignment.assignment_id}/worksheet.csv", by=room.users["tessa"]).text
    )


def taken(
    api: Api, room: Classroom, assignment: Assignment, content: bytes, query: str = ""
) -> list[tuple[str, str]]:
    path = f"/assignments/{assignment.assignment_id}/worksheet{query}"
    answer = given(api.post(path, by=room.users["tessa"], content=content))
    return [(each["name"], each["outcome"]) for each in answer["items"]]


def work(at: Place, room: Classroom) -> tuple[Assignment, dict[str, Submission]]:
    assignment = room.assignment()
    found = {}
    for name in ("lin", "omar"):
        user = room.enrol(name)
        content = f"The essay of {name}".encode()
        file = at.campus.uploads.store_whole(
            user, "essay/../ü.txt".replace("/", "_"), [content], len(content)
        )
        part = Part(
            part_id=at.world.new_id(), kind="file", file_id=file.file_id, filename=file.filename,
            object_name=file.object_name, added_by=user.user_id, added_at=room.now(),
        )  # fmt: skip
        first = room.submission(assignment, name)
        found[name] = room.submission(assignment, name, 2, parts=[part, first.parts[0]])
    room.run_tasks()  # the scans: graders get nothing before
    return assignment, found


def test_a_zip_has_the_worksheet_and_a_folder_for_each_student_with_the_newest_attempt(
    at: Place, api: Api, room: Classroom
) -> None:
    assignment, rows = work(at, room)
    answer = api.get(f"/assignments/{assignment.assignment_id}/worksheet", by=room.users["tessa"])
    assert answer.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        lin = f"Lin {rows['lin'].submission_id[-12:]}"
        assert {each for each in names if each.startswith(lin)} == {
            f"{lin}/01 essay_.._ü.txt",
            f"{lin}/02 text.txt",
        }
        assert archive.read(f"{lin}/01 essay_.._ü.txt") == b"The essay of lin"
        table = rows_in(archive.read("worksheet.csv").decode())
    assert [each["Submission"] for each in table] == sorted(
        (each.submission_id for each in rows.values()),
        key=lambda id: next(r.owner_id for r in rows.values() if r.submission_id == id),
    )
    assert refused(api.get(f"/assignments/{assignment.assignment_id}/worksheet", by=room.users["lin"])) == (
        403,
        "COURSE_STAFF_ONLY",
    )


def test_the_same_zip_with_grades_and_feedback_is_applied_once(at: Place, api: Api, room: Classroom) -> None:
    assignment, rows = work(at, room)
    table = sheet(api, room, assignment)
    for each in table:
        each["Score"], each["Feedback"] = "72,5", "Good."
    folder = next(each["Folder"] for each in table if each["Name"] == "Lin")
    files = {
        "worksheet.csv": as_csv(table),
        f"{folder}/feedback/notes.txt": b"Read this.",
        f"{folder}/01 x.txt": b"x",
    }
    content = as_zip({f"download/{name}": body for name, body in files.items()})
    assert sorted(taken(api, room, assignment, content, "?publish=true")) == [
        ("Lin", "saved"),
        ("Omar", "saved"),
    ]
    graded = {name: room.again(row) for name, row in rows.items()}
    assert {each.grade for each in graded.values()} == {D("72.5")}
    assert {each.feedback for each in graded.values()} == {"Good."}
    file_id = graded["lin"].feedback_file_id
    assert file_id is not None
    assert at.campus.repository.file(file_id).held_by == [graded["lin"].submission_id]
    assert sorted(taken(api, room, assignment, content, "?publish=true")) == [
        ("Lin", "unchanged"),
        ("Omar", "unchanged"),
    ]
    assert {name: room.again(row).version for name, row in rows.items()} == {
        n: r.version for n, r in graded.items()
    }
    assert room.again(rows["lin"]).feedback_file_id == file_id
    room.run_tasks()  # the scan
    got = api.get(f"/submissions/{graded['lin'].submission_id}/feedback-file", by=room.users["tessa"])
    assert got.content == b"Read this."
    lin = api.get(f"/submissions/{graded['lin'].submission_id}/feedback-file", by=room.users["lin"])
    assert refused(lin) == (404, "FILE_NOT_FOUND")


def test_a_row_from_an_older_version_is_reported_and_the_others_are_applied(
    at: Place, api: Api, room: Classroom
) -> None:
    assignment, rows = work(at, room)
    table = sheet(api, room, assignment)
    for each in table:
        each["Score"] = "50"
    room.mark(rows["lin"], "90", by="brandt")
    assert sorted(taken(api, room, assignment, as_csv(table))) == [("Lin", "refused"), ("Omar", "saved")]
    assert room.again(rows["lin"]).grade == D(90)


def test_rows_may_name_students_by_address_or_university_id(at: Place, api: Api, room: Classroom) -> None:
    assignment, rows = work(at, room)
    head = "\ufeffE-mail;University ID;Grade"
    lines = (head, "LIN@campus.example;;80", ";S-omar;70", "none@campus.example;;1", ";S-omar;x")
    content = "\n".join(lines).encode()
    outcomes = taken(api, room, assignment, content)
    assert ("none@campus.example", "refused") in outcomes
    marks = at.campus.marks
    assert [mark.score for mark in marks.of(rows["lin"].submission_id)] == [D(80)]
    # Two rows for one submission, one of them wrong: neither is applied.
    assert marks.of(rows["omar"].submission_id) == []


def test_a_grade_out_of_bounds_is_reported(at: Place, api: Api, room: Classroom) -> None:
    assignment, rows = work(at, room)
    table = [{"Submission": rows["lin"].submission_id, "Score": "101"}]
    path = f"/assignments/{assignment.assignment_id}/worksheet"
    line = given(api.post(path, by=room.users["tessa"], content=as_csv(table)))["items"][0]
    assert (line["line"], line["outcome"], line["message"]) == (2, "refused", "score must be 0 to 100.")


def test_a_score_in_the_worksheet_keeps_the_levels_of_the_rubric(
    at: Place, api: Api, room: Classroom
) -> None:
    room.enrol("lin")
    rubric = room.rubric(("0", "5"), ("0", "10"))
    assignment = room.assignment(rubric_id=rubric.rubric_id)
    row = room.submission(assignment, "lin")
    room.mark(row, None, publish=False, criteria=levels(rubric, 1, 1))
    table = sheet(api, room, assignment)
    assert table[0]["Score"] == "15"
    table[0]["Score"] = "13"
    assert taken(api, room, assignment, as_csv(table)) == [("Lin", "saved")]
    mark = at.campus.marks.one(row.submission_id, room.users["tessa"].user_id)
    assert mark is not None
    assert (mark.score, mark.adjustment, len(mark.criteria)) == (D(13), D(-2), 2)


def test_a_team_with_a_grade_each_has_a_row_for_each_member(at: Place, api: Api, room: Classroom) -> None:
    room.enrol("lin")
    room.enrol("omar")
    assignment = room.assignment(grade_each=True)
    row = room.submission(assignment, "lin", members=("lin", "omar"))
    table = sheet(api, room, assignment)
    assert [each["Student"] for each in table] == row.member_ids
    table[0]["Score"], table[1]["Score"] = "80", "60"
    assert taken(api, room, assignment, as_csv(table)) == [("Team", "saved"), ("Team", "saved")]
    mark = at.campus.marks.one(row.submission_id, room.users["tessa"].user_id)
    assert mark is not None
    assert mark.grades == dict(zip(row.member_ids, (D(80), D(60)), strict=True))


@pytest.mark.parametrize("feedback", ["=1+1", "+1", "-1", "@SUM(A1)"])
def test_feedback_that_looks_like_a_formula_goes_out_guarded_and_comes_back_the_same(
    api: Api, room: Classroom, feedback: str
) -> None:
    room.enrol("lin")
    assignment = room.assignment()
    room.mark(room.submission(assignment, "lin"), "80", feedback=feedback)
    table = sheet(api, room, assignment)
    assert table[0]["Feedback"] == f"'{feedback}"
    assert taken(api, room, assignment, as_csv(table)) == [("Lin", "unchanged")]


# --- harm ---


@pytest.mark.parametrize("name", ["../worksheet.csv", "/worksheet.csv", "a/../../x", "C:/x", "..\\x"])
def test_names_that_lead_out_of_the_archive_refuse_all_of_it(api: Api, room: Classroom, name: str) -> None:
    assignment = room.assignment()
    content = as_zip({"worksheet.csv": b"Submission,Score\n", name: b"x"})
    answer = api.post(
        f"/assignments/{assignment.assignment_id}/worksheet", by=room.users["tessa"], content=content
    )
    assert refused(answer) == (400, "INVALID_ZIP")


def test_an_archive_that_unpacks_to_too_much_is_refused(api: Api, room: Classroom) -> None:
    assignment = room.assignment()
    bomb = as_zip({"worksheet.csv": b"Submission,Score\n", "x/feedback/bomb": b"\0" * (70 * 1024 * 1024)})
    assert len(bomb) < 100_000
    answer = api.post(
        f"/assignments/{assignment.assignment_id}/worksheet", by=room.users["tessa"], content=bomb
    )
    assert refused(answer) == (413, "ZIP_TOO_LARGE")


def test_sizes_that_lie_do_not_help() -> None:
    content = bytearray(as_zip({"worksheet.csv": b"a" * 1000}))
    # The size in the directory at the end says 10.
    at = content.rindex(b"PK\x01\x02") + 24
    content[at : at + 4] = (10).to_bytes(4, "little")
    with opened_zip(io.BytesIO(content), lambda _: True) as found, refuses("INVALID_ZIP"):
        for chunk in found["worksheet.csv"].chunks():
            assert len(chunk) <= 10


def test_a_directory_that_is_too_large_to_be_read_at_once_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    content = as_zip({f"{number:0100d}.txt": b"" for number in range(100)})
    monkeypatch.setattr(zip_files, "_MOST_READ", 5_000)
    with refuses("INVALID_ZIP"), opened_zip(io.BytesIO(content), lambda _: True):
        pass


def test_the_zip_file_that_was_downloaded_comes_back_whatever_its_size(
    at: Place, api: Api, room: Classroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    assignment, rows = work(at, room)
    path = f"/assignments/{assignment.assignment_id}/worksheet"
    table = sheet(api, room, assignment)
    table[0]["Score"] = "71"
    folder, large = table[0]["Folder"], 80 * 1024 * 1024
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(f"{folder}/01 video.mp4", b"\0" * large)
        archive.writestr("worksheet.csv", as_csv(table))
        archive.writestr(f"{folder}/feedback/notes.txt", b"Well done.")
    tessa = room.users["tessa"]
    file = at.campus.uploads.store_whole(tessa, "marked.zip", [out.getvalue()], len(out.getvalue()))
    fetched: list[int] = []
    opened = at.campus.objects.read

    def counted(name: str, start: int = 0, end: int | None = None) -> ObjectStream:
        stream = opened(name, start, end)
        fetched.append(stream.end - stream.start)
        return stream

    monkeypatch.setattr(at.campus.objects, "read", counted)
    answer = given(api.post(f"{path}:import", {"fileId": file.file_id, "publish": True}, by=tessa))["items"]
    assert answer[0]["outcome"] == "saved"
    assert max(fetched) <= 2 * 1024 * 1024
    assert sum(fetched) < 16 * 1024 * 1024, "only what is needed is read"
    row = next(room.again(each) for each in rows.values() if room.again(each).grade == D(71))
    assert row.feedback_file is not None
    assert row.feedback_file.file_size == len(b"Well done.")


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04 and nothing else", b"Name,Points\nx,\xff\n", b"Name\nLin\n"]
)
def test_what_is_neither_a_zip_nor_a_worksheet_is_refused(api: Api, room: Classroom, content: bytes) -> None:
    assignment = room.assignment()
    answer = api.post(
        f"/assignments/{assignment.assignment_id}/worksheet", by=room.users["tessa"], content=content
    )
    assert refused(answer)[0] == 400


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "_.._etc_passwd"),
        ("a/b\\c.txt", "a_b_c.txt"),
        ("", "_"),
        ("Ж" * 200 + ".pdf", "Ж" * 96 + ".pdf"),
    ],
)
def test_names_in_an_archive_are_plain(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_a_zip_file_with_a_damaged_stream_is_refused(api: Api, room: Classroom) -> None:
    assignment = room.assignment()
    whole = bytearray(as_zip({"worksheet.csv": b"Submission,Score\n" + b"abcdefgh,12\n" * 200}))
    start = 30 + len("worksheet.csv")
    whole[start : start + 8] = b"\xff" * 8
    path = f"/assignments/{assignment.assignment_id}/worksheet"
    answer = api.post(path, by=room.users["tessa"], content=bytes(whole))
    assert refused(answer) == (400, "INVALID_ZIP")


@pytest.mark.parametrize("score", ["1_0", "1e1", "NaN", "٣", "0x10", "1.2.3", "12 points"])
def test_what_is_not_a_plain_number_is_not_a_score(api: Api, room: Classroom, score: str) -> None:
    room.enrol("lin")
    assignment = room.assignment()
    row = room.submission(assignment, "lin")
    content = f"Submission,Score\n{row.submission_id},{score}\n".encode()
    path = f"/assignments/{assignment.assignment_id}/worksheet"
    (line,) = given(api.post(path, by=room.users["tessa"], content=content))["items"]
    assert (line["outcome"], line["message"]) == ("refused", f"“{score}” is not a number.")


def test_a_second_feedback_file_is_reported_beside_its_row(at: Place, api: Api, room: Classroom) -> None:
    assignment, rows = work(at, room)
    found = sheet(api, room, assignment)
    folder = next(each["Folder"] for each in found if each["Submission"] == rows["lin"].submission_id)
    files = {f"{folder}/feedback/{name}.txt": name.encode() for name in ("b", "a", "c")}
    path = f"/assignments/{assignment.assignment_id}/worksheet"
    answer = api.post(path, by=room.users["tessa"], content=as_zip({"worksheet.csv": as_csv(found), **files}))
    lines = {each["name"]: (each["outcome"], each["message"]) for each in given(answer)["items"]}
    assert lines == {
        "Lin": ("saved", "Only one feedback file is taken, a.txt. Not taken: b.txt, c.txt."),
        "Omar": ("empty", ""),
    }
