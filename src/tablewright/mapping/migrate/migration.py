"""A migration as a value: two forms of a table, and two pure functions between their items.

    Migration("visits-2", Form(TRAVEL, table), Form(TRAVEL, table, name="skratch-data-2"), forward, back)

`forward(item)` are the items that stand for it in the target, none or more; `back` does the same the other way.
Must hold: at any moment no two items of one side become the same item of the other; `home(t)` is the key of the item
that `t` comes from, or else `back(t)` has that key; all are pure, and take what the table can hold.
Elsewhere: how far one is (state.py), the one act that copies (settling.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, TypeAlias

from tablewright.client.identity import place_of
from tablewright.design import Design, Table
from tablewright.design.shape import Guard, Shape
from tablewright.mapping.errors import ItemUnreadable
from tablewright.mapping.items import model_of, shape_of
from tablewright.mapping.migrate.errors import NotExact, TableUnsuitable
from tablewright.mapping.stream_design import MARK
from tablewright.mapping.writes import OWNER
from tablewright.values import Item, Value, admit_item

Move: TypeAlias = Callable[[Item], tuple[Item, ...]]
Key: TypeAlias = dict[str, Value]
Course: TypeAlias = Literal["forward", "back", "shut"]

# Streams that say what an item was before: without it nobody could tell what has to go.
_SHOWING_BEFORE = ("NEW_AND_OLD_IMAGES", "OLD_IMAGE")


@dataclass(frozen=True, slots=True)
class Form:
    """A table in one form. `name` is that of this copy, before the environment has its say, the table's own if empty.

    `older` are attributes that items may have though the design no longer knows them, by the tag of their entity.
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

    def is_mark(self, item: Mapping[str, Value]) -> bool:
        """Whether an item is there only to be seen in the stream."""
        return str(item[self.table.pk].get("S", "")).startswith(MARK)

    def fits(self, item: Item) -> bool:
        """Whether the design can read an item, and finds it in its indexes."""
        shape = shape_of([shape for shape in self.design.shapes if shape.table == self.table], item)
        if shape is None:
            return True  # a guard, or a stranger; who compares it says so
        try:
            model = model_of(shape, item)
        except ItemUnreadable:
            return False
        return shape.derive(model.__dict__).keys() <= item.keys()

    def attributes(self, item: Mapping[str, Value]) -> frozenset[str]:
        """Every attribute that the item could have; NotExact if that cannot be said."""
        shapes = [shape for shape in self.design.shapes if shape.table == self.table]
        shape = shape_of(shapes, item)
        if shape is not None:
            known, tag = _stored(shape) | self.older.get(shape.tag, frozenset()), shape.tag
        else:
            guard = _guard_of(self.design, self.table, item)
            if guard is None:
                raise NotExact(self.called, None)
            known, tag = _kept(guard), f"the guard {guard.unique.name}"
        strange = item.keys() - known
        if strange:
            raise NotExact(self.called, tag, strange)
        return known


def _stored(shape: Shape) -> frozenset[str]:
    keys = {key.name for keys in (shape.primary, *shape.placed.values()) for key in keys}
    ttl = {shape.table.ttl} if shape.table.ttl else set()
    return frozenset({*shape.stored, *shape.derivations, *keys, *ttl})


def _kept(guard: Guard) -> frozenset[str]:
    ttl = {guard.table.ttl} if guard.table.ttl else set()
    return frozenset({*guard.table.key_names, OWNER, *guard.keep, *ttl})


def _guard_of(design: Design, table: Table, item: Mapping[str, Value]) -> Guard | None:
    """The constraint whose guard an item is: what is there of it fits, and it names an owner."""
    if "M" not in item.get(OWNER, {}):
        return None
    guards = [guard for shape in design.shapes for guard in shape.guards if guard.table == table]
    return next((guard for guard in guards if item.keys() <= _kept(guard)), None)


@dataclass(frozen=True, slots=True)
class Migration:
    """What is to become of a table. `keep` is how long one can go back; `term` how long a process believes where it may
    write, and so about how long writes pause when sides are changed."""

    name: str
    source: Form
    target: Form
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
                f"{self.name}: a migration has a name, and two tables with names of their own"
            )
        for form in (self.source, self.target):
            if form.table.stream not in _SHOWING_BEFORE:
                raise TableUnsuitable(
                    f"{form.called} needs a stream that shows items as they were (stream='NEW_AND_OLD_IMAGES')"
                )
            letters = {
                key.letter
                for shape in form.design.shapes
                if shape.table == form.table
                for key in shape.primary
            }
            if letters - {"S"}:
                raise TableUnsuitable(
                    f"{form.called} has a key that is no text; a migration cannot mark its shards"
                )

    @property
    def called(self) -> str:
        """The name by which programs know the table, whichever side is open."""
        return self.source.table.name

    def way(self, course: Literal["forward", "back"]) -> "Way":
        if course == "forward":
            return Way(self.name, course, self.source, self.target, self.forward, self.back, self.home)
        return Way(self.name, course, self.target, self.source, self.back, self.forward)


@dataclass(frozen=True, slots=True)
class Way:
    """A migration in one direction: from `origin`, which is right, to `goal`, which is made to say the same."""

    migration: str
    course: Literal["forward", "back"]
    origin: Form
    goal: Form
    make: Move
    unmake: Move
    home: Callable[[Item], Key] | None = None

    def made(self, item: Item | None) -> dict[tuple[str, str], Item]:
        """What the goal should hold for an item, by place; nothing for one that is gone, or a mark."""
        if item is None or self.origin.is_mark(item):
            return {}
        made = [admit_item(one)[0] for one in self.make(item)]
        return {self.place(one): one for one in made}

    def place(self, item: Mapping[str, Value]) -> tuple[str, str]:
        return place_of(self.goal.called, self.goal.key(item))

    def homes(self, item: Item) -> list[Key]:
        """The keys of the items that an item of the goal stands for."""
        return [self.home(item)] if self.home else [self.origin.key(one) for one in self.unmake(item)]

    def says_the_same(self, item: Item, there: Item | None, wanted: Item) -> bool:
        """Whether what is there will do.

        On the way back an item in the old form will do as long as it becomes this one: it may hold what the newer form
        does not.
        """
        if there is None:
            return False
        return there == wanted or (
            self.course == "back" and item in [admit_item(one)[0] for one in self.unmake(there)]
        )
