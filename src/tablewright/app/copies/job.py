"""A daily copy of a store's tables elsewhere, for those systems whose design says `copy_to` (SK-32).

The person who runs the server says where (`serve --copies`): a design's region is Amazon's. Every few minutes the job
runs one step: it requests the exports, all of one moment; later it checks that they are complete, compares them with
their manifests and writes the copy's entry; then it removes copies that are too old. It never waits, so no other job
waits for it; the state is in the store and at the location, so the next step continues after a crash at any point.
Must hold: a copy has all writes from before it started, and gets its entry when all of its tables are complete; the
newest one is never removed, however old it is; of others each table is removed when its own design says so, whatever
other designs keep; objects of other stores are not touched; files beside the tables are only ever added.
Elsewhere: the layout (store.py), the store's name (store_id.py), restores (restore.py),
backups within the store (backups.py).
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tablewright.app.copies.store import CopiedTable, Copy, CopyPlace, moment_name
from tablewright.client import Call, CallRefused
from tablewright.design.alarms import FAILED_COPIES
from tablewright.engine.limits import CLIENT_TOKEN_HOURS
from tablewright.engine.transfer.buckets import BucketUnusable
from tablewright.engine.transfer.export_format import home as home_of
from tablewright.english import plural
from tablewright.kit.jobs import Job
from tablewright.mapping import Db
from tablewright.world import World

log = logging.getLogger("tablewright.app")

NAME = "copies"
EVERY = timedelta(minutes=5)
# A full or unreachable location stays so for a while; until then each run of the job reports the failure.
TRY_AGAIN = timedelta(hours=1)
# The store recognises a repeated export request for this long; an older copy is started again.
GIVE_UP = timedelta(hours=CLIENT_TOKEN_HOURS - 1)


class CopyFailed(Exception):
    """A table could not be copied, or its copy is incomplete."""

    def __init__(self, table: str, why: str) -> None:
        self.table, self.why = table, why
        super().__init__(f"{table} was not copied: {why}")


@dataclass(frozen=True, slots=True)
class Copying:
    """Whose copies go where: tables of a store, each for so long; `beside` are folders by their system.

    `led` are the Calls of tables that may have moved to another (mapping/migrate): what is copied is the one that is
    open, by the name it is known by.
    """

    call: Call
    world: World
    place: CopyPlace
    store: str
    tables: Mapping[str, timedelta]
    beside: Mapping[str, tuple[Path, Sequence[str]]]
    led: Mapping[str, Call] = field(default_factory=dict)

    def described(self, table: str) -> dict[str, Any]:
        found: dict[str, Any] = self.led.get(table, self.call)("DescribeTable", {"TableName": table})["Table"]
        return found

    def key(self, kind: str, *parts: str) -> str:
        return self.place.key(kind, self.store, *parts)


def tables_to_copy(dbs: Sequence[Db]) -> dict[str, timedelta]:
    """The tables of those designs that want a copy elsewhere, with how long each is kept."""
    wanted = [
        (db, db.environment.backups)
        for db in dbs
        if db.environment is not None
        and db.environment.backups is not None
        and db.environment.backups.copy_to is not None
    ]
    return {
        db.physical(name): timedelta(days=backups.keep_days)
        for db, backups in wanted
        for design in db.designs
        for name in design.tables
    }


def advice_of(titles: Sequence[str]) -> str:
    """Advice for a server without a location for the copies that designs want."""
    want = "wants" if len(titles) == 1 else "want"
    return (
        f"{' and '.join(titles)} {want} a daily off-site copy, but no location is set: start the server with "
        "--copies DIR (another disk) or --copies s3://bucket/prefix (another region)"
    )


def moved_advice(place: CopyPlace) -> str:
    """Advice if the location of a store that had copies is empty: a new disk, or a missing mount."""
    return (
        f"{place.name} was empty, although this store was copied before: if it is a mount, check that it is mounted, "
        "or the copies stay on this machine"
    )


def copies_job(copying: Copying) -> Job[object]:
    tables = plural(len(copying.tables), "table")
    days = sorted({kept.days for kept in copying.tables.values()})
    kept = " or ".join(map(str, days))
    about = f"Copies {tables} to {copying.place.name} once a day; copies are kept for {kept} days."
    return Job(NAME, EVERY, lambda _: bring_further(copying), about, failures=FAILED_COPIES)


def bring_further(copying: Copying) -> None:
    """A step: what is beside the tables, today's copy, copies that are too old."""
    try:
        whole, now = copying.place.copies(copying.store, _is_odd), copying.world.now()
        try:
            _carry(copying)
            if not any(copy.at.date() == now.date() for copy in whole):
                made = _advanced(copying, whole, now)
                whole += [made] if made is not None else []
        finally:
            # Also if today's copy fails: this frees space, and removes erased people from old copies in time.
            _remove_old(copying, whole, now)
    except BucketUnusable as trouble:
        facts = {"place": copying.place.name, "code": trouble.code, "why": trouble.message}
        log.error("the place for copies cannot be used", extra=facts)
        raise


def _is_odd(sentence: str) -> None:
    log.warning("an entry at the place for copies is none", extra={"entry": sentence})


# --- today's ---


def _advanced(copying: Copying, whole: Sequence[Copy], now: datetime) -> Copy | None:
    """Today's copy, if it is done by this; None if it is under way."""
    begun = _begun(copying, now)
    if begun is None or any(copy.at == begun for copy in whole):
        begun = _begin(copying, whole, now)
    try:
        return _finished(copying, begun)
    except CopyFailed as failure:
        if now - begun < TRY_AGAIN:
            log.error("a table was not copied", extra={"table": failure.table, "why": failure.why})
            raise
    return _finished(copying, _begin(copying, whole, now))


def _begun(copying: Copying, now: datetime) -> datetime | None:
    """The moment of the copy that was begun last, if it can be gone on with."""
    at = copying.place.begun(copying.store).get(copying.store)
    # What is to come cannot be exported: the clock was ahead, and has been put right since.
    return None if at is None or at > now or now - at >= GIVE_UP else at


def _begin(copying: Copying, whole: Sequence[Copy], now: datetime) -> datetime:
    """Another copy, of this moment; what is left of those that never became whole goes."""
    # By their entries, not by what could be read of them: what a damaged one tells of may be the only good copy.
    unread = copying.place.moments(copying.store) - {moment_name(copy.at) for copy in whole}
    known = [copying.key("data", name, "") for name in unread]
    known += [table.home for copy in whole for table in copy.tables]
    if removed := copying.place.remove(copying.key("data", ""), but=known):
        log.warning("parts of copies that are none were removed", extra={"objects": removed})
    # This very moment, not its second: what the jobs before this one filled (schedule.py) has to be in it.
    at = now.astimezone(UTC)
    begun = copying.place.key("begun", f"{copying.store}.json")
    copying.place.put(begun, json.dumps({"at": at.isoformat()}).encode())
    return at


def _finished(copying: Copying, at: datetime) -> Copy | None:
    """The copy of that moment, told of at its place; None if not all of its exports are done."""
    exports = {table: _exported(copying, table, at) for table in copying.tables}
    for table, export in exports.items():
        if export["ExportStatus"] == "FAILED":
            raise CopyFailed(table, f"{export.get('FailureCode')}, {export.get('FailureMessage')}")
    if any(export["ExportStatus"] != "COMPLETED" for export in exports.values()):
        return None
    made = Copy(
        store=copying.store,
        at=at,
        tables=[_checked(copying, table, export) for table, export in exports.items()],
    )
    copying.place.put(copying.key("whole", f"{moment_name(at)}.json"), made.model_dump_json().encode())
    log.info("tables copied", extra={"tables": len(made.tables), "items": made.items})
    return made


def _exported(copying: Copying, table: str, at: datetime) -> dict[str, Any]:
    """The export of a table at that moment: asked for now, or before. The token makes it the same one."""
    name = moment_name(at)
    try:
        asked = {
            "TableArn": copying.described(table)["TableArn"],
            "ExportTime": at.timestamp(),
            "ClientToken": f"{copying.store}/{name}/{table}",
            "S3Bucket": copying.place.bucket.name,
            "S3Prefix": copying.key("data", name),
        }
        export: dict[str, Any] = copying.call("ExportTableToPointInTime", asked)["ExportDescription"]
    except CallRefused as refusal:
        raise CopyFailed(table, refusal.name) from refusal
    return export


def _checked(copying: Copying, table: str, export: dict[str, Any]) -> CopiedTable:
    """The table in its copy; CopyFailed if what lies at the place is not what the store says it exported."""
    place = copying.place
    home = home_of(export["S3Prefix"], str(export["ExportArn"]).rpartition("/")[2])
    summary, listed = (place.read(f"{home}manifest-{name}.json") for name in ("summary", "files"))
    if summary is None or listed is None:
        raise CopyFailed(table, "its manifest is missing")
    files = [json.loads(line) for line in listed.splitlines()]
    there = set(place.keys(home))
    if any(file["dataFileS3Key"] not in there for file in files):
        raise CopyFailed(table, "a file listed in its manifest is missing")
    counts = {json.loads(summary)["itemCount"], sum(file["itemCount"] for file in files), export["ItemCount"]}
    if len(counts) != 1:
        raise CopyFailed(table, "the item counts of its manifests and of the store differ")
    made = definition(copying.described(table))
    size = json.loads(summary).get("billedSizeBytes")
    return CopiedTable(name=table, items=counts.pop(), bytes=size, home=home, definition=made)


def definition(described: Mapping[str, Any]) -> dict[str, Any]:
    """The CreateTable request of the table: keys and indexes. The server sets streams, TTL and recovery."""
    made = {name: described[name] for name in ("AttributeDefinitions", "KeySchema")}
    made["BillingMode"] = "PAY_PER_REQUEST"
    for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
        if described.get(kind):
            made[kind] = [
                {name: index[name] for name in ("IndexName", "KeySchema", "Projection")}
                for index in described[kind]
            ]
    return made


# --- those that are too old ---


def _remove_old(copying: Copying, whole: Sequence[Copy], now: datetime) -> None:
    """Each table goes from a copy when its own time is over: a design that keeps for longer keeps its own alone."""
    longest = max(copying.tables.values(), default=timedelta(0))
    for copy in sorted(whole, key=lambda copy: copy.at):
        over = [table for table in copy.tables if copy.at < now - copying.tables.get(table.name, longest)]
        if not over or copy.at in _newest(whole, now):
            continue
        name = moment_name(copy.at)
        entry = copying.key("whole", f"{name}.json")
        left = [table for table in copy.tables if table not in over]
        # The entry is removed first: half of a copy must not be listed.
        if left:
            copying.place.put(entry, copy.model_copy(update={"tables": left}).model_dump_json().encode())
        else:
            copying.place.remove(entry)
        copying.place.remove(copying.key("data", name, ""), but=[table.home for table in left])
        log.info("an old copy was removed", extra={"copy": name, "tables": len(over)})


def _newest(whole: Sequence[Copy], now: datetime) -> set[datetime]:
    """The last moment, and the last that has been: a clock that was ahead made a copy which is not the newest."""
    moments = [copy.at for copy in whole]
    been = [at for at in moments if at <= now]
    return {max(some) for some in (moments, been) if some}


# --- what is beside the tables ---


def _carry(copying: Copying) -> None:
    """Files that the place does not have yet. What a restore needs of one does not change, so its name is enough."""
    there = set(copying.place.keys(copying.key("beside", "")))
    for system, (home, folders) in copying.beside.items():
        for path in _files(home, folders):
            key = copying.key("beside", system, path.relative_to(home).as_posix())
            if key not in there:
                copying.place.put(key, path.read_bytes())


def _files(home: Path, folders: Sequence[str]) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((home / folder).rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                yield path
