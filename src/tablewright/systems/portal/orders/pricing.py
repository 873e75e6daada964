"""The current price of a cart: prices, and the one campaign that saves the most.

Must hold: running campaigns apply whether or not their code was typed; discounts do not stack (CP-X9); the
price of a cart here is the price of an order placed at the same moment. A code that cannot be used is refused.
Elsewhere: which campaigns are running (rules.py), how an order is written (checkout.py).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from tablewright.edge.errors import NotFound, Refused
from tablewright.systems.portal import design as d
from tablewright.systems.portal import rules
from tablewright.systems.portal.errors import Unavailable
from tablewright.systems.portal.model import Campaign, OrderItem, Product
from tablewright.systems.portal.repository import Repository


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a cart."""

    product_id: str
    quantity: int = 1


@dataclass(frozen=True, slots=True)
class Priced:
    """A cart with its current prices. `beaten` is a typed code that would have saved less than `campaign`."""

    products: tuple[Product, ...]
    items: tuple[OrderItem, ...]
    campaign: Campaign | None
    beaten: str | None
    subtotal: Decimal
    discount: Decimal
    tax: Decimal
    total: Decimal


def check_cart(cart: Sequence[Line]) -> None:
    if not cart:
        raise Refused("CART", "The cart is empty. Add a plan.", "items")
    if len(cart) > rules.MAX_LINES:
        raise Refused("CART", f"A cart can have at most {rules.MAX_LINES} lines.", "items")
    if len({line.product_id for line in cart}) != len(cart):
        raise Refused("CART", "Each plan can be in the cart only once. Change its quantity instead.", "items")
    if any(not 1 <= line.quantity <= rules.MAX_QUANTITY for line in cart):
        words = f"You can order 1 to {rules.MAX_QUANTITY} of each plan at a time."
        raise Refused("QUANTITY", words, "items", {"most": rules.MAX_QUANTITY})


def price(
    repository: Repository, cart: Sequence[Line], codes: Sequence[str] = (), tenant_id: str | None = None
) -> Priced:
    """What a cart costs now, for one customer if `tenant_id` is given; raises the same errors as an order."""
    check_cart(cart)
    wanted = dict.fromkeys(rules.campaign_code(code, "campaignCodes") for code in codes)
    typed = [usable(repository, code, tenant_id) for code in wanted]
    lines = _products(repository, cart, typed)
    fitting = [campaign for campaign in typed if _helps(campaign, lines)]
    if typed and not fitting:
        raise Refused(
            "CAMPAIGN_OTHER_PRODUCT", "This code doesn't apply to the plans in your cart.", "campaignCodes"
        )
    now = repository.now()
    running = _running(repository, lines, tenant_id)
    best = best_campaign(lines, [*fitting, *(each for each in running if each.code not in wanted)], now)
    items = items_of(lines, best, now)
    if any(item.discounted_unit_price < rules.CENT for item in items):
        # Campaigns and prices are checked against each other when they change; two changes at once may slip through.
        raise Unavailable(
            "CAMPAIGN_UNAVAILABLE", "This offer would leave nothing to pay. Please order without it."
        )
    beaten = fitting[0].code if fitting and best not in fitting else None
    return Priced(tuple(product for product, _ in lines), items, best, beaten, *totals(items))


def _products(
    repository: Repository, cart: Sequence[Line], typed: Sequence[Campaign]
) -> list[tuple[Product, int]]:
    """The products of a cart, with how many of each."""
    found = repository.products_by_id([line.product_id for line in cart])
    lines = []
    for line in cart:
        product = found.get(line.product_id)
        if product is None or not rules.is_for_sale(product):
            if any(rules.covers(campaign, line.product_id) for campaign in typed):
                raise Unavailable("CAMPAIGN_UNAVAILABLE", "The plan of this offer is no longer for sale.")
            raise Refused(
                "PRODUCT_UNKNOWN",
                "This plan is not for sale.",
                "items",
                {"productId": line.product_id},
            )
        lines.append((product, line.quantity))
    return lines


def _helps(campaign: Campaign, lines: Sequence[tuple[Product, int]]) -> bool:
    return any(rules.covers(campaign, product.id) for product, _ in lines)


# --- campaigns ---


def usable(repository: Repository, code: str, tenant_id: str | None) -> Campaign:
    """The campaign of a typed code; raises if it is not running, is used up, or was used by this customer."""
    try:
        campaign = repository.campaign(code)
    except NotFound:
        raise NotFound("CAMPAIGN", f"There is no offer with the code {code}.", "campaignCodes") from None
    now = repository.now()
    if not rules.is_valid(campaign, now):
        raise Unavailable("CAMPAIGN_UNAVAILABLE", f"The code {code} is not valid today.")
    if rules.state_of(campaign, repository.used([code]).get(code, 0), now) == "EXHAUSTED":
        raise Unavailable("CAMPAIGN_EXHAUSTED", f"The offer {code} has been fully claimed.")
    if tenant_id is not None and is_spent(repository, campaign, tenant_id):
        raise Unavailable("CAMPAIGN_LIMIT", "You have already used this offer.")
    return campaign


def is_spent(repository: Repository, campaign: Campaign, tenant_id: str) -> bool:
    """Whether a customer has reached the campaign's limit per customer."""
    if campaign.per_tenant_limit is None:
        return False
    mine = repository.db.one(d.redemptions.get(tenant_id, campaign.code), consistent=True)
    return mine is not None and mine.count >= campaign.per_tenant_limit


def _running(
    repository: Repository, lines: Sequence[tuple[Product, int]], tenant_id: str | None
) -> list[Campaign]:
    """The running campaigns that reduce the price of this cart for this customer.

    The index may still list a campaign that was just switched off, so each is read again consistently.
    """
    now = repository.now()
    today = rules.local_day(now)
    query = d.campaigns_by_active(active=True, until=today).where(lambda campaign: campaign.to_date >= today)
    codes = [campaign.code for campaign in repository.db.all(query) if _helps(campaign, lines)]
    if not codes:
        return []
    used = repository.used(codes)
    found = repository.db.many([d.campaign_by_code(code) for code in codes], consistent=True)
    return [
        campaign
        for campaign in found
        if campaign is not None
        and _helps(campaign, lines)
        and rules.state_of(campaign, used.get(campaign.code, 0), now) == "RUNNING"
        and _takes_something_off(campaign, lines, repository)
        and not (tenant_id is not None and is_spent(repository, campaign, tenant_id))
    ]


def _takes_something_off(
    campaign: Campaign, lines: Sequence[tuple[Product, int]], repository: Repository
) -> bool:
    """Whether it saves money and leaves every line something to pay."""
    items = items_of(lines, campaign, repository.now())
    return totals(items)[1] > 0 and all(item.discounted_unit_price >= rules.CENT for item in items)


# --- arithmetic: pure ---


def items_of(
    cart: Sequence[tuple[Product, int]], campaign: Campaign | None, now: datetime
) -> tuple[OrderItem, ...]:
    """The lines of an order, each with the current price and the discounted one."""
    made = []
    for product, quantity in cart:
        price = rules.price_at(product, now)
        off = campaign is not None and rules.covers(campaign, product.id)
        final = (
            rules.discounted(price, campaign.discount_percentage) if off and campaign is not None else price
        )
        made.append(
            OrderItem(
                product_id=product.id,
                product_name=product.name,
                billing_cycle=product.billing_cycle,
                quantity=quantity,
                unit_price=price,
                discounted_unit_price=final,
                line_total=_line_total(price, quantity, campaign if off else None),
            )
        )
    return tuple(made)


def _line_total(price: Decimal, quantity: int, campaign: Campaign | None) -> Decimal:
    """Rounded once, for the whole line: 100 x half of R 99.99 is R 4 999.50, not 100 x R 50.00."""
    share = 100 - campaign.discount_percentage if campaign is not None else Decimal(100)
    return rules.cents(price * quantity * share / 100)


def totals(items: Iterable[OrderItem]) -> tuple[Decimal, Decimal, Decimal, Decimal]:
    """Subtotal, discount, the rules.VAT inside the total, and the total."""
    items = list(items)
    subtotal = rules.cents(sum((item.unit_price * item.quantity for item in items), Decimal(0)))
    total = rules.cents(sum((item.line_total for item in items), Decimal(0)))
    return subtotal, subtotal - total, rules.cents(total * rules.VAT / (100 + rules.VAT)), total


def best_campaign(
    cart: Sequence[tuple[Product, int]], campaigns: Sequence[Campaign], now: datetime
) -> Campaign | None:
    """Discounts do not stack: the one campaign that saves the most (CP-X9)."""
    helpful = [
        campaign for campaign in campaigns if any(rules.covers(campaign, product.id) for product, _ in cart)
    ]
    return max(helpful, key=lambda campaign: totals(items_of(cart, campaign, now))[1], default=None)
