"""Which address a child has, and had not long ago (PC-D9, PC-D22)."""

from datetime import datetime

from tablewright.design import Data, Expires, Keys, Load, Retention, Unique, between
from tablewright.systems.parental.design.base import PARENTAL, SESSIONS_KEPT, families_table, list_index
from tablewright.systems.parental.model import AddressStay, Session

sessions_table = PARENTAL.table(
    "SubscriberSessions",
    pk="childPhoneNumber",
    sk="sessionId",
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
    followed=True,
    about="The current addresses of a child's devices.",
)
session_address_index = sessions_table.gsi("PrivateIPIndex", pk="livePrivateIP", sk="startedAt")


def session_key(child: str, session_id: str) -> None: ...


sessions = sessions_table.entity(
    Session,
    session_key,
    tag="session",
    pk="{child}",
    sk="{session_id}",
    on={session_address_index: Keys("{live_private_ip}", "{started_at}")},
    version="version",
    # PC-D22: an address behind a firewall has one holder, also if two come at the same moment.
    unique=[
        Unique(
            "address",
            "{live_private_ip}#{device_id}",
            pk="ADDRESS#{live_private_ip}#{device_id}",
            table=families_table.table,
        )
    ],
    immutable=("started_at",),
    expires=Expires("expires_at", SESSIONS_KEPT),
    data={"private_ip": Data.PERSONAL, "live_private_ip": Data.PERSONAL},
    retention=Retention(SESSIONS_KEPT, "to find the holder of an address"),
    load={
        "create": Load(per_second=0.5, item_bytes=400, once=True),
        # Heartbeats; how long it is kept, and with it its guard, changes once an hour.
        "change": Load(per_second=5, item_bytes=400, once=True, changes=("last_seen_at",)),
    },
)


def stay_key(private_ip: str, until: datetime, child: str, session_id: str) -> None: ...


stays = families_table.entity(
    AddressStay,
    stay_key,
    tag="stay",
    pk="STAYS#{private_ip}",
    sk="{until:ms}#{child}#{session_id}",
    on={list_index: Keys("STAYED#{child}", "{until:ms}#{private_ip}#{session_id}")},
    expires=Expires("until", SESSIONS_KEPT),
    data={"private_ip": Data.PERSONAL},
    retention=Retention(SESSIONS_KEPT, "to count late reports for the holder at that time"),
    load={"put": Load(per_second=0.5, item_bytes=300, transaction=True)},
)


@PARENTAL.query(
    sessions,
    pk="{child}",
    page=50,
    at_most=100,
    consistent=True,
    load=Load(per_second=2, items=2, item_bytes=400),
)
def sessions_of_child(*, child: str) -> None:
    """The sessions of a child, open and closed."""


@PARENTAL.query(
    sessions, on=session_address_index, pk="{private_ip}", page=20, load=Load(per_second=0.5, item_bytes=400)
)
def sessions_of_address(*, private_ip: str) -> None:
    """Who has an address now."""


@PARENTAL.query(
    stays, pk="STAYS#{private_ip}", sk=between("{since:ms}", "{until:ms}"), page=100, consistent=True,
    load=Load(per_second=0.5, item_bytes=300),
)  # fmt: skip
def stays_at_address(
    *, private_ip: str, since: datetime | None = None, until: datetime | None = None
) -> None:
    """Who has left an address since a moment, the earliest first."""


@PARENTAL.query(
    stays, on=list_index, pk="STAYED#{child}", page=100, load=Load(per_month=10_000, item_bytes=300)
)
def stays_of_child(*, child: str) -> None:
    """The addresses a child has left not long ago."""
