"""Doing something for every traveller, or for every one of something else, some at a time.

Must hold: whatever there is of travellers, a run is short, and the next one, in whichever process, goes on where this
one stopped; one who cannot be dealt with, for whatever reason, is told to the log and keeps nobody else waiting.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Generic, Literal, TypeAlias, TypeVar, get_args

from tablewright.mapping import AlreadyExists, Missing, Stale
from tablewright.systems.travel import design as d
from tablewright.systems.travel.errors import NotThere
from tablewright.systems.travel.model import Walk
from tablewright.systems.travel.repository import Repository

log = logging.getLogger("tablewright.travel")

AT_ONCE = 200
A_DAY = timedelta(days=1)
# The rounds along everybody, by name: the place where one of them stopped is a traveller. Jobs can name no other.
Round: TypeAlias = Literal[
    "recount", "tombstones", "rekey", "weekly-statistics", "inactive", "figures", "analytics"
]
ROUNDS: tuple[Round, ...] = get_args(Round)
_LETTERS = 8
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stretch(Generic[T]):
    """Those whose turn it is, and where the next ones begin; None at the end of a round."""

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
    """Do `visit` for the next of a round; how many were seen. None are while no new round is due.

    `among` gives those after a place. `then` is done with all of them, before it is noted that they had their turn.
    """
    before, now = repository.db.one(d.walks.get(name), consistent=True), repository.now()
    is_over = before is None or before.after is None
    if before is not None and is_over and now < before.began_at + every:
        return 0
    stretch = among(before.after if before is not None else None)
    for each in stretch.those:
        try:
            visit(each)
        except NotThere:
            continue  # erased in this moment
        except Exception as mistake:
            log.warning("passed over", extra={"job": name, "mistake": type(mistake).__name__})
    then(stretch.those)
    after = Walk(
        name=name,
        after=stretch.next,
        began_at=now if before is None or is_over else before.began_at,
        version=before.version if before is not None else 1,
    )
    # Noted after it was done: who dies in between has it done again. Another process may have been there first.
    with suppress(AlreadyExists, Stale, Missing):
        repository.db.write(d.walks.create(after) if before is None else d.walks.change(before, after))
    return len(stretch.those)


def forget(repository: Repository, user_id: str) -> None:
    """Let no round say that it stopped at somebody: it goes on a little before, and does some again."""
    for before in repository.db.many([d.walks.get(name) for name in ROUNDS], consistent=True):
        if before is not None and before.after == user_id:
            after = before.model_copy(update={"after": user_id[:_LETTERS]})
            # Refused if the round went on in this moment: then it says somebody else.
            repository.try_write(d.walks.change(before, after))


def walk_along_everybody(
    repository: Repository,
    name: Round,
    visit: Callable[[str], object],
    *,
    every: timedelta = A_DAY,
    then: Callable[[Sequence[str]], object] = lambda user_ids: None,
) -> int:
    """Do `visit` for the next travellers of a round; how many were seen."""
    return walk(repository, name, travellers(repository), visit, every=every, then=then)


def travellers(repository: Repository, at_most: int = AT_ONCE) -> Among[str]:
    """Everybody, by their ids."""

    def among(after: str | None) -> Stretch[str]:
        enrolments = repository.db.all(d.travellers_after(after=after))
        return named((enrolment.user_id for enrolment in enrolments), at_most)

    return among


def named(names: Iterable[str], at_most: int) -> Stretch[str]:
    """The first of some names in order; the next ones come after the last of these."""
    those = list(islice(names, at_most))
    return Stretch(those, those[-1] if len(those) == at_most else None)
