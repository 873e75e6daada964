"""What keeps the tables tidy: every family in a round, policies that go for good, parked records.

Elsewhere: rounds (kit/rounds.py), what is done for each child (enforcement/regular_checks.py), when they run (jobs.py).
"""

from collections.abc import Sequence
from datetime import timedelta
from itertools import islice

from tablewright.kit.rounds import Stretch
from tablewright.mapping import Missing, Stale, forget_parked
from tablewright.systems.parental import design as d
from tablewright.systems.parental.model import Child, Family, Policy, Purge, ReportDue
from tablewright.systems.parental.policy import policies_by_app
from tablewright.systems.parental.policy.policies import PURGE_AFTER
from tablewright.systems.parental.repository import Repository

PARKED_KEPT = timedelta(days=30)


def next_families(repository: Repository, after: str | None, at_most: int) -> Stretch[Family]:
    """The families after one, in the order of their ids."""
    families = list(islice(repository.db.all(d.families_after(after=after)), at_most))
    return Stretch(families, families[-1].family_id if len(families) == at_most else None)


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
