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


def is_broken_json(errors: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the body is not valid JSON, so that its fields were not checked."""
    return any(error["type"] == "json_invalid" for error in errors)


def broken_json(error: Mapping[str, Any]) -> str:
    """A sentence with the position of the JSON error, in the parser's words."""
    position, why = error["loc"][-1], error.get("ctx", {}).get("error", "it is malformed")
    return f"The body is not valid JSON: {why}, at character {position}."


_Words = Callable[[Mapping[str, Any]], str]


def _count(name: str, words: str, one: str, many: str) -> _Words:
    return lambda ctx: f"{words} {ctx[name]} {one if ctx[name] == 1 else many}"


_WORDS: Mapping[str, _Words] = {
    "missing": lambda ctx: "is required",
    "extra_forbidden": lambda ctx: "is not a field we know; remove it or check its spelling",
    "string_type": lambda ctx: "must be a text",
    "string_too_short": _count("min_length", "must have at least", "character", "characters"),
    "string_too_long": _count("max_length", "must have at most", "character", "characters"),
    "string_pattern_mismatch": lambda ctx: f"must look like {ctx['pattern']}",
    "too_short": _count("min_length", "must have at least", "entry", "entries"),
    "too_long": _count("max_length", "must have at most", "entry", "entries"),
    "int_type": lambda ctx: "must be a whole number",
    "int_parsing": lambda ctx: "must be a whole number",
    "int_from_float": lambda ctx: "must be a whole number",
    "float_type": lambda ctx: "must be a number",
    "float_parsing": lambda ctx: "must be a number",
    "finite_number": lambda ctx: "must be a finite number",
    "decimal_type": lambda ctx: "must be a number",
    "decimal_parsing": lambda ctx: "must be a number",
    "bool_type": lambda ctx: "must be true or false",
    "bool_parsing": lambda ctx: "must be true or false",
    "list_type": lambda ctx: "must be a list",
    "dict_type": lambda ctx: "must be an object",
    "model_type": lambda ctx: "must be an object",
    "model_attributes_type": lambda ctx: "must be an object",
    "enum": lambda ctx: f"must be {ctx['expected']}",
    "literal_error": lambda ctx: f"must be {ctx['expected']}",
    "greater_than": lambda ctx: f"must be more than {ctx['gt']}",
    "greater_than_equal": lambda ctx: f"must be {ctx['ge']} or more",
    "less_than": lambda ctx: f"must be less than {ctx['lt']}",
    "less_than_equal": lambda ctx: f"must be {ctx['le']} or less",
    "uuid_parsing": lambda ctx: "must be a UUID",
    "uuid_type": lambda ctx: "must be a UUID",
    "date_from_datetime_parsing": lambda ctx: "must be a date such as 2026-01-31",
    "date_parsing": lambda ctx: "must be a date such as 2026-01-31",
    "date_type": lambda ctx: "must be a date such as 2026-01-31",
    "time_parsing": lambda ctx: "must be a time such as 21:30",
    "datetime_parsing": lambda ctx: "must be a time such as 2026-01-31T09:30:00Z",
    "datetime_from_date_parsing": lambda ctx: "must be a time such as 2026-01-31T09:30:00Z",
    "datetime_type": lambda ctx: "must be a time such as 2026-01-31T09:30:00Z",
    "timezone_aware": lambda ctx: "must name its zone, such as 2026-01-31T09:30:00Z",
}


def _sentence(field: str | None, place: str, kind: str, error: Mapping[str, Any]) -> str:
    if field is None:
        if kind == "missing":
            return "A JSON body is required."
        if kind in ("model_attributes_type", "model_type", "dict_type"):
            return "The body must be a JSON object, sent with Content-Type: application/json."
    name = field or f"The {place}"
    words = _WORDS.get(kind)
    if words is not None:
        return f"{name} {words(error.get('ctx', {}))}."
    # Our own validators raise ValueError("must ..."); pydantic puts these prefixes before their message.
    message = str(error["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ").rstrip(".")
    return f"{name}: {message}."
