"""How far back the journal is kept: as far as its longest reader may still ask, and no further.

Readers are streams (a day), windows of point-in-time recovery (up to 35 days), and whoever holds on to a state of the
past: backups, restores and exports under way.
Must hold: rows go from the beginning only, so numbers stay without gaps; the newest row stays, since it carries the
numbering; how many have gone is counted, so that a row that is missing can be told from one that was pruned. Where the
journal is kept for the sake of some tables, the rows of the others lose their images after a day: their place is
needed, what they say is not.
"""

from collections.abc import Iterator

from tablewright.engine import storage_history as past
from tablewright.engine.catalog import Catalog
from tablewright.engine.journal import first_since
from tablewright.engine.recovery import window
from tablewright.engine.storage_rows import Rows
from tablewright.engine.streams import DAY, open_streams_since
from tablewright.engine.writing import Writing

PRUNED_ROWS = 500
BLANKED_ROWS = 500


def needed_since(rows: Rows, tables: Catalog, now: int) -> int:
    """The moment from which on somebody may ask for changes. A reader who looks back in time is added here."""
    return min(_moments(rows, tables, now), default=now + 1)


def _moments(rows: Rows, tables: Catalog, now: int) -> Iterator[int]:
    if open_streams_since(rows, now - DAY):
        yield now - DAY
    for table in tables.values():
        if table.recovery_since is not None:
            yield window(table, now)[0]


def needed_from(rows: Rows, newest: int) -> int:
    """The number from which on somebody reads changes. A reader who counts changes is added here."""
    return min((one.floor for one in past.holds(rows)), default=newest)


def image_readers(rows: Rows, tables: Catalog) -> set[int]:
    """Numbers of the tables whose changes may be asked for when they are older than a day."""
    held = {one.owner for one in past.holds(rows)}
    return held | {table.number for table in tables.values() if table.recovery_since is not None}


def prune_some(writing: Writing) -> bool:
    """Remove a few of the rows nobody needs; False when there are none."""
    rows = writing.rows
    first = rows.first_sequence()
    since = first_since(rows, needed_since(rows, writing.tables, writing.pen.at))
    border = min(since, needed_from(rows, writing.pen.seq), writing.pen.seq)
    if border <= first:
        return False
    rows.prune(min(border, first + PRUNED_ROWS))
    return True


def blank_some(writing: Writing) -> bool:
    """Take the images from a few rows that stay only for their place; False when there are none."""
    rows = writing.rows
    first = max(rows.first_sequence(), rows.counts(past.ROWS_BLANKED)[0] + 1)
    border = first_since(rows, writing.pen.at - DAY)
    readers = image_readers(rows, writing.tables)
    # Without a reader of the past there is nothing but what pruning takes.
    if not readers or border <= first:
        return False
    past.blank(rows, first, min(border, first + BLANKED_ROWS) - 1, readers)
    return True
