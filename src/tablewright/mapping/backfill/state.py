"""How far a backfill is, in a table of its own: the run, and a position for each segment.

A run is numbered; a backfill that is done can be run again, with new positions. Which worker has a segment is a lease.
"""

from datetime import datetime

from pydantic import BaseModel, JsonValue

from tablewright.design import Design, begins


class BackfillRun(BaseModel):
    """The last run of a backfill. `digest` is of what it makes, `rate` the items per second and worker at most."""

    name: str
    table: str
    digest: str
    number: int = 1
    segments: int = 4
    rate: int | None = None
    since: datetime
    ended: datetime | None = None
    version: int = 0


class BackfillSegment(BaseModel):
    """The position in one segment of the table, and which worker has it until when."""

    name: str
    run: int
    number: int
    of: int
    after: JsonValue = None
    done: bool = False
    items: int = 0
    filled: int = 0
    unreadable: int = 0
    owner: str | None = None
    until: datetime | None = None
    version: int = 0


def _run(name: str) -> None: ...
def _segment(name: str, run: int, number: int) -> None: ...


backfills = Design("tablewright_backfills", about="The state of backfills in place.")
_table = backfills.table("backfills", pk="PK", sk="SK", about="A few items for each backfill.")
runs = _table.entity(BackfillRun, _run, tag="backfill", pk="BACKFILLS", sk="RUN#{name}", version="version")
segments = _table.entity(
    BackfillSegment,
    _segment,
    tag="backfill_segment",
    pk="BACKFILL#{name}",
    sk="SEGMENT#{run:6}#{number:4}",
    version="version",
)


@backfills.query(runs, pk="BACKFILLS", sk=begins("RUN#"), consistent=True)
def all_runs() -> None:
    """The last run of every backfill."""


@backfills.query(segments, pk="BACKFILL#{name}", sk=begins("SEGMENT#{run:6}#"), consistent=True)
def segments_of(*, name: str, run: int) -> None:
    """The segments of a run."""


backfills.build()
