"""Guardians: who is invited to look after children together, who comes and goes, and under which address (PC-X2).

Must hold: an invitation is taken by who has its address, once, while its sender is the owner, and to anybody else it is
not there; a family has one owner at any time, who alone invites and removes others: each of these changes is written
with the turn of guardians.
Elsewhere: who may (families.py), what a change of address entails (tasks.py), kit/family.py.
"""

from collections.abc import Sequence
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Conflict
from tablewright.kit.family import INVITED_FOR, Invitations, no_invitation
from tablewright.kit.tables import Actor
from tablewright.systems.parental import design as d
from tablewright.systems.parental import field_rules
from tablewright.systems.parental.family import erased_list
from tablewright.systems.parental.family.families import Families
from tablewright.systems.parental.model import Family, Guardian, Invitation, Role
from tablewright.systems.parental.repository import Repository


class Guardians:
    """What can be done with the people of a family."""

    def __init__(self, repository: Repository, families: Families, invitation_link: str) -> None:
        """`invitation_link` is where an invitation leads, with {invitation} in it."""
        self._repository, self._families, self._link = repository, families, invitation_link
        self._invitations: Invitations[Invitation] = Invitations(
            repository, d.invitations, d.invitations_of_family, _refuse_too_many
        )

    def of(self, family_id: str, actor: Actor) -> list[Guardian]:
        """Who belongs to a family, for one of them."""
        self._families.membership(actor, family_id)
        return self._repository.guardians_of(family_id)

    # --- invitations ---

    def invite(self, family_id: str, email: str, actor: Actor) -> Invitation:
        """Offer a place in the family to an address; asked again, the same invitation for another week."""
        return self._repository.retried(None, lambda: self._invite(family_id, email, actor))

    def _invite(self, family_id: str, email: str, actor: Actor) -> Invitation:
        turn = self._repository.turn_of_guardians(family_id)
        owner = self._families.owner(actor, family_id)
        address = field_rules.email_address(email)
        guardians = self._repository.guardians_of(family_id)
        if any(guardian.email == address for guardian in guardians):
            raise Conflict("ALREADY_GUARDIAN", "This person already belongs to the family.", "email")
        earlier = self._invitations.earlier(family_id, lambda it: it.email == address)
        if not earlier:
            field_rules.limited(len(guardians) + 1, field_rules.GUARDIANS_PER_FAMILY, "guardians in a family")
        invitation = Invitation(
            invitation_id=earlier[0].invitation_id if earlier else self._repository.new_id("inv"),
            family_id=family_id,
            email=address,
            invited_by=owner.name,
            owner=owner.subject,
            expires_at=self._repository.now() + INVITED_FOR,
        )
        family = self._repository.family(family_id)
        mail = self._repository.outbox.mail(
            address, "invitation", {"owner": owner.name, "family": family.name}, family_id,
            secrets={"link": self._link.format(invitation=invitation.invitation_id)}, until=invitation.expires_at,
        )  # fmt: skip
        self._repository.write(
            "INVITATION",
            d.invitations.put(invitation),
            mail,
            self._repository.audit(family_id, address, "guardian invited", actor),
            turn,
        )
        return invitation

    def invitations(self, family_id: str, actor: Actor) -> list[Invitation]:
        """Who was invited and has not answered."""
        self._families.membership(actor, family_id)
        return self._invitations.waiting(family_id)

    def invited(self, actor: Actor) -> list[Invitation]:
        """The invitations that wait for the caller."""
        if actor.email is None:
            return []
        email = field_rules.email_address(actor.email)
        found = self._repository.db.all(d.invitations_of_address(email=email))
        return [one for one in found if self._is_of_owner(one)]

    def accept(self, invitation_id: str, actor: Actor, *, person: str = "") -> Family:
        """Take the place that was offered to the caller's own address."""
        return self._repository.retried(None, lambda: self._accept(invitation_id, actor, person))

    def _accept(self, invitation_id: str, actor: Actor, person: str) -> Family:
        invitation = self._invitations.offered(invitation_id, actor.email)
        family_id = invitation.family_id
        used = self._invitations.end(invitation)
        if self._families.has(actor, family_id):
            self._repository.write("INVITATION", used)
            return self._repository.family(family_id)
        # The owner is read after the turn, which each change of the owner writes too.
        turn = self._repository.turn_of_guardians(family_id)
        if not self._is_of_owner(invitation):
            raise no_invitation()
        guardians = self._repository.guardians_of(family_id)
        field_rules.limited(len(guardians) + 1, field_rules.GUARDIANS_PER_FAMILY, "guardians in a family")
        guardian = Guardian(
            family_id=family_id,
            subject=actor.subject,
            email=invitation.email,
            name=field_rules.name_of(person or actor.name, "guardianName"),
            joined_at=self._repository.now(),
        )
        audit = self._repository.audit(
            family_id, invitation.email, "invitation accepted", actor, None, guardian
        )
        mine = self._families.one_more_family(actor)
        self._repository.write("INVITATION", used, d.guardians.create(guardian), audit, turn, mine)
        return self._repository.family(family_id)

    def _is_of_owner(self, invitation: Invitation) -> bool:
        """Whether its sender is still the owner: what a former owner offered is worth nothing."""
        if invitation.owner is None:
            return True
        sender = self._families.members.member(invitation.family_id, invitation.owner)
        return sender is not None and sender.role == "owner"

    def decline(self, invitation_id: str, actor: Actor) -> None:
        """Say no to an invitation."""
        invitation = self._invitations.offered(invitation_id, actor.email)
        audit = self._repository.audit(invitation.family_id, invitation.email, "invitation declined", actor)
        self._repository.write("INVITATION", self._invitations.end(invitation), audit)

    def withdraw(self, family_id: str, invitation_id: str, actor: Actor) -> None:
        """Take an invitation back."""

        def attempt() -> None:
            turn = self._repository.turn_of_guardians(family_id)
            self._families.owner(actor, family_id)
            invitation = self._invitations.sent_by(family_id, invitation_id)
            audit = self._repository.audit(family_id, invitation.email, "invitation withdrawn", actor)
            self._repository.write("INVITATION", turn, self._invitations.end(invitation), audit)

        self._repository.retried(None, attempt)

    # --- who they are ---

    def remove(self, family_id: str, subject: str, actor: Actor) -> None:
        """The owner removes a guardian, or a guardian leaves; the owner must hand over first."""
        self._repository.retried(None, lambda: self._remove(family_id, subject, actor))

    def _remove(self, family_id: str, subject: str, actor: Actor) -> None:
        turn = self._repository.turn_of_guardians(family_id)
        if subject != actor.subject:
            self._families.owner(actor, family_id)
        guardian = self._guardian(family_id, subject)
        if guardian.role == "owner":
            words = "The owner can't leave the family. Make another guardian the owner first."
            raise Conflict("OWNER_STAYS", words)
        audit = self._repository.audit(family_id, guardian.email, "guardian removed", actor, guardian)
        entry = erased_list.guardian_entry(guardian)
        task = self._repository.task("guardian", family_id, actor, target=entry)
        self._repository.write("GUARDIAN", d.guardians.delete(guardian), d.tasks.add(task), audit, turn)

    def hand_over(self, family_id: str, subject: str, actor: Actor) -> Guardian:
        """Make another guardian the owner; the family's records get their address."""
        return self._repository.retried(None, lambda: self._hand_over(family_id, subject, actor))

    def _hand_over(self, family_id: str, subject: str, actor: Actor) -> Guardian:
        turn = self._repository.turn_of_guardians(family_id)
        before = self._families.owner(actor, family_id)
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
            *self._task_for_address(family_id, before.email, heir.email, actor),
            turn,
        )
        return owner

    def change_email(self, actor: Actor) -> list[Guardian]:
        """Take over the address the caller signed in with, in all their families (PC-D23)."""
        email = self._families.address(actor)
        changed = []
        for before in self._families.members.places_of(actor.subject):
            if before.email == email:
                continue
            after = before.model_copy(update={"email": email})
            writes: list[Write[Any]] = [d.guardians.change(before, after)]
            if before.role == "owner":
                writes += self._task_for_address(before.family_id, before.email, email, actor)
            audit = self._repository.audit(before.family_id, email, "e-mail changed", actor, before, after)
            self._repository.write("GUARDIAN", *writes, audit)
            changed.append(after)
        return changed

    def _task_for_address(self, family_id: str, old: str, new: str, actor: Actor) -> Sequence[Write[Any]]:
        if old == new:
            return ()
        task = self._repository.task("email", family_id, actor, source=old, target=new)
        return (d.tasks.add(task),)

    def _guardian(self, family_id: str, subject: str) -> Guardian:
        return self._repository.found(self._families.members.member(family_id, subject), "GUARDIAN")


def _refuse_too_many(count: int) -> None:
    field_rules.limited(count, field_rules.INVITATIONS_PER_FAMILY, "open invitations")
