"""Migrations: a new version of a table beside the old one: copied, followed, verified, switched to, and rolled back.

at = migration_context(call, migration); at.plan(); begin(at)
while not advance(at, "me").is_idle: ...      # copies and follows; any number of workers
record_report(at, verify(at, at.state())); switch(at)
db = Db(routed(call, migration), design)      # for programs: reads and writes the side that is open
"""

from tablewright.mapping.migrate.backfill import copy_batch, copy_progress
from tablewright.mapping.migrate.change_follower import Round, advance, follower, is_up_to_date, watch
from tablewright.mapping.migrate.context import MigrationContext, migration_context
from tablewright.mapping.migrate.cutover import (
    abandon,
    finish,
    record_report,
    refuse_abandon,
    refuse_finish,
    refuse_rollback,
    refuse_switch,
    rollback,
    switch,
)
from tablewright.mapping.migrate.entity_moves import by_entity
from tablewright.mapping.migrate.epochs import begin, hold
from tablewright.mapping.migrate.errors import (
    BeingDeleted,
    EpochEnded,
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
    WritesPaused,
    WrongPhase,
)
from tablewright.mapping.migrate.migration import Direction, Group, Migration, TableVersion
from tablewright.mapping.migrate.router import Router, routed
from tablewright.mapping.migrate.state import State, migrations
from tablewright.mapping.migrate.sync_keys import Task, sync_keys
from tablewright.mapping.migrate.verifier import SegmentReport, VerifyReport, verify

__all__ = [
    "BeingDeleted", "Direction", "EpochEnded", "Group", "KeptTooLong", "Migration", "MigrationContext",
    "MigrationMistake", "NotDrained", "NotExact", "NotFollowed", "NotPlanned", "NotRouted", "PhaseMoved",
    "Round", "Router", "SegmentReport", "SideChanged", "State", "TableUnsuitable",
    "TableVersion", "TargetsCollide", "Task", "VerifyReport", "WritesPaused", "WrongPhase", "abandon",
    "advance", "begin", "by_entity", "copy_batch", "copy_progress", "finish", "follower", "hold", "is_up_to_date",
    "migration_context", "migrations", "record_report", "refuse_abandon", "refuse_finish", "refuse_rollback",
    "refuse_switch", "rollback", "routed", "switch", "sync_keys", "verify", "watch",
]  # fmt: skip
