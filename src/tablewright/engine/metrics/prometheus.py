"""Metrics in Prometheus' text format (version 0.0.4), printed by prometheus_client.

Sums are counters since the engine was opened, times are histograms in seconds, levels are gauges; `region` is a label
like any other. The engine runs without this module: only what serves the text imports it (wire/metrics.py).
Must hold: each name has one heading with its type, followed by its lines of all regions; no label is empty.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as Family

from tablewright.engine.metrics.collector import MetricsSnapshot
from tablewright.engine.metrics.histogram import BOUNDS, Histogram
from tablewright.engine.metrics.names import METRICS, Metric
from tablewright.engine.metrics.query import gauge

# With every bound there would be eighty lines for each operation of each table.
_EXPORTED_BOUNDS = [
    place
    for place, bound in enumerate(BOUNDS)
    if 0.05 <= bound <= 10_000 and f"{bound:e}"[:3] in ("1.0", "2.5", "5.0")
]


def prometheus(regions: Iterable[MetricsSnapshot]) -> bytes:
    """The metrics of all regions as one text."""
    return generate_latest(_Regions(tuple(regions)))


@dataclass(frozen=True, slots=True)
class _Regions:
    """What prometheus_client prints: a family for each metric with values, in the order of METRICS."""

    snapshots: Sequence[MetricsSnapshot]

    def collect(self) -> Iterator[Family]:
        values: dict[str, list[tuple[list[str], Histogram]]] = defaultdict(list)
        for region, sums, levels in self.snapshots:
            found = {**sums, **{series: gauge(value) for series, value in levels.items()}}
            for series in sorted(found):
                values[series.metric].append(([region, *series[1:]], found[series]))
        for metric in METRICS.values():
            if metric.name in values:
                yield _family(metric, values[metric.name])


def _family(metric: Metric, values: Iterable[tuple[list[str], Histogram]]) -> Family:
    name, about = exported_name(metric), f"{metric.about}."
    labels = ["region", "table", "index", *([_snake(metric.detail)] if metric.detail else [])]
    if metric.kind == "time":
        times = HistogramMetricFamily(name, about, labels=labels)
        for texts, histogram in values:
            times.add_metric(texts, _buckets(histogram), histogram.sum / 1000)
        return _without_empty_labels(times)
    kind = CounterMetricFamily if metric.kind == "sum" else GaugeMetricFamily
    family = kind(name, about, labels=labels)
    for texts, histogram in values:
        family.add_metric(texts, histogram.sum)
    return _without_empty_labels(family)


def _without_empty_labels(family: Family) -> Family:
    family.samples = [
        sample._replace(labels={name: text for name, text in sample.labels.items() if text})
        for sample in family.samples
    ]
    return family


def exported_name(metric: Metric) -> str:
    """ConsumedReadCapacityUnits -> tablewright_consumed_read_capacity_units_total."""
    suffix = {"sum": "_total", "time": "_seconds", "level": ""}[metric.kind]
    return f"tablewright_{_snake(metric.name)}{suffix}"


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _buckets(histogram: Histogram) -> list[tuple[str, float]]:
    """Upper bounds in seconds, and how many values did not exceed them."""
    found: list[tuple[str, float]] = []
    passed, after, buckets = 0, 0, sorted(histogram.spread)
    for place in _EXPORTED_BOUNDS:
        while after < len(buckets) and buckets[after] <= place:
            passed += histogram.spread[buckets[after]]
            after += 1
        found.append((f"{BOUNDS[place] / 1000:g}", passed))
    return [*found, ("+Inf", histogram.samples)]
