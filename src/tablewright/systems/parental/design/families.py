"""Who belongs together: children, families, guardians, what they are told, and what is done for them over time."""

from datetime import datetime, timedelta

from tablewright.design import Data, Expires, Keys, Load, Retention, Unique, above, begins, between
from tablewright.kit.audit import audit as audit_log
from tablewright.kit.codes import codes_in
from tablewright.kit.family import INVITED_FOR
from tablewright.kit.outbox import ByOwner
from tablewright.kit.outbox import outbox as outbox_in
from tablewright.kit.tasks import add_tasks
from tablewright.systems.parental.design.base import (
    AUDIT_KEPT,
    PARENTAL,
    families_table,
    guardian_index,
    list_index,
)
from tablewright.systems.parental.field_rules import NOISE
from tablewright.systems.parental.model import (
    Allowance,
    AuditEntry,
    Challenge,
    Child,
    Family,
    FamilyTask,
    Guardian,
    Invitation,
    Message,
    ReportDue,
    Turn,
)

children_table = PARENTAL.table(
    "ChildProfiles",
    pk="childPhoneNumber",
    # Its zone and its pause decide what is blocked: a change of them is followed as one of a policy is.
    stream="NEW_AND_OLD_IMAGES",
    followed=True,
    about="Children: family, number and time zone.",
)
family_index = children_table.gsi("FamilyIndex", pk="familyId", sk="childPhoneNumber")


def child_key(child: str) -> None: ...


children = children_table.entity(
    Child,
    child_key,
    tag="child",
    pk="{child}",
    on={family_index: Keys("{family_id}", "{child}")},
    unique=[
        Unique(
            "number",
            "{held_phone}",
            pk="NUMBER#{held_phone}",
            keep={"child": "{child}"},
            table=families_table.table,
        )
    ],
    version="version",
    immutable=("child_id", "phone", "tenure", "family_id", "created_at"),
    data={
        "child": Data.PERSONAL,
        "phone": Data.PERSONAL,
        "child_name": Data.PERSONAL,
        "parent_email": Data.PERSONAL,
    },
    retention=Retention(None, "while the family wants it; erased on request"),
    load={"create": Load(per_month=5_000, item_bytes=400, once=True)},
)


def family_key(family_id: str) -> None: ...
def report_key(family_id: str) -> None: ...
def guardian_key(family_id: str, subject: str) -> None: ...
def invitation_key(invitation_id: str) -> None: ...
def turn_key(name: str) -> None: ...


families = families_table.entity(
    Family,
    family_key,
    tag="family",
    pk="FAMILY#{family_id}",
    sk="FAMILY",
    on={list_index: Keys("FAMILIES", "{family_id}")},
    version="version",
    data={"name": Data.PERSONAL},
    retention=Retention(None, "while it has guardians"),
    load={"create": Load(per_month=3_000, item_bytes=300, transaction=True)},
)
reports = families_table.entity(
    ReportDue,
    report_key,
    tag="report_due",
    pk="FAMILY#{family_id}",
    sk="REPORT",
    on={list_index: Keys("REPORTS", "{at:ms}#{family_id}")},
    version="version",
    retention=Retention(None, "while the family exists"),
    load={
        "create": Load(per_month=3_000, item_bytes=250, transaction=True),
        "change": Load(per_month=150_000, item_bytes=250, changes=("at",)),
    },
)
guardians = families_table.entity(
    Guardian,
    guardian_key,
    tag="guardian",
    pk="FAMILY#{family_id}",
    sk="GUARDIAN#{subject}",
    on={guardian_index: Keys("PERSON#{subject}", "{family_id}")},
    data={"email": Data.PERSONAL, "name": Data.PERSONAL},
    retention=Retention(None, "while they belong to the family"),
    load={"create": Load(per_month=5_000, item_bytes=300, transaction=True)},
)
invitations = families_table.entity(
    Invitation,
    invitation_key,
    tag="invitation",
    pk="INVITATION#{invitation_id}",
    sk="INVITATION",
    on={
        list_index: Keys("INVITED#{family_id}", "{invitation_id}"),
        guardian_index: Keys("INVITED#{email}", "{invitation_id}"),
    },
    expires=Expires("expires_at"),
    data={"email": Data.PERSONAL, "invited_by": Data.PERSONAL, "owner": Data.PERSONAL},
    retention=Retention(INVITED_FOR, "until it is accepted"),
    load={"create": Load(per_month=2_000, item_bytes=250, transaction=True)},
)
codes = codes_in(
    families_table,
    Challenge,
    Allowance,
    key={"family_id": str, "phone": str},
    pk="FAMILY#{family_id}",
    sk="PROOF#{phone}",
    tag="number_proof",
    window="{window}",
    sends=Load(per_month=10_000, item_bytes=200, transaction=True),
    counts=Load(per_month=20_000, item_bytes=150),
    purpose="to verify that a guardian has the phone",
    data={"phone": Data.PERSONAL},
)
outbox = outbox_in(
    PARENTAL,
    families_table,
    Message,
    key=("message_id",),
    pk="MESSAGE#{message_id}",
    sk="MESSAGE",
    on=list_index,
    state="OUTBOX#{state}",
    writes=Load(per_month=180_000, item_bytes=700, transaction=True),
    reads=Load(per_month=50_000, items=10),
    by_owner=ByOwner(
        "messages_of_family",
        "family_id",
        "MAIL#{family_id}",
        Load(per_month=5_000, items=10),
        on=guardian_index,
    ),
    data={"children": Data.CHILD, "values": Data.CHILD},
)
audit = audit_log(
    PARENTAL,
    families_table,
    AuditEntry,
    owner="family_id",
    pk="FAMILY#{family_id}",
    tag="family_audit",
    name="audit_of_family",
    retention=Retention(AUDIT_KEPT, "so that parents see who changed and viewed what"),
    writes=Load(per_month=150_000, item_bytes=500, transaction=True),
    reads=Load(per_month=20_000, items=30, item_bytes=500),
    noise=NOISE,
)
turns = families_table.entity(
    Turn,
    turn_key,
    tag="turn",
    pk="TURN#{name}",
    sk="TURN",
    version="version",
    expires=Expires("expires_at"),
    retention=Retention(timedelta(hours=1), "to keep limits under concurrent writes"),
    load={"change": Load(per_month=50_000, item_bytes=150)},
)
tasks = add_tasks(
    PARENTAL,
    families_table,
    FamilyTask,
    index=list_index,
    per_month=500,
    data={"child": Data.PERSONAL, "source": Data.PERSONAL, "target": Data.PERSONAL, "actor": Data.PERSONAL},
)


# --- access patterns ---


@PARENTAL.query(
    children,
    on=family_index,
    pk="{family_id}",
    page=50,
    load=Load(per_month=300_000, items=3, item_bytes=400),
)
def children_of_family(*, family_id: str) -> None:
    """The children of a family, those whose number was given up included."""


@PARENTAL.get(children, consistent=True, load=Load(per_second=2, item_bytes=400))
def child_by_key(*, child: str) -> None:
    """One child by the tenure of its number."""


@PARENTAL.query(
    guardians,
    pk="FAMILY#{family_id}",
    sk=begins("GUARDIAN#"),
    consistent=True,
    load=Load(per_month=300_000, items=2, item_bytes=300),
)
def guardians_of_family(*, family_id: str) -> None:
    """Who belongs to a family."""


@PARENTAL.query(
    reports, on=list_index, pk="REPORTS", sk=between("{since:ms}", "{until:ms}"), page=100, at_most=500,
    load=Load(per_month=10_000, items=10, item_bytes=200),
)  # fmt: skip
def reports_due(*, since: datetime | None = None, until: datetime | None = None) -> None:
    """PC-X10: families to be told of their week up to a moment, the longest due first."""


@PARENTAL.query(
    families, on=list_index, pk="FAMILIES", sk=above("{after}"), page=100, at_most=500,
    load=Load(per_month=50_000, items=100, item_bytes=300),
)  # fmt: skip
def families_after(*, after: str | None = None) -> None:
    """Every family after one, for who looks at some at a time."""


@PARENTAL.query(
    codes.challenges, pk="FAMILY#{family_id}", sk=begins("PROOF#"), consistent=True, load=Load(per_month=100)
)
def proofs_of_family(*, family_id: str) -> None:
    """Codes on their way to numbers a family says are its own."""


@PARENTAL.query(guardians, on=guardian_index, pk="PERSON#{subject}", load=Load(per_month=300_000))
def families_of_guardian(*, subject: str) -> None:
    """Which families a person belongs to."""


@PARENTAL.query(invitations, on=list_index, pk="INVITED#{family_id}", load=Load(per_month=10_000))
def invitations_of_family(*, family_id: str) -> None:
    """Who was invited and has not answered."""


@PARENTAL.query(invitations, on=guardian_index, pk="INVITED#{email}", load=Load(per_month=50_000))
def invitations_of_address(*, email: str) -> None:
    """Which families an address was invited to."""
