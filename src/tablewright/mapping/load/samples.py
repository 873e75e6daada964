"""Items and arguments for a load run, made from their types and a number. Pure.

Fields of a partition key get the number of a group of items, all others the item's own, so that a query finds as many
items as a group has.
Must hold: the same number gives the same key in any process. Two numbers give two keys, except where a key has only a
few values (a state, two digits): a write of one is then a write of an item that is there.
Models are made without validation: the tables of a load run are its own, and nothing decodes their items.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from hashlib import sha256
from typing import Any, Literal, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, JsonValue

from tablewright.design.attributes import Attribute, without_none
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.large import Large
from tablewright.design.patterns import Plan

# Items that share a partition key. Most lists of the shipped systems show 20 of them.
GROUP = 20
# Far ahead, so that nothing that expires some time after it was made does so during a run.
_DAY = datetime(2040, 1, 1, tzinfo=UTC)
_SCALARS: Mapping[type, Callable[[int], Any]] = {
    str: lambda number: f"{number:012x}",
    int: lambda number: number,
    bool: lambda number: number % 2 == 0,
    Decimal: lambda number: Decimal(number),
    datetime: lambda number: _DAY + timedelta(milliseconds=number),
    date: lambda number: (_DAY + timedelta(days=number % 3650)).date(),
    UUID: lambda number: UUID(int=number),
    bytes: lambda number: number.to_bytes(8, "big"),
    Large: lambda number: _inline(number.to_bytes(8, "big")),
}


def _inline(data: bytes) -> Large:
    return Large(len(data), sha256(data).hexdigest(), data)


def sample_item(shape: EntitySpec, number: int, item_bytes: int = 0) -> BaseModel:
    """An item of about so many bytes; each number has a key of its own."""
    grouped = _grouped(shape)
    needed = {name for key in shape.keys for name in key.template.fields}
    values = {
        name: _value(attribute, number // GROUP if name in grouped else number, name in needed)
        for name, attribute in shape.fields.items()
    }
    for name, digits in _digits(shape):
        values[name] = number % 10**digits
    if shape.states is not None:
        values[shape.states.field] = _choice(shape.fields[shape.states.field].annotation, shape.states.start)
    if (padded := padding_field(shape)) is not None:
        values[padded] = "x" * max(item_bytes - 40 * len(values), 1)
    return (shape.whole or shape.model).model_construct(**values)


def sample_arguments(plan: Plan, number: int) -> dict[str, Any]:
    """Arguments with which a pattern finds the group of the item of this number."""
    grouped = {name for template in plan.pk for name in template.fields}
    sparse = {
        part.field: part.codec.name for template in plan.pk for part in template.parts if part.codec.sparse
    }
    return {
        name: _present(without_none(parameter.annotation)[0], sparse[name], number)
        if name in sparse
        else parameter.default
        if parameter.default is not inspect.Parameter.empty
        else _sample(without_none(parameter.annotation)[0], number // GROUP if name in grouped else number)
        for name, parameter in plan.signature.parameters.items()
    }


def padding_field(shape: EntitySpec) -> str | None:
    """A field of plain text that is in no key: the item is as large as it makes it."""
    taken = {name for key in shape.keys for name in key.template.fields} | set(shape.fixed)
    taken |= {name for guard in shape.guards for name in guard.value.fields}
    plain = (name for name, attribute in shape.fields.items() if attribute.annotation is str)
    return next((name for name in plain if name not in taken), None)


def _digits(shape: EntitySpec) -> Iterator[tuple[str, int]]:
    """Numbers in keys, and how many digits they may have there."""
    parts = (part for key in shape.keys for part in key.template.parts)
    return ((part.field, int(part.codec.name)) for part in parts if part.codec.name.isdigit())


def _grouped(shape: EntitySpec) -> frozenset[str]:
    """The fields that items of a group share: those of partition keys, if the sort key tells the items apart."""
    heads = [shape.pk, *(keys[0].template for keys in shape.index_keys.values())]
    own = set(shape.sk.fields if shape.sk is not None else ()) - set(shape.pk.fields)
    if not any(_varies(shape.fields.get(name)) for name in own):
        return frozenset()
    return frozenset(name for template in heads for name in template.fields) - own


def _varies(attribute: Attribute | None) -> bool:
    return attribute is None or not (attribute.kind.choices or attribute.annotation in (bool, date))


def _value(attribute: Attribute, number: int, is_needed: bool) -> Any:
    if attribute.optional and not is_needed:
        return None
    return _sample(attribute.annotation, number)


def _sample(annotation: Any, number: int) -> Any:
    """A value of an annotation, by number."""
    if annotation is JsonValue:
        return {}
    if isinstance(annotation, type):
        for kind in (bool, *_SCALARS):
            if annotation is kind:
                return _SCALARS[kind](number)
        if issubclass(annotation, Enum):
            members = list(annotation)
            return members[number % len(members)]
        if issubclass(annotation, BaseModel):
            return _model(annotation, number)
        if issubclass(annotation, str):
            return annotation(_SCALARS[str](number))
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return inside[number % len(inside)]
    if origin is tuple and inside[:1] == (float,):
        return (1.0, float(number % 7))
    if origin in (dict, Mapping):
        return {}
    return origin() if origin in (set, frozenset, tuple) else []


def _model(model: type[BaseModel], number: int) -> BaseModel:
    fields = {name: without_none(info.annotation) for name, info in model.model_fields.items()}
    values = {name: None if optional else _sample(bare, number) for name, (bare, optional) in fields.items()}
    return model.model_construct(**values)


def _present(annotation: Any, codec: str, number: int) -> Any:
    """A value with which an item is in a sparse index."""
    if not codec.startswith("only."):
        return codec != "unless"
    allowed = codec.split(".")[1:]
    return _choice(annotation, allowed[number % len(allowed)])


def _choice(annotation: Any, text: str) -> Any:
    return annotation(text) if isinstance(annotation, type) and issubclass(annotation, Enum) else text
