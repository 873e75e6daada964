"""The portal's design: three tables of its own, and one for what dies by itself.

`tenants`, `products` and `campaigns` are the document's. `portal_desk` holds one-time secrets, limits and the outbox,
because the three have no TTL, and the tallies, which are counted from their streams. Orders and audit entries carry
other attribute names than the roots they lie beside (`orderStatus`, `placedAt`, `auditAt`), so that they stay out of
the roots' indexes.
"""

from datetime import date, datetime, timedelta
from decimal import Decimal

from tablewright.design import (
    Alarm,
    Backups,
    Budget,
    Copy,
    Data,
    Design,
    DesignTable,
    Entity,
    Environment,
    Expires,
    Index,
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
from tablewright.systems.portal.model import (
    Allowance,
    AuditEntry,
    Campaign,
    CampaignProduct,
    CampaignUsage,
    Challenge,
    Kind,
    Message,
    MessageState,
    Order,
    OrderStatus,
    PriceChange,
    Product,
    Purpose,
    Redemption,
    Status,
    Tally,
    Tenant,
)

SEVEN_YEARS = timedelta(days=7 * 365 + 2)
OVERRIDE = "override"
PORTAL = Design("portal", version=1, about="A public portal that sells WordPress hosting.")

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
        "PENDING": {"PAID": ("system", "admin"), "CANCELLED": ("system", "user", "admin")},
        "PAID": {"REFUNDED": ("system", "admin")},
    },
)

# --- the environments and what is watched in them (A.6, A.7, A.8) ---

_TAGS = {
    "Project": "BBWS WP Containers",
    "Owner": "Tebogo",
    "CostCenter": "AWS",
    "ManagedBy": "Terraform",
    "Component": "dynamodb",
    "Application": "CustomerPortalPublic",
}


def _environment(
    name: str, account: str, schedule: str, keep_days: int, limit: int, estimate: dict[str, int]
) -> Environment:
    production = name == "prod"
    tags = {"Environment": name, **_TAGS}
    if production:
        tags |= {"BackupPolicy": "hourly", "DR": "enabled", "LLD": "2.1.8"}
    return Environment(
        name,
        region="af-south-1",
        account=account,
        pitr_days=35,
        backups=Backups(
            schedule, keep_days, f"bbws-backup-vault-{name}", copy_to="eu-west-1" if production else None
        ),
        deletion_protection=production,
        replicas=("eu-west-1",) if production else (),
        encryption="managed",
        tags=tags,
        budget=Budget(
            Decimal(limit),
            Decimal(limit) * Decimal("0.8"),
            {what: Decimal(sum_) for what, sum_ in estimate.items()},
        ),
        recovery={
            "accidental delete": "under 1 h" if production else "1 to 2 h",
            "corruption": "under 2 h" if production else "2 to 4 h",
            "region": "under 15 min" if production else "not covered",
            "latest restorable": "about 5 min behind, for 35 days",
        },
    )


PORTAL.environment(
    _environment(
        "dev", "536580886816", "cron(0 1 * * ? *)", 7, 500, {"requests": 50, "storage": 5, "backups": 10}
    )
)
PORTAL.environment(
    _environment(
        "sit", "815856636111", "cron(0 2 * * ? *)", 14, 1000, {"requests": 100, "storage": 10, "backups": 20}
    )
)
PORTAL.environment(
    _environment(
        "prod",
        "093646564004",
        "cron(0 * * * ? *)",
        90,
        5000,
        {"reads": 800, "writes": 800, "storage": 100, "backups": 100, "replication": 300},
    )
)
for _name, _metric, _over, _minutes, _unit in (
    ("reads", "ConsumedReadCapacityUnits", 10_000, 1, "units"),
    ("writes", "ConsumedWriteCapacityUnits", 5_000, 1, "units"),
    ("throttling", "ThrottledRequests", 10, 5, "requests"),
    ("faults", "SystemErrors", 5, 5, "errors"),
    ("replication", "ReplicationLatency", 5_000, 5, "ms"),
):
    PORTAL.alarm(
        Alarm(
            _name,
            _metric,
            Decimal(_over),
            _minutes,
            "Maximum" if _unit == "ms" else "Sum",
            _unit,
            "page the operator",
        )
    )

# --- tenants ---

tenants_table = PORTAL.table(
    "tenants",
    pk="PK",
    sk="SK",
    stream="NEW_AND_OLD_IMAGES",
    about="Customers, their orders and their history.",
)
email_index = tenants_table.gsi("EmailIndex", pk="email")
status_index = tenants_table.gsi("TenantStatusIndex", pk="status", sk="dateCreated")
tenants_active_index = tenants_table.gsi("ActiveIndex", pk="activeKey", sk="dateCreated")
order_status_index = tenants_table.gsi("OrderStatusIndex", pk="orderStatus", sk="placedAt")


def tenant_key(id: str) -> None: ...
def order_key(tenant_id: str, order_id: str) -> None: ...
def redemption_key(tenant_id: str, code: str) -> None: ...
def audit_key(subject_id: str, audit_at: datetime, audit_id: str) -> None: ...


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
        "change": Load(per_month=60_000, item_bytes=700),
        "get": Load(per_month=100_000, item_bytes=700),
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
    immutable=("placed_at", "items", "campaign", "total"),
    copies=[
        Copy("items", "product", "price", Refresh.SNAPSHOT),
        Copy("campaign", "campaign", "discount_percentage", Refresh.SNAPSHOT),
    ],
    data={"total": Data.FINANCIAL, "items": Data.FINANCIAL, "payment_reference": Data.FINANCIAL},
    retention=Retention(SEVEN_YEARS, "tax law", then="archived"),
    load={"create": Load(per_month=100_000, item_bytes=900)},
)
redemptions = tenants_table.entity(
    Redemption,
    redemption_key,
    tag="redemption",
    pk="TENANT#{tenant_id}",
    sk="REDEMPTION#{code}",
    load={"upsert": Load(per_month=20_000, item_bytes=120)},
)

# --- products ---

products_table = PORTAL.table(
    "products", pk="PK", sk="SK", stream="NEW_AND_OLD_IMAGES", about="What is sold, and what it cost when."
)
# The document has two indexes with the same keys and projection; one answers to both names.
products_active_index = products_table.gsi(
    "ProductActiveIndex", pk="activeKey", sk="dateCreated", aliases=("ActiveIndex",)
)


def product_key(id: str) -> None: ...
def price_key(product_id: str, at: datetime) -> None: ...


products = products_table.entity(
    Product,
    product_key,
    tag="product",
    pk="PRODUCT#{id}",
    sk="METADATA",
    on={products_active_index: Keys("{active:bool}", "{date_created}")},
    version="version",
    soft_delete=SoftDelete("active"),
    immutable=("date_created",),
    retention=Retention(None, "the catalogue; soft delete only"),
    load={
        "create": Load(per_month=20, item_bytes=800),
        "change": Load(per_month=100, item_bytes=800),
        "get": Load(per_month=1_000_000, item_bytes=800),
    },
)
prices = products_table.entity(
    PriceChange,
    price_key,
    tag="price",
    pk="PRODUCT#{product_id}",
    sk="PRICE#{at:us}",
    retention=Retention(SEVEN_YEARS, "proof of the price at any time", then="archived"),
    load={"create": Load(per_month=100, item_bytes=300)},
)

# --- campaigns ---

campaigns_table = PORTAL.table(
    "campaigns", pk="PK", sk="SK", stream="NEW_AND_OLD_IMAGES", about="Discounts, past and to come."
)
campaign_active_index = campaigns_table.gsi("CampaignActiveIndex", pk="activeKey", sk="fromDate")
campaign_product_index = campaigns_table.gsi("CampaignProductIndex", pk="productId", sk="fromDate")
campaigns_date_index = campaigns_table.gsi("ActiveIndex", pk="activeKey", sk="dateCreated")


def campaign_key(code: str) -> None: ...
def campaign_product_key(code: str, product_id: str) -> None: ...


campaigns = campaigns_table.entity(
    Campaign,
    campaign_key,
    tag="campaign",
    pk="CAMPAIGN#{code}",
    sk="METADATA",
    on={
        campaign_active_index: Keys("{active:bool}", "{from_date}"),
        campaign_product_index: Keys("{product_id}", "{from_date}"),
        campaigns_date_index: Keys("{active:bool}", "{date_created}"),
    },
    version="version",
    soft_delete=SoftDelete("active"),
    immutable=("date_created", "product_id", "id"),
    retention=Retention(None, "reporting on past campaigns; soft delete only"),
    load={
        "create": Load(per_month=20, item_bytes=700),
        "change": Load(per_month=100, item_bytes=700),
        "get": Load(per_month=10_000, item_bytes=700),
    },
)
campaign_products = campaigns_table.entity(
    CampaignProduct,
    campaign_product_key,
    tag="campaign_product",
    pk="CAMPAIGN#{code}",
    sk="PRODUCT#{product_id}",
    on={campaign_product_index: Keys("{product_id}", "{from_date}")},
    copies=[Copy("from_date", "campaign", "from_date", Refresh.JOB)],
    load={"put": Load(per_month=20, item_bytes=150)},
)

campaign_usage = campaigns_table.entity(
    CampaignUsage,
    campaign_key,
    tag="campaign_usage",
    pk="CAMPAIGN#{code}",
    sk="USAGE",
    load={"upsert": Load(per_month=20_000, item_bytes=100)},
)

# --- the history beside each root ---


def _audit(table: DesignTable, noun: str) -> tuple[Index, Entity[AuditEntry, [str, datetime, str]]]:
    """Audit entries of a table's roots: beside the root they are about, and in an index by month."""
    index = table.gsi("AuditIndex", pk="auditMonth", sk="auditAt")
    entity = table.entity(
        AuditEntry,
        audit_key,
        tag=f"{noun}_audit",
        pk=f"{noun.upper()}#{{subject_id}}",
        sk="AUDIT#{audit_at:us}#{audit_id}",
        on={index: Keys("{audit_at:month}", "{audit_at}")},
        data={"before": Data.PERSONAL, "after": Data.PERSONAL, "actor": Data.PERSONAL},
        retention=Retention(SEVEN_YEARS, "who changed what", then="archived"),
        load={"create": Load(per_month=1_000, item_bytes=600)},
    )
    return index, entity


tenant_audit_index, tenant_audit = _audit(tenants_table, "tenant")
product_audit_index, product_audit = _audit(products_table, "product")
campaign_audit_index, campaign_audit = _audit(campaigns_table, "campaign")

# --- the desk: secrets, limits, mail ---

desk_table = PORTAL.table(
    "portal_desk",
    pk="PK",
    sk="SK",
    ttl="ttl",
    about="One-time secrets, limits and the outbox, which die by themselves; and tallies.",
)
outbox_index = desk_table.gsi("OutboxIndex", pk="outboxKey", sk="outboxAt")
recipient_index = desk_table.gsi("MailOfTenantIndex", pk="mailOf", sk="mailAt")


def challenge_key(purpose: Purpose, address: str) -> None: ...
def allowance_key(name: str, window: str) -> None: ...
def message_key(message_id: str) -> None: ...
def tally_key(of: Kind) -> None: ...


challenges = desk_table.entity(
    Challenge,
    challenge_key,
    tag="challenge",
    pk="CHALLENGE#{purpose}#{address:lower}",
    sk="SECRET",
    expires=Expires("expires_at"),
    data={"address": Data.PERSONAL, "code_hash": Data.SECRET, "link_hash": Data.SECRET},
    retention=Retention(timedelta(minutes=15), "to prove that an address is somebody's"),
    load={"put": Load(per_month=60_000, item_bytes=500)},
)
allowances = desk_table.entity(
    Allowance,
    allowance_key,
    tag="allowance",
    pk="ALLOWANCE#{name}",
    sk="WINDOW#{window}",
    expires=Expires("expires_at"),
    retention=Retention(timedelta(days=1), "to hold back who asks too often"),
    load={"upsert": Load(per_month=120_000, item_bytes=150)},
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
    data={"recipient": Data.PERSONAL, "body": Data.PERSONAL},
    retention=Retention(timedelta(days=30), "to see what was sent"),
    load={"create": Load(per_month=160_000, item_bytes=900)},
)

tallies = desk_table.entity(
    Tally,
    tally_key,
    tag="tally",
    pk="TALLY#{of}",
    sk="TALLY",
    version="version",
    retention=Retention(None, "as long as there is something to count"),
    load={"upsert": Load(per_month=30_000, item_bytes=200)},
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
    """AP-4: by status and, if wanted, by when they came; newest first."""


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
    load=Load(per_month=200, items=50, item_bytes=900),
)
def orders_by_status(
    *, status: OrderStatus, since: datetime | None = None, until: datetime | None = None
) -> None:
    """Orders of one status, newest first."""


@PORTAL.get(products, consistent=True, load=Load(per_month=1_000_000, item_bytes=800))
def product_by_id(id: str) -> None:
    """AP-1 of products: one by its id, strongly consistent."""


@PORTAL.query(
    products,
    on=products_active_index,
    pk="{active:bool}",
    page=100,
    at_most=100,
    load=Load(per_month=1_000_000, items=10, item_bytes=800),
)
def products_by_active(*, active: bool) -> None:
    """AP-2: the catalogue, oldest first."""


@PORTAL.query(
    prices,
    pk="PRODUCT#{product_id}",
    sk=begins("PRICE#"),
    page=100,
    load=Load(per_month=500, items=12, item_bytes=300),
)
def prices_of_product(*, product_id: str) -> None:
    """What a product cost, since when."""


@PORTAL.get(campaigns, consistent=True, load=Load(per_month=10_000, item_bytes=700))
def campaign_by_code(code: str) -> None:
    """AP-1 of campaigns: one by its code, strongly consistent."""


@PORTAL.query(
    campaigns,
    on=campaign_active_index,
    pk="{active:bool}",
    sk=between("{since}", "{until}"),
    descending=True,
    page=50,
    at_most=100,
    load=Load(per_month=5_000, items=20, item_bytes=700),
)
def campaigns_by_active(*, active: bool, since: date | None = None, until: date | None = None) -> None:
    """AP-2: campaigns by when they begin, newest first."""


@PORTAL.query(
    campaigns,
    on=campaigns_date_index,
    pk="{active:bool}",
    descending=True,
    page=50,
    at_most=100,
    roles=("support", "admin"),
    load=Load(per_month=100, items=20, item_bytes=700),
)
def campaigns_by_creation(*, active: bool) -> None:
    """Campaigns by when they were written, newest first."""


@PORTAL.query(
    campaigns,
    campaign_products,
    on=campaign_product_index,
    pk="{product_id}",
    descending=True,
    page=50,
    at_most=100,
    load=Load(per_month=2_000, items=5, item_bytes=700),
)
def campaigns_of_product(*, product_id: str) -> None:
    """AP-3: the campaigns of a product, newest first."""


@PORTAL.query(
    campaign_products, pk="CAMPAIGN#{code}", sk=begins("PRODUCT#"), load=Load(per_month=200, items=2)
)
def products_of_campaign(*, code: str) -> None:
    """The further products of a campaign."""


@PORTAL.query(
    tenant_audit, pk="TENANT#{subject_id}", sk=begins("AUDIT#"), descending=True, page=50, at_most=100,
    roles=("support", "admin"), load=Load(per_month=200, items=20, item_bytes=600),
)  # fmt: skip
def history_of_tenant(*, subject_id: str) -> None:
    """What happened to a tenant, newest first."""


@PORTAL.query(
    product_audit, pk="PRODUCT#{subject_id}", sk=begins("AUDIT#"), descending=True, page=50, at_most=100,
    roles=("support", "admin"), load=Load(per_month=100, items=20, item_bytes=600),
)  # fmt: skip
def history_of_product(*, subject_id: str) -> None:
    """What happened to a product, newest first."""


@PORTAL.query(
    campaign_audit, pk="CAMPAIGN#{subject_id}", sk=begins("AUDIT#"), descending=True, page=50, at_most=100,
    roles=("support", "admin"), load=Load(per_month=100, items=20, item_bytes=600),
)  # fmt: skip
def history_of_campaign(*, subject_id: str) -> None:
    """What happened to a campaign, newest first."""


@PORTAL.query(
    tenant_audit, on=tenant_audit_index, pk="{at:month}", descending=True, page=50, at_most=100,
    roles=("support", "admin"), load=Load(per_month=100, items=50, item_bytes=600),
)  # fmt: skip
def tenant_audit_of_month(*, at: datetime) -> None:
    """Everything that happened to tenants in a month, newest first."""


@PORTAL.query(
    product_audit, on=product_audit_index, pk="{at:month}", descending=True, page=50, at_most=100,
    roles=("support", "admin"), load=Load(per_month=100, items=50, item_bytes=600),
)  # fmt: skip
def product_audit_of_month(*, at: datetime) -> None:
    """Everything that happened to products in a month, newest first."""


@PORTAL.query(
    campaign_audit, on=campaign_audit_index, pk="{at:month}", descending=True, page=50, at_most=100,
    roles=("support", "admin"), load=Load(per_month=100, items=50, item_bytes=600),
)  # fmt: skip
def campaign_audit_of_month(*, at: datetime) -> None:
    """Everything that happened to campaigns in a month, newest first."""


@PORTAL.query(
    messages, on=outbox_index, pk="{state}", descending=True, page=50, at_most=100, roles=("admin",),
    load=Load(per_month=9_000, items=20, item_bytes=900),
)  # fmt: skip
def messages_by_state(*, state: MessageState) -> None:
    """The outbox: what is to be sent, what was."""


@PORTAL.query(
    messages, on=recipient_index, pk="{tenant_id}", descending=True, page=50, at_most=100,
    roles=("tenant", "admin"), load=Load(per_month=100, items=10, item_bytes=900),
)  # fmt: skip
def messages_of_tenant(*, tenant_id: str) -> None:
    """The mail to one tenant that is still kept: for an export, and for an erasure."""


PORTAL.build()
DESIGNS = (PORTAL,)
