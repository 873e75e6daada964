"""The figures of a table in a region over time: units, requests, times, refusals, size; each operation as numbers.

Must hold: an address with an unknown choice is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from tablewright.app.designs.browse import indexes_of
from tablewright.app.designs.timelines import Line, Timeline
from tablewright.app.runtime import Runtime
from tablewright.edge.identity.guards import FindPrincipal
from tablewright.edge.problems import bad_request, not_found
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
from tablewright.pages.forms import Form, asked
from tablewright.pages.layout import Console
from tablewright.pages.words import number, size

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
class Look:
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
        region, span = _chosen(runtime, form)
        engine = runtime.regions[region]
        tables = sorted(engine.tables)
        table = form.get("table") or _busiest(engine, tables)
        look = look_at(engine, table, span) if table else None
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
            **(_shown(engine, look) if look else {"figures": (), "timelines": (), "operations": ()}),
        )


def _chosen(runtime: Runtime, form: Form) -> tuple[str, str]:
    """The region and the span of time that were asked for; an address that says something else is refused."""
    for name in form.values:
        if name not in ASKED:
            raise bad_request(
                "UNKNOWN_CHOICE", f"Unknown parameter {name}; this page takes {', '.join(ASKED)}.", name
            )
    region, span = form.get("region") or runtime.regions.home, form.get("span") or "hour"
    for name, chosen, choices in (("region", region, list(runtime.regions)), ("span", span, list(SPANS))):
        if chosen not in choices:
            raise bad_request(
                "UNKNOWN_CHOICE", f"There is no {name} {chosen}; choose one of {', '.join(choices)}.", name
            )
    return region, span


def look_at(engine: Engine, table: str, span: str) -> Look:
    """The table's figures; says so if there is no such table."""
    if table not in engine.tables:
        raise not_found("NO_SUCH_TABLE", "There is no table of this name in the store.")
    _, back, period = SPANS[span]
    now = engine.now()
    # Whole steps, so that a picture does not dance with the second it is asked for.
    steps = int(now.timestamp() // period.total_seconds()) + 1
    end = datetime.fromtimestamp(steps * period.total_seconds(), now.tzinfo)
    return Look(engine.metrics, table, now, end - back, end, period)


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


def _shown(engine: Engine, look: Look) -> dict[str, Any]:
    described = engine.call("DescribeTable", {"TableName": look.table})["Table"]
    indexes = [each["IndexName"] for each in indexes_of(described) if "IndexStatus" in each]
    known = [
        series.detail
        for series in look.metrics.known()
        if series.metric == LATENCY and series.table == look.table
    ]
    operations = [row for verb in known if (row := _operation(look, verb))["requests"]]
    operations.sort(key=lambda row: -row["requests"])
    return {
        "figures": _figures(look, described, operations),
        "timelines": [
            _units(look, "Read", CONSUMED_READ, PROVISIONED_READ, MOST_ON_DEMAND_READ, indexes),
            _units(look, "Write", CONSUMED_WRITE, PROVISIONED_WRITE, MOST_ON_DEMAND_WRITE, indexes),
            _requests(look, [row["verb"] for row in operations]),
            _times(look),
            _refusals(look),
            _items(look),
            *_rare(look),
        ],
        "operations": operations,
    }


def _figures(
    look: Look, described: dict[str, Any], operations: Sequence[dict[str, Any]]
) -> list[tuple[str, str, str]]:
    throttled = look.total(THROTTLED_REQUESTS)
    return [
        ("Requests", number(sum(row["requests"] for row in operations)), ""),
        ("Read units", number(round(look.total(CONSUMED_READ), 1)), ""),
        ("Write units", number(round(look.total(CONSUMED_WRITE), 1)), ""),
        ("Throttled", number(throttled), "requests"),
        ("Items", number(described["ItemCount"]), "now"),
        ("Size", size(described["TableSizeBytes"]), "now"),
    ]


def _operation(look: Look, verb: str) -> dict[str, Any]:
    """One operation over the whole span, as numbers."""
    points = look.metrics.series(
        LATENCY, table=look.table, operation=verb, since=look.start, until=look.end, period=None
    )
    whole = points[0] if points else None
    return {
        "verb": verb,
        "requests": whole.samples if whole else 0,
        "mean": ms(whole.mean) if whole else "",
        "p50": ms(whole.p50 or 0.0) if whole else "",
        "p99": ms(whole.p99 or 0.0) if whole else "",
        "most": ms(whole.most) if whole else "",
        "returned": number(look.total(RETURNED_ITEMS, operation=verb)) if verb in ("Query", "Scan") else "–",
        "throttled": look.total(THROTTLED_REQUESTS, operation=verb),
        "failed": look.total(SYSTEM_ERRORS, operation=verb),
    }


def _units(
    look: Look, kind: str, used: str, provisioned: str, ceiling: str, indexes: Sequence[str]
) -> Timeline:
    def rate(point: Point) -> float:
        return point.sum / look.seconds(point)

    lines = [look.line(name or "Table", look.points(used, index=name), rate) for name in ("", *indexes)]
    limits = look.points(provisioned) or look.points(ceiling)
    words = "provisioned" if look.points(provisioned) else "maximum"
    if limits:
        lines.append(look.line(words, limits, lambda point: point.most, missing=None, is_limit=True))
    about = f"{kind} units per second, for the table and each global index."
    return look.timeline(f"{kind} capacity", about, lines, number_of_few_digits)


def _requests(look: Look, verbs: Sequence[str]) -> Timeline:
    lines = [
        look.line(
            verb,
            look.points(LATENCY, operation=verb),
            lambda point: point.samples * 60 / max(look.seconds(point), 60),
        )
        for verb in verbs
    ]
    empty = look.line("Requests", [], lambda point: 0.0)
    about = "Successful requests per minute, by operation."
    return look.timeline("Requests", about, lines or [empty], number_of_few_digits)


def _times(look: Look) -> Timeline:
    points = look.points(LATENCY)
    lines = [
        look.line("p50", points, lambda point: point.p50, missing=None),
        look.line("p99", points, lambda point: point.p99, missing=None),
    ]
    about = "Time that requests took inside the engine: median (p50) and 99th percentile (p99)."
    return look.timeline("Latency", about, lines, ms)


def _refusals(look: Look) -> Timeline:
    named = {
        "Throttled reads": (throttle_events("Read"), look.table),
        "Throttled writes": (throttle_events("Write"), look.table),
        "Failed conditions": (CONDITION_FAILED, look.table),
        "Conflicts": (TRANSACTION_CONFLICT, look.table),
        "User errors (all tables)": (USER_ERRORS, ""),
    }
    lines = [
        look.line(words, look.points(metric, table=table), lambda point: point.sum)
        for words, (metric, table) in named.items()
    ]
    # If nothing was refused, the first line shows zero: a chart without a line looks broken.
    busy = [line for line in lines if any(line.known)]
    return look.timeline("Refusals", "Refused requests, by reason.", busy or lines[:1], number_of_few_digits)


def _items(look: Look) -> Timeline:
    line = look.line("Items", look.points(ITEM_COUNT), lambda point: point.most, missing=None)
    bytes_ = look.points(SIZE_BYTES)
    about = f"Items in the table ({size(bytes_[-1].most)})." if bytes_ else "Items in the table."
    return look.timeline("Items", about, [line], number_of_few_digits)


def _rare(look: Look) -> list[Timeline]:
    """What most tables have nothing of."""
    found = []
    expired = look.line("Expired", look.points(EXPIRED_ITEMS), lambda point: point.sum)
    if any(expired.known):
        about = "Items deleted by TTL."
        found.append(look.timeline("Expired items", about, [expired], number_of_few_digits))
    receiving = [
        series.detail
        for series in look.metrics.known()
        if (series.metric, series.table) == (REPLICATION_LATENCY, look.table)
    ]
    lags = [
        look.line(
            region,
            look.points(REPLICATION_LATENCY, operation=region),
            lambda point: point.p99,
            missing=None,
        )
        for region in receiving
    ]
    if any(lag.known for lag in lags):
        about = "Time between a write here and its arrival in each replica (99th percentile)."
        found.append(look.timeline("Replication", about, lags, ms))
    return found


def ms(value: float) -> str:
    """`0.08 ms`, `12 ms`, `1.5 s`."""
    if value >= 1000:
        return f"{number(round(value / 1000, 1))} s"
    return f"{number(round(value, 2 if value < 10 else 0))} ms"


def number_of_few_digits(value: float) -> str:
    """At most three significant digits, for the labels of a scale."""
    return number(round(value, 2 if value < 10 else 1 if value < 100 else 0))
