"""DescribeLimits: the account's and a table's capacity quotas, at their defaults."""

from typing import Any

from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct
from tablewright.engine.limits import ACCOUNT_CAPACITY, TABLE_CAPACITY
from tablewright.engine.transaction import ReadTransaction

SHAPE = Struct("DescribeLimitsInput", {})


def describe_limits(_txn: ReadTransaction, _request: Request) -> dict[str, Any]:
    return {
        "AccountMaxReadCapacityUnits": ACCOUNT_CAPACITY,
        "AccountMaxWriteCapacityUnits": ACCOUNT_CAPACITY,
        "TableMaxReadCapacityUnits": TABLE_CAPACITY,
        "TableMaxWriteCapacityUnits": TABLE_CAPACITY,
    }


OPERATION = ReadOperation("DescribeLimits", SHAPE, describe_limits)
