"""The regions one can visit: countries, states of the United States, provinces and territories of Canada.

Read from data/regions.json, which tools/geography builds; nothing is fetched at run time. Only what is `countable` is
in a denominator: the 193 members and 2 observers of the United Nations, 50 states, 13 provinces and territories.
Everything else with a code of its own (Greenland, Taiwan, Kosovo, Puerto Rico, Washington DC) can be visited too.
Must hold: a code that was once valid still leads somewhere (`follow`); a data_version names one set of bytes.
Elsewhere: borders and places (borders.py, shapes.py), searching (names.py).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache
from importlib import resources
from typing import Any, TypeVar

from tablewright.systems.travel.geography.boxes import Box
from tablewright.systems.travel.model import REGION_TYPES, RegionType, Stored

Kept = TypeVar("Kept")
CONTINENTS: Mapping[str, str] = {
    "AF": "Africa", "AN": "Antarctica", "AS": "Asia", "EU": "Europe", "NA": "North America", "OC": "Oceania",
    "SA": "South America",
}  # fmt: skip


class GeoRegion(Stored):
    """A region. Boundary files are object keys, not addresses (SK-D38)."""

    region_type: RegionType
    region_code: str
    name: str
    display_name: str
    normalized_name: str
    continent_code: str | None = None
    parent_region: str | None = None
    capital: str | None = None
    population: int | None = None
    area_km2: Decimal | None = None
    bbox_north: Decimal
    bbox_south: Decimal
    bbox_east: Decimal
    bbox_west: Decimal
    center_lat: Decimal
    center_lon: Decimal
    boundary_data_url: str
    boundary_simplified_url: str
    countable: bool = True
    data_version: str
    last_updated: datetime


class Region(GeoRegion):
    """A region with what it is found by."""

    aliases: tuple[str, ...]
    cells: tuple[str, ...]

    @property
    def box(self) -> Box:
        edges = (self.bbox_north, self.bbox_south, self.bbox_east, self.bbox_west)
        return Box(*map(float, edges))


class GeoCell(Stored):
    """That a region reaches into a cell of the grid (SK-D11)."""

    region_type: RegionType
    region_code: str
    bbox_key: str
    data_version: str


class GeoAlias(Stored):
    """A word by which a region is found (SK-D12)."""

    region_type: RegionType
    region_code: str
    token: str
    display_name: str
    data_version: str


class GeoRelease(Stored):
    """Which version of the geography is published; `is_swept`: what only the one before had is gone."""

    release: str = "current"
    data_version: str
    published_at: datetime
    regions: int
    is_swept: bool | None = None


@dataclass(frozen=True, slots=True)
class Retired:
    """A code that is no longer given out, and the codes of the place now: several where it was divided."""

    code: str
    name: str
    year: int
    became: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Geography:
    """All regions of one data_version."""

    data_version: str
    last_updated: str
    regions: Mapping[RegionType, Mapping[str, Region]]
    retired: Mapping[RegionType, Mapping[str, Retired]]

    def get(self, region_type: str, code: str) -> Region | None:
        """The region of a present code; None for any other, also for a retired one."""
        return _of(self.regions, region_type).get(code)

    def of(self, region_type: str) -> tuple[Region, ...]:
        """Every region of a type, by code."""
        return tuple(_of(self.regions, region_type).values())

    def denominator(self, region_type: str) -> int:
        """How many there are to visit, for percentages."""
        return sum(region.countable for region in _of(self.regions, region_type).values())

    def continent(self, region: Region) -> str | None:
        """The code of its continent; of a state, that of its country."""
        if region.continent_code is not None or region.parent_region is None:
            return region.continent_code
        parent = self.get("country", region.parent_region)
        return parent.continent_code if parent is not None else None

    def follow(self, region_type: str, code: str) -> tuple[str, ...]:
        """The current codes of a code from any time: one, and a visit moves there automatically; several, and only the
        traveller knows which; none if there never was such a region."""
        if self.get(region_type, code):
            return (code,)
        retired = _of(self.retired, region_type).get(code)
        return retired.became if retired else ()

    def former(self, region_type: str, code: str) -> tuple[str, ...]:
        """The retired codes from which a visit moves to this one automatically."""
        return tuple(old for old, it in _of(self.retired, region_type).items() if it.became == (code,))


@cache
def geography() -> Geography:
    """The shipped regions, read once."""
    sources, regions, retired = (_read(f"data/{name}.json") for name in ("sources", "regions", "retired"))
    version, updated = sources["data_version"], sources["last_updated"]
    return Geography(
        version,
        updated,
        {
            kind: {row["region_code"]: _region(row, version, updated) for row in regions[kind]}
            for kind in REGION_TYPES
        },
        {
            kind: {row["code"]: Retired(**{**row, "became": tuple(row["became"])}) for row in retired[kind]}
            for kind in REGION_TYPES
        },
    )


def _of(kept: Mapping[RegionType, Mapping[str, Kept]], region_type: str) -> Mapping[str, Kept]:
    return next((found for kind, found in kept.items() if kind == region_type), {})


def _region(row: dict[str, Any], version: str, updated: str) -> Region:
    key = f"geography/{version}/{row['region_type']}/{row['region_code']}"
    return Region(
        **row,
        boundary_data_url=f"{key}/high.geojson",
        boundary_simplified_url=f"{key}/low.geojson",
        data_version=version,
        last_updated=datetime.fromisoformat(f"{updated}T00:00:00+00:00"),
    )


def _read(name: str) -> dict[str, Any]:
    text = resources.files("tablewright.systems.travel").joinpath(name).read_text("utf-8")
    return dict(json.loads(text, parse_float=Decimal))
