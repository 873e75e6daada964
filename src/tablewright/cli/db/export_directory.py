"""An export in a local directory: found by its manifest and verified before it is imported.

The directory may be a copy of a whole bucket or of the export alone: files are located relative to the manifest, not by
the bucket's name.
Must hold: exactly the files in the manifest are used, and their checksums match; the directory is not changed.
Elsewhere: how an export is written (engine/transfer/export_format.py).
"""

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path, PurePosixPath
from typing import Any

from tablewright.cli.output import UsageError

SUMMARY, FILES, STARTED = "manifest-summary.json", "manifest-files.json", "_started"
BLOCK = 1024 * 1024


class ExportUnusable(UsageError):
    """The export is incomplete, damaged or of a type that cannot be imported."""


@dataclass(frozen=True, slots=True)
class FoundExport:
    """An export whose manifests are in `home`; `about` is the content of the summary."""

    home: Path
    about: dict[str, Any]

    @property
    def is_full(self) -> bool:
        # Exports from before incremental exports existed have no type.
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


def newest_export(directory: Path, summaries: Sequence[Path]) -> FoundExport:
    """The newest full export among these summaries; refused if there is none or they are of several tables."""
    found = sorted((_read(path) for path in summaries), key=lambda one: one.home.name)
    full = [one for one in found if one.is_full]
    if not full:
        raise ExportUnusable(
            f"{directory} contains only an incremental export, which cannot be imported (neither can AWS); export "
            "the table again without --since"
        )
    tables = sorted({one.table for one in full})
    if len(tables) > 1:
        raise ExportUnusable(
            f"{directory} contains exports of several tables: {', '.join(tables)}; name the directory of one, such "
            f"as {full[-1].home}"
        )
    return full[-1]


def data_files(export: FoundExport) -> list[DataFile]:
    """The files in the manifest; refused if a file is missing or item counts disagree."""
    _check_manifest(export.home / SUMMARY)
    listed = _check_manifest(export.home / FILES)
    about = str(export.about["manifestFilesS3Key"])
    try:
        files = [_data_file(export, about, json.loads(line)) for line in listed.splitlines() if line.strip()]
    except (ValueError, KeyError, TypeError) as error:
        raise ExportUnusable(f"{export.home / FILES} is not a valid manifest: {error!r}") from None
    for file in files:
        if not file.path.is_file():
            raise ExportUnusable(
                f"{file.path} is missing, but is listed in the manifest in {export.home}; copy it there"
            )
    if (total := sum(file.items for file in files)) != export.items:
        counts = f"{export.items} items in the summary, {total} in the list of files"
        raise ExportUnusable(f"the manifests in {export.home} disagree: {counts}")
    return files


def verify_checksum(file: DataFile) -> None:
    """Raise ExportUnusable if the file's MD5 differs from the manifest."""
    sum_ = md5(usedforsecurity=False)
    with file.path.open("rb") as stream:
        while block := stream.read(BLOCK):
            sum_.update(block)
    if b64encode(sum_.digest()).decode() != file.md5:
        raise ExportUnusable(
            f"the checksum of {file.path} differs from the manifest; copy the file again from its source"
        )


def _read(summary: Path) -> FoundExport:
    try:
        about = json.loads(summary.read_bytes())
        export = FoundExport(summary.parent, about)
        export.items, about["manifestFilesS3Key"]  # both must be present
    except (ValueError, KeyError, TypeError) as error:
        raise ExportUnusable(f"{summary} is not the summary of an export: {error!r}") from None
    if about.get("outputFormat", "DYNAMODB_JSON") != "DYNAMODB_JSON":
        raise ExportUnusable(
            f"{summary}: the export format is {about['outputFormat']}; export as DYNAMODB_JSON"
        )
    return export


def _check_manifest(path: Path) -> bytes:
    """The content of the manifest; refused if the .md5 file next to it differs."""
    if not path.is_file():
        raise ExportUnusable(f"{path} is missing; copy it there, or export again")
    body, beside = path.read_bytes(), path.with_suffix(".md5")
    if beside.is_file():
        expected = beside.read_text().strip()
        if expected != b64encode(md5(body, usedforsecurity=False).digest()).decode():
            raise ExportUnusable(
                f"{path} does not match its checksum in {beside.name}; copy the export again"
            )
    return body


def _data_file(export: FoundExport, manifest: str, listed: dict[str, Any]) -> DataFile:
    """The local path of a listed file, relative to the manifest as in the bucket."""
    home = PurePosixPath(manifest).parent
    key = PurePosixPath(listed["dataFileS3Key"])
    if not key.is_relative_to(home) or ".." in key.parts:
        raise ExportUnusable(f"{export.home / FILES} lists {key}, which is not a file of this export")
    return DataFile(export.home / key.relative_to(home), int(listed["itemCount"]), str(listed["md5Checksum"]))
