"""Putting items of a table back to what they were, from a restored table, while it is written to.

    for difference, is_done in put_back(call, "products-then", "products"): ...

A changed item gets back the attributes that differ and no others; a removed one is put again; an added one is left, or
deleted on request. Must hold: each write has the condition that what it replaces is still what was compared, so a write
of someone else in between is never overwritten: the item is left as it is, and said to be (`is_done` is False).
Streams have these writes as any other, so what follows the table follows them too.
Elsewhere: which items differ (comparison.py).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tablewright.client.call import Call, CallRefused
from tablewright.client.comparison import Difference, Item, differing_items


def put_back(
    call: Call, past: str, table: str, *, delete_added: bool = False
) -> Iterator[tuple[Difference, bool]]:
    """Make `table` what `past` is, item by item: each difference, and whether it is gone. Added items that are to stay
    are not among them."""
    for difference, before, now in differing_items(call, past, table):
        if difference.kind != "added" or delete_added:
            yield difference, _is_written(call, *_write(table, difference, before, now))


def _write(
    table: str, difference: Difference, before: Item | None, now: Item | None
) -> tuple[str, dict[str, Any]]:
    if now is None:
        (name, *_) = difference.key
        absent = {"ConditionExpression": "attribute_not_exists(#k)", "ExpressionAttributeNames": {"#k": name}}
        return "PutItem", {"TableName": table, "Item": before, **absent}
    if before is None:
        return "DeleteItem", {"TableName": table, "Key": difference.key, **_still(now, sorted(now))}
    return "UpdateItem", {"TableName": table, "Key": difference.key, **_update(difference, before, now)}


def _update(difference: Difference, before: Item, now: Item) -> dict[str, Any]:
    names = difference.attributes
    sets = [f"#{n} = :was{n}" for n, name in enumerate(names) if name in before]
    removals = [f"#{n}" for n, name in enumerate(names) if name not in before]
    update = [f"SET {', '.join(sets)}"] * bool(sets) + [f"REMOVE {', '.join(removals)}"] * bool(removals)
    was = {f":was{n}": before[name] for n, name in enumerate(names) if name in before}
    request = _still(now, names)
    # Each attribute that differs is in one of the two items at least, so there are values.
    values = {**request.get("ExpressionAttributeValues", {}), **was}
    return {**request, "UpdateExpression": " ".join(update), "ExpressionAttributeValues": values}


def _still(now: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The condition that these attributes are what was compared."""
    parts = [
        f"#{n} = :now{n}" if name in now else f"attribute_not_exists(#{n})" for n, name in enumerate(names)
    ]
    values = {f":now{n}": now[name] for n, name in enumerate(names) if name in now}
    request: dict[str, Any] = {
        "ConditionExpression": " AND ".join(parts),
        "ExpressionAttributeNames": {f"#{n}": name for n, name in enumerate(names)},
    }
    return {**request, "ExpressionAttributeValues": values} if values else request


def _is_written(call: Call, verb: str, request: Mapping[str, Any]) -> bool:
    try:
        call(verb, request)
    except CallRefused as refusal:
        if refusal.name != "ConditionalCheckFailedException":
            raise
        return False
    return True
