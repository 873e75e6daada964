"""Resolved conditions made by a program instead of a text.

Elsewhere: how they become the text of a request (render.py).
"""

from tablewright.expressions.nodes import And, Call, Compare, Condition
from tablewright.values import Value


def attribute_exists(*path: str | int) -> Call:
    return Call("attribute_exists", (path,))


def attribute_not_exists(*path: str | int) -> Call:
    return Call("attribute_not_exists", (path,))


def equal(name: str, value: Value | None) -> Condition:
    """The condition that an attribute has this value; that it is absent if the value is None."""
    return attribute_not_exists(name) if value is None else Compare("=", (name,), value)


def all_of(*conditions: Condition | None) -> Condition | None:
    """All conditions that are not None, joined by AND; None if there are none."""
    parts: list[Condition] = []
    for condition in conditions:
        if isinstance(condition, And):
            parts.extend(condition.parts)
        elif condition is not None:
            parts.append(condition)
    return And(tuple(parts)) if len(parts) > 1 else parts[0] if parts else None
