"""Files over HTTP: uploads in parts, ranges, names in headers, links, and who is refused how."""

from __future__ import annotations

import gc
from base64 import b64encode
from hashlib import sha256
from urllib.parse import unquote

import pytest
from fastapi import Request
from tests.systems.campus.files.helpers import EICAR, scan, set_quota, store, store_clean
from tests.systems.campus.talk import Api, Json, Place
from tests.systems.talk import given, refused

from tablewright.kit.objects.store import PART_SIZE, ObjectStream
from tablewright.systems.campus import jobs
from tablewright.systems.campus.api.content import content_response
from tablewright.systems.campus.api.files import SLOTS_AT_ONCE
from tablewright.systems.campus.model import User


def _slot(api: Api, by: User, name: str, content: bytes, **more: object) -> Json:
    body = {"filename": name, "fileSize": len(content), "contentType": "text/plain", **more}
    found: Json = given(api.post("/files", body, by=by), 201)
    return found


def _send(api: Api, by: User, upload: Json, number: int, part: bytes, **headers: str) -> int:
    path = f"/uploads/{upload['uploadId']}/parts/{number}"
    return api.ask("PUT", path, by=by, content=part, headers=headers).status_code


def _upload(api: Api, by: User, name: str, content: bytes, **more: object) -> Json:
    upload = _slot(api, by, name, content, **more)
    for number in range(1, upload["partCount"] + 1):
        part = content[(number - 1) * PART_SIZE : number * PART_SIZE]
        assert _send(api, by, upload, number, part) == 204
    path = f"/files/{upload['fileId']}:complete"
    found: Json = given(api.post(path, {"uploadId": upload["uploadId"]}, by=by))
    return found


def test_a_file_goes_up_in_parts_and_comes_down_whole(at: Place, api: Api) -> None:
    lin, content = at.user("lin"), bytes(range(256)) * (PART_SIZE // 256) + b"the end"
    upload = _slot(api, lin, "big.bin", content)
    assert (upload["partSize"], upload["partCount"], upload["parts"]) == (PART_SIZE, 2, [])
    digest = b64encode(sha256(b"the end").digest()).decode()
    assert _send(api, lin, upload, 2, b"the end", **{"Content-Digest": f"sha-256=:{digest}:"}) == 204
    assert given(api.get(f"/uploads/{upload['uploadId']}", by=lin))["parts"] == [2]
    assert [one["uploadId"] for one in given(api.get("/uploads", by=lin))["items"]] == [upload["uploadId"]]
    missing = api.post(f"/files/{upload['fileId']}:complete", {"uploadId": upload["uploadId"]}, by=lin)
    assert refused(missing) == (409, "PARTS_MISSING")
    assert missing.json()["parts"] == [1]
    assert _send(api, lin, upload, 1, content[:PART_SIZE]) == 204
    complete = {"uploadId": upload["uploadId"], "checksum": f"sha256:{sha256(content).hexdigest()}"}
    file = given(api.post(f"/files/{upload['fileId']}:complete", complete, by=lin))
    assert given(api.post(f"/files/{upload['fileId']}:complete", complete, by=lin)) == file
    down = api.get(f"/files/{file['fileId']}/content", by=lin)
    assert down.content == content
    assert down.headers["Content-Length"] == str(len(content))


def test_a_completion_whose_answer_was_lost_is_asked_again(at: Place, api: Api) -> None:
    lin = at.user("lin")
    upload = _slot(api, lin, "a.txt", b"abc")
    assert _send(api, lin, upload, 1, b"abc") == 204
    path = f"/uploads/{upload['uploadId']}:complete"
    file = given(api.post(path, {}, by=lin))
    assert given(api.post(path, {}, by=lin)) == file
    assert refused(api.post(path, {}, by=at.user("mo"))) == (403, "NOT_SHARED")
    other = store(at, lin, "b.txt")
    wrong = api.post(f"/files/{other.file_id}:complete", {"uploadId": upload["uploadId"]}, by=lin)
    assert refused(wrong) == (404, "UPLOAD_NOT_FOUND")


def test_a_part_larger_than_a_part_is_refused_before_it_is_read(at: Place, api: Api) -> None:
    lin = at.user("lin")
    upload = _slot(api, lin, "a.txt", b"abc")
    assert _send(api, lin, upload, 1, bytes(PART_SIZE + 1)) == 413
    assert _send(api, lin, upload, 1, b"abcd") == 400
    assert _send(api, lin, upload, 1, b"abc", **{"Content-Digest": "sha-256=:nonsense:"}) == 400
    wrong = b64encode(sha256(b"other").digest()).decode()
    assert _send(api, lin, upload, 1, b"abc", **{"Content-Digest": f"sha-256=:{wrong}:"}) == 400
    assert _send(api, at.user("mo"), upload, 1, b"abc") == 404
    assert given(api.get(f"/uploads/{upload['uploadId']}", by=lin))["parts"] == []


def test_cancelling_an_upload_that_is_complete_leaves_its_file_and_its_quota(at: Place, api: Api) -> None:
    lin = at.user("lin")
    upload = _slot(api, lin, "a.txt", b"abc")
    assert _send(api, lin, upload, 1, b"abc") == 204
    given(api.post(f"/uploads/{upload['uploadId']}:complete", {}, by=lin))
    assert refused(api.delete(f"/uploads/{upload['uploadId']}", by=lin)) == (404, "UPLOAD_NOT_FOUND")
    at.campus.uploads.abandon(upload["uploadId"])
    assert api.get(f"/files/{upload['fileId']}/content", by=lin).content == b"abc"
    assert (at.again(lin).storage_used, at.again(lin).storage_reserved) == (3, 0)


def test_cc_2_a_program_notes_texts_about_a_file_up_to_four_kilobytes(at: Place, api: Api) -> None:
    lin = at.user("lin")
    path = f"/files/{store(at, lin).file_id}"
    noted = {"camera": "Ünïcode 5", "lens": ""}
    assert given(api.patch(path, {"metadata": noted}, by=lin))["metadata"] == noted
    large = api.patch(path, {"metadata": {"a": "x" * 4090}}, by=lin)
    assert (refused(large), large.json()["field"]) == ((422, "INVALID_METADATA"), "metadata")
    for wrong in ({"": "x"}, {"a": 1}, {"a": {"b": "c"}}):
        assert refused(api.patch(path, {"metadata": wrong}, by=lin))[0] in (400, 422)
    assert given(api.get(path, by=lin))["metadata"] == noted
    assert given(api.patch(path, {"metadata": {}}, by=lin))["metadata"] == {}


def test_a_directory_takes_its_parts_through_the_server_and_signs_none(at: Place, api: Api) -> None:
    lin = at.user("lin")
    upload = _slot(api, lin, "a.txt", b"abc")
    assert upload["direct"] is False
    wanted = {"parts": [{"number": 1, "checksum": sha256(b"abc").hexdigest()}]}
    answer = api.post(f"/uploads/{upload['uploadId']}/parts:sign", wanted, by=lin)
    assert refused(answer) == (409, "PARTS_NOT_SIGNED")


def test_a_part_without_a_login_is_refused(at: Place, api: Api) -> None:
    upload = _slot(api, at.user("lin"), "a.txt", b"abc")
    assert api.ask("PUT", f"/uploads/{upload['uploadId']}/parts/1", content=b"abc").status_code == 401


def test_the_quota_is_refused_with_413_and_figures(at: Place, api: Api) -> None:
    lin = set_quota(at, at.user("lin"), 5)
    answer = api.post("/files", {"filename": "a.txt", "fileSize": 6}, by=lin)
    assert refused(answer) == (413, "QUOTA_EXCEEDED")
    assert answer.json()["free"] == 5


def test_slots_are_paced_for_each_user(at: Place, api: Api) -> None:
    lin = at.user("lin")
    body = {"filename": "../refused", "fileSize": 1}
    answers = [api.post("/files", body, by=lin).status_code for _ in range(SLOTS_AT_ONCE + 1)]
    assert (set(answers[:-1]), answers[-1]) == ({400}, 429)
    assert api.post("/files", body, by=at.user("mo")).status_code == 400


def test_names_tags_and_folders_are_checked_with_their_field(at: Place, api: Api) -> None:
    lin = at.user("lin")
    bad = api.post("/files", {"filename": "../x", "fileSize": 1}, by=lin)
    assert (refused(bad), bad.json()["field"]) == ((400, "INVALID_NAME"), "filename")
    file = _upload(api, lin, "a.txt", b"abc")
    tags = api.patch(f"/files/{file['fileId']}", {"tags": ["x" * 51]}, by=lin)
    assert (refused(tags), tags.json()["field"]) == ((422, "INVALID_TAGS"), "tags")
    assert refused(api.patch(f"/files/{file['fileId']}", {"filename": None}, by=lin))[0] in (400, 422)


@pytest.mark.parametrize(
    ("header", "status", "content", "shown"),
    [
        ("bytes=0-3", 206, b"0123", "bytes 0-3/10"),
        ("bytes=4-", 206, b"456789", "bytes 4-9/10"),
        ("bytes=-2", 206, b"89", "bytes 8-9/10"),
        ("bytes=-99", 206, b"0123456789", "bytes 0-9/10"),
        ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
        ("bytes=5-3", 200, b"0123456789", None),
        ("bytes=10-", 416, None, "bytes */10"),
        ("bytes=-0", 416, None, "bytes */10"),
        ("bytes=0-1,4-5", 200, b"0123456789", None),
        ("bytes=-", 200, b"0123456789", None),
        ("lines=1-2", 200, b"0123456789", None),
    ],
)
def test_ranges(
    at: Place, api: Api, header: str, status: int, content: bytes | None, shown: str | None
) -> None:
    lin = at.user("lin")
    file = store(at, lin, "digits.txt", b"0123456789")
    answer = api.get(f"/files/{file.file_id}/content", by=lin, headers={"Range": header})
    assert (answer.status_code, answer.headers.get("Content-Range")) == (status, shown)
    if content is not None:
        assert answer.content == content


def test_a_download_whose_client_is_gone_before_it_begins_is_closed() -> None:
    closed: list[bool] = []
    streams = [ObjectStream(4, 0, 4, iter([b"ab", b"cd"]), lambda: closed.append(True))]
    request = Request({"type": "http", "method": "GET", "headers": []})
    answer = content_response(
        request, lambda start, end: streams.pop(), size=4, filename="a", content_type="text/plain", tag="1"
    )
    assert closed == []
    del answer
    gc.collect()
    assert closed == [True]


def test_a_range_of_a_file_that_was_changed_since_is_the_whole_new_file(at: Place, api: Api) -> None:
    lin = at.user("lin")
    file = store(at, lin, "a.txt", b"0123456789")
    path = f"/files/{file.file_id}/content"
    tag = api.get(path, by=lin).headers["ETag"]
    same = api.get(path, by=lin, headers={"Range": "bytes=5-", "If-Range": tag})
    assert (same.status_code, same.content) == (206, b"56789")
    store(at, lin, "a.txt", b"abcdefghij", file_id=file.file_id)
    changed = api.get(path, by=lin, headers={"Range": "bytes=5-", "If-Range": tag})
    assert (changed.status_code, changed.content) == (200, b"abcdefghij")
    assert api.get(path, by=lin, headers={"If-None-Match": changed.headers["ETag"]}).status_code == 304


@pytest.mark.parametrize("name", ["Übung 1.pdf", '作業 "final".txt', "a;b=c.txt", "🎓.docx", "ملف.pdf"])
def test_a_download_has_its_name_in_any_script_and_is_no_page_of_ours(at: Place, api: Api, name: str) -> None:
    lin = at.user("lin")
    file = store(at, lin, name, b"<html><script>alert(1)</script>")
    answer = api.get(f"/files/{file.file_id}/content", by=lin)
    disposition = answer.headers["Content-Disposition"]
    assert disposition.isascii()
    assert disposition.startswith("attachment; ")
    assert unquote(disposition.partition("filename*=UTF-8''")[2]) == name
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"].startswith("sandbox;")


def test_a_link_works_without_a_login_for_five_minutes_with_ranges(at: Place, api: Api) -> None:
    lin = at.user("lin")
    file = store(at, lin, "ä.txt", b"0123456789")
    link = given(api.post(f"/files/{file.file_id}/content:link", by=lin))
    whole = api.client.get(link["url"])
    assert (whole.status_code, whole.content) == (200, b"0123456789")
    assert "%C3%A4.txt" in whole.headers["Content-Disposition"]
    assert api.client.get(link["url"], headers={"Range": "bytes=8-"}).content == b"89"
    assert api.client.get(link["url"][:-2] + "xx").status_code == 410
    at.later(minutes=5)
    assert refused(api.client.get(link["url"])) == (410, "LINK_EXPIRED")


def test_a_download_counts_once_however_many_ranges_it_has(at: Place, api: Api) -> None:
    lin = at.user("lin")
    file = store(at, lin, "a.txt", b"0123456789")
    path = f"/files/{file.file_id}/content"
    for header in ("bytes=0-4", "bytes=5-7", "bytes=8-"):
        assert api.get(path, by=lin, headers={"Range": header}).status_code == 206
    jobs.flush_downloads(at.campus)
    assert given(api.get(f"/files/{file.file_id}", by=lin))["downloadCount"] == 1


def test_a_download_that_begins_after_the_first_byte_is_counted_and_recorded(at: Place, api: Api) -> None:
    lin = at.user("lin")
    file = store(at, lin, "a.txt", b"0123456789")
    path = f"/files/{file.file_id}/content"
    for minutes, counted in ((0, 1), (9, 1), (2, 2)):
        at.later(minutes=minutes)
        assert api.get(path, by=lin, headers={"Range": "bytes=1-"}).status_code == 206
        assert api.get(path, by=lin, headers={"Range": "bytes=99-"}).status_code == 416
        jobs.flush_downloads(at.campus)
        assert given(api.get(f"/files/{file.file_id}", by=lin))["downloadCount"] == counted
        entries = at.db.all(at.campus.repository.history(f"file:{file.file_id}"))
        assert [one.action for one in entries].count("downloaded") == counted


def test_a_head_request_reads_no_bytes_and_is_not_a_download(
    at: Place, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    lin = at.user("lin")
    file = store(at, lin, "a.txt", b"0123456789")
    monkeypatch.setattr(type(at.campus.library), "open", lambda *given: pytest.fail("bytes were read"))
    answer = api.ask("HEAD", f"/files/{file.file_id}/content", by=lin)
    assert (answer.status_code, answer.headers["Content-Length"], answer.content) == (200, "10", b"")
    assert jobs.flush_downloads(at.campus) == 0


def test_every_refusal_of_a_file_has_its_status(at: Place, api: Api) -> None:
    lin, eve = at.user("lin"), at.user("eve")
    file = store_clean(at, lin)
    path = f"/files/{file.file_id}/content"
    assert refused(api.get(path, by=eve)) == (403, "NOT_SHARED")
    assert refused(api.get("/files/no-such-file/content", by=lin)) == (404, "FILE_NOT_FOUND")
    given(api.delete(f"/files/{file.file_id}", by=lin))
    assert refused(api.get(path, by=lin)) == (410, "DELETED")
    given(api.post(f"/files/{file.file_id}:restore", by=lin))
    assert api.get(path, by=lin).status_code == 200
    bad = store(at, lin, "virus.txt", EICAR)
    scan(at)
    assert refused(api.get(f"/files/{bad.file_id}/content", by=lin)) == (423, "QUARANTINED")
    assert given(api.get(f"/files/{bad.file_id}", by=lin))["status"] == "quarantined"


def test_lists_folders_trash_and_versions_over_http(at: Place, api: Api) -> None:
    lin = at.user("lin")
    folder = given(api.post("/folders", {"name": "Maths"}, by=lin), 201)
    inside = _upload(api, lin, "inside.txt", b"abc", folderId=folder["folderId"])
    _upload(api, lin, "top.txt", b"abcdef")
    listed = given(api.get(f"/files?folder={folder['folderId']}", by=lin))["items"]
    assert [one["filename"] for one in listed] == ["inside.txt"]
    by_size = given(api.get("/files?sort=size&order=desc&pageSize=1", by=lin))
    assert ([one["filename"] for one in by_size["items"]], by_size["moreAvailable"]) == (["top.txt"], True)
    moved = given(api.patch(f"/files/{inside['fileId']}", {"folderId": None, "tags": ["x"]}, by=lin))
    assert ("folderId" in moved, moved["tags"]) == (False, ["x"])
    stale = api.patch(f"/files/{inside['fileId']}", {"tags": []}, by=lin, headers={"If-Match": '"1"'})
    assert refused(stale) == (409, "VERSION_CONFLICT")
    upload = given(api.post(f"/files/{inside['fileId']}/versions", {"fileSize": 2}, by=lin), 201)
    assert _send(api, lin, upload, 1, b"v2") == 204
    given(api.post(f"/files/{inside['fileId']}:complete", {"uploadId": upload["uploadId"]}, by=lin))
    versions = given(api.get(f"/files/{inside['fileId']}/versions", by=lin))["items"]
    assert [one["versionNumber"] for one in versions] == [2, 1]
    assert api.get(f"/files/{inside['fileId']}/versions/1/content", by=lin).content == b"abc"
    back = given(api.post(f"/files/{inside['fileId']}/versions/1:restore", by=lin))
    assert (back["versionNumber"], back["fileSize"]) == (1, 3)
    given(api.delete(f"/files/{inside['fileId']}", by=lin))
    trash = given(api.get("/files?folder=trash", by=lin))["items"]
    assert [one["filename"] for one in trash] == ["inside.txt"]
    assert given(api.post("/trash:empty", by=lin)) == {"removed": 1}
    assert given(api.delete(f"/folders/{folder['folderId']}", by=lin)) == {"trashed": 0}


def test_the_quarantine_is_for_admins(at: Place, api: Api) -> None:
    lin, boss = at.user("lin"), at.user("boss", "admin")
    file = store(at, lin, "virus.txt", EICAR)
    scan(at)
    assert api.get("/admin/quarantine", by=lin).status_code == 403
    assert [one["fileId"] for one in given(api.get("/admin/quarantine", by=boss))["items"]] == [file.file_id]
    assert api.get(f"/admin/quarantine/{file.file_id}/content", by=boss).content == EICAR
    released = given(api.post(f"/admin/quarantine/{file.file_id}:release", {"reason": "a test"}, by=boss))
    assert released["status"] == "active"
