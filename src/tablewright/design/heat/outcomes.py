"""What a simulation says of a design: which keys are throttled, when, which share of requests, and what cures it.

    for each in heat_of(DESIGN, Decimal(1000)).throttled: print(each.load.key, each.share, each.cure)

`shards` is the least number of shards with which the hottest key stays under the limit of a partition, in the mean and
three standard deviations above it. It is 1 if splits alone end the throttling.
Must hold: `cure` names shards only where throttling goes on to the end of the simulation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil, sqrt

from tablewright.design.cost.format import count
from tablewright.design.design import Design
from tablewright.design.heat.key_loads import EXPONENT, MONTHS, KeyLoad, key_loads
from tablewright.design.heat.popularity import zipf_share
from tablewright.design.heat.simulation import BUCKETS, FIRST_PARTITIONS, Run, Simulated, Tally, simulate
from tablewright.design.partitions import PARTITION_BYTES, place_loads

# Throttling in the last part of the simulation has not ended.
_END = 0.8
# As many as a template can have (key_codecs.py).
MOST_SHARDS = 1000
# So many keys of a template are followed in a sample.
SAMPLED_KEYS = 50


@dataclass(frozen=True, slots=True)
class Outcome:
    """What happened to the load of one key template. `partitions`: of its place, at the beginning and at the end."""

    load: KeyLoad
    tally: Tally
    partitions: tuple[int, int]
    seconds: int

    @property
    def share(self) -> float:
        """Of its requests, those that were throttled."""
        return self.tally.throttled / self.tally.requests if self.tally.requests else 0.0

    @property
    def hottest_share(self) -> float:
        """The share of its requests that go to the most popular key."""
        return zipf_share(1, self.load.busy, self.load.exponent)

    @property
    def hottest_units(self) -> float:
        return self.hottest_share * self.load.units

    @property
    def has_ended(self) -> bool:
        return self.tally.last is None or self.tally.last < _END * self.seconds

    @property
    def shards(self) -> int:
        if self.has_ended:
            return 1
        each, limit = self.load.units_a_request, self.load.limit
        requests = self.hottest_share * self.load.requests
        least = max(1, ceil(requests * each / limit))
        fits = (n for n in range(least, MOST_SHARDS + 1) if each * _busy(requests / n) <= limit)
        return next(fits, MOST_SHARDS)

    @property
    def cure(self) -> str:
        if self.tally.first is None:
            return ""
        if self.has_ended:
            return f"a split, until second {count(self.tally.last or 0)}"
        if self.shards > 1:
            return f"{count(self.shards)} shards"
        return "none of its own: hotter keys are in its partitions"


def _busy(requests: float) -> float:
    return requests + 3 * sqrt(requests)


@dataclass(frozen=True, slots=True)
class Heat:
    """Of a design, at a load: outcomes, the most throttled first."""

    design: str
    times: Decimal
    seconds: int
    exponent: float
    outcomes: tuple[Outcome, ...]

    @property
    def throttled(self) -> tuple[Outcome, ...]:
        return tuple(each for each in self.outcomes if each.tally.throttled)

    @property
    def requests(self) -> float:
        return sum(each.tally.requests for each in self.outcomes)


def heat_of(
    design: Design,
    times: Decimal = Decimal(1),
    *,
    seconds: int = 900,
    exponent: float = EXPONENT,
    keys: int | None = None,
    is_sample: bool = False,
) -> Heat:
    """The outcome of `times` the stated load. `is_sample`: faster; times are exact to a 60th of `seconds`."""
    loads = key_loads(design, times, exponent, keys)
    run = Run(seconds, _first_partitions(design, times))
    if is_sample:
        run = replace(run, step=max(1, seconds // BUCKETS), most_followed=SAMPLED_KEYS)
    found = _outcomes(loads, simulate(loads, run), seconds)
    return Heat(design.name, times, seconds, exponent, tuple(sorted(found, key=_order)))


def together(name: str, heats: Sequence[Heat]) -> Heat:
    """The heat of the designs of one system, at the same load."""
    outcomes = sorted((each for heat in heats for each in heat.outcomes), key=_order)
    return replace(heats[0], design=name, outcomes=tuple(outcomes))


def times_of(designs: Sequence[Design], requests: int, seconds: int) -> Decimal:
    """The multiple of the stated load that makes so many requests in these seconds; 0 if there is no load."""
    stated = sum(load.requests for design in designs for load in key_loads(design))
    return Decimal(requests / (stated * seconds)) if stated else Decimal()


def _outcomes(loads: Sequence[KeyLoad], simulated: Simulated, seconds: int) -> list[Outcome]:
    return [
        Outcome(load, tally, simulated.partitions[load.place], seconds)
        for load, tally in zip(loads, simulated.tallies, strict=True)
    ]


def _order(outcome: Outcome) -> tuple[float, float]:
    return -outcome.share, -outcome.hottest_units / outcome.load.limit


def _first_partitions(design: Design, times: Decimal) -> dict[str, int]:
    """What the size of each table and index needs: such a table has been there for MONTHS."""
    return {
        f"{place.table}.{place.index}" if place.index else place.table: max(
            FIRST_PARTITIONS, ceil(place.bytes / PARTITION_BYTES)
        )
        for place in place_loads(design, times, MONTHS)
    }
