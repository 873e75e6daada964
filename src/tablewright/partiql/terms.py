"""The grammar of terms: paths, literals, functions, operators by how closely they bind.

A rule is a function from a place among the tokens to the term that begins there and the place after it.
Must hold: nesting and operators are counted, so that no text can make the reader call itself without end.
"""

from dataclasses import dataclass

from tablewright.expressions import Path
from tablewright.expressions.conditions import COMPARATORS
from tablewright.expressions.text_checks import MAX_OPERATORS
from tablewright.partiql.errors import BadStatement, not_well_formed
from tablewright.partiql.keywords import CALLABLE, KEYWORDS, TYPES
from tablewright.partiql.lexer import END, MAX_INT, Token
from tablewright.partiql.nodes import (
    Attribute,
    Bag,
    Constant,
    Function,
    Listing,
    Operation,
    Parameter,
    Star,
    Structure,
    Term,
)

MAX_DEPTH = 100

_OR, _AND, _NOT, _COMPARISON, _SUM = 1, 2, 3, 4, 5
_TIGHTNESS = {
    "OR": _OR,
    "AND": _AND,
    **dict.fromkeys((*COMPARATORS, "IN", "BETWEEN", "IS", "LIKE"), _COMPARISON),
    **dict.fromkeys(("+", "-", "*", "/", "%", "||"), _SUM),
}
_NEGATABLE = ("IN", "BETWEEN", "LIKE")
_ENDS = (END, ";")

MISSING_RIGHT = "Missing right-hand side expression of infix operator"
BAD_DOT = "Invalid path dot component"


@dataclass(slots=True)
class Reader:
    """The tokens of one statement, and what has been counted of it so far."""

    tokens: list[Token]
    parameters: int = 0
    operators: int = 0
    depth: int = 0

    def kind(self, at: int) -> str:
        return self.tokens[at].kind

    def expect(self, at: int, kind: str, otherwise: str) -> int:
        if self.tokens[at].kind != kind:
            raise not_well_formed(otherwise)
        return at + 1

    def count_operator(self) -> None:
        self.operators += 1
        if self.operators > MAX_OPERATORS:
            raise BadStatement(
                f"The expression contains too many operators; operator count: {MAX_OPERATORS + 1}"
            )

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise not_well_formed(f"Nesting goes beyond {MAX_DEPTH} levels")


def term(reader: Reader, at: int, tightness: int = 0) -> tuple[Term, int]:
    """A term with all operators around it that bind closer than `tightness`."""
    left, at = _first(reader, at)
    while True:
        token = reader.tokens[at]
        negated = token.kind == "NOT" and reader.kind(at + 1) in _NEGATABLE
        op = reader.kind(at + 1) if negated else token.kind
        binds = _TIGHTNESS.get(op, 0)
        if binds <= tightness or (token.kind == "NOT" and not negated):
            return left, at
        reader.count_operator()
        left, at = _joined(reader, left, op, at + 1 + negated, token.at)
        if negated:
            left = Operation("NOT", (left,), token.at)


def _joined(reader: Reader, left: Term, op: str, at: int, place: str) -> tuple[Term, int]:
    """The operation whose operator has just been read."""
    if op == "IS":
        return _type_test(reader, left, at, place)
    if reader.kind(at) in _ENDS:
        raise not_well_formed(MISSING_RIGHT)
    if op == "IN":
        options, at = _options(reader, at)
        return Operation("IN", (left, *options), place), at
    if op == "BETWEEN":
        low, at = term(reader, at, _COMPARISON)
        high, at = term(reader, reader.expect(at, "AND", "Expected AND after BETWEEN"), _COMPARISON)
        return Operation("BETWEEN", (left, low, high), place), at
    right, at = term(reader, at, _TIGHTNESS[op])
    if op in ("AND", "OR") and isinstance(left, Operation) and left.op == op:
        # One operation for a row of them: the row may be long, and each level would cost a call.
        return Operation(op, (*left.operands, right), left.at), at
    return Operation(op, (left, right), place), at


def _type_test(reader: Reader, left: Term, at: int, place: str) -> tuple[Term, int]:
    negated = reader.kind(at) == "NOT"
    at += negated
    kind = reader.tokens[at].text.upper()
    if kind != "MISSING" and (kind not in TYPES or reader.kind(at) in ("quoted", "string")):
        raise not_well_formed("Expected type name")
    if (kind, reader.tokens[at + 1].text.upper()) in (("DOUBLE", "PRECISION"), ("CHARACTER", "VARYING")):
        at += 1
    return Operation("IS NOT" if negated else "IS", (left,), place, kind), at + 1


def _options(reader: Reader, at: int) -> tuple[tuple[Term, ...], int]:
    closing = {"[": "]", "(": ")", "<<": ">>"}.get(reader.kind(at))
    if closing is None:
        raise not_well_formed("Expected a list of values after IN")
    return _members(reader, at + 1, closing)


def _members(reader: Reader, at: int, closing: str) -> tuple[tuple[Term, ...], int]:
    """The terms up to a closing bracket, with commas between them."""
    reader.deeper()
    members: list[Term] = []
    while reader.kind(at) != closing:
        if members:
            at = reader.expect(at, ",", f"Expected {closing}")
        member, at = term(reader, at)
        members.append(member)
    reader.depth -= 1
    return tuple(members), at + 1


def _first(reader: Reader, at: int) -> tuple[Term, int]:
    """A term without any operator behind it."""
    token = reader.tokens[at]
    kind = token.kind
    if (kind == "name" or kind in CALLABLE) and reader.kind(at + 1) == "(":
        return _function(reader, at)
    if token.is_name:
        return path(reader, at)
    match kind:
        case "string":
            return Constant("S", token.text, token.at), at + 1
        case "number":
            return Constant("N", token.text, token.at), at + 1
        case "TRUE" | "FALSE":
            return Constant("BOOL", kind == "TRUE", token.at), at + 1
        case "NULL":
            return Constant("NULL", True, token.at), at + 1
        case "?":
            reader.parameters += 1
            return Parameter(reader.parameters - 1, token.at), at + 1
        case "(" | "NOT" | "-" | "+":
            reader.deeper()
            inside = _enclosed(reader, at, token)
            reader.depth -= 1
            return inside
        case "[":
            members, at = _members(reader, at + 1, "]")
            return Listing(members, token.at), at
        case "<<":
            members, at = _members(reader, at + 1, ">>")
            return Bag(members, token.at), at
        case "{":
            return _structure(reader, at)
        case _:
            raise _unexpected(kind)


def _unexpected(kind: str) -> BadStatement:
    if kind in _TIGHTNESS:
        return not_well_formed("Unexpected operator")
    return not_well_formed("Unexpected keyword" if kind in KEYWORDS else "Unexpected term")


def _enclosed(reader: Reader, at: int, token: Token) -> tuple[Term, int]:
    """What stands in parentheses, behind NOT or behind a sign."""
    if token.kind == "(":
        inner, at = term(reader, at + 1)
        return inner, reader.expect(at, ")", "Expected )")
    reader.count_operator()
    if token.kind == "NOT":
        inner, at = term(reader, at + 1, _NOT)
        return Operation("NOT", (inner,), token.at), at
    inner, at = _first(reader, at + 1)
    if not isinstance(inner, Constant) or inner.kind != "N":
        raise BadStatement(f"Unsupported operation: {token.kind} at {token.at}")
    number = str(inner.content)
    if token.kind == "-":
        number = number[1:] if number.startswith("-") else "-" + number
    return Constant("N", number, token.at), at


def _function(reader: Reader, at: int) -> tuple[Term, int]:
    token = reader.tokens[at]
    reader.count_operator()
    name = token.text.lower()
    if reader.kind(at + 2) == "*":
        after = reader.expect(at + 3, ")", "Expected )")
        return Function(name, (Star(reader.tokens[at + 2].at),), token.at), after
    operands, at = _members(reader, at + 2, ")")
    return Function(name, operands, token.at), at


def _structure(reader: Reader, at: int) -> tuple[Structure, int]:
    opening = reader.tokens[at].at
    reader.deeper()
    at += 1
    members: dict[str, Term] = {}
    while reader.kind(at) != "}":
        if members:
            at = reader.expect(at, ",", "Expected }")
        name = reader.tokens[at].text
        at = reader.expect(at, "string", "Expected the name of an attribute in single quotes")
        members[name], at = term(reader, reader.expect(at, ":", "Expected : after the name of an attribute"))
    reader.depth -= 1
    return Structure(tuple(members.items()), opening), at + 1


def structure(reader: Reader, at: int) -> tuple[Structure, int]:
    if reader.kind(at) != "{":
        raise not_well_formed("Expected an item in braces")
    return _structure(reader, at)


def path(reader: Reader, at: int) -> tuple[Attribute, int]:
    first = reader.tokens[at]
    if not first.is_name:
        raise _unexpected(first.kind)
    elements: list[str | int] = [first.text]
    at += 1
    while True:
        if reader.kind(at) == ".":
            if not reader.tokens[at + 1].is_name:
                raise not_well_formed(BAD_DOT)
            elements.append(reader.tokens[at + 1].text)
            at += 2
        elif reader.kind(at) == "[":
            element, at = _element(reader, at + 1)
            elements.append(element)
        else:
            whole: Path = tuple(elements)
            return Attribute(whole, first.at), at


def _element(reader: Reader, at: int) -> tuple[str | int, int]:
    """What stands between brackets in a path: a place in a list, or a name in single quotes."""
    negative = reader.kind(at) == "-"
    at += negative
    token = reader.tokens[at]
    after = reader.expect(at + 1, "]", "Expected ]")
    if token.kind == "string" and not negative:
        return token.text, after
    if token.kind != "number" or not token.text.isdecimal():
        raise not_well_formed("Expected a place in a list")
    # Python refuses to read very long integers at all.
    digits = token.text.lstrip("0") or "0"
    if len(digits) > 10 or int(digits) > MAX_INT or (negative and digits != "0"):
        sign = "-" if negative else ""
        raise BadStatement(
            f"List index is not within the allowable range; index: [{sign}{digits}] at {token.at}"
        )
    return int(digits), after
