"""How far a migration is, in a small table of its own: its phase, its gates, and the segments of a copy.

    planned -> copying -> following -> verified -> pausing -> switched -> finished
    and rolled_back from switched, by another pause; abandoned before the switch, or after a rollback

A *turn* is one direction of copying, from its beginning to its end; it has a number. Everybody who copies checks one of
the gates in the same transaction, and a gate names the turn: so what was begun in a turn that is over writes nothing.
There are several gates, because on the service transactions that check the same item get in each other's way.
Must hold: every change of phase is a conditional write from the phase that was read, with the gates in the same
transaction; writes are open on one side at most. Elsewhere: who may write where (sides.py), changing sides
(switching.py).
"""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, JsonValue

from tablewright.design import Design, States, begins

GATES = 8
MOVER = ("migration",)
Side = Literal["source", "target"]
Phase = Literal[
    "planned",
    "copying",
    "following",
    "verified",
    "pausing",
    "switched",
    "finished",
    "rolled_back",
    "abandoned",
]
ON_TARGET = ("switched", "finished")
# While these last, the target follows the source.
FORWARD = ("copying", "following", "verified")


class State(BaseModel):
    """Where a migration stands. `epoch` rises with every change of it, `turn` with every beginning of a copy,
    `flips` with every change of sides.

    `copied`: everything that was there when the turn began is copied, so that following is enough. `barred`: sides were
    changed, and consumers of the side that was left have not been told in every shard yet. `dropping`: the table
    that is not needed any more is still to be deleted, until `dropping_until` by one alone. `strays`: the goal of the
    copy may hold what its origin no longer does. `missed_since`: changes from then on were missed, so it is copied
    anew. `rate` is how many items a second are copied at most.
    """

    name: str
    phase: Phase = "planned"
    epoch: int = 0
    turn: int = 0
    flips: int = 0
    copied: bool = False
    barred: bool = False
    dropping: bool = False
    dropping_until: datetime | None = None
    strays: bool = False
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
        """The phase, as people read it."""
        return self.phase.replace("_", " ")

    @property
    def side(self) -> Side:
        """Where reads go, and writes unless there is a pause."""
        phase = self.paused_from if self.phase == "pausing" else self.phase
        return "target" if phase in ON_TARGET else "source"

    @property
    def is_open(self) -> bool:
        return self.phase != "pausing"

    @property
    def is_catching_up(self) -> bool:
        """Whether it is being put right after changes were missed."""
        return self.missed_since is not None and self.course is not None and not self.copied

    @property
    def course(self) -> Literal["forward", "back"] | None:
        """Which way changes are followed now."""
        phase = self.paused_from if self.phase == "pausing" else self.phase
        return "forward" if phase in FORWARD else "back" if phase == "switched" else None


class Gate(BaseModel):
    """What everybody who copies has to pass: the turn, and which way it goes."""

    name: str
    number: int
    turn: int
    course: Literal["forward", "back", "shut"]


class Segment(BaseModel):
    """How far the copy of a turn is in one part of a table, and who is at it until when.

    Parts of the origin have the first numbers; behind them come those of the goal, where it is walked for strays.
    """

    name: str
    turn: int
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


def _name(name: str) -> None: ...
def _gate(name: str, number: int) -> None: ...
def _segment(name: str, turn: int, number: int) -> None: ...


_BEFORE_THE_SWITCH = {"abandoned": MOVER, "copying": MOVER}
_PK = "MIGRATION#{name}"
migrations = Design("tablewright_migrations", about="How far migrations are.")
_table = migrations.table("migrations", pk="PK", sk="SK", about="A few items for each migration.")
states = _table.entity(
    State,
    _name,
    tag="migration",
    pk=_PK,
    sk="STATE",
    version="epoch",
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
    Segment, _segment, tag="migration_segment", pk=_PK, sk="SEGMENT#{turn:6}#{number:4}", version="version"
)


@migrations.query(segments, pk=_PK, sk=begins("SEGMENT#{turn:6}#"), consistent=True)
def segments_of(*, name: str, turn: int) -> None:
    """How far the copy of a turn is."""


migrations.build()
