"""`tablewright design repository SYSTEM --to DIR`: write the schemas, Terraform and workflows of a design."""

import argparse
from pathlib import Path

from tablewright.cli.designs import FORMS, load_deployments
from tablewright.cli.format import plural
from tablewright.cli.output import print_result
from tablewright.design import DesignMistake
from tablewright.design.repository import Differences, differences, repository, write

EXAMPLES = """tablewright design repository portal --to deploy/portal
tablewright design repository portal --to deploy/portal --check"""
ERRORS = (DesignMistake,)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("system", metavar="SYSTEM", help=f"a shipped system, or {FORMS}")
    parser.add_argument(
        "--to", metavar="DIR", type=Path, required=True, help="the directory of the repository"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; list files that are out of date, with exit code 1",
    )
    parser.add_argument(
        "--json", action="store_true", help="print a JSON object with the files and their changes"
    )


def run(given: argparse.Namespace) -> int:
    deployments = load_deployments(given.system)
    printed = repository(deployments)
    found = differences(printed, given.to) if given.check else write(printed, given.to)
    value = {
        "system": given.system,
        "environments": [each.environment.name for each in deployments],
        "directory": str(given.to),
        "files": list(printed),
        "missing": found.missing,
        "changed": found.changed,
        "left_over": found.left_over,
    }
    print_result(given, value, "\n".join(_lines(given, len(printed), found)))
    return 1 if given.check and found else 0


def _lines(given: argparse.Namespace, count: int, found: Differences) -> list[str]:
    if not found:
        return [f"{given.to}: {plural(count, 'file')}, up to date"]
    labels = ("missing", "out of date", "no longer generated")
    if not given.check:
        labels = ("written", "rewritten", "removed")
    named = zip(labels, (found.missing, found.changed, found.left_over), strict=True)
    return [f"{given.to / name}: {label}" for label, names in named for name in names]
