"""The grid that finds regions near a place: ten degrees a cell, 18 rows from south to north, 36 columns from the west.

A region is listed under every cell its border or inside touches, edges and corners included, so a query may look only
into the cells that its own points fall in: a region on the other side of a grid line is listed on this side too.
Must hold: a box that meets a region names one of its cells.
Elsewhere: the cells of a region (computed by tools/geography/region_cells.py, stored in data/), exact answers once the
candidates are known (shapes.py).
"""

from math import floor

from tablewright.systems.travel.geography.boxes import Box

DEGREES = 10
ROWS, COLUMNS = 18, 36


def cell_name(row: int, column: int) -> str:
    return f"r{row:02d}c{column:02d}"


def cells_of_box(box: Box) -> tuple[str, ...]:
    """The cells to look into for what may meet the box."""
    last = column_of(box.east) if box.west <= box.east else column_of(box.east) + COLUMNS
    # A box from 175 to 174 is all around: no column twice.
    columns = dict.fromkeys(column % COLUMNS for column in range(column_of(box.west), last + 1))
    return tuple(
        sorted(
            cell_name(row, column)
            for row in range(row_of(box.south), row_of(box.north) + 1)
            for column in columns
        )
    )


def row_of(lat: float) -> int:
    return min(floor((lat + 90) / DEGREES), ROWS - 1)


def column_of(lon: float) -> int:
    return floor((lon + 180) / DEGREES)
