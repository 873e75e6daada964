"""Checkout: a cart and an address become an order; a gateway's event pays it.

Must hold: an order is written only if, in the same transaction, its products are for sale at the version that was
priced, its campaign is on and has uses left, and its tenant is active, not suspended and still has the address. A
repetition with the same key gives the first order, whatever happened since, for as long as receipts are kept (30 days).
A replayed payment event changes nothing, however late: the order itself says that it was told.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from tablewright.design import Query, Write, absent
from tablewright.mapping import Page
from tablewright.systems.portal import design as d
from tablewright.systems.portal import rules
from tablewright.systems.portal.errors import (
    Changed,
    Conflict,
    Forbidden,
    NotThere,
    PortalMistake,
    RaceLost,
    Refused,
    Unavailable,
)
from tablewright.systems.portal.model import (
    Campaign,
    CampaignUsage,
    Order,
    OrderItem,
    OrderStatus,
    Product,
    Redemption,
    Tenant,
)
from tablewright.systems.portal.payments import EventKind, PaymentEvent, Payments
from tablewright.systems.portal.repository import SYSTEM, Actor, Repository
from tablewright.systems.portal.tenants import Tenants

_ATTEMPTS = 12
_OUTCOMES: dict[EventKind, OrderStatus] = {"paid": "PAID", "declined": "CANCELLED", "refunded": "REFUNDED"}


@dataclass(frozen=True, slots=True)
class Line:
    """What a customer puts into the cart."""

    product_id: str
    quantity: int = 1


@dataclass(frozen=True, slots=True)
class Priced:
    """What a cart costs at this moment, for somebody who only looks."""

    items: tuple[OrderItem, ...]
    campaign: Campaign | None
    subtotal: Decimal
    discount: Decimal
    tax: Decimal
    total: Decimal


@dataclass(frozen=True, slots=True)
class Quote:
    """A cart with its prices of this moment."""

    order: Order
    campaign: Campaign | None
    products: tuple[Product, ...]


class Checkout:
    """Orders, from cart to refund."""

    def __init__(self, repository: Repository, tenants: Tenants, payments: Payments) -> None:
        self._repository, self._tenants, self._payments = repository, tenants, payments

    # --- buying ---

    def place(
        self,
        email: str,
        cart: Sequence[Line],
        *,
        codes: Sequence[str] = (),
        organization_name: str | None = None,
        payment_token: str | None = None,
        key: str | None = None,
        agreed: Decimal | None = None,
    ) -> Order:
        """Place an order; with `key`, the same one however often it is asked for.

        `agreed` is the total the customer saw: TOTAL_CHANGED, and no order, if it is another one by now.
        """
        address = rules.email_address(email)
        self._check_cart(cart)
        # A receipt outlives an erasure, so it must not say whose it is.
        once = f"checkout:{_digest(address, key)}" if key else None
        asked = _digest(*(f"{line.product_id} {line.quantity}" for line in cart), "codes", *codes)
        order = self._earlier(once, asked)
        if order is None:
            try:
                order = self._placed(address, cart, codes, organization_name, once, asked, agreed)
            except PortalMistake:
                # The same request may have been served meanwhile, and have used up what this one lacks.
                order = self._earlier(once, asked)
                if order is None:
                    raise
        return self._pay(order, payment_token) if payment_token else order

    def _earlier(self, once: str | None, asked: str) -> Order | None:
        """The order this key made before. Looked for first: its campaign may have ended, or be used up by it."""
        done = self._repository.db.done(once, d.PORTAL) if once else None
        return self._same(done.result, asked) if done is not None else None

    def _same(self, kept: dict[str, str], asked: str) -> Order:
        if kept["asked"] != asked:
            words = "This key was used for another cart. Take a new key for a new order."
            raise Refused("IDEMPOTENCY_KEY_REUSED", words, "Idempotency-Key")
        return self._repository.order(kept["orderId"])

    def _placed(
        self, address: str, cart: Sequence[Line], codes: Sequence[str], organization_name: str | None,
        once: str | None, asked: str, agreed: Decimal | None,
    ) -> Order:  # fmt: skip
        # Prices are looked at before a tenant is made: a cart that cannot be sold leaves nothing behind.
        _check_agreed(self.priced(cart, codes).total, agreed)
        for _ in range(_ATTEMPTS):
            tenant = self._tenants.at_checkout(address, organization_name)
            quote = self._quote(tenant, cart, codes)
            _check_agreed(quote.order.total, agreed)
            try:
                earlier = self._write(tenant, quote, once, asked)
            except Conflict:
                self._explain(tenant.id, quote)
                continue  # a price, the campaign or the account changed between our look and our write: look again
            return quote.order if earlier is None else self._same(earlier, asked)
        raise Conflict("STATUS_CONFLICT", "Prices are changing right now. Try again in a moment.")

    def priced(self, cart: Sequence[Line], codes: Sequence[str] = ()) -> Priced:
        """What a cart would cost now; nothing is written. Refused in the same words as an order would be."""
        self._check_cart(cart)
        products, campaign = self._priced(cart, codes)
        items = rules.lines(products, campaign, self._repository.now())
        return Priced(items, campaign, *rules.totals(items))

    def _check_cart(self, cart: Sequence[Line]) -> None:
        if not 1 <= len(cart) <= rules.MAX_LINES:
            raise Refused("CART", f"A cart has 1 to {rules.MAX_LINES} lines.", "items")
        if len({line.product_id for line in cart}) != len(cart):
            raise Refused("CART", "A product stands in the cart once, with its quantity.", "items")
        if any(not 1 <= line.quantity <= rules.MAX_QUANTITY for line in cart):
            raise Refused("QUANTITY", f"A quantity is 1 to {rules.MAX_QUANTITY}.", "items")

    def _priced(
        self, cart: Sequence[Line], codes: Sequence[str]
    ) -> tuple[list[tuple[Product, int]], Campaign | None]:
        """The products of a cart and the one campaign that helps most."""
        found = self._repository.products_by_id([line.product_id for line in cart])
        wanted = dict.fromkeys(rules.campaign_code(code, "campaignCodes") for code in codes)
        campaigns = [self._usable(code) for code in wanted]
        priced = []
        for line in cart:
            product = found.get(line.product_id)
            if product is None or not rules.is_for_sale(product):
                if any(rules.covers(campaign, line.product_id) for campaign in campaigns):
                    raise Unavailable(
                        "CAMPAIGN_UNAVAILABLE", "The product of this campaign is no longer for sale."
                    )
                raise Refused(
                    "PRODUCT_UNKNOWN",
                    "There is no such product for sale.",
                    "items",
                    {"productId": line.product_id},
                )
            priced.append((product, line.quantity))
        best = rules.best(priced, campaigns, self._repository.now())
        if campaigns and best is None:
            raise Refused("CAMPAIGN_OTHER_PRODUCT", "This campaign is for other products.", "campaignCodes")
        # Campaigns and prices are checked against each other when they change; two changes at once may still meet here.
        if any(
            item.discounted_unit_price < rules.CENT
            for item in rules.lines(priced, best, self._repository.now())
        ):
            raise Unavailable(
                "CAMPAIGN_UNAVAILABLE", "This campaign leaves nothing to pay. Please order without it."
            )
        return priced, best

    def _usable(self, code: str) -> Campaign:
        try:
            campaign = self._repository.campaign(code)
        except NotThere:
            raise NotThere("CAMPAIGN", f"There is no campaign {code}.", "campaignCodes") from None
        now = self._repository.now()
        if not rules.is_valid(campaign, now):
            raise Unavailable("CAMPAIGN_UNAVAILABLE", f"The campaign {code} is not on today.")
        if rules.state_of(campaign, self._repository.used([code]).get(code, 0), now) == "EXHAUSTED":
            raise Unavailable("CAMPAIGN_EXHAUSTED", f"The campaign {code} is used up.")
        return campaign

    def _quote(self, tenant: Tenant, cart: Sequence[Line], codes: Sequence[str]) -> Quote:
        priced, campaign = self._priced(cart, codes)
        now = self._repository.now()
        items = rules.lines(priced, campaign, now)
        subtotal, discount, tax, total = rules.totals(items)
        order_id = self._repository.new_order_id(now)
        order = Order(
            tenant_id=tenant.id,
            order_id=order_id,
            order_number=rules.order_number(now, order_id),
            placed_at=now,
            items=list(items),
            campaign=rules.snapshot(campaign, now) if campaign else None,
            subtotal=subtotal,
            discount=discount,
            tax=tax,
            total=total,
        )
        return Quote(order, campaign, tuple(product for product, _ in priced))

    def _write(self, tenant: Tenant, quote: Quote, once: str | None, asked: str) -> Any:
        order = quote.order
        writes: list[Write[Any]] = [
            d.orders.create(order),
            self._repository.still_at(tenant).when(lambda t: (t.status != "SUSPENDED") & (t.active == True)),  # noqa: E712  # noted
            *(self._product_check(product) for product in quote.products),
            *self._redeem(tenant.id, quote.campaign),
            self._repository.mail(
                tenant.email, f"Your order {order.order_number}", rules.summary(order), tenant.id
            ),
        ]
        result = {"orderId": order.order_id, "tenantId": tenant.id, "asked": asked}
        return self._repository.write("ORDER", *writes, once=once, result=result)

    def _product_check(self, product: Product) -> Write[Any]:
        """Still the product that was priced: for sale, and at this price."""
        version = product.version
        return d.products.check(product.id).when(lambda p: p.version == version)

    def _redeem(self, tenant_id: str, campaign: Campaign | None) -> list[Write[Any]]:
        """Count a use, if there is one left: for all, and for this tenant."""
        if campaign is None:
            return []
        version, limit, each = campaign.version, campaign.redemption_limit, campaign.per_tenant_limit
        used = d.campaign_usage.upsert(CampaignUsage(code=campaign.code)).at(lambda usage: usage.count).add(1)
        if limit is not None:
            used = used.when(lambda usage: absent(usage.count) | (usage.count < limit))
        mine = (
            d.redemptions.upsert(Redemption(tenant_id=tenant_id, code=campaign.code))
            .at(lambda r: r.count)
            .add(1)
        )
        if each is not None:
            mine = mine.when(lambda r: absent(r.count) | (r.count < each))
        return [d.campaigns.check(campaign.code).when(lambda c: c.version == version), used, mine]

    def _explain(self, tenant_id: str, quote: Quote) -> None:
        """Raise if the refusal is final; return if another look may help. Of the tenant, at_checkout tells."""
        if quote.campaign is None:
            return
        campaign = quote.campaign
        if campaign.per_tenant_limit is not None:
            mine = self._repository.db.one(d.redemptions.get(tenant_id, campaign.code), consistent=True)
            if mine is not None and mine.count >= campaign.per_tenant_limit:
                raise Unavailable("CAMPAIGN_LIMIT", "You have used this campaign as often as it allows.")
        self._usable(campaign.code)

    # --- paying ---

    def _pay(self, order: Order, token: str) -> Order:
        if order.order_status != "PENDING":
            return order
        event = self._payments.authorise(order.order_id, order.total, order.currency, token)
        return self.paid(event)

    def paid(self, event: PaymentEvent) -> Order:
        """A gateway's event. Told again, even a year later, it changes nothing."""
        order = self._repository.order(event.order_id)
        if _was_told(order, event):
            return order
        if event.kind != "declined" and event.amount != order.total:
            raise Refused("AMOUNT_DIFFERS", "The amount is not the order's total.", "amount")
        try:
            return self._moved(order, _OUTCOMES[event.kind], SYSTEM, event)
        except Conflict:
            order = self._repository.order(event.order_id)
            if event.kind != "paid" or order.order_status != "CANCELLED":
                raise
            return self._given_back(order, event)

    def _given_back(self, order: Order, event: PaymentEvent) -> Order:
        """Money for an order that was cancelled meanwhile goes back; told again, it has gone back already."""
        self._payments.refund(order.order_id, event.reference, event.amount)
        tenant = self._repository.tenant(order.tenant_id)
        amount = rules.rand(event.amount)
        words = f"Order {order.order_number} was cancelled before its payment came; {amount} goes back."
        writes: list[Write[Any]] = [
            self._repository.audit("tenants", tenant.id, "payment given back", SYSTEM, None, None, words)
        ]
        if tenant.erased_at is None:
            writes.append(self._repository.mail(tenant.email, "Your payment goes back", words, tenant.id))
        self._repository.write("ORDER", *writes, once=f"given-back:{event.event_id}")
        return order

    def _moved(self, order: Order, target: OrderStatus, actor: Actor, event: PaymentEvent | None) -> Order:
        """The order in its new status: as it was read, or, after a race, as it is then."""
        for _ in range(_ATTEMPTS):
            try:
                return self._move(order, target, actor, event)
            except (Changed, RaceLost):
                order = self._repository.order(order.order_id)
                if event is not None and _was_told(order, event):
                    return order
        raise Conflict("STATUS_CONFLICT", "This order is being changed. Try again in a moment.")

    def _move(self, order: Order, target: OrderStatus, actor: Actor, event: PaymentEvent | None) -> Order:
        now = self._repository.now()
        changes: dict[str, Any] = {"order_status": target}
        if event is not None:
            changes["payment_reference"] = event.reference
        if target == "PAID":
            changes["paid_at"] = now
        allowed = d.ORDER_STATES.moves.get(order.order_status, {}).get(target, ())
        if actor.role not in allowed:
            words = f"An order that is {order.order_status} cannot become {target}."
            if order.order_status == target:
                words = f"This order is {target} already."
            raise Conflict(
                "STATUS_CONFLICT",
                words,
                facts={"from": order.order_status, "to": target},
            )
        move = d.orders.move(order, order.model_copy(update=changes), by=actor.role)
        tenant = self._repository.tenant(order.tenant_id)
        if tenant.erased_at is not None and actor.role == "user":
            # A login may outlive its person; what it does must not bring their name back.
            raise Forbidden("TENANT_CLOSED", "This account was closed.")
        words = {"PAID": "is paid", "CANCELLED": "was cancelled", "REFUNDED": "was refunded"}[target]
        writes: list[Write[Any]] = [
            move,
            self._repository.audit("tenants", tenant.id, f"order {words}", actor, order, move.item),
            # No mail to an address that was erased or given up in this very moment.
            self._repository.still_at(tenant),
        ]
        if tenant.erased_at is None:
            writes.append(
                self._repository.mail(
                    tenant.email,
                    f"Your order {order.order_number} {words}",
                    f"Order {order.order_number} over {rules.rand(order.total)} {words}.",
                    tenant.id,
                )
            )
        if target in ("CANCELLED", "REFUNDED") and order.campaign is not None:
            writes += self._release(order.tenant_id, order.campaign.code)
        self._repository.write("ORDER", *writes)
        assert move.item is not None
        return move.item

    def _release(self, tenant_id: str, code: str) -> list[Write[Any]]:
        """A use that came to nothing is free again."""
        return [
            d.campaign_usage.update(code).at(lambda usage: usage.count).add(-1).when(lambda u: u.count > 0),
            d.redemptions.update(tenant_id, code).at(lambda r: r.count).add(-1).when(lambda r: r.count > 0),
        ]

    def cancel(self, order_id: str, actor: Actor) -> Order:
        return self._moved(self._repository.order(order_id), "CANCELLED", actor, None)

    def refund(self, order_id: str, actor: Actor) -> Order:
        order = self._repository.order(order_id)
        if order.order_status != "PAID" or order.payment_reference is None:
            raise Conflict("STATUS_CONFLICT", "Only a paid order can be refunded.")
        event = self._payments.refund(order_id, order.payment_reference, order.total)
        return self._moved(order, "REFUNDED", actor, event)

    # --- looking ---

    def order(self, order_id: str) -> Order:
        return self._repository.order(order_id)

    def page(
        self,
        reader: Actor,
        status: OrderStatus,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        size: int | None = None,
        after: str | None = None,
    ) -> Page[Order]:
        query = self.listed(status, since=since, until=until)
        return self._repository.page(query, size, after, reader.subject)

    def listed(
        self, status: OrderStatus, *, since: datetime | None = None, until: datetime | None = None
    ) -> Query[Order]:
        """The list as a request, to be read in either direction."""
        return d.orders_by_status(status=status, since=since, until=until)

    def by_number(self, number: str) -> Order | None:
        """An order by the number people read out: it names the day, so the orders of that day are looked through."""
        day = rules.day_of_order(number)
        if day is None:
            return None
        since, until = rules.day_bounds(day)
        for status in d.ORDER_STATES.states:
            for order in self._repository.db.all(self.listed(status, since=since, until=until)):  # type: ignore[arg-type]  # states are checked against the Literal by K015
                if order.order_number == number.strip().upper():
                    return order
        return None


def _was_told(order: Order, event: PaymentEvent) -> bool:
    """Whether the order has had this event already; a payment also when it was given back since."""
    if event.kind == "paid" and order.paid_at is not None:
        return order.payment_reference == event.reference
    return order.order_status == _OUTCOMES[event.kind]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _check_agreed(total: Decimal, agreed: Decimal | None) -> None:
    if agreed is not None and (not agreed.is_finite() or total != agreed):
        raise Conflict(
            "TOTAL_CHANGED",
            "The total is another one now. Look at it once more, then place the order.",
            facts={"agreed": str(agreed), "total": str(total)},
        )
