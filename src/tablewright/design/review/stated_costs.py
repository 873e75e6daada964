"""The costs that a document states, line by line: as stated, by its own arithmetic, and corrected. Pure.

Corrected is: the units that a call really takes (UnitCount), every backup that is kept, and today's prices of the
region. Where a document leaves the mix of reads and writes open, a corrected cost is a range: all reads to all writes.
Must hold: what cannot be computed from what the document states is None, never a guess.
Elsewhere: what is wrong with a line (costs.py), prices (design/prices.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from tablewright.design.cost.format import count
from tablewright.design.prices import HOME, PRICES, Prices
from tablewright.design.review.costs import RULES, computed_cost, computed_units
from tablewright.design.review.facts import Facts
from tablewright.design.review.facts.operations import Cost, Term

# What is paid for by the gigabyte and month.
_STORED = ("storage", "recovery", "backup")


@dataclass(frozen=True, slots=True)
class Range:
    """From the least to the most it can be; both are the same where the document says enough."""

    low: Decimal
    high: Decimal

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.high + other.high)


@dataclass(frozen=True, slots=True)
class StatedCost:
    """A line of a document: `own` is what its own figures give; `rules` are those it breaks, `notes` what changed."""

    line: int
    name: str
    stated: Decimal
    own: Decimal | None
    corrected: Range | None
    rules: tuple[str, ...]
    notes: tuple[str, ...]


def stated_costs(facts: Facts) -> tuple[StatedCost, ...]:
    """Every cost that a document states, in the order of its lines."""
    broken = [(rule.code, place.where, place.line) for rule in RULES for place in rule.findings(facts)]
    prices = PRICES.of(next((each.region for each in facts.prices if each.region), HOME))
    rows = []
    for cost in sorted(facts.costs, key=lambda each: each.line):
        notes: list[str] = []
        corrected = _corrected(facts, cost, prices, notes)
        codes = tuple(code for code, where, line in broken if (where, line) == (cost.name, cost.line))
        own = computed_cost(facts, cost)
        rows.append(
            StatedCost(cost.line, cost.name, cost.stated, own, corrected, codes, tuple(dict.fromkeys(notes)))
        )
    return tuple(rows)


def _corrected(facts: Facts, cost: Cost, prices: Prices, notes: list[str]) -> Range | None:
    if cost.terms:
        return _requests(facts, cost.terms, prices, notes)
    if cost.requests is not None:
        notes.append("all reads to all writes; the mix is not stated, and indexes add to each write")
        return Range(prices["read"].of(cost.requests), prices["write"].of(cost.requests))
    if cost.gb is not None and cost.kind in _STORED:
        if cost.points > 1:
            notes.append(f"{count(cost.points)} backups are kept")
        return _exactly(prices[cost.kind].of(cost.gb * cost.points))
    if cost.parts:
        return _sum(facts, cost, prices, notes)
    notes.append("no units are stated" if cost.gb is None else "no price by the gigabyte is known for it")
    return None


def _requests(facts: Facts, terms: tuple[Term, ...], prices: Prices, notes: list[str]) -> Range | None:
    counts = {each.name: each for each in facts.unit_counts}
    amount = Decimal()
    for term in terms:
        if term.kind is None:
            notes.append("whether they are reads or writes is not stated")
            return None
        units = term.units
        if (stated := counts.get(term.count)) is not None:
            units *= computed_units(stated) / stated.stated
            notes.append(f"{stated.name}: {count(computed_units(stated))} units, not {count(stated.stated)}")
        amount += prices[term.kind].of(units)
    return _exactly(amount)


def _sum(facts: Facts, cost: Cost, prices: Prices, notes: list[str]) -> Range | None:
    parts: Mapping[str, Range | None] = {
        each.name: _corrected(facts, each, prices, []) for each in facts.costs if each.name in cost.parts
    }
    unknown = [name for name, amount in parts.items() if amount is None]
    if unknown:
        notes.append(f"cannot be computed: {', '.join(unknown)}")
        return None
    return sum((amount for amount in parts.values() if amount is not None), _exactly(Decimal()))


def _exactly(amount: Decimal) -> Range:
    return Range(amount, amount)
