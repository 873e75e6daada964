"""The bodies of the API for regions: the geography, and visitor counts."""

from tablewright.kit.http import view_of
from tablewright.systems.travel.geography.regions import CONTINENTS, Region
from tablewright.systems.travel.geography.shapes import NearbyRegion
from tablewright.systems.travel.model import RegionType, Value
from tablewright.systems.travel.places.public_profiles import FEWEST_TOLD


class RegionView(Value):
    """A region. Borders are at `boundary_url`, good enough for a small map at `boundary_simplified_url`."""

    region_type: RegionType
    region_code: str
    name: str
    display_name: str
    continent_code: str | None
    continent: str | None
    parent_region: str | None
    capital: str | None
    population: int | None
    area_km2: float | None
    bbox_north: float
    bbox_south: float
    bbox_east: float
    bbox_west: float
    center_lat: float
    center_lon: float
    countable: bool
    boundary_url: str
    boundary_simplified_url: str
    data_version: str


def region_view(region: Region, root: str) -> RegionView:
    """`root` is where the API is: addresses are made when they are given out (SK-D38)."""
    border = f"{root}/regions/{region.region_type}/{region.region_code}/boundary"
    version = f"v={region.data_version}"
    return view_of(
        RegionView,
        region,
        continent=CONTINENTS.get(region.continent_code or ""),
        boundary_url=f"{border}?level=high&{version}",
        boundary_simplified_url=f"{border}?level=low&{version}",
    )


class Regions(Value):
    data_version: str
    items: list[RegionView]


class Nearby(Value):
    region: RegionView
    km: float


def nearby(place: NearbyRegion, root: str) -> Nearby:
    return Nearby(region=region_view(place.region, root), km=round(place.km, 1))


class Visitors(Value):
    """How many travellers share a visit there; null below `at_least`, so that no single traveller can be identified."""

    count: int | None
    at_least: int = FEWEST_TOLD
