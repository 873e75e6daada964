"""A month of history for the children of the demo: blocked attempts and firewall actions. Pure.

Must hold: nothing is random; the same child and span give the same past.
"""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from tablewright.systems.parental.blocked.events import Event
from tablewright.systems.parental.model import EVERYTHING, Action, ActionKind, Child
from tablewright.systems.parental.policy.effective import Span


def attempts(child: Child, eager: int, spans: Sequence[Span]) -> Iterator[Event]:
    """How often a child tried what was blocked: more at first, in the evening and at the weekend."""
    zone = ZoneInfo(child.timezone)
    for span in spans:
        if span.app == EVERYTHING:
            continue
        hour = span.start.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        while hour < span.end:
            local = hour.astimezone(zone)
            # Asleep, mostly.
            awake = 6 <= local.hour < 24
            chance = drawn(child.child, span.app, hour.isoformat())
            count = chance * eager * (2 if local.weekday() >= 5 else 1) // 100
            if awake and chance > 55 and count:
                at = hour + timedelta(minutes=chance % 50)
                if at < span.end:
                    yield Event(at=at, app_name=span.app, phone_number=child.phone, count=count)
            hour += timedelta(hours=1)


def actions(
    child: Child, address: str, device: tuple[str, str], span: Span, since: datetime, until: datetime
) -> Iterator[Action]:
    """The firewall actions at both ends of a span; some took two attempts."""
    edges: tuple[tuple[ActionKind, datetime], ...] = (("block", span.start), ("unblock", span.end))
    for kind, moment in edges:
        # Only edges within the month.
        if moment <= since or moment >= until:
            continue
        chance = drawn(child.child, span.app, kind, moment.isoformat())
        tries = 2 if chance > 95 else 1
        for attempt in range(1, tries + 1):
            at = (moment + timedelta(seconds=2 * attempt - 1)).astimezone(UTC).replace(microsecond=0)
            is_last = attempt == tries
            yield Action(
                child=child.child,
                occurred_at=at,
                action_id=id_of(child.child, span.app, kind, at.isoformat()),
                action=kind,
                app_name=span.app,
                privateIP=address,
                rule_id=f"ftd_rule_{id_of(child.child, span.app)[:8]}",
                policy_ids=list(span.why.policy_ids),
                status="success" if is_last else "failed",
                error_message=None if is_last else "the device did not answer in time",
                ftd_response={"deviceId": device[0], "ruleId": device[1]} if is_last else {},
                duration_ms=180 + 4 * chance,
                attempt=attempt,
            )


# --- reproducible choices ---


def drawn(*parts: str) -> int:
    """0 to 99, the same for the same parts."""
    return int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest()[:4], "big") % 100


def id_of(*parts: str) -> str:
    """The same id for the same parts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:26]
