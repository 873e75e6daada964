"""ImportTable: a new table with the items of the objects in a bucket.

The answer says IN_PROGRESS, and the table is CREATING while a job loads it (transfer/import_.py).
"""

from dataclasses import replace
from typing import Any

import orjson

from tablewright.engine.api import table_definitions as definitions
from tablewright.engine.api.common_members import INDEX_NAME
from tablewright.engine.api.operation import write_verb
from tablewright.engine.api.shapes import Answer, ListOf, Request, Struct, Text
from tablewright.engine.api.tables import create_table
from tablewright.engine.api.transfers import (
    BUCKET,
    BUCKET_OWNER,
    CLIENT_TOKEN,
    PREFIX,
    begun_before,
    check_bucket,
    digest,
    no_buckets,
)
from tablewright.engine.api.vector_indexes import VECTOR_INDEX
from tablewright.engine.errors import invalid, limit_exceeded, resource_in_use
from tablewright.engine.limits import IMPORTS_AT_ONCE
from tablewright.engine.transaction import WriteTransaction
from tablewright.engine.transfer import export_format
from tablewright.engine.transfer.import_ import described
from tablewright.engine.transfer.import_formats import CSV, JSON_LINES, NoZstandard, check_compression
from tablewright.engine.transfer.store import IMPORTS, Import


@write_verb(
    "ImportTable",
    {
        "ClientToken": CLIENT_TOKEN,
        "S3BucketSource": Struct(
            "S3BucketSource",
            {"S3BucketOwner": BUCKET_OWNER, "S3Bucket": BUCKET, "S3KeyPrefix": PREFIX},
            required=("S3Bucket",),
        ),
        "InputFormat": Text(one_of=("ION", JSON_LINES, CSV)),
        "InputFormatOptions": Struct(
            "InputFormatOptions",
            {
                "Csv": Struct(
                    "CsvOptions",
                    {
                        "Delimiter": Text(1, 1, r"[,;:|\t ]"),
                        "HeaderList": ListOf(
                            Text(1, 65536, r"[\x20-\x21\x23-\x2B\x2D-\x7E]*"), least=1, most=255
                        ),
                    },
                )
            },
        ),
        "InputCompressionType": Text(one_of=("ZSTD", "NONE", "GZIP")),
        "TableCreationParameters": Struct(
            "TableCreationParameters",
            {
                # A name, not an ARN: the table does not exist yet.
                "TableName": INDEX_NAME,
                "AttributeDefinitions": definitions.ATTRIBUTE_DEFINITIONS,
                "KeySchema": definitions.KEY_SCHEMA,
                "BillingMode": definitions.BILLING_MODE,
                "ProvisionedThroughput": definitions.PROVISIONED,
                "OnDemandThroughput": definitions.ON_DEMAND,
                "SSESpecification": definitions.ENCRYPTION,
                "GlobalSecondaryIndexes": ListOf(definitions.GLOBAL_INDEX),
                "VectorIndexes": ListOf(VECTOR_INDEX),
            },
            required=("TableName", "AttributeDefinitions", "KeySchema"),
        ),
    },
    required=("S3BucketSource", "InputFormat", "TableCreationParameters"),
)
def import_table(txn: WriteTransaction, request: Request) -> Answer:
    _check_request(request)
    name, token = request["TableCreationParameters"]["TableName"], request.get("ClientToken")
    there = txn.tables.get(name)
    if there is not None and there.status == "ACTIVE":
        # Also with the token that created this table: the service checks the table first.
        raise resource_in_use(f"Table already exists: {name}")
    asked = digest(request)
    known = begun_before(txn, IMPORTS, "Import", token, asked)
    if known is not None:
        return {"ImportTableDescription": described(known)}
    if txn.place.buckets is None:
        raise no_buckets("import from")
    if IMPORTS.under_way(txn.rows) >= IMPORTS_AT_ONCE:
        raise limit_exceeded(f"There are {IMPORTS_AT_ONCE} imports under way: wait until one has ended")
    return {"ImportTableDescription": described(_begin(txn, request, token, asked))}


def _check_request(request: Request) -> None:
    check_bucket(request["S3BucketSource"]["S3Bucket"], "s3BucketSource.s3Bucket")
    form, options = request["InputFormat"], request.get("InputFormatOptions") or {}
    if options.get("Csv") is not None and form != CSV:
        raise invalid(f"Invalid Request: Unsupported InputFormatOptions for the given input format: {form}.")
    if form == "ION":
        raise invalid(f"InputFormat ION is not supported by this engine: use {JSON_LINES} or {CSV}")
    header = (options.get("Csv") or {}).get("HeaderList") or []
    if len(set(header)) < len(header):
        raise invalid("Invalid Request: HeaderList names a column twice")
    refuse_compression(request.get("InputCompressionType"))


def refuse_compression(given: str | None) -> None:
    """Refuse objects that cannot be read as the engine is installed."""
    try:
        check_compression(given or "NONE")
    except NoZstandard:
        raise invalid(
            "InputCompressionType ZSTD is not supported by this engine as it is installed: "
            "pip install 'tablewright[zstd]', or use GZIP"
        ) from None


def _begin(txn: WriteTransaction, request: Request, token: str | None, asked: str) -> Import:
    parameters = request["TableCreationParameters"]
    create_table(txn, parameters)
    table = replace(txn.tables[parameters["TableName"]], status="CREATING", is_filled=True)
    txn.save_table(table)
    place = txn.place
    arn = f"{table.arn}/import/{export_format.export_id(txn.position.at, txn.world.new_id())}"
    description: dict[str, Any] = {
        "ImportArn": arn,
        "TableArn": table.arn,
        "TableId": table.uuid,
        "S3BucketSource": {"S3BucketOwner": place.account, **request["S3BucketSource"]},
        "CloudWatchLogGroupArn": f"arn:aws:logs:{place.region}:{place.account}:log-group:/aws-dynamodb/imports:*",
        "InputFormat": request["InputFormat"],
        "InputCompressionType": request.get("InputCompressionType") or "NONE",
        "TableCreationParameters": parameters,
    }
    for member in ("ClientToken", "InputFormatOptions"):
        if request.get(member) is not None:
            description[member] = request[member]
    owner = request["S3BucketSource"].get("S3BucketOwner")
    body = orjson.dumps({"told": description, "asked": asked, "owner": owner})
    txn.has_background_work = True
    return IMPORTS.add(txn.rows, arn, table.number, token, txn.position.at, body)
