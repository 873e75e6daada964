"""An export as it lies in a directory: found by its manifest, and checked before anything is made of it.

It may have been copied from anywhere, whole buckets or the export's own directory alone: its files are found from where
its manifest is, not from what the bucket was called.
Must hold: what is handed on is all that the manifest lists, with the checksums it tells; nothing is changed.
Elsewhere: how an export is written (engine/transfers/layout.py).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from tablewright.cli.where import Misused

SUMMARY, FILES, STARTED = "manifest-summary.json", "manifest-files.json", "_started"
BLOCK = 1024 * 1024


class ExportUnusable(Misused):
    """An export that nothing can be made of: cut off, damaged, or of a kind that cannot be imported."""


@dataclass(frozen=True, slots=True)
class FoundExport:
    """An export in the directory `home`, which has its manifests; `about` is what the summary tells."""

    home: Path
    about: dict[str, Any]

    @property
    def is_full(self) -> bool:
        # Exports of before there were others do not tell their type.
        return str(self.about.get("exportType") or "FULL_EXPORT") == "FULL_EXPORT"

    @property
    def table(self) -> str:
        return str(self.about.get("tableArn", "")).rpartition("/")[2]

    @property
    def items(self) -> int:
        return int(self.about["itemCount"])


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that a manifest lists."""

    path: Path
    items: int
    md5: str


def the_export_in(directory: Path, summaries: Sequence[Path]) -> FoundExport:
    """The newest full export of those whose summaries were found; refused if they are of several tables, or of none."""
    found = sorted((_read(path) for path in summaries), key=lambda one: one.home.name)
    full = [one for one in found if one.is_full]
    if not full:
        raise ExportUnusable(
            f"{directory} holds an incremental export, which tells what changed, not what there was; only a full one "
            "makes a table (the service cannot import it either): tablewright db export TABLE without --since"
        )
    tables = sorted({one.table for one in full})
    if len(tables) > 1:
        raise ExportUnusable(
            f"{directory} holds exports of {', '.join(tables)}; name the directory of one, such as {full[-1].home}"
        )
    return full[-1]


def cut_off(directory: Path, started: Path) -> ExportUnusable:
    return ExportUnusable(
        f"the export in {started.parent} is not whole: it has no {SUMMARY}, which is written last; export again, or "
        f"copy what is missing in {directory}"
    )


def files_of(export: FoundExport) -> list[DataFile]:
    """What the manifest lists; refused if a file is missing, or the lists do not agree."""
    _check_manifest(export.home / SUMMARY)
    listed = _check_manifest(export.home / FILES)
    about = str(export.about["manifestFilesS3Key"])
    try:
        files = [_data_file(export, about, json.loads(line)) for line in listed.splitlines() if line.strip()]
    except (ValueError, KeyError, TypeError) as mistake:
        raise ExportUnusable(f"{export.home / FILES} is no list of an export's files: {mistake!r}") from None
    for file in files:
        if not file.path.is_file():
            raise ExportUnusable(
                f"{file.path} is missing, and the export in {export.home} lists it: copy it there"
            )
    if (told := sum(file.items for file in files)) != export.items:
        raise ExportUnusable(
            f"the manifests in {export.home} do not agree: {export.items} items in all, {told} in the files"
        )
    return files


def check(file: DataFile) -> None:
    """Raise if the file is not what the export wrote."""
    from base64 import b64encode
    from hashlib import md5

    sum_ = md5(usedforsecurity=False)
    with file.path.open("rb") as stream:
        while block := stream.read(BLOCK):
            sum_.update(block)
    if b64encode(sum_.digest()).decode() != file.md5:
        raise ExportUnusable(
            f"{file.path} is not what the export wrote: its checksum is another; copy it again from where it comes"
        )


def _read(summary: Path) -> FoundExport:
    try:
        about = json.loads(summary.read_bytes())
        made = FoundExport(summary.parent, about)
        made.items, about["manifestFilesS3Key"]  # both must be there
    except (ValueError, KeyError, TypeError) as mistake:
        raise ExportUnusable(f"{summary} does not tell of an export: {mistake!r}") from None
    if about.get("outputFormat", "DYNAMODB_JSON") != "DYNAMODB_JSON":
        raise ExportUnusable(
            f"{summary} tells of an export as {about['outputFormat']}: export as DYNAMODB_JSON"
        )
    return made


def _check_manifest(path: Path) -> bytes:
    """The manifest; refused if the checksum beside it is another."""
    from base64 import b64encode
    from hashlib import md5

    if not path.is_file():
        raise ExportUnusable(f"{path} is missing: copy it there, or export again")
    body, beside = path.read_bytes(), path.with_suffix(".md5")
    if beside.is_file():
        told = beside.read_text().strip()
        if told != b64encode(md5(body, usedforsecurity=False).digest()).decode():
            raise ExportUnusable(f"{path} is not what the export wrote: {beside.name} beside it says so")
    return body


def _data_file(export: FoundExport, manifest: str, listed: dict[str, Any]) -> DataFile:
    """Where a listed file is: beside the manifest as it was in the bucket."""
    home = PurePosixPath(manifest).parent
    key = PurePosixPath(listed["dataFileS3Key"])
    if not key.is_relative_to(home) or ".." in key.parts:
        raise ExportUnusable(f"{export.home / FILES} lists {key}, which is no file of this export")
    return DataFile(export.home / key.relative_to(home), int(listed["itemCount"]), str(listed["md5Checksum"]))
