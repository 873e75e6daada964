"""The form of a new item of an entity: its keys as templates, its fields with their defaults, or empty. Pure.

Must hold: a template that was not filled in is refused, so it is never stored as a key. Elsewhere: the page
(item_pages.py).
"""

from collections.abc import Sequence
from typing import Any

from pydantic_core import PydanticUndefined

from tablewright.app.designs.item_writes import ItemUnusable
from tablewright.design import EntitySpec
from tablewright.design.attributes import Attribute
from tablewright.values import Item, Value

_EMPTY: dict[str, Any] = {"S": "", "N": "0", "BOOL": False, "B": "", "L": [], "M": {}, "NULL": True}


def skeleton(shape: EntitySpec) -> Item:
    """Every attribute of such an item, fields that may be absent and sets excepted."""
    made: Item = {name: {"S": text} for name, text in _templates(shape).items()}
    for each in shape.attributes:
        if each.kind.letter in _EMPTY and not each.optional:
            made[each.stored] = _default(shape, each) or {each.kind.letter: _EMPTY[each.kind.letter]}
    return made


def _default(shape: EntitySpec, attribute: Attribute) -> Value | None:
    """The default of a field as it is stored; one that a function makes, such as the time, is left open."""
    default = shape.model.model_fields[attribute.field].get_default()
    return None if default in (None, PydanticUndefined) else attribute.kind.encode(default)


def refuse_skeleton(item: Item, shapes: Sequence[EntitySpec]) -> None:
    """Refuse an item that has a template where its value belongs."""
    for shape in shapes:
        for name, text in _templates(shape).items():
            if "{" in text and item.get(name) == {"S": text}:
                raise ItemUnusable(
                    f"{name} is still the template {text}: write the values of its fields in it."
                )


def _templates(shape: EntitySpec) -> dict[str, str]:
    keys = {key.name: key.template.text for key in shape.primary if key.native is None}
    return keys | {name: template.text for name, template in shape.derivations.items()}
