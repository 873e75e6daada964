"""`/visits` and `/stats`: where I have been, and the figures of it."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.etags import mark, unchanged
from tablewright.edge.routes import Router
from tablewright.kit.http import VersionRead
from tablewright.systems.travel.access import TRAVEL, Traveller, TravellerLogin
from tablewright.systems.travel.api import bodies
from tablewright.systems.travel.api.bodies import After, PageSize
from tablewright.systems.travel.model import RegionType
from tablewright.systems.travel.travel import Travel


def visits(travel: Travel, buckets: RateLimiter) -> APIRouter:
    api = Router(tags=["visits"])
    service = travel.visits
    pace = Depends(limit_rate(buckets, "marks", per_minute=240, burst=400, identity=TRAVEL.caller))

    @api.get("/visits")
    def list_visits(
        who: Traveller,
        region_type: Annotated[RegionType | None, Query(alias="type")] = None,
        recent: Annotated[int | None, Query(ge=1, le=100, description="only this many of the latest")] = None,
        size: PageSize = None,
        after: After = None,
    ) -> bodies.Listed[bodies.VisitView]:
        """All places; or those of one type, in pages; or the last marked."""
        if recent is not None:
            return bodies.Listed(items=[bodies.visit_view(it) for it in service.recent(who.user_id, recent)])
        if region_type is None:
            return bodies.Listed(items=[bodies.visit_view(it) for it in service.all(who.user_id)])
        page = service.of_type(who.user_id, region_type, size, after)
        return bodies.listed(page, bodies.visit_view)

    def shown(
        who: TravellerLogin, region_type: RegionType, code: str, response: Response
    ) -> bodies.VisitView:
        visit = service.one(who.user_id, region_type, code)
        mark(response, visit.sync_version)
        return bodies.visit_view(visit)

    @api.get("/visits/{region_type}/{code}")
    def get_visit(region_type: RegionType, code: str, response: Response, who: Traveller) -> bodies.VisitView:
        return shown(who, region_type, code, response)

    @api.put("/visits/{region_type}/{code}", dependencies=[pace])
    def mark_place(
        region_type: RegionType,
        code: str,
        response: Response,
        who: Traveller,
        version: VersionRead,
        body: bodies.VisitBody | None = None,
    ) -> bodies.Marked:
        """Mark a place, or change the sent fields, on all my devices. A state may offer its country."""
        fields = body.fields() if body is not None else {}
        result = service.mark(who.user_id, region_type, code, fields, version)
        return bodies.Marked(visit=shown(who, region_type, code, response), offers=result.offers)

    @api.delete("/visits/{region_type}/{code}", dependencies=[pace])
    def unmark_place(
        region_type: RegionType, code: str, who: Traveller, version: VersionRead
    ) -> bodies.Unmarked:
        """Remove a mark, on all my devices."""
        result = service.unmark(who.user_id, region_type, code, version)
        return bodies.Unmarked(feed_version=result.server_version)

    @api.get("/stats", response_model=bodies.StatsView)
    def stats(request: Request, response: Response, who: Traveller) -> bodies.StatsView | Response:
        """The figures, as of the last change."""
        found = travel.statistics.of(who.user_id)
        version = f"{found.server_version}-{found.calculation_date}-{found.data_version}"
        same = unchanged(request, version)
        if same is not None:
            return same
        mark(response, version)
        return bodies.stats_view(found, travel.geography)

    return api
