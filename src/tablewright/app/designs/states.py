"""A state machine as a small picture: states in a row, moves as arcs, forward above and back below. Pure."""

from markupsafe import Markup

from tablewright.design import States

_WIDE, _HIGH, _GAP, _SIDE = 118, 38, 62, 14
_STEP = _WIDE + _GAP


def state_diagram(states: States) -> Markup:
    """The machine as inline SVG. The table beside it says the same in words."""
    names = states.states
    moves = [(start, end) for start, ends in states.moves.items() for end in ends]
    rise = _arch(max((abs(_span(names, *move)) for move in moves if _span(names, *move) > 1), default=0))
    fall = _arch(max((abs(_span(names, *move)) for move in moves if _span(names, *move) < 0), default=0))
    top = _SIDE + rise
    width = len(names) * _STEP - _GAP + 2 * _SIDE
    height = top + _HIGH + fall + _SIDE
    about = "; ".join(f"{start} to {end}" for start, end in moves)
    parts = [
        Markup(
            '<svg class="states" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" aria-label="States: {2}">'
        ).format(width, height, about or names[0])
    ]
    parts += [_move(names, start, end, top) for start, end in moves]
    parts += [_box(name, place, top, name == states.start) for place, name in enumerate(names)]
    return Markup("").join([*parts, Markup("</svg>")])


def _span(names: tuple[str, ...], start: str, end: str) -> int:
    return names.index(end) - names.index(start)


def _arch(span: int) -> int:
    return 14 + 17 * span if span else 0


def _box(name: str, place: int, top: int, is_start: bool) -> Markup:
    x = _SIDE + place * _STEP
    return Markup(
        '<rect class="state-box{}" x="{}" y="{}" width="{}" height="{}" rx="8"/>'
        '<text class="state-name" x="{}" y="{}" text-anchor="middle">{}</text>'
    ).format(" start" if is_start else "", x, top, _WIDE, _HIGH, x + _WIDE / 2, top + _HIGH / 2 + 4.5, name)


def _move(names: tuple[str, ...], start: str, end: str, top: int) -> Markup:
    span = _span(names, start, end)
    left = _SIDE + names.index(start) * _STEP
    right = _SIDE + names.index(end) * _STEP
    if span == 1:
        y = top + _HIGH / 2
        return _line(f"M{left + _WIDE} {y}H{right - 7}", right - 1, y, "right")
    if span == 0:
        return Markup("")
    if span > 1:
        # Forward over others: an arch above, from the right part of one box to the left part of the other.
        x1, x2, lift = left + _WIDE * 0.66, right + _WIDE * 0.34, top - _arch(span)
        return _line(f"M{x1:g} {top}C{x1:g} {lift} {x2:g} {lift} {x2:g} {top - 7}", x2, top - 1, "down")
    x1, x2, sink = left + _WIDE * 0.34, right + _WIDE * 0.66, top + _HIGH + _arch(-span)
    floor = top + _HIGH
    return _line(f"M{x1:g} {floor}C{x1:g} {sink} {x2:g} {sink} {x2:g} {floor + 7}", x2, floor + 1, "up")


def _line(path: str, x: float, y: float, points: str) -> Markup:
    tips = {
        "right": f"M{x:g} {y:g}l-8 -4.5v9z",
        "down": f"M{x:g} {y:g}l-4.5 -8h9z",
        "up": f"M{x:g} {y:g}l-4.5 8h9z",
    }
    return Markup('<path class="state-move" d="{}"/><path class="state-tip" d="{}"/>').format(
        path, tips[points]
    )
