"""Exceptions for a while: "allow YouTube for 30 minutes", "block everything now" (PC-X4). They end by themselves.

Must hold: an exception has an end, at most a week ahead. Ids are numbered within a day and never given twice: what was
ended early stays, as one that expired does, longer than the day it was made on.
Every child that comes in here was looked up by family/families.py.
Elsewhere: what they mean beside policies (effective.py).
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

from tablewright.edge.errors import BadRequest, Conflict, NotFound
from tablewright.kit.tables import Actor, OnceRequest, digest
from tablewright.mapping import AlreadyExists
from tablewright.systems.parental import design as d
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.model import EVERYTHING, Child, Override, OverrideKind
from tablewright.systems.parental.policy.policies import Registered
from tablewright.systems.parental.repository import Repository

_ATTEMPTS = 60


class Overrides:
    """What can be done with exceptions."""

    def __init__(self, repository: Repository, registered: Registered) -> None:
        self._repository, self._registered = repository, registered

    def of_child(self, child: Child) -> list[Override]:
        """Those that hold or will, by when they begin."""
        return sorted(self._repository.overrides_of(child.child), key=lambda one: one.begins_at)

    def add(
        self,
        child: Child,
        kind: OverrideKind,
        app: str,
        until: datetime | timedelta,
        actor: Actor,
        *,
        begins_at: datetime | None = None,
        reason: str | None = None,
        key: str | None = None,
    ) -> Override:
        """An exception from now, or from a later moment, until a moment or for so long; with `key`, one however often
        it is asked for."""
        receipt = f"override:{digest(actor.subject, child.child, key)}" if key else None
        asked = digest(kind, app, reason or "", _said(until), _said(begins_at))
        request = OnceRequest(
            receipt, asked, "This key was already used for another exception. Use a new key."
        )
        earlier = self._repository.earlier(request)
        if earlier is not None:
            return self._again(child, earlier)
        now = self._repository.now()
        start = now if begins_at is None else max(begins_at, now)
        end = start + until if isinstance(until, timedelta) else until
        field_rules.later(end, now, field_rules.LONGEST_OVERRIDE, "until")
        if start >= end:
            raise BadRequest("INVALID_TIME", "The end must be after the start.", "until")
        override = Override(
            child=child.child,
            override_id="",
            kind=kind,
            app_name=self._app(child, app),
            begins_at=start,
            until=end,
            by=actor.name,
            reason=field_rules.text_of(reason, "reason", 200),
        )
        return self._allocated(child, override, actor, request)

    def _allocated(self, child: Child, override: Override, actor: Actor, request: OnceRequest) -> Override:
        """Put it under the first free number of the day, as policies are: who loses reads again and so sees who won,
        which also makes the limit exact however many come at once."""
        words = "allowed for a while" if override.kind == "allow" else "blocked for a while"
        holds = d.children.check(child.child).when(lambda c: c.released_at == None)  # noqa: E711  # a noted condition

        def attempt() -> Override:
            now = self._repository.now()
            there = list(self._repository.db.all(d.overrides_of_child(child=child.child)))
            live = sum(1 for one in there if one.until > now)
            field_rules.limited(live + 1, field_rules.OVERRIDES_PER_CHILD, "exceptions for a child")
            named = override.model_copy(update={"override_id": next_id(there, now)})
            subject = f"{child.child}/{named.override_id}"
            audit = self._repository.audit(child.family_id, subject, words, actor, None, named)
            writes = d.overrides.create(named), audit, holds
            kept = self._repository.write_once(request, *writes, overrideId=named.override_id)
            return self._again(child, kept) if kept is not None else named

        busy = Conflict(
            "STATE_CONFLICT", "Other exceptions are being added at the same time. Try again in a moment."
        )
        with self._repository.translated("CHILD"):
            return self._repository.retried(None, attempt, on=AlreadyExists, attempts=_ATTEMPTS, busy=busy)

    def end(self, child: Child, override_id: str, actor: Actor) -> None:
        """End an exception before its time."""
        before = self._repository.db.one(d.overrides.get(child.child, override_id), consistent=True)
        now = self._repository.now()
        if before is None or before.until <= now:
            raise NotFound("OVERRIDE", "This exception doesn't exist or has ended.")
        after = before.model_copy(update={"begins_at": min(before.begins_at, now), "until": now})
        subject = f"{child.child}/{override_id}"
        audit = self._repository.audit(child.family_id, subject, "exception ended", actor, before)
        self._repository.write("OVERRIDE", d.overrides.change(before, after), audit)

    def _again(self, child: Child, kept: Mapping[str, str]) -> Override:
        found = self._repository.db.one(d.overrides.get(child.child, kept["overrideId"]), consistent=True)
        if found is None:
            raise NotFound("OVERRIDE", "This exception has ended.")
        return found

    def _app(self, child: Child, app: str) -> str:
        """The app as the registry spells it, or as one of the child's policies names it."""
        name = field_rules.app_name(app, "appName")
        if name == EVERYTHING:
            return name
        known = [entry.app_name for entry in self._registered()]
        known += [
            entry.app_name
            for policy in self._repository.policies_of(child.child)
            for entry in policy.blocked_apps
        ]
        for one in known:
            if one.casefold() == name.casefold():
                return one
        raise BadRequest("UNKNOWN_APP", f"We don't know an app called {name}.", "appName")


def next_id(there: Iterable[Override], now: datetime) -> str:
    """The number after the highest of the day."""
    prefix = f"exception_{now.astimezone(UTC):%Y%m%d}_"
    taken = [int(one.override_id.removeprefix(prefix)) for one in there if one.override_id.startswith(prefix)]
    return f"{prefix}{max(taken, default=0) + 1:04}"


def _said(time: datetime | timedelta | None) -> str:
    """What a caller asked for, so that the same key with another time is known for what it is."""
    if isinstance(time, datetime):
        return time.astimezone(UTC).isoformat()
    return "" if time is None else f"for {time.total_seconds():g}"
