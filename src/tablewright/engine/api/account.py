"""Verbs about the account: DescribeLimits (quotas, at their defaults) and DescribeEndpoints.

A served engine names its own address as the endpoint.
"""

from tablewright.engine.api.operation import read_verb
from tablewright.engine.api.shapes import Answer, Request
from tablewright.engine.limits import ACCOUNT_CAPACITY, TABLE_CAPACITY
from tablewright.engine.transaction import ReadTransaction


@read_verb("DescribeLimits", {})
def describe_limits(_txn: ReadTransaction, _request: Request) -> Answer:
    return {
        "AccountMaxReadCapacityUnits": ACCOUNT_CAPACITY,
        "AccountMaxWriteCapacityUnits": ACCOUNT_CAPACITY,
        "TableMaxReadCapacityUnits": TABLE_CAPACITY,
        "TableMaxWriteCapacityUnits": TABLE_CAPACITY,
    }


@read_verb("DescribeEndpoints", {})
def describe_endpoints(txn: ReadTransaction, _request: Request) -> Answer:
    address = txn.place.address or f"dynamodb.{txn.place.region}.amazonaws.com"
    return {"Endpoints": [{"Address": address, "CachePeriodInMinutes": 1440}]}
