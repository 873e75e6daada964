"""What was done, what is to be said, who is blocked, where jobs stopped, and the end of an account (SK-D25)."""

from datetime import datetime

from tablewright.design import Data, Keys, Load, Retention, begins, between
from tablewright.kit.audit import audit as audit_log
from tablewright.kit.outbox import ByOwner
from tablewright.kit.outbox import outbox as outbox_in
from tablewright.kit.rounds import add_rounds
from tablewright.systems.travel.design.accounts import codes, devices, email_identities, profiles
from tablewright.systems.travel.design.base import AUDIT_KEPT, TRAVEL, gsi1, gsi2, table
from tablewright.systems.travel.design.sync import changes, heads, operations, receipts
from tablewright.systems.travel.design.visits import visits
from tablewright.systems.travel.model import AuditEntry, Block, Erasure, Message, Walk

__all__ = [
    "account_of",
    "address_of",
    "audit",
    "blocks",
    "blocks_of",
    "blocks_of_others",
    "erasures",
    "erasures_done",
    "erasures_due",
    "history_of",
    "outbox",
    "rounds",
]


def erasure_key(erasure_id: str) -> None: ...
def block_key(user_id: str, blocked_id: str) -> None: ...


audit = audit_log(
    TRAVEL,
    table,
    AuditEntry,
    owner="user_id",
    pk="USER#{user_id}",
    tag="audit",
    name="audit_of",
    retention=Retention(AUDIT_KEPT, "so that a traveller sees who changed what"),
    writes=Load(per_month=5_000, item_bytes=300, transaction=True),
    reads=Load(per_month=1_000, items=20, item_bytes=300),
)
outbox = outbox_in(
    TRAVEL,
    table,
    Message,
    key=("owner", "message_id"),
    pk="USER#{owner}",
    sk="MESSAGE#{message_id}",
    on=gsi1,
    state="OUTBOX#{state}",
    writes=Load(per_month=5_000, item_bytes=600, transaction=True),
    reads=Load(per_month=50_000, items=2, item_bytes=600),
    by_owner=ByOwner("messages_to", "owner", "USER#{owner}", Load(per_month=100), sk=begins("MESSAGE#")),
    descending=False,
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
    data={"user_id": Data.PERSONAL, "user_hash": Data.PERSONAL},
    retention=Retention(None, "the proof that an account was erased"),
    load={"create": Load(per_month=50, item_bytes=200)},
)
blocks = table.entity(
    Block,
    block_key,
    tag="block",
    pk="USER#{user_id}",
    sk="BLOCK#{blocked_id}",
    on={gsi1: Keys("BLOCKED#{blocked_id}", "USER#{user_id}")},
    data={"blocked_id": Data.PERSONAL},
    retention=Retention(None, "while the account is there"),
    load={"put": Load(per_month=100, item_bytes=200)},
)
rounds = add_rounds(table, Walk)


# --- access patterns ---


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


@TRAVEL.query(blocks, pk="USER#{user_id}", sk=begins("BLOCK#"), consistent=True, page=100, at_most=500,
    load=Load(per_month=10_000, items=2))  # fmt: skip
def blocks_of(*, user_id: str) -> None:
    """The travellers whom a traveller blocked."""


@TRAVEL.query(blocks, on=gsi1, pk="BLOCKED#{blocked_id}", page=100, load=Load(per_month=100))
def blocks_of_others(*, blocked_id: str) -> None:
    """The travellers who blocked a traveller, for the erasure of the account."""


# --- everything of a traveller, for the erasure of the account ---


@TRAVEL.query(
    profiles, devices, visits, audit.entries, pk="USER#{user_id}", page=100, others=True,
    load=Load(per_month=100, items=100, item_bytes=700),
)  # fmt: skip
def account_of(*, user_id: str) -> None:
    """All items of a traveller."""


@TRAVEL.query(
    operations, receipts, changes, heads, pk="SYNC#{user_id}", page=100,
    load=Load(per_month=100, items=300, item_bytes=700),
)  # fmt: skip
def history_of(*, user_id: str) -> None:
    """All operations of a traveller."""


@TRAVEL.query(email_identities, codes.challenges, pk="EMAIL#{email_hmac}", page=10, load=Load(per_month=100))
def address_of(*, email_hmac: str) -> None:
    """All items of an address."""
