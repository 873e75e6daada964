"""A condition or an update as the text of an expression with its names and values: what the classic verbs take.

Names are never written out, so no attribute name can be a reserved word or hold a dot that is not a path's.
"""

from dataclasses import dataclass, field
from typing import Any

from tablewright.expressions import Condition, Path, Update, render
from tablewright.expressions.nodes import (
    Action,
    And,
    Arithmetic,
    Between,
    Call,
    Compare,
    In,
    Not,
    Operand,
    Or,
    Remove,
    ValueRef,
)
from tablewright.values import Value


def worded(condition: Condition | None, changes: Update | None = None) -> dict[str, Any]:
    """ConditionExpression and UpdateExpression of a request, with what they refer to."""
    words = _Words()
    request: dict[str, Any] = {}
    if changes is not None:
        request["UpdateExpression"] = render(_in_clauses([words.action(one) for one in changes.actions]))
    if condition is not None:
        request["ConditionExpression"] = render(words.condition(condition))
    if words.names:
        request["ExpressionAttributeNames"] = {alias: name for name, alias in words.names.items()}
    if words.values:
        request["ExpressionAttributeValues"] = words.values
    return request


def projecting(names: tuple[str, ...]) -> dict[str, Any]:
    """ProjectionExpression for these attributes."""
    words = _Words()
    paths = tuple([words.path((name,)) for name in names])
    return {
        "ProjectionExpression": render(paths),
        "ExpressionAttributeNames": {alias: name for name, alias in words.names.items()},
    }


def _in_clauses(actions: list[Action]) -> Update:
    """A statement may set, remove and set again; an update expression has each clause once."""
    kinds = dict.fromkeys(type(action) for action in actions)
    return Update(tuple(action for kind in kinds for action in actions if type(action) is kind))


@dataclass(slots=True)
class _Words:
    """The placeholders given out so far."""

    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)

    def path(self, path: Path) -> Path:
        return tuple(
            [
                part if isinstance(part, int) else self.names.setdefault(part, f"#{len(self.names)}")
                for part in path
            ]
        )

    def value(self, value: Value) -> ValueRef:
        name = f":{len(self.values)}"
        self.values[name] = value
        return ValueRef(name)

    def operand(self, operand: Operand) -> Operand:
        match operand:
            case tuple():
                return self.path(operand)
            case Call(name, operands):
                return Call(name, tuple([self.operand(one) for one in operands]))
            case Arithmetic(op, left, right):
                return Arithmetic(op, self.operand(left), self.operand(right))
            case ValueRef():
                raise TypeError("what is resolved has no placeholders")
            case _:
                return self.value(operand)

    def condition(self, node: Condition) -> Condition:
        match node:
            case And(parts):
                return And(tuple([self.condition(part) for part in parts]))
            case Or(parts):
                return Or(tuple([self.condition(part) for part in parts]))
            case Not(part):
                return Not(self.condition(part))
            case Compare(op, left, right):
                return Compare(op, self.operand(left), self.operand(right))
            case Between(operand, low, high):
                return Between(self.operand(operand), self.operand(low), self.operand(high))
            case In(operand, options):
                return In(self.operand(operand), tuple([self.operand(option) for option in options]))
            case Call(name, operands):
                return Call(name, tuple([self.operand(one) for one in operands]))

    def action(self, action: Action) -> Action:
        if isinstance(action, Remove):
            return Remove(self.path(action.path))
        return type(action)(self.path(action.path), self.operand(action.value))
