"""Entities, the indexes they are in, and the patterns that read each: three columns with lines between them. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tablewright.app.pictures.canvas import (
    LETTER,
    Link,
    Picture,
    Target,
    hint,
    hue,
    linked,
    longest,
    no_links,
)
from tablewright.design import Design, Index, Table, VectorIndex
from tablewright.pages.charts import element, text

_HIGH, _STEP, _TOP, _GAP, _SIDE = 28, 36, 34, 84, 1


@dataclass(frozen=True, slots=True)
class Node:
    """A box: its name, what a pointer shows, where it leads, and a class for its colour."""

    name: str
    words: str
    kind: str
    target: Target | None = None


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes by column, and edges between neighbours: a place in the left one, a place in the right one, a class."""

    columns: tuple[tuple[Node, ...], ...]
    edges: tuple[tuple[tuple[int, int, str], ...], ...]


def graph_of(design: Design, table: Table) -> Graph:
    """The table and its indexes between its entities and its patterns; patterns in the order of what they read."""
    shapes = [shape for shape in design.shapes if shape.table == table]
    indexes: list[Index | VectorIndex | None] = [None]
    indexes += [index for index in design.indexes if index.table == table]
    indexes += [index for index in design.vectors if index.table == table]
    reads: list[tuple[int, Node]] = []
    for place, index in enumerate(indexes):
        plans = [plan for plan in design.plans if plan.table == table and plan.index == index]
        reads += [(place, Node(plan.name, plan.about or plan.name, "p-box", "patterns")) for plan in plans]
        searches = [plan for plan in design.searches if plan.index == index]
        reads += [(place, Node(plan.name, plan.about or plan.name, "p-box")) for plan in searches]
    read = {place for place, _ in reads}
    stored = [
        (at, place, _hue(place))
        for at, shape in enumerate(shapes)
        for place, index in enumerate(indexes)
        if index is None
        or (isinstance(index, Index) and index in shape.on)
        or _has_vector(shape.stored, index)
    ]
    middle = tuple(_node(table, index, place, place in read) for place, index in enumerate(indexes))
    left = tuple(Node(shape.tag, shape.about or shape.tag, "p-box", "entities") for shape in shapes)
    right = tuple(node for _, node in reads)
    edges = tuple((place, at, _hue(place)) for at, (place, _) in enumerate(reads))
    return Graph((left, middle, right), (tuple(stored), edges))


def _has_vector(stored: object, index: Index | VectorIndex) -> bool:
    return isinstance(index, VectorIndex) and isinstance(stored, dict) and index.of in stored


def _hue(place: int) -> str:
    """Of the table none: every entity is in it."""
    return hue(place - 1) if place else ""


def _node(table: Table, index: Index | VectorIndex | None, place: int, is_read: bool) -> Node:
    if index is None:
        return Node(table.name, f"the table: {', '.join(table.key_names)}", "p-box")
    keys = ", ".join(index.key_names) if isinstance(index, Index) else f"vectors of {index.of}"
    dashes = "" if is_read else " p-unread"
    return Node(
        index.name, f"{keys}{'' if is_read else '; no pattern reads it'}", f"p-soft {_hue(place)}{dashes}"
    )


# --- as a picture ---


def entity_map(design: Design, table: Table, *, name: str, link: Link = no_links) -> Picture:
    graph = graph_of(design, table)
    widths = [round(longest(node.name for node in column) * LETTER) + 24 for column in graph.columns]
    lefts = [_SIDE, _SIDE + widths[0] + _GAP, _SIDE + sum(widths[:2]) + 2 * _GAP]
    rows = max(map(len, graph.columns))
    tops = [_tops(len(column), rows) for column in graph.columns]
    parts: list[Markup] = []
    for side, edges in enumerate(graph.edges):
        ends = (lefts[side] + widths[side], lefts[side + 1])
        parts += [_edge(ends, tops[side][one], tops[side + 1][other], kind) for one, other, kind in edges]
    for heading, x in zip(("Entities", "Table and indexes", "Patterns"), lefts, strict=True):
        parts.append(text("p-note", x, 14, heading))
    for column, x, wide, places in zip(graph.columns, lefts, widths, tops, strict=True):
        parts += [_box(node, x, y, wide, link) for node, y in zip(column, places, strict=True)]
    width, height = lefts[2] + widths[2] + _SIDE, _TOP + rows * _STEP - (_STEP - _HIGH) + 4
    title = f"Entities, indexes and patterns of {table.name}"
    return Picture(name, title, " ".join(_sentences(graph)), width, height, tuple(parts))


def _tops(count: int, rows: int) -> Sequence[float]:
    """Where the boxes of a column begin: as far apart as the height allows."""
    step = (rows * _STEP) / max(count, 1)
    return [_TOP + step * place + (step - _STEP) / 2 for place in range(count)]


def _box(node: Node, x: float, y: float, wide: float, link: Link) -> Markup:
    box = element("rect", kind=node.kind, x=x, y=y, width=wide, height=_HIGH, rx=6)
    words = text("p-name", x + 12, y + _HIGH / 2 + 4.5, node.name)
    href = link(node.target, node.name) if node.target else ""
    return element("g", hint(f"{node.name}: {node.words}"), box, linked(href, words))


def _edge(ends: tuple[float, float], one: float, other: float, kind: str) -> Markup:
    (x1, x2), y1, y2 = ends, one + _HIGH / 2, other + _HIGH / 2
    half = (x1 + x2) / 2
    return element(
        "path",
        kind=f"p-wire {kind}".strip(),
        d=f"M{x1:g} {y1:.1f}C{half:g} {y1:.1f} {half:g} {y2:.1f} {x2:g} {y2:.1f}",
    )


def _sentences(graph: Graph) -> Iterator[str]:
    left, middle, right = graph.columns
    stored, read = graph.edges
    for place, node in enumerate(middle):
        holds = ", ".join(left[at].name for at, to, _ in stored if to == place) or "no entity"
        by = ", ".join(right[to].name for at, to, _ in read if at == place) or "no pattern"
        yield f"{node.name} holds {holds} and is read by {by}."
