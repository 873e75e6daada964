"""Conditions twice: as the text the engine reads, and as a Python function over an item.

A question mark in the text stands for the next of the claim's values.
"""

import operator
from base64 import b64decode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from hypothesis import strategies as st
from tests.properties.plain import Item, Value, length, order, settled
from tests.properties.strategies import SCALARS, SMALL_NUMBERS, VALUES

ORDERED = ("S", "N", "B")
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Claim:
    text: str
    values: tuple[Value, ...]
    holds: Callable[[Item], bool] = field(repr=False)


ALWAYS = Claim("", (), lambda item: True)


def written(claim: Claim, first: int = 0) -> tuple[str, dict[str, Value]]:
    """The expression with placeholders numbered from `first`, and their values."""
    parts = claim.text.split("?")
    names = [f":v{first + place}" for place in range(len(claim.values))]
    text = "".join(part + name for part, name in zip(parts, [*names, ""], strict=True))
    return text, dict(zip(names, claim.values, strict=True))


def claims(names: Sequence[str]) -> st.SearchStrategy[Claim]:
    """Conditions on some attributes, joined by NOT, AND and OR."""
    return _claims(tuple(names))


# Tests ask for them while they draw: to make the strategies anew for every draw was half of their time.
@cache
def _claims(names: tuple[str, ...]) -> st.SearchStrategy[Claim]:
    return st.recursive(st.sampled_from(names).flatmap(simple_claims), _joined, max_leaves=4)


def _joined(inner: st.SearchStrategy[Claim]) -> st.SearchStrategy[Claim]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        inner.map(lambda c: Claim(f"NOT ({c.text})", c.values, lambda i: not c.holds(i))),
        pairs.map(
            lambda p: Claim(
                f"({p[0].text}) AND ({p[1].text})",
                p[0].values + p[1].values,
                lambda i: p[0].holds(i) and p[1].holds(i),
            )
        ),
        pairs.map(
            lambda p: Claim(
                f"({p[0].text}) OR ({p[1].text})",
                p[0].values + p[1].values,
                lambda i: p[0].holds(i) or p[1].holds(i),
            )
        ),
    )


@cache
def simple_claims(name: str) -> st.SearchStrategy[Claim]:
    return st.one_of(
        st.just(Claim(f"attribute_exists({name})", (), lambda i: name in i)),
        st.just(Claim(f"attribute_not_exists({name})", (), lambda i: name not in i)),
        VALUES.map(lambda v: Claim(f"{name} = ?", (v,), lambda i: i.get(name) == settled(v))),
        VALUES.map(lambda v: Claim(f"{name} <> ?", (v,), lambda i: i.get(name) != settled(v))),
        st.builds(
            lambda sign, v: _compared(name, sign, v), st.sampled_from(sorted(COMPARISONS)), _sortable()
        ),
        st.lists(SCALARS, min_size=1, max_size=3).map(lambda vs: _among(name, vs)),
        SMALL_NUMBERS.flatmap(lambda a: SMALL_NUMBERS.map(lambda b: between(name, a, b))),
        st.sampled_from([{"S": ""}, {"S": "a"}, {"B": "AA=="}]).map(lambda v: begins_with(name, v)),
        st.one_of(SCALARS, SMALL_NUMBERS).map(lambda v: _contains(name, v)),
        st.builds(
            lambda sign, n: _sized(name, sign, n), st.sampled_from(sorted(COMPARISONS)), st.integers(0, 4)
        ),
        st.sampled_from(["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"]).map(
            lambda k: Claim(f"attribute_type({name}, ?)", ({"S": k},), lambda i: k in i.get(name, {}))
        ),
    )


def _sortable() -> st.SearchStrategy[Value]:
    return SCALARS.filter(lambda value: next(iter(value)) in ORDERED)


def same_kind(left: Value | None, right: Value) -> bool:
    return left is not None and left.keys() == right.keys()


def _compared(name: str, sign: str, value: Value) -> Claim:
    def holds(item: Item) -> bool:
        return same_kind(item.get(name), value) and COMPARISONS[sign](order(item[name]), order(value))

    return Claim(f"{name} {sign} ?", (value,), holds)


def between(name: str, one: Value, other: Value) -> Claim:
    low, high = sorted((one, other), key=order)

    def holds(item: Item) -> bool:
        return same_kind(item.get(name), low) and order(low) <= order(item[name]) <= order(high)

    return Claim(f"{name} BETWEEN ? AND ?", (low, high), holds)


def begins_with(name: str, start: Value) -> Claim:
    def holds(item: Item) -> bool:
        return same_kind(item.get(name), start) and order(item[name]).startswith(order(start))

    return Claim(f"begins_with({name}, ?)", (start,), holds)


def _among(name: str, values: Sequence[Value]) -> Claim:
    marks = ", ".join("?" for _ in values)
    found = [settled(value) for value in values]
    return Claim(f"{name} IN ({marks})", tuple(values), lambda i: i.get(name) in found)


def _contains(name: str, wanted: Value) -> Claim:
    ((kind, content),) = settled(wanted).items()

    def holds(item: Item) -> bool:
        ((there, held),) = item.get(name, {"NULL": True}).items()
        if there == "L":
            return settled(wanted) in held
        if there in ("SS", "NS", "BS"):
            return there == kind + "S" and content in held
        if there == kind == "B":
            return b64decode(content) in b64decode(held)
        return there == kind == "S" and content in held

    return Claim(f"contains({name}, ?)", (wanted,), holds)


def _sized(name: str, sign: str, count: int) -> Claim:
    def holds(item: Item) -> bool:
        found = length(item[name]) if name in item else None
        return found is not None and COMPARISONS[sign](found, count)

    return Claim(f"size({name}) {sign} ?", ({"N": str(count)},), holds)
