"""Campus Cloud's rules: pure functions over values. No clock, no store."""

from datetime import datetime

from tablewright.systems.campus.model import Share, ShareStatus


def share_status(share: Share, now: datetime) -> ShareStatus:
    """What a share is at this moment: expired from its end on, whatever its row says (CC-D10)."""
    if share.status == "revoked":
        return "revoked"
    return "expired" if share.expires_at is not None and share.expires_at <= now else "active"
