"""`/regions/...`: the geography, the same for every caller and cacheable; and visitor counts.

Must hold: an answer that may be kept carries the data_version as its tag, and changes with it alone.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request, Response

from tablewright.edge import RateLimiter, limit_rate
from tablewright.edge.etags import mark, public_cache, unchanged
from tablewright.edge.routes import Router
from tablewright.systems.travel.access import TRAVEL, Traveller
from tablewright.systems.travel.api import region_bodies as views
from tablewright.systems.travel.api.bodies import as_json, root_of
from tablewright.systems.travel.geography.borders import Level
from tablewright.systems.travel.model import REGION_TYPES, RegionType
from tablewright.systems.travel.travel import Travel

HOUR, YEAR = 3600, 365 * 24 * 3600
Types = Annotated[list[RegionType] | None, Query(alias="type")]
Asked = Annotated[str | None, Query(alias="v", description="the data_version: then it may be kept for ever")]


def regions(travel: Travel, buckets: RateLimiter) -> APIRouter:
    api = Router(prefix="/regions", tags=["regions"])
    places = travel.places
    pace = Depends(limit_rate(buckets, "regions", per_minute=600, burst=600, identity=TRAVEL.caller))

    def kept(request: Request, response: Response, seconds: int, make: Callable[[], Any]) -> Any:
        """A response that any cache may keep for a while and then revalidate by the data version."""
        cache = public_cache(seconds)
        same = unchanged(request, places.data_version, cache_control=cache)
        if same is not None:
            return same
        found = make()
        target = found if isinstance(found, Response) else response
        mark(target, places.data_version, cache_control=cache)
        return found

    def keeping(asked: str | None) -> int:
        """An address that names the version has the same bytes behind it for ever; without, others come one day."""
        return YEAR if asked == places.data_version else HOUR

    @api.get("/search", response_model=views.Regions, dependencies=[pace])
    def search(
        request: Request, response: Response, q: Annotated[str, Query(max_length=100)], types: Types = None
    ) -> Any:
        """Regions by the beginning of any word of any of their names, in any accent."""

        def make() -> views.Regions:
            return several(request, places.search(q, types or REGION_TYPES))

        return kept(request, response, HOUR, make)

    @api.get("/bbox", response_model=views.Regions, dependencies=[pace])
    def bbox(
        request: Request, response: Response, n: float, s: float, e: float, w: float, types: Types = None
    ) -> Any:
        """Regions with a point in a box; west > east is a box across 180 degrees."""

        def make() -> views.Regions:
            return several(request, places.in_box(n, s, e, w, types or REGION_TYPES))

        return kept(request, response, HOUR, make)

    @api.get("/here", dependencies=[pace])
    def here(request: Request, lat: float, lon: float) -> list[views.Nearby]:
        """The country at a point, and the state or province where it has them."""
        return [views.nearby(place, root_of(request)) for place in places.here(lat, lon)]

    @api.get("/lakes/topology", response_model=None, dependencies=[pace])
    def lakes(request: Request, response: Response, version: Asked = None) -> Any:
        """Great lakes as TopoJSON, to be drawn over the regions."""
        return kept(request, response, keeping(version), lambda: topology("lakes", "low"))

    @api.get("/{region_type}", response_model=views.Regions, dependencies=[pace])
    def list_regions(region_type: RegionType, request: Request, response: Response) -> Any:
        """Every region of a type."""
        return kept(request, response, HOUR, lambda: several(request, places.of_type(region_type)))

    @api.get("/{region_type}/topology", response_model=None, dependencies=[pace])
    def topology_of(
        region_type: RegionType,
        request: Request,
        response: Response,
        level: Level = "low",
        version: Asked = None,
    ) -> Any:
        """The borders of a whole type as TopoJSON: `low` for the world, `high` to look closer."""
        return kept(request, response, keeping(version), lambda: topology(region_type, level))

    @api.get("/{region_type}/{code}", response_model=views.RegionView, dependencies=[pace])
    def get_region(region_type: RegionType, code: str, request: Request, response: Response) -> Any:
        """A region; a code that was retired leads to the present one."""

        def make() -> views.RegionView:
            return views.region_view(places.get(region_type, code), root_of(request))

        return kept(request, response, HOUR, make)

    @api.get("/{region_type}/{code}/boundary", response_model=None, dependencies=[pace])
    def boundary(
        region_type: RegionType,
        code: str,
        request: Request,
        response: Response,
        level: Level = "low",
        version: Asked = None,
    ) -> Any:
        """The border of a region as GeoJSON."""

        def make() -> Response:
            found = places.boundary(region_type, code, level)
            return Response(as_json(found), media_type="application/geo+json")

        return kept(request, response, keeping(version), make)

    @api.get("/{region_type}/{code}/visitors")
    def visitors(region_type: RegionType, code: str, who: Traveller) -> views.Visitors:
        """How many share that they have been there, unless they are few."""
        return views.Visitors(count=travel.sharing.visitors(region_type, code))

    def several(request: Request, found: Any) -> views.Regions:
        items = [views.region_view(region, root_of(request)) for region in found]
        return views.Regions(data_version=places.data_version, items=items)

    def topology(name: RegionType | Literal["lakes"], level: Level) -> Response:
        return Response(places.topology(name, level), media_type="application/json")

    return api
