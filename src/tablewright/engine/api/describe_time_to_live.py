"""DescribeTimeToLive: which attribute, if any, holds the expiry time of an item."""

from typing import Any

from tablewright.engine.api.common_members import TABLE_NAME
from tablewright.engine.api.describe_table import settled_table
from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct
from tablewright.engine.transaction import ReadTransaction

SHAPE = Struct("DescribeTimeToLiveInput", {"TableName": TABLE_NAME}, required=("TableName",))


def describe_time_to_live(txn: ReadTransaction, request: Request) -> dict[str, Any]:
    attribute = settled_table(txn.tables, request).ttl_attribute
    if attribute is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": attribute}}


OPERATION = ReadOperation("DescribeTimeToLive", SHAPE, describe_time_to_live)
