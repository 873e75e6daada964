"""What a region tells one that reads along: what was written since, and whole items to one that copies.

Must hold: who asks with a higher epoch is believed before it is answered; with a writer everything can be had from it,
also what others wrote before; a region that was left behind tells nothing.
Elsewhere: the other verbs (replica_peers.py), what is made of the answers (replica_taking.py, replica_copying.py).
"""

from collections.abc import Sequence
from dataclasses import asdict, replace
from math import inf
from typing import Any, NamedTuple

import orjson

from tablewright.engine import schema
from tablewright.engine.catalog import Table
from tablewright.engine.doors import Doors
from tablewright.engine.errors import invalid, table_not_found
from tablewright.engine.metric_names import REPLICATION_LATENCY
from tablewright.engine.replica_group import Group, role_of
from tablewright.engine.replica_roles import with_heard
from tablewright.engine.replica_settings import definition
from tablewright.engine.shapes import Request
from tablewright.engine.storage_replicas import Kept, all_pruned, kept_in_order, mark, vector, written_since
from tablewright.engine.writing import Reading, Writing

# What regions say to each other, and how stores are laid out: either may change.
SPOKEN = f"{schema.FORMAT}.2"
# How much one answer holds: some milliseconds of work on either side.
CHANGES = 100
COPIED = 100
ANSWER_BYTES = 1_000_000


def changes(doors: Doors, request: Request) -> dict[str, Any]:
    if request["Format"] != SPOKEN:
        raise invalid(f"this engine's regions speak format {SPOKEN}, not {request['Format']}: update one")
    refuse_misled(doors, request)
    by: str = request["Region"]
    _note_arrivals(doors, by, request.get("Arrived"))
    if doors.read(lambda reading: any(_is_news(reading, by, one) for one in request["Tables"])):
        doors.write(lambda writing: _believe_all(writing, by, request["Tables"]))
    return doors.read(
        lambda reading: {"Tables": _all_changes(reading, by, request["Tables"], request.get("Before"))}
    )


def refuse_misled(doors: Doors, request: Request) -> None:
    """Refuse who was told that we are another region."""
    here = doors.read(lambda reading: reading.place.region)
    if request.get("To", here) != here:
        raise invalid(
            f"{request['Region']} takes this region, {here}, for {request['To']}: start it with the right --peer"
        )


def _note_arrivals(doors: Doors, by: str, arrived: Request | None) -> None:
    """Count how long our changes were on their way to a region that has taken them over; a report counts once."""
    counted: dict[str, int] = doors.memory.setdefault("arrivals", {})
    if arrived is None or counted.get(by) == arrived["Number"]:
        return
    counted[by] = arrived["Number"]
    late = [(str(table), float(ms)) for table, ms in arrived["Milliseconds"] if 0 <= float(ms) < inf]

    def mark_all(writing: Writing) -> None:
        writing.marks += [
            ((REPLICATION_LATENCY, table, "", by), ms) for table, ms in late if table in writing.tables
        ]

    doors.write(mark_all)


def _is_news(reading: Reading, by: str, asked: Request) -> bool:
    table = reading.tables.get(asked["Table"])
    group = group_of(table, asked["Group"])
    if table is None or group is None:
        return False
    return with_heard(reading.rows, table, group, by, asked) != group


def _believe_all(writing: Writing, by: str, asked: list[Request]) -> None:
    for one in asked:
        _believe(writing, by, one)


def _believe(writing: Writing, by: str, asked: Request) -> None:
    table = writing.tables.get(asked["Table"])
    group = group_of(table, asked["Group"])
    if table is None or group is None:
        return
    heard = with_heard(writing.rows, table, group, by, asked)
    if heard != group:
        writing.save_table(replace(table, replicas=heard))


def _all_changes(reading: Reading, by: str, asked: list[Request], before: int | None) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    room = ANSWER_BYTES
    for one in asked:
        table = reading.tables.get(one["Table"])
        group = group_of(table, one["Group"])
        if table is None or group is None:
            told.append({"Table": one["Table"], "Status": "NONE"})
            continue
        shown, used = _table_changes(reading, table, group, by, one, before, room)
        told.append(shown | {"Promised": _promised(reading, group, by, one)})
        room -= used
    return told


def _promised(reading: Reading, group: Group, by: str, asked: Request) -> bool:
    """Whether we let the region that asks go on as the writer for a while, if that is what it needs."""
    lease, seconds = reading.place.lease, asked.get("Lease")
    if lease is None or seconds is None or group.writer != by or group.role != (asked["Epoch"], by):
        return False
    return lease.promise(group, float(seconds))


class _Run(NamedTuple):
    """A region's newest writes after a number, up to another, and whether those are all."""

    after: int
    upto: int
    is_all: bool
    found: Sequence[Kept]
    used: int


def _run(
    reading: Reading, table: Table, region: str, after: int, before: int | None, limit: int, room: int
) -> _Run:
    last = mark(reading.rows, table.number, region).number
    found: list[Kept] = []
    used = 0
    # Who does not want to be told of changes has read nothing.
    is_all = limit > 0 or last <= after
    for one in written_since(reading.rows, table.ledger, region, after, limit + 1 if limit > 0 else 0):
        is_young = before is not None and one.stamp is not None and one.stamp.at > before
        if len(found) == limit or used > room or is_young:
            is_all = False
            break
        found.append(one)
        used += len(one.key) + len(one.item or b"")
    upto = last if is_all else found[-1].stamp.number if found and found[-1].stamp else after
    return _Run(after, upto, is_all, found, used)


def _is_left_behind(group: Group) -> bool:
    """Whether all write and this one does not: nobody is to take over what it has."""
    return group.writer is None and group.held is not None


def _passed_on(
    reading: Reading, table: Table, group: Group, by: str, asked: Request, before: int | None, room: int
) -> dict[str, _Run]:
    """What others wrote and the region that asks has not read: with a writer it hears of that from the writer only.

    A writer that yields to it passes everything on, too. If all write each tells its own, but whoever wrote what came
    along with the last writer may be gone, or be left behind: everybody passes that on, and all of those who are gone.
    """
    if asked["Limit"] <= 0 or group.writer not in (None, group.region, by) or _is_left_behind(group):
        return {}
    came_along = group.line[-1].known if group.line else {}
    telling = {one.region for one in group.readers} if group.writer is None else set()
    found: dict[str, _Run] = {}
    limit = min(asked["Limit"], CHANGES)
    for region, last in vector(reading.rows, table.number).items():
        after = asked["Vector"].get(region, 0)
        if region in (group.region, by) or last <= after:
            continue
        if region in telling and after >= came_along.get(region, 0):
            continue
        run = _run(reading, table, region, after, before, limit, room)
        found[region] = run
        limit, room = limit - len(run.found), room - run.used
    return found


def _table_changes(
    reading: Reading,
    table: Table,
    group: Group,
    by: str,
    asked: Request,
    before: int | None,
    room: int,
) -> tuple[dict[str, Any], int]:
    rows = reading.rows
    own = mark(rows, table.number, group.region)
    passed = _passed_on(reading, table, group, by, asked, before, room)
    others = list(passed.values())
    used = sum(run.used for run in others)
    limit = min(asked["Limit"], CHANGES) - sum(len(run.found) for run in others)
    limit = 0 if _is_left_behind(group) else limit
    run = _run(reading, table, group.region, asked["After"], before, limit, room - used)
    found, used = run.found, used + run.used
    me = group.member(group.region)
    shown: dict[str, Any] = {
        "Table": table.name,
        "Group": group.id,
        "Status": table.status if me is None or table.status != "ACTIVE" else me.status,
        "After": run.after,
        "Upto": run.upto,
        "All": run.is_all and all(one.is_all for one in others),
        "Last": own.number,
        "Vector": vector(rows, table.number),
        "Epoch": group.epoch,
        "Writer": group.writer,
        "Held": group.held is not None,
        "Since": group.since,
        "Voters": group.electorate,
        "Members": [asdict(one) for one in group.members],
        "Changes": [_change(one) for one in found],
        "Passed": {
            region: [one.after, one.upto, [_change(kept) for kept in one.found]]
            for region, one in passed.items()
        },
        "Recopy": run.after < own.pruned
        or any(one.after < mark(rows, table.number, region).pruned for region, one in passed.items()),
    }
    if role_of(*asked["Since"]) != group.since:
        shown["Line"] = [asdict(one) for one in group.line]
    # What time has deleted is stamped with another moment than that of its commit.
    late = {str(one.stamp.number): one.stamp.committed for one in found if one.stamp and one.stamp.gone > 1}
    if late:
        shown["Committed"] = late
    settings, expiry = map(tuple, asked["Settings"])
    if settings < group.settings or expiry < group.expiry:
        shown["Definition"] = definition(table)
    return shown, used


def _change(one: Kept) -> list[Any]:
    assert one.stamp is not None, "what was written since is stamped"
    return [one.stamp.number, one.key.hex(), one.stamp.at, _fragment(one.item)]


def _fragment(item: bytes | None) -> orjson.Fragment | None:
    return None if item is None else orjson.Fragment(item)


# --- copying ---


def items(doors: Doors, request: Request) -> dict[str, Any]:
    def look(reading: Reading) -> dict[str, Any]:
        table, group = found_in(reading, request)
        kept, is_end = kept_in_order(reading.rows, table.ledger, bytes.fromhex(request["After"]), COPIED)
        page: list[Kept] = []
        used = 0
        for one in kept:
            page.append(one)
            used += len(one.key) + len(one.item or b"")
            if used > ANSWER_BYTES:
                break
        is_end = is_end and len(page) == len(kept)
        return {
            "Vector": vector(reading.rows, table.number),
            "Role": group.role,
            "Held": group.held is not None,
            "Line": [asdict(one) for one in group.line],
            "Pruned": all_pruned(reading.rows, table.number),
            "Last": None if is_end else page[-1].key.hex(),
            "Items": [
                [one.key.hex(), _fragment(one.item), None if one.stamp is None else list(one.stamp)]
                for one in page
            ],
        }

    return doors.read(look)


# --- of what ---


def group_of(table: Table | None, group: str) -> Group | None:
    found = None if table is None else table.replicas
    return found if found is not None and found.id == group else None


def found_in(reading: Reading, request: Request) -> tuple[Table, Group]:
    table = reading.tables.get(request["Table"])
    group = group_of(table, request["Group"])
    if table is None or group is None:
        raise table_not_found(request["Table"])
    return table, group
