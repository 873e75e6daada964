"""One page of a Query or a Scan: read a range of keys up to Limit or 1 MB, filter, project.

Must hold: Limit and the megabyte count what was read, before the filter; the item that crosses the megabyte is still on
the page; a page that was cut has a LastEvaluatedKey even if nothing follows. Items that are returned whole and not
filtered are never parsed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeAlias

import orjson

from tablewright.engine.api.arguments import NO_MATCH, admit_key
from tablewright.engine.api.shapes import COUNTED, Request
from tablewright.engine.catalog import Index, Table
from tablewright.engine.consumed_capacity import Consumed, read_units
from tablewright.engine.errors import ServiceError, invalid, invalid_parameter
from tablewright.engine.indexes import project_entry, projected_names
from tablewright.engine.keys import key_names
from tablewright.engine.limits import PAGE_BYTES
from tablewright.engine.metrics.names import RETURNED_ITEMS
from tablewright.engine.read_budget import ROW_COST, ReadBudget
from tablewright.engine.storage.checksum import crc32
from tablewright.engine.transaction import ReadTransaction
from tablewright.expressions import Condition, Path, holds, paths_in, project, top_level_names
from tablewright.values import Item, item_size

# With a Limit up to this, the page is fetched at once; items beyond the megabyte are then fetched in vain.
FEW = 64
# Otherwise this many items are fetched first, and then at most MANY at once.
FIRST = 8
MANY = 256
# A row of a range: size, raw JSON, checksum.
RangeRow: TypeAlias = tuple[int, bytes, int | None]
# What RowReader.walk reads: table, index, low, high, backward, limit.
Span: TypeAlias = tuple[int, int | None, bytes, bytes, bool, int]


# Immutable, though not frozen: one is made for every page, and a frozen one takes three times as long to make.
@dataclass(slots=True)
class View:
    """What a request reads, and what it returns of it."""

    table: Table
    index: Index | None
    keep: Condition | None
    paths: tuple[Path, ...] | None
    counts_only: bool
    consistent: bool
    # A local index may be asked for attributes it does not project; they are fetched from the table.
    fetches: bool
    shows_fetched: bool = False

    @property
    def reads_whole_items(self) -> bool:
        return self.index is None or self.index.projection == "ALL"

    @property
    def returns_stored_items(self) -> bool:
        """Whether a page of it has raw JSON, not parsed items."""
        return self.keep is None and self.paths is None and self.reads_whole_items


@dataclass(slots=True)
class ReadPage:
    """What was read; `items` are raw JSON where whole stored items are returned (View.returns_stored_items)."""

    items: list[Any]
    count: int
    scanned: int
    walked_bytes: int
    fetched_units: float
    last: bytes | None


# --- parsing the request ---


def _not_readable(request: Request, verb: str) -> ServiceError:
    """The refusal of a read of a vector index, which only SearchVectors reads."""
    if verb == "Query" and request.get("ConsistentRead"):
        return invalid("Consistent reads are not supported on global secondary indexes")
    return invalid(f"{verb} operation not supported on this index type" + ("." if verb == "Query" else ""))


def find_index(table: Table, request: Request, verb: str) -> Index | None:
    name = request.get("IndexName")
    if name is None:
        return None
    for index in table.indexes:
        if index.name == name:
            break
    else:
        if table.vector(name) is not None:
            raise _not_readable(request, verb)
        raise invalid(f"The table does not have the specified index: {name}")
    if index.backfill is not None:
        raise invalid(f"Cannot read from backfilling global secondary index: {name}")
    if request.get("ConsistentRead") and not index.local:
        raise invalid("Consistent reads are not supported on global secondary indexes")
    return index


_SELECTING = frozenset(("Select", "ProjectionExpression", "AttributesToGet"))


def check_select(request: Request, verb: str) -> None:
    """Refuse combinations of Select with other members; needs no table."""
    if _SELECTING.isdisjoint(request):
        return
    select = request.get("Select")
    asked = "ProjectionExpression" if request.get("ProjectionExpression") is not None else "AttributesToGet"
    has_paths = request.get(asked) is not None
    # Query counts these errors, Scan does not.
    count = COUNTED if verb == "Query" else ""
    if select == "ALL_PROJECTED_ATTRIBUTES" and request.get("IndexName") is None:
        raise invalid(f"{count}ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
    if select == "SPECIFIC_ATTRIBUTES" and not has_paths:
        raise invalid(
            f"{count}Must specify the AttributesToGet or ProjectionExpression "
            "when choosing to get SPECIFIC_ATTRIBUTES"
        )
    if has_paths and select not in (None, "SPECIFIC_ATTRIBUTES"):
        what = "only the Count" if select == "COUNT" else select
        raise invalid(f"{count}Cannot specify the {asked} when choosing to get {what}")


def view_of(
    table: Table,
    index: Index | None,
    request: Request,
    keep: Condition | None,
    paths: tuple[Path, ...] | None,
    scans: bool = False,
) -> View:
    """The view of a request; refuses attributes that the index cannot return.

    To the filter of a Scan, unlike that of a Query, attributes that the index does not project are absent.
    """
    select = request.get("Select")
    view = View(
        table, index, keep, paths, select == "COUNT", bool(request.get("ConsistentRead")), fetches=False
    )
    if index is None:
        return view
    names = projected_names(table, index)
    if names is None:
        return view
    missing = _missing(names, top_level_names(paths) if paths is not None else ())
    filtered = _missing(names, top_level_names(keep) if keep is not None and not scans else ())
    if index.local:
        every = select == "ALL_ATTRIBUTES"
        return replace(view, fetches=bool(every or missing or filtered), shows_fetched=bool(every or missing))
    if select == "ALL_ATTRIBUTES":
        raise invalid_parameter(
            f"Select type ALL_ATTRIBUTES is not supported for global secondary index {index.name} "
            "because its projection type is not ALL"
        )
    if missing:
        raise invalid_parameter(
            f"Global secondary index {index.name} does not project [{', '.join(missing)}]"
        )
    if filtered:
        raise invalid_parameter(
            f"Secondary index {index.name} does not project one or more filter attributes: [{', '.join(filtered)}]"
        )
    return view


def _missing(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    return [name for name in wanted if name not in names]


def start_key(table: Table, index: Index | None, request: Request) -> Item | None:
    """The ExclusiveStartKey; it must have the attributes of a LastEvaluatedKey of this table or index."""
    given = request.get("ExclusiveStartKey")
    if given is None:
        return None
    key = admit_key(given)
    names = key_names(table, index)
    fits = len(key) == len(names) and all(name in key and table.types[name] in key[name] for name in names)
    if not fits:
        raise invalid(
            f"The provided starting key is invalid: {NO_MATCH}"
            if index is None
            else "The provided starting key is invalid"
        )
    if any(key[name].get("S") == "" or key[name].get("B") == "" for name in names):
        raise invalid("The provided starting key is invalid")
    return key


# --- reading ---


def read_page(
    txn: ReadTransaction,
    view: View,
    low: bytes,
    high: bytes,
    backward: bool,
    limit: int | None,
    is_last: bool = True,
) -> ReadPage:
    """Read one range. `is_last`: the request reads no rows after these."""
    number = None if view.index is None else view.index.number
    span = view.table.number, number, low, high, backward, -1 if limit is None else limit
    if view.index is not None and not view.reads_whole_items:
        return _projected_page(txn, view, span, limit, is_last)
    if limit is not None and limit <= FEW:
        raws, walked = _added([], 0, txn, view, txn.rows.fetch_range(*span))
    else:
        raws, walked = _fetched(txn, view, span)
    if is_last and txn.release is not None:
        txn.release()
    count = len(raws)
    last = raws[-1] if walked >= PAGE_BYTES or (limit is not None and count == limit) else None
    if view.keep is not None:
        return _filtered_page(view, raws, walked, last, txn.effort)
    if view.paths is not None and txn.effort is not None:
        txn.effort.spend(walked + ROW_COST * count)
    items: list[Any] = raws
    if view.counts_only:
        items = []
    elif view.paths is not None:
        items = [project(view.paths, orjson.loads(raw)) for raw in raws]
    return ReadPage(items, count, count, walked, 0.0, last)


def _fetched(txn: ReadTransaction, view: View, span: Span) -> tuple[list[bytes], int]:
    """The items of a page and the sum of their sizes, the item that crosses the megabyte included.

    Fetched many at once: a step of a Python loop takes as long as SQLite's step to the next row. First only a few,
    since they may be large; then as many as should still fit.
    """
    # Begun and finished in one function: an open cursor would keep the table from being dropped.
    walk = txn.rows.walk(*span)
    raws: list[bytes] = []
    walked, step = 0, FIRST
    while some := list(islice(walk, step)):
        raws, walked = _added(raws, walked, txn, view, some)
        if walked >= PAGE_BYTES or len(some) < step:
            break
        step = max(1, min(MANY, (PAGE_BYTES - walked) * len(raws) // max(1, walked)))
    return raws, walked


def _added(
    raws: list[bytes], walked: int, txn: ReadTransaction, view: View, some: Sequence[RangeRow]
) -> tuple[list[bytes], int]:
    """The items and the sum of their sizes with some more, as far as they fit the page."""
    if not some:
        return raws, walked
    sizes, items, sums = zip(*some, strict=True)
    if tuple(map(crc32, items)) != sums:
        txn.rows.refuse_damaged(view.table.number, items, sums)
    weight = sum(sizes)
    if txn.effort is not None:
        txn.effort.spend(weight + ROW_COST * len(items))
    if walked + weight < PAGE_BYTES:
        raws += items
        return raws, walked + weight
    for size, item in zip(sizes, items, strict=True):
        raws.append(item)
        walked += size
        if walked >= PAGE_BYTES:
            break
    return raws, walked


def joined(raws: list[bytes]) -> orjson.Fragment:
    """A JSON list of items that are raw JSON."""
    return orjson.Fragment(b"[" + b",".join(raws) + b"]")


def _filtered_page(
    view: View, raws: list[bytes], walked: int, last: bytes | None, effort: ReadBudget | None
) -> ReadPage:
    assert view.keep is not None, "checked by read_page"
    page = ReadPage([], 0, len(raws), walked, 0.0, last)
    cost = _filter_cost(view.keep)
    for raw in raws:
        if effort is not None:
            effort.spend(cost)
        item: Item = orjson.loads(raw)
        if holds(view.keep, item):
            page.count += 1
            if not view.counts_only:
                page.items.append(item if view.paths is None else project(view.paths, item))
    return page


def _projected_page(
    txn: ReadTransaction, view: View, span: Span, limit: int | None, is_last: bool
) -> ReadPage:
    """A page of an index that does not project ALL: the size of an entry is known once it is parsed."""
    page = ReadPage([], 0, 0, 0, 0.0, None)
    pairs: Iterable[tuple[Item, Item]] = _entries(txn, view, txn.rows.walk(*span), limit, page)
    if not view.fetches:  # else the items may be many times as large as the page, and are not collected
        pairs = [(entry, entry) for _, entry in pairs]
        if is_last and txn.release is not None:
            txn.release()
    cost = _filter_cost(view.keep)
    for whole, entry in pairs:
        if txn.effort is not None:
            txn.effort.spend(cost)
        if view.keep is None or holds(view.keep, whole):
            page.count += 1
            if not view.counts_only:
                item = whole if view.shows_fetched else entry
                page.items.append(item if view.paths is None else project(view.paths, item))
    return page


def _entries(
    txn: ReadTransaction, view: View, walk: Iterator[RangeRow], limit: int | None, page: ReadPage
) -> Iterator[tuple[Item, Item]]:
    """The items of a page with their entries; sets the counts and the end of the page."""
    assert view.index is not None, "a table holds whole items"
    for size, raw, checksum in walk:
        if crc32(raw) != checksum:
            txn.rows.refuse_damaged(view.table.number, (raw,), (checksum,))
        if txn.effort is not None:
            txn.effort.spend(size + ROW_COST)
        whole: Item = orjson.loads(raw)
        entry = project_entry(view.table, view.index, whole)
        page.scanned += 1
        page.walked_bytes += item_size(entry)
        if view.fetches:
            page.fetched_units += read_units(size, view.consistent)
        is_full = page.walked_bytes >= PAGE_BYTES or page.scanned == limit
        if is_full:
            page.last = raw
        yield whole, entry
        if is_full:
            return


def _filter_cost(keep: Condition | None) -> int:
    """The budget a filter spends for each row, in addition to what was spent when the row was fetched."""
    return 0 if keep is None else ROW_COST * len(paths_in(keep))


# --- the answer ---


def spend(txn: ReadTransaction, view: View, page: ReadPage, verb: str, key: bytes = b"") -> None:
    """Count the units of a page; `key` is its position, if it is in one partition."""
    units = read_units(page.walked_bytes, view.consistent)
    if view.index is None or view.index.local:
        txn.spend(view.table, None, units + page.fetched_units, key)
    else:
        txn.spend(view.table, view.index, units, key)
    if txn.samples is not None:
        txn.samples.append(((RETURNED_ITEMS, view.table.name, "", verb), float(page.count)))


def answer(view: View, page: ReadPage, request: Request) -> dict[str, Any] | bytes:
    """The response; as JSON where it has whole items, so that they are copied into it only once."""
    answer: dict[str, Any] = {"Count": page.count, "ScannedCount": page.scanned}
    if page.last is not None:
        item = orjson.loads(page.last)
        answer["LastEvaluatedKey"] = {name: item[name] for name in key_names(view.table, view.index)}
    how = request.get("ReturnConsumedCapacity")
    if how is not None and how != "NONE":
        consumed = Consumed(view.table)
        charge(consumed, view, page)
        answer["ConsumedCapacity"] = consumed.as_member(how)
    if view.counts_only:
        return answer
    raws = page.items
    if not raws or not view.returns_stored_items:
        return {"Items": raws, **answer}
    raws[0] = b'{"Items":[' + raws[0]
    raws[-1] += b"]," + orjson.dumps(answer)[1:]
    return b",".join(raws)


def charge(consumed: Consumed, view: View, page: ReadPage) -> None:
    units = read_units(page.walked_bytes, view.consistent)
    if view.index is None:
        consumed.base += units
    else:
        consumed.base += page.fetched_units
        consumed.add_index(view.index, units)
