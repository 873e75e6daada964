"""The files of an import: which of a directory's are meant, how they are written, and how a store gets to read them.

A store reads from buckets: the files are lent to it under a bucket of their own, a directory of links inside the store,
so that an import that is cut off goes on when the store is opened again.
Must hold: nothing is written into the directory, and only the chosen files are read.
"""

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tablewright.cli.exports_found import (
    STARTED,
    SUMMARY,
    DataFile,
    ExportUnusable,
    FoundExport,
    cut_off,
    files_of,
    the_export_in,
)
from tablewright.cli.where import Misused

FORMATS = {"json": "DYNAMODB_JSON", "csv": "CSV"}
COMPRESSIONS = {"none": "NONE", "gzip": "GZIP", "zstd": "ZSTD"}
# Names that say what is in a file, and how it is packed.
_PACKED = {".gz": "gzip", ".zst": "zstd"}
_WRITTEN = {".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "csv"}
# How the table of an export is made again, as `db export --to` leaves it.
ABOUT = "table.json"
# What imports of this engine once left in directories.
_REPORTS = "aws-dynamodb/imports/"
LENT = "lent-for-import-"


class FilesUnclear(Misused):
    """A directory whose files cannot be imported together, or of which none can be."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Files to be imported, by their paths in `root`; all of one kind. `export` is what they are, if that is known."""

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


def chosen(source: Path, prefix: str | None, form: str | None, packed: str | None) -> Chosen:
    """The files meant by a directory: those of the export it holds, or all that hold items."""
    if source.is_file():
        return _plain(source.parent, [source.name], form, packed)
    names = [name for name in _names(source) if name.startswith(prefix or "")]
    if prefix and not names:
        raise FilesUnclear(f"nothing in {source} begins with {prefix}; leave --prefix out, or name another")
    summaries = [source / name for name in names if name.rpartition("/")[2] == SUMMARY]
    started = [source / name for name in names if name.rpartition("/")[2] == STARTED]
    if summaries:
        return _exported(source, the_export_in(source, summaries))
    if started:
        raise cut_off(source, started[-1])
    return _plain(source, [name for name in names if not name.startswith(_REPORTS)], form, packed)


def _names(source: Path) -> list[str]:
    """The files of a directory, by their paths in it, those left out that an editor or a system hides."""
    found = (path.relative_to(source) for path in source.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if not any(part.startswith(".") for part in path.parts))


def _exported(source: Path, export: FoundExport) -> Chosen:
    listed = files_of(export)
    names = tuple(file.path.relative_to(source).as_posix() for file in listed)
    return Chosen(source, names, "json", "gzip", export, listed)


def _plain(root: Path, names: Iterable[str], form: str | None, packed: str | None) -> Chosen:
    """All files that hold items: by their names, unless it was said what they are."""
    kinds = {name: _kind(name) for name in names if name != ABOUT}
    meant = {name: kind for name, kind in kinds.items() if form is not None or kind[0] is not None}
    if not meant:
        raise FilesUnclear(
            f"no file in {root} is called as one with items is: .json, .jsonl or .csv, and .gz or .zst behind it if it "
            "is packed; --format says what they are, whatever they are called"
        )
    forms = {form or kind or "" for kind, _ in meant.values()}
    packs = {packed or kind for _, kind in meant.values()}
    if len(forms) > 1 or len(packs) > 1:
        raise FilesUnclear(
            f"the files in {root} are of several kinds: {', '.join(sorted(set(map(_ending, meant))))}; choose with "
            "--prefix, and import the others into a table of their own"
        )
    left_out = tuple(sorted(set(kinds) - set(meant)))
    return Chosen(root, tuple(sorted(meant)), forms.pop(), packs.pop(), left_out=left_out)


def _kind(name: str) -> tuple[str | None, str]:
    path = Path(name)
    packed = _PACKED.get(path.suffix.lower(), "none")
    inner = path if packed == "none" else path.with_suffix("")
    return _WRITTEN.get(inner.suffix.lower()), packed


def _ending(name: str) -> str:
    return "".join(Path(name).suffixes[-2:]) or "no ending"


# --- lending them to a store ---


def lent_name(root: Path, table: str) -> str:
    """The bucket under which a directory is lent for the import into that table; the same each time."""
    told = f"{root.resolve()}\n{table}"
    return f"{LENT}{blake2b(told.encode(), digest_size=8).hexdigest()}"


def lend(buckets: Path, name: str, files: Chosen) -> None:
    """A bucket that is there holds these files, and nothing else."""
    take_back(buckets, name)
    for one in files.names:
        link = buckets / name / one
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to((files.root / one).resolve())


def take_back(buckets: Path, name: str) -> None:
    """The bucket is gone; the files it showed are where they were, since only links to them go."""
    assert name.startswith(LENT), "only what was lent is taken back"
    shutil.rmtree(buckets / name, ignore_errors=True)


def take_back_all(buckets: Path, but: Iterable[str]) -> None:
    """Buckets of imports that ended while nobody waited for them."""
    kept = set(but)
    for one in buckets.glob(f"{LENT}*"):
        if one.name not in kept:
            take_back(buckets, one.name)


def source_words(files: Chosen) -> str:
    """What is imported, for somebody who looks on."""
    from tablewright.cli.words import plural

    count = plural(len(files.names), "file")
    if files.export is None:
        return f"{count} in {files.root}"
    made = str(files.export.about.get("exportTime") or files.export.about.get("endTime") or "an unknown time")
    return f"the export of {files.export.table} of {made} in {files.export.home}: {count}"


def table_of(files: Chosen) -> dict[str, Any] | None:
    """How the table of an export is made again, if it was written down beside it."""
    # Beside AWSDynamoDB, wherever in it one was pointed to.
    homes = [files.root] if files.export is None else [files.root, *files.export.home.parents[:2]]
    about = next((home / ABOUT for home in homes if (home / ABOUT).is_file()), None)
    if about is None:
        return None
    try:
        told: dict[str, Any] = json.loads(about.read_bytes())
    except ValueError as mistake:
        raise ExportUnusable(f"{about} is not what an export left there: {mistake}") from None
    return told
