"""`tablewright db copies restore PLACE`: all tables of a copy, in a new data directory or behind an endpoint.

A directory is filled under another name and gets its own when all is there: killed before, there is none, and the same
command again goes on. Behind an endpoint a table that is half filled says so in a tag.
Must hold: nothing that is there is overwritten; without --yes nothing is done.
Elsewhere: how it is done (app/copy_restoring.py).
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tablewright.cli import copy_place, where
from tablewright.cli.plans import agreed, yes
from tablewright.cli.words import as_json, as_table, count, plural

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.app.copy_places import Copy, CopyPlace
    from tablewright.app.copy_restoring import Restored
    from tablewright.client import Call

SUMMARY = "Restore all tables of a copy elsewhere into a new data directory, or to an endpoint without them."
EXAMPLES = """The newest copy, or that of a --day. Checksums are compared on the way, and counts at the end; the code is
1 when they differ. What no copy holds is said: secrets and keys are put back by hand, before the first start.

examples:
  tablewright db copies restore /mnt/other-disk --data ./data-again --yes
  tablewright db copies restore s3://our-copies/skratch --day 2026-11-16 --endpoint http://127.0.0.1:8000 --yes"""


def arguments(parser: argparse.ArgumentParser) -> None:
    copy_place.arguments(parser)
    parser.add_argument(
        "--day", metavar="DAY", help="the day of the copy, such as 2026-11-16 (default: the newest)"
    )
    parser.add_argument(
        "--store", metavar="ID", help="whose copy, where several stores have some at one place"
    )
    yes(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")
    where.arguments(parser)


def run(given: argparse.Namespace) -> int:
    """0 when all is there and as many items as the copy has, 1 when they differ."""
    if given.data is None and given.endpoint is None and not given.region and not given.profile:
        return where.misused("say where to: --data DIR for a new data directory, or --endpoint URL")
    return copy_place.at(given, lambda place: _restore(given, place))


def _restore(given: argparse.Namespace, place: "CopyPlace") -> int:
    from tablewright.app.copy_restoring import chosen

    copy = chosen(copy_place.copies_at(place), given.day, given.store)
    if given.data is not None:
        return _into_directory(given, place, copy)
    return where.at(given, lambda there: _into(given, place, copy, there.call, there.name))


def _into(given: argparse.Namespace, place: "CopyPlace", copy: "Copy", call: "Call", name: str) -> int:
    from tablewright.app.copy_restoring import files_beside, refuse_there

    refuse_there(call, copy)
    if not _agreed(given, place, copy, name):
        return 0
    made = _filled(call, place, copy)
    beside = sum(map(len, files_beside(place, copy.store).values()))
    folder = place.key("beside", copy.store, "")
    by_hand = (
        f"{plural(beside, 'file')} in {folder} at {place.name} belong into systems/ of its data directory"
    )
    return _show(given, copy, made, name, [by_hand] if beside else [])


def _into_directory(given: argparse.Namespace, place: "CopyPlace", copy: "Copy") -> int:
    from tablewright.app.copy_restoring import files_beside, put_back
    from tablewright.app.systems import SYSTEMS
    from tablewright.client import embedded
    from tablewright.engine import Engine

    target: Path = given.data.resolve()  # `.` has no name, and a link cannot be replaced by a directory
    if target.is_mount():
        return where.misused(
            f"{target} is a mount, which no directory can take the place of: name one in it, --data {target / 'data'}"
        )
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        return where.misused(
            f"{target} is there already, and a restore never overwrites: name another --data"
        )
    if not _agreed(given, place, copy, str(target)):
        return 0
    beside = files_beside(place, copy.store)
    secrets = [
        f"{target}/systems/{each.name}/{folder}, as it was"
        for each in SYSTEMS
        for folder in each.apart
        if each.name in beside
    ]
    work = target.with_name(being_made(target.name, copy))
    try:
        with Engine.open(work, region=given.region or where.REGION, ttl_seconds=where.ALL_YEAR) as engine:
            made = _filled(embedded(engine), place, copy)
    except KeyboardInterrupt:
        print("tablewright: it is not over; the same command again goes on", file=sys.stderr)
        return where.INTERRUPTED
    count_back = put_back(place, copy.store, work)
    work.rename(target)
    print(f"{plural(count_back, 'file')} put back beside the tables", file=sys.stderr)
    return _show(given, copy, made, str(target), secrets)


def being_made(name: str, copy: "Copy") -> str:
    """What a directory is called while it is filled: by its copy, so that whatever is in it is of that one."""
    from tablewright.app.copy_places import moment_name

    return f"{name}.restoring-{copy.store[:8]}-{moment_name(copy.at)}"


def _agreed(given: argparse.Namespace, place: "CopyPlace", copy: "Copy", name: str) -> bool:
    rows = [[table.name, count(table.items)] for table in copy.tables]
    plan = (
        f"{name} would get {plural(len(rows), 'table')} as they were at {copy.at:%Y-%m-%d %H:%M:%S} UTC, from "
        f"{place.name}:\n{as_table(['table', 'items'], rows)}"
    )
    return agreed(given, None if given.yes else plan)


def _filled(call: "Call", place: "CopyPlace", copy: "Copy") -> "list[Restored]":
    from tablewright.app.copy_restoring import restore_tables
    from tablewright.app.progress import Terminal

    told = Terminal(sys.stderr, has_bar=True)
    try:
        return restore_tables(call, place, copy, told)
    finally:
        told.end()


def _show(
    given: argparse.Namespace, copy: "Copy", made: "list[Restored]", name: str, by_hand: list[str]
) -> int:
    is_equal = all(table.is_equal for table in made)
    if given.json:
        tables = [{"table": one.name, "copied": one.copied, "restored": one.found} for one in made]
        shown: dict[str, Any] = copy.model_dump(mode="json", include={"store", "at"})
        shown |= {"tables": tables, "by_hand": by_hand}
        print(as_json(shown | {"is_equal": is_equal}))
        return 0 if is_equal else 1
    rows = [[one.name, count(one.copied), count(one.found)] for one in made]
    print(as_table(["table", "in the copy", "restored"], rows))
    print(f"{name} has every item of the copy" if is_equal else f"{name} differs from the copy")
    for one in by_hand:
        print(f"by hand, before the first start: {one}")
    return 0 if is_equal else 1
