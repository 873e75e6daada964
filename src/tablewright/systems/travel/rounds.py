"""Rounds over all travellers (kit/rounds.py): their names, and their order."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Literal, TypeAlias, get_args

from tablewright.edge.errors import NotFound
from tablewright.kit.rounds import A_DAY, AT_ONCE, Among, Stretch, named
from tablewright.systems.travel import design as d
from tablewright.systems.travel.repository import Repository

# The rounds over all travellers, by name: their position is a traveller's id. Jobs can use no other name.
Round: TypeAlias = Literal[
    "recount", "tombstones", "rekey", "weekly-statistics", "inactive", "figures", "analytics"
]
ROUNDS: tuple[Round, ...] = get_args(Round)
_LETTERS = 8


def run(
    repository: Repository,
    name: Round,
    visit: Callable[[str], object],
    *,
    every: timedelta = A_DAY,
    then: Callable[[Sequence[str]], object] = lambda user_ids: None,
    at_most: int = AT_ONCE,
) -> int:
    """Call `visit` for the next travellers of a round; returns how many."""

    def visit_if_there(user_id: str) -> None:
        with suppress(NotFound):  # erased at this moment
            visit(user_id)

    among = travellers(repository, at_most)
    return d.rounds.run(repository.db, name, among, visit_if_there, every=every, then=then)


def forget(repository: Repository, user_id: str) -> None:
    """Remove an erased traveller from the positions of all rounds: such a round continues a little before."""
    for name in ROUNDS:
        d.rounds.replace_position(repository.db, name, user_id, user_id[:_LETTERS])


def travellers(repository: Repository, at_most: int = AT_ONCE) -> Among[str]:
    """All travellers, by id."""

    def among(after: str | None) -> Stretch[str]:
        enrolments = repository.db.all(d.travellers_after(after=after))
        return named((enrolment.user_id for enrolment in enrolments), at_most)

    return among
