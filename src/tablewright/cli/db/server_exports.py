"""Exports that a server wrote, found by their bucket.

Elsewhere: exports in directories (export_directory.py).
"""

from typing import Any

from tablewright.cli.db.export_directory import ExportUnusable
from tablewright.cli.target import Target
from tablewright.client import CallRefused


def data_prefix(export: dict[str, Any]) -> str:
    return f"{export['ExportManifest'].rpartition('/')[0]}/data/"


def find_export(bucket: str, prefix: str, target: Target) -> dict[str, Any] | None:
    """The newest full export that the server wrote into that bucket, under that prefix."""

    try:
        listed = target.call("ListExports", {"MaxResults": 25})["ExportSummaries"]
    except CallRefused:  # permission to import does not imply permission to list exports
        return None
    has_incremental = False
    for one in sorted(listed, key=lambda one: str(one["ExportArn"]).rpartition("/")[2], reverse=True):
        if one["ExportStatus"] != "COMPLETED":
            continue
        export: dict[str, Any] = target.call("DescribeExport", {"ExportArn": one["ExportArn"]})[
            "ExportDescription"
        ]
        if export["S3Bucket"] != bucket or export.get("ExportFormat", "DYNAMODB_JSON") != "DYNAMODB_JSON":
            continue
        is_match = export["ExportManifest"].startswith(prefix) or prefix == data_prefix(export)
        if is_match and export.get("ExportType", "FULL_EXPORT") == "FULL_EXPORT":
            return export
        has_incremental = has_incremental or is_match
    if has_incremental:
        raise ExportUnusable(
            f"the bucket {bucket} contains only an incremental export, which cannot be imported (neither can AWS); "
            "export "
            "the table again without --since"
        )
    return None
