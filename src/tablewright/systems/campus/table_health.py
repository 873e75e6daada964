"""The health of the tables, for administrators (CC-X13): state, size, indexes, what is recoverable and what expires.

Counts and sizes are those the service states: Amazon brings them up to date about every six hours.
Elsewhere: alarms (design/base.py), metrics over time (the workbench).
"""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from tablewright.mapping import Db
from tablewright.systems.campus import design as d


class TableHealth(BaseModel):
    """One table. `pending_indexes` are being filled; `is_recoverable` says that point-in-time recovery is on."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    name: str
    status: str
    items: int
    size_bytes: int
    indexes: int
    pending_indexes: list[str]
    is_recoverable: bool
    # None for a table in which nothing expires.
    expires: bool | None

    @property
    def is_healthy(self) -> bool:
        return self.status == "ACTIVE" and not self.pending_indexes and self.expires is not False


def table_health(db: Db) -> list[TableHealth]:
    """Every table of the design, by its name."""
    return [_health(db, db.physical(name), table.ttl) for name, table in sorted(d.CAMPUS.tables.items())]


def _health(db: Db, name: str, ttl: str | None) -> TableHealth:
    asked = {"TableName": name}
    found = db.call("DescribeTable", asked)["Table"]
    backups = db.call("DescribeContinuousBackups", asked)["ContinuousBackupsDescription"]
    recovery = backups.get("PointInTimeRecoveryDescription", {}).get("PointInTimeRecoveryStatus")
    indexes = found.get("GlobalSecondaryIndexes", [])
    return TableHealth(
        name=name,
        status=found["TableStatus"],
        items=found["ItemCount"],
        size_bytes=found["TableSizeBytes"],
        indexes=len(indexes) + len(found.get("LocalSecondaryIndexes", [])),
        pending_indexes=[each["IndexName"] for each in indexes if each["IndexStatus"] != "ACTIVE"],
        is_recoverable=recovery == "ENABLED",
        expires=None if ttl is None else _expires(db, name),
    )


def _expires(db: Db, name: str) -> bool:
    found = db.call("DescribeTimeToLive", {"TableName": name})["TimeToLiveDescription"]
    return found.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
