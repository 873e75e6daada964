"""A box on the map: between two parallels and two meridians.

A box with west > east crosses the line of 180 degrees (Fiji: west 177, east -178). Edges belong to the box, and 180 and
-180 are the same meridian. The map is flat at the poles: a box that reaches 90 does not touch every other that does.
Elsewhere: the grid that finds candidates (cells.py), the border itself (borders.py).
"""

from dataclasses import dataclass
from math import isfinite

Span = tuple[float, float]


class BoxMistake(ValueError):
    """A box that is not on the map."""


@dataclass(frozen=True, slots=True)
class Box:
    """Degrees. Equal edges are allowed: a line, or a point."""

    north: float
    south: float
    east: float
    west: float

    def __post_init__(self) -> None:
        for name, value, limit in (
            ("north", self.north, 90),
            ("south", self.south, 90),
            ("east", self.east, 180),
            ("west", self.west, 180),
        ):
            if not isfinite(value) or abs(value) > limit:
                raise BoxMistake(f"{name} is {value}: give degrees from -{limit} to {limit}")
        if self.south > self.north:
            raise BoxMistake(f"south {self.south} is north of north {self.north}: swap them")


def spans(box: Box) -> tuple[Span, ...]:
    """The box's longitudes as ranges that do not cross 180 degrees; the line itself is given from both sides."""
    whole = [(box.west, box.east)] if box.west <= box.east else [(box.west, 180.0), (-180.0, box.east)]
    if any(east == 180 for _, east in whole):
        whole.append((-180.0, -180.0))
    if any(west == -180 for west, _ in whole):
        whole.append((180.0, 180.0))
    return tuple(dict.fromkeys(whole))
