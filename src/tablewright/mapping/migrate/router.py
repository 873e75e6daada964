"""A Call that routes requests for a migrated table to whichever of its two tables is open.

    db = Db(routed(call, *MIGRATIONS), TRAVEL)

A process reads the state of a migration every second or so and caches it for `term`; without a valid cached state it
writes nothing. While writes are paused they wait, and are refused in the end (WritesPaused). When the answer to a write
arrives after the cached state has expired, the state is read again: if the sides have changed, the answer does not
count as an acknowledgement (SideChanged).
Must hold: a write that was answered as done was done on the side that was open, before it was left; a read that begins
after a write was answered sees it, on either side. A request is never routed to the other side because one failed.
Elsewhere: the pause itself (cutover.py), how long writes wait for a follower that is behind (back_pressure.py).
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from tablewright.client import Call, CallFailed, HttpCall
from tablewright.design import Environment
from tablewright.mapping.migrate.back_pressure import delay_of
from tablewright.mapping.migrate.context import MigrationContext, migration_context
from tablewright.mapping.migrate.errors import NotRouted, SideChanged, WritesPaused
from tablewright.mapping.migrate.migration import Migration
from tablewright.mapping.migrate.state import State
from tablewright.world import World

WRITES = frozenset(("BatchWriteItem", "DeleteItem", "PutItem", "TransactWriteItems", "UpdateItem"))
# Members of an answer that are by table.
_BY_TABLE = ("Responses", "UnprocessedKeys", "UnprocessedItems", "ItemCollectionMetrics")
PATIENCE = 15.0
RETRY_AFTER = 5


@dataclass(frozen=True, slots=True)
class CachedState:
    """The state of a migration when it was last read.

    By both clocks: one may be set back, the other stops while the machine sleeps.
    """

    wall: float
    steady: float
    state: State | None
    # How long a write waits, in seconds.
    delay: float = 0.0

    @property
    def is_open(self) -> bool:
        return self.state is None or self.state.is_open

    @property
    def position(self) -> tuple[str, int]:
        """The open side, and how often the sides were changed: they may have been changed and changed back."""
        return ("source", 0) if self.state is None else (self.state.side, self.state.flips)


class RouteCache:
    """The cached state of one migration in one process. Thread-safe."""

    def __init__(self, at: MigrationContext) -> None:
        self.at = at
        self.term = at.migration.term.total_seconds()
        self._lock = threading.Lock()
        self._cached: CachedState | None = None

    def age(self, cached: CachedState) -> float:
        return max(self.at.world.now().timestamp() - cached.wall, self.at.steady() - cached.steady)

    def is_valid(self, cached: CachedState) -> bool:
        return self.age(cached) < self.term

    def current(self) -> CachedState:
        """A valid state, cached or read now. During a pause it is read each time."""
        known = self._cached
        if known is not None and known.is_open and self.is_valid(known):
            if self.age(known) < self.term / 2 or not self._lock.acquire(blocking=False):
                return known
            try:
                return self._refresh()
            except CallFailed:
                return known  # still valid; a later call tries again
            finally:
                self._lock.release()
        with self._lock:
            known = self._cached
            if known is not None and known.is_open and self.age(known) < self.term / 2:
                return known
            return self._refresh()

    def refresh(self) -> CachedState:
        """Read the state, also if the cached one is valid."""
        with self._lock:
            return self._refresh()

    def wait_for_follower(self) -> None:
        """Wait as long as a write has to at the moment. What the write relies on is read after that."""
        if (delay := self.current().delay) > 0:
            self.at.sleep(delay)

    def refuse_late(self, cached: CachedState) -> None:
        """SideChanged if the answer came after the cached state expired, and the sides have changed or are changing."""
        if self.is_valid(cached):
            return
        try:
            now = self.refresh()
        except CallFailed as failure:
            raise SideChanged(self.at.migration.called) from failure
        if now.position != cached.position or not now.is_open:
            raise SideChanged(self.at.migration.called)

    def _refresh(self) -> CachedState:
        # Before the read: its result may be as old as the request.
        wall, steady = self.at.world.now().timestamp(), self.at.steady()
        state = self.at.find_state()
        state = self.at.end_stuck_pause(state) if state is not None else None
        is_followed = state is not None and state.course is not None and state.is_open
        self._cached = CachedState(wall, steady, state, delay_of(self.at) if is_followed else 0.0)
        return self._cached


# The table for each name, and the states this is based on.
Routes: TypeAlias = tuple[dict[str, str], list[tuple[RouteCache, CachedState]]]


class Router:
    """A Call that knows a table by one name and uses whichever of its tables is open."""

    def __init__(self, call: Call, caches: Mapping[str, RouteCache], patience: float) -> None:
        self._call, self._caches, self._patience = call, caches, patience
        self.is_patient = isinstance(call, HttpCall)
        self._targets = {one.at.physical(one.at.migration.target) for one in caches.values()} - caches.keys()

    def __call__(self, verb: str, request: Mapping[str, Any]) -> dict[str, Any]:
        names = names_in(request)
        # Also beside other names: an action that names a table by ARN would go to that side even if it is closed.
        self._refuse_arns(names)
        if not any(name in self._caches or name in self._targets for name in names):
            self._refuse_statements(request)
            return self._call(verb, request)
        for name in names & self._targets:
            raise NotRouted(name, "use the name of the source table; requests are routed from it")
        if verb not in WRITES:
            routes, _ = self._routes(names)
            return restored(self._call(verb, renamed(request, routes)), routes)
        routes, used = self._open_routes(names)
        answer = self._call(verb, renamed(request, routes))
        for cache, cached in used:
            cache.refuse_late(cached)
        return restored(answer, routes)

    def open_table(self, name: str) -> str:
        """The table that a name is routed to now."""
        return self._routes(frozenset((name,)))[0][name]

    # --- parts ---

    def _routes(self, names: frozenset[str]) -> Routes:
        """Where names lead now. A target may itself be the source of another migration."""
        routes: dict[str, str] = {}
        used: list[tuple[RouteCache, CachedState]] = []
        for name in names:
            end = name
            while (cache := self._caches.get(end)) is not None:
                cached = cache.current()
                used.append((cache, cached))
                if cached.state is None or cached.state.side == "source":
                    break
                end = cache.at.physical(cache.at.migration.target)
            routes[name] = end
        return routes, used

    def _open_routes(self, names: frozenset[str]) -> Routes:
        """The same for a write, once all its tables are open; WritesPaused if that takes too long."""
        began: float | None = None
        for cache in {id(cache): cache for cache, _ in self._routes(names)[1]}.values():
            cache.wait_for_follower()
        while True:
            routes, used = self._routes(names)
            closed = [cache for cache, cached in used if not cached.is_open]
            if not closed:
                return routes, used
            at = closed[0].at
            began = at.steady() if began is None else began
            if at.steady() - began >= self._patience:
                raise WritesPaused(at.migration.called, RETRY_AFTER)
            at.sleep(0.05)

    def _refuse_arns(self, names: frozenset[str]) -> None:
        """A request may name a table by its ARN, which cannot be routed."""
        for name in names:
            table = name.partition(":table/")[2].partition("/")[0] if name.startswith("arn:") else None
            if table in self._caches or table in self._targets:
                raise NotRouted(str(table), "use its name instead of its ARN")

    def _refuse_statements(self, request: Mapping[str, Any]) -> None:
        """PartiQL statements name their tables inside a text, which cannot be routed."""
        if "Statement" in request or "Statements" in request or "TransactStatements" in request:
            text = str(request)
            for table in (*self._caches, *self._targets):
                if table in text:
                    why = "PartiQL statements cannot be routed to the open side; use GetItem, Query, PutItem"
                    raise NotRouted(table, why)


def routed(
    call: Call,
    *migrations: Migration,
    world: World | None = None,
    environment: Environment | None = None,
    patience: float = PATIENCE,
    steady: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Call:
    """The same Call, routed to the open side of each migration; `call` itself if there are none."""
    if not migrations:
        return call
    contexts = [
        migration_context(call, one, world=world, environment=environment, steady=steady, sleep=sleep)
        for one in migrations
    ]
    caches = {at.physical(at.migration.source): RouteCache(at) for at in contexts}
    return Router(call, caches, patience)


# --- the tables in requests and answers ---


def names_in(request: Mapping[str, Any]) -> frozenset[str]:
    """Every table that a request names as a table."""
    bodies = [request, *(body for action in _actions(request) for body in action.values())]
    found = [body.get("TableName") for body in bodies if isinstance(body, Mapping)]
    if isinstance(request.get("RequestItems"), Mapping):
        found += request["RequestItems"]
    return frozenset(name for name in found if isinstance(name, str))


def _actions(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    actions = request.get("TransactItems")
    return [one for one in actions if isinstance(one, Mapping)] if isinstance(actions, list | tuple) else []


def renamed(request: Mapping[str, Any], routes: Mapping[str, str]) -> Mapping[str, Any]:
    """The request, about the tables that its names lead to."""
    if all(name == end for name, end in routes.items()):
        return request
    made: dict[str, Any] = _about(request, routes)
    if isinstance(made.get("RequestItems"), Mapping):
        made["RequestItems"] = {routes.get(name, name): one for name, one in made["RequestItems"].items()}
    if _actions(request):
        made["TransactItems"] = [
            {verb: _about(body, routes) for verb, body in one.items()} for one in made["TransactItems"]
        ]
    return made


def _about(body: Any, names: Mapping[str, str]) -> Any:
    """An object with a TableName, about the table that the name leads to."""
    if not isinstance(body, Mapping):
        return body
    table = body.get("TableName")
    return {**body, "TableName": names.get(table, table)} if isinstance(table, str) else dict(body)


def restored(answer: dict[str, Any], routes: Mapping[str, str]) -> dict[str, Any]:
    """The answer, about the tables that were asked for."""
    names = {end: name for name, end in routes.items() if name != end}
    if not names:
        return answer
    made = dict(answer)
    for member in _BY_TABLE:
        if isinstance(made.get(member), dict):
            made[member] = {names.get(table, table): one for table, one in made[member].items()}
    spent = made.get("ConsumedCapacity")
    if spent is not None:
        made["ConsumedCapacity"] = (
            [_about(one, names) for one in spent] if isinstance(spent, list) else _about(spent, names)
        )
    return made
