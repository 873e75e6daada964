"""The objects of an export: keys, data lines, manifests. Pure.

    <prefix>/AWSDynamoDB/<id>/_started                                   at the beginning, empty
    <prefix>/AWSDynamoDB/<id>/data/<name>.json.gz                        a full export's items
    <prefix>/AWSDynamoDB/data/<name>.json.gz                             an incremental export's changes, shared by all
    <prefix>/AWSDynamoDB/<id>/manifest-files.json, manifest-files.md5    which data files, what is in them
    <prefix>/AWSDynamoDB/<id>/manifest-summary.json, .md5                written last: if it exists, the export is
    complete
Must hold: the same export has the same keys however often it is begun, so a file that was written and not yet recorded
is overwritten.
"""

import gzip
from base64 import b32encode, b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b, md5
from typing import Any

import orjson

FULL, INCREMENTAL = "FULL_EXPORT", "INCREMENTAL_EXPORT"
NEW, NEW_AND_OLD = "NEW_IMAGE", "NEW_AND_OLD_IMAGES"
# The names of objects in the home of an export.
STARTED, FILES, SUMMARY = "_started", "manifest-files.json", "manifest-summary.json"
VERSIONS = {FULL: "2020-06-30", INCREMENTAL: "2023-08-01"}
# Fast rather than small: next to a busy engine the processor is scarcer than the disk.
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
    """`at` in microseconds; `salt` distinguishes two exports of one millisecond."""
    return f"{at // 1000:014d}-{blake2b(salt.encode(), digest_size=4).hexdigest()}"


def home(prefix: str | None, identity: str) -> str:
    """The key prefix of an export, ending with a slash."""
    return f"{_root(prefix)}{identity}/"


def data_key(prefix: str | None, identity: str, kind: str, number: int) -> str:
    name = b32encode(blake2b(f"{identity} {number}".encode(), digest_size=16).digest()).decode()
    place = f"{home(prefix, identity)}data" if kind == FULL else f"{_root(prefix)}data"
    return f"{place}/{name.rstrip('=').lower()}.json.gz"


def _root(prefix: str | None) -> str:
    slash = "" if not prefix or prefix.endswith("/") else "/"
    return f"{prefix or ''}{slash}AWSDynamoDB/"


# --- data ---


def item_line(item: bytes) -> bytes:
    """The line of a full export. The stored JSON has no line ends in it: JSON writes them as \\n."""
    return b'{"Item":' + item + b"}\n"


def change_line(
    names: Sequence[str],
    at: int,
    old: bytes | None,
    new: bytes | None,
    view: str,
    shown: Callable[[bytes], bytes],
) -> bytes | None:
    """The line of an incremental export for a key: the images before and after, and when it was last written.

    None for a key that did not exist before and does not exist after. `shown` has the attributes to be exported.
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
        line["OldImage"] = orjson.Fragment(shown(old))
    if new is not None:
        line["NewImage"] = orjson.Fragment(shown(new))
    return orjson.dumps(line) + b"\n"


def compressed(lines: Iterable[bytes]) -> bytes:
    """The gzip file, without name and time: the same lines give the same bytes."""
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


def summary(description: Mapping[str, Any], home: str, items: int, size: int, start: int, end: int) -> bytes:
    """The summary of an export with that description (see export.py); times in microseconds."""
    kind = description["ExportType"]
    members: dict[str, Any] = {
        "version": VERSIONS[kind],
        "exportArn": description["ExportArn"],
        "startTime": iso(start),
        "endTime": iso(end),
        "tableArn": description["TableArn"],
        "tableId": description["TableId"],
    }
    if kind == FULL:
        members["exportTime"] = iso(_microseconds(description["ExportTime"]))
    else:
        period = description["IncrementalExportSpecification"]
        members["exportFromTime"] = iso(_microseconds(period["ExportFromTime"]))
        members["exportToTime"] = iso(_microseconds(period["ExportToTime"]))
    members |= {
        "s3Bucket": description["S3Bucket"],
        "s3Prefix": description.get("S3Prefix"),
        "s3SseAlgorithm": description["S3SseAlgorithm"],
        "s3SseKmsKeyId": description.get("S3SseKmsKeyId"),
        "manifestFilesS3Key": home + FILES,
        "billedSizeBytes": size,
        "itemCount": items,
        "outputFormat": description["ExportFormat"],
    }
    if kind == INCREMENTAL:
        members["outputView"] = description["IncrementalExportSpecification"]["ExportViewType"]
    return orjson.dumps({**members, "exportType": kind})


# --- times ---


def _microseconds(seconds: float) -> int:
    """A time of a request, rounded to the millisecond: the rest of the float is noise."""
    return round(seconds * 1000) * 1000


def iso(at: int) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
