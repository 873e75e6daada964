"""Back-pressure: writes wait a little while the follower is behind, so that it catches up with writers at full speed.

A setting of the migration (`Migration.longest_delay`); zero switches it off. The follower stores how old the changes
are that it synchronises; a process reads that with the state of the migration, and delays each write by a twentieth.
So writers slow down to what the follower can do, and are never stopped.
Must hold: what a follower stored is in force for a few seconds only, so that one that died or is on hold delays
nothing; a delay ends before the state is read on which the write relies.
Elsewhere: the delay itself (router.py).
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from tablewright.mapping.consumer import shards
from tablewright.mapping.migrate.context import MigrationContext
from tablewright.mapping.migrate.state import FollowerLag, lags

# For so long writers heed what a follower stored.
LASTS = timedelta(seconds=10)
# A stream gives the time of a change to the second: less than this may be nothing.
LEAST = timedelta(seconds=2)
_SHARE = 20


def store_lag(context: MigrationContext, records: Sequence[Mapping[str, Any]]) -> None:
    """Store how old the last of some changes is, if that is enough to delay writers."""
    changed = shards.created_at(records[-1]) if records and context.migration.longest_delay else None
    if changed is None:
        return
    now = context.world.now()
    if now - changed >= LEAST:
        seconds = int((now - changed).total_seconds())
        context.db.write(lags.put(FollowerLag(name=context.name, seconds=seconds, at=now)))


def delay_of(context: MigrationContext) -> float:
    """How many seconds a write waits now."""
    if not context.migration.longest_delay:
        return 0.0
    found: FollowerLag | None = context.db.one(lags.get(context.name))
    if found is None or abs(context.world.now() - found.at) > LASTS:
        return 0.0
    return min(found.seconds / _SHARE, context.migration.longest_delay.total_seconds())
