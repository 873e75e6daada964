"""Lowest and highest values ever seen, kept right by conditions. Pure.

DynamoDB has no min() or max(): a tracker is set only under the condition that it moves, and left alone under the
condition that it does not. Which of the two is known from the item that a refusal returns.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tablewright.design.requests import Step, Write
from tablewright.expressions.build import attribute_not_exists
from tablewright.expressions.nodes import Compare, Condition, Or
from tablewright.values import Value, compare

_TRACKERS = ("lowest", "highest")


def has_trackers(write: Write[Any]) -> bool:
    return any(step.op in _TRACKERS for step in write.steps)


def resolve_trackers(write: Write[Any], found: Mapping[str, Value] | None) -> Write[Any]:
    """The write with its trackers decided by an item, each under the condition that the decision is right."""
    steps: list[Step] = []
    conditions: list[Condition] = []
    for step in write.steps:
        if step.op not in _TRACKERS:
            steps.append(step)
            continue
        moves = found is None or _moves(step, _at(step, found))
        if moves:
            steps.append(step)
        conditions.append(_condition(step, moves))
    # Where only trackers are left that do not move, there is nothing to write.
    return replace(write, steps=tuple(steps), when_=(*write.when_, *conditions))


def _at(step: Step, found: Mapping[str, Value]) -> Value | None:
    here: Any = {"M": found}
    for name in step.path.steps:
        inside = here.get("L") if isinstance(name, int) else here.get("M")
        try:
            here = inside[name]
        except (KeyError, IndexError, TypeError):
            return None
    return here  # type: ignore[no-any-return]  # the wire is not typed


def _moves(step: Step, now: Value | None) -> bool:
    difference = compare(step.value or {}, now) if now is not None and step.value is not None else None
    if difference is None:
        return True
    return difference < 0 if step.op == "lowest" else difference > 0


def _condition(step: Step, moves: bool) -> Condition:
    path, value = step.path.steps, step.value or {}
    if moves:
        op = ">" if step.op == "lowest" else "<"
        return Or((attribute_not_exists(*path), Compare(op, path, value)))
    return Compare("<=" if step.op == "lowest" else ">=", path, value)
