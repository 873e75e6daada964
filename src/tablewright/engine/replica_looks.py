"""What a region tells an operator: how its replicas stand, digests of its items, writes nobody else has.

Elsewhere: the questions (replica_standings.py), and everything else that is asked (replica_peers.py).
"""

from collections.abc import Mapping
from dataclasses import asdict
from hashlib import blake2b
from typing import Any

import orjson

from tablewright.engine.catalog import Table
from tablewright.engine.doors import Doors
from tablewright.engine.errors import table_not_found
from tablewright.engine.replica_group import Group, follows
from tablewright.engine.replica_telling import found_in
from tablewright.engine.replicas import authors, lags, unread_elsewhere
from tablewright.engine.shapes import Request
from tablewright.engine.storage_replicas import items_between, unknown_to, vector
from tablewright.engine.writing import Reading

# How much one answer holds.
DIGESTED = 1000
LISTED = 1000


def status(doors: Doors, request: Request) -> dict[str, Any]:
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


def digests(doors: Doors, request: Request) -> dict[str, Any]:
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


def unread(doors: Doors, request: Request) -> dict[str, Any]:
    """The keys whose newest write here another region, which has read so far, does not know.

    If it is not said how far: what was given up when somebody took over. One that is not held has nothing of that.
    """

    def look(reading: Reading) -> dict[str, Any]:
        table, group = found_in(reading, request)
        known: Mapping[str, int] | None = request.get("Known", group.held)
        if known is None:
            return {"Unread": [], "IsMore": False}
        found = unknown_to(reading.rows, table.ledger, authors(reading.rows, table), known, LISTED)
        names = table.schema.names
        listed = [
            {
                "Key": key.hex(),
                "At": stamp.at,
                "Region": stamp.region,
                "Number": stamp.number,
                "IsDelete": stamp.is_gone,
                "Keys": None if item is None else {name: orjson.loads(item)[name] for name in names},
            }
            for key, item, stamp in found
            if stamp is not None
        ]
        return {"Unread": listed, "Known": known, "IsMore": len(found) == LISTED}

    return doors.read(look)
