"""`tablewright terraform SYSTEM --environment NAME --to DIR`: a design as a tree of Terraform."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tablewright.cli.shipped import arguments as shipment_arguments
from tablewright.cli.shipped import shipped
from tablewright.cli.where import Misused, answer, misused
from tablewright.cli.words import as_json, plural

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.design.terraform import Differences

SUMMARY = "Print a design as Terraform: tables, backups, roles, alarms, budget, and what is around them."
EXAMPLES = """examples:
  tablewright terraform travel --environment prod --to deploy/travel/prod
  tablewright terraform travel --environment prod --to deploy/travel/prod --check"""


def arguments(parser: argparse.ArgumentParser) -> None:
    shipment_arguments(parser)
    parser.add_argument("--to", metavar="DIR", type=Path, required=True, help="where the files are, or go")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; say what is out of date, with code 1"
    )
    parser.add_argument(
        "--json", action="store_true", help="print a JSON object: which files, and what of them"
    )


def run(given: argparse.Namespace) -> int:
    from tablewright.design import DesignMistake

    try:
        return _printed(given)
    except (Misused, DesignMistake, OSError) as mistake:
        return misused(str(mistake))


def _printed(given: argparse.Namespace) -> int:
    from tablewright.design.terraform import differences, tree, write

    printed = tree(shipped(given))
    found = differences(printed, given.to) if given.check else write(printed, given.to)
    if given.json:
        answer(as_json(_told(given, list(printed), found)))
    else:
        answer("\n".join(_lines(given, len(printed), found)))
    return 1 if given.check and found else 0


def _told(given: argparse.Namespace, files: list[str], found: "Differences") -> dict[str, object]:
    return {
        "system": given.system,
        "environment": given.environment,
        "directory": str(given.to),
        "files": files,
        "missing": list(found.missing),
        "changed": list(found.changed),
        "left_over": list(found.left_over),
    }


def _lines(given: argparse.Namespace, count: int, found: "Differences") -> list[str]:
    if not found:
        return [f"{given.to}: {plural(count, 'file')}, all as the design says"]
    words = ("missing", "out of date", "not printed any more")
    if not given.check:
        words = ("written", "written anew", "removed")
    named = zip(words, (found.missing, found.changed, found.left_over), strict=True)
    return [f"{given.to / name}: {word}" for word, names in named for name in names]
