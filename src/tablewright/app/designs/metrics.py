"""The figures of a table in a region over time: units, requests, times, refusals, size; each operation as numbers.

Must hold: an address with an unknown choice is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.designs.choices import chosen, refuse_unknown
from tablewright.app.designs.designs import indexes_of
from tablewright.app.runtime import Runtime
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import not_found
from tablewright.engine import Engine
from tablewright.engine.metrics.collector import MetricsCollector
from tablewright.engine.metrics.names import (
    CONDITION_FAILED,
    CONSUMED_READ,
    CONSUMED_WRITE,
    EXPIRED_ITEMS,
    ITEM_COUNT,
    LATENCY,
    MOST_ON_DEMAND_READ,
    MOST_ON_DEMAND_WRITE,
    PROVISIONED_READ,
    PROVISIONED_WRITE,
    REPLICATION_LATENCY,
    RETURNED_ITEMS,
    SIZE_BYTES,
    SYSTEM_ERRORS,
    THROTTLED_REQUESTS,
    TRANSACTION_CONFLICT,
    USER_ERRORS,
    throttle_events,
)
from tablewright.engine.metrics.query import Point
from tablewright.english import number, size
from tablewright.pages.charts import Line, Timeline
from tablewright.pages.forms import Form, asked
from tablewright.pages.layout import Console

# What can be asked for: how long back, and how long a step is.
SPANS = {
    "hour": ("the last hour", timedelta(hours=1), timedelta(minutes=1)),
    "quarter": ("the last 6 hours", timedelta(hours=6), timedelta(minutes=5)),
    "day": ("the last day", timedelta(days=1), timedelta(minutes=20)),
    "fortnight": ("the last 14 days", timedelta(days=14), timedelta(hours=4)),
}
# What the page's address may say.
ASKED = ("table", "region", "span")


@dataclass(frozen=True, slots=True)
class TableMetrics:
    """One table's figures in one span of time."""

    metrics: MetricsCollector
    table: str
    now: datetime
    start: datetime
    end: datetime
    period: timedelta

    def points(self, metric: str, **wanted: Any) -> list[Point]:
        return self.metrics.series(
            metric, **{"table": self.table, **wanted}, since=self.start, until=self.end, period=self.period
        )

    def line(
        self,
        name: str,
        points: Sequence[Point],
        value: Callable[[Point], float | None],
        *,
        missing: float | None = 0.0,
        is_limit: bool = False,
    ) -> Line:
        """One value for each step; `missing` is what a step is worth of which nothing is known."""
        known = {point.at: value(point) for point in points}
        steps = (self.end - self.start) // self.period
        return Line(
            name,
            [known.get(self.start + self.period * step, missing) for step in range(steps)],
            is_limit,
        )

    def timeline(
        self, title: str, about: str, lines: Sequence[Line], shown: Callable[[float], str]
    ) -> Timeline:
        return Timeline(title, about, self.start, self.period, tuple(lines), shown)

    def seconds(self, point: Point) -> float:
        """How long a step has lasted: the newest is still running."""
        return max(min(self.period, self.now - point.at).total_seconds(), 1.0)

    def total(self, metric: str, **wanted: Any) -> float:
        return sum(point.sum for point in self.points(metric, **wanted))


def add_metrics(router: APIRouter, runtime: Runtime, console: Console, allowed: FindPrincipal) -> None:
    @router.get("/metrics", dependencies=[Depends(allowed)])
    def metrics(request: Request, form: Annotated[Form, Depends(asked)]) -> Response:
        refuse_unknown(form, ASKED)
        region = chosen(form, "region", list(runtime.regions), runtime.regions.home)
        span = chosen(form, "span", list(SPANS), "hour")
        engine = runtime.regions[region]
        tables = sorted(engine.tables)
        table = form.get("table") or _busiest(engine, tables)
        figures = table_metrics(engine, table, span) if table else None
        return console.page(
            request,
            "designs/metrics.html",
            title="Metrics",
            form=Form({"table": table, "span": span, "region": region}),
            tables=tables,
            regions=list(runtime.regions),
            spans=[(name, words) for name, (words, *_) in SPANS.items()],
            span_words=SPANS[span][0],
            step=SPANS[span][2],
            dynamodb=runtime.dynamodb_url,
            **(_shown(engine, figures) if figures else {"figures": (), "timelines": (), "operations": ()}),
        )


def table_metrics(engine: Engine, table: str, span: str) -> TableMetrics:
    """The table's figures; says so if there is no such table."""
    if table not in engine.tables:
        raise not_found("NO_SUCH_TABLE", "There is no table of this name in the store.")
    _, back, period = SPANS[span]
    now = engine.now()
    # Whole steps, so that a picture does not dance with the second it is asked for.
    steps = int(now.timestamp() // period.total_seconds()) + 1
    end = datetime.fromtimestamp(steps * period.total_seconds(), now.tzinfo)
    return TableMetrics(engine.metrics, table, now, end - back, end, period)


def _busiest(engine: Engine, tables: Sequence[str]) -> str:
    """The table that was asked for most in the last hour; the first one if none was."""
    since = engine.now() - timedelta(hours=1)
    asked_for = {
        name: sum(
            point.samples
            for point in engine.metrics.series(LATENCY, table=name, since=since, period=timedelta(hours=1))
        )
        for name in tables
    }
    return max(tables, key=lambda name: asked_for[name], default="")


def _shown(engine: Engine, figures: TableMetrics) -> dict[str, Any]:
    described = engine.call("DescribeTable", {"TableName": figures.table})["Table"]
    indexes = [each["IndexName"] for each in indexes_of(described) if "IndexStatus" in each]
    known = [
        series.detail
        for series in figures.metrics.known()
        if series.metric == LATENCY and series.table == figures.table
    ]
    operations = [row for verb in known if (row := _operation(figures, verb))["requests"]]
    operations.sort(key=lambda row: -row["requests"])
    return {
        "figures": _figures(figures, described, operations),
        "timelines": [
            _units(figures, "Read", CONSUMED_READ, PROVISIONED_READ, MOST_ON_DEMAND_READ, indexes),
            _units(figures, "Write", CONSUMED_WRITE, PROVISIONED_WRITE, MOST_ON_DEMAND_WRITE, indexes),
            _requests(figures, [row["verb"] for row in operations]),
            _times(figures),
            _refusals(figures),
            _items(figures),
            *_rare(figures),
        ],
        "operations": operations,
    }


def _figures(
    figures: TableMetrics, described: dict[str, Any], operations: Sequence[dict[str, Any]]
) -> list[tuple[str, str, str]]:
    throttled = figures.total(THROTTLED_REQUESTS)
    return [
        ("Requests", number(sum(row["requests"] for row in operations)), ""),
        ("Read units", number(round(figures.total(CONSUMED_READ), 1)), ""),
        ("Write units", number(round(figures.total(CONSUMED_WRITE), 1)), ""),
        ("Throttled", number(throttled), "requests"),
        ("Items", number(described["ItemCount"]), "now"),
        ("Size", size(described["TableSizeBytes"]), "now"),
    ]


def _operation(figures: TableMetrics, verb: str) -> dict[str, Any]:
    """One operation over the whole span, as numbers."""
    points = figures.metrics.series(
        LATENCY, table=figures.table, operation=verb, since=figures.start, until=figures.end, period=None
    )
    whole = points[0] if points else None
    return {
        "verb": verb,
        "requests": whole.samples if whole else 0,
        "mean": ms(whole.mean) if whole else "",
        "p50": ms(whole.p50 or 0.0) if whole else "",
        "p99": ms(whole.p99 or 0.0) if whole else "",
        "most": ms(whole.most) if whole else "",
        "returned": number(figures.total(RETURNED_ITEMS, operation=verb))
        if verb in ("Query", "Scan")
        else "–",
        "throttled": figures.total(THROTTLED_REQUESTS, operation=verb),
        "failed": figures.total(SYSTEM_ERRORS, operation=verb),
    }


def _units(
    figures: TableMetrics, kind: str, used: str, provisioned: str, ceiling: str, indexes: Sequence[str]
) -> Timeline:
    def rate(point: Point) -> float:
        return point.sum / figures.seconds(point)

    lines = [figures.line(name or "Table", figures.points(used, index=name), rate) for name in ("", *indexes)]
    limits = figures.points(provisioned) or figures.points(ceiling)
    words = "provisioned" if figures.points(provisioned) else "maximum"
    if limits:
        lines.append(figures.line(words, limits, lambda point: point.most, missing=None, is_limit=True))
    about = f"{kind} units per second, for the table and each global index."
    return figures.timeline(f"{kind} capacity", about, lines, number_of_few_digits)


def _requests(figures: TableMetrics, verbs: Sequence[str]) -> Timeline:
    lines = [
        figures.line(
            verb,
            figures.points(LATENCY, operation=verb),
            lambda point: point.samples * 60 / max(figures.seconds(point), 60),
        )
        for verb in verbs
    ]
    empty = figures.line("Requests", [], lambda point: 0.0)
    about = "Successful requests per minute, by operation."
    return figures.timeline("Requests", about, lines or [empty], number_of_few_digits)


def _times(figures: TableMetrics) -> Timeline:
    points = figures.points(LATENCY)
    lines = [
        figures.line("p50", points, lambda point: point.p50, missing=None),
        figures.line("p99", points, lambda point: point.p99, missing=None),
    ]
    about = "Time that requests took inside the engine: median (p50) and 99th percentile (p99)."
    return figures.timeline("Latency", about, lines, ms)


def _refusals(figures: TableMetrics) -> Timeline:
    named = {
        "Throttled reads": (throttle_events("Read"), figures.table),
        "Throttled writes": (throttle_events("Write"), figures.table),
        "Failed conditions": (CONDITION_FAILED, figures.table),
        "Conflicts": (TRANSACTION_CONFLICT, figures.table),
        "User errors (all tables)": (USER_ERRORS, ""),
    }
    lines = [
        figures.line(words, figures.points(metric, table=table), lambda point: point.sum)
        for words, (metric, table) in named.items()
    ]
    # If nothing was refused, the first line shows zero: a chart without a line looks broken.
    busy = [line for line in lines if any(line.known)]
    return figures.timeline(
        "Refusals", "Refused requests, by reason.", busy or lines[:1], number_of_few_digits
    )


def _items(figures: TableMetrics) -> Timeline:
    line = figures.line("Items", figures.points(ITEM_COUNT), lambda point: point.most, missing=None)
    bytes_ = figures.points(SIZE_BYTES)
    about = f"Items in the table ({size(bytes_[-1].most)})." if bytes_ else "Items in the table."
    return figures.timeline("Items", about, [line], number_of_few_digits)


def _rare(figures: TableMetrics) -> list[Timeline]:
    """What most tables have nothing of."""
    found = []
    expired = figures.line("Expired", figures.points(EXPIRED_ITEMS), lambda point: point.sum)
    if any(expired.known):
        about = "Items deleted by TTL."
        found.append(figures.timeline("Expired items", about, [expired], number_of_few_digits))
    receiving = [
        series.detail
        for series in figures.metrics.known()
        if (series.metric, series.table) == (REPLICATION_LATENCY, figures.table)
    ]
    lags = [
        figures.line(
            region,
            figures.points(REPLICATION_LATENCY, operation=region),
            lambda point: point.p99,
            missing=None,
        )
        for region in receiving
    ]
    if any(lag.known for lag in lags):
        about = "Time between a write here and its arrival in each replica (99th percentile)."
        found.append(figures.timeline("Replication", about, lags, ms))
    return found


def ms(value: float) -> str:
    """`0.08 ms`, `12 ms`, `1.5 s`."""
    if value >= 1000:
        return f"{number(round(value / 1000, 1))} s"
    return f"{number(round(value, 2 if value < 10 else 0))} ms"


def number_of_few_digits(value: float) -> str:
    """At most three significant digits, for the labels of a scale."""
    return number(round(value, 2 if value < 10 else 1 if value < 100 else 0))
