"""Where places are: known points, holes, 180 degrees, the pole, off the coast; and borders given out as GeoJSON."""

from itertools import pairwise
from math import cos, radians

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.systems.travel.geography.measures import area_km2

from tablewright.systems.travel.geography.borders import LEVELS, Level, Piece, Point, is_inside
from tablewright.systems.travel.geography.boxes import BoxMistake
from tablewright.systems.travel.geography.outlines import NoSuchRegion, boundary, cut
from tablewright.systems.travel.geography.regions import Region, geography
from tablewright.systems.travel.geography.shapes import COAST_KM, border_of, contains, here, locate, nearby
from tablewright.systems.travel.model import REGION_TYPES

WORLD = geography()
EVERYWHERE = [region for kind in REGION_TYPES for region in WORLD.of(kind)]


def codes(lat: float, lon: float) -> list[str]:
    return [place.region.region_code for place in here(lat, lon)]


@pytest.mark.parametrize(
    ("lat", "lon", "expected"),
    [
        (48.8566, 2.3522, ["FR"]),
        (40.7580, -73.9855, ["US", "US-NY"]),
        (43.6532, -79.3832, ["CA", "CA-ON"]),
        (38.8977, -77.0365, ["US", "US-DC"]),
        (18.40, -66.06, ["PR", "US-PR"]),
        (41.9022, 12.4539, ["VA"]),
        (41.8902, 12.4922, ["IT"]),
        (36.1447, -5.3526, ["GI"]),
        (36.1683, -5.3482, ["ES"]),
        (43.7396, 7.4273, ["MC"]),
        (43.7440, 7.4190, ["FR"]),
        (43.9424, 12.4578, ["SM"]),
        (-29.3151, 27.4869, ["LS"]),
        (-26.2041, 28.0473, ["ZA"]),
        (4.9224, -52.3135, ["GF"]),
        (78.2232, 15.6267, ["SJ"]),
        (70.98, -8.5, ["SJ"]),
        (12.15, -68.27, ["BQ"]),
        (42.6629, 21.1655, ["XK"]),
        (44.9521, 34.1024, ["UA"]),
        (27.15, -13.20, ["EH"]),
        (35.1856, 33.3823, ["CY"]),
        (9.56, 44.065, ["SO"]),
        (-90.0, 0.0, ["AQ"]),
        (-77.85, 166.67, ["AQ"]),
        (-16.85, 179.97, ["FJ"]),
        (-16.85, -179.97, ["FJ"]),
        (66.3, 180.0, ["RU"]),
        (66.3, -180.0, ["RU"]),
        (64.73, 177.5, ["RU"]),
        (66.16, -169.81, ["RU"]),
        (52.9, 173.1, ["US", "US-AK"]),
        (53.88, -166.54, ["US", "US-AK"]),
        (-43.95, -176.55, ["NZ"]),
        (1.87, -157.4, ["KI"]),
        (1.45, 173.03, ["KI"]),
        (0.0, 0.0, []),
        (35.0, -40.0, []),
        (90.0, 0.0, []),
    ],
)
def test_i_am_here(lat: float, lon: float, expected: list[str]) -> None:
    assert codes(lat, lon) == expected


def test_a_point_off_the_coast_is_near_its_country_and_says_how_far() -> None:
    place = locate("country", 50.63, 1.50)
    assert place is not None
    assert place.region.region_code == "FR"
    assert 0 < place.km < COAST_KM


def test_a_point_farther_than_asked_for_is_nowhere() -> None:
    far = locate("country", 36.0, -9.5, within_km=500)
    assert far is not None
    assert far.region.region_code == "PT"
    assert 80 < far.km < 130
    assert locate("country", 36.0, -9.5, within_km=far.km - 0.001) is None
    assert locate("country", 36.0, -9.5, within_km=far.km) == far


def test_the_nearest_coast_is_found_across_180_degrees_and_across_cells() -> None:
    east = locate("country", -16.5, -179.85, within_km=60)
    west = locate("country", -16.5, 179.8, within_km=60)
    assert east is not None
    assert west is not None
    assert east.region.region_code == west.region.region_code == "FJ"


def test_distances_are_those_of_the_globe() -> None:
    # A tenth of a degree west of Denmark's westernmost corner.
    denmark = border_of("country", "DK")
    west, lat = min(corner for piece in denmark for corner in piece.rings[0])
    place = locate("country", lat, west - 0.1)
    assert place is not None
    assert place.region.region_code == "DK"
    assert place.km == pytest.approx(0.1 * 111.195 * cos(radians(lat)), rel=0.02)


def test_somebody_at_a_border_is_offered_both_sides() -> None:
    # Görlitz in Germany, which the map has half a kilometre inside Poland.
    assert [place.region.region_code for place in nearby("country", 51.155, 14.988, 3)] == ["PL", "DE"]
    assert [place.region.region_code for place in nearby("country", 41.9022, 12.4539, 3)] == ["VA", "IT"]
    assert nearby("country", 35.0, -40.0, 3) == ()


@pytest.mark.parametrize(("lat", "lon"), [(91, 0), (0, 181), (float("nan"), 0), (0, float("inf"))])
def test_a_point_that_is_not_on_the_map_is_refused(lat: float, lon: float) -> None:
    with pytest.raises(BoxMistake):
        locate("country", lat, lon)


# ---- geometry of one piece ----------------------------------------------------------------------

SQUARE = ((0.0, 0.0), (0.0, 10.0), (10.0, 10.0), (10.0, 0.0), (0.0, 0.0))
HOLE = ((4.0, 4.0), (6.0, 4.0), (6.0, 6.0), (4.0, 6.0), (4.0, 4.0))
FRAME = Piece((SQUARE, HOLE), 0, 10, 0, 10)


@given(st.floats(-1, 11), st.floats(-1, 11))
def test_a_hole_is_outside_and_its_edge_is_not(x: float, y: float) -> None:
    in_square, in_hole = 0 <= x <= 10 and 0 <= y <= 10, 4 < x < 6 and 4 < y < 6
    assert is_inside(FRAME, (x, y)) == (in_square and not in_hole)


@given(st.integers(0, 40), st.sampled_from([*pairwise(SQUARE), *pairwise(HOLE)]))
def test_every_point_of_an_edge_is_inside(part: int, edge: tuple[Point, Point]) -> None:
    (ax, ay), (bx, by) = edge
    assert is_inside(FRAME, (ax + (bx - ax) * part / 40, ay + (by - ay) * part / 40))


TEETH = (
    (170.0, 0.0),
    (170.0, 9.0),
    (185.0, 8.0),
    (175.0, 7.0),
    (185.0, 6.0),
    (175.0, 3.0),
    (185.0, 2.0),
    (170.0, 0.0),
)


@given(st.floats(170, 186), st.floats(0, 9))
def test_a_piece_cut_at_180_degrees_covers_what_it_covered(x: float, y: float) -> None:
    whole = Piece((TEETH,), 170, 185, 0, 9)
    parts = [Piece(rings, *_reach(rings[0])) for rings in cut(whole)]
    assert all(part.west >= -180 and part.east <= 180 for part in parts)
    inside = is_inside(whole, (x, y))
    folded = x - 360 if x > 180 else x
    if abs(x - 180) > 1e-6 and not _near_edge(x, y):
        assert any(is_inside(part, (folded, y)) for part in parts) == inside


def _near_edge(x: float, y: float) -> bool:
    def off(a: Point, b: Point) -> float:
        return abs((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]))

    return any(off(a, b) < 1e-6 for a, b in pairwise(TEETH))


def _reach(ring: tuple[Point, ...]) -> tuple[float, float, float, float]:
    xs, ys = [x for x, _ in ring], [y for _, y in ring]
    return min(xs), max(xs), min(ys), max(ys)


def test_a_comb_is_cut_into_its_teeth() -> None:
    assert len(cut(Piece((TEETH,), 170, 185, 0, 9))) == 4  # the handle, and three teeth that point east


# ---- GeoJSON --------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", REGION_TYPES)
def test_every_region_is_good_geojson(kind: str, level: Level) -> None:
    for region in WORLD.of(kind):
        shape = boundary(kind, region.region_code, level)
        assert shape["type"] == "Feature"
        assert shape["id"] == region.region_code
        assert shape["geometry"]["type"] == "MultiPolygon"
        for rings in shape["geometry"]["coordinates"]:
            for place, ring in enumerate(rings):
                assert ring[0] == ring[-1]
                assert len(ring) >= 4
                assert all(-180 <= x <= 180 and -90 <= y <= 90 for x, y in ring)
                turn = sum(a[0] * b[1] - b[0] * a[1] for a, b in pairwise(ring))
                assert (turn > 0) == (place == 0), region.region_code


def test_cutting_a_border_at_180_degrees_keeps_its_area() -> None:
    for code in ("RU", "FJ", "US", "NZ", "KI", "AQ"):
        border = border_of("country", code)
        pieces = tuple(Piece(rings, *_reach(rings[0])) for piece in border for rings in cut(piece))
        assert area_km2(pieces) == pytest.approx(area_km2(border), rel=1e-6), code


def test_a_border_that_crosses_180_degrees_has_no_seam_there() -> None:
    for code in ("RU", "FJ"):
        for piece in border_of("country", code):
            assert not any(a[0] == b[0] == 180 for ring in piece.rings for a, b in pairwise(ring)), code


def test_a_region_nobody_has_heard_of_has_no_border() -> None:
    with pytest.raises(NoSuchRegion, match="ZZ"):
        boundary("country", "ZZ", "low")


@given(st.sampled_from(EVERYWHERE), st.data())
@settings(max_examples=100)
def test_a_corner_of_a_border_is_in_its_region(region: Region, data: st.DataObject) -> None:
    piece = data.draw(st.sampled_from(border_of(region.region_type, region.region_code)))
    lon, lat = data.draw(st.sampled_from(piece.rings[0]))
    on_map = lon - 360 if lon > 180 else lon + 360 if lon < -180 else lon
    # Half a turn more or less costs the last digit: such a corner is looked for a hair's breadth to both sides.
    widths = (0.0,) if on_map == lon else (0.0, 1e-9, -1e-9)
    assert any(contains((piece,), lat, on_map + width) for width in widths)
