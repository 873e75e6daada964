"""Backups: snapshots made on request, with the definition of their table.

Must hold: a backup has the items of the moment of its request, whatever is written while it is made; after that it does
not depend on its table, and outlives it.
Elsewhere: how the items are stored (snapshots.py), restoring (restore.py).
"""

from typing import Any

import orjson

from tablewright.engine.api.arguments import known_table, table_name
from tablewright.engine.api.shapes import Text
from tablewright.engine.catalog import Catalog, Index, Table, described_encryption, from_json, to_json
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.history import store
from tablewright.engine.history.pitr_window import DAY
from tablewright.engine.history.snapshots import BACKUP, begin_snapshot
from tablewright.engine.history.store import Backup
from tablewright.engine.limits import RECOVERY_DAYS
from tablewright.engine.storage.rows import RowReader
from tablewright.engine.storage.rows import table_name as rows_name
from tablewright.engine.transaction import WriteTransaction
from tablewright.engine.vectors.definition import configuration

BACKUP_ARN = Text(37, 1024)
BACKUP_NAME = Text(3, 255, "[a-zA-Z0-9_.-]+")

USER = "USER"
SYSTEM = "SYSTEM"


# --- creating and finding ---


def back_up(txn: WriteTransaction, table: Table, name: str, kind: str = USER) -> Backup:
    """A backup of the table's current state. Its items are copied by a job (background/jobs.py)."""
    txn.flush()
    items, size = txn.rows.counts(rows_name(table.number))
    snapshot = begin_snapshot(txn, table.number, BACKUP)
    suffix = "0" * 8 if kind == SYSTEM else txn.world.new_id()[:8]
    # Lists are in the order of ARNs, so backups made in one millisecond get one each.
    prefix = f"{table.arn}/backup/"
    last = store.last_backup(txn.rows, prefix)
    after = int(last.arn.removeprefix(prefix).partition("-")[0]) + 1 if last else 0
    arn = f"{prefix}{max(txn.position.at // 1000, after):014d}-{suffix}"
    expires = txn.position.at + RECOVERY_DAYS * DAY if kind == SYSTEM else None
    made = Backup(
        arn, snapshot, name, kind, txn.position.at, expires, size, items, _definition(table), "MAKING"
    )
    store.add_backup(txn.rows, made)
    return made


def _definition(table: Table) -> bytes:
    """The catalog's JSON of the table with its number, which distinguishes it from later tables of the same name."""
    fields = orjson.loads(to_json(table))
    fields["number"] = table.number
    return orjson.dumps(fields)


def source_of(backup: Backup) -> Table:
    return from_json(orjson.loads(backup.source)["number"], backup.source)


def find_backup(rows: RowReader, arn: str) -> Backup:
    parts = arn.split(":", 5)
    if len(parts) < 6 or parts[2] != "dynamodb" or "/backup/" not in parts[5]:
        raise invalid("Invalid Backup ARN")
    found = store.backup(rows, arn)
    if found is None:
        raise ServiceError("BackupNotFoundException", f"Backup not found: {arn}")
    return found


def find_source(tables: Catalog, name: str) -> Table:
    """The table of a request about backups; raises TableNotFoundException, as these verbs do."""
    try:
        table = known_table(tables, name)
    except ServiceError:
        table = None
    if table is None or table.status != "ACTIVE":
        raise ServiceError("TableNotFoundException", f"Table not found: {table_name(name)}")
    return table


# --- describing ---


def status_of(backup: Backup) -> str:
    # The service has no status FAILED; a backup that could not be made does not exist.
    return {"MAKING": "CREATING", "AVAILABLE": "AVAILABLE"}.get(backup.status, "DELETED")


def details(backup: Backup, status: str | None = None) -> dict[str, Any]:
    description = {
        "BackupArn": backup.arn,
        "BackupName": backup.name,
        "BackupSizeBytes": backup.size,
        "BackupStatus": status or status_of(backup),
        "BackupType": backup.type,
        "BackupCreationDateTime": _moment(backup.at),
    }
    expiry = {} if backup.expires is None else {"BackupExpiryDateTime": _moment(backup.expires)}
    return description | expiry


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
        # The service does not return the settings of a deleted table.
        "SourceTableFeatureDetails": {} if backup.type == SYSTEM else _features(table),
    }


def _features(table: Table) -> dict[str, Any]:
    description: dict[str, Any] = {}
    for member, local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
        indexes = [_index(index) for index in table.indexes if index.local is local]
        if indexes:
            description[member] = indexes
    if table.vectors:
        description["VectorIndexes"] = [configuration(index) for index in table.vectors]
    if table.stream_view is not None:
        description["StreamDescription"] = {"StreamEnabled": True, "StreamViewType": table.stream_view}
    if table.ttl_attribute is not None:
        description["TimeToLiveDescription"] = {
            "TimeToLiveStatus": "ENABLED",
            "AttributeName": table.ttl_attribute,
        }
    if table.encryption is not None:
        description["SSEDescription"] = described_encryption(table.encryption)
    return description


def _index(index: Index) -> dict[str, Any]:
    projection: dict[str, Any] = {"ProjectionType": index.projection}
    if index.included:
        projection["NonKeyAttributes"] = list(index.included)
    description: dict[str, Any] = {
        "IndexName": index.name,
        "KeySchema": index.schema.elements(),
        "Projection": projection,
    }
    if not index.local:
        description["ProvisionedThroughput"] = _units(index)
        if index.on_demand is not None:
            description["OnDemandThroughput"] = dict(index.on_demand)
    return description


def _units(owner: Table | Index) -> dict[str, int]:
    return {"ReadCapacityUnits": owner.throughput.read, "WriteCapacityUnits": owner.throughput.write}


def _moment(at: int) -> float:
    return at // 1000 / 1000
