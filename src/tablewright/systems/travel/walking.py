"""Doing something for every traveller, or for every region, some at a time.

Must hold: whatever there is of travellers, a run is short, and the next one, in whichever process, goes on where this
one stopped; one who cannot be dealt with keeps nobody else waiting.
"""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import TypeAlias

from tablewright.mapping import AlreadyExists, Missing, Stale
from tablewright.systems.travel import design as d
from tablewright.systems.travel.errors import NotThere, TravelMistake
from tablewright.systems.travel.model import Walk
from tablewright.systems.travel.repository import Repository

log = logging.getLogger("tablewright.travel")

AT_ONCE = 200
A_DAY = timedelta(days=1)
Among: TypeAlias = Callable[[str | None], Iterable[str]]


def walk(
    repository: Repository,
    name: str,
    visit: Callable[[str], object],
    *,
    every: timedelta = A_DAY,
    at_most: int = AT_ONCE,
    among: Among | None = None,
    then: Callable[[list[str]], object] = lambda names: None,
) -> int:
    """Do `visit` for the next of a round; how many were seen. None are while no new round is due.

    `among` gives the names after one, in order: of travellers if it is not said. `then` is done with all of them.
    """
    before, now = repository.db.one(d.walks.get(name), consistent=True), repository.now()
    is_over = before is None or before.after is None
    if before is not None and is_over and now < before.began_at + every:
        return 0
    last = before.after if before is not None else None
    names = list(islice((among or partial(_travellers, repository))(last), at_most))
    for each in names:
        try:
            visit(each)
        except NotThere:
            continue  # erased in this moment
        except TravelMistake as mistake:
            log.warning("traveller passed over", extra={"job": name, "mistake": mistake.code})
    then(names)
    after = Walk(
        name=name,
        after=names[-1] if len(names) == at_most else None,
        began_at=now if before is None or is_over else before.began_at,
        version=before.version if before is not None else 1,
    )
    # Noted after it was done: who dies in between has it done again. Another process may have been there first.
    with suppress(AlreadyExists, Stale, Missing):
        repository.db.write(d.walks.create(after) if before is None else d.walks.change(before, after))
    return len(names)


def _travellers(repository: Repository, after: str | None) -> Iterator[str]:
    return (enrolment.user_id for enrolment in repository.db.all(d.travellers_after(after=after)))
