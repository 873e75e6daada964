"""What a region owes another: a replica that is to be made there, or given up; and noticing that one is gone.

Must hold: asking twice does no harm; whoever is gone is confirmed to be so before it is forgotten.
Elsewhere: following (replica_pulls.py), what the other region does (replica_peers.py).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from tablewright.engine.catalog import Table
from tablewright.engine.doors import Doors
from tablewright.engine.errors import ServiceError
from tablewright.engine.operations.delete_table import drop
from tablewright.engine.replica_group import (
    Group,
    Member,
)
from tablewright.engine.replica_lines import Ask
from tablewright.engine.replica_settings import (
    definition,
)
from tablewright.engine.replicas import without_group
from tablewright.engine.writing import Reading, Writing

Become: TypeAlias = Callable[[Member], Member]


def run_errands(doors: Doors, region: str, ask: Ask) -> bool:
    owed = doors.read(lambda reading: _owed(reading, region))
    for table in owed:
        group = table.replicas
        assert group is not None, "only replicas owe each other something"
        become: Become = _confirmed_gone
        try:
            ask("PeerLeave", {"Table": table.name, "Group": group.id})
        except ServiceError as refusal:
            become = staying(refusal.message)
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


def staying(why: str) -> Become:
    return lambda member: replace(
        member, said=(member.said[0] + 1, member.said[1]), is_gone=False, status="ACTIVE", why=why
    )


def _with_member(writing: Writing, name: str, region: str, become: Become) -> None:
    table = writing.tables.get(name)
    member = None if table is None or table.replicas is None else table.replicas.member(region)
    if table is None or table.replicas is None or member is None:
        return
    table = replace(table, replicas=table.replicas.with_member(become(member)))
    save(writing, table)


def save(writing: Writing, table: Table) -> None:
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


def not_there(doors: Doors, region: str, name: str, ask: Ask) -> bool:
    """The other region knows nothing of a replica: it is still to be made there, or it was dropped there."""
    table = doors.read(lambda reading: reading.tables.get(name))
    group = None if table is None else table.replicas
    member = None if group is None else group.member(region)
    if table is None or group is None or member is None:
        return False
    if member.status == "CREATING" and (member.source == group.region or not _is_there(group, member.source)):
        request = {"Region": group.region, "To": region, "Definition": definition(table)}
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
