"""What was blocked, counted: metrics, receipts of batches, events that match no child (PC-25 to PC-32)."""

from datetime import date, timedelta

from tablewright.design import Data, Expires, Keys, Load, Retention, between
from tablewright.systems.parental.design.base import (
    METRICS_KEPT,
    PARENTAL,
    RECEIPTS_KEPT,
    families_table,
    list_index,
)
from tablewright.systems.parental.model import Metric, Quarantined, Receipt

metrics_table = PARENTAL.table(
    "BlockedRequestMetrics",
    pk="childPhoneNumber",
    sk="dateApp",
    ttl="ttl",
    about="Blocked attempts by app, day and hour in the child's time zone.",
)
parent_date_index = metrics_table.gsi("ParentEmailDateIndex", pk="parentEmail", sk="date")


def metric_key(child: str, date: date, app_name: str) -> None: ...


metrics = metrics_table.entity(
    Metric,
    metric_key,
    tag="metric",
    pk="{child}",
    sk="{date}#{app_name}",
    on={parent_date_index: Keys("{parent_email}", "{date}")},
    expires=Expires("kept_until"),
    data={"parent_email": Data.PERSONAL},
    retention=Retention(METRICS_KEPT, "for the parents' dashboard"),
    # PC-38 names 500 a second as the peak; a tenth of it over the month. Nearly all are of a child, an app and a day
    # of which there is an item.
    load={
        "put": Load(per_second=50, item_bytes=500, transaction=True, changes=("blocked_count",), new=0.02),
        "get": Load(per_second=5, item_bytes=500),
    },
)
receipts_table = PARENTAL.table(
    "IngestReceipts", pk="batchId", ttl="ttl", about="Counted batches, for a week."
)


def receipt_key(batch_id: str) -> None: ...


receipts = receipts_table.entity(
    Receipt,
    receipt_key,
    tag="receipt",
    pk="{batch_id}",
    expires=Expires("expires_at"),
    retention=Retention(RECEIPTS_KEPT, "to count a batch only once"),
    load={"create": Load(per_second=2, item_bytes=160, transaction=True)},
)


def quarantine_key(quarantine_id: str) -> None: ...


quarantine = families_table.entity(
    Quarantined,
    quarantine_key,
    tag="quarantined",
    pk="QUARANTINE#{quarantine_id}",
    sk="EVENTS",
    on={list_index: Keys("QUARANTINE", "{day}#{quarantine_id}")},
    expires=Expires("expires_at"),
    data={"events": Data.PERSONAL},
    retention=Retention(timedelta(days=30), "until an operator has checked them"),
    load={"create": Load(per_month=1_000, item_bytes=2_000)},
)


# --- access patterns ---


@PARENTAL.query(
    metrics, pk="{child}", sk=between("{since}", "{until}"), page=200, at_most=1000,
    load=Load(per_month=200_000, items=30, item_bytes=500),
)  # fmt: skip
def metrics_of_child(*, child: str, since: date | None = None, until: date | None = None) -> None:
    """PC-28: a child's metrics from a day to a day, both included."""


@PARENTAL.query(
    metrics, on=parent_date_index, pk="{parent_email}", sk=between("{since}", "{until}"), descending=True, page=200,
    at_most=1000, load=Load(per_month=100_000, items=60, item_bytes=500),
)  # fmt: skip
def metrics_of_parent(*, parent_email: str, since: date | None = None, until: date | None = None) -> None:
    """PC-29: a parent's metrics, the newest day first."""


@PARENTAL.get(metrics, load=Load(per_month=50_000, item_bytes=500))
def metric_of_day(*, child: str, date: date, app_name: str) -> None:
    """PC-30: one app on one day."""


@PARENTAL.query(
    quarantine,
    on=list_index,
    pk="QUARANTINE",
    descending=True,
    page=20,
    roles=("operator",),
    load=Load(per_month=500, items=5),
)
def quarantined() -> None:
    """Events that match no child."""
