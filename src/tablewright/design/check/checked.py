"""What the rules read of a design, and what they say of types."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

from tablewright.design.attributes import Attribute, without_none
from tablewright.design.mistakes import Finding
from tablewright.design.patterns import Plan
from tablewright.design.shape import Shape
from tablewright.design.tables import Index, Table


class Checked(Protocol):
    """A design, as far as rules care."""

    name: str
    tables: dict[str, Table]
    indexes: list[Index]
    shapes: list[Shape]
    plans: list[Plan]


Rule: TypeAlias = Callable[[Checked], Iterator[Finding]]


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
