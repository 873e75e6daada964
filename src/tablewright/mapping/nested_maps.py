"""The maps that nested steps need around them, and which of them may begin empty. Pure.

DynamoDB refuses `SET stats.today = :x` where there is no `stats`. Must hold: a parent is made only where the item
still fits its model afterwards: a dict, or a model whose required fields are all set by the same write. A list and
its entries are never made: what the other entries should be is unknown.
"""

from collections.abc import Iterator
from typing import Any

from tablewright.design.attributes import AttributeKind, attributes, kind_of, without_none
from tablewright.design.requests import Write
from tablewright.expressions import Path


def parents(write: Write[Any]) -> list[Path]:
    """The paths of maps that may begin empty, outermost first, each once."""
    found = {
        step.path.steps[:depth]: kind
        for step in write.steps
        for depth, kind in enumerate(_kinds(write, step.path.steps[:-1]), start=1)
    }
    return [
        path for path, kind in sorted(found.items(), key=lambda pair: len(pair[0])) if _may(write, path, kind)
    ]


def _kinds(write: Write[Any], path: Path) -> Iterator[AttributeKind]:
    """How each parent along a path is stored."""
    if not path:
        return
    kind = write.shape.stored[str(path[0])].kind
    yield kind
    for name in path[1:]:
        if kind.model is not None:
            kind = next(a.kind for a in attributes(kind.model) if a.stored == name)
        else:
            kind = kind_of(without_none(kind.members)[0], write.name)
        yield kind


def _may(write: Write[Any], path: Path, kind: AttributeKind) -> bool:
    if kind.letter != "M" or isinstance(path[-1], int):
        return False
    if kind.model is None:
        return True
    given = {
        step.path.steps[len(path)]
        for step in write.steps
        if step.path.steps[: len(path)] == path and step.op not in ("remove", "exclude")
    }
    fields = kind.model.model_fields
    required = {
        a.stored
        for a in attributes(kind.model)
        # What may be None, and a set, is read back from its absence.
        if fields[a.field].is_required() and not a.optional and a.kind.letter not in ("SS", "NS", "BS")
    }
    return required <= given
