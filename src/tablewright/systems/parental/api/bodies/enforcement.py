"""Responses about actions, failures, rules and states."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from pydantic import Field
from pydantic.alias_generators import to_camel

from tablewright.kit.http import view_of
from tablewright.systems.parental.blocked.dashboard import Dashboard
from tablewright.systems.parental.enforcement.plan import AppStatus
from tablewright.systems.parental.field_rules import masked
from tablewright.systems.parental.model import Action, RuleMapping, RuleStatus, Value


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
    return view_of(ActionView, action)


class FailureView(ActionView):
    """A failure for operators, without the child."""

    failure_id: str
    child: str
    device_id: str | None = None


def failure_view(action: Action) -> FailureView:
    device_id = action.ftd_response.get("deviceId")
    return view_of(
        FailureView, action, failure_id=failure_id(action), child=masked(action.child), device_id=device_id
    )


def failure_id(action: Action) -> str:
    """The key of a failure in the list, without the child."""
    return f"{int(action.occurred_at.timestamp() * 1000):x}.{action.action_id}"


class RuleView(Value):
    """A rule as it is, or should be, on a device. It does not identify a child."""

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
    return view_of(RuleView, rule)


class StatusView(Value):
    """Whether an app is really blocked. `wanted` is false for an app that should be unblocked but is still blocked."""

    app_name: str
    state: str
    wanted: bool
    reason: str | None = None
    policy_ids: list[str]
    since: datetime | None = None


def status_view(status: AppStatus) -> StatusView:
    reason, policies = status.reason or None, list(status.policy_ids)
    return view_of(StatusView, status, app_name=status.app, reason=reason, policy_ids=policies)


def dashboard_view(figures: Dashboard) -> dict[str, Any]:
    """The figures of a child by the names of the API."""
    found: dict[str, Any] = _camel(asdict(figures))
    return found


def _camel(value: Any) -> Any:
    if isinstance(value, dict):
        return {to_camel(name): _camel(part) for name, part in value.items()}
    return [_camel(part) for part in value] if isinstance(value, list | tuple) else value
