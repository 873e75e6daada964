"""Metrics that systems publish: how many requests failed, how much of a quota is used, what a month has cost.

A value is recorded in memory and written once a minute, so a crash loses the running minute at most. What is written
goes to the log too, in the form from which CloudWatch Logs makes metrics (its embedded metric format).
Must hold: any thread may record, and never waits for the store; a point that could not be written is written later,
under the same key.
Elsewhere: who records (schedule.py for jobs, serve.py for requests, charges.py), DynamoDB's own metrics (the engine).
"""

import logging
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal

from tablewright.app.alarms.design import MetricPoint, metric_points, points_between
from tablewright.app.alarms.evaluation import MinutePoint
from tablewright.design.alarms import OWN
from tablewright.kit.jobs import Job
from tablewright.mapping import Db
from tablewright.world import World

log = logging.getLogger("tablewright.metrics")

EVERY = timedelta(minutes=1)


class PublishedMetrics:
    """The metrics of the systems of one store."""

    def __init__(self, db: Db, world: World) -> None:
        self._db, self._world = db, world
        self._lock = threading.Lock()
        # By system, metric and minute: samples, sum, least, most.
        self._values: dict[tuple[str, str, datetime], tuple[int, float, float, float]] = {}
        self._unwritten: list[MetricPoint] = []

    def record(self, system: str, metric: str, value: float) -> None:
        """Add a value to the metric of this minute."""
        minute = self._world.now().replace(second=0, microsecond=0)
        with self._lock:
            samples, total, least, most = self._values.get((system, metric, minute), (0, 0.0, value, value))
            self._values[system, metric, minute] = (
                samples + 1,
                total + value,
                min(least, value),
                max(most, value),
            )

    def record_all(self, system: str, values: Mapping[str, float]) -> None:
        for metric, value in values.items():
            self.record(system, metric, value)

    def flush(self) -> int:
        """Write what was recorded; how many points."""
        with self._lock:
            taken, self._values = self._values, {}
            self._unwritten += [
                MetricPoint(
                    system=system,
                    metric=metric,
                    at=minute,
                    source=self._world.new_id(),
                    samples=samples,
                    sum=_exact(total),
                    least=_exact(least),
                    most=_exact(most),
                )
                for (system, metric, minute), (samples, total, least, most) in taken.items()
            ]
            points = list(self._unwritten)
        self._db.batch(metric_points.put(point) for point in points)
        with self._lock:
            del self._unwritten[: len(points)]
        for point in points:
            log.info("metric", extra=embedded_metric(point))
        return len(points)

    def points(self, system: str, metric: str, since: datetime, until: datetime) -> list[MinutePoint]:
        """The points of the minutes from `since` to before `until`."""
        found = self._db.all(points_between(system=system, metric=metric, since=since, until=until))
        return [
            MinutePoint(each.at, each.samples, float(each.sum), float(each.least), float(each.most))
            for each in found
            if each.at < until
        ]


def _exact(value: float) -> Decimal:
    """The shortest decimal that is this float."""
    return Decimal(repr(float(value)))


def embedded_metric(point: MetricPoint) -> dict[str, object]:
    """A point as fields of a log line. The format knows no sums: what it has of a minute is its mean."""
    described = {
        "Namespace": OWN,
        "Dimensions": [["System"]],
        "Metrics": [{"Name": point.metric}],
    }
    return {
        "_aws": {"Timestamp": int(point.at.timestamp() * 1000), "CloudWatchMetrics": [described]},
        "System": point.system,
        point.metric: float(point.sum / point.samples),
    }


def metrics_job(published: PublishedMetrics) -> Job[object]:
    about = "Writes the metrics that this process has recorded."
    return Job("metrics", EVERY, lambda _: published.flush(), about, of_process=True)
