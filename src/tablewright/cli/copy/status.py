"""`tablewright copy status TARGET`: where the copies in a place stand."""

import argparse

from tablewright.cli.copy.places import PLACES, open_place
from tablewright.cli.format import as_table, count
from tablewright.cli.output import print_result
from tablewright.client import CallRefused
from tablewright.mapping.copy import all_copies, copy_context, copy_progress

EXAMPLES = """tablewright copy status amazon:eu-central-1
tablewright copy status http://127.0.0.1:8000 --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help=f"where the tables are copied to: {PLACES}")
    parser.add_argument("--json", action="store_true", help="print a JSON list")


def run(given: argparse.Namespace) -> int:
    with open_place(given.target) as target:
        context = copy_context(target.call, target.call)
        try:
            found = list(context.db.all(all_copies()))
        except CallRefused as refusal:
            if refusal.name != "ResourceNotFoundException":
                raise
            found = []
        now = context.world.now()
        listed = [
            {
                "target": copy.table,
                "source": copy.source,
                "phase": copy.phase,
                "items": copy_progress(context, copy),
                "began": copy.began.isoformat(timespec="seconds"),
                "is_running": copy.owner is not None and copy.until > now,
            }
            for copy in found
        ]
    rows = [
        [
            str(one["source"]),
            str(one["target"]),
            str(one["phase"]),
            count(int(str(one["items"]))),
            str(one["began"]),
            "yes" if one["is_running"] else "no",
        ]
        for one in listed
    ]
    head = ["source", "target", "phase", "items scanned", "began", "running"]
    print_result(given, listed, as_table(head, rows) if rows else f"{given.target} has no copies")
    return 0
