"""Families: parents and children, invitations by mail, and membership that is checked at each read.

    FAMILIES = families_in(DESIGN, table, Family, Member, Home, Invitation, index=by_person, per_month=1_000)
    families = Families(FAMILIES, repository)
    db.write(*families.begun(family, parent), audit)
    families.parent_of(caller, child)        # the parent's own row, read now; None if the caller is not one (any more)
    token, invitation = families.invitation(family.family_id, "ann@example.org", invited_by="Ada")
    db.write(FAMILIES.invitations.put(invitation), box.mail(..., secrets={"link": f"{url}/{token}"}))

Verbs return writes, so that a system adds its audit entry, its mail and its own rows to the same transaction.
Must hold: a child has one home, an item with the id of the child as its key; a family with children has a parent, and
the counts in its row are those of its members, because every change of members is a change of that row at the version
that was read. An invitation is used once, before it expires, by someone who has its token and its address; only a
digest of the token is stored.
Elsewhere: who may invite and remove (the system), mail (outbox.py), erasure (subjects.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict

from tablewright.design import (
    Data,
    Design,
    DesignTable,
    Entity,
    Expires,
    GetPattern,
    Index,
    Keys,
    Load,
    Pattern,
    Retention,
    Write,
    begins,
)
from tablewright.edge.errors import Conflict, NotFound
from tablewright.edge.mail_addresses import NotAnAddress, normalise_address
from tablewright.kit.tables import Store, digest

FamilyRole: TypeAlias = Literal["parent", "child"]
INVITED_FOR = timedelta(days=7)
MOST_PARENTS, MOST_CHILDREN = 6, 12
_STYLE = ConfigDict(populate_by_name=True, extra="forbid", frozen=True)


class Family(BaseModel):
    """A family, with the number of its members by place."""

    model_config = _STYLE

    family_id: str
    name: str
    parents: int = 1
    children: int = 0
    created_at: datetime
    version: int = 1


class Member(BaseModel):
    """A person in a family."""

    model_config = _STYLE

    family_id: str
    user_id: str
    place: FamilyRole = "parent"
    joined_at: datetime
    version: int = 1


class Home(BaseModel):
    """The family that a child is in."""

    model_config = _STYLE

    child_id: str
    family_id: str
    version: int = 1


class Invitation(BaseModel):
    """A place in a family that is offered to an address; with `child_id`, that child, to a family of the recipient.

    `invitation_id` is a digest of the token in the mail.
    """

    model_config = _STYLE

    invitation_id: str
    family_id: str
    email: str
    invited_by: str
    place: FamilyRole = "parent"
    child_id: str | None = None
    created_at: datetime
    expires_at: datetime


F = TypeVar("F", bound=Family)
M = TypeVar("M", bound=Member)
H = TypeVar("H", bound=Home)
N = TypeVar("N", bound=Invitation)


@dataclass(frozen=True, slots=True)
class FamilyTables(Generic[F, M, H, N]):
    """The entities and patterns of families in one table."""

    families: Entity[F, [str]]
    members: Entity[M, [str, str]]
    homes: Entity[H, [str]]
    invitations: Entity[N, [str]]
    members_of_family: Pattern[..., M]
    families_of_user: Pattern[..., M]
    invitations_of_family: Pattern[..., N]
    home_of_child: GetPattern[..., H]


def family_key(family_id: str) -> None: ...
def member_key(family_id: str, user_id: str) -> None: ...
def home_key(child_id: str) -> None: ...
def invitation_key(invitation_id: str) -> None: ...


def families_in(
    design: Design,
    table: DesignTable,
    family: type[F],
    member: type[M],
    home: type[H],
    invitation: type[N],
    *,
    index: Index,
    per_month: int,
    data: Mapping[str, Data] | None = None,
) -> FamilyTables[F, M, H, N]:
    """Families in a table with `PK`, `SK` and expiry; `index` lists families by person and invitations by family."""
    joins = Load(per_month=per_month, item_bytes=300, transaction=True)
    families = table.entity(
        family,
        family_key,
        tag="family",
        pk="FAMILY#{family_id}",
        sk="FAMILY",
        version="version",
        immutable=("created_at",),
        data={"name": Data.PERSONAL, **(data or {})},
        retention=Retention(None, "while it has members"),
        load={"create": joins, "change": joins},
    )
    members = table.entity(
        member,
        member_key,
        tag="member",
        pk="FAMILY#{family_id}",
        sk="MEMBER#{user_id}",
        on={index: Keys("PERSON#{user_id}", "{family_id}")},
        version="version",
        data={"user_id": Data.PERSONAL},
        retention=Retention(None, "while they belong to the family"),
        load={"create": joins},
    )
    homes = table.entity(
        home,
        home_key,
        tag="home",
        pk="CHILD#{child_id}",
        sk="HOME",
        version="version",
        data={"child_id": Data.CHILD},
        retention=Retention(None, "while the child is in a family"),
        load={"create": joins},
    )
    invitations = table.entity(
        invitation,
        invitation_key,
        tag="invitation",
        pk="INVITATION#{invitation_id}",
        sk="INVITATION",
        on={index: Keys("INVITED#{family_id}", "{invitation_id}")},
        expires=Expires("expires_at"),
        data={"email": Data.PERSONAL, "invited_by": Data.PERSONAL, "child_id": Data.CHILD},
        retention=Retention(INVITED_FOR, "until it is accepted"),
        load={"put": joins},
    )

    @design.get(homes, consistent=True, load=Load(per_month=100 * per_month, item_bytes=150))
    def home_of_child(child_id: str) -> None:
        """The family that a child is in, strongly consistent."""

    @design.query(
        members, pk="FAMILY#{family_id}", sk=begins("MEMBER#"), consistent=True, page=50,
        load=Load(per_month=50 * per_month, items=4, item_bytes=300),
    )  # fmt: skip
    def members_of_family(*, family_id: str) -> None:
        """Who belongs to a family, strongly consistent."""

    @design.query(
        members, on=index, pk="PERSON#{user_id}", page=50,
        load=Load(per_month=50 * per_month, items=1, item_bytes=300),
    )  # fmt: skip
    def families_of_user(*, user_id: str) -> None:
        """The families of a person; decisions rest on the member itself, which is read consistently."""

    @design.query(
        invitations, on=index, pk="INVITED#{family_id}", page=50,
        load=Load(per_month=per_month, items=1, item_bytes=300),
    )  # fmt: skip
    def invitations_of_family(*, family_id: str) -> None:
        """The invitations of a family that are not used."""

    return FamilyTables(
        families,
        members,
        homes,
        invitations,
        members_of_family,
        families_of_user,
        invitations_of_family,
        home_of_child,
    )


@dataclass(frozen=True, slots=True)
class Families(Generic[F, M, H, N]):
    """Families over their tables. Reads are strongly consistent; verbs in the past tense return writes."""

    tables: FamilyTables[F, M, H, N]
    store: Store

    # --- membership, now ---

    def family(self, family_id: str) -> F | None:
        return self.store.db.one(self.tables.families.get(family_id), consistent=True)

    def member(self, family_id: str, user_id: str) -> M | None:
        return self.store.db.one(self.tables.members.get(family_id, user_id), consistent=True)

    def members(self, family_id: str) -> list[M]:
        return list(self.store.db.all(self.tables.members_of_family(family_id=family_id)))

    def places_of(self, user_id: str) -> list[M]:
        """The places of a person in families: found through the index, then each read again."""
        found = list(self.store.db.all(self.tables.families_of_user(user_id=user_id)))
        again = [self.member(one.family_id, user_id) for one in found]
        return [one for one in again if one is not None]

    def home(self, child_id: str) -> H | None:
        """The family that the child is in; None if it has none."""
        return self.store.db.one(self.tables.home_of_child(child_id))

    def parent(self, family_id: str, user_id: str) -> M | None:
        """The person as a parent of the family."""
        found = self.member(family_id, user_id)
        return found if found is not None and found.place == "parent" else None

    def parent_of(self, user_id: str, child_id: str) -> M | None:
        """The person as a parent of the family that the child is in at this moment."""
        home = self.home(child_id)
        return None if home is None else self.parent(home.family_id, user_id)

    # --- changes of members ---

    def begun(self, family: F, parent: M) -> tuple[Write[Any], ...]:
        """A new family with its first parent."""
        return self.tables.families.create(family), self.tables.members.create(parent)

    def joined(self, family: F, member: M) -> tuple[Write[Any], ...]:
        """One more member; FAMILY_FULL if there are enough. Refused with AlreadyExists for a child with a home."""
        _refuse_full(family, member.place)
        writes = self._counted(family, member.place, 1), self.tables.members.create(member)
        if member.place == "parent":
            return writes
        home = self.tables.homes.model(child_id=member.user_id, family_id=family.family_id)
        return *writes, self.tables.homes.create(home)

    def left(self, family: F, member: M) -> tuple[Write[Any], ...]:
        """One member less; LAST_PARENT for the last parent of children. An empty family goes with its last parent."""
        gone = self.tables.members.delete(member)
        if member.place == "child":
            return self._counted(family, "child", -1), gone, self.tables.homes.discard(member.user_id)
        if family.parents > 1:
            return self._counted(family, "parent", -1), gone
        if family.children:
            words = (
                "A family with children needs a parent. Invite another parent or transfer the children first."
            )
            raise Conflict("LAST_PARENT", words)
        return self.tables.families.delete(family), gone

    def moved(self, child: M, home: H, target: F) -> tuple[Write[Any], ...]:
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
            self._counted(source, "child", -1),
            self._counted(target, "child", 1),
            self.tables.members.delete(child),
            self.tables.members.create(member),
            self.tables.homes.change(home, home.model_copy(update=there)),
        )

    def _counted(self, family: F, place: FamilyRole, more: int) -> Write[F]:
        name = "parents" if place == "parent" else "children"
        after = family.model_copy(update={name: getattr(family, name) + more})
        return self.tables.families.change(family, after)

    # --- invitations ---

    def invitation(
        self,
        family_id: str,
        email: str,
        *,
        invited_by: str,
        place: FamilyRole = "parent",
        child_id: str | None = None,
    ) -> tuple[str, N]:
        """A token for the mail and the invitation to store with it."""
        token = digest(self.store.world.new_id(), self.store.world.new_id())
        now = self.store.now()
        return token, self.tables.invitations.model(
            invitation_id=digest(token),
            family_id=family_id,
            email=normalise_address(email),
            invited_by=invited_by,
            place=place,
            child_id=child_id,
            created_at=now,
            expires_at=now + INVITED_FOR,
        )

    def invited(self, family_id: str) -> list[N]:
        """The invitations of a family that wait."""
        return list(self.store.db.all(self.tables.invitations_of_family(family_id=family_id)))

    def offered(self, token: str, email: str | None) -> N:
        """The invitation of a token, for its address; INVITATION_NOT_FOUND for everyone else."""
        found = self.store.db.one(self.tables.invitations.get(digest(token)), consistent=True)
        if found is None or not _is_same_address(found.email, email):
            words = "There is no such invitation for the address you signed in with, or it has expired."
            raise NotFound("INVITATION", words)
        return found

    def used(self, invitation: N) -> Write[N]:
        """The end of an invitation, to be written with what it leads to; refused if it was used before."""
        family_id = invitation.family_id
        return self.tables.invitations.discard(invitation.invitation_id).when(
            lambda it: it.family_id == family_id
        )


def _refuse_full(family: Family, place: FamilyRole) -> None:
    count, most = (family.parents, MOST_PARENTS) if place == "parent" else (family.children, MOST_CHILDREN)
    if count >= most:
        words = f"A family can have {MOST_PARENTS} parents and {MOST_CHILDREN} children."
        raise Conflict("FAMILY_FULL", words)


def _is_same_address(known: str, email: str | None) -> bool:
    try:
        return email is not None and normalise_address(email) == known
    except NotAnAddress:
        return False
