"""Anonymous marking: nothing that a teaching assistant gets tells whose a submission is, until the release."""

from __future__ import annotations

import csv
import io
import zipfile
from decimal import Decimal

from tests.systems.campus.grading.classroom import Classroom
from tests.systems.campus.talk import Api, Place
from tests.systems.talk import given, refused

from tablewright.systems.campus.course_model import Assignment, Part, Submission
from tablewright.systems.campus.grading.comments import CommentPosition as On
from tablewright.systems.campus.grading.disclosure import Pseudonyms, for_staff

D = Decimal


def unpacked(content: bytes) -> str:
    """The names and the contents of a zip file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return "\n".join(f"{each}\n{archive.read(each).decode()}" for each in archive.namelist())


def handed_in(at: Place, room: Classroom) -> tuple[Assignment, dict[str, Submission]]:
    """Files with their authors' names, marked and commented on; two of them by a team with a grade each."""
    assignment = room.assignment(anonymous=True, grade_each=True)
    users = {name: room.enrol(name, section="Group 7") for name in ("lin", "omar", "zoe")}
    rows = {}
    for name, members in (("zoe", ()), ("lin", ("lin", "omar"))):
        file = at.campus.uploads.store_whole(users[name], f"{name}-essay.txt", [b"essay"], 5)
        part = Part(
            part_id=at.world.new_id(), kind="file", file_id=file.file_id, filename=file.filename, file_size=5,
            content_type="text/plain", object_name=file.object_name, added_by=users[name].user_id,
            added_at=room.now(),
        )  # fmt: skip
        rows[name] = room.submission(
            assignment, name, members=members, parts=[part], filename=file.filename, section="Group 7",
            idempotency_key=f"key-of-{name}", team_name=f"Friends of {name}" if members else None,
        )  # fmt: skip
        at.campus.comments.add(rows[name], part.part_id, On(1), "Why?", room.actor("tessa"))
    room.run_tasks()  # the scans
    room.mark(rows["zoe"], "70")
    room.mark(rows["lin"], "80", scores={users["lin"].user_id: D(81), users["omar"].user_id: D(82)})
    return assignment, rows


def traces(room: Classroom) -> list[str]:
    found = ["Group 7", "key-of-", "Friends of"]
    for name in ("lin", "omar", "zoe"):
        user = room.users[name]
        found += [user.user_id, user.email, f"S-{name}", name.capitalize(), f"{name}-essay"]
    return found


def test_no_answer_names_a_student_while_the_marking_is_anonymous(
    at: Place, api: Api, room: Classroom
) -> None:
    assignment, rows = handed_in(at, room)
    tessa, of_assignment = room.users["tessa"], f"/assignments/{assignment.assignment_id}"
    paths = [
        f"/courses/{room.course_id}/grading-queue",
        f"{of_assignment}/submissions",
        f"{of_assignment}/worksheet.csv",
    ]
    for row in rows.values():
        of_one = f"/submissions/{row.submission_id}"
        paths += [of_one, f"{of_one}/grade", f"{of_one}/comments", f"{of_one}/receipt"]
        paths += [f"{of_one}/parts/{row.parts[0].part_id}/content"]
        assert refused(api.get(f"{of_one}/history", by=tessa)) == (422, "ANONYMOUS")
    said = {path: api.get(path, by=tessa) for path in paths}
    assert {answer.status_code for answer in said.values()} == {200}
    texts = {path: f"{answer.headers} {answer.text}" for path, answer in said.items()}
    texts["zip"] = unpacked(api.get(f"{of_assignment}/worksheet", by=tessa).content)
    for path, text in texts.items():
        for trace in traces(room):
            assert trace not in text, (path, trace)
    book = given(api.get(f"/courses/{room.course_id}/gradebook", by=tessa))
    assert {(one["state"], "submissionId" in one) for row in book["students"] for one in row["results"]} == {
        ("submitted", False)
    }


def test_what_a_save_answers_names_no_student_either(at: Place, api: Api, room: Classroom) -> None:
    assignment, rows = handed_in(at, room)
    tessa, path = room.users["tessa"], f"/submissions/{rows['lin'].submission_id}"
    seen = given(api.get(f"{path}/grade", by=tessa))
    assert sorted(seen["scores"].values()) == [81, 82]
    # Members are graded by the names that are shown; with an id it could be tried out who is in the team.
    better = {name: score + 1 for name, score in seen["scores"].items()}
    saved = api.put(f"{path}/grade", {"version": seen["version"], "score": 80, "scores": better}, by=tessa)
    version = given(saved)["version"]
    tried = {"version": version, "score": 80, "scores": {room.users["lin"].user_id: 5}}
    assert refused(api.put(f"{path}/grade", tried, by=tessa)) == (422, "UNKNOWN_MEMBER")
    alone = room.submission(assignment, "zoe", 2)
    back = api.post(f"/submissions/{alone.submission_id}:set-back", {}, by=tessa)
    for text in (saved.text, back.text):
        for trace in traces(room):
            assert trace not in text
    mark = at.campus.marks.one(rows["lin"].submission_id, tessa.user_id)
    assert mark is not None
    assert mark.grades == {room.users["lin"].user_id: D(82), room.users["omar"].user_id: D(83)}


def test_a_worksheet_with_pseudonyms_of_members_comes_back_in(at: Place, api: Api, room: Classroom) -> None:
    assignment, rows = handed_in(at, room)
    tessa, path = room.users["tessa"], f"/assignments/{assignment.assignment_id}/worksheet"
    text = api.get(f"{path}.csv", by=tessa).text.replace(",82,", ",92,")
    found = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert len({each["Student"] for each in found if each["Student"]}) == 2
    lines = given(api.post(path, by=tessa, content=text.encode()))["items"]
    assert sorted(each["outcome"] for each in lines) == ["saved", "saved", "unchanged"], lines
    mark = at.campus.marks.one(rows["lin"].submission_id, tessa.user_id)
    assert mark is not None
    assert mark.grades == {room.users["lin"].user_id: D(81), room.users["omar"].user_id: D(92)}


def test_pseudonyms_need_the_key_and_are_the_same_for_all_attempts(room: Classroom) -> None:
    user = room.enrol("lin")
    essay, other = (room.assignment(title, anonymous=True) for title in ("Essay", "Other"))
    rows = [room.submission(essay, "lin"), room.submission(essay, "lin", 2), room.submission(other, "lin")]
    known = {each.assignment_id: each for each in (essay, other)}

    def names(pseudonyms: Pseudonyms) -> list[str]:
        return [for_staff(known[row.assignment_id], row, room.now(), pseudonyms).student_name for row in rows]

    first, again, elsewhere = names(room.at.campus.pseudonyms)
    assert first == again != elsewhere
    assert first != names(Pseudonyms(b""))[0]
    assert room.at.campus.pseudonyms.of(essay.assignment_id, user.user_id) == first


def test_lists_are_not_in_the_order_of_the_ids_of_students(room: Classroom, api: Api) -> None:
    names = [f"student{n:02d}" for n in range(12)]
    assignment = room.assignment(anonymous=True)
    for name in names:
        room.enrol(name)
    ids = [room.submission(assignment, name).submission_id for name in names]
    tessa, path = room.users["tessa"], f"/assignments/{assignment.assignment_id}"
    listed = [
        each["submissionId"] for each in given(api.get(f"{path}/submissions?pageSize=5", by=tessa))["items"]
    ]
    assert sorted(listed) == sorted(ids)
    assert listed != ids
    assert listed == [each.submission_id for each in room.at.campus.worksheets.newest(assignment)]
