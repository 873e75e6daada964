"""Children, policies and exceptions in one line each, for tests of what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from tablewright.systems.parental.model import (
    EVERYTHING,
    App,
    BlockedApp,
    Child,
    IpRange,
    Override,
    OverrideKind,
    Policy,
    PolicyStatus,
    Port,
    Window,
)
from tablewright.systems.parental.policy.windows import parse

PHONE = "+15551234567"
LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)
EVERY_DAY = "MON TUE WED THU FRI SAT SUN"
SCHOOL_DAYS = "MON TUE WED THU FRI"


def utc(text: str) -> datetime:
    """A moment in UTC, written as people do: 2025-10-03 22:00."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def window(times: str, days: str = EVERY_DAY) -> Window:
    """`22:00-06:00`, on the days it begins."""
    start, end = times.split("-")
    return parse({"startTime": start, "endTime": end, "days": days.split()})


def child(timezone: str = "America/New_York", paused_until: datetime | None = None) -> Child:
    return Child(
        child=PHONE,
        phone=PHONE,
        held_phone=PHONE,
        family_id="family-1",
        child_name="Sarah",
        timezone=timezone,
        parent_email="parent@example.com",
        paused_until=paused_until,
        created_at=LONG_AGO,
        updated_at=LONG_AGO,
    )


def policy(
    name: str,
    apps: Sequence[str | BlockedApp],
    *windows: Window,
    status: PolicyStatus = "active",
    timezone: str | None = None,
    paused_until: datetime | None = None,
) -> Policy:
    return Policy(
        child=PHONE,
        policy_id=name,
        child_name="Sarah",
        parent_email="parent@example.com",
        blocked_apps=[BlockedApp(app_name=app) if isinstance(app, str) else app for app in apps],
        time_windows=list(windows),
        status=status,
        timezone=timezone,
        paused_until=paused_until,
        created_at=LONG_AGO,
        updated_at=LONG_AGO,
    )


def override(kind: OverrideKind, app: str, begins: datetime, until: datetime, name: str = "") -> Override:
    return Override(
        child=PHONE,
        override_id=name or f"{kind}-{'everything' if app == EVERYTHING else app}",
        kind=kind,
        app_name=app,
        begins_at=begins,
        until=until,
        by="parent@example.com",
    )


def app(
    name: str = "TikTok",
    domains: Sequence[str] = ("tiktok.com",),
    ports: Sequence[str] = ("443/TCP",),
    ranges: Sequence[str | IpRange] = (),
) -> App:
    return App(
        app_name=name,
        app_category="Social Media",
        default_ports=[port_of(text) for text in ports],
        domains=list(domains),
        ip_ranges=[IpRange(cidr=one) if isinstance(one, str) else one for one in ranges],
        last_updated=LONG_AGO,
    )


def port_of(text: str) -> Port:
    number, protocol = text.split("/")
    return Port.model_validate({"port": int(number), "protocol": protocol})
