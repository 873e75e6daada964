"""Reads and writes of parental controls, in their own words: mapping's refusals become ours.

Must hold: a change that a person makes is written together with its audit entry and its messages, or not at all.
Elsewhere: who may do what (family/families.py).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from pydantic import BaseModel

from tablewright.design import Write
from tablewright.kit.messages import MessageTemplates, after_attempt
from tablewright.kit.outbox import OutboxDispatch, OutgoingMessage
from tablewright.kit.sealed_text import seal_of
from tablewright.mapping import (
    AlreadyExists,
    BadCursor,
    ConditionNotMet,
    Db,
    Missing,
    NotUnique,
    PageTooLarge,
    Stale,
)
from tablewright.mapping.repository import RefusalTranslation, Tables
from tablewright.systems.parental import design as d
from tablewright.systems.parental import mail, rules
from tablewright.systems.parental.errors import BadRequest, Conflict, NotThere, RaceLost, VersionConflict
from tablewright.systems.parental.model import (
    AuditEntry,
    Child,
    Family,
    FamilyTask,
    Guardian,
    Message,
    Override,
    Policy,
    TaskKind,
    Turn,
)
from tablewright.world import World

E = TypeVar("E", bound=BaseModel)
KEEP_MAIL = timedelta(days=30)
TURN_KEPT = timedelta(hours=1)
# How long others may write by what they knew before (an ingester keeps children in memory for a while).
SETTLES = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something: a name for the record, a role for the rules, a subject to find their family by."""

    name: str
    role: str
    subject: str = ""
    email: str | None = None


SYSTEM = Actor("system:parental", "system")


@contextmanager
def translate_refusals(noun: str) -> Iterator[None]:
    """Translate what mapping refuses."""
    try:
        yield
    except Missing:
        raise NotThere(noun) from None
    except Stale as refused:
        raise VersionConflict(refused.current) from None
    except NotUnique:
        words = "This number already belongs to a child. That family must release it first."
        raise Conflict("NUMBER_OWNED", words, "phoneNumber") from None
    except AlreadyExists:
        raise Conflict("EXISTS", f"This {noun.lower()} already exists.") from None
    except ConditionNotMet:
        raise RaceLost from None
    except PageTooLarge as mistake:
        words = f"A page can have 1 to {mistake.at_most} entries."
        raise BadRequest("INVALID_PAGE_SIZE", words, "pageSize") from None
    except BadCursor as mistake:
        raise BadRequest("BAD_TOKEN", f"{str(mistake).capitalize()}.", "startAt") from None


def _gives_up() -> Conflict:
    return Conflict("STATE_CONFLICT", "Others are changing this at the same time. Try again in a moment.")


class Repository(Tables):
    """The tables of parental controls."""

    def __init__(self, db: Db, world: World, secret: bytes | None = None) -> None:
        """`secret` seals what is secret in messages; without one, what is sealed here opens in this process alone."""
        super().__init__(db, world, RefusalTranslation(translate_refusals, VersionConflict, _gives_up))
        own = secret or world.new_id().encode()
        self.texts = MessageTemplates(mail.TEMPLATES, seal_of(own, "parental messages", world))

    # --- one ---

    def family(self, family_id: str) -> Family:
        return found(self.db.one(d.families.get(family_id), consistent=True), "FAMILY")

    def child(self, child: str) -> Child:
        """A child by its own name: the tenure of its number."""
        return found(self.db.one(d.child_by_key(child=child)), "CHILD")

    def child_of_phone(self, phone: str) -> Child | None:
        """Who has a number now, through the guard: never out of date."""
        return self.db.holder(d.children, "number", held_phone=phone)

    def policy(self, child: str, policy_id: str) -> Policy:
        return found(self.db.one(d.policy_by_id(child=child, policy_id=policy_id)), "POLICY")

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
        name = f"{what}:{rules.digest(whose)}"
        now = self.db.one(d.turns.get(name), consistent=True)
        if now is None:
            now, _ = self.db.get_or_create(d.turns.create(Turn(name=name, expires_at=expires_at)))
        return d.turns.change(
            now, now.model_copy(update={"number": now.number + 1, "expires_at": expires_at})
        )

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
        old, new = rules.differences(before, after)
        entry = AuditEntry(
            family_id=family_id,
            audit_at=self.now(),
            audit_id=self.world.new_id(),
            actor=actor.name,
            role=actor.role,
            action=action,
            subject=subject,
            before=old,
            after=new,
            reason=reason,
        )
        return d.audit.create(entry)

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

    def message(
        self,
        recipient: str,
        family_id: str,
        template: str,
        values: Mapping[str, str],
        *,
        children: Sequence[str] = (),
        secrets: Mapping[str, str] | None = None,
        until: datetime | None = None,
        kept: timedelta = KEEP_MAIL,
    ) -> Write[Message]:
        """A message of a template (mail.py) for the outbox, to be written with what it is about.

        To an address or a number. `children` are the keys of those it is about. Codes and links that let a reader in
        are `secrets`; `until` is when they open nothing more.
        """
        now, id = self.now(), self.new_id("msg")
        return d.messages.create(
            Message(
                message_id=id,
                recipient=recipient,
                family_id=family_id,
                children=list(children),
                **self.texts.row(template, id, recipient, values, secrets),
                secrets_until=until,
                created_at=now,
                expires_at=now + kept,
            )
        )

    def covered(self, message: Message) -> Message:
        """A message for others than its reader: its text, with what is secret covered."""
        return message.model_copy(update=self.texts.masked_fields(message))

    def dispatch(self) -> OutboxDispatch[Message]:
        """How messages leave the outbox: mail and texts to numbers alike."""
        return OutboxDispatch(
            self.now,
            lambda state: self.db.all(d.messages_by_state(state=state)),
            self._letter,
            lambda it, changed: self.db.write(
                d.messages.change(it, it.model_copy(update=after_attempt(it, changed)))
            ),
            lambda it: it.secrets_until,
        )

    def _letter(self, it: Message) -> OutgoingMessage:
        text = self.texts.text(it, it.message_id, it.recipient)
        return OutgoingMessage(it.message_id, it.recipient, text.subject, text.body, it.created_at)


def found(item: E | None, noun: str) -> E:
    """The item, or CHILD_NOT_FOUND and the like."""
    if item is None:
        raise NotThere(noun)
    return item
