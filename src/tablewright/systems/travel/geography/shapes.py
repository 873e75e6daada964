"""Where a place is, exactly: candidates by their cells, then the border itself.

"I am here" is answered from the `high` border. A point on a border is in both regions; of several, the smallest is
meant. A point in no region may be on a pier or a ferry: the nearest within COAST_KM is given, with the distance.
Borders were drawn at 1:10 million and are up to two kilometres off: `nearby` gives what else it may be.
Must hold: the region of a point is the same however its longitude is written; holes are outside (Lesotho is not in
South Africa); looking through the cells finds what looking through all regions would.
Elsewhere: reading the files and geometry of one piece (borders.py), the grid (cells.py), GeoJSON (outlines.py).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from math import cos, floor, hypot, inf, radians

from tablewright.systems.travel.geography.borders import (
    KM_A_DEGREE,
    Border,
    Level,
    Piece,
    Point,
    borders,
    is_inside,
    meets,
)
from tablewright.systems.travel.geography.boxes import Box, spans
from tablewright.systems.travel.geography.cells import cells_of_box
from tablewright.systems.travel.geography.regions import Region, geography

COAST_KM = 12.0
"""How far off a border a point may be and still mean that region: territorial waters are 22 km, harbours less."""

TURNS = (0.0, 360.0, -360.0)
"""What a longitude is called beyond 180 degrees, where some borders go on."""

STATES_OF = {"US": "us_state", "CA": "canadian_province"}
US_TERRITORIES = frozenset(("PR", "GU", "VI", "AS", "MP", "UM"))


@dataclass(frozen=True, slots=True)
class NearbyRegion:
    """A region that a point is in (0 km), or near."""

    region: Region
    km: float


def border_of(region_type: str, code: str, level: Level = "high") -> Border:
    return borders(region_type, level)[code]


def contains(border: Border, lat: float, lon: float) -> bool:
    return any(is_inside(piece, (lon + turn, lat)) for piece in border for turn in TURNS)


def locate(region_type: str, lat: float, lon: float, within_km: float = COAST_KM) -> NearbyRegion | None:
    """The region of a type at a point, or the nearest one not farther than `within_km`."""
    point = Box(lat, lat, lon, lon)  # a point that is not on the map is the caller's mistake
    layer = borders(region_type, "high")
    if found := [r for r in candidates(region_type, point) if contains(layer[r.region_code], lat, lon)]:
        return NearbyRegion(min(found, key=_smallest_first), 0.0)
    return next(iter(nearby(region_type, lat, lon, within_km)), None)


def nearby(region_type: str, lat: float, lon: float, within_km: float) -> tuple[NearbyRegion, ...]:
    """Every region of a type within a distance, the nearest first: what to offer a traveller at a border."""
    Box(lat, lat, lon, lon)
    layer = borders(region_type, "high")
    places = (
        NearbyRegion(region, _km_to(layer[region.region_code], lat, lon, within_km))
        for region in candidates(region_type, _around(lat, lon, within_km))
    )
    within = (place for place in places if place.km <= within_km)
    return tuple(sorted(within, key=lambda place: (place.km, _smallest_first(place.region))))


def _smallest_first(region: Region) -> tuple[Decimal, str]:
    return region.area_km2 or Decimal(0), region.region_code


def candidates(region_type: str, box: Box) -> tuple[Region, ...]:
    """What may meet a box: the regions listed under its cells, by code."""
    listed = _by_cell(region_type)
    found = {region.region_code: region for cell in cells_of_box(box) for region in listed.get(cell, ())}
    return tuple(found[code] for code in sorted(found))


@cache
def _by_cell(region_type: str) -> Mapping[str, Sequence[Region]]:
    listed: dict[str, list[Region]] = {}
    for region in geography().of(region_type):
        for cell in region.cells:
            listed.setdefault(cell, []).append(region)
    return listed


def here(lat: float, lon: float, within_km: float = COAST_KM) -> tuple[NearbyRegion, ...]:
    """ "I am here": the country, and the state or province where the country has them."""
    country = locate("country", lat, lon, within_km)
    if country is None:
        return ()
    code = country.region.region_code
    inner = "us_state" if code in US_TERRITORIES else STATES_OF.get(code)
    # The two layers are simplified apart, so a point just inside the country may be just outside its states.
    part = locate(inner, lat, lon, max(within_km, country.km + COAST_KM)) if inner else None
    return (country,) if part is None else (country, part)


def regions_in_box(region_type: str, box: Box) -> tuple[Region, ...]:
    """Every region that has a point in the box, by code."""
    return tuple(region for region in candidates(region_type, box) if region_meets(region, box))


def region_meets(region: Region, box: Box) -> bool:
    """Has the region itself, not only its bounding box, a point in the box?"""
    parts = [Box(box.north, box.south, east, west) for west, east in spans(box)]
    border = border_of(region.region_type, region.region_code)
    return any(
        meets(_turned(piece, turn), part)
        for piece in border
        for turn in _useful_turns(piece)
        for part in parts
    )


def _around(lat: float, lon: float, km: float) -> Box:
    """A box that holds everything within a distance of a point."""
    tall, wide = _degrees(lat, km)
    north, south = min(lat + tall, 90.0), max(lat - tall, -90.0)
    if wide >= 180:
        return Box(north, south, 180.0, -180.0)
    return Box(north, south, (lon + wide + 180) % 360 - 180, (lon - wide + 180) % 360 - 180)


def _degrees(lat: float, km: float) -> tuple[float, float]:
    """A distance in degrees of latitude, and of longitude there. The margin is for the curve of the parallels."""
    return km / KM_A_DEGREE, 1.01 * km / (KM_A_DEGREE * max(cos(radians(lat)), 1e-6))


def _km_to(border: Border, lat: float, lon: float, within_km: float) -> float:
    """How far a point is from a region: 0 inside; inf if certainly farther than `within_km`."""
    if contains(border, lat, lon):
        return 0.0
    tall, wide = _degrees(lat, within_km)
    squeeze = cos(radians(lat))
    bands = range(floor(lat - tall), floor(lat + tall) + 1)
    offs = (
        _off(a, b, lon + turn, lat, squeeze)
        for piece in border
        for turn in TURNS
        if piece.south - tall <= lat <= piece.north + tall
        and piece.west - wide <= lon + turn <= piece.east + wide
        for band in bands
        for a, b in piece.bands.get(band, ())
    )
    return min(offs, default=inf) * KM_A_DEGREE


def _off(a: Point, b: Point, x: float, y: float, squeeze: float) -> float:
    """Degrees between a point and a line, on the plane that touches the earth at the point."""
    ax, ay, bx, by = (a[0] - x) * squeeze, a[1] - y, (b[0] - x) * squeeze, b[1] - y
    length = (bx - ax) ** 2 + (by - ay) ** 2
    along = 0.0 if length == 0 else min(1.0, max(0.0, -(ax * (bx - ax) + ay * (by - ay)) / length))
    return hypot(ax + along * (bx - ax), ay + along * (by - ay))


def _useful_turns(piece: Piece) -> Iterator[float]:
    """By how much a piece may be moved and still be on the map."""
    yield 0.0
    if piece.east > 180:
        yield -360.0
    if piece.west < -180:
        yield 360.0


def _turned(piece: Piece, turn: float) -> Piece:
    if turn == 0:
        return piece
    rings = tuple(tuple((x + turn, y) for x, y in ring) for ring in piece.rings)
    return Piece(rings, piece.west + turn, piece.east + turn, piece.south, piece.north)
