"""The portal's rules: pure functions over values. No clock, no store.

Money is Decimal, rounded half up to cents, in ZAR; prices include VAT. Campaign dates are local dates of the
business zone (Africa/Johannesburg). Elsewhere: the price of a cart
(orders/pricing.py), the rules for single fields (field_rules.py).
"""

import os
import re
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from tablewright.edge.errors import Forbidden, Refused
from tablewright.edge.mail_addresses import NotAnAddress, normalise_address
from tablewright.english import money, plain
from tablewright.kit.audit import differences
from tablewright.systems.portal.design import ORDER_STATES, OVERRIDE, TENANT_STATES
from tablewright.systems.portal.model import (
    NOISE,
    Campaign,
    CampaignSnapshot,
    Order,
    OrderStatus,
    Product,
    Status,
    Tenant,
)

# Where the business is: its days decide when a campaign begins and ends.
ZONE = ZoneInfo(os.environ.get("TABLEWRIGHT_PORTAL_ZONE", "Africa/Johannesburg"))
CENT = Decimal("0.01")
PERCENT_STEP = Decimal("0.0001")
VAT = Decimal("15")
UNAVAILABLE = "[Product Unavailable]"
MAX_QUANTITY, MAX_LINES = 100, 20
# How long an order waits for its payment, and holds its use of a campaign.
PAY_WITHIN = timedelta(hours=24)
# CP-74: the indexes carry whole records, and each begun kilobyte is a unit more on every one of them.
RECORD_BYTES = 1024
SCHEDULE = "system:schedule"
CLOSED = "This account was deleted. To reopen it, place an order with the same address or contact support."
_NUMBER = re.compile(r"BB-(\d{8})-[0-9A-F]{8}")
_CODE = re.compile(r"[A-Z0-9_]{3,32}")
_ID = re.compile(r"[a-z]+_[0-9A-Za-z-]{4,64}")
# The domain of erased tenants' addresses, which does not exist (RFC 6761). It is refused at checkout and in searches.
ERASED_DOMAIN = "erased.invalid"


def cents(amount: Decimal) -> Decimal:
    """An amount as it is charged: two decimal places, rounded half up."""
    return amount.quantize(CENT, ROUND_HALF_UP)


def rand(amount: Decimal) -> str:
    """`R 1 299.99`, in mails and messages."""
    return plain(money(amount, "ZAR"))


# --- addresses and codes ---


def email_address(given: str, field: str = "email") -> str:
    """One spelling of an address; INVALID_EMAIL if it is not an address."""
    try:
        found = normalise_address(given)
        if found.endswith(f"@{ERASED_DOMAIN}"):
            raise NotAnAddress
    except NotAnAddress:
        words = f"{field} is not valid. Enter an address such as you@company.co.za."
        raise Refused("INVALID_EMAIL", words, field) from None
    return found


def is_id(text: str, prefix: str) -> bool:
    """Whether this can be an id at all: a prefix and its letters (CP-D13)."""
    return text.startswith(f"{prefix}_") and _ID.fullmatch(text) is not None


def campaign_code(given: str, field: str = "code") -> str:
    """Upper case; CODE_FORMAT unless it is 3 to 32 letters, digits or underscores."""
    text = given.strip().upper()
    if _CODE.fullmatch(text) is None:
        words = f"{field} must have 3 to 32 letters A-Z, digits or underscores, and no spaces."
        raise Refused("CODE_FORMAT", words, field)
    return text


def code_warnings(code: str) -> list[str]:
    """Advice about a code that is allowed but awkward."""
    return [] if 6 <= len(code) <= 20 else ["Codes of 6 to 20 characters are easier to type and print."]


# --- prices ---


def price_at(product: Product, now: datetime) -> Decimal:
    """What the product costs now: a scheduled price applies from its start."""
    if (
        product.next_price is not None
        and product.next_price_from is not None
        and product.next_price_from <= now
    ):
        return product.next_price
    return product.price


def settled(product: Product, now: datetime) -> Product:
    """The product with its scheduled price as the price, once that has started."""
    since = product.next_price_from
    if since is None or since > now:
        return product
    return product.model_copy(
        update={
            "price": price_at(product, now),
            "next_price": None,
            "next_price_from": None,
            # The next change is later than this, so each price has its own key in the history.
            "date_last_updated": max(product.date_last_updated, since),
        }
    )


def without_begun(changes: dict[str, Any], stored: Product, now: datetime) -> dict[str, Any]:
    """The changes without a scheduled price that was sent back as stored and has started since.

    It is the current price by now, so an old price that was sent back with it does not count as a change either.
    """
    since = stored.next_price_from
    sent = {name: changes.get(name) for name in ("next_price", "next_price_from")}
    if since is None or since > now or sent != {"next_price": stored.next_price, "next_price_from": since}:
        return changes
    begun = {*sent, *(("price",) if changes.get("price") == stored.price else ())}
    return {name: value for name, value in changes.items() if name not in begun}


def is_for_sale(product: Product | None) -> bool:
    return product is not None and product.active and not product.draft


# --- campaigns ---


def check_discounted(percentage: Decimal, price: Decimal) -> None:
    """A discounted price must still be a price (CP-D23)."""
    if discounted(price, percentage) < CENT:
        words = f"discountPercentage is too high: {percentage:f} % off {rand(price)} leaves less than {rand(CENT)}."
        raise Refused("DISCOUNT_RANGE", words, "discountPercentage")


def discounted(price: Decimal, percentage: Decimal) -> Decimal:
    return cents(price * (100 - percentage) / 100)


def local_day(now: datetime) -> date:
    """Today, where the business is."""
    return now.astimezone(ZONE).date()


def is_valid(campaign: Campaign, now: datetime) -> bool:
    """Active, and today is one of its days."""
    return campaign.active and campaign.from_date <= local_day(now) <= campaign.to_date


def state_of(campaign: Campaign, used: int, now: datetime) -> str:
    """OFF, EXHAUSTED, SCHEDULED, RUNNING or ENDED."""
    if not campaign.active:
        return "OFF"
    if campaign.redemption_limit is not None and used >= campaign.redemption_limit:
        return "EXHAUSTED"
    today = local_day(now)
    if today < campaign.from_date:
        return "SCHEDULED"
    return "RUNNING" if today <= campaign.to_date else "ENDED"


def covers(campaign: Campaign, product_id: str) -> bool:
    return product_id == campaign.product_id or product_id in campaign.also_product_ids


def snapshot(campaign: Campaign, now: datetime) -> CampaignSnapshot:
    return CampaignSnapshot(
        id=campaign.id,
        code=campaign.code,
        description=campaign.description,
        discount_percentage=campaign.discount_percentage,
        product_id=campaign.product_id,
        terms_conditions_link=campaign.terms_conditions_link,
        from_date=campaign.from_date,
        to_date=campaign.to_date,
        valid_at_order_time=now,
        per_tenant_limit=campaign.per_tenant_limit,
    )


# --- orders ---


def order_number(placed: datetime, order_id: str) -> str:
    """A number people can read out: the day, and eight characters of the id."""
    return f"BB-{placed.astimezone(ZONE):%Y%m%d}-{order_id.replace('-', '')[-8:].upper()}"


def day_of_order(number: str) -> date | None:
    """The local day in an order's number; None if this is not an order number."""
    found = _NUMBER.fullmatch(number.strip().upper())
    try:
        return datetime.strptime(found[1], "%Y%m%d").date() if found else None
    except ValueError:
        return None


def day_bounds(day: date) -> tuple[datetime, datetime]:
    """The first and the last moment of a local day."""
    start = datetime.combine(day, time(), ZONE)
    return start, start + timedelta(days=1) - timedelta(milliseconds=1)


def pay_until(order: Order) -> datetime:
    """When an unpaid order expires."""
    return order.placed_at + PAY_WITHIN


def is_claimed(order: Order, tenant: Tenant) -> bool:
    """Whether the tenant may see an order: placed while signed in, or the address was verified after it."""
    verified = tenant.address_verified_at
    return not order.guest or (verified is not None and order.placed_at <= verified)


def must_verify(order: Order) -> bool:
    """True if only the verified owner of the address may pay: a guest's order with an offer limited per customer.

    Only the owner may learn whether the offer was used before, and no money is taken before that.
    """
    return order.guest and order.campaign is not None and order.campaign.per_tenant_limit is not None


def hold_of(order: Order, tenant: Tenant) -> str | None:
    """Why an order must not be delivered yet; None if it may be."""
    if tenant.status == "SUSPENDED":
        return "This account is suspended."
    return "This offer was already used by the same customer." if order.over_limit else None


def summary(order: Order) -> str:
    """The order in a mail."""
    rows = [f"{item.quantity} x {item.product_name}: {rand(item.line_total)}" for item in order.items]
    return "\n".join((*rows, f"VAT included: {rand(order.tax)}", f"Total: {rand(order.total)}"))


# --- tenants ---


def moved(tenant: Tenant, status: Status, actor: str, reason: str | None) -> Tenant:
    """The tenant in its new status (CP-21, CP-D5); INVALID_TRANSITION or ADMIN_ONLY if this actor may not."""
    allowed = TENANT_STATES.moves.get(tenant.status, {}).get(status, ())
    facts = {"from": tenant.status, "to": status}
    if tenant.status == status:
        raise Refused("INVALID_TRANSITION", f"The status is already {status}.", "status", facts)
    if actor != OVERRIDE and actor not in allowed:
        if actor == "support" and "admin" in allowed:
            raise Forbidden(
                "ADMIN_ONLY", f"Only an admin can change the status from {tenant.status} to {status}."
            )
        words = f"The status cannot change from {tenant.status} to {status}."
        if actor == "admin":
            words += " An admin can force it with override, which is recorded."
        raise Refused("INVALID_TRANSITION", words, "status", facts)
    if status == "SUSPENDED":
        return tenant.model_copy(
            update={"status": status, "previous_status": tenant.status, "suspension_reason": reason}
        )
    return tenant.model_copy(update={"status": status, "previous_status": None, "suspension_reason": None})


def moves_open_to(tenant: Tenant, actor: str) -> tuple[Status, ...]:
    """The statuses this actor may set; the one before a suspension comes first."""
    if tenant.erased_at is not None:
        return ()
    moves = TENANT_STATES.moves.get(tenant.status, {})
    found: list[Status] = [status for status, actors in moves.items() if actor in actors]  # type: ignore[misc]  # states are checked against the Literal by K015
    return tuple(sorted(found, key=lambda status: status != tenant.previous_status))


def order_moves_open_to(order: Order, actor: str) -> tuple[OrderStatus, ...]:
    """The statuses this actor may set for an order."""
    moves = ORDER_STATES.moves.get(order.order_status, {})
    return tuple(status for status, actors in moves.items() if actor in actors)  # type: ignore[misc]  # as above


def check_open(tenant: Tenant) -> None:
    """Raise if the account is suspended or deleted."""
    if tenant.status == "SUSPENDED":
        raise Forbidden("TENANT_SUSPENDED", "This account is suspended. Please contact support.")
    if not tenant.active:
        raise Forbidden("TENANT_CLOSED", CLOSED)


def check_size(size: int, noun: str) -> None:
    """Raise if a record is larger than its indexes were designed for (CP-74)."""
    if size > RECORD_BYTES:
        raise Refused(
            "RECORD_SIZE",
            f"This {noun} is too large: {size} bytes; the limit is {RECORD_BYTES}. Shorten its longest text.",
            facts={"bytes": size, "most": RECORD_BYTES},
        )


def is_business(tenant: Tenant) -> bool:
    return bool(tenant.organization_name)


def is_same(before: BaseModel, after: BaseModel) -> bool:
    """Whether nothing changed but the version and the author: then there is nothing to write."""
    return differences(before, after, NOISE) == ({}, {})
