"""The further tables of `design cost`: both capacity modes, the curve over load, and a document's own costs.

Elsewhere: the bill (cost.py), the figures (design/cost/modes.py, design/cost/curve.py, design/review/stated_costs.py).
"""

from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from tablewright.cli.format import as_table
from tablewright.design.cost import CurvePoint, Modes
from tablewright.design.cost.format import count, money
from tablewright.design.cost.modes import TARGET
from tablewright.design.review.stated_costs import Range, StatedCost


def modes_text(modes: Modes, times: Decimal) -> str:
    """Each table in both modes, and where they cost the same."""
    rows = [
        [table, money(modes.on_demand(times, table)), money(modes.provisioned(times, table))]
        for table in modes.tables
    ]
    if len(rows) > 1:
        rows.append(["all", money(modes.on_demand(times)), money(modes.provisioned(times))])
    head = ("requests a month", "on demand", f"provisioned, {TARGET} % used")
    return f"{as_table(head, rows)}\n{break_even_text(modes)}"


def break_even_text(modes: Modes) -> str:
    from_times = "never, even at an even load"
    if modes.from_times is not None:
        from_times = f"at an even load from {count(modes.from_times)} times the stated load"
    return (
        f"break-even: {100 * modes.even_use:.0f} % of provisioned units used on average; with the peak provisioned, a "
        f"peak of {modes.peak:.1f} times the average. Provisioned is cheaper {from_times}."
    )


def modes_json(modes: Modes | None, times: Decimal) -> dict[str, Any] | None:
    if modes is None:
        return None
    return {
        "onDemand": _exact(modes.on_demand(times)),
        "provisioned": _exact(modes.provisioned(times)),
        "targetPercent": TARGET,
        "breakEvenUse": _exact(round(modes.even_use, 4)),
        "breakEvenPeak": _exact(round(modes.peak, 2)),
        "provisionedCheaperFromTimes": None
        if modes.from_times is None
        else _exact(round(modes.from_times, 4)),
        "tables": {
            table: {
                "onDemand": _exact(modes.on_demand(times, table)),
                "provisioned": _exact(modes.provisioned(times, table)),
            }
            for table in modes.tables
        },
    }


def curve_text(points: Sequence[CurvePoint]) -> str:
    rows = [[f"{point.times:f}", money(point.on_demand), money(point.provisioned)] for point in points]
    return as_table(("times the load", "on demand", f"provisioned, {TARGET} % used"), rows)


def curve_json(points: Sequence[CurvePoint]) -> list[dict[str, str]]:
    return [
        {
            "times": f"{each.times:f}",
            "onDemand": _exact(each.on_demand),
            "provisioned": _exact(each.provisioned),
        }
        for each in points
    ]


def stated_text(name: str, rows: Sequence[StatedCost]) -> str:
    """The costs of a document: its line, as stated, by its own figures, corrected; and why."""
    if not rows:
        return f"{name}: the document states no costs"
    table = [
        [str(row.line), row.name, _amount(row.stated), "-" if row.own is None else _amount(row.own),
         range_text(row.corrected), "; ".join([*row.rules, *row.notes])]
        for row in rows
    ]  # fmt: skip
    wrong = sum(bool(row.rules) for row in rows)
    head = ("line", "cost", "stated", "its own figures", "corrected", "why")
    return f"{as_table(head, table)}\n\n{name}: {len(rows)} costs stated, {wrong} of them break a rule"


def stated_json(rows: Sequence[StatedCost]) -> list[dict[str, Any]]:
    return [asdict(row) for row in rows]


def range_text(amount: Range | None) -> str:
    if amount is None:
        return "-"
    low, high = _amount(amount.low), _amount(amount.high)
    return low if low == high else f"{low} to {high}"


def _amount(amount: Decimal) -> str:
    """Cents, or two figures where cents would say little."""
    if not amount or abs(amount) >= Decimal("0.1"):
        return money(amount)
    return f"${amount:.{1 - amount.adjusted()}f}"


def _exact(number: Decimal) -> str:
    return f"{number.normalize():f}"
