"""DescribeTimeToLive: which attribute, if any, tells when an item expires."""

from typing import Any

from tablewright.engine.members import TABLE_NAME
from tablewright.engine.operations.describe_table import settled_table
from tablewright.engine.shapes import Request, Struct
from tablewright.engine.writing import Reading

SHAPE = Struct("DescribeTimeToLiveInput", {"TableName": TABLE_NAME}, required=("TableName",))


def describe_time_to_live(reading: Reading, request: Request) -> dict[str, Any]:
    attribute = settled_table(reading.tables, request).ttl_attribute
    if attribute is None:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": "DISABLED"}}
    return {"TimeToLiveDescription": {"TimeToLiveStatus": "ENABLED", "AttributeName": attribute}}
