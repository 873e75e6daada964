"""The state of copies, in a table of the target: the phase of each table, and how far each segment of its scan is.

    copying -> following -> finished

Must hold: a state is changed by the process that has its lease, by a conditional write; the position of a segment is
saved only after its items were written.
Elsewhere: the position in the stream (mapping/consumer).
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, JsonValue

from tablewright.design import Design, begins

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TablePair:
    """A table of the source, and the name of its copy in the target."""

    source: str
    target: str


class TableCopy(BaseModel):
    """The copy of one table. `epoch` rises whenever the table is copied from the beginning.

    `source_id` is the identity that the source's service gave the table: another table of that name is not this one.
    `follows`: changes are read from the source's stream; `added_stream`: which was switched on for the copy. `stream`
    is the view of the stream that the target gets in the end. `owner` is the process that works on it until `until`.
    """

    table: str
    source: str
    source_id: str
    epoch: int = 1
    phase: Literal["copying", "following", "finished"] = "copying"
    segments: int = 4
    follows: bool = True
    added_stream: bool = False
    stream: str | None = None
    began: datetime
    owner: str | None = None
    until: datetime = _LONG_AGO
    version: int = 0

    @property
    def pair(self) -> TablePair:
        return TablePair(self.source, self.table)

    @property
    def consumer(self) -> str:
        """The name of the follower: each epoch has its own, which begins where the epoch does."""
        return f"copy:{self.table}.{self.epoch}"


class CopySegment(BaseModel):
    """How far the scan is in one segment: the key to go on after, and how many items were copied."""

    table: str
    epoch: int
    number: int
    after: JsonValue = None
    done: bool = False
    items: int = 0
    version: int = 0


def _copy_key(table: str) -> None: ...
def _segment_key(table: str, epoch: int, number: int) -> None: ...


table_copies = Design("tablewright_copies", about="The state of copies of tables.")
_table = table_copies.table("table_copies", pk="PK", sk="SK", about="A few items for each table.")
copies = _table.entity(
    TableCopy, _copy_key, tag="table_copy", pk="COPIES", sk="TABLE#{table}", version="version"
)
_SEGMENTS = "COPY#{table}"
segments = _table.entity(
    CopySegment,
    _segment_key,
    tag="copy_segment",
    pk=_SEGMENTS,
    sk="SEGMENT#{epoch:6}#{number:4}",
    version="version",
)


@table_copies.query(copies, pk="COPIES", sk=begins("TABLE#"), consistent=True)
def all_copies() -> None:
    """The copies of all tables."""


@table_copies.query(segments, pk=_SEGMENTS, sk=begins("SEGMENT#{epoch:6}#"), consistent=True)
def segments_of(*, table: str, epoch: int) -> None:
    """The segments of one copy."""


table_copies.build()
