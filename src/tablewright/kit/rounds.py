"""Rounds: work over everybody, some at a time.

    ROUNDS = add_rounds(table)                                                # in a design
    ROUNDS.run(db, "recount", travellers(db), recount_one, every=A_DAY)       # a job, each minute

A run visits the next ones and stores its position after them. Must hold: with any number of them a run is short, and
the next one, in any process, continues where this one stopped; after a crash some are visited again and none is left
out; an error with one is logged and does not delay the others.
Elsewhere: single things that are due at their own time (tasks.py).
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Generic, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from tablewright.design import DesignTable, Entity, Load, Retention
from tablewright.mapping import AlreadyExists, Db, Missing, Stale

log = logging.getLogger("tablewright.rounds")

AT_ONCE = 200
A_DAY = timedelta(days=1)
T = TypeVar("T")


class Position(BaseModel):
    """How far a round is: `after` whom it continues, None at its end; and when it began."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore", frozen=True)

    name: str
    after: str | None = None
    began_at: datetime
    version: int = 1


@dataclass(frozen=True, slots=True)
class Stretch(Generic[T]):
    """The next ones of a round, and the position after them; None at the end of the round."""

    those: Sequence[T]
    next: str | None


# The next ones after a position.
Among: TypeAlias = Callable[[str | None], Stretch[T]]


def _nothing(those: Sequence[object]) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds of a design, by name."""

    model: type[Position]
    positions: Entity[Position, [str]]

    def run(
        self,
        db: Db,
        name: str,
        among: Among[T],
        visit: Callable[[T], object],
        *,
        every: timedelta = A_DAY,
        then: Callable[[Sequence[T]], object] = _nothing,
    ) -> int:
        """Visit the next ones of a round; returns how many. 0 until a new round is due, `every` after the last began.

        `then` gets all of them before the new position is stored; if it fails, they are visited again.
        """
        before, now = db.one(self.positions.get(name), consistent=True), db.world.now()
        is_over = before is None or before.after is None
        if before is not None and is_over and now < before.began_at + every:
            return 0
        stretch = among(None if before is None else before.after)
        for each in stretch.those:
            try:
                visit(each)
            except Exception as error:
                log.warning("passed over", extra={"job": name, "mistake": type(error).__name__})
        then(stretch.those)
        after = self.model(
            name=name,
            after=stretch.next,
            began_at=now if before is None or is_over else before.began_at,
            version=1 if before is None else before.version,
        )
        # Refused if another process did the same ones and stored it first.
        with suppress(AlreadyExists, Stale, Missing):
            db.write(self.positions.create(after) if before is None else self.positions.change(before, after))
        return len(stretch.those)

    def replace_position(self, db: Db, name: str, old: str, new: str) -> None:
        """Let a round continue elsewhere if it stopped at `old`: the name of someone who was erased."""
        before = db.one(self.positions.get(name), consistent=True)
        if before is not None and before.after == old:
            with suppress(Stale, Missing):  # it went on at this moment, so its position is another
                db.write(self.positions.change(before, before.model_copy(update={"after": new})))


def named(names: Iterable[str], at_most: int = AT_ONCE) -> Stretch[str]:
    """The first of some names in order; the next ones come after the last of these."""
    those = list(islice(names, at_most))
    return Stretch(those, those[-1] if len(those) == at_most else None)


def position_key(name: str) -> None: ...


def add_rounds(
    table: DesignTable,
    model: type[Position] = Position,
) -> Rounds:
    """The positions of rounds, in a table."""
    positions = table.entity(
        model,
        position_key,
        tag="walk",
        pk="WALK#{name}",
        sk="WALK",
        version="version",
        retention=Retention(None, "so that a job continues where it stopped"),
        load={"change": Load(per_month=50_000, item_bytes=150)},
    )
    return Rounds(model, positions)
