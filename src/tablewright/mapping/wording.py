"""Conditions and paths as DynamoDB's expression text, with every name and value behind a placeholder.

So no attribute name is ever a reserved word, and no value is ever read as text. Pure.
"""

from typing import assert_never

from tablewright.design.paths import All, Compare, Either, Exists, Not, OneOf, Place, Test
from tablewright.values import Value


class Wording:
    """Collects the placeholders of one request."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, Value] = {}

    def name(self, stored: str) -> str:
        for known, meant in self.names.items():
            if meant == stored:
                return known
        placeholder = f"#{len(self.names)}"
        self.names[placeholder] = stored
        return placeholder

    def path(self, steps: tuple[str | int, ...]) -> str:
        text = ""
        for step in steps:
            text += (
                f"[{step}]" if isinstance(step, int) else f".{self.name(step)}" if text else self.name(step)
            )
        return text

    def value(self, value: Value) -> str:
        placeholder = f":{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def placeholders(self) -> dict[str, dict[str, object]]:
        """The members of a request that explain its expressions; what is empty is left out."""
        members: dict[str, dict[str, object]] = {}
        if self.names:
            members["ExpressionAttributeNames"] = dict(self.names)
        if self.values:
            members["ExpressionAttributeValues"] = dict(self.values)
        return members

    def test(self, test: Test) -> str:
        """A condition of the design as text."""
        match test:
            case Compare(op, place, value, sized):
                return self._compare(op, place, value, sized)
            case Exists(place):
                return f"attribute_exists({self.path(place.steps)})"
            case OneOf(place, values):
                return f"{self.path(place.steps)} IN ({', '.join(map(self.value, values))})"
            case All(parts):
                return " AND ".join(f"({self.test(part)})" for part in parts)
            case Either(parts):
                return " OR ".join(f"({self.test(part)})" for part in parts)
            case Not(part):
                return f"NOT ({self.test(part)})"
            case _:
                assert_never(test)

    def _compare(self, op: str, place: Place, value: Value | Place, sized: bool) -> str:
        left = self.path(place.steps)
        right = self.path(value.steps) if isinstance(value, Place) else self.value(value)
        if op in ("begins_with", "contains"):
            return f"{op}({left}, {right})"
        return f"size({left}) {op} {right}" if sized else f"{left} {op} {right}"


def all_of(*conditions: str) -> str:
    """Conditions joined; empty ones do not count."""
    given = [condition for condition in conditions if condition]
    return given[0] if len(given) == 1 else " AND ".join(f"({condition})" for condition in given)
