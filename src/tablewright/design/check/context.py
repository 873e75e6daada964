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
from tablewright.design.vectors import SearchPlan, VectorIndex


class CheckContext(Protocol):
    """A design, as far as rules care."""

    name: str
    tables: dict[str, Table]
    indexes: list[Index]
    shapes: list[EntitySpec]
    plans: list[Plan]
    vectors: list[VectorIndex]
    searches: list[SearchPlan]


Rule: TypeAlias = Callable[[CheckContext], Iterator[Finding]]


def templates(design: CheckContext) -> Iterator[tuple[EntitySpec, str, Template]]:
    """Every template of every entity, with what it is for."""
    for shape in design.shapes:
        for label, text in shape.texts:
            yield shape, label, parse(text)


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


def describe_type(attribute: Attribute) -> str:
    plain = attribute.kind.plain
    others = {"L": "a list", "M": "a map", "SS": "a set", "NS": "a set", "BS": "a set"}
    name = plain.__name__ if plain else others.get(attribute.kind.letter, "a choice")
    return f"{name}, may be absent" if attribute.optional else name
