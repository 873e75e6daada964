"""The parameters of a pattern or of a key, as types that can be asked for: in a form, or in a JSON schema. Pure.

Must hold: what is given is read by the parameter's own type; a time without a zone is UTC; a field that a model does
not have is refused, not dropped.
Elsewhere: forms (app/designs/run.py), tools (cli/mcp/).
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from inspect import Parameter, Signature
from typing import Any

from pydantic import TypeAdapter

from tablewright.design.attributes import without_none
from tablewright.design.entity_spec import EntitySpec


@dataclass(frozen=True, slots=True)
class Argument:
    """One parameter. `has_default`: without a value it is left out; else None stands for what is not required."""

    name: str
    annotation: Any
    is_required: bool
    has_default: bool

    def read(self, given: object) -> Any:
        """The value, of the parameter's type; raises pydantic's ValidationError."""
        value = TypeAdapter(self.annotation).validate_python(given, extra="forbid")
        is_naive = isinstance(value, datetime) and value.tzinfo is None
        return value.replace(tzinfo=UTC) if is_naive else value


def arguments_of(signature: Signature, shape: EntitySpec) -> tuple[Argument, ...]:
    """The parameters in their order."""
    return tuple(_argument(parameter, shape) for parameter in signature.parameters.values())


def _argument(parameter: Parameter, shape: EntitySpec) -> Argument:
    annotation = _annotation(parameter, shape)
    has_default = parameter.default is not Parameter.empty
    return Argument(
        parameter.name, annotation, not has_default and not without_none(annotation)[1], has_default
    )


def _annotation(parameter: Parameter, shape: EntitySpec) -> Any:
    """The parameter's type; written as text it is taken from the field of that name."""
    if parameter.annotation is Parameter.empty or isinstance(parameter.annotation, str):
        known = shape.fields.get(parameter.name)
        return known.annotation if known else str
    return parameter.annotation
