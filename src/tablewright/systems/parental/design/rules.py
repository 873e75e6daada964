"""What is done on firewalls: history, rules, devices; when to look at whom (PC-18 to 24, PC-33 to 37)."""

from datetime import datetime

from tablewright.design import Data, Expires, Keys, Load, Retention, States, between
from tablewright.kit.rounds import add_rounds
from tablewright.systems.parental.design.base import (
    FORMER_RULES_KEPT,
    HISTORY_KEPT,
    PARENTAL,
    RULES_KEPT,
    families_table,
    list_index,
)
from tablewright.systems.parental.model import (
    Action,
    Device,
    FormerRule,
    OpenStatus,
    RuleMapping,
    Wake,
)

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
    # PC-38 names 100 a second as the peak, when a firewall comes back; over a month it is one. Few fail or wait.
    load={"create": Load(per_second=1, item_bytes=600, transaction=True, indexes=())},
)
rules_table = PARENTAL.table(
    "FTDRuleMapping",
    pk="childPhoneNumber",
    sk="ruleId",
    ttl="ttl",
    stream="NEW_AND_OLD_IMAGES",
    followed=True,
    about="Which rule on which device implements which policies. On expiry the rule is removed from the device.",
)
device_index = rules_table.gsi("DeviceIndex", pk="ftdDeviceId", sk="lastVerified")
rule_address_index = rules_table.gsi("PrivateIPIndex", pk="livePrivateIP", sk="createdAt")


def rule_key(child: str, rule_id: str) -> None: ...


_SYSTEM = ("system",)
RULE_STATES = States(
    "status",
    start="pending",
    moves={
        "pending": {"active": _SYSTEM, "failed": _SYSTEM, "removing": _SYSTEM},
        # Missing on the device, or wanted otherwise.
        "active": {"pending": _SYSTEM, "removing": _SYSTEM},
        # Wanted again before it is gone. Once it has left the device, the item is deleted.
        "removing": {"pending": _SYSTEM},
        "failed": {"pending": (*_SYSTEM, "operator"), "removing": _SYSTEM},
        # No code writes `removed`; a rule that has it is claimed like a new one.
        "removed": {"pending": _SYSTEM},
    },
)
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
    states=RULE_STATES,
    expires=Expires("expires_at", RULES_KEPT),
    data={"private_ip": Data.PERSONAL, "live_private_ip": Data.PERSONAL},
    retention=Retention(RULES_KEPT, "a safety net for the removal of rules when a session ends"),
    load={
        "create": Load(per_second=0.5, item_bytes=700),
        "change": Load(per_second=2, item_bytes=700, transaction=True, changes=("last_verified",)),
        "delete": Load(per_second=0.4, item_bytes=700, transaction=True),
    },
)


def former_rule_key(rule_name: str) -> None: ...


former_rules = families_table.entity(
    FormerRule,
    former_rule_key,
    tag="former-rule",
    pk="RULE#{rule_name}",
    sk="FORMER",
    on={list_index: Keys("FORMER#{child}", "{ended_at:ms}#{rule_name}")},
    expires=Expires("ended_at", FORMER_RULES_KEPT),
    data={"private_ip": Data.PERSONAL},
    retention=Retention(FORMER_RULES_KEPT, "to count late reports of a device"),
    load={"put": Load(per_second=0.4, item_bytes=250, transaction=True)},
)


def wake_key(child: str) -> None: ...
def device_key(device_id: str) -> None: ...


wakes = families_table.entity(
    Wake,
    wake_key,
    tag="wake",
    pk="CHILD#{child}",
    sk="WAKE",
    on={list_index: Keys("WAKES#{child:shard.8}", "{at:ms}#{child}")},
    version="version",
    retention=Retention(None, "while a session is open and a change is scheduled"),
    load={
        "create": Load(per_second=0.25, item_bytes=200),
        "change": Load(per_second=1, item_bytes=200, changes=("at",)),
        "delete": Load(per_second=0.25, item_bytes=200),
    },
)
rounds = add_rounds(families_table)
devices = families_table.entity(
    Device,
    device_key,
    tag="device",
    pk="DEVICE#{device_id}",
    sk="DEVICE",
    on={list_index: Keys("DEVICES", "{device_id}")},
    version="version",
    data={"last_error": Data.INTERNAL, "secret_name": Data.INTERNAL},
    retention=Retention(None, "while it is in use"),
    load={"change": Load(per_month=10_000, item_bytes=400)},
)


# --- access patterns ---


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


@PARENTAL.query(
    rules,
    pk="{child}",
    page=100,
    at_most=500,
    consistent=True,
    load=Load(per_second=2, items=5, item_bytes=700),
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
    load=Load(per_second=0.5, item_bytes=700),
)
def rules_of_address(*, private_ip: str) -> None:
    """PC-D22: the rules that name an address."""


@PARENTAL.query(
    former_rules, on=list_index, pk="FORMER#{child}", page=100, load=Load(per_month=10_000, item_bytes=250)
)
def former_rules_of_child(*, child: str) -> None:
    """What is still known of rules a child had."""


@PARENTAL.query(
    wakes, on=list_index, pk="WAKES#{child:shard.8}", sk=between("{since:ms}", "{until:ms}"), page=100, at_most=500,
    load=Load(per_second=1, items=1, item_bytes=200),
)  # fmt: skip
def wakes_due(*, since: datetime | None = None, until: datetime | None = None) -> None:
    """PC-42: children with a scheduled change up to a moment, the longest due first."""


@PARENTAL.get(wakes, consistent=True, load=Load(per_second=2, item_bytes=200))
def wake_of_child(*, child: str) -> None:
    """When a child is to be looked at next."""


@PARENTAL.query(
    devices, on=list_index, pk="DEVICES", page=100, roles=("operator",), load=Load(per_month=50_000, items=5)
)
def all_devices() -> None:
    """Every firewall."""
