"""The form of an expression: a resolved condition or update without its values. Equal forms have equal texts.

A program has few forms and writes each of them again and again, with other values: its text, and the names that its
placeholders stand for, are remembered by the form.
Must hold: `form` leaves the values in the order in which render.py gives them placeholders.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from tablewright.expressions.nodes import (
    Action,
    And,
    Arithmetic,
    Between,
    Call,
    Compare,
    Condition,
    Not,
    Operand,
    Or,
    Remove,
    Update,
)
from tablewright.expressions.render import PlaceholderAllocator, render
from tablewright.values import Value

# Forms remembered: more than all designs of a process have. One makes some 2 KB.
REMEMBERED = 1024
# Equal for equal forms, and only for them; a path is its own form, and a value's is None.
Form: TypeAlias = tuple[object, ...] | None


class Texts(NamedTuple):
    """What a request with an update, a condition or both has of them besides values."""

    update: str
    condition: str
    names: dict[str, str]
    markers: tuple[str, ...]


_known: dict[tuple[Form, Form], Texts] = {}


def texts(update: Sequence[Action], condition: Condition | None) -> tuple[Texts, dict[str, Value]]:
    """The texts of a request, with placeholders for all names and values, and the values; one may be empty or None."""
    values: list[Value] = []
    changed = tuple([_action(action, values) for action in update])
    key = changed, None if condition is None else form(condition, values)
    known = _known.get(key)
    if known is None:
        if len(_known) >= REMEMBERED:
            _known.clear()
        placeholders = PlaceholderAllocator()
        change = render(Update(tuple(update)), placeholders) if update else ""
        test = "" if condition is None else render(condition, placeholders)
        known = Texts(change, test, placeholders.names, tuple(placeholders.values))
        _known[key] = known
    return known, dict(zip(known.markers, values, strict=True))


def form(node: Condition, values: list[Value]) -> Form:
    """The form of a condition; its values are added to `values`."""
    if isinstance(node, Compare):
        left, right = node.left, node.right
        if isinstance(left, tuple) and isinstance(right, dict):  # nearly all
            values.append(right)
            return Compare, node.op, left
        return Compare, node.op, _operand(left, values), _operand(right, values)
    if isinstance(node, Call):
        return Call, node.name, *[_operand(part, values) for part in node.operands]
    if isinstance(node, And | Or):
        return type(node), *[form(part, values) for part in node.parts]
    if isinstance(node, Not):
        return Not, form(node.part, values)
    operand = _operand(node.operand, values)
    if isinstance(node, Between):
        return Between, operand, _operand(node.low, values), _operand(node.high, values)
    return type(node), operand, *[_operand(option, values) for option in node.options]


def _operand(operand: Operand, values: list[Value]) -> Form:
    if isinstance(operand, tuple):
        return operand
    if isinstance(operand, dict):
        values.append(operand)
        return None
    if isinstance(operand, Call):
        return Call, operand.name, *[_operand(part, values) for part in operand.operands]
    if isinstance(operand, Arithmetic):
        return Arithmetic, operand.op, _operand(operand.left, values), _operand(operand.right, values)
    raise TypeError("a node that is not resolved has no form")


def _action(action: Action, values: list[Value]) -> Form:
    if isinstance(action, Remove):
        return Remove, action.path
    value = action.value
    if isinstance(value, dict):
        values.append(value)
        return type(action), action.path
    return type(action), action.path, _operand(value, values)
