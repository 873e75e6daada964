"""A migration as a value: two versions of a table, and two pure functions between their items.

    Migration("visits-2", Form(TRAVEL, table), Form(TRAVEL, table, name="skratch-data-2"), forward, back)

`forward(item)` are the items that stand for it in the target, none or more; `back` does the same the other way.
Must hold: at any moment no two items of one side become the same item of the other; `home(t)` is the key of the item
that `t` comes from, or else `back(t)` has that key; all are pure, and take what the table can hold.
Elsewhere: how far one is (state.py), the one act that copies (sync_keys.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, TypeAlias

from tablewright.client.item_identity import identity_of
from tablewright.design import Design, Table
from tablewright.design.entity_spec import EntitySpec, Guard
from tablewright.mapping.consumer.design import MARKER
from tablewright.mapping.errors import ItemUnreadable
from tablewright.mapping.items import model_of, shape_of
from tablewright.mapping.migrate.errors import NotExact, TableUnsuitable
from tablewright.mapping.write_requests import OWNER
from tablewright.values import Item, Value, admit_item

Move: TypeAlias = Callable[[Item], tuple[Item, ...]]
Key: TypeAlias = dict[str, Value]
Course: TypeAlias = Literal["forward", "back", "shut"]

# Streams with old images: without these it is unknown which items of the goal have to be deleted.
_WITH_OLD_IMAGE = ("NEW_AND_OLD_IMAGES", "OLD_IMAGE")


@dataclass(frozen=True, slots=True)
class TableVersion:
    """One version of a table. `name` is its logical name; if empty, that of the design's table.

    `older` are attributes that items may have although the design no longer has them, by the tag of their entity.
    """

    design: Design
    table: Table
    name: str = ""
    older: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def called(self) -> str:
        return self.name or self.table.name

    def key(self, item: Mapping[str, Value]) -> Key:
        return {name: item[name] for name in self.table.key_names}

    @property
    def shapes(self) -> list[EntitySpec]:
        return [shape for shape in self.design.shapes if shape.table == self.table]

    def is_marker(self, item: Mapping[str, Value]) -> bool:
        """Whether an item is a marker, written only to appear in the stream."""
        return str(item[self.table.pk].get("S", "")).startswith(MARKER)

    def is_readable(self, item: Item) -> bool:
        """Whether the design can read an item, and its index keys are there."""
        shape = shape_of(self.shapes, item)
        if shape is None:
            return True  # a guard, or unknown; the comparison reports it
        try:
            model = model_of(shape, item)
        except ItemUnreadable:
            return False
        return shape.derive(model.__dict__).keys() <= item.keys()

    def attributes(self, item: Mapping[str, Value]) -> frozenset[str]:
        """Every attribute that the item could have; NotExact if that cannot be said."""
        shape = shape_of(self.shapes, item)
        if shape is not None:
            known, tag = _entity_attributes(shape) | self.older.get(shape.tag, frozenset()), shape.tag
        else:
            # The constraint whose guard the item is: its attributes fit, and it names an owner.
            is_guard = "M" in item.get(OWNER, {})
            guards = [one for shape in self.design.shapes for one in shape.guards if one.table == self.table]
            guard = next((one for one in guards if item.keys() <= _guard_attributes(one)), None)
            if guard is None or not is_guard:
                raise NotExact(self.called, None)
            known, tag = _guard_attributes(guard), f"the guard {guard.unique.name}"
        strange = item.keys() - known
        if strange:
            raise NotExact(self.called, tag, strange)
        return known


def _entity_attributes(shape: EntitySpec) -> frozenset[str]:
    keys = {key.name for keys in (shape.primary, *shape.index_keys.values()) for key in keys}
    return frozenset({*shape.stored, *shape.derivations, *keys, *_ttl(shape.table)})


def _guard_attributes(guard: Guard) -> frozenset[str]:
    return frozenset({*guard.table.key_names, OWNER, *guard.keep, *_ttl(guard.table)})


def _ttl(table: Table) -> tuple[str, ...]:
    return (table.ttl,) if table.ttl else ()


@dataclass(frozen=True, slots=True)
class Migration:
    """From one version of a table to another. A rollback is possible for `keep`; a process caches the open side for
    `term`, which is about how long writes pause when the sides are changed."""

    name: str
    source: TableVersion
    target: TableVersion
    forward: Move
    back: Move
    keep: timedelta = timedelta(days=30)
    term: timedelta = timedelta(seconds=2)
    about: str = ""
    # The source's key of a target's item; for targets that hold items which `back` makes nothing of.
    home: Callable[[Item], Key] | None = None

    def __post_init__(self) -> None:
        if not self.name or self.source.called == self.target.called:
            raise TableUnsuitable(
                f"{self.name}: a migration needs a name, and two tables with different names"
            )
        for version in (self.source, self.target):
            if version.table.stream not in _WITH_OLD_IMAGE:
                raise TableUnsuitable(
                    f"{version.called} needs a stream that shows items as they were (stream='NEW_AND_OLD_IMAGES')"
                )
            if {key.letter for shape in version.shapes for key in shape.primary} - {"S"}:
                raise TableUnsuitable(
                    f"{version.called} has a key that is not text; a migration cannot write markers to its shards"
                )

    @property
    def called(self) -> str:
        """The name that programs use for the table, whichever side is open."""
        return self.source.table.name

    def direction(self, course: Literal["forward", "back"]) -> "Direction":
        if course == "forward":
            return Direction(self.name, course, self.source, self.target, self.forward, self.back, self.home)
        return Direction(self.name, course, self.target, self.source, self.back, self.forward)


@dataclass(frozen=True, slots=True)
class Direction:
    """A migration in one direction: from `origin`, which is authoritative, to `goal`, which is made to match it."""

    migration: str
    course: Literal["forward", "back"]
    origin: TableVersion
    goal: TableVersion
    make: Move
    unmake: Move
    home: Callable[[Item], Key] | None = None

    def made(self, item: Item | None) -> dict[tuple[str, str], Item]:
        """What the goal should hold for an item, by identity; nothing for None, or for a marker."""
        if item is None or self.origin.is_marker(item):
            return {}
        made = [admit_item(one)[0] for one in self.make(item)]
        return {self.place(one): one for one in made}

    def place(self, item: Mapping[str, Value]) -> tuple[str, str]:
        return identity_of(self.goal.called, self.goal.key(item))

    def origin_keys(self, item: Item) -> list[Key]:
        """The keys of the items that an item of the goal stands for."""
        return [self.home(item)] if self.home else [self.origin.key(one) for one in self.unmake(item)]

    def is_equivalent(self, item: Item, there: Item | None, wanted: Item) -> bool:
        """Whether the existing item needs no write.

        In the direction `back`, an item in the old version is right if it maps to this one: it may hold more than the
        newer version can express.
        """
        if there is None:
            return False
        return there == wanted or (
            self.course == "back" and item in [admit_item(one)[0] for one in self.unmake(there)]
        )
