"""Campus Cloud's rules: pure functions over values. No clock, no store."""

from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from tablewright.systems.campus.model import Share, ShareStatus


def share_status(share: Share, now: datetime) -> ShareStatus:
    """What a share is at this moment: expired from its end on, whatever its row says (CC-D10)."""
    if share.status == "revoked":
        return "revoked"
    return "expired" if share.expires_at is not None and share.expires_at <= now else "active"


def end_of_day(day: date, zone: str) -> datetime:
    """The last second of a day where the viewer is (CC-X16)."""
    return datetime.combine(day, time(23, 59, 59), ZoneInfo(zone)).astimezone(UTC)
