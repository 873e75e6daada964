"""Attributes that a design makes of fields, such as index keys: whether those of an item fit, and the item mended.

Must hold: what is made of a secret field is neither compared nor shown. Pure. Elsewhere: the pages (item_pages.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tablewright.app.designs.secrets import is_secret
from tablewright.design import DesignMistake, EntitySpec
from tablewright.mapping.errors import ItemUnreadable
from tablewright.mapping.items import model_of
from tablewright.values import Item, Value


@dataclass(frozen=True, slots=True)
class Misfit:
    """A derived attribute that is not what the fields make of it; each text is empty where there is to be none."""

    name: str
    stored: str
    expected: str


def misfits(shape: EntitySpec | None, item: Mapping[str, Value]) -> list[Misfit]:
    """The derived attributes that do not fit; nothing for an item that does not fit its entity at all."""
    expected = _derived(shape, item)
    return [
        Misfit(name, item.get(name, {}).get("S", ""), value.get("S", "") if value else "")
        for name, value in expected.items()
        if item.get(name) != value
    ]


def recomputed(shape: EntitySpec | None, item: Item) -> Item:
    """The item with its derived attributes as its fields make them."""
    expected = _derived(shape, item)
    kept = {name: value for name, value in item.items() if name not in expected}
    return {**kept, **{name: value for name, value in expected.items() if value is not None}}


def _derived(shape: EntitySpec | None, item: Mapping[str, Value]) -> dict[str, Value | None]:
    """Each derived attribute that may be shown, with its value; None if it is to be absent."""
    if shape is None:
        return {}
    names = [
        name
        for name, template in shape.derivations.items()
        if not any(is_secret(shape, field) for field in template.fields)
    ]
    try:
        made = shape.derive(model_of(shape, item).__dict__)
    except (ItemUnreadable, DesignMistake, KeyError):
        return {}
    return {name: made.get(name) for name in names}
