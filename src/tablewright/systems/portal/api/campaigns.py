"""Discounts: `/campaigns`, and preview links."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from tablewright.edge import Principal
from tablewright.edge.etags import if_match, mark, public_cache
from tablewright.edge.problems import not_found
from tablewright.systems.portal.api import bodies
from tablewright.systems.portal.api.bodies import Page
from tablewright.systems.portal.api.common import (
    VARY,
    Doors,
    IfMatch,
    PageSize,
    StartAt,
    actor_of,
    expected,
    fields_of,
    page_of,
    staff_of,
)
from tablewright.systems.portal.portal import Portal


def campaigns(portal: Portal, doors: Doors) -> APIRouter:
    api = APIRouter(tags=["campaigns"])
    catalogue, repository = portal.catalogue, portal.repository

    @api.get("/campaigns")
    def list_campaigns(
        caller: Annotated[Principal, Depends(doors.anyone)],
        response: Response,
        valid_only: Annotated[bool, Query(alias="validOnly")] = False,
        include_inactive: Annotated[bool, Query(alias="includeInactive")] = False,
        size: PageSize = None,
        after: StartAt = None,
    ) -> Page[bodies.PublicCampaign]:
        """Active campaigns, newest first; `validOnly`: only those valid today. Staff may include those switched off."""
        actor = staff_of(caller) if include_inactive else actor_of(caller)
        offers, token = catalogue.offers(
            actor, active=None if include_inactive else True, valid_only=valid_only, size=size, after=after
        )
        _cached(response, for_everyone=not actor.is_staff)
        return page_of([bodies.public_campaign(offer) for offer in offers], token)

    @api.post("/campaigns", status_code=201)
    def create_campaign(
        body: bodies.NewCampaign, response: Response, caller: Annotated[Principal, Depends(doors.admin)]
    ) -> bodies.CampaignView:
        campaign, warnings = catalogue.create_campaign(fields_of(body), actor_of(caller))
        mark(response, campaign.version)
        return bodies.campaign_view(catalogue.offer(campaign.code), warnings)

    @api.get("/campaigns/{code}", response_model_exclude_none=False)
    def get_campaign(
        code: str,
        response: Response,
        caller: Annotated[Principal, Depends(doors.anyone)],
        preview: str | None = None,
    ) -> Any:
        """One campaign. Before it starts, only staff and callers with a preview link see it."""
        if caller.roles & {"admin", "support"}:
            offer = catalogue.offer(code)
            mark(response, offer.campaign.version)
            return bodies.campaign_view(offer)
        offer = catalogue.landing(code)
        if offer.state == "SCHEDULED" and not (
            preview and portal.previews.opens(preview, offer.campaign.code, repository.now())
        ):
            raise not_found("CAMPAIGN_NOT_FOUND", "There is no such campaign.")
        _cached(response, for_everyone=not preview)
        return bodies.public_campaign(offer)

    @api.put("/campaigns/{code}")
    def change_campaign(
        code: str,
        body: bodies.CampaignChange,
        response: Response,
        caller: Annotated[Principal, Depends(doors.admin)],
        match: IfMatch = None,
    ) -> bodies.CampaignView:
        """Change the fields that are sent; `active: false` switches the campaign off."""
        current = catalogue.offer(code).campaign
        if_match(match, current.version)
        campaign = catalogue.change_campaign(
            code, body.changes(), actor_of(caller), expected(match, current.version)
        )
        mark(response, campaign.version)
        return bodies.campaign_view(catalogue.offer(campaign.code))

    @api.post("/campaigns/{code}/preview")
    def preview_link(code: str, caller: Annotated[Principal, Depends(doors.admin)]) -> dict[str, str]:
        """A link that shows the campaign before it starts, valid for a week."""
        campaign = catalogue.offer(code).campaign
        token = portal.previews.token(campaign.code, repository.now())
        return {"token": token, "path": f"/console/portal/campaigns/{campaign.code}?preview={token}"}

    return api


def _cached(response: Response, *, for_everyone: bool) -> None:
    """Public pages may be kept for a minute (CP-X7); responses to staff and preview links may not."""
    response.headers["Cache-Control"] = public_cache() if for_everyone else "private, no-store"
    response.headers["Vary"] = VARY
