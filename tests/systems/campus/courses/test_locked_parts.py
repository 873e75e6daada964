"""Bytes of submissions that graders must not get: what counts is the scan of the version that was submitted."""

from __future__ import annotations

import io
import zipfile

from tests.systems.campus.courses.talk import Class, file_part
from tests.systems.campus.files.helpers import EICAR
from tests.systems.campus.talk import Api, refuses
from tests.systems.talk import given, refused

from tablewright.systems.campus.course_model import Submission
from tablewright.systems.campus.courses.parts import NewPart
from tablewright.systems.campus.model import User


def in_zip(api: Api, submission: Submission, by: User) -> dict[str, bytes]:
    """The files of the worksheet's zip, by their names without the folder."""
    answer = api.get(f"/assignments/{submission.assignment_id}/worksheet", by=by)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return {
            name.rpartition("/")[2]: archive.read(name)
            for name in archive.namelist()
            if name != "worksheet.csv"
        }


def content(api: Api, submission: Submission) -> str:
    return f"/submissions/{submission.submission_id}/parts/{submission.parts[0].part_id}/content"


def test_a_clean_version_over_an_infected_submission_does_not_open_it(lesson: Class, api: Api) -> None:
    helper = lesson.person("tim", "ta")
    virus = lesson.file("u1", EICAR, "essay.txt")
    made = lesson.submit("u1", lesson.assignment(), file_part(virus))
    lesson.campus.uploads.store_whole(
        lesson.at.again(lesson.people["u1"]), "essay.txt", [b"clean"], 5, file_id=virus.file_id
    )
    lesson.run_tasks()
    assert lesson.campus.repository.file(virus.file_id).virus_scan_status == "clean"
    for user in (helper, lesson.teacher, lesson.people["u1"]):
        assert refused(api.get(content(api, made), by=user)) == (423, "QUARANTINED")
    (entry,) = in_zip(api, made, helper).items()
    assert entry[0] == "01 essay.txt.locked.txt"
    assert b"A virus was found" in entry[1]
    assert EICAR not in entry[1]


def test_an_infected_submission_stays_locked_whatever_became_of_its_file(lesson: Class, api: Api) -> None:
    boss = lesson.at.user("boss", "admin")
    virus = lesson.file("u1", EICAR, "essay.txt")
    made = lesson.submit("u1", lesson.assignment(), file_part(virus))
    lesson.run_tasks()
    lesson.campus.scans.discard(boss, virus.file_id, "a virus")
    assert refused(api.get(content(api, made), by=lesson.teacher)) == (423, "QUARANTINED")
    assert list(in_zip(api, made, lesson.teacher)) == ["01 essay.txt.locked.txt"]


def test_what_waits_for_its_scan_is_not_in_the_zip_either(lesson: Class, api: Api) -> None:
    made = lesson.submit("u1", lesson.assignment(), file_part(lesson.file("u1", b"an essay", "essay.txt")))
    assert refused(api.get(content(api, made), by=lesson.teacher)) == (423, "SCAN_PENDING")
    (entry,) = in_zip(api, made, lesson.teacher).items()
    assert entry[0] == "01 essay.txt.locked.txt"
    assert b"still being checked" in entry[1]
    assert api.get(content(api, made), by=lesson.people["u1"]).content == b"an essay"
    lesson.run_tasks()
    assert in_zip(api, made, lesson.teacher) == {"01 essay.txt": b"an essay"}


def test_a_clean_submission_stays_readable_if_a_later_version_has_a_virus(lesson: Class, api: Api) -> None:
    file = lesson.file("u1", b"an essay", "essay.txt")
    made = lesson.submit("u1", lesson.assignment(), file_part(file))
    lesson.campus.uploads.store_whole(
        lesson.at.again(lesson.people["u1"]), "essay.txt", [EICAR], len(EICAR), file_id=file.file_id
    )
    lesson.run_tasks()
    assert api.get(content(api, made), by=lesson.teacher).content == b"an essay"
    assert in_zip(api, made, lesson.teacher) == {"01 essay.txt": b"an essay"}


def test_a_draft_whose_pinned_version_has_a_virus_cannot_be_submitted(lesson: Class) -> None:
    assignment, file = lesson.assignment(), lesson.file("u1", EICAR, "essay.txt")
    member = lesson.member("u1")
    draft = lesson.campus.drafts.add(member, assignment, NewPart("file", file_id=file.file_id))
    lesson.campus.uploads.store_whole(
        lesson.at.again(member.user), "essay.txt", [b"clean"], 5, file_id=file.file_id
    )
    lesson.run_tasks()
    with refuses("QUARANTINED"):
        lesson.campus.submissions.submit(lesson.member("u1"), assignment, draft=draft.version)


def test_only_own_files_are_submitted(lesson: Class, api: Api) -> None:
    assignment, file = lesson.assignment(), lesson.file("u1", b"an essay", "essay.txt")
    lesson.run_tasks()
    body = {"recipients": [{"email": lesson.people["u2"].email}]}
    given(api.post(f"/files/{file.file_id}/shares", body, by=lesson.people["u1"]), 201)
    assert api.get(f"/files/{file.file_id}/content", by=lesson.people["u2"]).content == b"an essay"
    with refuses("NOT_YOUR_FILE"):
        lesson.submit("u2", assignment, file_part(file))
    with refuses("NOT_YOUR_FILE"):
        lesson.campus.drafts.add(lesson.member("u2"), assignment, NewPart("file", file_id=file.file_id))
    assert lesson.campus.repository.file(file.file_id).held_by == []
