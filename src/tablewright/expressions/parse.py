"""Text to nodes: the three kinds of expression, their clauses, and nothing about data or placeholders.

Must hold: what parse gives back, render can write and parse read again.
What parses is also checked for all that a text alone can get wrong (static.py).
Elsewhere: the rules for operands (operands.py) and for conditions (conditions.py).
"""

from collections.abc import Callable
from typing import TypeAlias

from tablewright.expressions.conditions import condition
from tablewright.expressions.errors import BadExpression
from tablewright.expressions.lexer import END, Token, syntax_error, tokens_of
from tablewright.expressions.nodes import Action, Add, Condition, Delete, Path, Remove, Set, Update
from tablewright.expressions.operands import expect, operand, path, paths, value_ref
from tablewright.expressions.static import (
    refuse_bad_condition,
    refuse_bad_projection,
    refuse_bad_update,
)

MAX_BYTES = 4096


def parse_condition(text: str) -> Condition:
    tokens = _tokens(text)
    node, at = condition(tokens, 0)
    expect(tokens, at, END)
    refuse_bad_condition(tokens, node)
    return node


def parse_projection(text: str) -> tuple[Path, ...]:
    tokens = _tokens(text)
    listed, at = paths(tokens, 0)
    expect(tokens, at, END)
    refuse_bad_projection(listed)
    return listed


def parse_update(text: str) -> Update:
    tokens = _tokens(text)
    actions: list[Action] = []
    at = 0
    while tokens[at].kind != END:
        at = _clause(tokens, at, actions)
    update = Update(tuple(actions))
    refuse_bad_update(tokens, update)
    return update


def _tokens(text: str) -> list[Token]:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise BadExpression(f"Expression size has exceeded the maximum allowed size; expression size: {size}")
    tokens = tokens_of(text)
    if tokens[0].kind == END:
        raise BadExpression("The expression can not be empty;")
    return tokens


_Rule: TypeAlias = Callable[[list[Token], int], tuple[Action, int]]


def _clause(tokens: list[Token], at: int, actions: list[Action]) -> int:
    rule = _ACTIONS.get(tokens[at].kind)
    if rule is None:
        raise syntax_error(tokens, at)
    while True:
        action, at = rule(tokens, at + 1)
        actions.append(action)
        if tokens[at].kind != ",":
            return at


def _set(tokens: list[Token], at: int) -> tuple[Action, int]:
    target, at = path(tokens, at)
    value, at = operand(tokens, expect(tokens, at, "="), in_update=True)
    return Set(target, value), at


def _remove(tokens: list[Token], at: int) -> tuple[Action, int]:
    target, at = path(tokens, at)
    return Remove(target), at


def _add(tokens: list[Token], at: int) -> tuple[Action, int]:
    target, at = path(tokens, at)
    value, at = value_ref(tokens, at)
    return Add(target, value), at


def _delete(tokens: list[Token], at: int) -> tuple[Action, int]:
    target, at = path(tokens, at)
    value, at = value_ref(tokens, at)
    return Delete(target, value), at


_ACTIONS: dict[str, _Rule] = {"SET": _set, "REMOVE": _remove, "ADD": _add, "DELETE": _delete}
