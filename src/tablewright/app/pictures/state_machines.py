"""A state machine as a picture: states in rows, moves as arcs, forward above and back below. Pure.

Must hold: a picture is not wider than a page; states that do not fit go on in the next row.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tablewright.app.pictures.canvas import LETTER, Picture, hint
from tablewright.design import States
from tablewright.pages.charts import element, text

_HIGH, _GAP, _SIDE = 38, 44, 10
_WIDEST, _BETWEEN = 880, 64


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the box of a state is: the `at`-th of a row."""

    row: int
    at: int
    x: float
    y: float
    wide: float

    @property
    def floor(self) -> float:
        return self.y + _HIGH


def state_machine(states: States, *, entity: str, name: str) -> Picture:
    """The machine; who may make a move is shown by a pointer, and in the sentence."""
    names = states.states
    moves = [(start, end, actors) for start, ends in states.moves.items() for end, actors in ends.items()]
    places, height = _places(_rows(names), [(start, end) for start, end, _ in moves])
    about = "; ".join(
        f"{start} to {end}{f' by {_listed(actors)}' if actors else ''}" for start, end, actors in moves
    )
    parts = [
        _move(places[start], places[end], f"{start} to {end}: {_listed(actors) or 'no actor'}")
        for start, end, actors in moves
        if start != end
    ]
    ends = {each for each in names if not states.moves.get(each)}
    parts += [_box(each, places[each], each == states.start, each in ends) for each in names]
    width = max(each.x + each.wide for each in places.values()) + _SIDE
    title = f"States of {entity}: {states.field}"
    return Picture(name, title, f"{about or names[0]}.", width, height, tuple(parts))


def _listed(actors: tuple[str, ...]) -> str:
    return " or ".join(actors)


# --- where the boxes are ---


def _wide(name: str) -> int:
    return max(round(len(name) * LETTER) + 26, 76)


def _rows(names: Sequence[str]) -> list[list[str]]:
    """The states in their order, as many in a row as fit."""
    rows: list[list[str]] = [[]]
    x = _SIDE
    for name in names:
        if rows[-1] and x + _wide(name) > _WIDEST - _SIDE:
            rows.append([])
            x = _SIDE
        rows[-1].append(name)
        x += _wide(name) + _GAP
    return rows


def _places(rows: list[list[str]], moves: Sequence[tuple[str, str]]) -> tuple[dict[str, _Place], float]:
    """The place of each state, and the height of the picture. A row has room for its arches."""
    places: dict[str, _Place] = {}
    y = float(_SIDE)
    for row, names in enumerate(rows):
        spans = list(_spans(names, moves))
        y += _arch(max((span for span in spans if span > 1), default=0)) + (_BETWEEN if row else 0)
        x = float(_SIDE)
        for at, name in enumerate(names):
            places[name] = _Place(row, at, x, y, _wide(name))
            x += _wide(name) + _GAP
        y += _HIGH + _arch(max((-span for span in spans if span < 0), default=0))
    return places, y + _SIDE


def _spans(names: Sequence[str], moves: Sequence[tuple[str, str]]) -> Iterator[int]:
    """How far each move inside of a row goes; below 0 for one back."""
    order: Mapping[str, int] = {name: at for at, name in enumerate(names)}
    yield from (order[end] - order[start] for start, end in moves if start in order and end in order)


def _arch(span: int) -> int:
    return 16 + 18 * span if span else 0


# --- what is drawn ---


def _box(name: str, place: _Place, is_start: bool, is_end: bool) -> Markup:
    x, y, wide = place.x, place.y, place.wide
    kind = "p-start" if is_start else "p-frame"
    boxes = [element("rect", kind=kind, x=x, y=y, width=wide, height=_HIGH, rx=8)]
    if is_end:  # a second border: nothing leads out of it
        boxes.append(element("rect", kind=kind, x=x + 3.5, y=y + 3.5, width=wide - 7, height=_HIGH - 7, rx=5))
    note = "the start" if is_start else "an end" if is_end else "a state"
    words = text("p-name", x + wide / 2, y + _HIGH / 2 + 4.5, name, "middle")
    return element("g", hint(f"{name}: {note}"), *boxes, words)


def _move(start: _Place, end: _Place, words: str) -> Markup:
    if start.row != end.row:
        return _between_rows(start, end, words)
    span = end.at - start.at
    if span == 1:
        y = start.y + _HIGH / 2
        return _line(
            f"M{start.x + start.wide:g} {y:g}H{end.x - 7:g}", f"M{end.x - 1:g} {y:g}l-8 -4.5v9z", words
        )
    # Over others: an arch above for a move forward, from the right part of one box to the left part of the other;
    # below for one back.
    if span > 1:
        x1, x2, lift = start.x + start.wide * 0.66, end.x + end.wide * 0.34, start.y - _arch(span)
        return _down(f"M{x1:g} {start.y:g}C{x1:g} {lift:g} {x2:g} {lift:g}", x2, end.y, words)
    x1, x2, sink = start.x + start.wide * 0.34, end.x + end.wide * 0.66, start.floor + _arch(-span)
    return _up(f"M{x1:g} {start.floor:g}C{x1:g} {sink:g} {x2:g} {sink:g}", x2, end.floor, words)


def _between_rows(start: _Place, end: _Place, words: str) -> Markup:
    """A move down leaves and arrives right of the middle, one up left of it, so that a pair of them are two lines."""
    bend = _BETWEEN * 0.75
    if end.row > start.row:
        x1, x2 = start.x + start.wide * 0.56, end.x + end.wide * 0.56
        path = f"M{x1:g} {start.floor:g}C{x1:g} {start.floor + bend:g} {x2:g} {end.y - bend:g}"
        return _down(path, x2, end.y, words)
    x1, x2 = start.x + start.wide * 0.44, end.x + end.wide * 0.44
    path = f"M{x1:g} {start.y:g}C{x1:g} {start.y - bend:g} {x2:g} {end.floor + bend:g}"
    return _up(path, x2, end.floor, words)


def _down(path: str, x: float, y: float, words: str) -> Markup:
    """A line whose tip comes from above."""
    return _line(f"{path} {x:g} {y - 7:g}", f"M{x:g} {y - 1:g}l-4.5 -8h9z", words)


def _up(path: str, x: float, y: float, words: str) -> Markup:
    return _line(f"{path} {x:g} {y + 7:g}", f"M{x:g} {y + 1:g}l-4.5 8h9z", words)


def _line(path: str, tip: str, words: str) -> Markup:
    drawn = (element("path", kind="p-edge", d=path), element("path", kind="p-tip", d=tip))
    return element("g", hint(words), *drawn)
