"""The steps of an update: as actions of an expression, and what they need that no expression can say. Pure.

- lowest and highest: DynamoDB has no min() or max(). A tracker is set only under the condition that it moves, and left
  alone under the condition that it does not; which of the two is known from the item that a refusal returns.
- nested places: DynamoDB refuses `SET stats.today = :x` where there is no `stats`. A parent is made only where the item
  still fits its model afterwards: a dict, or a model whose required fields are all set by the same write. A list and
  its entries are never made: what the other entries should be is unknown.
- the item that an upsert creates: its start, with the steps applied to it. So the first write is a creation like any
  other, with every key attribute; nothing of the start is written into an existing item.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tablewright.design.attributes import AttributeKind, attributes, kind_of, without_none
from tablewright.design.requests import Step, Write
from tablewright.expressions import BadExpression, Condition, Path, Update, apply
from tablewright.expressions.build import attribute_not_exists
from tablewright.expressions.nodes import Action, Add, Arithmetic, Call, Compare, Delete, Or, Remove, Set
from tablewright.expressions.paths import find
from tablewright.mapping.errors import ConditionNotMet
from tablewright.mapping.items import item_of, model_of
from tablewright.values import Item, Value, compare

_TRACKERS = ("lowest", "highest")


def update_action(step: Step) -> Action:
    path, value = step.path.steps, step.value or {}
    match step.op:
        case "remove":
            return Remove(path)
        case "add" if len(path) > 1:
            # ADD is documented for top-level attributes only.
            return Set(path, Arithmetic("+", Call("if_not_exists", (path, {"N": "0"})), value))
        case "append":
            return Set(path, Call("list_append", (Call("if_not_exists", (path, {"L": []})), value)))
        case "add" | "include":
            return Add(path, value)
        case "exclude":
            return Delete(path, value)
        case _:
            return Set(path, value)


# --- lowest and highest ---


def has_trackers(write: Write[Any]) -> bool:
    return any(step.op in _TRACKERS for step in write.steps)


def resolve_trackers(write: Write[Any], found: Item | None) -> Write[Any]:
    """The write with its trackers decided by an item, each under the condition that the decision is right."""
    steps: list[Step] = []
    conditions: list[Condition] = []
    for step in write.steps:
        path, value = step.path.steps, step.value or {}
        moves = found is None or _moves(step, find(path, found))
        if moves:
            steps.append(step)
        if step.op not in _TRACKERS:
            continue
        if moves:
            op = ">" if step.op == "lowest" else "<"
            conditions.append(Or((attribute_not_exists(*path), Compare(op, path, value))))
        else:
            conditions.append(Compare("<=" if step.op == "lowest" else ">=", path, value))
    # Where only trackers are left that do not move, there is nothing to write.
    return replace(write, steps=tuple(steps), when_=(*write.when_, *conditions))


def _moves(step: Step, now: Value | None) -> bool:
    """False for a tracker that stays where it is."""
    if step.op not in _TRACKERS or step.value is None or now is None:
        return True
    difference = compare(step.value, now)
    return difference is None or (difference < 0 if step.op == "lowest" else difference > 0)


# --- the maps around nested places ---


def parents(write: Write[Any]) -> list[Path]:
    """The paths of maps that may begin empty, outermost first, each once."""
    found = {
        step.path.steps[:depth]: kind
        for step in write.steps
        for depth, kind in enumerate(_kinds(write, step.path.steps[:-1]), start=1)
    }
    return [path for path in sorted(found, key=len) if _may_be_empty(write, path, found[path])]


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


def _may_be_empty(write: Write[Any], path: Path, kind: AttributeKind) -> bool:
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


# --- the item that an upsert creates ---


def initial_create(write: Write[Any]) -> Write[Any]:
    """The creation an upsert stands for; ItemUnreadable if its steps make something the model refuses."""
    item = item_of(write.shape, write.item)
    for step in write.steps:
        path = step.path.steps
        missing = [path[:n] for n in range(1, len(path)) if not isinstance(path[n - 1], int)]
        try:
            for parent in missing:
                if find(parent, item) is None:
                    item = apply(Update((Set(parent, {"M": {}}),)), item)
            if _moves(step, find(path, item)):
                item = apply(Update((update_action(step),)), item)
        except BadExpression:
            why = f"the item it begins with has no place '{step.path}'; begin with one that has"
            raise ConditionNotMet(write.shape.tag, write.key, why) from None
    model = model_of(write.shape, item)
    return replace(write, kind="create", item=model, values=model.__dict__, steps=(), known={})
