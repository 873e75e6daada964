"""What was done, what is to be said, who is blocked, where jobs stopped, and the end of an account (SK-D25)."""

from datetime import datetime, timedelta

from tablewright.design import Data, Expires, Keys, Load, Retention, begins, between
from tablewright.kit.rounds import add_rounds
from tablewright.systems.travel.design.accounts import challenges, devices, email_identities, profiles
from tablewright.systems.travel.design.base import AUDIT_KEPT, FORM, TRAVEL, gsi1, gsi2, is_a, table
from tablewright.systems.travel.design.sync import changes, heads, operations, receipts
from tablewright.systems.travel.design.visits import visits
from tablewright.systems.travel.model import AuditEntry, Block, Erasure, Message, MessageState, Walk

__all__ = [
    "account_of",
    "address_of",
    "audit",
    "audit_of",
    "blocks",
    "blocks_of",
    "blocks_of_others",
    "erasures",
    "erasures_done",
    "erasures_due",
    "history_of",
    "messages",
    "messages_by_state",
    "messages_to",
    "rounds",
]


def audit_key(user_id: str, at: datetime, audit_id: str) -> None: ...
def message_key(owner: str, message_id: str) -> None: ...
def erasure_key(erasure_id: str) -> None: ...
def block_key(user_id: str, blocked_id: str) -> None: ...


audit = table.entity(
    AuditEntry,
    audit_key,
    tag="audit",
    pk="USER#{user_id}",
    sk="AUDIT#{at:ms}#{audit_id}",
    derived=is_a("audit"),
    schema=FORM,
    expires=Expires("at", AUDIT_KEPT),
    data={"actor": Data.PERSONAL, "details": Data.PERSONAL},
    retention=Retention(AUDIT_KEPT, "so that a traveller sees who changed what"),
    load={"create": Load(per_month=5_000, item_bytes=300, transaction=True)},
)
messages = table.entity(
    Message,
    message_key,
    tag="message",
    pk="USER#{owner}",
    sk="MESSAGE#{message_id}",
    on={gsi1: Keys("OUTBOX#{state}", "{created_at:ms}#{message_id}")},
    derived=is_a("message"),
    schema=FORM,
    expires=Expires("expires_at"),
    data={
        "recipient": Data.PERSONAL,
        "values": Data.PERSONAL,
        "secrets": Data.SECRET,
        "subject": Data.SECRET,
        "body": Data.SECRET,
    },
    retention=Retention(timedelta(days=30), "to see what was sent"),
    load={
        "create": Load(per_month=5_000, item_bytes=600, transaction=True),
        "change": Load(per_month=5_000, item_bytes=600, changes=("state",)),
    },
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
    derived=is_a("erasure"),
    schema=FORM,
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
    derived=is_a("block"),
    schema=FORM,
    data={"blocked_id": Data.PERSONAL},
    retention=Retention(None, "while the account is there"),
    load={"put": Load(per_month=100, item_bytes=200)},
)
rounds = add_rounds(table, Walk, derived=is_a("walk"), schema=FORM)


# --- access patterns ---


@TRAVEL.query(
    audit, pk="USER#{user_id}", sk=begins("AUDIT#"), descending=True, page=50, at_most=200,
    load=Load(per_month=1_000, items=20, item_bytes=300),
)  # fmt: skip
def audit_of(*, user_id: str) -> None:
    """The audit log of an account, the latest first."""


@TRAVEL.query(messages, pk="USER#{owner}", sk=begins("MESSAGE#"), page=50, load=Load(per_month=100))
def messages_to(*, owner: str) -> None:
    """The mail to a traveller that is pending or failed."""


@TRAVEL.query(
    messages, on=gsi1, pk="OUTBOX#{state}", page=50, load=Load(per_month=50_000, items=2, item_bytes=600)
)
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


@TRAVEL.query(blocks, pk="USER#{user_id}", sk=begins("BLOCK#"), consistent=True, page=100, at_most=500,
    load=Load(per_month=10_000, items=2))  # fmt: skip
def blocks_of(*, user_id: str) -> None:
    """The travellers whom a traveller blocked."""


@TRAVEL.query(blocks, on=gsi1, pk="BLOCKED#{blocked_id}", page=100, load=Load(per_month=100))
def blocks_of_others(*, blocked_id: str) -> None:
    """The travellers who blocked a traveller, for the erasure of the account."""


# --- everything of a traveller, for the erasure of the account ---


@TRAVEL.query(
    profiles, devices, visits, audit, pk="USER#{user_id}", page=100, others=True,
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


@TRAVEL.query(email_identities, challenges, pk="EMAIL#{email_hmac}", page=10, load=Load(per_month=100))
def address_of(*, email_hmac: str) -> None:
    """All items of an address."""
