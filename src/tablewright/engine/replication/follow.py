"""How a region follows another: it reads what was written there since it last read, and applies it.

`follow` is one step with one source. It asks the source for replicas that are to be created or deleted there, copies
a page of a table that is being copied, and reads the next writes of every table both have. A region passes on what it
has read of others, so that a region whose line to the author is cut reads it from a third.
Must hold: nothing but the two stores remembers how far a region has come, so a step can be repeated or broken off.
Elsewhere: when steps are made, and the lines (regions.py); what a step changes (apply.py).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import orjson

from tablewright.engine.api.replica_overrides import with_overrides
from tablewright.engine.api.tables import drop_table
from tablewright.engine.catalog import Table
from tablewright.engine.engine import Engine
from tablewright.engine.journal import microseconds
from tablewright.engine.metrics.names import REPLICATION_LATENCY
from tablewright.engine.replication import store
from tablewright.engine.replication.apply import (
    apply_copy,
    apply_writes,
    create_replica,
    take_settings,
    take_time_to_live,
)
from tablewright.engine.replication.group import Copying, Group, Member, Vector, merged, missed, survived
from tablewright.engine.replication.stamps import count_unknown, without_group
from tablewright.engine.replication.store import ReadMark, StampedItem
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.throughput.autoscaling_settings import adopt_settings
from tablewright.engine.transaction import ReadTransaction, WriteTransaction

# How much one step reads: some milliseconds of work for either store. The items of a transaction may be read in two
# steps: transactions are not atomic in other regions, as on the service.
WRITES = 500
COPIED = 100
STEP_BYTES = 1_000_000


def follow(
    reader: Engine, source: Engine, before: int | None = None, only: Collection[str] | None = None
) -> bool:
    """One step of following, for all tables or `only` some; True if it changed anything, so that another may.

    `before`: writes made after that moment (microseconds) are left for later.
    """
    region, is_changed = source.place.region, False
    for table in [one for one in reader.tables.values() if only is None or one.name in only]:
        group = table.replicas
        member = None if group is None else group.member(region)
        if group is None or member is None or member.status in ("GONE", "CREATION_FAILED"):
            continue
        if _group_of(source, table) is None or member.is_gone:
            step = _requested(reader, source, table, group, member)
        elif group.copying is not None and group.copying.source == region:
            step = _copy_page(reader, source, table, group.copying)
        else:
            step = _read_writes(reader, source, table, before)
        is_changed = step or is_changed
    return is_changed


def _group_of(source: Engine, table: Table) -> Group | None:
    """The source's view of the replicas of that table; None if it has no replica of it."""
    theirs, mine = source.tables.get(table.name), table.replicas
    found = None if theirs is None else theirs.replicas
    return found if found is not None and mine is not None and found.id == mine.id else None


# --- replicas that are created and deleted ---


def _requested(reader: Engine, source: Engine, table: Table, group: Group, member: Member) -> bool:
    """Create or delete the source's replica if that was requested here, or take note that it was dropped there."""
    region = source.place.region
    if member.is_gone:
        return member.status == "DELETING" and _leave(reader, source, table, group)
    if member.status == "CREATING" and (member.source == group.region or not _exists(group, member.source)):
        source.session.write(lambda txn: create_replica(txn, table, group))
        return _group_of(source, table) is not None
    if member.status in ("ACTIVE", "UPDATING"):
        at = reader.session.read(lambda txn: txn.now_us())
        said = (max(at, member.said[0] + 1), group.region)
        _change_member(
            reader, table.name, region, lambda one: replace(one, said=said, is_gone=True, status="GONE")
        )
        return True
    return False


def _leave(reader: Engine, source: Engine, table: Table, group: Group) -> bool:
    """Delete the source's replica; one that was protected since, or became the writer, is deleted when it is not."""

    def leave(txn: WriteTransaction) -> bool:
        here = txn.tables.get(table.name)
        theirs = None if here is None else here.replicas
        if here is None or theirs is None or theirs.id != group.id:
            return True  # it has left already
        if here.protected or theirs.writer == theirs.region:
            return False
        drop_table(txn, here)
        return True

    has_left = source.session.write(leave)
    if has_left:
        gone = source.place.region
        _change_member(reader, table.name, gone, lambda one: replace(one, status="GONE", why=None))
    return has_left


def _change_member(reader: Engine, name: str, region: str, change: Callable[[Member], Member]) -> None:
    def write(txn: WriteTransaction) -> None:
        table = txn.tables.get(name)
        group = None if table is None else table.replicas
        member = None if group is None else group.member(region)
        if table is not None and group is not None and member is not None:
            _save(txn, replace(table, replicas=group.with_member(change(member))))

    reader.session.write(write)


def _exists(group: Group, region: str) -> bool:
    member = group.member(region)
    return member is not None and member.status != "GONE"


def _save(txn: WriteTransaction, table: Table) -> None:
    """Save a table whose replicas have changed; one that has lost them all is a table without replicas again."""
    group = table.replicas
    if group is not None and group.copying is not None and not _exists(group, group.copying.source):
        others = [one.region for one in group.readers]
        if not others and table.status == "CREATING":
            drop_table(txn, table)  # no region is left to copy its items from
            return
        group = replace(group, copying=Copying(others[0]) if others else None)
        table = replace(table, replicas=group)
    if group is not None and not group.others and group.copying is None:
        table = without_group(txn, table)
    txn.save_table(table)


# --- copying a table ---


def _copy_page(reader: Engine, source: Engine, table: Table, copying: Copying) -> bool:
    def read(txn: ReadTransaction) -> tuple[Group | None, Vector, list[StampedItem], bool]:
        theirs = txn.tables.get(table.name)
        if theirs is None or theirs.replicas is None:
            return None, {}, [], True
        page, is_end = store.stamped_items(txn.rows, theirs.stamp_table, bytes.fromhex(copying.after), COPIED)
        return theirs.replicas, store.vector(txn.rows, theirs.number), page, is_end

    theirs, known, page, is_end = source.session.read(read)
    if theirs is None:
        return False

    def write(txn: WriteTransaction) -> bool:
        here = txn.tables.get(table.name)
        group = None if here is None else here.replicas
        if here is None or group is None or group.copying != copying:
            return False  # it was dropped since, or has come further
        begun = copying if copying.start else replace(copying, start=known, takeovers=theirs.takeovers)
        if not theirs.is_whole or theirs.takeovers != begun.takeovers:
            return _copy_again(txn, here, group, theirs)
        role = max(group.role, theirs.role)
        group = replace(group, epoch=role[0], writer=role[1] or None, copying=begun)
        txn.save_table(apply_copy(txn, here, group, page, None if is_end else page[-1].key))
        return True

    return reader.session.write(write)


def _copy_again(txn: WriteTransaction, table: Table, group: Group, theirs: Group) -> bool:
    """Begin the copy again: from the writer, or from the next region where the source is not whole itself."""
    others = [one.region for one in group.readers]
    sources = [theirs.writer] if theirs.writer in others else others
    after = [one for one in sources if one > theirs.region]
    again = Copying((after or sources or [theirs.region])[0])
    txn.save_table(replace(table, replicas=replace(group, copying=again)))
    return False  # nothing was copied: where no source is whole, there is no use in asking at once again


# --- reading writes ---


@dataclass(frozen=True, slots=True)
class _Page:
    """What a source has: its table, how far it has read every region, and its next writes.

    `since` is how far the reader had read each author of those writes, `upto` how far it has with them.
    """

    table: Table
    group: Group
    vector: Vector
    since: Vector
    upto: Vector
    writes: Sequence[StampedItem]


def _read_writes(reader: Engine, source: Engine, table: Table, before: int | None) -> bool:
    here = reader.place.region
    known = reader.session.read(lambda txn: store.vector(txn.rows, table.number))
    # A fenced region only hears of the others; what it would read, it could not apply.
    most = WRITES if table.replicas is not None and table.replicas.is_whole else 0
    page = source.session.read(lambda txn: _next_writes(txn, table.name, here, known, before, most))
    if page is None or not reader.session.read(lambda txn: _is_news(txn, page)):
        return False
    applied = reader.session.write(lambda txn: _apply_page(txn, page))
    now, latency = microseconds(reader.now()), (REPLICATION_LATENCY, table.name, "", here)
    if applied:
        samples = [(latency, max(0, now - at) / 1000) for at in applied]
        source.metrics.record_request("", perf_counter(), samples)
    return True


def _next_writes(
    txn: ReadTransaction, name: str, reader: str, since: Vector, before: int | None, most: int
) -> _Page | None:
    table = txn.tables.get(name)
    group = None if table is None else table.replicas
    if table is None or group is None:
        return None
    here = store.vector(txn.rows, table.number)
    writes: list[StampedItem] = []
    upto: dict[str, int] = {}
    room = STEP_BYTES
    for author, last in sorted(here.items()):
        after = since.get(author, 0)
        if author == reader or last <= after:
            continue
        upto[author] = last
        limit = most - len(writes) + 1
        for one in store.written_since(txn.rows, table.stamp_table, author, after, limit):
            assert one.stamp is not None, "a write since a number is stamped"
            if len(writes) == most or room <= 0 or (before is not None and one.stamp.committed > before):
                upto[author] = after
                break
            writes.append(one)
            after, room = one.stamp.number, room - len(one.key) - len(one.item or b"")
    return _Page(table, group, here, since, upto, writes)


def _heard(rows: RowReader, table: Table, group: Group, page: _Page) -> Group:
    """The group with what the source knows of members, of the writer and of fail-overs."""
    theirs = page.group
    group = merged(group, theirs.members)
    member, me = group.member(theirs.region), theirs.member(theirs.region)
    status = page.table.status if me is None or page.table.status != "ACTIVE" else me.status
    if member is not None and not member.is_gone and member.status != status:
        group = group.with_member(replace(member, status=status, why=None))
    if theirs.role > group.role:
        group = replace(group, epoch=theirs.epoch, writer=theirs.writer)
    if theirs.since <= group.since or not theirs.is_whole or group.copying is not None:
        return group
    known = survived(missed(group.takeovers, theirs.takeovers))
    if count_unknown(rows, table, group, known):
        return replace(group, fenced=known)
    return replace(group, takeovers=theirs.takeovers, fenced=None)


def _new_marks(rows: RowReader, table: Table, group: Group, page: _Page) -> dict[str, ReadMark]:
    """How far each region is read with this page, where that is further than before."""
    theirs, found = page.group, {}
    is_same = theirs.is_whole and group.is_whole and (group.role, group.since) == (theirs.role, theirs.since)
    # A region that is about to become the writer reads from every region until it is opened (failover.py).
    is_opening = group.writer == group.region and not group.is_open
    is_read = is_same and (group.writer in (None, theirs.region) or is_opening)
    for region in {theirs.region, *page.upto}:
        mark = known = store.read_mark(rows, table.number, region)
        # A copy since the page was read may have set the mark back: then the page does not continue there.
        if is_read and page.since.get(region, 0) <= known.number:
            mark = mark._replace(number=max(known.number, page.upto.get(region, 0)))
        if region == theirs.region and is_same:
            mark = mark._replace(heard=orjson.dumps(page.vector, option=orjson.OPT_SORT_KEYS))
        if mark != known:
            found[region] = mark
    return found


def _is_news(txn: ReadTransaction, page: _Page) -> bool:
    """True if a page has something that is not known here: most pages have not, and cost no commit."""
    table = txn.tables.get(page.table.name)
    group = None if table is None else table.replicas
    if table is None or group is None:
        return False
    heard = _heard(txn.rows, table, group, page)
    if _is_deleted(heard) and table.protected:
        return False
    return (
        heard != group
        or page.group.settings > group.settings
        or page.group.expiry > group.expiry
        or bool(_new_marks(txn.rows, table, group, page))
    )


def _apply_page(txn: WriteTransaction, page: _Page) -> list[int]:
    """Apply a page; when each of the writes that were applied was committed."""
    table = txn.tables.get(page.table.name)
    before = None if table is None else table.replicas
    if table is None or before is None or before.id != page.group.id:
        return []
    group = _heard(txn.rows, table, before, page)
    me = group.member(group.region)
    if _is_deleted(group):
        if not table.protected:
            drop_table(txn, table)
        return []
    table = _with_settings(txn, replace(table, replicas=group), page)
    marks = _new_marks(txn.rows, table, group, page)
    read = {region: mark.number for region, mark in marks.items()}
    writes = [one for one in page.writes if one.stamp and one.stamp.number <= read.get(one.stamp.region, 0)]
    applied = apply_writes(txn, table, writes)
    for region, mark in marks.items():
        store.save_mark(txn.rows, table.number, region, mark)
    if table.replicas != before:
        if me != before.member(group.region):
            table = with_overrides(adopt_settings(txn, table))
        _save(txn, table)
    return applied


def _is_deleted(group: Group) -> bool:
    """True if another region has deleted this replica. One that is protected hears nothing until it is not."""
    me = group.member(group.region)
    return me is not None and me.is_gone and group.writer != group.region


def _with_settings(txn: WriteTransaction, table: Table, page: _Page) -> Table:
    """The table with the shared settings of the source, where those were changed later."""
    group, theirs = table.replicas, page.group
    assert group is not None, "only a replica follows"
    if theirs.settings > group.settings:
        table = take_settings(txn, table, page.table)
        group = replace(group, settings=theirs.settings)
    if theirs.expiry > group.expiry:
        table = take_time_to_live(txn, table, page.table.ttl_attribute)
        group = replace(group, expiry=theirs.expiry)
    return replace(table, replicas=group)
