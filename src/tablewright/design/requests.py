"""Requests as values: Get, Query and Write describe a request; mapping/db.py runs it.

So each can be printed, explained, priced, put into a transaction, and tested without a database. Must hold: a write
that would leave an index key wrong, change a key, or change a state without its transition check cannot be made.
"""

import builtins
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Generic, Literal, TypeAlias, TypeVar, overload

from pydantic import BaseModel

from tablewright.design.entity_spec import EntitySpec
from tablewright.design.errors import FieldIsFixed, IndexKeyNeedsTheItem, NotAPath, StateNeedsAMove
from tablewright.design.paths import FieldPath, condition, encoded, field_path, known_path
from tablewright.design.tables import Index, Table
from tablewright.expressions.nodes import Condition, In
from tablewright.values import Value

E = TypeVar("E", bound=BaseModel)
E_co = TypeVar("E_co", bound=BaseModel, covariant=True)
V = TypeVar("V")
T = TypeVar("T")

WriteKind: TypeAlias = Literal["create", "put", "change", "update", "upsert", "delete", "check"]
Op: TypeAlias = Literal["set", "add", "remove", "append", "include", "exclude", "lowest", "highest"]


@dataclass(frozen=True, slots=True)
class Get(Generic[E_co]):
    """One item, by its key. `name` is what its units are counted under."""

    name: str
    shape: EntitySpec
    key: Mapping[str, Value]
    consistent: bool = False


@dataclass(frozen=True, slots=True)
class SortTest:
    """The sort half of a key condition: bounds already rendered. `op` as in DynamoDB, and "begins_with"."""

    op: Literal["=", "<", "<=", ">", ">=", "BETWEEN", "begins_with"]
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Query(Generic[E_co]):
    """A range of items. Several `partitions` are the shards of one sharded key, to be merged in order.

    `others` says that the range holds other entities' items too, which are passed over.
    """

    name: str
    table: Table
    index: Index | None
    shapes: tuple[EntitySpec, ...]
    partitions: tuple[tuple[Value, ...], ...]
    sort: tuple[tuple[str, SortTest], ...]
    descending: bool
    consistent: bool
    page: int
    at_most: int
    arguments: Mapping[str, object]
    filters: tuple[Condition, ...] = ()
    others: bool = False

    def beside(self, other: "Query[E_co]") -> "Query[E_co]":
        """This range and another of the same pattern, merged in order: such as active and deleted ones."""
        if replace(other, partitions=self.partitions, arguments=self.arguments) != self:
            why = "only ranges of one pattern that differ in nothing but the partition merge"
            raise FieldIsFixed(f"{self.name}: {why}")
        more = tuple(partition for partition in other.partitions if partition not in self.partitions)
        return replace(self, partitions=self.partitions + more)

    def where(self, matches: Callable[[E_co], bool]) -> "Query[E_co]":
        """Only items that match. All items are read and paid for; pages stay full."""
        filters = [condition(shape.paths, matches, f"{self.name}.where") for shape in self.shapes]
        if any(each != filters[0] for each in filters):
            raise FieldIsFixed(f"{self.name}: the filter reads a field that the entities store differently")
        return replace(self, filters=(*self.filters, filters[0]))


# These values never change once they are made. That is not enforced: a frozen one takes nine times as long to make, and
# an update makes one for each of its parts.


@dataclass(slots=True)
class Step:
    """One change of one value of an item."""

    op: Op
    path: FieldPath
    value: Value | None = None


@dataclass(slots=True)
class Write(Generic[E]):
    """One change to one item.

    `item` is what is created, put or changed to, `before` what it was; `values` are the fields known about it,
    `steps` what an update does, `derived` the key attributes that follow, `when` further conditions.
    """

    kind: WriteKind
    shape: EntitySpec
    key: Mapping[str, Value]
    values: Mapping[str, object]
    item: E | None = None
    before: E | None = None
    steps: tuple[Step, ...] = ()
    when_: tuple[Condition, ...] = ()
    moved: bool = False
    known: Mapping[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What its units are counted under."""
        return f"{self.shape.tag}.{self.kind}"

    def at(self, path: Callable[[E], V]) -> "Slot[E, V]":
        """A value in the item, to be set or added to. For update and upsert only: the others write whole items."""
        if self.kind not in ("update", "upsert"):
            tag = self.shape.tag
            raise FieldIsFixed(f"{self.name} is about a whole item; write {tag}.update(...).at(...)")
        paths = self.shape.paths
        found = known_path(paths, path) or field_path(paths, path, self.name)
        if found.field in self.shape.unsettable:
            _refuse_fixed(self.shape, found.field)
        return Slot(self, found)

    def when(self, holds: Callable[[E], bool]) -> "Write[E]":
        """Write only if this holds; otherwise nothing is written and ConditionNotMet is raised."""
        found = condition(self.shape.paths, holds, f"{self.name}.when")
        return self._with(self.steps, (*self.when_, found), self.known)

    def move(self, end: str, *, by: str) -> "Write[E]":
        """Set the state in an update, if the present state has this move for the actor; the item is not read.
        MoveNotAllowed if no state has the move, ConditionNotMet when it is written if the present one does not."""
        states, tag = self.shape.states, self.shape.tag
        if states is None or self.kind != "update":
            raise FieldIsFixed(f"{self.name}: write {tag}.update(...).move(...), for an entity with states")
        _refuse_guarded(self.shape, states.field, "move(before, after, by=actor)")
        starts, path = states.starts(tag, end, by), self.shape.paths[states.field]
        may = In(path.steps, tuple(encoded(path, start, self.name) for start in starts))
        moved = Slot(self, path)._step("set", encoded(path, end, self.name), end)
        return moved._with(moved.steps, (*moved.when_, may), moved.known)

    def _with(
        self, steps: tuple[Step, ...], when: tuple[Condition, ...], known: Mapping[str, object]
    ) -> "Write[E]":
        """The same write with these. Called for each part of an update, and `replace` is slow."""
        return Write(
            self.kind,
            self.shape,
            self.key,
            self.values,
            self.item,
            self.before,
            steps,
            when,
            self.moved,
            known,
        )

    @property
    def derived(self) -> Mapping[str, Value | None]:
        """Key attributes that follow from an update's steps; None is to be removed."""
        return _derived(self) if self.kind in ("update", "upsert") else {}


@dataclass(slots=True)
class Slot(Generic[E, V]):
    """A value in an item, and the changes that can be made to it."""

    write: Write[E]
    path: FieldPath

    def __str__(self) -> str:
        return f"{self.write.name}.{self.path}"

    def _step(self, op: Op, value: Value | None = None, known: object = None) -> Write[E]:
        write = self.write
        steps = (*write.steps, Step(op, self.path, value))
        if op in ("set", "remove") and len(self.path.steps) == 1:
            return write._with(steps, write.when_, {**write.known, self.path.field: known})
        _refuse_in_keys(write.shape, self.path.field)
        return write._with(steps, write.when_, write.known)

    def _wire(self, value: object) -> Value:
        return encoded(self.path, value, self)

    def _needs(self, what: str, *letters: str) -> None:
        if self.path.kind.letter not in letters:
            raise NotAPath(f"{self.write.name}: '{self.path}' is not {what}")

    def _removed(self) -> Write[E]:
        if not self.path.optional:
            raise FieldIsFixed(
                f"{self.write.name}: '{self.path}' is required and cannot be removed; set another value"
            )
        return self._step("remove")

    def set(self, value: V) -> Write[E]:
        """Set the value; None and an empty set remove the field."""
        if value is None:
            return self._removed()
        if self.path.kind.letter in ("SS", "NS", "BS") and self.path.kind.encode(value) is None:
            return self._step("remove", known=None)
        return self._step("set", self._wire(value), value)

    @overload
    def add(self: "Slot[E, int] | Slot[E, int | None]", amount: int) -> Write[E]: ...
    @overload
    def add(self: "Slot[E, Decimal] | Slot[E, Decimal | None]", amount: Decimal) -> Write[E]: ...
    def add(self: "Slot[E, Any]", amount: int | Decimal) -> Write[E]:
        """Add a number, which may be negative; an absent value counts as 0."""
        self._needs("a number", "N")
        return self._step("add", self._wire(amount))

    def remove(self: "Slot[E, T | None]") -> Write[E]:
        """Remove the field; only an optional field can be removed."""
        return self._removed()

    def append(self: "Slot[E, list[T]]", *values: T) -> Write[E]:
        """Put at the end of a list."""
        self._needs("a list", "L")
        return self._step("append", self._wire(list(values)))

    def include(self: "Slot[E, builtins.set[T]]", *members: T) -> Write[E]:
        """Put into a set."""
        self._needs("a set", "SS", "NS", "BS")
        return self._step("include", self._wire({*members}))

    def exclude(self: "Slot[E, builtins.set[T]]", *members: T) -> Write[E]:
        """Take out of a set."""
        self._needs("a set", "SS", "NS", "BS")
        return self._step("exclude", self._wire({*members}))

    def lowest(self, value: V) -> Write[E]:
        """Keep the lowest ever seen, such as a first time."""
        self._needs("a number, text or time", "N", "S", "B")
        return self._step("lowest", self._wire(value))

    def highest(self, value: V) -> Write[E]:
        """Keep the highest ever seen, such as a last time."""
        self._needs("a number, text or time", "N", "S", "B")
        return self._step("highest", self._wire(value))


def _refuse_fixed(shape: EntitySpec, name: str) -> None:
    """Refuse a step about a field of `unsettable`."""
    if name in shape.fixed:
        why = "never changes: it is part of the key or declared immutable"
        raise FieldIsFixed(f"{shape.tag}: '{name}' {why}")
    if name == shape.version:
        why = "is the version, which every write increments automatically; do not set it"
        raise FieldIsFixed(f"{shape.tag}: '{name}' {why}")
    if shape.states is not None and name == shape.states.field:
        raise StateNeedsAMove(shape.tag, name)
    _refuse_guarded(shape, name, "change(before, after)")


def _refuse_guarded(shape: EntitySpec, name: str, instead: str) -> None:
    """Refuse an update of a field that guards hold: only a write of the whole item moves them."""
    for guard in shape.guards:
        if name in shape.guarded_by(guard):
            raise FieldIsFixed(
                f"{shape.tag}: '{name}' is in the guard of {guard.unique.name}; "
                f"read the item and write {shape.tag}.{instead}"
            )


def _refuse_in_keys(shape: EntitySpec, name: str) -> None:
    """A key cannot be derived from a value that the store computes, or from a part of one."""
    if name not in shape.sources:
        return
    for attribute, template in shape.derivations.items():
        if name in template.fields:
            raise IndexKeyNeedsTheItem(shape.tag, attribute, name, [])
    if shape.expires is not None and name == shape.expires.field:
        raise IndexKeyNeedsTheItem(shape.tag, shape.table.ttl or "ttl", name, [])


def _derived(write: Write[Any]) -> Mapping[str, Value | None]:
    """The derived attributes of an update, recomputed from what it sets and the key; refused if that is not enough."""
    shape, touched = write.shape, write.known
    if shape.sources.isdisjoint(touched):
        return {}
    # Of an upsert only the key is certain: the item may be there already, with other values than the start's.
    known = {**{name: write.values[name] for name in shape.parameters}, **touched}
    derived: dict[str, Value | None] = {}
    for attribute, template in shape.derivations.items():
        hit = [name for name in template.fields if name in touched]
        if not hit:
            continue
        missing = [name for name in template.fields if name not in known]
        if missing:
            raise IndexKeyNeedsTheItem(shape.tag, attribute, hit[0], missing)
        text = template.render(known)
        derived[attribute] = None if text is None else {"S": text}
    if shape.expires is not None and shape.table.ttl is not None and shape.expires.field in touched:
        moment = shape.expiry(known)
        derived[shape.table.ttl] = None if moment is None else {"N": str(moment)}
    return derived
