"""The bodies of the admin API.

Must hold: they show that something is wrong and where, never what its owner wrote.
"""

from datetime import datetime

from pydantic import JsonValue

from tablewright.systems.travel.api.bodies import Body, DeviceView, OperationView, device_view, operation_view
from tablewright.systems.travel.geography.regions import GeoRelease
from tablewright.systems.travel.model import (
    Device,
    Erasure,
    Operation,
    Profile,
    RegionType,
    Value,
)


class AdminOperation(OperationView):
    user_id: str


def admin_operation(operation: Operation) -> AdminOperation:
    """What went wrong, without the contents: an admin must not see notes."""
    view = operation_view(operation).model_dump()
    return AdminOperation(
        **{**view, "entity_data": {}, "conflict_details": _fields_of(operation), "user_id": operation.user_id}
    )


def _fields_of(operation: Operation) -> dict[str, JsonValue] | None:
    details = operation.conflict_details
    clashes = details.get("fields") if details is not None else None
    if not isinstance(clashes, list):
        return None
    return {"fields": [clash["field"] for clash in clashes if isinstance(clash, dict)]}


class AdminUser(Value):
    """An account, without what its owner wrote."""

    user_id: str
    email_hmac: str | None
    created_at: datetime
    is_minor: bool
    countries_visited: int
    feed_version: int
    devices: list[DeviceView]
    erases_at: datetime | None


def admin_user(profile: Profile, devices: list[Device]) -> AdminUser:
    same = {name: getattr(profile, name) for name in AdminUser.model_fields if hasattr(profile, name)}
    shown = [device_view(device, None) for device in devices]
    return AdminUser(**same, feed_version=profile.sync_version, devices=shown)


class LookupBody(Body):
    """One of the two."""

    email: str | None = None
    email_hmac: str | None = None


class MinorBody(Body):
    is_minor: bool


class GeographyView(Value):
    data_version: str
    published: GeoRelease | None
    regions: dict[RegionType, int]
    countable: dict[RegionType, int]


class Published(Value):
    written: int
    data_version: str


class AdminErasure(Value):
    erasure_id: str
    asked_at: datetime
    due_at: datetime
    begun_at: datetime | None
    done_at: datetime | None
    items: int


def admin_erasure(erasure: Erasure) -> AdminErasure:
    return AdminErasure(**{name: getattr(erasure, name) for name in AdminErasure.model_fields})
