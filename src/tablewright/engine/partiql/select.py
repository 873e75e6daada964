"""SELECT: pages over its key ranges; each range is read as Query and Scan read theirs.

Must hold: a page token is valid for its own statement only, and leads only into the statement's ranges.
Elsewhere: the ranges of a statement (select_plan.py), reading one range (range_read.py).
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import orjson

from tablewright.engine.api.arguments import find_table
from tablewright.engine.api.shapes import Request
from tablewright.engine.catalog import Index, Table
from tablewright.engine.consumed_capacity import Consumed
from tablewright.engine.errors import invalid
from tablewright.engine.keys import key_names, position
from tablewright.engine.limits import PAGE_BYTES
from tablewright.engine.partiql.page_tokens import INVALID_TOKEN, SelectPosition, read_token, token_at
from tablewright.engine.partiql.select_plan import KeyRange, plan
from tablewright.engine.partiql.statements import read_parameters
from tablewright.engine.range_read import (
    ReadPage,
    View,
    charge,
    find_index,
    joined,
    read_page,
    spend,
    view_of,
)
from tablewright.engine.throughput.token_buckets import Throttled
from tablewright.engine.transaction import ReadTransaction
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
# Ranges read for one page: the service returns the items of an IN in pages of ten.
STATEMENT_READS = 10


@dataclass(slots=True)
class SelectPage:
    """The page so far, and where the next one begins."""

    items: Any
    consumed: Consumed
    walked_bytes: int = 0
    last: bytes | None = None
    next: SelectPosition | None = None


def select_page(txn: ReadTransaction, select: Select, request: Request) -> dict[str, Any]:
    table = find_table(txn.tables, select.table)
    index = find_source(table, select, bool(request.get("ConsistentRead")))
    walks, backward = plan(table, index, select)
    consistent = {"ConsistentRead": request.get("ConsistentRead")}
    view = view_of(table, index, consistent, None, top_level(select.columns))
    parameters = read_parameters(request)
    start = SelectPosition(0, None)
    if request.get("NextToken") is not None:
        start = read_token(table, request, parameters)
    # A single range is one SQL statement, which sees one state anyway.
    with txn.rows.snapshot() if len(walks) > 1 else nullcontext():
        found = _read_ranges(txn, view, walks, backward, start, request.get("Limit"))
    answer: dict[str, Any] = {"Items": _labelled(found.items, select.columns)}
    if found.next is not None:
        answer["NextToken"] = token_at(table, request, parameters, found.next)
    if found.last is not None:
        item = orjson.loads(found.last)
        answer["LastEvaluatedKey"] = {name: item[name] for name in key_names(table, index)}
    capacity = found.consumed.as_member(request.get("ReturnConsumedCapacity"))
    if capacity is not None:
        answer["ConsumedCapacity"] = capacity
    return answer


def find_source(table: Table, select: Select, consistent: bool = False) -> Index | None:
    """The index a statement reads, None for the table itself."""
    if select.index is None:
        return None
    if table.index(select.index) is None and table.vector(select.index) is None:
        raise invalid(NO_SUCH_INDEX)
    index = find_index(table, {"IndexName": select.index}, "Scan")
    if index is not None and consistent and not index.local:
        raise invalid(NOT_CONSISTENT)
    if index is not None and (len(index.schema.hash) > 1 or len(index.schema.range) > 1):
        raise invalid(SEVERAL_ATTRIBUTES)
    return index


# --- columns ---


def top_level(columns: Sequence[Column] | None) -> tuple[tuple[str], ...] | None:
    """The top-level attributes of the columns."""
    if columns is None:
        return None
    return tuple((name,) for name in top_level_names([column.path for column in columns]))


def labelled_item(item: Item, columns: Sequence[Column] | None) -> Item:
    """The columns of an item by their labels."""
    if columns is None:
        return item
    found = {column.label: find(column.path, item) for column in columns}
    return {label: value for label, value in found.items() if value is not None}


def _labelled(items: Any, columns: Sequence[Column] | None) -> Any:
    if columns is None or all(len(column.path) == 1 for column in columns):
        return items
    return [labelled_item(item, columns) for item in items]


# --- reading ---


def _read_ranges(
    txn: ReadTransaction,
    view: View,
    walks: Sequence[KeyRange],
    backward: bool,
    start: SelectPosition,
    limit: int | None,
) -> SelectPage:
    """Read from `start` until the page is full: by Limit, by bytes, or by the number of ranges."""
    found = SelectPage([], Consumed(view.table))
    left = None if limit is None else int(limit)
    if not walks:
        charge(found.consumed, view, ReadPage([], 0, 0, 0, 0.0, None))
    # The items of several ranges form one list, so none of them may stay unparsed JSON.
    always = ALWAYS if len(walks) > 1 else None
    for number in range(start.number, len(walks)):
        walk = walks[number]
        low, high = _rest(walk, start.key if number == start.number else None, backward)
        where = b"" if walk.branch is None else low
        try:
            txn.check_throughput(view.table, view.index, where)
        except Throttled:
            if number == start.number:
                raise
            found.next = SelectPosition(number, None)
            return found
        ranged = replace(view, keep=walk.keep if walk.keep is not None else always)
        page = read_page(txn, ranged, low, high, backward, left, len(walks) == 1)
        spend(txn, view, page, "ExecuteStatement", where)
        charge(found.consumed, view, page)
        found.walked_bytes += page.walked_bytes
        found.items = joined(page.items) if ranged.returns_stored_items else [*found.items, *page.items]
        if page.last is not None:
            found.last = page.last
            found.next = SelectPosition(number, position(view.table, view.index, orjson.loads(page.last)))
            return found
        left = None if left is None else left - page.scanned
        is_full = found.walked_bytes >= PAGE_BYTES or number + 1 - start.number >= STATEMENT_READS
        if is_full and number + 1 < len(walks):
            found.next = SelectPosition(number + 1, None)
            return found
    return found


def _rest(walk: KeyRange, after: bytes | None, backward: bool) -> tuple[bytes, bytes]:
    """The rest of a range after the item at `after`."""
    if after is None:
        return walk.low, walk.high
    if not walk.low <= after < walk.high:
        raise invalid(INVALID_TOKEN)
    return (walk.low, after) if backward else (after + b"\0", walk.high)
