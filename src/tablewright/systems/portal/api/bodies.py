"""Request and response bodies: requests have only fields that a caller may set, responses add computed ones."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from tablewright.edge.errors import Refused
from tablewright.kit.code_requesters import KNOWN_DEVICE, TICKET
from tablewright.kit.http import Body, Day, Moment, view_of
from tablewright.systems.portal import rules
from tablewright.systems.portal.catalogue.catalogue import Offer
from tablewright.systems.portal.model import (
    BillingCycle,
    Campaign,
    Money,
    Order,
    OrderItem,
    OrderStatus,
    Product,
    Status,
    Tenant,
    Value,
)
from tablewright.systems.portal.orders.pricing import Priced

PageSize = Annotated[int | None, Query(alias="pageSize", description="1 to 100; default: 50")]
# The same URL returns more to staff: a cache must not mix the two.
VARY = "Authorization, Cookie"


class Input(Body):
    """A body of a change. It names the fields that never change, so that sending one is IMMUTABLE_FIELD."""

    def changes(self) -> dict[str, Any]:
        """The fields that were sent, by their Python names; IMMUTABLE_FIELD if one of them never changes."""
        for name in sorted(self.model_fields_set & IMMUTABLE):
            field = type(self).model_fields[name].alias or name
            words = _ELSEWHERE.get(name, f"{field} cannot be changed.")
            raise Refused("IMMUTABLE_FIELD", words, field)
        return {name: getattr(self, name) for name in self.model_fields_set if name not in IMMUTABLE}


_SERVER_SET = ("id", "date_created", "date_last_updated", "last_updated_by", "version")
IMMUTABLE = frozenset(("email", "code", "product_id", "status", *_SERVER_SET))
_ELSEWHERE = {
    "email": "email cannot be changed here. An admin can change it with POST /tenants/{id}:email.",
    "status": "status cannot be changed here. Staff can change it with PUT /tenants/{id}/status.",
}


class ServerSet(Input):
    """Fields that only the server sets; named here so that they are refused."""

    id: Any = None
    date_created: Any = None
    date_last_updated: Any = None
    last_updated_by: Any = None
    version: Any = None


# --- tenants ---


class NewTenant(Body):
    email: str = Field(max_length=320)
    organization_name: str | None = Field(None, max_length=200)
    destination_email: str | None = Field(None, max_length=320)


class TenantChange(ServerSet):
    email: Any = None
    status: Any = None
    organization_name: str | None = Field(None, max_length=200)
    destination_email: str | None = Field(None, max_length=320)
    active: bool = True


class StatusChange(Body):
    """Without a status, a suspended tenant gets the status from before the suspension."""

    status: Status | None = None
    reason: str | None = Field(None, max_length=500)
    override: bool = False


class Reason(Body):
    reason: str = Field(min_length=3, max_length=500)


class NewAddress(Body):
    email: str = Field(max_length=320)


class VerifiedAddress(NewAddress):
    known_device: str = Field("", max_length=200, description=KNOWN_DEVICE)


class CodeSent(Value):
    message: str
    ticket: str


class Profile(ServerSet):
    email: Any = None
    status: Any = None
    organization_name: str | None = Field(None, max_length=200)


class Me(Value):
    """A tenant's own record."""

    id: str
    email: str
    status: Status
    organization_name: str | None = None
    destination_email: str
    pending_destination_email: str | None = None
    date_created: datetime


def me_of(tenant: Tenant) -> Me:
    return view_of(Me, tenant, destination_email=tenant.submissions_go_to)


# --- products and campaigns ---


class NewProduct(Body):
    name: str
    description: str
    price: Money
    features: list[str] = Field(default_factory=list)
    billing_cycle: BillingCycle
    draft: bool = False


class ProductChange(ServerSet):
    """Fields that are not sent stay unchanged; the defaults here only give each field its type."""

    name: str = ""
    description: str = ""
    price: Money = Decimal(0)
    features: list[str] = Field(default_factory=list)
    billing_cycle: BillingCycle = "monthly"
    draft: bool = False
    active: bool = True
    next_price: Money | None = None
    next_price_from: Moment = None


class ProductView(Product):
    """A product with its current price and the VAT in it."""

    current_price: Money
    vat_included: Money
    warnings: list[str] = Field(default_factory=list)


def product_view(product: Product, now: datetime, warnings: list[str] | None = None) -> ProductView:
    price = rules.price_at(product, now)
    vat = rules.cents(price * rules.VAT / (100 + rules.VAT))
    return view_of(ProductView, product, current_price=price, vat_included=vat, warnings=warnings or [])


class PublicProduct(Value):
    """A product for the public: without its authors and scheduled prices."""

    id: str
    name: str
    description: str
    price: Money
    vat_included: Money
    currency: str
    features: list[str]
    billing_cycle: BillingCycle


def public_product(product: Product, now: datetime) -> PublicProduct:
    seen = product_view(product, now)
    return view_of(PublicProduct, seen, price=seen.current_price)


class NewCampaign(Body):
    code: str = Field(max_length=100)
    description: str
    discount_percentage: Money
    product_id: str
    also_product_ids: list[str] = Field(default_factory=list)
    terms_conditions_link: str
    from_date: Day
    to_date: Day
    redemption_limit: int | None = None
    per_tenant_limit: int | None = None


class CampaignChange(ServerSet):
    code: Any = None
    product_id: Any = None
    description: str = ""
    discount_percentage: Money = Decimal(0)
    also_product_ids: list[str] = Field(default_factory=list)
    terms_conditions_link: str = ""
    from_date: Day = date.min
    to_date: Day = date.max
    redemption_limit: int | None = None
    per_tenant_limit: int | None = None
    active: bool = True


class PublicCampaign(Value):
    """A campaign for the public (CP-37). Prices are null while its product is not for sale."""

    id: str
    code: str
    description: str
    discount_percentage: Money
    product_id: str
    also_product_ids: list[str] = Field(default_factory=list)
    terms_conditions_link: str
    from_date: date
    to_date: date
    product_name: str
    original_price: Money | None
    discounted_price: Money | None
    currency: str = "ZAR"
    is_valid: bool
    state: str


class CampaignView(Campaign):
    """A campaign for staff."""

    product_name: str
    original_price: Money | None
    discounted_price: Money | None
    is_valid: bool
    state: str
    redemptions: int
    warnings: list[str] = Field(default_factory=list)


def _of_offer(offer: Offer) -> dict[str, Any]:
    names = ("product_name", "original_price", "discounted_price", "is_valid", "state")
    return {name: getattr(offer, name) for name in names}


def public_campaign(offer: Offer) -> PublicCampaign:
    return view_of(PublicCampaign, offer.campaign, **_of_offer(offer))


def campaign_view(offer: Offer, warnings: list[str] | None = None) -> CampaignView:
    computed = _of_offer(offer)
    return view_of(CampaignView, offer.campaign, **computed, redemptions=offer.used, warnings=warnings or [])


# --- checkout ---


class CartLine(Body):
    product_id: str
    quantity: int = 1


class PreviewRequest(Body):
    items: list[CartLine]
    campaign_codes: list[str] = Field(default_factory=list, max_length=5)


class CheckoutRequest(PreviewRequest):
    """`agreedTotal` is the total the customer saw: the order is refused if it has changed."""

    email: str = Field(max_length=320)
    agreed_total: Money | None = None
    organization_name: str | None = Field(None, max_length=200)
    payment_token: str | None = Field(None, max_length=200)


class Placed(Value):
    """The response to a checkout: the same for a new and a known address."""

    tenant_id: str
    order_id: str
    order_number: str
    order_status: OrderStatus
    items: list[OrderItem]
    campaign_code: str | None = None
    currency: str
    subtotal: Money
    discount: Money
    tax: Money
    total: Money


def placed(order: Order) -> Placed:
    return view_of(Placed, order, campaign_code=order.campaign.code if order.campaign else None)


class Preview(Value):
    """The current price of a cart. `lesserCode` is a code that was sent and would save less than `campaignCode`."""

    items: list[OrderItem]
    campaign_code: str | None = None
    lesser_code: str | None = None
    subtotal: Money
    discount: Money
    tax: Money
    total: Money


def preview(priced: Priced) -> Preview:
    code = priced.campaign.code if priced.campaign else None
    return view_of(Preview, priced, items=list(priced.items), campaign_code=code, lesser_code=priced.beaten)


class Payment(Body):
    payment_token: str = Field(min_length=1, max_length=200)


class PaymentByHand(Body):
    """A payment that did not come through the gateway, such as a bank transfer."""

    reference: str = Field(min_length=3, max_length=100)
    reason: str = Field(min_length=3, max_length=500)


class Secret(Body):
    email: str = Field(max_length=320)
    code: str = Field(min_length=6, max_length=64)


class TypedSecret(Secret):
    known_device: str = Field("", max_length=200, description=KNOWN_DEVICE)
    ticket: str = Field("", max_length=200, description=TICKET)


class Confirmed(Value):
    """The login for a verified address: to register, or for the account if registered."""

    tenant_id: str
    status: Status
    token: str


class Proved(Confirmed):
    """With the token by which this device is recognised the next time it asks for a code."""

    known_device: str
