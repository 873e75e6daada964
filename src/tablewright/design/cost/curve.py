"""What a design costs at many loads, in both capacity modes: the points of a curve. Pure.

Everything but requests is what the bill of that load says, so storage grows with the load too.
Elsewhere: both modes at one load (modes.py), the bill (bill.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from tablewright.design.cost.bill import cost_of
from tablewright.design.cost.modes import modes_of
from tablewright.design.cost.report import Options
from tablewright.design.design import Design
from tablewright.design.environments import Environment, OnDemand
from tablewright.design.prices import PRICES, PriceBook

# Two points for each power of ten: enough for a line on paper with logarithmic scales.
TIMES = (*(Decimal(step).scaleb(power) for power in range(-2, 4) for step in (1, 3)), Decimal(10_000))


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A month at so many times the stated load, in both modes."""

    times: Decimal
    on_demand: Decimal
    provisioned: Decimal


def curve_of(
    design: Design,
    environment: Environment,
    book: PriceBook = PRICES,
    options: Options | None = None,
    times: Sequence[Decimal] = TIMES,
) -> tuple[CurvePoint, ...]:
    """A month at each of these multiples of the stated load; nothing if the design states no load."""
    modes = modes_of(design, environment, book)
    if modes is None:
        return ()
    usual = options or Options()
    by_request = replace(environment, capacity=OnDemand(), of_tables={})
    points = []
    for each in times:
        bill = cost_of(design, by_request, book, replace(usual, times=each)).total
        points.append(CurvePoint(each, bill, bill - modes.on_demand(each) + modes.provisioned(each)))
    return tuple(points)
