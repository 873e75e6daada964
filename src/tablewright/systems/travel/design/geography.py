"""Regions by code, name and cell (SK-23 to SK-25)."""

from tablewright.design import Keys, Load, Retention, begins, between
from tablewright.systems.travel.design.base import TRAVEL, gsi1, gsi2, table
from tablewright.systems.travel.geography.regions import GeoAlias, GeoCell, GeoRegion, GeoRelease
from tablewright.systems.travel.model import RegionType

__all__ = [
    "aliases_of_type",
    "cells_of_type",
    "geo_aliases",
    "geo_cells",
    "geo_regions",
    "geo_releases",
    "region_by_code",
    "regions_in_cell",
    "regions_named",
    "regions_of_type",
]

# No personal data: a service that only shows the geography needs no further rights.
PUBLIC = ("public",)


def region_key(region_type: RegionType, region_code: str) -> None: ...
def cell_key(region_type: RegionType, bbox_key: str, region_code: str) -> None: ...
def alias_key(region_type: RegionType, token: str, region_code: str) -> None: ...
def release_key(release: str) -> None: ...


geo_regions = table.entity(
    GeoRegion,
    region_key,
    tag="region",
    pk="GEO#{region_type}",
    sk="REGION#{region_code}",
    on={gsi1: Keys("SEARCH#{region_type}", "NAME#{normalized_name}")},
    retention=Retention(None, "the geography"),
    load={"put": Load(per_month=350, item_bytes=700, new=0.1)},
)
geo_cells = table.entity(
    GeoCell,
    cell_key,
    tag="region_cell",
    pk="GEO#{region_type}",
    sk="CELL#{bbox_key}#{region_code}",
    on={gsi2: Keys("BOUNDS#{bbox_key}", "REGION#{region_code}")},
    retention=Retention(None, "the geography"),
    load={"put": Load(per_month=1_500, item_bytes=200, new=0.1)},
)
geo_aliases = table.entity(
    GeoAlias,
    alias_key,
    tag="region_alias",
    pk="GEO#{region_type}",
    sk="ALIAS#{token}#{region_code}",
    on={gsi1: Keys("SEARCH#{region_type}", "NAME#{token}")},
    retention=Retention(None, "the geography"),
    load={"put": Load(per_month=1_000, item_bytes=200, new=0.1)},
)
geo_releases = table.entity(
    GeoRelease,
    release_key,
    tag="geography",
    pk="GEOGRAPHY",
    sk="RELEASE#{release}",
    retention=Retention(None, "the geography"),
    load={"put": Load(per_month=1, item_bytes=150)},
)


# --- access patterns ---


@TRAVEL.get(geo_regions, roles=PUBLIC, load=Load(per_month=100_000, item_bytes=700))
def region_by_code(*, region_type: RegionType, region_code: str) -> None:
    """SK-23: a region."""


@TRAVEL.query(
    geo_regions,
    pk="GEO#{region_type}",
    sk=begins("REGION#"),
    page=300,
    at_most=500,
    roles=PUBLIC,
    load=Load(per_month=10_000, items=250, item_bytes=700),
)
def regions_of_type(*, region_type: RegionType) -> None:
    """All regions of a type."""


@TRAVEL.query(
    geo_regions,
    geo_aliases,
    on=gsi1,
    pk="SEARCH#{region_type}",
    sk=between("NAME#{first}", "NAME#{last}"),
    page=50,
    at_most=500,
    roles=PUBLIC,
    load=Load(per_month=100_000, items=10, item_bytes=300),
)
def regions_named(*, region_type: RegionType, first: str, last: str) -> None:
    """SK-24: regions and aliases whose normalised names lie between two texts, such as a prefix and its end."""


@TRAVEL.query(
    geo_cells, on=gsi2, pk="BOUNDS#{bbox_key}", sk=begins("REGION#"), page=100, roles=PUBLIC,
    load=Load(per_month=50_000, items=10, item_bytes=200),
)  # fmt: skip
def regions_in_cell(*, bbox_key: str) -> None:
    """SK-25: the regions that reach into a cell; the exact test comes after."""


@TRAVEL.query(
    geo_cells,
    pk="GEO#{region_type}",
    sk=begins("CELL#"),
    page=500,
    load=Load(per_month=10, items=1_000, item_bytes=200),
)
def cells_of_type(*, region_type: RegionType) -> None:
    """Every cell of a type, to find those a new version of the geography no longer has."""


@TRAVEL.query(
    geo_aliases,
    pk="GEO#{region_type}",
    sk=begins("ALIAS#"),
    page=500,
    load=Load(per_month=10, items=1_000, item_bytes=200),
)
def aliases_of_type(*, region_type: RegionType) -> None:
    """Every alias of a type, for the same reason."""
