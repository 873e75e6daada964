"""Who is in which family now, who is invited, and the writes that change it (ZC-X9).

Must hold: a child has one home, an item with the id of the child as its key; a family with children has a parent, and
the counts in its row are those of its members. Every change of members and every invitation is a change of that row at
the version that was read; the invitation is in the mail as a token, of which only a digest is stored, and is worth
something while its sender is a parent of the family.
Verbs in the past tense return writes, so that the audit entry, mails and tasks are in the same transaction.
Elsewhere: who may (families.py, children.py), membership and invitations of any system (kit/family.py).
"""

from collections.abc import Sequence
from typing import Any

from tablewright.design import Write
from tablewright.edge.errors import Conflict, NotFound
from tablewright.kit import family
from tablewright.kit.tables import Store, digest
from tablewright.systems.chat import design as d
from tablewright.systems.chat.family_model import Family, FamilyRole, Home, Invitation, Member

MOST_PARENTS, MOST_CHILDREN, MOST_INVITATIONS = 6, 12, 10


class Membership(family.Membership[Family, Member]):
    """Members of families, and the homes of children. Reads are strongly consistent."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, d.families, d.members, lambda person: d.families_of_user(user_id=person))
        self.invitations: family.Invitations[Invitation] = family.Invitations(
            store, d.invitations, d.invitations_of_family, _refuse_too_many
        )

    # --- now ---

    def family(self, family_id: str) -> Family | None:
        return self.store.db.one(d.families.get(family_id), consistent=True)

    def members_of(self, family_id: str) -> list[Member]:
        return list(self.store.db.all(d.members_of_family(family_id=family_id)))

    def home(self, child_id: str) -> Home | None:
        """The family that the child is in; None if it has none."""
        return self.store.db.one(d.home_of_child(child_id))

    def parent(self, family_id: str, user_id: str) -> Member | None:
        """The person as a parent of the family."""
        found = self.member(family_id, user_id)
        return found if found is not None and found.place == "parent" else None

    def parent_of(self, user_id: str, child_id: str) -> Member | None:
        """The person as a parent of the family that the child is in at this moment."""
        home = self.home(child_id)
        return None if home is None else self.parent(home.family_id, user_id)

    # --- changes ---

    def joined(self, family: Family, user_id: str, place: FamilyRole) -> tuple[Write[Any], ...]:
        """One more member; FAMILY_FULL if there are enough. Refused with AlreadyExists for a child with a home."""
        _refuse_full(family, place)
        member = Member(family_id=family.family_id, user_id=user_id, place=place, joined_at=self.store.now())
        writes = _counted(family, place, 1), d.members.create(member)
        if place == "parent":
            return writes
        return *writes, d.homes.create(Home(child_id=user_id, family_id=family.family_id))

    def left(self, family: Family, member: Member) -> tuple[Write[Any], ...]:
        """One member less; LAST_PARENT for the last parent of children. An empty family goes with its last parent."""
        gone = d.members.delete(member)
        if member.place == "child":
            return _counted(family, "child", -1), gone, d.homes.discard(member.user_id)
        if family.parents > 1:
            return _counted(family, "parent", -1), gone
        if family.children:
            words = (
                "A family with children needs a parent. Invite another parent first, or transfer or erase the"
                " children."
            )
            raise Conflict("LAST_PARENT", words)
        return d.families.delete(family), gone

    def moved(self, child: Member, home: Home, target: Family) -> tuple[Write[Any], ...]:
        """A child in another family; SAME_FAMILY if it is there already."""
        if home.family_id == target.family_id:
            raise Conflict("SAME_FAMILY", "The child is in this family already.")
        _refuse_full(target, "child")
        source = self.family(home.family_id)
        if source is None:
            raise NotFound("FAMILY")
        there = {"family_id": target.family_id}
        member = child.model_copy(update={**there, "joined_at": self.store.now(), "version": 1})
        return (
            _counted(source, "child", -1),
            _counted(target, "child", 1),
            d.members.delete(child),
            d.members.create(member),
            d.homes.change(home, home.model_copy(update=there)),
        )

    # --- invitations ---

    def offer(
        self, to: Family, address: str, invited_by: str, place: FamilyRole, child_id: str | None = None
    ) -> tuple[str, Invitation, Sequence[Write[Any]]]:
        """A token for the mail, the invitation, and the writes that store it instead of an earlier one."""
        earlier = self.invitations.earlier(
            to.family_id, lambda it: (it.email, it.child_id) == (address, child_id)
        )
        token, now = digest(self.store.world.new_id(), self.store.world.new_id()), self.store.now()
        invitation = Invitation(
            invitation_id=digest(token),
            family_id=to.family_id,
            email=address,
            invited_by=invited_by,
            place=place,
            child_id=child_id,
            created_at=now,
            expires_at=now + family.INVITED_FOR,
        )
        replaced = [d.invitations.discard(one.invitation_id) for one in earlier]
        return token, invitation, (d.families.change(to, to), d.invitations.put(invitation), *replaced)

    def offered(self, token: str, email: str | None) -> Invitation:
        """The invitation of a token, for its address; INVITATION_NOT_FOUND for everyone else.

        It is worth nothing once its sender has left the family.
        """
        found = self.invitations.offered(digest(token), email)
        if self.parent(found.family_id, found.invited_by) is None:
            raise family.no_invitation()
        return found

    def used(self, invitation: Invitation) -> tuple[Write[Any], ...]:
        """The end of an invitation, on the condition that its sender is a parent of the family at that moment."""
        sender = d.members.check(invitation.family_id, invitation.invited_by)
        return self.invitations.end(invitation), sender.when(lambda it: it.place == "parent")


def _counted(family: Family, place: FamilyRole, more: int) -> Write[Family]:
    name = "parents" if place == "parent" else "children"
    return d.families.change(family, family.model_copy(update={name: getattr(family, name) + more}))


def _refuse_full(family: Family, place: FamilyRole) -> None:
    count, most = (family.parents, MOST_PARENTS) if place == "parent" else (family.children, MOST_CHILDREN)
    if count >= most:
        words = f"A family can have {MOST_PARENTS} parents and {MOST_CHILDREN} children."
        raise Conflict("FAMILY_FULL", words)


def _refuse_too_many(count: int) -> None:
    if count > MOST_INVITATIONS:
        raise Conflict("TOO_MANY_INVITATIONS", f"A family can have {MOST_INVITATIONS} open invitations.")
