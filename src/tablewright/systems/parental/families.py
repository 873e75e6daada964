"""Families: who belongs to them, whose child has which number, and who may see what (PC-X1, PC-X2).

Must hold: whether somebody may is decided by their family, never by a number in a URL; to anybody else a child is not
there. A number is held by one child at a time (the guard), and only after a code sent to it was told back. What a
former holder of a number has is kept under another name, so the next family sees nothing of it (PC-D24, PC-S15).
Elsewhere: the code (numbers.py), what a change of e-mail or number entails (errands.py), erasing (privacy.py).
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from tablewright.design import Write
from tablewright.mapping import AlreadyExists, ConditionNotMet, Missing, Page
from tablewright.systems.parental import design as d
from tablewright.systems.parental import errands, rules, windows
from tablewright.systems.parental.destinations import check_domain
from tablewright.systems.parental.errors import (
    BadRequest,
    Conflict,
    Forbidden,
    NotThere,
    Refused,
    VersionConflict,
)
from tablewright.systems.parental.model import AuditEntry, Child, Family, Guardian, Invitation, Role
from tablewright.systems.parental.numbers import Numbers
from tablewright.systems.parental.repository import Actor, Repository, found, in_our_words

INVITED_FOR = timedelta(days=7)
FAMILIES_PER_PERSON = 5
_TENURES = 1000
ASK_HOLDER_AGAIN = "%Y-%m-%d"


class Families:
    """What can be done with families and their children."""

    def __init__(self, repository: Repository, numbers: Numbers, invitation_link: str) -> None:
        """`invitation_link` is where an invitation leads, with {invitation} in it."""
        self._repository, self._numbers, self._link = repository, numbers, invitation_link

    # --- who may ---

    def of(self, actor: Actor) -> list[Family]:
        """The families somebody belongs to."""
        places = self._repository.db.all(d.families_of_guardian(subject=actor.subject))
        gets = [d.families.get(place.family_id) for place in places]
        return [family for family in self._repository.db.many(gets) if family is not None]

    def membership(self, actor: Actor, family_id: str) -> Guardian:
        """The caller as one of a family; to anybody else there is no such family."""
        if not actor.subject:
            raise NotThere("FAMILY")
        return found(
            self._repository.db.one(d.guardians.get(family_id, actor.subject), consistent=True), "FAMILY"
        )

    def own(self, actor: Actor, family_id: str | None = None) -> Family:
        """The family that is meant: the one named, or the only one there is."""
        if family_id is not None:
            self.membership(actor, family_id)
            return self._repository.family(family_id)
        families = self.of(actor)
        if not families:
            raise Forbidden("NOT_GUARDIAN", "You belong to no family yet. Make one, or accept an invitation.")
        if len(families) > 1:
            words = "You belong to several families. Say which one with familyId."
            raise BadRequest("FAMILY_NEEDED", words, "familyId")
        return families[0]

    def child(self, actor: Actor, phone: str, *, reason: str | None = None) -> Child:
        """A child by its number, or its own name, for who may see it; CHILD_NOT_FOUND for everybody else.

        Support may look if it says why, and the family sees that it did (PC-X11).
        """
        key = rules.child_key(phone)
        holder = self._repository.child_of_phone(key) if "~" not in key else None
        if holder is not None and self._is_of(actor, holder.family_id):
            return holder
        # The number may have gone to somebody else, and the caller's own child of before bears it still.
        former = self._repository.db.one(d.child_by_key(child=key))
        if former is not None and self._is_of(actor, former.family_id):
            return former
        if actor.role == "support" and holder is not None:
            return self._shown_to_support(actor, holder, reason)
        raise NotThere("CHILD")

    def open_child(self, actor: Actor, phone: str) -> Child:
        """A child whose number is held, to be changed; support may not."""
        child = self.child(Actor(actor.name, "parent", actor.subject, actor.email), phone)
        if child.released_at is not None:
            raise Conflict("CHILD_RELEASED", "This number was given up; what is left can be read and erased.")
        return child

    def _is_of(self, actor: Actor, family_id: str) -> bool:
        if not actor.subject:
            return False
        place = self._repository.db.one(d.guardians.get(family_id, actor.subject), consistent=True)
        return place is not None

    def _shown_to_support(self, actor: Actor, child: Child, reason: str | None) -> Child:
        why = self._reason(reason)
        self._repository.write(
            "CHILD", self._repository.audit(child.family_id, child.child, "looked at", actor, reason=why)
        )
        return child

    def _reason(self, reason: str | None) -> str:
        why = rules.text_of(reason, "reason", 500)
        if why is None or len(why) < 3:
            raise BadRequest("REASON_NEEDED", "Say why you look; the family can read it.", "reason")
        return why

    def owner(self, actor: Actor, family_id: str) -> Guardian:
        """The caller as the owner of a family; OWNER_ONLY for its other guardians."""
        guardian = self.membership(actor, family_id)
        if guardian.role != "owner":
            raise Forbidden("OWNER_ONLY", "Only the owner of the family may do this.")
        return guardian

    def address_of(self, reader: Actor, email: str | None = None) -> str:
        """The address under which a reader's family is kept: its owner's."""
        wanted = rules.email_address(email) if email is not None else None
        owners = [
            guardian.email
            for family in self.of(reader)
            for guardian in self._repository.guardians_of(family.family_id)
            if guardian.role == "owner"
        ]
        # In several families: the reader's own address if it is one of them.
        own = reader.email and rules.email_address(reader.email)
        owners.sort(key=lambda owner: owner != own)
        if wanted is not None and wanted == own and owners:
            return owners[0]
        if not owners or (wanted is not None and wanted not in owners):
            raise Forbidden("NOT_GUARDIAN", "This is not an address of a family you belong to.")
        return wanted or owners[0]

    # --- families ---

    def create(self, name: str, actor: Actor, *, person: str = "", key: str | None = None) -> Family:
        """A family of which the caller is the owner; with `key`, one however often it is asked for."""
        email = self._address(actor)
        once = f"family:{rules.digest(actor.subject, key)}" if key else None
        earlier = self._repository.db.done(once, d.PARENTAL) if once else None
        if earlier is not None:
            return self._repository.family(earlier.result["familyId"])
        rules.limited(len(self.of(actor)) + 1, FAMILIES_PER_PERSON, "families for a person")
        now = self._repository.now()
        family = Family(
            family_id=self._repository.new_id("fam"), name=rules.name_of(name, "name"), created_at=now
        )
        owner = Guardian(
            family_id=family.family_id,
            subject=actor.subject,
            email=email,
            name=rules.name_of(person or actor.name, "guardianName"),
            role="owner",
            joined_at=now,
        )
        audit = self._repository.audit(
            family.family_id, family.family_id, "family created", actor, None, family
        )
        kept = self._repository.write(
            "FAMILY",
            d.families.create(family),
            d.guardians.create(owner),
            audit,
            once=once,
            result={"familyId": family.family_id},
        )
        return family if kept is None else self._repository.family(kept["familyId"])

    def change(
        self, family_id: str, changes: dict[str, Any], actor: Actor, expected: int | None = None
    ) -> Family:
        """Name, what is always allowed, what holds in an outage, when to be told of many attempts."""
        self.membership(actor, family_id)
        clean = _checked_settings(changes)
        return self._repository.retried(expected, lambda: self._change(family_id, clean, actor, expected))

    def _change(self, family_id: str, changes: dict[str, Any], actor: Actor, expected: int | None) -> Family:
        before = self._repository.family(family_id)
        if expected is not None and before.version != expected:
            raise VersionConflict(before)
        after = before.model_copy(update=changes)
        if rules.is_same(before, after):
            return before
        write = d.families.change(before, after)
        assert write.item is not None
        audit = self._repository.audit(family_id, family_id, "family changed", actor, before, write.item)
        self._repository.write("FAMILY", write, audit)
        return write.item

    def audit(
        self, family_id: str, actor: Actor, size: int | None = None, after: str | None = None
    ) -> Page[AuditEntry]:
        """Who changed or looked at what, newest first."""
        self.membership(actor, family_id)
        return self._repository.page(d.audit_of_family(family_id=family_id), size, after, actor.subject)

    # --- guardians ---

    def guardians(self, family_id: str, actor: Actor) -> list[Guardian]:
        self.membership(actor, family_id)
        return self._repository.guardians_of(family_id)

    def invite(self, family_id: str, email: str, actor: Actor) -> Invitation:
        """Offer a place in the family to an address; asked again, the same invitation for another week."""
        owner = self.owner(actor, family_id)
        address = rules.email_address(email)
        guardians = self._repository.guardians_of(family_id)
        if any(guardian.email == address for guardian in guardians):
            raise Conflict("ALREADY_GUARDIAN", "This person belongs to the family already.", "email")
        waiting = self.invitations(family_id, actor)
        same = next((one for one in waiting if one.email == address), None)
        if same is None:
            rules.limited(len(waiting) + 1, rules.INVITATIONS_PER_FAMILY, "open invitations")
            rules.limited(len(guardians) + 1, rules.GUARDIANS_PER_FAMILY, "guardians in a family")
        invitation = Invitation(
            invitation_id=same.invitation_id if same else self._repository.new_id("inv"),
            family_id=family_id,
            email=address,
            invited_by=owner.name,
            expires_at=self._repository.now() + INVITED_FOR,
        )
        family = self._repository.family(family_id)
        body = (
            f"{owner.name} invites you to look after the children of {family.name} with them. "
            f"Sign in with this address and accept: {self._link.format(invitation=invitation.invitation_id)}"
        )
        self._repository.write(
            "INVITATION",
            d.invitations.put(invitation),
            self._repository.message(address, family_id, f"An invitation to {family.name}", body),
            self._repository.audit(family_id, address, "guardian invited", actor),
        )
        return invitation

    def invitations(self, family_id: str, actor: Actor) -> list[Invitation]:
        """Who was invited and has not answered."""
        self.membership(actor, family_id)
        return list(self._repository.db.all(d.invitations_of_family(family_id=family_id)))

    def invited(self, actor: Actor) -> list[Invitation]:
        """The invitations that wait for the caller."""
        if actor.email is None:
            return []
        email = rules.email_address(actor.email)
        return list(self._repository.db.all(d.invitations_of_address(email=email)))

    def accept(self, invitation_id: str, actor: Actor, *, person: str = "") -> Family:
        """Take the place that was offered to the caller's own address."""
        invitation = self._offered(invitation_id, actor)
        family_id = invitation.family_id
        used = d.invitations.discard(invitation_id).when(lambda i: i.family_id == family_id)
        if self._is_of(actor, family_id):
            self._repository.write("INVITATION", used)
            return self._repository.family(family_id)
        guardians = self._repository.guardians_of(family_id)
        rules.limited(len(guardians) + 1, rules.GUARDIANS_PER_FAMILY, "guardians in a family")
        guardian = Guardian(
            family_id=family_id,
            subject=actor.subject,
            email=invitation.email,
            name=rules.name_of(person or actor.name, "guardianName"),
            joined_at=self._repository.now(),
        )
        audit = self._repository.audit(
            family_id, invitation.email, "invitation accepted", actor, None, guardian
        )
        self._repository.write("INVITATION", used, d.guardians.create(guardian), audit)
        return self._repository.family(family_id)

    def decline(self, invitation_id: str, actor: Actor) -> None:
        """Say no to an invitation."""
        invitation = self._offered(invitation_id, actor)
        audit = self._repository.audit(invitation.family_id, invitation.email, "invitation declined", actor)
        self._repository.write("INVITATION", d.invitations.discard(invitation_id), audit)

    def withdraw(self, family_id: str, invitation_id: str, actor: Actor) -> None:
        """Take an invitation back."""
        self.owner(actor, family_id)
        invitation = self._repository.db.one(d.invitations.get(invitation_id), consistent=True)
        if invitation is None or invitation.family_id != family_id:
            raise NotThere("INVITATION")
        audit = self._repository.audit(family_id, invitation.email, "invitation withdrawn", actor)
        self._repository.write("INVITATION", d.invitations.discard(invitation_id), audit)

    def _offered(self, invitation_id: str, actor: Actor) -> Invitation:
        """An invitation to the caller; to anybody else there is none, so that ids are of no use to guess."""
        invitation = found(
            self._repository.db.one(d.invitations.get(invitation_id), consistent=True), "INVITATION"
        )
        if actor.email is None or rules.email_address(actor.email) != invitation.email:
            raise NotThere("INVITATION", "There is no such invitation to the address you signed in with.")
        return invitation

    def remove_guardian(self, family_id: str, subject: str, actor: Actor) -> None:
        """The owner removes somebody, or somebody leaves; the owner hands over first."""
        if subject != actor.subject:
            self.owner(actor, family_id)
        guardian = self._guardian(family_id, subject)
        if guardian.role == "owner":
            words = "The owner cannot leave the family. Make somebody else the owner first."
            raise Conflict("OWNER_STAYS", words)
        audit = self._repository.audit(family_id, guardian.email, "guardian removed", actor, guardian)
        self._repository.write("GUARDIAN", d.guardians.delete(guardian), audit)

    def hand_over(self, family_id: str, subject: str, actor: Actor) -> Guardian:
        """Make somebody else the owner; the family's records go to their address."""
        before = self.owner(actor, family_id)
        heir = self._guardian(family_id, subject)
        if heir.subject == before.subject:
            return before
        owner = heir.model_copy(update={"role": "owner"})
        role: Role = "guardian"
        self._repository.write(
            "GUARDIAN",
            d.guardians.change(before, before.model_copy(update={"role": role})),
            d.guardians.change(heir, owner),
            self._repository.audit(family_id, heir.email, "owner changed", actor, heir, owner),
            *self._errand_for_address(family_id, before.email, heir.email, actor),
        )
        return owner

    def change_email(self, actor: Actor) -> list[Guardian]:
        """Take over the address the caller signed in with, in all their families (PC-D23)."""
        email = self._address(actor)
        changed = []
        for place in list(self._repository.db.all(d.families_of_guardian(subject=actor.subject))):
            before = self._guardian(place.family_id, actor.subject)
            if before.email == email:
                continue
            after = before.model_copy(update={"email": email})
            writes: list[Write[Any]] = [d.guardians.change(before, after)]
            if before.role == "owner":
                writes += self._errand_for_address(place.family_id, before.email, email, actor)
            audit = self._repository.audit(place.family_id, email, "e-mail changed", actor, before, after)
            self._repository.write("GUARDIAN", *writes, audit)
            changed.append(after)
        return changed

    def _errand_for_address(self, family_id: str, old: str, new: str, actor: Actor) -> Sequence[Write[Any]]:
        if old == new:
            return ()
        errand = errands.new(self._repository, "email", family_id, actor, source=old, target=new)
        return (d.errands.create(errand),)

    def _guardian(self, family_id: str, subject: str) -> Guardian:
        return found(
            self._repository.db.one(d.guardians.get(family_id, subject), consistent=True), "GUARDIAN"
        )

    def _address(self, actor: Actor) -> str:
        if actor.email is None:
            words = "Your login does not say your e-mail address. Sign in with one that does."
            raise Refused("EMAIL_NEEDED", words)
        return rules.email_address(actor.email)

    # --- children ---

    def children(self, actor: Actor, *, released: bool = False) -> list[Child]:
        """The caller's children, family by family."""
        return [
            child
            for family in self.of(actor)
            for child in self._repository.children_of(family.family_id, released=released)
        ]

    def prove(self, phone: str, actor: Actor, family_id: str | None = None) -> None:
        """Send a code to a number that the family says is one of its own."""
        self._numbers.start(self.own(actor, family_id).family_id, phone)

    def add_child(
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
        family = self.own(actor, family_id)
        number = rules.phone_number(phone)
        windows.zone(timezone)
        # A receipt outlives an erasure, so it must not say whose it is.
        once = f"child:{rules.digest(actor.subject, key)}" if key else None
        holder = self._repository.child_of_phone(number)
        if (
            once is not None
            and holder is not None
            and holder.family_id == family.family_id
            and self._repository.db.done(once, d.PARENTAL) is not None
        ):
            return holder
        count = len(self._repository.children_of(family.family_id))
        rules.limited(count + 1, rules.CHILDREN_PER_FAMILY, "children in a family")
        proof = self._numbers.check(family.family_id, number, code)
        if holder is not None:
            self._refuse_held(holder, family)
        now = self._repository.now()
        child = Child(
            child=number,
            phone=number,
            held_phone=number,
            family_id=family.family_id,
            child_name=rules.name_of(name, "childName"),
            timezone=timezone,
            parent_email=self._owner_email(family.family_id),
            created_at=now,
            updated_at=now,
        )
        return self._take(child, (proof,), "child added", actor, once)

    def _take(
        self,
        child: Child,
        along: Sequence[Write[Any]],
        action: str,
        actor: Actor,
        once: str | None = None,
    ) -> Child:
        """Create a child under the first tenure of its number that nobody had."""
        for tenure in range(1, _TENURES):
            taken = child.model_copy(
                update={"child": rules.tenure_key(child.phone, tenure), "tenure": tenure}
            )
            audit = self._repository.audit(child.family_id, taken.child, action, actor, None, taken)
            with in_our_words("NUMBER"):
                try:
                    self._repository.db.write(d.children.create(taken), *along, audit, once=once)
                except AlreadyExists:
                    continue
                except (Missing, ConditionNotMet):
                    words = "This code was used already. Ask for a new one."
                    raise Refused("CODE_INVALID", words, "code") from None
            return taken
        raise Conflict("NUMBER_WORN", "This number has had too many owners.", "phoneNumber")

    def _refuse_held(self, holder: Child, family: Family) -> None:
        """Somebody has proved a number that another child has: its family is asked, once a day."""
        if holder.family_id != family.family_id:
            now = self._repository.now()
            body = (
                f"Somebody has shown that they hold the number {holder.phone}, which is your child "
                f"{holder.child_name}'s here. If it is theirs now, release it; if it is not, do nothing."
            )
            message = self._repository.message(
                holder.parent_email, holder.family_id, f"Is {holder.phone} still yours?", body
            )
            day = now.strftime(ASK_HOLDER_AGAIN)
            self._repository.db.write(message, once=f"asked-holder:{rules.digest(holder.child)}:{day}")
        words = "This number belongs to a child already. Whoever has it must release it first."
        raise Conflict("NUMBER_OWNED", words, "phoneNumber")

    def _owner_email(self, family_id: str) -> str:
        guardians = self._repository.guardians_of(family_id)
        return next(guardian.email for guardian in guardians if guardian.role == "owner")

    def change_child(
        self, child: Child, changes: dict[str, Any], actor: Actor, expected: int | None = None
    ) -> Child:
        """Name, time zone, a pause until a time."""
        clean = self._checked_child(changes)
        after = self._repository.retried(
            expected, lambda: self._change_child(child.child, clean, actor, expected)
        )
        if "child_name" in clean:
            # Policies repeat the name for the document's sake; what is shown is the child's own.
            for policy in self._repository.policies_of(child.child, deleted=True):
                if policy.child_name != after.child_name:
                    rename = d.policies.update(child.child, policy.policy_id)
                    self._repository.db.write(rename.at(lambda p: p.child_name).set(after.child_name))
        return after

    def _checked_child(self, changes: dict[str, Any]) -> dict[str, Any]:
        clean = dict(changes)
        if "child_name" in clean:
            clean["child_name"] = rules.name_of(clean["child_name"], "childName")
        if "timezone" in clean:
            windows.zone(clean["timezone"])
        until: datetime | None = clean.get("paused_until")
        if until is not None:
            rules.later(until, self._repository.now(), rules.LONGEST_PAUSE, "pausedUntil")
        return clean

    def _change_child(self, key: str, changes: dict[str, Any], actor: Actor, expected: int | None) -> Child:
        before = self._repository.child(key)
        if expected is not None and before.version != expected:
            raise VersionConflict(before)
        after = before.model_copy(
            update={**changes, "updated_at": self._repository.later_than(before.updated_at)}
        )
        if rules.is_same(before, after):
            return before
        write = d.children.change(before, after)
        assert write.item is not None
        audit = self._repository.audit(before.family_id, key, "child changed", actor, before, write.item)
        self._repository.write("CHILD", write, audit)
        return write.item

    def release(self, child: Child, actor: Actor, reason: str | None = None) -> Child:
        """Give a number up: nothing is blocked for it any more, and the next who proves it may have it."""
        if actor.role in ("support", "operator"):
            why: str | None = self._reason(reason)
        else:
            self.owner(actor, child.family_id)
            why = rules.text_of(reason, "reason", 500)
        return self._repository.retried(None, lambda: self._release(child.child, actor, why))

    def _release(self, key: str, actor: Actor, reason: str | None) -> Child:
        before = self._repository.child(key)
        if before.released_at is not None:
            return before
        write = self._released(before)
        assert write.item is not None
        errand = errands.new(self._repository, "release", before.family_id, actor, child=key)
        audit = self._repository.audit(
            before.family_id, key, "number released", actor, before, write.item, reason
        )
        self._repository.write("CHILD", write, d.errands.create(errand), audit)
        return write.item

    def _released(self, before: Child) -> Write[Child]:
        now = self._repository.later_than(before.updated_at)
        after = before.model_copy(update={"held_phone": None, "released_at": now, "updated_at": now})
        return d.children.change(before, after)

    def change_number(self, child: Child, phone: str, code: str, actor: Actor) -> Child:
        """Another number for the same child: what it has moves along (PC-D24). The new one must be proved."""
        self.owner(actor, child.family_id)
        number = rules.phone_number(phone)
        if number == child.phone:
            raise BadRequest("SAME_NUMBER", "This is the number the child has already.", "phoneNumber")
        proof = self._numbers.check(child.family_id, number, code)
        holder = self._repository.child_of_phone(number)
        if holder is not None:
            self._refuse_held(holder, self._repository.family(child.family_id))
        before = self._repository.child(child.child)
        now = self._repository.later_than(before.updated_at)
        after = before.model_copy(
            update={"phone": number, "held_phone": number, "created_at": now, "updated_at": now, "version": 1}
        )
        for tenure in range(1, _TENURES):
            key = rules.tenure_key(number, tenure)
            if self._repository.db.one(d.child_by_key(child=key)) is None:
                break
        errand = errands.new(
            self._repository, "number", before.family_id, actor, child=before.child,
            source=before.child, target=key,
        )  # fmt: skip
        taken = after.model_copy(update={"child": key, "tenure": tenure})
        audit = self._repository.audit(before.family_id, key, "number changed", actor, before, taken)
        self._repository.write(
            "NUMBER", d.children.create(taken), self._released(before), d.errands.create(errand), proof, audit
        )
        return taken


def _checked_settings(changes: dict[str, Any]) -> dict[str, Any]:
    clean = dict(changes)
    if "name" in clean:
        clean["name"] = rules.name_of(clean["name"], "name")
    if "allowed_domains" in clean:
        domains = clean["allowed_domains"]
        rules.limited(
            len(domains), rules.ALLOWED_DOMAINS, "domains that are always allowed", "allowedDomains"
        )
        checked = [check_domain(text, f"allowedDomains[{n}]") for n, text in enumerate(domains)]
        clean["allowed_domains"] = list(dict.fromkeys(checked))
    most = clean.get("alert_after_blocks")
    if most is not None and not 1 <= most <= 1_000_000:
        words = "Say after how many blocked attempts a day you want to hear: 1 to 1000000."
        raise BadRequest("INVALID_NUMBER", words, "alertAfterBlocks")
    return clean
