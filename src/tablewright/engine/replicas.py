"""Replicas of a table in several regions: each is written on its own, and each takes over what the others write.

A table with replicas keeps a stamp for every key that is written: when, where, and the write's number among those of
its region. A region reads the others' newest writes in the order of their numbers and takes over those whose stamp is
later than what it has; so all end with the same items, in whatever order they hear of each other. Deletes leave a
trace, which goes when nobody can still send an older write of that key. An item without a stamp is from before the
table had replicas, older than any write since.
Must hold: how far another region has been read is committed together with what was taken over from it, so that being
killed anywhere loses nothing and doubles nothing; a write is stamped later than the write it follows.
Elsewhere: the values (replica_group.py), who asks whom (replica_pulls.py, replica_peers.py), who may write
(replica_roles.py), UpdateTable's rules (replica_updates.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import orjson

from tablewright.engine.capacity import entry_units, write_units
from tablewright.engine.catalog import Catalog, Table
from tablewright.engine.journal import REPLICA
from tablewright.engine.metric_names import CONSUMED_WRITE
from tablewright.engine.metric_names import Mark as Used
from tablewright.engine.replica_group import Copying, Group, Member, Overrides
from tablewright.engine.scaling_settings import settings_here
from tablewright.engine.storage_replicas import (
    Kept,
    Stamp,
    create_stamps,
    forget_marks,
    forget_traces,
    keys_between,
    mark,
    oldest_traces,
    save_mark,
    save_number,
    stamp,
    stamp_theirs,
    unread,
    vector,
    written_since,
)
from tablewright.engine.storage_rows import Rows
from tablewright.engine.writing import Writing
from tablewright.values import Item, admit_item

DAY = 86_400_000_000
# Traces of deletes are kept for those who have not read them, but not for ever: after this a region that still has not
# copies the table anew.
TRACES_KEPT = 35 * DAY
PRUNED_TRACES = 500


# --- beginning and ending ---


def with_group(writing: Writing, table: Table) -> Table:
    """The table with a group of replicas, of which it is the only one so far."""
    if table.replicas is not None:
        return table
    region, now = writing.place.region, writing.pen.at
    own = Overrides(scaling=settings_here(writing.rows, table))
    me = Member(region, (now, region), added=now, status="ACTIVE", overrides=own)
    return _begun(
        writing, table, Group(writing.world.new_id(), region, (me,), writing.pen.seq, table.next_index)
    )


def joined(writing: Writing, table: Table, group: Group, source: str) -> Table:
    """A table that was just created as a replica: its items are still to be copied."""
    group = replace(
        group,
        region=writing.place.region,
        born=writing.pen.seq,
        stamps=table.next_index,
        # What the source itself does not know yet, we do not know.
        held=None if group.held is None else {},
        drained=(),
        copying=Copying(source),
    )
    return _begun(writing, replace(table, status="CREATING"), group)


def _begun(writing: Writing, table: Table, group: Group) -> Table:
    table = replace(table, replicas=group, next_index=table.next_index + 1)
    create_stamps(writing.rows, table.ledger)
    # Numbers begin with the time, so that a replica that comes again does not begin with numbers it has given before.
    save_number(writing.rows, table.number, group.region, writing.pen.at)
    return table


def without_group(writing: Writing, table: Table) -> Table:
    """The table by itself again."""
    writing.rows.doom([table.ledger.name])
    forget_replicas(writing, table)
    return replace(table, replicas=None)


def forget_replicas(writing: Writing, table: Table) -> None:
    """What is kept of a table's replicas outside of it, when it goes."""
    writing.forget_numbers(table)
    forget_marks(writing.rows, table.number)


# --- taking over what others wrote ---


def take(writing: Writing, table: Table, key: bytes, item: Item | None, theirs: Stamp | None) -> list[Used]:
    """Take over a write from elsewhere if it is the later one; what that used, which is nothing if it is not."""
    mine = stamp(writing.rows, table.ledger, key)
    if mine is not None and (theirs is None or (mine.at, mine.region) >= (theirs.at, theirs.region)):
        return []
    return put_in_place(writing, table, key, item, theirs)


def put_in_place(
    writing: Writing, table: Table, key: bytes, item: Item | None, theirs: Stamp | None
) -> list[Used]:
    """Make the key what it is elsewhere, with its stamp; the units it takes, as marks."""
    row = writing.rows.get(table.number, key)
    new, size = (None, 0) if item is None else admit_item(item)
    used = {"": write_units(0 if row is None else row.size, size)}
    if row is not None or new is not None:
        old = None if row is None else orjson.loads(row.item)
        for entry in writing.change(table, key, row, old, new, size, REPLICA):
            owner = "" if entry.index.local else entry.index.name
            used[owner] = used.get(owner, 0.0) + entry_units(table, entry, old, new)
    stamp_theirs(writing.rows, table.ledger, key, theirs)
    return [((CONSUMED_WRITE, table.name, index, ""), units) for index, units in used.items() if units]


class Arrived(NamedTuple):
    """A key as it came from elsewhere."""

    key: bytes
    item: Item | None
    stamp: Stamp | None


def take_page(
    writing: Writing, table: Table, page: Sequence[Arrived], last: bytes | None, pruned: Mapping[str, int]
) -> Table:
    """Take over a run of another region's keys, up to `last` (None: to the end); the table with how far that was.

    What is here and not there was deleted there, unless it is a write that the other region had not read. `pruned` are
    the numbers up to which it has no traces of deletes.
    """
    group = table.replicas
    assert group is not None, "only a replica takes pages"
    assert group.copying is not None, "only a table that is being copied takes pages"
    copying = group.copying
    start = copying.start or {}
    there = {one.key for one in page}
    for key, mine in keys_between(writing.rows, table.ledger, bytes.fromhex(copying.after), last):
        if key in there:
            continue
        if copying.is_mirror or ((mine is None or not mine.is_gone) and _had_read(start, mine)):
            put_in_place(writing, table, key, None, None)
    for one in page:
        if copying.is_mirror:
            put_in_place(writing, table, *one)
        else:
            take(writing, table, *one)
    copied = copying.copied + len(page)
    if last is not None:
        going_on = replace(copying, after=last.hex(), copied=copied)
        return replace(table, replicas=replace(group, copying=going_on))
    _take_marks(writing, table, group, copying, pruned)
    return _copied(writing, table, group, copying)


def _had_read(start: Mapping[str, int], mine: Stamp | None) -> bool:
    return mine is None or mine.number <= start.get(mine.region, 0)


def _take_marks(
    writing: Writing, table: Table, group: Group, copying: Copying, pruned: Mapping[str, int]
) -> None:
    """Everything is copied: what the source had read is read here, and the traces it has not are not here either."""
    rows, start = writing.rows, copying.start or {}
    for region in {*vector(rows, table.number), *start}:
        known = mark(rows, table.number, region)
        number, without = start.get(region, 0), pruned.get(region, 0)
        if region == group.region:
            number = known.number
        if not copying.is_mirror:
            number, without = max(number, known.number), max(without, known.pruned)
        save_mark(rows, table.number, region, known._replace(number=number, pruned=without))


def _copied(writing: Writing, table: Table, group: Group, copying: Copying) -> Table:
    """Everything is copied: from here on the changes since its beginning are followed."""
    me = group.member(group.region)
    assert me is not None, "a region is a member of the groups it keeps"
    group = replace(group.with_member(replace(me, status="ACTIVE", why=None)), copying=None)
    if copying.is_mirror:
        # If somebody else was promoted meanwhile, it has still to say whether what we have mirrored came along.
        held: Mapping[str, int] | None = None if copying.role == group.role else {}
        group = replace(group, line=copying.line, held=held, born=writing.pen.seq)
    return replace(table, status="ACTIVE", replicas=group)


def arrived(kept: Sequence[Kept]) -> list[Arrived]:
    return [Arrived(one.key, None if one.item is None else orjson.loads(one.item), one.stamp) for one in kept]


# --- traces of deletes ---


def prune_traces(writing: Writing) -> bool:
    """Remove a few traces that nobody needs any more; False when there are none."""
    for table in writing.tables.values():
        group = table.replicas
        if group is None:
            continue
        for region in [one.region for one in group.members]:
            upto = read_by_all(writing.rows, table.number, group, region)
            if upto and forget_traces(writing.rows, table.ledger, region, upto, PRUNED_TRACES):
                return True
        if _give_up_old(writing, table, group):
            return True
    return False


def read_by_all(rows: Rows, table: int, group: Group, region: str) -> int:
    """Up to which of a region's writes no other replica can send anything older.

    A replica that has read them stamps what it writes later; what it wrote before, we had read when it told us.
    """
    told = [
        _told_vector(mark(rows, table, one.region).heard).get(region, 0)
        for one in group.readers
        if one.region != region
    ]
    return min(told, default=mark(rows, table, region).number)


def _told_vector(heard: bytes | None) -> dict[str, int]:
    return {} if heard is None else orjson.loads(heard)


def _give_up_old(writing: Writing, table: Table, group: Group) -> bool:
    old = oldest_traces(writing.rows, table.ledger, writing.pen.at - TRACES_KEPT, PRUNED_TRACES)
    for key, theirs in old:
        stamp_theirs(writing.rows, table.ledger, key, None)
        known = mark(writing.rows, table.number, theirs.region)
        given_up = known._replace(pruned=max(known.pruned, theirs.number))
        save_mark(writing.rows, table.number, theirs.region, given_up)
    return bool(old)


# --- how far behind the others are ---


class Lag(NamedTuple):
    """What a region has not read of the writes made in another: how many keys, and for how long (None: nothing)."""

    table: str
    source: str
    reader: str
    pending: int
    seconds: float | None


def lags(rows: Rows, tables: Catalog, now: int) -> list[Lag]:
    """How far behind the other regions are with what was written here, as far as they have told."""
    found: list[Lag] = []
    for table in tables.values():
        group = table.replicas
        if group is None or table.status != "ACTIVE" or group.writer not in (None, group.region):
            continue
        # A writer also passes on what others wrote before.
        sources = [group.region] if group.writer is None else list(vector(rows, table.number))
        for one in group.readers:
            told = _told_vector(mark(rows, table.number, one.region).heard)
            behind = [
                unread(rows, table.ledger, source, told.get(source, 0))
                for source in sources
                if source != one.region
            ]
            pending = sum(count for count, _ in behind)
            since = min((at for _, at in behind if at is not None), default=None)
            age = None if since is None else max(0, now - since) / 1_000_000
            found.append(Lag(table.name, group.region, one.region, pending, age))
    return found


def has_given_up(rows: Rows, table: Table, left: Mapping[str, int]) -> bool:
    """Whether something is here that is later than these numbers, or may have been: a trace that was given up."""
    return any(
        mark(rows, table.number, region).pruned > left.get(region, 0)
        or any(written_since(rows, table.ledger, region, left.get(region, 0), 1))
        for region in authors(rows, table)
    )


def unread_elsewhere(rows: Rows, table: Table, held: Mapping[str, int]) -> int:
    """How many keys have a write that a region which has read so far does not know."""
    return sum(unread(rows, table.ledger, region, held.get(region, 0))[0] for region in authors(rows, table))


def authors(rows: Rows, table: Table) -> set[str]:
    """The regions that may have written what is here: also those of which only copies have come so far."""
    members = () if table.replicas is None else table.replicas.members
    return {*vector(rows, table.number), *(one.region for one in members)}
