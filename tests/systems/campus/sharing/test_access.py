"""Who may read and write a file: the owner, and through shares of it or of a folder above it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.client.ways import WAYS
from tests.systems.campus.sharing.conftest import Shared
from tests.systems.campus.talk import Place, refuses

from tablewright.systems.campus import design as d
from tablewright.systems.campus import jobs
from tablewright.systems.campus.settings import Settings
from tablewright.systems.campus.sharing.access_check import FileAccess


@pytest.fixture
def shared(campus_shares: Shared) -> Shared:
    return campus_shares


def test_an_owner_needs_no_share_and_a_stranger_is_not_told_more_than_that_it_is_not_shared(
    shared: Shared,
) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file = shared.file(ada)
    infected = shared.file(ada, status="quarantined", virus_scan_status="infected")
    assert shared.read(ada, file, write=True) is None
    for each in (file, infected):
        with refuses("NOT_SHARED"):
            shared.read(bob, each)


def test_a_share_for_reading_does_not_allow_writing_and_the_most_permissive_of_several_counts(
    shared: Shared,
) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    outer = shared.folder(ada, "Project")
    file = shared.file(ada, folder=shared.folder(ada, "Notes", outer))
    shared.share(ada, file, bob.email)
    with refuses("READ_ONLY"):
        shared.read(bob, file, write=True)
    [over] = shared.share(ada, outer, bob.email, permissions="write")
    best = shared.read(bob, file, write=True)
    assert best is not None
    assert best.share_id == over.share_id


def test_a_share_of_a_folder_reaches_everything_below_it_and_nothing_beside_it(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    outer = shared.folder(ada, "Project")
    inside = shared.file(ada, folder=shared.folder(ada, "Notes", outer))
    beside = shared.file(ada, folder=shared.folder(ada, "Private"))
    shared.share(ada, outer, bob.email)
    assert shared.read(bob, inside) is not None
    with refuses("NOT_SHARED"):
        shared.read(bob, beside)


def test_a_share_with_a_course_is_for_its_members_until_they_leave(shared: Shared) -> None:
    ada, bob, cy = shared.user("ada"), shared.user("bob"), shared.user("cy")
    course = shared.course(student_1=ada, ta_2=bob)
    file = shared.file(ada)
    shared.share(ada, file, course)
    assert shared.read(bob, file) is not None
    with refuses("NOT_SHARED"):
        shared.read(cy, file)
    shared.at.db.write(d.enrolments.discard(bob.user_id, course.course_id))
    with refuses("NOT_SHARED"):
        shared.read(bob, file)


def test_a_share_with_a_team_is_for_its_members_alone(shared: Shared) -> None:
    ada, bob, cy = shared.user("ada"), shared.user("bob"), shared.user("cy")
    course = shared.course(student_1=ada, student_2=bob, student_3=cy)
    file = shared.file(ada)
    shared.share(ada, file, shared.team(course, ada, bob), permissions="write")
    assert shared.read(bob, file, write=True) is not None
    with refuses("NOT_SHARED"):
        shared.read(cy, file)


def test_bytes_that_are_quarantined_or_not_scanned_are_locked_for_recipients(shared: Shared) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    infected, pending = shared.file(ada), shared.file(ada)
    for each in (infected, pending):
        shared.share(ada, each, bob.email)
    db = shared.at.db
    stored = shared.at.campus.repository.file_of(ada.user_id, infected.file_id)
    db.write(d.files.move(stored, stored.model_copy(update={"status": "quarantined"}), by="system"))
    db.write(d.files.update(ada.user_id, pending.file_id).at(lambda f: f.virus_scan_status).set("pending"))
    with refuses("QUARANTINED"):
        shared.read(bob, infected)
    with refuses("SCAN_PENDING"):
        shared.read(bob, pending)
    lenient = FileAccess(shared.at.campus.repository, Settings(share_unscanned=True))
    assert lenient.check(bob, shared.at.campus.repository.file_of(ada.user_id, pending.file_id)) is not None


def test_the_decision_rests_on_consistent_reads_of_the_shares_own_rows(shared: Shared, at: Place) -> None:
    ada, bob = shared.user("ada"), shared.user("bob")
    file = shared.file(ada)
    shared.share(ada, file, bob.email)
    asked: list[tuple[str, Any]] = []

    def call(verb: str, request: Any) -> Any:
        asked.append((verb, request))
        return at.call(verb, request)

    before, at.db._call = at.db._call, call
    try:
        shared.at.campus.file_access.check(bob, file)
    finally:
        at.db._call = before
    [gets] = [request for verb, request in asked if verb == "BatchGetItem"]
    [rows] = [one for name, one in gets["RequestItems"].items() if "shares" in name]
    assert rows["ConsistentRead"] is True
    assert {key["sharedWithUserId"]["S"].partition("#")[0] for key in rows["Keys"]} == {bob.user_id, "EMAIL"}


class TestScenarios:
    """On every way to a database."""

    @pytest.fixture(params=list(WAYS))
    def way(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    def test_cc_s3_a_share_works_until_its_end_and_is_expired_after_it_although_its_row_exists(
        self, shared: Shared
    ) -> None:
        at = shared.at
        ada, bob = shared.user("ada"), shared.user("bob")
        file = shared.file(ada)
        end = datetime(2030, 2, 15, 23, 59, 59, tzinfo=UTC)
        [share] = shared.share(ada, file, bob.email, expires_at=end)
        row = shared.row(share)
        assert row is not None
        assert row["ttl"] == {"N": str(int(end.timestamp()))}
        at.clock.move(end - timedelta(seconds=1) - at.clock.now())
        used = shared.read(bob, file)
        assert used is not None
        at.campus.file_access.used(used)
        jobs.flush_accesses(at.campus)
        row = shared.row(share)
        assert row is not None
        assert row["accessCount"] == {"N": "1"}
        assert row["lastAccessedAt"]["S"].startswith("2030-02-15T23:59:58")
        at.later(seconds=2)
        with refuses("SHARE_EXPIRED"):
            shared.read(bob, file)
        assert shared.row(share) is not None
        assert shared.received(bob) == []

    def test_cc_s4_a_revoked_share_fails_at_once_shows_when_and_disappears_after_90_days(
        self, shared: Shared
    ) -> None:
        at = shared.at
        ada, bob = shared.user("ada"), shared.user("bob")
        file = shared.file(ada)
        [share] = shared.share(ada, file, bob.email)
        assert shared.read(bob, file) is not None
        revoked = at.campus.shares.revoke(ada, share.share_id)
        # Another node has the same tables, and no memory of its own.
        with refuses("SHARE_REVOKED"):
            FileAccess(at.campus.repository, at.campus.settings).check(bob, file)
        row = shared.row(share)
        assert row is not None
        assert row["status"] == {"S": "revoked"}
        assert revoked.revoked_at == at.campus.repository.now()
        assert float(row["ttl"]["N"]) == (at.clock.now() + timedelta(days=90)).timestamp()
        assert at.campus.shares.revoke(ada, share.share_id) == revoked
        at.later(days=90, seconds=1)
        with refuses("SHARE_NOT_FOUND"):
            at.campus.repository.share(share.share_id)


def test_accesses_of_a_whole_course_leave_the_version_that_its_owner_edits(shared: Shared) -> None:
    ada, students = shared.user("ada"), [shared.user(f"student{number}") for number in range(5)]
    course = shared.course(instructor=ada)
    for student in students:
        shared.enrol(student, course)
    file, shares = shared.file(ada), shared.at.campus.shares
    [share] = shared.share(ada, file, course)
    seen = shares.owned(ada, share.share_id).version
    for student in students:
        used = shared.read(student, file)
        assert used is not None
        shared.at.campus.file_access.used(used)
    assert jobs.flush_accesses(shared.at.campus) == 5
    assert jobs.flush_accesses(shared.at.campus) == 0
    changed = shares.change(ada, share.share_id, {"permissions": "write"}, seen)
    assert (changed.access_count, changed.permissions) == (5, "write")
