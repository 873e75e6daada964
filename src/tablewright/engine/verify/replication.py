"""The invariants of replicas, and that everything in a store belongs to its region: each broken one is a sentence.

Elsewhere: comparing the items of two regions (region_items.py); everything else (invariants.py).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from tablewright.engine.catalog import Table
from tablewright.engine.journal import REPLICA
from tablewright.engine.replication.group import Group
from tablewright.engine.replication.store import all_marks, all_stamps, read_mark, vector
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.verify import store

# What has an ARN, and its SQL table.
_NAMED = (("stream", "streams"), ("backup", "backups"), ("export", "exports"), ("import", "imports"))


class TableMark(NamedTuple):
    """How far a region has read another's writes to a table of a group; of itself, how many there are."""

    group: str
    table: str
    reader: str
    source: str
    number: int


def table_marks(rows: RowReader, tables: Iterable[Table]) -> Iterator[TableMark]:
    for table in tables:
        group = table.replicas
        if group is not None:
            for source, number in vector(rows, table.number).items():
                yield TableMark(group.id, table.name, group.region, source, number)


def read_too_far(marks: Sequence[TableMark]) -> Iterator[str]:
    """No region has read more of another than was written there: it would miss the next writes."""
    last = {(one.group, one.source): one.number for one in marks if one.reader == one.source}
    for one in marks:
        if one.number > last.get((one.group, one.source), one.number):
            yield f"{one.reader}: it has read {one.table} of {one.source} beyond its last write"


def wrong_replicas(rows: RowReader, tables: Sequence[Table]) -> Iterator[str]:
    replicated = {table.number: table for table in tables if table.replicas is not None}
    for owner, region in all_marks(rows):
        if owner not in replicated:
            yield f"the replicas: there is a mark of {region} for {owner}, which is not a table with replicas"
    if not replicated:
        return
    unstamped = _last_written_here(rows, replicated)
    for table in replicated.values():
        group = table.replicas
        if group is not None:
            yield from _wrong_table(rows, table, group, unstamped[table.number])


def _last_written_here(rows: RowReader, replicated: dict[int, Table]) -> dict[int, set[bytes]]:
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


def _wrong_table(rows: RowReader, table: Table, group: Group, unstamped: set[bytes]) -> Iterator[str]:
    where = f"replicas of {table.name}"
    me = group.member(group.region)
    if me is None or (me.is_gone and table.status == "ACTIVE"):
        yield f"{where}: {group.region} is not among them"
    if group.writer is not None and group.epoch == 0:
        yield f"{where}: there is a writer before the first epoch"
    yield from _wrong_takeovers(where, group)
    last = read_mark(rows, table.number, group.region).number
    for key, stamp in all_stamps(rows, table.stamp_table):
        unstamped.discard(key)
        if stamp.region == group.region and stamp.number > last:
            yield f"{where}: {key.hex()} has the number {stamp.number}, but only {last} were given"
        if stamp.is_gone == (rows.get(table.number, key) is not None):
            yield f"{where}: the stamp of {key.hex()} does not say whether there is an item"
    for key in sorted(unstamped):
        yield f"{where}: {key.hex()} was written and has no stamp"


def _wrong_takeovers(where: str, group: Group) -> Iterator[str]:
    """A store of a release that did not store fail-overs has none until the next."""
    roles = [(one.epoch, one.writer) for one in group.takeovers]
    for before, after in pairwise(roles):
        if before >= after:
            yield f"{where}: the fail-over {after} is stored after {before}"
    if roles and max(roles) > group.role:
        yield f"{where}: the fail-over {max(roles)} is stored, but the epoch is {group.role}"


# --- one store, one region ---


def wrong_regions(rows: RowReader, tables: Sequence[Table], region: str | None) -> Iterator[str]:
    """What belongs to another region than the store: `region`, or by default that of its oldest table."""
    oldest = min(tables, key=lambda table: table.number, default=None)
    home = region or (None if oldest is None else _region_of(oldest.arn))
    if home is None:
        return
    for table in tables:
        if _region_of(table.arn) != home:
            yield f"table {table.name}: it is {_region_of(table.arn)}'s, and this store is {home}'s: {table.arn}"
        if table.replicas is not None and table.replicas.region != home:
            yield f"replicas of {table.name}: they are seen from {table.replicas.region}, and this store is {home}'s"
    for what, kept in _NAMED:
        for arn in store.arns(rows, kept):
            if _region_of(arn) != home:
                yield f"{what} {arn}: it is {_region_of(arn)}'s, and this store is {home}'s"


def _region_of(arn: str) -> str:
    """`arn:aws:dynamodb:eu-west-1:...`; the whole text where it is not an ARN."""
    parts = arn.split(":", 5)
    return parts[3] if len(parts) == 6 else arn
