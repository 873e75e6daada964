"""Masks the fields that a design marks as secret before an item is shown to an engineer.

Must hold: the designs' pages never show the value of a field marked Data.SECRET, whether the item fits its entity or
not. Pure. Elsewhere: what is marked (each design's `data`).
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel

from tablewright.design import Data, Design, EntitySpec, Table
from tablewright.values import Value

COVER = "••••••"
M = TypeVar("M", bound=BaseModel)


def is_secret(shape: EntitySpec, field: str) -> bool:
    return shape.data.get(field) is Data.SECRET


def covered(
    item: Mapping[str, Value], shape: EntitySpec | None, design: Design | None, table: Table | None
) -> dict[str, Value]:
    """An item as it is stored. One that no entity recognises has covered what is secret in any entity of its table."""
    names = secret_in(shape, design, table)
    return {name: {"S": COVER} if name in names else value for name, value in item.items()}


def secret_in(shape: EntitySpec | None, design: Design | None, table: Table | None) -> frozenset[str]:
    """The stored names that are secret in an item: of its entity, or where that is not known of any of its table."""
    return _secret_names([shape]) if shape else secret_names(design, table)


def secret_names(design: Design | None, table: Table | None) -> frozenset[str]:
    """The stored names that are secret in any entity of a table."""
    return _secret_names([each for each in design.shapes if each.table == table] if design else [])


def _secret_names(shapes: Sequence[EntitySpec]) -> frozenset[str]:
    return frozenset(
        each.stored for known in shapes for each in known.attributes if is_secret(known, each.field)
    )


def covered_model(shape: EntitySpec, model: M) -> M:
    """A model with masked secrets, so that nothing made from it, such as a write, shows them."""
    given = [name for name in shape.data if is_secret(shape, name) and getattr(model, name, None) is not None]
    return model.model_copy(update=dict.fromkeys(given, COVER))
