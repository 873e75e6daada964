"""What regions ask each other: verbs of our own, beside DynamoDB's, on the same port.

`PeerChanges` is what they ask all the time: what was written since; the others copy, join, leave, compare, and hand
over who writes. A request is JSON, and so is its answer.
Must hold: asking twice does no harm, since an answer may be lost on the way.
Elsewhere: what is told to who reads along (replica_telling.py) and to who looks (replica_looks.py); who asks
(replica_pulls.py, replica_control.py).
"""

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from tablewright.engine.catalog import Table
from tablewright.engine.doors import Doors
from tablewright.engine.errors import invalid, serialization, table_not_found, unknown_operation
from tablewright.engine.operations.delete_table import drop
from tablewright.engine.replica_group import group_from
from tablewright.engine.replica_lease import refuse_promised
from tablewright.engine.replica_lines import treat
from tablewright.engine.replica_looks import digests, status, unread
from tablewright.engine.replica_roles import give_way, promote, rejoin, release, take_back
from tablewright.engine.replica_settings import create_replica, defined_by
from tablewright.engine.replica_telling import changes, group_of, items, refuse_misled
from tablewright.engine.replica_updates import protected_there, refuse_writer
from tablewright.engine.shapes import Request
from tablewright.engine.writing import Reading, Writing


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


# --- coming and going ---


def _join(doors: Doors, request: Request) -> dict[str, Any]:
    refuse_misled(doors, request)
    theirs = defined_by(request["Definition"])
    group = group_from(request["Definition"]["replicas"])
    if group is None:
        raise invalid("a table without replicas asks for one")

    def deed(writing: Writing) -> None:
        known = writing.tables.get(theirs.name)
        if known is None:
            create_replica(writing, theirs, group, request["Region"])
        elif group_of(known, group.id) is None:
            raise invalid(
                f"Table {theirs.name} is in {writing.place.region} already, and is not one of these replicas"
            )

    doors.write(deed)
    return {}


def _leave(doors: Doors, request: Request) -> dict[str, Any]:
    def deed(writing: Writing) -> None:
        table = writing.tables.get(request["Table"])
        known = group_of(table, request["Group"])
        if table is None or known is None:
            return  # it has left already
        if table.protected:
            raise protected_there(table.name, writing.place.region)
        refuse_writer(table.name, known, known.region)  # whoever asks has not heard of that yet
        drop(writing, table)

    doors.write(deed)
    return {}


# --- what an operator asks ---


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
    agreeing = None if writing.place.lease is None else asked.get("Agreeing", ())
    promote(writing, table, asked["Epoch"], agreeing, although_held=asked.get("AlthoughHeld", False))


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
    "PeerChanges": changes,
    "PeerItems": items,
    "PeerJoin": _join,
    "PeerLeave": _leave,
    "PeerStatus": status,
    "PeerDigests": digests,
    "PeerUnread": unread,
    "PeerLine": _line,
    "PeerFigures": _figures,
    "PeerYield": _on_table(_yield),
    "PeerTakeBack": _on_table(_take_back),
    "PeerWithhold": _withhold,
    "PeerPromote": _on_table(_promote),
    "PeerRelease": _on_table(lambda writing, table, asked: release(writing, table, asked["Epoch"])),
    "PeerRejoin": _on_table(lambda writing, table, asked: rejoin(writing, table, asked["Epoch"])),
}
