"""SELECT: the pages of its ranges; each range is walked as Query and Scan walk theirs.

Must hold: a page token is good for its own statement only, and leads nowhere the statement does not.
Elsewhere: which ranges they are (select_plan.py), the walk of one range (paging.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from tablewright.engine.arguments import find_table
from tablewright.engine.capacity import Consumed, read_units
from tablewright.engine.catalog import Index, Table
from tablewright.engine.errors import invalid
from tablewright.engine.keys import key_names, position
from tablewright.engine.limits import PAGE_BYTES
from tablewright.engine.paging import Page, View, find_index, read_page, spend, view_of
from tablewright.engine.select_plan import Walk, plan
from tablewright.engine.shapes import Request
from tablewright.engine.statement_tokens import INVALID_TOKEN, Place, read_token, token_at
from tablewright.engine.statements import read_parameters
from tablewright.engine.throttle import Throttled
from tablewright.engine.writing import Reading
from tablewright.expressions import top_level_names
from tablewright.expressions.nodes import And
from tablewright.expressions.paths import find
from tablewright.partiql import Column, Select
from tablewright.values import Item

NO_SUCH_INDEX = "The table does not have the specified index"
NOT_CONSISTENT = "Strongly consistent read is not supported on Global Secondary Indexes"
SEVERAL_ATTRIBUTES = (
    "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or "
    "multi-attribute RANGE keys."
)
ALWAYS = And(())
# Ranges walked for one page: the service gives the answers to an IN in pages of ten.
STATEMENT_READS = 10


@dataclass(slots=True)
class Found:
    """What a page has found so far."""

    items: Any
    consumed: Consumed
    walked_bytes: int = 0
    last: bytes | None = None
    next: Place | None = None


def select_page(reading: Reading, select: Select, request: Request) -> dict[str, Any]:
    table = find_table(reading.tables, select.table)
    index = find_source(table, select, bool(request.get("ConsistentRead")))
    walks, backward = plan(table, index, select)
    consistent = {"ConsistentRead": request.get("ConsistentRead")}
    view = view_of(table, index, consistent, None, top_level(select.columns))
    parameters = read_parameters(request)
    start = Place(0, None)
    if request.get("NextToken") is not None:
        start = read_token(table, request, parameters)
    with reading.rows.snapshot():
        found = _walk_all(reading, view, walks, backward, start, request.get("Limit"))
    answer: dict[str, Any] = {"Items": _shown(found.items, select.columns)}
    if found.next is not None:
        answer["NextToken"] = token_at(table, request, parameters, found.next)
    if found.last is not None:
        item = orjson.loads(found.last)
        answer["LastEvaluatedKey"] = {name: item[name] for name in key_names(table, index)}
    capacity = found.consumed.shown(request.get("ReturnConsumedCapacity"))
    if capacity is not None:
        answer["ConsumedCapacity"] = capacity
    return answer


def find_source(table: Table, select: Select, consistent: bool = False) -> Index | None:
    """The index a statement reads, None for the table itself."""
    if select.index is None:
        return None
    if table.index(select.index) is None:
        raise invalid(NO_SUCH_INDEX)
    index = find_index(table, {"IndexName": select.index})
    if index is not None and consistent and not index.local:
        raise invalid(NOT_CONSISTENT)
    if index is not None and (len(index.schema.hash) > 1 or len(index.schema.range) > 1):
        raise invalid(SEVERAL_ATTRIBUTES)
    return index


# --- what is shown ---


def top_level(columns: Sequence[Column] | None) -> tuple[tuple[str], ...] | None:
    """The attributes the columns are parts of."""
    if columns is None:
        return None
    return tuple((name,) for name in top_level_names([column.path for column in columns]))


def shown_item(item: Item, columns: Sequence[Column] | None) -> Item:
    """The columns of an item, by their labels."""
    if columns is None:
        return item
    found = {column.label: find(column.path, item) for column in columns}
    return {label: value for label, value in found.items() if value is not None}


def _shown(items: Any, columns: Sequence[Column] | None) -> Any:
    if columns is None or all(len(column.path) == 1 for column in columns):
        return items
    return [shown_item(item, columns) for item in items]


# --- walking ---


def _walk_all(
    reading: Reading, view: View, walks: Sequence[Walk], backward: bool, start: Place, limit: int | None
) -> Found:
    """Walk from `start` until a page is full: by Limit, by its bytes, or by the number of its reads."""
    found = Found([], Consumed(view.table))
    left = None if limit is None else int(limit)
    if not walks:
        _charge(found.consumed, view, Page([], 0, 0, 0, 0.0, None))
    # A row of ranges gives one list of items, so none of them may stay unparsed JSON.
    always = ALWAYS if len(walks) > 1 else None
    for number in range(start.walk, len(walks)):
        walk = walks[number]
        low, high = _rest(walk, start.key if number == start.walk else None, backward)
        where = b"" if walk.branch is None else low
        try:
            reading.refuse_fast(view.table, view.index, where)
        except Throttled:
            if number == start.walk:
                raise
            found.next = Place(number, None)
            return found
        ranged = replace(view, keep=walk.keep if walk.keep is not None else always)
        page = read_page(reading.rows, ranged, low, high, backward, left)
        spend(reading, view, page, "ExecuteStatement", where)
        _charge(found.consumed, view, page)
        found.walked_bytes += page.walked_bytes
        is_whole = ranged.keep is None and view.paths is None and view.reads_whole_items
        found.items = page.items[0] if is_whole else [*found.items, *page.items]
        if page.last is not None:
            found.last = page.last
            found.next = Place(number, position(view.table, view.index, orjson.loads(page.last)))
            return found
        left = None if left is None else left - page.scanned
        is_full = found.walked_bytes >= PAGE_BYTES or number + 1 - start.walk >= STATEMENT_READS
        if is_full and number + 1 < len(walks):
            found.next = Place(number + 1, None)
            return found
    return found


def _rest(walk: Walk, after: bytes | None, backward: bool) -> tuple[bytes, bytes]:
    """What is left of a range once the item at `after` has been seen."""
    if after is None:
        return walk.low, walk.high
    if not walk.low <= after < walk.high:
        raise invalid(INVALID_TOKEN)
    return (walk.low, after) if backward else (after + b"\0", walk.high)


def _charge(consumed: Consumed, view: View, page: Page) -> None:
    units = read_units(page.walked_bytes, view.consistent)
    if view.index is None:
        consumed.base += units
    else:
        consumed.base += page.fetched_units
        consumed.add_index(view.index, units)
