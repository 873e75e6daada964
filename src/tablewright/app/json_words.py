"""JSON for reading: whatever fits on a line stays on it. Pure."""

from typing import Any

import orjson

_WIDTH = 92


def pretty(value: Any, indent: int = 0) -> str:
    """The value as JSON, broken only where a line would be too long; the outermost object always is."""
    flat = _flat(value)
    if not isinstance(value, dict | list) or not value or (indent and len(flat) + indent <= _WIDTH):
        return flat
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        lines = [f"{pad}{_flat(name)}: {pretty(each, indent + 2)}" for name, each in value.items()]
        opening, closing = "{", "}"
    else:
        lines = [pad + pretty(each, indent + 2) for each in value]
        opening, closing = "[", "]"
    return f"{opening}\n" + ",\n".join(lines) + f"\n{' ' * indent}{closing}"


def _flat(value: Any) -> str:
    """One line, with the spaces people put between things."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flat(name)}: {_flat(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flat, value)) + "]"
    return orjson.dumps(value).decode()
