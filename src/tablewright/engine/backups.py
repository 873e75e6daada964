"""Backups: snapshots that somebody asked for, with the definition of their table.

Must hold: a backup holds the items of the moment of its request, whatever is written meanwhile; it has nothing to do
with its table after that, and outlives it.
Elsewhere: how the items are kept (checkpoints.py), restoring (restoring.py).
"""

from typing import Any

import orjson

from tablewright.engine import storage_history as past
from tablewright.engine.arguments import known_table, table_name
from tablewright.engine.catalog import Catalog, Index, Table, from_json, to_json
from tablewright.engine.checkpoints import BACKUP, begin
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.limits import RECOVERY_DAYS
from tablewright.engine.recovery import DAY
from tablewright.engine.shapes import Text
from tablewright.engine.storage_history import Backup
from tablewright.engine.storage_rows import Rows
from tablewright.engine.storage_rows import table_name as rows_name
from tablewright.engine.writing import Writing

BACKUP_ARN = Text(37, 1024)
BACKUP_NAME = Text(3, 255, "[a-zA-Z0-9_.-]+")

USER = "USER"
SYSTEM = "SYSTEM"


# --- making and finding ---


def back_up(writing: Writing, table: Table, name: str, kind: str = USER) -> Backup:
    """A backup of the table as it is now. Its items are copied by a labour."""
    writing.flush()
    items, size = writing.rows.counts(rows_name(table.number))
    snapshot = begin(writing, table.number, BACKUP)
    suffix = "0" * 8 if kind == SYSTEM else writing.world.new_id()[:8]
    at = writing.pen.at // 1000
    # A clock that stands still must not make two backups of one name.
    while past.backup(writing.rows, arn := f"{table.arn}/backup/{at:014d}-{suffix}") is not None:
        at += 1
    expires = writing.pen.at + RECOVERY_DAYS * DAY if kind == SYSTEM else None
    made = Backup(
        arn, snapshot, name, kind, writing.pen.at, expires, size, items, _definition(table), "MAKING"
    )
    past.add_backup(writing.rows, made)
    return made


def _definition(table: Table) -> bytes:
    """The catalog's body of the table with its number, by which its own incarnation is known."""
    fields = orjson.loads(to_json(table))
    fields["number"] = table.number
    return orjson.dumps(fields)


def source_of(backup: Backup) -> Table:
    return from_json(orjson.loads(backup.source)["number"], backup.source)


def find_backup(rows: Rows, arn: str) -> Backup:
    parts = arn.split(":", 5)
    if len(parts) < 6 or parts[2] != "dynamodb" or "/backup/" not in parts[5]:
        raise invalid("Invalid Backup ARN")
    found = past.backup(rows, arn)
    if found is None:
        raise ServiceError("BackupNotFoundException", f"Backup not found: {arn}")
    return found


def find_source(tables: Catalog, name: str) -> Table:
    """The table of a request about backups, in the words of that family of verbs."""
    try:
        table = known_table(tables, name)
    except ServiceError:
        table = None
    if table is None or table.status != "ACTIVE":
        raise ServiceError("TableNotFoundException", f"Table not found: {table_name(name)}")
    return table


# --- showing ---


def status_of(backup: Backup) -> str:
    # FAILED is no word of the service; a backup that could not be made is none.
    return {"MAKING": "CREATING", "AVAILABLE": "AVAILABLE"}.get(backup.status, "DELETED")


def details(backup: Backup, status: str | None = None) -> dict[str, Any]:
    shown = {
        "BackupArn": backup.arn,
        "BackupName": backup.name,
        "BackupSizeBytes": backup.size,
        "BackupStatus": status or status_of(backup),
        "BackupType": backup.type,
        "BackupCreationDateTime": _moment(backup.at),
    }
    return shown if backup.expires is None else shown | {"BackupExpiryDateTime": _moment(backup.expires)}


def summary(backup: Backup) -> dict[str, Any]:
    table = source_of(backup)
    return {"TableName": table.name, "TableId": table.uuid, "TableArn": table.arn} | details(backup)


def description(backup: Backup, status: str | None = None) -> dict[str, Any]:
    table = source_of(backup)
    source: dict[str, Any] = {
        "TableName": table.name,
        "TableId": table.uuid,
        "TableArn": table.arn,
        "TableSizeBytes": backup.size,
        "KeySchema": table.schema.elements(),
        "TableCreationDateTime": table.created,
        "ProvisionedThroughput": _units(table),
        "ItemCount": backup.items,
        "BillingMode": table.billing,
    }
    if table.on_demand is not None:
        source["OnDemandThroughput"] = dict(table.on_demand)
    return {
        "BackupDetails": details(backup, status),
        "SourceTableDetails": source,
        # Of a table that was deleted the service keeps its settings to itself.
        "SourceTableFeatureDetails": {} if backup.type == SYSTEM else _features(table),
    }


def _features(table: Table) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for member, local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
        indexes = [_index(index) for index in table.indexes if index.local is local]
        if indexes:
            shown[member] = indexes
    if table.stream_view is not None:
        shown["StreamDescription"] = {"StreamEnabled": True, "StreamViewType": table.stream_view}
    if table.ttl_attribute is not None:
        shown["TimeToLiveDescription"] = {
            "TimeToLiveStatus": "ENABLED",
            "AttributeName": table.ttl_attribute,
        }
    return shown


def _index(index: Index) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.included:
        projection["NonKeyAttributes"] = list(index.included)
    shown: dict[str, Any] = {
        "IndexName": index.name,
        "KeySchema": index.schema.elements(),
        "Projection": projection,
    }
    if not index.local:
        shown["ProvisionedThroughput"] = _units(index)
        if index.on_demand is not None:
            shown["OnDemandThroughput"] = dict(index.on_demand)
    return shown


def _units(owner: Table | Index) -> dict[str, int]:
    return {"ReadCapacityUnits": owner.throughput.read, "WriteCapacityUnits": owner.throughput.write}


def _moment(at: int) -> float:
    return at // 1000 / 1000
