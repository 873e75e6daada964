"""`tablewright db metrics TABLE`: what was measured of a table, as figures and small charts.

A store has fourteen days of it, minute by minute, in each of its regions, and so has the server that has it open;
Amazon keeps its figures in CloudWatch, which is another service.
"""

import argparse
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tablewright.cli import where
from tablewright.cli.words import as_json, as_table, chart

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.engine import Engine

SUMMARY = "Show what was measured of a table: units, throttling, errors, latency, items."
EXAMPLES = """The figures of the last hours come with a chart, one bar for each of up to 48 periods. A table that is in
several regions is shown in each of them, unless --region names one.

examples:
  tablewright db metrics pets --data ./data --hours 24
  tablewright db metrics pets --endpoint http://127.0.0.1:8000 --region eu-west-1 --json"""

BARS = 48


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="its name")
    parser.add_argument(
        "--index", default="", metavar="NAME", help="of this index instead of the table itself"
    )
    parser.add_argument(
        "--hours", type=_hours, default=3, help="how far back, 1 to 336 (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list, with every point")
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
    found = _asked(given) if place.engine is None else _measured(given, place, place.engine)
    if given.json:
        print(as_json(found))
    elif not found:
        print(f"nothing was measured of {given.table} in the last {given.hours} hours")
    else:
        # Which region it is matters where there are several.
        skipped = 0 if len({one["region"] for one in found}) > 1 else 1
        heading = ("region", "metric", "unit", "total", "most", f"the last {given.hours} h")
        print(as_table(heading[skipped:], [_row(one)[skipped:] for one in found]))
    return 0


# --- of a server ---


def _asked(given: argparse.Namespace) -> list[dict[str, Any]]:
    from tablewright.cli.served_figures import fetched

    if given.endpoint is None or where.is_amazon(given.endpoint):
        raise where.Misused("Amazon keeps the figures of its tables in CloudWatch; ask there")
    asked = {"table": given.table, "index": given.index, "hours": given.hours, "region": given.region}
    return fetched(given.endpoint, given.metrics_token, **asked)


# --- of a store ---


def _measured(given: argparse.Namespace, place: where.Place, engine: "Engine") -> list[dict[str, Any]]:
    """Every figure of the table, in the region that was named or in all that the store has."""
    from tablewright.engine.metric_figures import figures

    found: list[dict[str, Any]] = []
    is_there = False
    for one in _engines(given, Path(place.name), engine):
        if given.table in one.tables:
            is_there = True
            region, now = one.place.region, one.now()
            found += figures(one.metrics, region, now, given.table, given.index, given.hours)
    if not is_there:
        place.call("DescribeTable", {"TableName": given.table})  # refused by its own name
    return found


def _engines(given: argparse.Namespace, directory: Path, home: "Engine") -> "Iterator[Engine]":
    """The store's engine, and those of the regions below it, one after the other."""
    from tablewright.engine import Engine
    from tablewright.engine.storage import stores_below

    yield home
    if given.region is None:
        for path in stores_below(directory):
            with Engine.open(path, region=path.name, ttl_seconds=where.ALL_YEAR) as engine:
                yield engine


# --- as a table ---


def _bars(one: dict[str, Any]) -> list[float]:
    """A figure for each period: sums as they are, levels as they stood, times by what 99 of 100 took."""
    bars = [0.0] * (BARS + 1)
    since, period = datetime.fromisoformat(one["since"]), timedelta(minutes=one["minutes"])
    kind = one["kind"]
    for point in one["points"]:
        place = int((datetime.fromisoformat(point["at"]) - since) / period)
        if 0 <= place < len(bars):
            slow = point["p99"] or point["sum"]
            bars[place] = point["most"] if kind == "level" else slow if kind == "time" else point["sum"]
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
    return [one["region"], name, one["unit"], f"{_figure(total)} {words}", _figure(most), chart(_bars(one))]


def _figure(value: float) -> str:
    return f"{value:.0f}" if value == int(value) or value >= 100 else f"{value:.3g}"
