"""The calls a design says will be made, and the units that each takes from a table and from its indexes. Pure.

Reads are access patterns and the `get` of entities; writes are the other verbs of an entity's `load`. A write takes
one more from each index that holds the item: two where the entry's key moves, none where nothing of the entry changes.
Only the table's own units double in a transaction. A guard of a unique value is one more item in the transaction, and
so is the receipt of what is done once.
Must hold: where the design does not say, the worse is assumed, and `assumed` says what was.
Elsewhere: units (units.py), prices (priced.py), what is kept of what is written (kept.py).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal, TypeAlias

from tablewright.design.cost.words import listed, size
from tablewright.design.design import Design
from tablewright.design.facets import Load
from tablewright.design.patterns import Plan
from tablewright.design.shape import Guard, Shape
from tablewright.design.tables import Index
from tablewright.design.units import read_units, write_units

Kind: TypeAlias = Literal["read", "write"]
# A guard has its key, whose it is and what the design keeps in it.
GUARD_BYTES = 250
# Receipts of what is done once are in a table that all designs share.
RECEIPTS, RECEIPT_BYTES = "receipts", 250


@dataclass(frozen=True, slots=True)
class Arm:
    """What one call takes from a table, or from an index of it. `why` is how that comes to be."""

    table: str
    index: str
    units: Decimal
    why: str


@dataclass(frozen=True, slots=True)
class Call:
    """Something a design does so often a month, and what one takes. `changes` is whether anything is other after it."""

    name: str
    kind: Kind
    a_month: Decimal
    arms: tuple[Arm, ...]
    assumed: tuple[str, ...] = ()
    changes: bool = True

    @property
    def units(self) -> Decimal:
        """Of one call, of all it touches."""
        return sum((arm.units for arm in self.arms), Decimal())


@dataclass(slots=True)
class _Assumed:
    """What was assumed while a call was looked at."""

    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def calls_of(design: Design, times: Decimal = Decimal(1)) -> tuple[Call, ...]:
    """Every call of which the design says how often it is made, `times` as often."""
    reads = (_pattern(plan, plan.load, times) for plan in design.plans if plan.load is not None)
    own = (_verb(shape, verb, load, times) for shape in design.shapes for verb, load in shape.load.items())
    return (*reads, *own)


def often(load: Load, times: Decimal = Decimal(1)) -> Decimal:
    """How many calls a month."""
    return Decimal(str(load.calls_a_month)) * times


def written(load: Load, times: Decimal = Decimal(1)) -> Decimal:
    """How many items a month are written, or got by their keys: a batch is as many as it holds."""
    return often(load, times) * Decimal(str(load.items))


def unsaid(design: Design) -> tuple[str, ...]:
    """Patterns and entities without a load: nobody can price what they do."""
    silent = [plan.name for plan in design.plans if plan.load is None]
    return (*silent, *(shape.tag for shape in design.shapes if not set(shape.load) - {"get"}))


# --- reads ---


def _pattern(plan: Plan, load: Load, times: Decimal) -> Call:
    shards = len(plan.choices) if plan.kind == "query" else 1
    weight = Decimal(str(load.items)) * load.item_bytes
    units = read_units(weight, consistent=plan.consistent, transaction=load.transaction, shards=shards)
    what = size(weight) if load.items == 1 else f"{load.items:g} items of {size(load.item_bytes)}"
    if shards > 1:
        what += f" in {shards} shards"
    index = plan.index.name if plan.index is not None else ""
    arm = Arm(plan.table.name, index, units, f"{what}, {_consistency(plan.consistent, load)}")
    return Call(plan.name, "read", often(load, times), (arm,))


def _consistency(consistent: bool, load: Load) -> str:
    return "in a transaction" if load.transaction else "consistent" if consistent else "eventually consistent"


def _get(shape: Shape, load: Load, times: Decimal) -> Call:
    units = read_units(load.item_bytes, consistent=True, transaction=load.transaction)
    arm = Arm(shape.table.name, "", units, f"{size(load.item_bytes)}, {_consistency(True, load)}")
    note = "the read is consistent, as who gets an item by its key may ask"
    return Call(f"{shape.tag}.get", "read", written(load, times), (arm,), () if load.transaction else (note,))


# --- writes ---


def _verb(shape: Shape, verb: str, load: Load, times: Decimal) -> Call:
    if verb == "get":
        return _get(shape, load, times)
    assumed = _Assumed()
    guards = [(guard, n) for guard in shape.guards if (n := _guard_writes(shape, guard, verb, load, assumed))]
    together = load.transaction or load.once or bool(guards) or verb == "check"
    arms = [_own(shape, load, together)]
    arms += [
        arm
        for index in _indexes(shape, verb, load, assumed)
        if (arm := _arm(shape, index, verb, load, assumed))
    ]
    arms += [_guard_arm(guard, count) for guard, count in guards]
    if load.once:
        units = 2 * write_units(RECEIPT_BYTES)
        arms.append(Arm(RECEIPTS, "", units, "the receipt that it was done, doubled in a transaction"))
    if verb == "upsert" and load.new is None:
        assumed.note("an item is there already; where none is, a refused try is paid for as well")
    name, notes = f"{shape.tag}.{verb}", tuple(assumed.notes)
    return Call(name, "write", written(load, times), tuple(arms), notes, changes=verb != "check")


def _own(shape: Shape, load: Load, together: bool) -> Arm:
    units = write_units(load.item_bytes)
    why = size(load.item_bytes)
    if together:
        return Arm(shape.table.name, "", 2 * units, f"{why}, doubled in a transaction")
    return Arm(shape.table.name, "", units, why)


def _indexes(shape: Shape, verb: str, load: Load, assumed: _Assumed) -> Iterator[Index]:
    """Those that hold the item."""
    if verb == "check":
        return
    for index in shape.on:
        if load.indexes is not None:
            if index.name in load.indexes:
                yield index
            continue
        if _is_sparse(shape, index):
            assumed.note(f"the item is in {index.name}, where not every one is")
        yield index


def _is_sparse(shape: Shape, index: Index) -> bool:
    keys = shape.placed[index.name]
    parts = [part for key in keys for part in key.template.parts]
    optional = (shape.fields[part.field].optional for part in parts if part.field in shape.fields)
    return any(part.codec.sparse for part in parts) or any(optional)


def _arm(shape: Shape, index: Index, verb: str, load: Load, assumed: _Assumed) -> Arm | None:
    """What an index takes; None where nothing of its entry changes."""
    if index.project != "ALL":
        assumed.note(f"an entry of {index.name} is as large as the item, though it holds less of it")
    units = write_units(load.item_bytes)

    def taken(number: int, why: str) -> Arm:
        return Arm(shape.table.name, index.name, units * number, f"{index.name} {why}")

    if verb in ("create", "delete"):
        return taken(1, "new" if verb == "create" else "gone")
    moved = _touched(shape, {name for key in shape.placed[index.name] for name in key.template.fields}, load)
    if moved:
        if load.changes is None:
            assumed.note(f"the key in {index.name} moves ({listed(sorted(moved))} may change)")
        return taken(2, "moves")
    if verb == "put" or index.project == "ALL":
        return taken(1, "follows")
    if index.project == "KEYS_ONLY":
        return None
    stored = {shape.stored[name].field for name in index.project if name in shape.stored}
    return taken(1, "follows") if _touched(shape, stored, load) else None


def _touched(shape: Shape, fields: Iterable[str], load: Load) -> set[str]:
    """Of some fields those that such a write changes, or may change."""
    free = set(fields) - shape.fixed
    return free if load.changes is None else free & set(load.changes)


def _guard_writes(shape: Shape, guard: Guard, verb: str, load: Load, assumed: _Assumed) -> int:
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
        assumed.note(f"its unique {guard.unique.name} changes, which moves the guard")
    return 2 if moved else 1 if _touched(shape, [*kept, *dies], load) else 0


def _guard_arm(guard: Guard, count: int) -> Arm:
    units = 2 * count * write_units(GUARD_BYTES)
    what = "the guard" if count == 1 else "two guards"
    return Arm(guard.table.name, "", units, f"{what} of its {guard.unique.name}, doubled in a transaction")
