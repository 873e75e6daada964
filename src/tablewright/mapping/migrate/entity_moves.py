"""The functions of a migration, written on models instead of items: for most changes of a design that is enough.

    forward = by_entity(OLD_JOBS, NEW_JOBS, {"job": lambda old: (Job2(...),)})

An entity without a function keeps its fields, and gets the keys and derived attributes of the goal's design.
Must hold: an item of no entity, or one that its entity cannot read, is copied as it is (verification counts the
latter); an entity with guards is refused if its key changes, because guards name the key of their owner.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import BaseModel

from tablewright.design.entity_spec import EntitySpec
from tablewright.mapping.errors import ItemUnreadable
from tablewright.mapping.items import item_of, model_of, shape_of
from tablewright.mapping.migrate.errors import TableUnsuitable
from tablewright.mapping.migrate.migration import Move, TableVersion
from tablewright.values import Item

# A model of the origin, as models of the same entity of the goal: none or more.
ModelMove: TypeAlias = Callable[[Any], Sequence[BaseModel]]


def by_entity(origin: TableVersion, goal: TableVersion, moves: Mapping[str, ModelMove]) -> Move:
    """`forward` of a migration (or `back`, with the sides exchanged), from a function for each entity by its tag."""
    goals = {shape.tag: shape for shape in goal.shapes}
    for shape in origin.shapes:
        _refuse_guards(origin, shape, goals.get(shape.tag))
    for tag in moves:
        if tag not in goals or tag not in {shape.tag for shape in origin.shapes}:
            raise TableUnsuitable(f"{goal.called}: {tag} is not an entity of both versions of the table")

    def move(item: Item) -> tuple[Item, ...]:
        shape = shape_of(origin.shapes, item)
        if shape is None or shape.tag not in goals:
            return (item,)
        try:
            model = model_of(shape, item)
        except ItemUnreadable:
            return (item,)
        if shape.tag in moves:
            return tuple(item_of(goals[shape.tag], one) for one in moves[shape.tag](model))
        return (_same(shape, goals[shape.tag], item, model),)

    return move


def _same(shape: EntitySpec, goal: EntitySpec, item: Item, model: BaseModel) -> Item:
    """The item with the keys and derived attributes that it has in the goal."""
    made = {*shape.table.key_names, *shape.derivations, *filter(None, [shape.table.ttl])}
    kept = {name: value for name, value in item.items() if name not in made - goal.stored.keys()}
    return {**kept, **goal.key_of(model.__dict__), **goal.derive(model.__dict__)}


def _refuse_guards(origin: TableVersion, shape: EntitySpec, goal: EntitySpec | None) -> None:
    if goal is None or not shape.guards:
        return
    keys = [[(key.name, key.template.text) for key in each.primary] for each in (shape, goal)]
    if keys[0] != keys[1]:
        raise TableUnsuitable(
            f"{origin.called}: {shape.tag} has unique values, and their guards name its key; write `forward` and "
            "`back` on items, and move the guards too"
        )
