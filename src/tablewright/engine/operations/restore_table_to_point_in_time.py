"""RestoreTableToPointInTime: a new table with the items another had at a moment. It is CREATING until all are in.

The source goes on being written to meanwhile.
"""

from typing import Any

from tablewright.engine.arguments import table_name
from tablewright.engine.backups import find_source
from tablewright.engine.errors import invalid
from tablewright.engine.history import hold
from tablewright.engine.members import FLAG, INDEX_NAME
from tablewright.engine.recovery import change_at, microseconds_of, refuse_outside, refuse_unavailable, window
from tablewright.engine.restoring import (
    OVERRIDES,
    create,
    hold_name,
    like,
    refuse_many,
    refuse_target,
    shown,
)
from tablewright.engine.shapes import Moment, Request, Struct, Text
from tablewright.engine.writing import Writing

SHAPE = Struct(
    "RestoreTableToPointInTimeInput",
    {
        "SourceTableArn": Text(1, 1024),
        "SourceTableName": INDEX_NAME,
        # A new table is named as an index is: by its name, never by an ARN.
        "TargetTableName": INDEX_NAME,
        "UseLatestRestorableTime": FLAG,
        "RestoreDateTime": Moment(),
        **OVERRIDES,
    },
    required=("TargetTableName",),
    refused=("VectorIndexOverride",),
)


def restore_table_to_point_in_time(writing: Writing, request: Request) -> dict[str, Any]:
    name, moment = _source_name(request), _asked_moment(request)
    source = find_source(writing.tables, name)
    refuse_unavailable(source)
    now = writing.pen.at
    if moment is None:
        moment = window(source, now)[1]
    refuse_outside(source, moment, now)
    table = like(source, request)
    refuse_target(writing.tables, request["TargetTableName"])
    refuse_many(writing)
    summary = {"SourceTableArn": source.arn, "RestoreDateTime": moment // 1000 / 1000}
    made = create(writing, table, request["TargetTableName"], summary)
    hold(writing, hold_name(made.number), source.number, change_at(writing.rows, source, moment, now))
    return shown(writing, made)


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
    """Microseconds; None for the latest there is."""
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
