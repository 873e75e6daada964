"""The design is that of the document: its tables, indexes and settings (A.0, A.6), and its access patterns answer."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.systems.campus.files.helpers import store
from tests.systems.campus.grading.classroom import Classroom
from tests.systems.campus.talk import Api, Place
from tests.systems.talk import given, refused

from tablewright.design import OnDemand, Provisioned
from tablewright.systems.campus import design as d
from tablewright.systems.campus.model import Share

# Table: partition, sort key, TTL, stream; by index its keys and projection. As A.0 has them, with what was added there.
BOTH = "NEW_AND_OLD_IMAGES"
TABLES: dict[str, tuple[str, str | None, str | None, str | None]] = {
    "campus-cloud-files": ("userId", "fileId", None, BOTH),
    "campus-cloud-shares": ("fileId", "sharedWithUserId", "ttl", BOTH),
    "campus-cloud-assignments": ("courseId", "assignmentId", None, BOTH),
    "campus-cloud-submissions": ("assignmentId", "submissionKey", None, BOTH),
    "campus-cloud-users": ("userId", None, None, None),
}
INDEXES: dict[tuple[str, str], tuple[str, str | None]] = {
    ("files", "FileIdIndex"): ("fileId", None),
    ("files", "StatusIndex"): ("statusShard", "uploadedAt"),
    ("files", "UserUploadedIndex"): ("userId", "uploadedAt"),
    ("files", "PurgeIndex"): ("purgeDay", "deletedAt"),
    ("shares", "SharedWithUserIndex"): ("sharedWithUserId", "sharedAt"),
    ("shares", "ShareIdIndex"): ("shareId", None),
    ("shares", "FileExpirationIndex"): ("fileId", "expiresAt"),
    ("shares", "ExpiryDayIndex"): ("expiryDay", "expiresAt"),
    ("assignments", "InstructorIndex"): ("instructorId", "createdAt"),
    ("assignments", "StatusDueDateIndex"): ("status", "dueDate"),
    ("assignments", "AssignmentIdIndex"): ("assignmentId", None),
    ("submissions", "StudentIndex"): ("studentId", "submittedAt"),
    ("submissions", "SubmissionIdIndex"): ("submissionId", None),
    ("submissions", "StatusIndex"): ("statusShard", "submittedAt"),
    ("submissions", "GradingQueueIndex"): ("gradingCourseId", "submittedAt"),
    ("users", "EmailIndex"): ("email", None),
}
# Beside the document's: a folder's files are listed by place (CC-X27).
ADDED = {("files", "PlaceIndex")}
# Only keys, or little more: they find rows that are read again.
NARROW = {"PurgeIndex", "ExpiryDayIndex"}


def test_the_five_tables_of_the_document_have_their_names_keys_ttl_and_streams() -> None:
    tables = {name: d.CAMPUS.tables[name] for name in TABLES}
    assert {name: (t.pk, t.sk, t.ttl, t.stream) for name, t in tables.items()} == TABLES
    added = set(d.CAMPUS.tables) - set(TABLES)
    assert added == {
        f"campus-cloud-{name}"
        for name in ("library", "courses", "enrollments", "marking", "uniques", "notifications", "audit")
    }


def test_their_indexes_have_the_names_keys_and_projections_of_the_document() -> None:
    own = [index for index in d.CAMPUS.indexes if index.table.name in TABLES]
    found = {(index.table.name.removeprefix("campus-cloud-"), index.name): index for index in own}
    assert found.keys() == INDEXES.keys() | ADDED
    keys = {
        name: (index.table.pk if index.local else index.pk[0], index.sk[0] if index.sk else None)
        for name, index in found.items()
        if name not in ADDED
    }
    assert keys == INDEXES
    assert [name for name, index in found.items() if index.local] == [("shares", "FileExpirationIndex")]
    assert {name for (_, name), index in found.items() if index.project != "ALL"} == NARROW


def test_development_is_paid_by_the_request_and_production_has_the_units_of_the_document() -> None:
    dev, prod = (d.CAMPUS.environments[name] for name in ("dev", "prod"))
    assert {type(dev.capacity_of(name)) for name in TABLES} == {OnDemand}
    units: dict[str, Any] = {name: prod.capacity_of(name) for name in TABLES}
    assert all(isinstance(one, Provisioned) and one.target == 70 and one.max_read for one in units.values())
    # An index has the writes of its table: CC-D22.
    assert {name: (one.read, one.write) for name, one in units.items()} == {
        "campus-cloud-files": (25, 10),
        "campus-cloud-shares": (10, 5),
        "campus-cloud-assignments": (10, 5),
        "campus-cloud-submissions": (20, 10),
        "campus-cloud-users": (5, 2),
    }


@pytest.mark.parametrize("name", ["dev", "prod"])
def test_every_environment_is_recoverable_backed_up_weekly_and_tagged(name: str) -> None:
    environment = d.CAMPUS.environments[name]
    assert environment.pitr_days == 35
    assert environment.backups is not None
    assert (environment.backups.schedule, environment.backups.keep_days >= 30) == (
        "cron(0 2 ? * SUN *)",
        True,
    )
    assert environment.tags["DataSensitivity"] == "education-records"
    assert environment.objects is not None
    if name == "prod":
        assert (environment.encryption, environment.deletion_protection) == ("customer", True)


def test_cc_57_the_alarms_of_the_document_are_declared_with_its_thresholds() -> None:
    alarms = {
        alarm.name: (alarm.metric, alarm.statistic, float(alarm.threshold), alarm.minutes * alarm.periods)
        for alarm in d.CAMPUS.alarms
        if "CC-57" in alarm.requirement
    }
    assert alarms == {
        "throttling": ("ThrottledRequests", "Sum", 10, 5),
        "ErrorRateHigh": ("5XXError", "Average", 0.05, 5),
        "StorageQuotaHigh": ("StorageQuotaUsed", "Maximum", 80, 30),
    }


# --- access patterns that no page needs ---


def test_cc_8_files_of_a_status_are_merged_from_their_shards_newest_first(at: Place) -> None:
    lin = at.user("lin")
    made = []
    for number in range(20):
        at.later(seconds=1)
        made.append(store(at, lin, f"{number}.txt").file_id)
    found = [file.file_id for file in at.db.all(d.files_by_status(status="active"))]
    assert found == made[::-1]


def test_cc_21_the_shares_of_a_file_that_have_ended_are_found_by_their_end(at: Place) -> None:
    now, file_id = at.clock.now(), at.world.new_id()
    for number, end in enumerate((None, -2, 3, -1)):
        share = Share(
            file_id=file_id,
            shared_with_user_id=f"user-{number}",
            share_id=at.world.new_id(),
            owner_id="ada",
            shared_at=now,
            expires_at=None if end is None else now + timedelta(days=end),
        )
        at.db.write(d.shares.create(share))
    ended = at.db.all(d.shares_by_expiry(file_id=file_id, until=now))
    assert [share.shared_with_user_id for share in ended] == ["user-1", "user-3"]


def test_cc_30_an_instructor_sees_the_own_assignments_newest_first_and_of_courses_still_taught(
    at: Place, api: Api
) -> None:
    room = Classroom(at)
    first = room.assignment("First")
    at.later(hours=1)
    second = room.assignment("Second", status="draft")
    room.assignment("Another's", instructor_id=room.users["tessa"].user_id)
    brandt, tessa = room.users["brandt"], room.users["tessa"]
    found = given(api.get("/me/assignments", by=brandt))["items"]
    assert [each["assignmentId"] for each in found] == [second.assignment_id, first.assignment_id]
    assert given(api.get("/me/assignments", by=tessa))["items"] == [], "a teaching assistant makes none"
    at.db.write(d.enrolments.discard(brandt.user_id, room.course_id))
    assert given(api.get("/me/assignments", by=brandt))["items"] == []


def test_cc_42_an_admin_sees_what_waits_for_a_grade_in_all_courses_oldest_first_without_names(
    at: Place, api: Api
) -> None:
    rooms = [Classroom(at), Classroom(at, "CS102-2030-SPRING", instructor="meyer", assistant="timo")]
    rows = []
    for number in range(6):
        room = rooms[number % 2]
        room.enrol(f"student{number}")
        rows.append(room.submission(room.assignment(), f"student{number}"))
        at.later(seconds=1)
    rooms[0].mark(rows[0], "70")
    admin = at.user("ada", "admin")
    first = given(api.get("/admin/submissions?pageSize=3", by=admin))
    rest = given(api.get("/admin/submissions", by=admin, params={"pageSize": 3, "startAt": first["startAt"]}))
    found = [*first["items"], *rest["items"]]
    assert [each["submissionId"] for each in found] == [row.submission_id for row in rows[1:]]
    assert "student" not in str(found)
    graded = given(api.get("/admin/submissions?status=graded", by=admin))["items"]
    assert [each["submissionId"] for each in graded] == [rows[0].submission_id]
    assert refused(api.get("/admin/submissions", by=rooms[0].users["brandt"]))[0] == 403


def test_cc_46_a_user_is_found_by_address(at: Place) -> None:
    lin = at.user("lin")
    at.user("mo")
    assert [user.user_id for user in at.db.all(d.users_by_email(email=lin.email))] == [lin.user_id]
