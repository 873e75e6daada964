"""Parsed nodes and the placeholders of one request to resolved nodes, ready for any item.

The parsed nodes of a text are remembered, so a request that repeats one pays for its own values only.
Must hold: an expression that passes can no longer fail for a reason that is visible without data, and a
resolved node holds no placeholder.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from tablewright.expressions.errors import BadExpression
from tablewright.expressions.nodes import (
    Action,
    And,
    Arithmetic,
    Between,
    Call,
    Compare,
    Condition,
    In,
    Not,
    Operand,
    Or,
    Path,
    Remove,
    Update,
    ValueRef,
)
from tablewright.expressions.operand_checks import refuse_unfit_condition, refuse_unfit_update
from tablewright.expressions.parse import parse_condition, parse_projection, parse_update
from tablewright.expressions.paths import refuse_clashes
from tablewright.values import Value

# Texts remembered of each kind. An ordinary one makes some 2 KB of nodes, the longest possible 140 KB.
REMEMBERED = 1024

_PLACEHOLDER = re.compile("[#:][A-Za-z0-9_]+")


@dataclass(slots=True)
class Placeholders:
    """ExpressionAttributeNames and -Values of one request, and which of them its expressions used."""

    names: Mapping[str, str] | None
    values: Mapping[str, Value] | None
    used: set[str] = field(default_factory=set)

    def check_all_used(self) -> None:
        if self.names and not self.used.issuperset(self.names):
            raise self._unused("Names", self.names)
        if self.values and not self.used.issuperset(self.values):
            raise self._unused("Values", self.values)

    def _unused(self, kind: str, given: Iterable[str]) -> BadExpression:
        unused = ", ".join(key for key in given if key not in self.used)
        return BadExpression(
            f"Value provided in ExpressionAttribute{kind} unused in expressions: keys: {{{unused}}}"
        )


def condition(text: str, kind: str, given: Placeholders) -> Condition:
    """`kind` is the parameter the text came in: ConditionExpression, FilterExpression or KeyCondition..."""
    try:
        node, placeholders = _known_condition(text)
        if not placeholders:
            return node
        given.used.update(placeholders)
        return _condition(node, given)
    except BadExpression as bad:
        raise BadExpression(f"Invalid {kind}: {bad}") from None


def projection(text: str, given: Placeholders) -> tuple[Path, ...]:
    try:
        paths, placeholders = _known_projection(text)
        if placeholders:
            given.used.update(placeholders)
            paths = tuple([_path(path, given) for path in paths])
            refuse_clashes(paths)
        return paths
    except BadExpression as bad:
        raise BadExpression(f"Invalid ProjectionExpression: {bad}") from None


def update(text: str, given: Placeholders) -> Update:
    try:
        node, placeholders = _known_update(text)
        if not placeholders:
            return node
        given.used.update(placeholders)
        return _update(node, placeholders, given)
    except BadExpression as bad:
        raise BadExpression(f"Invalid UpdateExpression: {bad}") from None


# What is known of a text: its nodes, and its placeholders in order of appearance. A text without any
# needs no resolving.

_NOTHING = Placeholders(None, None)


@lru_cache(maxsize=REMEMBERED)
def _known_condition(text: str) -> tuple[Condition, tuple[str, ...]]:
    node, placeholders = parse_condition(text), _placeholders(text)
    return (node if placeholders else _condition(node, _NOTHING)), placeholders


@lru_cache(maxsize=REMEMBERED)
def _known_projection(text: str) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    paths, placeholders = parse_projection(text), _placeholders(text)
    if not placeholders:
        refuse_clashes(paths)
    return paths, placeholders


@lru_cache(maxsize=REMEMBERED)
def _known_update(text: str) -> tuple[Update, tuple[str, ...]]:
    node, placeholders = parse_update(text), _placeholders(text)
    return (node if placeholders else _update(node, placeholders, _NOTHING)), placeholders


def _placeholders(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_PLACEHOLDER.findall(text)))


# Looking up


def _name(alias: str, given: Placeholders) -> str:
    name = given.names.get(alias) if given.names else None
    if name is None:
        raise BadExpression(
            f"An expression attribute name used in the document path is not defined; attribute name: {alias}"
        )
    return name


def _value(name: str, given: Placeholders) -> Value:
    value = given.values.get(name) if given.values else None
    if value is None:
        raise BadExpression(
            f"An expression attribute value used in expression is not defined; attribute value: {name}"
        )
    return value


def _path(path: Path, given: Placeholders) -> Path:
    for element in path:
        if type(element) is str and element[0] == "#":
            return tuple([_name(e, given) if type(e) is str and e[0] == "#" else e for e in path])
    return path


# The rest runs for every request: isinstance takes a fifth of the time of a match on the same classes.


def _operand(operand: Operand, given: Placeholders) -> Operand:
    if isinstance(operand, tuple):
        return _path(operand, given)
    if isinstance(operand, ValueRef):
        return _value(operand.name, given)
    if isinstance(operand, Call):
        return Call(operand.name, tuple([_operand(part, given) for part in operand.operands]))
    if isinstance(operand, Arithmetic):
        return Arithmetic(operand.op, _operand(operand.left, given), _operand(operand.right, given))
    return operand


def _condition(node: Condition, given: Placeholders) -> Condition:
    """Resolved and checked one simple condition after another: the first mistake is the one to name."""
    if isinstance(node, Compare):
        resolved: Compare | Between | In | Call = Compare(
            node.op, _operand(node.left, given), _operand(node.right, given)
        )
    elif isinstance(node, Call):
        resolved = Call(node.name, tuple([_operand(part, given) for part in node.operands]))
    elif isinstance(node, And):
        return And(tuple([_condition(part, given) for part in node.parts]))
    elif isinstance(node, Or):
        return Or(tuple([_condition(part, given) for part in node.parts]))
    elif isinstance(node, Not):
        return Not(_condition(node.part, given))
    elif isinstance(node, Between):
        resolved = Between(
            _operand(node.operand, given), _operand(node.low, given), _operand(node.high, given)
        )
    else:
        resolved = In(_operand(node.operand, given), tuple([_operand(part, given) for part in node.options]))
    refuse_unfit_condition(resolved)
    return resolved


def _update(node: Update, placeholders: tuple[str, ...], given: Placeholders) -> Update:
    # An update misses its names before its values, wherever they stand.
    for placeholder in placeholders:
        if placeholder[0] == "#":
            _name(placeholder, given)
    resolved = Update(tuple([_action(action, given) for action in node.actions]))
    refuse_clashes([action.path for action in resolved.actions])
    refuse_unfit_update(resolved)
    return resolved


def _action(action: Action, given: Placeholders) -> Action:
    path = _path(action.path, given)
    if isinstance(action, Remove):
        return Remove(path)
    return type(action)(path, _operand(action.value, given))
