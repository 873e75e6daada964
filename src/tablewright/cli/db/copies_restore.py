"""`tablewright db copies restore PLACE`: restore all tables of a copy.

A data directory is filled under a temporary name and renamed at the end: if the command is killed, running it again
continues. On an endpoint, a tag marks a table that is not complete.
Must hold: existing data is not overwritten; without --yes nothing is changed.
Elsewhere: the restore itself (app/copies/restore.py).
"""

import argparse
from pathlib import Path

from tablewright.app.copies.restore import (
    Restored,
    chosen,
    files_beside,
    put_back,
    refuse_there,
    restore_tables,
)
from tablewright.app.copies.store import Copy, CopyPlace, moment_name
from tablewright.app.systems import SYSTEMS
from tablewright.cli.db import copies
from tablewright.cli.format import as_table, count, plural
from tablewright.cli.output import UsageError, add_yes_option, confirm_plan, print_message, print_result
from tablewright.cli.progress import progress_bar
from tablewright.cli.target import NO_TTL_SWEEP, REGION, Target, add_target_options, open_target
from tablewright.client import Call, embedded
from tablewright.engine import Engine

EXAMPLES = """Restores the newest copy, or that of --day. Checksums are verified while reading and item counts at the
end; the exit code is 1 if counts differ. Secrets and keys are not in a copy: the output lists those to put back by
hand before the first start.

tablewright db copies restore /mnt/other-disk --data ./data-again --yes
tablewright db copies restore s3://our-copies/skratch --day 2026-11-16 --endpoint http://127.0.0.1:8000 --yes"""


def arguments(parser: argparse.ArgumentParser) -> None:
    copies.add_location_argument(parser)
    parser.add_argument(
        "--day", metavar="DAY", help="the day of the copy, such as 2026-11-16 (default: the newest copy)"
    )
    parser.add_argument(
        "--store",
        metavar="ID",
        help="the store whose copy is restored, if the location has copies of several stores",
    )
    add_yes_option(parser)
    add_target_options(parser, json="print JSON")


def run(given: argparse.Namespace) -> int:
    """0 if every table has as many items as the copy, 1 if not."""
    if given.data is None and given.endpoint is None and not given.region and not given.profile:
        raise UsageError("name the destination: --data DIR for a new data directory, or --endpoint URL")
    return _restore(given)


@copies.with_location
def _restore(given: argparse.Namespace, place: CopyPlace) -> int:
    copy = chosen(copies.complete_copies(place), given.day, given.store)
    if given.data is not None:
        return _restore_to_directory(given, place, copy)
    with open_target(given) as target:
        return _restore_to_endpoint(given, place, copy, target)


def _restore_to_endpoint(given: argparse.Namespace, place: CopyPlace, copy: Copy, target: Target) -> int:
    refuse_there(target.call, copy)
    if not _confirm(given, place, copy, target.name):
        return 0
    made = _fill(target.call, place, copy)
    beside = sum(map(len, files_beside(place, copy.store).values()))
    folder = place.key("beside", copy.store, "")
    by_hand = f"{plural(beside, 'file')} in {folder} at {place.name} belong in systems/ of its data directory"
    return _show(given, copy, made, target.name, [by_hand] if beside else [])


def _restore_to_directory(given: argparse.Namespace, place: CopyPlace, copy: Copy) -> int:
    target: Path = given.data.resolve()  # `.` has no name, and a link cannot be replaced by a directory
    if target.is_mount():
        raise UsageError(
            f"{target} is a mount point, which cannot be replaced; name a directory in it: --data {target / 'data'}"
        )
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(
            f"{target} already exists, and a restore does not overwrite; name another directory with --data"
        )
    if not _confirm(given, place, copy, str(target)):
        return 0
    beside = files_beside(place, copy.store)
    secrets = [
        f"{target}/systems/{each.name}/{folder}, as it was"
        for each in SYSTEMS
        for folder in each.apart
        if each.name in beside
    ]
    work = target.with_name(temporary_name(target.name, copy))
    try:
        with Engine.open(work, region=given.region or REGION, ttl_seconds=NO_TTL_SWEEP) as engine:
            made = _fill(embedded(engine), place, copy)
    except KeyboardInterrupt:
        print_message("tablewright: the restore is not finished; run the same command again to continue")
        raise
    count_back = put_back(place, copy.store, work)
    work.rename(target)
    print_message(f"{plural(count_back, 'file')} of the systems restored")
    return _show(given, copy, made, str(target), secrets)


def temporary_name(name: str, copy: Copy) -> str:
    """The directory's name while it is filled; contains the copy's identity, so that only this copy continues in it."""
    return f"{name}.restoring-{copy.store[:8]}-{moment_name(copy.at)}"


def _confirm(given: argparse.Namespace, place: CopyPlace, copy: Copy, name: str) -> bool:
    rows = [[table.name, count(table.items)] for table in copy.tables]
    plan = (
        f"will restore {plural(len(rows), 'table')} from {place.name} to {name}, as of "
        f"{copy.at:%Y-%m-%d %H:%M:%S} UTC:\n{as_table(['table', 'items'], rows)}"
    )
    return confirm_plan(given, None if given.yes else plan)


def _fill(call: Call, place: CopyPlace, copy: Copy) -> list[Restored]:
    with progress_bar() as terminal:
        return restore_tables(call, place, copy, terminal)


def _show(given: argparse.Namespace, copy: Copy, made: list[Restored], name: str, by_hand: list[str]) -> int:
    is_equal = all(table.is_equal for table in made)
    tables = [{"table": one.name, "copied": one.copied, "restored": one.found} for one in made]
    value = copy.model_dump(mode="json", include={"store", "at"})
    value |= {"tables": tables, "by_hand": by_hand, "is_equal": is_equal}
    rows = [[one.name, count(one.copied), count(one.found)] for one in made]
    lines = [
        as_table(["table", "in copy", "restored"], rows),
        f"restored to {name}; item counts match the copy"
        if is_equal
        else f"item counts in {name} differ from the copy",
        *(f"put back by hand before the first start: {one}" for one in by_hand),
    ]
    print_result(given, value, "\n".join(lines))
    return 0 if is_equal else 1
