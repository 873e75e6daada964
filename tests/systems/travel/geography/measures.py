"""What the tests measure borders and boxes by: areas on a sphere, the cell of a point, whether a box has a point."""

from itertools import pairwise
from math import radians, sin

from tablewright.systems.travel.geography.borders import Border, Ring
from tablewright.systems.travel.geography.boxes import Box, spans
from tablewright.systems.travel.geography.cells import COLUMNS, cell_name, column_of, row_of

EARTH_KM = 6371.0088


def area_km2(border: Border) -> float:
    """The area of the drawn border on a sphere."""
    return sum(
        abs(_ring_area(piece.rings[0])) - sum(abs(_ring_area(hole)) for hole in piece.rings[1:])
        for piece in border
    )


def _ring_area(ring: Ring) -> float:
    total = sum(
        radians(b[0] - a[0]) * (2 + sin(radians(a[1])) + sin(radians(b[1]))) for a, b in pairwise(ring)
    )
    return total * EARTH_KM**2 / 2


def cell_at(lat: float, lon: float) -> str:
    """The cell a point falls in. A point on a grid line falls north and east of it; the pole, in the last row."""
    return cell_name(row_of(lat), column_of(lon) % COLUMNS)


def box_contains(box: Box, lat: float, lon: float) -> bool:
    return box.south <= lat <= box.north and any(west <= lon <= east for west, east in spans(box))
