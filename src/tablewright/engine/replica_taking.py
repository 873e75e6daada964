"""What a region makes of another's answer: who writes, which replicas there are, and the writes that are newer.

Must hold: what was taken over and how far that goes are one commit; an answer that comes twice, late, or never changes
nothing in the end.
Elsewhere: the question (replica_pulls.py), the answer (replica_telling.py), who counts (replica_roles.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import orjson

from tablewright.engine.catalog import Table
from tablewright.engine.operations.delete_table import drop
from tablewright.engine.replica_errands import save, staying
from tablewright.engine.replica_group import (
    Copying,
    Group,
    copying_from,
    follows,
    member_from,
    merged,
    role_of,
)
from tablewright.engine.replica_roles import with_heard, with_heard_voters, with_yielded, yields_to_us
from tablewright.engine.replica_settings import (
    defined_by,
    take_settings,
    take_time_to_live,
    with_overrides,
)
from tablewright.engine.replicas import take
from tablewright.engine.scaling_settings import take_settings_said
from tablewright.engine.shapes import Request
from tablewright.engine.storage_replicas import Mark, Stamp, mark, save_mark, vector
from tablewright.engine.storage_rows import Rows
from tablewright.engine.writing import Reading, Writing


class Taken(NamedTuple):
    """A write that was taken over: of which table, and when it was committed there (microseconds)."""

    table: str
    at: int


def is_news(reading: Reading, region: str, told: Request) -> bool:
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
        or (
            yields_to_us(group, told["Epoch"], told["Writer"], region)
            and not group.has_drained(region, told["Epoch"])
        )
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
        me = staying(f"{group.region} is the writer since epoch {group.epoch}")(me)
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
        save(writing, changed)
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
