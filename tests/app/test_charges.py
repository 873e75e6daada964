"""What a system has cost so far, and the alarms on it: a month against its budget, a day against those before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from tablewright.app.alarms.charges import metrics_of
from tablewright.app.alarms.design import DayCharges, day_charges
from tablewright.app.runtime import Runtime, open_app
from tablewright.app.systems import PORTAL
from tablewright.design.alarms import CHARGES, CHARGES_OF_MEAN
from tablewright.engine.metrics.names import CONSUMED_WRITE
from tablewright.testing import Clock

DAY = timedelta(days=1)
TODAY = date(2026, 3, 10)


@pytest.fixture
def runtime(clock: Clock) -> Iterator[Runtime]:
    with open_app(
        memory=True, systems=(replace(PORTAL, seed=None),), world=clock.world(), jobs=False
    ) as opened:
        clock.move(timedelta(days=20, hours=12))
        yield opened


def _spend(runtime: Runtime, dollars: int) -> None:
    """So many dollars of writes, here and in the replica of production."""
    runtime.engine.metrics.record(CONSUMED_WRITE, dollars * 400_000, table="tenants")


def _past(runtime: Runtime, amounts: dict[int, str]) -> None:
    """What earlier days have cost, by how many days ago they were."""
    now = runtime.world.now()
    for ago, amount in amounts.items():
        entry = DayCharges(system="portal", day=now.date() - ago * DAY, amount=Decimal(amount), written=now)
        runtime.db.write(day_charges.put(entry))


def _rings(runtime: Runtime, clock: Clock) -> set[str]:
    runtime.charges.run()
    clock.move(timedelta(minutes=1))
    runtime.alarms.run()
    return {each.declared.name for each in runtime.alarms.status() if each.state == "ALARM"}


def test_a_day_costs_what_its_units_cost_and_is_the_same_however_often_it_is_computed(
    runtime: Runtime, clock: Clock
) -> None:
    today = clock.now().date()
    runtime.charges.run()
    idle = runtime.charges.days("portal", today)[today]
    _spend(runtime, 100)
    for _ in range(2):
        runtime.charges.run()
    spent = runtime.charges.days("portal", today)[today] - idle
    assert 50 < spent < 200, spent
    assert len(runtime.charges.days("portal", today)) == 1


def test_cp_61_a_month_over_80_per_cent_of_its_budget_rings_and_the_next_month_does_not(
    runtime: Runtime, clock: Clock
) -> None:
    _past(runtime, dict.fromkeys(range(2, 21), "200"))  # yesterday is computed
    assert _rings(runtime, clock) == set()
    _past(runtime, {2: "500"})
    assert _rings(runtime, clock) == {"budget-alert"}
    _past(runtime, {3: "1500"})
    assert _rings(runtime, clock) == {"budget-alert", "budget-exceeded"}
    clock.move(timedelta(days=20))
    assert _rings(runtime, clock) == set()


def test_cp_66_a_day_over_150_per_cent_of_the_seven_before_rings_until_the_next(
    runtime: Runtime, clock: Clock
) -> None:
    _past(runtime, dict.fromkeys(range(1, 8), "10"))
    assert _rings(runtime, clock) == set()
    _spend(runtime, 100)
    assert _rings(runtime, clock) == {"cost-anomaly", "tenants-writes"}
    clock.move(DAY)
    assert _rings(runtime, clock) == set()


def test_yesterday_is_completed_and_a_day_without_the_server_has_no_charges(
    runtime: Runtime, clock: Clock
) -> None:
    first = clock.now().date()
    runtime.charges.run()
    _spend(runtime, 100)
    clock.move(DAY)
    runtime.charges.run()
    clock.move(2 * DAY)
    runtime.charges.run()
    days = runtime.charges.days("portal", first)
    assert [(day - first).days for day in days] == [0, 1, 3]
    assert days[first] > 50


def test_a_month_is_of_its_own_days_and_a_mean_of_those_before_today() -> None:
    days = {TODAY - ago * DAY: Decimal(10) for ago in range(1, 20)} | {TODAY: Decimal(20)}
    assert metrics_of(days, TODAY) == {CHARGES: 110.0, CHARGES_OF_MEAN: 200.0}


def test_few_days_are_not_compared_and_less_than_a_cent_is_nothing() -> None:
    two = {TODAY: Decimal(20), TODAY - DAY: Decimal(1), TODAY - 2 * DAY: Decimal(1)}
    assert CHARGES_OF_MEAN not in metrics_of(two, TODAY)
    tiny = {TODAY - ago * DAY: Decimal("0.0001") for ago in range(1, 8)} | {TODAY: Decimal("0.009")}
    assert metrics_of(tiny, TODAY)[CHARGES_OF_MEAN] == 0.0
