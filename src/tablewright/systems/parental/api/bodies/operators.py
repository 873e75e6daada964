"""Requests and responses about apps, devices and events of the network."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from tablewright.kit.http import Body, Moment, view_of
from tablewright.systems.parental.blocked.events import Batch, Event
from tablewright.systems.parental.blocked.ingest import Counted
from tablewright.systems.parental.field_rules import masked
from tablewright.systems.parental.firewall.removal import RemovalPlan
from tablewright.systems.parental.model import Device, DnsGuard, IpRange, Port, Quarantined, Value


class AppBody(Body):
    """The new state of an app: without ports, all ports. A range may be text, or `{cidr, enforce}` with the
    operator's own decision."""

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
        # What was not said of a range stays unsaid: `enforce` is then ours to judge.
        sent = self.model_dump(mode="json", by_alias=True, exclude={"version"}, exclude_unset=True)
        return {"defaultPorts": [], "domains": [], "ipRanges": [], **sent}


class NewDevice(Body):
    device_id: str = Field(min_length=1, max_length=80)
    kind: Literal["simulated", "nftables", "cisco_fmc"]
    name: str = Field(min_length=1, max_length=80)
    address: str = ""
    access_policy_id: str = ""
    secret_name: str | None = None

    def device(self) -> Device:
        return Device(**dict(self))


class DeviceChange(Body):
    """Fields that are not sent stay unchanged."""

    name: str = Field("", min_length=1, max_length=80)
    address: str = ""
    access_policy_id: str = ""
    secret_name: str | None = None
    guard: DnsGuard = DnsGuard()
    enabled: bool = True
    version: int | None = None


class Removal(Value):
    """What removing a device means. `rulesLeft`: rules it may still have; `rulesWaiting`: rules not sent to it yet; of
    how many children, and for how many sessions."""

    rules_left: int
    rules_waiting: int
    children: int
    sessions: int


def removal_view(plan: RemovalPlan) -> Removal:
    return Removal(
        rules_left=plan.left, rules_waiting=plan.waiting, children=plan.children, sessions=plan.sessions
    )


class SessionEvent(Body):
    """A session of a child's device started, moved, continues or ended."""

    event_id: str | None = Field(None, min_length=1, max_length=200)
    kind: Literal["start", "update-ip", "heartbeat", "stop"]
    phone_number: str = Field(max_length=40)
    session_id: str = Field(max_length=200)
    private_ip: str | None = Field(None, alias="privateIP", max_length=64)
    device_id: str | None = Field(None, max_length=80)
    at: Moment = None
    heartbeat_seconds: int | None = None


class BatchBody(Body):
    """Blocked requests from firewalls in one delivery. A repeated delivery has the same id."""

    batch_id: str
    events: list[Event]

    def batch(self) -> Batch:
        return Batch(self.batch_id, self.events)


class QuarantineView(Value):
    """Blocked events that could not be counted, and why. Only the last digits of a number are returned."""

    quarantine_id: str
    day: str
    reason: str
    events: list[dict[str, str]]
    expires_at: datetime


def quarantine_view(kept: Quarantined) -> QuarantineView:
    return view_of(QuarantineView, kept, events=[_masked(event) for event in kept.events])


def _masked(event: dict[str, str]) -> dict[str, str]:
    return {name: masked(text) if name == "phoneNumber" else text for name, text in event.items()}


def counted_view(counted: Counted) -> dict[str, int]:
    """The result of a batch, in blocked requests."""
    return {name: getattr(counted, name) for name in ("counted", "repeated", "quarantined")}
