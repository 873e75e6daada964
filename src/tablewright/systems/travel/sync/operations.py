"""The messages between devices and the server: operations, their results, the states of entities. Plain values.

Must hold: an operation has the changed fields and the version they are based on, never the whole entity; a result and
a change have the whole state, so that a device needs only one of the two. An unreadable operation is refused alone; if
its id is readable, the refusal is stored under that id, so that later operations do not wait for it.
Elsewhere: the protocol in words (docs/sync.md), what is done with an operation (push.py), what it may say (rules.py).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PlainValidator,
    TypeAdapter,
    ValidationError,
)

from tablewright.edge.errors import BadRequest
from tablewright.systems.travel.model import (
    REGION_TYPES,
    EntityType,
    Operation,
    OperationType,
    Place,
    Profile,
    RegionType,
    Strategy,
    Visit,
)

# The form of the protocol that is spoken here, and the oldest that is understood (SK-X14).
SCHEMA, OLDEST_SCHEMA = 1, 1
Status = Literal["applied", "merged", "conflict", "failed", "waiting"]
_FIRST, _LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


def _within_range(moment: datetime) -> datetime:
    """A device's time within the range that can be stored. No decision depends on it, so any value is accepted."""
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return min(max(moment, _FIRST), _LAST)


ClientTime = Annotated[datetime, AfterValidator(_within_range)]
# More than any entity will ever have, and what every store and every language can write.
Version = Annotated[int, Field(le=2**53 - 1)]


class SyncMessage(BaseModel):
    """Frozen, nothing unknown inside."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Target(SyncMessage):
    """One place of a batch."""

    region_type: RegionType
    region_code: str
    client_version: Version = 0
    entity_data: dict[str, JsonValue] = {}


class Edit(SyncMessage):
    """An operation as a device sends it.

    `client_version` is the version of the entity it was made from, 0 for one the device has never seen. `entity_data`
    are the fields that were changed. A batch has `visits` instead. `previous` is the device's last operation on the
    same entity that was not answered yet when its owner began this one: it has seen that one, and none after it.
    """

    operation_id: str
    operation_type: OperationType
    entity_type: EntityType = "visited_place"
    region_type: RegionType | None = None
    region_code: str | None = None
    client_version: Version = 0
    entity_data: dict[str, JsonValue] = {}
    visits: list[Target] = []
    client_timestamp: ClientTime
    previous: str | None = None


class Offer(SyncMessage):
    """Something the traveller may want to mark as well: the country of a state (SK-X4)."""

    region_type: RegionType
    region_code: str


class FieldConflict(SyncMessage):
    """Two devices made different edits: both values, the kept one and why. `field` is `*` for the whole entity.

    `version` is the entity's version with the kept value: a resolution is based on it.
    """

    entity_id: str
    version: int = 0
    field: str
    server: JsonValue = None
    client: JsonValue = None
    kept: JsonValue = None
    strategy: Strategy


class EntityState(SyncMessage):
    """An entity at one of its versions."""

    entity_type: EntityType
    entity_id: str
    entity_version: int
    server_version: int
    is_deleted: bool = False
    data: dict[str, JsonValue] = {}


class Result(SyncMessage):
    """The result of an operation. Sent again, it gets the same one, with `replayed`."""

    operation_id: str
    status: Status
    replayed: bool = False
    server_version: int | None = None
    strategy: Strategy | None = None
    entities: list[EntityState] = []
    conflicts: list[FieldConflict] = []
    offers: list[Offer] = []
    error: str | None = None
    message: str | None = None
    field: str | None = None

    @classmethod
    def of_refusal(cls, operation_id: str, refusal: BadRequest) -> "Result":
        return cls(
            operation_id=operation_id,
            status="failed",
            error=refusal.code,
            message=refusal.message,
            field=refusal.field,
        )


class Pushed(SyncMessage):
    """The answer to a push: one result for each operation, in their order, and where the feed ends now."""

    results: list[Result]
    server_version: int


class Pulled(SyncMessage):
    """Some of what is new. Ask again from `next` and its `seal` while there is `more`."""

    changes: list[EntityState] = []
    next: int
    seal: str | None = None
    server_version: int
    more: bool = False
    full_resync_required: bool = False


class Snapshot(SyncMessage):
    """A page of everything. After the last page, pull from `as_of` and its `seal` to get the changes since."""

    entities: list[EntityState]
    as_of: int
    seal: str | None = None
    after: str | None = Field(None, description="the token of the next page")


# --- entities as devices see them ---


def place_id(user_id: str, region_type: RegionType, region_code: str) -> str:
    """A visit's id: the document's composite key (SK-D36)."""
    return f"{user_id}#{region_type}#{region_code}"


def place_of(entity_id: str) -> Place | None:
    """The place of a visit's id; None for the settings."""
    _, *place = entity_id.split("#")
    return next(((kind, place[1]) for kind in REGION_TYPES if place and kind == place[0]), None)


def visit_state(visit: Visit) -> EntityState:
    data: dict[str, JsonValue] = {
        "region_type": visit.region_type,
        "region_code": visit.region_code,
        "region_name": visit.region_name,
    }
    if not visit.is_deleted:
        data |= {
            "visited_date": visit.visited_date,
            "notes": visit.notes,
            "trips": {id: trip.model_dump() for id, trip in sorted(visit.trips.items())},
            "marked_at": visit.marked_at.isoformat(timespec="milliseconds"),
            "marked_from_device": visit.marked_from_device,
        }
    return EntityState(
        entity_type="visited_place",
        entity_id=visit.composite_key,
        entity_version=visit.sync_version,
        server_version=visit.server_version,
        is_deleted=visit.is_deleted,
        data=data,
    )


def user_state(profile: Profile, server_version: int) -> EntityState:
    return EntityState(
        entity_type="user",
        entity_id=profile.user_id,
        entity_version=profile.entity_version,
        server_version=server_version,
        data={
            "display_name": profile.display_name,
            "time_zone": profile.time_zone,
            "mark_country": profile.mark_country,
            "privacy_settings": profile.privacy_settings.in_effect.model_dump(),
            "notification_settings": profile.notification_settings.model_dump(),
        },
    )


def deleted_state(entity_id: str, place: Place, entity_version: int, server_version: int) -> EntityState:
    """A place that was deleted, and of which not even a tombstone is left."""
    return EntityState(
        entity_type="visited_place",
        entity_id=entity_id,
        entity_version=entity_version,
        server_version=server_version,
        is_deleted=True,
        data={"region_type": place[0], "region_code": place[1]},
    )


# --- operations ---

_CONFLICTS = TypeAdapter(list[FieldConflict])


def conflicts_in(operation: Operation) -> list[FieldConflict]:
    """The conflicts that are stored with an operation."""
    return _CONFLICTS.validate_python((operation.conflict_details or {}).get("fields", []))


def places_in(edit: Edit) -> Sequence[Target]:
    """The places an operation is about; none for one about the traveller."""
    if edit.visits:
        return edit.visits
    if edit.region_type is None or edit.region_code is None:
        return ()
    return (
        Target(
            region_type=edit.region_type,
            region_code=edit.region_code,
            client_version=edit.client_version,
            entity_data=edit.entity_data,
        ),
    )


def digest(edit: Edit) -> str:
    """What an operation asks for, as a short text: the same id with another digest is another operation."""
    said = edit.model_dump(mode="json", exclude={"previous"})
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]


# --- operations as they arrive ---

_CODES = {
    "operation_id": "INVALID_ID",
    "operation_type": "INVALID_OPERATION",
    "entity_type": "INVALID_OPERATION",
    "client_version": "INVALID_VERSION",
    "client_timestamp": "INVALID_TIMESTAMP",
    "previous": "INVALID_ID",
}


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An operation that is refused as it came. `edit` is what can be read of it; None if not even its id can."""

    edit: Edit | None
    refusal: BadRequest


def read(sent: Any) -> Edit | Unreadable:
    """An operation, or why there is none."""
    try:
        return Edit.model_validate(sent)
    except ValidationError as error:
        places = [str(mistake["loc"][0]) if mistake["loc"] else "" for mistake in error.errors()]
        return Unreadable(_salvaged(sent, places), _refusal(places[0], error.errors()[0]["msg"]))


Asked = Annotated[Edit | Unreadable, PlainValidator(read, json_schema_input_type=Edit)]


def _refusal(place: str, words: str) -> BadRequest:
    # The name of an unknown field comes from the caller and is not repeated.
    field = place if place in Edit.model_fields else None
    return BadRequest(
        _CODES.get(place, "INVALID_FIELD" if place else "INVALID_OPERATION"),
        f"This isn't a valid operation{': ' + field if field else ''}: {words}.",
        field,
    )


def _salvaged(sent: Any, wrong: list[str]) -> Edit | None:
    """What is written down as refused. What cannot be read is something else, but always the same."""
    if not isinstance(sent, dict) or "operation_id" in wrong:
        return None
    sound = {name: value for name, value in sent.items() if name in Edit.model_fields and name not in wrong}
    unknown = {"operation_type": "update", "client_timestamp": datetime.min.replace(tzinfo=UTC)}
    found = read({**unknown, **sound})
    return found if isinstance(found, Edit) else None
