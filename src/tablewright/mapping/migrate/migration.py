"""A migration as a value: two versions of a table, and two pure functions between their items.

    Migration("visits-2", Form(TRAVEL, table), Form(TRAVEL, table, name="skratch-data-2"), forward, back)

`forward(item)` are the items that stand for it in the target, none or more; `back` does the same the other way. Where
one item of the source becomes many that only together become one again, a `Group` says which belong together, and
`back(anchor, *parts)` gets them all.
Must hold: at any moment no two items (or groups) of one side become the same item of the other; `home(t)` is the key of
the item that `t` comes from, or else `back(t)` has that key; all are pure, and take what the table can hold.
Elsewhere: how far one is (state.py), the one act that copies (sync_keys.py).
"""

from collections.abc import Callable, Mapping, Sequence
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

Move: TypeAlias = Callable[..., tuple[Item, ...]]
Key: TypeAlias = dict[str, Value]
Course: TypeAlias = Literal["forward", "back", "shut"]

# Streams with old images: without these it is unknown which items of the goal have to be deleted.
_WITH_OLD_IMAGE = ("NEW_AND_OLD_IMAGES", "OLD_IMAGE")


@dataclass(frozen=True, slots=True)
class TableVersion:
    """One version of a table. `name` is its logical name; if empty, that of the design's table.

    `older` are attributes that items may have although the design no longer has them, by the tag of their entity.
    `shared`: the table also holds items that are not the migration's, so it is never deleted, only emptied of its own.
    """

    design: Design
    table: Table
    name: str = ""
    older: Mapping[str, frozenset[str]] = field(default_factory=dict)
    shared: bool = False

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
class Group:
    """The items of the target that were one item of the source, found from any of them.

    `anchor(item)` is the key of the item that every write to its group changes too, so that a condition on it covers
    the group; None for items that are in no group. `parts(anchor)` are the places of the others, as partition key and
    beginning of the sort key. `home(anchor)` is the key of the source's item; None if the source has none for it.
    """

    anchor: Callable[[Mapping[str, Value]], Key | None]
    parts: Callable[[Item], Sequence[tuple[str, str]]]
    home: Callable[[Item], Key | None]


def _as_stored(item: Item) -> Item:
    return item


@dataclass(frozen=True, slots=True)
class Migration:
    """From one version of a table to another.

    A rollback is possible for `keep`; a process caches the open side for `term`, which is about how long writes pause
    when the sides are changed. `longest_delay` is how long a write waits at most while changes are followed too late
    (back_pressure.py); zero: writers are not slowed down.
    """

    name: str
    source: TableVersion
    target: TableVersion
    forward: Move
    back: Move
    keep: timedelta = timedelta(days=30)
    term: timedelta = timedelta(seconds=2)
    longest_delay: timedelta = timedelta()
    about: str = ""
    # The source's key of a target's item; for targets that hold items which `back` makes nothing of.
    home: Callable[[Item], Key] | None = None
    group: Group | None = None
    # Where equal items may be stored differently (sealed texts), `forward` makes them in a plain form, by which they
    # are compared: `plain` is that of a stored item, and `stored` is what is written.
    plain: Callable[[Item], Item] = _as_stored
    stored: Callable[[Item], Item] = _as_stored
    # The keys of what `forward` makes, where making it takes much longer.
    keys: Callable[[Item], Sequence[Key]] | None = None

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
            sides, moves = (self.source, self.target), (self.forward, self.back)
            return Direction(
                self.name, course, *sides, *moves, self.home, self.group, self.plain, self.stored, self.keys
            )
        sides, moves = (self.target, self.source), (self.back, self.forward)
        return Direction(self.name, course, *sides, *moves, None, self.group, self.plain)


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
    group: Group | None = None
    plain: Callable[[Item], Item] = _as_stored
    stored: Callable[[Item], Item] = _as_stored
    keys: Callable[[Item], Sequence[Key]] | None = None

    @property
    def gathers(self) -> bool:
        """Whether several items of the origin become one of the goal."""
        return self.course == "back" and self.group is not None

    def unit(self, item: Mapping[str, Value]) -> Key | None:
        """The key of the origin that is synchronised when an item of the origin changes; None if there is none."""
        if self.course == "back" and self.group is not None:
            return self.group.anchor(item)
        return self.origin.key(item)

    def is_unit(self, item: Mapping[str, Value]) -> bool:
        return self.unit(item) == self.origin.key(item)

    def made(self, item: Item | None = None, *parts: Item) -> dict[tuple[str, str], Item]:
        """What the goal should hold for an item and its parts, in plain form, by identity; nothing for a marker."""
        if item is None or self.origin.is_marker(item):
            return {}
        made = [admit_item(dict(one))[0] for one in self.make(item, *parts)]
        return {self.place(one): one for one in made}

    def made_keys(self, item: Item | None) -> list[Item]:
        """Items with the keys of what the goal should hold for an item, and perhaps nothing else."""
        if item is None or self.origin.is_marker(item):
            return []
        return list(self.keys(item)) if self.keys is not None else list(self.made(item).values())

    def place(self, item: Mapping[str, Value]) -> tuple[str, str]:
        return identity_of(self.goal.called, self.goal.key(item))

    def origin_keys(self, item: Item) -> list[Key]:
        """The keys of the items that an item of the goal stands for."""
        if self.home:
            return [self.home(item)]
        units = [unit for one in self.unmake(item) if (unit := self.unit(one)) is not None]
        return list({identity_of(self.origin.called, key): key for key in units}.values())

    def comparable(self, item: Item) -> Item:
        """A stored item of the goal in the form in which it is compared."""
        return self.plain(item) if self.course == "forward" else item

    def is_equivalent(self, whole: Sequence[Item], there: Item | None, wanted: Item) -> bool:
        """Whether the existing item needs no write.

        In the direction `back`, an item in the old version is right if it maps to exactly these: it may hold more than
        the newer version can express.
        """
        if there is None:
            return False
        if self.comparable(there) == wanted:
            return True
        return self.course == "back" and self._maps_to(there, whole)

    def _maps_to(self, there: Item, whole: Sequence[Item]) -> bool:
        made = [admit_item(dict(one))[0] for one in self.unmake(there)]
        if self.group is not None:
            places = [(str(self.origin.key(whole[0])), ""), *self.group.parts(whole[0])]
            made = [one for one in made if self._is_at(one, places)]
            if len(made) != len(whole):
                return False
        return all(self.plain(one) in made for one in whole)

    def _is_at(self, item: Item, places: Sequence[tuple[str, str]]) -> bool:
        (anchor, _), *parts = places
        pk, sk = self.origin.table.pk, self.origin.table.sk
        if str(self.origin.key(item)) == anchor:
            return True
        return sk is not None and any(
            item[pk].get("S") == part and str(item[sk].get("S", "")).startswith(start)
            for part, start in parts
        )
