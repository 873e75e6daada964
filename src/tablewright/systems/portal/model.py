"""The portal's data: tenants, products, campaigns, orders and their history.

Plain values without storage. Names in JSON and in items are camelCase, as the API's are. Fields that
only the server sets are not in the inputs of api/bodies.py.
"""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer
from pydantic.alias_generators import to_camel

from tablewright.kit import audit, codes, outbox

Status = Literal["UNVALIDATED", "VALIDATED", "REGISTERED", "SUSPENDED"]
BillingCycle = Literal["monthly", "yearly"]
OrderStatus = Literal["PENDING", "PAID", "CANCELLED", "EXPIRED", "REFUNDED"]
Purpose = Literal["verify", "destination"]
Kind = Literal["tenants", "products", "campaigns"]
# The sorts of a tally, beside the statuses of active tenants.
ACTIVE, INACTIVE = "ACTIVE", "INACTIVE"
# Decimal inside; a plain number in JSON, which keeps two decimal places exactly.
Money = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]


class Value(BaseModel):
    """Frozen, camelCase outside, nothing unknown inside."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


class Activatable(Value):
    """What every root record has (CP-3): server-set, all required."""

    active: bool = True
    date_created: datetime
    date_last_updated: datetime
    last_updated_by: str
    version: int = 1


class Tenant(Activatable):
    """A customer, known by an e-mail address; a business if it has an organisation's name."""

    id: str
    email: str
    status: Status = "UNVALIDATED"
    organization_name: str | None = None
    destination_email: str | None = None
    pending_destination_email: str | None = None
    previous_status: Status | None = None
    suspension_reason: str | None = None
    reminder_sent_at: datetime | None = None
    address_verified_at: datetime | None = None
    erased_at: datetime | None = None

    @property
    def submissions_go_to(self) -> str:
        """Where form submissions are sent (CP-D14)."""
        return self.destination_email or self.email


class Product(Activatable):
    """A hosting plan. Prices include VAT. `next_price` takes the place of `price` at `next_price_from`."""

    id: str
    name: str
    description: str
    price: Money
    currency: str = "ZAR"
    features: list[str] = Field(default_factory=list)
    billing_cycle: BillingCycle
    draft: bool = False
    next_price: Money | None = None
    next_price_from: datetime | None = None


class PriceChange(Value):
    """One step of a product's price: from, to, when and by whom."""

    product_id: str
    product_version: int
    at: datetime
    old_price: Money | None = None
    new_price: Money
    currency: str = "ZAR"
    changed_by: str


class Campaign(Activatable):
    """A discount on one product (or a few more) between two local dates, both included."""

    id: str
    code: str
    description: str
    discount_percentage: Money
    product_id: str
    also_product_ids: list[str] = Field(default_factory=list)
    terms_conditions_link: str
    from_date: date
    to_date: date
    redemption_limit: int | None = None
    per_tenant_limit: int | None = None


class CampaignProduct(Value):
    """A further product of a campaign, so that a product's campaigns are one query."""

    code: str
    product_id: str
    from_date: date


class CampaignUsage(Value):
    """How often a campaign was used. Beside the campaign, so that an order does not rewrite it and its indexes."""

    code: str
    count: int = 0


class CampaignSnapshot(Value):
    """The campaign as it was when an order was placed (CP-51, CP-D27)."""

    id: str
    code: str
    description: str
    discount_percentage: Money
    product_id: str
    terms_conditions_link: str
    from_date: date
    to_date: date
    valid_at_order_time: datetime
    per_tenant_limit: int | None = None


class OrderItem(Value):
    """A line of an order: the price as it was, before and after the campaign."""

    product_id: str
    product_name: str
    billing_cycle: BillingCycle
    quantity: int
    unit_price: Money
    discounted_unit_price: Money
    line_total: Money


class Order(Value):
    """An order with the prices when it was placed. `tax` is the VAT inside `total`.

    A `guest` order was placed without signing in: the tenant sees it after verifying the address. No mail is sent about
    an order that is not `mailed`. An order `over_limit` used an offer more often than allowed and is on hold.
    `given_back` has the references of payments that came too late or twice and were refunded.
    """

    tenant_id: str
    order_id: str
    order_number: str
    order_status: OrderStatus = "PENDING"
    placed_at: datetime
    items: list[OrderItem]
    campaign: CampaignSnapshot | None = None
    currency: str = "ZAR"
    subtotal: Money
    discount: Money
    tax: Money
    total: Money
    payment_reference: str | None = None
    paid_at: datetime | None = None
    paid_by_hand: bool = False
    given_back: list[str] = Field(default_factory=list)
    guest: bool = False
    mailed: bool = True
    over_limit: bool = False
    version: int = 1


class Redemption(Value):
    """How often one tenant used one campaign."""

    tenant_id: str
    code: str
    count: int = 0


# Fields that every write changes: they are left out of audit entries.
NOISE = frozenset(("version", "date_last_updated", "last_updated_by", "address_verified_at"))


class AuditEntry(audit.AuditEntry, Value):
    """Who changed what, with the values before and after."""

    subject_id: str


class Challenge(codes.Challenge, Value):
    """A one-time secret sent to an address: digits or a link, for a quarter of an hour and five tries of its asker
    (kit/code_requesters.py)."""

    purpose: Purpose
    address: str
    asker: str
    tenant_id: str
    link_hash: str
    created_at: datetime


class Allowance(codes.Allowance, Value):
    """How often something was done in an hour or a day, for the limits of codes and orders."""


class Tally(Value):
    """How many records there are of each sort: kept from the stream, compared with a real count every day.

    `version` goes up with every change counted; `reconciled_at` is None until the first comparison.
    """

    of: Kind
    counts: dict[str, int] = {}
    changed_at: datetime
    reconciled_at: datetime | None = None
    version: int = 0

    def number(self, sort: str) -> int:
        return max(self.counts.get(sort, 0), 0)

    @property
    def active(self) -> int:
        return sum(self.number(sort) for sort in self.counts if sort != INACTIVE)


class Message(outbox.Message, Value):
    """A mail in the outbox; one to staff has no tenant."""

    tenant_id: str | None = None
