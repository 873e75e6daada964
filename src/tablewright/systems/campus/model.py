"""Campus Cloud's data: users, files and shares, and what the blocks of the kit store for it.

Plain values without storage. Names in JSON and in items are camelCase, as the document's are. Ids are UUIDs, but for
courses, whose ids people write (`CS101-2026-AUTUMN`). Fields that only the server sets are in no request body.
Elsewhere: courses and submissions (course_model.py), grades (grade_model.py), where each is stored (design/), what is
allowed (rules.py).
"""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from tablewright.kit import audit, codes, outbox, rounds, tasks

Role = Literal["student", "instructor", "admin"]
UserStatus = Literal["active", "suspended"]
FileStatus = Literal["active", "deleted", "quarantined"]
UploadState = Literal["pending", "complete"]
ScanStatus = Literal["pending", "clean", "infected", "unscanned"]
Permission = Literal["read", "write"]
ShareStatus = Literal["active", "revoked", "expired"]
ShareTarget = Literal["file", "folder"]
LinkKind = Literal["view", "drop"]


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


class LinkTries(codes.Allowance, Value):
    """The wrong passwords of a caller for a link in a minute; `name` is a keyed hash of both."""


class Switch(Value):
    """Something that admins switch off for the whole campus, such as `links`; who did it is in the audit log."""

    name: str
    is_off: bool


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
