"""What a backfill writes to one item: the attributes that it lacks, if the rest is as it was read. Pure.

An item in an older form (`Schema`) is written whole, in the present one: half of it would be of another form.
Must hold: a change of fields raises the version of an entity that has one, so that a program that has read the item
before is told (`Stale`); a change of derived attributes alone does not, because no program reads them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

from tablewright.design import Design, Table
from tablewright.design.entity_spec import EntitySpec
from tablewright.expressions.build import all_of, attribute_exists, equal
from tablewright.expressions.nodes import Action, Add, Remove, Set
from tablewright.mapping.items import item_of, key_in, model_of, older_form, shape_of
from tablewright.mapping.write_requests import conditional
from tablewright.values import Item, Value

# Further attributes of a stored item.
Fill: TypeAlias = Callable[[Item], Item]


@dataclass(frozen=True, slots=True)
class Backfill:
    """The derived attributes of the entities of a table. `entities` are tags; none: all of them.

    `fills` are pure functions for attributes that the design cannot derive, by the tag of the entity."""

    design: Design
    table: Table
    entities: tuple[str, ...] = ()
    fills: Mapping[str, Fill] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.design.name}.{self.table.name}"

    @property
    def shapes(self) -> list[EntitySpec]:
        return [shape for shape in self.design.shapes if shape.table == self.table]

    def shape_of(self, item: Mapping[str, Value]) -> EntitySpec | None:
        """The entity of an item, if it is one to be filled."""
        shape = shape_of(self.shapes, item)
        return shape if shape is not None and (not self.entities or shape.tag in self.entities) else None

    @property
    def digest(self) -> str:
        """Of what is made: a run of another version of the design is another run."""
        parts = [
            (shape.tag, sorted((name, template.text) for name, template in shape.derivations.items()),
             str(shape.expires), shape.table.ttl, shape.schema.version if shape.schema else None)
            for shape in self.shapes if not self.entities or shape.tag in self.entities
        ]  # fmt: skip
        fills = sorted((tag, fill.__name__) for tag, fill in self.fills.items())
        return blake2b(repr((parts, fills)).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True)
class ItemChange:
    """One conditional write, without the table's name."""

    verb: Literal["PutItem", "UpdateItem"]
    request: Mapping[str, Any]


def change_of(backfill: Backfill, shape: EntitySpec, item: Item) -> ItemChange | None:
    """What an item lacks; None if it is as the design has it. ItemUnreadable if it does not fit its entity."""
    fill = backfill.fills.get(shape.tag)
    filled = fill(item) if fill is not None else {}
    model = model_of(shape, {**item, **filled})
    if older_form(shape, model) is not None:
        return ItemChange(
            "PutItem", {"Item": item_of(shape, model), **conditional(_as_read(shape, item, item))}
        )
    wanted = {**filled, **shape.derive(model.__dict__)}
    made = {*shape.derivations, *filled, *_expiry(shape)}
    written = {name: value for name, value in wanted.items() if item.get(name) != value}
    removed = sorted(name for name in made if name in item and name not in wanted)
    if not written and not removed:
        return None
    steps: list[Action] = [*(Set((name,), value) for name, value in sorted(written.items()))]
    steps += [Remove((name,)) for name in removed]
    if shape.version is not None and written.keys() & shape.stored.keys():
        steps.append(Add((shape.fields[shape.version].stored,), {"N": "1"}))
    # A function of the caller may rest on anything in the item.
    watched = made | (set(item) if fill is not None else _sources(shape))
    condition = _as_read(shape, item, watched)
    return ItemChange("UpdateItem", {"Key": key_in(shape, item), **conditional(condition, steps)})


def _sources(shape: EntitySpec) -> set[str]:
    """The stored attributes that derived ones are made from."""
    fields = {name for template in shape.derivations.values() for name in template.fields}
    fields |= {shape.expires.field} if shape.expires is not None else set()
    fields |= {shape.schema.field} if shape.schema is not None else set()
    return {shape.fields[name].stored for name in fields}


def _expiry(shape: EntitySpec) -> set[str]:
    return {shape.table.ttl} if shape.expires is not None and shape.table.ttl is not None else set()


def _as_read(shape: EntitySpec, item: Mapping[str, Value], watched: Iterable[str]) -> Any:
    """The condition that the item is there, and these attributes are as they were read."""
    names = sorted(set(watched) - set(shape.table.key_names))
    return all_of(attribute_exists(shape.table.pk), *(equal(name, item.get(name)) for name in names))
