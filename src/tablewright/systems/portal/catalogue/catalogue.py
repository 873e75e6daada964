"""Products and campaigns: plans, their prices and discounts.

Must hold: a campaign is written in one transaction with the check that its products are for sale; a price never
changes without its entry in the history; computed values (names, prices, validity) are never stored.
"""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from tablewright.design import Write, normalised
from tablewright.edge.errors import Refused
from tablewright.kit.tables import Actor
from tablewright.mapping import Page
from tablewright.systems.portal import design as d
from tablewright.systems.portal import field_rules, rules
from tablewright.systems.portal.catalogue.price_history import price_steps
from tablewright.systems.portal.errors import Changed, Unavailable
from tablewright.systems.portal.model import AuditEntry, Campaign, CampaignProduct, Kind, PriceChange, Product
from tablewright.systems.portal.repository import Repository


@dataclass(frozen=True, slots=True)
class Offer:
    """A campaign with its current prices and state (CP-37): computed each time, never stored."""

    campaign: Campaign
    product_name: str
    original_price: Decimal | None
    discounted_price: Decimal | None
    is_valid: bool
    state: str
    used: int

    @property
    def is_available(self) -> bool:
        return self.original_price is not None


class Catalogue:
    """Reads and changes of products and campaigns."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    # --- products ---

    def product(self, id: str, *, deleted: bool = False) -> Product:
        return self._repository.product(id, deleted=deleted)

    def for_sale(self) -> list[Product]:
        """The pricing page: active products that are not drafts, oldest first."""
        query = d.products_by_active(active=True).where(lambda product: product.draft == False)  # noqa: E712  # a noted condition
        return list(self._repository.db.all(query))

    def products(
        self, reader: Actor, *, active: bool | None = True, size: int | None = None, after: str | None = None
    ) -> Page[Product]:
        """Oldest first: active, deleted, or (None) both; drafts too."""
        query = d.products_by_active(active=active is not False)
        if active is None:
            query = query.beside(d.products_by_active(active=False))
        return self._repository.page(query, size, after, reader.subject)

    def price_now(self, product: Product) -> Decimal:
        return rules.price_at(product, self._repository.now())

    def prices(self, product_id: str) -> list[PriceChange]:
        """Every price a product had, oldest first."""
        return list(self._repository.db.all(d.prices_of_product(product_id=product_id)))

    def create_product(
        self, fields: dict[str, Any], actor: Actor, *, id: str | None = None
    ) -> tuple[Product, list[str]]:
        """A new product, and warnings about it."""
        now = self._repository.now()
        product = Product(
            id=id or self._repository.new_id("prod"),
            date_created=now,
            date_last_updated=now,
            last_updated_by=actor.name,
            **fields,
        )
        field_rules.check(
            (
                *field_rules.product_mistakes(vars(product)),
                *field_rules.schedule_mistakes(product.next_price_from, now),
            )
        )
        write = self._repository.within_item_limit(d.products.create(product), "plan")
        steps = [d.prices.create(step) for step in price_steps(None, product)]
        audit = self._repository.audit("products", product.id, "created", actor, None, product)
        self._repository.write("PRODUCT", write, *steps, audit)
        return product, self._same_name(product)

    def _same_name(self, product: Product) -> list[str]:
        name = normalised(product.name)
        twins = [
            other.id
            for other in self._repository.db.all(d.products_by_active(active=True))
            if other.id != product.id and normalised(other.name) == name
        ]
        return [f"Another plan has the same name: {twins[0]}."] if twins else []

    def change_product(
        self, id: str, changes: dict[str, Any], actor: Actor, expected: int | None = None
    ) -> tuple[Product, list[str]]:
        """Change, soft-delete or restore a product; price changes are added to its history."""
        return self._repository.retried(expected, lambda: self._change_product(id, changes, actor, expected))

    def _change_product(
        self, id: str, changes: dict[str, Any], actor: Actor, expected: int | None
    ) -> tuple[Product, list[str]]:
        before = self._repository.product(id, deleted=True)
        _same_version(before.version, expected)
        now = self._repository.now()
        # A scheduled price that has started is the price: the change applies to that.
        current = rules.settled(before, now)
        after = self._repository.stamped(current, actor, **rules.without_begun(changes, before, now))
        if rules.is_same(before, after):
            return before, []
        is_new_schedule = after.next_price_from != current.next_price_from
        field_rules.check(
            (
                *field_rules.product_mistakes(vars(after)),
                *field_rules.schedule_mistakes(after.next_price_from if is_new_schedule else None, now),
            )
        )
        if after.active:
            self._check_campaigns(after, is_back=not before.active, before=current)
        action = "changed"
        if before.active != after.active:
            action = "restored" if after.active else "deleted"
        warnings = self._price_warnings(current, after)
        if normalised(after.name) != normalised(before.name):
            warnings += self._same_name(after)
        return self._save_product(before, after, action, actor), warnings

    def _save_product(self, before: Product, after: Product, action: str, actor: Actor) -> Product:
        write = self._repository.within_item_limit(d.products.change(before, after), "plan")
        assert write.item is not None
        writes: list[Write[Any]] = [write]
        writes += [d.prices.create(step) for step in price_steps(before, write.item)]
        writes.append(self._repository.audit("products", before.id, action, actor, before, write.item))
        self._repository.write("PRODUCT", *writes)
        return write.item

    def _check_campaigns(self, after: Product, *, is_back: bool, before: Product) -> None:
        """A new or scheduled price must leave at least R 0.01 to pay in every campaign that is not over (CP-D23)."""
        pairs = (("price", after.price, before.price), ("nextPrice", after.next_price, before.next_price))
        prices = [(field, new) for field, new, old in pairs if new is not None and (is_back or new != old)]
        if not prices:
            return
        today = rules.local_day(self._repository.now())
        for campaign in self._repository.campaigns_of(after.id):
            if not campaign.active or campaign.to_date < today:
                continue
            for field, price in prices:
                if rules.discounted(price, campaign.discount_percentage) < rules.CENT:
                    words = f"{field} is too low: the campaign {campaign.code} would leave less than R 0.01 to pay."
                    raise Refused("DISCOUNT_RANGE", words, field)

    def _price_warnings(self, before: Product, after: Product) -> list[str]:
        if before.price == after.price:
            return []
        running = [
            campaign.code
            for campaign in self._repository.campaigns_of(after.id)
            if rules.is_valid(campaign, self._repository.now())
        ]
        words = ["New orders are charged the new price; existing orders keep theirs."]
        if running:
            words.append(f"Running campaigns use the new price: {', '.join(running)}.")
        return words

    def apply_due_prices(self, actor: Actor) -> int:
        """Store scheduled prices that have started as the price; reads already return them. How many."""
        done = 0
        now = self._repository.now()
        for product in list(self._repository.db.all(d.products_by_active(active=True))):
            if product.next_price is None or product.next_price_from is None or product.next_price_from > now:
                continue
            after = self._repository.stamped(rules.settled(product, now), actor)
            try:
                self._save_product(product, after, "scheduled price", actor)
                done += 1
            except Changed:
                continue  # it was edited at the same moment: the next run applies it
        return done

    # --- campaigns ---

    def offer(self, code: str) -> Offer:
        """A campaign by its code, with prices."""
        return self._offers([self._repository.campaign(rules.campaign_code(code))])[0]

    def landing(self, code: str) -> Offer:
        """A campaign for the public: CAMPAIGN_UNAVAILABLE once it is switched off."""
        found = self.offer(code)
        if not found.campaign.active:
            raise Unavailable("CAMPAIGN_UNAVAILABLE", "This offer is no longer available.")
        return found

    def offers(
        self,
        reader: Actor,
        *,
        active: bool | None = True,
        valid_only: bool = False,
        since: date | None = None,
        until: date | None = None,
        size: int | None = None,
        after: str | None = None,
    ) -> tuple[list[Offer], str | None]:
        """Campaigns by when they begin, newest first; `valid_only` leaves out those not valid today.

        Active, switched off, or (None) both. Only staff sees campaigns that have not started.
        """
        today = rules.local_day(self._repository.now())
        if valid_only or not reader.is_staff:
            until = min(until, today) if until else today
        query = d.campaigns_by_active(active=active is not False, since=since, until=until)
        if active is None:
            query = query.beside(d.campaigns_by_active(active=False, since=since, until=until))
        if valid_only:
            query = query.where(lambda campaign: campaign.to_date >= today)
        page = self._repository.page(query, size, after, reader.subject)
        return self._offers(list(page.items)), page.next

    def offers_of(self, product_id: str, *, public: bool) -> list[Offer]:
        """A product's campaigns; the public sees those that are active and have started."""
        found = self._offers(self._repository.campaigns_of(product_id))
        if not public:
            return found
        return [offer for offer in found if offer.campaign.active and offer.state != "SCHEDULED"]

    def _offers(self, campaigns: list[Campaign]) -> list[Offer]:
        """The campaigns with prices, with one read for all products (CP-D30)."""
        now = self._repository.now()
        products = (
            self._repository.products_by_id([campaign.product_id for campaign in campaigns])
            if campaigns
            else {}
        )
        used = self._repository.used([campaign.code for campaign in campaigns])
        return [
            _offer(campaign, products.get(campaign.product_id), used.get(campaign.code, 0), now)
            for campaign in campaigns
        ]

    def create_campaign(self, fields: dict[str, Any], actor: Actor) -> tuple[Campaign, list[str]]:
        """A new campaign, and warnings about it."""
        now = self._repository.now()
        fields = {**fields, "code": fields["code"].strip().upper()}
        campaign = Campaign(
            id=self._repository.new_id("camp"),
            date_created=now,
            date_last_updated=now,
            last_updated_by=actor.name,
            **fields,
        )
        field_rules.check(
            (
                *field_rules.campaign_mistakes(vars(campaign)),
                *field_rules.past_campaign(campaign.to_date, rules.local_day(now)),
            )
        )
        checks = self._products_of(campaign, {campaign.product_id, *campaign.also_product_ids})
        further = [
            d.campaign_products.put(
                CampaignProduct(code=campaign.code, product_id=id, from_date=campaign.from_date)
            )
            for id in campaign.also_product_ids
        ]
        audit = self._repository.audit("campaigns", campaign.code, "created", actor, None, campaign)
        write = self._repository.within_item_limit(d.campaigns.create(campaign), "campaign")
        self._repository.write("CAMPAIGN", write, *checks, *further, audit)
        return campaign, rules.code_warnings(campaign.code)

    def _products_of(self, campaign: Campaign, new: set[str]) -> list[Write[Any]]:
        """Check the campaign's products; the returned writes check their versions in the transaction (CP-D19).

        `new` ones must exist and be active; one that it already had may have been taken off sale (CP-50).
        """
        ids = [campaign.product_id, *campaign.also_product_ids]
        found = self._repository.products_by_id(ids)
        checks: list[Write[Any]] = []
        for id in ids:
            product = found.get(id)
            if product is None or not product.active:
                if id not in new:
                    continue
                field = "productId" if id == campaign.product_id else "alsoProductIds"
                says = "is not for sale" if field == "productId" else "includes a plan that is not for sale"
                raise Refused("PRODUCT_UNKNOWN", f"{field} {says}.", field, {"productId": id})
            for price in (rules.price_at(product, self._repository.now()), product.next_price):
                if price is not None:
                    rules.check_discounted(campaign.discount_percentage, price)
            checks.append(_same_product(product))
        return checks

    def change_campaign(
        self, code: str, changes: dict[str, Any], actor: Actor, expected: int | None = None
    ) -> Campaign:
        """Change, soft-delete or restore a campaign; dates are checked against the stored ones (CP-D21)."""
        return self._repository.retried(
            expected, lambda: self._change_campaign(rules.campaign_code(code), changes, actor, expected)
        )

    def _change_campaign(
        self, code: str, changes: dict[str, Any], actor: Actor, expected: int | None
    ) -> Campaign:
        before = self._repository.campaign(code)
        _same_version(before.version, expected)
        after = self._repository.stamped(before, actor, **changes)
        if rules.is_same(before, after):
            return before
        field_rules.check(field_rules.campaign_mistakes(vars(after)))
        new = set(after.also_product_ids) - set(before.also_product_ids)
        # While the campaign was off or over, prices were not checked against its discount.
        applies_more = (
            after.discount_percentage > before.discount_percentage
            or after.to_date > before.to_date
            or not before.active
        )
        checks = self._products_of(after, new) if after.active and (new or applies_more) else []
        action = "changed"
        if before.active != after.active:
            action = "restored" if after.active else "deleted"
        write = self._repository.within_item_limit(d.campaigns.change(before, after), "campaign")
        assert write.item is not None
        audit = self._repository.audit("campaigns", before.code, action, actor, before, write.item)
        further = self._further(before, write.item)
        self._repository.write("CAMPAIGN", write, *checks, *further, audit)
        return write.item

    def _further(self, before: Campaign, after: Campaign) -> list[Write[Any]]:
        """The changed entries of further products."""
        writes: list[Write[Any]] = []
        if before.from_date != after.from_date or before.also_product_ids != after.also_product_ids:
            for id in after.also_product_ids:
                entry = CampaignProduct(code=after.code, product_id=id, from_date=after.from_date)
                writes.append(d.campaign_products.put(entry))
            gone = set(before.also_product_ids) - set(after.also_product_ids)
            writes += [d.campaign_products.discard(after.code, id) for id in sorted(gone)]
        return writes

    # --- history ---

    def history(
        self, kind: Kind, subject_id: str, reader: Actor, size: int | None = None, after: str | None = None
    ) -> Page[AuditEntry]:
        return self._repository.page(self._repository.history(kind, subject_id), size, after, reader.subject)

    def audit_of_month(
        self, kind: Kind, month: datetime, reader: Actor, size: int | None = None, after: str | None = None
    ) -> Page[AuditEntry]:
        return self._repository.page(
            self._repository.audit_of_month(kind, month), size, after, reader.subject
        )


def _offer(campaign: Campaign, product: Product | None, used: int, now: datetime) -> Offer:
    state = rules.state_of(campaign, used, now)
    if product is None or not rules.is_for_sale(product):
        return Offer(campaign, rules.UNAVAILABLE, None, None, rules.is_valid(campaign, now), state, used)
    price = rules.price_at(product, now)
    final = rules.discounted(price, campaign.discount_percentage)
    return Offer(campaign, product.name, price, final, rules.is_valid(campaign, now), state, used)


def _same_product(product: Product) -> Write[Product]:
    version = product.version
    return d.products.check(product.id).when(lambda p: p.version == version)


def _same_version(version: int, expected: int | None) -> None:
    if expected is not None and version != expected:
        raise Changed
