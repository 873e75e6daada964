"""SQL of metrics: points by series and minute, and the targets of autoscaling.

A series is a metric of a table, an index, an operation; a point is its histogram of one minute (minutes since 1970).
Must hold: a point's series exists. Elsewhere: the tables (storage/schema.py), collecting (collector.py).
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import orjson

from tablewright.engine.metrics.histogram import Histogram
from tablewright.engine.metrics.names import METRICS
from tablewright.engine.storage.row_writer import RowWriter
from tablewright.engine.storage.rows import RowReader


class Series(NamedTuple):
    """A metric and its dimensions; the empty string where it has none."""

    metric: str
    table: str = ""
    index_name: str = ""
    detail: str = ""


class ScalingTarget(NamedTuple):
    """A target of autoscaling. `index_name` is empty for the table itself, `kind` is Read or Write."""

    table: str
    index_name: str
    kind: str
    target: float
    least: int
    most: int


def add_points(rows: RowWriter, points: Iterable[tuple[Series, int, Histogram]]) -> None:
    """Merge histograms into the points of their minutes."""
    columns = "series, minute, samples, sum, least, most, spread"
    sql = f"INSERT OR REPLACE INTO metric_points({columns}) VALUES(?, ?, ?, ?, ?, ?, ?)"
    numbers: dict[Series, int] = {}
    for series, minute, histogram in points:
        number = numbers.get(series)
        if number is None:
            number = numbers[series] = _number(rows, series)
        known = next(points_of(rows, number, minute, minute + 1), None)
        whole = histogram
        # The last value of a gauge replaces the one before.
        if known is not None and METRICS[series.metric].kind != "level":
            whole = known[1]
            whole.merge(histogram)
        spread = orjson.dumps(sorted(whole.spread.items())) if whole.spread else None
        rows.execute(sql, (number, minute, whole.samples, whole.sum, whole.least, whole.most, spread))


def _number(rows: RowWriter, series: Series) -> int:
    sql = "SELECT id FROM metric_series WHERE metric = ? AND owner = ? AND part = ? AND detail = ?"
    metric, owner, part, detail = series
    return rows.first(int, sql, *series) or rows.add_row(
        "metric_series", metric=metric, owner=owner, part=part, detail=detail
    )


def all_series(rows: RowReader) -> dict[int, Series]:
    sql = "SELECT id, metric, owner, part, detail FROM metric_series ORDER BY id"
    return {number: Series(*names) for number, *names in rows.execute(sql)}


def points_of(rows: RowReader, series: int, since: int, until: int) -> Iterator[tuple[int, Histogram]]:
    """The points in minutes [since, until), in order."""
    found = rows.execute(
        "SELECT minute, samples, sum, least, most, spread FROM metric_points "
        "WHERE series = ? AND minute >= ? AND minute < ? ORDER BY minute",
        (series, since, until),
    )
    for minute, samples, total, least, most, spread in list(found):
        yield minute, Histogram(samples, total, least, most, dict(orjson.loads(spread)) if spread else {})


def last_point(rows: RowReader, series: int, before: int) -> tuple[int, Histogram] | None:
    """The newest point before that minute."""
    sql = (
        "SELECT minute, samples, sum, least, most FROM metric_points "
        "WHERE series = ? AND minute < ? ORDER BY minute DESC LIMIT 1"
    )
    return rows.first(lambda minute, *values: (minute, Histogram(*values)), sql, series, before)


def prune_points(rows: RowWriter, before: int, limit: int) -> bool:
    """Delete at most `limit` points from before that minute, and series without points; False if there were none."""
    for number in all_series(rows):
        rows.execute(
            "DELETE FROM metric_points WHERE series = ? AND minute IN "
            "(SELECT minute FROM metric_points WHERE series = ? AND minute < ? LIMIT ?)",
            (number, number, before, limit),
        )
        removed = rows.connection.changes()
        if removed:
            rows.execute(
                "DELETE FROM metric_series WHERE id = ? AND NOT EXISTS "
                "(SELECT 1 FROM metric_points WHERE series = ?)",
                (number, number),
            )
            return True
    return False


def orphan_points(rows: RowReader) -> int:
    """How many points have no series; for verify."""
    sql = "SELECT count(*) FROM metric_points WHERE series NOT IN (SELECT id FROM metric_series)"
    ((count,),) = rows.execute(sql)
    return int(count)


# --- autoscaling ---


def save_scaling(rows: RowWriter, scaling: ScalingTarget) -> None:
    columns = "owner, part, kind, target, least, most"
    rows.execute(f"INSERT OR REPLACE INTO scaling({columns}) VALUES(?, ?, ?, ?, ?, ?)", scaling)


def forget_scaling(rows: RowWriter, table: str, index: str, kind: str) -> bool:
    rows.execute("DELETE FROM scaling WHERE owner = ? AND part = ? AND kind = ?", (table, index, kind))
    return bool(rows.connection.changes())


def all_scaling(rows: RowReader) -> list[ScalingTarget]:
    sql = "SELECT owner, part, kind, target, least, most FROM scaling ORDER BY owner, part, kind"
    return rows.select(ScalingTarget, sql)
