"""How a region follows the others: it asks each what was written there, and takes over what is newer.

One visit to another region: what is owed to it (a replica it is to make, or to give up), copying what is being copied
from it, and then the changes of all tables both have. All that a visit leaves behind is in the store.
Must hold: what was taken over and how far that goes are one commit; an answer that comes twice, late, or never changes
nothing in the end.
Elsewhere: what the other region answers (replica_telling.py), copying (replica_copying.py), when visits are made
(regions.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple, TypeAlias

import orjson

from tablewright.engine.catalog import Table
from tablewright.engine.doors import Doors
from tablewright.engine.errors import ServiceError
from tablewright.engine.operations.delete_table import drop
from tablewright.engine.replica_copying import copies_from, copy_some
from tablewright.engine.replica_group import (
    Copying,
    Group,
    Member,
    copying_from,
    follows,
    member_from,
    merged,
    role_of,
)
from tablewright.engine.replica_lines import Ask
from tablewright.engine.replica_roles import with_heard, with_heard_voters, with_yielded, yields_to_us
from tablewright.engine.replica_settings import (
    defined_by,
    definition,
    take_settings,
    take_time_to_live,
    with_overrides,
)
from tablewright.engine.replica_telling import CHANGES, SPOKEN
from tablewright.engine.replicas import take, without_group
from tablewright.engine.scaling_settings import take_settings_said
from tablewright.engine.shapes import Request
from tablewright.engine.storage_replicas import Mark, Stamp, mark, save_mark, vector
from tablewright.engine.storage_rows import Rows
from tablewright.engine.writing import Reading, Writing

Become: TypeAlias = Callable[[Member], Member]
# Figures of a partition are not worth more memory than this.
UNTOLD = 10_000


class Taken(NamedTuple):
    """A write that was taken over: of which table, and when it was committed there (microseconds)."""

    table: str
    at: int


class Arrivals:
    """How long what was taken over from a region had been on its way, until that region has heard of it.

    It is the source's figure (ReplicationLatency), and only the reader knows. A report goes along with the next
    question; it carries a number, so that one whose answer was lost counts once.
    """

    def __init__(self) -> None:
        self._waiting: list[tuple[str, float]] = []
        self._told = self._number = 0

    def add(self, taken: Sequence[Taken], now: int) -> None:
        self._waiting += [(table, max(0, now - at) / 1000) for table, at in taken]
        if not self._told:
            del self._waiting[:-UNTOLD]

    def report(self, now: int) -> Request | None:
        if not self._waiting:
            return None
        if not self._told:
            self._told, self._number = len(self._waiting), max(self._number + 1, now)
        return {"Number": self._number, "Milliseconds": self._waiting[: self._told]}

    def heard(self) -> None:
        del self._waiting[: self._told]
        self._told = 0


def visit(doors: Doors, region: str, ask: Ask, before: int | None, arrivals: Arrivals) -> bool:
    """One round with another region; whether something came of it, so that another may be worth while.

    `before`: what was written later there is left for another time.
    """
    has_done = _run_errands(doors, region, ask)
    for table in doors.read(lambda reading: copies_from(reading, region)):
        has_done = copy_some(doors, region, table, ask) or has_done
    return _follow(doors, region, ask, before, arrivals) or has_done


# --- what is owed to the other region ---


def _run_errands(doors: Doors, region: str, ask: Ask) -> bool:
    owed = doors.read(lambda reading: _owed(reading, region))
    for table in owed:
        group = table.replicas
        assert group is not None, "only replicas owe each other something"
        become: Become = _confirmed_gone
        try:
            ask("PeerLeave", {"Table": table.name, "Group": group.id})
        except ServiceError as refusal:
            become = _staying(refusal.message)
        doors.write(_noting(table.name, region, become))
    return bool(owed)


def _noting(name: str, region: str, become: Become) -> Callable[[Writing], None]:
    return lambda writing: _with_member(writing, name, region, become)


def _owed(reading: Reading, region: str) -> list[Table]:
    """The tables whose replica in that region was taken away here, and which have not been told."""
    found = []
    for table in reading.tables.values():
        member = None if table.replicas is None else table.replicas.member(region)
        if member is not None and member.is_gone and member.status == "DELETING":
            found.append(table)
    return found


def _confirmed_gone(member: Member) -> Member:
    return replace(member, status="GONE", why=None)


def _staying(why: str) -> Become:
    return lambda member: replace(
        member, said=(member.said[0] + 1, member.said[1]), is_gone=False, status="ACTIVE", why=why
    )


def _with_member(writing: Writing, name: str, region: str, become: Become) -> None:
    table = writing.tables.get(name)
    member = None if table is None or table.replicas is None else table.replicas.member(region)
    if table is None or table.replicas is None or member is None:
        return
    table = replace(table, replicas=table.replicas.with_member(become(member)))
    _save(writing, table)


def _save(writing: Writing, table: Table) -> None:
    """Keep a table whose replicas have changed; without any other it is a table like all others."""
    group = table.replicas
    if group is not None and group.copying is not None and not _is_there(group, group.copying.source):
        others = [one.region for one in group.readers]
        if not others and table.status == "CREATING":
            drop(writing, table)  # there is nobody left to have its items from
            return
        copying = group.copying.anew(others[0]) if others else None
        group = replace(group, copying=copying)
        table = replace(table, replicas=group)
    if group is not None and not group.others and group.copying is None:
        table = without_group(writing, table)
    writing.save_table(table)


def _is_there(group: Group, region: str) -> bool:
    member = group.member(region)
    return member is not None and member.status != "GONE"


# --- following ---


def _follow(doors: Doors, region: str, ask: Ask, before: int | None, arrivals: Arrivals) -> bool:
    request = doors.read(lambda reading: _question(reading, region, before))
    if not request["Tables"]:
        return False
    report = arrivals.report(doors.read(lambda reading: reading.now()))
    if report is not None:
        request["Arrived"] = report
    lease = doors.read(lambda reading: reading.place.lease)
    asked = None if lease is None else lease.moment()
    answer = ask("PeerChanges", request)
    arrivals.heard()
    has_done = False
    for told in answer["Tables"]:
        if lease is not None and asked is not None and told.get("Promised"):
            lease.heard(told["Group"], region, asked, told["Voters"])
        if told["Status"] == "NONE":
            has_done = _not_there(doors, region, told["Table"], ask) or has_done
        else:
            has_done = _hear(doors, region, told, arrivals) or has_done
    return has_done


def _hear(doors: Doors, region: str, told: Request, arrivals: Arrivals) -> bool:
    if not doors.read(lambda reading: _is_news(reading, region, told)):
        return False
    taken = doors.write(lambda writing: take_told(writing, region, told))
    if taken:
        arrivals.add(taken, doors.read(lambda reading: reading.now()))
    return True


def _question(reading: Reading, region: str, before: int | None) -> Request:
    asked = []
    for table in reading.tables.values():
        group = table.replicas
        member = None if group is None else group.member(region)
        if group is None or member is None or member.is_gone or member.status == "CREATION_FAILED":
            continue
        is_following = follows(group, region) and group.copying is None
        asked.append(
            {
                "Table": table.name,
                "Group": group.id,
                "After": mark(reading.rows, table.number, region).number,
                "Limit": CHANGES if is_following else 0,
                "Vector": vector(reading.rows, table.number),
                "Settings": [group.settings, group.expiry],
                "Epoch": group.epoch,
                "Writer": group.writer,
                "Held": group.held is not None,
                "Since": group.since,
            }
        )
        if group.writer == group.region:
            asked[-1]["Line"] = [asdict(one) for one in group.line]
        lease = reading.place.lease
        if lease is not None and group.writer == group.region:
            asked[-1]["Lease"] = lease.seconds
    question: Request = {"Format": SPOKEN, "Region": reading.place.region, "Tables": asked}
    return question if before is None else question | {"Before": before}


def _not_there(doors: Doors, region: str, name: str, ask: Ask) -> bool:
    """The other region knows nothing of a replica: it is still to be made there, or it was dropped there."""
    table = doors.read(lambda reading: reading.tables.get(name))
    group = None if table is None else table.replicas
    member = None if group is None else group.member(region)
    if table is None or group is None or member is None:
        return False
    if member.status == "CREATING" and (member.source == group.region or not _is_there(group, member.source)):
        request = {"Region": group.region, "Definition": definition(table)}
        lease = doors.read(lambda reading: reading.place.lease)
        if lease is not None:
            lease.expects(group.id, region, group.region)
        try:
            ask("PeerJoin", request)
            return True
        except ServiceError as refusal:
            deed = _failed(refusal.message)
        doors.write(lambda writing: _with_member(writing, name, region, deed))
        return True
    if member.status in ("ACTIVE", "UPDATING"):
        at = doors.read(lambda reading: reading.now())
        doors.write(lambda writing: _with_member(writing, name, region, _dropped(at, group.region)))
        return True
    return False


def _failed(why: str) -> Become:
    return lambda member: replace(member, status="CREATION_FAILED", why=why)


def _dropped(at: int, by: str) -> Become:
    return lambda member: replace(member, said=(max(at, member.said[0] + 1), by), is_gone=True, status="GONE")


def _is_news(reading: Reading, region: str, told: Request) -> bool:
    """Whether an answer says anything that is not known here: most say nothing, and cost no commit."""
    table = reading.tables.get(told["Table"])
    group = None if table is None else table.replicas
    if table is None or group is None or group.id != told["Group"]:
        return False
    known = mark(reading.rows, table.number, region)
    return (
        "Definition" in told
        or _with_told(reading.rows, table, group, region, told) != group
        or _mark_after(group, region, told, known) != known
        # What is not taken over is told again and again: that is no news.
        or (_is_taken_from(group, region, told) and _is_to_take(reading.rows, table, group, region, told))
    )


def _is_to_take(rows: Rows, table: Table, group: Group, region: str, told: Request) -> bool:
    """Whether an answer whose changes count has any, or the end of them."""
    return (
        bool(told["Changes"])
        or told["Recopy"]
        or (yields_to_us(group, told["Epoch"], told["Writer"], region) and region not in group.drained)
        or any(
            upto > mark(rows, table.number, author).number for author, (_, upto, _) in told["Passed"].items()
        )
    )


def take_told(writing: Writing, region: str, told: Request) -> list[Taken]:
    """Take over what another region told of a table; the writes that were newer than ours."""
    table = writing.tables.get(told["Table"])
    group = None if table is None else table.replicas
    if table is None or group is None or group.id != told["Group"]:
        return []
    before = group
    group = _with_told(writing.rows, table, group, region, told)
    me = group.member(group.region)
    if me is not None and me.is_gone and group.writer == group.region:
        # Whoever took it away has not heard that it is the writer: it stays.
        me = _staying(f"{group.region} is the writer since epoch {group.epoch}")(me)
        group = group.with_member(me)
    if me is not None and me.is_gone:
        drop(writing, table)
        return []
    if "Definition" in told:
        table = _with_definition(writing, replace(table, replicas=group), defined_by(told["Definition"]))
        group = table.replicas or group
    known = mark(writing.rows, table.number, region)
    taken = []
    if _is_taken_from(group, region, told) and told["After"] <= known.number:
        if told["Recopy"]:
            why = f"it copies {region} anew: it had not read what was deleted there for too long"
            group = copying_from(group, Copying(region), why)
        else:
            taken = _take_passed(writing, table, told)
            taken += _take_changes(writing, table, region, told["Changes"], told.get("Committed", {}))
    moved = _mark_after(group, region, told, known)
    if moved != known:
        save_mark(writing.rows, table.number, region, moved)
    if (
        yields_to_us(group, told["Epoch"], told["Writer"], region)
        and told["All"]
        and moved.number >= told["Last"]
    ):
        group = with_yielded(group, told["Epoch"], region, vector(writing.rows, table.number))
    if group != before:
        changed = replace(table, replicas=group)
        if me != before.member(group.region):
            changed = with_overrides(take_settings_said(writing, changed))
        _save(writing, changed)
    return taken


def _with_definition(writing: Writing, table: Table, theirs: Table) -> Table:
    group, other = table.replicas, theirs.replicas
    if group is None or other is None:
        return table
    if other.settings > group.settings:
        table = take_settings(writing, table, theirs)
    if other.expiry > group.expiry:
        table = take_time_to_live(writing, table, theirs.ttl_attribute)
    later = replace(
        group, settings=max(group.settings, other.settings), expiry=max(group.expiry, other.expiry)
    )
    return replace(table, replicas=later)


def _with_told(rows: Rows, table: Table, group: Group, region: str, told: Request) -> Group:
    """The group with what the answer says of members and of who writes."""
    group = merged(group, [member_from(one) for one in told["Members"]])
    member = group.member(region)
    if member is not None and not member.is_gone and member.status != told["Status"]:
        group = group.with_member(replace(member, status=told["Status"], why=None))
    group = with_heard(rows, table, group, region, told)
    return with_heard_voters(group, told["Epoch"], told["Writer"], region, told["Voters"])


def _is_taken_from(group: Group, region: str, told: Request) -> bool:
    """Whether that region's changes count: those of an old epoch, or of one that is not the writer, do not."""
    is_same = role_of(told["Epoch"], told["Writer"]) == group.role
    is_one_line = role_of(*told["Since"]) == group.since
    return (
        follows(group, region)
        and group.copying is None
        and is_one_line
        and (is_same or yields_to_us(group, told["Epoch"], told["Writer"], region))
    )


def _mark_after(group: Group, region: str, told: Request, known: Mark) -> Mark:
    """How far that region has been read after this answer."""
    if told["After"] > known.number or group.copying is not None or told["Recopy"]:
        return known
    if _is_taken_from(group, region, told):
        moved = known._replace(number=max(known.number, told["Upto"]))
        is_level = told["All"]
    elif _is_standby(group, region, told):
        moved, is_level = known, True  # what it has is the writer's: there is nothing to read of it
    else:
        return known
    return (
        moved._replace(heard=orjson.dumps(told["Vector"], option=orjson.OPT_SORT_KEYS)) if is_level else moved
    )


def _is_standby(group: Group, region: str, told: Request) -> bool:
    """Whether that region follows the writer whom we follow, or who we are."""
    is_same = role_of(told["Epoch"], told["Writer"]) == group.role and role_of(*told["Since"]) == group.since
    is_one = group.writer not in (None, region) and not told["Held"] and told["Status"] == "ACTIVE"
    return is_same and is_one and group.held is None


def _take_passed(writing: Writing, table: Table, told: Request) -> list[Taken]:
    """Take over what the writer passes on of others' writes, and note how far each of them is read with that."""
    taken: list[Taken] = []
    for author, (after, upto, changes) in told["Passed"].items():
        known = mark(writing.rows, table.number, author)
        if after <= known.number:
            taken += _take_changes(writing, table, author, changes, {})
            save_mark(writing.rows, table.number, author, known._replace(number=max(known.number, upto)))
    return taken


def _take_changes(
    writing: Writing,
    table: Table,
    region: str,
    changes: Sequence[Any],
    committed: Mapping[str, int],
) -> list[Taken]:
    taken = []
    for number, key, at, item in changes:
        stamp = Stamp(at, region, number, int(item is None))
        used = take(writing, table, bytes.fromhex(key), item, stamp)
        if used:
            writing.marks += used  # each replica pays for what all write, as on the service
            taken.append(Taken(table.name, committed.get(str(number), at)))
    return taken
