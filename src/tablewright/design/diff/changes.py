"""One difference between two versions of a design, as a value, and how values are compared. Pure.

`needs` is what the change needs besides new code and `tablewright deploy apply`:
nothing     items and tables that are there stay right
backfill    an index is filled by the service, or attributes of existing items have to be written
new table   the key of existing items changes: a migration into another table
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, TypeAlias, TypeVar

from tablewright.design.environments import OnDemand
from tablewright.design.traits import States
from tablewright.english import lifetime

Needs: TypeAlias = Literal["nothing", "backfill", "new table"]
# attribute: one that is made from fields. key: one that is also part of a key.
Subject: TypeAlias = Literal[
    "table", "index", "vector index", "entity", "field", "attribute", "key", "pattern", "search", "retention",
    "setting", "alarm", "role",
]  # fmt: skip
ABSENT = "absent"

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Change:
    """`where` names the element: `jobs`, `jobs.ByState`, `jobs.job.PK`. `why`: what it means for existing items.

    `table` and `tag` are set where a migration or a backfill of them is needed; `attributes` are those to be
    written, of the type `letter`. `first` is what a migration needs before it can be written down."""

    subject: Subject
    where: str
    old: str
    new: str
    needs: Needs = "nothing"
    why: str = ""
    table: str = ""
    tag: str = ""
    attributes: tuple[str, ...] = ()
    letter: str = "S"
    first: str = ""


def pairs(old: Mapping[Name, Any], new: Mapping[Name, Any]) -> Iterator[tuple[Name, Any | None, Any | None]]:
    """Elements by name, with None where one side lacks it; those of the old version first."""
    for name in dict.fromkeys((*old, *new)):
        yield name, old.get(name), new.get(name)


def text(value: object) -> str:
    """A value in plain words, under the names that a design file has for its parts."""
    if value is None or value in ((), [], {}, frozenset()):
        return "none"
    match value:
        case bool():
            return "yes" if value else "no"
        case Decimal():
            return f"{value.normalize():f}"
        case timedelta():
            return lifetime(value)
        case Enum():
            return str(value.value)
        case OnDemand():
            return "on demand"
        case States():
            return _states(value)
        case Mapping():
            return ", ".join(f"{name}: {_inner(each)}" for name, each in value.items())
        case tuple() | list() | set() | frozenset():
            return ", ".join(map(_inner, value))
    if is_dataclass(value):
        return text(
            {each.name: found for each in fields(value) if (found := getattr(value, each.name)) is not None}
        )
    return str(value)


def _inner(value: object) -> str:
    """A value inside of another: in parentheses if it has parts."""
    has_parts = isinstance(value, Mapping | tuple | list | set | frozenset) or is_dataclass(value)
    return f"({text(value)})" if has_parts and value else text(value)


def _states(states: States) -> str:
    moves = [
        f"{start} to {end} by {' or '.join(actors)}"
        for start, ends in states.moves.items()
        for end, actors in ends.items()
    ]
    overrides = [f"any by {' or '.join(states.overrides)}"] if states.overrides else []
    return "; ".join([f"{states.field} starts as {states.start}", *moves, *overrides])
