"""Requests and responses about policies, exceptions and what is blocked."""

from datetime import datetime, timedelta
from typing import Any

from pydantic import Field

from tablewright.edge.errors import BadRequest
from tablewright.kit.http import Body, Moment, view_of
from tablewright.systems.parental.enforcement.plan import AppStatus
from tablewright.systems.parental.model import BlockedApp, OverrideKind, Policy, PolicyStatus, Value, Window
from tablewright.systems.parental.policy.effective import Effective, Span, Why
from tablewright.systems.parental.policy.policies import Draft, Saved, WrittenStatus

# --- policies ---


class NewPolicy(Body):
    """Windows are read one by one, so that an error names its own field."""

    blocked_apps: list[BlockedApp]
    time_windows: list[dict[str, Any]] = Field(default_factory=list)
    status: WrittenStatus = "active"
    timezone: str | None = None
    notes: str | None = None

    def draft(self) -> Draft:
        return Draft(self.blocked_apps, self.time_windows, self.status, self.timezone, self.notes)


class PolicyChange(NewPolicy):
    """The new state of a policy; `version` is the one that was read (or use If-Match)."""

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
    return view_of(PolicyView, policy)


def saved_view(saved: Saved) -> PolicyView:
    return view_of(PolicyView, saved.policy, notices=[view_of(NoticeView, one) for one in saved.notices])


class Pause(Body):
    until: Moment = None
    version: int | None = None


class Resume(Body):
    version: int | None = None


class NewOverride(Body):
    """Until a time, or for a number of minutes; `*` is everything."""

    kind: OverrideKind
    app_name: str
    minutes: int | None = Field(None, ge=1, le=7 * 24 * 60)
    until: Moment = None
    begins_at: Moment = None
    reason: str | None = None

    def end(self) -> datetime | timedelta:
        """When it ends, or how long after its start."""
        if (self.minutes is None) == (self.until is None):
            raise BadRequest("INVALID_TIME", "Give either the minutes or the end, not both.", "until")
        return self.until or timedelta(minutes=self.minutes or 0)


# --- what holds ---


class BlockedNow(Value):
    """An app that is blocked: the cause, the state on the network, and what of it is not blocked."""

    app_name: str
    policy_ids: list[str]
    override_id: str | None = None
    enforcement: str | None = None
    reason: str | None = None
    not_enforced: list[str] = Field(default_factory=list)


class EffectiveView(Value):
    """What is blocked at a moment, and the next change."""

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
        not_enforced=list(status.unmet) if status else [],
    )


def effective_view(now: Effective, then: Effective | None, blocked: list[BlockedNow]) -> EffectiveView:
    return view_of(
        EffectiveView,
        now,
        blocked=blocked,
        allowed=list(now.allowed),
        next_change=then.at if then is not None else None,
        blocked_then=sorted(then.blocked) if then is not None else None,
    )


class SpanView(Value):
    """An app is blocked between two moments."""

    start: datetime
    end: datetime
    app_name: str
    policy_ids: list[str]
    override_id: str | None = None


def span_view(span: Span) -> SpanView:
    why = span.why
    return view_of(
        SpanView, span, app_name=span.app, policy_ids=list(why.policy_ids), override_id=why.override_id
    )
