"""Erasure of a child, of a whole family, and of a guardian who left, in runs that may be repeated (PC-X12).

Elsewhere: what of them is kept where, and what goes first (subjects.py); who calls, and how often (tasks.py); who may,
and until when it can be undone (privacy.py, deletion.py).
"""

from typing import Any

from tablewright.design import Write
from tablewright.kit.erased import Certificate
from tablewright.kit.tables import Actor
from tablewright.systems.parental import design as d
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.family import erased_list, subjects
from tablewright.systems.parental.family.number_change import RULES_LEFT, Reconcile, off_devices
from tablewright.systems.parental.model import Child, FamilyTask
from tablewright.systems.parental.repository import Repository

CHILDREN_LEFT = "children that are being erased"
SETTLING = "writes that started before it"


class Erasing:
    """What is done of an erasure."""

    def __init__(self, repository: Repository, reconcile: Reconcile, people: subjects.FamilySubjects) -> None:
        self._repository, self._reconcile, self._people = repository, reconcile, people

    def open(self, family_id: str) -> list[FamilyTask]:
        """What is not finished for a family."""
        return open_tasks(self._repository, family_id)

    def last(self, task: FamilyTask) -> list[Write[Any]]:
        """The writes that finish a task."""
        db = self._repository.db
        writes: list[Write[Any]] = []
        if task.kind in ("erase", "number"):
            # Only now: while the record exists, no other child can be given the same id.
            child = db.one(d.child_by_key(child=task.child))
            writes += [d.children.delete(child)] if child is not None else []
        if task.kind == "family":
            family = db.one(d.families.get(task.family_id), consistent=True)
            is_closed = family is not None and family.closed_at is not None
            if family is not None and is_closed:
                writes += [d.families.delete(family), d.reports.discard(family.family_id)]
            others = [one for one in self.open(task.family_id) if one.task_id != task.task_id]
            writes += [d.tasks.cancel(one.task_id) for one in others]
        return writes

    def child(self, task: FamilyTask) -> str | None:
        """Clean the devices, and erase everything else even if one of them is away."""
        child = self._repository.db.one(d.child_by_key(child=task.child))
        waits_for: str | None = RULES_LEFT
        try:
            waits_for = off_devices(self._repository, self._reconcile, task.child)
        finally:
            # After it: the attempts to clean the devices are written down as well.
            self._people.child.erase(subjects.erased(task, child, has_rules=waits_for is not None))
        return waits_for

    def family(self, task: FamilyTask) -> str | None:
        """Everything of a family, once it cannot be undone any more."""
        db, family_id = self._repository.db, task.family_id
        family = db.one(d.families.get(family_id), consistent=True)
        now = self._repository.now()
        if family is None or family.closes_at is None or family.closes_at > now:
            return None  # already deleted, or kept by its owner: nothing to do
        if family.closed_at is None:
            # From here on it cannot be kept: by its version, one of two concurrent calls is refused.
            db.write(d.families.change(family, family.model_copy(update={"closed_at": now})))
        self._people.family.erase(family_id, *subjects.MEMBERS)
        children = self._repository.children_of(family_id, released=True)
        for child in children:
            begin(self._repository, child.child, Actor(task.actor, "parent"))
        if children:
            return CHILDREN_LEFT
        if now < task.settles_at:
            return SETTLING  # the family is told by messages that have to leave before they go
        self._people.family.erase(family_id)
        return None

    def guardian(self, task: FamilyTask) -> str | None:
        """A guardian who left does not come back with a restored copy."""
        now = self._repository.now()
        proof = Certificate(subject="guardian", begun_at=now, done_at=now, erased={"guardian": 1})
        self._people.erased.note(task.target, proof)
        return None

    def again(self) -> list[FamilyTask]:
        """After a restore: start every erasure of the list whose subject is in the tables; returns the tasks."""
        return erased_list.again(self._repository, self._people.erased.entries(), begin)


def open_tasks(repository: Repository, family_id: str) -> list[FamilyTask]:
    found = d.tasks.open(repository.db)
    return [task for task in found if task.family_id == family_id]


def begin(repository: Repository, key: str, actor: Actor) -> FamilyTask:
    """The task that erases a child, started if there is none.

    The child first, so that nothing new can begin for it. Its name goes in the same moment.
    """
    before = repository.child(key)
    running = [one for one in open_tasks(repository, before.family_id) if key in (one.child, one.target)]
    if erasing := next((one for one in running if one.kind == "erase"), None):
        return erasing
    # What is on its way here from a number the child had goes as well, from where it is.
    former = [one.source for one in running if one.kind == "number" and one.target == key]
    rows = [before, *(one for old in former if (one := repository.db.one(d.child_by_key(child=old))))]
    task = repository.task(
        "erase", before.family_id, actor, child=key, source=before.phone,
        target=before.child_name,
    )  # fmt: skip
    more = [
        repository.task(
            "erase", before.family_id, actor, child=old,
            source=old.partition("~")[0], target=before.child_name,
        )
        for old in former
    ]  # fmt: skip
    repository.write(
        "CHILD",
        *(d.children.change(one, _erased(repository, one)) for one in rows),
        *(d.tasks.add(one) for one in (task, *more)),
        *(d.tasks.cancel(one.task_id) for one in running),
        repository.audit(before.family_id, field_rules.ERASED, "child erased", actor),
    )
    return task


def _erased(repository: Repository, child: Child) -> Child:
    """What is left of a child until nothing of it is on any device: by which name it is there."""
    now = repository.later_than(child.updated_at)
    return child.model_copy(
        update={
            "held_phone": None,
            "released_at": child.released_at or now,
            "erased_at": now,
            "child_name": field_rules.ERASED,
            "parent_email": field_rules.ERASED,
            "paused_until": None,
            "updated_at": now,
        }
    )
