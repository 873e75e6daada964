"""What a design says of recovery and backups, done in this house: a copy of each table, kept as long as it says.

A design names several environments, and this process is one more: of what they say, what keeps the most holds here. A
copy is made once a day, whatever schedule they name: between two copies recovery has every second.
Must hold: what was not made by this job is never removed by it; a day on which a copy is there makes no second; a copy
goes in its time, also one of a table that was left for another, or is gone.
Elsewhere: recovery to a moment is switched on as tables are made (mapping/tables.py); copies outside of this machine
(copies.py).
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from tablewright.app.schedule import Job
from tablewright.client import Call, CallRefused, pages
from tablewright.design import Design, Environment
from tablewright.mapping import Db

log = logging.getLogger("tablewright.app")

HERE = "house"
# With its day: what somebody calls a copy of their own must not look like one of these.
_NAME = "tablewright-daily-{:%Y-%m-%d}"
_OURS = re.compile(r"tablewright-daily-\d{4}-\d{2}-\d{2}")
_A_DAY = timedelta(days=1)
# Somebody restores from it: tomorrow, then. Or another process was faster.
_NOT_NOW = ("BackupInUseException", "BackupNotFoundException")


def environment_of(designs: Sequence[Design]) -> Environment:
    """This house as a place where some designs live: its tables have their plain names."""
    said = [env for design in designs for env in design.environments.values()]
    kept = [env.backups for env in said if env.backups is not None]
    longest = max(kept, key=lambda backups: backups.keep_days, default=None)
    elsewhere = next((backups.copy_to for backups in kept if backups.copy_to is not None), None)
    return Environment(
        HERE,
        region="local",
        pitr_days=max((env.pitr_days for env in said), default=0),
        backups=None if longest is None else replace(longest, copy_to=elsewhere),
    )


def backup_job(db: Db, call: Call, plain: Call | None = None, sides: Sequence[str] = ()) -> list[Job]:
    """The job of a system whose design wants backups; none for another.

    `call` leads to the side of a table that is open, `plain` to the table of the very name. `sides` are the tables of
    migrations: of one that is closed no copy is made, and those it has are removed in their time all the same.
    """
    wanted = db.environment.backups if db.environment is not None else None
    if wanted is None:
        return []
    kept = timedelta(days=wanted.keep_days)
    names = [db.physical(name) for design in db.designs for name in design.tables]

    def run() -> int:
        made = back_up(call, names, db.world.now(), kept)
        remove_old(plain or call, sides, db.world.now() - kept)
        return made

    return [Job("backups", _A_DAY, run, f"A copy of each table, for {wanted.keep_days} days.")]


def back_up(call: Call, tables: Sequence[str], now: datetime, kept: timedelta) -> int:
    """Today's copy of each table, if it is not there, and none that is too old; how many were made."""
    made = 0
    for table in tables:
        name = _NAME.format(now)
        if name not in {one["BackupName"] for one in _ours(call, table)}:
            call("CreateBackup", {"TableName": table, "BackupName": name})
            made += 1
    remove_old(call, tables, now - kept)
    log.info("tables backed up", extra={"tables": len(tables), "made": made})
    return made


def remove_old(call: Call, tables: Sequence[str], before: datetime) -> None:
    """Remove our copies of these tables that are older; the tables themselves may be gone."""
    for table in tables:
        for one in _ours(call, table):
            if one["BackupName"] < _NAME.format(before):
                _remove(call, one["BackupArn"])


def _ours(call: Call, table: str) -> list[dict[str, Any]]:
    found = [
        one for page in pages(call, "ListBackups", {"TableName": table}) for one in page["BackupSummaries"]
    ]
    return [one for one in found if _OURS.fullmatch(one["BackupName"])]


def _remove(call: Call, arn: str) -> None:
    try:
        call("DeleteBackup", {"BackupArn": arn})
    except CallRefused as refusal:
        if refusal.name not in _NOT_NOW:
            raise
