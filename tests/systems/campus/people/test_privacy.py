"""Export and erasure of users: nothing of the person is left but records without a name."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from tests.places import scan
from tests.systems.campus.courses.talk import Class, course_of, file_part, text
from tests.systems.campus.talk import Api, Place, refuses
from tests.systems.talk import given, refused

from tablewright.systems.campus import design as d
from tablewright.systems.campus import jobs, seed
from tablewright.systems.campus.course_model import Assignment, Submission
from tablewright.systems.campus.courses.course_members import CourseMember
from tablewright.systems.campus.grading.comments import CommentPosition as CommentPlace
from tablewright.systems.campus.grading.mark_entries import MarkEntry
from tablewright.systems.campus.model import User
from tablewright.systems.campus.people.name_copies import NAME
from tablewright.systems.campus.sharing.addressees import RecipientName
from tablewright.systems.campus.sharing.shares import Terms

ALLOWED = {"campus-cloud-audit"}  # kept for a year, with a reason


def silent(done: int, total: int | None, what: str) -> None:
    return None


def test_an_export_has_everything_a_user_has(at: Place, api: Api) -> None:
    seed.seed(at.campus, silent)
    lin = at.campus.users.by_id(seed.LIN)
    export = given(api.get("/me/export", by=lin))
    assert export["user"]["email"] == "lin@campus.example"
    assert {file["filename"] for file in export["files"]} >= {"Week 1.txt", "essay.txt"}
    assert [each["filename"] for each in export["submissions"]] == ["sorting.py", "essay.txt"]
    assert export["messages"]
    assert len(export["courses"]) == 2
    assert "tokenDigest" not in json.dumps(export)


def test_an_erasure_leaves_nothing_of_the_person_but_records_without_a_name(at: Place, api: Api) -> None:
    seed.seed(at.campus, silent)
    admin, noor = at.user("kaya", "admin", email="other@campus.example"), at.campus.users.by_id(seed.NOOR)
    certificate = given(api.post(f"/admin/users/{noor.user_id}:erase", by=admin))
    assert certificate["erased"]["submissions"] == 3  # two submissions and a regrade request
    for table in d.CAMPUS.tables:
        text = json.dumps(scan(at.db, at.call, table), default=str)
        if table not in ALLOWED:
            assert "Noor" not in text, table
            assert "noor@campus.example" not in text, table
    submissions = at.campus.submissions.history(noor).items
    assert [each.student_name for each in submissions] == [NAME, NAME]
    assert [each.grade is not None for each in submissions] == [False, True]
    assert refused(api.get("/me", by=noor)) == (403, "ERASED")
    assert given(api.get(f"/admin/users/{noor.user_id}/certificate", by=admin)) == certificate


def test_what_a_grader_still_needs_stays_readable(at: Place, api: Api) -> None:
    seed.seed(at.campus, silent)
    admin, noor = at.user("kaya", "admin", email="other@campus.example"), at.campus.users.by_id(seed.NOOR)
    at.campus.privacy.erase(noor.user_id, admin)
    assert at.again(noor).statistics.total_files > 0
    assert not at.campus.recount.user(noor.user_id), "what is held is counted as it is"
    part = at.campus.submissions.history(noor).items[0].parts[0]
    with at.campus.library.open_object(part.object_name or "") as stream:
        assert b"".join(stream).startswith(b"# Noor")


def test_the_erased_do_not_come_back_with_a_restored_table(at: Place) -> None:
    lin, admin = at.user("lin"), at.user("kaya", "admin")
    before = at.campus.users.by_id(lin.user_id)
    at.campus.privacy.erase(lin.user_id, admin)
    gone = at.campus.users.by_id(lin.user_id)
    at.db.write(d.users.delete(gone))
    at.db.write(d.users.create(before))  # as a restored table would have it
    assert at.campus.privacy.erase_again() == 1
    assert at.campus.users.by_id(lin.user_id).name == NAME
    assert at.campus.privacy.erase_again() == 0


def test_an_erased_address_is_free_again(at: Place) -> None:
    lin, admin = at.user("lin"), at.user("kaya", "admin")
    at.campus.privacy.erase(lin.user_id, admin)
    assert at.user("lin2", email=lin.email).email == lin.email
    with refuses("OWN_ACCOUNT"):
        at.campus.privacy.erase(admin.user_id, admin)


def test_an_erasure_removes_files_that_the_index_of_the_trash_does_not_have_yet(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    lin, admin, campus = at.user("lin"), at.user("kaya", "admin"), at.campus
    file = campus.uploads.store_whole(lin, "notes.txt", [b"mine"], 4)
    monkeypatch.setattr(type(campus.library), "trashed", lambda *_: iter(()))  # it is behind
    assert campus.privacy.erase(lin.user_id, admin).erased["files"] == 1
    assert campus.objects.head(file.object_name) is None
    assert list(at.db.all(d.files_of_owner(user_id=lin.user_id))) == []


def test_nobody_makes_anything_new_while_they_are_erased(
    at: Place, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    lin, admin, campus = at.user("lin"), at.user("kaya", "admin"), at.campus
    answers = []

    def uploads_meanwhile(*_: object) -> int:
        answers.append(api.post("/files", {"filename": "new.txt", "fileSize": 1}, by=lin))
        return 0

    monkeypatch.setattr(type(campus.purge), "remove_trashed", uploads_meanwhile)
    campus.privacy.erase(lin.user_id, admin)
    assert [refused(each) for each in answers] == [(403, "SUSPENDED")]
    assert refused(api.get("/me", by=lin)) == (403, "ERASED")


# --- copies of the name ---


def named(at: Place, *words: str) -> list[str]:
    """The tables in which one of the words is found, but for the audit log."""
    texts = {table: json.dumps(scan(at.db, at.call, table), default=str) for table in d.CAMPUS.tables}
    return [
        f"{table}: {word}"
        for table, text in texts.items()
        if table not in ALLOWED
        for word in words
        if word.lower() in text.lower()
    ]


def person(at: Place, name: str, full_name: str) -> User:
    return at.campus.users.change_profile(at.user(name), {"name": full_name})


def graded(room: Class, name: str, by: CourseMember, **fields: Any) -> tuple[Assignment, Submission]:
    """A released grade with a comment and an answered regrade request."""
    campus = room.campus
    assignment = room.assignment(points=Decimal(10), **fields)
    made = room.submit(name, assignment, text("mine"), attempt=1)
    campus.comments.add(made, made.parts[0].part_id, CommentPlace(line=1), "Good.", by.actor)
    row = campus.repository.submission(made.submission_id)
    campus.marks.save(assignment, row, MarkEntry(score=Decimal(5)), by.actor, row.version, publish=True)
    campus.release.release(campus.repository.assignment(assignment.assignment_id), by.actor)
    assignment, row = room.again(assignment), campus.repository.submission(made.submission_id)
    thread = campus.regrades.request(assignment, row, "Why?", room.member(name).actor)
    campus.regrades.reply(assignment, row, thread, "Because.", by.actor)
    return assignment, row


def test_an_erasure_reaches_what_staff_wrote_and_the_certificate_counts_it(at: Place) -> None:
    room, admin = course_of(at), at.user("kaya", "admin")
    room.person("lin")
    graded(room, "lin", room.member())
    certificate = at.campus.privacy.erase(room.teacher.user_id, admin)
    assert named(at, "Petra Quast", "brandt@campus.example") == []
    # The submission, the mark, the comment and the thread.
    assert (certificate.erased["grading"], certificate.erased["assignments"]) == (4, 1)


def test_an_erasure_reaches_what_someone_wrote_as_staff_of_a_course_they_have_left(at: Place) -> None:
    room, admin = course_of(at), at.user("kaya", "admin")
    room.person("lin")
    tessa = person(at, "tessa", "Tessa Umlauf")
    at.campus.courses.place(room.member(), tessa, "ta", None)
    graded(room, "lin", room.member(tessa))
    at.campus.courses.place(room.member(), tessa, "student", None)
    at.campus.courses.remove(room.member(), tessa.user_id)
    certificate = at.campus.privacy.erase(tessa.user_id, admin)
    assert named(at, "Tessa Umlauf", tessa.email) == []
    assert certificate.erased["grading"] == 4


def test_an_erasure_reaches_a_request_about_the_work_of_a_team_drafts_and_reasons(at: Place) -> None:
    room, admin = course_of(at), at.user("kaya", "admin")
    noor = person(at, "noor", "Noor Vandervelde")
    room.person("lin")
    room.people["noor"] = noor
    at.campus.courses.place(room.member(), noor, "student", None)
    group_set, _ = room.team("lin", "noor")
    assignment, row = graded(room, "lin", room.member(), group_set_id=group_set.group_set_id)
    at.campus.regrades.request(assignment, row, "And mine?", room.member("noor").actor)
    other = room.assignment(title="Lab 2")
    at.campus.drafts.add(room.member("noor"), other, text("by Noor Vandervelde"))
    given_dates = {"extra_submissions": 1, "reason": "Noor Vandervelde was ill."}
    at.campus.assignments.override(room.member(), other.assignment_id, "student", noor.user_id, given_dates)
    certificate = at.campus.privacy.erase(noor.user_id, admin)
    assert named(at, "Noor Vandervelde", noor.email) == []
    assert (certificate.erased["submissions"], certificate.erased["preparation"]) == (1, 2)


def test_an_erasure_reaches_the_parts_that_someone_added_to_the_work_of_a_team(at: Place) -> None:
    room, admin = course_of(at), at.user("kaya", "admin")
    noor = person(at, "noor", "Noor Vandervelde")
    lin = room.person("lin")
    room.people["noor"] = noor
    at.campus.courses.place(room.member(), noor, "student", None)
    group_set, _ = room.team("lin", "noor")
    made = room.assignment(group_set_id=group_set.group_set_id)
    planned = room.assignment(title="Lab 2", group_set_id=group_set.group_set_id)
    essays = [room.file(noor, name=f"Noor Vandervelde {n}.txt") for n in range(2)]
    room.submit("lin", made, file_part(room.file(lin, name="lin.txt")), attempt=1)
    joined = room.submit("noor", made, file_part(essays[0]), attempt=1)
    at.campus.drafts.add(room.member("lin"), planned, text("mine"))
    at.campus.drafts.add(room.member("noor"), planned, file_part(essays[1]))
    at.campus.privacy.erase(noor.user_id, admin)
    assert named(at, "Noor Vandervelde", noor.email) == []
    row = room.row(joined)
    assert row is not None
    assert [part.filename for part in row.parts] == ["lin.txt", "file-2.txt"]
    assert [part.text for part in at.campus.drafts.mine(room.member("lin"), planned).parts] == ["mine"]


def test_an_erasure_reaches_names_of_files_that_stay_and_what_others_were_told(at: Place) -> None:
    room, admin = course_of(at), at.user("kaya", "admin")
    noor, lin = person(at, "noor", "Noor Vandervelde"), person(at, "lin", "Lin Zhao")
    room.people["noor"] = noor
    at.campus.courses.place(room.member(), noor, "student", None)
    held = room.file(noor, name="Noor Vandervelde essay.txt")
    room.submit("noor", room.assignment(), file_part(held))
    folder = at.campus.folders.create(noor, "Noor Vandervelde")
    own = room.file(lin)
    campus = at.campus
    for owner, target, to in (
        (noor, campus.targets.folder(noor, folder.folder_id), lin),
        (noor, campus.targets.file(noor, held.file_id), lin),
        (lin, campus.targets.file(lin, own.file_id), noor),
    ):
        found = campus.addressees.find(owner, [RecipientName(email=to.email)])
        terms = Terms("read", at.clock.now() + timedelta(hours=1), f"from {owner.name} to {to.name}")
        campus.shares.share(owner, target, found, terms)
    at.later(hours=2)
    jobs.notify_ended_shares(campus)
    certificate = campus.privacy.erase(noor.user_id, admin)
    assert named(at, "Noor Vandervelde", noor.email) == []
    assert certificate.erased["notices"] > 0
    texts = [each.text for each in at.db.all(campus.notifier.of(lin))]
    assert any(text.startswith("Erased user shared") for text in texts)


def test_an_erasure_reaches_notices_about_files_that_were_deleted_or_transferred(at: Place) -> None:
    noor, lin, omar = person(at, "noor", "Noor Vandervelde"), at.user("lin"), at.user("omar")
    campus, admin = at.campus, at.user("kaya", "admin")
    files = [campus.uploads.store_whole(noor, f"{n}.txt", [b"x"], 1) for n in range(2)]
    for file in files:
        found = campus.addressees.find(noor, [RecipientName(email=lin.email)])
        campus.shares.share(noor, campus.targets.file(noor, file.file_id), found, Terms())
    campus.library.trash(noor, files[0].file_id)
    campus.purge.empty_trash(noor)
    campus.transfer.start(noor.user_id, omar.user_id, admin)
    jobs.run_tasks(campus)
    assert campus.repository.file(files[1].file_id).user_id == omar.user_id
    campus.privacy.erase(noor.user_id, admin)
    assert named(at, "Noor Vandervelde", noor.email) == []


def test_an_invitation_to_an_address_goes_with_the_account_that_came_of_it(at: Place) -> None:
    lin, admin = person(at, "lin", "Lin Zhao"), at.user("kaya", "admin")
    file = at.campus.uploads.store_whole(lin, "notes.txt", [b"x"], 1)
    target = at.campus.targets.file(lin, file.file_id)
    found = at.campus.addressees.find(lin, [RecipientName(email="new.person@university.edu")])
    at.campus.shares.share(lin, target, found, Terms())
    new = at.user("new", email="new.person@university.edu")
    at.campus.privacy.erase(new.user_id, admin)
    assert named(at, "new.person@university.edu") == []
