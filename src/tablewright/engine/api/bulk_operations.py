"""StartBulkPutItems, DescribeBulkOperation, ListBulkOperations and CancelBulkOperation.

A load reads the objects of a bucket and puts their items into an existing table. The answer says IN_PROGRESS; a job
writes the items (transfer/bulk_put.py). Loads are listed for ninety days, the newest first.
"""

import re
from typing import Any

import orjson

from tablewright.engine.api.common_members import TABLE_NAME
from tablewright.engine.api.imports import refuse_compression
from tablewright.engine.api.operation import read_verb, write_verb
from tablewright.engine.api.shapes import Answer, ListOf, Request, Struct, Text, Whole
from tablewright.engine.api.tables import settled_table
from tablewright.engine.api.transfers import (
    BUCKET,
    BUCKET_OWNER,
    CLIENT_TOKEN,
    PREFIX,
    check_bucket,
    digest,
    listed_since,
    next_page,
    no_buckets,
    page_start,
)
from tablewright.engine.catalog import Table
from tablewright.engine.errors import ServiceError, invalid, limit_exceeded, resource_not_found
from tablewright.engine.history.pitr_window import SECOND
from tablewright.engine.limits import (
    BULK_OPERATIONS_AT_ONCE,
    BULK_WRITE_UNITS,
    CLIENT_TOKEN_HOURS,
    TRANSFERS_PAGE,
    TRANSFERS_PAGE_MOST,
)
from tablewright.engine.transaction import ReadTransaction, WriteTransaction
from tablewright.engine.transfer import export_format, store
from tablewright.engine.transfer.bulk_put import described
from tablewright.engine.transfer.import_formats import JSON_LINES
from tablewright.engine.transfer.store import BULK_OPERATIONS, CANCELLING, IN_PROGRESS, BulkOperation

_ARN = Text(37, 1024)
_PATTERN = re.compile(r"arn:[^:]+:dynamodb:[^:]+:[0-9]+:table/[a-zA-Z0-9_.-]+/bulk-operation/[0-9a-f-]+")
_SUMMARY = ("BulkOperationArn", "BulkOperationStatus", "StartTime", "EndTime")


@write_verb(
    "StartBulkPutItems",
    {
        "ClientToken": CLIENT_TOKEN,
        "InputS3Configuration": Struct(
            "InputS3Configuration",
            {
                "S3BucketOwner": BUCKET_OWNER,
                "S3Bucket": BUCKET,
                "S3KeyPrefix": PREFIX,
                "InputFormat": Text(one_of=("ION", JSON_LINES)),
                "InputCompressionType": Text(one_of=("ZSTD", "NONE", "GZIP")),
            },
            required=("S3Bucket", "InputFormat"),
        ),
        "OutputS3Configuration": Struct(
            "OutputS3Configuration",
            {
                "S3BucketOwner": BUCKET_OWNER,
                "S3Bucket": BUCKET,
                "S3KeyPrefix": PREFIX,
                "S3SseAlgorithm": Text(one_of=("KMS", "AES256")),
                "S3SseKmsKeyId": Text(1, 2048),
                "OutputType": ListOf(Text(one_of=("CONDITION_CHECK_FAILURE", "ERROR"))),
            },
            required=("S3Bucket", "OutputType"),
        ),
        "TableName": TABLE_NAME,
        "MaxWriteRequestUnits": Whole(least=BULK_WRITE_UNITS, java="Long"),
        "PerformanceTier": Text(one_of=("ACCELERATED", "STANDARD")),
    },
    required=("InputS3Configuration", "OutputS3Configuration", "TableName"),
)
def start_bulk_put_items(txn: WriteTransaction, request: Request) -> Answer:
    _check_request(request)
    table = settled_table(txn.tables, request)
    if table.replicas is not None:
        raise invalid("Invalid Request: StartBulkPutItems is not supported for a global table")
    asked = digest(request)
    known = _begun_before(txn, request.get("ClientToken"), asked)
    if known is None:
        _refuse_surroundings(txn, request)
        known = _begin(txn, table, request, asked)
    return {"BulkOperationDescription": described(known)}


def _check_request(request: Request) -> None:
    given, output = request["InputS3Configuration"], request["OutputS3Configuration"]
    check_bucket(given["S3Bucket"], "inputS3Configuration.s3Bucket")
    check_bucket(output["S3Bucket"], "outputS3Configuration.s3Bucket")
    if not output["OutputType"]:
        raise invalid("Invalid Request: OutputType must have at least one value")
    if output.get("S3SseKmsKeyId") is not None and output.get("S3SseAlgorithm") != "KMS":
        raise invalid("Invalid Request: KMS Key Id is not supported for this encryption type")
    if given["InputFormat"] == "ION":
        raise invalid(f"InputFormat ION is not supported by this engine: use {JSON_LINES}")
    refuse_compression(given.get("InputCompressionType"))


def _refuse_surroundings(txn: WriteTransaction, request: Request) -> None:
    buckets = txn.place.buckets
    if buckets is None:
        raise no_buckets("load from")
    if request["OutputS3Configuration"].get("S3SseAlgorithm") == "KMS" and buckets.refuses_keys is not None:
        raise invalid(f"S3SseAlgorithm KMS is not supported by this engine: {buckets.refuses_keys}")
    if BULK_OPERATIONS.under_way(txn.rows) >= BULK_OPERATIONS_AT_ONCE:
        raise limit_exceeded(
            f"There are {BULK_OPERATIONS_AT_ONCE} bulk operations under way: wait until one has ended"
        )


def _begun_before(txn: WriteTransaction, token: str | None, asked: str) -> BulkOperation | None:
    """The load of an earlier request with the same client token; `asked` is the digest of this request."""
    if token is None:
        return None
    known = BULK_OPERATIONS.with_token(txn.rows, token, txn.position.at - CLIENT_TOKEN_HOURS * 3600 * SECOND)
    if known is not None and orjson.loads(known.body)["asked"] != asked:
        raise ServiceError(
            "IdempotentParameterMismatchException",
            "The ClientToken was used in the last eight hours for a request with other parameters",
        )
    return known


def _begin(txn: WriteTransaction, table: Table, request: Request, asked: str) -> BulkOperation:
    arn = f"{table.arn}/bulk-operation/{export_format.export_id(txn.position.at, txn.world.new_id())}"
    description: dict[str, Any] = {
        "BulkOperationArn": arn,
        "TableDetails": [{"TableName": table.name, "TableId": table.uuid}],
        "InputS3Configuration": {"InputCompressionType": "NONE", **_given(request["InputS3Configuration"])},
        "OutputS3Configuration": _given(request["OutputS3Configuration"]),
        "PerformanceTier": request.get("PerformanceTier") or "STANDARD",
    }
    for member in ("ClientToken", "MaxWriteRequestUnits"):
        if request.get(member) is not None:
            description[member] = request[member]
    local = [index.name for index in table.indexes if index.local]
    body = orjson.dumps({"told": description, "asked": asked, "local": local})
    txn.has_background_work = True
    token = request.get("ClientToken")
    return BULK_OPERATIONS.add(txn.rows, arn, table.number, token, txn.position.at, body)


def _given(members: Request) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


@read_verb("DescribeBulkOperation", {"BulkOperationArn": _ARN}, required=("BulkOperationArn",))
def describe_bulk_operation(txn: ReadTransaction, request: Request) -> Answer:
    found = _find(txn, request["BulkOperationArn"], listed_since(txn))
    return {"BulkOperationDescription": described(found)}


@write_verb("CancelBulkOperation", {"BulkOperationArn": _ARN}, required=("BulkOperationArn",))
def cancel_bulk_operation(txn: WriteTransaction, request: Request) -> Answer:
    """A load that has ended stays as it is."""
    found = _find(txn, request["BulkOperationArn"], 0)
    status = found.status
    if status == IN_PROGRESS:
        store.cancel(txn.rows, found.number)
        txn.has_background_work, status = True, CANCELLING
    return {"BulkOperationArn": found.arn, "BulkOperationStatus": status}


def _find(txn: ReadTransaction | WriteTransaction, arn: str, since: int) -> BulkOperation:
    if _PATTERN.fullmatch(arn) is None:
        raise invalid("Invalid Request: BulkOperationArn is not valid")
    found = BULK_OPERATIONS.named(txn.rows, arn)
    if found is None or found.at < since:
        raise resource_not_found(f"Requested resource not found: BulkOperation: {arn} not found")
    return found


@read_verb(
    "ListBulkOperations",
    {
        "MaxResults": Whole(least=1, most=TRANSFERS_PAGE_MOST),
        "NextToken": Text(1, 1024, "([0-9a-f]{16})+"),
    },
)
def list_bulk_operations(txn: ReadTransaction, request: Request) -> Answer:
    most, before = int(request.get("MaxResults") or TRANSFERS_PAGE), page_start(request.get("NextToken"), "b")
    found = BULK_OPERATIONS.all(txn.rows, None, None, before, most + 1, listed_since(txn))
    shown = [{n: one[n] for n in _SUMMARY if n in one} for one in map(described, found[:most])]
    return {"BulkOperationsSummaryList": shown, **next_page(found, most, "b")}
