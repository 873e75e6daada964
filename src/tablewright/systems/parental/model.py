"""What parental controls keep: families, children, policies, apps, sessions, rules, and what happened.

Plain values that know nothing of storage. Names in JSON and in items are camelCase, as the document's are.
A child is known by its number's tenure: the phone number itself for its first owner, `number~2` for the next family
that proves it, and so on. Everything of a child is kept under that name, so a recycled number shows nothing of before.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from datetime import date as Date
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from tablewright.kit import audit, codes, family, outbox
from tablewright.kit.tasks import Task
from tablewright.systems.parental.policy.destinations import not_enforced

Protocol = Literal["TCP", "UDP"]
Day = Literal["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]
PolicyStatus = Literal["active", "paused", "draft", "deleted"]
ActionKind = Literal["block", "unblock", "verify", "reassign"]
ActionStatus = Literal["success", "failed", "pending"]
OpenStatus = Literal["failed", "pending"]
RuleStatus = Literal["pending", "active", "removing", "removed", "failed"]
OverrideKind = Literal["allow", "block"]
Role = Literal["owner", "guardian"]
Outage = Literal["keep", "open", "closed"]
# What makes something to be blocked or free.
Cause = Literal["policy", "exception", "family", "child", "session", "window", "app", "retry"]
TaskKind = Literal["email", "number", "release", "erase", "family", "guardian"]
# Rules that are, or may be, on a device: the address they name is not free.
LIVE_RULES: tuple[RuleStatus, ...] = ("pending", "active", "removing", "failed")
# The document's name for whose partition an item is in; ours is longer-lived than a number (see above).
CHILD = "childPhoneNumber"
EVERYTHING = "*"


class Value(BaseModel):
    """Frozen, camelCase outside, nothing unknown inside."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid", frozen=True)


def _child() -> Any:
    return Field(alias=CHILD)


# --- families and children ---


class Family(Value):
    """Guardians and children who belong together. `on_outage`: what holds while a device cannot be reached.

    `closes_at`: when it is deleted, if the owner asked for it; `closed_at`: since when that cannot be undone any more.
    """

    family_id: str
    name: str
    allowed_domains: list[str] = []
    on_outage: Outage = "keep"
    alert_after_blocks: int | None = None
    closes_at: datetime | None = None
    closed_at: datetime | None = None
    created_at: datetime
    version: int = 1


class ReportDue(Value):
    """When a family is next to be told of its week."""

    family_id: str
    at: datetime
    version: int = 1


class Guardian(family.Member, Value):
    """A person of a family. `subject` is who the login says they are."""

    subject: str
    email: str
    name: str
    role: Role = "guardian"
    joined_at: datetime


class Invitation(family.Invitation, Value):
    """A place in a family, offered to an address. `invited_by` is a name; `owner` the subject of who offered it."""

    # None: sent before invitations had it, which ends a week later.
    owner: str | None = None
    expires_at: datetime


class Child(Value):
    """A child: its family, number and time zone. `held_phone` is the number until it is released; from `erased_at` on
    there is only what is needed to clean the devices, and no notices are sent.

    `child_id` is random and stays the same when the number changes; children added before there was one have none.
    """

    child: str = _child()
    child_id: str | None = None
    phone: str
    held_phone: str | None
    tenure: int = 1
    family_id: str
    child_name: str
    timezone: str
    parent_email: str
    paused_until: datetime | None = None
    created_at: datetime
    updated_at: datetime
    released_at: datetime | None = None
    erased_at: datetime | None = None
    version: int = 1


class Challenge(codes.Challenge, Value):
    """A code on its way to a number, to prove that a guardian holds it."""

    family_id: str
    phone: str


class Allowance(codes.Allowance, Value):
    """How often something was done in an hour or a day, for the limits of codes."""


class Turn(Value):
    """Taken by each write that adds to something limited: of two writers that counted the same, one succeeds."""

    name: str
    number: int = 0
    expires_at: datetime
    version: int = 1


class FamilyTask(Task):
    """Long work for a family or a child, such as an erasure: each step may be repeated.

    `source` and `target` are the old and the new: addresses of an e-mail change, children of a number change.
    `settles_at`: until then others may still write by what they knew before, so it is looked at once more.
    """

    family_id: str = ""
    child: str = ""
    source: str = ""
    target: str = ""
    actor: str = ""
    settles_at: datetime = datetime(1970, 1, 1, tzinfo=UTC)


# --- policies ---


class Port(Value):
    port: int
    protocol: Protocol = "TCP"


class BlockedApp(Value):
    """An app in a policy; what is given here is added to what the registry says at the time (PC-D18)."""

    app_name: str
    ports: list[Port] = []
    domains: list[str] = []
    ip_ranges: list[str] = []


class Window(Value):
    """A time of day in which a policy is in force, on the days it begins on. `end <= start` ends the day after."""

    start_time: str
    end_time: str
    days: list[Day]


class Policy(Value):
    """What is blocked, and when. No windows means always; `timezone` overrides the child's."""

    child: str = _child()
    policy_id: str
    child_name: str
    parent_email: str
    blocked_apps: list[BlockedApp]
    time_windows: list[Window]
    status: PolicyStatus = "active"
    paused_until: datetime | None = None
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None
    notes: str | None = None
    timezone: str | None = None
    version: int = 1


class AppUse(Value):
    """An app that a policy of a child names, or named: where to look when the app changes.

    It is written before the policy, so none is missed; an outdated one is deleted when it is read. `noted` is
    different each time, so that a concurrent delete cannot remove a newer one.
    """

    child: str = _child()
    app: str
    noted: str


class Purge(Value):
    """When a deleted policy goes for good."""

    child: str = _child()
    policy_id: str
    at: datetime


class Override(Value):
    """For a while and no longer: an app (or `*`, everything) allowed or blocked, whatever the policies say."""

    child: str = _child()
    override_id: str
    kind: OverrideKind
    app_name: str
    begins_at: datetime
    until: datetime
    by: str
    reason: str | None = None


# --- the registry ---


class IpRange(Value):
    """Addresses of an app. Not enforced if other services share them (PC-D10), unless an operator says so. `why` is
    the reason."""

    cidr: str
    enforce: bool = True
    why: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _judge(cls, given: Any) -> Any:
        if not isinstance(given, dict) or "enforce" in given or not isinstance(given.get("cidr"), str):
            return given
        why = not_enforced(given["cidr"])
        return given if why is None else {"why": why, **given, "enforce": False}


class App(Value):
    """A known application: where its traffic goes. `domains` are registrable names, subdomains included (PC-D19)."""

    app_name: str
    app_category: str
    default_ports: list[Port]
    domains: list[str]
    ip_ranges: list[IpRange]
    description: str | None = None
    popularity: int | None = None
    source: str | None = None
    retired: bool = False
    data_version: int = 0
    last_updated: datetime
    version: int = 1


# --- sessions and rules ---


class Session(Value):
    """A device of a child on the network, with the address it has now. `live_private_ip` while it is open.

    `is_clean`: no rule of another child is left for its address; `unclean_since`: when such a rule was found and could
    not be removed. `heartbeat_seconds`: how often it promised to be heard. `address_since`: when it came to its
    address, if that was after it began. One whose end was told before its beginning has no address: "".
    `device_since`: when its firewall was added, for another may be given the same name later.
    """

    child: str = _child()
    session_id: str
    private_ip: str = Field(alias="privateIP")
    live_private_ip: str | None = Field(default=None, alias="livePrivateIP")
    device_id: str
    device_since: datetime | None = None
    started_at: datetime
    address_since: datetime | None = None
    last_seen_at: datetime
    ended_at: datetime | None = None
    expires_at: datetime
    is_clean: bool = True
    unclean_since: datetime | None = None
    heartbeat_seconds: int | None = None
    version: int = 1


class AddressStay(Value):
    """A session had an address from a moment to another, and has left it: what was stopped then is told of later."""

    child: str = _child()
    session_id: str
    private_ip: str = Field(alias="privateIP")
    device_id: str
    since: datetime
    until: datetime


class RuleMapping(Value):
    """Which rule on which device blocks which app for which address, and which policies want it.

    Written before the device is asked (the claim) and deleted after it has confirmed the removal. `confirmed_at`: when
    the device confirmed the rule as it is.
    """

    child: str = _child()
    rule_id: str
    rule_name: str
    private_ip: str = Field(alias="privateIP")
    live_private_ip: str | None = Field(default=None, alias="livePrivateIP")
    app_name: str
    policy_ids: list[str]
    ftd_device_id: str
    access_policy_id: str
    device_rule_id: str | None = None
    session_id: str
    digest: str
    status: RuleStatus = "pending"
    attempt: int = 0
    next_try_at: datetime | None = None
    error: str | None = None
    failing_since: datetime | None = None
    created_at: datetime
    confirmed_at: datetime | None = None
    last_verified: datetime
    expires_at: datetime
    version: int = 1

    def moved(self, **changes: Any) -> "RuleMapping":
        """Changed, with the index key that follows from it."""
        after = self.model_copy(update=changes)
        live = after.private_ip if after.status in LIVE_RULES else None
        return after.model_copy(update={"live_private_ip": live})


class FormerRule(Value):
    """A rule that has left its device, and whose it was: what it stopped may be told of later than that."""

    child: str = _child()
    rule_name: str
    private_ip: str = Field(alias="privateIP")
    app_name: str
    ended_at: datetime


class Action(Value):
    """One attempt to change a device, as it went. `status_key` while it is not a success, for the operators' list."""

    child: str = _child()
    occurred_at: datetime
    action_id: str
    action: ActionKind
    app_name: str
    private_ip: str = Field(alias="privateIP")
    rule_id: str | None = None
    policy_ids: list[str] = []
    status: ActionStatus
    status_key: OpenStatus | None = None
    error_message: str | None = None
    ftd_response: Mapping[str, str] = {}
    applied: Mapping[str, list[str]] = {}
    duration_ms: int = Field(default=0, alias="duration_ms")
    attempt: int = 1


class Wake(Value):
    """When a child is due for a check, and why."""

    child: str = _child()
    at: datetime
    cause: Cause = "window"
    version: int = 1


# --- metrics ---


class Metric(Value):
    """How often an app was blocked on a day of the child's own clock."""

    child: str = _child()
    date: Date
    app_name: str
    parent_email: str
    blocked_count: int = 0
    hourly: dict[str, int] = {}
    timestamp_first: datetime | None = None
    timestamp_last: datetime | None = None
    tz: str
    kept_until: datetime


class Receipt(Value):
    """A part of a batch that was counted, and a digest of what was in it."""

    batch_id: str
    digest: str = ""
    received_at: datetime
    expires_at: datetime


class Quarantined(Value):
    """Events of an unknown address or number: kept, not dropped (PC-D33)."""

    quarantine_id: str
    day: str
    reason: str
    events: list[dict[str, str]]
    expires_at: datetime


# --- devices, messages, audit ---


class DnsGuard(Value):
    """What a gateway does besides rules. `safe` networks are never blocked; of the `guarded` ones every question for a
    name is answered by the gateway, whomever it was sent to; `refuses_encrypted_dns` leaves them no other way to ask.
    """

    safe: list[str] = []
    guarded: list[str] = []
    refuses_encrypted_dns: bool = False


class Device(Value):
    """A firewall. `kind` names the driver; secrets are referred to, not kept. `guard_kept`: the guard it was last told
    of; until that is `guard`, that one is not in force. `leaving_at`: since when it is being removed, for good.
    """

    device_id: str
    kind: Literal["simulated", "nftables", "cisco_fmc"]
    name: str
    address: str = ""
    access_policy_id: str
    secret_name: str | None = None
    guard: DnsGuard = DnsGuard()
    guard_kept: DnsGuard | None = None
    enabled: bool = True
    added_at: datetime | None = None
    leaving_at: datetime | None = None
    breaker_until: datetime | None = None
    failures: int = 0
    last_error: str | None = None
    last_ok_at: datetime | None = None
    version: int = 1


class Message(outbox.Message, Value):
    """A mail or text message in the outbox; `children` are the keys of those it is about."""

    family_id: str
    children: list[str] = Field(default_factory=list)


class AuditEntry(audit.AuditEntry, Value):
    """Who changed or viewed what of a family, when and why."""

    family_id: str
    subject: str
