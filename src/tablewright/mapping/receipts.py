"""Receipts: what makes a write happen once, however often it is asked for.

DynamoDB's own token works for ten minutes; a receipt is an item in the same transaction and works for as long as it
is kept. It may carry a result, so that who asks again gets the first answer.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson

from tablewright.design.key_codecs import milliseconds
from tablewright.design.tables import Table
from tablewright.expressions.build import attribute_not_exists
from tablewright.expressions.nodes import Compare, Or
from tablewright.mapping.write_requests import Action, Physical, conditional
from tablewright.values import Value

RECEIPT_LIFETIME = timedelta(days=30)
TABLE = Table(
    "tablewright", "receipts", pk="id", ttl="expires", about="What was done once and must not be done again."
)


@dataclass(frozen=True, slots=True)
class Written:
    """The outcome of a write: whether it had been done before, and the result that was kept then."""

    repeated: bool = False
    result: Any = None


def receipt_action(once: str, result: Any, now: datetime, kept: timedelta, physical: Physical) -> Action:
    """The action that fails if this was done before."""
    item: dict[str, Value] = {
        "id": {"S": once},
        "at": {"S": milliseconds(now)},
        "expires": {"N": str(int((now + kept).timestamp()))},
    }
    if result is not None:
        item["result"] = {"S": orjson.dumps(result).decode()}
    expired = Compare("<=", ("expires",), {"N": str(int(now.timestamp()))})
    condition = Or((attribute_not_exists("id"), expired))
    body = {"TableName": physical(TABLE.name), "Item": item, **conditional(condition)}
    return Action("Put", body, None)


def stored_result(item: Mapping[str, Value] | None) -> Any:
    """What a receipt says came out of it."""
    kept = (item or {}).get("result")
    return orjson.loads(kept["S"]) if kept else None


def receipt_id(once: str, designs: Collection[str]) -> str:
    """The key of a receipt: by the designs that are written to."""
    return f"{'+'.join(sorted(designs))}:{once}"
