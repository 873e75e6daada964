"""Campaigns, for staff: the calendar and list, one campaign with its uses, and the form with a price preview.

Must hold: the price in the preview is computed by the server with the rule that orders use; without a script a button
shows it. Paths for staff contain a letter that no code can have, so they never hide a campaign's page.
Elsewhere: the page for customers (shop.py).
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.edge.errors import CallerError, Refused
from tablewright.kit.tables import Actor
from tablewright.pages.forms import Form, FormWrong, Posted
from tablewright.pages.layout import Crumb, Tone
from tablewright.pages.lists import here
from tablewright.systems.portal import field_rules, rules
from tablewright.systems.portal.access import Admin, admin, staff
from tablewright.systems.portal.errors import Changed
from tablewright.systems.portal.model import AuditEntry, Campaign, Product
from tablewright.systems.portal.pages.charts import campaign_calendar
from tablewright.systems.portal.pages.forms import (
    NewTypedCampaign,
    TypedCampaign,
    TypedDiscount,
    fields_of,
    form_of_stored,
    refused,
    too_late,
    typed,
    version_of,
)
from tablewright.systems.portal.pages.page import HOME, PortalPages

LIST = f"{HOME}/campaigns"
_LISTED = Crumb("Campaigns", LIST)
SHOWN: dict[str, bool | None] = {"": None, "on": True, "off": False}


def add_campaigns(router: APIRouter, pages: PortalPages) -> None:
    for add in (_add_lists, _add_new, _add_edit, _add_actions):
        add(router, pages)


def details(campaign: Campaign) -> str:
    return f"{LIST}/{campaign.code}/details"


def _add_lists(router: APIRouter, pages: PortalPages) -> None:
    catalogue, repository = pages.portal.catalogue, pages.portal.repository

    @router.get("/campaigns", dependencies=[Depends(staff)])
    def list_campaigns(request: Request, show: str = "", after: str | None = None) -> Response:
        offers, token = catalogue.offers(
            pages.actor(request), active=SHOWN.get(show), size=50, after=after or None
        )
        return pages.page(
            request,
            "campaigns",
            title="Campaigns",
            offers=offers,
            picture=campaign_calendar(offers, rules.local_day(repository.now())),
            next=here(request, after=token) if token else None,
            show=show,
        )

    @router.get("/campaigns/{code}/details", dependencies=[Depends(staff)])
    def campaign(request: Request, code: str) -> Response:
        offer = catalogue.offer(code)
        found = offer.campaign
        token = pages.portal.previews.token(found.code, repository.now())
        names = repository.products_by_id([found.product_id, *found.also_product_ids])
        return pages.page(
            request,
            "campaign",
            title=found.code,
            crumbs=(_LISTED,),
            offer=offer,
            campaign=found,
            product=names.get(found.product_id),
            also=[names[id] for id in found.also_product_ids if id in names],
            landing=f"{LIST}/{found.code}",
            preview=f"{str(request.base_url).rstrip('/')}{LIST}/{found.code}?preview={token}",
            history=pages.list(request, repository.history("campaigns", found.code), size=10),
        )


# --- the form and its preview ---


def preview_of(pages: PortalPages, form: Form, product_id: str) -> dict[str, Any]:
    """The current and discounted price of each chosen plan: rows, or why there are none."""
    try:
        percent = typed(
            Form({"discountPercentage": form.get("discountPercentage")}), TypedDiscount
        ).discount_percentage
    except FormWrong:
        return {"rows": (), "why": "Enter a discount to see the price."}
    ids = [product_id, *form.get("alsoProductIds").split()]
    found = pages.portal.repository.products_by_id([id for id in ids if id])
    products = [found[id] for id in ids if id in found]
    if not products:
        return {"rows": (), "why": "Choose a plan to see the price."}
    try:
        rows = [(product, *_prices(pages, product, percent)) for product in products]
    except Refused as mistake:
        return {"rows": (), "why": mistake.message}
    return {"rows": rows, "why": ""}


def _prices(pages: PortalPages, product: Product, percent: Decimal) -> tuple[Decimal, Decimal]:
    price = pages.portal.catalogue.price_now(product)
    if not percent.is_finite() or not 0 <= percent < 100:
        raise Refused("DISCOUNT_RANGE", "The discount must be at least 0 and less than 100 %.")
    if rules.discounted(price, percent) < rules.CENT:
        raise Refused("DISCOUNT_RANGE", "The discount is too high: it leaves less than R 0.01 to pay.")
    return price, rules.discounted(price, percent)


def form_page(
    pages: PortalPages,
    request: Request,
    form: Form,
    campaign: Campaign | None = None,
    status: int = 200,
    changes_since: Sequence[AuditEntry] = (),
) -> Response:
    crumbs = (_LISTED, Crumb(campaign.code, details(campaign))) if campaign else (_LISTED,)
    product_id = campaign.product_id if campaign else form.get("productId")
    products = pages.portal.catalogue.for_sale()
    return pages.page(
        request,
        "campaign_form",
        title="Edit" if campaign else "New campaign",
        crumbs=crumbs,
        status=status,
        form=form,
        campaign=campaign,
        products=products,
        options=[(product.id, product.name) for product in products],
        also=form.get("alsoProductIds").split(),
        preview=preview_of(pages, form, product_id),
        changes_since=changes_since,
        rules=field_rules,
    )


def _add_new(router: APIRouter, pages: PortalPages) -> None:
    catalogue = pages.portal.catalogue

    @router.post("/campaigns/new-campaign/price", dependencies=[Depends(admin)])
    def price(request: Request, form: Posted) -> Response:
        """Only the preview, which the form replaces during typing."""
        return pages.page(
            request, "_preview", title="Preview", preview=preview_of(pages, form, form.get("productId"))
        )

    @router.get("/campaigns/new-campaign", dependencies=[Depends(admin)])
    def new(request: Request, product: str = "") -> Response:
        return form_page(pages, request, Form({"productId": product}))

    @router.post("/campaigns/new-campaign")
    def create(request: Request, actor: Admin, form: Posted) -> Response:
        if form.get("do") == "preview":
            return form_page(pages, request, form)
        try:
            made, warnings = catalogue.create_campaign(
                fields_of(typed(form, NewTypedCampaign, field_rules.campaign_mistakes)), actor
            )
        except (FormWrong, CallerError) as mistake:
            return form_page(pages, request, refused(form, mistake), status=mistake.status)
        tone: Tone = "note" if warnings else "good"
        return pages.console.go(details(made), " ".join((f"Campaign {made.code} created.", *warnings)), tone)


def _add_edit(router: APIRouter, pages: PortalPages) -> None:
    catalogue = pages.portal.catalogue

    @router.get("/campaigns/{code}/edit", dependencies=[Depends(admin)])
    def edit(request: Request, code: str) -> Response:
        campaign = catalogue.offer(code).campaign
        form = form_of_stored(campaign, pages.portal, "campaigns", campaign.code, pages.actor(request))
        return form_page(pages, request, form, campaign)

    @router.post("/campaigns/{code}/edit")
    def save(request: Request, code: str, actor: Admin, form: Posted) -> Response:
        stored = catalogue.offer(code).campaign
        if form.get("do") == "preview":
            return form_page(pages, request, form, stored)
        try:
            changes = fields_of(typed(form, TypedCampaign, field_rules.campaign_mistakes))
            changed = catalogue.change_campaign(code, changes, actor, version_of(form))
        except Changed:
            stored = catalogue.offer(code).campaign
            late = too_late(pages.portal, "campaigns", stored.code, stored, form, actor)
            return form_page(pages, request, late.form, stored, 412, late.changes_since)
        except (FormWrong, CallerError) as mistake:
            return form_page(pages, request, refused(form, mistake), stored, mistake.status)
        return pages.console.go(details(changed), "Saved.")


def _add_actions(router: APIRouter, pages: PortalPages) -> None:
    def switch(code: str, actor: Actor, form: Form, active: bool) -> Campaign:
        return pages.portal.catalogue.change_campaign(code, {"active": active}, actor, version_of(form))

    @router.post("/campaigns/{code}/off")
    def switch_off(code: str, actor: Admin, form: Posted) -> Response:
        campaign = switch(code, actor, form, False)
        said = "Switched off. Its page now says that the offer is no longer available. You can switch it on again here."
        return pages.console.go(details(campaign), said, "note")

    @router.post("/campaigns/{code}/on")
    def switch_on(code: str, actor: Admin, form: Posted) -> Response:
        return pages.console.go(details(switch(code, actor, form, True)), "Switched on again.")
