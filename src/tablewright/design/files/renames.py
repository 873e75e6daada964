"""Names in a design file that are nearly one that is known: the text with the known name in its place. Pure.

Must hold: only a name with one near neighbour is changed, and never to one that is there already; nothing else of the
text changes. Elsewhere: fields that templates name (review/name_fixes.py), values (edits.py).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from tablewright.design.files.errors import DesignFileRefused, Problem, place_of
from tablewright.design.files.lines import Steps
from tablewright.design.files.text import composed


@dataclass(frozen=True, slots=True)
class Renamed:
    """The text, and the problems that it no longer has."""

    text: str
    problems: tuple[Problem, ...]


def renamed(text: str, problems: Iterable[Problem]) -> Renamed:
    """The text with each unknown key that has a near name changed to that."""
    try:
        node = composed(text)
    except DesignFileRefused:
        # JSON that is indented with tabs, which YAML does not read.
        return Renamed(text, ())
    keys = {place_of(steps): (key, beside) for steps, key, beside in _keys(node, ())}
    done = [
        each
        for each in problems
        if each.instead and each.place in keys and each.instead not in keys[each.place][1]
    ]
    made = text
    for each in sorted(done, key=lambda one: keys[one.place][0].start_mark.index, reverse=True):
        key = keys[each.place][0]
        quote = key.style or ""
        made = f"{made[: key.start_mark.index]}{quote}{each.instead}{quote}{made[key.end_mark.index :]}"
    return Renamed(made, tuple(done))


def _keys(node: Any, steps: Steps) -> Iterator[tuple[Steps, Any, set[str]]]:
    """Each key of a document with its steps, its node and the keys of its object."""
    if isinstance(node, yaml.MappingNode):
        beside = {key.value for key, _ in node.value}
        for key, value in node.value:
            yield (*steps, key.value), key, beside
            yield from _keys(value, (*steps, key.value))
    elif isinstance(node, yaml.SequenceNode):
        for at, value in enumerate(node.value):
            yield from _keys(value, (*steps, at))
