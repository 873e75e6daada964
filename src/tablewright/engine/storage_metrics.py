"""What is said to the store about figures: points by series and minute, and the settings of autoscaling.

A series is a figure of a table, an index, an operation; a point is its tally of one minute (minutes since 1970).
Must hold: a point's series exists. Elsewhere: the texts of the tables (schema.py), what it all means (metrics.py).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tablewright.engine.metric_names import METRICS
from tablewright.engine.metric_values import Tally, spread_from_bytes, spread_to_bytes
from tablewright.engine.storage_rows import Rows, Writes


class Series(NamedTuple):
    """Which figure of what: the empty text where a dimension has no say."""

    metric: str
    table: str = ""
    index_name: str = ""
    detail: str = ""


class Scaling(NamedTuple):
    """A setting of autoscaling. `index_name` is empty for the table itself, `kind` is Read or Write."""

    table: str
    index_name: str
    kind: str
    target: float
    least: int
    most: int


def add_points(rows: Writes, points: Iterable[tuple[Series, int, Tally]]) -> None:
    """Add tallies to what is known of their minutes."""
    numbers: dict[Series, int] = {}
    for series, minute, tally in points:
        number = numbers.get(series)
        if number is None:
            number = numbers[series] = _number(rows, series)
        known = next(points_of(rows, number, minute, minute + 1), None)
        whole = tally
        # A level is what it was last, not what it was together.
        if known is not None and METRICS[series.metric].kind != "level":
            whole = known[1]
            whole.merge(tally)
        rows.connection.execute(
            "INSERT OR REPLACE INTO metric_points(series, minute, samples, sum, least, most, spread) "
            "VALUES(?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                minute,
                whole.samples,
                whole.sum,
                whole.least,
                whole.most,
                spread_to_bytes(whole.spread),
            ),
        )


def _number(rows: Writes, series: Series) -> int:
    sql = "SELECT id FROM metric_series WHERE metric = ? AND owner = ? AND part = ? AND detail = ?"
    for (number,) in list(rows.connection.execute(sql, series)):
        return int(number)
    rows.connection.execute(
        "INSERT INTO metric_series(metric, owner, part, detail) VALUES(?, ?, ?, ?)", series
    )
    return rows.connection.last_insert_rowid()


def all_series(rows: Rows) -> dict[int, Series]:
    sql = "SELECT id, metric, owner, part, detail FROM metric_series ORDER BY id"
    return {number: Series(*names) for number, *names in rows.connection.execute(sql)}


def points_of(rows: Rows, series: int, since: int, until: int) -> Iterator[tuple[int, Tally]]:
    """Minutes in [since, until) of which something is known, in order."""
    found = rows.connection.execute(
        "SELECT minute, samples, sum, least, most, spread FROM metric_points "
        "WHERE series = ? AND minute >= ? AND minute < ? ORDER BY minute",
        (series, since, until),
    )
    for minute, samples, total, least, most, spread in list(found):
        yield minute, Tally(samples, total, least, most, spread_from_bytes(spread))


def last_point(rows: Rows, series: int, before: int) -> tuple[int, Tally] | None:
    """The newest point before that minute."""
    sql = (
        "SELECT minute, samples, sum, least, most FROM metric_points "
        "WHERE series = ? AND minute < ? ORDER BY minute DESC LIMIT 1"
    )
    for minute, *values in list(rows.connection.execute(sql, (series, before))):
        return minute, Tally(*values)
    return None


def prune_points(rows: Writes, before: int, limit: int) -> bool:
    """Forget at most `limit` points from before that minute, and series of which nothing is left; False if none."""
    for number in all_series(rows):
        rows.connection.execute(
            "DELETE FROM metric_points WHERE series = ? AND minute IN "
            "(SELECT minute FROM metric_points WHERE series = ? AND minute < ? LIMIT ?)",
            (number, number, before, limit),
        )
        removed = rows.connection.changes()
        if removed:
            rows.connection.execute(
                "DELETE FROM metric_series WHERE id = ? AND NOT EXISTS "
                "(SELECT 1 FROM metric_points WHERE series = ?)",
                (number, number),
            )
            return True
    return False


def orphan_points(rows: Rows) -> int:
    """How many points belong to no series; for verify."""
    sql = "SELECT count(*) FROM metric_points WHERE series NOT IN (SELECT id FROM metric_series)"
    ((count,),) = rows.connection.execute(sql)
    return int(count)


# --- autoscaling ---


def save_scaling(rows: Writes, scaling: Scaling) -> None:
    rows.connection.execute(
        "INSERT OR REPLACE INTO scaling(owner, part, kind, target, least, most) VALUES(?, ?, ?, ?, ?, ?)",
        scaling,
    )


def forget_scaling(rows: Writes, table: str, index: str, kind: str) -> bool:
    rows.connection.execute(
        "DELETE FROM scaling WHERE owner = ? AND part = ? AND kind = ?", (table, index, kind)
    )
    return bool(rows.connection.changes())


def all_scaling(rows: Rows) -> list[Scaling]:
    sql = "SELECT owner, part, kind, target, least, most FROM scaling ORDER BY owner, part, kind"
    return [Scaling(*row) for row in rows.connection.execute(sql)]


def points_between(
    rows: Rows, wanted: Mapping[int, Series], since: int, until: int
) -> Iterator[tuple[Series, int, Tally]]:
    """Every point of these series in [since, until)."""
    for number, series in wanted.items():
        for minute, tally in points_of(rows, number, since, until):
            yield series, minute, tally
