"""The window of point-in-time recovery: which moments of a table can be restored, and their journal numbers.

Must hold: while recovery is enabled, every moment of the window can be restored: the journal rows it needs are kept
(retention.py). The window begins when recovery was enabled, or RecoveryPeriodInDays ago; it ends five minutes ago, as
on the service: a restore refuses a later moment, an export does not.
Elsewhere: the state at a moment (time_travel.py), checkpoints (snapshots.py), restoring (restore.py).
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from tablewright.engine.catalog import Table
from tablewright.engine.errors import ServiceError
from tablewright.engine.journal import first_since
from tablewright.engine.storage.rows import RowReader

DAY = 86_400_000_000
SECOND = 1_000_000
# The service's window ends this long ago.
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
            # In whole seconds, as a client sends it back.
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


def is_restorable(table: Table, moment: int, now: int) -> bool:
    """Whether the state at that moment can be read; clients send whole seconds, so the first second counts whole."""
    earliest, _ = window(table, now)
    return earliest - earliest % SECOND <= moment <= now


def refuse_outside(table: Table, moment: int, now: int) -> None:
    earliest, latest = window(table, now)
    if not is_restorable(table, moment, now) or moment > latest:
        raise ServiceError(
            "InvalidRestoreTimeException",
            f"RestoreDateTime '{moment_text(moment)}' must be within "
            f"EarliestRestorableDateTime '{moment_text(earliest)}' "
            f"and LatestRestorableDateTime '{moment_text(latest)}'",
        )


def change_at(rows: RowReader, table: Table, moment: int, now: int) -> int:
    """The number of the last change made at that moment of the window or before it."""
    earliest, _ = window(table, now)
    return first_since(rows, max(moment, earliest) + 1) - 1


def microseconds_of(seconds: float) -> int:
    """A time of a request, in microseconds."""
    return round(seconds * SECOND)


def moment_text(moment: int) -> str:
    """A time as the service writes it in messages."""
    when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=moment - moment % SECOND)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
