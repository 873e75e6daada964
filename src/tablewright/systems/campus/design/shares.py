"""Shares (A.2) and public links (CC-X28)."""

from datetime import datetime, timedelta

from tablewright.design import Data, Expires, Keys, Load, Retention, States, between
from tablewright.systems.campus.design.base import CAMPUS
from tablewright.systems.campus.design.files import library_table
from tablewright.systems.campus.model import Link, LinkTries, Share, ShareKey, Switch

__all__ = [
    "SHARE_STATES",
    "expiry_day_index",
    "file_expiration_index",
    "link_tries",
    "links",
    "links_of_owner",
    "owner_links_index",
    "share_by_id",
    "share_id_index",
    "shared_with_index",
    "shares",
    "shares_by_expiry",
    "shares_expiring_on",
    "shares_of_file",
    "shares_table",
    "shares_with",
    "switches",
]

SHARE_STATES = States(
    "status",
    start="active",
    # `expired` is computed where a share is read (CC-D10) and never written.
    moves={"active": {"revoked": ("owner", "admin", "system")}, "revoked": {"active": ("owner", "admin")}},
)
shares_table = CAMPUS.table(
    "campus-cloud-shares",
    pk="fileId",
    sk="sharedWithUserId",
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
    followed=True,
    about="Shares of files and folders by recipient.",
)
shared_with_index = shares_table.gsi("SharedWithUserIndex", pk="sharedWithUserId", sk="sharedAt")
share_id_index = shares_table.gsi("ShareIdIndex", pk="shareId")
file_expiration_index = shares_table.lsi("FileExpirationIndex", sk="expiresAt")
expiry_day_index = shares_table.gsi("ExpiryDayIndex", pk="expiryDay", sk="expiresAt", project=("status",))
owner_links_index = library_table.gsi("LinksIndex", pk="linksOf", sk="linksAt")


def share_key(file_id: str, shared_with_user_id: str) -> None: ...
def link_key(token_digest: str) -> None: ...
def tries_key(name: str, window: str) -> None: ...
def switch_key(name: str) -> None: ...


shares = shares_table.entity(
    Share,
    share_key,
    tag="share",
    pk="{file_id}",
    sk="{shared_with_user_id}",
    on={
        shared_with_index: Keys("{shared_with_user_id}", "{shared_at}"),
        share_id_index: Keys("{share_id}"),
        file_expiration_index: Keys("{file_id}", "{expires_at}"),
        expiry_day_index: Keys("{expires_at:day}", "{expires_at}"),
    },
    version="version",
    expires=Expires("removed_at"),
    states=SHARE_STATES,
    immutable=("share_id",),
    data={
        "shared_with_email": Data.PERSONAL,
        "shared_with_name": Data.PERSONAL,
        "message": Data.PERSONAL,
    },
    retention=Retention(timedelta(days=90), "after it was revoked; at its end if it has one"),
    load={
        "create": Load(per_month=100_000, item_bytes=500, transaction=True),
        "change": Load(per_month=20_000, item_bytes=500, transaction=True),
        "update": Load(per_month=880_000, item_bytes=500, changes=("access_count",)),
    },
)
links = library_table.entity(
    Link,
    link_key,
    tag="link",
    pk="LINK#{token_digest}",
    sk="LINK",
    on={owner_links_index: Keys("{owner_id}", "{created_at:ms}#{link_id}")},
    version="version",
    data={"title": Data.PERSONAL, "token_digest": Data.SECRET, "password_hash": Data.SECRET},
    retention=Retention(None, "until its owner removes it"),
    load={
        "create": Load(per_month=3_000, item_bytes=500, transaction=True),
        "update": Load(per_month=60_000, item_bytes=500, changes=("downloads",)),
    },
)
link_tries = library_table.entity(
    LinkTries,
    tries_key,
    tag="link_tries",
    pk="TRIES#{name}",
    sk="{window}",
    expires=Expires("expires_at"),
    retention=Retention(timedelta(minutes=2), "to limit wrong passwords of links"),
    load={"upsert": Load(per_month=20_000, item_bytes=150)},
)
switches = library_table.entity(
    Switch,
    switch_key,
    tag="switch",
    pk="SWITCH#{name}",
    sk="SWITCH",
    retention=Retention(None, "while it is set"),
    load={"put": Load(per_month=1, item_bytes=150, transaction=True)},
)


# --- access patterns ---


@CAMPUS.query(shares, pk="{file_id}", page=100, load=Load(per_month=500_000, items=3, item_bytes=500))
def shares_of_file(*, file_id: str) -> None:
    """A file's shares."""


@CAMPUS.query(
    shares, on=shared_with_index, pk="{recipient}", descending=True, page=20, at_most=100,
    load=Load(per_month=1_500_000, items=10, item_bytes=500),
)  # fmt: skip
def shares_with(*, recipient: str) -> None:
    """What is shared with a user, a team or a course, newest first."""


@CAMPUS.query(shares, on=share_id_index, pk="{share_id}", page=1, load=Load(per_month=50_000, item_bytes=500))
def share_by_id(*, share_id: str) -> None:
    """One share by its id, to revoke it."""


@CAMPUS.query(
    shares, on=file_expiration_index, pk="{file_id}", sk=between("{since}", "{until}"), page=100,
    load=Load(per_month=10_000, items=3, item_bytes=500),
)  # fmt: skip
def shares_by_expiry(*, file_id: str, since: datetime | None = None, until: datetime | None = None) -> None:
    """A file's shares that end, by when (CC-15)."""


@CAMPUS.query(
    shares.view(ShareKey), on=expiry_day_index, pk="{day:day}", sk=between("{since}", "{until}"), page=100,
    load=Load(per_month=3_000, items=20, item_bytes=120),
)  # fmt: skip
def shares_expiring_on(
    *, day: datetime, since: datetime | None = None, until: datetime | None = None
) -> None:
    """All shares that end on a day (CC-D8)."""


@CAMPUS.query(
    links, on=owner_links_index, pk="{owner_id}", descending=True, page=50,
    load=Load(per_month=20_000, items=5, item_bytes=500),
)  # fmt: skip
def links_of_owner(*, owner_id: str) -> None:
    """A user's links, newest first."""
