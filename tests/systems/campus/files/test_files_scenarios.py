"""The acceptance scenarios of files: CC-S1, S2, S5, S10, S11 and S15, on every way to a database."""

from __future__ import annotations

import random
from functools import partial
from itertools import pairwise

import pytest
from tests.client.ways import WAYS
from tests.systems.campus.files.helpers import (
    EICAR,
    MIB,
    begin,
    content_of,
    names,
    real_use,
    scan,
    set_quota,
    store,
    store_clean,
)
from tests.systems.campus.talk import Place, refuses
from tests.systems.talk import at_once

from tablewright.edge.errors import CallerError
from tablewright.systems.campus import design as d
from tablewright.systems.campus import jobs
from tablewright.systems.campus.files.file_lists import TRASH, Wanted
from tablewright.systems.campus.files.purge import Purge
from tablewright.systems.campus.model import File, Share, Upload, User

GIB = 1024 * MIB


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_cc_s1_of_two_uploads_at_once_that_both_fill_the_quota_one_gets_a_slot(at: Place) -> None:
    u1 = set_quota(at, at.user("u1"), 5 * GIB, used=5 * GIB - MIB)
    answers = at_once([partial(begin, at, u1, MIB, f"{n}.bin") for n in range(2)], 2)
    (slot,) = [one for one in answers if isinstance(one, Upload)]
    (refusal,) = [one for one in answers if isinstance(one, CallerError)]
    assert (refusal.status, refusal.code) == (413, "QUOTA_EXCEEDED")
    assert (refusal.facts["size"], refusal.facts["free"]) == (MIB, 0)
    assert refusal.facts["storageQuota"] == 5 * GIB
    at.campus.uploads.put_part(slot, 1, [bytes(MIB)])
    at.campus.uploads.complete(slot.upload_id)
    after = at.again(u1)
    assert (after.storage_used, after.storage_reserved) == (5 * GIB, 0)


def test_cc_s2_forty_five_files_are_three_pages_by_time_even_if_one_comes_in_between(at: Place) -> None:
    lin = at.user("lin")
    order = list(range(45))
    random.Random(2).shuffle(order)
    for number in order:
        at.later(seconds=1)
        store(at, lin, f"file {number}.txt", b"x")
    pages: list[tuple[File, ...]] = []
    token: str | None = None
    for turn in range(3):
        page = at.campus.listing.page(lin, Wanted(), 20, token)
        pages.append(page.items)
        token = page.next
        if turn == 0:
            at.later(seconds=1)
            store(at, lin, "in between.txt", b"x")
    assert [len(page) for page in pages] == [20, 20, 5]
    assert token is None
    listed = [file for page in pages for file in page]
    assert names(listed) == [f"file {number}.txt" for number in reversed(order)]
    times = [file.uploaded_at for file in listed if file.uploaded_at]
    assert all(earlier < later for later, earlier in pairwise(times))


def test_cc_s2_pages_are_full_although_files_between_were_deleted(at: Place) -> None:
    lin = at.user("lin")
    for number in range(30):
        at.later(seconds=1)
        file = store(at, lin, f"{number}.txt", b"x")
        if number % 2:
            at.campus.library.trash(lin, file.file_id)
    assert names(at.campus.listing.page(lin, Wanted(), 15).items) == [f"{n}.txt" for n in range(28, -1, -2)]


def test_cc_s5_the_eicar_string_is_quarantined_and_its_owner_is_told(at: Place) -> None:
    lin, mo, boss = at.user("lin"), at.user("mo"), at.user("boss", "admin")
    file = store(at, lin, "invoice.txt", EICAR)
    _share(at, lin, mo, file)
    assert scan(at) == 1
    stored = at.campus.repository.file(file.file_id)
    assert (stored.status, stored.virus_scan_status) == ("quarantined", "infected")
    for user in (lin, mo):
        with refuses("QUARANTINED"):
            at.campus.library.readable(user, file.file_id)
    with refuses("QUARANTINED"):
        at.campus.library.download_link(lin, file.file_id)
    (notice,) = [one for one in at.db.all(at.campus.notifier.of(lin)) if one.kind == "virus"]
    assert "invoice.txt" in notice.text
    assert names(at.campus.scans.quarantine()) == ["invoice.txt"]
    assert content_of(at, at.campus.scans.reviewed(boss, file.file_id)) == EICAR
    with refuses("QUARANTINED"):
        at.campus.library.trash(lin, file.file_id)
    at.campus.scans.discard(boss, file.file_id, "a virus")
    with refuses("QUARANTINED"):
        at.campus.library.restore(lin, file.file_id)


def test_cc_s10_a_submitted_file_that_is_deleted_is_still_there_for_the_grader(at: Place) -> None:
    lin = at.user("lin")
    file = store_clean(at, lin, "essay.txt", b"an essay")
    at.db.write(at.campus.library.hold(file, "submission-1"))
    used = at.again(lin).storage_used
    at.campus.library.trash(lin, file.file_id)
    assert at.campus.listing.page(lin, Wanted()).items == ()
    at.later(days=31)
    assert jobs.remove_deleted(at.campus) == 0
    assert at.campus.purge.empty_trash(lin) == 0
    with at.campus.library.open_object(file.object_name) as stream:
        assert b"".join(stream) == b"an essay"
    assert at.again(lin).storage_used == used == real_use(at, lin)


def test_cc_s10_when_the_submission_lets_go_the_file_is_purged_in_the_end(at: Place) -> None:
    lin = at.user("lin")
    file = store_clean(at, lin, "essay.txt", b"an essay")
    at.db.write(at.campus.library.hold(file, "submission-1"))
    at.campus.library.trash(lin, file.file_id)
    at.later(days=900)
    held = at.campus.repository.file(file.file_id)
    at.db.write(at.campus.library.unhold(held, "submission-1"))
    assert jobs.remove_deleted(at.campus) == 0
    at.later(days=31)
    assert jobs.remove_deleted(at.campus) == 1
    assert at.again(lin).storage_used == 0


def test_cc_s11_only_what_was_deleted_thirty_days_ago_is_purged_with_all_that_belongs_to_it(
    at: Place,
) -> None:
    lin, mo = at.user("lin"), at.user("mo")
    first = store_clean(at, lin, "first.txt", b"first")
    at.later(days=1)
    second = store_clean(at, lin, "second.txt", b"second")
    _new_version(at, lin, second, b"second, better")
    scan(at)
    _share(at, lin, mo, second)
    at.campus.library.trash(lin, second.file_id)
    at.later(hours=2)
    at.campus.library.trash(lin, first.file_id)
    at.later(days=29, hours=23)
    assert jobs.remove_deleted(at.campus) == 1
    assert list(at.campus.objects.names("files/")) == [first.object_name]
    assert list(at.db.all(d.shares_of_file(file_id=second.file_id))) == []
    assert list(at.db.all(d.versions_of_file(file_id=second.file_id))) == []
    with refuses("FILE_NOT_FOUND"):
        at.campus.repository.file(second.file_id)
    for gone in (d.files_of_user(user_id=lin.user_id), d.files_by_status(status="deleted")):
        assert names(at.db.all(gone)) == ["first.txt"]
    assert at.again(lin).storage_used == real_use(at, lin) == len(b"first")
    assert at.campus.library.restore(lin, first.file_id).status == "active"
    assert names(at.campus.listing.page(lin, Wanted()).items) == ["first.txt"]


@pytest.mark.parametrize("step", ["_remove_shares", "_remove_rows", "_remove_group"])
def test_cc_s15_a_purge_that_was_killed_is_completed_by_the_next_run(
    at: Place, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    lin = at.user("lin")
    kept, gone = store_clean(at, lin, "kept.txt", b"kept"), store_clean(at, lin, "gone.txt", b"gone!")
    _new_version(at, lin, gone, b"gone, again")
    at.campus.library.trash(lin, gone.file_id)
    at.later(days=31)
    with monkeypatch.context() as patch:
        patch.setattr(Purge, step, _dies)
        with pytest.raises(Died):
            jobs.remove_deleted(at.campus)
    assert list(at.campus.objects.names("files/")) == [kept.object_name], "its bytes are gone"
    with refuses("FILE_NOT_FOUND"):
        at.campus.library.restore(lin, gone.file_id)
    assert at.campus.listing.page(lin, Wanted(place=TRASH)).items == ()
    assert jobs.remove_deleted(at.campus) == 1
    assert names(at.db.all(d.files_of_owner(user_id=lin.user_id))) == ["kept.txt"]
    assert at.again(lin).storage_used == real_use(at, lin) == 4
    assert not at.campus.recount.user(lin.user_id), "nothing is left to correct"


class Died(BaseException):
    """The process ends here."""


def _dies(*given: object) -> None:
    raise Died


def _new_version(at: Place, user: User, file: File, content: bytes) -> File:
    return store(at, user, file.filename, content, file_id=file.file_id)


def _share(at: Place, owner: User, to: User, file: File) -> None:
    at.db.write(
        d.shares.create(
            Share(
                file_id=file.file_id,
                shared_with_user_id=to.user_id,
                share_id=at.world.new_id(),
                owner_id=owner.user_id,
                shared_with_email=to.email,
                shared_at=at.clock.now(),
            )
        )
    )
