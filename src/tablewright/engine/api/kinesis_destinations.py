"""Kinesis streaming destinations: Enable, Disable, Update and Describe.

A destination is stored and described; the engine sends nothing to Kinesis (docs/verbs.md). Answers say ENABLING,
DISABLING and UPDATING, as the service's do; the change is complete at once.
Must hold: at most one destination of a table is ACTIVE. Disabled and failed ones stay listed, each stream once.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tablewright.engine.api.common_members import STREAM_ARN, TABLE_NAME
from tablewright.engine.api.operation import read_verb, write_verb
from tablewright.engine.api.shapes import Answer, Request, Shape, Struct, Text
from tablewright.engine.api.tables import settled_table
from tablewright.engine.catalog import Table
from tablewright.engine.errors import ServiceError, invalid
from tablewright.engine.transaction import ReadTransaction, WriteTransaction

_PRECISION = "ApproximateCreationDateTimePrecision"
_DEFAULT = "MILLISECOND"
_SETTINGS: Mapping[str, Shape] = {_PRECISION: Text(one_of=("MILLISECOND", "MICROSECOND"))}
_INPUT: Mapping[str, Shape] = {
    "TableName": TABLE_NAME,
    "StreamArn": STREAM_ARN,
    "EnableKinesisStreamingConfiguration": Struct("EnableKinesisStreamingConfiguration", _SETTINGS),
}
_STREAM = re.compile(r"arn:[^:]+:kinesis:([^:]+):[0-9]{12}:stream/[a-zA-Z0-9_.-]+")
_ELSEWHERE = "The kinesis Arn used to enable kinesis replication belongs to a stream which is not in the current region"
_NOT_ALLOWED = "User does not have a permission to use kinesis stream"


@write_verb("EnableKinesisStreamingDestination", _INPUT, required=("TableName", "StreamArn"))
def enable_kinesis_streaming_destination(txn: WriteTransaction, request: Request) -> Answer:
    table, arn = settled_table(txn.tables, request), request["StreamArn"]
    if any(one["DestinationStatus"] == "ACTIVE" for one in table.destinations):
        raise _wrong_state(
            "EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform ENABLE operation."
        )
    given = request.get("EnableKinesisStreamingConfiguration") or {}
    settings = {name: value for name, value in given.items() if value is not None}
    others = [one for one in table.destinations if one["StreamArn"] != arn]
    made = {"StreamArn": arn, **_status(arn, txn.place.region), **settings}
    txn.save_table(replace(table, destinations=(made, *others)))
    return _answer(table, arn, "ENABLING", "EnableKinesisStreamingConfiguration", settings)


def _status(arn: str, region: str) -> dict[str, str]:
    """Its status once it is enabled; an ARN that is not of a stream here fails as on the service."""
    stream = _STREAM.fullmatch(arn)
    if stream is not None and stream[1] == region:
        return {"DestinationStatus": "ACTIVE"}
    reason = _NOT_ALLOWED if stream is None else _ELSEWHERE
    return {"DestinationStatus": "ENABLE_FAILED", "DestinationStatusDescription": reason}


@write_verb("DisableKinesisStreamingDestination", _INPUT, required=("TableName", "StreamArn"))
def disable_kinesis_streaming_destination(txn: WriteTransaction, request: Request) -> Answer:
    if request.get("EnableKinesisStreamingConfiguration") is not None:
        raise invalid("Stream cannot be disabled using EnableKinesisStreamingConfiguration parameters")
    table, arn = settled_table(txn.tables, request), request["StreamArn"]
    known = _destination(table, arn)
    if known is None or known["DestinationStatus"] != "ACTIVE":
        raise _wrong_state("KinesisStreamingDestination must be ACTIVE to perform DISABLE operation.")
    txn.save_table(_with(table, {"StreamArn": arn, "DestinationStatus": "DISABLED"}))
    return _answer(table, arn, "DISABLING")


@write_verb(
    "UpdateKinesisStreamingDestination",
    {
        "TableName": TABLE_NAME,
        "StreamArn": STREAM_ARN,
        "UpdateKinesisStreamingConfiguration": Struct("UpdateKinesisStreamingConfiguration", _SETTINGS),
    },
    required=("TableName", "StreamArn"),
)
def update_kinesis_streaming_destination(txn: WriteTransaction, request: Request) -> Answer:
    precision = (request.get("UpdateKinesisStreamingConfiguration") or {}).get(_PRECISION)
    if precision is None:
        raise invalid(
            "Streaming destination cannot be updated with given parameters: "
            "UpdateKinesisStreamingConfiguration cannot be null or contain only null values"
        )
    table, arn = settled_table(txn.tables, request), request["StreamArn"]
    known = _destination(table, arn)
    if known is None:
        raise _wrong_state(
            f"No streaming destination with streamArn: {arn} found for table with tableName: {table.name}"
        )
    if known["DestinationStatus"] != "ACTIVE":
        raise _wrong_state(
            "Kinesis streaming is not in ACTIVE state. Updates are only allowed in ACTIVE state. "
            f"TableName: {table.name}, kdsArn: {arn}"
        )
    if known.get(_PRECISION, _DEFAULT) == precision:
        raise invalid(
            f"Invalid Request: Precision is already set to the desired value of {precision} "
            f"for tableId: {table.uuid}, kdsArn: {arn}"
        )
    txn.save_table(_with(table, {**known, _PRECISION: precision}))
    settings = {_PRECISION: precision}
    return _answer(table, arn, "UPDATING", "UpdateKinesisStreamingConfiguration", settings)


@read_verb("DescribeKinesisStreamingDestination", {"TableName": TABLE_NAME}, required=("TableName",))
def describe_kinesis_streaming_destination(txn: ReadTransaction, request: Request) -> Answer:
    table = settled_table(txn.tables, request)
    return {"TableName": table.name, "KinesisDataStreamDestinations": [dict(d) for d in table.destinations]}


def _destination(table: Table, arn: str) -> Mapping[str, Any] | None:
    return next((one for one in table.destinations if one["StreamArn"] == arn), None)


def _with(table: Table, changed: Mapping[str, Any]) -> Table:
    """The table with that destination in the place of the one with the same stream."""
    arn = changed["StreamArn"]
    return replace(
        table,
        destinations=tuple(changed if one["StreamArn"] == arn else one for one in table.destinations),
    )


def _wrong_state(reason: str) -> ServiceError:
    return invalid(f"Table is not in a valid state to enable Kinesis Streaming Destination: {reason}")


def _answer(
    table: Table, arn: str, status: str, member: str | None = None, settings: Mapping[str, Any] | None = None
) -> Answer:
    answer: Answer = {"TableName": table.name, "StreamArn": arn, "DestinationStatus": status}
    return answer if member is None else {**answer, member: dict(settings or {})}
