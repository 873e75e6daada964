"""Export and erasure of users: nothing of the person is left but records without a name."""

import json

from tests.places import scan
from tests.systems.campus.talk import Api, Place, refuses
from tests.systems.talk import given, refused

from tablewright.systems.campus import design as d
from tablewright.systems.campus import seed
from tablewright.systems.campus.people.privacy import NAME

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
    assert certificate["erased"]["submissions"] == 2
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
