"""Exports and imports for the engine's own tests: asking for them, and reading what they left."""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.engine.tables import Json, definition, schema

from tablewright import Engine
from tablewright.engine.history import bulk_load
from tablewright.engine.transfer import export_lines, import_

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/pets"
QUARTER = timedelta(minutes=15)


def recoverable(engine: Engine, table: str = "pets") -> None:
    specification = {"PointInTimeRecoveryEnabled": True}
    engine.call(
        "UpdateContinuousBackups", {"TableName": table, "PointInTimeRecoverySpecification": specification}
    )


def export(engine: Engine, bucket: str = "vault", **others: Any) -> str:
    """Ask for an export of the pets; its ARN."""
    asked = {"TableArn": ARN, "S3Bucket": bucket, **others}
    return str(engine.call("ExportTableToPointInTime", asked)["ExportDescription"]["ExportArn"])


def changes(engine: Engine, start: float, end: float | None = None, view: str | None = None) -> str:
    """Ask for what changed between two moments."""
    period: Json = {"ExportFromTime": start}
    if end is not None:
        period["ExportToTime"] = end
    if view is not None:
        period["ExportViewType"] = view
    return export(engine, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=period)


def describe(engine: Engine, arn: str) -> Json:
    """The description of an export or an import."""
    if "/export/" in arn:
        return dict(engine.call("DescribeExport", {"ExportArn": arn})["ExportDescription"])
    return dict(engine.call("DescribeImport", {"ImportArn": arn})["ImportTableDescription"])


def written(buckets: Path, description: Json) -> list[Json]:
    """The lines of the data files that an export's manifest lists."""
    bucket = buckets / description["S3Bucket"]
    summary = json.loads((bucket / description["ExportManifest"]).read_bytes())
    found: list[Json] = []
    for line in (bucket / summary["manifestFilesS3Key"]).read_bytes().splitlines():
        file = json.loads(line)
        lines = gzip.decompress((bucket / file["dataFileS3Key"]).read_bytes()).splitlines()
        assert len(lines) == file["itemCount"]
        found += [json.loads(line) for line in lines]
    assert len(found) == summary["itemCount"]
    return found


def data_of(description: Json) -> str:
    """The prefix of the data files of a full export."""
    return str(description["ExportManifest"]).removesuffix("manifest-summary.json") + "data/"


def import_request(prefix: str = "", bucket: str = "vault", **others: Any) -> Json:
    """Into a table called copies."""
    parameters: Json = {
        **definition("copies"),
        "KeySchema": schema("pk"),
        **others.pop("parameters", {}),
    }
    return {
        "S3BucketSource": {"S3Bucket": bucket, "S3KeyPrefix": prefix},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": parameters,
        **others,
    }


def import_some(engine: Engine, prefix: str = "", **others: Any) -> str:
    asked = engine.call("ImportTable", import_request(prefix, **others))
    return str(asked["ImportTableDescription"]["ImportArn"])


def put_lines(buckets: Path, key: str, *items: Json, bucket: str = "vault") -> None:
    path = buckets / bucket / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps({"Item": item}).encode() + b"\n" for item in items))


@contextmanager
def small_pieces(file_bytes: int = 1, items: int = 2) -> Iterator[None]:
    """A file for each page of items, and pages of few items: much to be cut off from."""
    with (
        patch.object(export_lines, "FILE_BYTES", file_bytes),
        patch.object(export_lines, "JOURNAL_ROWS", 3),
        patch.object(export_lines, "PART_ROWS", 5),
        patch.object(export_lines, "IMAGES", items),
        patch.object(bulk_load, "FILLED_ITEMS", items),
        patch.object(bulk_load, "INDEXED_ITEMS", items),
        patch.object(import_, "REPORTED_ERRORS", 3),
    ):
        yield
