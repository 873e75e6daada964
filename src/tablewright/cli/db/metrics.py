"""`tablewright db metrics TABLE`: the metrics of a table, as numbers and small charts.

A store keeps 14 days of metrics per minute in each of its regions, and its server serves them; AWS keeps metrics in
CloudWatch, a separate service.
Elsewhere: access to /metrics (wire/metrics.py), the metrics themselves (engine/metrics/table_report.py).
"""

import argparse
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tablewright.cli.argument_types import whole_number
from tablewright.cli.files import read_text
from tablewright.cli.format import as_table, chart
from tablewright.cli.output import UsageError, print_result
from tablewright.cli.target import NO_TTL_SWEEP, Target, add_target_options, is_aws, with_target
from tablewright.engine import Engine
from tablewright.engine.metrics.table_report import table_metrics
from tablewright.engine.storage.sqlite import stores_below

EXAMPLES = """Each metric has a chart of the last --hours with up to 48 bars. A table with replicas is shown for each
region, unless --region names one.

tablewright db metrics pets --data ./data --hours 24
tablewright db metrics pets --endpoint http://127.0.0.1:8000 --region eu-west-1 --json"""

BARS = 48
TIMEOUT = 30


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="the table name")
    parser.add_argument("--index", default="", metavar="NAME", help="an index instead of the table itself")
    hours = whole_number("a whole number of hours from 1 to 336 (14 days)", 1, 336)
    parser.add_argument(
        "--hours", type=hours, default=3, help="the period, 1 to 336 hours (default: %(default)s)"
    )
    parser.add_argument(
        "--metrics-token",
        type=Path,
        metavar="FILE",
        help="a file with the metrics token, for a server with credentials",
    )
    add_target_options(parser, json="print a JSON list with every data point")


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    found = _from_server(given) if target.engine is None else _from_store(given, target, target.engine)
    # The region column is shown only if there are several.
    skipped = 0 if len({one["region"] for one in found}) > 1 else 1
    heading = ("region", "metric", "unit", "total", "max", f"last {given.hours} h")
    text = f"no metrics of {given.table} in the last {given.hours} hours"
    if found:
        text = as_table(heading[skipped:], [_row(one)[skipped:] for one in found])
    print_result(given, found, text)
    return 0


# --- from a server ---


def _from_server(given: argparse.Namespace) -> list[dict[str, Any]]:
    """The metrics that /metrics returns; raises UsageError if the server refuses or does not answer."""
    endpoint = given.endpoint
    if endpoint is None or is_aws(endpoint):
        raise UsageError("metrics of AWS tables are in CloudWatch; use its tools")
    query = {"table": given.table, "index": given.index, "hours": given.hours, "region": given.region}
    encoded = urlencode({name: value for name, value in query.items() if value is not None})
    request = urllib.request.Request(f"{endpoint.rstrip('/')}/metrics?{encoded}")
    if given.metrics_token is not None:
        request.add_header("Authorization", f"Bearer {read_text(given.metrics_token).strip()}")
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            found = json.load(answer)
    except urllib.error.HTTPError as refusal:
        with refusal:
            raise UsageError(_refusal_text(endpoint, refusal)) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{endpoint} could not be asked for metrics: {error}") from None
    if not isinstance(found, list):
        raise UsageError(f"{endpoint} is not a Tablewright server: its /metrics is not a list of metrics")
    return found


def _refusal_text(endpoint: str, refusal: urllib.error.HTTPError) -> str:
    raw = refusal.read(2000).decode(errors="replace")
    try:
        body = json.loads(raw)
        name = str(body["__type"]).rpartition("#")[2]
        message = str(body.get("message") or body.get("Message"))
    except (ValueError, KeyError, TypeError):
        return f"{endpoint} refused to return metrics ({refusal.code}): {raw}"
    if name in ("ResourceNotFoundException", "ValidationException"):
        return f"{name}: {message}"
    return (
        f"{endpoint} refused to return metrics: {name}: {message}; "
        "a server with credentials needs its token: --metrics-token FILE"
    )


# --- from a local store ---


def _from_store(given: argparse.Namespace, target: Target, engine: Engine) -> list[dict[str, Any]]:
    """The table's metrics in --region, or in all regions of the store."""
    found: list[dict[str, Any]] = []
    exists = False
    for one in _engines(given, Path(target.name), engine):
        if given.table in one.tables:
            exists = True
            region, now = one.place.region, one.now()
            found += table_metrics(one.metrics, region, now, given.table, given.index, given.hours)
    if not exists:
        target.describe_table(given.table)  # raises DynamoDB's error for a missing table
    return found


def _engines(given: argparse.Namespace, directory: Path, home: Engine) -> Iterator[Engine]:
    """The store's engine, then those of the further regions below it, one open at a time."""
    yield home
    if given.region is None:
        for path in stores_below(directory):
            with Engine.open(path, region=path.name, ttl_seconds=NO_TTL_SWEEP) as engine:
                yield engine


# --- as a table ---


def _bars(one: dict[str, Any]) -> list[float]:
    """One value per period: the sum, for levels the maximum, for times the 99th percentile."""
    bars = [0.0] * (BARS + 1)
    since, period = datetime.fromisoformat(one["since"]), timedelta(minutes=one["minutes"])
    kind = one["kind"]
    for point in one["points"]:
        bar = int((datetime.fromisoformat(point["at"]) - since) / period)
        if 0 <= bar < len(bars):
            slow = point["p99"] or point["sum"]
            bars[bar] = point["most"] if kind == "level" else slow if kind == "time" else point["sum"]
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
