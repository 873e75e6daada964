"""What each system has cost: by day from the units its tables consumed, and the two metrics that alarms are on.

Prices, capacity and budget are those of the environment in which a design is usually priced (prod). A day is computed
from the engine's metrics each time, so a run may be repeated, and two processes write the same.
Must hold: a day on which this store was not in use has no charges.
Elsewhere: the arithmetic (design/cost/metered.py), the alarms (design/alarms.py).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

from tablewright.app.alarms.design import DayCharges, charges_since, day_charges
from tablewright.app.alarms.published import PublishedMetrics
from tablewright.design import Design, Environment
from tablewright.design.alarms import CHARGES, CHARGES_OF_MEAN
from tablewright.design.cost import usual_environment
from tablewright.design.cost.metered import TableUse, charges
from tablewright.design.prices import RegionHasNoPrices
from tablewright.engine.metrics.collector import MetricsCollector
from tablewright.engine.metrics.names import CONSUMED_READ, CONSUMED_WRITE, SIZE_BYTES
from tablewright.engine.metrics.query import MINUTE
from tablewright.kit.jobs import Job
from tablewright.mapping import Db
from tablewright.world import World

EVERY = timedelta(hours=1)
_A_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
# A day is compared with the mean of the seven before it, once there are as many as this.
COMPARED_DAYS, LEAST_DAYS = 7, 3
# Less than a cent is on no bill.
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class ChargedSystem:
    """A system whose tables are metered."""

    name: str
    designs: Sequence[Design]
    open_table: Callable[[str], str]

    @property
    def environment(self) -> Environment:
        return usual_environment(self.designs[0])


@dataclass(frozen=True)
class Charges:
    """The charges of all systems of one store."""

    db: Db
    world: World
    systems: Sequence[ChargedSystem]
    # None if the tables are on an endpoint, which has metrics of its own.
    metrics: MetricsCollector | None
    published: PublishedMetrics

    def run(self) -> int:
        """Compute today, and yesterday's last hour; publish the metrics. How many systems have a price."""
        now, count = self.world.now(), 0
        if self.metrics is None:
            return 0
        for system in self.systems:
            try:
                count += self._charge(system, now, self.metrics)
            except RegionHasNoPrices:
                continue
        return count

    def days(self, system: str, since: date) -> dict[date, Decimal]:
        """What each day has cost, from a day on."""
        return {each.day: each.amount for each in self.db.all(charges_since(system=system, since=since))}

    # --- parts ---

    def _charge(self, system: ChargedSystem, now: datetime, metrics: MetricsCollector) -> int:
        today = now.date()
        first = min(today.replace(day=1), today - COMPARED_DAYS * _A_DAY)
        known = self.days(system.name, first)
        yesterday = today - _A_DAY
        for day in (yesterday, today) if yesterday in known else (today,):
            known[day] = _cost_of(metrics, system, day, now)
            entry = DayCharges(system=system.name, day=day, amount=known[day], written=now)
            self.db.write(day_charges.put(entry))
        self.published.record_all(system.name, metrics_of(known, today))
        return 1


def _cost_of(metrics: MetricsCollector, system: ChargedSystem, day: date, now: datetime) -> Decimal:
    start = datetime.combine(day, time(), UTC)
    end = min(now, start + _A_DAY)
    # With the running minute, whose units are of now.
    uses = list(_uses(metrics, system, start, min(end + MINUTE, start + _A_DAY)))
    hours = Decimal(str((end - start) / _HOUR))
    return charges(system.environment, uses, hours).quantize(Decimal("0.000001"))


def _uses(
    metrics: MetricsCollector, system: ChargedSystem, start: datetime, end: datetime
) -> Iterator[TableUse]:
    known = metrics.known()
    for design in system.designs:
        for name in design.tables:
            table = system.open_table(name)
            indexes = sorted({each.index_name for each in known if each.table == table} - {""})
            arms = ["", *indexes]

            def total(metric: str, table: str = table, arms: Sequence[str] = arms) -> Decimal:
                return sum((_sum(metrics, metric, table, index, start, end) for index in arms), Decimal())

            yield TableUse(
                name,
                total(CONSUMED_READ),
                total(CONSUMED_WRITE),
                _bytes(metrics, table, "", start, end),
                sum((_bytes(metrics, table, index, start, end) for index in indexes), Decimal()),
                len(indexes),
            )


def _sum(
    metrics: MetricsCollector, metric: str, table: str, index: str, start: datetime, end: datetime
) -> Decimal:
    whole = metrics.series(metric, table=table, index=index, since=start, until=end, period=None)
    return sum((Decimal(repr(float(point.sum))) for point in whole), Decimal())


def _bytes(metrics: MetricsCollector, table: str, index: str, start: datetime, end: datetime) -> Decimal:
    last = metrics.series(SIZE_BYTES, table=table, index=index, since=start, until=end, period=None)
    return Decimal(repr(float(last[-1].most))) if last else Decimal()


def metrics_of(days: dict[date, Decimal], today: date) -> dict[str, float]:
    """The metrics by what each day has cost: this month so far, and today in per cent of the mean before. Pure."""
    month = sum((amount for day, amount in days.items() if today.replace(day=1) <= day <= today), Decimal())
    found = {CHARGES: float(month)}
    before = [amount for day, amount in days.items() if today - COMPARED_DAYS * _A_DAY <= day < today]
    mean = sum(before, Decimal()) / len(before) if before else Decimal()
    if len(before) >= LEAST_DAYS and mean:
        spent = days[today] if days[today] >= CENT else Decimal()
        found[CHARGES_OF_MEAN] = float(spent * 100 / mean)
    return found


def charges_job(charged: Charges) -> Job[object]:
    about = "Prices what each system has consumed, for the alarms on its budget."
    return Job("charges", EVERY, lambda _: charged.run(), about)
