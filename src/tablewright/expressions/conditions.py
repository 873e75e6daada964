"""The grammar of conditions: comparisons, BETWEEN, IN, functions, and what AND, OR and NOT make of them.

NOT binds closer than AND, and AND closer than OR. A parenthesis may hold a condition or an operand,
`(a = :v)` or `(a) = :v`, and which it is shows only at its end; so what is open is kept in a list,
and depth costs no stack.
"""

from dataclasses import dataclass

from tablewright.expressions.lexer import Token, syntax_error
from tablewright.expressions.nodes import And, Between, Call, Compare, Condition, In, Not, Or
from tablewright.expressions.operands import deeper, expect, listed, operand

COMPARATORS = frozenset(("=", "<>", "<", "<=", ">", ">="))


@dataclass(frozen=True, slots=True)
class _OpenParts:
    """An AND or OR that goes on, with its parts so far."""

    made: type[And] | type[Or]
    parts: list[Condition]


# What can be open around a place in a condition: "(", "NOT", or an AND or OR that goes on.
_Waiting = list[str | _OpenParts]


def condition(tokens: list[Token], at: int) -> tuple[Condition, int]:
    waiting: _Waiting = []  # innermost last
    while True:
        while tokens[at].kind in ("(", "NOT"):
            waiting.append(tokens[at].kind)
            at += 1
        node, at = _simple(tokens, at, waiting)
        while True:  # the condition grows outwards until AND or OR asks for another
            node = _negated(node, waiting)
            if tokens[at].kind == "AND":
                _collect(And, node, waiting)
                break
            node = _closed(And, node, waiting)
            if tokens[at].kind == "OR":
                _collect(Or, node, waiting)
                break
            node = _closed(Or, node, waiting)
            if not waiting:
                return node, at
            at = expect(tokens, at, ")")
            waiting.pop()
        at += 1


def _simple(tokens: list[Token], at: int, waiting: _Waiting) -> tuple[Condition, int]:
    left, at = operand(tokens, at)
    while tokens[at].kind == ")" and waiting and waiting[-1] == "(":
        # The parenthesis held an operand, not a condition.
        waiting.pop()
        at += 1
        if isinstance(left, tuple):
            left, at = deeper(left, tokens, at)
    kind = tokens[at].kind
    if kind in COMPARATORS:
        right, at = operand(tokens, at + 1)
        return Compare(kind, left, right), at
    if kind == "BETWEEN":
        low, at = operand(tokens, at + 1)
        high, at = operand(tokens, expect(tokens, at, "AND"))
        return Between(left, low, high), at
    if kind == "IN":
        options, at = listed(operand, tokens, expect(tokens, at + 1, "("))
        return In(left, options), expect(tokens, at, ")")
    if isinstance(left, Call):
        return left, at
    raise syntax_error(tokens, at)


def _negated(node: Condition, waiting: _Waiting) -> Condition:
    while waiting and waiting[-1] == "NOT":
        waiting.pop()
        node = Not(node)
    return node


def _collect(made: type[And] | type[Or], node: Condition, waiting: _Waiting) -> None:
    around = waiting[-1] if waiting else None
    if isinstance(around, _OpenParts) and around.made is made:
        around.parts.append(node)
    else:
        waiting.append(_OpenParts(made, [node]))


def _closed(made: type[And] | type[Or], node: Condition, waiting: _Waiting) -> Condition:
    """The AND or OR of which the node is the last part, or else the node."""
    around = waiting[-1] if waiting else None
    if isinstance(around, _OpenParts) and around.made is made:
        waiting.pop()
        return made((*around.parts, node))
    return node
