"""`tablewright db import`: create a table from files: an export, DynamoDB JSON lines, or CSV.

The files are inspected first (import_files.py, export_directory.py), then their items are written to a local store,
which is created if missing, or to a server (import_items.py).
Must hold: each refused item is reported once, by the user's own file and line; the directory is not changed.
"""

import argparse
from pathlib import Path
from typing import Any

from tablewright.cli.db import import_files
from tablewright.cli.db.export import table_definition
from tablewright.cli.db.export_directory import verify_checksum
from tablewright.cli.db.import_files import COMPRESSIONS, FORMATS, ImportFiles
from tablewright.cli.db.import_items import Imported, import_items, trial_table
from tablewright.cli.format import as_json, plural, size
from tablewright.cli.output import UsageError, print_message
from tablewright.cli.progress import progress_bar
from tablewright.cli.target import REGION, Target, add_target_options, with_target
from tablewright.engine import Engine
from tablewright.engine.storage.sqlite import exists

EXAMPLES = """An export is verified against its manifest before it is imported. The keys of the new table come from
the export (table.json), from another table (--like) or from --keys owner:S,name:S. An item that PutItem would refuse
is reported with its file and line and skipped; the exit code is then 1. DIR is not changed. A --data store that does
not exist is created. With --endpoint the items are sent to the server.

tablewright db import ./pets-export --to pets --endpoint http://127.0.0.1:8000
tablewright db import ./people --to people --keys email:S --format csv --data ./data"""
# Refused items printed one by one; --json has all of them.
MAX_PRINTED = 20


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="DIR", type=Path, help="a directory or a file")
    parser.add_argument("--prefix", metavar="TEXT", help="only files whose path starts with TEXT")
    parser.add_argument("--to", required=True, metavar="TABLE", help="the table to create")
    keys = parser.add_mutually_exclusive_group()
    keys.add_argument("--like", metavar="TABLE", help="use the keys and indexes of this table")
    keys.add_argument(
        "--keys",
        type=key_schema,
        metavar="NAME:TYPE[,...]",
        help="the key of the new table, such as owner:S,name:S",
    )
    parser.add_argument("--format", choices=tuple(FORMATS), help="the file format (default: by file name)")
    parser.add_argument(
        "--compression", choices=tuple(COMPRESSIONS), help="the compression (default: by file name)"
    )
    parser.add_argument("--delimiter", help="the CSV delimiter (default: a comma)")
    add_target_options(parser, json="print counts and refused items as JSON")


def key_schema(text: str) -> list[tuple[str, str]]:
    parts = [tuple(part.rpartition(":")[::2]) for part in text.split(",")]
    if not 1 <= len(parts) <= 2 or any(not name or kind not in ("S", "N", "B") for name, kind in parts):
        raise argparse.ArgumentTypeError(
            f"must be one or two attributes with types (S, N or B), such as owner:S,name:S, got {text!r}"
        )
    return [(name, kind) for name, kind in parts]


def run(given: argparse.Namespace) -> int:
    """0 if all items were imported; 1 if some were refused or are missing."""
    if not given.source.exists():
        raise UsageError(f"no such file or directory: {given.source}")
    _make_store(given)
    return _import(given)


def _make_store(given: argparse.Namespace) -> None:
    """Create the --data store if it does not exist, after the files and keys have been checked."""
    if given.data is None or given.like is not None or exists(given.data):
        return
    trial_table(_new_definition(given, import_files.saved_definition(_files(given))))
    print_message(f"creating a new store in {given.data}")
    with Engine.open(given.data, region=given.region or REGION):
        pass


@with_target
def _import(given: argparse.Namespace, target: Target) -> int:
    files = _files(given)
    table = _definition(given, target, import_files.saved_definition(files))
    print_message(f"importing {import_files.describe_files(files)}")
    if files.left_out:
        print_message(f"skipped because of their names: {', '.join(files.left_out)}")
    if files.export is not None:
        _verify_checksums(files)
    done = import_items(given, target, files, table)
    is_whole = not done.refused and (files.export is None or files.export.items == done.written)
    if given.json:
        print(as_json(done.as_json() | {"Source": str(files.root)}))
    else:
        _print_outcome(given, files, done, is_whole)
    return 0 if is_whole else 1


def _files(given: argparse.Namespace) -> ImportFiles:
    return import_files.select_files(given.source, given.prefix, given.format, given.compression)


def _verify_checksums(files: ImportFiles) -> None:
    """Verify an export's files against the checksums in its manifest, with a progress bar."""
    with progress_bar() as terminal:
        for number, file in enumerate(files.listed):
            terminal(number, len(files.listed), "verifying checksums")
            verify_checksum(file)
    print_message("checksums and counts match the manifest")


def _print_outcome(given: argparse.Namespace, files: ImportFiles, done: Imported, is_whole: bool) -> None:
    items = plural(done.written, "item")
    if is_whole:
        whole = "" if files.export is None else ", matching the export's manifest"
        print(f"created {given.to}: {items} from {size(done.size)}{whole}")
    elif not done.refused:
        assert files.export is not None
        print(f"created {given.to}: {items}, but the export's manifest says {files.export.items}")
    else:
        print(f"created {given.to}: {items} imported, {len(done.refused)} refused")
        for one in done.refused[:MAX_PRINTED]:
            print(f"  {one}")
        if len(done.refused) > MAX_PRINTED:
            print(f"  and {len(done.refused) - MAX_PRINTED} more; --json lists all")
        print_message(
            "tablewright: correct the refused items and import them into another table, or put them into "
            f"{given.to} one by one"
        )


# --- the table ---


def _definition(given: argparse.Namespace, target: Target, known: dict[str, Any] | None) -> dict[str, Any]:
    if given.like is not None:
        return table_definition(target.describe_table(given.like))
    return _new_definition(given, known)


def _new_definition(given: argparse.Namespace, known: dict[str, Any] | None) -> dict[str, Any]:
    """The definition of the new table: from --keys, or from the export."""
    if given.keys is not None:
        kinds = [{"AttributeName": name, "AttributeType": kind} for name, kind in given.keys]
        roles = zip(given.keys, ("HASH", "RANGE"), strict=False)
        schema = [{"AttributeName": name, "KeyType": role} for (name, _), role in roles]
        return {"AttributeDefinitions": kinds, "KeySchema": schema, "BillingMode": "PAY_PER_REQUEST"}
    if known is None:
        raise UsageError("the key of the new table is unknown; give --keys owner:S,name:S or --like TABLE")
    return known
