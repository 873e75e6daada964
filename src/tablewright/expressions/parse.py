"""Text to nodes: the three kinds of expression, their clauses, and nothing about data or placeholders.

Must hold: what parse gives back, render can write and parse read again.
What parses is also checked for all that a text alone can get wrong (text_checks.py).
Elsewhere: the rules for operands (operands.py) and for conditions (conditions.py).
"""

from tablewright.expressions.conditions import condition
from tablewright.expressions.errors import BadExpression
from tablewright.expressions.lexer import END, Token, syntax_error, tokens_of
from tablewright.expressions.nodes import Action, Add, Condition, Delete, Path, Remove, Set, Update
from tablewright.expressions.operands import expect, listed, operand, path, value_ref
from tablewright.expressions.text_checks import (
    CLAUSES,
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
    paths, at = listed(path, tokens, 0)
    expect(tokens, at, END)
    refuse_bad_projection(paths)
    return paths


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


def _clause(tokens: list[Token], at: int, actions: list[Action]) -> int:
    clause = tokens[at].kind
    if clause not in CLAUSES:
        raise syntax_error(tokens, at)
    while True:
        action, at = _action(clause, tokens, at + 1)
        actions.append(action)
        if tokens[at].kind != ",":
            return at


def _action(clause: str, tokens: list[Token], at: int) -> tuple[Action, int]:
    target, at = path(tokens, at)
    if clause == "REMOVE":
        return Remove(target), at
    if clause == "SET":
        value, at = operand(tokens, expect(tokens, at, "="), in_update=True)
        return Set(target, value), at
    value, at = value_ref(tokens, at)
    return (Add if clause == "ADD" else Delete)(target, value), at
