"""The design of Skratch: one table, two overloaded indexes, as the document resolves them (A.0).

A traveller's things lie in USER#..., what their devices do in SYNC#..., so that a push does not rewrite what is listed.
Must hold: no item names an e-mail address in a key; only live visits of travellers who share them are in GSI1, only
live ones in GSI2; popular regions, statuses and days are written to sixteen partitions; every item says what it is
(`item_type`) and which form it has (`schema_version`).
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from tablewright.design import (
    Alarm,
    Backups,
    Budget,
    Copy,
    Data,
    Design,
    Environment,
    Expires,
    Keys,
    Load,
    Refresh,
    Retention,
    Schema,
    above,
    begins,
    between,
)
from tablewright.systems.travel.model import (
    AuditEntry,
    AuthProvider,
    Block,
    Challenge,
    Change,
    Device,
    EmailIdentity,
    Enrolment,
    Erasure,
    GeoAlias,
    GeoCell,
    GeoRegion,
    GeoRelease,
    Head,
    Identity,
    Message,
    MessageState,
    Operation,
    OperationStatus,
    Profile,
    Receipt,
    RegionTally,
    RegionType,
    Session,
    SpentNonce,
    Statistic,
    Value,
    Visit,
    Walk,
)

OPERATIONS_KEPT = timedelta(days=30)
STATISTICS_KEPT = timedelta(days=7)
SESSIONS_KEPT = timedelta(days=90)
# A tombstone may go earlier, once every device has seen it (SK-D29).
TOMBSTONES_KEPT, TOMBSTONES_KEPT_AT_LEAST = timedelta(days=180), timedelta(days=30)
AUDIT_KEPT = timedelta(days=400)
SHARDS = 16

TRAVEL = Design("travel", version=1, about="Where somebody has been, marked offline on several devices.")
_TAGS = {"Application": "Skratch", "ManagedBy": "Terraform"}
for _name, _production in (("dev", False), ("prod", True)):
    TRAVEL.environment(
        Environment(
            _name,
            region="us-east-1",
            pitr_days=35,
            backups=Backups(
                "cron(0 3 * * ? *)", 30, f"skratch-{_name}", copy_to="us-west-2" if _production else None
            ),
            deletion_protection=_production,
            encryption="managed",
            tags={"Environment": _name, **_TAGS},
            budget=Budget(Decimal(15), Decimal(12), {"requests": Decimal("1.30"), "storage": Decimal(1)}),
            table_name="{table}-{env}",
        )
    )
TRAVEL.alarm(
    Alarm("throttled", "ThrottledRequests", Decimal(10), 5, action="look for a region that became popular")
)

table = TRAVEL.table(
    "skratch-data",
    pk="PK",
    sk="SK",
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
    about="Everything of Skratch.",
)
gsi1 = table.gsi("GSI1", pk="GSI1PK", sk="GSI1SK")
gsi2 = table.gsi("GSI2", pk="GSI2PK", sk="GSI2SK")

FORM = Schema("schema_version")


def _is(tag: str) -> Mapping[str, str]:
    """What every item says it is."""
    return {"item_type": tag}


# --- travellers ---


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
    derived=_is("profile"),
    schema=FORM,
    immutable=("created_at",),
    copies=[
        Copy("sync_version", "sync_head", "server_version", Refresh.JOB),
        Copy("countries_visited", "sync_head", "countries_visited", Refresh.JOB),
        Copy("us_states_visited", "sync_head", "us_states_visited", Refresh.JOB),
        Copy("canadian_provinces_visited", "sync_head", "canadian_provinces_visited", Refresh.JOB),
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
    load={"create": Load(per_month=1_000, item_bytes=900), "update": Load(per_month=300_000, item_bytes=900)},
)
identities = table.entity(
    Identity,
    identity_key,
    tag="identity",
    pk="AUTH#{provider}#{provider_id}",
    sk="IDENTITY",
    derived=_is("identity"),
    schema=FORM,
    data={"provider_id": Data.PERSONAL, "user_id": Data.PERSONAL},
    retention=Retention(None, "while the account is there"),
    load={"create": Load(per_month=1_000, item_bytes=200)},
)
email_identities = table.entity(
    EmailIdentity,
    email_key,
    tag="email_identity",
    pk="EMAIL#{email_hmac}",
    sk="IDENTITY",
    derived=_is("email_identity"),
    schema=FORM,
    data={"email_hmac": Data.PERSONAL, "user_id": Data.PERSONAL},
    retention=Retention(None, "while the account is there"),
    load={"create": Load(per_month=1_000, item_bytes=200)},
)
devices = table.entity(
    Device,
    device_key,
    tag="device",
    pk="USER#{user_id}",
    sk="DEVICE#{device_id}",
    derived=_is("device"),
    schema=FORM,
    data={"name": Data.PERSONAL},
    retention=Retention(None, "while the account is there, or until it is removed"),
    load={"create": Load(per_month=2_000, item_bytes=300), "update": Load(per_month=600_000, item_bytes=300)},
)
sessions = table.entity(
    Session,
    session_key,
    tag="session",
    pk="USER#{user_id}",
    sk="SESSION#{session_id}",
    on={gsi2: Keys("USER#{user_id}#DEVICE#{device_id}", "SESSION#{last_seen_ms:13}")},
    derived=_is("session"),
    schema=FORM,
    expires=Expires("last_seen_at", SESSIONS_KEPT),
    retention=Retention(SESSIONS_KEPT, "so that a device stays signed in"),
    load={"create": Load(per_month=3_000, item_bytes=250)},
)

# --- visits ---


def visit_key(user_id: str, region_type: RegionType, region_code: str) -> None: ...


def _without_entity_data(item: dict[str, Any]) -> dict[str, Any]:
    """Form 1 kept an edit as a map beside the fields it was about (SK-D4): what it says are the fields."""
    edit = item.get("entity_data", {}).get("M", {})
    kept = {name: value for name, value in item.items() if name != "entity_data"}
    return {**kept, **{name: edit[name] for name in ("notes", "visited_date") if name in edit}}


visits = table.entity(
    Visit,
    visit_key,
    tag="visit",
    pk="USER#{user_id}",
    sk="VISIT#{region_type}#{region_code}",
    on={
        gsi1: Keys(
            "REGION#{region_type}#{region_code}#{user_id:shard.16}{is_listed:when}",
            "VISIT#{timestamp_ms:13}#{user_id}{is_listed:when}",
        ),
        gsi2: Keys(
            "USER#{user_id}#{region_type}{is_deleted:unless}", "VISIT#{timestamp_ms:13}{is_deleted:unless}"
        ),
    },
    derived=_is("visit"),
    schema=Schema("schema_version", (_without_entity_data,)),
    expires=Expires("deleted_at", TOMBSTONES_KEPT),
    data={"notes": Data.PERSONAL, "visited_date": Data.PERSONAL, "trips": Data.PERSONAL},
    retention=Retention(None, "while the traveller wants it; a tombstone until every device has seen it"),
    load={"put": Load(per_month=300_000, item_bytes=700)},
)

# --- sync ---


def operation_key(user_id: str, timestamp_ms: int, operation_id: str) -> None: ...
def receipt_key(user_id: str, operation_id: str) -> None: ...
def change_key(user_id: str, server_version: int) -> None: ...


operations = table.entity(
    Operation,
    operation_key,
    tag="operation",
    pk="SYNC#{user_id}",
    sk="OP#{timestamp_ms:13}#{operation_id}",
    on={
        gsi1: Keys(
            "SYNC_STATUS#{status:only.pending.conflict.failed}#{user_id:shard.16}",
            "TIMESTAMP#{timestamp_ms:13}",
        ),
        gsi2: Keys("USER#{user_id}#DEVICE#{device_id}", "OP#{timestamp_ms:13}"),
    },
    derived=_is("operation"),
    schema=FORM,
    expires=Expires("server_timestamp", OPERATIONS_KEPT),
    data={"entity_data": Data.PERSONAL, "conflict_details": Data.PERSONAL},
    retention=Retention(OPERATIONS_KEPT, "to see what each device did, and to settle conflicts"),
    load={"create": Load(per_month=300_000, item_bytes=700)},
)
receipts = table.entity(
    Receipt,
    receipt_key,
    tag="operation_receipt",
    pk="SYNC#{user_id}",
    sk="OPID#{operation_id}",
    derived=_is("operation_receipt"),
    schema=FORM,
    expires=Expires("done_at", OPERATIONS_KEPT),
    data={"result": Data.PERSONAL},
    retention=Retention(OPERATIONS_KEPT, "so that an operation is done once"),
    load={"create": Load(per_month=300_000, item_bytes=900)},
)
changes = table.entity(
    Change,
    change_key,
    tag="change",
    pk="SYNC#{user_id}",
    sk="CHG#{server_version:12}",
    derived=_is("change"),
    schema=FORM,
    expires=Expires("changed_at", OPERATIONS_KEPT),
    data={"visited_date": Data.PERSONAL},
    retention=Retention(OPERATIONS_KEPT, "so that devices can ask what is new"),
    load={"create": Load(per_month=300_000, item_bytes=350)},
)
heads = table.entity(
    Head,
    profile_key,
    tag="sync_head",
    pk="SYNC#{user_id}",
    sk="HEAD",
    derived=_is("sync_head"),
    schema=FORM,
    retention=Retention(None, "while the account is there"),
    load={"change": Load(per_month=300_000, item_bytes=200)},
)

# --- geography ---


def region_key(region_type: RegionType, region_code: str) -> None: ...
def cell_key(region_type: RegionType, bbox_key: str, region_code: str) -> None: ...
def alias_key(region_type: RegionType, token: str, region_code: str) -> None: ...
def release_key(release: str) -> None: ...
def tally_key(region_type: RegionType, region_code: str, shard: str) -> None: ...


geo_regions = table.entity(
    GeoRegion,
    region_key,
    tag="region",
    pk="GEO#{region_type}",
    sk="REGION#{region_code}",
    on={gsi1: Keys("SEARCH#{region_type}", "NAME#{normalized_name}")},
    derived=_is("region"),
    schema=FORM,
    retention=Retention(None, "the geography"),
    load={"put": Load(per_month=350, item_bytes=700)},
)
geo_cells = table.entity(
    GeoCell,
    cell_key,
    tag="region_cell",
    pk="GEO#{region_type}",
    sk="CELL#{bbox_key}#{region_code}",
    on={gsi2: Keys("BOUNDS#{bbox_key}", "REGION#{region_code}")},
    derived=_is("region_cell"),
    schema=FORM,
    retention=Retention(None, "the geography"),
    load={"put": Load(per_month=1_500, item_bytes=200)},
)
geo_aliases = table.entity(
    GeoAlias,
    alias_key,
    tag="region_alias",
    pk="GEO#{region_type}",
    sk="ALIAS#{token}#{region_code}",
    on={gsi1: Keys("SEARCH#{region_type}", "NAME#{token}")},
    derived=_is("region_alias"),
    schema=FORM,
    retention=Retention(None, "the geography"),
    load={"put": Load(per_month=1_000, item_bytes=200)},
)
geo_releases = table.entity(
    GeoRelease,
    release_key,
    tag="geography",
    pk="GEOGRAPHY",
    sk="RELEASE#{release}",
    derived=_is("geography"),
    schema=FORM,
    retention=Retention(None, "the geography"),
    load={"put": Load(per_month=1, item_bytes=150)},
)
region_tallies = table.entity(
    RegionTally,
    tally_key,
    tag="region_tally",
    pk="TALLY#{region_type}#{region_code}#{shard}",
    sk="VISITORS",
    derived=_is("region_tally"),
    schema=FORM,
    retention=Retention(None, "the figures of a region"),
    load={"upsert": Load(per_month=100_000, item_bytes=150)},
)

# --- figures ---


def statistic_key(user_id: str, calculation_date: date) -> None: ...


statistics = table.entity(
    Statistic,
    statistic_key,
    tag="statistic",
    pk="USER#{user_id}",
    sk="STATS#{calculation_date}",
    on={gsi1: Keys("STATS_DATE#{calculation_date}#{user_id:shard.16}", "USER#{user_id}")},
    derived=_is("statistic"),
    schema=FORM,
    expires=Expires("calculated_at", STATISTICS_KEPT),
    data={"recent_visits": Data.PERSONAL, "marks": Data.PERSONAL},
    retention=Retention(STATISTICS_KEPT, "so that figures are not counted for every look at them"),
    load={"put": Load(per_month=100_000, item_bytes=4_000)},
)

# --- what was done, what is to be said ---


def audit_key(user_id: str, at: datetime, audit_id: str) -> None: ...
def challenge_key(email_hmac: str) -> None: ...
def message_key(owner: str, message_id: str) -> None: ...
def erasure_key(erasure_id: str) -> None: ...
def nonce_key(nonce_hash: str) -> None: ...
def block_key(user_id: str, blocked_id: str) -> None: ...
def walk_key(name: str) -> None: ...


audit = table.entity(
    AuditEntry,
    audit_key,
    tag="audit",
    pk="USER#{user_id}",
    sk="AUDIT#{at:ms}#{audit_id}",
    derived=_is("audit"),
    schema=FORM,
    expires=Expires("at", AUDIT_KEPT),
    data={"actor": Data.PERSONAL, "details": Data.PERSONAL},
    retention=Retention(AUDIT_KEPT, "so that a traveller sees who changed what"),
    load={"create": Load(per_month=5_000, item_bytes=300)},
)
challenges = table.entity(
    Challenge,
    challenge_key,
    tag="challenge",
    pk="EMAIL#{email_hmac}",
    sk="CHALLENGE",
    derived=_is("challenge"),
    schema=FORM,
    expires=Expires("expires_at"),
    data={"code_hash": Data.SECRET},
    retention=Retention(timedelta(minutes=15), "to prove that somebody reads the mail of an address"),
    load={"put": Load(per_month=5_000, item_bytes=200)},
)
messages = table.entity(
    Message,
    message_key,
    tag="message",
    pk="USER#{owner}",
    sk="MESSAGE#{message_id}",
    on={gsi1: Keys("OUTBOX#{state}", "{created_at:ms}#{message_id}")},
    derived=_is("message"),
    schema=FORM,
    expires=Expires("expires_at"),
    data={"recipient": Data.PERSONAL, "body": Data.PERSONAL},
    retention=Retention(timedelta(days=30), "to see what was sent"),
    load={"create": Load(per_month=5_000, item_bytes=600)},
)
erasures = table.entity(
    Erasure,
    erasure_key,
    tag="erasure",
    pk="ERASURE#{erasure_id}",
    sk="ERASURE",
    on={
        gsi1: Keys("ERASURES{is_open:when}", "{due_at:ms}#{erasure_id}{is_open:when}"),
        gsi2: Keys("ERASED{is_open:unless}", "{due_at:ms}#{erasure_id}{is_open:unless}"),
    },
    derived=_is("erasure"),
    schema=FORM,
    data={"user_id": Data.PERSONAL, "user_hash": Data.PERSONAL},
    retention=Retention(None, "the proof that an account was erased"),
    load={"create": Load(per_month=50, item_bytes=200)},
)
nonces = table.entity(
    SpentNonce,
    nonce_key,
    tag="nonce",
    pk="NONCE#{nonce_hash}",
    sk="NONCE",
    derived=_is("nonce"),
    schema=FORM,
    expires=Expires("expires_at"),
    retention=Retention(timedelta(minutes=15), "so that a login of another provider is used once"),
    load={"create": Load(per_month=1_000, item_bytes=150)},
)
enrolments = table.entity(
    Enrolment,
    profile_key,
    tag="enrolment",
    pk="TRAVELLERS#{user_id:shard.16}",
    sk="USER#{user_id}",
    derived=_is("enrolment"),
    schema=FORM,
    retention=Retention(None, "while the account is there"),
    load={"create": Load(per_month=1_000, item_bytes=150)},
)
blocks = table.entity(
    Block,
    block_key,
    tag="block",
    pk="USER#{user_id}",
    sk="BLOCK#{blocked_id}",
    on={gsi1: Keys("BLOCKED#{blocked_id}", "USER#{user_id}")},
    derived=_is("block"),
    schema=FORM,
    data={"blocked_id": Data.PERSONAL},
    retention=Retention(None, "while the account is there"),
    load={"put": Load(per_month=100, item_bytes=200)},
)
walks = table.entity(
    Walk,
    walk_key,
    tag="walk",
    pk="WALK#{name}",
    sk="WALK",
    version="version",
    derived=_is("walk"),
    schema=FORM,
    retention=Retention(None, "so that a job goes on where it stopped"),
    load={"change": Load(per_month=50_000, item_bytes=150)},
)

# --- access patterns: travellers (SK-6 to SK-8) ---


@TRAVEL.get(profiles, consistent=True, load=Load(per_month=900_000, item_bytes=900))
def profile_by_id(*, user_id: str) -> None:
    """SK-6: a traveller."""


@TRAVEL.query(
    profiles, on=gsi1, pk="AUTH#{provider}#{provider_id}", page=2, load=Load(per_month=100, item_bytes=900)
)
def profiles_by_login(*, provider: AuthProvider, provider_id: str) -> None:
    """SK-7: travellers by their first login, for analytics; a login itself goes by its guard (SK-D1)."""


@TRAVEL.query(profiles, on=gsi2, pk="EMAIL#{email_hmac}", page=2, roles=("admin",), load=Load(per_month=100))
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
    load=Load(per_month=20_000),
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


# --- visits (SK-11 to SK-14) ---


@TRAVEL.query(
    visits,
    pk="USER#{user_id}",
    sk=begins("VISIT#"),
    consistent=True,
    page=100,
    at_most=500,
    load=Load(per_month=300_000, items=40, item_bytes=700),
)
def visits_of(*, user_id: str) -> None:
    """SK-11: all visits, tombstones among them: the repository passes over those (SK-D35)."""


@TRAVEL.query(
    visits,
    on=gsi2,
    pk="USER#{user_id}#{region_type}",
    sk=begins("VISIT#"),
    descending=True,
    page=50,
    at_most=500,
    load=Load(per_month=300_000, items=20, item_bytes=700),
)
def visits_of_type(*, user_id: str, region_type: RegionType) -> None:
    """SK-12, SK-14: the visits of one type, those marked last first; no tombstones."""


class Visitor(Value):
    """Of a visit, what the list of a region has: whose, and when it was marked (SK-D7). Others are told how many."""

    user_id: str
    timestamp_ms: int


@TRAVEL.query(
    visits.view(Visitor),
    on=gsi1,
    pk="REGION#{region_type}#{region_code}#{user_id:shard.16}",
    sk=begins("VISIT#"),
    descending=True,
    page=20,
    at_most=100,
    load=Load(per_month=10_000, items=20, item_bytes=700),
)
def visitors_of(*, region_type: RegionType, region_code: str) -> None:
    """SK-13: who has been to a region and shares it, the latest first."""


# --- sync (SK-17 to SK-19, SK-D6) ---


@TRAVEL.get(heads, consistent=True, load=Load(per_month=900_000, item_bytes=200))
def head_of(*, user_id: str) -> None:
    """Where a traveller's feed ends."""


@TRAVEL.query(
    changes,
    pk="SYNC#{user_id}",
    sk=between("CHG#{first:12}", "CHG#{last:12}"),
    consistent=True,
    page=100,
    at_most=500,
    load=Load(per_month=600_000, items=5, item_bytes=350),
)
def changes_between(*, user_id: str, first: int | None = None, last: int | None = None) -> None:
    """SK-D6: the feed from a place to a place, both included."""


@TRAVEL.query(
    operations,
    pk="SYNC#{user_id}",
    sk=begins("OP#"),
    consistent=True,
    descending=True,
    page=50,
    at_most=500,
    load=Load(per_month=50_000, items=20, item_bytes=700),
)
def operations_of(*, user_id: str) -> None:
    """SK-17: what a traveller's devices did, the latest first."""


@TRAVEL.query(
    operations,
    on=gsi1,
    pk="SYNC_STATUS#{status:only.pending.conflict.failed}#{user_id:shard.16}",
    sk=begins("TIMESTAMP#"),
    page=50,
    at_most=200,
    roles=("admin",),
    load=Load(per_month=5_000, items=50, item_bytes=700),
)
def operations_by_status(*, status: OperationStatus) -> None:
    """SK-18: what waits, was refused or is in conflict, of everybody, the oldest first."""


@TRAVEL.query(
    operations,
    on=gsi2,
    pk="USER#{user_id}#DEVICE#{device_id}",
    sk=begins("OP#"),
    descending=True,
    page=50,
    load=Load(per_month=10_000, items=20, item_bytes=700),
)
def operations_of_device(*, user_id: str, device_id: str) -> None:
    """SK-19: what a device did, the latest first."""


# --- geography (SK-23 to SK-25) ---


@TRAVEL.get(geo_regions, load=Load(per_month=100_000, item_bytes=700))
def region_by_code(*, region_type: RegionType, region_code: str) -> None:
    """SK-23: a region."""


@TRAVEL.query(
    geo_regions,
    pk="GEO#{region_type}",
    sk=begins("REGION#"),
    page=300,
    at_most=500,
    load=Load(per_month=10_000, items=250, item_bytes=700),
)
def regions_of_type(*, region_type: RegionType) -> None:
    """All regions of a type."""


@TRAVEL.query(
    geo_regions,
    geo_aliases,
    on=gsi1,
    pk="SEARCH#{region_type}",
    sk=between("NAME#{first}", "NAME#{last}"),
    page=50,
    at_most=500,
    load=Load(per_month=100_000, items=10, item_bytes=300),
)
def regions_named(*, region_type: RegionType, first: str, last: str) -> None:
    """SK-24: regions and aliases whose normalised names lie between two texts, such as a prefix and its end."""


@TRAVEL.query(
    geo_cells, on=gsi2, pk="BOUNDS#{bbox_key}", sk=begins("REGION#"), page=100, load=Load(per_month=50_000, items=10)
)  # fmt: skip
def regions_in_cell(*, bbox_key: str) -> None:
    """SK-25: the regions that reach into a cell; the exact test comes after."""


@TRAVEL.query(
    geo_cells, pk="GEO#{region_type}", sk=begins("CELL#"), page=500, load=Load(per_month=10, items=1_000)
)
def cells_of_type(*, region_type: RegionType) -> None:
    """Every cell of a type, to find those a new version of the geography no longer has."""


@TRAVEL.query(
    geo_aliases, pk="GEO#{region_type}", sk=begins("ALIAS#"), page=500, load=Load(per_month=10, items=1_000)
)
def aliases_of_type(*, region_type: RegionType) -> None:
    """Every alias of a type, for the same reason."""


# --- figures (SK-26, SK-D15) ---


@TRAVEL.query(
    statistics,
    pk="USER#{user_id}",
    sk=begins("STATS#"),
    descending=True,
    consistent=True,
    page=7,
    load=Load(per_month=300_000, items=1, item_bytes=4_000),
)
def statistics_of(*, user_id: str) -> None:
    """A traveller's figures, of the last day first."""


@TRAVEL.query(
    statistics,
    on=gsi1,
    pk="STATS_DATE#{calculation_date}#{user_id:shard.16}",
    page=100,
    roles=("admin",),
    load=Load(per_month=30, items=1_000, item_bytes=4_000),
)
def statistics_of_day(*, calculation_date: date) -> None:
    """SK-D15: everybody's figures of a day."""


# --- what was done, what is to be said ---


@TRAVEL.query(
    audit, pk="USER#{user_id}", sk=begins("AUDIT#"), descending=True, page=50, at_most=200,
    load=Load(per_month=1_000, items=20),
)  # fmt: skip
def audit_of(*, user_id: str) -> None:
    """Who did what to a traveller's account, the latest first."""


@TRAVEL.query(messages, pk="USER#{owner}", sk=begins("MESSAGE#"), page=50, load=Load(per_month=100))
def messages_to(*, owner: str) -> None:
    """What waits to be mailed to a traveller, or could not be."""


@TRAVEL.query(messages, on=gsi1, pk="OUTBOX#{state}", page=50, load=Load(per_month=50_000, items=2))
def messages_by_state(*, state: MessageState) -> None:
    """The outbox, the oldest first."""


@TRAVEL.query(
    erasures, on=gsi1, pk="ERASURES{is_open:when}", sk=between("{since:ms}", "{until:ms}"), page=50,
    load=Load(per_month=50_000),
)  # fmt: skip
def erasures_due(
    *, is_open: bool = True, since: datetime | None = None, until: datetime | None = None
) -> None:
    """Accounts to be erased up to a moment, the earliest first."""


@TRAVEL.query(
    erasures, on=gsi2, pk="ERASED{is_open:unless}", descending=True, page=50, roles=("admin",),
    load=Load(per_month=100, items=50),
)  # fmt: skip
def erasures_done(*, is_open: bool = False) -> None:
    """Accounts that were erased, the last first."""


@TRAVEL.query(enrolments, pk="TRAVELLERS#{user_id:shard.16}", sk=above("USER#{after}"), page=100, at_most=500,
    load=Load(per_month=50_000, items=100))  # fmt: skip
def travellers_after(*, after: str | None = None) -> None:
    """Every traveller after one, for who does something for some at a time."""


@TRAVEL.query(blocks, pk="USER#{user_id}", sk=begins("BLOCK#"), consistent=True, page=100, at_most=500,
    load=Load(per_month=10_000, items=2))  # fmt: skip
def blocks_of(*, user_id: str) -> None:
    """Whom a traveller does not want to be seen by."""


@TRAVEL.query(blocks, on=gsi1, pk="BLOCKED#{blocked_id}", page=100, load=Load(per_month=100))
def blocks_of_others(*, blocked_id: str) -> None:
    """Who does not want to be seen by a traveller, for the end of the account."""


# --- everything there is of somebody, for the end of the account (SK-D25) ---


@TRAVEL.query(
    profiles, devices, visits, audit, pk="USER#{user_id}", page=100, others=True,
    load=Load(per_month=100, items=100, item_bytes=700),
)  # fmt: skip
def account_of(*, user_id: str) -> None:
    """All that lies with a traveller."""


@TRAVEL.query(
    operations, receipts, changes, heads, pk="SYNC#{user_id}", page=100,
    load=Load(per_month=100, items=300, item_bytes=700),
)  # fmt: skip
def history_of(*, user_id: str) -> None:
    """All that a traveller's devices did."""


@TRAVEL.query(email_identities, challenges, pk="EMAIL#{email_hmac}", page=10, load=Load(per_month=100))
def address_of(*, email_hmac: str) -> None:
    """All that lies with an address."""


TRAVEL.build()
DESIGNS = (TRAVEL,)
