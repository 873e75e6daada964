"""The ConsumedCapacity of an answer: the read and write units of each table.

The service distinguishes read and write units only in transactions; elsewhere the verb decides.
Must hold: no member is counted twice; `read` and `write` include what the indexes used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_READS = frozenset(("BatchGetItem", "GetItem", "Query", "Scan", "TransactGetItems"))
_WRITES = frozenset(("BatchWriteItem", "DeleteItem", "PutItem", "TransactWriteItems", "UpdateItem"))


@dataclass(frozen=True, slots=True)
class Units:
    """Units used of one table."""

    table: str
    read: float = 0.0
    write: float = 0.0


def units_of(verb: str, answer: Mapping[str, Any]) -> tuple[Units, ...]:
    """The units an answer reports for each table; empty if the request did not ask for them."""
    if verb not in _READS and verb not in _WRITES:
        return ()
    reported = answer.get("ConsumedCapacity") or ()
    return tuple(_units(verb, one) for one in ([reported] if isinstance(reported, Mapping) else reported))


def _units(verb: str, reported: Mapping[str, Any]) -> Units:
    table = reported["TableName"]
    if "ReadCapacityUnits" in reported or "WriteCapacityUnits" in reported:
        return Units(
            table, reported.get("ReadCapacityUnits") or 0.0, reported.get("WriteCapacityUnits") or 0.0
        )
    used = reported.get("CapacityUnits") or 0.0
    return Units(table, read=used) if verb in _READS else Units(table, write=used)
