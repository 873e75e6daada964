"""A region's border as GeoJSON, for those who do not read TopoJSON: files to publish, exports, other people's maps.

Must hold: what RFC 7946 asks for. Longitudes between -180 and 180, a region that crosses the line cut in two there,
outer rings counter-clockwise; a bbox with west > east where the region crosses.
Elsewhere: the pages draw the TopoJSON files themselves, which are smaller and have no cut (data/README.md).
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from tablewright.systems.travel.geography.borders import Level, Piece, Point, Ring, borders, is_inside
from tablewright.systems.travel.geography.regions import geography


class NoSuchRegion(LookupError):
    """A border was asked for that no present region has."""

    def __init__(self, region_type: str, code: str) -> None:
        self.region_type, self.code = region_type, code
        super().__init__(
            f"{region_type} {code}: no such region; a retired code is first followed to its present one"
        )


def boundary(region_type: str, code: str, level: Level) -> dict[str, Any]:
    """A region as a GeoJSON Feature: outer rings counter-clockwise, cut at 180 degrees."""
    region = geography().get(region_type, code)
    if region is None:
        raise NoSuchRegion(region_type, code)
    box = region.box
    polygons = [
        [ring[::-1] for ring in part] for piece in borders(region_type, level)[code] for part in cut(piece)
    ]
    return {
        "type": "Feature",
        "id": code,
        "bbox": [box.west, box.south, box.east, box.north],
        "properties": {
            "region_type": region_type,
            "region_code": code,
            "name": region.display_name,
            "level": level,
            "data_version": region.data_version,
        },
        "geometry": {
            "type": "MultiPolygon",
            "coordinates": [[[list(p) for p in ring] for ring in part] for part in polygons],
        },
    }


def cut(piece: Piece) -> list[tuple[Ring, ...]]:
    """A piece as polygons between -180 and 180."""
    if piece.west >= -180 and piece.east <= 180:
        return [piece.rings]
    line = 180.0 if piece.east > 180 else -180.0
    parts: list[tuple[Ring, ...]] = []
    for is_east in (False, True):
        turn = (-360.0 if is_east else 0.0) if line > 0 else (0.0 if is_east else 360.0)
        outer = _side(piece.rings[0], line, is_east)
        holes = [part for hole in piece.rings[1:] for part in _side(hole, line, is_east)]
        for ring in outer:
            shell = Piece((ring,), *_reach(ring))
            own = [hole for hole in holes if is_inside(shell, hole[0])]
            parts.append(tuple(tuple((round(x + turn, 9), y) for x, y in each) for each in (ring, *own)))
    return parts


def _reach(ring: Ring) -> tuple[float, float, float, float]:
    xs, ys = [x for x, _ in ring], [y for _, y in ring]
    return min(xs), max(xs), min(ys), max(ys)


def _side(ring: Ring, line: float, is_east: bool) -> list[Ring]:
    """The parts of a ring on one side of a meridian. Its crossings are joined two by two along the line."""

    def is_in(p: Point) -> bool:
        return (p[0] >= line) == is_east

    if all(is_in(p) for p in ring):
        return [ring]
    chains = _chains(ring, line, is_in)
    ends = sorted(
        [(c[0][1], i, 0) for i, c in enumerate(chains)] + [(c[-1][1], i, 1) for i, c in enumerate(chains)]
    )
    partner: dict[tuple[int, int], tuple[int, int]] = {}
    for (_, i, end), (_, j, other) in zip(ends[::2], ends[1::2], strict=True):
        partner[i, end], partner[j, other] = (j, other), (i, end)
    left, rings = set(range(len(chains))), []
    while left:
        at = first = min(left)
        points: list[Point] = []
        while at in left:
            left.remove(at)
            points += chains[at]
            at, _ = partner[at, 1]
        if at == first and len({*points}) >= 3:
            rings.append((*points, points[0]))
    return rings


def _chains(ring: Ring, line: float, is_in: Callable[[Point], bool]) -> list[list[Point]]:
    """The stretches of a ring on one side, each from crossing to crossing."""
    chains: list[list[Point]] = []
    start = next((i for i, (a, b) in enumerate(pairwise(ring)) if not is_in(a) and is_in(b)), 0)
    around = ring[start:-1] + ring[: start + 1]
    for a, b in pairwise(around):
        if is_in(a) != is_in(b):
            at = (line, a[1] + (b[1] - a[1]) * ((line - a[0]) / (b[0] - a[0])))
            if is_in(b):
                chains.append([at])
            else:
                chains[-1].append(at)
        if is_in(b):
            chains[-1].append(b)
    return chains
