"""Families: membership that is read at each access, and invitations by mail, over the entities of a system.

    members = Membership(store, d.families, d.guardians, lambda person: d.families_of_guardian(subject=person))
    members.member(family_id, person)            # the person's own row, read now; None if removed
    invitations = Invitations(store, d.invitations, d.invitations_of_family, refuse_too_many)
    earlier = invitations.earlier(family_id, lambda it: it.email == address)
    db.write(guard, d.invitations.put(invitation), mail, audit)
    invitation = invitations.offered(invitation_id, login.email)
    db.write(guard, invitations.end(invitation), d.guardians.create(guardian), audit)

Must hold: what a person may do rests on their own row, never on an index, which may be late. An invitation is used,
declined or withdrawn once, before it expires, and used by someone who signed in with its address.
Limits, and who may invite, withdraw or remove, hold if each of these writes changes one row of the family (`guard`:
the family itself, or a counter) at the version that was read first: of two that decided on the same members, one is
refused. Declining needs no guard. Open invitations of a family, and families of a person, are counted in an index: on
Amazon, where it may be late, one that was added a moment before may be missing, and one too many gets through.
Elsewhere: keys of the rows, limits, roles and mails (systems/chat/family, systems/parental/family).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from tablewright.design import Entity, Pattern, Query, Write
from tablewright.edge.errors import NotFound
from tablewright.edge.mail_addresses import NotAnAddress, normalise_address
from tablewright.kit.tables import Store

INVITED_FOR = timedelta(days=7)
# No id is longer, and a database refuses long keys.
_LONGEST_ID = 80
_STYLE = ConfigDict(populate_by_name=True, extra="forbid", frozen=True)


class Member(BaseModel):
    """A person in a family. A system adds who, and as what."""

    model_config = _STYLE

    family_id: str


class Invitation(BaseModel):
    """A place in a family that is offered to an address. A system adds what is offered, and when it expires."""

    model_config = _STYLE

    invitation_id: str
    family_id: str
    email: str
    invited_by: str


F = TypeVar("F", bound=BaseModel)
M = TypeVar("M", bound=Member)
N = TypeVar("N", bound=Invitation)


class Membership(Generic[F, M]):
    """Who belongs to which family at this moment. The key of a member is the family and the person."""

    def __init__(
        self,
        store: Store,
        families: Entity[F, [str]],
        members: Entity[M, [str, str]],
        of_person: Callable[[str], Query[M]],
    ) -> None:
        self.store, self._families, self._members, self._of_person = store, families, members, of_person

    def member(self, family_id: str, person: str) -> M | None:
        return self.store.db.one(self._members.get(family_id, person), consistent=True)

    def places_of(self, person: str) -> list[M]:
        """The person's rows in all families: found through the index, then each read again."""
        found = list(self.store.db.all(self._of_person(person)))
        gets = [self._members.get(one.family_id, person) for one in found]
        return [one for one in self.store.db.many(gets, consistent=True) if one is not None]

    def families_of(self, places: Iterable[M]) -> list[F]:
        gets = [self._families.get(one.family_id) for one in places]
        return [one for one in self.store.db.many(gets, consistent=True) if one is not None]


@dataclass(frozen=True, slots=True)
class Invitations(Generic[N]):
    """Invitations to families. `refuse_too_many` raises if a family cannot have this number of open ones."""

    store: Store
    rows: Entity[N, [str]]
    of_family: Pattern[..., N]
    refuse_too_many: Callable[[int], None]

    def waiting(self, family_id: str) -> list[N]:
        """The invitations of a family that are not answered."""
        return list(self.store.db.all(self.of_family(family_id=family_id)))

    def earlier(self, family_id: str, is_same: Callable[[N], bool]) -> list[N]:
        """The invitations that a new one replaces; refused if the others leave no room for it."""
        waiting = self.waiting(family_id)
        same = [one for one in waiting if is_same(one)]
        self.refuse_too_many(len(waiting) - len(same) + 1)
        return same

    def sent_by(self, family_id: str, invitation_id: str) -> N:
        """The invitation, if it is one of this family; INVITATION_NOT_FOUND."""
        found = self._find(invitation_id)
        if found is None or found.family_id != family_id:
            raise NotFound("INVITATION")
        return found

    def offered(self, invitation_id: str, email: str | None) -> N:
        """The invitation, for its address; INVITATION_NOT_FOUND for all others."""
        found = self._find(invitation_id)
        if found is None or found.email != _normal(email):
            raise no_invitation()
        return found

    def end(self, invitation: N) -> Write[N]:
        """The end of an invitation, to be written with what follows from it; Missing if it has ended already."""
        family_id = invitation.family_id
        return self.rows.discard(invitation.invitation_id).when(lambda it: it.family_id == family_id)

    def _find(self, invitation_id: str) -> N | None:
        if not 0 < len(invitation_id) <= _LONGEST_ID:
            return None
        return self.store.db.one(self.rows.get(invitation_id), consistent=True)


def no_invitation() -> NotFound:
    """The same words for each reason, so that an id is of no use to guess."""
    words = "There is no such invitation for the address you signed in with, or it has expired."
    return NotFound("INVITATION", words)


def _normal(email: str | None) -> str | None:
    try:
        return None if email is None else normalise_address(email)
    except NotAnAddress:
        return None
