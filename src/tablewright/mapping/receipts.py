"""Receipts: what makes a write happen once, however often it is asked for.

DynamoDB's own token works for ten minutes; a receipt is an item in the same transaction and works for as long as it
is kept. It may carry a result, so that who asks again gets the first answer.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import orjson

from tablewright.design.parts import milliseconds
from tablewright.design.tables import Table
from tablewright.mapping.wording import Wording
from tablewright.mapping.writes import Action, Physical
from tablewright.values import Value

KEPT = timedelta(days=30)
TABLE = Table(
    "tablewright", "receipts", pk="id", ttl="expires", about="What was done once and must not be done again."
)


@dataclass(frozen=True, slots=True)
class Written:
    """The outcome of a write: whether it had been done before, and the result that was kept then."""

    repeated: bool = False
    result: Any = None


def receipt(once: str, result: Any, now: datetime, kept: timedelta, physical: Physical) -> Action:
    """The action that fails if this was done before."""
    wording = Wording()
    item: dict[str, Value] = {
        "id": {"S": once},
        "at": {"S": milliseconds(now)},
        "expires": {"N": str(int((now + kept).timestamp()))},
    }
    if result is not None:
        item["result"] = {"S": orjson.dumps(result).decode()}
    unseen = f"attribute_not_exists({wording.name('id')})"
    past = f"{wording.name('expires')} <= {wording.value({'N': str(int(now.timestamp()))})}"
    body = {
        "TableName": physical(TABLE.name),
        "Item": item,
        "ConditionExpression": f"{unseen} OR {past}",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        **wording.placeholders(),
    }
    return Action("Put", body, None)


def kept_result(item: dict[str, Value] | None) -> Any:
    """What a receipt says came out of it."""
    kept = (item or {}).get("result")
    return orjson.loads(kept["S"]) if kept else None
