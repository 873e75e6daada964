"""`tablewright db copies list PLACE`: the copies that a server has made there, and the one it is making."""

import argparse
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tablewright.cli import copy_place
from tablewright.cli.words import as_json, as_table, count, moment, size

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.app.copy_places import Copy, CopyPlace
    from tablewright.app.copy_standing import UnderWay

SUMMARY = "List the daily copies of a server's tables that are at a place (`serve --copies PLACE`)."
EXAMPLES = """Only a whole copy can be restored. One that is under way is whole some minutes later; one that was cut off
never is, and what is left of it goes with the next.

examples:
  tablewright db copies list /mnt/other-disk
  tablewright db copies list s3://our-copies/skratch --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    copy_place.arguments(parser)
    parser.add_argument(
        "--json", action="store_true", help="print JSON, with each table, and where its files are"
    )


def run(given: argparse.Namespace) -> int:
    """0, or 1 when there is no whole one."""
    return copy_place.at(given, lambda place: _list(given, place))


def _list(given: argparse.Namespace, place: "CopyPlace") -> int:
    from tablewright.app.copy_standing import under_way
    from tablewright.world import machine_time

    whole = copy_place.copies_at(place)
    found = [_of_copy(place, copy) for copy in whole]
    found += [_under_way(place, one) for one in under_way(place, machine_time())]
    if given.json:
        print(as_json(found))
    elif found:
        print(as_table(["made", "state", "tables", "items", "size", "store"], [_row(one) for one in found]))
    else:
        print(f"there is no copy at {place.name}")
    return 0 if whole else 1


def _of_copy(place: "CopyPlace", copy: "Copy") -> dict[str, Any]:
    return {
        **_which(place, copy.store, copy.at, "whole"),
        "tables": [{"name": it.name, "items": it.items, "bytes": it.bytes} for it in copy.tables],
        "items": copy.items,
        "bytes": copy.bytes,
    }


def _under_way(place: "CopyPlace", one: "UnderWay") -> dict[str, Any]:
    state = "cut off" if one.is_cut_off else "under way"
    return {**_which(place, one.store, one.at, state), "tables": None, "items": None, "bytes": None}


def _which(place: "CopyPlace", store: str, at: datetime, state: str) -> dict[str, Any]:
    from tablewright.app.copy_places import moment_name

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
