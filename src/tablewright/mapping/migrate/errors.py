"""What can stand in the way of a migration, in words that say what to do next.

Must hold: whatever is raised here, no write is half done; the message names tables, entities and attributes, never what
an item contains.
"""

from collections.abc import Collection
from datetime import datetime

from tablewright.client import CallFailed
from tablewright.mapping.errors import MappingMistake


class MigrationMistake(MappingMistake):
    """The base of what a migration raises."""


class NotExact(MigrationMistake):
    """An item that cannot be compared exactly, so that nobody could tell whether it changed under a copy of it."""

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
    """Two items would become one: which of them it is to be, nobody has said."""

    def __init__(self, migration: str, table: str) -> None:
        super().__init__(
            f"{migration}: two items become one item of {table}; a key there must come from one item alone"
        )


class TurnOver(MigrationMistake):
    """What is being copied is no longer to be copied this way: the migration went on, or back."""

    def __init__(self, migration: str, turn: int) -> None:
        self.migration, self.turn = migration, turn
        super().__init__(
            f"{migration}: turn {turn} is over, nothing was written; `tablewright migrate status` says where it is"
        )


class PhaseMoved(MigrationMistake):
    """Somebody else moved the migration on at the same moment."""

    def __init__(self, migration: str) -> None:
        super().__init__(
            f"{migration} was moved on by somebody else; `tablewright migrate status` says where it is"
        )


class NotPlanned(MigrationMistake):
    """There is nothing to be done yet."""

    def __init__(self, migration: str) -> None:
        super().__init__(f"{migration} is not planned here; `tablewright migrate plan {migration}` does that")


class WrongPhase(MigrationMistake):
    """What is wanted cannot be done where the migration stands."""

    def __init__(self, migration: str, phase: str, wanted: str, next_step: str = "") -> None:
        self.phase = phase
        super().__init__(
            f"{migration} is {phase.replace('_', ' ')}; {wanted}"
            + (f": {next_step} comes first" if next_step else "")
        )


class NotDrained(MigrationMistake):
    """What was written before the pause has not all arrived in time; the side that was open is open again."""

    def __init__(self, migration: str, why: str) -> None:
        super().__init__(f"{migration} stays where it was, and writes go on: {why}")


class NotFollowed(MigrationMistake):
    """Nobody followed for longer than the stream keeps changes: first everything is to be compared."""

    def __init__(self, migration: str, since: datetime) -> None:
        self.migration, self.since = migration, since
        super().__init__(
            f"{migration} stays where it was: nobody has followed since {since:%Y-%m-%d %H:%M} UTC, and the stream has "
            f"forgotten changes; `tablewright migrate run {migration}` goes through both tables again"
        )


class BeingDeleted(MigrationMistake):
    """A table that is no longer needed is being deleted by somebody else, or by one who died over it."""

    def __init__(self, migration: str, until: datetime) -> None:
        self.until = until
        super().__init__(
            f"{migration}: the table that is no longer needed is being deleted by somebody else; if it is still there "
            f"at {until:%H:%M:%S} UTC, try again"
        )


class KeptTooLong(MigrationMistake):
    """The days in which one could go back are over."""

    def __init__(self, migration: str, until: datetime) -> None:
        super().__init__(
            f"{migration} could be rolled back until {until:%Y-%m-%d %H:%M} UTC; what was written since may not be in "
            "the old table. Finish it"
        )


class TableUnsuitable(MigrationMistake):
    """A table that cannot be followed: its stream does not show what an item was, or its key is no text."""


class WritesPaused(CallFailed):
    """Writes to a table are closed while a migration changes sides. Nothing was written: try again."""

    def __init__(self, table: str, retry_after: int) -> None:
        self.table, self.retry_after = table, retry_after
        super().__init__(
            f"writes to {table} are paused while it changes sides; nothing was written, try again in {retry_after} s"
        )


class SideChanged(CallFailed):
    """A write was answered so late that the table had changed sides meanwhile: whether it holds, nobody knows."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(
            f"{table} changed sides while a write to it was under way: it may be lost, or done; read before you "
            "repeat it"
        )


class NotRouted(CallFailed):
    """A request that cannot be led to the open side, or names a side by itself. Nothing was done."""

    def __init__(self, table: str, why: str) -> None:
        self.table = table
        super().__init__(f"{table} is being migrated: {why}")
