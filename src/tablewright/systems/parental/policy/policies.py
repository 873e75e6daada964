"""Policies: what parents write for a child; made, replaced, paused, taken back (PC-1 to PC-11).

Must hold: an id is never given twice (PC-D15), a change rests on the version its author has seen (PC-D14), and there
are never more policies than a child may have. Every child that comes in here was looked up by family/families.py: who
may is decided there. Elsewhere: what a policy means at a moment (effective.py), exceptions for a while (overrides.py).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from tablewright.design import Write
from tablewright.edge.errors import BadRequest, Conflict, NotFound
from tablewright.kit.tables import NOT_ONCE, Actor, OnceRequest, digest
from tablewright.mapping import AlreadyExists, Page, Stale
from tablewright.systems.parental import design as d
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.family.families import Families
from tablewright.systems.parental.firewall import compiler
from tablewright.systems.parental.model import App, BlockedApp, Child, Policy, PolicyStatus, Purge, Window
from tablewright.systems.parental.policy import policies_by_app, windows
from tablewright.systems.parental.policy.windows import Notice
from tablewright.systems.parental.repository import Repository

_ATTEMPTS = 400
_RACES = (AlreadyExists, Stale)
_REUSED = "This key was already used for another policy. Use a new key."
PURGE_AFTER = timedelta(days=30)
NOTES_LENGTH = 1000
WrittenStatus = Literal["active", "draft"]
_FIELDS = {"domain": "domains", "range": "ipRanges", "port": "ports"}
# The apps of the registry, retired ones too.
Registered = Callable[[], Sequence[App]]


@dataclass(frozen=True, slots=True)
class Draft:
    """What a parent wrote, as it came."""

    blocked_apps: Sequence[BlockedApp]
    time_windows: Sequence[Mapping[str, object] | Window] = ()
    status: WrittenStatus = "active"
    timezone: str | None = None
    notes: str | None = None


@dataclass(frozen=True, slots=True)
class Saved:
    """A policy, what was put right in it without asking (PC-X14), and what of it is not enforced (PC-D10)."""

    policy: Policy
    notices: tuple[Notice, ...] = ()


class Policies:
    """What can be done with policies."""

    def __init__(self, repository: Repository, families: Families, registered: Registered) -> None:
        self._repository, self._families, self._registered = repository, families, registered

    # --- reads ---

    def get(self, child: Child, policy_id: str) -> Policy:
        policy = self._repository.policy(child.child, policy_id)
        if policy.status == "deleted":
            raise NotFound("POLICY")
        return policy

    def of_child(self, child: Child) -> list[Policy]:
        """All of a child's policies, by id."""
        return self._repository.policies_of(child.child)

    def page(
        self, child: Child, reader: Actor, size: int | None = None, after: str | None = None
    ) -> Page[Policy]:
        """PC-8, page by page."""
        query = d.policies_of_child(child=child.child).where(lambda policy: policy.status != "deleted")
        return self._repository.page(query, size, after, reader.subject)

    def of_parent(
        self, reader: Actor, email: str | None = None, size: int | None = None, after: str | None = None
    ) -> Page[Policy]:
        """PC-10: a parent's policies, newest first. NOT_GUARDIAN for an address that is not the reader's family's."""
        address = self._families.address_of(reader, email)
        children = [child.child for child in self._families.children(reader)]
        query = d.policies_of_parent(parent_email=address).where(lambda policy: policy.status != "deleted")
        page = self._repository.page(query, size, after, reader.subject)
        # An address may have belonged to another person, or have children in a family the reader does not belong to.
        own = tuple(policy for policy in page.items if policy.child in children)
        return Page(own, page.next, page.read_units)

    def unmet(self, child: Child, policy: Policy) -> tuple[Notice, ...]:
        """What a policy asks for and is not enforced, and why."""
        allowed = self._repository.family(child.family_id).allowed_domains
        registered = {app.app_name: app for app in self._registered()}
        return tuple(
            Notice("NOT_ENFORCED", f"blockedApps[{number}].{_FIELDS[one.kind]}", one.sentence)
            for number, entry in enumerate(policy.blocked_apps)
            for one in compiler.unmet(registered.get(entry.app_name), [entry], allowed)
        )

    # --- writing ---

    def create(self, child: Child, draft: Draft, actor: Actor, *, key: str | None = None) -> Saved:
        """A new policy; with `key`, one however often it is asked for."""
        receipt = f"policy:{digest(actor.subject, child.child, key)}" if key else None
        request = OnceRequest(receipt, digest(repr(draft)), _REUSED)
        earlier = self._repository.earlier(request)
        if earlier is not None:
            return self._again(child, earlier)
        merged = field_rules.checked_windows(draft.time_windows)
        now = self._repository.now()
        policy = Policy(
            child=child.child,
            policy_id="",
            child_name=child.child_name,
            parent_email=child.parent_email,
            blocked_apps=self._apps(draft.blocked_apps),
            time_windows=list(merged.windows),
            status=draft.status,
            created_at=now,
            updated_at=now,
            notes=field_rules.text_of(draft.notes, "notes", NOTES_LENGTH),
            timezone=_zone(draft.timezone),
        )
        _check_filled(policy)
        policies_by_app.note(self._repository, child.child, policy.blocked_apps)
        return self._allocated(child, policy, actor, request, merged.notices)

    def _allocated(
        self,
        child: Child,
        policy: Policy,
        actor: Actor,
        request: OnceRequest,
        notices: tuple[Notice, ...],
    ) -> Saved:
        """Put it under the first free number of the day.

        The number after the highest, on a condition that it is free: who loses reads again and so sees who won. That
        and the turn make the limit exact however many come at once, on whatever day.
        """

        def attempt() -> Saved:
            turn = self._repository.limit_guard("policies", child.child)
            there = self._repository.policies_of(child.child, deleted=True)
            live = sum(1 for one in there if one.status != "deleted")
            field_rules.limited(live + 1, field_rules.POLICIES_PER_CHILD, "rules for a child")
            named = policy.model_copy(update={"policy_id": next_policy_id(there, policy)})
            audit = self._repository.audit(
                child.family_id, f"{child.child}/{named.policy_id}", "policy created", actor, None, named
            )
            # The child must still exist: a policy written for an erased child would stay for ever.
            holds = d.children.check(child.child).when(lambda c: c.released_at == None)  # noqa: E711  # a noted condition
            writes = d.policies.create(named), audit, holds, turn
            kept = self._repository.write_once(request, *writes, policyId=named.policy_id)
            if kept is not None:
                return self._again(child, kept)
            return Saved(named, (*notices, *self.unmet(child, named)))

        words = "Other rules are being added at the same time. Try again in a moment."
        with self._repository.translated("CHILD"):
            return self._repository.retried(
                None, attempt, on=_RACES, attempts=_ATTEMPTS, busy=Conflict("STATE_CONFLICT", words)
            )

    def _again(self, child: Child, kept: Mapping[str, str]) -> Saved:
        policy = self._repository.policy(child.child, kept["policyId"])
        return Saved(policy, self.unmet(child, policy))

    def replace(
        self,
        child: Child,
        policy_id: str,
        draft: Draft,
        actor: Actor,
        expected: int,
        *,
        key: str | None = None,
    ) -> Saved:
        """Replace a policy; VERSION_CONFLICT with the current one if it is not the version the author has seen.

        What was paused stays paused. With `key`, who asks again gets the policy and no conflict with themselves.
        """
        receipt = f"policy-change:{digest(actor.subject, child.child, policy_id, key)}" if key else None
        request = OnceRequest(receipt, digest(repr(draft), str(expected)), _REUSED)
        earlier = self._repository.earlier(request)
        if earlier is not None:
            return self._again(child, earlier)
        merged = field_rules.checked_windows(draft.time_windows)
        before = self._seen(child, policy_id, expected)
        known = {entry.app_name for entry in before.blocked_apps}
        changes: dict[str, Any] = {
            "blocked_apps": self._apps(draft.blocked_apps, known),
            "time_windows": list(merged.windows),
            "notes": field_rules.text_of(draft.notes, "notes", NOTES_LENGTH),
            "timezone": _zone(draft.timezone),
        }
        is_paused = before.status == "paused" and draft.status == "active"
        if not is_paused:
            changes |= {"status": draft.status, "paused_until": None}
        saved = self._saved(child, before, changes, "policy changed", actor, (), request)
        return Saved(saved, (*merged.notices, *self.unmet(child, saved)))

    def pause(
        self, child: Child, policy_id: str, actor: Actor, until: datetime | None = None,
        expected: int | None = None,
    ) -> Policy:  # fmt: skip
        """Out of force until a time, or until it is resumed."""
        if until is not None:
            field_rules.later(until, self._repository.now(), field_rules.LONGEST_PAUSE, "until")
        changes = {"status": "paused", "paused_until": until}
        return self._moved(child, policy_id, changes, "policy paused", actor, expected)

    def resume(self, child: Child, policy_id: str, actor: Actor, expected: int | None = None) -> Policy:
        """In force again; also what makes a draft one."""
        changes = {"status": "active", "paused_until": None}
        return self._moved(child, policy_id, changes, "policy resumed", actor, expected)

    def delete(self, child: Child, policy_id: str, actor: Actor, expected: int | None = None) -> Policy:
        """Take a policy back: its rules go, and the row is purged after 30 days (PC-D30)."""
        status: PolicyStatus = "deleted"
        now = self._repository.now()
        changes = {"status": status, "deleted_at": now, "paused_until": None}
        purge = d.purges.put(Purge(child=child.child, policy_id=policy_id, at=now + PURGE_AFTER))
        return self._moved(child, policy_id, changes, "policy deleted", actor, expected, purge)

    # --- parts ---

    def _moved(
        self, child: Child, policy_id: str, changes: dict[str, Any], action: str, actor: Actor,
        expected: int | None, *along: Write[Any],
    ) -> Policy:  # fmt: skip
        def attempt() -> Policy:
            before = self._seen(child, policy_id, expected)
            return self._saved(child, before, changes, action, actor, along)

        return self._repository.retried(expected, attempt)

    def _seen(self, child: Child, policy_id: str, expected: int | None) -> Policy:
        before = self.get(child, policy_id)
        if expected is not None and before.version != expected:
            raise VersionConflict(before)
        return before

    def _saved(
        self,
        child: Child,
        before: Policy,
        changes: dict[str, Any],
        action: str,
        actor: Actor,
        along: Sequence[Write[Any]] = (),
        request: OnceRequest = NOT_ONCE,
    ) -> Policy:
        after = before.model_copy(
            update={**changes, "updated_at": self._repository.later_than(before.updated_at)}
        )
        if field_rules.is_same(before, after):
            return before
        _check_filled(after)
        policies_by_app.note(self._repository, child.child, after.blocked_apps, before.blocked_apps)
        is_move = before.status != after.status
        write = d.policies.move(before, after, by="parent") if is_move else d.policies.change(before, after)
        assert write.item is not None
        subject = f"{child.child}/{before.policy_id}"
        audit = self._repository.audit(child.family_id, subject, action, actor, before, write.item)
        with self._repository.translated("POLICY"):
            if (
                self._repository.write_once(request, write, audit, *along, policyId=before.policy_id)
                is not None
            ):
                return self.get(child, before.policy_id)
        return write.item

    def _apps(self, entries: Sequence[BlockedApp], known: set[str] | None = None) -> list[BlockedApp]:
        """The entries as they are kept: known to the registry under its spelling, or saying where they go."""
        registered = {app.app_name.casefold(): app for app in self._registered()}
        named = []
        for number, entry in enumerate(field_rules.checked_apps(entries)):
            app = registered.get(entry.app_name.casefold())
            is_kept = known is not None and entry.app_name in known
            if app is not None and (not app.retired or is_kept):
                entry = entry.model_copy(update={"app_name": app.app_name})
            elif not is_kept and not field_rules.is_custom(entry):
                words = f"We don't know an app called {entry.app_name}. Choose one from the list, or add its sites."
                raise BadRequest("UNKNOWN_APP", words, f"blockedApps[{number}].appName")
            named.append(entry)
        return named


def next_policy_id(there: Iterable[Policy], policy: Policy) -> str:
    """The number after the highest of the day the policy was made on (PC-3)."""
    prefix = f"policy_{policy.created_at:%Y%m%d}_"
    taken = [int(one.policy_id.removeprefix(prefix)) for one in there if one.policy_id.startswith(prefix)]
    return f"{prefix}{max(taken, default=0) + 1:03}"


def _check_filled(policy: Policy) -> None:
    """A policy that is active, or becomes active automatically, must block something (PC-4)."""
    if policy.status == "active" and not policy.blocked_apps:
        words = "Choose at least one app, or save the rule as a draft."
        raise BadRequest("EMPTY_POLICY", words, "blockedApps")


def _zone(name: str | None) -> str | None:
    return windows.zone(name).key if name else None
