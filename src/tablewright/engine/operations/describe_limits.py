"""DescribeLimits: the account's and a table's capacity quotas, at their defaults."""

from typing import Any

from tablewright.engine.limits import ACCOUNT_CAPACITY, TABLE_CAPACITY
from tablewright.engine.shapes import Request, Struct
from tablewright.engine.writing import Reading

SHAPE = Struct("DescribeLimitsInput", {})


def describe_limits(_reading: Reading, _request: Request) -> dict[str, Any]:
    return {
        "AccountMaxReadCapacityUnits": ACCOUNT_CAPACITY,
        "AccountMaxWriteCapacityUnits": ACCOUNT_CAPACITY,
        "TableMaxReadCapacityUnits": TABLE_CAPACITY,
        "TableMaxWriteCapacityUnits": TABLE_CAPACITY,
    }
