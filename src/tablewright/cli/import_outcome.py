"""What came of an import, told to the person who asked for it: what was taken, what was refused and where that is.

Must hold: each refused item is told once, by its file and line; nothing is said of where a directory was lent to.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tablewright.cli.import_files import COMPRESSIONS, FORMATS, Chosen
from tablewright.cli.words import as_json, plain, plural, size

# Refused items that are told one by one on a terminal; --json tells all that the engine keeps, which are 1000.
MOST_TOLD = 20


@dataclass(frozen=True, slots=True)
class Job:
    """An import to be asked for: where from, how it is written, what is known of it before it is read."""

    bucket: str
    prefix: str
    form: str
    packed: str
    table: dict[str, Any]
    weight: int | None = None
    items: int | None = None
    files: Chosen | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """An item that was left out: where it is, and why."""

    file: str
    line: int | None
    why: str

    def __str__(self) -> str:
        return f"{self.file}{'' if self.line is None else f', line {self.line}'}: {plain(self.why)}"


def refused_of(
    given: argparse.Namespace, job: Job, done: dict[str, Any], bucket: Path | None
) -> list[Refused]:
    """The items that were left out, by the caller's own files; none where only the server can read its report."""
    from tablewright.engine.transfers.imports import report_key

    report = None if bucket is None else bucket / report_key(done["ImportArn"])
    if job.files is None or report is None or not report.is_file():
        return []
    told = [json.loads(line) for line in report.read_bytes().splitlines()]
    places = [(one["itemS3Pointer"]["key"], one["itemS3Pointer"]["itemIndex"]) for one in told]
    lines = _lines(given, job, places if given.json else places[:MOST_TOLD])
    return [
        Refused(str(job.files.root / key), lines.get((key, place)), "; ".join(one["errorMessages"]))
        for one, (key, place) in zip(told, places, strict=True)
    ]


def _lines(given: argparse.Namespace, job: Job, places: list[tuple[str, int]]) -> dict[tuple[str, int], int]:
    from tablewright.engine.transfers.sources import Form, lines_of

    assert job.files is not None
    form = Form(FORMATS[job.form], COMPRESSIONS[job.packed], given.delimiter or ",", None, {})
    found: dict[tuple[str, int], int] = {}
    for key in dict.fromkeys(key for key, _ in places):
        wanted = [place for one, place in places if one == key]
        lines = lines_of((job.files.root / key).open("rb"), form, wanted)
        found |= {(key, place): line for place, line in lines.items()}
    return found


def is_of_nothing(job: Job, done: dict[str, Any]) -> bool:
    """Whether a bucket that only the server can look into held nothing of what was asked for."""
    is_empty = not done.get("ProcessedSizeBytes") and not done.get("ProcessedItemCount")
    return job.files is None and done["ImportStatus"] == "COMPLETED" and is_empty and job.items is None


def show(
    given: argparse.Namespace, job: Job, done: dict[str, Any], refused: list[Refused], is_whole: bool
) -> None:
    if given.json:
        print(as_json(_as_json(given, job, done, refused)))
        return
    taken, left = done.get("ImportedItemCount", 0), done.get("ErrorCount", 0)
    if is_of_nothing(job, done):
        under = f" that begins with {job.prefix}" if job.prefix else ""
        print(f"{given.to} is there and empty: the bucket {job.bucket} holds nothing{under}")
        return
    if done["ImportStatus"] == "COMPLETED" and is_whole:
        read = size(done.get("ProcessedSizeBytes", 0))
        whole = "" if job.items is None else ", as many as the export's manifest says"
        print(f"{given.to} is there: {plural(taken, 'item')} from {read}{whole}")
        return
    if left == 0 and done["ImportStatus"] != "COMPLETED":
        print(f"the import failed: {_reason(job, done)}; {plural(taken, 'item')} taken")
    elif left == 0:
        print(f"{given.to} is there: {plural(taken, 'item')}, and the export's manifest says {job.items}")
    else:
        print(f"{given.to} is there: {plural(taken, 'item')} taken, {left} refused")
        _tell_refused(given, job, done, refused)


def _tell_refused(given: argparse.Namespace, job: Job, done: dict[str, Any], refused: list[Refused]) -> None:
    for one in refused[:MOST_TOLD]:
        print(f"  {one}")
    if not refused:
        print(f"  {_reason(job, done)}")
    elif done["ErrorCount"] > MOST_TOLD:
        print(f"  and {done['ErrorCount'] - MOST_TOLD} more; --json tells up to 1000")
    print(
        f"tablewright: mend what was refused and import it into a table of another name, or put it into {given.to} "
        "item by item",
        file=sys.stderr,
    )


def _reason(job: Job, done: dict[str, Any]) -> str:
    """Why it failed, with the caller's own paths in the place of those they were lent under."""
    told = f"{done.get('FailureCode', '')} {done.get('FailureMessage', '')}".strip()
    if job.files is None:
        return told
    head, found, tail = told.partition(f"{job.bucket}/")
    return f"{head.rpartition(' ')[0]} {job.files.root}/{tail}" if found else told


def _as_json(
    given: argparse.Namespace, job: Job, done: dict[str, Any], refused: list[Refused]
) -> dict[str, Any]:
    """The service's description; of files, what they are in the place of the bucket they were lent under."""
    if job.files is None:
        return done
    shown = {
        name: value for name, value in done.items() if name not in ("S3BucketSource", "CloudWatchLogGroupArn")
    }
    if "FailureMessage" in shown:
        left = shown["ErrorCount"]
        shown["FailureMessage"] = f"{plural(left, 'item')} refused" if left else _reason(job, done)
    told = [{"File": one.file, "Line": one.line, "Message": one.why} for one in refused]
    return shown | {"Source": str(job.files.root), "Refused": told}
