"""Travellers: their logins and what proves one, devices, sessions (SK-6 to SK-8)."""

from datetime import timedelta

from tablewright.design import Copy, Data, Expires, Keys, Load, Refresh, Retention, above, begins
from tablewright.kit.codes import codes_in
from tablewright.systems.travel.design.base import SESSIONS_KEPT, TRAVEL, gsi1, gsi2, table
from tablewright.systems.travel.model import (
    Allowance,
    AuthProvider,
    Challenge,
    Device,
    EmailIdentity,
    Enrolment,
    Identity,
    Profile,
    Session,
    SpentNonce,
)

__all__ = [
    "codes",
    "devices",
    "devices_of",
    "email_identities",
    "email_identity_of",
    "enrolments",
    "identities",
    "identity_of",
    "nonces",
    "profile_by_id",
    "profiles",
    "profiles_by_email",
    "profiles_by_login",
    "sessions",
    "sessions_of",
    "sessions_of_device",
    "travellers_after",
]

COUNTED = ("countries_visited", "us_states_visited", "canadian_provinces_visited")


def profile_key(user_id: str) -> None: ...
def identity_key(provider: AuthProvider, provider_id: str) -> None: ...
def email_key(email_hmac: str) -> None: ...
def device_key(user_id: str, device_id: str) -> None: ...
def session_key(user_id: str, session_id: str) -> None: ...


profiles = table.entity(
    Profile,
    profile_key,
    tag="profile",
    pk="USER#{user_id}",
    sk="PROFILE",
    on={
        gsi1: Keys("AUTH#{auth_provider}#{auth_provider_id}", "USER#{user_id}"),
        gsi2: Keys("EMAIL#{email_hmac}", "USER#{user_id}"),
    },
    immutable=("created_at",),
    copies=[
        Copy("sync_version", "sync_head", "server_version", Refresh.JOB),
        *(Copy(name, "sync_head", name, Refresh.JOB) for name in COUNTED),
    ],
    data={
        "email": Data.PERSONAL,
        "email_hmac": Data.PERSONAL,
        "display_name": Data.PERSONAL,
        "profile_picture_url": Data.PERSONAL,
        "auth_provider_id": Data.PERSONAL,
        "logins": Data.PERSONAL,
        "is_minor": Data.CHILD,
    },
    retention=Retention(None, "while the account is there"),
    load={
        "create": Load(per_month=100, item_bytes=1_200, transaction=True),
        "change": Load(per_month=3_000, item_bytes=1_200, transaction=True, changes=("display_name",)),
        # The copies are written again with each push.
        "update": Load(per_month=300_000, item_bytes=1_200, changes=("sync_version", *COUNTED)),
    },
)
identities = table.entity(
    Identity,
    identity_key,
    tag="identity",
    pk="AUTH#{provider}#{provider_id}",
    sk="IDENTITY",
    data={"provider_id": Data.PERSONAL, "user_id": Data.PERSONAL},
    retention=Retention(None, "while the account is there"),
    load={"create": Load(per_month=100, item_bytes=200, transaction=True)},
)
email_identities = table.entity(
    EmailIdentity,
    email_key,
    tag="email_identity",
    pk="EMAIL#{email_hmac}",
    sk="IDENTITY",
    data={"email_hmac": Data.PERSONAL, "user_id": Data.PERSONAL},
    retention=Retention(None, "while the account is there"),
    load={"create": Load(per_month=100, item_bytes=200, transaction=True)},
)
devices = table.entity(
    Device,
    device_key,
    tag="device",
    pk="USER#{user_id}",
    sk="DEVICE#{device_id}",
    data={"name": Data.PERSONAL},
    retention=Retention(None, "while the account is there, or until it is removed"),
    load={
        "create": Load(per_month=200, item_bytes=300, transaction=True),
        "update": Load(per_month=600_000, item_bytes=300),
        "get": Load(per_month=600_000, item_bytes=300),
    },
)
sessions = table.entity(
    Session,
    session_key,
    tag="session",
    pk="USER#{user_id}",
    sk="SESSION#{session_id}",
    on={gsi2: Keys("USER#{user_id}#DEVICE#{device_id}", "SESSION#{last_seen_ms:13}")},
    expires=Expires("last_seen_at", SESSIONS_KEPT),
    data={"refresh_hash": Data.SECRET, "former_hash": Data.SECRET, "family_hash": Data.SECRET},
    retention=Retention(SESSIONS_KEPT, "so that a device stays signed in"),
    load={
        "create": Load(per_month=3_000, item_bytes=250),
        "change": Load(per_month=150_000, item_bytes=250, changes=("last_seen_at", "last_seen_ms")),
        "get": Load(per_month=1_500_000, item_bytes=250),
    },
)


def nonce_key(nonce_hash: str) -> None: ...


codes = codes_in(
    table,
    Challenge,
    Allowance,
    key={"email_hmac": str, "asker": str},
    pk="EMAIL#{email_hmac}",
    sk="CHALLENGE#{asker}",
    sends=Load(per_month=5_000, item_bytes=200, transaction=True),
    counts=Load(per_month=25_000, item_bytes=150),
    purpose="to prove who reads the mail of an address",
)
nonces = table.entity(
    SpentNonce,
    nonce_key,
    tag="nonce",
    pk="NONCE#{nonce_hash}",
    sk="NONCE",
    expires=Expires("expires_at"),
    retention=Retention(timedelta(minutes=15), "so that a login of another provider is used once"),
    load={"create": Load(per_month=3_000, item_bytes=150)},
)
enrolments = table.entity(
    Enrolment,
    profile_key,
    tag="enrolment",
    pk="TRAVELLERS#{user_id:shard.16}",
    sk="USER#{user_id}",
    retention=Retention(None, "while the account is there"),
    load={"create": Load(per_month=100, item_bytes=150, transaction=True)},
)


# --- access patterns ---


@TRAVEL.get(profiles, consistent=True, load=Load(per_month=900_000, item_bytes=1_200))
def profile_by_id(*, user_id: str) -> None:
    """SK-6: a traveller."""


@TRAVEL.query(
    profiles, on=gsi1, pk="AUTH#{provider}#{provider_id}", page=2, load=Load(per_month=100, item_bytes=1_200)
)
def profiles_by_login(*, provider: AuthProvider, provider_id: str) -> None:
    """SK-7: travellers by their first login, for analytics; a login itself goes by its guard (SK-D1)."""


@TRAVEL.query(
    profiles,
    on=gsi2,
    pk="EMAIL#{email_hmac}",
    page=2,
    roles=("admin",),
    load=Load(per_month=100, item_bytes=1_200),
)
def profiles_by_email(*, email_hmac: str) -> None:
    """SK-8: travellers by the keyed hash of their address."""


@TRAVEL.get(identities, consistent=True, load=Load(per_month=30_000, item_bytes=200))
def identity_of(*, provider: AuthProvider, provider_id: str) -> None:
    """SK-D1: whose login this is; never out of date."""


@TRAVEL.get(email_identities, consistent=True, load=Load(per_month=10_000, item_bytes=200))
def email_identity_of(*, email_hmac: str) -> None:
    """SK-D1: whose address this is; never out of date."""


@TRAVEL.query(
    devices,
    pk="USER#{user_id}",
    sk=begins("DEVICE#"),
    consistent=True,
    page=50,
    load=Load(per_month=100_000, items=2, item_bytes=300),
)
def devices_of(*, user_id: str) -> None:
    """A traveller's devices, those that were signed out included."""


@TRAVEL.query(
    sessions,
    pk="USER#{user_id}",
    sk=begins("SESSION#"),
    consistent=True,
    page=50,
    load=Load(per_month=20_000, items=2, item_bytes=250),
)
def sessions_of(*, user_id: str) -> None:
    """A traveller's logins."""


@TRAVEL.query(
    sessions,
    on=gsi2,
    pk="USER#{user_id}#DEVICE#{device_id}",
    sk=begins("SESSION#"),
    descending=True,
    load=Load(per_month=5_000),
)
def sessions_of_device(*, user_id: str, device_id: str) -> None:
    """The logins of a device, the one seen last first."""


@TRAVEL.query(enrolments, pk="TRAVELLERS#{user_id:shard.16}", sk=above("USER#{after}"), page=100, at_most=500,
    load=Load(per_month=50_000, items=100, item_bytes=150))  # fmt: skip
def travellers_after(*, after: str | None = None) -> None:
    """All travellers after one, for jobs that visit some at a time."""
