"""Campus Cloud's data: users, files, shares, courses, assignments, submissions and marks.

Plain values without storage. Names in JSON and in items are camelCase, as the document's are. Ids are UUIDs, but for
courses, whose ids people write (`CS101-2026-AUTUMN`). Fields that only the server sets are in no request body.
Elsewhere: where each is stored (design/), what is allowed (rules.py).
"""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PlainSerializer
from pydantic.alias_generators import to_camel

from tablewright.kit import audit, outbox, rounds, tasks

Role = Literal["student", "instructor", "admin"]
CourseRole = Literal["student", "ta", "instructor"]
UserStatus = Literal["active", "suspended"]
FileStatus = Literal["active", "deleted", "quarantined"]
UploadState = Literal["pending", "complete"]
ScanStatus = Literal["pending", "clean", "infected", "unscanned"]
Permission = Literal["read", "write"]
ShareStatus = Literal["active", "revoked", "expired"]
ShareTarget = Literal["file", "folder"]
LinkKind = Literal["view", "drop"]
AssignmentStatus = Literal["draft", "active", "closed"]
SubmissionStatus = Literal["submitted", "graded", "returned"]
MarkingState = Literal["not marked", "in marking", "in review", "released"]
LatePolicy = Literal["accept", "penalise", "reject"]
Audience = Literal["student", "section", "team"]
RegradeStatus = Literal["open", "answered", "closed"]
# Decimal inside; a plain number in JSON.
Points = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]


class Value(BaseModel):
    """Frozen, camelCase outside, nothing unknown inside."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


# --- people ---


class NotificationPreferences(Value):
    """What a user wants to be told about; `email_notifications` decides whether by e-mail too."""

    email_notifications: bool = True
    share_notifications: bool = True
    assignment_reminders: bool = True
    grade_notifications: bool = True


class Statistics(Value):
    """Counts that are shown to a user; kept from the streams, and recounted every night."""

    total_files: int = 0
    files_shared: int = 0
    files_received: int = 0
    assignments_submitted: int = 0
    total_downloads: int = 0


class User(Value):
    """Someone who can sign in. `role` is a copy of the token's, refreshed at sign-in (CC-D21)."""

    user_id: str
    email: str
    name: str
    role: Role
    university_id: str | None = None
    department: str | None = None
    created_at: datetime
    last_login_at: datetime | None = None
    # Bytes of complete files, and bytes that were granted to uploads which are not complete yet (CC-D31).
    storage_used: int = 0
    storage_reserved: int = 0
    # Of the reserved bytes those of visitors who send files through links.
    link_reserved: int = 0
    storage_quota: int
    notification_preferences: NotificationPreferences = NotificationPreferences()
    statistics: Statistics = Statistics()
    status: UserStatus = "active"
    # On a roster, and never signed in yet; then the subject of the login that took the user over.
    invited: bool = False
    login: str | None = None
    suspended_reason: str | None = None
    # The highest share of the quota the user was told about: 0, 80 or 100.
    quota_notice: int = 0
    time_zone: str = "UTC"
    erased_at: datetime | None = None
    version: int = 1


class StorageReport(Value):
    """What everyone together has stored, and the users with most of it."""

    users: int
    files: int
    used: int
    granted: int
    over_80_percent: int
    largest: list[User]


class Login(Value):
    """The user of a login whose subject is not the user's id: someone who was on a roster before signing in."""

    subject: str
    user_id: str


class Notification(Value):
    """Something a user is told on the page; a mail with the same content may go out too."""

    user_id: str
    notification_id: str
    created_at: datetime
    kind: str
    text: str
    link: str | None = None
    read_at: datetime | None = None
    expires_at: datetime


# --- files ---


class File(Value):
    """A file of a user. While `upload_state` is pending it has no `uploaded_at` and is in no list.

    `object_name` is where its current bytes are; `held_by` are the submissions that keep their version of the bytes.
    """

    user_id: str
    file_id: str
    filename: str
    file_size: int
    content_type: str
    object_name: str = Field(alias="s3Key")
    bucket: str = Field(alias="s3Bucket")
    status: FileStatus = "active"
    upload_state: UploadState = "pending"
    uploaded_at: datetime | None = None
    last_modified: datetime
    checksum: str | None = None
    version_id: str
    version_number: int = 1
    description: str | None = None
    tags: list[str] = Field(default_factory=list)
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    download_count: int = 0
    is_public: bool = False
    deleted_at: datetime | None = None
    virus_scan_status: ScanStatus = "pending"
    virus_scan_date: datetime | None = None
    virus_signature: str | None = None
    held_by: list[str] = Field(default_factory=list)
    folder_id: str | None = None
    # Where it is listed: in its folder, at the top (the owner's id), or in the trash; None while it is pending.
    place: str | None = None
    uploaded_by: str | None = None
    # The bytes of all its versions: what it takes of the quota.
    stored_bytes: int = 0
    # From here on its bytes are being removed, and it cannot be restored any more.
    purged_at: datetime | None = None
    version: int = 1


class FileKey(Value):
    """Where a file is, for indexes that have only keys."""

    user_id: str
    file_id: str
    deleted_at: datetime | None = None


class FileVersion(Value):
    """Bytes that a file has or had. `version_number` counts from 1."""

    file_id: str
    version_number: int
    version_id: str
    user_id: str
    object_name: str
    file_size: int
    checksum: str
    content_type: str
    created_at: datetime
    created_by: str
    virus_scan_status: ScanStatus = "pending"
    # Infected while the file itself has other bytes: an admin has not decided about it yet.
    in_review: Literal["QUARANTINE"] | None = None
    virus_signature: str | None = None


class Folder(Value):
    """A folder of a user; `parent_id` None is the top. Files in it belong to its owner."""

    user_id: str
    folder_id: str
    parent_id: str | None = None
    name: str
    created_at: datetime
    version: int = 1


class Upload(Value):
    """An upload that has begun: the slot with its reserved quota (CC-X2).

    Expires after a day; one through a link after two hours without a part.
    """

    upload_id: str
    file_id: str
    owner_id: str
    uploader_id: str
    filename: str
    file_size: int
    content_type: str
    checksum: str | None = None
    folder_id: str | None = None
    # Of a new version of an existing file: the number it will have.
    version_number: int = 1
    object_name: str
    object_upload: str
    purpose: Literal["file", "version", "drop", "submission", "feedback"] = "file"
    assignment_id: str | None = None
    link_id: str | None = None
    created_at: datetime
    expires_at: datetime
    version: int = 1


# --- shares ---


class Share(Value):
    """A file or folder for one recipient.

    That is a user, an address (`EMAIL#hash`), a team (`TEAM#id`) or a course (`COURSE#id`).
    """

    file_id: str
    shared_with_user_id: str
    share_id: str
    owner_id: str
    # A course or a team has none.
    shared_with_email: str | None = None
    shared_with_name: str | None = None
    target: ShareTarget = "file"
    permissions: Permission = "read"
    shared_at: datetime
    expires_at: datetime | None = None
    status: ShareStatus = "active"
    revoked_at: datetime | None = None
    message: str | None = None
    access_count: int = 0
    last_accessed_at: datetime | None = None
    # When the row goes: at its end, or 90 days after it was revoked (CC-D9). Never set by a client.
    removed_at: datetime | None = None
    version: int = 1


class ShareKey(Value):
    """Where a share is, for indexes that have only keys."""

    file_id: str
    shared_with_user_id: str
    expires_at: datetime | None = None


class Link(Value):
    """A public link to a file or folder, or a file request into a folder (`drop`). Known by the digest of its token."""

    link_id: str
    token_digest: str
    owner_id: str
    target: ShareTarget
    target_id: str
    kind: LinkKind = "view"
    title: str | None = None
    password_hash: str | None = None
    view_only: bool = False
    expires_at: datetime | None = None
    download_limit: int | None = None
    # Of a file request: the largest file it takes.
    max_file_size: int = 2 * 1024**3
    downloads: int = 0
    uploads: int = 0
    revoked_at: datetime | None = None
    created_at: datetime
    version: int = 1


class Switch(Value):
    """Something that admins switch off for the whole campus, such as `links`; who did it is in the audit log."""

    name: str
    is_off: bool


# --- courses ---


class LatePenalty(Value):
    """What being late costs: `percent` for each started `unit`, at most `most`; `floor` per cent of the points stay."""

    percent: Points = Decimal(0)
    unit: Literal["hour", "day"] = "day"
    most: Points = Decimal(100)
    floor: Points = Decimal(0)


class GradeGroup(Value):
    """A group of assignments in the gradebook: its weight, and how many of the lowest results do not count."""

    group_id: str
    name: str
    weight: Points
    drop_lowest: int = 0


class GradeLetter(Value):
    """A letter from this percentage on."""

    letter: str
    from_percent: Points


class Course(Value):
    """A course in one semester."""

    course_id: str
    name: str
    semester: str
    semester_end: datetime
    time_zone: str = "UTC"
    sections: list[str] = Field(default_factory=list)
    late_days: int = 0
    grade_groups: list[GradeGroup] = Field(default_factory=list)
    letters: list[GradeLetter] = Field(default_factory=list)
    archived_at: datetime | None = None
    created_at: datetime
    updated_at: datetime
    version: int = 1


class Enrolment(Value):
    """A user in a course, with the role there and a section."""

    user_id: str
    course_id: str
    role: CourseRole
    section: str | None = None
    name: str
    email: str
    university_id: str | None = None
    enrolled_at: datetime
    late_days_used: int = 0
    version: int = 1


class GroupSet(Value):
    """A way to divide a course into teams."""

    course_id: str
    group_set_id: str
    name: str
    self_enrolment: bool = False
    team_size: int | None = None
    created_at: datetime
    version: int = 1


class Team(Value):
    """A team of a group set. A student is in one team of a set, held by a membership item for each."""

    course_id: str
    group_set_id: str
    team_id: str
    name: str
    member_ids: list[str] = Field(default_factory=list)
    created_at: datetime
    version: int = 1


class TeamMembership(Value):
    """The team of a student in a group set: its key is what allows one only."""

    course_id: str
    group_set_id: str
    user_id: str
    team_id: str


class Assignment(Value):
    """Work that a course asks for. Three dates: available from, due, accepted until (CC-X18)."""

    course_id: str
    assignment_id: str
    course_name: str
    title: str
    description: str
    instructions: str | None = None
    instructor_id: str
    instructor_email: str
    instructor_name: str
    created_at: datetime
    updated_at: datetime
    available_from: datetime | None = None
    due_date: datetime
    accept_until: datetime | None = None
    status: AssignmentStatus = "draft"
    max_file_size: int
    allowed_file_types: list[str]
    max_submissions: int = 1
    submission_count: int = 0
    points: Points | None = None
    extra_credit: bool = False
    rubric_url: str | None = None
    attachments: list[str] = Field(default_factory=list)
    # Beyond the document
    late_policy: LatePolicy = "accept"
    late_penalty: LatePenalty = LatePenalty()
    grace_minutes: int = 0
    missing_grade: Points | None = None
    group_set_id: str | None = None
    grade_each: bool = False
    statement: str | None = None
    anonymous: bool = False
    hidden_graders: bool = False
    second_marking: bool = False
    rubric_id: str | None = None
    grade_group_id: str | None = None
    counts: bool = True
    released_at: datetime | None = None
    regrade_days: int = 7
    version: int = 1


class Override(Value):
    """Other dates of an assignment for a student, a section or a team; or excused. The most generous applies."""

    assignment_id: str
    audience: Audience
    audience_id: str
    available_from: datetime | None = None
    due_date: datetime | None = None
    accept_until: datetime | None = None
    extra_submissions: int = 0
    excused: bool = False
    reason: str | None = None
    created_by: str
    created_at: datetime
    version: int = 1


class Part(Value):
    """One part of a submission: a file with its pinned bytes, a text, or a link."""

    part_id: str
    kind: Literal["file", "text", "link"]
    file_id: str | None = None
    filename: str | None = None
    file_size: int | None = None
    content_type: str | None = None
    version_id: str | None = None
    object_name: str | None = None
    checksum: str | None = None
    text: str | None = None
    url: str | None = None
    added_by: str
    added_at: datetime


class Draft(Value):
    """The parts of a submission that is not submitted yet. `owner_id` is a student or a team."""

    assignment_id: str
    owner_id: str
    parts: list[Part] = Field(default_factory=list)
    comments: str | None = None
    updated_at: datetime
    version: int = 1


class Attempts(Value):
    """How many submissions an owner has made of an assignment: the counter of CC-D13."""

    assignment_id: str
    owner_id: str
    attempts: int = 0


class Gate(Value):
    """Whether an assignment takes work, and since which change of its dates: one of several equal rows.

    A submission is written on the condition that its gate is as it was read. One row for all would be in every
    transaction of a rush, and only one of them at a time could be written.
    """

    assignment_id: str
    number: int
    is_open: bool
    stamp: str


class Submission(Value):
    """One attempt of a student or a team. The first file is repeated in `file_id`, `filename`, `file_size`."""

    assignment_id: str
    submission_id: str
    owner_id: str
    course_id: str
    student_id: str
    student_email: str
    student_name: str
    university_id: str | None = None
    section: str | None = None
    team_id: str | None = None
    team_name: str | None = None
    member_ids: list[str] = Field(default_factory=list)
    file_id: str | None = None
    filename: str | None = None
    file_size: int | None = None
    file_version_id: str | None = None
    file_checksum: str | None = None
    parts: list[Part] = Field(default_factory=list)
    submitted_at: datetime
    submitted_by: str
    on_behalf: bool = False
    submission_number: int
    status: SubmissionStatus = "submitted"
    is_late: bool = False
    late_days_used: int = 0
    due_date: datetime
    statement_agreed: str | None = None
    comments: str | None = None
    idempotency_key: str | None = None
    # What was marked: `score` before the late penalty, `grade` after it; `scores`, `grades` of a team with one each.
    score: Points | None = None
    grade: Points | None = None
    max_grade: Points | None = None
    scores: dict[str, Points] = Field(default_factory=dict)
    grades: dict[str, Points] = Field(default_factory=dict)
    penalty_percent: Points | None = None
    feedback: str | None = None
    feedback_file_id: str | None = None
    graded_at: datetime | None = None
    graded_by: str | None = None
    graded_by_name: str | None = None
    # When its students were told the grade.
    returned_at: datetime | None = None
    marking_state: MarkingState = "not marked"
    grader_id: str | None = None
    second_grader_id: str | None = None
    withdrawn_at: datetime | None = None
    archived_at: datetime | None = None
    version: int = 1

    @property
    def submission_key(self) -> str:
        return f"{self.owner_id}#{self.submission_number:04d}"


class MemberEntry(Value):
    """A team's submission in the history of one of its members."""

    assignment_id: str
    owner_id: str
    submission_number: int
    student_id: str
    submitted_at: datetime


# --- grades ---


class Level(Value):
    level_id: str
    title: str
    points: Points


class Criterion(Value):
    criterion_id: str
    title: str
    description: str | None = None
    levels: list[Level]


class Rubric(Value):
    """Criteria with levels and points, used by assignments of a course."""

    course_id: str
    rubric_id: str
    title: str
    criteria: list[Criterion]
    created_at: datetime
    updated_at: datetime
    version: int = 1


class CriterionMark(Value):
    """The level chosen for a criterion, or points of the marker's own, and a comment."""

    level_id: str | None = None
    points: Points | None = None
    comment: str | None = None


class Mark(Value):
    """What one marker thinks of a submission: a draft until it is published."""

    submission_id: str
    marker_id: str
    marker_name: str
    assignment_id: str
    rubric_id: str | None = None
    criteria: dict[str, CriterionMark] = Field(default_factory=dict)
    adjustment: Points = Decimal(0)
    score: Points | None = None
    grades: dict[str, Points] = Field(default_factory=dict)
    feedback: str | None = None
    feedback_file_id: str | None = None
    # With second marking: the marker is done. The grade of the submission is the mark that is published.
    finished: bool = False
    published: bool = False
    updated_at: datetime
    version: int = 1


class Comment(Value):
    """A comment at a place: a line, or a position on a page of a PDF or on an image (0 to 1 from the top left)."""

    submission_id: str
    comment_id: str
    part_id: str
    author_id: str
    author_name: str
    line: int | None = None
    page: int | None = None
    x: Points | None = None
    y: Points | None = None
    text: str
    created_at: datetime
    version: int = 1


class SavedComment(Value):
    """A comment that markers of a course use again."""

    course_id: str
    saved_comment_id: str
    text: str
    created_at: datetime


class RegradePost(Value):
    author_id: str
    author_name: str
    text: str
    at: datetime


class Regrade(Value):
    """A request to look at a grade again: a thread."""

    submission_id: str
    regrade_id: str
    assignment_id: str
    course_id: str
    student_id: str
    student_name: str
    status: RegradeStatus = "open"
    posts: list[RegradePost] = Field(default_factory=list)
    opened_at: datetime
    version: int = 1


# --- kit ---


class AuditEntry(audit.AuditEntry, Value):
    """Who did what, to which record: `file:{id}`, `submission:{id}`, `user:{id}`, `course:{id}`."""

    subject: str


class Message(outbox.Message, Value):
    """A mail in the outbox; `user_id` is whom it is about."""

    user_id: str | None = None


class Task(tasks.Task):
    """Delayed work about one record: a scan, a recomputation, an archive, a transfer, an erasure."""

    about: str = ""
    by: str | None = None
    to: str | None = None
    position: str | None = None


class Position(rounds.Position):
    """How far a job that visits everybody has come."""
