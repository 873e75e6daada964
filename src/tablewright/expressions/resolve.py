"""Parsed nodes and the placeholders of one request to resolved nodes, ready for any item.

For each text the function that resolves it is remembered; the parts without placeholders are resolved and checked once,
so a request that repeats a text pays for its own values only.
Must hold: an expression that passes can no longer fail for a reason that is visible without data, and a
resolved node holds no placeholder.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias, TypeGuard, TypeVar

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
    Node,
    Not,
    Operand,
    Or,
    Path,
    Remove,
    Update,
    ValueRef,
    walk,
)
from tablewright.expressions.operand_checks import refuse_unfit_condition, refuse_unfit_update
from tablewright.expressions.parse import parse_condition, parse_projection, parse_update
from tablewright.expressions.paths import are_apart, refuse_clashes
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


T = TypeVar("T", covariant=True)
Resolve: TypeAlias = Callable[[Placeholders], T]
Simple: TypeAlias = Compare | Between | In | Call
SimpleT = TypeVar("SimpleT", Compare, Between, In, Call)


def condition(text: str, kind: str, given: Placeholders) -> Condition:
    """`kind` is the parameter the text came in: ConditionExpression, FilterExpression or KeyCondition..."""
    try:
        resolve, placeholders = _known_condition(text)
        given.used.update(placeholders)
        return resolve(given)
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
        resolve, placeholders = _known_update(text)
        given.used.update(placeholders)
        return resolve(given)
    except BadExpression as bad:
        raise BadExpression(f"Invalid UpdateExpression: {bad}") from None


# What is known of a text: how its nodes are resolved, and its placeholders in order of appearance.

_NOTHING = Placeholders(None, None)


@lru_cache(maxsize=REMEMBERED)
def _known_condition(text: str) -> tuple[Resolve[Condition], tuple[str, ...]]:
    return _condition(parse_condition(text)), _placeholders(text)


@lru_cache(maxsize=REMEMBERED)
def _known_projection(text: str) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    paths, placeholders = parse_projection(text), _placeholders(text)
    if not placeholders:
        refuse_clashes(paths)
    return paths, placeholders


@lru_cache(maxsize=REMEMBERED)
def _known_update(text: str) -> tuple[Resolve[Update], tuple[str, ...]]:
    node, placeholders = parse_update(text), _placeholders(text)
    return _update(node, placeholders), placeholders


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
    return tuple([_name(e, given) if _is_alias(e) else e for e in path])


def _is_alias(element: str | int) -> TypeGuard[str]:
    return type(element) is str and element[0] == "#"


def _is_constant(node: Node) -> bool:
    """Whether a node has no placeholder."""
    return not any(
        isinstance(part, ValueRef) or (isinstance(part, tuple) and any(map(_is_alias, part)))
        for part in walk(node)
    )


# From here on: a parsed node to the function that resolves it for a request, which is made once for a text.


def _operand(operand: Operand) -> Resolve[Operand]:
    if isinstance(operand, ValueRef):
        return _given_value(operand.name)
    if isinstance(operand, tuple):
        return _resolved_path(operand)
    if _is_constant(operand):
        return lambda given: operand
    if isinstance(operand, Call):
        return _call(operand)
    assert isinstance(operand, Arithmetic), "a parsed operand is a path, a placeholder, a call or arithmetic"
    op, left, right = operand.op, _operand(operand.left), _operand(operand.right)
    return lambda given: Arithmetic(op, left(given), right(given))


def _given_value(name: str) -> Resolve[Value]:
    def given_value(given: Placeholders) -> Value:
        # Nearly all are given: this is `_value` without the call.
        value = given.values.get(name) if given.values else None
        return _value(name, given) if value is None else value

    return given_value


def _resolved_path(path: Path) -> Resolve[Path]:
    """Most paths are an attribute's alias alone."""
    if not any(map(_is_alias, path)):
        return lambda given: path
    alias = str(path[0])
    if len(path) > 1:
        return lambda given: _path(path, given)

    def aliased(given: Placeholders) -> Path:
        name = given.names.get(alias) if given.names else None
        return (_name(alias, given) if name is None else name,)

    return aliased


def _call(node: Call) -> Resolve[Call]:
    name, operands = node.name, [_operand(part) for part in node.operands]
    return lambda given: Call(name, tuple([operand(given) for operand in operands]))


def _condition(node: Condition) -> Resolve[Condition]:
    """Resolved and checked one simple condition after another: the first mistake is the one to name."""
    if isinstance(node, And | Or):
        kind, parts = type(node), [_condition(part) for part in node.parts]
        return lambda given: kind(tuple([part(given) for part in parts]))
    if isinstance(node, Not):
        part = _condition(node.part)
        return lambda given: Not(part(given))
    if isinstance(node, Compare):
        return _checked(node, _comparison(node))
    if isinstance(node, Call):
        return _checked(node, _call(node))
    if isinstance(node, Between):
        operand, low, high = _operand(node.operand), _operand(node.low), _operand(node.high)
        return _checked(node, lambda given: Between(operand(given), low(given), high(given)))
    operand, options = _operand(node.operand), [_operand(option) for option in node.options]
    return _checked(node, lambda given: In(operand(given), tuple([option(given) for option in options])))


def _comparison(node: Compare) -> Resolve[Compare]:
    op, left, right = node.op, _operand(node.left), _operand(node.right)
    return lambda given: Compare(op, left(given), right(given))


def _fits(node: Simple) -> bool:
    """Whether a condition fits whatever its names and values are: most do."""
    if isinstance(node, Call):
        is_test = node.name in ("attribute_exists", "attribute_not_exists")
        return is_test and len(node.operands) == 1 and isinstance(node.operands[0], tuple)
    if isinstance(node, Compare):
        is_equality = node.op in ("=", "<>")
        return is_equality and isinstance(node.left, tuple) and isinstance(node.right, ValueRef)
    return False


def _checked(node: Simple, resolve: Resolve[SimpleT]) -> Resolve[SimpleT]:
    if _fits(node) and not _is_constant(node):
        return resolve

    def checked(given: Placeholders) -> SimpleT:
        resolved = resolve(given)
        refuse_unfit_condition(resolved)
        return resolved

    if _is_constant(node):
        # A condition that does not fit is refused in its turn, after the mistakes before it.
        with suppress(BadExpression):
            constant = checked(_NOTHING)
            return lambda given: constant
    return checked


def _update(node: Update, placeholders: tuple[str, ...]) -> Resolve[Update]:
    aliases = [placeholder for placeholder in placeholders if placeholder[0] == "#"]
    named = frozenset(aliases)
    actions = [_action(action) for action in node.actions]
    is_apart = not aliases and are_apart([action.path for action in node.actions])

    def resolve(given: Placeholders) -> Update:
        # An update misses its names before its values, wherever they stand.
        if aliases and (given.names is None or not given.names.keys() >= named):
            for alias in aliases:
                _name(alias, given)
        resolved = Update(tuple([action(given) for action in actions]))
        if not is_apart:
            refuse_clashes([action.path for action in resolved.actions])
        refuse_unfit_update(resolved)
        return resolved

    return resolve


def _action(action: Action) -> Resolve[Action]:
    path = _resolved_path(action.path)
    if isinstance(action, Remove):
        return lambda given: Remove(path(given))
    kind, value = type(action), _operand(action.value)
    return lambda given: kind(path(given), value(given))
