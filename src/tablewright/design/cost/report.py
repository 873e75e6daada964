"""What a design costs in a month, as a value: lines with their arithmetic, and how they stand to what was said.

Must hold: the total is the sum of the lines; every line says how it came to be, what was assumed, and whether its price
was derived rather than read somewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias, get_args

from tablewright.design.cost.format import total

NO_LOAD = "No load stated"
STATE_LOAD = (
    'State how often each is called: load=Load(per_month=...) of a pattern, load={"create": Load(per_month=...)} of an '
    "entity"
)
Part: TypeAlias = Literal[
    "reads", "writes", "capacity", "storage", "recovery", "backups", "streams", "replication", "free"
]
# What each part is, for people; in the order of the report.
PARTS: Mapping[Part, str] = {
    "reads": "Reads",
    "writes": "Writes",
    "capacity": "Provisioned capacity",
    "storage": "Storage",
    "recovery": "Point-in-time recovery",
    "backups": "Backups",
    "streams": "Stream reads",
    "replication": "Replication",
    "free": "Free of charge",
}
assert tuple(PARTS) == get_args(Part)


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked: so many `times` the stated workload, after so many `months`, what is free taken off or not."""

    times: Decimal = Decimal(1)
    months: int = 12
    free_tier: bool = False


@dataclass(frozen=True, slots=True)
class CostLine:
    """One figure. `quantity` is in units, unit-hours, GB or calls, as its part is priced."""

    part: Part
    table: str
    name: str
    quantity: Decimal
    amount: Decimal
    how: str
    assumed: tuple[str, ...] = ()
    derived: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """A figure that was stated, beside what was computed. `is_wrong` if it is too far off, or passed."""

    what: str
    stated: str
    computed: Decimal
    is_wrong: bool
    how: str


@dataclass(frozen=True, slots=True)
class CostReport:
    """The bill of a month. `calls` are how many reads and writes it is for.

    Without a stated load no request and no storage is in it; a total of nothing then means nothing (`is_priced`).
    """

    design: str
    environment: str
    region: str
    options: Options
    lines: tuple[CostLine, ...]
    stated: tuple[Claim, ...]
    notes: tuple[str, ...]
    sources: tuple[str, ...]
    calls: Mapping[Literal["read", "write"], Decimal]
    limit: Decimal | None = None
    is_load_stated: bool = True

    @property
    def is_priced(self) -> bool:
        """Whether there is anything to price: a load, or what is paid for without one."""
        return self.is_load_stated or bool(self.total)

    @property
    def total(self) -> Decimal:
        return total(line.amount for line in self.lines)

    @property
    def is_over(self) -> bool:
        """Whether it costs more than the budget's limit."""
        return self.limit is not None and self.total > self.limit

    @property
    def by_part(self) -> dict[Part, Decimal]:
        """The parts that are there, in their order."""
        there = {line.part for line in self.lines}
        return {part: total(line.amount for line in self._of(part=part)) for part in PARTS if part in there}

    @property
    def by_table(self) -> dict[str, Decimal]:
        """What costs most first; what is of no table is under the empty name."""
        tables = dict.fromkeys(line.table for line in self.lines)
        sums = {table: total(line.amount for line in self._of(table=table)) for table in tables}
        return dict(sorted(sums.items(), key=lambda each: -each[1]))

    @property
    def is_derived(self) -> bool:
        """Whether a price in it was derived."""
        return any(line.derived and line.amount for line in self.lines)

    def _of(self, *, part: Part | None = None, table: str | None = None) -> list[CostLine]:
        return [line for line in self.lines if part in (None, line.part) and table in (None, line.table)]

    def most_expensive(self, *, part: Part | None = None, table: str | None = None) -> list[CostLine]:
        """The lines of a part, or of a table, what costs most first; the largest quantity where they cost the same."""
        return sorted(self._of(part=part, table=table), key=lambda line: (-abs(line.amount), -line.quantity))
