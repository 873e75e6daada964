"""The cells of the grid that a region touches, computed once when the data is built.

Must hold: a point of a region lies in one of the region's cells.
Elsewhere: the grid, and the cells of a box (systems/travel/geography/cells.py).
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import floor

from tablewright.systems.travel.geography.borders import Piece, Point, is_inside
from tablewright.systems.travel.geography.cells import COLUMNS, DEGREES, ROWS, cell_name, column_of, row_of

Cell = tuple[int, int]


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


def _on_map(cell: Cell) -> Cell:
    return min(max(cell[0], 0), ROWS - 1), cell[1] % COLUMNS


def _middle(cell: Cell) -> Point:
    return cell[1] * DEGREES - 180 + DEGREES / 2, cell[0] * DEGREES - 90 + DEGREES / 2


def _between(piece: Piece) -> Iterator[Cell]:
    for row in range(row_of(piece.south), row_of(piece.north) + 1):
        for column in range(column_of(piece.west), column_of(piece.east) + 1):
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
