"""Rounds over all travellers, or over all regions or conflicts, some at a time.

Must hold: with any number of travellers a run is short, and the next one, in any process, continues where this one
stopped; an error with one traveller is logged and does not delay the others.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Generic, Literal, TypeAlias, TypeVar, get_args

from tablewright.edge.errors import NotFound
from tablewright.mapping import AlreadyExists, Missing, Stale
from tablewright.systems.travel import design as d
from tablewright.systems.travel.model import Walk
from tablewright.systems.travel.repository import Repository

log = logging.getLogger("tablewright.travel")

AT_ONCE = 200
A_DAY = timedelta(days=1)
# The rounds over all travellers, by name: their position is a traveller's id. Jobs can use no other name.
Round: TypeAlias = Literal[
    "recount", "tombstones", "rekey", "weekly-statistics", "inactive", "figures", "analytics"
]
ROUNDS: tuple[Round, ...] = get_args(Round)
_LETTERS = 8
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stretch(Generic[T]):
    """The next ones of a round, and the position after them; None at the end of the round."""

    those: Sequence[T]
    next: str | None


Among: TypeAlias = Callable[[str | None], Stretch[T]]


def walk(
    repository: Repository,
    name: str,
    among: Among[T],
    visit: Callable[[T], object],
    *,
    every: timedelta = A_DAY,
    then: Callable[[Sequence[T]], object] = lambda those: None,
) -> int:
    """Call `visit` for the next ones of a round; returns how many. 0 while no new round is due.

    `among` returns those after a position. `then` is called with all of them before the new position is stored.
    """
    before, now = repository.db.one(d.walks.get(name), consistent=True), repository.now()
    is_over = before is None or before.after is None
    if before is not None and is_over and now < before.began_at + every:
        return 0
    stretch = among(before.after if before is not None else None)
    for each in stretch.those:
        try:
            visit(each)
        except NotFound:
            continue  # erased at this moment
        except Exception as mistake:
            log.warning("passed over", extra={"job": name, "mistake": type(mistake).__name__})
    then(stretch.those)
    after = Walk(
        name=name,
        after=stretch.next,
        began_at=now if before is None or is_over else before.began_at,
        version=before.version if before is not None else 1,
    )
    # Stored afterwards: after a crash in between they are visited again. Another process may have stored it first.
    with suppress(AlreadyExists, Stale, Missing):
        repository.db.write(d.walks.create(after) if before is None else d.walks.change(before, after))
    return len(stretch.those)


def forget(repository: Repository, user_id: str) -> None:
    """Remove an erased traveller from the positions of all rounds: such a round continues a little before."""
    for before in repository.db.many([d.walks.get(name) for name in ROUNDS], consistent=True):
        if before is not None and before.after == user_id:
            after = before.model_copy(update={"after": user_id[:_LETTERS]})
            # Refused if the round continued at this moment: then its position is another traveller.
            repository.try_write(d.walks.change(before, after))


def walk_along_everybody(
    repository: Repository,
    name: Round,
    visit: Callable[[str], object],
    *,
    every: timedelta = A_DAY,
    then: Callable[[Sequence[str]], object] = lambda user_ids: None,
) -> int:
    """Call `visit` for the next travellers of a round; returns how many."""
    return walk(repository, name, travellers(repository), visit, every=every, then=then)


def travellers(repository: Repository, at_most: int = AT_ONCE) -> Among[str]:
    """All travellers, by id."""

    def among(after: str | None) -> Stretch[str]:
        enrolments = repository.db.all(d.travellers_after(after=after))
        return named((enrolment.user_id for enrolment in enrolments), at_most)

    return among


def named(names: Iterable[str], at_most: int) -> Stretch[str]:
    """The first of some names in order; the next ones come after the last of these."""
    those = list(islice(names, at_most))
    return Stretch(those, those[-1] if len(those) == at_most else None)
