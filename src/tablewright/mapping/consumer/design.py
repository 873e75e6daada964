"""What stream consumers store, as a design of its own: their positions, which worker reads what, and parked records.

One table serves all consumers; a consumer of a table is one partition, so all of it is read at once, consistently.
Must hold: a parked record, the hold on its key and the checkpoint after it are written in one transaction.
Elsewhere: when these items are written (leases.py, dead_letters.py).
"""

from datetime import UTC, datetime

from pydantic import BaseModel

from tablewright.design import Data, Design, Retention, begins

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
# Items whose key begins so belong to no entity: a migration puts and deletes them as markers in every shard.
MARKER = "TABLEWRIGHT#MARK#"


class Start(BaseModel):
    """When a consumer began, and the shards that existed then: it reads everything they still hold.

    With `places` it reads only what follows a record of each shard; of a shard without one, nothing.
    """

    table: str
    consumer: str
    at: datetime
    shards: list[str]
    places: dict[str, str] | None = None


class Roster(BaseModel):
    """Changes whenever a consumer of a table begins, and whenever the table's changes go on in another table's stream.

    Both check it in their transaction, so neither can miss the other.
    """

    table: str
    version: int = 0


class Lease(BaseModel):
    """The position of a consumer in one shard, and which of its workers reads it until when.

    `first` is where the shard begins, if nothing before it may be missing; `end` is the record at which it ends for
    this consumer, because the table's changes go on in another table's stream, and `ended` when that was decided.
    `changed` is the time of the last change that was handled, `caught_up` when there was nothing left to read. `wanted`
    is a worker that has fewer shards. `suspect` and `tries` count the workers that died over one record.
    """

    table: str
    consumer: str
    stream: str
    shard: str
    parent: str | None = None
    first: str | None = None
    end: str | None = None
    ended: datetime | None = None
    began: datetime
    owner: str | None = None
    until: datetime = LONG_AGO
    wanted: str | None = None
    checkpoint: str | None = None
    changed: datetime | None = None
    caught_up: datetime | None = None
    closed: bool = False
    suspect: str | None = None
    tries: int = 0
    version: int = 0

    @property
    def since(self) -> datetime:
        """The moment up to which nothing was missed."""
        return max(moment for moment in (self.began, self.changed, self.caught_up) if moment is not None)


class KeyHold(BaseModel):
    """A key with parked records: later records of it are parked too. `owner` is the worker that replays them.

    `asked` is how often a worker may still begin a replay that was requested by a command.
    """

    table: str
    consumer: str
    line: str
    count: int = 0
    owner: str | None = None
    asked: int = 0
    until: datetime = LONG_AGO
    version: int = 0


class Parked(BaseModel):
    """A record that could not be handled, or that waits behind one (`error` is then "Behind").

    `error` is only the class of the error: its message may contain data of the item.
    """

    table: str
    consumer: str
    line: str
    place: str
    sequence: str
    event_id: str
    entity: str
    kind: str
    key: str
    error: str
    attempts: int
    first_tried: datetime
    last_tried: datetime
    pieces: int


class RecordPart(BaseModel):
    """A part of a parked record: two images may be larger than one item."""

    table: str
    consumer: str
    place: str
    number: int
    data: bytes


def _table_key(table: str) -> None: ...
def _consumer_key(table: str, consumer: str) -> None: ...
def _lease_key(table: str, consumer: str, stream: str, shard: str) -> None: ...
def _line_key(table: str, consumer: str, line: str) -> None: ...
def _parked_key(table: str, consumer: str, line: str, place: str) -> None: ...
def _piece_key(table: str, consumer: str, place: str, number: int) -> None: ...


_PK = "STREAM#{table}#{consumer}"
stream_consumers = Design(
    "tablewright_streams", about="The positions of stream consumers, and the records they parked."
)
_table = stream_consumers.table("stream_consumers", pk="PK", sk="SK", about="All consumers of all streams.")
starts = _table.entity(Start, _consumer_key, tag="stream_start", pk=_PK, sk="START")
rosters = _table.entity(
    Roster, _table_key, tag="stream_roster", pk="ROSTER#{table}", sk="ROSTER", version="version"
)
leases = _table.entity(
    Lease, _lease_key, tag="stream_lease", pk=_PK, sk="LEASE#{stream}#{shard}", version="version"
)
holds = _table.entity(KeyHold, _line_key, tag="stream_hold", pk=_PK, sk="HOLD#{line}", version="version")
parked = _table.entity(
    Parked,
    _parked_key,
    tag="stream_parked",
    pk=_PK,
    sk="PARKED#{line}#{place}",
    data={"key": Data.PERSONAL},
    retention=Retention(
        None, "to be looked at, and replayed or discarded by hand; or until a system forgets it"
    ),
)
pieces = _table.entity(
    RecordPart,
    _piece_key,
    tag="stream_piece",
    pk=_PK,
    sk="PIECE#{place}#{number:3}",
    data={"data": Data.PERSONAL},
    retention=Retention(None, "as long as the record it is part of"),
)


@stream_consumers.query(leases, pk=_PK, sk=begins("LEASE#"), consistent=True)
def leases_of(*, table: str, consumer: str) -> None:
    """Every shard of a consumer, older streams first."""


@stream_consumers.query(holds, pk=_PK, sk=begins("HOLD#"), consistent=True)
def holds_of(*, table: str, consumer: str) -> None:
    """The keys with parked records."""


@stream_consumers.query(parked, pk=_PK, sk=begins("PARKED#"), consistent=True)
def parked_of(*, table: str, consumer: str) -> None:
    """Everything that is parked, key by key, in order."""


@stream_consumers.query(parked, pk=_PK, sk=begins("PARKED#{line}#"), consistent=True)
def parked_of_key(*, table: str, consumer: str, line: str) -> None:
    """The parked records of one key, in order."""


@stream_consumers.query(pieces, pk=_PK, sk=begins("PIECE#{place}#"), consistent=True)
def pieces_of(*, table: str, consumer: str, place: str) -> None:
    """One record, piece by piece."""


stream_consumers.build()
