"""A tool as a value: its name, what it takes, what it does. Nothing here knows the protocol.

Must hold: arguments are checked before a tool runs, and every mistake is a sentence that names the argument and does
not repeat its value.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any, Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from tablewright.cli.format import as_json
from tablewright.design.arguments import Argument
from tablewright.edge.field_errors import field_error
from tablewright.mapping import Explanation

Json: TypeAlias = dict[str, Any]


class ToolRefused(Exception):
    """A tool cannot do what was asked; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool found: JSON, and the same as text where JSON is not the best to read."""

    value: Json
    text: str = ""

    def __str__(self) -> str:
        return self.text or as_json(self.value)


@dataclass(frozen=True, slots=True)
class ToolArgument:
    """An argument, with a sentence about it; `schema` where it is not the one of its type."""

    argument: Argument
    about: str = ""
    schema: Json | None = None

    @property
    def name(self) -> str:
        return self.argument.name


@dataclass(frozen=True, slots=True)
class Tool:
    """`explain` lays open the read that the tool would run; None if it is not one read."""

    name: str
    title: str
    about: str
    arguments: tuple[ToolArgument, ...]
    run: Callable[[Mapping[str, Any]], Answer]
    effect: Literal["none", "writes", "destroys"] = "none"
    explain: Callable[[Mapping[str, Any]], Explanation] | None = None


def optional(name: str, annotation: Any, about: str = "") -> ToolArgument:
    return ToolArgument(Argument(name, annotation, is_required=False, has_default=True), about)


def required(name: str, annotation: Any, about: str = "", schema: Json | None = None) -> ToolArgument:
    return ToolArgument(Argument(name, annotation, is_required=True, has_default=False), about, schema)


def tool_name(*parts: str) -> str:
    """Letters, digits and underscores, which every client takes."""
    return "_".join("".join(c if c.isascii() and c.isalnum() else "_" for c in part) for part in parts)


def title_of(name: str) -> str:
    return name.replace("_", " ").capitalize()


# --- what a tool takes ---


def schema_of(arguments: Sequence[ToolArgument]) -> Json:
    """The JSON schema of a tool's arguments."""
    typed = [each for each in arguments if each.schema is None]
    made, shared = TypeAdapter.json_schemas(
        [(each.name, "validation", TypeAdapter(each.argument.annotation)) for each in typed],
        ref_template="#/$defs/{model}",
    )
    definitions: Json = dict(shared.get("$defs", {}))
    properties: Json = {}
    for each in arguments:
        own = dict(each.schema if each.schema is not None else made[(each.name, "validation")])
        definitions |= own.pop("$defs", {})
        properties[each.name] = _closed(own) | ({"description": each.about} if each.about else {})
    schema: Json = {
        "type": "object",
        "properties": properties,
        "required": [each.name for each in arguments if each.argument.is_required],
        "additionalProperties": False,
    }
    return schema | (
        {"$defs": {name: _closed(each) for name, each in definitions.items()}} if definitions else {}
    )


def _closed(schema: Json) -> Json:
    """An object takes its own fields only, as it is read (design/arguments.py)."""
    return {"additionalProperties": False, **schema} if "properties" in schema else schema


def read_arguments(arguments: Sequence[ToolArgument], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by their types; ToolRefused with a sentence for each that does not fit."""
    known = [each.name for each in arguments]
    wrong = [f"{name} is not an argument of this tool; it takes {', '.join(known) or 'none'}."
             for name in given if name not in known]  # fmt: skip
    found: dict[str, Any] = {}
    for each in arguments:
        value = given.get(each.name)
        if value is None:
            if each.argument.is_required:
                wrong.append(f"{each.name} is required.")
            elif not each.argument.has_default:
                found[each.name] = None
            continue
        try:
            found[each.name] = each.argument.read(value)
        except ValidationError as mistakes:
            wrong += sentences(mistakes, each.name)
    if wrong:
        raise ToolRefused(" ".join(wrong))
    return found


def sentences(mistakes: ValidationError, name: str) -> list[str]:
    """One for each mistake in the argument of this name."""
    found = mistakes.errors(include_url=False, include_input=False)
    return [field_error({**each, "loc": ("body", name, *each["loc"])}).message for each in found]


def of_parameters(
    arguments: Sequence[Argument], parameters: Mapping[str, Parameter]
) -> tuple[ToolArgument, ...]:
    """The parameters of a pattern or a key; one that may be left out says what is taken then."""
    return tuple(ToolArgument(each, _about(parameters[each.name])) for each in arguments)


def _about(parameter: Parameter) -> str:
    default = parameter.default
    return "" if default is Parameter.empty or default is None else f"If left out: {default}."
