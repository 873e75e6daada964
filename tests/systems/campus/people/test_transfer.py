"""What an admin can do with the files of someone who leaves."""

from tests.systems.campus.talk import Api, Place
from tests.systems.talk import given, refused

from tablewright.systems.campus import jobs
from tablewright.systems.campus.model import File, User


def stored(at: Place, user: User, name: str, content: bytes) -> File:
    return at.campus.uploads.store_whole(user, name, [content], len(content))


def test_files_move_to_the_new_owner_with_their_bytes_shares_and_quota(at: Place, api: Api) -> None:
    lin, omar, admin = at.user("lin"), at.user("omar"), at.user("kaya", "admin")
    files = [stored(at, lin, f"notes {n}.txt", b"x" * 100) for n in range(3)]
    given(api.post(f"/admin/users/{lin.user_id}:transfer", {"to": omar.user_id}, by=admin), 202)
    jobs.run_tasks(at.campus)
    assert at.again(lin).storage_used == 0
    assert at.again(omar).storage_used == 300
    for file in files:
        assert at.campus.repository.file(file.file_id).user_id == omar.user_id
        with at.campus.library.open(at.campus.repository.file(file.file_id)) as stream:
            assert b"".join(stream) == b"x" * 100
    assert next(iter(at.db.all(at.campus.repository.outbox.in_state("PENDING")))).recipient == omar.email


def test_nobody_gets_more_than_their_quota_by_a_transfer(at: Place, api: Api) -> None:
    lin, omar, admin = at.user("lin"), at.user("omar"), at.user("kaya", "admin")
    stored(at, lin, "notes.txt", b"x" * 100)
    at.campus.users.set_quota(omar.user_id, 99, admin)
    answer = api.post(f"/admin/users/{lin.user_id}:transfer", {"to": omar.user_id}, by=admin)
    assert refused(answer) == (413, "QUOTA_EXCEEDED")
    assert (
        refused(api.post(f"/admin/users/{lin.user_id}:transfer", {"to": lin.user_id}, by=admin))[1]
        == "SAME_OWNER"
    )


def test_the_storage_report_adds_up_what_everyone_has(at: Place, api: Api) -> None:
    lin, admin = at.user("lin"), at.user("kaya", "admin")
    stored(at, lin, "notes.txt", b"x" * 100)
    report = given(api.get("/admin/storage", by=admin))
    assert (report["users"], report["files"], report["used"]) == (2, 1, 100)
    assert report["largest"][0]["userId"] == lin.user_id
