"""The grammar below conditions and actions: paths, values, functions, sums.

A rule is a function from a place among the tokens to the node that begins there and the place after it.
Operands nest, and 4096 bytes can nest them 2000 deep: what is open is kept in a list, not on the stack.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tablewright.expressions.lexer import Token, syntax_error
from tablewright.expressions.nodes import Arithmetic, Call, Operand, Path, ValueRef

T = TypeVar("T")


def expect(tokens: list[Token], at: int, kind: str) -> int:
    """The place after a token that must be of this kind."""
    if tokens[at].kind != kind:
        raise syntax_error(tokens, at)
    return at + 1


def path(tokens: list[Token], at: int) -> tuple[Path, int]:
    return deeper((_element(tokens, at),), tokens, at + 1)


def listed(
    rule: Callable[[list[Token], int], tuple[T, int]], tokens: list[Token], at: int
) -> tuple[tuple[T, ...], int]:
    """What a rule reads, once or more, with commas between."""
    one, at = rule(tokens, at)
    many = [one]
    while tokens[at].kind == ",":
        one, at = rule(tokens, at + 1)
        many.append(one)
    return tuple(many), at


def deeper(begun: Path, tokens: list[Token], at: int) -> tuple[Path, int]:
    """The path that was begun, with all `.name` and `[3]` that follow."""
    elements = list(begun)
    while True:
        if tokens[at].kind == ".":
            elements.append(_element(tokens, at + 1))
            at += 2
        elif tokens[at].kind == "[":
            after = expect(tokens, at + 1, "number")
            elements.append(int(tokens[at + 1].text))
            at = expect(tokens, after, "]")
        else:
            return tuple(elements), at


def _element(tokens: list[Token], at: int) -> str:
    if tokens[at].kind not in ("name", "alias"):
        raise syntax_error(tokens, at)
    return tokens[at].text


def value_ref(tokens: list[Token], at: int) -> tuple[ValueRef, int]:
    after = expect(tokens, at, "value")
    return ValueRef(tokens[at].text), after


def is_call(tokens: list[Token], at: int) -> bool:
    return tokens[at].kind == "name" and tokens[at + 1].kind == "("


@dataclass(frozen=True, slots=True)
class _OpenCall:
    """A function that has still to see its last operand."""

    name: str
    operands: list[Operand]


@dataclass(frozen=True, slots=True)
class _OpenSum:
    """A `+` or `-` that has still to see its right-hand side."""

    op: str
    left: Operand


_PARENTHESIS = None  # an open parenthesis, holding nothing but its place


def operand(tokens: list[Token], at: int, *, in_update: bool = False) -> tuple[Operand, int]:
    """A path, a value, a function, or any of these in parentheses.

    Only an update knows sums, and each sum has two operands, never three. Only a condition lets a path
    go on behind its parentheses: `(a.b).c`.
    """
    waiting: list[_OpenCall | _OpenSum | None] = []
    while True:
        while tokens[at].kind == "(" or is_call(tokens, at):
            is_plain = tokens[at].kind == "("
            waiting.append(_PARENTHESIS if is_plain else _OpenCall(tokens[at].text, []))
            at += 1 if is_plain else 2
        leaf, at = value_ref(tokens, at) if tokens[at].kind == "value" else path(tokens, at)
        node, at = _grown(leaf, tokens, at, waiting, in_update)
        if not waiting:
            return node, at


def _grown(
    node: Operand, tokens: list[Token], at: int, waiting: list[_OpenCall | _OpenSum | None], in_update: bool
) -> tuple[Operand, int]:
    """All that is complete around a node, up to where the next operand must follow or nothing is open."""
    is_sum = False
    while True:
        around = waiting[-1] if waiting else _PARENTHESIS
        kind = tokens[at].kind
        if isinstance(around, _OpenSum):
            waiting.pop()
            node, is_sum = Arithmetic(around.op, around.left, node), True
        elif in_update and kind in ("+", "-") and around is _PARENTHESIS and not is_sum:
            waiting.append(_OpenSum(kind, node))
            return node, at + 1
        elif isinstance(around, _OpenCall) and kind == ",":
            around.operands.append(node)
            return node, at + 1
        elif not waiting:
            return node, at
        else:
            at = expect(tokens, at, ")")
            waiting.pop()
            is_sum = False
            if isinstance(around, _OpenCall):
                node = Call(around.name, (*around.operands, node))
            elif isinstance(node, tuple) and not in_update:
                node, at = deeper(node, tokens, at)
