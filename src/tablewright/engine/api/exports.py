"""ExportTableToPointInTime: export a table as of a moment, or its changes between two moments, to a bucket.

The answer says IN_PROGRESS; a job writes the files (transfer/export.py).
"""

import re

import orjson

from tablewright.engine.api import common_members as common
from tablewright.engine.api.arguments import table_name
from tablewright.engine.api.operation import write_verb
from tablewright.engine.api.shapes import Answer, Moment, Request, Struct, Text
from tablewright.engine.api.transfers import (
    BUCKET,
    BUCKET_OWNER,
    CLIENT_TOKEN,
    PREFIX,
    TABLE_ARN,
    begun_before,
    check_bucket,
    digest,
    no_buckets,
)
from tablewright.engine.catalog import Table
from tablewright.engine.errors import ServiceError, invalid, invalid_parameter, limit_exceeded
from tablewright.engine.history import store as history_store
from tablewright.engine.history import time_travel
from tablewright.engine.history.pitr_window import (
    SECOND,
    change_at,
    is_restorable,
    microseconds_of,
    moment_text,
    refuse_unavailable,
    window,
)
from tablewright.engine.history.store import Pin
from tablewright.engine.journal import first_since
from tablewright.engine.limits import EXPORT_PERIOD_HOURS, EXPORT_PERIOD_MINUTES, EXPORTS_AT_ONCE
from tablewright.engine.transaction import WriteTransaction
from tablewright.engine.transfer import export_format
from tablewright.engine.transfer.export import described
from tablewright.engine.transfer.export_filter import requested_filter
from tablewright.engine.transfer.export_format import FULL, INCREMENTAL, NEW, NEW_AND_OLD
from tablewright.engine.transfer.export_lines import pin_name
from tablewright.engine.transfer.store import EXPORTS

_TIME = Moment()


@write_verb(
    "ExportTableToPointInTime",
    {
        "TableArn": TABLE_ARN,
        "ExportTime": _TIME,
        "ClientToken": CLIENT_TOKEN,
        "S3Bucket": BUCKET,
        "S3BucketOwner": BUCKET_OWNER,
        "S3Prefix": PREFIX,
        "S3SseAlgorithm": Text(one_of=("KMS", "AES256")),
        "S3SseKmsKeyId": Text(1, 2048),
        "ExportFormat": Text(one_of=("ION", "DYNAMODB_JSON")),
        "ExportType": Text(one_of=(FULL, INCREMENTAL)),
        "IncrementalExportSpecification": Struct(
            "IncrementalExportSpecification",
            {
                "ExportFromTime": _TIME,
                "ExportToTime": _TIME,
                "ExportViewType": Text(one_of=(NEW, NEW_AND_OLD)),
            },
        ),
        "FilterSpecification": Struct(
            "FilterSpecification",
            {
                "FilterExpression": common.EXPRESSION,
                "ProjectionExpression": common.EXPRESSION,
                "KeyConditionExpression": common.EXPRESSION,
                "ExpressionAttributeNames": common.NAMES,
                "ExpressionAttributeValues": common.ATTRIBUTES,
            },
        ),
    },
    required=("TableArn", "S3Bucket"),
)
def export_table_to_point_in_time(txn: WriteTransaction, request: Request) -> Answer:
    _check_request(request)
    arn, token = request["TableArn"], request.get("ClientToken")
    if arn.split(":")[4] != txn.place.account:
        raise ServiceError("AccessDeniedException", "Access is denied")
    table = txn.tables.get(table_name(arn))
    if table is None or table.arn != arn or table.status != "ACTIVE":
        raise ServiceError("TableNotFoundException", f"Table not found: {arn}")
    asked = digest(request)
    known = begun_before(txn, EXPORTS, "Export", token, asked)
    if known is not None:
        return {"ExportDescription": described(known)}
    only = requested_filter(table, request.get("FilterSpecification"))
    description = _description(txn, table, request)
    if description["ExportType"] == FULL:
        description["ExportTime"], last = _moment(txn, table, request.get("ExportTime"))
        first = last + 1
    else:
        period = request["IncrementalExportSpecification"]
        description["IncrementalExportSpecification"], first, last = _period(txn, table, period)
    buckets = txn.place.buckets
    if buckets is None:
        raise no_buckets("export to")
    if description["S3SseAlgorithm"] == "KMS" and buckets.refuses_keys is not None:
        raise invalid(f"S3SseAlgorithm KMS is not supported by this engine: {buckets.refuses_keys}")
    if EXPORTS.under_way(txn.rows) >= EXPORTS_AT_ONCE:
        raise limit_exceeded(f"There are {EXPORTS_AT_ONCE} exports under way: wait until one has ended")
    # What the export reads is pinned: a state, or the changes since one.
    name = pin_name(description["ExportArn"])
    if description["ExportType"] == FULL:
        time_travel.pin(txn, name, table.number, last)
    else:
        history_store.add_pin(txn.rows, Pin(name, table.number, first - 1, None, None))
    txn.has_background_work = True
    body = orjson.dumps({"told": description, "asked": asked, "keys": list(table.schema.names), "only": only})
    number, now = table.number, txn.position.at
    begun = EXPORTS.add(txn.rows, description["ExportArn"], number, token, now, body, first=first, last=last)
    return {"ExportDescription": described(begun)}


def _description(txn: WriteTransaction, table: Table, request: Request) -> Answer:
    """The part of the export's description that does not change, still without its times."""
    salt = txn.world.new_id()
    description: Answer = {
        "ExportArn": f"{table.arn}/export/{export_format.export_id(txn.position.at, salt)}",
        "TableArn": table.arn,
        "TableId": table.uuid,
        "ExportFormat": request.get("ExportFormat") or "DYNAMODB_JSON",
        "ExportType": request.get("ExportType") or FULL,
        "S3SseAlgorithm": request.get("S3SseAlgorithm") or "AES256",
    }
    for member in (
        "ClientToken",
        "S3Bucket",
        "S3BucketOwner",
        "S3Prefix",
        "S3SseKmsKeyId",
        "FilterSpecification",
    ):
        if request.get(member) is not None:
            description[member] = request[member]
    return description


# --- checks without the table ---


def _check_request(request: Request) -> None:
    check_bucket(request["S3Bucket"], "s3Bucket")
    arn = request["TableArn"]
    if not arn.startswith("arn:"):
        raise invalid_parameter("tableArn is not a valid ARN")
    if not re.fullmatch("arn:[^:]+:dynamodb:[^:]*:[0-9]*:table/[^/]+", arn):
        raise invalid("Invalid Request: Table ARN is invalid.")
    kind, period = request.get("ExportType"), request.get("IncrementalExportSpecification")
    if kind == INCREMENTAL:
        if period is None:
            raise invalid(
                "Invalid Request: Incremental Export Specification expected when export type is set as "
                "Incremental Export"
            )
        if period.get("ExportFromTime") is None:
            raise invalid(
                "Invalid Request: ExportFromTime must be provided in IncrementalExportSpecification"
            )
    elif period is not None and kind == FULL:
        raise invalid(
            "Invalid Request: When Export Type is Full Export , Incremental Export Specification should not be provided"
        )
    elif period is not None:
        raise invalid(
            "Invalid Request: Export Type expected to be Incremental Export when incremental export "
            "specification is provided"
        )
    if request.get("S3SseKmsKeyId") is not None and request.get("S3SseAlgorithm") != "KMS":
        raise invalid("Invalid Request: KMS Key Id is not supported for this encryption type")
    if request.get("ExportFormat") == "ION":
        raise invalid("ExportFormat ION is not supported by this engine: use DYNAMODB_JSON")


# --- checks with the table ---


def _moment(txn: WriteTransaction, table: Table, asked: float | None) -> tuple[float, int]:
    """The time of a full export, and the last change that belongs to it."""
    now = txn.position.at
    refuse_unavailable(table)
    if asked is None:
        return now // 1000 / 1000, txn.position.seq
    at = microseconds_of(asked)
    if not is_restorable(table, at, now):
        raise _invalid_time("Export Time is invalid")
    return asked, change_at(txn.rows, table, at, now)


def _period(txn: WriteTransaction, table: Table, asked: Request) -> tuple[Answer, int, int]:
    """The period of an incremental export, the first and the last change that belong to it."""
    now, rows = txn.position.at, txn.rows
    start = microseconds_of(asked["ExportFromTime"])
    end = now if asked.get("ExportToTime") is None else microseconds_of(asked["ExportToTime"])
    _check_period(table, start, end, now)
    refuse_unavailable(table)
    if not is_restorable(table, start, now):
        raise _invalid_time("Point in Time Recovery is not available for specified export time")
    description = {
        "ExportFromTime": asked["ExportFromTime"],
        "ExportToTime": asked.get("ExportToTime") or end // 1000 / 1000,
        "ExportViewType": asked.get("ExportViewType") or NEW_AND_OLD,
    }
    return description, first_since(rows, max(start, window(table, now)[0])), first_since(rows, end) - 1


def _check_period(table: Table, start: int, end: int, now: int) -> None:
    if start < int(table.created) * SECOND:
        raise _invalid_time(
            f"Incremental export period from time cannot be less than the table creation time : {moment_text(start)}"
        )
    if end > now:
        raise _invalid_time(
            f"Incremental export period to time cannot be greater than the current time : {moment_text(end)}"
        )
    if start >= end:
        raise _invalid_time(
            "Incremental export period from time should not be greater or equal to incremental export period to time"
        )
    difference = "Difference between export period from time and export period to time is"
    if end - start < EXPORT_PERIOD_MINUTES * 60 * SECOND:
        raise _invalid_time(f"{difference} less than {EXPORT_PERIOD_MINUTES} minutes")
    if end - start > EXPORT_PERIOD_HOURS * 3600 * SECOND:
        raise _invalid_time(f"{difference} greater than {EXPORT_PERIOD_HOURS} hours")


def _invalid_time(message: str) -> ServiceError:
    return ServiceError("InvalidExportTimeException", message)
