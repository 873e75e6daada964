"""Checkout: a cart and an address become an order.

Must hold: an order is written only if, in the same transaction, its products are for sale at the version that was
priced, its campaign is running and has uses left, and its tenant still has the address. A repetition with the same key
returns the first order for as long as receipts are kept (30 days), whatever happened since.
A guest, who is not signed in as the tenant of the address, learns nothing about that tenant: the order for a suspended
tenant, or for one who has already used the offer, looks like any other and is on hold. So a guest's order with an offer
limited per customer stays unpaid until the address is verified, and an order on hold is never charged.
Elsewhere: prices of a cart (pricing.py), payment and other moves of an order (orders.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tablewright.design import Write, absent
from tablewright.edge.errors import CallerError, Conflict, Refused
from tablewright.kit.tables import OnceRequest, digest
from tablewright.systems.portal import design as d
from tablewright.systems.portal import rules
from tablewright.systems.portal.customers.tenants import Tenants
from tablewright.systems.portal.errors import RaceLost
from tablewright.systems.portal.model import Campaign, CampaignUsage, Order, Product, Redemption, Tenant
from tablewright.systems.portal.orders import order_mails
from tablewright.systems.portal.orders.guest_limits import GuestLimits
from tablewright.systems.portal.orders.orders import Orders
from tablewright.systems.portal.orders.pricing import Line, Priced, check_cart, is_spent, price, usable
from tablewright.systems.portal.repository import Repository

__all__ = ["Checkout", "Line", "Priced"]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A checkout request; `buyer` is the signed-in owner of the address."""

    address: str
    cart: Sequence[Line]
    codes: Sequence[str]
    organization_name: str | None
    pays_now: bool
    agreed: Decimal | None
    buyer: Tenant | None
    once: OnceRequest


class Checkout:
    """Places orders."""

    def __init__(self, repository: Repository, tenants: Tenants, orders: Orders, limits: GuestLimits) -> None:
        self._repository, self._tenants, self._orders, self._limits = repository, tenants, orders, limits

    def priced(self, cart: Sequence[Line], codes: Sequence[str] = (), buyer: str | None = None) -> Priced:
        """What a cart would cost now; nothing is written. Raises the same errors as placing the order."""
        return price(self._repository, cart, codes, buyer)

    def check_code(self, code: str, buyer: str | None = None) -> None:
        """Raise unless a typed code can be used by this buyer, whatever is in the cart."""
        usable(self._repository, rules.campaign_code(code, "campaignCodes"), buyer)

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
        buyer: str | None = None,
    ) -> Order:
        """Place an order; with `key`, repetitions return the same order.

        `agreed` is the total the customer saw: TOTAL_CHANGED, and no order, if it differs by now. `buyer` is the
        signed-in tenant, who is a guest for any address but their own.
        """
        address = rules.email_address(email)
        check_cart(cart)
        asked = _Asked(
            address, cart, codes, organization_name, bool(payment_token), agreed, self._owner(buyer, address),
            OnceRequest(
                f"checkout:{digest(address, key)}" if key else None,
                digest(*(f"{line.product_id} {line.quantity}" for line in cart), "codes", *codes),
                "This key was already used for a different cart. Use a new key for a new order.",
            ),
        )  # fmt: skip
        order = self._earlier(asked)
        if order is None:
            try:
                order = self._placed(asked)
            except CallerError:
                # The same request may have succeeded in parallel and have taken the last use of the campaign.
                order = self._earlier(asked)
                if order is None:
                    raise
        if payment_token and not rules.must_verify(order):
            return self._orders.pay_at_once(order, payment_token)
        return order

    def _owner(self, buyer: str | None, address: str) -> Tenant | None:
        """The signed-in tenant, if the order is for their own address."""
        tenant = self._repository.tenant(buyer) if buyer is not None else None
        return tenant if tenant is not None and tenant.email == address else None

    def buyer_at(self, buyer: str | None, email: str) -> str | None:
        """The buyer of an order for this address: the signed-in tenant, or None for a guest."""
        try:
            owner = self._owner(buyer, rules.email_address(email))
        except Refused:
            return None
        return owner.id if owner is not None else None

    def _earlier(self, asked: _Asked) -> Order | None:
        """The order already placed with this key. Read first: its campaign may have ended or be used up by it."""
        kept = self._repository.earlier(asked.once)
        return self._repository.order(kept["orderId"]) if kept is not None else None

    def _placed(self, asked: _Asked) -> Order:
        # Prices are checked before a tenant is created: a cart that cannot be sold leaves nothing behind.
        owner = asked.buyer
        _check_agreed(self.priced(asked.cart, asked.codes, owner.id if owner else None).total, asked.agreed)
        mailed = owner is not None or self._limits.count(asked.address)

        def attempt() -> Order:
            tenant = self._tenants.at_checkout(asked.address, asked.organization_name, is_guest=owner is None)
            priced = self.priced(asked.cart, asked.codes, tenant.id if owner is not None else None)
            _check_agreed(priced.total, asked.agreed)
            order = self._order(tenant, priced, is_guest=owner is None, mailed=mailed)
            earlier = self._write(tenant, order, priced, asked)
            return order if earlier is None else self._repository.order(earlier["orderId"])

        # A price, the campaign or the account changed between read and write.
        busy = Conflict("STATUS_CONFLICT", "Prices are changing right now. Try again in a moment.")
        return self._repository.retried(None, attempt, on=RaceLost, busy=busy)

    def _order(self, tenant: Tenant, priced: Priced, *, is_guest: bool, mailed: bool) -> Order:
        now = self._repository.now()
        order_id = self._repository.new_order_id(now)
        campaign = priced.campaign
        return Order(
            tenant_id=tenant.id,
            order_id=order_id,
            order_number=rules.order_number(now, order_id),
            placed_at=now,
            items=list(priced.items),
            campaign=rules.snapshot(campaign, now) if campaign else None,
            subtotal=priced.subtotal,
            discount=priced.discount,
            tax=priced.tax,
            total=priced.total,
            guest=is_guest,
            mailed=mailed,
            over_limit=is_guest and campaign is not None and is_spent(self._repository, campaign, tenant.id),
        )

    def _write(self, tenant: Tenant, order: Order, priced: Priced, asked: _Asked) -> Mapping[str, str] | None:
        writes: list[Write[Any]] = [
            d.orders.create(order),
            self._as_it_was(tenant),
            *(self._product_check(product) for product in priced.products),
            *self._redeem(order, priced.campaign),
        ]
        if order.mailed:
            why = rules.hold_of(order, tenant)
            link = self._orders.link(order)
            pays_now = asked.pays_now and not rules.must_verify(order)
            if order.over_limit and tenant.status != "SUSPENDED":
                template, values = order_mails.order_over_limit(order, link)
            elif why:
                template, values = order_mails.order_on_hold(order, why)
            else:
                template, values = order_mails.order_placed(order, link, pays_now=pays_now)
            writes.append(self._repository.outbox.mail(tenant.email, template, values, tenant.id))
        with self._repository.translated("ORDER"):
            return self._repository.write_once(
                asked.once, *writes, orderId=order.order_id, tenantId=tenant.id
            )

    def _as_it_was(self, tenant: Tenant) -> Write[Any]:
        """The condition that the tenant still has the address and the status that this order depends on."""
        same = self._repository.still_at(tenant)
        if tenant.status == "SUSPENDED":
            return same.when(lambda t: t.status == "SUSPENDED")
        return same.when(lambda t: (t.status != "SUSPENDED") & (t.active == True))  # noqa: E712  # noted

    def _product_check(self, product: Product) -> Write[Any]:
        """Still the product that was priced: for sale, and at this price."""
        version = product.version
        return d.products.check(product.id).when(lambda p: p.version == version)

    def _redeem(self, order: Order, campaign: Campaign | None) -> list[Write[Any]]:
        """Count a use of the campaign, in total and for this tenant, if there is one left."""
        if campaign is None:
            return []
        version, limit = campaign.version, campaign.redemption_limit
        used = d.campaign_usage.upsert(CampaignUsage(code=campaign.code)).at(lambda usage: usage.count).add(1)
        if limit is not None:
            used = used.when(lambda usage: absent(usage.count) | (usage.count < limit))
        same = d.campaigns.check(campaign.code).when(lambda c: c.version == version)
        return [same, used, self._redeem_once(order, campaign)]

    def _redeem_once(self, order: Order, campaign: Campaign) -> Write[Any]:
        """This tenant's use. A use over the limit is not counted, but must still be over the limit when written."""
        each = campaign.per_tenant_limit
        if each is not None and order.over_limit:
            return d.redemptions.check(order.tenant_id, campaign.code).when(lambda r: r.count >= each)
        start = Redemption(tenant_id=order.tenant_id, code=campaign.code)
        mine = d.redemptions.upsert(start).at(lambda r: r.count).add(1)
        return mine if each is None else mine.when(lambda r: absent(r.count) | (r.count < each))


def _check_agreed(total: Decimal, agreed: Decimal | None) -> None:
    if agreed is not None and (not agreed.is_finite() or total != agreed):
        raise Conflict(
            "TOTAL_CHANGED",
            "The total has changed. Please check it and place the order again.",
            facts={"agreed": str(agreed), "total": str(total)},
        )
