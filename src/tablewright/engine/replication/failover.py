"""Fail-over: one region becomes the only writer of a table; and what follows from it.

    failover(regions, "eu-west-1", lost=["us-east-1"])

A fail-over fences every region that can be reached (it raises the epoch, so that they refuse writes), pulls what can
still be read from them, and then opens the new writer, which stores how far it had read every region. A region that
was not reached refuses writes as soon as it follows again. If it has writes the new writer had not read, it stays
fenced: `unreplicated` lists them, and `rejoin` replaces its items by the writer's.
Must hold: (epoch, writer) only grows; a fail-over that was broken off anywhere is completed by starting it again.
Elsewhere: how a region hears of a new epoch (follow.py), the commands (cli/dr/).
"""

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

import orjson

from tablewright.engine.catalog import Table
from tablewright.engine.engine import Engine
from tablewright.engine.replication.follow import follow
from tablewright.engine.replication.group import Copying, Group, Takeover
from tablewright.engine.replication.regions import Regions
from tablewright.engine.replication.store import authors, vector, written_since
from tablewright.engine.storage.rows import Row
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.values import Item

# How many steps are read while the old writer still writes: without an end it might never be caught up with.
STEPS = 100


class FailoverRefused(Exception):
    """A fail-over or a rejoin that is not possible now."""


@dataclass(frozen=True, slots=True)
class UnreplicatedWrite:
    """A write that the writer had not read when it took over; `item` is None for a delete."""

    table: str
    region: str
    at: int
    key: Item | str
    item: Item | None


@dataclass(frozen=True, slots=True)
class Failover:
    """What a fail-over of a table does, or did. `unread` are the regions it could not read to the end."""

    table: str
    writer: str
    before: str | None
    epoch: int
    unread: Sequence[str]


def replicated(engine: Engine, tables: Collection[str] | None = None) -> list[str]:
    """The tables with replicas in a region; all of them, or those named."""
    found = [table.name for table in engine.tables.values() if table.replicas is not None]
    missing = [name for name in tables or () if name not in found]
    if missing:
        raise FailoverRefused(f"{missing[0]} has no replicas in {engine.place.region}")
    return found if tables is None else list(tables)


def _group(table: Table) -> Group:
    assert table.replicas is not None, "only tables with replicas are asked for"
    return table.replicas


# --- fail-over ---


def plan_failover(
    regions: Regions, to: str, tables: Collection[str] | None = None, lost: Collection[str] = ()
) -> list[Failover]:
    """What failing over to that region would do, for each table it is not yet the writer of."""
    engine = _engine(regions, to)
    plans = []
    for name in replicated(engine, tables):
        table, group = engine.tables[name], _group(engine.tables[name])
        if table.status != "ACTIVE" or group.copying is not None:
            raise FailoverRefused(f"{name} is still being copied in {to}; wait until that is done")
        if group.fenced is not None:
            raise FailoverRefused(f"{name} in {to} has writes its writer lacks: let {to} rejoin first")
        known = [_group(one.tables[name]) for one in regions.engines.values() if _has(one, name)]
        newest = max(known, key=lambda one: one.role)
        if group.is_open and group.role == newest.role:
            continue
        is_begun = newest.writer == to
        # A lost region may be fenced for an epoch of a broken-off fail-over that no other region has heard of.
        epoch = newest.epoch if is_begun else newest.epoch + 1 + len(lost)
        # Until it is opened a new writer has written nothing: what may be unread is of the last one that was opened.
        opened = max(one.since for one in known)[1]
        before = None if newest.writer is None else opened or (None if is_begun else newest.writer)
        could_write = [one.region for one in group.readers if before in (None, one.region)]
        unread = [one for one in could_write if not _is_reached(regions, to, one, lost)]
        plans.append(Failover(name, to, before, epoch, unread))
    return plans


def failover(
    regions: Regions, to: str, tables: Collection[str] | None = None, lost: Collection[str] = ()
) -> list[Failover]:
    """Make a region the only writer of its tables with replicas. `lost` are regions that are not to be touched."""
    _read(regions, plan_failover(regions, to, tables, lost), lost, STEPS)  # most is read before the fence
    plans = plan_failover(regions, to, tables, lost)
    for plan in plans:
        fence(regions, plan, lost)
    _read(regions, plans, lost, sys.maxsize)
    for plan in plans:
        if not regions[to].session.write(partial(_open_writer, plan=plan)):
            raise FailoverRefused(f"{plan.table}: another fail-over was begun since")
    return plans


def _read(regions: Regions, plans: Sequence[Failover], lost: Collection[str], steps: int) -> None:
    """Read the tables from every region that is reached, at most so many steps, whatever the lag of its line is."""
    tables = [plan.table for plan in plans]
    pairs = {(plan.writer, source) for plan in plans for source in regions if source != plan.writer}
    for to, source in pairs:
        for _ in range(steps if _is_reached(regions, to, source, lost) else 0):
            with regions.following:
                if not follow(regions[to], regions[source], only=tables):
                    break


def fence(regions: Regions, plan: Failover, lost: Collection[str] = ()) -> None:
    """Make every region that is not lost refuse writes to the table, also while its lines are cut.

    The new writer, too, takes none until it is opened; what it reads until then comes from every region.
    """

    def raise_epoch(txn: WriteTransaction) -> None:
        table = txn.tables[plan.table]
        group = _group(table)
        if (plan.epoch, plan.writer) > group.role:
            txn.save_table(replace(table, replicas=replace(group, epoch=plan.epoch, writer=plan.writer)))

    for region, engine in regions.engines.items():
        if region not in lost and _has(engine, plan.table):
            engine.session.write(raise_epoch)


def _open_writer(txn: WriteTransaction, plan: Failover) -> bool:
    """Open the new writer; False if another fail-over was begun since the fence, or it was fenced itself."""
    table = txn.tables[plan.table]
    group = _group(table)
    if group.role != (plan.epoch, plan.writer) or not group.is_whole:
        return False
    takeover = Takeover(plan.epoch, plan.writer, vector(txn.rows, table.number))
    txn.save_table(replace(table, replicas=replace(group, takeovers=(*group.takeovers, takeover))))
    return True


def _engine(regions: Regions, region: str) -> Engine:
    if region not in regions.engines:
        raise FailoverRefused(f"there is no region {region} here; there are: {', '.join(regions)}")
    return regions[region]


def _has(engine: Engine, name: str) -> bool:
    return name in engine.tables and engine.tables[name].replicas is not None


def _is_reached(regions: Regions, reader: str, source: str, lost: Collection[str]) -> bool:
    return source in regions.engines and source not in lost and not regions.line(reader, source).is_cut


# --- the fenced region ---


def unreplicated(
    regions: Regions, region: str, tables: Collection[str] | None = None
) -> list[UnreplicatedWrite]:
    """The writes of a fenced region that its writer does not have; none of a region that is not fenced."""
    engine = _engine(regions, region)
    return [
        write if write.item is not None else replace(write, key=_deleted_key(regions, write))
        for name in replicated(engine, tables)
        for write in engine.session.read(partial(_unreplicated, name=name))
    ]


def _unreplicated(txn: ReadTransaction, name: str) -> list[UnreplicatedWrite]:
    table, group = txn.tables[name], _group(txn.tables[name])
    if group.fenced is None:
        return []
    found = []
    for region in authors(txn.rows, table.number, group):
        after = group.fenced.get(region, 0)
        for key, body, stamp in written_since(txn.rows, table.stamp_table, region, after, -1):
            item = None if body is None else orjson.loads(body)
            keys = key.hex() if item is None else {one: item[one] for one in table.schema.names}
            found.append(UnreplicatedWrite(name, region, stamp.committed if stamp else 0, keys, item))
    return found


def _deleted_key(regions: Regions, write: UnreplicatedWrite) -> Item | str:
    """The key of a deleted item as another region has it; its bytes where none has it."""
    for engine in regions.engines.values():
        table = engine.tables.get(write.table)
        if table is not None and isinstance(write.key, str):
            read = partial(_row, number=table.number, key=bytes.fromhex(write.key))
            if (row := engine.session.read(read)) is not None:
                return {one: orjson.loads(row.item)[one] for one in table.schema.names}
    return write.key


def _row(txn: ReadTransaction, number: int, key: bytes) -> Row | None:
    return txn.rows.get(number, key)


def rejoin(regions: Regions, region: str, tables: Collection[str] | None = None) -> list[str]:
    """Make a region's tables copies of the writer's; what only that region has is lost. The tables concerned.

    The copy is made by following: `regions.settle()` waits for it, and it goes on after a restart.
    """
    engine = _engine(regions, region)
    names = replicated(engine, tables)
    groups = {name: _group(engine.tables[name]) for name in names}
    idle = [name for name, group in groups.items() if group.fenced is None and group.writer in (None, region)]
    if idle and tables is not None:
        raise FailoverRefused(f"{idle[0]} in {region} is not fenced, and has no other writer")
    names = [name for name in names if name not in idle]
    sources = {name: _source(regions, name, groups[name]) for name in names}
    for name, source in sources.items():
        if not _has(_engine(regions, source), name):
            raise FailoverRefused(f"{name}: {source} has no such table to be copied from")
    for name, source in sources.items():
        engine.session.write(partial(_begin_copy, name=name, source=source))
    return names


def _source(regions: Regions, name: str, group: Group) -> str:
    """The writer; if that is this region, which was not opened, or none: a region with the newest fail-over."""
    if group.writer not in (None, group.region):
        return group.writer
    others = [regions[one.region] for one in group.readers if one.region in regions.engines]
    known = [_group(one.tables[name]) for one in others if _has(one, name)]
    if not known:
        raise FailoverRefused(f"{name}: no other region has it to be copied from")
    return max(known, key=lambda one: (one.is_whole, one.since)).region


def _begin_copy(txn: WriteTransaction, name: str, source: str) -> None:
    table = txn.tables[name]
    group = _group(table)
    me = group.member(group.region)
    assert me is not None, "a region is a member of the groups it keeps"
    group = group.with_member(replace(me, status="UPDATING", why=f"it is copied from {source}"))
    txn.save_table(replace(table, replicas=replace(group, copying=Copying(source))))
