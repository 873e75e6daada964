"""RestoreTableFromBackup and RestoreTableToPointInTime: a new table with items from the past.

It is CREATING until all items are loaded. The source table can be written during a restore.
"""

from tablewright.engine.api.arguments import table_name
from tablewright.engine.api.common_members import FLAG, INDEX_NAME
from tablewright.engine.api.operation import write_verb
from tablewright.engine.api.shapes import Answer, Moment, Request, Text
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.history import restore
from tablewright.engine.history import store as history_store
from tablewright.engine.history.backups import BACKUP_ARN, find_backup, find_source, source_of, status_of
from tablewright.engine.history.pitr_window import (
    change_at,
    microseconds_of,
    refuse_outside,
    refuse_unavailable,
    window,
)
from tablewright.engine.history.time_travel import pin, pin_snapshot
from tablewright.engine.transaction import WriteTransaction


@write_verb(
    "RestoreTableFromBackup",
    # The name of a new table, never an ARN: the same pattern as an index name.
    {"TargetTableName": INDEX_NAME, "BackupArn": BACKUP_ARN, **restore.OVERRIDES},
    required=("TargetTableName", "BackupArn"),
)
def restore_table_from_backup(txn: WriteTransaction, request: Request) -> Answer:
    name, arn = request["TargetTableName"], request["BackupArn"]
    backup = find_backup(txn.rows, arn)
    source = source_of(backup)
    table = restore.definition_from(txn.place, source, request)
    restore.refuse_target(txn.tables, name)
    if status_of(backup) == "CREATING":
        raise ServiceError("BackupInUseException", f"Backup is being created: {arn}")
    snapshot = history_store.snapshot(txn.rows, backup.snapshot)
    if snapshot is None or snapshot.status != "AVAILABLE":
        raise ServiceError("BackupNotFoundException", f"Backup not found: {arn}")
    if restore.is_being_restored(txn.tables, arn):
        raise ServiceError("BackupInUseException", f"Backup is being used to restore another table: {arn}")
    restore.refuse_too_many(txn)
    summary = {
        "SourceBackupArn": arn,
        "SourceTableArn": source.arn,
        "RestoreDateTime": backup.at // 1000 / 1000,
    }
    made = restore.create(txn, table, name, summary)
    pin_snapshot(txn, restore.pin_name(made.number), snapshot)
    return restore.described(txn, made)


@write_verb(
    "RestoreTableToPointInTime",
    {
        "SourceTableArn": Text(1, 1024),
        "SourceTableName": INDEX_NAME,
        # The name of a new table, never an ARN: the same pattern as an index name.
        "TargetTableName": INDEX_NAME,
        "UseLatestRestorableTime": FLAG,
        "RestoreDateTime": Moment(),
        **restore.OVERRIDES,
    },
    required=("TargetTableName",),
)
def restore_table_to_point_in_time(txn: WriteTransaction, request: Request) -> Answer:
    name, moment = _source_name(request), _asked_moment(request)
    source = find_source(txn.tables, name)
    refuse_unavailable(source)
    now = txn.position.at
    if moment is None:
        moment = window(source, now)[1]
    refuse_outside(source, moment, now)
    table = restore.definition_from(txn.place, source, request)
    restore.refuse_target(txn.tables, request["TargetTableName"])
    restore.refuse_too_many(txn)
    summary = {"SourceTableArn": source.arn, "RestoreDateTime": moment // 1000 / 1000}
    made = restore.create(txn, table, request["TargetTableName"], summary)
    pin(txn, restore.pin_name(made.number), source.number, change_at(txn.rows, source, moment, now))
    return restore.described(txn, made)


def _source_name(request: Request) -> str:
    name, arn = request.get("SourceTableName"), request.get("SourceTableArn")
    if name is not None and arn is not None:
        raise invalid("Must provide exactly one of: sourceTableArn, sourceTableName")
    if name is None and arn is None:
        raise invalid("The parameter 'TableName' is required but was not present in the request")
    if arn is not None and (not arn.startswith("arn:") or not table_name(arn) or ":table/" not in arn):
        raise invalid("sourceTableArn is not a valid ARN")
    return str(name if arn is None else arn)


def _asked_moment(request: Request) -> int | None:
    """Microseconds; None for the latest restorable time."""
    latest, asked = request.get("UseLatestRestorableTime"), request.get("RestoreDateTime")
    if latest and asked is not None:
        raise invalid(
            "Invalid Request: Both RestoreDateTime and UseLatestRestorableTime cannot be set for point-in-time "
            "restore request. Please specify only one of them"
        )
    if not latest and asked is None:
        raise invalid(
            "Invalid Request: Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both"
        )
    return None if asked is None else microseconds_of(asked)
