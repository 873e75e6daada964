"""The invariants of figures and of autoscaling's settings: each broken one is a sentence."""

from collections.abc import Iterator
from math import isfinite

from tablewright.engine.metric_names import METRICS
from tablewright.engine.metric_values import BOUNDS, Tally
from tablewright.engine.scaling_settings import KINDS, wrong_setting
from tablewright.engine.storage_metrics import Series, all_scaling, all_series, orphan_points, points_of
from tablewright.engine.storage_rows import Rows

_EVER = 1 << 62
# Sums of many fractions differ a little by the order in which they were added.
_CLOSE = 1e-6


def wrong_figures(rows: Rows) -> Iterator[str]:
    orphans = orphan_points(rows)
    if orphans:
        yield f"the figures: {orphans} points belong to no series"
    for number, series in all_series(rows).items():
        if series.metric not in METRICS:
            yield f"the figures: series {number} is of {series.metric}, which there is no metric of"
        for minute, tally in points_of(rows, number, -_EVER, _EVER):
            for mistake in _wrong_tally(series, tally):
                yield f"the figures: {_named(series)} at minute {minute}: {mistake}"
    for setting in all_scaling(rows):
        if setting.kind not in KINDS or wrong_setting(setting.target, setting.least, setting.most):
            yield f"autoscaling: the setting of {setting.table} {setting.index_name} {setting.kind} is none"


def _named(series: Series) -> str:
    return " ".join(name for name in series if name)


def _wrong_tally(series: Series, tally: Tally) -> Iterator[str]:
    if tally.samples <= 0 or not all(map(isfinite, (tally.sum, tally.least, tally.most))):
        yield "it says nothing"
        return
    room = _CLOSE * (1 + abs(tally.sum))
    if not tally.least * tally.samples - room <= tally.sum <= tally.most * tally.samples + room:
        yield "its sum does not fit its least and most"
    is_time = series.metric in METRICS and METRICS[series.metric].kind == "time"
    if is_time and sum(tally.spread.values()) != tally.samples:
        yield "its spread does not count every sample"
    if any(not 0 <= bucket <= len(BOUNDS) for bucket in tally.spread):
        yield "its spread has a bucket there is not"
