"""The state of a migration, in a table of its own: its phase, its gates, and the segments of a copy.

    planned -> copying -> following -> verified -> pausing -> switched -> finished
    and rolled_back from switched, by another pause; abandoned before the switch, or after a rollback

An *epoch* is one direction of copying, from its beginning to its end; epochs are numbered. Every transaction of a copy
checks one of the gates, and a gate names the epoch: so a worker of an epoch that has ended writes nothing. There are
several gates, because on DynamoDB transactions that check the same item conflict.
Must hold: every change of phase is a conditional write from the phase that was read, with the gates in the same
transaction; writes are open on one side at most.
Elsewhere: routing requests to the open side (router.py), changing sides (cutover.py).
"""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field, JsonValue

from tablewright.design import Design, States, begins

GATES = 8
MOVER = ("migration",)
Side = Literal["source", "target"]
Phase = Literal[
    "planned", "copying", "following", "verified", "pausing", "switched", "finished", "rolled_back", "abandoned"
]  # fmt: skip
ON_TARGET = ("switched", "finished")
# In these phases the target follows the source.
FORWARD = ("copying", "following", "verified")


class State(BaseModel):
    """The state of a migration. `revision` rises with every change of it, `epoch` whenever a copy begins, `flips` with
    every cut-over.

    `copied`: everything that existed when the epoch began is copied, so that following is enough. `barred`: the sides
    were changed, and the consumers of the side that was left have not read a marker in every shard yet. `dropping`: the
    table that is no longer needed has to be deleted; until `dropping_until` by one process only. `strays`: the goal of
    the copy may hold orphans, which its origin no longer has. `missed_since`: changes from then on were missed, so
    everything is copied again. `rate` is the maximum of items copied per second. `held`: an operator stopped copying
    and following for a while.
    """

    name: str
    phase: Phase = "planned"
    # Stored under the names that migrations begun by earlier versions have.
    revision: int = Field(default=0, serialization_alias="epoch")
    epoch: int = Field(default=0, serialization_alias="turn")
    flips: int = 0
    copied: bool = False
    barred: bool = False
    dropping: bool = False
    dropping_until: datetime | None = None
    strays: bool = False
    held: bool = False
    missed_since: datetime | None = None
    source: str
    target: str
    rate: int | None = None
    segments: int = 4
    planned_at: datetime
    since: datetime
    switched_at: datetime | None = None
    kept_until: datetime | None = None
    paused_from: Phase | None = None
    pause_ends: datetime | None = None
    verified: JsonValue = None

    @property
    def word(self) -> str:
        """The phase, for people."""
        return self.phase.replace("_", " ")

    @property
    def side(self) -> Side:
        """The side that serves reads, and writes unless they are paused."""
        phase = self.paused_from if self.phase == "pausing" else self.phase
        return "target" if phase in ON_TARGET else "source"

    @property
    def is_open(self) -> bool:
        return self.phase != "pausing"

    @property
    def is_catching_up(self) -> bool:
        """Whether everything is being copied again because changes were missed."""
        return self.missed_since is not None and self.course is not None and not self.copied

    @property
    def course(self) -> Literal["forward", "back"] | None:
        """The direction in which changes are followed now; None if they are not."""
        phase = self.paused_from if self.phase == "pausing" else self.phase
        return "forward" if phase in FORWARD else "back" if phase == "switched" else None


class Gate(BaseModel):
    """Checked by every transaction that copies: the epoch, and its direction."""

    name: str
    number: int
    epoch: int = Field(serialization_alias="turn")
    course: Literal["forward", "back", "shut"]


class Segment(BaseModel):
    """How far the copy of an epoch is in one segment of a table, and which worker has it until when.

    Segments of the origin have the first numbers; those of the goal follow, where it is scanned for orphans.
    """

    name: str
    epoch: int = Field(serialization_alias="turn")
    number: int
    of: int
    after: JsonValue = None
    done: bool = False
    items: int = 0
    owner: str | None = None
    until: datetime | None = None
    version: int = 0

    @property
    def is_of_goal(self) -> bool:
        return self.number >= self.of


class FollowerLag(BaseModel):
    """How far behind the follower was at a moment (back_pressure.py)."""

    name: str
    seconds: int
    at: datetime


def _name(name: str) -> None: ...
def _gate(name: str, number: int) -> None: ...
def _segment(name: str, epoch: int, number: int) -> None: ...


_BEFORE_THE_SWITCH = {"abandoned": MOVER, "copying": MOVER}
_PK = "MIGRATION#{name}"
migrations = Design("tablewright_migrations", about="The state of migrations.")
_table = migrations.table("migrations", pk="PK", sk="SK", about="A few items for each migration.")
states = _table.entity(
    State,
    _name,
    tag="migration",
    pk=_PK,
    sk="STATE",
    version="revision",
    states=States(
        "phase",
        start="planned",
        moves={
            "planned": _BEFORE_THE_SWITCH,
            "copying": {**_BEFORE_THE_SWITCH, "following": MOVER},
            "following": {**_BEFORE_THE_SWITCH, "verified": MOVER},
            "verified": {**_BEFORE_THE_SWITCH, "following": MOVER, "pausing": MOVER},
            "pausing": {"verified": MOVER, "switched": MOVER, "rolled_back": MOVER},
            "switched": {"pausing": MOVER, "finished": MOVER},
            "rolled_back": {"planned": MOVER, "abandoned": MOVER},
            "abandoned": {"planned": MOVER},
        },
    ),
)
gates = _table.entity(Gate, _gate, tag="migration_gate", pk=_PK, sk="GATE#{number:2}")
segments = _table.entity(
    Segment, _segment, tag="migration_segment", pk=_PK, sk="SEGMENT#{epoch:6}#{number:4}", version="version"
)
lags = _table.entity(FollowerLag, _name, tag="migration_lag", pk=_PK, sk="LAG")


@migrations.query(segments, pk=_PK, sk=begins("SEGMENT#{epoch:6}#"), consistent=True)
def segments_of(*, name: str, epoch: int) -> None:
    """The segments of the copy of an epoch."""


migrations.build()
