"""`tablewright db metrics TABLE`: what was measured of a table, as figures and small charts.

A store has fourteen days of it, minute by minute. A server tells what it has counted since it was started, in
Prometheus' words; Amazon keeps its figures in CloudWatch, which is another service.
"""

import argparse
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tablewright.cli import where
from tablewright.cli.words import as_json, as_table, chart

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.engine import Engine
    from tablewright.engine.metric_reading import Point

SUMMARY = "Show what was measured of a table: units, throttling, errors, latency, items."
EXAMPLES = """From a store (--data) the figures of the last hours come with a chart, one bar for each of up to 48
periods. A server is asked for what it counted since it was started.

examples:
  tablewright db metrics pets --data ./data --hours 24
  tablewright db metrics pets --endpoint http://127.0.0.1:8000 --json"""

BARS = 48


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="its name")
    parser.add_argument(
        "--index", default="", metavar="NAME", help="of this index instead of the table itself"
    )
    parser.add_argument(
        "--hours", type=_hours, default=3, help="how far back, 1 to 336 (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list, with every point of a store")
    parser.add_argument(
        "--metrics-token", type=Path, metavar="FILE", help="the token of a server that has credentials"
    )
    where.arguments(parser)


def _hours(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 336:
        raise argparse.ArgumentTypeError(f"hours are 1 to 336 (14 days), not {text!r}")
    return int(text)


def run(given: argparse.Namespace) -> int:
    return where.at(given, lambda place: _show(given, place))


def _show(given: argparse.Namespace, place: where.Place) -> int:
    place.call(
        "DescribeTable", {"TableName": given.table}
    )  # a table that is not there is refused by its own name
    if place.engine is None:
        return _show_counted(given, place)
    found = _measured(given, place.engine)
    if given.json:
        print(as_json([{name: value for name, value in one.items() if name != "bars"} for one in found]))
    elif not found:
        print(f"nothing was measured of {given.table} in the last {given.hours} hours")
    else:
        print(
            as_table(
                ("metric", "unit", "total", "most", f"the last {given.hours} h"), [_row(one) for one in found]
            )
        )
    return 0


# --- of a store ---


def _measured(given: argparse.Namespace, engine: "Engine") -> list[dict[str, Any]]:
    """Every metric of the table of which there is a point."""
    from tablewright.engine.metric_names import METRICS

    now = engine.now()
    period = timedelta(minutes=-(-given.hours * 60 // BARS))
    since = _whole(now - timedelta(hours=given.hours), period)
    known = {
        (one.metric, one.detail)
        for one in engine.metrics.known()
        if (one.table, one.index_name) == (given.table, given.index)
    }
    found = []
    for name, detail in sorted(known):
        points = engine.metrics.series(
            name, table=given.table, index=given.index, operation=detail or None, since=since, period=period
        )
        if not points:
            continue
        metric = METRICS[name]
        found.append(
            {
                "metric": name,
                **({metric.detail: detail} if detail else {}),
                "unit": metric.unit,
                "kind": metric.kind,
                "points": [
                    {"at": point.at.isoformat(), "samples": point.samples, "sum": point.sum, "least": point.least,
                     "most": point.most, "p50": point.p50, "p99": point.p99}
                    for point in points
                ],
                "bars": _bars(points, since, period, metric.kind),
            }
        )  # fmt: skip
    return found


def _whole(moment: datetime, period: timedelta) -> datetime:
    """The beginning of the period a moment is in, as points begin."""
    seconds = period.total_seconds()
    return datetime.fromtimestamp(moment.timestamp() // seconds * seconds, moment.tzinfo)


def _bars(points: "list[Point]", since: datetime, period: timedelta, kind: str) -> list[float]:
    """A figure for each period: sums as they are, levels as they stood, times by what 99 of 100 took."""
    bars = [0.0] * (BARS + 1)
    for point in points:
        place = int((point.at - since) / period)
        if 0 <= place < len(bars):
            bars[place] = (
                point.most if kind == "level" else (point.p99 or point.sum) if kind == "time" else point.sum
            )
    return bars


def _row(one: dict[str, Any]) -> list[str]:
    points = one["points"]
    details = [str(value) for name, value in one.items() if name in ("Operation", "ReceivingRegion")]
    name = " ".join([one["metric"], *details])
    if one["kind"] == "level":
        total, most = points[-1]["most"], max(point["most"] for point in points)
    elif one["kind"] == "time":
        total = sum(point["sum"] for point in points) / max(sum(point["samples"] for point in points), 1)
        most = max(point["most"] for point in points)
    else:
        total, most = sum(point["sum"] for point in points), max(point["sum"] for point in points)
    words = {"level": "now", "time": "mean", "sum": "sum"}[one["kind"]]
    return [name, one["unit"], f"{_figure(total)} {words}", _figure(most), chart(one["bars"])]


def _figure(value: float) -> str:
    return f"{value:.0f}" if value == int(value) or value >= 100 else f"{value:.3g}"


# --- of a server ---


def _show_counted(given: argparse.Namespace, place: where.Place) -> int:
    from tablewright.cli.prometheus import fetched, told

    if given.endpoint is None or where.is_amazon(given.endpoint):
        raise where.Misused("Amazon keeps the figures of its tables in CloudWatch; ask there")
    found = [
        one
        for one in told(fetched(given.endpoint, given.metrics_token))
        if one["labels"].get("table") == given.table and one["labels"].get("index", "") == given.index
    ]
    if given.json:
        print(as_json(found))
        return 0
    rows = [
        [
            " ".join([one["metric"], *(v for k, v in one["labels"].items() if k not in ("table", "index"))]),
            _figure(one["value"]),
        ]
        for one in found
    ]
    print(as_table(("metric", "value"), rows))
    return 0
