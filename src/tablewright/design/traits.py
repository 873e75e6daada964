"""What an entity guarantees besides its keys: uniqueness, states, expiry, soft delete, copies, privacy, load."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import TypeAlias

from tablewright.design.errors import MoveNotAllowed
from tablewright.design.tables import Table
from tablewright.values import Item

SECONDS_PER_MONTH = 30 * 24 * 3600

Upcast: TypeAlias = Callable[[Item], Item]


@dataclass(frozen=True, slots=True)
class Unique:
    """No two items have the same value: held by a guard item that is written in the same transaction.

    `value` is a template over the entity's fields. The guard lives at `pk` (by default UNIQUE#entity#name#value)
    in the entity's table, or in `table`; `keep` are further attributes of it, as templates.
    """

    name: str
    value: str
    pk: str | None = None
    sk: str = "UNIQUE"
    keep: Mapping[str, str] = field(default_factory=dict)
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Expires:
    """The item expires `after` the time in `field`; the table's TTL attribute is derived from it."""

    field: str
    after: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class SoftDelete:
    """The item counts as deleted while `field` is not `live`. Reads hide it unless they ask for it."""

    field: str
    live: bool = True


@dataclass(frozen=True, slots=True)
class Schema:
    """The form of an entity's items is numbered in `field`, from 1; each of `upcasts` makes the next form of an item.

    What is read in an older form comes as the present one, its number still the stored one; what is written is whole
    and of the present form. Single fields of an older item are never changed: half of it would be of another form.
    """

    field: str
    upcasts: tuple[Upcast, ...] = ()

    @property
    def version(self) -> int:
        """The number of the present form."""
        return len(self.upcasts) + 1


@dataclass(frozen=True, slots=True)
class States:
    """A state machine over `field`: from each state, to which, and who may.

    Actors in `overrides` may make any move; the service that lets them is the one to write it down.
    """

    field: str
    start: str
    moves: Mapping[str, Mapping[str, tuple[str, ...]]]
    overrides: tuple[str, ...] = ()

    @property
    def states(self) -> tuple[str, ...]:
        ends = (end for targets in self.moves.values() for end in targets)
        return tuple(dict.fromkeys((self.start, *self.moves, *ends)))

    def check(self, entity: str, start: str, end: str, actor: str) -> None:
        """Raise MoveNotAllowed unless this actor may make this move."""
        allowed = self.moves.get(start, {}).get(end, ())
        if actor not in allowed and actor not in self.overrides:
            raise MoveNotAllowed(entity, start, end, actor, (*allowed, *self.overrides))

    def starts(self, entity: str, end: str, actor: str) -> tuple[str, ...]:
        """The states from which this actor may move to `end`; MoveNotAllowed if there are none."""
        if actor in self.overrides:
            return self.states
        found = tuple(start for start, ends in self.moves.items() if actor in ends.get(end, ()))
        if not found:
            who = (each for ends in self.moves.values() for each in ends.get(end, ()))
            raise MoveNotAllowed(entity, "any state", end, actor, (*dict.fromkeys(who), *self.overrides))
        return found


class Refresh(Enum):
    """What happens to a copy when its source changes."""

    SNAPSHOT = "never: it records how things were"
    ON_READ = "read again each time"
    STREAM = "rewritten by the source's change records"
    JOB = "rewritten by a scheduled job"


@dataclass(frozen=True, slots=True)
class Copy:
    """`field` repeats `source` of another entity, so that a read needs no second one."""

    field: str
    of: str
    source: str
    refresh: Refresh


class Data(Enum):
    """What a field says about people; export, erasure and logging go by it."""

    PUBLIC = "public"
    INTERNAL = "internal"
    PERSONAL = "personal"
    CHILD = "about a child"
    FINANCIAL = "financial"
    SECRET = "secret"


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A finding of the design checker that is accepted, and why. `where` is its place; empty for each place."""

    rule: str
    reason: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class Retention:
    """How long items are kept, why, and what happens then."""

    period: timedelta | None
    purpose: str
    then: str = "deleted"

    @property
    def words(self) -> str:
        """`30 days, then deleted (invoices)`."""
        if self.period is None:
            return f"for ever ({self.purpose})"
        length = f"{self.period.days} days" if self.period.days else str(self.period)
        return f"{length}, then {self.then} ({self.purpose})"


@dataclass(frozen=True, slots=True)
class Load:
    """How often, and how much each time. Price, capacity and heat are computed from it.

    `transaction` says that it is sent in one with others, which doubles it, `once` that a receipt is written with it
    (`write(..., once=)`). Of a write one may say which fields of an item that is there it `changes`, which `indexes`
    hold the item, by name, and which share of the writes makes a `new` item; where nothing is said, the
    more expensive case is assumed.
    """

    per_second: float = 0
    per_month: float = 0
    items: float = 1
    item_bytes: int = 1024
    transaction: bool = False
    once: bool = False
    changes: tuple[str, ...] | None = None
    indexes: tuple[str, ...] | None = None
    new: float | None = None

    @property
    def calls_a_month(self) -> float:
        """Calls in a month of thirty days."""
        return self.per_month or self.per_second * SECONDS_PER_MONTH
