"""How many values a key has, and on how many of them the load of one moment falls. Pure.

    template_cardinality(parse("STATUS#{status}#{id:shard.4}"), shape.fields)  # 3 states: 12 values, 4 of them busy

The values of a template are the product of those of its parts: the choices of an enum, two of a Boolean, the number of
shards. One part that is not bounded, such as an id, makes the key unbounded. Of a state one value is busy, because
most items are in the same one; of what follows the clock, such as a day, the present one; shards are all busy.
Must hold: this is the only place that counts the values of a key: the rules (review/lookup.py), the heat of a design
(heat/key_loads.py) and its scale (partitions.py) go by it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from math import prod
from typing import Literal, get_args, get_origin

from tablewright.design.attributes import Attribute
from tablewright.design.templates import Part, Template

# Codecs whose values follow the clock: the load falls on the present one.
CLOCK = ("day", "hour", "month", "s")


@dataclass(frozen=True, slots=True)
class Cardinality:
    """`values` at one moment, None if not bounded; `busy`: those that the load falls on, None if they grow with it.

    `sparse`: items of other values are not in the index. `timed`: a value is replaced as time passes. `exact` is False
    where it is known that the values are few, and not how many.
    """

    values: int | None
    busy: int | None
    sparse: bool = False
    timed: bool = False
    exact: bool = True


UNBOUNDED = Cardinality(None, None)
TIMED = Cardinality(1, 1, timed=True)


def of_choices(count: int, *, sparse: bool = False) -> Cardinality:
    """Of a state, a Boolean or another list of values."""
    return Cardinality(count, 1, sparse)


def of_shards(count: int) -> Cardinality:
    return Cardinality(count, count)


def product(parts: Iterable[Cardinality]) -> Cardinality:
    """Of a key that is made of these parts; one without parts is a constant, which is one value."""
    found = list(parts)
    return Cardinality(
        _product(part.values for part in found),
        _product(part.busy for part in found),
        any(part.sparse for part in found),
        any(part.timed for part in found),
        all(part.exact for part in found),
    )


def _product(counts: Iterable[int | None]) -> int | None:
    found = list(counts)
    return None if None in found else prod(count for count in found if count is not None)


def template_cardinality(template: Template, fields: Mapping[str, Attribute]) -> Cardinality:
    """Of a template over these fields."""
    return product(part_cardinality(part, fields.get(part.field)) for part in template.parts)


def part_cardinality(part: Part, attribute: Attribute | None) -> Cardinality:
    """Of one part, by the way it is written and the type of its field."""
    codec = part.codec
    if codec.shards:
        return of_shards(codec.shards)
    if codec.name in CLOCK:
        return TIMED
    if codec.name == "bool":
        return of_choices(2)
    if codec.sparse:
        return of_choices(len(codec.name.split(".")[1:]) or 1, sparse=True)
    return UNBOUNDED if attribute is None else attribute_cardinality(attribute)


def attribute_cardinality(attribute: Attribute) -> Cardinality:
    """Of the values of a field."""
    kind = attribute.annotation
    if kind is bool:
        return of_choices(2)
    if get_origin(kind) is Literal:
        return of_choices(len(get_args(kind)))
    # Also a choice of whole numbers, which `AttributeKind.choices` does not list.
    return of_choices(len(kind)) if isinstance(kind, type) and issubclass(kind, Enum) else UNBOUNDED
