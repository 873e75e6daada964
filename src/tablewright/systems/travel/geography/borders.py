"""Borders as they are checked in: TopoJSON read into pieces of land, and plain geometry over one piece.

Three layers (one a region type) at two levels: `low` for a map of the world, `high` for drilling down and for saying
where a point is. Neighbours share their arcs, so every point on a border belongs to a region.
Must hold: a piece is flat. Regions that cross 180 degrees go on beyond it (Russia to 191), and Antarctica, which is
a ring around the pole in the file, is closed here along 180 degrees and the pole.
Elsewhere: the build (tools/geography), whose border it is and questions about places (shapes.py).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from itertools import pairwise
from math import floor, pi
from typing import Literal, TypedDict

from tablewright.systems.travel.geography.boxes import Box

Level = Literal["low", "high"]
LEVELS: tuple[Level, ...] = ("low", "high")

Point = tuple[float, float]
"""Longitude, latitude: the order of GeoJSON."""
Ring = tuple[Point, ...]
"""Closed: the last point is the first."""

KM_A_DEGREE = 6371.0088 * pi / 180


Edge = tuple[Point, Point]


@dataclass(frozen=True)
class Piece:
    """One polygon: its outer ring, then its holes; and how far it reaches, beyond 180 degrees if need be."""

    rings: tuple[Ring, ...]
    west: float
    east: float
    south: float
    north: float

    @cached_property
    def bands(self) -> Mapping[int, Sequence[Edge]]:
        """The edges by the whole degrees of latitude they touch: Russia has thousands, a point has to do with few."""
        found: dict[int, list[Edge]] = {}
        for ring in self.rings:
            for a, b in pairwise(ring):
                low, high = (a[1], b[1]) if a[1] <= b[1] else (b[1], a[1])
                for band in range(floor(low), floor(high) + 1):
                    found.setdefault(band, []).append((a, b))
        return found


Border = tuple[Piece, ...]


class _Shape(TypedDict):
    id: str
    type: str
    arcs: list[list[list[int]]]


class _Layer(TypedDict):
    geometries: list[_Shape]


class _Transform(TypedDict):
    scale: tuple[float, float]


class _Topology(TypedDict):
    objects: dict[str, _Layer]
    arcs: list[list[tuple[int, int]]]
    transform: _Transform


@cache
def borders(region_type: str, level: Level) -> Mapping[str, Border]:
    """Every border of a type, by region code. Read once: about a quarter of a second for countries at `high`."""
    name = f"data/{region_type}-{level}.topojson"
    return read_borders(
        resources.files("tablewright.systems.travel").joinpath(name).read_text("utf-8"), region_type
    )


def read_borders(text: str, layer: str) -> dict[str, Border]:
    """The borders of one layer of a TopoJSON text, by id."""
    topology: _Topology = json.loads(text)
    steps = round(1 / topology["transform"]["scale"][0])
    arcs = [tuple(_points(arc, steps)) for arc in topology["arcs"]]
    shapes = topology["objects"][layer]["geometries"]
    return {shape["id"]: tuple(_piece(polygon, arcs) for polygon in shape["arcs"]) for shape in shapes}


def is_inside(piece: Piece, point: Point) -> bool:
    """Is the point in the piece? On its border counts; in a hole does not."""
    x, y = point
    if not (piece.west <= x <= piece.east and piece.south <= y <= piece.north):
        return False
    inside = False
    for (ax, ay), (bx, by) in piece.bands.get(floor(y), ()):
        if (ay > y) == (by > y):
            if ay == y and (ax == x or (by == y and min(ax, bx) <= x <= max(ax, bx))):
                return True
            continue
        side = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        if side == 0:
            return True
        if (side > 0) == (by > ay):
            inside = not inside
    return inside


def meets(piece: Piece, box: Box) -> bool:
    """Have a piece and a box (one that does not cross 180 degrees) a point in common?"""
    if piece.west > box.east or piece.east < box.west or piece.south > box.north or piece.north < box.south:
        return False
    # Either a stretch of the border is in the box, or the box lies in the piece whole, and so does its corner.
    if any(_crosses(a, b, box) for ring in piece.rings for a, b in pairwise(ring)):
        return True
    return is_inside(piece, (box.west, box.south))


def _crosses(a: Point, b: Point, box: Box) -> bool:
    """Has a line a point in the box? (Liang and Barsky: what is left of it between the four edges.)"""
    start, end = 0.0, 1.0
    for origin, step, low, high in (
        (a[0], b[0] - a[0], box.west, box.east),
        (a[1], b[1] - a[1], box.south, box.north),
    ):
        if step == 0:
            if not low <= origin <= high:
                return False
            continue
        enter, leave = sorted(((low - origin) / step, (high - origin) / step))
        start, end = max(start, enter), min(end, leave)
        if start > end:
            return False
    return True


def _points(arc: Sequence[tuple[int, int]], steps: int) -> Iterator[Point]:
    """An arc's differences added up. Divided, not multiplied: 26900 / 2000 is 13.45, 26900 * 0.0005 is not."""
    x = y = 0
    for dx, dy in arc:
        x, y = x + dx, y + dy
        yield x / steps, y / steps


def _piece(polygon: list[list[int]], arcs: Sequence[Ring]) -> Piece:
    rings = tuple(_closed_at_the_pole(_ring(indices, arcs)) for indices in polygon)
    xs, ys = [x for x, _ in rings[0]], [y for _, y in rings[0]]
    return Piece(rings, min(xs), max(xs), min(ys), max(ys))


def _ring(indices: list[int], arcs: Sequence[Ring]) -> Ring:
    points: list[Point] = []
    for index in indices:
        arc = arcs[index] if index >= 0 else arcs[~index][::-1]
        points.extend(arc[1:] if points else arc)
    return tuple(points)


def _closed_at_the_pole(ring: Ring) -> Ring:
    """A ring that goes once around the world, made flat: from -180 along the coast to 180, and back along the pole."""
    jump = next((i for i, (a, b) in enumerate(pairwise(ring)) if abs(b[0] - a[0]) > 180), None)
    if jump is None:
        return ring
    coast = ring[jump + 1 : -1] + ring[: jump + 1]
    (first_x, first_y), (last_x, last_y) = coast[0], coast[-1]
    rest = 360 - (last_x - first_x)
    seam = last_y + (first_y - last_y) * ((180 - last_x) / rest) if rest else last_y
    west, east = (-180.0, seam), (180.0, seam)
    return (west, *coast, east, (180.0, -90.0), (-180.0, -90.0), west)
