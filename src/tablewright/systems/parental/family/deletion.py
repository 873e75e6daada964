"""Deletion of a family: the plan, a week in which it can be kept, and then everything (PC-X12).

During the week nothing changes: what is blocked stays blocked, so that deleting a family in a temper unblocks no child.
Every guardian is notified of the date. Must hold: only the owner starts and cancels it; once the first guardian is
removed it cannot be cancelled. Elsewhere: the steps (erasure.py), one child (privacy.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Conflict
from tablewright.english import full_date
from tablewright.kit.tables import Actor
from tablewright.systems.parental import design as d
from tablewright.systems.parental.family.families import Families
from tablewright.systems.parental.family.tasks import FamilyTasks
from tablewright.systems.parental.model import Child, Family, FamilyTask, Guardian, Invitation
from tablewright.systems.parental.repository import Repository

KEPT_FOR = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Leaving:
    """A child that would go, with how much of it."""

    child: Child
    policies: int
    rules: int


@dataclass(frozen=True, slots=True)
class DeletionPlan:
    """What would go with a family. `closes_at`: when, if it is on its way or were begun now."""

    family: Family
    children: tuple[Leaving, ...]
    guardians: tuple[Guardian, ...]
    invitations: tuple[Invitation, ...]
    closes_at: datetime


class FamilyDeletion:
    """Deletes families."""

    def __init__(self, repository: Repository, families: Families, tasks: FamilyTasks) -> None:
        self._repository, self._families, self._tasks = repository, families, tasks

    def plan(self, family_id: str, actor: Actor) -> DeletionPlan:
        """What deleting a family would take away; for its owner, who alone may."""
        self._families.owner(actor, family_id)
        family, db = self._repository.family(family_id), self._repository.db
        children = [
            child
            for child in self._repository.children_of(family_id, released=True)
            if child.erased_at is None
        ]
        return DeletionPlan(
            family,
            tuple(
                Leaving(
                    child,
                    len(self._repository.policies_of(child.child)),
                    sum(1 for _ in db.all(d.rules_of_child(child=child.child))),
                )
                for child in children
            ),
            tuple(self._repository.guardians_of(family_id)),
            tuple(db.all(d.invitations_of_family(family_id=family_id))),
            family.closes_at or self._repository.now() + KEPT_FOR,
        )

    def delete(self, family_id: str, actor: Actor, *, at_once: bool = False) -> Family:
        """Begin it: a week from now everything of the family goes, or now if it need not be undone.

        Asked again it stays as it is, but `at_once` ends the week.
        """
        self._families.owner(actor, family_id)
        family = self._repository.retried(None, lambda: self._begin(family_id, actor, at_once))
        if at_once:
            for task in self._on_its_way(family_id):
                self._tasks.run(task)
        return family

    def keep(self, family_id: str, actor: Actor) -> Family:
        """Undo it. FAMILY_CLOSED when it is too late."""
        self._families.owner(actor, family_id)
        return self._repository.retried(None, lambda: self._keep(family_id, actor))

    # --- parts ---

    def _begin(self, family_id: str, actor: Actor, at_once: bool) -> Family:
        before, now = self._repository.family(family_id), self._repository.now()
        if before.closes_at is not None and (not at_once or before.closes_at <= now):
            return before
        closes_at = now if at_once else now + KEPT_FOR
        write = d.families.change(before, before.model_copy(update={"closes_at": closes_at}))
        assert write.item is not None
        task = self._repository.task("family", family_id, actor, begins_at=closes_at)
        words = "now" if at_once else f"on {full_date(closes_at)} at {closes_at:%H:%M} UTC"
        self._write(
            write,
            d.tasks.add(task),
            "family deleted",
            "family closes",
            {"family": before.name, "actor": actor.name, "when": words},
            actor,
        )
        return write.item

    def _keep(self, family_id: str, actor: Actor) -> Family:
        before = self._repository.family(family_id)
        if before.closes_at is None:
            return before
        if before.closed_at is not None or before.closes_at <= self._repository.now():
            raise Conflict("FAMILY_CLOSED", "It is too late to keep this family; it is being deleted.")
        write = d.families.change(before, before.model_copy(update={"closes_at": None}))
        assert write.item is not None
        values = {"family": before.name, "actor": actor.name}
        self._write(write, None, "family kept", "family stays", values, actor)
        return write.item

    def _write(
        self,
        write: Write[Family],
        task: Write[FamilyTask] | None,
        action: str,
        template: str,
        values: Mapping[str, str],
        actor: Actor,
    ) -> None:
        """The change with its audit entry, its task instead of an earlier one, and a message to every guardian."""
        assert write.item is not None
        family_id = write.item.family_id
        writes: list[Write[Any]] = [
            write,
            *(d.tasks.cancel(one.task_id) for one in self._on_its_way(family_id)),
            *([task] if task is not None else []),
            *(
                self._repository.outbox.mail(guardian.email, template, values, family_id)
                for guardian in self._repository.guardians_of(family_id)
            ),
            self._repository.audit(family_id, family_id, action, actor, None, write.item),
        ]
        self._repository.write("FAMILY", *writes)

    def _on_its_way(self, family_id: str) -> list[FamilyTask]:
        return [one for one in self._tasks.open(family_id) if one.kind == "family"]
