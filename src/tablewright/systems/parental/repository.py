"""Reads and writes of parental controls, in their own words: mapping's refusals become ours.

Must hold: a change that a person makes is written together with its audit entry and its messages, or not at all.
Elsewhere: who may do what (family/families.py).
"""

from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel

from tablewright.design import Write
from tablewright.edge.errors import Conflict
from tablewright.kit.messages import MessageTemplates, read_templates
from tablewright.kit.outbox import Mailbox
from tablewright.kit.sealed_text import seal_of
from tablewright.kit.tables import Actor, Refusals, Tables, digest
from tablewright.mapping import AlreadyExists, Db, NotUnique
from tablewright.systems.parental import design as d
from tablewright.systems.parental.errors import RaceLost, VersionConflict
from tablewright.systems.parental.model import (
    AuditEntry,
    Child,
    Family,
    FamilyTask,
    Guardian,
    Override,
    Policy,
    TaskKind,
    Turn,
)
from tablewright.world import World

MAIL = Path(__file__).parent / "pages" / "mail"
TURN_KEPT = timedelta(hours=1)
# How long others may write by what they knew before (an ingester keeps children in memory for a while).
SETTLES = timedelta(minutes=10)


SYSTEM = Actor("system:parental", "system")


def _taken(noun: str, refused: AlreadyExists | NotUnique) -> Conflict:
    if isinstance(refused, NotUnique):
        words = "This number already belongs to a child. That family must release it first."
        return Conflict("NUMBER_OWNED", words, "phoneNumber")
    return Conflict("EXISTS", f"This {noun.lower()} already exists.")


REFUSALS = Refusals(
    changed=VersionConflict,
    lost=lambda _: RaceLost(),
    race=VersionConflict,
    busy=lambda: Conflict(
        "STATE_CONFLICT", "Others are changing this at the same time. Try again in a moment."
    ),
    taken=_taken,
)


class Repository(Tables):
    """The tables of parental controls."""

    def __init__(self, db: Db, world: World, secret: bytes | None = None) -> None:
        """`secret` seals what is secret in messages; without one, what is sealed here opens in this process alone."""
        super().__init__(db, world, d.PARENTAL, REFUSALS)
        own = secret or world.new_id().encode()
        self.outbox = Mailbox(
            d.outbox, self, MessageTemplates(read_templates(MAIL), seal_of(own, "parental messages", world))
        )

    # --- one ---

    def family(self, family_id: str) -> Family:
        return self.found(self.db.one(d.families.get(family_id), consistent=True), "FAMILY")

    def child(self, child: str) -> Child:
        """A child by its own name: the tenure of its number."""
        return self.found(self.db.one(d.child_by_key(child=child)), "CHILD")

    def child_of_phone(self, phone: str) -> Child | None:
        """Who has a number now, through the guard: never out of date."""
        return self.db.holder(d.children, "number", held_phone=phone)

    def policy(self, child: str, policy_id: str) -> Policy:
        return self.found(self.db.one(d.policy_by_id(child=child, policy_id=policy_id)), "POLICY")

    # --- many ---

    def policies_of(self, child: str, *, deleted: bool = False) -> list[Policy]:
        """What parents have written for a child, consistently read."""
        return [
            policy
            for policy in self.db.all(d.policies_of_child(child=child))
            if deleted or policy.status != "deleted"
        ]

    def overrides_of(self, child: str) -> list[Override]:
        """Exceptions that hold or will, consistently read."""
        now = self.now()
        return [one for one in self.db.all(d.overrides_of_child(child=child)) if one.until > now]

    def guardians_of(self, family_id: str) -> list[Guardian]:
        return list(self.db.all(d.guardians_of_family(family_id=family_id)))

    def children_of(self, family_id: str, *, released: bool = False) -> list[Child]:
        """The children of a family; those whose number was given up only if asked for."""
        children = self.db.all(d.children_of_family(family_id=family_id))
        return [child for child in children if released or child.released_at is None]

    def limit_guard(self, what: str, whose: str) -> Write[Turn]:
        """The next turn to add to something limited: taken before the items are counted, and written with the new one.
        Stale, and so VERSION_CONFLICT, if another was added in between. It does not contain the owner."""
        # By the store's own clock: a seed that writes the past would take expired turns.
        expires_at = self.db.world.now() + TURN_KEPT
        name = f"{what}:{digest(whose)}"
        now = self.db.one(d.turns.get(name), consistent=True)
        if now is None:
            now, _ = self.db.get_or_create(d.turns.create(Turn(name=name, expires_at=expires_at)))
        return d.turns.change(
            now, now.model_copy(update={"number": now.number + 1, "expires_at": expires_at})
        )

    def turn_of_guardians(self, family_id: str) -> Write[Turn]:
        """Written with each change of who belongs to a family, owns it or is invited, and taken before that is read."""
        return self.limit_guard("guardians", family_id)

    # --- what is written along ---

    def audit(
        self,
        family_id: str,
        subject: str,
        action: str,
        actor: Actor,
        before: BaseModel | None = None,
        after: BaseModel | None = None,
        reason: str | None = None,
    ) -> Write[AuditEntry]:
        """The record of a change or a look, to be written with it (PC-X11)."""
        return d.audit.entry(self, family_id, action, actor, before, after, reason, subject=subject)

    def task(
        self,
        kind: TaskKind,
        family_id: str,
        actor: Actor,
        *,
        child: str = "",
        source: str = "",
        target: str = "",
        begins_at: datetime | None = None,
    ) -> FamilyTask:
        """Long work, to be written with what it follows from."""
        now = self.now()
        return FamilyTask(
            task_id=self.new_id("task"),
            kind=kind,
            family_id=family_id,
            child=child,
            source=source,
            target=target,
            actor=actor.name,
            created_at=now,
            due_at=begins_at or now,
            settles_at=(begins_at or now) + SETTLES,
        )
