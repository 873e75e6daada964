"""`tablewright db copies list PLACE`: the copies at a location, including one in progress."""

import argparse
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tablewright.app.copies.status import UnderWay, under_way
from tablewright.app.copies.store import Copy, CopyPlace, moment_name
from tablewright.cli.db import copies
from tablewright.cli.format import as_table, count, moment, size
from tablewright.cli.output import print_result
from tablewright.world import machine_time

EXAMPLES = """Only a complete copy (state `whole`) can be restored. One that is `under way` is being made; one that
was `cut off` stays incomplete, and its files are deleted with the next copy.

tablewright db copies list /mnt/other-disk
tablewright db copies list s3://our-copies/skratch --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    copies.add_location_argument(parser)
    parser.add_argument(
        "--json", action="store_true", help="print JSON, with the tables and the location of the files"
    )


@copies.with_location
def run(given: argparse.Namespace, place: CopyPlace) -> int:
    """0, or 1 if there is no complete copy."""
    whole = copies.complete_copies(place)
    every: list[Copy | UnderWay] = [*whole, *under_way(place, machine_time())]
    found = [_entry(place, one) for one in every]
    head = ("made", "state", "tables", "items", "size", "store")
    text = as_table(head, [_row(one) for one in found]) if found else f"no copies at {place.name}"
    print_result(given, found, text)
    return 0 if whole else 1


def _entry(place: CopyPlace, one: Copy | UnderWay) -> dict[str, Any]:
    copy = one if isinstance(one, Copy) else None
    tables = [{"name": it.name, "items": it.items, "bytes": it.bytes} for it in copy.tables] if copy else None
    return {
        "at": one.at.isoformat().replace("+00:00", "Z"),
        "state": "cut off"
        if isinstance(one, UnderWay) and one.is_cut_off
        else "whole"
        if copy
        else "under way",
        "store": one.store,
        "where": place.address("data", one.store, moment_name(one.at), ""),
        "tables": tables,
        "items": copy.items if copy else None,
        "bytes": copy.bytes if copy else None,
    }


def _row(one: Mapping[str, Any]) -> list[str]:
    return [
        moment(datetime.fromisoformat(one["at"]).timestamp()),
        one["state"],
        "-" if one["tables"] is None else str(len(one["tables"])),
        "-" if one["items"] is None else count(one["items"]),
        "-" if one["bytes"] is None else size(one["bytes"]),
        one["store"],
    ]
