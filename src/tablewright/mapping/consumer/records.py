"""Change records as models: what a stream says happened to an item, typed.

Reads DynamoDB's own record form. Elsewhere: fetching records, leases and retries (the stream's consumer).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel

from tablewright.design import Entity
from tablewright.design.entity_spec import EntitySpec
from tablewright.mapping.items import model_of, shape_of

E = TypeVar("E", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Change(Generic[E]):
    """One change of one item. `by_ttl`: the service removed it because its time was up."""

    event_id: str
    kind: Literal["INSERT", "MODIFY", "REMOVE"]
    shape: EntitySpec
    before: E | None
    after: E | None
    at: datetime | None
    by_ttl: bool = False


def change_of(shapes: Sequence[EntitySpec], record: Mapping[str, Any]) -> Change[Any] | None:
    """The change in a stream record; None if its key belongs to none of these entities."""
    told = record["dynamodb"]
    shape = shape_of(shapes, told["Keys"])
    if shape is None:
        return None
    images = [told.get(name) for name in ("OldImage", "NewImage")]
    before, after = (model_of(shape, image) if image else None for image in images)
    moment = told.get("ApproximateCreationDateTime")
    by = record.get("userIdentity") or {}
    return Change(
        record["eventID"],
        record["eventName"],
        shape,
        before,
        after,
        datetime.fromtimestamp(moment, UTC) if isinstance(moment, int | float) else moment,
        by.get("type") == "Service",
    )


def change_in(entity: Entity[E, Any], record: Mapping[str, Any]) -> Change[E] | None:
    """The same for one entity, with its type."""
    return change_of((entity.shape,), record)
