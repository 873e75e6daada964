"""One page of a Query or a Scan: walk a byte range, stop at Limit or 1 MB, filter, show.

Must hold: Limit and the megabyte count what was walked, before the filter; the item that crosses the
megabyte is still on the page; a page that was cut ends in a LastEvaluatedKey even if nothing follows.
Rows that are shown whole and not filtered are never parsed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from tablewright.engine.arguments import NO_MATCH, admit_key
from tablewright.engine.capacity import Consumed, read_units
from tablewright.engine.catalog import Index, Table
from tablewright.engine.errors import invalid, invalid_parameter
from tablewright.engine.indexes import project_entry, projected_names
from tablewright.engine.keys import key_names
from tablewright.engine.limits import PAGE_BYTES
from tablewright.engine.metric_names import RETURNED_ITEMS
from tablewright.engine.shapes import Request
from tablewright.engine.storage_rows import Rows
from tablewright.engine.writing import Reading
from tablewright.expressions import Condition, Path, holds, project, top_level_names
from tablewright.values import Item, item_size

# A page of this many items is fetched at once: what lies behind its megabyte was then fetched for nothing.
FEW = 64


# It never changes. (Not enforced: every page makes one, and a frozen one takes three times as long to make.)
@dataclass(slots=True)
class View:
    """What is walked and what is shown of it."""

    table: Table
    index: Index | None
    keep: Condition | None
    paths: tuple[Path, ...] | None
    counts_only: bool
    consistent: bool
    # A local index may be asked about attributes it does not hold; they are fetched from the table.
    fetches: bool
    shows_fetched: bool = False

    @property
    def reads_whole_items(self) -> bool:
        return self.index is None or self.index.projection == "ALL"


@dataclass(slots=True)
class Page:
    items: list[Any]
    count: int
    scanned: int
    walked_bytes: int
    fetched_units: float
    last: bytes | None


# --- reading the request ---


def find_index(table: Table, request: Request) -> Index | None:
    name = request.get("IndexName")
    if name is None:
        return None
    for index in table.indexes:
        if index.name == name:
            break
    else:
        raise invalid(f"The table does not have the specified index: {name}")
    if index.backfill is not None:
        raise invalid(f"Cannot read from backfilling global secondary index: {name}")
    if request.get("ConsistentRead") and not index.local:
        raise invalid("Consistent reads are not supported on global secondary indexes")
    return index


_SELECTING = frozenset(("Select", "ProjectionExpression", "AttributesToGet"))


def check_select(request: Request, verb: str) -> None:
    """What Select allows beside it; this needs no table."""
    if _SELECTING.isdisjoint(request):
        return
    select = request.get("Select")
    asked = "ProjectionExpression" if request.get("ProjectionExpression") is not None else "AttributesToGet"
    has_paths = request.get(asked) is not None
    if select == "ALL_PROJECTED_ATTRIBUTES" and request.get("IndexName") is None:
        raise invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
    if select == "SPECIFIC_ATTRIBUTES" and not has_paths:
        # Query wraps this sentence as a constraint, Scan does not.
        wrapped = "1 validation error detected: " if verb == "Query" else ""
        raise invalid(
            f"{wrapped}Must specify the AttributesToGet or ProjectionExpression "
            "when choosing to get SPECIFIC_ATTRIBUTES"
        )
    if has_paths and select not in (None, "SPECIFIC_ATTRIBUTES"):
        what = "only the Count" if select == "COUNT" else select
        raise invalid(f"Cannot specify the {asked} when choosing to get {what}")


def view_of(
    table: Table,
    index: Index | None,
    request: Request,
    keep: Condition | None,
    paths: tuple[Path, ...] | None,
) -> View:
    """What a request sees of the table or index; says what an index cannot show."""
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
    filtered = _missing(names, top_level_names(keep) if keep is not None else ())
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
    """The ExclusiveStartKey; it must have the form of a LastEvaluatedKey of this table or index."""
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


# --- walking ---


def read_page(rows: Rows, view: View, low: bytes, high: bytes, backward: bool, limit: int | None) -> Page:
    if view.keep is None and view.reads_whole_items:
        return _unparsed_page(rows, view, low, high, backward, limit)
    return _parsed_page(rows, view, low, high, backward, limit)


def _walk(rows: Rows, view: View, low: bytes, high: bytes, backward: bool, limit: int | None) -> Any:
    number = None if view.index is None else view.index.number
    return rows.walk(view.table.number, number, low, high, backward, -1 if limit is None else limit)


def _unparsed_page(
    rows: Rows, view: View, low: bytes, high: bytes, backward: bool, limit: int | None
) -> Page:
    raws, walked = _fetched(_walk(rows, view, low, high, backward, limit), limit)
    cut = walked >= PAGE_BYTES
    count = len(raws)
    last = raws[-1] if cut or (limit is not None and count == limit) else None
    items: list[Any] = []
    if not view.counts_only:
        if view.paths is None:
            items = [_joined(raws)]
        else:
            items = [project(view.paths, orjson.loads(raw)) for raw in raws]
    return Page(items, count, count, walked, 0.0, last)


def _fetched(walk: Iterable[tuple[int, bytes]], limit: int | None) -> tuple[list[bytes], int]:
    """The items of a page and what they weigh together, the one that crosses the megabyte included."""
    if limit is not None and limit <= FEW:
        # A step of the loop below takes as long as SQLite's own to the next row; nearly always this does without.
        walk = list(walk)
        sizes, items = zip(*walk, strict=True) if walk else ((), ())
        walked = sum(sizes)
        if walked < PAGE_BYTES:
            return list(items), walked
    raws: list[bytes] = []
    walked = 0
    for size, item in walk:
        raws.append(item)
        walked += size
        if walked >= PAGE_BYTES:
            break
    return raws, walked


def _joined(raws: list[bytes]) -> orjson.Fragment:
    """A JSON list of items that are JSON already."""
    if not raws:
        return orjson.Fragment(b"[]")
    # A bracket put around the joined text would copy the whole of it once more, for each bracket.
    raws[0] = b"[" + raws[0]
    raws[-1] += b"]"
    return orjson.Fragment(b",".join(raws))


def _parsed_page(rows: Rows, view: View, low: bytes, high: bytes, backward: bool, limit: int | None) -> Page:
    page = Page([], 0, 0, 0, 0.0, None)
    for size, raw in _walk(rows, view, low, high, backward, limit):
        whole: Item = orjson.loads(raw)
        entry = whole if view.index is None else project_entry(view.table, view.index, whole)
        page.scanned += 1
        page.walked_bytes += size if entry is whole else item_size(entry)
        if view.fetches:
            page.fetched_units += read_units(size, view.consistent)
        if view.keep is None or holds(view.keep, whole if view.fetches else entry):
            page.count += 1
            if not view.counts_only:
                shown = whole if view.shows_fetched else entry
                page.items.append(shown if view.paths is None else project(view.paths, shown))
        if page.walked_bytes >= PAGE_BYTES or page.scanned == limit:
            page.last = raw
            break
    return page


# --- answering ---


def spend(reading: Reading, view: View, page: Page, verb: str, key: bytes = b"") -> None:
    """Count what a page has used; `key` is where it was, if in one partition."""
    units = read_units(page.walked_bytes, view.consistent)
    if view.index is None or view.index.local:
        reading.spend(view.table, None, units + page.fetched_units, key)
    else:
        reading.spend(view.table, view.index, units, key)
    if reading.marks is not None:
        reading.marks.append(((RETURNED_ITEMS, view.table.name, "", verb), float(page.count)))


def answer(view: View, page: Page, request: Request) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if not view.counts_only:
        whole = view.keep is None and view.paths is None and view.reads_whole_items
        shown["Items"] = page.items[0] if whole else page.items
    shown["Count"] = page.count
    shown["ScannedCount"] = page.scanned
    if page.last is not None:
        item = orjson.loads(page.last)
        shown["LastEvaluatedKey"] = {name: item[name] for name in key_names(view.table, view.index)}
    how = request.get("ReturnConsumedCapacity")
    if how is not None and how != "NONE":
        shown["ConsumedCapacity"] = _consumed(view, page).shown(how)
    return shown


def _consumed(view: View, page: Page) -> Consumed:
    units = read_units(page.walked_bytes, view.consistent)
    if view.index is None:
        return Consumed(view.table, units)
    consumed = Consumed(view.table, page.fetched_units)
    consumed.add_index(view.index, units)
    return consumed
