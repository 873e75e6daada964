"""The bodies of the admin API.

Must hold: they show that something is wrong and where, never what its owner wrote.
"""

from datetime import datetime

from pydantic import JsonValue

from tablewright.kit.http import view_of
from tablewright.systems.travel.api.bodies import Body, DeviceView, OperationView, device_view
from tablewright.systems.travel.geography.regions import GeoRelease
from tablewright.systems.travel.model import Device, Operation, Profile, RegionType, Value


class AdminOperation(OperationView):
    user_id: str


def admin_operation(operation: Operation) -> AdminOperation:
    """What went wrong, without the contents: an admin must not see notes."""
    return view_of(AdminOperation, operation, entity_data={}, conflict_details=_fields_of(operation))


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
    shown = [device_view(device, None) for device in devices]
    return view_of(AdminUser, profile, feed_version=profile.sync_version, devices=shown)


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
