"""Files whose bytes are in a bucket of S3: the same service, the same checks; parts that go straight to the bucket."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from tests.places import reached
from tests.s3_server import new_bucket, s3_server, use_server
from tests.systems.campus.files.helpers import (
    EICAR,
    assignment_for_files,
    begin,
    content_of,
    real_use,
    scan,
    set_quota,
    store,
    store_clean,
)
from tests.systems.campus.talk import SECRET, Api, Json, Place, refuses, uuid_world
from tests.systems.talk import at_once, given, refused

from tablewright.design.policies import OBJECT_LISTS, OBJECTS
from tablewright.edge import Issuer
from tablewright.kit.objects.archive import Archive
from tablewright.kit.objects.s3 import S3Objects
from tablewright.kit.objects.store import PART_SIZE
from tablewright.mapping import Db
from tablewright.systems.campus.campus import open_campus
from tablewright.systems.campus.design import CAMPUS
from tablewright.systems.campus.files.signed_parts import LASTS
from tablewright.systems.campus.model import File, User
from tablewright.systems.campus.settings import Settings
from tablewright.testing import Clock
from tablewright.world import machine_time


@pytest.fixture
def clock() -> Clock:
    """The time of S3 is that of the machine."""
    return Clock(machine_time().replace(microsecond=0))


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    with s3_server() as url, pytest.MonkeyPatch.context() as patch:
        client = use_server(url, patch)
        yield client
        client.close()


@pytest.fixture
def at(s3: Any, clock: Clock, issuer: Issuer, tmp_path: Path) -> Iterator[Place]:
    home = tmp_path / "campus"
    home.mkdir()
    (home / "objects.json").write_bytes(orjson.dumps({"bucket": "s3://campus-files/bytes"}))
    world = uuid_world(clock.world())
    with new_bucket(s3, "campus-files"), reached("embedded", None, world, CAMPUS) as there:
        db = Db(there.call, CAMPUS, world=world, secret=SECRET)
        db.create_tables()
        campus = open_campus(db, world, SECRET, home=home, settings=Settings(scanner="signatures"))
        yield Place(campus, db, there.call, clock, issuer, there.engine, world)


def test_a_file_goes_up_in_parts_is_scanned_and_purged_in_a_bucket(at: Place) -> None:
    assert isinstance(at.campus.objects, S3Objects)
    lin, content = at.user("lin"), b"0123456789abcdef" * (PART_SIZE // 16) + b"the rest"
    file = store_clean(at, lin, "big.txt", content)
    assert file.virus_scan_status == "clean"
    assert content_of(at, file, PART_SIZE - 4) == b"cdefthe rest"
    assert (file.bucket, file.object_name) == ("campus-files", f"files/{file.file_id}/{file.version_id}")
    store(at, lin, "big.txt", b"second", file_id=file.file_id)
    assert at.again(lin).storage_used == real_use(at, lin) == len(content) + 6
    at.campus.library.trash(lin, file.file_id)
    assert at.campus.purge.empty_trash(lin) == 1
    assert list(at.campus.objects.names("files/")) == []
    assert at.again(lin).storage_used == 0


def test_an_upload_to_a_bucket_is_resumed_and_completed_once(at: Place) -> None:
    lin = at.user("lin")
    upload = begin(at, lin, 3)
    with refuses("PARTS_MISSING"):
        at.campus.uploads.complete(upload.upload_id)
    at.campus.uploads.put_part(upload, 1, [b"abc"])
    assert at.campus.uploads.status(upload).missing == []
    answers = at_once([lambda: at.campus.uploads.complete(upload.upload_id) for _ in range(6)], 6)
    assert [one for one in answers if not isinstance(one, File)] == []
    assert at.again(lin).storage_used == 3


def test_a_wrong_checksum_leaves_nothing_in_a_bucket(at: Place) -> None:
    lin = at.user("lin")
    upload = begin(at, lin, 3, checksum="0" * 64)
    at.campus.uploads.put_part(upload, 1, [b"abc"])
    with refuses("CHECKSUM_MISMATCH"):
        at.campus.uploads.complete(upload.upload_id)
    assert list(at.campus.objects.names("files/")) == []
    assert at.again(lin).storage_reserved == 0


def test_a_link_to_a_bucket_leads_there_with_the_name_of_the_file(at: Place) -> None:
    lin = at.user("lin")
    file = store(at, lin, "Übung.txt", b"in a bucket")
    scan(at)
    link = at.campus.library.download_link(lin, file.file_id)
    answer = httpx.get(link.url, headers=dict(link.headers), trust_env=False)
    assert answer.content == b"in a bucket"
    assert "%C3%9Cbung.txt" in answer.headers["Content-Disposition"]


# What each operation of S3 asks of IAM; a copy, of its source and of its target.
ACTIONS = {
    "HeadObject": ["GetObject"],
    "GetObject": ["GetObject"],
    "PutObject": ["PutObject"],
    "CopyObject": ["GetObject", "PutObject"],
    "CreateMultipartUpload": ["PutObject"],
    "UploadPart": ["PutObject"],
    "CompleteMultipartUpload": ["PutObject"],
    "AbortMultipartUpload": ["AbortMultipartUpload"],
    "ListParts": ["ListMultipartUploadParts"],
    "ListMultipartUploads": ["ListBucketMultipartUploads"],
    "ListObjectsV2": ["ListBucket"],
    "ListObjectVersions": ["ListBucketVersions"],
    "RestoreObject": ["RestoreObject"],
}


def test_what_campus_cloud_does_to_its_bucket_its_role_may_and_no_more(at: Place) -> None:
    asked: set[str] = set()

    def noted(model: Any, params: Json, **more: Any) -> None:
        is_delete = model.name == "DeleteObject"
        if is_delete:
            assert "versionId" in params["url_path"] + str(params["query_string"])
        asked.update(["DeleteObjectVersion"] if is_delete else ACTIONS[model.name])

    client = at.campus.objects._s3  # type: ignore[attr-defined]  # the connection that the bucket was opened with
    client.meta.events.register("before-call.s3", noted)
    lin = at.user("lin")
    file = store_clean(at, lin, "big.txt", bytes(PART_SIZE + 1))
    at.campus.uploads.abandon(begin(at, lin, 3).upload_id)
    at.campus.library.trash(lin, file.file_id)
    at.campus.purge.empty_trash(lin)
    at.campus.purge.sweep()
    archive = Archive(at.campus.objects, at.world)
    archive.store("courses/cs101", [b"{}"], {})
    assert archive.restore_request("courses/cs101") is False
    assert asked == {*OBJECTS, *OBJECT_LISTS}


# --- straight to the bucket ---


def slot(api: Api, by: User, content: bytes, name: str = "notes.txt", **more: object) -> Json:
    """A slot for a file; the server offers to take its parts in the bucket."""
    body = {"filename": name, "fileSize": len(content), "contentType": "text/plain", **more}
    found: Json = given(api.post("/files", body, by=by), 201)
    assert found["direct"]
    return found


def signed(api: Api, by: User, upload: Json, content: bytes) -> list[tuple[Json, bytes]]:
    """The signed requests of an upload, each with its bytes."""
    size, count = upload["partSize"], upload["partCount"]
    parts = {number: content[(number - 1) * size : number * size] for number in range(1, count + 1)}
    wanted = [{"number": number, "checksum": sha256(part).hexdigest()} for number, part in parts.items()]
    path = f"/uploads/{upload['uploadId']}/parts:sign"
    answer = given(api.post(path, {"parts": wanted}, by=by))
    return [(one, parts[one["number"]]) for one in answer["items"]]


def put(request: Json, part: bytes) -> int:
    """Send a part as any program with the request can, without a login of ours."""
    answer = httpx.request(
        request["method"], request["url"], headers=request["headers"], content=part, trust_env=False
    )
    return answer.status_code


def send(api: Api, by: User, content: bytes, name: str = "notes.txt", **more: object) -> Json:
    """All parts of a file into the bucket; the upload is not complete yet."""
    upload = slot(api, by, content, name, **more)
    assert [put(*one) for one in signed(api, by, upload, content)] == [200] * upload["partCount"]
    return upload


def complete(api: Api, by: User, upload: Json, **more: str) -> httpx.Response:
    return api.post(f"/files/{upload['fileId']}:complete", {"uploadId": upload["uploadId"], **more}, by=by)


def test_parts_go_straight_to_the_bucket_and_the_file_opens_for_others_after_its_scan(
    at: Place, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def passes_through(*given: Any, **named: Any) -> None:
        raise AssertionError("a part went through the process")

    monkeypatch.setattr(S3Objects, "put_part", passes_through)
    lin, mo = at.user("lin"), at.user("mo")
    content = b"0123456789abcdef" * (PART_SIZE // 16) + b"the rest"
    upload = send(api, lin, content)
    assert given(api.get(f"/uploads/{upload['uploadId']}", by=lin))["parts"] == [1, 2]
    assert at.again(lin).storage_reserved == len(content)
    file = given(complete(api, lin, upload))
    assert given(complete(api, lin, upload)) == file
    assert file["checksum"] == f"sha256:{sha256(content).hexdigest()}"
    assert file["contentType"] == "text/plain"
    user = at.again(lin)
    assert (user.storage_used, user.storage_reserved) == (len(content), 0) == (real_use(at, lin), 0)
    share = {"recipients": [{"email": mo.email}]}
    given(api.post(f"/files/{file['fileId']}/shares", share, by=lin), 201)
    path = f"/files/{file['fileId']}/content"
    assert refused(api.get(path, by=mo)) == (423, "SCAN_PENDING")
    scan(at)
    assert api.get(path, by=mo).content == content


def test_a_virus_that_went_straight_to_the_bucket_is_quarantined(at: Place, api: Api) -> None:
    lin = at.user("lin")
    file = given(complete(api, lin, send(api, lin, EICAR)))
    scan(at)
    assert refused(api.get(f"/files/{file['fileId']}/content", by=lin)) == (423, "QUARANTINED")


def test_what_is_in_the_bucket_counts_and_not_what_the_client_says(at: Place, api: Api, s3: Any) -> None:
    lin = at.user("lin")
    upload = slot(api, lin, b"twelve bytes")
    [(request, _)] = signed(api, lin, upload, b"twelve bytes")
    assert refused(complete(api, lin, upload)) == (409, "PARTS_MISSING")
    # S3 itself refuses a part of another size, which is signed; moto does not, so the completion has to.
    assert put(request, b"thirteen bytes") == 200
    answer = complete(api, lin, upload)
    assert (refused(answer), answer.json()["parts"]) == ((409, "PARTS_MISSING"), [1])
    assert refused(api.get(f"/files/{upload['fileId']}", by=lin)) == (404, "FILE_NOT_FOUND")
    assert at.again(lin).storage_reserved == 12
    assert put(request, b"TWELVE BYTES") == 200
    wrong = complete(api, lin, upload, checksum=sha256(b"twelve bytes").hexdigest())
    assert refused(wrong) == (400, "CHECKSUM_MISMATCH")
    assert at.again(lin).storage_reserved == 0
    assert s3.list_object_versions(Bucket="campus-files").get("Versions", []) == []


def test_the_type_of_a_direct_upload_is_that_of_its_first_bytes(at: Place, api: Api, s3: Any) -> None:
    lin = at.user("lin")
    wanted = {"assignmentId": assignment_for_files(at, max_file_size=100, allowed_file_types=["text/plain"])}
    png = b"\x89PNG\r\n\x1a\n" + bytes(20)
    answer = complete(api, lin, send(api, lin, png, "essay.txt", **wanted))
    assert (refused(answer), answer.json()["found"]) == ((400, "TYPE_NOT_ALLOWED"), "image/png")
    assert (at.again(lin).storage_used, at.again(lin).storage_reserved) == (0, 0)
    assert s3.list_object_versions(Bucket="campus-files").get("Versions", []) == []
    text = given(complete(api, lin, send(api, lin, b"an essay", "essay.txt", **wanted)))
    assert text["contentType"] == "text/plain"


def test_the_quota_is_exact_when_direct_uploads_begin_and_end_at_once(at: Place, api: Api) -> None:
    lin = set_quota(at, at.user("lin"), 30)
    body = {"filename": "a.txt", "fileSize": 10, "contentType": "text/plain"}
    answers = at_once([lambda: api.post("/files", body, by=lin) for _ in range(8)], 8)
    slots = [one.json() for one in answers if isinstance(one, httpx.Response) and one.status_code == 201]
    assert len(slots) == 3
    for upload in slots:
        [request] = signed(api, lin, upload, b"0123456789")
        assert put(*request) == 200
    done = at_once([partial(complete, api, lin, upload) for upload in slots * 3], 9)
    assert [one.status_code for one in done if isinstance(one, httpx.Response)] == [200] * 9
    assert (at.again(lin).storage_used, at.again(lin).storage_reserved) == (30, 0)


def test_an_abandoned_direct_upload_leaves_neither_parts_nor_quota_and_its_requests_end(
    at: Place, api: Api, s3: Any
) -> None:
    lin = at.user("lin")
    expired, cancelled = slot(api, lin, b"abc"), slot(api, lin, b"abcd")
    [sent], [late] = signed(api, lin, expired, b"abc"), signed(api, lin, cancelled, b"abcd")
    assert put(*sent) == 200
    assert api.delete(f"/uploads/{cancelled['uploadId']}", by=lin).status_code == 204
    assert put(*late) == 404
    at.later(hours=24)
    path = f"/uploads/{expired['uploadId']}/parts:sign"
    wanted = {"parts": [{"number": 1, "checksum": sha256(b"abc").hexdigest()}]}
    assert refused(api.post(path, wanted, by=lin)) == (410, "UPLOAD_EXPIRED")
    scan(at)
    assert at.again(lin).storage_reserved == 0
    assert put(*sent) == 404
    assert s3.list_multipart_uploads(Bucket="campus-files").get("Uploads", []) == []


def test_a_part_is_signed_for_its_uploader_one_number_and_one_checksum(at: Place, api: Api) -> None:
    lin, upload = at.user("lin"), slot(api, at.user("lin"), b"abc")
    path, good = f"/uploads/{upload['uploadId']}/parts:sign", sha256(b"abc").hexdigest()

    def ask(by: User, *parts: object) -> tuple[int, str]:
        return refused(api.post(path, {"parts": list(parts)}, by=by))

    assert ask(at.user("mo"), {"number": 1, "checksum": good}) == (404, "UPLOAD_NOT_FOUND")
    for number in (0, 2, -1):
        assert ask(lin, {"number": number, "checksum": good}) == (400, "INVALID_PART")
    for checksum in ("", "0" * 63, "g" * 64, f"sha512:{'0' * 128}"):
        assert ask(lin, {"number": 1, "checksum": checksum}) == (400, "INVALID_CHECKSUM")
    assert ask(lin)[0] == 422
    assert ask(lin, *[{"number": 1, "checksum": good}] * 101)[0] == 422


def test_a_signed_part_ends_after_a_quarter_of_an_hour_and_with_its_slot(at: Place, api: Api) -> None:
    lin = at.user("lin")
    upload = slot(api, lin, b"abc")
    [(first, _)] = signed(api, lin, upload, b"abc")
    assert datetime.fromisoformat(first["expiresAt"]) == at.clock.now() + LASTS
    assert httpx.URL(first["url"]).params["X-Amz-Expires"] == "900"
    at.later(hours=23, minutes=55)
    [(last, _)] = signed(api, lin, upload, b"abc")
    assert last["expiresAt"] == upload["expiresAt"]
    assert httpx.URL(last["url"]).params["X-Amz-Expires"] == "300"


def test_a_visitor_sends_parts_straight_to_the_bucket_until_the_deadline(at: Place, api: Api) -> None:
    ada = at.user("ada")
    folder = at.campus.folders.create(ada, "Homework")
    deadline = at.clock.now() + timedelta(minutes=10)
    terms = {"kind": "drop", "expiresAt": deadline.isoformat()}
    token = given(api.post(f"/folders/{folder.folder_id}/links", terms, by=ada), 201)["token"]
    drop = f"/drops/{token}"
    ticket = {"X-Drop-Ticket": given(api.post(f"{drop}/senders", {"name": "Zoë"}), 201)["ticket"]}
    upload = given(api.post(f"{drop}/uploads", {"filename": "a.txt", "fileSize": 3}, headers=ticket), 201)
    assert upload["direct"]
    path = f"{drop}/uploads/{upload['uploadId']}/parts:sign"
    wanted = {"parts": [{"number": 1, "checksum": sha256(b"abc").hexdigest()}]}
    assert refused(api.post(path, wanted)) == (403, "TICKET_NEEDED")
    [request] = given(api.post(path, wanted, headers=ticket))["items"]
    assert datetime.fromisoformat(request["expiresAt"]) == deadline
    assert put(request, b"abc") == 200
    sent = given(api.post(f"{drop}/uploads/{upload['uploadId']}:complete", {}, headers=ticket))
    assert sent["checksum"] == f"sha256:{sha256(b'abc').hexdigest()}"
    at.later(minutes=10)
    assert refused(api.post(path, wanted, headers=ticket))[0] == 403
