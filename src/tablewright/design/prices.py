"""What DynamoDB costs, by region: the figures everybody here speaks of, with where and when they are from.

prices.json has what was read somewhere. What a region has no figure for is derived: scaled from us-east-1 by how the
prices of a provisioned write unit stand to each other, which predicts the figures of eu-west-1 within 0.3 %.
Must hold: no figure without its source and date; a derived one says that it is; money is Decimal.
Elsewhere: what a design costs (cost/).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from typing import Any, Literal, TypeAlias, get_args

from tablewright.design.errors import DesignMistake

MILLION = Decimal(1_000_000)
HOME = "us-east-1"
PriceKind: TypeAlias = Literal[
    "read", "write", "replicated_write", "read_hour", "write_hour", "replicated_write_hour", "storage", "recovery",
    "backup", "stream_read", "vector_write", "vector_search",
]  # fmt: skip
_MEASURES: Mapping[PriceKind, str] = {
    "read": "per million read units",
    "write": "per million write units",
    "replicated_write": "per million replicated write units",
    "read_hour": "per read unit and hour",
    "write_hour": "per write unit and hour",
    "replicated_write_hour": "per replicated write unit and hour",
    "storage": "per GB and month",
    "recovery": "per GB and month of point-in-time recovery",
    "backup": "per GB and month of backup",
    "stream_read": "per million stream reads",
    "vector_write": "per GB written to a vector index",
    "vector_search": "per GB of a vector index that is searched",
}
# By which of its own figures a region is compared with the one that has all; the first it has.
_SCALES: tuple[PriceKind, ...] = ("write_hour", "write", "replicated_write")


class RegionHasNoPrices(DesignMistake):
    """A region the price book does not know."""

    def __init__(self, region: str, known: tuple[str, ...]) -> None:
        self.region, self.known = region, known
        there = ", ".join(known)
        super().__init__(f"no prices of {region!r} are known here; of these regions there are: {there}")


@dataclass(frozen=True, slots=True)
class Price:
    """One figure, in US dollars."""

    amount: Decimal
    what: PriceKind
    source: str
    as_of: str
    derived: bool = False

    @property
    def measure(self) -> str:
        """What it is the price of: `per million read units`."""
        return _MEASURES[self.what]

    def of(self, quantity: Decimal) -> Decimal:
        """What so many cost: requests are priced by the million, everything else singly."""
        return quantity * self.amount / (MILLION if "per million" in self.measure else 1)

    def __str__(self) -> str:
        return f"${self.amount}{' (derived)' if self.derived else ''} {self.measure}"


@dataclass(frozen=True)
class Prices:
    """The prices of a region."""

    region: str
    figures: Mapping[PriceKind, Price]

    def __getitem__(self, what: PriceKind) -> Price:
        return self.figures[what]

    def cost(self, read_units: float, write_units: float = 0.0) -> Decimal:
        """What so many units cost, on demand."""
        reads, writes = Decimal(str(read_units)), Decimal(str(write_units))
        return self["read"].of(reads) + self["write"].of(writes)


@dataclass(frozen=True)
class PriceBook:
    """The prices of several regions."""

    regions: Mapping[str, Prices]

    def of(self, region: str) -> Prices:
        found = self.regions.get(region)
        if found is None:
            raise RegionHasNoPrices(region, tuple(sorted(self.regions)))
        return found


def book_of(text: str) -> PriceBook:
    """The book in a JSON text; what a region lacks is derived from the one that lacks nothing."""
    read = {region: _read(entries) for region, entries in json.loads(text).items()}
    full = read[HOME]
    return PriceBook({region: Prices(region, _whole(figures, full)) for region, figures in read.items()})


def _read(entries: list[dict[str, Any]]) -> dict[PriceKind, Price]:
    return {
        what: Price(Decimal(figure), what, entry["source"], entry["as_of"])
        for entry in entries
        for what, figure in entry["figures"].items()
    }


def _whole(figures: Mapping[PriceKind, Price], full: Mapping[PriceKind, Price]) -> dict[PriceKind, Price]:
    by = next(what for what in _SCALES if what in figures)
    ratio = figures[by].amount / full[by].amount
    return {
        what: figures.get(what) or _derived(full[what], ratio, figures[by]) for what in get_args(PriceKind)
    }


def _derived(price: Price, ratio: Decimal, by: Price) -> Price:
    scaled = price.amount * ratio
    amount = scaled.quantize(Decimal(1).scaleb(scaled.adjusted() - 3)).normalize()
    source = f"scaled from {HOME} by {ratio:.4f}, as its price {by.measure} is ({by.source})"
    return Price(amount, price.what, source, by.as_of, derived=True)


PRICES = book_of((files("tablewright.design") / "prices.json").read_text())
