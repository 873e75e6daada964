"""Tables as CSV for spreadsheets. Must hold: a spreadsheet runs nothing that is in one.

Elsewhere: reading CSV that people send (courses/csv_rows.py).
"""

import csv
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_of(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV, with the byte order mark that spreadsheets need for letters beyond ASCII."""
    text = io.StringIO()
    writer = csv.writer(text)
    for row in (header, *rows):
        writer.writerow([_cell(each) for each in row])
    return "\ufeff" + text.getvalue()


def plain(number: Decimal) -> str:
    """`12.5`, `80`: no zeros behind the point, no exponent."""
    return f"{number.normalize():f}"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal):
        return plain(value)
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
