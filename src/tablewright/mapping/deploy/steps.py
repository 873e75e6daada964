"""One step of a plan, as a value: what differs, the calls that change it, what it costs and what it loses.

Must hold: a step whose `needs` is neither `nothing` nor `backfill` has no calls; `advice` says what to do instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias

# backfill: the service fills an index from the table. new table: a migration. elsewhere: another tool or person.
# endpoint: the endpoint does not have the setting, so there is nothing to compare.
Needs: TypeAlias = Literal["nothing", "backfill", "new table", "elsewhere", "endpoint"]
Request: TypeAlias = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Cost:
    """In US dollars: once, and each month from then on; `how` is the arithmetic, or why it is nothing."""

    once: Decimal = Decimal()
    monthly: Decimal = Decimal()
    how: str = "nothing"


@dataclass(frozen=True, slots=True)
class Step:
    """`subject` is what is changed, `live` and `design` are its two sides. `loses` is empty if nothing is lost."""

    table: str
    action: str
    subject: str
    live: str
    design: str
    calls: tuple[Request, ...] = ()
    needs: Needs = "nothing"
    loses: str = ""
    advice: str = ""
    cost: Cost = Cost()
    is_scaling: bool = False

    @property
    def can_run(self) -> bool:
        return self.needs in ("nothing", "backfill")

    def is_among(self, others: "tuple[Step, ...]") -> bool:
        """Whether another plan has this step, whatever else has changed since."""
        return (self.table, self.action, self.subject) in {
            (one.table, one.action, one.subject) for one in others
        }

    @property
    def is_difference(self) -> bool:
        """Whether the two sides differ, as far as the endpoint can tell."""
        return self.needs != "endpoint"


def differences(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """One step for each difference: an index that is replaced takes two."""
    found = {(step.table, step.subject): step for step in steps if step.is_difference}
    return tuple(found.values())


# What a table is by its design alone; the rest are settings of an environment.
_OF_DESIGN = ("table", "key", "index ", "local index ", "vector index ", "stream", "time to live")


def of_design(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps that do not depend on an environment."""
    return tuple(step for step in steps if step.subject.startswith(_OF_DESIGN))
