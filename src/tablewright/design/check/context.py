"""What the rules read of a design, and what they say of types."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

from tablewright.design.attributes import Attribute, without_none
from tablewright.design.entity_spec import EntitySpec
from tablewright.design.errors import Finding
from tablewright.design.patterns import Plan
from tablewright.design.tables import Index, Table
from tablewright.design.templates import Template, parse


class CheckContext(Protocol):
    """A design, as far as rules care."""

    name: str
    tables: dict[str, Table]
    indexes: list[Index]
    shapes: list[EntitySpec]
    plans: list[Plan]


Rule: TypeAlias = Callable[[CheckContext], Iterator[Finding]]


def is_typed_as(parameter: inspect.Parameter, attribute: Attribute) -> bool:
    """Whether a parameter has a field's type; one whose annotation is absent, or still text, is believed."""
    annotation = parameter.annotation
    if isinstance(annotation, str) or annotation is inspect.Parameter.empty:
        return True
    return bool(without_none(annotation)[0] == without_none(attribute.annotation)[0])


def type_name(annotation: Any) -> str:
    """A type, as a finding names it."""
    bare, _ = without_none(annotation)
    return getattr(bare, "__name__", None) or str(bare).replace("typing.", "")


def templates(shape: EntitySpec) -> Iterator[tuple[str, Template]]:
    """Every template of an entity, with what it is for."""
    yield shape.table.pk, shape.pk
    if shape.sk is not None:
        yield shape.table.sk or "sk", shape.sk
    for index, keys in shape.on.items():
        for name, text in zip(index.key_names, keys.texts, strict=False):
            yield f"{index.name}.{name}", parse(text)
    for name, text in shape.derived.items():
        yield name, parse(text)
    for unique in shape.unique:
        for text in (unique.value, *([unique.pk] if unique.pk else ()), unique.sk, *unique.keep.values()):
            yield f"unique {unique.name}", parse(text)


def describe_type(attribute: Attribute) -> str:
    plain = attribute.kind.plain
    describe_type = {"L": "a list", "M": "a map", "SS": "a set", "NS": "a set", "BS": "a set"}
    name = plain.__name__ if plain else describe_type.get(attribute.kind.letter, "a choice")
    return f"{name}, may be absent" if attribute.optional else name
