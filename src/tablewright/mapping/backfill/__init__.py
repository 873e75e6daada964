"""Backfill in place: attributes that a new version of a design derives, such as the key of a new index, on old items.

    fill = Backfill(SHOP, SHOP.tables["shop"])
    context = backfill_context(call, fill); context.begin(rate=200)
    while not advance(context, "me").is_over: ...      # any number of workers

It is not a migration: there is one table, it stays open, and nothing is switched. Deploy the code that writes the
attributes first; a backfill then reaches every item that was written before.
Must hold: an item is changed only if what its new attributes rest on is as it was read, so a concurrent change is never
overwritten; a position is saved only after its items are filled, so a killed worker repeats at most one page.
"""

from tablewright.mapping.backfill.items import Backfill, Fill, ItemChange, change_of
from tablewright.mapping.backfill.run import (
    BackfillContext,
    Contended,
    Progress,
    Superseded,
    advance,
    backfill_context,
    count_lacking,
    progress_of,
)
from tablewright.mapping.backfill.state import BackfillRun, backfills

__all__ = [
    "Backfill", "BackfillContext", "BackfillRun", "Contended", "Fill", "ItemChange", "Progress", "Superseded",
    "advance", "backfill_context", "backfills", "change_of", "count_lacking", "progress_of",
]  # fmt: skip
