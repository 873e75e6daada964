"""JSON schemas in words: an outline that reads like the JSON itself, and an example of it. Pure.

Must hold: a schema that contains itself ends after a few levels.
"""

from collections.abc import Mapping
from typing import Any

_DEEPEST = 6
_LIMITS = (
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minimum", "{} or more"),
    ("exclusiveMinimum", "more than {}"),
    ("maximum", "{} or less"),
    ("exclusiveMaximum", "less than {}"),
    ("pattern", "must match {}"),
    ("default", "default {}"),
)
_WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false", "null": "null"}
_FORMATS = {"date-time": "time", "date": "date", "email": "e-mail address", "uri": "address", "uuid": "UUID"}

Schema = Mapping[str, Any]


def resolved(schema: Schema, known: Schema) -> Schema:
    """The schema a reference stands for."""
    while "$ref" in schema:
        schema = known.get(str(schema["$ref"]).rpartition("/")[2], {})
    if "allOf" in schema and len(schema["allOf"]) == 1:
        return {**resolved(schema["allOf"][0], known), **{k: v for k, v in schema.items() if k != "allOf"}}
    return schema


def type_of(schema: Schema, known: Schema) -> str:
    """In a few words: `text, at least 1 characters`, `one of monthly, yearly`."""
    return ", ".join([_kind(schema, known), *_limits(resolved(schema, known))])


def _kind(schema: Schema, known: Schema) -> str:
    schema = resolved(schema, known)
    if "anyOf" in schema or "oneOf" in schema:
        kinds = [_kind(each, known) for each in schema.get("anyOf") or schema.get("oneOf") or ()]
        # A Decimal is described as a number or a text with a pattern: for a reader it is a number.
        if set(kinds) <= {"number", "text", "null"} and "number" in kinds:
            kinds = [kind for kind in kinds if kind != "text"]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if "const" in schema:
        return f"always {schema['const']}"
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}), known)}"
    if "format" in schema and schema["format"] in _FORMATS:
        return _FORMATS[schema["format"]]
    kind = str(schema.get("type", "anything"))
    return _WORDS.get(kind, "object" if kind == "object" else kind)


def _limits(schema: Schema) -> list[str]:
    found = [words.format(_json(schema[name])) for name, words in _LIMITS if schema.get(name) is not None]
    for each in schema.get("anyOf", ()):
        if "pattern" not in each:
            found += _limits(each)
    return found


def _json(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def outline(schema: Schema, known: Schema, depth: int = 0) -> str:
    """The schema as JSON with words for values."""
    schema = resolved(schema, known)
    pad = "  " * (depth + 1)
    if depth < _DEEPEST and schema.get("properties"):
        required = schema.get("required", ())
        lines = [
            f'{pad}"{name}": {outline(each, known, depth + 1)}{"" if name in required else " (optional)"}'
            for name, each in schema["properties"].items()
        ]
        return "{\n" + "\n".join(lines) + "\n" + "  " * depth + "}"
    if depth < _DEEPEST and schema.get("type") == "array":
        return f"[ {outline(schema.get('items', {}), known, depth)} ]"
    if depth < _DEEPEST and (choices := schema.get("anyOf") or schema.get("oneOf")):
        objects = [each for each in choices if resolved(each, known).get("properties")]
        if objects:
            spoken = [outline(each, known, depth) for each in objects]
            return " or ".join(spoken) + (" or null" if {"type": "null"} in choices else "")
    return type_of(schema, known)


def example_of(schema: Schema, known: Schema, depth: int = 0) -> Any:
    """A body one could send: required members, the shortest values that fit."""
    schema = resolved(schema, known)
    for name in ("example", "default", "const"):
        if schema.get(name) is not None:
            return schema[name]
    if schema.get("examples"):
        return schema["examples"][0]
    if schema.get("enum"):
        return schema["enum"][0]
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return example_of(choices[0], known, depth)
    match schema.get("type"):
        case "object" | None if depth < _DEEPEST:
            wanted = schema.get("required", ())
            properties = schema.get("properties", {})
            return {
                name: example_of(each, known, depth + 1)
                for name, each in properties.items()
                if name in wanted
            }
        case "array":
            return []
        case "integer" | "number":
            return schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
        case "boolean":
            return True
        case _:
            return _text_example(str(schema.get("format", "")))


def _text_example(form: str) -> str:
    return {
        "date": "2026-01-31",
        "date-time": "2026-01-31T09:30:00Z",
        "email": "ada@example.com",
        "uri": "https://example.com/",
    }.get(form, "text")
