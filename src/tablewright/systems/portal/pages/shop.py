"""Public pages: plans with their prices, and a campaign's landing page.

Must hold: a price shown here is the price of an order placed now; a campaign that has not started is shown only to
staff and with a preview link.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from tablewright.edge import Principal
from tablewright.edge.etags import public_cache
from tablewright.edge.problems import not_found
from tablewright.systems.portal import rules
from tablewright.systems.portal.access import Caller, buyer_of, is_staff
from tablewright.systems.portal.catalogue.catalogue import Offer
from tablewright.systems.portal.errors import Unavailable
from tablewright.systems.portal.model import Campaign, Product
from tablewright.systems.portal.orders.pricing import is_spent
from tablewright.systems.portal.pages.page import HOME, PortalPages


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan on a public page: its price, the campaign that reduces it, and the link to buy it."""

    product: Product
    price: Decimal
    campaign: Campaign | None

    @property
    def now(self) -> Decimal:
        return (
            rules.discounted(self.price, self.campaign.discount_percentage) if self.campaign else self.price
        )

    @property
    def vat(self) -> Decimal:
        return rules.cents(self.now * rules.VAT / (100 + rules.VAT))

    @property
    def a_month(self) -> Decimal | None:
        """The price per month of a yearly plan; None for a monthly one."""
        return rules.cents(self.now / 12) if self.product.billing_cycle == "yearly" else None

    @property
    def buy(self) -> str:
        code = {"code": self.campaign.code} if self.campaign else {}
        return f"{HOME}/checkout?{urlencode({'plan': self.product.id, **code})}"


def plans_of(pages: PortalPages, request: Request) -> list[Plan]:
    """All plans for sale, each with the running campaign that saves the most."""
    catalogue = pages.portal.catalogue
    offers, _ = catalogue.offers(pages.actor(request), valid_only=True, size=100)
    running = [offer.campaign for offer in offers if offer.state == "RUNNING"]
    buyer = buyer_of(pages.who(request))
    if buyer is not None:  # a customer who has used an offer sees the price without it
        running = [each for each in running if not is_spent(pages.portal.repository, each, buyer)]
    return [plan_of(pages, product, running) for product in catalogue.for_sale()]


def plan_of(pages: PortalPages, product: Product, running: Sequence[Campaign]) -> Plan:
    fitting = [campaign for campaign in running if rules.covers(campaign, product.id)]
    best = max(fitting, key=lambda campaign: campaign.discount_percentage, default=None)
    return Plan(product, pages.portal.catalogue.price_now(product), best)


def keepable(request: Request, page: Response) -> Response:
    """Allow caching for a minute of a page that is the same for everyone (CP-X7); not with a login or message."""
    is_anonymous = not request.cookies and "authorization" not in request.headers
    if is_anonymous and "set-cookie" not in page.headers:
        page.headers["Cache-Control"] = public_cache()
        page.headers["Vary"] = "Cookie, Authorization"
    return page


def add_pricing(router: APIRouter, pages: PortalPages) -> None:
    """The area's start page."""

    @router.get("")
    def pricing(request: Request) -> Response:
        plans = plans_of(pages, request)
        page = pages.page(request, "pricing", title="Plans and prices", plans=plans, vat=rules.VAT)
        return keepable(request, page)


def add_landing(router: APIRouter, pages: PortalPages) -> None:
    catalogue, repository = pages.portal.catalogue, pages.portal.repository

    @router.get("/campaigns/{code}")
    def landing(request: Request, code: str, caller: Caller, preview: str = "") -> Response:
        try:
            offer = catalogue.landing(code)
        except Unavailable as gone:
            plans = plans_of(pages, request)
            return pages.page(
                request, "gone", title="No longer available", status=410, words=gone.message, plans=plans
            )
        is_preview = offer.state == "SCHEDULED"
        if is_preview and not may_see(offer, caller, preview):
            raise not_found("CAMPAIGN_NOT_FOUND", "There is no such offer.")
        today = rules.local_day(repository.now())
        page = pages.page(
            request,
            "landing",
            title=offer.campaign.description if offer.is_available else "Offer not available",
            offer=offer,
            campaign=offer.campaign,
            plans=_plans_of_campaign(offer),
            days_left=(offer.campaign.to_date - today).days,
            is_preview=is_preview,
            vat=rules.VAT,
        )
        return page if preview else keepable(request, page)

    def may_see(offer: Offer, caller: Principal, preview: str) -> bool:
        if is_staff(caller):
            return True
        return bool(preview) and pages.portal.previews.opens(preview, offer.campaign.code, repository.now())

    def _plans_of_campaign(offer: Offer) -> list[Plan]:
        """The campaign's plans that are for sale, the main one first."""
        campaign = offer.campaign
        ids = [campaign.product_id, *campaign.also_product_ids]
        found = repository.products_by_id(ids)
        sold = [found[id] for id in ids if id in found and rules.is_for_sale(found[id])]
        return [Plan(product, catalogue.price_now(product), campaign) for product in sold]
