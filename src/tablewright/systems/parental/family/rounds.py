"""What keeps the tables tidy: looking at every family some at a time, policies that go for good, parked records.

Must hold: whatever there is of families, a run is short, and the next one, in whichever process, goes on where this one
stopped. Elsewhere: when it runs, and what is done for whom is looked at (jobs.py).
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

from tablewright.mapping import AlreadyExists, Missing, Stale, forget_parked
from tablewright.systems.parental import design as d
from tablewright.systems.parental.model import Child, Family, Policy, Purge, ReportDue, Walk
from tablewright.systems.parental.policy import policies_by_app
from tablewright.systems.parental.policy.policies import PURGE_AFTER
from tablewright.systems.parental.repository import Repository

A_ROUND = timedelta(days=1)
PARKED_KEPT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Stretch:
    """The families to look at now with their children, and where the walk is afterwards."""

    families: tuple[Family, ...]
    children: tuple[Child, ...]
    before: Walk | None
    after: Walk


def next_stretch(repository: Repository, name: str, at_most: int) -> Stretch | None:
    """The children of the next families of a walk, released ones too; None while it is not time for another round."""
    before, now = repository.db.one(d.walks.get(name), consistent=True), repository.now()
    is_over = before is None or before.after is None
    if before is not None and is_over and now < before.began_at + A_ROUND:
        return None
    began_at = now if before is None or is_over else before.began_at
    query = d.families_after(after=None if before is None else before.after)
    families = list(islice(repository.db.all(query), at_most))
    children = [
        child
        for family in families
        for child in repository.children_of(family.family_id, released=True)
    ]  # fmt: skip
    after = families[-1].family_id if len(families) == at_most else None
    walk = Walk(name=name, after=after, began_at=began_at, version=before.version if before else 1)
    return Stretch(tuple(families), tuple(children), before, walk)


def walked(repository: Repository, stretch: Stretch) -> None:
    """Note how far it went, after it was done: who dies in between has it done again."""
    before, after = stretch.before, stretch.after
    # Another process did the same stretch: then it is already noted.
    with suppress(AlreadyExists, Stale, Missing):
        repository.db.write(d.walks.create(after) if before is None else d.walks.change(before, after))


def mend_families(repository: Repository, families: Sequence[Family]) -> None:
    """Write the next report time of families that have none."""
    noted = repository.db.many([d.reports.get(family.family_id) for family in families])
    for family, due in zip(families, noted, strict=True):
        if due is None:
            due = ReportDue(family_id=family.family_id, at=repository.now())
            repository.db.get_or_create(d.reports.create(due))


def mend(repository: Repository, child: Child) -> None:
    """What is kept beside a child's policies, as it should be, whatever way they came."""
    policies = repository.policies_of(child.child, deleted=True)
    policies_by_app.mend(repository, child.child, [one for one in policies if one.status != "deleted"])
    for policy in policies:
        if policy.status == "deleted":
            repository.db.get_or_create(d.purges.create(purge_of(policy)))


def purge_of(policy: Policy) -> Purge:
    gone_at = policy.deleted_at or policy.updated_at
    return Purge(child=policy.child, policy_id=policy.policy_id, at=gone_at + PURGE_AFTER)


def purge_policies(repository: Repository) -> int:
    """Policies that were deleted 30 days ago go for good (PC-D30); how many went."""
    gone = 0
    for purge in list(repository.db.all(d.purges_due(until=repository.now()))):
        done = d.purges.discard(purge.child, purge.policy_id)
        policy = repository.db.one(d.policy_by_id(child=purge.child, policy_id=purge.policy_id))
        is_deleted = policy is not None and policy.status == "deleted"
        try:
            repository.db.write(
                *([d.policies.delete(policy)] if policy is not None and is_deleted else []), done
            )
            gone += is_deleted
        except (Stale, Missing):
            continue  # purged or erased in this moment
    return gone


def forget_what_was_parked(repository: Repository) -> int:
    """Delete what followers parked and was not replayed for a month; returns how many records.

    They hold whole items, also of children who were erased before they were parked.
    """
    before = repository.now() - PARKED_KEPT
    return sum(
        forget_parked(repository.db, table.name, d.FOLLOWER, lambda record: record.first_tried < before)
        for table in d.PARENTAL.tables.values()
        if table.stream is not None
    )
