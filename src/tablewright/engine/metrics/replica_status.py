"""The replicas of every region: their writer, how far they are behind, and what is not replicated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from tablewright.engine.engine import Engine
from tablewright.engine.replication.stamps import count_unknown, heard_vector
from tablewright.engine.replication.store import count_since, vector
from tablewright.engine.transaction import ReadTransaction


class Lag(NamedTuple):
    """What a region has not read of another's writes: how many keys, and for how long (None: nothing)."""

    table: str
    source: str
    reader: str
    pending: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class ReplicaStatus:
    """A table's replica in one region. `unreplicated` is None unless the region is fenced."""

    table: str
    region: str
    status: str
    epoch: int
    writer: str | None
    takes_writes: bool
    unreplicated: int | None
    is_copying: bool
    lags: Sequence[Lag]


def statuses(engines: Mapping[str, Engine]) -> list[ReplicaStatus]:
    """Every replica of every region."""
    return [
        engine.session.read(partial(_status, name=table.name))
        for engine in engines.values()
        for table in engine.tables.values()
        if table.replicas is not None
    ]


def _status(txn: ReadTransaction, name: str) -> ReplicaStatus:
    table, group = txn.tables[name], txn.tables[name].replicas
    assert group is not None, "only tables with replicas are asked for"
    fenced = None if group.fenced is None else count_unknown(txn.rows, table, group, group.fenced)
    behind = [lag for lag in lags(txn) if lag.table == name]
    return ReplicaStatus(
        name,
        group.region,
        table.status,
        group.epoch,
        group.writer,
        group.takes_writes,
        fenced,
        group.copying is not None,
        behind,
    )


def lags(txn: ReadTransaction) -> list[Lag]:
    """How far the other regions are behind with the writes of this one, as far as it is known here."""
    rows, now = txn.rows, txn.now_us()
    found: list[Lag] = []
    for table in txn.tables.values():
        group = table.replicas
        if group is None or table.status != "ACTIVE" or group.writer not in (None, group.region):
            continue
        # A writer also passes on what others wrote before.
        sources = [group.region] if group.writer is None else list(vector(rows, table.number))
        for one in group.readers:
            known = heard_vector(rows, table.number, one.region)
            behind = [
                count_since(rows, table.stamp_table, source, known.get(source, 0))
                for source in sources
                if source != one.region
            ]
            oldest = min((at for _, at in behind if at is not None), default=None)
            age = None if oldest is None else max(0, now - oldest) / 1_000_000
            found.append(Lag(table.name, group.region, one.region, sum(count for count, _ in behind), age))
    return found
