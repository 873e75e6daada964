"""Tenants, their orders, and the states of both."""

from datetime import datetime

from tablewright.design import (
    Copy,
    Data,
    Keys,
    Load,
    Refresh,
    Retention,
    SoftDelete,
    States,
    Unique,
    begins,
    between,
)
from tablewright.systems.portal.design.base import PORTAL, SEVEN_YEARS
from tablewright.systems.portal.model import Order, OrderStatus, Redemption, Status, Tenant

__all__ = [
    "ORDER_STATES",
    "OVERRIDE",
    "TENANT_STATES",
    "email_index",
    "order_status_index",
    "orders",
    "orders_by_status",
    "orders_of_tenant",
    "redemptions",
    "status_index",
    "tenant_by_id",
    "tenants",
    "tenants_active_index",
    "tenants_by_active",
    "tenants_by_email",
    "tenants_by_status",
    "tenants_table",
]

OVERRIDE = "override"
TENANT_STATES = States(
    "status",
    start="UNVALIDATED",
    moves={
        "UNVALIDATED": {"VALIDATED": ("system", "user"), "SUSPENDED": ("admin",)},
        "VALIDATED": {"REGISTERED": ("system", "user"), "SUSPENDED": ("admin",)},
        "REGISTERED": {"SUSPENDED": ("admin",)},
        "SUSPENDED": {"REGISTERED": ("admin",), "VALIDATED": ("admin",), "UNVALIDATED": ("admin",)},
    },
    overrides=(OVERRIDE,),
)
ORDER_STATES = States(
    "order_status",
    start="PENDING",
    moves={
        "PENDING": {
            "PAID": ("system", "admin"),
            "CANCELLED": ("system", "user", "admin"),
            "EXPIRED": ("system",),
        },
        "PAID": {"REFUNDED": ("system", "admin")},
    },
)
tenants_table = PORTAL.table(
    "tenants",
    pk="PK",
    sk="SK",
    stream="NEW_AND_OLD_IMAGES",
    followed=True,
    about="Customers, their orders and their history.",
)
email_index = tenants_table.gsi("EmailIndex", pk="email")
status_index = tenants_table.gsi("TenantStatusIndex", pk="status", sk="dateCreated")
tenants_active_index = tenants_table.gsi("ActiveIndex", pk="activeKey", sk="dateCreated")
order_status_index = tenants_table.gsi("OrderStatusIndex", pk="orderStatus", sk="placedAt")


def tenant_key(id: str) -> None: ...
def order_key(tenant_id: str, order_id: str) -> None: ...
def redemption_key(tenant_id: str, code: str) -> None: ...


tenants = tenants_table.entity(
    Tenant,
    tenant_key,
    tag="tenant",
    pk="TENANT#{id}",
    sk="METADATA",
    on={
        email_index: Keys("{email}"),
        status_index: Keys("{status}", "{date_created}"),
        tenants_active_index: Keys("{active:bool}", "{date_created}"),
    },
    unique=[
        Unique(
            "email",
            "{email:lower}",
            pk="EMAIL#{email:lower}",
            keep={"tenantId": "{id}", "emailKey": "{email:lower}"},
        )
    ],
    version="version",
    soft_delete=SoftDelete("active"),
    states=TENANT_STATES,
    immutable=("date_created",),
    data={
        "email": Data.PERSONAL,
        "organization_name": Data.PERSONAL,
        "destination_email": Data.PERSONAL,
        "pending_destination_email": Data.PERSONAL,
        "suspension_reason": Data.INTERNAL,
    },
    retention=Retention(
        SEVEN_YEARS, "financial records after the last order", then="archived, or erased on request"
    ),
    load={
        "create": Load(per_month=50_000, item_bytes=700),
        # A change of status, with its audit entry.
        "change": Load(per_month=60_000, item_bytes=700, transaction=True, changes=("status",)),
        "check": Load(per_month=100_000, item_bytes=700),
    },
)
orders = tenants_table.entity(
    Order,
    order_key,
    tag="order",
    pk="TENANT#{tenant_id}",
    sk="ORDER#{order_id}",
    on={order_status_index: Keys("{order_status}", "{placed_at}")},
    unique=[Unique("order", "{order_id}", pk="ORDER#{order_id}", keep={"tenantId": "{tenant_id}"})],
    version="version",
    states=ORDER_STATES,
    immutable=("placed_at", "items", "campaign", "total", "guest"),
    copies=[
        Copy("items", "product", "price", Refresh.SNAPSHOT),
        Copy("campaign", "campaign", "discount_percentage", Refresh.SNAPSHOT),
    ],
    data={
        "total": Data.FINANCIAL,
        "items": Data.FINANCIAL,
        "payment_reference": Data.FINANCIAL,
        "given_back": Data.FINANCIAL,
    },
    retention=Retention(SEVEN_YEARS, "tax law", then="archived"),
    load={
        "create": Load(per_month=100_000, item_bytes=900, once=True),
        "change": Load(per_month=100_000, item_bytes=900, transaction=True, changes=("order_status",)),
    },
)
redemptions = tenants_table.entity(
    Redemption,
    redemption_key,
    tag="redemption",
    pk="TENANT#{tenant_id}",
    sk="REDEMPTION#{code}",
    load={"upsert": Load(per_month=20_000, item_bytes=120, transaction=True)},
)


# --- access patterns ---


@PORTAL.get(tenants, consistent=True, load=Load(per_month=100_000, item_bytes=700))
def tenant_by_id(id: str) -> None:
    """AP-1 of tenants: one by its id, strongly consistent."""


@PORTAL.query(tenants, on=email_index, pk="{email}", load=Load(per_month=100_000, item_bytes=700))
def tenants_by_email(*, email: str) -> None:
    """AP-2: by e-mail address. Decisions rest on the guard instead, which is consistent."""


@PORTAL.query(
    tenants,
    on=tenants_active_index,
    pk="{active:bool}",
    descending=True,
    page=50,
    at_most=100,
    roles=("support", "admin"),
    load=Load(per_month=200, items=50, item_bytes=700),
)
def tenants_by_active(*, active: bool) -> None:
    """AP-3: all active tenants, or all deleted ones, newest first."""


@PORTAL.query(
    tenants,
    on=status_index,
    pk="{status}",
    sk=between("{since}", "{until}"),
    descending=True,
    page=50,
    at_most=100,
    roles=("support", "admin"),
    load=Load(per_month=200, items=50, item_bytes=700),
)
def tenants_by_status(
    *, status: Status, since: datetime | None = None, until: datetime | None = None
) -> None:
    """AP-4: by status and, optionally, creation date; newest first."""


@PORTAL.query(
    orders,
    pk="TENANT#{tenant_id}",
    sk=begins("ORDER#"),
    descending=True,
    page=25,
    at_most=100,
    roles=("tenant", "support", "admin"),
    load=Load(per_month=30_000, items=5, item_bytes=900),
)
def orders_of_tenant(*, tenant_id: str) -> None:
    """A tenant's orders, newest first: their ids begin with the time."""


@PORTAL.query(
    orders,
    on=order_status_index,
    pk="{status}",
    sk=between("{since}", "{until}"),
    descending=True,
    page=50,
    at_most=100,
    roles=("support", "admin"),
    # The lists, some searches (2 000 orders each), and every five minutes a query for expired orders.
    load=Load(per_month=9_000, items=50, item_bytes=900),
)
def orders_by_status(
    *, status: OrderStatus, since: datetime | None = None, until: datetime | None = None
) -> None:
    """Orders of one status, newest first."""
