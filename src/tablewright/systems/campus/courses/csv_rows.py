"""CSV files that people send: UTF-8 with or without BOM, `,` or `;` or tabs, names of columns in any case.

Must hold: a file that is not such a table is refused as a whole, with the reason.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tablewright.edge.errors import BadRequest
from tablewright.systems.campus.errors import TooLarge

MOST_BYTES, MOST_ROWS = 2 * 1024**2, 10_000


@dataclass(frozen=True, slots=True)
class Row:
    """A row with its line in the file; `cells` by the name of the column, without spaces around."""

    line: int
    cells: Mapping[str, str]

    def get(self, name: str) -> str | None:
        """The content of a cell; None if it is empty or there is no such column."""
        return self.cells.get(name) or None


@dataclass(frozen=True, slots=True)
class Table:
    """A file: its columns by the names under which cells are found, beside those in the file; and its rows."""

    columns: Sequence[tuple[str, str]]
    rows: Sequence[Row]


def rows_of(content: bytes, needed: Sequence[str], known: Mapping[str, str]) -> list[Row]:
    """The rows of a file. `known` are further names of columns, such as `e-mail` for `email`."""
    return list(table_of(content, needed, known).rows)


def table_of(content: bytes, needed: Sequence[str], known: Mapping[str, str]) -> Table:
    """The columns and rows of a file."""
    text = _text(content)
    head = text.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    try:
        titles = [_unguarded(cell.strip()) for cell in next(reader, [])]
        names = [column_name(cell, known) for cell in titles]
        found = [Row(reader.line_num, _cells(names, cells)) for cells in reader if any(map(str.strip, cells))]
    except csv.Error:
        raise BadRequest(
            "INVALID_CSV", "This file cannot be read as CSV: check its quotes.", "file"
        ) from None
    missing = [name for name in needed if name not in names]
    if missing:
        words = f"The first line must name the columns; missing: {', '.join(missing)}."
        raise BadRequest("MISSING_COLUMN", words, "file")
    if len(found) > MOST_ROWS:
        raise TooLarge("FILE_TOO_LARGE", f"This file has more than {MOST_ROWS} rows. Split it.", "file")
    return Table(list(zip(names, titles, strict=True)), found)


def _text(content: bytes) -> str:
    if len(content) > MOST_BYTES:
        raise TooLarge("FILE_TOO_LARGE", f"This file is larger than {MOST_BYTES // 1024**2} MB.", "file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadRequest(
            "INVALID_CSV", "This file is not UTF-8 text. Save it as CSV UTF-8.", "file"
        ) from None
    if "\0" in text:
        raise BadRequest("INVALID_CSV", "This file is not a CSV file.", "file")
    return text


def column_name(cell: str, known: Mapping[str, str]) -> str:
    """The name under which a column is found, whatever its case and separators are."""
    name = " ".join(cell.replace("_", " ").replace("-", " ").lower().split())
    return known.get(name, name)


def _cells(names: list[str], cells: list[str]) -> dict[str, str]:
    return dict(zip(names, (_unguarded(cell.strip()) for cell in cells), strict=False))


def _unguarded(cell: str) -> str:
    """A file that we wrote has a quote before what a spreadsheet would take for a formula."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in "=+-@" else cell
