"""What Skratch keeps: travellers, their visits, the operations of their devices, geography, figures.

Plain values that know nothing of storage; names are the document's. Three numbers are called versions there, and are
named apart here (SK-D37): `server_version` is a place in a traveller's feed of changes, `sync_version` counts the
changes of one entity, `client_version` is the `sync_version` an edit was made from.
"""

from datetime import date as Date
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, PlainSerializer

from tablewright.kit import audit, codes, outbox
from tablewright.kit.rounds import Position

RegionType = Literal["country", "us_state", "canadian_province"]
AuthProvider = Literal["apple", "email"]
OperationType = Literal[
    "create", "update", "delete", "restore", "batch_create", "batch_update", "batch_delete"
]
EntityType = Literal["visited_place", "user"]
OperationStatus = Literal["pending", "processed", "conflict", "failed"]
# The operations that need attention. None is ever pending: a push is complete when it is answered.
OpenStatus = Literal["conflict", "failed"]
Strategy = Literal["server_wins", "client_wins", "merged", "manual"]
ChangeKind = Literal["set", "deleted"]
MarkCountry = Literal["ask", "always", "never"]

REGION_TYPES: tuple[RegionType, ...] = get_args(RegionType)
Place: TypeAlias = tuple[RegionType, str]  # a region by its type and code
# The web pages write operations like any device; this is their device id.
SERVER = "server"


class Value(BaseModel):
    """Frozen, nothing unknown inside."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Stored(Value):
    """An item of the table: the number of its form goes with it (SK-D17)."""

    schema_version: int = 1


class Stamp(Value):
    """Which change of an entity set a field last, and on which device; no device where two edits were merged.

    `feed` is where that change is in the traveller's feed.
    """

    version: int
    device: str = ""
    feed: int = 0


# --- travellers ---


class PrivacySettings(Value):
    """Everything is private until its owner says otherwise. Notes are public only beside places on a public profile."""

    profile_public: bool = False
    share_visits: bool = False
    show_notes: bool = False

    @property
    def shows_places(self) -> bool:
        return self.profile_public and self.share_visits

    @property
    def in_effect(self) -> "PrivacySettings":
        """The switches as they work. One that works only with others is off without them, and stays off when they are
        switched on: it must not take effect one day without a question."""
        return self.model_copy(update={"show_notes": self.show_notes and self.shows_places})


class NotificationSettings(Value):
    sync_conflicts: bool = True
    weekly_stats: bool = False
    product_news: bool = False


class Login(Value):
    """One way in which a traveller signs in. For e-mail, `provider_id` is the keyed hash of the address (SK-D31)."""

    provider: AuthProvider
    provider_id: str


class Profile(Stored):
    """A traveller. The three counters and `sync_version` are copies of the head's, refreshed once a push (SK-D19).

    `mark_country`: what happens to the country when a state of it is marked. `entity_version` and `stamps` are for the
    merge of settings, as a visit has them. `erases_at`: its owner wants it erased then.
    `blocks_made` counts the blocks ever made: of two at once, one is made after the other. `devices_named` likewise.
    """

    user_id: str
    auth_provider: AuthProvider
    auth_provider_id: str
    logins: list[Login] = []
    email: str | None = None
    email_hmac: str | None = None
    display_name: str | None = None
    profile_picture_url: str | None = None
    time_zone: str = "UTC"
    mark_country: MarkCountry = "ask"
    is_minor: bool = False
    countries_visited: int = 0
    us_states_visited: int = 0
    canadian_provinces_visited: int = 0
    privacy_settings: PrivacySettings = PrivacySettings()
    notification_settings: NotificationSettings = NotificationSettings()
    created_at: datetime
    updated_at: datetime
    sync_version: int = 0
    entity_version: int = 1
    stamps: dict[str, Stamp] = {}
    erasure_id: str | None = None
    erases_at: datetime | None = None
    blocks_made: int | None = None
    devices_named: int | None = None


class Enrolment(Stored):
    """One entry per traveller; rounds over all travellers read these."""

    user_id: str
    enrolled_at: datetime


class Block(Stored):
    """A traveller blocked another: neither sees the other."""

    user_id: str
    blocked_id: str
    blocked_at: datetime


class Identity(Stored):
    """Guards a login: whose it is. Written with the traveller, so that two first logins make one (SK-D1)."""

    provider: AuthProvider
    provider_id: str
    user_id: str
    created_at: datetime


class EmailIdentity(Stored):
    """Guards an address, known only by its keyed hash (SK-D2)."""

    email_hmac: str
    user_id: str
    created_at: datetime


class Device(Stored):
    """A device of a traveller. What changes with every request is here, not in the profile (SK-D27).

    No two of a traveller's have the same name unless the owner chose so (`is_renamed`).
    `acknowledged_version`: up to where it has the feed. `push_window` and `pushes`: its pace.
    """

    user_id: str
    device_id: str
    name: str
    is_renamed: bool | None = None
    platform: str = ""
    client_schema: int = 1
    registered_at: datetime
    last_login_at: datetime | None = None
    last_seen_at: datetime
    last_sync_at: datetime | None = None
    acknowledged_version: int = 0
    push_window: int = 0
    pushes: int = 0
    revoked_at: datetime | None = None


class Session(Stored):
    """A login that lasts. `last_seen_ms` is `last_seen_at`, as keys have it.

    `refresh_hash` is of the secret by which the device gets its next token; `former_hash` of the one before, which
    works for a moment more, because the answer with the new one may have been lost. `family_hash` is of what all
    secrets of the session begin with, by which an older one is known for what it is.

    One of pages (`is_page`) is a browser's cookie: its device is SERVER until the map there says which it is, and what
    ends it is written down, because a login that was made elsewhere is known by its token alone.
    """

    user_id: str
    session_id: str
    device_id: str
    is_page: bool = False
    ended_at: datetime | None = None
    created_at: datetime
    last_seen_at: datetime
    last_seen_ms: int
    refresh_hash: str = ""
    former_hash: str | None = None
    family_hash: str | None = None
    refreshed_at: datetime | None = None


# --- visits ---


class Trip(Value):
    """One of several times somewhere. Dates may be partial: 2024, 2024-05, 2024-05-01."""

    start: str
    end: str | None = None
    notes: str | None = None


class Visit(Stored):
    """A place a traveller has been to: one for each region, live or a tombstone.

    `timestamp_ms` is `marked_at`, as keys have it. `is_listed`: the traveller shares visits and this one is live.
    `server_version` is where its last change is in the feed; `stamps` say which change set which field.
    """

    schema_version: int = 2
    composite_key: str
    user_id: str
    region_type: RegionType
    region_code: str
    region_name: str
    visited_date: str | None = None
    notes: str | None = None
    trips: dict[str, Trip] = {}
    marked_at: datetime
    timestamp_ms: int
    marked_from_device: str
    sync_version: int = 1
    server_version: int = 0
    last_modified_at: datetime
    operation_id: str
    is_deleted: bool = False
    is_listed: bool = False
    deleted_at: datetime | None = None
    stamps: dict[str, Stamp] = {}


# --- sync ---


class Operation(Stored):
    """What a device asked for, and what came of it, for 30 days."""

    user_id: str
    operation_id: str
    timestamp_ms: int
    status: OperationStatus
    device_id: str
    operation_type: OperationType
    entity_type: EntityType
    entity_id: str
    entity_data: dict[str, JsonValue] = {}
    client_version: int = 0
    server_version: int | None = None
    client_timestamp: datetime
    server_timestamp: datetime
    has_conflict: bool = False
    conflict_details: dict[str, JsonValue] | None = None
    resolution_strategy: Strategy | None = None
    is_processed: bool = False
    processing_error: str | None = None


class Receipt(Stored):
    """That an operation was done, and what was answered: who sends it again gets the same (SK-D10).

    `digest` is of what was asked: the same id for something else is a mistake. `parts` are the ids under which an
    operation was done that did not fit into one transaction; they have records and receipts of their own. `entities`
    is what it was about, and `server_version` where the feed ended when it was done: who follows it has seen what the
    same device did up to there.
    """

    user_id: str
    operation_id: str
    timestamp_ms: int
    digest: str
    result: dict[str, JsonValue]
    done_at: datetime
    parts: list[str] = []
    entities: list[str] = []
    server_version: int = 0


class Change(Stored):
    """One place of a traveller's feed: which entity changed, and what its figures need of it.

    `seal` is made by chance for each write, `follows` is that of the change before: a feed that was set back to a
    backup and went on has the same numbers, but not the same seals.
    """

    user_id: str
    server_version: int
    entity_type: EntityType
    entity_id: str
    entity_version: int
    kind: ChangeKind
    region_type: RegionType | None = None
    region_code: str | None = None
    timestamp_ms: int | None = None
    visited_date: str | None = None
    trip_days: list[str] = []
    device_id: str
    operation_id: str
    changed_at: datetime
    seal: str | None = None
    follows: str | None = None


class Head(Stored):
    """Where a traveller's feed ends, and how much is marked: moved by every change, in its transaction (SK-D6, SK-D19).

    `shares_visits` is here too: what is being written and what is being hidden meet at this item. `seal` is the newest
    change's. `purged`: of some places deleted up to this version not even a tombstone is left.
    """

    user_id: str
    server_version: int = 0
    seal: str | None = None
    purged: int | None = None
    countries_visited: int = 0
    us_states_visited: int = 0
    canadian_provinces_visited: int = 0
    shares_visits: bool = False


# --- figures ---


class RegionTally(Stored):
    """How many travellers who share their visits have been to a region; one of sixteen parts.

    `off` is not used; rows of earlier versions have it.
    """

    region_type: RegionType
    region_code: str
    shard: str
    visitors: int = 0
    off: int = 0


class Mark(Value):
    """What the figures need of a live visit. `trip_days` are its trips whose days are known: 2024-05-01/2024-05-07."""

    timestamp_ms: int
    visited_date: str | None = None
    trip_days: list[str] = []


class RecentVisit(Value):
    region_type: RegionType
    region_code: str
    name: str
    timestamp_ms: int
    visited_date: str | None = None


def _with_a_tenth(percent: Decimal) -> Decimal:
    return percent.quantize(Decimal("0.1"))


# One decimal, always (SK-D20): the store gives 10.0 back as 10.
Percent = Annotated[Decimal, AfterValidator(_with_a_tenth), PlainSerializer(float, when_used="json")]


class Statistic(Stored):
    """A traveller's figures on a day, as of a place in the feed (SK-D13); `marks` are what they are counted from.

    `marks_form` says what is in a mark: figures of an earlier form are counted again from all visits.
    """

    user_id: str
    calculation_date: Date
    server_version: int
    data_version: str
    time_zone: str
    countries_visited: int
    countries_percentage: Percent
    us_states_visited: int
    us_states_percentage: Percent
    canadian_provinces_visited: int
    canadian_provinces_percentage: Percent
    total_regions_visited: int
    total_regions_percentage: Percent
    continents_visited: list[str]
    recent_visits: list[RecentVisit]
    travel_streak_days: int
    marks: dict[str, Mark]
    marks_form: int = 1
    calculated_at: datetime


# --- what was done, and what is to be said ---


class AuditEntry(audit.AuditEntry, Stored):
    """Who did what to a traveller's account, besides the operations, which are their own record."""

    user_id: str
    audit_at: datetime = Field(alias="at")
    after: dict[str, JsonValue] = Field(default={}, alias="details")


class Challenge(codes.Challenge, Stored):
    """A code on its way to an address, to prove that its asker reads its mail (kit/code_requesters.py)."""

    email_hmac: str
    asker: str


class Allowance(codes.Allowance, Stored):
    """How often something was done in an hour or a day: what limits of codes are counted in (kit/codes.py)."""


class SpentNonce(Stored):
    """That a login of another provider was used, and on which device: nowhere else again."""

    nonce_hash: str
    device_id: str
    expires_at: datetime


class Message(outbox.Message, Stored):
    """A mail in the outbox, stored with its traveller; without an account `owner` is the message id.

    `recipient` is sealed: only its owner's profile has an address in clear text.
    """

    owner: str
    attempts: int = Field(default=0, alias="tried")


class Erasure(Stored):
    """An account to be erased at a moment, unless its owner comes back before; then the proof that it was.

    The proof keeps no personal data: `user_id` is taken away, counts stay, and `user_hash`, by which an account that
    comes back with a restored copy is known. `begun_at`: from here on it cannot be undone. `wiped_at`: the first of two
    rounds was done. `is_open`: not done yet.
    """

    erasure_id: str
    user_id: str | None
    user_hash: str
    asked_at: datetime
    due_at: datetime
    begun_at: datetime | None = None
    wiped_at: datetime | None = None
    done_at: datetime | None = None
    is_open: bool = True
    items: int = 0


class Walk(Stored, Position):
    """The position of a round over all travellers: the last traveller visited, None at the end of a round."""

    model_config = ConfigDict(alias_generator=None)

    began_at: datetime
