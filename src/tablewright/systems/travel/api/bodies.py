"""The bodies of the API: inputs with only what a caller may set, outputs with computed fields.

Operations, results and changes are the protocol's own (sync/operations.py). Names are the document's; of the three
numbers it calls versions, an answer says which one it has: `entity_version` or `feed_version` (SK-D37).
Elsewhere: regions (region_bodies.py), what admins see (admin_bodies.py).
"""

from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any, Generic, TypeVar

import orjson
from fastapi import Query, Request
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from tablewright.kit import http
from tablewright.kit.code_requesters import KNOWN_DEVICE, TICKET
from tablewright.kit.http import view_of
from tablewright.mapping import Page as Found
from tablewright.systems.travel.account.accounts import SignedIn
from tablewright.systems.travel.account.devices import Gadget
from tablewright.systems.travel.account.privacy import BACKUPS
from tablewright.systems.travel.geography.regions import Geography
from tablewright.systems.travel.model import (
    AuthProvider,
    Block,
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
from tablewright.systems.travel.sync.operations import SCHEMA, Asked, Offer

T = TypeVar("T", bound=BaseModel)
NOTES = "at most 500 code points"


def as_json(found: Any) -> bytes:
    """A large answer as bytes, at once."""
    return orjson.dumps(found)


class Body(http.Body):
    """A request body, with the document's names."""

    model_config = ConfigDict(alias_generator=None)


PageSize = Annotated[int | None, Query(alias="limit", description="how many at a time")]
After = Annotated[str | None, Query(description="the token of the page before")]


class Listed(Value, Generic[T]):
    """Some of a list; `after` asks for the next."""

    items: list[T]
    after: str | None = None


def listed(found: Found[Any], view: Callable[[Any], T]) -> Listed[T]:
    return Listed(items=[view(item) for item in found.items], after=found.next)


def root_of(request: Request) -> str:
    """Where the API is, for addresses that are given out: everything up to /v1."""
    before, version, _ = request.url.path.partition("/v1/")
    return f"{before}{version.rstrip('/')}"


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
    return view_of(
        Me,
        profile,
        logins=logins,
        feed_version=profile.sync_version,
        privacy_settings=profile.privacy_settings.in_effect,
    )


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
    return view_of(DeviceView, device, is_this=device.device_id == this)


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
    return view_of(
        SignedInView,
        found,
        known_device=known_device,
        session_id=found.session.session_id,
        user=me_view(found.profile),
        device=device_view(found.device, found.device.device_id),
    )


class ErasureView(Value):
    erases_at: datetime
    backups: str = BACKUPS


class BlockView(Value):
    user_id: str
    blocked_at: datetime


def block_view(block: Block) -> BlockView:
    return view_of(BlockView, block, user_id=block.blocked_id)


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
    return view_of(OperationView, operation)


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
    return view_of(VisitView, visit, entity_version=visit.sync_version, feed_version=visit.server_version)


class Marked(Value):
    """A place as it is now, and what else could be marked with it."""

    visit: VisitView
    offers: list[Offer] = Field(default_factory=list)


class Unmarked(Value):
    feed_version: int | None


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
    of = {kind: geography.denominator(kind) for kind in geography.regions}
    return view_of(StatsView, figures, feed_version=figures.server_version, of=of)


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
    visits = [visit.model_dump(mode="json", include=shown, exclude_none=True) for visit in found.visits]
    return view_of(
        PublicView,
        found.statistic,
        display_name=found.profile.display_name,
        profile_picture_url=picture,
        visits=visits,
    )
