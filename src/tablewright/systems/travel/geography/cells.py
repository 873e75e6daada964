"""The grid that finds regions near a place: ten degrees a cell, 18 rows from south to north, 36 columns from the west.

A region is listed under every cell its border or inside touches, edges and corners included, so a query may look only
into the cells that its own points fall in: a region on the other side of a grid line is listed on this side too.
Must hold: a point of a region lies in one of the region's cells; a box that meets a region names one of its cells.
Elsewhere: exact answers once the candidates are known (shapes.py).
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import floor

from tablewright.systems.travel.geography.borders import Piece, Point, is_inside
from tablewright.systems.travel.geography.boxes import Box

DEGREES = 10
ROWS, COLUMNS = 18, 36

Cell = tuple[int, int]


def cell_name(row: int, column: int) -> str:
    return f"r{row:02d}c{column:02d}"


def cell_at(lat: float, lon: float) -> str:
    """The cell a point falls in. A point on a grid line falls north and east of it; the pole, in the last row."""
    return cell_name(_row(lat), _column(lon) % COLUMNS)


def cells_of_box(box: Box) -> tuple[str, ...]:
    """The cells to look into for what may meet the box."""
    last = _column(box.east) if box.west <= box.east else _column(box.east) + COLUMNS
    # A box from 175 to 174 is all around: no column twice.
    columns = dict.fromkeys(column % COLUMNS for column in range(_column(box.west), last + 1))
    return tuple(
        sorted(
            cell_name(row, column)
            for row in range(_row(box.south), _row(box.north) + 1)
            for column in columns
        )
    )


def cells_of_region(pieces: Iterable[Piece]) -> tuple[str, ...]:
    """Every cell that a region's border or inside touches."""
    found: set[Cell] = set()
    for piece in pieces:
        touched = {cell for ring in piece.rings for a, b in pairwise(ring) for cell in _along(a, b)}
        found |= {_on_map(cell) for cell in touched}
        # A cell the border does not touch is inside or outside as a whole.
        found |= {
            _on_map(cell)
            for cell in _between(piece)
            if cell not in touched and is_inside(piece, _middle(cell))
        }
    return tuple(sorted(cell_name(*cell) for cell in found))


def _row(lat: float) -> int:
    return min(floor((lat + 90) / DEGREES), ROWS - 1)


def _column(lon: float) -> int:
    return floor((lon + 180) / DEGREES)


def _on_map(cell: Cell) -> Cell:
    return min(max(cell[0], 0), ROWS - 1), cell[1] % COLUMNS


def _middle(cell: Cell) -> Point:
    return cell[1] * DEGREES - 180 + DEGREES / 2, cell[0] * DEGREES - 90 + DEGREES / 2


def _between(piece: Piece) -> Iterator[Cell]:
    for row in range(_row(piece.south), _row(piece.north) + 1):
        for column in range(_column(piece.west), _column(piece.east) + 1):
            yield row, column


def _along(a: Point, b: Point) -> Iterator[Cell]:
    """The cells a line touches: those of its ends, of its crossings with the grid, and of the stretches between."""
    ends = {*_touching(a), *_touching(b)}
    if len(ends) == 1:  # nearly every line of a border is this short
        yield from ends
        return
    cuts = sorted({0.0, 1.0, *_crossings(a[0], b[0], -180), *_crossings(a[1], b[1], -90)})
    for at in cuts:
        yield from _touching(_part(a, b, at))
    for start, end in pairwise(cuts):
        yield from _touching(_part(a, b, (start + end) / 2))


def _crossings(start: float, end: float, zero: int) -> Iterator[float]:
    """How far along a line from start to end the grid lines are, as parts of its length."""
    low, high = sorted((start, end))
    for line in range(floor((low - zero) / DEGREES) + 1, floor((high - zero) / DEGREES) + 1):
        if low < line * DEGREES + zero < high:
            yield (line * DEGREES + zero - start) / (end - start)


def _part(a: Point, b: Point, at: float) -> Point:
    if at in (0.0, 1.0):
        return b if at else a
    return a[0] + (b[0] - a[0]) * at, a[1] + (b[1] - a[1]) * at


# A crossing is computed, so it may miss its grid line by the last digit: anything this near (a tenth of a millimetre)
# counts as on it. One cell too many costs a look; one too few would lose a region.
_NEAR = 1e-9


def _touching(point: Point) -> Iterator[Cell]:
    for row in {floor((point[1] + 90 + d) / DEGREES) for d in (-_NEAR, _NEAR)}:
        for column in {floor((point[0] + 180 + d) / DEGREES) for d in (-_NEAR, _NEAR)}:
            yield row, column
