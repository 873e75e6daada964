"""Shares over HTTP: bodies, codes and statuses, and what each caller sees."""

from __future__ import annotations

from datetime import timedelta
from itertools import count

import pytest
from tests.systems.campus.sharing.conftest import Shared
from tests.systems.campus.talk import Api, Json
from tests.systems.talk import given, refused

from tablewright.systems.campus import design as d
from tablewright.systems.campus import jobs
from tablewright.systems.campus.model import File, Folder, Share, User
from tablewright.systems.campus.sharing.access_check import FileAccess


@pytest.fixture
def shared(campus_shares: Shared) -> Shared:
    return campus_shares


def test_a_share_is_made_listed_opened_changed_and_revoked(shared: Shared, api: Api) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file = shared.stored(ada, "essay.txt", b"my essay")
    body = {"recipients": [{"email": bob.email}], "expiresOn": "2030-02-15", "message": "For you"}
    made = given(api.post(f"/files/{file.file_id}/shares", body, by=ada), 201)
    [share] = made["created"]
    assert (share["expiresAt"], share["permissions"], share["isPending"]) == (
        "2030-02-15T23:59:59Z",
        "read",
        False,
    )
    [received] = given(api.get("/shared-with-me", by=bob))["items"]
    assert (received["name"], received["ownerName"], received["state"]) == ("essay.txt", "ada", "open")
    assert api.get(f"/files/{file.file_id}/content", by=bob).content == b"my essay"
    jobs.flush_accesses(shared.at.campus)
    [listed] = given(api.get(f"/files/{file.file_id}/shares", by=ada))["items"]
    assert listed["accessCount"] == 1
    change = given(
        api.patch(f"/shares/{share['shareId']}", {"permissions": "write", "expiresAt": None}, by=ada)
    )
    assert change["permissions"] == "write"
    assert "expiresAt" not in change
    edited = api.patch(f"/files/{file.file_id}", {"description": "read"}, by=bob)
    assert given(edited)["description"] == "read"
    assert refused(api.delete(f"/files/{file.file_id}", by=bob)) == (403, "OWNER_ONLY")
    assert refused(api.post(f"/files/{file.file_id}/shares", body, by=bob)) == (403, "OWNER_ONLY")
    gone = given(api.delete(f"/shares/{share['shareId']}", by=ada))
    assert (gone["status"], gone["revokedAt"]) == ("revoked", "2030-02-04T10:00:00Z")
    assert refused(api.get(f"/files/{file.file_id}/content", by=bob)) == (403, "SHARE_REVOKED")
    assert given(api.get("/shared-with-me", by=bob))["items"] == []


def test_refusals_have_the_codes_of_the_document(shared: Shared, api: Api) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file = shared.stored(ada, "essay.txt", b"my essay")
    at = f"/files/{file.file_id}/shares"
    to_bob = {"recipients": [{"email": bob.email}]}
    given(api.post(at, to_bob, by=ada), 201)
    assert refused(api.post(at, to_bob, by=ada)) == (409, "ALREADY_SHARED")
    assert refused(api.post(at, {"recipients": []}, by=ada))[0] == 422
    assert refused(api.post(at, {"recipients": [{"email": "x"}]}, by=ada)) == (422, "INVALID_EMAIL")
    many = [{"email": f"p{n}@campus.example"} for n in range(101)]
    assert refused(api.post(at, {"recipients": many}, by=ada))[0] == 422
    both = {
        "recipients": [{"email": "c@d.example"}],
        "expiresOn": "2030-03-01",
        "expiresAt": "2030-03-01T00:00:00Z",
    }
    assert refused(api.post(at, both, by=ada)) == (422, "INVALID_EXPIRY")
    assert refused(api.get(f"/files/{file.file_id}/content", by=shared.user("eve"))) == (403, "NOT_SHARED")
    assert refused(api.get(f"/shares/{file.file_id}", by=ada)) == (404, "SHARE_NOT_FOUND")
    assert refused(api.get("/shares/..%2Fx", by=ada))[0] == 404
    assert refused(api.get("/shared-with-me")) == (401, "LOGIN_REQUIRED")


def test_a_recipient_who_comes_too_late_is_told_that_the_share_has_ended(shared: Shared, api: Api) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file = shared.stored(ada, "essay.txt", b"my essay")
    [share] = shared.share(ada, file, bob.email, expires_at=shared.at.clock.now() + timedelta(minutes=1))
    shared.at.later(minutes=2)
    assert given(api.get(f"/shares/{share.share_id}", by=bob))["status"] == "expired"
    assert refused(api.get(f"/files/{file.file_id}/content", by=bob)) == (403, "SHARE_EXPIRED")
    assert refused(api.get(f"/shares/{share.share_id}", by=shared.user("eve"))) == (404, "SHARE_NOT_FOUND")


def test_who_may_write_uploads_a_new_version_that_counts_for_the_owner(shared: Shared, api: Api) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file = shared.stored(ada, "essay.txt", b"my essay")
    shared.share(ada, file, bob.email)
    body = {"fileSize": 3, "contentType": "text/plain"}
    assert refused(api.post(f"/files/{file.file_id}/versions", body, by=bob)) == (403, "READ_ONLY")
    [share] = shared.received(bob)
    shared.at.campus.shares.change(ada, share.share_id, {"permissions": "write"})
    slot = given(api.post(f"/files/{file.file_id}/versions", body, by=bob), 201)
    api.ask("PUT", f"/uploads/{slot['uploadId']}/parts/1", content=b"new", by=bob)
    done = api.post(f"/files/{file.file_id}:complete", {"uploadId": slot["uploadId"]}, by=bob)
    assert given(done)["versionNumber"] == 2
    assert shared.at.again(ada).storage_used == len(b"my essay") + 3
    assert shared.at.again(bob).storage_used == 0


WRITE_ENDS = {"revoked": "SHARE_REVOKED", "expired": "SHARE_EXPIRED", "read": "READ_ONLY"}


def end_write(shared: Shared, owner: User, share: Share, how: str) -> None:
    if how == "revoked":
        shared.at.campus.shares.revoke(owner, share.share_id)
    elif how == "expired":
        shared.at.later(minutes=2)
    else:
        shared.at.campus.shares.change(owner, share.share_id, {"permissions": "read"})


def slot_of(shared: Shared, api: Api, owner: User, by: User, into: str) -> tuple[Share, File | None, Json]:
    """A share for writing that lasts a minute, and a slot that its recipient began through it."""
    end = shared.at.clock.now() + timedelta(minutes=1)
    body = {"fileSize": 3, "contentType": "text/plain"}
    if into == "file":
        file = shared.stored(owner, "essay.txt", b"my essay")
        [share] = shared.share(owner, file, by.email, permissions="write", expires_at=end)
        return share, file, given(api.post(f"/files/{file.file_id}/versions", body, by=by), 201)
    folder = shared.folder(owner, "Notes")
    [share] = shared.share(owner, folder, by.email, permissions="write", expires_at=end)
    body |= {"filename": "new.txt", "folderId": folder.folder_id}
    return share, None, given(api.post("/files", body, by=by), 201)


def assert_given_up(shared: Shared, api: Api, owner: User, by: User, file: File | None, slot: Json) -> None:
    """The owner has what they had, and the upload is gone with its bytes and its quota."""
    files = list(shared.at.db.all(d.files_of_user(user_id=owner.user_id)))
    assert [one.file_id for one in files] == ([file.file_id] if file else [])
    if file is not None:
        assert api.get(f"/files/{file.file_id}/content", by=owner).content == b"my essay"
        assert len(given(api.get(f"/files/{file.file_id}/versions", by=owner))["items"]) == 1
    assert refused(api.get(f"/uploads/{slot['uploadId']}", by=by)) == (404, "UPLOAD_NOT_FOUND")
    kept = shared.at.again(owner)
    assert (kept.storage_reserved, kept.storage_used) == (0, len(b"my essay") if file else 0)
    assert len(list(shared.at.campus.objects.names("files/"))) == len(files)


@pytest.mark.parametrize("call", ["part", "sign", "complete", "complete by upload"])
@pytest.mark.parametrize("how", WRITE_ENDS)
@pytest.mark.parametrize("into", ["file", "folder"])
def test_an_upload_ends_with_the_share_for_writing_that_it_was_begun_through(
    shared: Shared, api: Api, into: str, how: str, call: str
) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    share, file, slot = slot_of(shared, api, ada, bob, into)
    part = f"/uploads/{slot['uploadId']}/parts/1"
    assert api.ask("PUT", part, content=b"new", by=bob).status_code == 204
    end_write(shared, ada, share, how)
    upload_id = slot["uploadId"]
    calls = {
        "part": lambda: api.ask("PUT", part, content=b"bad", by=bob),
        "sign": lambda: api.post(
            f"/uploads/{upload_id}/parts:sign", {"parts": [{"number": 1, "checksum": "0" * 64}]}, by=bob
        ),
        "complete": lambda: api.post(f"/files/{slot['fileId']}:complete", {"uploadId": upload_id}, by=bob),
        "complete by upload": lambda: api.post(f"/uploads/{upload_id}:complete", {}, by=bob),
    }
    assert refused(calls[call]()) == (403, WRITE_ENDS[how])
    assert_given_up(shared, api, ada, bob, file, slot)


@pytest.mark.parametrize("checks", [1, 2])
@pytest.mark.parametrize("into", ["file", "folder"])
def test_a_share_that_is_revoked_while_an_upload_is_completed_ends_it_too(
    shared: Shared, api: Api, monkeypatch: pytest.MonkeyPatch, into: str, checks: int
) -> None:
    """After the check before the bytes are joined, and after the one before the transaction."""
    ada, bob = shared.user("ada"), shared.user("bob")
    share, file, slot = slot_of(shared, api, ada, bob, into)
    api.ask("PUT", f"/uploads/{slot['uploadId']}/parts/1", content=b"new", by=bob)
    checked, calls = FileAccess.share_of, count(1)

    def revoked_after(access: FileAccess, user: User, of: File, write: bool = False) -> Share | None:
        found = checked(access, user, of, write)
        if next(calls) == checks:
            shared.at.campus.shares.revoke(ada, share.share_id)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(FileAccess, "share_of", revoked_after)
        refusal = refused(api.post(f"/uploads/{slot['uploadId']}:complete", {}, by=bob))
    assert refusal == (403, "SHARE_REVOKED")
    assert_given_up(shared, api, ada, bob, file, slot)


def test_who_may_write_in_a_folder_uploads_a_file_that_is_its_owners(shared: Shared, api: Api) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    _, _, slot = slot_of(shared, api, ada, bob, "folder")
    api.ask("PUT", f"/uploads/{slot['uploadId']}/parts/1", content=b"new", by=bob)
    given(api.post(f"/uploads/{slot['uploadId']}:complete", {}, by=bob))
    assert api.get(f"/files/{slot['fileId']}/content", by=ada).content == b"new"
    assert (shared.at.again(ada).storage_used, shared.at.again(bob).storage_used) == (3, 0)


def test_an_older_version_that_a_writer_opens_counts_as_an_access(shared: Shared, api: Api) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file = shared.stored(ada, "essay.txt", b"first")
    [share] = shared.share(ada, file, bob.email, permissions="write")
    assert api.get(f"/files/{file.file_id}/versions/1/content", by=bob).content == b"first"
    jobs.flush_accesses(shared.at.campus)
    assert shared.at.campus.repository.share(share.share_id).access_count == 1


def test_a_list_says_what_cannot_be_opened_now(shared: Shared, api: Api) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    files = [shared.stored(ada, f"{n}.txt", b"text") for n in range(2)]
    folder = shared.folder(ada, "Notes")
    items: list[File | Folder] = [*files, folder]
    for item in items:
        shared.share(ada, item, bob.email)
        shared.at.later(seconds=1)
    shared.at.campus.library.trash(ada, files[0].file_id)
    found = given(api.get("/shared-with-me", by=bob))["items"]
    assert [(one["name"], one["state"]) for one in found] == [
        ("Notes", "open"),
        ("1.txt", "open"),
        ("0.txt", "deleted"),
    ]
    assert refused(api.get(f"/files/{files[0].file_id}/content", by=bob)) == (410, "DELETED")
