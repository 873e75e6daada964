"""Updates twice: as the text of an UpdateExpression, and as a Python function from an item to the next.

Every right-hand side sees the item as it was; one update never touches an attribute twice.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st
from tests.properties.claims import Claim, written
from tests.properties.model import Refused, Shape
from tests.properties.plain import Item, Value, added, order, settled
from tests.properties.strategies import (
    HASHES,
    NUMBER_SETS,
    PLAIN,
    RANGES,
    SMALL_NUMBERS,
    TEXT_SETS,
    VALUES,
    attribute,
)

CHANGEABLE = (*HASHES, *RANGES, *PLAIN)


@dataclass(frozen=True)
class Edit:
    """What happens to one attribute: `after` gives its new value, or None where it is removed."""

    section: str
    text: str
    name: str
    values: tuple[Value, ...]
    after: Callable[[Item], Value | None] = field(repr=False)


@dataclass(frozen=True)
class Update:
    edits: tuple[Edit, ...]

    def applied(self, item: Item | None) -> Item | None:
        """The item after the update. Nothing has no attributes, and removing from nothing leaves nothing."""
        if item is None and all(edit.section in ("REMOVE", "DELETE") for edit in self.edits):
            return None
        old = item or {}
        after = {edit.name: edit.after(old) for edit in self.edits}
        kept = {name: value for name, value in old.items() if name not in after}
        return kept | {name: value for name, value in after.items() if value is not None}

    def written(self, first: int = 0) -> tuple[str, dict[str, Value]]:
        sections: dict[str, list[Edit]] = {}
        for edit in self.edits:
            sections.setdefault(edit.section, []).append(edit)
        text = " ".join(f"{name} {', '.join(e.text for e in edits)}" for name, edits in sections.items())
        values = tuple(value for edits in sections.values() for edit in edits for value in edit.values)
        return written(Claim(text, values, lambda item: True), first)


def updates(shape: Shape) -> st.SearchStrategy[Update]:
    names = st.lists(st.sampled_from(CHANGEABLE), unique=True, min_size=1, max_size=3)
    return names.flatmap(
        lambda some: st.tuples(*(edits(shape, name) for name in some)).map(lambda e: Update(tuple(e)))
    )


def edits(shape: Shape, name: str) -> st.SearchStrategy[Edit]:
    values = attribute(shape, name)
    always = st.one_of(values.map(lambda v: _set(name, v)), st.just(_remove(name)))
    others = st.sampled_from(CHANGEABLE)
    sets = st.one_of(TEXT_SETS, NUMBER_SETS)
    mixed = st.one_of(
        always,
        st.builds(lambda other, v: _set_if_missing(name, other, v), others, values),
        others.map(lambda other: Edit("SET", f"{name} = {other}", name, (), _copy(other))),
        st.builds(lambda other, n: _sum(name, other, n, "+"), others, SMALL_NUMBERS),
        st.builds(lambda other, n: _sum(name, other, n, "-"), others, SMALL_NUMBERS),
        st.builds(lambda other, vs: _append(name, other, vs), others, st.lists(VALUES, max_size=2)),
        st.one_of(SMALL_NUMBERS, sets).map(lambda v: _add(name, v)),
        sets.map(lambda v: _take_away(name, v)),
        # A path into a key of an index is a mistake of another kind, told before any condition is looked at.
        values.map(lambda v: _set_inside(name, v) if name in PLAIN else _set(name, v)),
    )
    # Most updates of a random item by a random operator are mistakes; keep those that cannot be in the majority.
    return st.integers(0, 2).flatmap(lambda n: mixed if n == 0 else always)


def _set(name: str, value: Value) -> Edit:
    return Edit("SET", f"{name} = ?", name, (value,), lambda item: settled(value))


def _remove(name: str) -> Edit:
    return Edit("REMOVE", name, name, (), lambda item: None)


def _set_if_missing(name: str, other: str, value: Value) -> Edit:
    text = f"{name} = if_not_exists({other}, ?)"
    return Edit("SET", text, name, (value,), lambda item: item.get(other, settled(value)))


def _copy(other: str) -> Callable[[Item], Value]:
    return lambda item: _there(item, other)


def _there(item: Item, name: str) -> Value:
    if name not in item:
        raise Refused
    return item[name]


def _sum(name: str, other: str, number: Value, sign: str) -> Edit:
    def after(item: Item) -> Value:
        return _number(_there(item, other), number, sign)

    return Edit("SET", f"{name} = {other} {sign} ?", name, (number,), after)


def _number(left: Value, right: Value, sign: str) -> Value:
    total = added(left["N"], right["N"], 1 if sign == "+" else -1) if "N" in left else None
    if total is None:
        raise Refused
    return {"N": total}


def _append(name: str, other: str, values: Sequence[Value]) -> Edit:
    def after(item: Item) -> Value:
        old = _there(item, other)
        if "L" not in old:
            raise Refused
        return {"L": old["L"] + [settled(value) for value in values]}

    return Edit("SET", f"{name} = list_append({other}, ?)", name, ({"L": list(values)},), after)


def _add(name: str, value: Value) -> Edit:
    ((kind, content),) = settled(value).items()

    def after(item: Item) -> Value:
        nothing: Value = {"N": "0"} if kind == "N" else {kind: []}
        old = item.get(name, nothing)
        if kind not in old:
            raise Refused
        return _number(old, value, "+") if kind == "N" else _set_of(kind, {*old[kind], *content})

    return Edit("ADD", f"{name} ?", name, (value,), after)


def _take_away(name: str, value: Value) -> Edit:
    ((kind, content),) = settled(value).items()

    def after(item: Item) -> Value | None:
        if name not in item:
            return None
        if kind not in item[name]:
            raise Refused
        left = {*item[name][kind]} - {*content}
        return _set_of(kind, left) if left else None

    return Edit("DELETE", f"{name} ?", name, (value,), after)


def _set_of(kind: str, members: set[str]) -> Value:
    return {kind: sorted(members, key=lambda member: order({kind[0]: member}))}


def _set_inside(name: str, value: Value) -> Edit:
    def after(item: Item) -> Value:
        if "M" not in item.get(name, {}):
            raise Refused
        return {"M": item[name]["M"] | {"xx": settled(value)}}

    return Edit("SET", f"{name}.xx = ?", name, (value,), after)
