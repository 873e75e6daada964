"""The calls a design says will be made, and the units that each takes from a table and from its indexes. Pure.

Reads are access patterns and the `get` of entities; writes are the other verbs of an entity's `load`. A write takes
one more from each index that holds the item: two where the entry's key moves, none where nothing of the entry changes.
Only the table's own units double in a transaction. A guard of a unique value is one more item in the transaction, and
so is the receipt of what is done once.
Must hold: where the design does not say, the worse is assumed, and `assumed` says what was.
Elsewhere: units (units.py), prices (bill.py), what is kept of what is written (storage.py).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, TypeAlias

from tablewright import english
from tablewright.design.design import Design
from tablewright.design.entity_spec import EntitySpec, Guard
from tablewright.design.patterns import Plan
from tablewright.design.tables import Index
from tablewright.design.traits import Load
from tablewright.design.units import items_of_shard, read_units, write_units
from tablewright.english import join_words

CallKind: TypeAlias = Literal["read", "write"]
# A guard has its key, whose it is and what the design keeps in it.
GUARD_BYTES = 250
# Receipts of what is done once are in a table that all designs share.
RECEIPTS, RECEIPT_BYTES = "receipts", 250


@dataclass(frozen=True, slots=True)
class CapacityUse:
    """The units that one call uses of a table or an index. `why` explains the number."""

    table: str
    index: str
    units: Decimal
    why: str


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A call, how often a month it is made, and the units of one. `changes`: whether it modifies anything."""

    name: str
    kind: CallKind
    a_month: Decimal
    uses: tuple[CapacityUse, ...]
    assumed: tuple[str, ...] = ()
    changes: bool = True

    @property
    def units(self) -> Decimal:
        """Of one call, of all it touches."""
        return sum((use.units for use in self.uses), Decimal())


def calls_of(design: Design, times: Decimal = Decimal(1)) -> tuple[PlannedCall, ...]:
    """Every call of which the design says how often it is made, `times` as often."""
    reads = (_pattern(plan, plan.load, times) for plan in design.plans if plan.load is not None)
    own = (_verb(shape, verb, load, times) for shape in design.shapes for verb, load in shape.load.items())
    return (*reads, *own)


def change_of(shape: EntitySpec, verb: str, field: str) -> PlannedCall:
    """A write of the entity's load, if it changes this field and no other."""
    return _verb(shape, verb, replace(shape.load[verb], changes=(field,)), Decimal(1))


def calls_per_month(load: Load, times: Decimal = Decimal(1)) -> Decimal:
    """How many calls a month."""
    return Decimal(str(load.calls_a_month)) * times


def items_per_month(load: Load, times: Decimal = Decimal(1)) -> Decimal:
    """How many items a month are written, or got by their keys: a batch is as many as it holds."""
    return calls_per_month(load, times) * Decimal(str(load.items))


def without_load(design: Design) -> tuple[str, ...]:
    """Patterns and entities without a load, which cannot be priced."""
    silent = [plan.name for plan in design.plans if plan.load is None]
    silent += [plan.name for plan in design.searches if plan.load is None]
    return (*silent, *(shape.tag for shape in design.shapes if not set(shape.load) - {"get"}))


# --- reads ---


def _pattern(plan: Plan, load: Load, times: Decimal) -> PlannedCall:
    items, index = Decimal(str(load.items)), plan.index.name if plan.index is not None else ""
    if plan.kind == "query":
        units, what, assumed = _query_units(plan, load, items)
    else:
        # A batch of gets rounds each item, a query all of its items together.
        units, what, assumed = items * _read_units(plan, load, load.item_bytes), _amount(load, items), ()
    use = CapacityUse(plan.table.name, index, units, f"{what}, {_consistency(plan.consistent, load)}")
    return PlannedCall(plan.name, "read", calls_per_month(load, times), (use,), assumed)


def _query_units(plan: Plan, load: Load, items: Decimal) -> tuple[Decimal, str, tuple[str, ...]]:
    """Of one query of all its shards: units, what is read, and what is assumed of the shards."""
    shards = len(plan.choices)
    each = items_of_shard(items, plan.page, plan.at_most, shards)
    units = _read_units(plan, load, each * shards * load.item_bytes, shards)
    if shards == 1:
        return units, _amount(load, items), ()
    if each > items:
        full = f"each of the {shards} shards has a page of {items:g} items and one more"
        return (
            units,
            f"{_amount(load, each)} in each of {shards} shards, to merge a page of {items:g}",
            (full,),
        )
    spread = f"the {shards} shards have no more than {_amount(load, items)} in all, as many in each"
    return units, f"{_amount(load, items)} in {shards} shards", (spread,)


def _read_units(plan: Plan, load: Load, size: Decimal | int, shards: int = 1) -> Decimal:
    return read_units(size, consistent=plan.consistent, transaction=load.transaction, shards=shards)


def _amount(load: Load, items: Decimal) -> str:
    size = english.size(load.item_bytes)
    return size if items == 1 else f"{items:g} items of {size}"


def _consistency(consistent: bool, load: Load) -> str:
    return "in a transaction" if load.transaction else "consistent" if consistent else "eventually consistent"


def _get(shape: EntitySpec, load: Load, times: Decimal) -> PlannedCall:
    units = read_units(load.item_bytes, consistent=True, transaction=load.transaction)
    why = f"{english.size(load.item_bytes)}, {_consistency(True, load)}"
    notes = () if load.transaction else ("the read is consistent, as who gets an item by its key may ask",)
    uses = (CapacityUse(shape.table.name, "", units, why),)
    return PlannedCall(f"{shape.tag}.get", "read", items_per_month(load, times), uses, notes)


# --- writes ---


def _verb(shape: EntitySpec, verb: str, load: Load, times: Decimal) -> PlannedCall:
    if verb == "get":
        return _get(shape, load, times)
    assumed: list[str] = []
    guards = [(guard, n) for guard in shape.guards if (n := _guard_writes(shape, guard, verb, load, assumed))]
    together = load.transaction or load.once or bool(guards) or verb == "check"
    uses = [_table_use(shape, load, together)]
    for index in _indexes(shape, verb, load, assumed):
        use = _index_use(shape, index, verb, load, assumed)
        uses += [use] if use else []
    uses += [_guard_use(guard, count) for guard, count in guards]
    if load.once:
        why = "the receipt that it was done, doubled in a transaction"
        uses.append(CapacityUse(RECEIPTS, "", 2 * write_units(RECEIPT_BYTES), why))
    if verb == "upsert" and load.new is None:
        assumed.append("an item is there already; where none is, a refused try is paid for as well")
    name, notes, a_month = f"{shape.tag}.{verb}", tuple(dict.fromkeys(assumed)), items_per_month(load, times)
    return PlannedCall(name, "write", a_month, tuple(uses), notes, changes=verb != "check")


def _table_use(shape: EntitySpec, load: Load, together: bool) -> CapacityUse:
    units, why = write_units(load.item_bytes), english.size(load.item_bytes)
    if together:
        units, why = 2 * units, f"{why}, doubled in a transaction"
    return CapacityUse(shape.table.name, "", units, why)


def _indexes(shape: EntitySpec, verb: str, load: Load, assumed: list[str]) -> Iterator[Index]:
    """Those that hold the item."""
    if verb == "check":
        return
    for index in shape.on:
        if load.indexes is None and _is_sparse(shape, index):
            assumed.append(f"the item is in {index.name}, where not every one is")
        if load.indexes is None or index.name in load.indexes:
            yield index


def _is_sparse(shape: EntitySpec, index: Index) -> bool:
    parts = (part for key in shape.index_keys[index.name] for part in key.template.parts)
    optional = {name for name, attribute in shape.fields.items() if attribute.optional}
    return any(part.codec.sparse or part.field in optional for part in parts)


def _index_use(
    shape: EntitySpec, index: Index, verb: str, load: Load, assumed: list[str]
) -> CapacityUse | None:
    """What an index takes; None where nothing of its entry changes."""
    if index.project != "ALL":
        assumed.append(f"an entry of {index.name} is as large as the item, though it holds less of it")
    units = write_units(load.item_bytes)

    def taken(number: int, why: str) -> CapacityUse:
        return CapacityUse(shape.table.name, index.name, units * number, f"{index.name} {why}")

    if verb in ("create", "delete"):
        return taken(1, "new" if verb == "create" else "gone")
    moved = _touched(
        shape, [name for key in shape.index_keys[index.name] for name in key.template.fields], load
    )
    if moved:
        if load.changes is None:
            assumed.append(f"the key in {index.name} moves ({join_words(sorted(moved))} may change)")
        return taken(2, "moves")
    if verb == "put" or index.project == "ALL":
        return taken(1, "follows")
    if index.project == "KEYS_ONLY":
        return None
    stored = {shape.stored[name].field for name in index.project if name in shape.stored}
    return taken(1, "follows") if _touched(shape, stored, load) else None


def _touched(shape: EntitySpec, fields: Iterable[str], load: Load) -> set[str]:
    """Of some fields those that such a write changes, or may change."""
    free = set(fields) - shape.fixed
    return free if load.changes is None else free & set(load.changes)


def _guard_writes(shape: EntitySpec, guard: Guard, verb: str, load: Load, assumed: list[str]) -> int:
    """How many guard items a write touches: one to take or give up, two where its value changes."""
    if verb in ("create", "delete"):
        return 1
    if verb != "change":
        return 0
    own = guard.pk.fields + (guard.sk.fields if guard.sk is not None else ())
    kept = [name for template in guard.keep.values() for name in template.fields]
    dies = [shape.expires.field] if shape.expires is not None and guard.table.ttl is not None else []
    moved = _touched(shape, own, load)
    if moved and load.changes is None:
        assumed.append(f"its unique {guard.unique.name} changes, which moves the guard")
    return 2 if moved else 1 if _touched(shape, [*kept, *dies], load) else 0


def _guard_use(guard: Guard, count: int) -> CapacityUse:
    units = 2 * count * write_units(GUARD_BYTES)
    what = "the guard" if count == 1 else "two guards"
    why = f"{what} of its {guard.unique.name}, doubled in a transaction"
    return CapacityUse(guard.table.name, "", units, why)
