"""Campus Cloud's results of a search: what the caller may open. Each part adds a function to FINDERS.

Must hold: a caller finds only what they may read.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from tablewright.edge import Principal
from tablewright.edge.errors import CallerError
from tablewright.pages.area import Hit
from tablewright.systems.campus.campus import Campus
from tablewright.systems.campus.model import User
from tablewright.systems.campus.pages.page import HOME

_FEWEST_LETTERS, _HITS = 2, 5
Find = Callable[[Campus, User, str], Iterator[Hit]]


def _users(campus: Campus, user: User, text: str) -> Iterator[Hit]:
    if user.role == "admin":
        for found in campus.users.search(text, _HITS):
            yield Hit(
                found.name, f"{HOME}/admin/users/{found.user_id}", f"{found.role.capitalize()}, {found.email}"
            )


FINDERS: tuple[Find, ...] = (_users,)


def finder(campus: Campus) -> Callable[[Principal, str], Sequence[Hit]]:
    def search(caller: Principal, text: str) -> Sequence[Hit]:
        wanted = text.strip().casefold()
        if len(wanted) < _FEWEST_LETTERS or not caller.is_known:
            return ()
        try:
            user = campus.users.entered(caller)
        except CallerError:
            return ()
        return tuple(hit for find in FINDERS for hit in islice(find(campus, user, wanted), _HITS))

    return search
