"""A write to one item: evaluated against the stored item, then applied.

PutItem, UpdateItem and DeleteItem do both at once; a batch and a transaction evaluate all of their writes
before they apply the first. So the store is changed only when nothing can be refused any more.
"""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import orjson

from tablewright.engine.api.arguments import (
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
from tablewright.engine.api.shapes import Request
from tablewright.engine.catalog import Catalog, Table
from tablewright.engine.consumed_capacity import Consumed, entry_units, write_units
from tablewright.engine.errors import ItemMistake, condition_failed, invalid, not_the_writer
from tablewright.engine.indexes import EntryChange, changes, entry_size
from tablewright.engine.keys import entry_key, partition_of
from tablewright.engine.limits import GB, ITEM_BYTES, WRITE_UNIT_BYTES
from tablewright.engine.metrics.names import CONDITION_FAILED, VECTOR_WRITE_BYTES
from tablewright.engine.storage.rows import Row, RowReader
from tablewright.engine.transaction import WriteTransaction, refuse_full_collection
from tablewright.engine.vectors.entries import written_bytes
from tablewright.expressions import (
    Condition,
    Update,
    apply,
    attribute_updates,
    changed_names,
    holds,
    paths_in,
    update,
)
from tablewright.expressions.nodes import Add, Set
from tablewright.values import Item, admit, admit_item, item_size, resized
from tablewright.values.codec import name_size

# From the stored item and its size to the item that takes its place and its size; None for no item.
Transform: TypeAlias = Callable[[Item | None, int], tuple[Item | None, int]]

TOO_LARGE = "Item size has exceeded the maximum allowed size"
UPDATE_TOO_LARGE = "Item size to update has exceeded the maximum allowed size"


class Mutation(NamedTuple):
    """What a request does to one item; everything that needs no stored item has been checked."""

    table: Table
    key: bytes
    attributes: Item
    condition: Condition | None
    transform: Transform
    show_failed: bool = False
    is_put: bool = False


class Evaluated(NamedTuple):
    """A write evaluated: the stored row, and the item before and after."""

    write: Mutation
    row: Row | None
    old: Item | None
    new: Item | None
    new_size: int

    @property
    def old_size(self) -> int:
        return self.row.size if self.row is not None else 0


# --- from a request to a mutation ---

# A `validate` calls the part of a reader that needs no table; a verb may put other words around its refusals.
Parsed = TypeVar("Parsed")


class Validate(Protocol):
    def __call__(self, parse: Callable[[Request], Parsed], request: Request) -> Parsed: ...


def _as_it_is(parse: Callable[[Request], Parsed], request: Request) -> Parsed:
    return parse(request)


def refuse_unless_writer(table: Table) -> None:
    """Refuse a write to a replica whose writer is another region."""
    group = table.replicas
    if group is not None and not group.takes_writes:
        raise not_the_writer(table.name, group.region, group.writer, group.epoch)


def put_of(tables: Catalog, request: Request, validate: Validate = _as_it_is) -> Mutation:
    item, size, condition = validate(_read_put, request)
    table = find_table(tables, request["TableName"])
    if table.replicas is not None:
        refuse_unless_writer(table)
    if condition is not None:
        refuse_nested_keys(table, request, lambda: paths_in(condition))
    key = put_key_bytes(table, item)
    refuse_bad_index_keys(table, None, item, by_update=False)
    return Mutation(table, key, item, condition, lambda *_: (item, size), _shows_failed(request), is_put=True)


def _read_put(request: Request) -> tuple[Item, int, Condition | None]:
    item, size = admit_item(request["Item"])
    if size > ITEM_BYTES:
        raise invalid(TOO_LARGE)
    return item, size, _read_condition(request)


def delete_of(tables: Catalog, request: Request, validate: Validate = _as_it_is) -> Mutation:
    return _keyed(tables, request, lambda *_: (None, 0), validate)


def check_of(tables: Catalog, request: Request) -> Mutation:
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


def _keyed(
    tables: Catalog, request: Request, transform: Transform, validate: Validate = _as_it_is
) -> Mutation:
    attributes, condition = validate(_read_key, request)
    table = find_table(tables, request["TableName"])
    if table.replicas is not None:
        refuse_unless_writer(table)
    if condition is not None:
        refuse_nested_keys(table, request, lambda: paths_in(condition))
    key = key_bytes(table, attributes)
    return Mutation(table, key, attributes, condition, transform, _shows_failed(request))


def _read_key(request: Request) -> tuple[Item, Condition | None]:
    return admit_key(request["Key"]), _read_condition(request)


def update_of(
    tables: Catalog, request: Request, validate: Validate = _as_it_is, alone: bool = True
) -> tuple[Mutation, Update | None]:
    attributes, change, condition = validate(_read_change, request)
    table = find_table(tables, request["TableName"])
    if table.replicas is not None:
        refuse_unless_writer(table)
    nodes = change, condition
    refuse_nested_keys(
        table, request, lambda: (path for node in nodes if node is not None for path in paths_in(node))
    )
    key = key_bytes(table, attributes)
    names = () if change is None else changed_names(change)
    for name in names:
        if name in table.schema.names:
            raise ItemMistake(f"{INVALID}Cannot update attribute {name}. This attribute is part of the key")
    transform = _updated(table, attributes, change, names, alone)
    write = Mutation(table, key, attributes, condition, transform, _shows_failed(request))
    return write, change


def _read_change(request: Request) -> tuple[Item, Update | None, Condition | None]:
    attributes = admit_key(request["Key"])
    given = placeholders(request, ("UpdateExpression", "ConditionExpression"))
    change = _read_update(request, given)
    condition = write_condition(request, given)
    given.check_all_used()
    return attributes, change, condition


def _read_update(request: Request, given: Any) -> Update | None:
    text = request.get("UpdateExpression")
    if text is not None:
        return update(text, given)
    old = request.get("AttributeUpdates")
    if old is None:
        return None
    for name in old:
        name_size(name)
    return attribute_updates(
        {
            name: {m: admit(c)[0] if m == "Value" else c for m, c in one.items() if c is not None}
            for name, one in old.items()
        }
    )


def _updated(
    table: Table, key: Item, change: Update | None, names: Collection[str], alone: bool
) -> Transform:
    """The transform of an update that changes the attributes with these names at most."""
    changes_index_keys = bool(table.vectors) or not table.types.keys().isdisjoint(names)

    def transform(old: Item | None, old_size: int) -> tuple[Item | None, int]:
        if old is None and change is not None and not _creates(change):
            return None, 0
        # Of an item that it creates, an update can read the key.
        new = key if old is None else old
        if change is not None:
            new = apply(change, new, is_new=old is None)
        size = item_size(new) if old is None else resized(old, old_size, new, names)
        if size > ITEM_BYTES or (alone and change is not None and _is_oversize(size, key, change)):
            raise ItemMistake(UPDATE_TOO_LARGE)
        if changes_index_keys or old is None:
            refuse_bad_index_keys(table, old, new, by_update=True)
        return new, size

    return transform


def _creates(change: Update) -> bool:
    """Whether an update of an item that is not there makes one: removing from nothing leaves nothing."""
    return not change.actions or any(isinstance(action, (Set, Add)) for action in change.actions)


def _is_oversize(size: int, key: Item, change: Update) -> bool:
    """Whether UpdateItem refuses an item of this size: the key is free, each action is not."""
    if size + 3 + 19 * len(change.actions) <= ITEM_BYTES:
        return False
    assigning = sum(isinstance(action, (Set, Add)) for action in change.actions)
    actions = 19 * assigning + 2 * (len(change.actions) - assigning)
    return size - item_size(key) + 3 + actions > ITEM_BYTES


def _shows_failed(request: Request) -> bool:
    return request.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD"


# --- evaluating and applying a mutation ---


def evaluate(txn: WriteTransaction, write: Mutation, factor: int = 1) -> Evaluated:
    """Evaluate a mutation; `factor` multiplies its units (a transaction pays twice)."""
    if txn.throttle is not None:
        txn.check_throughput(write.table, [(write.key, None)])
    row = txn.rows.get(write.table.number, write.key)
    old: Item | None = None if row is None else orjson.loads(row.item)
    if write.condition is not None and not holds(write.condition, old or {}):
        # What is refused costs what it would have cost, going by what is stored.
        txn.spend(write.table, write.key, write_units(0 if row is None else row.size) * factor)
        if factor == 1:
            txn.samples.append(((CONDITION_FAILED, write.table.name, "", ""), 1.0))
        raise condition_failed(old if write.show_failed else None)
    new, size = write.transform(old, 0 if row is None else row.size)
    decided = Evaluated(write, row, old, new, size)
    if write.table.has_local_indexes and new is not None:
        check_local_indexes(txn, decided)
    if txn.throttle is not None and write.table.indexes:
        _check_index_throughput(txn, decided)
    return decided


def _check_index_throughput(txn: WriteTransaction, decided: Evaluated) -> None:
    """Refuse a write that would change an index whose units are used up."""
    table, row = decided.write.table, 0 if decided.row is None else decided.row.id
    moved = changes(
        table, decided.write.key, row, decided.old, decided.old_size, decided.new, decided.new_size
    )
    txn.check_throughput(
        table,
        [
            (entry.new_key or entry.old_key or b"", entry.index)
            for entry in moved
            if not entry.index.local and entry_units(table, entry, decided.old, decided.new)
        ],
    )


def check_local_indexes(txn: WriteTransaction, decided: Evaluated) -> None:
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
        txn, table, decided.write.attributes, after - weight(decided.old, decided.old_size)
    )


def apply_mutation(txn: WriteTransaction, decided: Evaluated, factor: int = 1) -> list[EntryChange]:
    write = decided.write
    entries = txn.change(write.table, write.key, decided.row, decided.old, decided.new, decided.new_size)
    spend(txn, decided, entries, factor)
    return entries


def spend(txn: WriteTransaction, decided: Evaluated, entries: list[EntryChange], factor: int = 1) -> None:
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
            txn.spend(table, entry.new_key or entry.old_key or b"", used, entry.index)
    txn.spend(table, write.key, units)
    if table.vectors:
        _spend_vectors(txn, table, decided.old, decided.new)


def _spend_vectors(txn: WriteTransaction, table: Table, old: Item | None, new: Item | None) -> None:
    for name, used in written_bytes(table, old, new).items():
        txn.samples.append(((VECTOR_WRITE_BYTES, table.name, name, ""), used))


def _spend_on_new(txn: WriteTransaction, table: Table, size: int, entries: list[EntryChange]) -> None:
    """`spend` for an item that came where none was, without local indexes and limits: most writes."""
    units = float(-(-size // WRITE_UNIT_BYTES) or 1)
    marks = txn.samples
    for entry in entries:
        used = units if entry.new_size == size else write_units(entry.new_size)
        marks.append((table.entry_plans[entry.index.number].spent, used))
    marks.append((table.spent, units))


def evaluate_and_apply(txn: WriteTransaction, write: Mutation) -> tuple[Evaluated, list[EntryChange]]:
    """Evaluate and apply at once, where no other write of the request has to be evaluated first."""
    if (
        write.is_put
        and write.condition is None
        and not write.table.has_local_indexes
        and txn.throttle is None
    ):
        # Most puts are of new items; the insert itself finds out whether this is one.
        new, size = write.transform(None, 0)
        entries = txn.insert(write.table, write.key, new or {}, size)
        if entries is not None:
            _spend_on_new(txn, write.table, size, entries)
            if write.table.vectors:
                _spend_vectors(txn, write.table, None, new)
            return Evaluated(write, None, None, new, size), entries
    decided = evaluate(txn, write)
    return decided, apply_mutation(txn, decided)


# --- the response ---


def consume(consumed: Consumed, decided: Evaluated, entries: list[EntryChange], factor: int = 1) -> None:
    consumed.base += write_units(decided.old_size, decided.new_size) * factor
    consumed.add_entries(entries, decided.old, decided.new)
    if decided.write.table.vectors:
        consumed.add_vectors(written_bytes(decided.write.table, decided.old, decided.new))


def collection_metrics(rows: RowReader, table: Table, attributes: Item) -> dict[str, Any]:
    size = rows.collection(table.number, partition_of(table, attributes))
    least = float(size // GB)
    name = table.schema.hash[0]
    return {"ItemCollectionKey": {name: attributes[name]}, "SizeEstimateRangeGB": [least, least + 1.0]}


def single_answer(
    txn: WriteTransaction,
    request: Request,
    decided: Evaluated,
    entries: list[EntryChange],
    attributes: Item | None,
) -> dict[str, Any]:
    """The response to a write of one item."""
    answer: dict[str, Any] = {}
    if attributes:
        answer["Attributes"] = attributes
    how = request.get("ReturnConsumedCapacity")
    if how is not None and how != "NONE":
        consumed = Consumed(decided.write.table)
        consume(consumed, decided, entries)
        answer["ConsumedCapacity"] = consumed.as_member(how)
    if request.get("ReturnItemCollectionMetrics") == "SIZE" and decided.write.table.has_local_indexes:
        answer["ItemCollectionMetrics"] = collection_metrics(
            txn.rows, decided.write.table, decided.write.attributes
        )
    return answer
