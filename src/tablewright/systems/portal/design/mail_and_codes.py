"""One-time secrets, limits and the outbox, which expire; and tallies."""

from tablewright.design import Data, Load, Retention, begins
from tablewright.kit.codes import codes_in
from tablewright.kit.outbox import ByOwner
from tablewright.kit.outbox import outbox as outbox_in
from tablewright.systems.portal.design.base import PORTAL
from tablewright.systems.portal.model import Allowance, Challenge, Kind, Message, Purpose, Tally

__all__ = [
    "challenges_of",
    "codes",
    "desk_table",
    "outbox",
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


def tally_key(of: Kind) -> None: ...


codes = codes_in(
    desk_table,
    Challenge,
    Allowance,
    key={"purpose": Purpose, "address": str, "asker": str},
    pk="CHALLENGE#{purpose}#{address:lower}",
    sk="SECRET#{asker}",
    sends=Load(per_month=60_000, item_bytes=500, transaction=True),
    counts=Load(per_month=320_000, item_bytes=150),
    purpose="to verify that a customer owns an address",
    data={"address": Data.PERSONAL, "link_hash": Data.SECRET},
)
outbox = outbox_in(
    PORTAL,
    desk_table,
    Message,
    key=("message_id",),
    pk="MESSAGE#{message_id}",
    sk="METADATA",
    on=outbox_index,
    state="{state}",
    writes=Load(per_month=160_000, item_bytes=900, transaction=True),
    reads=Load(per_month=9_000, items=20, item_bytes=900),
    roles=("admin",),
    by_owner=ByOwner(
        "messages_of_tenant",
        "tenant_id",
        "{tenant_id}",
        Load(per_month=100, items=10, item_bytes=900),
        on=recipient_index,
        roles=("tenant", "admin"),
    ),
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
    codes.challenges, pk="CHALLENGE#{purpose}#{address:lower}", sk=begins("SECRET#"), consistent=True, page=100,
    load=Load(per_month=10_000, items=1, item_bytes=500),
)  # fmt: skip
def challenges_of(*, purpose: Purpose, address: str) -> None:
    """The pending secrets of an address: for links, which may be opened anywhere, and for erasures."""
