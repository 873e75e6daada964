"""What devices did, the feed of what is new, and where it ends (SK-17 to SK-19, SK-D6)."""

from tablewright.design import Data, Expires, Keys, Load, Retention, States, begins, between
from tablewright.systems.travel.design.accounts import profile_key
from tablewright.systems.travel.design.base import OPERATIONS_KEPT, TRAVEL, gsi1, gsi2, table
from tablewright.systems.travel.model import Change, Head, Operation, OperationStatus, Receipt

__all__ = [
    "OPERATION_STATES",
    "changes",
    "changes_between",
    "head_of",
    "heads",
    "operations",
    "operations_by_status",
    "operations_of",
    "operations_of_device",
    "receipts",
]


def operation_key(user_id: str, timestamp_ms: int, operation_id: str) -> None: ...
def receipt_key(user_id: str, operation_id: str) -> None: ...
def change_key(user_id: str, server_version: int) -> None: ...


# An operation is written with its outcome; what is in conflict is resolved later, by the traveller's choice.
OPERATION_STATES = States(
    "status", start="processed", moves={"conflict": {"processed": ("traveller",)}, "failed": {}}
)
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
    states=OPERATION_STATES,
    expires=Expires("server_timestamp", OPERATIONS_KEPT),
    data={"entity_data": Data.PERSONAL, "conflict_details": Data.PERSONAL},
    retention=Retention(OPERATIONS_KEPT, "to see what each device did, and to settle conflicts"),
    # What was applied, as nearly all is, is in no list of what is open.
    load={"create": Load(per_month=300_000, item_bytes=700, transaction=True, indexes=(gsi2.name,))},
)
receipts = table.entity(
    Receipt,
    receipt_key,
    tag="operation_receipt",
    pk="SYNC#{user_id}",
    sk="OPID#{operation_id}",
    expires=Expires("done_at", OPERATIONS_KEPT),
    data={"result": Data.PERSONAL},
    retention=Retention(OPERATIONS_KEPT, "so that an operation is done once"),
    load={
        "create": Load(per_month=300_000, item_bytes=900, transaction=True),
        "get": Load(per_month=300_000, item_bytes=900),
    },
)
changes = table.entity(
    Change,
    change_key,
    tag="change",
    pk="SYNC#{user_id}",
    sk="CHG#{server_version:12}",
    expires=Expires("changed_at", OPERATIONS_KEPT),
    data={"visited_date": Data.PERSONAL},
    retention=Retention(OPERATIONS_KEPT, "so that devices can ask what is new"),
    load={"create": Load(per_month=300_000, item_bytes=350, transaction=True)},
)
heads = table.entity(
    Head,
    profile_key,
    tag="sync_head",
    pk="SYNC#{user_id}",
    sk="HEAD",
    retention=Retention(None, "while the account is there"),
    load={
        "create": Load(per_month=100, item_bytes=200, transaction=True),
        "change": Load(per_month=300_000, item_bytes=200, transaction=True),
    },
)


# --- access patterns ---


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
    """SK-17: the operations of a traveller, the latest first."""


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
    """SK-18: operations of all travellers that were refused or are in conflict, the oldest first."""


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
    """SK-19: the operations of a device, the latest first."""
