"""What some hours have cost, from the units that were consumed and the bytes that are stored. Pure.

Counted are requests or provisioned capacity, storage, and recovery to a moment, in each region of an environment.
Backups, streams and transfer are not: nothing measures them. Elsewhere: what a design should cost (bill.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from tablewright.design.cost.fixed import HOURS
from tablewright.design.cost.format import GB
from tablewright.design.environments import Environment, Provisioned
from tablewright.design.prices import PRICES, PriceBook, PriceKind


@dataclass(frozen=True, slots=True)
class TableUse:
    """A table in some hours: units of it and its global indexes, its bytes, and those of its indexes."""

    table: str
    read: Decimal
    write: Decimal
    bytes: Decimal
    index_bytes: Decimal = Decimal()
    indexes: int = 0


def charges(
    environment: Environment, uses: Iterable[TableUse], hours: Decimal, book: PriceBook = PRICES
) -> Decimal:
    """What tables cost in so many hours, in US dollars."""
    regions = (environment.region, *environment.replicas)
    return sum(
        (_charge(environment, use, hours, book, region) for use in uses for region in regions), Decimal()
    )


def _charge(environment: Environment, use: TableUse, hours: Decimal, book: PriceBook, region: str) -> Decimal:
    prices = book.of(region)
    given = environment.capacity_of(use.table)
    write: PriceKind = "replicated_write" if environment.replicas else "write"
    if isinstance(given, Provisioned):
        write_hour: PriceKind = "replicated_write_hour" if environment.replicas else "write_hour"
        arms = (1 + use.indexes) * hours
        requests = prices["read_hour"].of(given.read * arms) + prices[write_hour].of(given.write * arms)
    else:
        # A replica is written to as often; reads are of the region they are made in.
        reads = use.read if region == environment.region else Decimal()
        requests = prices["read"].of(reads) + prices[write].of(use.write)
    months = hours / HOURS
    stored = prices["storage"].of((use.bytes + use.index_bytes) / GB * months)
    recovery = prices["recovery"].of(use.bytes / GB * months) if environment.pitr_days else Decimal()
    return requests + stored + recovery
