"""The metrics: CloudWatch's names for DynamoDB, their units and their dimensions.

Must hold: a name that CloudWatch has means what it means there; the two it does not have (ItemCount, SizeBytes) are
named after members of DescribeTable. Elsewhere: collecting (collector.py), Prometheus' format (prometheus.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

# sum: events added up. level: a gauge, valid until it changes. time: milliseconds, with their distribution.
MetricKind: TypeAlias = Literal["sum", "level", "time"]
# Metric, table, index, detail; the empty string where it has none.
MetricKey: TypeAlias = tuple[str, str, str, str]
# One value that a request adds to a metric.
Sample: TypeAlias = tuple[MetricKey, float]

CONSUMED_READ = "ConsumedReadCapacityUnits"
CONSUMED_WRITE = "ConsumedWriteCapacityUnits"
PROVISIONED_READ = "ProvisionedReadCapacityUnits"
PROVISIONED_WRITE = "ProvisionedWriteCapacityUnits"
MOST_ON_DEMAND_READ = "OnDemandMaxReadRequestUnits"
MOST_ON_DEMAND_WRITE = "OnDemandMaxWriteRequestUnits"
THROTTLED_REQUESTS = "ThrottledRequests"
USER_ERRORS = "UserErrors"
SYSTEM_ERRORS = "SystemErrors"
CONDITION_FAILED = "ConditionalCheckFailedRequests"
TRANSACTION_CONFLICT = "TransactionConflict"
LATENCY = "SuccessfulRequestLatency"
RETURNED_ITEMS = "ReturnedItemCount"
EXPIRED_ITEMS = "TimeToLiveDeletedItemCount"
VECTOR_WRITE_BYTES = "VectorWriteRequestBytes"
VECTOR_SEARCH_BYTES = "VectorSearchRequestBytes"
REPLICATION_LATENCY = "ReplicationLatency"
ITEM_COUNT = "ItemCount"
SIZE_BYTES = "SizeBytes"

CAUSES = ("ProvisionedThroughput", "KeyRangeThroughput", "MaxOnDemandThroughput", "AccountLimit")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric. `detail` is its dimension beside table and index, if it has one."""

    name: str
    unit: str
    kind: MetricKind
    about: str
    detail: str = ""


def throttle_events(kind: str, cause: str = "") -> str:
    """The metric of throttle events for one cause (one of CAUSES), or for any; `kind` is Read or Write."""
    return f"{kind}{cause}ThrottleEvents"


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(CONSUMED_READ, "Count", "sum", "Read capacity units used"),
        Metric(CONSUMED_WRITE, "Count", "sum", "Write capacity units used"),
        Metric(PROVISIONED_READ, "Count", "level", "Read capacity units per second that are provisioned"),
        Metric(PROVISIONED_WRITE, "Count", "level", "Write capacity units per second that are provisioned"),
        Metric(MOST_ON_DEMAND_READ, "Count", "level", "Read units per second an on-demand table may use"),
        Metric(MOST_ON_DEMAND_WRITE, "Count", "level", "Write units per second an on-demand table may use"),
        Metric(THROTTLED_REQUESTS, "Count", "sum", "Requests that were throttled", "Operation"),
        *(
            Metric(
                throttle_events(kind, cause),
                "Count",
                "sum",
                f"{kind}s of single items that were throttled" + (cause and f" because of {cause}"),
            )
            for kind in ("Read", "Write")
            for cause in ("", *CAUSES)
        ),
        Metric(USER_ERRORS, "Count", "sum", "Requests refused because of an error of the caller"),
        Metric(
            SYSTEM_ERRORS,
            "Count",
            "sum",
            "Requests that failed with an internal error of the engine",
            "Operation",
        ),
        Metric(CONDITION_FAILED, "Count", "sum", "Conditional writes whose condition did not hold"),
        Metric(
            TRANSACTION_CONFLICT, "Count", "sum", "Item requests refused because of a concurrent transaction"
        ),
        Metric(LATENCY, "Milliseconds", "time", "Time taken by requests that succeeded", "Operation"),
        Metric(RETURNED_ITEMS, "Count", "sum", "Items returned by Query and Scan", "Operation"),
        Metric(EXPIRED_ITEMS, "Count", "sum", "Items deleted because they had expired"),
        Metric(VECTOR_WRITE_BYTES, "Bytes", "sum", "Bytes written to the vector index"),
        Metric(VECTOR_SEARCH_BYTES, "Bytes", "sum", "Bytes of the vector index that searches examined"),
        Metric(
            REPLICATION_LATENCY,
            "Milliseconds",
            "time",
            "Time between a write here and its arrival in a replica",
            "ReceivingRegion",
        ),
        Metric(ITEM_COUNT, "Count", "level", "Items in the table, or entries in the index"),
        Metric(SIZE_BYTES, "Bytes", "level", "Bytes of the table's items, or of the index's entries"),
    )
}


class UnknownMetric(ValueError):
    """A metric of this name does not exist."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no metric {name!r}; there are {', '.join(METRICS)}")


def metric_named(name: str) -> Metric:
    found = METRICS.get(name)
    if found is None:
        raise UnknownMetric(name)
    return found
