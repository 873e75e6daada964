"""The figures in Prometheus' text format (version 0.0.4). Pure.

Sums are counters since the engine was opened, times are histograms in seconds, levels are gauges. Must hold: a name
is told once with its kind, its lines stand together, and labels are escaped.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from tablewright.engine.metric_names import METRICS, Metric
from tablewright.engine.metric_values import BOUNDS, Tally
from tablewright.engine.storage_metrics import Series

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# Every bound would be eighty lines for each operation of each table.
_TOLD = [
    place
    for place, bound in enumerate(BOUNDS)
    if 0.05 <= bound <= 10_000 and f"{bound:e}"[:3] in ("1.0", "2.5", "5.0")
]


def prometheus(sums: Mapping[Series, Tally], levels: Iterable[tuple[Series, float]]) -> bytes:
    """All of it as one text; `levels` are as they are now."""
    found: dict[str, list[str]] = {}
    for series, tally in sorted(sums.items(), key=lambda pair: pair[0]):
        metric = METRICS[series.metric]
        lines = found.setdefault(metric.name, _heading(metric))
        lines += _histogram(metric, series, tally) if metric.kind == "time" else [_sum(metric, series, tally)]
    for series, value in sorted(levels):
        metric = METRICS[series.metric]
        lines = found.setdefault(metric.name, _heading(metric))
        lines.append(f"{told_name(metric)}{_labels(metric, series)} {_number(value)}")
    return "".join(f"{line}\n" for name in METRICS for line in found.get(name, ())).encode()


def told_name(metric: Metric) -> str:
    """ConsumedReadCapacityUnits -> tablewright_consumed_read_capacity_units_total."""
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", metric.name).lower()
    suffix = {"sum": "_total", "time": "_seconds", "level": ""}[metric.kind]
    return f"tablewright_{snake}{suffix}"


def _heading(metric: Metric) -> list[str]:
    name = told_name(metric)
    kind = {"sum": "counter", "time": "histogram", "level": "gauge"}[metric.kind]
    return [f"# HELP {name} {metric.about}.", f"# TYPE {name} {kind}"]


def _sum(metric: Metric, series: Series, tally: Tally) -> str:
    return f"{told_name(metric)}{_labels(metric, series)} {_number(tally.sum)}"


def _histogram(metric: Metric, series: Series, tally: Tally) -> Iterator[str]:
    name, passed, after = told_name(metric), 0, 0
    buckets = sorted(tally.spread)
    for place in _TOLD:
        while after < len(buckets) and buckets[after] <= place:
            passed += tally.spread[buckets[after]]
            after += 1
        bound = _number(BOUNDS[place] / 1000)
        yield f"{name}_bucket{_labels(metric, series, le=bound)} {passed}"
    yield f"{name}_bucket{_labels(metric, series, le='+Inf')} {int(tally.samples)}"
    yield f"{name}_sum{_labels(metric, series)} {_number(tally.sum / 1000)}"
    yield f"{name}_count{_labels(metric, series)} {int(tally.samples)}"


def _labels(metric: Metric, series: Series, **more: str) -> str:
    named = {"table": series.table, "index": series.index_name}
    if metric.detail:
        named[re.sub(r"(?<!^)(?=[A-Z])", "_", metric.detail).lower()] = series.detail
    shown = [f'{name}="{_escaped(text)}"' for name, text in (named | more).items() if text]
    return "{" + ",".join(shown) + "}" if shown else ""


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else f"{value:.9g}"
