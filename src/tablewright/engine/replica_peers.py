"""What regions ask each other: verbs of our own, beside DynamoDB's, on the same port.

`PeerChanges` is what they ask all the time: what was written since; the others copy, join, leave, compare, and hand
over who writes. A request is JSON, and so is its answer.
Must hold: asking twice does no harm, since an answer may be lost on the way; who asks with a higher epoch is believed
before it is answered.
Elsewhere: who asks, and what is made of the answers (replica_pulls.py, replica_control.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from hashlib import blake2b
from math import inf
from typing import Any

import orjson

from tablewright.engine import schema
from tablewright.engine.catalog import Table
from tablewright.engine.doors import Doors
from tablewright.engine.errors import invalid, serialization, table_not_found, unknown_operation
from tablewright.engine.metric_names import REPLICATION_LATENCY
from tablewright.engine.operations.delete_table import drop
from tablewright.engine.replica_group import Group, follows, group_from
from tablewright.engine.replica_lease import refuse_promised
from tablewright.engine.replica_lines import treat
from tablewright.engine.replica_roles import give_way, promote, rejoin, release, take_back, with_heard_role
from tablewright.engine.replica_settings import create_replica, defined_by, definition
from tablewright.engine.replica_updates import protected_there
from tablewright.engine.replicas import lags, unread_elsewhere
from tablewright.engine.shapes import Request
from tablewright.engine.storage_replicas import (
    Kept,
    items_between,
    kept_in_order,
    mark,
    unknown_to,
    vector,
    written_since,
)
from tablewright.engine.writing import Reading, Writing

# How much one answer holds: some milliseconds of work on either side.
CHANGES = 100
COPIED = 100
DIGESTED = 1000
LISTED = 1000
ANSWER_BYTES = 1_000_000


def answer(doors: Doors, verb: str, request: Request) -> bytes:
    """Answer another region, or an operator; mistakes are raised as ServiceError."""
    run = PEER_VERBS.get(verb)
    if run is None:
        raise unknown_operation(verb)
    try:
        return orjson.dumps(run(doors, request))
    except (KeyError, TypeError, ValueError) as mistake:
        raise serialization(
            f"{verb}: the request is not of the form regions speak: {type(mistake).__name__}"
        ) from None


# --- reading along ---


def _changes(doors: Doors, request: Request) -> dict[str, Any]:
    if request["Format"] != schema.FORMAT:
        raise invalid(
            f"this engine's regions speak format {schema.FORMAT}, not {request['Format']}: update one"
        )
    by: str = request["Region"]
    _note_arrivals(doors, by, request.get("Arrived"))
    if doors.read(lambda reading: any(_is_news(reading, one) for one in request["Tables"])):
        doors.write(lambda writing: _believe_all(writing, by, request["Tables"]))
    return doors.read(
        lambda reading: {"Tables": _all_changes(reading, by, request["Tables"], request.get("Before"))}
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


def _is_news(reading: Reading, asked: Request) -> bool:
    group = _group_of(reading.tables.get(asked["Table"]), asked["Group"])
    return group is not None and (asked["Epoch"], asked["Writer"] or "") > group.role


def _believe_all(writing: Writing, by: str, asked: list[Request]) -> None:
    for one in asked:
        _believe(writing, by, one)


def _believe(writing: Writing, by: str, asked: Request) -> None:
    table = writing.tables.get(asked["Table"])
    group = _group_of(table, asked["Group"])
    if table is None or group is None:
        return
    mine = vector(writing.rows, table.number)
    heard = with_heard_role(group, asked["Epoch"], asked["Writer"], by, asked["Vector"], mine)
    if heard != group:
        writing.save_table(replace(table, replicas=heard))


def _group_of(table: Table | None, group: str) -> Group | None:
    found = None if table is None else table.replicas
    return found if found is not None and found.id == group else None


def _all_changes(reading: Reading, by: str, asked: list[Request], before: int | None) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    room = ANSWER_BYTES
    for one in asked:
        table = reading.tables.get(one["Table"])
        group = _group_of(table, one["Group"])
        if table is None or group is None:
            told.append({"Table": one["Table"], "Status": "NONE"})
            continue
        shown, used = _table_changes(reading, table, group, one, before, room)
        told.append(shown | {"Promised": _promised(reading, group, by, one)})
        room -= used
    return told


def _promised(reading: Reading, group: Group, by: str, asked: Request) -> bool:
    """Whether we let the region that asks go on as the writer for a while, if that is what it needs."""
    lease, seconds = reading.place.lease, asked.get("Lease")
    if lease is None or seconds is None or group.writer != by or group.role != (asked["Epoch"], by):
        return False
    return lease.promise(group, float(seconds))


def _table_changes(
    reading: Reading, table: Table, group: Group, asked: Request, before: int | None, room: int
) -> tuple[dict[str, Any], int]:
    rows = reading.rows
    own = mark(rows, table.number, group.region)
    after, limit = asked["After"], min(asked["Limit"], CHANGES)
    found: list[Kept] = []
    used = 0
    # Who does not want to be told of changes has read nothing.
    is_all = limit > 0 or own.number <= after
    for one in written_since(rows, table.ledger, group.region, after, limit + 1 if limit else 0):
        is_young = before is not None and one.stamp is not None and one.stamp.at > before
        if len(found) == limit or used > room or is_young:
            is_all = False
            break
        found.append(one)
        used += len(one.key) + len(one.item or b"")
    upto = own.number if is_all else found[-1].stamp.number if found and found[-1].stamp else after
    me = group.member(group.region)
    shown: dict[str, Any] = {
        "Table": table.name,
        "Group": group.id,
        "Status": table.status if me is None or table.status != "ACTIVE" else me.status,
        "After": after,
        "Upto": upto,
        "All": is_all,
        "Last": own.number,
        "Vector": vector(rows, table.number),
        "Epoch": group.epoch,
        "Writer": group.writer,
        "Held": group.held is not None,
        "Voters": group.electorate,
        "Members": [asdict(one) for one in group.members],
        "Changes": [_change(one) for one in found],
        "Recopy": after < own.pruned,
    }
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


def _items(doors: Doors, request: Request) -> dict[str, Any]:
    def look(reading: Reading) -> dict[str, Any]:
        table, group = _found(reading, request)
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
            "Epoch": group.epoch,
            "Writer": group.writer,
            "Last": None if is_end else page[-1].key.hex(),
            "Items": [
                [one.key.hex(), _fragment(one.item), None if one.stamp is None else list(one.stamp)]
                for one in page
            ],
        }

    return doors.read(look)


def _found(reading: Reading, request: Request) -> tuple[Table, Group]:
    table = reading.tables.get(request["Table"])
    group = _group_of(table, request["Group"])
    if table is None or group is None:
        raise table_not_found(request["Table"])
    return table, group


# --- coming and going ---


def _join(doors: Doors, request: Request) -> dict[str, Any]:
    theirs = defined_by(request["Definition"])
    group = group_from(request["Definition"]["replicas"])
    if group is None:
        raise invalid("a table without replicas asks for one")

    def deed(writing: Writing) -> None:
        known = writing.tables.get(theirs.name)
        if known is None:
            create_replica(writing, theirs, group, request["Region"])
        elif _group_of(known, group.id) is None:
            raise invalid(
                f"Table {theirs.name} is in {writing.place.region} already, and is not one of these replicas"
            )

    doors.write(deed)
    return {}


def _leave(doors: Doors, request: Request) -> dict[str, Any]:
    def deed(writing: Writing) -> None:
        table = writing.tables.get(request["Table"])
        if table is None or _group_of(table, request["Group"]) is None:
            return  # it has left already
        if table.protected:
            raise protected_there(table.name, writing.place.region)
        drop(writing, table)

    doors.write(deed)
    return {}


# --- what an operator asks ---


def _status(doors: Doors, request: Request) -> dict[str, Any]:
    def look(reading: Reading) -> dict[str, Any]:
        behind = lags(reading.rows, reading.tables, reading.now())
        tables = [
            _table_status(reading, table, table.replicas)
            for table in reading.tables.values()
            if table.replicas is not None
        ]
        for one in tables:
            one["Lag"] = [lag._asdict() for lag in behind if lag.table == one["Table"]]
        return {"Region": reading.place.region, "Tables": tables}

    return doors.read(look)


def _table_status(reading: Reading, table: Table, group: Group) -> dict[str, Any]:
    held = group.held
    return {
        "Table": table.name,
        "Group": group.id,
        "Region": group.region,
        "Status": table.status,
        "Epoch": group.epoch,
        "Writer": group.writer,
        "Vector": vector(reading.rows, table.number),
        "Unread": None if held is None else unread_elsewhere(reading.rows, table, held),
        "Copying": None if group.copying is None else asdict(group.copying),
        "Lease": _lease_status(reading, group),
        "Replicas": [
            {"Region": one.region, "Status": one.status, "Follows": follows(group, one.region)}
            for one in group.others
        ],
    }


def _lease_status(reading: Reading, group: Group) -> dict[str, Any] | None:
    """Whose silence keeps a writer from writing, and for how long another region has to wait for one."""
    lease = reading.place.lease
    if lease is None or group.writer is None:
        return None
    if group.writer == group.region:
        return {
            "Seconds": lease.seconds,
            "Silent": lease.silent(group),
            "Left": 0.0,
            "Voters": group.electorate,
        }
    return {"Seconds": lease.seconds, "Silent": [], "Left": lease.left(group.id), "Voters": group.electorate}


def _digests(doors: Doors, request: Request) -> dict[str, Any]:
    """A digest of the next items after a key, up to another, or of some keys only; of each by itself if asked for."""

    def look(reading: Reading) -> dict[str, Any]:
        table = reading.tables.get(request["Table"])
        if table is None:
            raise table_not_found(request["Table"])
        if request.get("Only") is not None:
            keys = [bytes.fromhex(key) for key in request["Only"][:DIGESTED]]
            rows = [(key, reading.rows.get(table.number, key)) for key in keys]
            found = [(key, row.item) for key, row in rows if row is not None]
        else:
            upto = request.get("Upto")
            last = None if upto is None else bytes.fromhex(upto)
            after = bytes.fromhex(request["After"])
            found = items_between(reading.rows, table.number, after, last, DIGESTED)
        digests = [(key, _digest(key, item)) for key, item in found]
        told: dict[str, Any] = {
            "Count": len(digests),
            "Digest": blake2b(b"".join(digest for _, digest in digests), digest_size=16).hexdigest(),
            # Where it stopped before the end.
            "Upto": digests[-1][0].hex() if len(digests) == DIGESTED else None,
        }
        if request.get("Each"):
            names = table.schema.names
            items = [orjson.loads(item) for _, item in found]
            shown = [{name: item[name] for name in names} for item in items]
            told["Each"] = [
                [key.hex(), digest.hex(), keys] for (key, digest), keys in zip(digests, shown, strict=True)
            ]
        return told

    return doors.read(look)


def _digest(key: bytes, item: bytes) -> bytes:
    # Attributes may stand in another order elsewhere and are the same item.
    canonical = orjson.dumps(orjson.loads(item), option=orjson.OPT_SORT_KEYS)
    return blake2b(key + canonical, digest_size=16).digest()


def _unread(doors: Doors, request: Request) -> dict[str, Any]:
    """The keys whose newest write here another region, which has read so far, does not know."""

    def look(reading: Reading) -> dict[str, Any]:
        table, group = _found(reading, request)
        known: Mapping[str, int] = request.get("Known", group.held) or {}
        found = unknown_to(reading.rows, table.ledger, vector(reading.rows, table.number), known, LISTED)
        names = table.schema.names
        listed = [
            {
                "Key": key.hex(),
                "At": stamp.at,
                "Region": stamp.region,
                "IsDelete": stamp.is_gone,
                "Keys": None if item is None else {name: orjson.loads(item)[name] for name in names},
            }
            for key, item, stamp in found
            if stamp is not None
        ]
        return {"Unread": listed}

    return doors.read(look)


def _line(doors: Doors, request: Request) -> dict[str, Any]:
    """The lines on which this region reads from others, after doing to them what is asked."""
    lines = doors.read(lambda reading: reading.place.lines)
    return {"Lines": [line.shown() for line in treat(lines, request)]}


def _figures(doors: Doors, request: Request) -> dict[str, Any]:
    raise invalid("figures are told by the server an engine is behind: GET /metrics?table=NAME")


def _on_table(
    deed: Callable[[Writing, Table, Request], dict[str, Any] | None],
) -> Callable[[Doors, Request], dict[str, Any]]:
    def run(doors: Doors, request: Request) -> dict[str, Any]:
        def work(writing: Writing) -> dict[str, Any]:
            table = writing.tables.get(request["Table"])
            if table is None:
                raise table_not_found(request["Table"])
            told = deed(writing, table, request) or {}
            group = writing.tables[table.name].replicas
            return told if group is None else told | {"Epoch": group.epoch, "Writer": group.writer}

        return doors.write(work)

    return run


def _yield(writing: Writing, table: Table, asked: Request) -> dict[str, Any]:
    """Give way; the answer says whose word counted for our lease, for the case that we take the role back."""
    group, lease = table.replicas, writing.place.lease
    if lease is not None and group is not None:
        lease.withhold(group)
    give_way(writing, table, asked["Epoch"], asked["Writer"], asked.get("Seen"))
    return {"Voters": None if lease is None or group is None else group.electorate}


def _take_back(writing: Writing, table: Table, asked: Request) -> None:
    voters = None if writing.place.lease is None else asked.get("Voters")
    take_back(writing, table, asked["Epoch"], asked["NewEpoch"], voters)


def _promote(writing: Writing, table: Table, asked: Request) -> None:
    refuse_promised(writing.place.lease, table)
    promote(
        writing, table, asked["Epoch"], None if writing.place.lease is None else asked.get("Agreeing", ())
    )


def _withhold(doors: Doors, request: Request) -> dict[str, Any]:
    """Let the writer's lease run out, since this region is to be promoted without it; how long that still takes."""

    def look(reading: Reading) -> dict[str, Any]:
        table, lease = reading.tables.get(request["Table"]), reading.place.lease
        if table is None or table.replicas is None:
            raise table_not_found(request["Table"])
        if lease is None or table.replicas.writer in (None, table.replicas.region):
            return {"Left": 0.0}
        return {"Left": lease.withhold(table.replicas)}

    return doors.read(look)


PEER_VERBS: Mapping[str, Callable[[Doors, Request], dict[str, Any]]] = {
    "PeerChanges": _changes,
    "PeerItems": _items,
    "PeerJoin": _join,
    "PeerLeave": _leave,
    "PeerStatus": _status,
    "PeerDigests": _digests,
    "PeerUnread": _unread,
    "PeerLine": _line,
    "PeerFigures": _figures,
    "PeerYield": _on_table(_yield),
    "PeerTakeBack": _on_table(_take_back),
    "PeerWithhold": _withhold,
    "PeerPromote": _on_table(_promote),
    "PeerRelease": _on_table(lambda writing, table, asked: release(writing, table, asked["Epoch"])),
    "PeerRejoin": _on_table(lambda writing, table, asked: rejoin(writing, table, asked["Epoch"])),
}
