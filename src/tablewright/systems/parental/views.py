"""What the API takes and gives, as models: inputs with only what a caller may set, outputs with what was computed."""

import json
import re
from contextlib import suppress
from dataclasses import asdict
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationInfo, model_validator
from pydantic.alias_generators import to_camel

from tablewright.systems.parental.errors import BadRequest
from tablewright.systems.parental.evaluator import Effective, Span, Why
from tablewright.systems.parental.events import Batch, Event
from tablewright.systems.parental.figures import Dashboard
from tablewright.systems.parental.ingest import Counted
from tablewright.systems.parental.model import (
    Action,
    BlockedApp,
    Child,
    Device,
    Errand,
    Family,
    Guardian,
    Invitation,
    IpRange,
    Outage,
    OverrideKind,
    Policy,
    PolicyStatus,
    Port,
    Role,
    RuleMapping,
    RuleStatus,
    Value,
    Window,
)
from tablewright.systems.parental.planning import AppStatus
from tablewright.systems.parental.policies import Draft, Saved, WrittenStatus
from tablewright.systems.parental.rules import masked

T = TypeVar("T", bound=BaseModel)


# --- dates and times ---


def day_of(value: Any, field: str) -> date | None:
    """A date as people write it; nothing else that could be taken for one, such as a number of seconds."""
    if value is None or isinstance(value, date):
        return value
    if isinstance(value, str) and re.fullmatch(r"(?a:\d{4}-\d\d-\d\d)", value):
        with suppress(ValueError):
            return date.fromisoformat(value)
    raise BadRequest("INVALID_DATE", f"{field} must be a date such as 2030-06-01.", field)


def moment_of(value: Any, field: str) -> datetime | None:
    """A time with its zone; INVALID_DATE if it is none."""
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, str):
        with suppress(ValueError):
            found = datetime.fromisoformat(value)
            if found.tzinfo is not None and 2000 <= found.year < 9000:
                return found
    words = f"{field} must be a time with its zone, such as 2030-06-01T00:00:00Z."
    raise BadRequest("INVALID_DATE", words, field)


def _moment(value: Any, info: ValidationInfo) -> datetime | None:
    return moment_of(value, to_camel(info.field_name or "time"))


Moment = Annotated[datetime | None, BeforeValidator(_moment)]


# --- bodies ---


class Body(Value):
    """What a caller sends. Half a surrogate pair passes for text in JSON, but no store or answer can carry it."""

    @model_validator(mode="before")
    @classmethod
    def _is_text(cls, sent: Any) -> Any:
        try:
            json.dumps(sent, ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError:
            raise ValueError("must be text that UTF-8 can carry") from None
        return sent

    def changes(self) -> dict[str, Any]:
        """The fields that were sent, by our names; the version says only what they rest on."""
        return {name: getattr(self, name) for name in self.model_fields_set if name != "version"}


class Page(Value, Generic[T]):
    """Some of a list; `startAt` asks for the next."""

    items: list[T]
    more_available: bool
    start_at: str | None = None


# --- families ---


class NewFamily(Body):
    name: str
    guardian_name: str = ""


class FamilyChange(Body):
    """What is not sent stays as it is."""

    name: str = ""
    allowed_domains: list[str] = Field(default_factory=list)
    on_outage: Outage = "keep"
    alert_after_blocks: int | None = None
    version: int | None = None


class FamilyView(Family):
    """A family with who belongs to it."""

    guardians: list[Guardian] = Field(default_factory=list)
    my_role: Role | None = None


def family_view(family: Family, guardians: list[Guardian], subject: str) -> FamilyView:
    mine = next((guardian.role for guardian in guardians if guardian.subject == subject), None)
    return FamilyView(**family.__dict__, guardians=guardians, my_role=mine)


class NewInvitation(Body):
    email: str = Field(max_length=320)


class Acceptance(Body):
    guardian_name: str = ""


class Me(Value):
    """Who is asking, their families, and where they are invited to."""

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
    """What is not sent stays as it is; `pausedUntil: null` ends a pause."""

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
    """A child as its family sees it. `child` is its own name, which stays when the number goes to somebody else."""

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
    names = set(ChildView.model_fields) & set(Child.model_fields)
    return ChildView(**{name: getattr(child, name) for name in names}, phone_number=child.phone)


class Erasing(Value):
    """How far an erasure is: what it waits for, and when it is looked at for the last time."""

    waits_for: str | None = None
    finished_after: datetime
    backups: str


def erasing(errand: Errand, backups: str) -> Erasing:
    return Erasing(waits_for=errand.waits_for, finished_after=errand.settles_at, backups=backups)


# --- policies ---


class NewPolicy(Body):
    """Windows are read one by one, so that a mistake names its own field."""

    blocked_apps: list[BlockedApp]
    time_windows: list[dict[str, Any]] = Field(default_factory=list)
    status: WrittenStatus = "active"
    timezone: str | None = None
    notes: str | None = None

    def draft(self) -> Draft:
        return Draft(self.blocked_apps, self.time_windows, self.status, self.timezone, self.notes)


class PolicyChange(NewPolicy):
    """A policy as it shall be; `version` is the one that was read (or If-Match says it)."""

    version: int | None = None


class NoticeView(Value):
    code: str
    field: str
    message: str


class PolicyView(Value):
    """A policy as its family sees it."""

    policy_id: str
    child: str
    child_name: str
    blocked_apps: list[BlockedApp]
    time_windows: list[Window]
    status: PolicyStatus
    paused_until: datetime | None = None
    timezone: str | None = None
    notes: str | None = None
    created_at: datetime
    updated_at: datetime
    version: int
    notices: list[NoticeView] = Field(default_factory=list)


def policy_view(policy: Policy) -> PolicyView:
    names = set(PolicyView.model_fields) & set(Policy.model_fields)
    return PolicyView(**{name: getattr(policy, name) for name in names})


def saved_view(saved: Saved) -> PolicyView:
    notices = [NoticeView(code=one.code, field=one.field, message=one.message) for one in saved.notices]
    return policy_view(saved.policy).model_copy(update={"notices": notices})


class Pause(Body):
    until: Moment = None
    version: int | None = None


class Resume(Body):
    version: int | None = None


class NewOverride(Body):
    """Until a time, or for so many minutes; `*` is everything."""

    kind: OverrideKind
    app_name: str
    minutes: int | None = Field(None, ge=1, le=7 * 24 * 60)
    until: Moment = None
    begins_at: Moment = None
    reason: str | None = None

    def end(self, now: datetime) -> datetime:
        if (self.minutes is None) == (self.until is None):
            raise BadRequest("INVALID_TIME", "Say either for how many minutes, or until when.", "until")
        begin = max(self.begins_at or now, now)
        return self.until or begin + timedelta(minutes=self.minutes or 0)


# --- what holds ---


class BlockedNow(Value):
    """An app that is blocked, what blocks it, and whether that is so on the network."""

    app_name: str
    policy_ids: list[str]
    override_id: str | None = None
    enforcement: str | None = None
    reason: str | None = None


class EffectiveView(Value):
    """What is blocked at a moment, and when another set of apps is."""

    at: datetime
    everything: bool
    blocked: list[BlockedNow]
    allowed: list[str]
    next_change: datetime | None = None
    blocked_then: list[str] | None = None


def blocked_now(app: str, why: Why, status: AppStatus | None) -> BlockedNow:
    return BlockedNow(
        app_name=app,
        policy_ids=list(why.policy_ids),
        override_id=why.override_id,
        enforcement=status.state if status else None,
        reason=(status.reason or None) if status else None,
    )


def effective_view(now: Effective, then: Effective | None, blocked: list[BlockedNow]) -> EffectiveView:
    return EffectiveView(
        at=now.at,
        everything=now.everything,
        blocked=blocked,
        allowed=list(now.allowed),
        next_change=then.at if then is not None else None,
        blocked_then=sorted(then.blocked) if then is not None else None,
    )


class SpanView(Value):
    """An app is blocked from a moment up to another."""

    start: datetime
    end: datetime
    app_name: str
    policy_ids: list[str]
    override_id: str | None = None


def span_view(span: Span) -> SpanView:
    return SpanView(
        start=span.start,
        end=span.end,
        app_name=span.app,
        policy_ids=list(span.why.policy_ids),
        override_id=span.why.override_id,
    )


# --- what happened ---


class ActionView(Value):
    """One attempt to change a device, as its family sees it."""

    action_id: str
    occurred_at: datetime
    action: str
    app_name: str
    status: str
    error_message: str | None = None
    private_ip: str = Field(alias="privateIP")
    rule_id: str | None = None
    policy_ids: list[str] = Field(default_factory=list)
    attempt: int
    duration_ms: int = Field(alias="duration_ms")


def action_view(action: Action) -> ActionView:
    return ActionView(**{name: getattr(action, name) for name in ActionView.model_fields})


class FailureView(ActionView):
    """What failed, for operators: they need not know whose it is."""

    failure_id: str
    child: str
    device_id: str | None = None


def failure_view(action: Action) -> FailureView:
    return FailureView(
        **{name: getattr(action, name) for name in ActionView.model_fields},
        failure_id=failure_id(action),
        child=masked(action.child),
        device_id=action.ftd_response.get("deviceId"),
    )


def failure_id(action: Action) -> str:
    """Where a failure stands in the list, without whose it is."""
    return f"{int(action.occurred_at.timestamp() * 1000):x}.{action.action_id}"


class RuleView(Value):
    """A rule as it is, or should be, on a device. It names nobody."""

    rule_id: str
    rule_name: str
    app_name: str
    private_ip: str = Field(alias="privateIP")
    ftd_device_id: str
    device_rule_id: str | None = None
    status: RuleStatus
    policy_ids: list[str]
    attempt: int
    next_try_at: datetime | None = None
    error: str | None = None
    created_at: datetime
    last_verified: datetime


def rule_view(rule: RuleMapping) -> RuleView:
    return RuleView(**{name: getattr(rule, name) for name in RuleView.model_fields})


class StatusView(Value):
    """Whether an app is really blocked. `wanted` is false for what shall be free and is blocked still."""

    app_name: str
    state: str
    wanted: bool
    reason: str | None = None
    policy_ids: list[str]
    since: datetime | None = None


def status_view(status: AppStatus) -> StatusView:
    return StatusView(
        app_name=status.app,
        state=status.state,
        wanted=status.wanted,
        reason=status.reason or None,
        policy_ids=list(status.policy_ids),
        since=status.since,
    )


def dashboard_view(figures: Dashboard) -> dict[str, Any]:
    """The figures of a child by the names of the API."""
    found: dict[str, Any] = _camel(asdict(figures))
    return found


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {to_camel(name): _camel(part) for name, part in value.items()}
    return [_camel(part) for part in value] if isinstance(value, list | tuple) else value


# --- operators and the network ---


class AppBody(Body):
    """An app as it shall be. A range may be text, or `{cidr, enforce}` with the operator's own word."""

    app_category: str
    default_ports: list[Port] = Field(default_factory=list)
    domains: list[str] = Field(default_factory=list)
    ip_ranges: list[str | IpRange] = Field(default_factory=list)
    description: str | None = None
    popularity: int | None = None
    source: str | None = None
    retired: bool = False
    version: int | None = None

    def fields(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude={"version"}, exclude_unset=True)


class NewDevice(Body):
    device_id: str = Field(min_length=1, max_length=80)
    kind: Literal["simulated", "nftables", "cisco_fmc"]
    name: str = Field(min_length=1, max_length=80)
    address: str = ""
    access_policy_id: str = ""
    secret_name: str | None = None

    def device(self) -> Device:
        return Device(**{name: getattr(self, name) for name in type(self).model_fields})


class DeviceChange(Body):
    """What is not sent stays as it is."""

    name: str = Field("", min_length=1, max_length=80)
    address: str = ""
    access_policy_id: str = ""
    secret_name: str | None = None
    enabled: bool = True
    version: int | None = None


class SessionEvent(Body):
    """A device of a child came, moved, is still there, or went."""

    event_id: str | None = Field(None, min_length=1, max_length=200)
    kind: Literal["start", "update-ip", "heartbeat", "stop"]
    phone_number: str = Field(max_length=40)
    session_id: str = Field(max_length=200)
    private_ip: str | None = Field(None, alias="privateIP", max_length=64)
    device_id: str | None = Field(None, max_length=80)
    at: Moment = None
    heartbeat_seconds: int | None = None


class BatchBody(Body):
    """What firewalls stopped, delivered together. The same batch has the same id however often it comes."""

    batch_id: str
    events: list[Event]

    def batch(self) -> Batch:
        return Batch(self.batch_id, self.events)


def counted_view(counted: Counted) -> dict[str, int]:
    """What became of a batch, in blocked requests."""
    return {
        "counted": counted.counted, "repeated": counted.repeated, "quarantined": counted.quarantined
    }  # fmt: skip


def shown(item: BaseModel) -> dict[str, Any]:
    """A record as its family sees it, for an answer that carries one beside an error."""
    view = item
    if isinstance(item, Policy):
        view = policy_view(item)
    elif isinstance(item, Child):
        view = child_view(item)
    return view.model_dump(mode="json", by_alias=True, exclude_none=True)
