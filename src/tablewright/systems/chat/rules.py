"""Zoo chat's rules: pure functions over values. No clock, no store.

Elsewhere: limits that a parent sets (family/limits.py), the published policy (family/retention.py).
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

from tablewright.systems.chat.model import RetentionClass

# ZC-22, with the conflicts of the document resolved (ZC-D12).
RETENTION_DAYS: Mapping[RetentionClass, int] = MappingProxyType(
    {
        "active_conversation": 30,
        "educational_progress": 90,
        "completed_session": 90,
        "completed_program": 180,
        "context_summary": 180,
        "parent_access_logs": 90,
        "audit_log": 365,
    }
)
# A header is written with the ttl of a day ahead, so that not every message changes it in all indexes.
HEADER_AHEAD = timedelta(days=1)
BATCH = 20
LEAST_IDLE_BATCH = 4
IDLE = timedelta(minutes=5)
# An item that has expired and is still there after so long is deleted by us (ZC-D30).
OVERDUE = timedelta(hours=72)
# Archived if there was no message for so long (ZC-20).
STALE = timedelta(days=14)
# The end of the id of a conversation whose messages are in ten partitions (ZC-66).
SPREAD = ".10"
# Of a text in an item; a longer one is an object (ZC-X19). Sealing adds a third.
MOST_ITEM_TEXT = 250_000
MICROSECOND = timedelta(microseconds=1)
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


@dataclass(frozen=True, slots=True)
class RetentionPeriods:
    """How long each class is kept: the defaults, or fewer days where an operator says so."""

    fewer: Mapping[RetentionClass, int] = field(default_factory=dict)

    def days(self, kept_as: RetentionClass) -> int:
        return min(RETENTION_DAYS[kept_as], self.fewer.get(kept_as, RETENTION_DAYS[kept_as]))

    def until(self, kept_as: RetentionClass, since: datetime) -> datetime:
        """When something expires whose time began at a moment (ZC-23)."""
        until = since.astimezone(UTC) + timedelta(days=self.days(kept_as))
        return until.replace(microsecond=until.microsecond // 1000 * 1000)  # as fine as it is stored


def ulid(at: datetime, chance: str) -> str:
    """A ULID: 48 bits of the time in milliseconds, then 80 bits of a digest of `chance`; 26 characters, by time."""
    milliseconds = int(at.timestamp() * 1000)
    number = milliseconds << 80 | int.from_bytes(hashlib.sha256(chance.encode()).digest()[:10])
    return "".join(_CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


def is_spread(conversation_id: str) -> bool:
    """Whether the messages of a conversation are spread over ten partitions."""
    return conversation_id.endswith(SPREAD)


def stamp(at: datetime) -> str:
    """A time as keys have it: UTC with microseconds, of fixed width (ZC-D37)."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


def moment(text: str) -> datetime:
    """The time of a stamp."""
    return datetime.fromisoformat(text)


def next_moment(now: datetime, last: str) -> datetime:
    """Now, or just after the last message if that is later: times in a conversation strictly increase."""
    return max(now, moment(last) + MICROSECOND) if last else now


def watermark(conversation_id: str, timestamp: datetime, message_id: str) -> str:
    """The sort key of a message, by which a header says how far it is summarised (ZC-D11)."""
    return f"MSG#{conversation_id}#{stamp(timestamp)}#{message_id}"


def after_watermark(mark: str | None) -> datetime | None:
    """From which moment on messages are not covered; None if none are."""
    return None if mark is None else moment(mark.split("#")[2]) + MICROSECOND


def batch_name(number: int) -> str:
    return f"batch_{number:03d}"
