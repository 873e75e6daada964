"""`tablewright db copies list PLACE`: the copies at a location, including one in progress."""

import argparse
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tablewright.app.copies.status import UnderWay, under_way
from tablewright.app.copies.store import Copy, CopyPlace, moment_name
from tablewright.cli.db import copies
from tablewright.cli.format import as_json, as_table, count, moment, size
from tablewright.world import machine_time

EXAMPLES = """Only a complete copy (state `whole`) can be restored. One that is `under way` is being made; one that
was `cut off` stays incomplete, and its files are deleted with the next copy.

examples:
  tablewright db copies list /mnt/other-disk
  tablewright db copies list s3://our-copies/skratch --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    copies.add_location_argument(parser)
    parser.add_argument(
        "--json", action="store_true", help="print JSON, with the tables and the location of the files"
    )


def run(given: argparse.Namespace) -> int:
    """0, or 1 if there is no complete copy."""
    return copies.with_location(given, lambda place: _list(given, place))


def _list(given: argparse.Namespace, place: CopyPlace) -> int:

    whole = copies.complete_copies(place)
    found = [_of_copy(place, copy) for copy in whole]
    found += [_under_way(place, one) for one in under_way(place, machine_time())]
    if given.json:
        print(as_json(found))
    elif found:
        print(as_table(["made", "state", "tables", "items", "size", "store"], [_row(one) for one in found]))
    else:
        print(f"no copies at {place.name}")
    return 0 if whole else 1


def _of_copy(place: CopyPlace, copy: Copy) -> dict[str, Any]:
    return {
        **_identity(place, copy.store, copy.at, "whole"),
        "tables": [{"name": it.name, "items": it.items, "bytes": it.bytes} for it in copy.tables],
        "items": copy.items,
        "bytes": copy.bytes,
    }


def _under_way(place: CopyPlace, one: UnderWay) -> dict[str, Any]:
    state = "cut off" if one.is_cut_off else "under way"
    return {**_identity(place, one.store, one.at, state), "tables": None, "items": None, "bytes": None}


def _identity(place: CopyPlace, store: str, at: datetime, state: str) -> dict[str, Any]:

    where = place.address("data", store, moment_name(at), "")
    return {"at": at.isoformat().replace("+00:00", "Z"), "state": state, "store": store, "where": where}


def _row(one: Mapping[str, Any]) -> list[str]:
    return [
        moment(datetime.fromisoformat(one["at"]).timestamp()),
        one["state"],
        "-" if one["tables"] is None else str(len(one["tables"])),
        "-" if one["items"] is None else count(one["items"]),
        "-" if one["bytes"] is None else size(one["bytes"]),
        one["store"],
    ]
