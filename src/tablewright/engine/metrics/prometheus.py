"""Metrics in Prometheus' text format (version 0.0.4). Pure.

Sums are counters since the engine was opened, times are histograms in seconds, levels are gauges; `region` is a label
like any other.
Must hold: each name has one heading with its type, followed by its lines of all regions; labels are escaped.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tablewright.engine.metrics.histogram import BOUNDS, Histogram
from tablewright.engine.metrics.names import METRICS, Metric
from tablewright.engine.metrics.store import Series

# With every bound there would be eighty lines for each operation of each table.
_EXPORTED_BOUNDS = [
    place
    for place, bound in enumerate(BOUNDS)
    if 0.05 <= bound <= 10_000 and f"{bound:e}"[:3] in ("1.0", "2.5", "5.0")
]


class MetricsSnapshot(NamedTuple):
    """The metrics of one region: sums since its engine was opened, and gauges as they are now."""

    region: str
    sums: Mapping[Series, Histogram]
    gauges: Mapping[Series, float]


def prometheus(regions: Iterable[MetricsSnapshot]) -> bytes:
    """The metrics of all regions as one text."""
    found: dict[str, list[str]] = {}
    for region, sums, levels in regions:
        for series, histogram in sorted(sums.items(), key=lambda pair: pair[0]):
            metric = METRICS[series.metric]
            lines = found.setdefault(metric.name, _heading(metric))
            if metric.kind == "time":
                lines += _histogram(metric, region, series, histogram)
            else:
                lines.append(_line(metric, region, series, histogram.sum))
        for series, value in sorted(levels.items()):
            metric = METRICS[series.metric]
            found.setdefault(metric.name, _heading(metric)).append(_line(metric, region, series, value))
    return "".join(f"{line}\n" for name in METRICS for line in found.get(name, ())).encode()


def exported_name(metric: Metric) -> str:
    """ConsumedReadCapacityUnits -> tablewright_consumed_read_capacity_units_total."""
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", metric.name).lower()
    suffix = {"sum": "_total", "time": "_seconds", "level": ""}[metric.kind]
    return f"tablewright_{snake}{suffix}"


def _heading(metric: Metric) -> list[str]:
    name = exported_name(metric)
    kind = {"sum": "counter", "time": "histogram", "level": "gauge"}[metric.kind]
    return [f"# HELP {name} {metric.about}.", f"# TYPE {name} {kind}"]


def _line(metric: Metric, region: str, series: Series, value: float) -> str:
    return f"{exported_name(metric)}{_labels(metric, region, series)} {_number(value)}"


def _histogram(metric: Metric, region: str, series: Series, histogram: Histogram) -> Iterator[str]:
    name, passed, after = exported_name(metric), 0, 0
    buckets = sorted(histogram.spread)
    for place in _EXPORTED_BOUNDS:
        while after < len(buckets) and buckets[after] <= place:
            passed += histogram.spread[buckets[after]]
            after += 1
        bound = _number(BOUNDS[place] / 1000)
        yield f"{name}_bucket{_labels(metric, region, series, le=bound)} {passed}"
    yield f"{name}_bucket{_labels(metric, region, series, le='+Inf')} {int(histogram.samples)}"
    yield f"{name}_sum{_labels(metric, region, series)} {_number(histogram.sum / 1000)}"
    yield f"{name}_count{_labels(metric, region, series)} {int(histogram.samples)}"


def _labels(metric: Metric, region: str, series: Series, **more: str) -> str:
    named = {"region": region, "table": series.table, "index": series.index_name}
    if metric.detail:
        named[re.sub(r"(?<!^)(?=[A-Z])", "_", metric.detail).lower()] = series.detail
    labels = [f'{name}="{_escaped(text)}"' for name, text in (named | more).items() if text]
    return "{" + ",".join(labels) + "}" if labels else ""


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.9g}"
