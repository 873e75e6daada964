"""Uploads: slots, parts, completion, and what goes wrong."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from tests.systems.campus.files.helpers import (
    MIB,
    assignment_for_files,
    begin,
    content_of,
    real_use,
    scan,
    set_quota,
    store,
)
from tests.systems.campus.talk import Place, refuses
from tests.systems.talk import at_once

from tablewright.kit.objects.store import PART_SIZE
from tablewright.systems.campus import design as d
from tablewright.systems.campus.files import uploads as module
from tablewright.systems.campus.files.file_lists import Wanted
from tablewright.systems.campus.model import File


def test_a_complete_upload_is_a_file_with_the_bytes_their_checksum_and_their_type(at: Place) -> None:
    lin, content = at.user("lin"), b"%PDF-1.7 and so on"
    file = store(at, lin, "thesis.txt", content)
    assert content_of(at, file) == content
    assert (file.filename, file.file_size, file.content_type) == (
        "thesis.txt",
        len(content),
        "application/pdf",
    )
    assert file.checksum == f"sha256:{sha256(content).hexdigest()}"
    assert (file.status, file.upload_state, file.virus_scan_status) == ("active", "complete", "pending")
    assert file.object_name == f"files/{file.file_id}/{file.version_id}"
    after = at.again(lin)
    assert (after.storage_used, after.storage_reserved, after.statistics.total_files) == (len(content), 0, 1)


def test_parts_arrive_in_any_order_and_again_and_are_resumed_after_an_interruption(at: Place) -> None:
    lin, content = at.user("lin"), b"0123456789abcdef" * (PART_SIZE // 16) + b"the rest"
    upload = begin(at, lin, len(content), "big.txt")
    at.campus.uploads.put_part(upload, 2, [b"the ", b"rest"])
    again = at.campus.uploads.of(lin, upload.upload_id)
    status = at.campus.uploads.status(again)
    assert (status.part_count, status.missing, status.parts) == (2, [1], {2: 8})
    with refuses("PARTS_MISSING"):
        at.campus.uploads.complete(upload.upload_id)
    assert at.campus.listing.page(lin, Wanted()).items == ()
    for _ in range(2):
        at.campus.uploads.put_part(upload, 1, [content[:PART_SIZE]])
    file = at.campus.uploads.complete(upload.upload_id)
    assert content_of(at, file, PART_SIZE - 4) == b"cdefthe rest"


def test_an_empty_file_is_a_file(at: Place) -> None:
    file = store(at, at.user("lin"), "empty.txt", b"")
    assert (file.file_size, content_of(at, file)) == (0, b"")


def test_completing_twice_and_at_once_returns_one_file(at: Place) -> None:
    lin = at.user("lin")
    upload = begin(at, lin, 3)
    at.campus.uploads.put_part(upload, 1, [b"abc"])
    answers = at_once([lambda: at.campus.uploads.complete(upload.upload_id) for _ in range(8)], 8)
    assert all(isinstance(one, File) for one in answers), answers
    assert len({one.file_id for one in answers if isinstance(one, File)}) == 1
    assert (at.again(lin).storage_used, at.again(lin).storage_reserved) == (3, 0)
    assert at.campus.uploads.complete(upload.upload_id).file_id == upload.file_id


def test_a_wrong_checksum_ends_the_upload_and_gives_its_quota_back(at: Place) -> None:
    lin = at.user("lin")
    upload = begin(at, lin, 3, checksum="sha256:" + "0" * 64)
    at.campus.uploads.put_part(upload, 1, [b"abc"])
    with refuses("CHECKSUM_MISMATCH"):
        at.campus.uploads.complete(upload.upload_id)
    assert (at.again(lin).storage_used, at.again(lin).storage_reserved) == (0, 0)
    with refuses("UPLOAD_NOT_FOUND"):
        at.campus.uploads.complete(upload.upload_id)


def test_a_part_of_another_size_or_number_or_checksum_is_refused(at: Place) -> None:
    upload = begin(at, at.user("lin"), 3)
    for number, content in ((1, b"ab"), (1, b"abcd"), (0, b"abc"), (2, b"abc")):
        with refuses("INVALID_PART"):
            at.campus.uploads.put_part(upload, number, [content])
    with refuses("CHECKSUM_MISMATCH"):
        at.campus.uploads.put_part(upload, 1, [b"abc"], expect_sha256="0" * 64)
    assert at.campus.uploads.status(upload).parts == {}


@pytest.mark.parametrize(
    "name",
    ["", "  ", ".", "..", "../etc/passwd", "a\\b", "a/b", "a\x00b", "a\nb", "exe.\u202etxt", "x" * 256],
)
def test_a_name_that_could_lead_elsewhere_is_refused_and_reserves_nothing(at: Place, name: str) -> None:
    lin = at.user("lin")
    with refuses("INVALID_NAME"):
        begin(at, lin, 3, name)
    assert at.again(lin).storage_reserved == 0


@pytest.mark.parametrize(
    "name", ["Übung 1.pdf", "作業.txt", "تمرین\u200cها.pdf", "🎓 thesis (final).docx", "e\u0301.txt"]
)
def test_names_in_any_script_are_kept(at: Place, name: str) -> None:
    file = store(at, at.user("lin"), name)
    assert file.filename == name.replace("e\u0301", "é")


def test_an_abandoned_upload_frees_its_quota_and_its_bytes(at: Place) -> None:
    lin = at.user("lin")
    upload = begin(at, lin, 3)
    at.campus.uploads.put_part(upload, 1, [b"abc"])
    assert at.again(lin).storage_reserved == 3
    at.campus.uploads.abandon(upload.upload_id)
    at.campus.uploads.abandon(upload.upload_id)
    assert at.again(lin).storage_reserved == 0
    with refuses("UPLOAD_EXPIRED"):
        at.campus.uploads.put_part(upload, 1, [b"abc"])
    with refuses("FILE_NOT_FOUND"):
        at.campus.repository.file(upload.file_id)


def test_a_slot_expires_after_a_day_by_its_task(at: Place) -> None:
    lin = at.user("lin")
    upload = begin(at, lin, 3)
    at.later(hours=23, minutes=59)
    scan(at)
    at.campus.uploads.put_part(upload, 1, [b"abc"])
    assert at.again(lin).storage_reserved == 3
    at.later(minutes=1)
    with refuses("UPLOAD_EXPIRED"):
        at.campus.uploads.complete(upload.upload_id)
    assert scan(at) == 1
    assert at.again(lin).storage_reserved == 0
    assert list(at.db.all(d.files_of_owner(user_id=lin.user_id))) == []
    assert at.campus.uploads.begun(lin) == []


def test_someone_elses_upload_does_not_exist(at: Place) -> None:
    upload = begin(at, at.user("lin"), 3)
    with refuses("UPLOAD_NOT_FOUND"):
        at.campus.uploads.of(at.user("mo"), upload.upload_id)


def test_a_crash_after_the_bytes_and_before_the_file_leaves_an_upload_that_can_be_completed(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    lin = at.user("lin")
    upload = begin(at, lin, 3)
    at.campus.uploads.put_part(upload, 1, [b"abc"])
    with monkeypatch.context() as patch:
        patch.setattr(module.Uploads, "_finish", _dies)
        with pytest.raises(Died):
            at.campus.uploads.complete(upload.upload_id)
    assert at.campus.listing.page(lin, Wanted()).items == ()
    assert content_of(at, at.campus.uploads.complete(upload.upload_id)) == b"abc"
    assert (at.again(lin).storage_used, at.again(lin).storage_reserved) == (3, 0)


def test_bytes_that_a_crash_left_without_an_owner_are_swept_and_no_others(
    at: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    lin = at.user("lin")
    kept = store(at, lin, content=b"kept")
    upload = begin(at, lin, 3)
    at.campus.uploads.put_part(upload, 1, [b"abc"])
    with monkeypatch.context() as patch:
        patch.setattr(module.Uploads, "_finish", _dies)
        with pytest.raises(Died):
            at.campus.uploads.complete(upload.upload_id)
    at.later(hours=25)
    scan(at)
    assert at.campus.purge.sweep() == 0, "it is not old enough"
    at.later(days=3)
    assert at.campus.purge.sweep() >= 1
    assert list(at.campus.objects.names("files/")) == [kept.object_name]
    assert at.again(lin).storage_used == real_use(at, lin) == 4


def test_a_version_counts_for_the_owner_of_the_file(at: Place) -> None:
    lin = at.user("lin")
    first = store(at, lin, content=b"one")
    upload = begin(at, lin, 5, file_id=first.file_id)
    at.campus.uploads.put_part(upload, 1, [b"three"])
    second = at.campus.uploads.complete(upload.upload_id)
    assert (second.version_number, second.file_size, second.stored_bytes) == (2, 5, 8)
    assert second.uploaded_at == first.uploaded_at
    assert at.again(lin).storage_used == real_use(at, lin) == 8


def test_two_new_versions_at_once_get_two_numbers(at: Place) -> None:
    lin = at.user("lin")
    file = store(at, lin)
    slots = [begin(at, lin, 1, file_id=file.file_id) for _ in range(4)]
    for slot in slots:
        at.campus.uploads.put_part(slot, 1, [b"x"])
    answers = at_once([lambda slot=slot: at.campus.uploads.complete(slot.upload_id) for slot in slots], 4)  # type: ignore[misc]
    assert not [one for one in answers if isinstance(one, Exception)], answers
    numbers = [one.version_number for one in at.db.all(d.versions_of_file(file_id=file.file_id))]
    assert numbers == [5, 4, 3, 2, 1]
    assert at.again(lin).storage_used == real_use(at, lin)


def test_the_user_is_told_at_80_and_at_100_per_cent_and_once(at: Place) -> None:
    lin = set_quota(at, at.user("lin"), 10)
    for content in (b"1234567", b"8", b"9", b"0"):
        store(at, lin, content=content)
    told = [one.text for one in at.db.all(at.campus.notifier.of(lin)) if one.kind == "quota"]
    assert told == ["Your storage is full.", "You have used 80 % of your storage."]


def test_a_file_whose_folder_was_deleted_on_its_way_is_at_the_top(at: Place) -> None:
    lin = at.user("lin")
    folder = at.campus.folders.create(lin, "Maths")
    upload = begin(at, lin, 3, folder_id=folder.folder_id)
    at.campus.uploads.put_part(upload, 1, [b"abc"])
    at.campus.library.trash_folder(lin, folder.folder_id)
    file = at.campus.uploads.complete(upload.upload_id)
    assert (file.folder_id, file.place) == (None, lin.user_id)


def test_an_assignment_limits_size_and_type_when_an_upload_begins_and_when_it_is_complete(at: Place) -> None:
    lin = at.user("lin")
    wanted: dict[str, Any] = {"assignment_id": assignment_for_files(at), "purpose": "submission"}
    with refuses("FILE_TOO_LARGE"):
        begin(at, lin, 11, **wanted)
    with refuses("TYPE_NOT_ALLOWED"):
        at.campus.uploads.begin(lin, filename="a.png", size=4, content_type="image/png", **wanted)
    assert (
        store(at, lin, "code.py", b"x = 1", content_type="text/x-python", **wanted).content_type
        == "text/x-python"
    )
    used = at.again(lin).storage_used
    with refuses("TYPE_NOT_ALLOWED"):
        store(at, lin, "essay.pdf", b"MZ\x90\x00", content_type="application/pdf", **wanted)
    after = at.again(lin)
    assert (after.storage_used, after.storage_reserved) == (used, 0)
    assert len(list(at.campus.objects.names("files/"))) == 1, "the bytes that were refused are gone"


def test_a_file_that_is_too_large_is_refused_with_figures(at: Place) -> None:
    lin = set_quota(at, at.user("lin"), 10, used=4)
    with pytest.raises(Exception, match="no room") as refusal:
        begin(at, lin, 7)
    facts = getattr(refusal.value, "facts", {})
    assert facts == {"size": 7, "free": 6, "storageUsed": 4, "storageReserved": 0, "storageQuota": 10}
    with refuses("FILE_TOO_LARGE"):
        begin(at, lin, 21 * 1024 * MIB)


def test_a_slot_that_was_refused_leaves_no_bytes_and_no_rows(at: Place) -> None:
    lin = set_quota(at, at.user("lin"), 2)
    with refuses("QUOTA_EXCEEDED"):
        begin(at, lin, 3)
    assert list(at.campus.objects.remove_abandoned(at.clock.now() + timedelta(days=1))) == []
    assert list(at.db.all(d.uploads_of_user(owner_id=lin.user_id))) == []


class Died(BaseException):
    """The process ends here."""


def _dies(*given: object) -> None:
    raise Died
