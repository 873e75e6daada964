"""Who belongs together: children, families, guardians, what they are told, and what is done for them over time."""

from datetime import datetime, timedelta

from tablewright.design import Data, Expires, Keys, Load, Retention, Unique, above, begins, between
from tablewright.systems.parental.design.base import (
    AUDIT_KEPT,
    PARENTAL,
    families_table,
    guardian_index,
    list_index,
)
from tablewright.systems.parental.model import (
    Allowance,
    AuditEntry,
    Challenge,
    Child,
    Errand,
    Family,
    Guardian,
    Invitation,
    Message,
    MessageState,
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
def number_key(family_id: str, phone: str) -> None: ...
def message_key(message_id: str) -> None: ...
def audit_key(family_id: str, audit_at: datetime, audit_id: str) -> None: ...
def allowance_key(name: str, window: str) -> None: ...
def errand_key(errand_id: str) -> None: ...
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
    data={"email": Data.PERSONAL},
    retention=Retention(timedelta(days=7), "until it is accepted"),
    load={"create": Load(per_month=2_000, item_bytes=250, transaction=True)},
)
challenges = families_table.entity(
    Challenge,
    number_key,
    tag="number_proof",
    pk="FAMILY#{family_id}",
    sk="PROOF#{phone}",
    expires=Expires("expires_at"),
    data={"phone": Data.PERSONAL, "code_hash": Data.SECRET},
    retention=Retention(timedelta(minutes=15), "to verify that a guardian has the phone"),
    load={"put": Load(per_month=10_000, item_bytes=200, transaction=True)},
)
messages = families_table.entity(
    Message,
    message_key,
    tag="message",
    pk="MESSAGE#{message_id}",
    sk="MESSAGE",
    on={
        list_index: Keys("OUTBOX#{state}", "{created_at:ms}#{message_id}"),
        guardian_index: Keys("MAIL#{family_id}", "{created_at:ms}#{message_id}"),
    },
    expires=Expires("expires_at"),
    data={
        "recipient": Data.PERSONAL,
        "children": Data.CHILD,
        "values": Data.CHILD,
        "secrets": Data.SECRET,
        "subject": Data.SECRET,
        "body": Data.SECRET,
    },
    retention=Retention(timedelta(days=30), "to see what was sent"),
    load={
        "create": Load(per_month=180_000, item_bytes=700, transaction=True),
        "change": Load(per_month=180_000, item_bytes=700, changes=("state",)),
    },
)
audit = families_table.entity(
    AuditEntry,
    audit_key,
    tag="family_audit",
    pk="FAMILY#{family_id}",
    sk="AUDIT#{audit_at:ms}#{audit_id}",
    expires=Expires("audit_at", AUDIT_KEPT),
    data={"actor": Data.PERSONAL, "before": Data.PERSONAL, "after": Data.PERSONAL},
    retention=Retention(AUDIT_KEPT, "so that parents see who changed and viewed what"),
    load={"create": Load(per_month=150_000, item_bytes=500, transaction=True)},
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
allowances = families_table.entity(
    Allowance,
    allowance_key,
    tag="allowance",
    pk="ALLOWANCE#{name}",
    sk="{window}",
    expires=Expires("expires_at"),
    retention=Retention(timedelta(days=1), "to share limits between processes"),
    load={"upsert": Load(per_month=20_000, item_bytes=150)},
)
errands = families_table.entity(
    Errand,
    errand_key,
    tag="errand",
    pk="ERRAND#{errand_id}",
    sk="ERRAND",
    on={list_index: Keys("ERRANDS", "{started_at:ms}#{errand_id}")},
    data={"child": Data.PERSONAL, "source": Data.PERSONAL, "target": Data.PERSONAL, "actor": Data.PERSONAL},
    retention=Retention(None, "until it is finished"),
    load={
        "create": Load(per_month=500, item_bytes=400, transaction=True),
        "delete": Load(per_month=500, item_bytes=400, transaction=True),
    },
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
    challenges, pk="FAMILY#{family_id}", sk=begins("PROOF#"), consistent=True, load=Load(per_month=100)
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


@PARENTAL.query(
    messages,
    on=list_index,
    pk="OUTBOX#{state}",
    descending=True,
    page=50,
    load=Load(per_month=50_000, items=10),
)
def messages_by_state(*, state: MessageState) -> None:
    """The outbox."""


@PARENTAL.query(
    messages,
    on=guardian_index,
    pk="MAIL#{family_id}",
    descending=True,
    page=50,
    load=Load(per_month=5_000, items=10),
)
def messages_of_family(*, family_id: str) -> None:
    """What was written to the people of a family, newest first."""


@PARENTAL.query(errands, on=list_index, pk="ERRANDS", page=50, load=Load(per_month=50_000, items=1))
def open_errands() -> None:
    """Work that is not finished, oldest first."""


@PARENTAL.query(
    audit,
    pk="FAMILY#{family_id}",
    sk=begins("AUDIT#"),
    descending=True,
    page=50,
    at_most=200,
    load=Load(per_month=20_000, items=30, item_bytes=500),
)
def audit_of_family(*, family_id: str) -> None:
    """Who changed or looked at what, newest first."""
