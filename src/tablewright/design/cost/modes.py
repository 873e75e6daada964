"""On-demand capacity beside provisioned: what the requests of a design cost in each, and from which load on. Pure.

A table and each of its global indexes reserve units of their own, at least one; `TARGET` per cent of them are used by
an even load, as autoscaling keeps it. On demand each unit is paid for once it is used.
Must hold: at the stated load both are what cost_of gives for an environment in that mode.
Elsewhere: the bill of the mode an environment has (bill.py), units of a call (calls.py).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from tablewright.design.cost.calls import CallKind, calls_of
from tablewright.design.cost.fixed import HOURS, CostContext
from tablewright.design.cost.format import total
from tablewright.design.design import Design
from tablewright.design.environments import Environment
from tablewright.design.prices import PRICES, Price, PriceBook, PriceKind, Prices
from tablewright.design.traits import SECONDS_PER_MONTH

# As Provisioned has it where a design does not say.
TARGET = 70
_SECONDS_PER_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Arm:
    """The reads, or the writes, of a table or an index in a region: units a month, and the price of both modes."""

    table: str
    index: str
    kind: CallKind
    region: str
    units: Decimal
    request: Price
    hour: Price

    def on_demand(self, times: Decimal = Decimal(1)) -> Decimal:
        return self.request.of(self.units * times)

    def provisioned(self, times: Decimal = Decimal(1)) -> Decimal:
        return self.hour.of(Decimal(self.reserved(times) * HOURS))

    def reserved(self, times: Decimal = Decimal(1)) -> int:
        """The units that an even load needs, `TARGET` per cent of them used; at least one."""
        used = self.units * times / SECONDS_PER_MONTH
        return max(int((used * 100 / TARGET).to_integral_value(ROUND_CEILING)), 1)


@dataclass(frozen=True, slots=True)
class Modes:
    """What the requests of a design cost a month in both modes, and where they cost the same.

    `even_use` is the share of reserved units that must be used on average for both to cost the same; `peak` how many
    times its average the load may have as its peak, if the peak is reserved. `from_times` is how many times the stated
    load provisioned capacity is cheaper from, at an even load; None if it never is.
    """

    arms: tuple[Arm, ...]
    even_use: Decimal
    from_times: Decimal | None

    @property
    def peak(self) -> Decimal:
        return Decimal(TARGET) / 100 / self.even_use

    def on_demand(self, times: Decimal = Decimal(1), table: str | None = None) -> Decimal:
        return total(arm.on_demand(times) for arm in self.arms if table in (None, arm.table))

    def provisioned(self, times: Decimal = Decimal(1), table: str | None = None) -> Decimal:
        return total(arm.provisioned(times) for arm in self.arms if table in (None, arm.table))

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(arm.table for arm in self.arms))


def modes_of(design: Design, environment: Environment, book: PriceBook = PRICES) -> Modes | None:
    """Both modes for the stated load of a design; None if it states none."""
    context = CostContext(design, environment, book, calls_of(design), ())
    arms = tuple(arm for table in design.tables for arm in _arms(context, table))
    asked = total(arm.on_demand() for arm in arms)
    if not asked:
        return None
    # What one unit of the mix costs in each mode: reserved and wholly used, or on demand.
    used = total(arm.hour.of(arm.units / _SECONDS_PER_HOUR) for arm in arms)
    return Modes(arms, used / asked, _from_times(arms, asked))


def _arms(context: CostContext, table: str) -> Iterator[Arm]:
    environment = context.environment
    indexes = ["", *(i.name for i in context.design.indexes if i.table.name == table and not i.local)]
    many = bool(environment.replicas)
    for region in (environment.region, *environment.replicas):
        is_home, prices = region == environment.region, context.book.of(region)
        for index in indexes:
            for kind in _KINDS:
                changed = context if is_home else context.only_changes
                units = changed.units(kind, table, index)
                # Reads are of the region they are made in; writes are made in each.
                yield Arm(
                    table, index, kind, region, units if is_home or kind == "write" else Decimal(),
                    *_prices(prices, kind, many),
                )  # fmt: skip


_KINDS: tuple[CallKind, ...] = ("read", "write")


def _prices(prices: Prices, kind: CallKind, many: bool) -> tuple[Price, Price]:
    request: PriceKind = "read" if kind == "read" else "replicated_write" if many else "write"
    hour: PriceKind = "read_hour" if kind == "read" else "replicated_write_hour" if many else "write_hour"
    return prices[request], prices[hour]


def _from_times(arms: tuple[Arm, ...], asked: Decimal) -> Decimal | None:
    """How many times the load provisioned capacity is always cheaper from.

    Reserved units grow in steps, and never shrink with the load: from a load at which they are cheaper, go down to the
    one that on demand costs what is reserved there, until both are the same. Above that no step reaches the line.
    """
    step = total(arm.hour.of(Decimal(HOURS)) for arm in arms)
    slope = total(arm.hour.of(arm.units / _SECONDS_PER_HOUR) for arm in arms) * 100 / TARGET
    if slope >= asked:
        return None
    times = step / (asked - slope)
    while (lower := total(arm.provisioned(times) for arm in arms) / asked) < times:
        times = lower
    return times
