"""Discounts: `/campaigns`, and preview links."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from tablewright.edge.errors import NotFound
from tablewright.edge.etags import mark, public_cache
from tablewright.edge.routes import Router
from tablewright.kit.http import Cursor, IfMatch, Page, listed, marked, matched
from tablewright.systems.portal.access import Admin, Caller, actor_of, is_staff, staff
from tablewright.systems.portal.api import bodies
from tablewright.systems.portal.api.bodies import VARY, PageSize
from tablewright.systems.portal.portal import Portal


def campaigns(portal: Portal) -> APIRouter:
    api = Router(tags=["campaigns"])
    catalogue, repository = portal.catalogue, portal.repository

    @api.get("/campaigns")
    def list_campaigns(
        request: Request,
        response: Response,
        caller: Caller,
        valid_only: Annotated[bool, Query(alias="validOnly")] = False,
        include_inactive: Annotated[bool, Query(alias="includeInactive")] = False,
        size: PageSize = None,
        after: Cursor = None,
    ) -> Page[bodies.PublicCampaign]:
        """Active campaigns, newest first; `validOnly`: only those valid today. Staff may include those switched off."""
        actor = staff(request) if include_inactive else actor_of(caller)
        active = None if include_inactive else True
        offers, token = catalogue.offers(actor, active=active, valid_only=valid_only, size=size, after=after)
        _cached(response, for_everyone=not actor.is_staff)
        return listed(map(bodies.public_campaign, offers), token)

    @api.post("/campaigns", status_code=201)
    def create_campaign(body: bodies.NewCampaign, response: Response, actor: Admin) -> bodies.CampaignView:
        campaign, warnings = catalogue.create_campaign(dict(body), actor)
        return marked(response, bodies.campaign_view(catalogue.offer(campaign.code), warnings))

    @api.get("/campaigns/{code}", response_model_exclude_none=False)
    def get_campaign(code: str, response: Response, caller: Caller, preview: str | None = None) -> Any:
        """One campaign. Before it starts, only staff and callers with a preview link see it."""
        if is_staff(caller):
            return marked(response, bodies.campaign_view(catalogue.offer(code)))
        offer = catalogue.landing(code)
        if offer.state == "SCHEDULED" and not (
            preview and portal.previews.opens(preview, offer.campaign.code, repository.now())
        ):
            raise NotFound("campaign")
        _cached(response, for_everyone=not preview)
        return bodies.public_campaign(offer)

    @api.put("/campaigns/{code}")
    def change_campaign(
        code: str, body: bodies.CampaignChange, response: Response, actor: Admin, match: IfMatch = None
    ) -> bodies.CampaignView:
        """Change the fields that are sent; `active: false` switches the campaign off."""
        version = matched(match, catalogue.offer(code).campaign.version)
        campaign = catalogue.change_campaign(code, body.changes(), actor, version)
        mark(response, campaign.version)
        return bodies.campaign_view(catalogue.offer(campaign.code))

    @api.post("/campaigns/{code}/preview")
    def preview_link(code: str, actor: Admin) -> dict[str, str]:
        """A link that shows the campaign before it starts, valid for a week."""
        campaign = catalogue.offer(code).campaign
        token = portal.previews.token(campaign.code, repository.now())
        return {"token": token, "path": f"/console/portal/campaigns/{campaign.code}?preview={token}"}

    return api


def _cached(response: Response, *, for_everyone: bool) -> None:
    """Public pages may be kept for a minute (CP-X7); responses to staff and preview links may not."""
    response.headers["Cache-Control"] = public_cache() if for_everyone else "private, no-store"
    response.headers["Vary"] = VARY
