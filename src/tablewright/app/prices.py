"""What request units cost: the figures the console speaks of, in one place, with where and when they are from.

Must hold: no figure without its source and date; money is Decimal.
"""

from dataclasses import dataclass
from decimal import Decimal

from tablewright.design import Load
from tablewright.design.facets import SECONDS_PER_MONTH

MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Prices:
    """On-demand prices of a region, in US dollars."""

    region: str
    read_per_million: Decimal
    write_per_million: Decimal
    storage_gb_month: Decimal
    source: str
    as_of: str

    def cost(self, read_units: float, write_units: float = 0.0) -> Decimal:
        """What so many units cost."""
        reads, writes = Decimal(str(read_units)), Decimal(str(write_units))
        return (reads * self.read_per_million + writes * self.write_per_million) / MILLION


PRICES = Prices(
    region="us-east-1",
    read_per_million=Decimal("0.125"),
    write_per_million=Decimal("0.625"),
    storage_gb_month=Decimal("0.25"),
    source="AWS price list AmazonDynamoDB, version 20260911124422, Standard table class, on demand",
    as_of="2026-09-11",
)


def calls_a_month(load: Load) -> float:
    """How often a month, by the design's own figure."""
    return load.per_month or load.per_second * SECONDS_PER_MONTH
