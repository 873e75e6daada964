"""The files of an import: which files of a directory are used, and their format.

Must hold: the user's directory is not changed, and only the selected files are read.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tablewright.cli.db.export_directory import (
    STARTED,
    SUMMARY,
    DataFile,
    ExportUnusable,
    FoundExport,
    data_files,
    newest_export,
)
from tablewright.cli.format import plural
from tablewright.cli.output import UsageError

FORMATS = {"json": "DYNAMODB_JSON", "csv": "CSV"}
COMPRESSIONS = {"none": "NONE", "gzip": "GZIP", "zstd": "ZSTD"}
# Compression and format by file name.
_PACKED = {".gz": "gzip", ".zst": "zstd"}
_WRITTEN = {".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "csv"}
# The definition of the exported table, written by `db export --to`.
DEFINITION = "table.json"


@dataclass(frozen=True, slots=True)
class ImportFiles:
    """Files to import, as paths below `root`, all of one format; `export` is set if they are an export."""

    root: Path
    names: tuple[str, ...]
    form: str
    packed: str
    export: FoundExport | None = None
    listed: Sequence[DataFile] = ()
    left_out: tuple[str, ...] = ()

    @property
    def weight(self) -> int:
        return sum((self.root / name).stat().st_size for name in self.names)


def select_files(source: Path, prefix: str | None, form: str | None, packed: str | None) -> ImportFiles:
    """The files to import from a directory: those of the export in it, or all with a known format."""
    if source.is_file():
        return _files_with_items(source.parent, [source.name], form, packed)
    names = [name for name in _names(source) if name.startswith(prefix or "")]
    if prefix and not names:
        raise UsageError(f"no file in {source} starts with {prefix}; correct or leave out --prefix")
    summaries = [source / name for name in names if name.rpartition("/")[2] == SUMMARY]
    started = [source / name for name in names if name.rpartition("/")[2] == STARTED]
    if summaries:
        return _files_of_export(source, newest_export(source, summaries))
    if started:
        raise ExportUnusable(
            f"the export in {started[-1].parent} is incomplete: {SUMMARY}, which is written last, is missing; export "
            f"again, or copy the missing files to {source}"
        )
    return _files_with_items(source, names, form, packed)


def _names(source: Path) -> list[str]:
    """The paths of a directory's files, without hidden ones."""
    found = (path.relative_to(source) for path in source.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts))


def _files_of_export(source: Path, export: FoundExport) -> ImportFiles:
    listed = data_files(export)
    names = tuple(file.path.relative_to(source).as_posix() for file in listed)
    return ImportFiles(source, names, "json", "gzip", export, listed)


def _files_with_items(root: Path, names: Iterable[str], form: str | None, packed: str | None) -> ImportFiles:
    """All files of a known format, by name unless --format and --compression say otherwise."""
    kinds = {name: _kind(name) for name in names if name != DEFINITION}
    meant = {name: kind for name, kind in kinds.items() if form is not None or kind[0] is not None}
    if not meant:
        raise UsageError(
            f"no file in {root} has a known name: .json, .jsonl, .ndjson or .csv, plus .gz or .zst if compressed; "
            "give the format with --format"
        )
    forms = {form or kind or "" for kind, _ in meant.values()}
    packs = {packed or kind for _, kind in meant.values()}
    if len(forms) > 1 or len(packs) > 1:
        raise UsageError(
            f"the files in {root} have several formats: {', '.join(sorted(set(map(_ending, meant))))}; select "
            "some with --prefix and import the others into another table"
        )
    left_out = tuple(sorted(set(kinds) - set(meant)))
    return ImportFiles(root, tuple(sorted(meant)), forms.pop(), packs.pop(), left_out=left_out)


def _kind(name: str) -> tuple[str | None, str]:
    path = Path(name)
    packed = _PACKED.get(path.suffix.lower(), "none")
    inner = path if packed == "none" else path.with_suffix("")
    return _WRITTEN.get(inner.suffix.lower()), packed


def _ending(name: str) -> str:
    return "".join(Path(name).suffixes[-2:]) or "no extension"


def describe_files(files: ImportFiles) -> str:
    """What is imported, for the user."""
    count = plural(len(files.names), "file")
    if files.export is None:
        return f"{count} in {files.root}"
    about = files.export.about
    exported_at = about.get("exportTime") or about.get("endTime") or "an unknown time"
    return f"the export of {files.export.table} of {exported_at} in {files.export.home}: {count}"


def saved_definition(files: ImportFiles) -> dict[str, Any] | None:
    """The definition in the table.json next to the files; None if there is none."""
    # It is next to the AWSDynamoDB directory, which may be above the directory that was named.
    homes = [files.root] if files.export is None else [files.root, *files.export.home.parents[:2]]
    about = next((home / DEFINITION for home in homes if (home / DEFINITION).is_file()), None)
    if about is None:
        return None
    try:
        definition: dict[str, Any] = json.loads(about.read_bytes())
    except ValueError as error:
        raise ExportUnusable(f"{about} is not a table definition of an export: {error}") from None
    return definition
