"""The invariants of replicas: each broken one is a sentence.

Elsewhere: what is compared between two regions (replica_standings.py); everything else (verify.py).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from tablewright.engine.catalog import Table
from tablewright.engine.journal import REPLICA
from tablewright.engine.replica_group import Group
from tablewright.engine.storage_replicas import all_marks, all_stamps, mark, vector
from tablewright.engine.storage_rows import Rows


class ReadMark(NamedTuple):
    """How far a region has read another's writes to a table of a group; of itself, how far they go."""

    group: str
    table: str
    reader: str
    source: str
    number: int


def read_marks(rows: Rows, tables: Iterable[Table]) -> Iterator[ReadMark]:
    for table in tables:
        group = table.replicas
        if group is not None:
            for source, number in vector(rows, table.number).items():
                yield ReadMark(group.id, table.name, group.region, source, number)


def read_too_far(marks: Sequence[ReadMark]) -> Iterator[str]:
    """Nobody has read more of a region than was written there: it would pass over what comes next."""
    last = {(one.group, one.source): one.number for one in marks if one.reader == one.source}
    for one in marks:
        if one.number > last.get((one.group, one.source), one.number):
            yield f"{one.reader}: it has read {one.table} of {one.source} beyond its last write"


def wrong_replicas(rows: Rows, tables: Sequence[Table]) -> Iterator[str]:
    replicated = {table.number: table for table in tables if table.replicas is not None}
    for owner, region, _ in all_marks(rows):
        if owner not in replicated:
            yield f"the replicas: how far {region} was read is kept for {owner}, which is no table with replicas"
    if not replicated:
        return
    unstamped = _last_written_here(rows, replicated)
    for table in replicated.values():
        group = table.replicas
        if group is not None:
            yield from _wrong_table(rows, table, group, unstamped[table.number])


def _last_written_here(rows: Rows, replicated: dict[int, Table]) -> dict[int, set[bytes]]:
    """For each table the keys whose last change since it has replicas was a write made here that left an item."""
    found: dict[int, set[bytes]] = {number: set() for number in replicated}
    for seq, _, source, owner, key, _, new in rows.journal():
        table = replicated.get(owner)
        if table is None or table.replicas is None or seq <= table.replicas.born:
            continue
        if source != REPLICA and new is not None:
            found[owner].add(key)
        else:
            found[owner].discard(key)
    return found


def _wrong_table(rows: Rows, table: Table, group: Group, unstamped: set[bytes]) -> Iterator[str]:
    where = f"replicas of {table.name}"
    me = group.member(group.region)
    if me is None or (me.is_gone and table.status == "ACTIVE"):
        yield f"{where}: {group.region} is not among them"
    if group.writer is not None and group.epoch == 0:
        yield f"{where}: there is a writer before the first epoch"
    yield from _wrong_line(where, group)
    last = mark(rows, table.number, group.region).number
    for key, stamp in all_stamps(rows, table.ledger):
        unstamped.discard(key)
        if stamp.region == group.region and stamp.number > last:
            yield f"{where}: {key.hex()} has the number {stamp.number}, but only {last} were given"
        if stamp.is_gone == (rows.get(table.number, key) is not None):
            yield f"{where}: the stamp of {key.hex()} does not say whether there is an item"
    for key in sorted(unstamped):
        yield f"{where}: {key.hex()} was written and has no stamp"


def _wrong_line(where: str, group: Group) -> Iterator[str]:
    """A store from before takeovers were noted has none until the next."""
    roles = [one.role for one in group.line]
    for before, after in pairwise(roles):
        if before >= after:
            yield f"{where}: the takeover {after} is noted after {before}"
    if roles and max(roles) > group.role:
        yield f"{where}: the takeover {max(roles)} is noted, but the epoch is {group.role}"
    if roles and group.writer == group.region and roles[-1] != group.role:
        yield f"{where}: {group.region} writes in {group.role}, but the last takeover noted is {roles[-1]}"
