"""Errors in the fields of a request, as sentences for the caller. Pure.

Pydantic finds the errors; the sentences are ours for the common types, pydantic's own for the rest.
Must hold: a sentence never repeats the value that was sent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Location = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class FieldError:
    """One error: `field` as the caller writes it (`address.lines[2]`), None for the body as a whole."""

    field: str | None
    place: str  # body, query, path, header or cookie
    kind: str
    message: str

    def as_json(self) -> dict[str, str | None]:
        return {"field": self.field, "in": self.place, "kind": self.kind, "message": self.message}


def field_error(error: Mapping[str, Any]) -> FieldError:
    """One entry of pydantic's `errors()`."""
    place, *path = error["loc"] or ("body",)
    field, kind = field_path(path), error["type"]
    return FieldError(field, str(place), kind, _sentence(field, str(place), kind, error))


def field_path(path: Location) -> str | None:
    """The path of a field as it is written in code: `address.lines[2]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or None


def broken_json(error: Mapping[str, Any]) -> str:
    """A sentence with the position of the JSON error, in the parser's words."""
    position, why = error["loc"][-1], error.get("ctx", {}).get("error", "it is malformed")
    return f"The body is not valid JSON: {why}, at character {position}."


_Words = Callable[[Mapping[str, Any]], str]


def _count(name: str, words: str, one: str, many: str) -> _Words:
    return lambda ctx: f"{words} {ctx[name]} {one if ctx[name] == 1 else many}"


_WORDS: Mapping[str, _Words] = {
    "string_too_short": _count("min_length", "must have at least", "character", "characters"),
    "string_too_long": _count("max_length", "must have at most", "character", "characters"),
    "string_pattern_mismatch": lambda ctx: f"must look like {ctx['pattern']}",
    "too_short": _count("min_length", "must have at least", "entry", "entries"),
    "too_long": _count("max_length", "must have at most", "entry", "entries"),
    "enum": lambda ctx: f"must be {ctx['expected']}",
    "literal_error": lambda ctx: f"must be {ctx['expected']}",
    "greater_than": lambda ctx: f"must be more than {ctx['gt']}",
    "greater_than_equal": lambda ctx: f"must be {ctx['ge']} or more",
    "less_than": lambda ctx: f"must be less than {ctx['lt']}",
    "less_than_equal": lambda ctx: f"must be {ctx['le']} or less",
}
_KINDS_OF_WORDS = {
    "is required": "missing",
    "is not a field we know; remove it or check its spelling": "extra_forbidden",
    "must be a text": "string_type",
    "must be a whole number": "int_type int_parsing int_from_float",
    "must be a number": "float_type float_parsing decimal_type decimal_parsing",
    "must be a finite number": "finite_number",
    "must be true or false": "bool_type bool_parsing",
    "must be a list": "list_type",
    "must be an object": "dict_type model_type model_attributes_type",
    "must be a UUID": "uuid_parsing uuid_type",
    "must be a date such as 2026-01-31": "date_from_datetime_parsing date_parsing date_type",
    "must be a time such as 21:30": "time_parsing",
    "must be a time such as 2026-01-31T09:30:00Z": "datetime_parsing datetime_from_date_parsing datetime_type",
    "must name its zone, such as 2026-01-31T09:30:00Z": "timezone_aware",
}
_FIXED_WORDS = {kind: words for words, kinds in _KINDS_OF_WORDS.items() for kind in kinds.split()}


def _sentence(field: str | None, place: str, kind: str, error: Mapping[str, Any]) -> str:
    if field is None:
        if kind == "missing":
            return "A JSON body is required."
        if kind in ("model_attributes_type", "model_type", "dict_type"):
            return "The body must be a JSON object, sent with Content-Type: application/json."
    name = field or f"The {place}"
    if kind in _FIXED_WORDS:
        return f"{name} {_FIXED_WORDS[kind]}."
    if kind in _WORDS:
        return f"{name} {_WORDS[kind](error.get('ctx', {}))}."
    # Our own validators raise ValueError("must ..."); pydantic puts these prefixes before their message.
    message = str(error["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ").rstrip(".")
    return f"{name}: {message}."
