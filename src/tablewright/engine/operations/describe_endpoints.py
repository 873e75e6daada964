"""DescribeEndpoints: where to send requests. A served engine names its own address."""

from typing import Any

from tablewright.engine.shapes import Request, Struct
from tablewright.engine.writing import Reading

SHAPE = Struct("DescribeEndpointsRequest", {})
CACHE_MINUTES = 1440


def describe_endpoints(reading: Reading, _request: Request) -> dict[str, Any]:
    address = reading.place.address or f"dynamodb.{reading.place.region}.amazonaws.com"
    return {"Endpoints": [{"Address": address, "CachePeriodInMinutes": CACHE_MINUTES}]}
