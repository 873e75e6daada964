"""The caller: `/me`, `/me/notifications`."""

from typing import Annotated, Any
from zoneinfo import available_timezones

from fastapi import APIRouter, Query, Response
from pydantic import Field, StringConstraints

from tablewright.edge.errors import Refused
from tablewright.edge.routes import Router
from tablewright.kit.http import Body, Cursor, Page, VersionRead, marked, page_of
from tablewright.systems.campus.access import Me
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.model import Notification, NotificationPreferences, User

PageSize = Annotated[int | None, Query(alias="pageSize", description="1 to 100; default: 20")]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Short = Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)]


class ProfileChange(Body):
    """What users change of themselves. Not the university id: imports of grades go by it."""

    name: Name | None = None
    department: Short | None = None
    time_zone: str | None = None
    notification_preferences: NotificationPreferences | None = Field(default=None)


def refuse_unknown_zone(zone: str | None) -> None:
    if zone is not None and zone not in available_timezones():
        raise Refused("INVALID_TIME_ZONE", "timeZone must be a zone such as Europe/Berlin.", "timeZone")


def me(campus: Campus) -> APIRouter:
    api = Router(tags=["me"])

    @api.get("/me", response_model_exclude_none=True)
    def get_me(user: Me, response: Response) -> User:
        return marked(response, user)

    @api.patch("/me", response_model_exclude_none=True)
    def change_me(body: ProfileChange, user: Me, response: Response, version: VersionRead = None) -> User:
        refuse_unknown_zone(body.time_zone)
        changes = {name: value for name, value in body.changes().items() if value is not None}
        return marked(response, campus.users.change_profile(user, changes, version))

    @api.get("/me/export")
    def export_me(user: Me) -> dict[str, Any]:
        """Everything that is kept about the caller."""
        return campus.privacy.export(user)

    @api.get("/me/notifications", response_model_exclude_none=True)
    def list_notifications(user: Me, size: PageSize = None, after: Cursor = None) -> Page[Notification]:
        """Newest first."""
        return page_of(campus.repository.page(campus.notifier.of(user), size, after, user.user_id))

    @api.post("/me/notifications:read", status_code=204)
    def read_notifications(user: Me) -> None:
        campus.notifier.mark_read(user)

    return api
