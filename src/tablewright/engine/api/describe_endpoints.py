"""DescribeEndpoints: where to send requests. A served engine names its own address."""

from typing import Any

from tablewright.engine.api.operation import ReadOperation
from tablewright.engine.api.shapes import Request, Struct
from tablewright.engine.transaction import ReadTransaction

SHAPE = Struct("DescribeEndpointsRequest", {})
CACHE_MINUTES = 1440


def describe_endpoints(txn: ReadTransaction, _request: Request) -> dict[str, Any]:
    address = txn.place.address or f"dynamodb.{txn.place.region}.amazonaws.com"
    return {"Endpoints": [{"Address": address, "CachePeriodInMinutes": CACHE_MINUTES}]}


OPERATION = ReadOperation("DescribeEndpoints", SHAPE, describe_endpoints)
