"""The grid: no point and no box may miss a region, at the poles, at 180 degrees, or on a line of the grid."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.systems.travel.geography.measures import box_contains, cell_at
from tools.geography.region_cells import cells_of_region

from tablewright.systems.travel.geography.borders import borders
from tablewright.systems.travel.geography.boxes import Box, BoxMistake
from tablewright.systems.travel.geography.cells import cells_of_box
from tablewright.systems.travel.geography.regions import Region, geography
from tablewright.systems.travel.geography.shapes import border_of, region_meets, regions_in_box
from tablewright.systems.travel.geography.shapes import contains as region_contains
from tablewright.systems.travel.model import REGION_TYPES

WORLD = geography()
EVERYWHERE = [region for kind in REGION_TYPES for region in WORLD.of(kind)]

# Whole tens are the lines of the grid, where mistakes are: they are drawn often.
LATS = st.one_of(st.sampled_from([float(v) for v in range(-90, 91, 10)]), st.floats(-90, 90))
LONS = st.one_of(st.sampled_from([float(v) for v in range(-180, 181, 10)]), st.floats(-180, 180))


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    south, north = sorted((draw(LATS), draw(LATS)))
    return Box(north, south, draw(LONS), draw(LONS))


@st.composite
def small_boxes(draw: st.DrawFn) -> Box:
    lat, lon = draw(LATS), draw(LONS)
    tall, wide = draw(st.floats(0, 8)), draw(st.floats(0, 8))
    return Box(min(lat + tall, 90), max(lat - tall, -90), _wrapped(lon + wide), _wrapped(lon - wide))


def _wrapped(lon: float) -> float:
    return lon - 360 if lon > 180 else lon + 360 if lon < -180 else lon


@pytest.mark.parametrize(
    ("lat", "lon", "cell"),
    [
        (-90, -180, "r00c00"),
        (90, 179.9, "r17c35"),
        (0, 0, "r09c18"),
        (-0.1, -0.1, "r08c17"),
        (48.85, 2.35, "r13c18"),
        (10, 180, "r10c00"),
        (10, -180, "r10c00"),
    ],
)
def test_a_point_falls_into_one_cell(lat: float, lon: float, cell: str) -> None:
    assert cell_at(lat, lon) == cell


def test_a_box_across_180_degrees_has_the_cells_of_both_sides() -> None:
    assert cells_of_box(Box(-15, -20, -178, 177)) == ("r07c00", "r07c35")


def test_the_whole_world_is_every_cell_once() -> None:
    every = cells_of_box(Box(90, -90, 180, -180))
    assert len(every) == len(set(every)) == 18 * 36
    assert cells_of_box(Box(90, -90, 174, 175)) == every


@given(boxes(), LATS, LONS)
def test_a_point_of_a_box_falls_into_a_cell_of_the_box(box: Box, lat: float, lon: float) -> None:
    if box_contains(box, lat, lon):
        assert cell_at(lat, lon) in cells_of_box(box)


@pytest.mark.parametrize(
    "wrong",
    [(91, 0, 0, 0), (0, -91, 0, 0), (0, 0, 181, 0), (0, 0, 0, -181), (0, 10, 0, 0), (float("nan"), 0, 0, 0)],
)
def test_a_box_that_is_not_on_the_map_is_refused(wrong: tuple[float, float, float, float]) -> None:
    with pytest.raises(BoxMistake):
        Box(*wrong)


def test_the_cells_that_are_shipped_are_those_of_the_shipped_borders() -> None:
    for kind in REGION_TYPES:
        for region in WORLD.of(kind):
            assert region.cells == cells_of_region(border_of(kind, region.region_code)), region.region_code


@pytest.mark.parametrize(
    "region", EVERYWHERE, ids=lambda region: f"{region.region_type}-{region.region_code}"
)
def test_every_point_of_a_border_lies_in_a_cell_of_its_region(region: Region) -> None:
    cells = set(region.cells)
    for piece in border_of(region.region_type, region.region_code):
        for (ax, ay), (bx, by) in pairwise(piece.rings[0]):
            for x, y in ((ax, ay), ((ax + bx) / 2, (ay + by) / 2)):
                assert cell_at(y, (x + 180) % 360 - 180) in cells


@given(LATS, LONS)
@settings(max_examples=100, deadline=None)
def test_a_point_of_a_region_lies_in_one_of_the_regions_cells(lat: float, lon: float) -> None:
    cell = cell_at(lat, lon)
    for kind in REGION_TYPES:
        for code, border in borders(kind, "high").items():
            if region_contains(border, lat, lon):
                region = WORLD.get(kind, code)
                assert region is not None
                assert cell in region.cells


@given(st.one_of(small_boxes(), boxes()), st.sampled_from(REGION_TYPES))
@settings(max_examples=60, deadline=None)
def test_looking_through_the_cells_finds_what_looking_at_every_region_finds(box: Box, kind: str) -> None:
    every = tuple(region for region in WORLD.of(kind) if region_meets(region, box))
    assert regions_in_box(kind, box) == every


def test_sk_s10_fiji_and_alaska_are_found_across_180_degrees() -> None:
    assert [r.region_code for r in regions_in_box("country", Box(-15, -20, -178, 177))] == ["FJ"]
    alaska = [r.region_code for r in regions_in_box("us_state", Box(72, 51, -130, 172))]
    assert alaska.count("US-AK") == 1
    assert [r.region_code for r in regions_in_box("country", Box(67, 66, -175, 175))] == ["RU"]


def test_a_box_in_the_corner_of_a_bounding_box_does_not_list_the_region() -> None:
    # The Atlantic west of Portugal is inside Spain's bounding box, thanks to the Canaries.
    sea = Box(34, 33, -12, -13)
    assert regions_in_box("country", sea) == ()


def test_a_box_inside_a_country_finds_that_country_and_a_box_in_a_hole_does_not() -> None:
    assert [r.region_code for r in regions_in_box("country", Box(-22, -23, 25, 24))] == ["BW"]
    assert [r.region_code for r in regions_in_box("country", Box(-29.5, -29.6, 28.3, 28.2))] == ["LS"]
