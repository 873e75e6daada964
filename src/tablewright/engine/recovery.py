"""Point-in-time recovery: which moments of a table can be gone back to, and the change of the journal each means.

Must hold: while recovery is enabled, every moment of the window can be restored: the journal keeps what is needed
(retention.py). The window begins when recovery was enabled, or so many days ago; it ends five minutes ago, as on the
service: a later moment is refused by a restore, though not by an export, which may be of this very second.
Elsewhere: the state at a moment (history.py), checkpoints on the way (checkpoints.py), restoring (restoring.py).
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from tablewright.engine.catalog import Table
from tablewright.engine.errors import ServiceError
from tablewright.engine.journal import first_since
from tablewright.engine.storage_rows import Rows

DAY = 86_400_000_000
SECOND = 1_000_000
# How far behind the service's window ends.
LAG = 300 * SECOND


def window(table: Table, now: int) -> tuple[int, int]:
    """The first and the last moment that can be restored, in microseconds."""
    assert table.recovery_since is not None, "only a table with recovery has a window"
    earliest = max(table.recovery_since, now - table.recovery_days * DAY)
    return earliest, max(earliest, now - LAG)


def described(table: Table, now: int) -> dict[str, Any]:
    """The ContinuousBackupsDescription of a table."""
    recovery: dict[str, Any] = {"PointInTimeRecoveryStatus": "DISABLED"}
    if table.recovery_since is not None:
        earliest, latest = window(table, now)
        recovery = {
            "PointInTimeRecoveryStatus": "ENABLED",
            "RecoveryPeriodInDays": table.recovery_days,
            # To the second, as a client gives it back.
            "EarliestRestorableDateTime": earliest // SECOND,
            "LatestRestorableDateTime": latest // SECOND,
        }
    return {"ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": recovery}


def refuse_unavailable(table: Table) -> None:
    if table.recovery_since is None:
        raise ServiceError(
            "PointInTimeRecoveryUnavailableException",
            f"Point in time recovery is not enabled for table '{table.name}'",
        )


def is_kept(table: Table, moment: int, now: int) -> bool:
    """Whether the past of that moment is there; clients name whole seconds, so the first one counts whole."""
    earliest, _ = window(table, now)
    return earliest - earliest % SECOND <= moment <= now


def refuse_outside(table: Table, moment: int, now: int) -> None:
    earliest, latest = window(table, now)
    if not is_kept(table, moment, now) or moment > latest:
        raise ServiceError(
            "InvalidRestoreTimeException",
            f"RestoreDateTime '{text(moment)}' must be within EarliestRestorableDateTime '{text(earliest)}' "
            f"and LatestRestorableDateTime '{text(latest)}'",
        )


def change_at(rows: Rows, table: Table, moment: int, now: int) -> int:
    """The number of the last change made at that moment of the window or before it."""
    earliest, _ = window(table, now)
    return first_since(rows, max(moment, earliest) + 1) - 1


def microseconds_of(seconds: float) -> int:
    """A time as a request gives it."""
    return round(seconds * SECOND)


def text(moment: int) -> str:
    """A time as the service writes it into sentences."""
    when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=moment - moment % SECOND)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
