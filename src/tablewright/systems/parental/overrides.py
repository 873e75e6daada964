"""Exceptions for a while: "allow YouTube for 30 minutes", "block everything now" (PC-X4). They end by themselves.

Must hold: an exception has an end, at most a week ahead. Every child that comes in here was looked up by families.py.
Elsewhere: what they mean beside policies (evaluator.py).
"""

from datetime import datetime

from tablewright.systems.parental import design as d
from tablewright.systems.parental import rules
from tablewright.systems.parental.errors import BadRequest, NotThere, Refused
from tablewright.systems.parental.model import EVERYTHING, Child, Override, OverrideKind
from tablewright.systems.parental.policies import Registered
from tablewright.systems.parental.repository import Actor, Repository


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
        until: datetime,
        actor: Actor,
        *,
        begins_at: datetime | None = None,
        reason: str | None = None,
        key: str | None = None,
    ) -> Override:
        """An exception from now, or from a later moment; with `key`, one however often it is asked for."""
        once = f"override:{rules.digest(actor.subject, child.child, key)}" if key else None
        asked = rules.digest(kind, app, reason or "")
        earlier = self._repository.db.done(once, d.PARENTAL) if once else None
        if earlier is not None:
            return self._same(child, earlier.result, asked)
        now = self._repository.now()
        rules.later(until, now, rules.LONGEST_OVERRIDE, "until")
        start = now if begins_at is None else max(begins_at, now)
        if start >= until:
            raise BadRequest("INVALID_TIME", "It must end after it begins.", "until")
        name = self._app(child, app)
        rules.limited(len(self.of_child(child)) + 1, rules.OVERRIDES_PER_CHILD, "exceptions for a child")
        override = Override(
            child=child.child,
            override_id=self._repository.new_timed_id(now),
            kind=kind,
            app_name=name,
            begins_at=start,
            until=until,
            by=actor.name,
            reason=rules.text_of(reason, "reason", 200),
        )
        subject = f"{child.child}/{override.override_id}"
        words = "allowed for a while" if kind == "allow" else "blocked for a while"
        holds = d.children.check(child.child).when(lambda c: c.released_at == None)  # noqa: E711  # a noted condition
        kept = self._repository.write(
            "CHILD",
            d.overrides.create(override),
            self._repository.audit(child.family_id, subject, words, actor, None, override),
            holds,
            once=once,
            result={"overrideId": override.override_id, "asked": asked},
        )
        return override if kept is None else self._same(child, kept, asked)

    def end(self, child: Child, override_id: str, actor: Actor) -> None:
        """End an exception before its time."""
        before = self._repository.db.one(d.overrides.get(child.child, override_id), consistent=True)
        if before is None or before.until <= self._repository.now():
            raise NotThere("OVERRIDE", "There is no such exception, or it is over.")
        subject = f"{child.child}/{override_id}"
        audit = self._repository.audit(child.family_id, subject, "exception ended", actor, before)
        self._repository.write("OVERRIDE", d.overrides.discard(child.child, override_id), audit)

    def _same(self, child: Child, kept: dict[str, str], asked: str) -> Override:
        if kept["asked"] != asked:
            words = "This key was used for another exception. Take a new key for a new one."
            raise Refused("IDEMPOTENCY_KEY_REUSED", words, "Idempotency-Key")
        found = self._repository.db.one(d.overrides.get(child.child, kept["overrideId"]), consistent=True)
        if found is None:
            raise NotThere("OVERRIDE", "This exception is over.")
        return found

    def _app(self, child: Child, app: str) -> str:
        """The app as the registry spells it, or as one of the child's policies names it."""
        name = rules.app_name(app, "appName")
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
        raise BadRequest("UNKNOWN_APP", f"No app is called {name}.", "appName")
