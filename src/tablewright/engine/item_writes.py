"""A write to one item: decided against what is stored, then carried out.

PutItem, UpdateItem and DeleteItem do both at once; a batch and a transaction decide all of their writes
before they carry out the first. So the store is touched only when nothing can be refused any more.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import orjson

from tablewright.engine.arguments import (
    INVALID,
    admit_key,
    find_table,
    key_bytes,
    placeholders,
    put_key_bytes,
    refuse_bad_index_keys,
    refuse_nested_keys,
    write_condition,
)
from tablewright.engine.capacity import Consumed, entry_units, write_units
from tablewright.engine.catalog import Catalog, Table
from tablewright.engine.errors import ItemMistake, condition_failed, invalid, left_behind, not_the_writer
from tablewright.engine.indexes import EntryChange, changes, entry_size
from tablewright.engine.keys import entry_key, partition_of
from tablewright.engine.limits import GB, ITEM_BYTES, WRITE_UNIT_BYTES
from tablewright.engine.metric_names import CONDITION_FAILED
from tablewright.engine.shapes import Request
from tablewright.engine.storage_rows import Row, Rows
from tablewright.engine.writing import Writing, refuse_full_collection
from tablewright.expressions import (
    Condition,
    Update,
    apply,
    attribute_updates,
    holds,
    paths_in,
    touched,
    update,
)
from tablewright.expressions.nodes import Add, Set
from tablewright.values import Item, admit, admit_item, item_size, resized

# From the stored item and its size to the item that takes its place and its size; None for no item.
Become: TypeAlias = Callable[[Item | None, int], tuple[Item | None, int]]

TOO_LARGE = "Item size has exceeded the maximum allowed size"
UPDATE_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"


class Write(NamedTuple):
    """What a request wants to do to one item; everything that needs no stored item has been checked."""

    table: Table
    key: bytes
    attributes: Item
    condition: Condition | None
    become: Become
    show_failed: bool = False
    is_put: bool = False


class Decided(NamedTuple):
    """What will happen: the row as it is, the item before and after."""

    write: Write
    row: Row | None
    old: Item | None
    new: Item | None
    new_size: int

    @property
    def old_size(self) -> int:
        return self.row.size if self.row is not None else 0


# --- from a request to a write ---


def refuse_unless_writer(table: Table) -> None:
    """A table with replicas may leave writing to another region."""
    group = table.replicas
    if group is not None and not group.takes_writes:
        raise (
            left_behind(table.name, group.region)
            if group.writer is None
            else not_the_writer(table.name, group.region, group.writer, group.epoch)
        )


def put_of(tables: Catalog, request: Request) -> Write:
    item, size = admit_item(request["Item"])
    if size > ITEM_BYTES:
        raise invalid(TOO_LARGE)
    condition = _read_condition(request)
    table = find_table(tables, request["TableName"])
    if table.replicas is not None:
        refuse_unless_writer(table)
    if condition is not None:
        refuse_nested_keys(table, request, lambda: paths_in(condition))
    key = put_key_bytes(table, item)
    refuse_bad_index_keys(table, None, item, by_update=False)
    return Write(table, key, item, condition, lambda *_: (item, size), _shows_failed(request), is_put=True)


def delete_of(tables: Catalog, request: Request) -> Write:
    return _keyed(tables, request, lambda *_: (None, 0))


def check_of(tables: Catalog, request: Request) -> Write:
    """A ConditionCheck: the item stays what it is."""
    return _keyed(tables, request, lambda old, _: (old, 0))


_CONDITIONING = frozenset(
    (
        "ConditionExpression",
        "ExpressionAttributeNames",
        "ExpressionAttributeValues",
        "Expected",
        "ConditionalOperator",
    )
)


def _read_condition(request: Request) -> Condition | None:
    if _CONDITIONING.isdisjoint(request):
        return None
    given = placeholders(request, ("ConditionExpression",))
    condition = write_condition(request, given)
    given.check_all_used()
    return condition


def _keyed(tables: Catalog, request: Request, become: Become) -> Write:
    attributes = admit_key(request["Key"])
    condition = _read_condition(request)
    table = find_table(tables, request["TableName"])
    if table.replicas is not None:
        refuse_unless_writer(table)
    if condition is not None:
        refuse_nested_keys(table, request, lambda: paths_in(condition))
    key = key_bytes(table, attributes)
    return Write(table, key, attributes, condition, become, _shows_failed(request))


def update_of(tables: Catalog, request: Request, alone: bool = True) -> tuple[Write, Update | None]:
    attributes = admit_key(request["Key"])
    given = placeholders(request, ("UpdateExpression", "ConditionExpression"))
    change = _read_update(request, given)
    condition = write_condition(request, given)
    given.check_all_used()
    table = find_table(tables, request["TableName"])
    if table.replicas is not None:
        refuse_unless_writer(table)
    nodes = [node for node in (change, condition) if node is not None]
    refuse_nested_keys(table, request, lambda: (path for node in nodes for path in paths_in(node)))
    key = key_bytes(table, attributes)
    if change is not None:
        for path in touched(change):
            if path[0] in table.schema.names:
                raise ItemMistake(
                    f"{INVALID}Cannot update attribute {path[0]}. This attribute is part of the key"
                )
    become = _updated(table, attributes, change, alone)
    write = Write(table, key, attributes, condition, become, _shows_failed(request))
    return write, change


def _read_update(request: Request, given: Any) -> Update | None:
    text = request.get("UpdateExpression")
    if text is not None:
        return update(text, given)
    old = request.get("AttributeUpdates")
    if old is None:
        return None
    return attribute_updates(
        {
            name: {m: admit(c)[0] if m == "Value" else c for m, c in one.items() if c is not None}
            for name, one in old.items()
        }
    )


def _updated(table: Table, key: Item, change: Update | None, alone: bool) -> Become:
    def become(old: Item | None, old_size: int) -> tuple[Item | None, int]:
        if old is None and change is not None and not _creates(change):
            return None, 0
        new = old or {}
        if change is not None:
            # What is not there has no attributes to read, not even its key.
            new = apply(change, new)
        if old is None:
            new = key | new
        size = item_size(new) if old is None else resized(old, old_size, new)
        if size > ITEM_BYTES or (alone and change is not None and _gauged(size, key, change) > ITEM_BYTES):
            raise ItemMistake(UPDATE_TOO_LARGE)
        refuse_bad_index_keys(table, old, new, by_update=True)
        return new, size

    return become


def _creates(change: Update) -> bool:
    """Whether an update of an item that is not there makes one: removing from nothing leaves nothing."""
    return not change.actions or any(isinstance(action, (Set, Add)) for action in change.actions)


def _gauged(size: int, key: Item, change: Update) -> int:
    """The size the service holds against the limit in UpdateItem: the key is free, each action is not."""
    assigning = sum(isinstance(action, (Set, Add)) for action in change.actions)
    return size - item_size(key) + 3 + 19 * assigning + 2 * (len(change.actions) - assigning)


def _shows_failed(request: Request) -> bool:
    return request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"


# --- from a write to what will happen, and doing it ---


def decide(writing: Writing, write: Write, factor: int = 1) -> Decided:
    """What will happen; `factor` is how many times over its units are paid (twice in a transaction)."""
    if writing.throttle is not None:
        writing.refuse_fast(write.table, [(write.key, None)])
    row = writing.rows.get(write.table.number, write.key)
    old: Item | None = None if row is None else orjson.loads(row.item)
    if write.condition is not None and not holds(write.condition, old or {}):
        # What is refused costs what it would have cost, going by what is stored.
        writing.spend(write.table, write.key, write_units(0 if row is None else row.size) * factor)
        if factor == 1:
            writing.marks.append(((CONDITION_FAILED, write.table.name, "", ""), 1.0))
        raise condition_failed(old if write.show_failed else None)
    new, size = write.become(old, 0 if row is None else row.size)
    decided = Decided(write, row, old, new, size)
    if write.table.has_local_indexes and new is not None:
        _check_local_indexes(writing, decided)
    if writing.throttle is not None and write.table.indexes:
        _refuse_fast_indexes(writing, decided)
    return decided


def _refuse_fast_indexes(writing: Writing, decided: Decided) -> None:
    """An index that is short of units holds back the writes that would change it."""
    table, row = decided.write.table, 0 if decided.row is None else decided.row.id
    moved = changes(
        table, decided.write.key, row, decided.old, decided.old_size, decided.new, decided.new_size
    )
    writing.refuse_fast(
        table,
        [
            (entry.new_key or entry.old_key or b"", entry.index)
            for entry in moved
            if not entry.index.local and entry_units(table, entry, decided.old, decided.new)
        ],
    )


def _check_local_indexes(writing: Writing, decided: Decided) -> None:
    """An item with its local index entries fits 400 KB, and its collection 10 GB."""
    table, key = decided.write.table, decided.write.key

    def weight(item: Item | None, size: int) -> int:
        if item is None:
            return 0
        entries = (i for i in table.indexes if i.local and entry_key(table, i, item, key) is not None)
        return size + sum(entry_size(table, index, item, size) for index in entries)

    after = weight(decided.new, decided.new_size)
    if after > ITEM_BYTES:
        raise ItemMistake(TOO_LARGE)
    refuse_full_collection(
        writing, table, decided.write.attributes, after - weight(decided.old, decided.old_size)
    )


def carry_out(writing: Writing, decided: Decided, factor: int = 1) -> list[EntryChange]:
    write = decided.write
    entries = writing.change(write.table, write.key, decided.row, decided.old, decided.new, decided.new_size)
    spend(writing, decided, entries, factor)
    return entries


def spend(writing: Writing, decided: Decided, entries: list[EntryChange], factor: int = 1) -> None:
    """Count what a write has used, of its table and of each global index it has changed."""
    write, row, size = decided.write, decided.row, decided.new_size
    table = write.table
    if row is not None and row.size > size:
        size = row.size
    units = float(-(-size // WRITE_UNIT_BYTES) or 1) * factor
    for entry in entries:
        used = entry_units(table, entry, decided.old, decided.new)
        if used and entry.index.local:
            units += used
        elif used:
            writing.spend(table, entry.new_key or entry.old_key or b"", used, entry.index)
    writing.spend(table, write.key, units)


def _spend_on_new(writing: Writing, table: Table, size: int, entries: list[EntryChange]) -> None:
    """`spend` for an item that came where none was, without local indexes and limits: most writes."""
    units = float(-(-size // WRITE_UNIT_BYTES) or 1)
    marks = writing.marks
    for entry in entries:
        used = units if entry.new_size == size else write_units(entry.new_size)
        marks.append((table.entry_plans[entry.index.number].spent, used))
    marks.append((table.spent, units))


def perform(writing: Writing, write: Write) -> tuple[Decided, list[EntryChange]]:
    """Decide and carry out at once, where no other write of the request has to be decided before."""
    if (
        write.is_put
        and write.condition is None
        and not write.table.has_local_indexes
        and writing.throttle is None
    ):
        # Most puts are of new items, and the store finds out by itself whether this is one.
        new, size = write.become(None, 0)
        entries = writing.insert(write.table, write.key, new or {}, size)
        if entries is not None:
            _spend_on_new(writing, write.table, size, entries)
            return Decided(write, None, None, new, size), entries
    decided = decide(writing, write)
    return decided, carry_out(writing, decided)


# --- what the answer tells ---


def consume(consumed: Consumed, decided: Decided, entries: list[EntryChange], factor: int = 1) -> None:
    consumed.base += write_units(decided.old_size, decided.new_size) * factor
    consumed.add_entries(entries, decided.old, decided.new)


def collection_metrics(rows: Rows, table: Table, attributes: Item) -> dict[str, Any]:
    size = rows.collection(table.number, partition_of(table, attributes))
    least = float(size // GB)
    name = table.schema.hash[0]
    return {"ItemCollectionKey": {name: attributes[name]}, "SizeEstimateRangeGB": [least, least + 1.0]}


def single_answer(
    writing: Writing, request: Request, decided: Decided, entries: list[EntryChange], attributes: Item | None
) -> dict[str, Any]:
    """The answer of a write to one item."""
    answer: dict[str, Any] = {}
    if attributes:
        answer["Attributes"] = attributes
    how = request.get("ReturnConsumedCapacity")
    if how is not None and how != "NONE":
        consumed = Consumed(decided.write.table)
        consume(consumed, decided, entries)
        answer["ConsumedCapacity"] = consumed.shown(how)
    if request.get("ReturnItemCollectionMetrics") == "SIZE" and decided.write.table.has_local_indexes:
        answer["ItemCollectionMetrics"] = collection_metrics(
            writing.rows, decided.write.table, decided.write.attributes
        )
    return answer
