"""How far back the journal is kept: as far as its longest reader may still ask, and no further.

Must hold: rows go from the beginning only, so numbers stay without gaps; the newest row stays, since it carries the
numbering; how many have gone is counted, so that a row that is missing can be told from one that was pruned.
"""

from tablewright.engine.journal import first_since
from tablewright.engine.storage import Rows
from tablewright.engine.streams import DAY, open_streams_since
from tablewright.engine.writing import Writing

PRUNED_ROWS = 500


def needed_since(rows: Rows, now: int) -> int:
    """The moment from which on somebody may ask for changes. A reader who looks further back is added here."""
    return now - DAY if open_streams_since(rows, now - DAY) else now + 1


def prune_some(writing: Writing) -> bool:
    """Remove a few of the rows nobody needs; False when there are none."""
    rows = writing.rows
    first = rows.first_sequence()
    border = min(first_since(rows, needed_since(rows, writing.pen.at)), writing.pen.seq)
    if border <= first:
        return False
    rows.prune(min(border, first + PRUNED_ROWS))
    return True
