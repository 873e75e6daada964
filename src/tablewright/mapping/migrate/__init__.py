"""Migrations: a table in a new form beside the old one, copied, followed, verified, switched to, and back if need be.

at = bench(call, migration); at.plan(); begin(at)
while not advance(at, "me").is_idle: ...      # copies and follows; any number of workers
checked(at, verify(at, at.state())); switch(at)
db = Db(sides(call, migration), design)       # what programs use, whichever side is open
"""

from tablewright.mapping.migrate.bench import Bench, bench
from tablewright.mapping.migrate.copying import copied, copy_some
from tablewright.mapping.migrate.errors import (
    BeingDeleted,
    KeptTooLong,
    MigrationMistake,
    NotDrained,
    NotExact,
    NotFollowed,
    NotPlanned,
    NotRouted,
    PhaseMoved,
    SideChanged,
    TableUnsuitable,
    TargetsCollide,
    TurnOver,
    WritesPaused,
    WrongPhase,
)
from tablewright.mapping.migrate.following import Round, advance, follower, is_up_to_date, watch
from tablewright.mapping.migrate.migration import Form, Migration, Way
from tablewright.mapping.migrate.settling import Settled, Task, settle
from tablewright.mapping.migrate.sides import Sides, sides
from tablewright.mapping.migrate.state import State, migrations
from tablewright.mapping.migrate.switching import (
    abandon,
    checked,
    finish,
    refuse_abandon,
    refuse_finish,
    refuse_rollback,
    refuse_switch,
    rollback,
    switch,
)
from tablewright.mapping.migrate.turns import begin
from tablewright.mapping.migrate.verifying import Part, Report, verify

__all__ = [
    "BeingDeleted",
    "Bench",
    "Form",
    "KeptTooLong",
    "Migration",
    "MigrationMistake",
    "NotDrained",
    "NotExact",
    "NotFollowed",
    "NotPlanned",
    "NotRouted",
    "Part",
    "PhaseMoved",
    "Report",
    "Round",
    "Settled",
    "SideChanged",
    "Sides",
    "State",
    "TableUnsuitable",
    "TargetsCollide",
    "Task",
    "TurnOver",
    "Way",
    "WritesPaused",
    "WrongPhase",
    "abandon",
    "advance",
    "begin",
    "bench",
    "checked",
    "copied",
    "copy_some",
    "finish",
    "follower",
    "is_up_to_date",
    "migrations",
    "refuse_abandon",
    "refuse_finish",
    "refuse_rollback",
    "refuse_switch",
    "rollback",
    "settle",
    "sides",
    "switch",
    "verify",
    "watch",
]
