"""Requests and responses about families, guardians and children."""

from datetime import datetime

from pydantic import Field

from tablewright.kit.http import Body, Moment, view_of
from tablewright.systems.parental.family.deletion import DeletionPlan
from tablewright.systems.parental.field_rules import masked
from tablewright.systems.parental.model import (
    Child,
    Family,
    FamilyTask,
    Guardian,
    Invitation,
    Outage,
    Role,
    Value,
)

# --- families ---


class NewFamily(Body):
    name: str
    guardian_name: str = ""


class FamilyChange(Body):
    """Fields that are not sent stay unchanged."""

    name: str = ""
    allowed_domains: list[str] = Field(default_factory=list)
    on_outage: Outage = "keep"
    alert_after_blocks: int | None = None
    version: int | None = None


class FamilyView(Family):
    """A family with its members."""

    guardians: list[Guardian] = Field(default_factory=list)
    my_role: Role | None = None


def family_view(family: Family, guardians: list[Guardian], subject: str) -> FamilyView:
    mine = next((guardian.role for guardian in guardians if guardian.subject == subject), None)
    return view_of(FamilyView, family, guardians=guardians, my_role=mine)


class LeavingView(Value):
    """A child that would be deleted with its family."""

    child_name: str
    phone_number: str
    policies: int
    rules: int


class FamilyDeletion(Value):
    """What would be deleted with a family, and when; `isOnItsWay`: the deletion is scheduled."""

    name: str
    is_on_its_way: bool
    closes_at: datetime
    children: list[LeavingView]
    guardians: list[str]
    invitations: list[str]
    backups: str


def family_deletion(plan: DeletionPlan, backups: str) -> FamilyDeletion:
    children = [
        view_of(LeavingView, one, child_name=one.child.child_name, phone_number=one.child.phone)
        for one in plan.children
    ]
    return FamilyDeletion(
        name=plan.family.name,
        is_on_its_way=plan.family.closes_at is not None,
        closes_at=plan.closes_at,
        children=children,
        guardians=[guardian.email for guardian in plan.guardians],
        invitations=[invitation.email for invitation in plan.invitations],
        backups=backups,
    )


class Closes(Value):
    """When a family is deleted; until then it can be kept."""

    closes_at: datetime | None
    backups: str


class NewInvitation(Body):
    email: str = Field(max_length=320)


class Acceptance(Body):
    guardian_name: str = ""


class Me(Value):
    """The caller, its families and its invitations."""

    subject: str
    email: str | None
    families: list[FamilyView]
    invitations: list[Invitation]


# --- children ---


class NumberProof(Body):
    phone_number: str = Field(max_length=40)
    family_id: str | None = None


class NewChild(Body):
    phone_number: str = Field(max_length=40)
    code: str = Field(max_length=20)
    child_name: str
    timezone: str
    family_id: str | None = None


class ChildChange(Body):
    """Fields that are not sent stay unchanged; `pausedUntil: null` ends a pause."""

    child_name: str = ""
    timezone: str = ""
    paused_until: Moment = None
    version: int | None = None


class NumberChange(Body):
    phone_number: str = Field(max_length=40)
    code: str = Field(max_length=20)


class Reason(Body):
    reason: str | None = None


class ChildView(Value):
    """A child as its family sees it. `child` is its id, which stays when the number goes to another child."""

    child: str
    phone_number: str
    family_id: str
    child_name: str
    timezone: str
    parent_email: str
    paused_until: datetime | None = None
    created_at: datetime
    updated_at: datetime
    released_at: datetime | None = None
    version: int


def child_view(child: Child) -> ChildView:
    return view_of(ChildView, child, phone_number=child.phone)


class Released(Value):
    """A released number, for an operator, without the child."""

    phone_number: str
    released_at: datetime | None = None


def released_view(child: Child) -> Released:
    return Released(phone_number=masked(child.phone), released_at=child.released_at)


class Erasing(Value):
    """The progress of an erasure: what it waits for, and when it is checked for the last time."""

    waits_for: str | None = None
    finished_after: datetime
    backups: str


def erasing(task: FamilyTask, backups: str) -> Erasing:
    return Erasing(waits_for=task.note, finished_after=task.settles_at, backups=backups)
