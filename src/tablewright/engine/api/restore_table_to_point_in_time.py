"""RestoreTableToPointInTime: a new table with the items another had at a moment, CREATING until all are loaded.

The source table can be written during the restore.
"""

from typing import Any

from tablewright.engine.api.arguments import table_name
from tablewright.engine.api.common_members import FLAG, INDEX_NAME
from tablewright.engine.api.operation import WriteOperation
from tablewright.engine.api.shapes import Moment, Request, Struct, Text
from tablewright.engine.errors import invalid
from tablewright.engine.history.backups import find_source
from tablewright.engine.history.pitr_window import (
    change_at,
    microseconds_of,
    refuse_outside,
    refuse_unavailable,
    window,
)
from tablewright.engine.history.restore import (
    OVERRIDES,
    create,
    definition_from,
    described,
    pin_name,
    refuse_target,
    refuse_too_many,
)
from tablewright.engine.history.time_travel import pin
from tablewright.engine.transaction import WriteTransaction

SHAPE = Struct(
    "RestoreTableToPointInTimeInput",
    {
        "SourceTableArn": Text(1, 1024),
        "SourceTableName": INDEX_NAME,
        # The name of a new table, never an ARN: the same pattern as an index name.
        "TargetTableName": INDEX_NAME,
        "UseLatestRestorableTime": FLAG,
        "RestoreDateTime": Moment(),
        **OVERRIDES,
    },
    required=("TargetTableName",),
    refused=("VectorIndexOverride",),
)


def restore_table_to_point_in_time(txn: WriteTransaction, request: Request) -> dict[str, Any]:
    name, moment = _source_name(request), _asked_moment(request)
    source = find_source(txn.tables, name)
    refuse_unavailable(source)
    now = txn.position.at
    if moment is None:
        moment = window(source, now)[1]
    refuse_outside(source, moment, now)
    table = definition_from(source, request)
    refuse_target(txn.tables, request["TargetTableName"])
    refuse_too_many(txn)
    summary = {"SourceTableArn": source.arn, "RestoreDateTime": moment // 1000 / 1000}
    made = create(txn, table, request["TargetTableName"], summary)
    pin(txn, pin_name(made.number), source.number, change_at(txn.rows, source, moment, now))
    return described(txn, made)


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


OPERATION = WriteOperation("RestoreTableToPointInTime", SHAPE, restore_table_to_point_in_time)
