"""The design of parental controls: the document's five tables, and those it needs and does not name.

`SubscriberSessions`, `ChildProfiles` and `IngestReceipts` are what the document's rules rest on; `ParentalFamilies`
holds who belongs together and what staff works with. Every table of a child is keyed by the child's tenure of its
number (see model.py). Must hold: only what failed or waits is in StatusTimestampIndex, only addresses in use in the
PrivateIPIndexes.
"""

from datetime import date, datetime, timedelta

from tablewright.design import (
    Data,
    Design,
    Environment,
    Expires,
    Keys,
    Load,
    Provisioned,
    Retention,
    Unique,
    above,
    begins,
    between,
)
from tablewright.systems.parental.model import (
    Action,
    Allowance,
    App,
    AppUse,
    AuditEntry,
    Challenge,
    Child,
    Device,
    Errand,
    Family,
    Guardian,
    Invitation,
    Message,
    MessageState,
    Metric,
    OpenStatus,
    Override,
    Policy,
    Purge,
    Quarantined,
    Receipt,
    RuleMapping,
    Session,
    Wake,
    Walk,
)

HISTORY_KEPT = timedelta(days=90)
METRICS_KEPT = timedelta(days=400)
RECEIPTS_KEPT = timedelta(days=7)
RULES_KEPT = timedelta(days=7)
AUDIT_KEPT = timedelta(days=400)
PARENTAL = Design("parental", version=1, about="What children may not use when, enforced on firewalls.")

PARENTAL.environment(Environment("dev", region="us-east-1", pitr_days=35))
PARENTAL.environment(
    Environment(
        "prod",
        region="us-east-1",
        # PC-38, PC-39: what is even is provisioned, what comes in bursts is paid for as it comes (PC-D17, PC-D27).
        of_tables={
            "ParentalPolicies": Provisioned(10, 5, max_read=200, max_write=100, target=70),
            "ApplicationRegistry": Provisioned(5, 1, max_read=50, max_write=10, target=70),
            "FTDRuleMapping": Provisioned(20, 20, max_read=400, max_write=400, target=70),
        },
        pitr_days=35,
        deletion_protection=True,
        encryption="managed",
    )
)

# Made first: it guards who holds which number.
families_table = PARENTAL.table(
    "ParentalFamilies",
    pk="PK",
    sk="SK",
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
    about="Families, who belongs to them, exceptions for a while, devices, messages and what was done.",
)

# --- ParentalPolicies ---

policies_table = PARENTAL.table(
    "ParentalPolicies",
    pk="childPhoneNumber",
    sk="policyId",
    stream="NEW_AND_OLD_IMAGES",
    about="What parents have written: apps and windows, for a child.",
)
parent_email_index = policies_table.gsi("ParentEmailIndex", pk="parentEmail", sk="createdAt")


def policy_key(child: str, policy_id: str) -> None: ...


policies = policies_table.entity(
    Policy,
    policy_key,
    tag="policy",
    pk="{child}",
    sk="{policy_id}",
    on={parent_email_index: Keys("{parent_email}", "{created_at}")},
    version="version",
    immutable=("created_at",),
    data={"child_name": Data.PERSONAL, "parent_email": Data.PERSONAL, "notes": Data.PERSONAL},
    retention=Retention(None, "while the family wants it; 30 days after it was deleted"),
    load={
        "create": Load(per_month=20_000, item_bytes=1_500),
        "change": Load(per_month=100_000, item_bytes=1_500),
    },
)

# --- ApplicationRegistry ---

apps_table = PARENTAL.table(
    "ApplicationRegistry",
    pk="appName",
    stream="NEW_AND_OLD_IMAGES",
    about="Known applications: ports, domains, address ranges.",
)


def app_key(app_name: str) -> None: ...


apps = apps_table.entity(
    App,
    app_key,
    tag="app",
    pk="{app_name}",
    version="version",
    retention=Retention(None, "the registry"),
    load={"create": Load(per_month=10, item_bytes=600), "change": Load(per_month=100, item_bytes=600)},
)

# --- EnforcementHistory ---

history_table = PARENTAL.table(
    "EnforcementHistory",
    pk="childPhoneNumber",
    sk="timestamp",
    ttl="ttl",
    about="Every attempt to change a device, for 90 days.",
)
status_index = history_table.gsi("StatusTimestampIndex", pk="statusKey", sk="timestamp")


def action_key(child: str, occurred_at: datetime, action_id: str) -> None: ...


actions = history_table.entity(
    Action,
    action_key,
    tag="action",
    pk="{child}",
    sk="{occurred_at:ms}#{action_id}",
    on={status_index: Keys("{status_key}", "{occurred_at:ms}#{action_id}")},
    expires=Expires("occurred_at", HISTORY_KEPT),
    data={"private_ip": Data.PERSONAL},
    retention=Retention(HISTORY_KEPT, "to see what was enforced, and what failed"),
    load={"create": Load(per_second=100, item_bytes=600)},
)

# --- BlockedRequestMetrics ---

metrics_table = PARENTAL.table(
    "BlockedRequestMetrics",
    pk="childPhoneNumber",
    sk="dateApp",
    ttl="ttl",
    about="How often which app was blocked, by day and hour of the child's clock.",
)
parent_date_index = metrics_table.gsi("ParentEmailDateIndex", pk="parentEmail", sk="date")


def metric_key(child: str, date: date, app_name: str) -> None: ...


metrics = metrics_table.entity(
    Metric,
    metric_key,
    tag="metric",
    pk="{child}",
    sk="{date}#{app_name}",
    on={parent_date_index: Keys("{parent_email}", "{date}")},
    expires=Expires("kept_until"),
    data={"parent_email": Data.PERSONAL},
    retention=Retention(METRICS_KEPT, "for the parents' dashboard"),
    load={"upsert": Load(per_second=500, item_bytes=500)},
)

# --- FTDRuleMapping ---

rules_table = PARENTAL.table(
    "FTDRuleMapping",
    pk="childPhoneNumber",
    sk="ruleId",
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
    about="Which rule on which device implements which policies. What expires here is an order to clean the device.",
)
device_index = rules_table.gsi("DeviceIndex", pk="ftdDeviceId", sk="lastVerified")
rule_address_index = rules_table.gsi("PrivateIPIndex", pk="livePrivateIP", sk="createdAt")


def rule_key(child: str, rule_id: str) -> None: ...


rules = rules_table.entity(
    RuleMapping,
    rule_key,
    tag="rule",
    pk="{child}",
    sk="{rule_id}",
    on={
        device_index: Keys("{ftd_device_id}", "{last_verified}"),
        rule_address_index: Keys("{live_private_ip}", "{created_at}"),
    },
    version="version",
    expires=Expires("expires_at", RULES_KEPT),
    data={"private_ip": Data.PERSONAL, "live_private_ip": Data.PERSONAL},
    retention=Retention(RULES_KEPT, "a net under what removes rules when a session ends"),
    load={"create": Load(per_second=5, item_bytes=700), "change": Load(per_second=20, item_bytes=700)},
)

# --- SubscriberSessions ---

sessions_table = PARENTAL.table(
    "SubscriberSessions",
    pk="childPhoneNumber",
    sk="sessionId",
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
    about="Which address a child's devices have now.",
)
session_address_index = sessions_table.gsi("PrivateIPIndex", pk="livePrivateIP", sk="startedAt")


def session_key(child: str, session_id: str) -> None: ...


sessions = sessions_table.entity(
    Session,
    session_key,
    tag="session",
    pk="{child}",
    sk="{session_id}",
    on={session_address_index: Keys("{live_private_ip}", "{started_at}")},
    version="version",
    immutable=("started_at",),
    expires=Expires("expires_at", timedelta(days=7)),
    data={"private_ip": Data.PERSONAL, "live_private_ip": Data.PERSONAL},
    retention=Retention(timedelta(days=7), "to find who had an address"),
    load={"create": Load(per_second=5, item_bytes=400), "change": Load(per_second=50, item_bytes=400)},
)

# --- ChildProfiles ---

children_table = PARENTAL.table(
    "ChildProfiles",
    pk="childPhoneNumber",
    # Its zone and its pause decide what is blocked: a change of them is followed as one of a policy is.
    stream="NEW_AND_OLD_IMAGES",
    about="Whose child has which number, and which clock it lives by.",
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
    immutable=("phone", "tenure", "family_id", "created_at"),
    data={
        "child": Data.PERSONAL,
        "phone": Data.PERSONAL,
        "child_name": Data.PERSONAL,
        "parent_email": Data.PERSONAL,
    },
    retention=Retention(None, "while the family wants it; erased on request"),
    load={"create": Load(per_month=5_000, item_bytes=400), "get": Load(per_second=50, item_bytes=400)},
)

# --- IngestReceipts ---

receipts_table = PARENTAL.table(
    "IngestReceipts", pk="batchId", ttl="ttl", about="Which batches were counted, for a week."
)


def receipt_key(batch_id: str) -> None: ...


receipts = receipts_table.entity(
    Receipt,
    receipt_key,
    tag="receipt",
    pk="{batch_id}",
    expires=Expires("expires_at"),
    retention=Retention(RECEIPTS_KEPT, "so that a batch counts once"),
    load={"create": Load(per_second=20, item_bytes=100)},
)

# --- ParentalFamilies ---

guardian_index = families_table.gsi("GuardianIndex", pk="guardianOf", sk="familyKey")
list_index = families_table.gsi("ListIndex", pk="listKey", sk="listSort")


def family_key(family_id: str) -> None: ...
def guardian_key(family_id: str, subject: str) -> None: ...
def invitation_key(invitation_id: str) -> None: ...
def number_key(family_id: str, phone: str) -> None: ...
def override_key(child: str, override_id: str) -> None: ...
def use_key(child: str, app: str) -> None: ...
def purge_key(child: str, policy_id: str) -> None: ...
def wake_key(child: str) -> None: ...
def walk_key(name: str) -> None: ...
def device_key(device_id: str) -> None: ...
def message_key(message_id: str) -> None: ...
def audit_key(family_id: str, audit_at: datetime, audit_id: str) -> None: ...
def quarantine_key(quarantine_id: str) -> None: ...
def allowance_key(name: str, window: str) -> None: ...
def errand_key(errand_id: str) -> None: ...


families = families_table.entity(
    Family,
    family_key,
    tag="family",
    pk="FAMILY#{family_id}",
    sk="FAMILY",
    on={list_index: Keys("FAMILIES", "{family_id}")},
    version="version",
    data={"name": Data.PERSONAL},
    retention=Retention(None, "while it has members"),
    load={"create": Load(per_month=3_000, item_bytes=300)},
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
    load={"create": Load(per_month=5_000, item_bytes=300)},
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
    load={"create": Load(per_month=2_000, item_bytes=250)},
)
challenges = families_table.entity(
    Challenge,
    number_key,
    tag="number_proof",
    pk="FAMILY#{family_id}",
    sk="PROOF#{phone}",
    expires=Expires("expires_at"),
    data={"phone": Data.PERSONAL, "code_hash": Data.SECRET},
    retention=Retention(timedelta(minutes=15), "to prove that a guardian holds the number"),
    load={"put": Load(per_month=10_000, item_bytes=200)},
)
overrides = families_table.entity(
    Override,
    override_key,
    tag="override",
    pk="CHILD#{child}",
    sk="OVERRIDE#{override_id}",
    expires=Expires("until", timedelta(days=1)),
    retention=Retention(timedelta(days=1), "until it is over, and a day to see it was"),
    load={"create": Load(per_month=50_000, item_bytes=250)},
)
uses = families_table.entity(
    AppUse,
    use_key,
    tag="app_use",
    pk="CHILD#{child}",
    sk="USE#{app}",
    on={list_index: Keys("USES#{app}", "{child}")},
    retention=Retention(None, "while a policy of the child names the app"),
    load={"put": Load(per_month=100_000, item_bytes=200)},
)
purges = families_table.entity(
    Purge,
    purge_key,
    tag="purge",
    pk="CHILD#{child}",
    sk="PURGE#{policy_id}",
    on={list_index: Keys("PURGES", "{at:ms}#{child}#{policy_id}")},
    retention=Retention(None, "until the policy it is about has gone"),
    load={"create": Load(per_month=10_000, item_bytes=200)},
)
wakes = families_table.entity(
    Wake,
    wake_key,
    tag="wake",
    pk="CHILD#{child}",
    sk="WAKE",
    on={list_index: Keys("WAKES#{child:shard.8}", "{at:ms}#{child}")},
    version="version",
    retention=Retention(None, "while a session is open and something is to change by itself"),
    load={"change": Load(per_second=5, item_bytes=200)},
)
walks = families_table.entity(
    Walk,
    walk_key,
    tag="walk",
    pk="WALK#{name}",
    sk="WALK",
    version="version",
    retention=Retention(None, "for who goes on"),
    load={"change": Load(per_month=50_000, item_bytes=150)},
)
devices = families_table.entity(
    Device,
    device_key,
    tag="device",
    pk="DEVICE#{device_id}",
    sk="DEVICE",
    on={list_index: Keys("DEVICES", "{device_id}")},
    version="version",
    data={"last_error": Data.INTERNAL, "secret_name": Data.INTERNAL},
    retention=Retention(None, "while it is used"),
    load={"change": Load(per_month=10_000, item_bytes=400)},
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
    data={"recipient": Data.PERSONAL, "body": Data.PERSONAL},
    retention=Retention(timedelta(days=30), "to see what was sent"),
    load={"create": Load(per_month=30_000, item_bytes=700)},
)
audit = families_table.entity(
    AuditEntry,
    audit_key,
    tag="family_audit",
    pk="FAMILY#{family_id}",
    sk="AUDIT#{audit_at:ms}#{audit_id}",
    expires=Expires("audit_at", AUDIT_KEPT),
    data={"actor": Data.PERSONAL, "before": Data.PERSONAL, "after": Data.PERSONAL},
    retention=Retention(AUDIT_KEPT, "so that parents see who changed and who looked"),
    load={"create": Load(per_month=150_000, item_bytes=500)},
)
quarantine = families_table.entity(
    Quarantined,
    quarantine_key,
    tag="quarantined",
    pk="QUARANTINE#{quarantine_id}",
    sk="EVENTS",
    on={list_index: Keys("QUARANTINE", "{day}#{quarantine_id}")},
    expires=Expires("expires_at"),
    data={"events": Data.PERSONAL},
    retention=Retention(timedelta(days=30), "until somebody has looked whose they are"),
    load={"create": Load(per_month=1_000, item_bytes=2_000)},
)

allowances = families_table.entity(
    Allowance,
    allowance_key,
    tag="allowance",
    pk="ALLOWANCE#{name}",
    sk="{window}",
    expires=Expires("expires_at"),
    retention=Retention(timedelta(hours=2), "so that limits hold over processes"),
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
    retention=Retention(None, "until it is done"),
    load={"create": Load(per_month=500, item_bytes=400)},
)

# --- access patterns: policies (PC-8 to PC-11) ---


@PARENTAL.query(
    policies, pk="{child}", page=50, at_most=100, consistent=True, load=Load(per_second=20, items=4)
)
def policies_of_child(*, child: str) -> None:
    """PC-8: all policies of a child, as the evaluator needs them: strongly consistent."""


@PARENTAL.get(policies, consistent=True, load=Load(per_month=200_000, item_bytes=1_500))
def policy_by_id(*, child: str, policy_id: str) -> None:
    """PC-9: one policy, to be edited."""


@PARENTAL.query(
    policies, on=parent_email_index, pk="{parent_email}", descending=True, page=50, at_most=100,
    load=Load(per_month=100_000, items=5, item_bytes=1_500),
)  # fmt: skip
def policies_of_parent(*, parent_email: str) -> None:
    """PC-10: all policies a parent has written, newest first."""


# --- registry (PC-15, PC-16) ---


@PARENTAL.get(apps, consistent=True, load=Load(per_month=10_000, item_bytes=600))
def app_by_name(*, app_name: str) -> None:
    """PC-15: one app."""


# --- history (PC-21 to PC-23) ---


@PARENTAL.query(
    actions, pk="{child}", sk=between("{since:ms}", "{until:ms}"), descending=True, page=50, at_most=200,
    load=Load(per_month=100_000, items=50, item_bytes=600),
)  # fmt: skip
def actions_of_child(*, child: str, since: datetime | None = None, until: datetime | None = None) -> None:
    """PC-21, PC-22: what was done for a child, newest first; from `since` up to and with the moment `until`."""


@PARENTAL.query(
    actions, on=status_index, pk="{status}", sk=between("{since:ms}", "{until:ms}"), descending=True, page=50,
    at_most=200, roles=("operator",), load=Load(per_month=20_000, items=20, item_bytes=600),
)  # fmt: skip
def actions_by_status(
    *, status: OpenStatus, since: datetime | None = None, until: datetime | None = None
) -> None:
    """PC-23: what failed or waits, newest first."""


# --- metrics (PC-28 to PC-30) ---


@PARENTAL.query(
    metrics, pk="{child}", sk=between("{since}", "{until}"), page=200, at_most=1000,
    load=Load(per_month=200_000, items=30, item_bytes=500),
)  # fmt: skip
def metrics_of_child(*, child: str, since: date | None = None, until: date | None = None) -> None:
    """PC-28: a child's metrics from a day to a day, both included."""


@PARENTAL.query(
    metrics, on=parent_date_index, pk="{parent_email}", sk=between("{since}", "{until}"), descending=True, page=200,
    at_most=1000, load=Load(per_month=100_000, items=60, item_bytes=500),
)  # fmt: skip
def metrics_of_parent(*, parent_email: str, since: date | None = None, until: date | None = None) -> None:
    """PC-29: a parent's metrics, the newest day first."""


@PARENTAL.get(metrics, load=Load(per_month=50_000, item_bytes=500))
def metric_of_day(*, child: str, date: date, app_name: str) -> None:
    """PC-30: one app on one day."""


# --- rules and sessions (PC-35, PC-D36) ---


@PARENTAL.query(
    rules,
    pk="{child}",
    page=100,
    at_most=500,
    consistent=True,
    load=Load(per_second=20, items=5, item_bytes=700),
)
def rules_of_child(*, child: str) -> None:
    """PC-35: the rules of a child, strongly consistent."""


@PARENTAL.query(
    rules, on=device_index, pk="{device_id}", sk=between("{since}", "{until}"), page=100, at_most=500,
    roles=("operator",), load=Load(per_month=50_000, items=100, item_bytes=700),
)  # fmt: skip
def rules_of_device(*, device_id: str, since: datetime | None = None, until: datetime | None = None) -> None:
    """The rules of a device, those that were verified longest ago first."""


@PARENTAL.query(
    rules,
    on=rule_address_index,
    pk="{private_ip}",
    page=100,
    at_most=500,
    load=Load(per_second=5, item_bytes=700),
)
def rules_of_address(*, private_ip: str) -> None:
    """PC-D22: the rules that name an address."""


@PARENTAL.query(
    sessions,
    pk="{child}",
    page=50,
    at_most=100,
    consistent=True,
    load=Load(per_second=20, items=2, item_bytes=400),
)
def sessions_of_child(*, child: str) -> None:
    """The sessions of a child, open and closed."""


@PARENTAL.query(
    sessions, on=session_address_index, pk="{private_ip}", page=20, load=Load(per_second=5, item_bytes=400)
)
def sessions_of_address(*, private_ip: str) -> None:
    """Who has an address now."""


# --- families ---


@PARENTAL.query(
    children,
    on=family_index,
    pk="{family_id}",
    page=50,
    load=Load(per_month=300_000, items=3, item_bytes=400),
)
def children_of_family(*, family_id: str) -> None:
    """The children of a family, those whose number was given up included."""


@PARENTAL.get(children, consistent=True, load=Load(per_second=20, item_bytes=400))
def child_by_key(*, child: str) -> None:
    """One child by the tenure of its number."""


@PARENTAL.query(
    guardians,
    pk="FAMILY#{family_id}",
    sk=begins("GUARDIAN#"),
    consistent=True,
    load=Load(per_month=300_000, items=2),
)
def guardians_of_family(*, family_id: str) -> None:
    """Who belongs to a family."""


@PARENTAL.query(
    families,
    on=list_index,
    pk="FAMILIES",
    page=100,
    roles=("operator",),
    load=Load(per_month=1_000, items=100),
)
def all_families() -> None:
    """Every family, for what is done for each."""


@PARENTAL.query(
    families, on=list_index, pk="FAMILIES", sk=above("{after}"), page=100, at_most=500,
    load=Load(per_month=50_000, items=100),
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
    overrides, pk="CHILD#{child}", sk=begins("OVERRIDE#"), consistent=True, load=Load(per_second=20)
)
def overrides_of_child(*, child: str) -> None:
    """Exceptions that hold, or were over not long ago."""


@PARENTAL.query(uses, on=list_index, pk="USES#{app}", page=100, load=Load(per_month=500, items=1_000))
def uses_of_app(*, app: str) -> None:
    """PC-X15: children with a policy that names an app, or named it not long ago."""


@PARENTAL.query(uses, pk="CHILD#{child}", sk=begins("USE#"), consistent=True, load=Load(per_month=100_000))
def uses_of_child(*, child: str) -> None:
    """The apps that are noted for a child."""


@PARENTAL.query(
    purges, on=list_index, pk="PURGES", sk=between("{since:ms}", "{until:ms}"), page=100,
    load=Load(per_month=50_000, items=1),
)  # fmt: skip
def purges_due(*, since: datetime | None = None, until: datetime | None = None) -> None:
    """PC-D30: deleted policies that go for good up to a moment, the longest due first."""


@PARENTAL.query(
    purges, pk="CHILD#{child}", sk=begins("PURGE#"), consistent=True, load=Load(per_month=100_000)
)
def purges_of_child(*, child: str) -> None:
    """The deleted policies of a child that are still there."""


@PARENTAL.query(
    wakes, on=list_index, pk="WAKES#{child:shard.8}", sk=between("{since:ms}", "{until:ms}"), page=100, at_most=500,
    load=Load(per_second=8, items=1),
)  # fmt: skip
def wakes_due(*, since: datetime | None = None, until: datetime | None = None) -> None:
    """PC-42: for whom what is blocked changes by itself up to a moment, the longest due first."""


@PARENTAL.get(wakes, consistent=True, load=Load(per_second=20, item_bytes=200))
def wake_of_child(*, child: str) -> None:
    """When a child is to be looked at next."""


@PARENTAL.query(
    devices, on=list_index, pk="DEVICES", page=100, roles=("operator",), load=Load(per_month=50_000, items=5)
)
def all_devices() -> None:
    """Every firewall."""


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
    load=Load(per_month=20_000, items=30),
)
def audit_of_family(*, family_id: str) -> None:
    """Who changed or looked at what, newest first."""


@PARENTAL.query(
    quarantine,
    on=list_index,
    pk="QUARANTINE",
    descending=True,
    page=20,
    roles=("operator",),
    load=Load(per_month=500, items=5),
)
def quarantined() -> None:
    """Events nobody knew whose they are."""


PARENTAL.build()
DESIGNS = (PARENTAL,)
