"""What an export leaves in its bucket: names, data lines, manifests. Pure.

    <prefix>/AWSDynamoDB/<id>/_started                                   at the beginning, empty
    <prefix>/AWSDynamoDB/<id>/data/<name>.json.gz                        a full export's items
    <prefix>/AWSDynamoDB/data/<name>.json.gz                             an incremental export's changes, shared by all
    <prefix>/AWSDynamoDB/<id>/manifest-files.json, manifest-files.md5    which data files, what is in them
    <prefix>/AWSDynamoDB/<id>/manifest-summary.json, .md5                written last: who finds it finds a whole export
Must hold: the same export has the same names however often it is begun, so a file that was written and not yet
noted is written again in its own place.
"""

import gzip
from base64 import b32encode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b, md5
from typing import Any

import orjson

FULL, INCREMENTAL = "FULL_EXPORT", "INCREMENTAL_EXPORT"
NEW, NEW_AND_OLD = "NEW_IMAGE", "NEW_AND_OLD_IMAGES"
VERSIONS = {FULL: "2020-06-30", INCREMENTAL: "2023-08-01"}
# Quick rather than small: beside an engine at work the processor is dearer than the disk.
COMPRESSION = 3


@dataclass(frozen=True, slots=True)
class DataFile:
    """A data file as the manifest lists it."""

    key: str
    items: int
    md5: str
    etag: str


# --- names ---


def export_id(at: int, salt: str) -> str:
    """`at` in microseconds; `salt` keeps two of one millisecond apart."""
    return f"{at // 1000:014d}-{blake2b(salt.encode(), digest_size=4).hexdigest()}"


def home(prefix: str | None, identity: str) -> str:
    """Where an export is in its bucket, with a slash at the end."""
    return f"{_root(prefix)}{identity}/"


def data_key(prefix: str | None, identity: str, kind: str, number: int) -> str:
    name = b32encode(blake2b(f"{identity} {number}".encode(), digest_size=16).digest()).decode()
    place = f"{home(prefix, identity)}data" if kind == FULL else f"{_root(prefix)}data"
    return f"{place}/{name.rstrip('=').lower()}.json.gz"


def started_key(prefix: str | None, identity: str) -> str:
    return f"{home(prefix, identity)}_started"


def summary_key(prefix: str | None, identity: str) -> str:
    return f"{home(prefix, identity)}manifest-summary.json"


def files_key(prefix: str | None, identity: str) -> str:
    return f"{home(prefix, identity)}manifest-files.json"


def _root(prefix: str | None) -> str:
    slash = "" if not prefix or prefix.endswith("/") else "/"
    return f"{prefix or ''}{slash}AWSDynamoDB/"


# --- data ---


def item_line(item: bytes) -> bytes:
    """The line of a full export. The stored JSON has no line ends in it: JSON writes them as \\n."""
    return b'{"Item":' + item + b"}\n"


def change_line(
    names: Sequence[str], at: int, old: bytes | None, new: bytes | None, view: str
) -> bytes | None:
    """The line of an incremental export for a key: what it was before, what it is after, when it was last written.

    None for a key that was not there before and is not there after.
    """
    item = new or old
    if item is None:
        return None
    parsed = orjson.loads(item)
    line: dict[str, Any] = {
        "Metadata": {"WriteTimestampMicros": {"N": str(at)}},
        "Keys": {name: parsed[name] for name in names},
    }
    if old is not None and view == NEW_AND_OLD:
        line["OldImage"] = orjson.Fragment(old)
    if new is not None:
        line["NewImage"] = orjson.Fragment(new)
    return orjson.dumps(line) + b"\n"


def compressed(lines: Iterable[bytes]) -> bytes:
    """The same lines are the same file: no name and no time in it."""
    return gzip.compress(b"".join(lines), COMPRESSION, mtime=0)


def checksum(body: bytes) -> str:
    return b64encode(md5(body, usedforsecurity=False).digest()).decode()


# --- manifests ---


def files_manifest(files: Iterable[DataFile]) -> bytes:
    return b"".join(
        orjson.dumps(
            {"itemCount": one.items, "md5Checksum": one.md5, "etag": one.etag, "dataFileS3Key": one.key}
        )
        + b"\n"
        for one in files
    )


def summary(told: Mapping[str, Any], identity: str, items: int, size: int, start: int, end: int) -> bytes:
    """The summary of an export whose request said `told` (see exports.py); times in microseconds."""
    kind = told["ExportType"]
    shown: dict[str, Any] = {
        "version": VERSIONS[kind],
        "exportArn": told["ExportArn"],
        "startTime": iso(start),
        "endTime": iso(end),
        "tableArn": told["TableArn"],
        "tableId": told["TableId"],
    }
    if kind == FULL:
        shown["exportTime"] = iso(_microseconds(told["ExportTime"]))
    else:
        period = told["IncrementalExportSpecification"]
        shown["exportFromTime"] = iso(_microseconds(period["ExportFromTime"]))
        shown["exportToTime"] = iso(_microseconds(period["ExportToTime"]))
    shown |= {
        "s3Bucket": told["S3Bucket"],
        "s3Prefix": told.get("S3Prefix"),
        "s3SseAlgorithm": told["S3SseAlgorithm"],
        "s3SseKmsKeyId": told.get("S3SseKmsKeyId"),
        "manifestFilesS3Key": files_key(told.get("S3Prefix"), identity),
        "billedSizeBytes": size,
        "itemCount": items,
        "outputFormat": told["ExportFormat"],
    }
    if kind == INCREMENTAL:
        shown["outputView"] = told["IncrementalExportSpecification"]["ExportViewType"]
    return orjson.dumps({**shown, "exportType": kind})


# --- times ---


def _microseconds(seconds: float) -> int:
    """A time of a request, to the millisecond: what is beyond that in a float is noise."""
    return round(seconds * 1000) * 1000


def iso(at: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
