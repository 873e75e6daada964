"""Families: their parents, invitations, and who is a parent of whom at this moment (ZC-X9, ZC-D42).

Must hold: whether someone is a parent of a child is read from the rows of the family at every access, never from a copy
on a conversation; a parent sees children under 18 alone, and no chats of other adults. A change of a child's family
adds the task that re-keys its conversations, in the same transaction.
Elsewhere: rows and their laws (membership.py), profiles of children (children.py), re-keying (jobs.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Conflict, NotFound, Refused
from tablewright.edge.mail_addresses import INVALID_ADDRESS, NotAnAddress, normalise_address
from tablewright.systems.chat import design as d
from tablewright.systems.chat.errors import Changed
from tablewright.systems.chat.family.consent import FORGET_PROFILE
from tablewright.systems.chat.family.membership import Membership
from tablewright.systems.chat.family.people import People, actor_of, name_of, not_a_child, refuse_unknown_zone
from tablewright.systems.chat.family_model import Family, FamilyRole, Invitation, Member, User
from tablewright.systems.chat.repository import Repository

# Handled by talk/conversations.py.
REKEY = "rekey"
FAMILIES_PER_PERSON = 5


@dataclass(frozen=True, slots=True)
class Relative:
    """A member of a family with the profile."""

    member: Member
    user: User


class Families:
    """What can be done with families. Who may is checked with `own` and `child_of`."""

    def __init__(self, repository: Repository, people: People, url: str = "") -> None:
        self._repository, self._people, self._url = repository, people, url.rstrip("/")
        self.membership = Membership(repository)

    # --- who is whose, now ---

    def of(self, user: User) -> list[Family]:
        """The families in which someone is a parent."""
        places = self.membership.places_of(user.user_id)
        return self.membership.families_of(one for one in places if one.place == "parent")

    def own(self, user: User, family_id: str) -> Family:
        """The family, for one of its parents; FAMILY_NOT_FOUND for everyone else."""
        # The family first: if a parent is removed in between, a write at its version is refused.
        family = self.membership.family(family_id) if _is_id(family_id) else None
        if family is None or self.membership.parent(family_id, user.user_id) is None:
            raise NotFound("FAMILY")
        return family

    def is_parent_of(self, user: User, child: User) -> bool:
        """True if `user` is a parent in the family of `child` at this moment, and the child is not of age."""
        if child.role != "student" or child.is_adult_on(self._people.today()):
            return False
        return self.membership.parent_of(user.user_id, child.user_id) is not None

    def child_of(self, user: User, child_id: str) -> User:
        """A child, for one of its parents; CHILD_NOT_FOUND for everyone else."""
        child = self._people.find(child_id)
        if child is None or not self.is_parent_of(user, child):
            raise not_a_child()
        return child

    def children_of(self, user: User) -> list[User]:
        """The children of a parent, over all families of the parent."""
        return [one for family in self.of(user) for one in self.children_in(family)]

    def children_in(self, family: Family) -> list[User]:
        """The children of a family who are not of age and not erased."""
        today = self._people.today()
        found = [one.user for one in self.relatives(family) if one.member.place == "child"]
        return [one for one in found if one.standing == "active" and not one.is_adult_on(today)]

    def relatives(self, family: Family) -> list[Relative]:
        """Everyone in a family, parents first."""
        members = sorted(
            self.membership.members_of(family.family_id), key=lambda one: one.place, reverse=True
        )
        users = self._repository.db.many([d.users.get(one.user_id) for one in members], consistent=True)
        return [Relative(one, user) for one, user in zip(members, users, strict=True) if user is not None]

    def parents_of(self, child: User) -> list[User]:
        """The parents of a child at this moment."""
        home = self.membership.home(child.user_id)
        family = None if home is None else self.membership.family(home.family_id)
        if family is None:
            return []
        return [one.user for one in self.relatives(family) if one.member.place == "parent"]

    def names_around(self, user: User) -> Sequence[str]:
        """The names of a user and of the family: what is scrubbed from texts that leave the machine (ZC-X6)."""
        home = self.membership.home(user.user_id)
        family = self.membership.family(home.family_id) if home is not None else None
        relatives = self.relatives(family) if family is not None else []
        return sorted({user.name, *(one.user.name for one in relatives)})

    # --- families ---

    def create(self, user: User, name: str, time_zone: str = "UTC") -> Family:
        """A new family with the caller as its parent."""
        refuse_unknown_zone(time_zone)
        if user.role == "student":
            raise Refused("ADULTS_ONLY", "Only an adult can create a family.")
        now = self._repository.now()
        family = Family(
            family_id=self._repository.new_id("family"),
            name=name_of(name),
            time_zone=time_zone,
            created_at=now,
        )
        parent = Member(family_id=family.family_id, user_id=user.user_id, joined_at=now)
        entry = self._repository.audit(
            f"family:{family.family_id}", "family created", actor_of(user), None, family
        )

        def attempt() -> Family:
            turn = self._one_more_family(user)
            self._repository.write("FAMILY", d.families.create(family), d.members.create(parent), turn, entry)
            return family

        return self._repository.retried(None, attempt)

    def _one_more_family(self, user: User) -> Write[User]:
        """To be written with the membership of a parent; TOO_MANY_FAMILIES.

        It is a new version of the person's row: of two families that someone joins at once, one is counted again.
        """
        me = self._people.by_id(user.user_id)
        if len(self.of(me)) >= FAMILIES_PER_PERSON:
            raise Conflict("TOO_MANY_FAMILIES", f"You can belong to {FAMILIES_PER_PERSON} families.")
        return d.users.change(me, me)

    def change(
        self,
        family: Family,
        by: User,
        *,
        name: str | None = None,
        time_zone: str | None = None,
        expected: int | None = None,
    ) -> Family:
        """Another name or time zone; the children's days and quiet hours follow the zone."""
        refuse_unknown_zone(time_zone)

        def attempt() -> Family:
            before = self.own(by, family.family_id)
            if expected is not None and before.version != expected:
                raise Changed()
            update = {
                "name": name_of(name) if name else before.name,
                "time_zone": time_zone or before.time_zone,
            }
            write = d.families.change(before, before.model_copy(update=update))
            children = self.children_in(before) if update["time_zone"] != before.time_zone else []
            zones = [
                d.users.update(one.user_id).at(lambda u: u.time_zone).set(update["time_zone"])
                for one in children
            ]
            entry = self._audit(before.family_id, "family changed", by, before, write.item)
            self._repository.write("FAMILY", write, *zones, entry)
            assert write.item is not None
            return write.item

        return self._repository.retried(expected, attempt)

    # --- invitations ---

    def invite(self, family: Family, email: str, by: User, place: FamilyRole = "parent") -> Invitation:
        """Offer a place in the family to an address, by mail; an earlier invitation of the address is replaced."""
        address = address_of(email)

        def attempt() -> Invitation:
            now = self.own(by, family.family_id)
            token, invitation, writes = self.membership.offer(now, address, by.user_id, place)
            values = {"inviter": by.name, "family": now.name, "place": place}
            self._repository.write(
                "INVITATION",
                *writes,
                self.mail_link("family invitation", values, token, invitation, by.user_id),
                self._audit(now.family_id, "invited", by, None, {"place": place}),
            )
            return invitation

        return self._repository.retried(None, attempt)

    def invited(self, family: Family) -> list[Invitation]:
        return self.membership.invitations.waiting(family.family_id)

    def withdraw(self, family: Family, invitation_id: str, by: User) -> None:
        """Take an invitation back."""

        def attempt() -> None:
            now = self.own(by, family.family_id)
            invitation = self.membership.invitations.sent_by(now.family_id, invitation_id)
            entry = self._audit(now.family_id, "invitation withdrawn", by)
            guard = d.families.change(now, now)
            self._repository.write("INVITATION", guard, self.membership.invitations.end(invitation), entry)

        self._repository.retried(None, attempt)

    def accept(self, token: str, user: User) -> Family:
        """Take the place that was offered to the address of the caller."""

        def attempt() -> Family:
            invitation = self.membership.offered(token, user.email)
            if invitation.child_id is not None:
                raise Conflict(
                    "CHILD_TRANSFER", "This invitation is about a child. Choose the family for it."
                )
            family = self._repository.found(self.membership.family(invitation.family_id), "FAMILY")
            writes = self._joining(family, user, invitation.place)
            entry = self._audit(
                family.family_id, "invitation accepted", user, None, {"place": invitation.place}
            )
            self._repository.write("INVITATION", *self.membership.used(invitation), *writes, entry)
            return family

        return self._repository.retried(None, attempt)

    def _joining(self, family: Family, user: User, place: FamilyRole) -> Sequence[Write[Any]]:
        """The writes with which someone joins; none if they are there already."""
        if self.membership.member(family.family_id, user.user_id) is not None:
            return ()
        if place == "child" and (user.role != "student" or user.is_adult_on(self._people.today())):
            raise Refused("CHILDREN_ONLY", "This invitation is for a child.")
        if place == "parent" and user.role == "student":
            raise Refused("ADULTS_ONLY", "This invitation is for an adult.")
        joined = self.membership.joined(family, user.user_id, place)
        if place == "parent":
            return *joined, self._one_more_family(user)
        return *joined, *self.entering(user, family)

    def entering(self, child: User, family: Family | None) -> Sequence[Write[Any]]:
        """The writes with which a child's own row and conversations follow a change of its family.

        Consent was given by parents of the family before: it ends (ZC-X1), and what was extracted with it goes.
        """
        update: dict[str, Any] = {
            "family_id": None if family is None else family.family_id,
            "time_zone": child.time_zone if family is None else family.time_zone,
            "consent_generation": child.consent_generation + 1,
            "scopes": [],
        }
        return d.users.change(child, child.model_copy(update=update)), *self.following(child.user_id)

    def following(self, user_id: str) -> Sequence[Write[Any]]:
        """The tasks after a change of family: its conversations follow, and what was extracted is forgotten."""
        return d.tasks.add(self._repository.task(REKEY, user_id)), d.tasks.add(
            self._repository.task(FORGET_PROFILE, user_id)
        )

    # --- leaving ---

    def remove(self, family: Family, user_id: str, by: User) -> None:
        """Remove a parent, or leave; access ends with this write. A child is erased or transferred instead."""

        def attempt() -> None:
            now = self.own(by, family.family_id)
            member = self._repository.found(self.membership.member(now.family_id, user_id), "MEMBER")
            if member.place == "child":
                raise Conflict(
                    "CHILD_STAYS", "A child is transferred to another family, or its data is erased."
                )
            entry = self._audit(now.family_id, "parent removed", by, None, {"userId": user_id})
            self._repository.write(
                "MEMBER", *self.membership.left(now, member), entry, *self._told(member, now, by)
            )

        self._repository.retried(None, attempt)

    def _told(self, member: Member, family: Family, by: User) -> Sequence[Write[Any]]:
        user = self._people.find(member.user_id)
        if user is None or user.email is None or user.user_id == by.user_id:
            return ()
        return (
            self._repository.outbox.mail(user.email, "parent removed", {"family": family.name}, user.user_id),
        )

    # --- parts ---

    def mail_link(
        self,
        template: str,
        values: dict[str, str],
        token: str,
        invitation: Invitation,
        owner: str,
    ) -> Write[Any]:
        """A mail with the link of an invitation, which is a secret; it is erased with its owner, whom it names."""
        link = f"{self._url}/console/chat/invitations/{token}"
        return self._repository.outbox.mail(
            invitation.email,
            template,
            values,
            owner,
            secrets={"link": link},
            until=invitation.expires_at,
        )

    def _audit(
        self, family_id: str, action: str, by: User, before: Any = None, after: Any = None
    ) -> Write[Any]:
        return self._repository.audit(f"family:{family_id}", action, actor_of(by), before, after)


def address_of(email: str) -> str:
    try:
        return normalise_address(email)
    except NotAnAddress:
        raise Refused("INVALID_EMAIL", INVALID_ADDRESS, "email") from None


def _is_id(family_id: str) -> bool:
    return family_id.replace("_", "").replace("-", "").isalnum() and len(family_id) <= 80
