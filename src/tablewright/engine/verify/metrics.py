"""Invariants of metrics and of autoscaling's settings; each violated one is a sentence."""

from collections.abc import Iterator
from math import isfinite

from tablewright.engine.metrics.histogram import BOUNDS, Histogram
from tablewright.engine.metrics.names import METRICS
from tablewright.engine.metrics.store import Series, all_scaling, all_series, orphan_points, points_of
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.throughput.autoscaling_settings import UNIT_KINDS, wrong_setting

_EVER = 1 << 62
# Sums of many fractions differ a little by the order in which they were added.
_CLOSE = 1e-6


def wrong_metrics(rows: RowReader) -> Iterator[str]:
    orphans = orphan_points(rows)
    if orphans:
        yield f"the metrics: {orphans} points belong to no series"
    for number, series in all_series(rows).items():
        if series.metric not in METRICS:
            yield f"the metrics: series {number} is of {series.metric}, which is not a metric"
        for minute, histogram in points_of(rows, number, -_EVER, _EVER):
            for error in _wrong_histogram(series, histogram):
                yield f"the metrics: {_named(series)} at minute {minute}: {error}"
    for setting in all_scaling(rows):
        if setting.kind not in UNIT_KINDS or wrong_setting(setting.target, setting.least, setting.most):
            yield f"autoscaling: the setting of {setting.table} {setting.index_name} {setting.kind} is invalid"


def _named(series: Series) -> str:
    return " ".join(name for name in series if name)


def _wrong_histogram(series: Series, histogram: Histogram) -> Iterator[str]:
    if histogram.samples <= 0 or not all(map(isfinite, (histogram.sum, histogram.least, histogram.most))):
        yield "it has no finite values"
        return
    tolerance = _CLOSE * (1 + abs(histogram.sum))
    if (
        not histogram.least * histogram.samples - tolerance
        <= histogram.sum
        <= histogram.most * histogram.samples + tolerance
    ):
        yield "its sum does not fit its least and most"
    is_time = series.metric in METRICS and METRICS[series.metric].kind == "time"
    if is_time and sum(histogram.spread.values()) != histogram.samples:
        yield "its buckets do not count every sample"
    if any(not 0 <= bucket <= len(BOUNDS) for bucket in histogram.spread):
        yield "it has a bucket that does not exist"
