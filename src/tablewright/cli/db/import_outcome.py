"""The outcome of an import for the user: how many items were imported, which were refused, in which file and line.

Must hold: each refused item is printed once, by the user's own file and line; the internal bucket does not appear.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tablewright.cli.db.import_files import COMPRESSIONS, FORMATS, ImportFiles
from tablewright.cli.format import as_json, escape_unprintable, plural, size
from tablewright.cli.output import print_message
from tablewright.engine.transfer.import_ import report_key
from tablewright.engine.transfer.import_formats import ImportFormat, lines_of

# Refused items printed one by one; --json has all that the engine keeps, up to 1000.
MAX_PRINTED = 20


@dataclass(frozen=True, slots=True)
class ImportJob:
    """An import to start: source, format, table definition, and what is known before reading (size, item count)."""

    bucket: str
    prefix: str
    form: str
    packed: str
    table: dict[str, Any]
    weight: int | None = None
    items: int | None = None
    files: ImportFiles | None = None

    def format(self, delimiter: str | None, types: Mapping[str, str]) -> ImportFormat:
        return ImportFormat(FORMATS[self.form], COMPRESSIONS[self.packed], delimiter or ",", None, types)


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An item that was not imported: its file and line, and the reason."""

    file: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        return f"{self.file}{'' if self.line is None else f', line {self.line}'}: {escape_unprintable(self.reason)}"


def refused_items(
    given: argparse.Namespace, job: ImportJob, done: dict[str, Any], bucket: Path | None
) -> list[RefusedItem]:
    """The refused items, by the user's own files; empty if only the server can read the report."""
    report = None if bucket is None else bucket / report_key(done["ImportArn"])
    if job.files is None or report is None or not report.is_file():
        return []
    report_lines = [json.loads(line) for line in report.read_bytes().splitlines()]
    indexes = [(one["itemS3Pointer"]["key"], one["itemS3Pointer"]["itemIndex"]) for one in report_lines]
    lines: dict[tuple[str, int], int] = {}
    wanted = indexes if given.json else indexes[:MAX_PRINTED]
    for key in dict.fromkeys(key for key, _ in wanted):
        places = [index for one, index in wanted if one == key]
        found = lines_of((job.files.root / key).open("rb"), job.format(given.delimiter, {}), places)
        lines |= {(key, index): line for index, line in found.items()}
    return [
        RefusedItem(str(job.files.root / key), lines.get((key, index)), "; ".join(one["errorMessages"]))
        for one, (key, index) in zip(report_lines, indexes, strict=True)
    ]


def is_empty_import(job: ImportJob, done: dict[str, Any]) -> bool:
    """True if a bucket that only the server can read contained no matching files."""
    is_empty = not done.get("ProcessedSizeBytes") and not done.get("ProcessedItemCount")
    return job.files is None and done["ImportStatus"] == "COMPLETED" and is_empty and job.items is None


def print_outcome(
    given: argparse.Namespace,
    job: ImportJob,
    done: dict[str, Any],
    refused: list[RefusedItem],
    is_whole: bool,
) -> None:
    if given.json:
        print(as_json(_as_json(job, done, refused)))
        return
    taken, left = done.get("ImportedItemCount", 0), done.get("ErrorCount", 0)
    items = plural(taken, "item")
    if is_empty_import(job, done):
        under = f" with prefix {job.prefix}" if job.prefix else ""
        print(f"created {given.to}, which is empty: the bucket {job.bucket} has no files{under}")
    elif is_whole:
        read = size(done.get("ProcessedSizeBytes", 0))
        whole = "" if job.items is None else ", matching the export's manifest"
        print(f"created {given.to}: {items} from {read}{whole}")
    elif left:
        print(f"created {given.to}: {items} imported, {left} refused")
        _print_refused(given, job, done, refused)
    elif done["ImportStatus"] == "COMPLETED":
        print(f"created {given.to}: {items}, but the export's manifest says {job.items}")
    else:
        print(f"import failed: {_reason(job, done)}; {items} imported")


def _print_refused(
    given: argparse.Namespace, job: ImportJob, done: dict[str, Any], refused: list[RefusedItem]
) -> None:
    for one in refused[:MAX_PRINTED]:
        print(f"  {one}")
    if not refused:
        print(f"  {_reason(job, done)}")
    elif done["ErrorCount"] > MAX_PRINTED:
        print(f"  and {done['ErrorCount'] - MAX_PRINTED} more; --json lists up to 1000")
    print_message(
        "tablewright: correct the refused items and import them into another table, or put them into "
        f"{given.to} one by one"
    )


def _reason(job: ImportJob, done: dict[str, Any]) -> str:
    """Why it failed, with the user's own paths instead of the internal bucket."""
    reason = f"{done.get('FailureCode', '')} {done.get('FailureMessage', '')}".strip()
    if job.files is None:
        return reason
    head, found, tail = reason.partition(f"{job.bucket}/")
    return f"{head.rpartition(' ')[0]} {job.files.root}/{tail}" if found else reason


def _as_json(job: ImportJob, done: dict[str, Any], refused: list[RefusedItem]) -> dict[str, Any]:
    """DynamoDB's description; for local files, with the source directory instead of the internal bucket."""
    if job.files is None:
        return done
    internal = ("S3BucketSource", "CloudWatchLogGroupArn")
    shown = {name: value for name, value in done.items() if name not in internal}
    if "FailureMessage" in shown:
        left = shown["ErrorCount"]
        shown["FailureMessage"] = f"{plural(left, 'item')} refused" if left else _reason(job, done)
    refusals = [{"File": one.file, "Line": one.line, "Message": one.reason} for one in refused]
    return shown | {"Source": str(job.files.root), "Refused": refusals}
