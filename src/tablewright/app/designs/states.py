"""A state machine as a small picture: states in a row, moves as arcs, forward above and back below. Pure."""

from markupsafe import Markup

from tablewright.design import States
from tablewright.pages.charts import element, svg, text

_WIDE, _HIGH, _GAP, _SIDE = 118, 38, 62, 14
_STEP = _WIDE + _GAP


def state_diagram(states: States) -> Markup:
    """The machine as inline SVG. The table beside it says the same in words."""
    names = states.states
    moves = [(start, end) for start, ends in states.moves.items() for end in ends]
    spans = [names.index(end) - names.index(start) for start, end in moves]
    top = _SIDE + _arch(max((span for span in spans if span > 1), default=0))
    width = len(names) * _STEP - _GAP + 2 * _SIDE
    height = top + _HIGH + _arch(max((-span for span in spans if span < 0), default=0)) + _SIDE
    about = "; ".join(f"{start} to {end}" for start, end in moves)
    parts = [_move(names.index(start), span, top) for (start, _), span in zip(moves, spans, strict=True)]
    parts += [_box(name, place, top, name == states.start) for place, name in enumerate(names)]
    return svg(width, height, f"States: {about or names[0]}", parts, "states", width=width, height=height)


def _arch(span: int) -> int:
    return 14 + 17 * span if span else 0


def _box(name: str, place: int, top: int, is_start: bool) -> Markup:
    x = _SIDE + place * _STEP
    kind = "state-box start" if is_start else "state-box"
    box = element("rect", kind=kind, x=x, y=top, width=_WIDE, height=_HIGH, rx=8)
    return box + text("state-name", x + _WIDE / 2, top + _HIGH / 2 + 4.5, name, "middle")


def _move(start: int, span: int, top: int) -> Markup:
    left, floor = _SIDE + start * _STEP, top + _HIGH
    right = left + span * _STEP
    if span == 0:
        return Markup("")
    if span == 1:
        y = top + _HIGH / 2
        return _line(f"M{left + _WIDE} {y}H{right - 7}", f"M{right - 1:g} {y:g}l-8 -4.5v9z")
    # Over others: an arch above for a move forward, from the right part of one box to the left part of the other;
    # below for one back.
    if span > 1:
        x1, x2, lift = left + _WIDE * 0.66, right + _WIDE * 0.34, top - _arch(span)
        path = f"M{x1:g} {top}C{x1:g} {lift} {x2:g} {lift} {x2:g} {top - 7}"
        return _line(path, f"M{x2:g} {top - 1:g}l-4.5 -8h9z")
    x1, x2, sink = left + _WIDE * 0.34, right + _WIDE * 0.66, floor + _arch(-span)
    path = f"M{x1:g} {floor}C{x1:g} {sink} {x2:g} {sink} {x2:g} {floor + 7}"
    return _line(path, f"M{x2:g} {floor + 1:g}l-4.5 8h9z")


def _line(path: str, tip: str) -> Markup:
    return element("path", kind="state-move", d=path) + element("path", kind="state-tip", d=tip)
