"""`tablewright db import`: a new table from files: an export, lines of DynamoDB JSON, or CSV.

A directory is lent to the store as a bucket under a name of its own (a link), so that an import that is cut off goes on
when the store is opened again.
"""

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tablewright.cli import where
from tablewright.cli.waiting import Stand, waited
from tablewright.cli.words import as_json, plural, size

SUMMARY = "Make a new table from an export, from lines of DynamoDB JSON, or from CSV."
EXAMPLES = """The keys of the new table come from the export (its table.json), from another table (--like), or are said:
--keys owner:S,name:S. An item that a put would refuse is counted and left out; the code is then 1.

examples:
  tablewright db import ./pets-export --to pets-again --data ./data
  tablewright db import ./people --to people --keys email:S --format csv --data ./data"""

FORMATS = {"json": "DYNAMODB_JSON", "csv": "CSV"}
COMPRESSIONS = {".gz": "GZIP", ".zst": "ZSTD"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="DIR", type=Path, nargs="?", help="a directory, for a store on disk"
    )
    parser.add_argument(
        "--bucket", metavar="NAME", help="instead of DIR, a bucket of the server or of Amazon S3"
    )
    parser.add_argument("--prefix", metavar="TEXT", help="only what begins with it")
    parser.add_argument("--to", required=True, metavar="TABLE", help="the table to be made")
    keys = parser.add_mutually_exclusive_group()
    keys.add_argument("--like", metavar="TABLE", help="keys and indexes as this table has them")
    keys.add_argument(
        "--keys", type=key_schema, metavar="NAME:TYPE[,...]", help="its key, such as owner:S,name:S"
    )
    parser.add_argument("--format", choices=tuple(FORMATS), help="of the files (default: by their names)")
    parser.add_argument("--delimiter", help="between the fields of CSV (default: a comma)")
    parser.add_argument("--json", action="store_true", help="print the service's description as JSON")
    where.arguments(parser)


def key_schema(text: str) -> list[tuple[str, str]]:
    parts = [tuple(part.rpartition(":")[::2]) for part in text.split(",")]
    if not 1 <= len(parts) <= 2 or any(not name or kind not in ("S", "N", "B") for name, kind in parts):
        raise argparse.ArgumentTypeError(
            f"a key is one or two attributes with their types (S, N, B), such as owner:S,name:S, not {text!r}"
        )
    return [(name, kind) for name, kind in parts]


def run(given: argparse.Namespace) -> int:
    """0 when all items are in, 1 when some were left out or it failed."""
    if (given.source is None) == (given.bucket is None):
        return where.misused("import takes either a directory DIR or --bucket NAME")
    if given.source is not None and not given.source.is_dir():
        return where.misused(f"{given.source} is not a directory")
    return where.at(given, lambda place: _import(given, place))


def _import(given: argparse.Namespace, place: where.Place) -> int:
    if given.source is not None and place.engine is None:
        raise where.Misused("DIR is for a store (--data); a server reads from a bucket: --bucket NAME")
    with _bucket(given, place) as bucket:
        begun = place.call("ImportTable", _request(given, place, bucket))["ImportTableDescription"]
        total = _weight(given)
        done = waited(
            f"importing {given.to}",
            lambda: place.call("DescribeImport", {"ImportArn": begun["ImportArn"]})["ImportTableDescription"],
            lambda seen: Stand(
                seen["ImportStatus"] != "IN_PROGRESS",
                min(seen.get("ProcessedSizeBytes", 0), total or 0),
                total,
            ),
        )
    _show(given, done)
    return 0 if done["ImportStatus"] == "COMPLETED" and not done.get("ErrorCount") else 1


def _show(given: argparse.Namespace, done: dict[str, Any]) -> None:
    if given.json:
        print(as_json(done))
        return
    imported, wrong = done.get("ImportedItemCount", 0), done.get("ErrorCount", 0)
    if done["ImportStatus"] == "COMPLETED":
        read = size(done.get("ProcessedSizeBytes", 0))
        print(f"{given.to} is there: {plural(imported, 'item')} from {read}")
    else:
        print(f"the import failed: {done.get('FailureCode', '')} {done.get('FailureMessage', '')}".rstrip())
    if wrong:
        print(f"{plural(wrong, 'item')} could not be imported. {done.get('FailureMessage', '')}".rstrip())


# --- the request ---


def _request(given: argparse.Namespace, place: where.Place, bucket: str) -> dict[str, Any]:
    files = _files(given)
    source: dict[str, Any] = {"S3Bucket": bucket}
    prefix = given.prefix if given.prefix is not None else _export_in(given.source, files)
    if prefix:
        source["S3KeyPrefix"] = prefix
        files = [name for name in files if name.startswith(prefix)]
    name = files[0] if files else ""
    compression = COMPRESSIONS.get(Path(name).suffix, "GZIP" if given.source is None else "NONE")
    form = given.format or ("csv" if ".csv" in Path(name).suffixes else "json")
    request = {
        "S3BucketSource": source,
        "InputFormat": FORMATS[form],
        "InputCompressionType": compression,
        "TableCreationParameters": {"TableName": given.to} | _table(given, place),
    }
    if given.delimiter is not None:
        request["InputFormatOptions"] = {"Csv": {"Delimiter": given.delimiter}}
    return request


def _table(given: argparse.Namespace, place: where.Place) -> dict[str, Any]:
    from tablewright.cli.db_export import ABOUT, _about

    if given.keys is not None:
        kinds = [{"AttributeName": name, "AttributeType": kind} for name, kind in given.keys]
        roles = zip(given.keys, ("HASH", "RANGE"), strict=False)
        schema = [{"AttributeName": name, "KeyType": role} for (name, _), role in roles]
        return {"AttributeDefinitions": kinds, "KeySchema": schema, "BillingMode": "PAY_PER_REQUEST"}
    if given.like is not None:
        return _about(place.call("DescribeTable", {"TableName": given.like})["Table"])
    about = None if given.source is None else given.source / ABOUT
    if about is None or not about.is_file():
        raise where.Misused(
            "what the key of the new table is must be said: --keys owner:S,name:S or --like TABLE"
        )
    try:
        told: dict[str, Any] = json.loads(about.read_text())
    except ValueError as mistake:
        raise where.Misused(f"{about} is not what an export left there: {mistake}") from None
    return told


# --- the directory ---


def _files(given: argparse.Namespace) -> list[str]:
    """The files of the directory that hold items, by their paths in it."""
    if given.source is None:
        return []
    found = (path for path in given.source.rglob("*") if path.is_file())
    names = (path.relative_to(given.source).as_posix() for path in found)
    from tablewright.cli.db_export import ABOUT

    return sorted(name for name in names if name != ABOUT)


def _export_in(source: Path | None, files: list[str]) -> str | None:
    """Where the items of the newest whole export are, if the directory is one that exports were written to."""
    if source is None:
        return None
    whole = sorted(name for name in files if name.endswith("/manifest-summary.json"))
    return f"{whole[-1].rpartition('/')[0]}/data/" if whole else None


def _weight(given: argparse.Namespace) -> int | None:
    if given.source is None:
        return None
    prefix = given.prefix if given.prefix is not None else _export_in(given.source, _files(given))
    chosen = (name for name in _files(given) if name.startswith(prefix or ""))
    return sum((given.source / name).stat().st_size for name in chosen) or None


@contextmanager
def _bucket(given: argparse.Namespace, place: where.Place) -> Iterator[str]:
    """The bucket's name; a directory is linked under one while the import is at work."""
    if given.bucket is not None:
        yield given.bucket
        return
    directory = given.source.resolve()
    name = f"import-{blake2b(str(directory).encode(), digest_size=8).hexdigest()}"
    link = Path(place.name) / "buckets" / name
    link.parent.mkdir(exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(directory)
    try:
        yield name
    except KeyboardInterrupt:
        raise  # the import goes on when the store is opened again, and needs its bucket then
    except BaseException:
        link.unlink(missing_ok=True)
        raise
    link.unlink(missing_ok=True)
