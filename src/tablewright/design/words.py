"""Types in plain words, for readers who do not write Python. Pure.

Must hold: no name of a Python type appears; what has no words of its own is described by what it is stored as.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, JsonValue

from tablewright.design.attributes import Attribute, without_none
from tablewright.design.large import Large

_PLAIN: Mapping[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    Decimal: "decimal number",
    bool: "true or false",
    datetime: "time",
    date: "date",
    timedelta: "duration",
    UUID: "UUID",
    bytes: "bytes",
    Large: "bytes of any size",
    JsonValue: "any value",
}
_LETTERS: Mapping[str, str] = {
    "S": "text", "N": "number", "B": "bytes", "BOOL": "true or false", "L": "list", "M": "map", "SS": "set of text",
    "NS": "set of numbers", "BS": "set of bytes",
}  # fmt: skip


def field_words(attribute: Attribute) -> str:
    """`one of open, closed`, `list of text`, `time`."""
    if attribute.kind.choices:
        return f"one of {', '.join(attribute.kind.choices)}"
    return _words(attribute.annotation) or _LETTERS.get(attribute.kind.letter, "any value")


def annotation_words(annotation: Any) -> str:
    """Those of a parameter: `text or none`. A name that is still text is said as it is."""
    bare, optional = without_none(annotation)
    words = bare if isinstance(bare, str) else _words(bare) or "any value"
    return f"{words} or none" if optional else words


def _words(annotation: Any) -> str:
    """The words of an annotation; empty if it has none."""
    if get_origin(annotation) is Annotated:
        return _words(get_args(annotation)[0])
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if hasattr(annotation, "__value__"):
        return _words(annotation.__value__)
    if hasattr(annotation, "__supertype__"):
        return _words(annotation.__supertype__)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return f"one of {', '.join(str(each.value) for each in annotation)}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"{annotation.__name__} ({', '.join(annotation.model_fields)})"
    return _of_parts(get_origin(annotation), get_args(annotation))


def _of_parts(origin: Any, parts: tuple[Any, ...]) -> str:
    if origin is Literal:
        return f"one of {', '.join(map(str, parts))}"
    if origin in (Union, UnionType):
        found = [_words(part) for part in parts if part is not NoneType]
        return " or ".join(found) if all(found) else ""
    if origin is tuple and parts == (float, ...):
        return "vector"
    if origin in (list, tuple, Sequence, set, frozenset) and parts:
        inner = _words(parts[0])
        kind = "set" if origin in (set, frozenset) else "list"
        return f"{kind} of {inner}" if inner else kind
    if origin in (dict, Mapping):
        inner = _words(parts[1])
        return f"map to {inner}" if inner else "map"
    return ""
