"""What a design says of recovery and backups, done in this process: a copy of each table, kept as long as it says.

A design names several environments, and this process is one more: of what they say, what keeps the most holds here. In
this process a copy is made once a day, whatever schedule they name: between two copies recovery has every second. In an
environment of its own, a system's copies are made as often as the environment's schedule says, at most once an hour.
Must hold: what was not made by this job is never removed by it; a day (an hour) for which there is a copy gets no
second; a copy is removed in its time, also one of a table that was left for another, or is gone. A copy that could not
be made fails the job: the schedule logs an error, keeps it with the job's turn, and counts it in the metric that the
alarm failed-backups is on (design/alarms.py).
Elsewhere: recovery to a moment is switched on as tables are made (mapping/tables.py); copies outside of this machine
(job.py).
"""

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from tablewright.client import Call, CallRefused, pages
from tablewright.design import Backups, Design, Environment
from tablewright.design.alarms import FAILED_BACKUPS
from tablewright.design.cost.schedules import times_a_day
from tablewright.kit.jobs import Job
from tablewright.mapping import Db

log = logging.getLogger("tablewright.app")

HERE = "house"
_EVERY_DAY = "cron(0 1 * * ? *)"
# With its day or hour: a copy that a person made and named must not look like one of these.
_OURS = re.compile(r"tablewright-(?:daily-(\d{4}-\d{2}-\d{2})|hourly-(\d{4}-\d{2}-\d{2}T\d{2}))")
_A_DAY, _AN_HOUR = timedelta(days=1), timedelta(hours=1)
# A restore is reading it: it is removed tomorrow. Or another process removed it first.
_NOT_NOW = ("BackupInUseException", "BackupNotFoundException")


def environment_of(designs: Sequence[Design]) -> Environment:
    """This process as a place where some designs live: its tables have their plain names."""
    said = [env for design in designs for env in design.environments.values()]
    kept = [env.backups for env in said if env.backups is not None]
    longest = max(kept, key=lambda backups: backups.keep_days, default=None)
    elsewhere = next((backups.copy_to for backups in kept if backups.copy_to is not None), None)
    return Environment(
        HERE,
        region="local",
        pitr_days=max((env.pitr_days for env in said), default=0),
        backups=None if longest is None else replace(longest, schedule=_EVERY_DAY, copy_to=elsewhere),
    )


def backup_job(db: Db, call: Call, plain: Call | None = None, sides: Sequence[str] = ()) -> list[Job[object]]:
    """The job of a system whose design wants backups; none for another.

    `call` leads to the side of a table that is open, `plain` to the table of the very name. `sides` are the tables of
    migrations: of one that is closed no copy is made, and those it has are removed in their time all the same.
    """
    wanted = db.environment.backups if db.environment is not None else None
    if wanted is None:
        return []
    kept, every = timedelta(days=wanted.keep_days), period_of(wanted)
    names = [db.physical(name) for design in db.designs for name in design.tables]

    def run(_: object) -> int:
        made = back_up(call, names, db.world.now(), kept, every)
        remove_old(plain or call, sides, db.world.now() - kept)
        return made

    about = f"Backs up each table; backups are kept for {wanted.keep_days} days."
    return [Job("backups", every, run, about, failures=FAILED_BACKUPS)]


def period_of(wanted: Backups) -> timedelta:
    """The time between two copies, at least an hour: a copy is named by its hour, or by its day."""
    return max(timedelta(hours=float(24 / times_a_day(wanted.schedule))), _AN_HOUR)


def back_up(
    call: Call, tables: Sequence[str], now: datetime, kept: timedelta, every: timedelta = _A_DAY
) -> int:
    """Copy each table that has no copy of this day (or hour), remove what is too old; returns how many were made."""
    made = 0
    name = backup_name(now, every)
    for table in tables:
        if name not in {one["BackupName"] for one in _ours(call, table, since=now - every - _A_DAY)}:
            call("CreateBackup", {"TableName": table, "BackupName": name})
            made += 1
    remove_old(call, tables, now - kept)
    log.info("tables backed up", extra={"tables": len(tables), "made": made})
    return made


def backup_name(now: datetime, every: timedelta) -> str:
    return f"tablewright-daily-{now:%Y-%m-%d}" if every >= _A_DAY else f"tablewright-hourly-{now:%Y-%m-%dT%H}"


def remove_old(call: Call, tables: Sequence[str], before: datetime) -> None:
    """Remove our copies of these tables that are older; the tables themselves may be gone."""
    for table in tables:
        for one in _ours(call, table, until=before + _A_DAY):
            if _is_older(one["BackupName"], before):
                _remove(call, one["BackupArn"])


def _is_older(name: str, before: datetime) -> bool:
    """Whether the day or hour of a copy was over before that of a moment began."""
    day_or_hour = _OURS.fullmatch(name)
    assert day_or_hour is not None
    day, hour = day_or_hour.groups()
    return bool(hour < f"{before:%Y-%m-%dT%H}" if hour else day < f"{before:%Y-%m-%d}")


def _ours(
    call: Call, table: str, since: datetime | None = None, until: datetime | None = None
) -> list[dict[str, Any]]:
    """Our copies of a table that were made in a time: 90 days of hours are 22 pages, and a page or two are needed."""
    bounds = {"TimeRangeLowerBound": since, "TimeRangeUpperBound": until}
    request = {"TableName": table} | {name: at.timestamp() for name, at in bounds.items() if at is not None}
    found = [one for page in pages(call, "ListBackups", request) for one in page["BackupSummaries"]]
    return [one for one in found if _OURS.fullmatch(one["BackupName"])]


def _remove(call: Call, arn: str) -> None:
    try:
        call("DeleteBackup", {"BackupArn": arn})
    except CallRefused as refusal:
        if refusal.name not in _NOT_NOW:
            raise
