"""Why a step of a migration was refused, and what to do next.

Must hold: when one of these is raised, no write is half done; the message names tables, entities and attributes, never
the content of an item.
"""

from collections.abc import Collection
from datetime import datetime

from tablewright.client import CallFailed
from tablewright.mapping.errors import MappingMistake


class MigrationMistake(MappingMistake):
    """The base of what a migration raises."""


class NotExact(MigrationMistake):
    """An item cannot be compared exactly, so a change of it during the copy could go unnoticed."""

    def __init__(
        self, table: str, entity: str | None, attributes: Collection[str] = (), many: int = 0
    ) -> None:
        self.table, self.entity, self.attributes = table, entity, tuple(sorted(attributes))
        if entity is None:
            why = "an item belongs to no entity of the design; declare it, or remove it"
        elif many:
            why = f"{entity} has {many} attributes, and one condition of the service can compare some 130 of them"
        else:
            why = (
                f"{entity} has {', '.join(self.attributes)}, which its design does not know; declare them, or name "
                "them in `older` of the form"
            )
        super().__init__(f"{table}: {why}")


class TargetsCollide(MigrationMistake):
    """Two items would be copied to the same key."""

    def __init__(self, migration: str, table: str) -> None:
        super().__init__(
            f"{migration}: two items become one item of {table}; a key there must come from one item alone"
        )


class EpochEnded(MigrationMistake):
    """The epoch of a copy has ended: the migration has moved on, or was rolled back."""

    def __init__(self, migration: str, epoch: int) -> None:
        self.migration, self.epoch = migration, epoch
        super().__init__(
            f"{migration}: epoch {epoch} has ended, nothing was written; see `tablewright migrate status`"
        )


class PhaseMoved(MigrationMistake):
    """Another process changed the phase at the same moment."""

    def __init__(self, migration: str) -> None:
        super().__init__(
            f"the phase of {migration} was changed by another process; see `tablewright migrate status`"
        )


class NotPlanned(MigrationMistake):
    """The migration has not been planned in these tables."""

    def __init__(self, migration: str) -> None:
        super().__init__(f"{migration} is not planned here; `tablewright migrate plan {migration}` does that")


class WrongPhase(MigrationMistake):
    """The step is not possible in this phase."""

    def __init__(self, migration: str, phase: str, wanted: str, next_step: str = "") -> None:
        self.phase, self.wanted = phase, wanted
        super().__init__(
            f"{migration} is {phase.replace('_', ' ')}; {wanted}"
            + (f": {next_step} comes first" if next_step else "")
        )


class NotDrained(MigrationMistake):
    """Not everything written before the pause arrived in time; the side that was open is open again."""

    def __init__(self, migration: str, why: str) -> None:
        super().__init__(f"{migration} stays where it was, and writes go on: {why}")


class NotFollowed(MigrationMistake):
    """There was no follower for longer than the stream keeps changes: everything has to be compared first."""

    def __init__(self, migration: str, since: datetime) -> None:
        self.migration, self.since = migration, since
        super().__init__(
            f"{migration} did not change sides: changes were last followed at {since:%Y-%m-%d %H:%M} UTC, and the "
            f"stream no longer has those since; `tablewright migrate run {migration}` compares both tables again"
        )


class BeingDeleted(MigrationMistake):
    """Another process is deleting the table that is no longer needed, or died while doing so."""

    def __init__(self, migration: str, until: datetime) -> None:
        self.until = until
        super().__init__(
            f"{migration}: another process is deleting the table that is no longer needed; if it still exists "
            f"at {until:%H:%M:%S} UTC, try again"
        )


class KeptTooLong(MigrationMistake):
    """The time in which a rollback was possible is over."""

    def __init__(self, migration: str, until: datetime) -> None:
        super().__init__(
            f"{migration} could be rolled back until {until:%Y-%m-%d %H:%M} UTC; what was written since may not be in "
            "the old table. Finish it"
        )


class TableUnsuitable(MigrationMistake):
    """A table that cannot be followed: its stream does not show what an item was, or its key is not text."""


class WritesPaused(CallFailed):
    """Writes to a table are paused while a migration changes sides. Nothing was written: try again."""

    def __init__(self, table: str, retry_after: int) -> None:
        self.table, self.retry_after = table, retry_after
        super().__init__(
            f"writes to {table} are paused while it changes sides; nothing was written, try again in {retry_after} s"
        )


class SideChanged(CallFailed):
    """A write was answered after the table had changed sides: it may be lost, or done."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(
            f"{table} changed sides while a write to it was in progress: the write may be lost, or done; read the item "
            "before you repeat it"
        )


class NotRouted(CallFailed):
    """A request cannot be routed to the open side, or names a side directly. Nothing was done."""

    def __init__(self, table: str, why: str) -> None:
        self.table = table
        super().__init__(f"{table} is being migrated: {why}")
