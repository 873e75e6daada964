"""The item that an upsert creates: its start, with the steps applied to it. Pure.

So the first write is a creation like any other: one request with the whole item and every key attribute. An existing
item is only ever updated: nothing of the start is written into it.
"""

from collections.abc import Callable
from dataclasses import replace
from decimal import Context, Decimal
from typing import Any

from tablewright.design.requests import Step, Write
from tablewright.mapping.errors import ConditionNotMet
from tablewright.mapping.items import item_of, model_of
from tablewright.values import Item, Value, compare

# DynamoDB's own precision.
_DIGITS = Context(prec=38)


def initial_create(write: Write[Any]) -> Write[Any]:
    """The creation an upsert stands for; ItemUnreadable if its steps make something the model refuses."""
    item = item_of(write.shape, write.item)
    for step in write.steps:
        try:
            _apply_step(item, step)
        except (AttributeError, IndexError, TypeError):
            why = f"the item it begins with has no place '{step.path}'; begin with one that has"
            raise ConditionNotMet(write.shape.tag, write.key, why) from None
    model = model_of(write.shape, item)
    return replace(write, kind="create", item=model, values=model.__dict__, steps=(), known={})


def _apply_step(item: Item, step: Step) -> None:
    here: Any = item
    *above, last = step.path.steps
    for name in above:
        inner = here[name] if isinstance(name, int) else here.setdefault(name, {"M": {}})
        here = inner.get("L", inner.get("M"))
    there = here[last] if _has(here, last) else None
    value = _OPS[step.op](there, step.value or {})
    if value is not None:
        if isinstance(last, int) and there is None:
            here.append(value)  # as the service does, however far behind the end
        else:
            here[last] = value
    elif there is not None:
        del here[last]


def _has(here: Any, at: str | int) -> bool:
    return at < len(here) if isinstance(at, int) else at in here


def _sum(there: Value | None, value: Value) -> Value:
    return {"N": str(_DIGITS.add(Decimal(there["N"]), Decimal(value["N"])))} if there else value


def _joined(there: Value | None, value: Value) -> Value:
    return {"L": [*there["L"], *value["L"]]} if there else value


def _with(there: Value | None, value: Value) -> Value:
    ((kind, members),) = value.items()
    return {kind: list(dict.fromkeys((*there[kind], *members)))} if there else value


def _without(there: Value | None, value: Value) -> Value | None:
    ((kind, members),) = value.items()
    left = [member for member in there[kind] if member not in members] if there else []
    return {kind: left} if left else None


def _lower(there: Value | None, value: Value) -> Value:
    return there if there is not None and (compare(there, value) or 0) < 0 else value


def _higher(there: Value | None, value: Value) -> Value:
    return there if there is not None and (compare(there, value) or 0) > 0 else value


_OPS: dict[str, Callable[[Value | None, Value], Value | None]] = {
    "set": lambda there, value: value,
    "remove": lambda there, value: None,
    "add": _sum,
    "append": _joined,
    "include": _with,
    "exclude": _without,
    "lowest": _lower,
    "highest": _higher,
}
