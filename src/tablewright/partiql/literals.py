"""Literals and parameters to attribute values, each admitted by the one gate of all values.

A mistake inside a literal is told with the way to it: `under root.x[1]`. A parameter stands for a whole value and
is not taken inside a literal.
"""

from collections.abc import Sequence

from tablewright.partiql.errors import BadStatement
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
from tablewright.values import BadValue, Item, Value, admit
from tablewright.values.codec import MAX_CONTAINERS

ROOT = "root"
MISCOUNTED = "Number of parameters in request and statement don't match."
EMPTY_BAG = "Empty bags are not supported"
MIXED_BAG = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"
TOO_DEEP = "Nesting Levels have exceeded supported limits"

_UNSUPPORTED = {Attribute: "VariableReference", Parameter: "Parameter", Star: "*"}


def is_literal(term: Term) -> bool:
    return isinstance(term, Constant | Parameter | Listing | Bag | Structure)


def value_of(term: Term, parameters: Sequence[Value]) -> Value:
    """The value of a literal, or of a parameter, which has been admitted already."""
    if isinstance(term, Parameter):
        return parameters[term.number]
    return _value(term, ROOT, 0)


def item_of(item: Structure, parameters: Sequence[Value]) -> Item:
    return {name: value_of(member, parameters) for name, member in item.members}


def _value(term: Term, way: str, depth: int) -> Value:
    match term:
        case Constant("N", content):
            return _number(str(content), way)
        case Constant(kind, content):
            return admit({kind: content})[0]
        case Listing(members):
            _refuse_depth(way, depth, members)
            return {"L": [_value(one, f"{way}[{place}]", depth + 1) for place, one in enumerate(members)]}
        case Structure(members):
            _refuse_depth(way, depth, members)
            return {"M": {name: _value(one, f"{way}.{name}", depth + 1) for name, one in members}}
        case Bag(members):
            return _set(members, way)
        case _:
            what = term.name if isinstance(term, Function) else _UNSUPPORTED.get(type(term), "")
            what = term.op if isinstance(term, Operation) else what
            raise BadStatement(f"Unsupported data type: {what} under key {way} at {term.at}")


def _refuse_depth(way: str, depth: int, members: Sequence[object]) -> None:
    if depth >= MAX_CONTAINERS:
        first = members[0] if members else None
        member = f".{first[0]}" if isinstance(first, tuple) else "[0]" if members else ""
        raise BadStatement(f"{TOO_DEEP} under {way}{member}")


def _number(text: str, way: str) -> Value:
    try:
        return admit({"N": text})[0]
    except BadValue as bad:
        raise BadStatement(f"{bad} under {way}") from None


def _set(members: Sequence[Term], way: str) -> Value:
    if not members:
        raise BadStatement(EMPTY_BAG)
    constants = [member for member in members if isinstance(member, Constant)]
    kinds = {constant.kind for constant in constants}
    if len(constants) != len(members) or not (kinds == {"S"} or kinds == {"N"}):
        raise BadStatement(MIXED_BAG)
    texts = [str(constant.content) for constant in constants]
    if kinds == {"S"}:
        return admit({"SS": texts})[0]
    numbers = [_number(text, way)["N"] for text in texts]
    if len(set(numbers)) != len(numbers):
        raise BadStatement(
            "One or more parameter values were invalid: "
            f"Input collection [{', '.join(texts)}] contains duplicates! under {way}"
        )
    return admit({"NS": numbers})[0]
