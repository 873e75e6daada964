"""What parents write, and the registry: policies, exceptions, who names which app (PC-1 to PC-17)."""

from datetime import datetime, timedelta

from tablewright.design import Data, Expires, Keys, Load, Retention, States, begins, between
from tablewright.systems.parental.design.base import PARENTAL, families_table, list_index
from tablewright.systems.parental.model import App, AppUse, Override, Policy, Purge

policies_table = PARENTAL.table(
    "ParentalPolicies",
    pk="childPhoneNumber",
    sk="policyId",
    stream="NEW_AND_OLD_IMAGES",
    followed=True,
    about="Parents' rules: apps and time windows, for a child.",
)
parent_email_index = policies_table.gsi("ParentEmailIndex", pk="parentEmail", sk="createdAt")


def policy_key(child: str, policy_id: str) -> None: ...


_PARENT = ("parent",)
POLICY_STATES = States(
    "status",
    start="active",
    moves={
        "active": {"paused": _PARENT, "draft": _PARENT, "deleted": _PARENT},
        "paused": {"active": _PARENT, "draft": _PARENT, "deleted": _PARENT},
        "draft": {"active": _PARENT, "paused": _PARENT, "deleted": _PARENT},
    },
)
policies = policies_table.entity(
    Policy,
    policy_key,
    tag="policy",
    pk="{child}",
    sk="{policy_id}",
    on={parent_email_index: Keys("{parent_email}", "{created_at}")},
    version="version",
    states=POLICY_STATES,
    immutable=("created_at",),
    data={"child_name": Data.PERSONAL, "parent_email": Data.PERSONAL, "notes": Data.PERSONAL},
    retention=Retention(None, "while the family wants it; 30 days after it was deleted"),
    load={
        "create": Load(per_month=20_000, item_bytes=1_500, once=True),
        "change": Load(per_month=100_000, item_bytes=1_500, once=True, changes=("updated_at",)),
    },
)
apps_table = PARENTAL.table(
    "ApplicationRegistry",
    pk="appName",
    stream="NEW_AND_OLD_IMAGES",
    followed=True,
    whole=True,
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
    load={
        "create": Load(per_month=10, item_bytes=600, transaction=True),
        "change": Load(per_month=100, item_bytes=600, transaction=True),
    },
)


def override_key(child: str, override_id: str) -> None: ...
def use_key(child: str, app: str) -> None: ...
def purge_key(child: str, policy_id: str) -> None: ...


overrides = families_table.entity(
    Override,
    override_key,
    tag="override",
    pk="CHILD#{child}",
    sk="OVERRIDE#{override_id}",
    expires=Expires("until", timedelta(days=1)),
    retention=Retention(timedelta(days=1), "until it ends, and a day longer to be seen"),
    load={"create": Load(per_month=50_000, item_bytes=250, once=True)},
)
uses = families_table.entity(
    AppUse,
    use_key,
    tag="app_use",
    pk="CHILD#{child}",
    sk="USE#{app}",
    on={list_index: Keys("USES#{app}", "{child}")},
    retention=Retention(None, "while a policy of the child names the app"),
    load={"put": Load(per_month=100_000, item_bytes=200, new=0.4)},
)
purges = families_table.entity(
    Purge,
    purge_key,
    tag="purge",
    pk="CHILD#{child}",
    sk="PURGE#{policy_id}",
    on={list_index: Keys("PURGES", "{at:ms}#{child}#{policy_id}")},
    retention=Retention(None, "until the policy is purged"),
    load={
        "create": Load(per_month=10_000, item_bytes=200, transaction=True),
        "delete": Load(per_month=10_000, item_bytes=200),
    },
)


# --- access patterns ---


@PARENTAL.query(
    policies,
    pk="{child}",
    page=50,
    at_most=100,
    consistent=True,
    load=Load(per_second=2, items=4, item_bytes=1_500),
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


@PARENTAL.get(apps, consistent=True, load=Load(per_month=10_000, item_bytes=600))
def app_by_name(*, app_name: str) -> None:
    """PC-15: one app."""


@PARENTAL.query(
    overrides,
    pk="CHILD#{child}",
    sk=begins("OVERRIDE#"),
    consistent=True,
    load=Load(per_second=2, item_bytes=250),
)
def overrides_of_child(*, child: str) -> None:
    """Exceptions that hold, or were over not long ago."""


@PARENTAL.query(
    uses, on=list_index, pk="USES#{app}", page=100, load=Load(per_month=500, items=1_000, item_bytes=200)
)
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
