"""Visits as CSV: written for people and spreadsheets, and read back.

One line for a place, one more for each of its trips (`trip` has the trip's id, then `visited_date` and `until` are its
dates). Must hold: what is written and read back is the same; a spreadsheet runs nothing that was in it. Pure.
"""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tablewright.edge.errors import BadRequest
from tablewright.systems.travel.model import Visit

COLUMNS = ("region_type", "region_code", "region_name", "visited_date", "until", "notes", "trip", "marked_at")
LINES_AT_MOST = 5_000
BYTES_AT_MOST = 1024 * 1024
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# The columns that say where (csv_regions.py).
_WHERE = frozenset(("region_code", "region_name", "country", "state"))
# What people call the columns of their own sheets.
_SAME = {
    "type": "region_type",
    "code": "region_code",
    "country_code": "country",
    "iso": "region_code",
    "name": "region_name",
    "province": "state",
    "us_state": "state",
    "region": "region_name",
    "place": "region_name",
    "date": "visited_date",
    "visited": "visited_date",
    "start": "visited_date",
    "end": "until",
    "note": "notes",
    "comment": "notes",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A line as it was written; `line` counts from 1, which is the line with the column names."""

    line: int
    cells: dict[str, str]

    def get(self, name: str) -> str | None:
        return self.cells.get(name) or None


def written(visits: Iterable[Visit]) -> str:
    """Visits as CSV."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for visit in visits:
        key = (visit.region_type, visit.region_code, _safe(visit.region_name))
        marked = visit.marked_at.isoformat(timespec="seconds")
        writer.writerow((*key, visit.visited_date or "", "", _safe(visit.notes or ""), "", marked))
        for id, trip in sorted(visit.trips.items(), key=lambda each: (each[1].start, each[0])):
            writer.writerow((*key, trip.start, trip.end or "", _safe(trip.notes or ""), _safe(id), ""))
    return text.getvalue()


def read(content: bytes) -> Iterator[Row]:
    """The lines of a CSV file. It may have other columns too; unknown ones are ignored."""
    if len(content) > BYTES_AT_MOST:
        words = f"A file can have at most {BYTES_AT_MOST // 1024} KB. Please import it in parts."
        raise BadRequest("SHEET_TOO_LARGE", words, "body")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadRequest(
            "INVALID_SHEET", "The file is not UTF-8. Please save it as CSV UTF-8.", "body"
        ) from None
    head = text.partition("\n")[0]
    delimiter = max((",", ";", "\t"), key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        yield from _rows(reader)
    except csv.Error as error:
        raise BadRequest("INVALID_SHEET", f"This isn't valid CSV: {error}.", "body") from None


def _rows(reader: Iterator[list[str]]) -> Iterator[Row]:
    names = [_column(cell) for cell in next(reader, [])]
    if not _WHERE.intersection(names):
        words = "The first line must name the columns, and one of them must be name, code, country or state."
        raise BadRequest("INVALID_SHEET", words, "body")
    count = 0
    for number, cells in enumerate(reader, 2):
        if not any(cell.strip() for cell in cells):
            continue
        count += 1
        if count > LINES_AT_MOST:
            raise BadRequest("SHEET_TOO_LARGE", f"A file can have at most {LINES_AT_MOST} lines.", "body")
        yield Row(number, {name: _plain(cell) for name, cell in zip(names, cells, strict=False)})


def _column(cell: str) -> str:
    name = cell.strip().lower().replace(" ", "_").replace("-", "_")
    return _SAME.get(name, name)


def _safe(text: str) -> str:
    """A spreadsheet would run what begins like a formula; a quote in front of a quote keeps ours apart."""
    return f"'{text}" if text[:1] in (*_FORMULA, "'") else text


def _plain(cell: str) -> str:
    text = cell.strip()
    return text[1:] if text[:1] == "'" and text[1:2] in (*_FORMULA, "'") else text
