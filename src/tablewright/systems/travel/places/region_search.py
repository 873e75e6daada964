"""The geography as it is published into the table: found by code, by name, by a box, by a position.

A name is looked up as a range of keys, a box through the cells it covers; what is found there is then tested and
ranked exactly (SK-D11, SK-D12). Must hold: publishing may stop anywhere and be begun again; readers see the release
before until the new one is whole; what a new version no longer has is gone. Elsewhere: the data (geography/).
"""

import functools
from collections.abc import Iterable, Sequence
from importlib import resources
from itertools import chain
from typing import Any, Literal

from tablewright.design import Write
from tablewright.edge.errors import BadRequest, Conflict, NotFound
from tablewright.systems.travel import design as d
from tablewright.systems.travel import rules
from tablewright.systems.travel.geography import names, outlines, shapes
from tablewright.systems.travel.geography.borders import Level
from tablewright.systems.travel.geography.boxes import Box
from tablewright.systems.travel.geography.cells import cells_of_box
from tablewright.systems.travel.geography.regions import (
    GeoAlias,
    GeoCell,
    Geography,
    GeoRegion,
    GeoRelease,
    Region,
)
from tablewright.systems.travel.geography.shapes import NearbyRegion
from tablewright.systems.travel.model import REGION_TYPES, RegionType
from tablewright.systems.travel.repository import Repository

FOUND_AT_MOST = 50
CELLS_AT_MOST = 40
_NAME_AT_MOST = 100
_LAST = chr(0x10FFFF)


class Places:
    """The public regions."""

    def __init__(self, repository: Repository, geography: Geography) -> None:
        self._repository, self._geography = repository, geography

    @property
    def data_version(self) -> str:
        return self._geography.data_version

    # --- looking ---

    def of_type(self, region_type: RegionType) -> tuple[Region, ...]:
        return self._geography.of(region_type)

    def get(self, region_type: RegionType, region_code: str) -> Region:
        """A region; one that was renamed is followed, one that was divided says what it became."""
        if not self._geography.follow(region_type, region_code):
            raise NotFound("REGION")
        found = self._geography.get(*rules.present_place(self._geography, region_type, region_code))
        assert found is not None
        return found

    def search(self, text: str, types: Sequence[RegionType] = REGION_TYPES) -> list[Region]:
        """SK-24: the regions that a typed text may mean, the likeliest first."""
        wanted = names.squeezed(text[:_NAME_AT_MOST])
        if not wanted:
            raise BadRequest("EMPTY_QUERY", "Enter at least one letter of a name.", "q")
        found: list[Region] = []
        is_published = self.is_published()
        for kind in types:
            if not is_published:
                found += self._geography.of(kind)
                continue
            query = d.regions_named(region_type=kind, first=wanted, last=wanted + _LAST)
            found += self._known(kind, {hit.region_code for hit in self._repository.db.all(query)})
        return names.rank(text[:_NAME_AT_MOST], found)[:FOUND_AT_MOST]

    def in_box(
        self, north: float, south: float, east: float, west: float, types: Sequence[RegionType] = REGION_TYPES
    ) -> list[Region]:
        """SK-25: every region with a point in a box, which may lie across 180 degrees (west > east)."""
        box = _box(north, south, east, west)
        cells = cells_of_box(box)
        # A box as wide as a continent: looking at every region is less work than asking for every cell.
        if len(cells) > CELLS_AT_MOST or not self.is_published():
            return [region for kind in types for region in shapes.regions_in_box(kind, box)]
        hits = {
            (hit.region_type, hit.region_code)
            for cell in cells
            for hit in self._repository.db.all(d.regions_in_cell(bbox_key=cell))
        }
        found = [
            region
            for kind in types
            for region in self._known(kind, {code for each, code in hits if each == kind})
        ]
        return [region for region in found if shapes.region_meets(region, box)]

    def here(self, lat: float, lon: float) -> tuple[NearbyRegion, ...]:
        """ "I am here": the country, and the state or province where it has them."""
        _box(lat, lat, lon, lon)
        return shapes.here(lat, lon)

    def boundary(self, region_type: RegionType, region_code: str, level: Level) -> dict[str, Any]:
        """The border of a region as GeoJSON."""
        region = self.get(region_type, region_code)
        return outlines.boundary(region_type, region.region_code, level)

    @staticmethod
    def topology(name: RegionType | Literal["lakes"], level: Level) -> bytes:
        """The borders of a whole type as TopoJSON, which is what maps draw."""
        return _topology(name if name == "lakes" else f"{name}-{level}")

    # --- publishing ---

    def release(self) -> GeoRelease | None:
        """What is published."""
        return self._repository.db.one(d.geo_releases.get("current"))

    def is_published(self) -> bool:
        release = self.release()
        return release is not None and release.data_version == self.data_version

    def is_outdated(self) -> bool:
        """Whether the table has a later release than this program, which another one published."""
        release = self.release()
        return release is not None and _number(release.data_version) > _number(self.data_version)

    def publish(self) -> int:
        """Put this version of the geography into the table, if it is not there; how many items were written.

        What the version before had and this one has not goes last: until the release is put, others read that one.
        """
        release = self.release()
        is_there = release is not None and release.data_version == self.data_version
        if release is not None and is_there and release.is_swept is not False:
            return 0
        done = 0
        if not is_there:
            for kind in REGION_TYPES:
                items = list(chain.from_iterable(_items(region) for region in self._geography.of(kind)))
                self._batch(items)
                done += len(items)
            total = sum(len(self._geography.of(kind)) for kind in REGION_TYPES)
            now = self._repository.now()
            release = GeoRelease(
                data_version=self.data_version, published_at=now, regions=total, is_swept=False
            )
            self._repository.db.write(d.geo_releases.put(release))
        assert release is not None
        ours = self._repository.db.one(d.geo_releases.get("current"), consistent=True)
        if ours is None or ours.data_version != self.data_version:
            return done  # another process published its own version since, and sweeps after that
        done += sum(self._sweep(kind, self._geography.of(kind)) for kind in REGION_TYPES)
        swept = d.geo_releases.change(release, release.model_copy(update={"is_swept": True}))
        self._repository.try_write(swept.when(lambda it: it.data_version == self.data_version))
        return done

    def _sweep(self, kind: RegionType, regions: Sequence[Region]) -> int:
        """Remove what this version no longer has."""
        db = self._repository.db
        codes = {region.region_code for region in regions}
        cells = {(cell, region.region_code) for region in regions for cell in region.cells}
        aliases = {(token, region.region_code) for region in regions for token in names.tokens(region)}
        old: list[Write[Any]] = [
            d.geo_regions.discard(kind, it.region_code)
            for it in db.all(d.regions_of_type(region_type=kind))
            if it.region_code not in codes
        ]
        old += [
            d.geo_cells.discard(kind, it.bbox_key, it.region_code)
            for it in db.all(d.cells_of_type(region_type=kind))
            if (it.bbox_key, it.region_code) not in cells
        ]
        old += [
            d.geo_aliases.discard(kind, it.token, it.region_code)
            for it in db.all(d.aliases_of_type(region_type=kind))
            if (it.token, it.region_code) not in aliases
        ]
        self._batch(old)
        return len(old)

    def _batch(self, writes: Sequence[Write[Any]]) -> None:
        if self._repository.db.batch(writes):
            words = "The store is busy, so not everything was published. Please publish again in a moment."
            raise Conflict("STATE_CONFLICT", words)

    def _known(self, kind: RegionType, codes: Iterable[str]) -> list[Region]:
        return [region for code in sorted(codes) if (region := self._geography.get(kind, code)) is not None]


def _number(data_version: str) -> int:
    """A version is the number of its release, then a checksum."""
    return int(data_version.partition("-")[0])


def _items(region: Region) -> Iterable[Write[Any]]:
    """A region as the items by which it is found."""
    yield d.geo_regions.put(GeoRegion(**region.model_dump(exclude={"aliases", "cells"})))
    key: dict[str, Any] = {"region_type": region.region_type, "region_code": region.region_code}
    for cell in region.cells:
        yield d.geo_cells.put(GeoCell(**key, bbox_key=cell, data_version=region.data_version))
    for token in names.tokens(region):
        alias = GeoAlias(
            **key, token=token, display_name=region.display_name, data_version=region.data_version
        )
        yield d.geo_aliases.put(alias)


def _box(north: float, south: float, east: float, west: float) -> Box:
    try:
        return Box(north, south, east, west)
    except ValueError:
        words = (
            "A box must have latitudes from -90 to 90, south below north, and longitudes from -180 to 180."
        )
        raise BadRequest("INVALID_BOX", words) from None


@functools.cache
def _topology(name: str) -> bytes:
    folder = resources.files("tablewright.systems.travel").joinpath("data")
    return folder.joinpath(f"{name}.topojson").read_bytes()
