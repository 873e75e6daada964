"""Which children have an app in a policy: what a change of the app is about (PC-X15), without looking at every family.

Must hold: an app is noted for a child before a policy of the child names it, so a reader finds all of them and
perhaps some more; an outdated entry is deleted when it is read, unless it was noted again.
Elsewhere: who notes (policies.py, family/number_change.py; family/rounds.py what came by other ways), who looks
(registry.py).
"""

from collections.abc import Iterable
from contextlib import suppress

from tablewright.mapping import ConditionNotMet, Missing, Stale
from tablewright.systems.parental import design as d
from tablewright.systems.parental.model import EVERYTHING, AppUse, BlockedApp, Policy
from tablewright.systems.parental.repository import Repository


def key_of(app: str) -> str:
    """An app however it is capitalised."""
    return app.strip().casefold()


def note(
    repository: Repository, child: str, entries: Iterable[BlockedApp], known: Iterable[BlockedApp] = ()
) -> int:
    """Note the apps that a policy is about to name, but for those it names already; how many."""
    named = {key_of(entry.app_name) for entry in entries} - {key_of(entry.app_name) for entry in known}
    writes = [
        d.uses.put(AppUse(child=child, app=app, noted=repository.world.new_id()))
        for app in sorted(named - {EVERYTHING})
    ]
    for left in repository.db.batch(writes) if writes else ():
        repository.db.write(left)
    return len(writes)


def mend(repository: Repository, child: str, policies: Iterable[Policy]) -> int:
    """Note what is missing for a child, by whatever way it came to be missing; how many were."""
    there = [BlockedApp(app_name=use.app) for use in repository.db.all(d.uses_of_child(child=child))]
    return note(repository, child, [entry for policy in policies for entry in policy.blocked_apps], there)


def policies_naming(repository: Repository, app: str) -> list[Policy]:
    """The policies that name an app, of children whose number is held."""
    key, db = key_of(app), repository.db
    uses = list(db.all(d.uses_of_app(app=key)))
    children = db.many([d.child_by_key(child=use.child) for use in uses])
    found = []
    for use, child in zip(uses, children, strict=True):
        if child is not None and child.released_at is not None:
            continue
        policies = [policy for policy in repository.policies_of(use.child) if _names(policy, key)]
        found += policies
        if not policies:
            with suppress(Missing, Stale, ConditionNotMet):
                db.write(d.uses.delete(use))
    return found


def _names(policy: Policy, key: str) -> bool:
    return any(key_of(entry.app_name) == key for entry in policy.blocked_apps)
