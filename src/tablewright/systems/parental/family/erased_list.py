"""The list of the erased, by entries that say nothing about the person, and its use after a restore (PC-X12).

Backups, copies and point-in-time recovery bring back rows of children, families and guardians that were erased later.
An entry names the family by its random id and the child by its own, so each one is found by one query.
Must hold: an entry matches the record that was erased and no later one under the same number or login.
Elsewhere: where the list is (kit/erased.py), what an erasure removes (erasure.py).
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from tablewright.design import Write
from tablewright.kit.tables import Actor, digest
from tablewright.mapping import Missing, Stale
from tablewright.systems.parental import design as d
from tablewright.systems.parental.model import Child, FamilyTask, Guardian
from tablewright.systems.parental.repository import SYSTEM, Repository

log = logging.getLogger("tablewright.parental")

Begin = Callable[[Repository, str, Actor], FamilyTask]


def lasting_id(child: Child) -> str:
    """What stays the same when a child's number changes; without an id of its own, a digest of its record."""
    return child.child_id or digest(child.family_id, child.child, child.created_at.isoformat())


def child_entry(child: Child) -> str:
    return f"child.{child.family_id}.{lasting_id(child)}"


def family_entry(family_id: str) -> str:
    return f"family.{family_id}"


def guardian_entry(guardian: Guardian) -> str:
    who = digest(guardian.family_id, guardian.subject, guardian.joined_at.isoformat())
    return f"guardian.{guardian.family_id}.{who}"


def again(repository: Repository, entries: Sequence[str], begin: Begin) -> list[FamilyTask]:
    """Start the erasures of a list whose subjects are in the tables; returns the tasks."""
    listed = frozenset(entries)
    known = frozenset(one.task_id for one in d.tasks.open(repository.db) if listed)
    found: list[FamilyTask] = []
    for family_id in _families(entries):
        found += _children(repository, family_id, listed, begin)
        found += _guardians(repository, family_id, listed)
        if family_entry(family_id) in listed:
            found += _family(repository, family_id)
    return [task for task in found if task.task_id not in known]


def _families(entries: Iterable[str]) -> list[str]:
    """The families that entries name, each once."""
    parts = (entry.split(".") for entry in entries)
    return sorted({part[1] for part in parts if len(part) > 1})


def _children(
    repository: Repository, family_id: str, listed: frozenset[str], begin: Begin
) -> list[FamilyTask]:
    back = [one for one in repository.children_of(family_id, released=True) if child_entry(one) in listed]
    return [repository.retried(None, partial(begin, repository, one.child, SYSTEM)) for one in back]


def _family(repository: Repository, family_id: str) -> list[FamilyTask]:
    """Close a family that came back, at once and for good; nothing if that is under way."""
    family, now = repository.db.one(d.families.get(family_id), consistent=True), repository.now()
    if family is None:
        return []
    open_ones = [one for one in d.tasks.open(repository.db) if one.family_id == family_id]
    if family.closed_at is not None and any(one.kind == "family" for one in open_ones):
        return []
    task = repository.task("family", family_id, SYSTEM)
    closed = family.model_copy(update={"closes_at": now, "closed_at": now})
    audit = repository.audit(family_id, family_id, "family deleted", SYSTEM)
    repository.write("FAMILY", d.families.change(family, closed), d.tasks.add(task), audit)
    return [task]


def _guardians(repository: Repository, family_id: str, listed: frozenset[str]) -> list[FamilyTask]:
    """Remove guardians who left; if the owner is one of them, the longest-standing other guardian becomes the owner."""
    found = []
    for guardian in repository.guardians_of(family_id):
        if guardian_entry(guardian) in listed:
            task = repository.task("guardian", family_id, SYSTEM, target=guardian_entry(guardian))
            if _removed(repository, guardian, task, listed):
                found.append(task)
    return found


def _removed(repository: Repository, guardian: Guardian, task: FamilyTask, listed: frozenset[str]) -> bool:
    turn = repository.turn_of_guardians(guardian.family_id)
    writes: list[Write[Any]] = [d.guardians.delete(guardian), d.tasks.add(task), turn]
    if guardian.role == "owner":
        staying = [
            one for one in repository.guardians_of(guardian.family_id) if guardian_entry(one) not in listed
        ]
        if not staying:
            log.warning("a restored family has no other guardian", extra={"family": guardian.family_id})
            return False
        heir = min(staying, key=lambda one: one.joined_at)
        move = repository.task("email", heir.family_id, SYSTEM, source=guardian.email, target=heir.email)
        writes += [
            d.guardians.change(heir, heir.model_copy(update={"role": "owner"})),
            d.tasks.add(move),
        ]
    writes.append(repository.audit(guardian.family_id, guardian.email, "guardian removed", SYSTEM, guardian))
    try:
        repository.db.write(*writes)
    except (Missing, Stale):
        return False  # removed or changed by another process; the next run looks again
    return True
