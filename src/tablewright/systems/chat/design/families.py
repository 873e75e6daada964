"""Families: who is in which, the home of each child, and invitations. The table `family` of the document (ZC-X9)."""

from tablewright.design import Data, Expires, Keys, Load, Retention, begins
from tablewright.kit.family import INVITED_FOR
from tablewright.systems.chat.design.base import CHAT
from tablewright.systems.chat.family_model import Family, Home, Invitation, Member

__all__ = [
    "families",
    "families_of_user",
    "family_table",
    "home_of_child",
    "homes",
    "invitations",
    "invitations_of_family",
    "member_index",
    "members",
    "members_of_family",
]

_JOINS = Load(per_month=1_000, item_bytes=300, transaction=True)
# For programs that read the tables with a role of their own: exactly the partition of the principal (ZC-31, ZC-D18).
# The service checks membership besides, which a tag cannot: a removed parent may have the tag for a while.
CHAT.principal("parent", family_id="familyId")
CHAT.principal("student", user_id="userId")
family_table = CHAT.table(
    "family", pk="PK", sk="SK", ttl="ttl", about="Families, their parents and children, invitations."
)
member_index = family_table.gsi("member-index", pk="memberKey", sk="memberOf")


def family_key(family_id: str) -> None: ...
def member_key(family_id: str, user_id: str) -> None: ...
def home_key(child_id: str) -> None: ...
def invitation_key(invitation_id: str) -> None: ...


families = family_table.entity(
    Family,
    family_key,
    tag="family",
    pk="FAMILY#{family_id}",
    sk="FAMILY",
    version="version",
    immutable=("created_at",),
    data={"name": Data.PERSONAL},
    retention=Retention(None, "while it has members"),
    load={"create": _JOINS, "change": _JOINS},
)
members = family_table.entity(
    Member,
    member_key,
    tag="member",
    pk="FAMILY#{family_id}",
    sk="MEMBER#{user_id}",
    on={member_index: Keys("PERSON#{user_id}", "{family_id}")},
    version="version",
    data={"user_id": Data.PERSONAL},
    retention=Retention(None, "while they belong to the family"),
    load={"create": _JOINS, "check": _JOINS},
)
homes = family_table.entity(
    Home,
    home_key,
    tag="home",
    pk="CHILD#{child_id}",
    sk="HOME",
    version="version",
    data={"child_id": Data.CHILD},
    retention=Retention(None, "while the child is in a family"),
    load={"create": _JOINS},
)
invitations = family_table.entity(
    Invitation,
    invitation_key,
    tag="invitation",
    pk="INVITATION#{invitation_id}",
    sk="INVITATION",
    on={member_index: Keys("INVITED#{family_id}", "{invitation_id}")},
    expires=Expires("expires_at"),
    data={"email": Data.PERSONAL, "invited_by": Data.PERSONAL, "child_id": Data.CHILD},
    retention=Retention(INVITED_FOR, "until it is accepted"),
    load={"put": _JOINS},
)


# --- access patterns ---


@CHAT.get(homes, consistent=True, load=Load(per_month=100_000, item_bytes=150))
def home_of_child(child_id: str) -> None:
    """The family that a child is in, strongly consistent."""


@CHAT.query(
    members, pk="FAMILY#{family_id}", sk=begins("MEMBER#"), consistent=True, page=50,
    load=Load(per_month=50_000, items=4, item_bytes=300),
)  # fmt: skip
def members_of_family(*, family_id: str) -> None:
    """Who belongs to a family, strongly consistent."""


@CHAT.query(
    members, on=member_index, pk="PERSON#{user_id}", page=50, load=Load(per_month=50_000, items=1, item_bytes=300)
)  # fmt: skip
def families_of_user(*, user_id: str) -> None:
    """The families of a person; decisions rest on the member itself, which is read consistently."""


@CHAT.query(
    invitations, on=member_index, pk="INVITED#{family_id}", page=50,
    load=Load(per_month=1_000, items=1, item_bytes=300),
)  # fmt: skip
def invitations_of_family(*, family_id: str) -> None:
    """The invitations of a family that are not used."""
