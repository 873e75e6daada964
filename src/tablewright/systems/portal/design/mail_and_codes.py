"""One-time secrets, limits and the outbox, which expire; and tallies."""

from datetime import timedelta

from tablewright.design import Data, Expires, Keys, Load, Retention, begins
from tablewright.systems.portal.design.base import PORTAL
from tablewright.systems.portal.model import Allowance, Challenge, Kind, Message, MessageState, Purpose, Tally

__all__ = [
    "allowances",
    "challenges",
    "challenges_of",
    "desk_table",
    "messages",
    "messages_by_state",
    "messages_of_tenant",
    "outbox_index",
    "recipient_index",
    "tallies",
]

desk_table = PORTAL.table(
    "portal_desk",
    pk="PK",
    sk="SK",
    ttl="ttl",
    about="One-time secrets, limits and the outbox, which expire; and tallies.",
)
outbox_index = desk_table.gsi("OutboxIndex", pk="outboxKey", sk="outboxAt")
recipient_index = desk_table.gsi("MailOfTenantIndex", pk="mailOf", sk="mailAt")


def challenge_key(purpose: Purpose, address: str, asker: str) -> None: ...
def allowance_key(name: str, window: str) -> None: ...
def message_key(message_id: str) -> None: ...
def tally_key(of: Kind) -> None: ...


challenges = desk_table.entity(
    Challenge,
    challenge_key,
    tag="challenge",
    pk="CHALLENGE#{purpose}#{address:lower}",
    sk="SECRET#{asker}",
    expires=Expires("expires_at"),
    data={"address": Data.PERSONAL, "code_hash": Data.SECRET, "link_hash": Data.SECRET},
    retention=Retention(timedelta(minutes=15), "to verify that a customer owns an address"),
    load={"put": Load(per_month=60_000, item_bytes=500, transaction=True)},
)
allowances = desk_table.entity(
    Allowance,
    allowance_key,
    tag="allowance",
    pk="ALLOWANCE#{name}",
    sk="WINDOW#{window}",
    expires=Expires("expires_at"),
    retention=Retention(timedelta(days=1), "to limit how often codes and orders are requested"),
    load={"upsert": Load(per_month=320_000, item_bytes=150)},
)
messages = desk_table.entity(
    Message,
    message_key,
    tag="message",
    pk="MESSAGE#{message_id}",
    sk="METADATA",
    on={
        outbox_index: Keys("{state}", "{created_at:ms}#{message_id}"),
        recipient_index: Keys("{tenant_id}", "{created_at:ms}#{message_id}"),
    },
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
        "create": Load(per_month=160_000, item_bytes=900, transaction=True),
        "change": Load(per_month=160_000, item_bytes=900, changes=("state",)),
    },
)
tallies = desk_table.entity(
    Tally,
    tally_key,
    tag="tally",
    pk="TALLY#{of}",
    sk="TALLY",
    version="version",
    retention=Retention(None, "kept while the tables exist"),
    load={"upsert": Load(per_month=210_000, item_bytes=200, once=True, new=0)},
)


# --- access patterns ---


@PORTAL.query(
    challenges, pk="CHALLENGE#{purpose}#{address:lower}", sk=begins("SECRET#"), consistent=True, page=100,
    load=Load(per_month=10_000, items=1, item_bytes=500),
)  # fmt: skip
def challenges_of(*, purpose: Purpose, address: str) -> None:
    """The pending secrets of an address: for links, which may be opened anywhere, and for erasures."""


@PORTAL.query(
    messages, on=outbox_index, pk="{state}", descending=True, page=50, at_most=100, roles=("admin",),
    load=Load(per_month=9_000, items=20, item_bytes=900),
)  # fmt: skip
def messages_by_state(*, state: MessageState) -> None:
    """The outbox by state: pending, sent, failed."""


@PORTAL.query(
    messages, on=recipient_index, pk="{tenant_id}", descending=True, page=50, at_most=100,
    roles=("tenant", "admin"), load=Load(per_month=100, items=10, item_bytes=900),
)  # fmt: skip
def messages_of_tenant(*, tenant_id: str) -> None:
    """The stored mail to one tenant: for exports and erasures."""
