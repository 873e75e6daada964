"""What a copy refuses, each with the table's name and what to do."""

from collections.abc import Sequence
from datetime import datetime

from tablewright.mapping.errors import MappingMistake


class CopyMistake(MappingMistake):
    """The base of the errors of copies."""


class NoSuchTable(CopyMistake):
    """The source has no table of that name."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(f"the source has no table {table}; `tablewright db tables` lists those it has")


class TargetHasItems(CopyMistake):
    """A table of the target has items that this copy did not write."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(
            f"the table {table} of the target has items already; add --into-existing to overwrite those with the keys "
            "of the source, or delete the table"
        )


class OtherSource(CopyMistake):
    """A table of the target is the copy of another table than the one named now."""

    def __init__(self, table: str, source: str) -> None:
        self.table, self.source = table, source
        super().__init__(
            f"the table {table} of the target is a copy of another table {source} than that of this source; name the "
            "source it was begun with, or delete the table in the target to begin again"
        )


class NotCopied(CopyMistake):
    """A table was never copied here, or not completely."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(f"the table {table} is not copied completely; run `tablewright copy run` first")


class CopyInUse(CopyMistake):
    """Another process works on the copy of this table."""

    def __init__(self, table: str, until: datetime) -> None:
        self.table, self.until = table, until
        super().__init__(
            f"another process copies the table {table}, at least until {until.isoformat(timespec='seconds')}; stop it, "
            "or add --take-over if you know that it is dead"
        )


class CopyLost(CopyMistake):
    """This process no longer has the copy of a table: another one took it over."""

    def __init__(self, table: str) -> None:
        self.table = table
        super().__init__(f"the copy of {table} was taken over by another process; this one has stopped")


class ChangesMissed(CopyMistake):
    """The source's stream no longer has all changes since the copy was last followed."""

    def __init__(self, source: str, table: str, since: datetime) -> None:
        self.source, self.table, self.since = source, table, since
        super().__init__(
            f"the stream of {source} no longer has all changes since {since.isoformat(timespec='seconds')}, because it "
            f"keeps them for 24 hours; delete the table {table} in the target and run the copy again"
        )


class NotDrained(CopyMistake):
    """Changes keep coming: the source is still written to."""

    def __init__(self, tables: Sequence[str], seconds: float) -> None:
        self.tables = tuple(tables)
        super().__init__(
            f"after {seconds:.0f} s there are still changes of {', '.join(tables)}; stop the programs that write to "
            "the source and run the same command again"
        )


class TargetBusy(CopyMistake):
    """The target left writes unprocessed, again and again."""

    def __init__(self, table: str, left: int) -> None:
        self.table, self.left = table, left
        super().__init__(
            f"the target is throttling: {left} writes to {table} were not done; run the same command again, with fewer "
            "--write-units"
        )


class ChangesPending(CopyMistake):
    """The source's own consumers have not processed all changes: these would be lost with the switch."""

    def __init__(self, behind: Sequence[tuple[str, str]]) -> None:
        self.behind = tuple(behind)
        named = ", ".join(f"{consumer} of {table}" for table, consumer in behind)
        super().__init__(
            f"not all changes were processed by these consumers of the source: {named}; let the system run without "
            "writers until they are (`tablewright db parked list` shows those that failed), or add --leave-unprocessed"
        )
