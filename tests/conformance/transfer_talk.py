"""Exports and imports, said shortly: what is asked, and waiting for the end of it."""

from __future__ import annotations

import gzip
import json
import sys
import time
from pathlib import Path
from typing import Any

from tests.conformance.talk import HASH_TABLE, Answered, Json

PATIENCE = 20.0


def enable_recovery(answered: Answered, table: str) -> str:
    """Point-in-time recovery for a table; its ARN."""
    answered(
        "UpdateContinuousBackups",
        {"TableName": table, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}},
    )
    return str(answered("DescribeTable", {"TableName": table})["Table"]["TableArn"])


def exported(answered: Answered, arn: str) -> Json:
    """The export when it has ended."""
    return _ended(answered, "DescribeExport", {"ExportArn": arn}, "ExportDescription", "ExportStatus")


def imported(answered: Answered, arn: str) -> Json:
    """The import when it has ended."""
    return _ended(answered, "DescribeImport", {"ImportArn": arn}, "ImportTableDescription", "ImportStatus")


def _ended(answered: Answered, verb: str, request: Json, member: str, status: str) -> Json:
    give_up = time.monotonic() + PATIENCE
    while True:
        told: Json = answered(verb, request)[member]
        if told[status] != "IN_PROGRESS":
            return told
        assert time.monotonic() < give_up, f"it does not end: {told}"
        time.sleep(0.01)


def lines(path: Path) -> list[Any]:
    """The JSON lines of a file, compressed or not."""
    body = path.read_bytes()
    text = gzip.decompress(body) if path.suffix == ".gz" else body
    return [json.loads(line) for line in text.splitlines()]


def import_request(table: str, bucket: str, prefix: str = "", **others: Any) -> Json:
    """An import of DynamoDB JSON into a table with the key pk; `parameters` go into the table's definition."""
    parameters: Json = {
        "TableName": table,
        "BillingMode": "PAY_PER_REQUEST",
        **HASH_TABLE,
        **others.pop("parameters", {}),
    }
    return {
        "S3BucketSource": {"S3Bucket": bucket, "S3KeyPrefix": prefix},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": parameters,
        **others,
    }


def zstandard(body: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.compress(body)


def put_object(buckets: Path, bucket: str, key: str, body: bytes) -> None:
    path = buckets / bucket / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)


def json_lines(*items: Json) -> bytes:
    return b"".join(json.dumps({"Item": item}).encode() + b"\n" for item in items)


def everything(answered: Answered, table: str) -> list[Json]:
    """All items of a table, in the order of their texts."""
    items: list[Json] = []
    request: Json = {"TableName": table, "ConsistentRead": True}
    while True:
        page = answered("Scan", request)
        items += page["Items"]
        if "LastEvaluatedKey" not in page:
            return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))
        request["ExclusiveStartKey"] = page["LastEvaluatedKey"]
