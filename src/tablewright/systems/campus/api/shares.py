"""Shares over HTTP: `/files/{id}/shares`, `/folders/{id}/shares`, `/shares/{id}`, `/shared-with-me`.

Elsewhere: who may use a share (sharing/access_check.py), public links (links.py).
"""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from pydantic import Field, StringConstraints

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.errors import Refused
from tablewright.edge.routes import Router
from tablewright.kit.http import (
    Body,
    Cursor,
    Day,
    Moment,
    Page,
    VersionRead,
    listed,
    marked,
    page_of,
    view_of,
)
from tablewright.systems.campus import rules
from tablewright.systems.campus.access import CAMPUS, Me
from tablewright.systems.campus.api.me import PageSize
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.model import Permission, Share, ShareStatus, ShareTarget, User, Value
from tablewright.systems.campus.sharing.addressees import MOST_RECIPIENTS, RecipientName
from tablewright.systems.campus.sharing.received import Received
from tablewright.systems.campus.sharing.recipients import EMAIL
from tablewright.systems.campus.sharing.shares import LONGEST_MESSAGE, Terms
from tablewright.systems.campus.sharing.targets import Target

Message = Annotated[str, StringConstraints(max_length=LONGEST_MESSAGE)]
Text = Annotated[str, StringConstraints(max_length=320)]


class RecipientBody(Body):
    """An address, a course, or a team: `courseId`, `groupSetId` and `teamId`."""

    email: Text | None = None
    course_id: Text | None = None
    group_set_id: Text | None = None
    team_id: Text | None = None


class NewShare(Body):
    """`expiresOn` is a day: the share ends with it, where the caller is (`timeZone` of `/me`)."""

    recipients: list[RecipientBody] = Field(min_length=1, max_length=MOST_RECIPIENTS)
    permissions: Permission = "read"
    expires_at: Moment = None
    expires_on: Day | None = None
    message: Message | None = None


class ShareChange(Body):
    permissions: Permission | None = None
    expires_at: Moment = None
    expires_on: Day | None = None
    message: Message | None = None
    version: int | None = None


class ShareView(Value):
    """A share. `isPending`: its recipient has not signed in yet."""

    share_id: str
    file_id: str
    target: ShareTarget
    owner_id: str
    shared_with_email: str | None
    shared_with_name: str | None
    is_pending: bool
    permissions: Permission
    shared_at: datetime
    expires_at: datetime | None
    status: ShareStatus
    revoked_at: datetime | None
    message: str | None
    access_count: int
    last_accessed_at: datetime | None
    version: int


class SharedWith(Value):
    """What was made of the recipients: `existing` had the share already, and it is as it was."""

    created: list[ShareView]
    existing: list[ShareView]


class ReceivedView(Value):
    """Something that is shared with the caller. `state` says whether it can be opened now."""

    share: ShareView
    name: str
    owner_name: str
    file_size: int | None
    content_type: str | None
    state: str


def share_view(share: Share, now: datetime) -> ShareView:
    is_pending = share.shared_with_user_id.startswith(EMAIL)
    return view_of(ShareView, share, status=rules.share_status(share, now), is_pending=is_pending)


def end_of(user: User, at: datetime | None, day: Any) -> datetime | None:
    """When a share ends: a moment, or the end of a day where the user is."""
    if at is not None and day is not None:
        raise Refused("INVALID_EXPIRY", "Send expiresAt or expiresOn, not both.", "expiresOn")
    return rules.end_of_day(day, user.time_zone) if day is not None else at


def shares(campus: Campus, buckets: RateLimiter) -> APIRouter:
    api = Router(tags=["shares"])
    pace = Depends(limit_rate(buckets, "shares", per_minute=30, burst=30, identity=CAMPUS.caller))
    _add_lists(api, campus)
    _add_making(api, campus, pace)
    _add_one(api, campus)
    return api


def _add_lists(api: APIRouter, campus: Campus) -> None:
    def of(target: Target, size: int | None, after: str | None) -> Page[ShareView]:
        now = campus.repository.now()
        return page_of(campus.shares.of(target, size, after), lambda share: share_view(share, now))

    @api.get("/files/{file_id}/shares", response_model_exclude_none=True)
    def list_file_shares(
        user: Me, file_id: str, size: PageSize = None, after: Cursor = None
    ) -> Page[ShareView]:
        """The shares of your file, also those that have ended and are still kept."""
        return of(campus.targets.file(user, file_id), size, after)

    @api.get("/folders/{folder_id}/shares", response_model_exclude_none=True)
    def list_folder_shares(
        user: Me, folder_id: str, size: PageSize = None, after: Cursor = None
    ) -> Page[ShareView]:
        return of(campus.targets.folder(user, folder_id), size, after)

    @api.get("/shared-with-me", response_model_exclude_none=True)
    def list_received(user: Me, size: PageSize = None, after: Cursor = None) -> Page[ReceivedView]:
        """What is shared with you, your courses and teams, newest first."""
        found = campus.repository.page(campus.shares.with_user(user), size, after, user.user_id)
        now = campus.repository.now()
        return listed(
            [_received_view(one, now) for one in campus.received.described(found.items)], found.next
        )


def _received_view(one: Received, now: datetime) -> ReceivedView:
    return view_of(ReceivedView, one, share=share_view(one.share, now))


def _add_making(api: APIRouter, campus: Campus, pace: Any) -> None:
    def share(user: User, target: Target, body: NewShare) -> SharedWith:
        named = [RecipientName(**one.model_dump()) for one in body.recipients]
        end = end_of(user, body.expires_at, body.expires_on)
        terms = Terms(body.permissions, end, body.message)
        found = campus.addressees.find(user, named)
        made, now = campus.shares.share(user, target, found, terms), campus.repository.now()
        return SharedWith(
            created=[share_view(one.share, now) for one in made if one.is_new],
            existing=[share_view(one.share, now) for one in made if not one.is_new],
        )

    @api.post(
        "/files/{file_id}/shares", status_code=201, dependencies=[pace], response_model_exclude_none=True
    )
    def share_file(user: Me, file_id: str, body: NewShare) -> SharedWith:
        """Share a file with up to 100 recipients."""
        return share(user, campus.targets.file(user, file_id), body)

    @api.post(
        "/folders/{folder_id}/shares", status_code=201, dependencies=[pace], response_model_exclude_none=True
    )
    def share_folder(user: Me, folder_id: str, body: NewShare) -> SharedWith:
        """Share a folder, with everything in it now and later."""
        return share(user, campus.targets.folder(user, folder_id), body)


def _add_one(api: APIRouter, campus: Campus) -> None:
    @api.get("/shares/{share_id}", response_model_exclude_none=True)
    def get_share(user: Me, share_id: str, response: Response) -> ShareView:
        """A share, for its owner and its recipients."""
        share = campus.shares.received(user, share_id)
        return marked(response, share_view(share, campus.repository.now()))

    @api.patch("/shares/{share_id}", response_model_exclude_none=True)
    def change_share(
        user: Me, share_id: str, body: ShareChange, response: Response, version: VersionRead = None
    ) -> ShareView:
        """Change permission, end (null: none) or message."""
        changes = body.changes()
        if changes.pop("expires_on", None) is not None or "expires_at" in changes:
            changes["expires_at"] = end_of(user, body.expires_at, body.expires_on)
        expected = body.version if version is None else version
        share = campus.shares.change(user, share_id, changes, expected)
        return marked(response, share_view(share, campus.repository.now()))

    @api.delete("/shares/{share_id}", response_model_exclude_none=True)
    def revoke_share(user: Me, share_id: str) -> ShareView:
        """End a share at once. The row stays for 90 days, as revoked."""
        return share_view(campus.shares.revoke(user, share_id), campus.repository.now())
