"""The bodies of the API: inputs with only what a caller may set, outputs with computed fields.

Operations, results and changes are the protocol's own (sync/operations.py). Names are the document's; of the three
numbers it calls versions, an answer says which one it has: `entity_version` or `feed_version` (SK-D37).
Elsewhere: regions (region_bodies.py), what admins see (admin_bodies.py).
"""

import json
from datetime import date, datetime
from typing import Any, Generic, TypeVar

import orjson
from pydantic import BaseModel, Field, JsonValue, model_validator

from tablewright.kit.code_requesters import KNOWN_DEVICE, TICKET
from tablewright.mapping import Page as Found
from tablewright.systems.travel.account.accounts import SignedIn
from tablewright.systems.travel.account.devices import Gadget
from tablewright.systems.travel.account.privacy import BACKUPS
from tablewright.systems.travel.geography.regions import Geography
from tablewright.systems.travel.model import (
    AuthProvider,
    Device,
    MarkCountry,
    NotificationSettings,
    Operation,
    OperationStatus,
    OperationType,
    Percent,
    PrivacySettings,
    Profile,
    RecentVisit,
    RegionType,
    Statistic,
    Strategy,
    Trip,
    Value,
    Visit,
)
from tablewright.systems.travel.places.public_profiles import PublicMap
from tablewright.systems.travel.sync.operations import SCHEMA, Asked, Offer, Result

T = TypeVar("T", bound=BaseModel)
NOTES = "at most 500 code points"


def as_json(found: Any) -> bytes:
    """A large answer as bytes, at once."""
    return orjson.dumps(found)


class Body(Value):
    """What a caller sends. Half a surrogate pair passes for text in JSON, but no store or answer can carry it."""

    @model_validator(mode="before")
    @classmethod
    def _is_text(cls, sent: Any) -> Any:
        try:
            json.dumps(sent, ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError:
            raise ValueError("must be text that UTF-8 can carry") from None
        return sent


class Listed(Value, Generic[T]):
    """Some of a list; `after` asks for the next."""

    items: list[T]
    after: str | None = None


def listed(found: Found[Any], items: list[T]) -> Listed[T]:
    return Listed(items=items, after=found.next)


# --- signing in ---


class DeviceBody(Body):
    device_id: str = Field(description="made by the device itself: 1 to 64 letters, digits, _ and -")
    name: str = Field("", max_length=100)
    platform: str = Field("", max_length=100)
    schema_: int = Field(SCHEMA, alias="schema", description="the protocol version of the app")

    def gadget(self) -> Gadget:
        return Gadget(self.device_id, self.name, self.platform, self.schema_)


class NonceView(Value):
    nonce: str
    expires_in: int


class AppleBody(Body):
    id_token: str
    nonce: str = Field(description="the one that was given by auth/apple:start")
    display_name: str | None = Field(
        None, max_length=100, description="Apple gives it to the app once, at the first sign-in"
    )
    device: DeviceBody


class AppleLinkBody(Body):
    id_token: str
    nonce: str


class EmailBody(Body):
    email: str
    known_device: str = Field("", max_length=200, description=KNOWN_DEVICE)


class CodeBody(Body):
    email: str
    code: str = Field(max_length=20)
    known_device: str = Field("", max_length=200, description=KNOWN_DEVICE)
    ticket: str = Field("", max_length=200, description=TICKET)


class EmailVerifyBody(CodeBody):
    device: DeviceBody


class RefreshBody(Body):
    refresh_token: str


class Told(Value):
    message: str


class CodeSent(Value):
    message: str
    ticket: str


# --- me ---


class LoginView(Value):
    provider: AuthProvider
    email: str | None = None


class Me(Value):
    """A traveller, as they see themselves."""

    user_id: str
    display_name: str | None
    email: str | None
    profile_picture_url: str | None
    time_zone: str
    mark_country: MarkCountry
    is_minor: bool
    privacy_settings: PrivacySettings
    notification_settings: NotificationSettings
    logins: list[LoginView]
    countries_visited: int
    us_states_visited: int
    canadian_provinces_visited: int
    created_at: datetime
    feed_version: int
    entity_version: int
    erases_at: datetime | None = Field(
        None, description="when the account will be erased, unless that is cancelled before"
    )


def me_view(profile: Profile) -> Me:
    logins = [
        LoginView(provider=login.provider, email=profile.email if login.provider == "email" else None)
        for login in profile.logins
    ]
    same = {name: getattr(profile, name) for name in Me.model_fields if hasattr(profile, name)}
    made = {"logins": logins, "feed_version": profile.sync_version}
    return Me(**{**same, **made, "privacy_settings": profile.privacy_settings.in_effect})


class MeChange(Body):
    """A field that is not sent stays unchanged."""

    display_name: str | None = None
    time_zone: str | None = None
    mark_country: MarkCountry | None = None
    is_minor: bool | None = None
    privacy_settings: dict[str, bool] | None = None
    notification_settings: dict[str, bool] | None = None

    def settings(self) -> dict[str, JsonValue]:
        """The fields that were sent, as an operation has them."""
        sent = self.model_fields_set - {"is_minor"}
        return {name: getattr(self, name) for name in sent}


class DeviceView(Value):
    device_id: str
    name: str
    platform: str
    registered_at: datetime
    last_login_at: datetime | None = None
    last_seen_at: datetime
    last_sync_at: datetime | None
    acknowledged_version: int
    is_this: bool = False
    revoked_at: datetime | None = None


def device_view(device: Device, this: str | None) -> DeviceView:
    same = {name: getattr(device, name) for name in DeviceView.model_fields if hasattr(device, name)}
    return DeviceView(**same, is_this=device.device_id == this)


class SignedInView(Value):
    """A token for now (`Authorization: Bearer`), and what gets the next one at auth/refresh."""

    token: str
    refresh_token: str
    session_id: str
    is_new: bool
    user: Me
    device: DeviceView
    known_device: str = Field("", description=KNOWN_DEVICE)


def signed_in_view(found: SignedIn, known_device: str = "") -> SignedInView:
    return SignedInView(
        known_device=known_device,
        token=found.token,
        refresh_token=found.refresh_token,
        session_id=found.session.session_id,
        is_new=found.is_new,
        user=me_view(found.profile),
        device=device_view(found.device, found.device.device_id),
    )


class ErasureView(Value):
    erases_at: datetime
    backups: str = BACKUPS


class BlockView(Value):
    user_id: str
    blocked_at: datetime


class AuditView(Value):
    at: datetime
    action: str
    actor: str
    role: str
    details: dict[str, JsonValue]


# --- sync ---


class PushBody(Body):
    schema_: int = Field(SCHEMA, alias="schema")
    operations: list[Asked]
    since: int | None = Field(None, ge=0, description="the feed version that the device has")
    seal: str | None = Field(None, description="the seal that came with it")


class ResolveBody(Body):
    choice: Strategy = Field(description="server_wins, client_wins, merged, or manual with `data`")
    data: dict[str, JsonValue] | None = None
    versions: dict[str, int] | None = Field(
        None, description="the entity versions that were shown, by entity_id; default: those of the conflict"
    )


class OperationView(Value):
    """What a device asked for, and what came of it."""

    operation_id: str
    device_id: str
    operation_type: OperationType
    entity_type: str
    entity_id: str
    status: OperationStatus
    entity_data: dict[str, JsonValue]
    client_version: int
    server_version: int | None
    client_timestamp: datetime
    server_timestamp: datetime
    has_conflict: bool
    conflict_details: dict[str, JsonValue] | None
    resolution_strategy: Strategy | None
    processing_error: str | None


def operation_view(operation: Operation) -> OperationView:
    return OperationView(**{name: getattr(operation, name) for name in OperationView.model_fields})


# --- visits and figures ---


class VisitBody(Body):
    """The fields of a place; a field that is not sent stays unchanged, null removes it."""

    visited_date: str | None = Field(None, description="2024, 2024-05 or 2024-05-01")
    notes: str | None = Field(None, description=NOTES)
    trips: dict[str, Trip | None] | None = None

    def fields(self) -> dict[str, JsonValue]:
        sent = self.model_dump(include=set(self.model_fields_set))
        return {name: value for name, value in sent.items() if name != "trips" or value is not None}


class VisitView(Value):
    region_type: RegionType
    region_code: str
    region_name: str
    visited_date: str | None
    notes: str | None
    trips: dict[str, Trip]
    marked_at: datetime
    marked_from_device: str
    last_modified_at: datetime
    entity_version: int
    feed_version: int


def visit_view(visit: Visit) -> VisitView:
    same = {name: getattr(visit, name) for name in VisitView.model_fields if hasattr(visit, name)}
    return VisitView(**same, entity_version=visit.sync_version, feed_version=visit.server_version)


class Marked(Value):
    """A place as it is now, and what else could be marked with it."""

    visit: VisitView
    offers: list[Offer] = Field(default_factory=list)


class Unmarked(Value):
    feed_version: int | None


def unmarked(result: Result) -> Unmarked:
    return Unmarked(feed_version=result.server_version)


class StatsView(Value):
    """Figures as of the last change. `of` are the denominators."""

    calculation_date: date
    feed_version: int
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
    of: dict[RegionType, int]
    continents_visited: list[str]
    recent_visits: list[RecentVisit]
    travel_streak_days: int
    calculated_at: datetime


def stats_view(figures: Statistic, geography: Geography) -> StatsView:
    same = {name: getattr(figures, name) for name in StatsView.model_fields if hasattr(figures, name)}
    of = {kind: geography.denominator(kind) for kind in geography.regions}
    return StatsView(**same, feed_version=figures.server_version, of=of)


# --- others ---


class PublicView(Value):
    """A public map."""

    user_id: str
    display_name: str | None
    profile_picture_url: str | None
    countries_visited: int
    us_states_visited: int
    canadian_provinces_visited: int
    continents_visited: list[str]
    visits: list[dict[str, JsonValue]]


def public_view(found: PublicMap, picture: str | None) -> PublicView:
    shown = {"region_type", "region_code", "region_name", "visited_date", "notes"}
    return PublicView(
        user_id=found.profile.user_id,
        display_name=found.profile.display_name,
        profile_picture_url=picture,
        countries_visited=found.statistic.countries_visited,
        us_states_visited=found.statistic.us_states_visited,
        canadian_provinces_visited=found.statistic.canadian_provinces_visited,
        continents_visited=found.statistic.continents_visited,
        visits=[visit.model_dump(mode="json", include=shown, exclude_none=True) for visit in found.visits],
    )
