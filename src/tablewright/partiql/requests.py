"""A condition or an update as the text of an expression with its names and values: what the classic verbs take.

Names are never written out, so no attribute name can be a reserved word or hold a dot that is not a path's.
"""

from typing import Any

from tablewright.expressions import Condition, PlaceholderAllocator, Update, render


def worded(condition: Condition | None, changes: Update | None = None) -> dict[str, Any]:
    """ConditionExpression and UpdateExpression of a request, with what they refer to."""
    placeholders = PlaceholderAllocator()
    request: dict[str, Any] = {}
    if changes is not None:
        # A statement may set, remove and set again; an update expression has each clause once.
        kinds = dict.fromkeys(type(action) for action in changes.actions)
        actions = tuple(action for kind in kinds for action in changes.actions if type(action) is kind)
        request["UpdateExpression"] = render(Update(actions), placeholders)
    if condition is not None:
        request["ConditionExpression"] = render(condition, placeholders)
    return request | placeholders.members()


def projecting(names: tuple[str, ...]) -> dict[str, Any]:
    """ProjectionExpression for these attributes."""
    placeholders = PlaceholderAllocator()
    text = render(tuple((name,) for name in names), placeholders)
    return {"ProjectionExpression": text, **placeholders.members()}
