"""Campaigns, for staff: when which is on, one campaign with its uses, and the form with what it makes of the price.

Must hold: the price in the form's preview is computed by the server with the rule that orders use; without a script a
button shows it. Paths for staff hold a letter that no code can have, so no campaign's page is hidden by them.
Elsewhere: the page customers see (shop.py).
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.console.console import Crumb, Tone
from tablewright.app.console.forms import Form, FormWrong, posted
from tablewright.app.console.lists import here
from tablewright.app.console.portal.desk import HOME, Desk
from tablewright.app.console.portal.pictures import campaign_calendar
from tablewright.app.console.portal.typed import (
    NewTypedCampaign,
    TypedCampaign,
    TypedDiscount,
    fields_of,
    form_of_stored,
    refused,
    status_of,
    too_late,
    typed,
    version_of,
)
from tablewright.edge import Principal
from tablewright.edge.routes import gather
from tablewright.systems.portal import field_rules, rules
from tablewright.systems.portal.api import actor_of
from tablewright.systems.portal.errors import Changed, PortalMistake, Refused
from tablewright.systems.portal.model import AuditEntry, Campaign, Product

LIST = f"{HOME}/campaigns"
_LISTED = Crumb("Campaigns", LIST)
SHOWN: dict[str, bool | None] = {"": None, "on": True, "off": False}


def campaigns_router(desk: Desk) -> APIRouter:
    router = desk.router()
    gather(router, (part(desk) for part in (_lists, _new, _edit, _actions)))
    return router


def details(campaign: Campaign) -> str:
    return f"{LIST}/{campaign.code}/details"


def _lists(desk: Desk) -> APIRouter:
    router = desk.router()
    catalogue, repository = desk.portal.catalogue, desk.portal.repository

    @router.get("/campaigns", dependencies=[Depends(desk.staff)])
    def list_campaigns(request: Request, show: str = "", after: str | None = None) -> Response:
        offers, token = catalogue.offers(
            desk.actor(request), active=SHOWN.get(show), size=50, after=after or None
        )
        return desk.page(
            request,
            "campaigns",
            title="Campaigns",
            offers=offers,
            picture=campaign_calendar(offers, rules.local_day(repository.now())),
            next=here(request, after=token) if token else None,
            show=show,
        )

    @router.get("/campaigns/{code}/details", dependencies=[Depends(desk.staff)])
    def campaign(request: Request, code: str) -> Response:
        offer = catalogue.offer(code)
        found = offer.campaign
        token = desk.portal.previews.token(found.code, repository.now())
        names = repository.products_by_id([found.product_id, *found.also_product_ids])
        return desk.page(
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
            history=desk.list(request, repository.history("campaigns", found.code), size=10),
        )

    return router


# --- the form and its preview ---


def preview_of(desk: Desk, form: Form, product_id: str) -> dict[str, Any]:
    """What the discount that was typed makes of each product's price now: rows, or why there are none."""
    try:
        percent = typed(
            Form({"discountPercentage": form.get("discountPercentage")}), TypedDiscount
        ).discount_percentage
    except FormWrong:
        return {"rows": (), "why": "Type a discount to see the price it makes."}
    ids = [product_id, *form.get("alsoProductIds").split()]
    found = desk.portal.repository.products_by_id([id for id in ids if id])
    products = [found[id] for id in ids if id in found]
    if not products:
        return {"rows": (), "why": "Choose a product to see the price."}
    try:
        rows = [(product, *_prices(desk, product, percent)) for product in products]
    except Refused as mistake:
        return {"rows": (), "why": mistake.message}
    return {"rows": rows, "why": ""}


def _prices(desk: Desk, product: Product, percent: Decimal) -> tuple[Decimal, Decimal]:
    price = desk.portal.catalogue.price_now(product)
    if not percent.is_finite() or not 0 <= percent < 100:
        raise Refused("DISCOUNT_RANGE", "The discount must be at least 0 and less than 100 per cent.")
    if rules.discounted(price, percent) < rules.CENT:
        raise Refused("DISCOUNT_RANGE", "The discount is too high: it leaves less than R0.01 to pay.")
    return price, rules.discounted(price, percent)


def form_page(
    desk: Desk,
    request: Request,
    form: Form,
    campaign: Campaign | None = None,
    status: int = 200,
    meanwhile: Sequence[AuditEntry] = (),
) -> Response:
    crumbs = (_LISTED, Crumb(campaign.code, details(campaign))) if campaign else (_LISTED,)
    product_id = campaign.product_id if campaign else form.get("productId")
    products = desk.portal.catalogue.for_sale()
    return desk.page(
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
        preview=preview_of(desk, form, product_id),
        meanwhile=meanwhile,
        rules=field_rules,
    )


def _new(desk: Desk) -> APIRouter:
    router = desk.router()
    catalogue = desk.portal.catalogue

    @router.post("/campaigns/new-campaign/price", dependencies=[Depends(desk.admin)])
    def price(request: Request, form: Annotated[Form, Depends(posted)]) -> Response:
        """Only the preview, for the form to put in its place while somebody types."""
        return desk.page(
            request, "_preview", title="Preview", preview=preview_of(desk, form, form.get("productId"))
        )

    @router.get("/campaigns/new-campaign", dependencies=[Depends(desk.admin)])
    def new(request: Request, product: str = "") -> Response:
        return form_page(desk, request, Form({"productId": product}))

    @router.post("/campaigns/new-campaign")
    def create(
        request: Request,
        caller: Annotated[Principal, Depends(desk.admin)],
        form: Annotated[Form, Depends(posted)],
    ) -> Response:
        if form.get("do") == "preview":
            return form_page(desk, request, form)
        try:
            made, warnings = catalogue.create_campaign(
                fields_of(typed(form, NewTypedCampaign, field_rules.campaign_mistakes)), actor_of(caller)
            )
        except FormWrong as wrong:
            return form_page(desk, request, wrong.form, status=422)
        except PortalMistake as mistake:
            return form_page(desk, request, refused(form, mistake), status=status_of(mistake))
        tone: Tone = "note" if warnings else "good"
        return desk.console.go(details(made), " ".join((f"Campaign {made.code} created.", *warnings)), tone)

    return router


def _edit(desk: Desk) -> APIRouter:
    router = desk.router()
    catalogue = desk.portal.catalogue

    @router.get("/campaigns/{code}/edit", dependencies=[Depends(desk.admin)])
    def edit(request: Request, code: str) -> Response:
        campaign = catalogue.offer(code).campaign
        form = form_of_stored(campaign, desk.portal, "campaigns", campaign.code, desk.actor(request))
        return form_page(desk, request, form, campaign)

    @router.post("/campaigns/{code}/edit")
    def save(
        request: Request,
        code: str,
        caller: Annotated[Principal, Depends(desk.admin)],
        form: Annotated[Form, Depends(posted)],
    ) -> Response:
        stored = catalogue.offer(code).campaign
        if form.get("do") == "preview":
            return form_page(desk, request, form, stored)
        try:
            changes = fields_of(typed(form, TypedCampaign, field_rules.campaign_mistakes))
            changed = catalogue.change_campaign(code, changes, actor_of(caller), version_of(form))
        except FormWrong as wrong:
            return form_page(desk, request, wrong.form, stored, 422)
        except Changed:
            stored = catalogue.offer(code).campaign
            late = too_late(desk.portal, "campaigns", stored.code, stored, form, actor_of(caller))
            return form_page(desk, request, late.form, stored, 412, late.meanwhile)
        except PortalMistake as mistake:
            return form_page(desk, request, refused(form, mistake), stored, status_of(mistake))
        return desk.console.go(details(changed), "Saved.")

    return router


def _actions(desk: Desk) -> APIRouter:
    router = desk.router()

    def switch(code: str, caller: Principal, form: Form, active: bool) -> Campaign:
        return desk.portal.catalogue.change_campaign(
            code, {"active": active}, actor_of(caller), version_of(form)
        )

    @router.post("/campaigns/{code}/off")
    def switch_off(
        code: str, caller: Annotated[Principal, Depends(desk.admin)], form: Annotated[Form, Depends(posted)]
    ) -> Response:
        campaign = switch(code, caller, form, False)
        said = "Switched off: its page says that it is no longer available. It can be switched on again here."
        return desk.console.go(details(campaign), said, "note")

    @router.post("/campaigns/{code}/on")
    def switch_on(
        code: str, caller: Annotated[Principal, Depends(desk.admin)], form: Annotated[Form, Depends(posted)]
    ) -> Response:
        return desk.console.go(details(switch(code, caller, form, True)), "Switched on again.")

    return router
