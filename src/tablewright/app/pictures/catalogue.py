"""Every picture of a design, by the name of its file; each is drawn when it is asked for. Pure."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from tablewright.app.pictures.canvas import Link, Picture
from tablewright.app.pictures.entity_map import entity_map
from tablewright.app.pictures.item_collections import item_collections
from tablewright.app.pictures.key_anatomy import key_anatomy
from tablewright.app.pictures.pattern_matrix import pattern_matrix
from tablewright.app.pictures.state_machines import state_machine
from tablewright.design import Design

Kind: TypeAlias = Literal["collections", "map", "matrix", "states", "keys"]
# Each kind with its title and a sentence that says how to read it.
KINDS: dict[Kind, tuple[str, str]] = {
    "collections": (
        "Item collections",
        "Each frame is one kind of partition; its bands are what it holds, in the order of the sort key. A column of "
        "dots is a pattern: a round dot for a query, a square for a read of one item.",
    ),
    "map": (
        "Entities, indexes, patterns",
        "Which entities are in the table and in each index, and which patterns read them. What no pattern reads has a "
        "dashed border.",
    ),
    "matrix": (
        "Patterns by index",
        "What each pattern reads, and how: one item, all of a partition, those with a prefix, a range. An arrow: "
        "the last come first.",
    ),
    "states": ("State machines", "The start is in colour; moves forward are above, moves back below."),
    "keys": ("Key anatomy", "Which part of a key comes from which field, and how it is written."),
}


@dataclass(frozen=True, slots=True)
class DesignPicture:
    """A picture that can be drawn. `table` groups those of a kind, `choice` is what tells it from its neighbours."""

    kind: Kind
    name: str
    table: str
    choice: str
    draw: Callable[[Link], Picture]


def pictures_of(design: Design) -> tuple[DesignPicture, ...]:
    """All of them, by kind."""
    return tuple(each for kind in KINDS for each in _every(design) if each.kind == kind)


def _every(design: Design) -> Iterator[DesignPicture]:
    for table in design.tables.values():
        own = partial(_named, design.name, table.name)
        for index in (None, *(index for index in design.indexes if index.table == table)):
            name = own("collections", index.name if index else "")
            choice = index.name if index else "the table"
            draw = partial(item_collections, design, table, index, name=name)
            yield DesignPicture("collections", name, table.name, choice, _with_links(draw))
        name = own("map")
        yield DesignPicture(
            "map", name, table.name, table.name, _with_links(partial(entity_map, design, table, name=name))
        )
        name = own("matrix")
        drawn = partial(pattern_matrix, design, table, name=name)
        yield DesignPicture("matrix", name, table.name, table.name, _with_links(drawn))
    for shape in design.shapes:
        name = _named(design.name, shape.table.name, "keys", shape.tag)
        keys = partial(key_anatomy, shape, name=name)
        yield DesignPicture("keys", name, shape.table.name, shape.tag, _without_links(keys))
        if shape.states is not None:
            name = _named(design.name, shape.table.name, "states", shape.tag)
            machine = partial(state_machine, shape.states, entity=shape.tag, name=name)
            yield DesignPicture("states", name, shape.table.name, shape.tag, _without_links(machine))


def _with_links(draw: Callable[..., Picture]) -> Callable[[Link], Picture]:
    return lambda link: draw(link=link)


def _without_links(draw: Callable[[], Picture]) -> Callable[[Link], Picture]:
    return lambda _: draw()


def _named(design: str, table: str, *words: str) -> str:
    """A file name that every system takes; the table's is left out where it repeats the design's."""
    kept = [design, *([table] if table != design else []), *filter(None, words)]
    return re.sub(r"[^\w.-]+", "-", "-".join(kept))
