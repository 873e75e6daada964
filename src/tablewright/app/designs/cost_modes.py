"""Parts of the cost page: both capacity modes, the curve of cost over load, and predicted beside measured units.

Elsewhere: the bill (cost.py), the figures (design/cost/), what is measured (mapping/meter.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tablewright.design import Design, Environment
from tablewright.design.cost import CurvePoint, Modes, Options, curve_of, modes_of
from tablewright.design.cost.calls import CallKind, calls_of
from tablewright.design.cost.modes import TARGET
from tablewright.design.prices import PRICES, Prices
from tablewright.english import grouped, money
from tablewright.mapping.meter import Spent
from tablewright.pages.curves import Curve

_NAMES = ("On demand", f"Provisioned, {TARGET} % used")


@dataclass(frozen=True, slots=True)
class MeasuredCall:
    """A call of the design: units as predicted and as measured, how often it was measured, and a month at each."""

    name: str
    kind: CallKind
    predicted: Decimal
    measured: Decimal
    calls: int
    a_month: tuple[Decimal, Decimal]


def mode_parts(design: Design, environment: Environment, options: Options) -> dict[str, Any]:
    """What the template shows of both modes; empty values where the design states no load."""
    modes = modes_of(design, environment)
    points = curve_of(design, environment, options=options)
    return {
        "modes": modes,
        "mode_names": _NAMES,
        "target": TARGET,
        "points": points,
        "curve": _curve(modes, points, options) if modes and points else None,
    }


def _curve(modes: Modes, points: Sequence[CurvePoint], options: Options) -> Curve:
    marks = [("this load", float(options.times))]
    first, last = float(points[0].times), float(points[-1].times)
    if modes.from_times is not None and first <= modes.from_times <= last:
        marks.append(("break-even", float(modes.from_times)))
    here = f"{money(points[0].on_demand)} to {money(points[-1].on_demand)} on demand"
    return Curve(
        f"Monthly cost from {first:g} to {last:g} times the stated load: {here}",
        [float(point.times) for point in points],
        [
            (_NAMES[0], [float(point.on_demand) for point in points]),
            (_NAMES[1], [float(point.provisioned) for point in points]),
        ],
        lambda value: f"${grouped(value)}" if value >= 1 else f"${value:g}",
        [mark for mark in marks if first <= mark[1] <= last],
    )


def measured_calls(
    design: Design, environment: Environment, spent: Mapping[str, Spent], times: Decimal
) -> list[MeasuredCall]:
    """The calls that this server has measured, the largest difference in a month's cost first."""
    prices = PRICES.of(environment.region)
    rows = [
        _measured(call.name, call.kind, call.units, call.a_month, used, prices)
        for call in calls_of(design, times)
        if (used := spent.get(call.name)) is not None and used.calls
    ]
    return sorted(rows, key=lambda row: -abs(row.a_month[1] - row.a_month[0]))


def _measured(
    name: str, kind: CallKind, predicted: Decimal, a_month: Decimal, used: Spent, prices: Prices
) -> MeasuredCall:
    # What a write reads in the same transaction is not part of its own units.
    measured = Decimal(str(used.read_per_call if kind == "read" else used.write_per_call))
    price = prices["read" if kind == "read" else "write"]
    return MeasuredCall(
        name,
        kind,
        predicted,
        measured,
        used.calls,
        (price.of(predicted * a_month), price.of(measured * a_month)),
    )
