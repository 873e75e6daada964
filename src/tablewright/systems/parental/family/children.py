"""Children: whose number is whose, proved by a code that was sent to it; names, clocks, pauses (PC-2, PC-X2, PC-X3).

Must hold: a number is held by one child at a time (the guard), and only after a code sent to it was told back. What a
former holder of a number has is kept under another name, so the next family sees nothing of it (PC-D24, PC-S15).
Elsewhere: who may see a child (families.py), the code (phone_proof.py), what a change of number entails (tasks.py),
erasing (privacy.py).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import BadRequest, Conflict, Refused
from tablewright.kit.tables import Actor, digest
from tablewright.mapping import AlreadyExists, ConditionNotMet, Missing
from tablewright.systems.parental import design as d
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.errors import VersionConflict
from tablewright.systems.parental.family.erased_list import lasting_id
from tablewright.systems.parental.family.families import Families
from tablewright.systems.parental.family.phone_proof import Numbers
from tablewright.systems.parental.model import Child, Family, Turn
from tablewright.systems.parental.policy import windows
from tablewright.systems.parental.repository import Repository

_TENURES = 1000
ASK_HOLDER_AGAIN = "%Y-%m-%d"


class Children:
    """What can be done with children and their numbers."""

    def __init__(self, repository: Repository, families: Families, numbers: Numbers) -> None:
        self._repository, self._families, self._numbers = repository, families, numbers

    def prove(self, phone: str, actor: Actor, family_id: str | None = None) -> None:
        """Send a code to a number that the family says is one of its own."""
        self._numbers.start(self._families.own(actor, family_id).family_id, phone)

    def add(
        self,
        phone: str,
        code: str,
        name: str,
        timezone: str,
        actor: Actor,
        *,
        family_id: str | None = None,
        key: str | None = None,
    ) -> Child:
        """A child with a number that was proved; NUMBER_OWNED while another child has it."""
        family = self._families.own(actor, family_id)
        number = field_rules.phone_number(phone)
        windows.zone(timezone)
        # A receipt outlives an erasure, so it must not say whose it is.
        once = f"child:{digest(actor.subject, key)}" if key else None
        holder = self._repository.child_of_phone(number)
        if (
            once is not None
            and holder is not None
            and holder.family_id == family.family_id
            and self._repository.db.done(once, d.PARENTAL) is not None
        ):
            return holder
        self._room_for_one(family)
        proof = self._numbers.check(family.family_id, number, code)
        if holder is not None:
            self._refuse_held(holder, family)
        now = self._repository.now()
        child = Child(
            child=number,
            child_id=self._repository.new_id("child"),
            phone=number,
            held_phone=number,
            family_id=family.family_id,
            child_name=field_rules.name_of(name, "childName"),
            timezone=timezone,
            parent_email=self._owner_email(family.family_id),
            created_at=now,
            updated_at=now,
        )

        def attempt() -> Child:
            return self._take(child, (*proof, self._room_for_one(family)), "child added", actor, once)

        return self._repository.retried(None, attempt)

    def _room_for_one(self, family: Family) -> Write[Turn]:
        """What holds the limit while several are added at once; LIMIT_EXCEEDED if there is no room."""
        turn = self._repository.limit_guard("children", family.family_id)
        count = len(self._repository.children_of(family.family_id))
        field_rules.limited(count + 1, field_rules.CHILDREN_PER_FAMILY, "children in a family")
        return turn

    def _take(
        self,
        child: Child,
        along: Sequence[Write[Any]],
        action: str,
        actor: Actor,
        once: str | None = None,
    ) -> Child:
        """Create a child under the first unused tenure of its number."""
        for tenure in range(1, _TENURES):
            if self._has_rest(field_rules.tenure_key(child.phone, tenure)):
                continue
            taken = child.model_copy(
                update={"child": field_rules.tenure_key(child.phone, tenure), "tenure": tenure}
            )
            audit = self._repository.audit(child.family_id, taken.child, action, actor, None, taken)
            with self._repository.translated("NUMBER"):
                try:
                    self._repository.db.write(d.children.create(taken), *along, audit, once=once)
                except AlreadyExists:
                    continue
                except (Missing, ConditionNotMet):
                    words = "This code was already used. Ask for a new one."
                    raise Refused("CODE_INVALID", words, "code") from None
            return taken
        raise Conflict("NUMBER_WORN", "This number has had too many owners.", "phoneNumber")

    def _has_rest(self, key: str) -> bool:
        """True if something is kept under a key, such as by a table that was restored without the child it is of."""
        db = self._repository.db
        kept = (
            d.policies_of_child(child=key),
            d.overrides_of_child(child=key),
            d.actions_of_child(child=key),
            d.metrics_of_child(child=key),
        )
        return any(db.first(query) is not None for query in kept)

    def _refuse_held(self, holder: Child, family: Family) -> None:
        """A number that another child has was verified: its family is asked, once a day."""
        if holder.family_id != family.family_id:
            now = self._repository.now()
            values = {"phone": holder.phone, "child": holder.child_name}
            message = self._repository.outbox.mail(
                holder.parent_email, "number asked for", values, holder.family_id, children=[holder.child]
            )
            day = now.strftime(ASK_HOLDER_AGAIN)
            self._repository.db.write(message, once=f"asked-holder:{digest(holder.child)}:{day}")
        words = "This number already belongs to a child. That family must release it first."
        raise Conflict("NUMBER_OWNED", words, "phoneNumber")

    def _owner_email(self, family_id: str) -> str:
        guardians = self._repository.guardians_of(family_id)
        return next(guardian.email for guardian in guardians if guardian.role == "owner")

    def change(
        self, child: Child, changes: dict[str, Any], actor: Actor, expected: int | None = None
    ) -> Child:
        """Name, time zone, a pause until a time."""
        clean = self._checked(changes)
        after = self._repository.retried(expected, lambda: self._change(child.child, clean, actor, expected))
        if "child_name" in clean:
            # Policies repeat the name for the document's sake; what is shown is the child's own.
            for policy in self._repository.policies_of(child.child, deleted=True):
                if policy.child_name != after.child_name:
                    rename = d.policies.update(child.child, policy.policy_id)
                    self._repository.db.write(rename.at(lambda p: p.child_name).set(after.child_name))
        return after

    def _checked(self, changes: dict[str, Any]) -> dict[str, Any]:
        clean = dict(changes)
        if "child_name" in clean:
            clean["child_name"] = field_rules.name_of(clean["child_name"], "childName")
        if "timezone" in clean:
            windows.zone(clean["timezone"])
        until: datetime | None = clean.get("paused_until")
        if until is not None:
            field_rules.later(until, self._repository.now(), field_rules.LONGEST_PAUSE, "pausedUntil")
        return clean

    def _change(self, key: str, changes: dict[str, Any], actor: Actor, expected: int | None) -> Child:
        before = self._repository.child(key)
        if expected is not None and before.version != expected:
            raise VersionConflict(before)
        after = before.model_copy(
            update={**changes, "updated_at": self._repository.later_than(before.updated_at)}
        )
        if field_rules.is_same(before, after):
            return before
        write = d.children.change(before, after)
        assert write.item is not None
        action = _pause_words(changes) or "child changed"
        audit = self._repository.audit(before.family_id, key, action, actor, before, write.item)
        self._repository.write("CHILD", write, audit)
        return write.item

    def release(self, child: Child, actor: Actor, reason: str | None = None) -> Child:
        """Give a number up: nothing is blocked for it any more, and the next who proves it may have it.

        Its owner may, whatever else they are; an operator may who says why. Support changes nothing.
        """
        if actor.role == "operator" and not self._families.has(actor, child.family_id):
            why: str | None = self._families.reason(reason)
        else:
            self._families.owner(actor, child.family_id)
            why = field_rules.text_of(reason, "reason", 500)
        return self._repository.retried(None, lambda: self._release(child.child, actor, why))

    def _release(self, key: str, actor: Actor, reason: str | None) -> Child:
        before = self._repository.child(key)
        if before.released_at is not None:
            return before
        write = self._released(before)
        assert write.item is not None
        task = self._repository.task("release", before.family_id, actor, child=key)
        audit = self._repository.audit(
            before.family_id, key, "number released", actor, before, write.item, reason
        )
        self._repository.write("CHILD", write, d.tasks.add(task), audit)
        return write.item

    def _released(self, before: Child) -> Write[Child]:
        now = self._repository.later_than(before.updated_at)
        after = before.model_copy(update={"held_phone": None, "released_at": now, "updated_at": now})
        return d.children.change(before, after)

    def change_number(self, child: Child, phone: str, code: str, actor: Actor) -> Child:
        """Another number for the same child: what it has moves along (PC-D24). The new one must be proved."""
        self._families.owner(actor, child.family_id)
        number = field_rules.phone_number(phone)
        if number == child.phone:
            raise BadRequest("SAME_NUMBER", "The child already has this number.", "phoneNumber")
        proof = self._numbers.check(child.family_id, number, code)
        holder = self._repository.child_of_phone(number)
        if holder is not None:
            self._refuse_held(holder, self._repository.family(child.family_id))
        before = self._repository.child(child.child)
        now = self._repository.later_than(before.updated_at)
        after = before.model_copy(
            update={
                "child_id": lasting_id(before),
                "phone": number,
                "held_phone": number,
                "created_at": now,
                "updated_at": now,
                "version": 1,
            }
        )
        for tenure in range(1, _TENURES):
            key = field_rules.tenure_key(number, tenure)
            if self._repository.db.one(d.child_by_key(child=key)) is None and not self._has_rest(key):
                break
        task = self._repository.task("number", before.family_id, actor, child=before.child,
            source=before.child, target=key,
        )  # fmt: skip
        taken = after.model_copy(update={"child": key, "tenure": tenure})
        audit = self._repository.audit(before.family_id, key, "number changed", actor, before, taken)
        self._repository.write(
            "NUMBER",
            d.children.create(taken),
            self._released(before),
            d.tasks.add(task),
            *proof,
            audit,
        )
        return taken


def _pause_words(changes: dict[str, Any]) -> str | None:
    """What a change of nothing but the pause is called in the record."""
    if changes.keys() != {"paused_until"}:
        return None
    return "rules resumed" if changes["paused_until"] is None else "rules paused"
