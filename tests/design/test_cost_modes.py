"""Both capacity modes beside the bills they stand for, the load from which one is cheaper, and the curve."""

from dataclasses import replace
from decimal import Decimal
from importlib import import_module

import pytest
from tests.design.costed import HERE, MILLION, pets

from tablewright.design import Design, Load, OnDemand, Provisioned
from tablewright.design.cost import Options, cost_of, curve_of, modes_of, usual_environment
from tablewright.design.cost.modes import TARGET

ENDLESS = Provisioned(1, 1, 10**9, 10**9, TARGET)
BUSY = {"create": Load(per_month=100 * MILLION, item_bytes=1000)}


def systems() -> list[Design]:
    names = ("campus", "chat", "parental", "portal", "travel")
    return [getattr(import_module(f"tablewright.systems.{name}.design"), name.upper()) for name in names]


def parts(design: Design, capacity: OnDemand | Provisioned, *wanted: str) -> Decimal:
    """What a bill in this mode has for tables of the design itself; vectors are paid for alike in both."""
    environment = replace(usual_environment(design), capacity=capacity, of_tables={}, replicas=())
    lines = cost_of(design, environment).lines
    vectors = {index.name for index in design.vectors} | {plan.name for plan in design.searches}
    return sum(
        (
            line.amount
            for line in lines
            if line.part in wanted
            and line.table in design.tables
            and not vectors & {line.name, line.name.split(" in ")[-1]}
        ),
        Decimal(),
    )


@pytest.mark.parametrize("design", systems(), ids=lambda design: design.name)
def test_both_modes_are_what_the_bill_of_an_environment_in_that_mode_says(design: Design) -> None:
    modes = modes_of(design, replace(usual_environment(design), replicas=()))
    assert modes is not None
    assert modes.on_demand() == pytest.approx(parts(design, OnDemand(), "reads", "writes"))
    assert modes.provisioned() == pytest.approx(parts(design, ENDLESS, "capacity"))


def test_half_of_an_hour_of_writes_by_hand() -> None:
    """100 million writes of 1 KB, in a table and an index: 38.6 a second each, 56 units at 70 %."""
    modes = modes_of(pets(BUSY), HERE)
    assert modes is not None
    assert modes.on_demand() == 2 * 100 * Decimal("0.625")
    assert modes.provisioned() == 2 * 56 * 720 * Decimal("0.00065") + 2 * 720 * Decimal("0.00013")
    # A unit for an hour is 3 600 writes: $0.00065 against $0.00225.
    assert round(modes.even_use, 4) == Decimal("0.2889")
    assert round(modes.peak, 2) == Decimal("2.42")


@pytest.mark.parametrize("design", [*systems(), pets(BUSY)], ids=lambda design: design.name)
def test_above_the_break_even_provisioned_capacity_is_always_cheaper_and_just_below_it_is_not(
    design: Design,
) -> None:
    modes = modes_of(design, usual_environment(design))
    assert modes is not None
    assert modes.from_times is not None
    even = modes.from_times
    assert modes.provisioned(even) == pytest.approx(modes.on_demand(even))
    for percent in (101, 110, 150, 300, 1000, 100_000):
        assert modes.provisioned(even * percent / 100) < modes.on_demand(even * percent / 100)
    assert modes.provisioned(even * 99 / 100) > modes.on_demand(even * 99 / 100)


def test_a_design_without_load_has_no_modes_and_no_curve() -> None:
    assert modes_of(pets(), HERE) is None
    assert curve_of(pets(), HERE) == ()


def test_the_curve_is_the_bill_of_each_load_and_grows_with_it() -> None:
    design = pets(BUSY)
    points = curve_of(design, HERE)
    assert [point.times for point in points] == sorted(point.times for point in points)
    for point in points:
        assert point.on_demand == cost_of(design, HERE, options=Options(point.times)).total
    assert [point.on_demand for point in points] == sorted(point.on_demand for point in points)
    ten = next(point for point in points if point.times == 10)
    modes = modes_of(design, HERE)
    assert modes is not None
    assert ten.on_demand - ten.provisioned == modes.on_demand(Decimal(10)) - modes.provisioned(Decimal(10))
