"""`tablewright db copies list PLACE`: the whole copies that a server has made there."""

import argparse
from typing import TYPE_CHECKING

from tablewright.cli import copy_place
from tablewright.cli.words import as_json, as_table, count

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.app.copy_places import CopyPlace

SUMMARY = "List the daily copies of a server's tables that are at a place (`serve --copies PLACE`)."
EXAMPLES = """Only whole copies are listed: one that is being made, or was cut off, is none.

examples:
  tablewright db copies list /mnt/other-disk
  tablewright db copies list s3://our-copies/skratch --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    copy_place.arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON, with each table")


def run(given: argparse.Namespace) -> int:
    """0, or 1 when there is none."""
    return copy_place.at(given, lambda place: _list(given, place))


def _list(given: argparse.Namespace, place: "CopyPlace") -> int:
    copies = copy_place.copies_at(place)
    if given.json:
        print(as_json([copy.model_dump(mode="json") for copy in copies]))
    elif copies:
        rows = [
            [f"{copy.at:%Y-%m-%d %H:%M:%S} UTC", str(len(copy.tables)), count(copy.items), copy.store]
            for copy in copies
        ]
        print(as_table(["made", "tables", "items", "store"], rows))
    else:
        print(f"there is no whole copy at {place.name}")
    return 0 if copies else 1
