"""A table's metrics over the last hours as JSON values, for `db metrics` of a store and of a server.

Must hold: read from the store itself or over HTTP, the values are the same.
Elsewhere: collecting and reading (collector.py), permission to ask a server (wire/metrics.py).
"""

from datetime import datetime, timedelta
from typing import Any

from tablewright.engine.metrics.collector import MetricsCollector
from tablewright.engine.metrics.names import METRICS

HOURS = (1, 336)
PERIODS = 48


def table_metrics(
    metrics: MetricsCollector, region: str, now: datetime, table: str, index: str, hours: int
) -> list[dict[str, Any]]:
    """Every metric of a table, or of one of its indexes, that has a point, in up to 48 periods."""
    period = timedelta(minutes=-(-hours * 60 // PERIODS))
    since = _whole(now - timedelta(hours=hours), period)
    known = {
        (one.metric, one.detail)
        for one in metrics.known()
        if (one.table, one.index_name) == (table, index) and one.metric in METRICS
    }
    found = []
    for name, detail in sorted(known):
        points = metrics.series(
            name, table=table, index=index, operation=detail or None, since=since, period=period
        )
        if points:
            metric = METRICS[name]
            found.append(
                {
                    "region": region,
                    "metric": name,
                    **({metric.detail: detail} if detail else {}),
                    "unit": metric.unit,
                    "kind": metric.kind,
                    "since": since.isoformat(),
                    "minutes": period // timedelta(minutes=1),
                    "points": [{**point._asdict(), "at": point.at.isoformat()} for point in points],
                }
            )
    return found


def _whole(moment: datetime, period: timedelta) -> datetime:
    """The beginning of the period that contains the moment."""
    seconds = period.total_seconds()
    return datetime.fromtimestamp(moment.timestamp() // seconds * seconds, moment.tzinfo)
