"""`tablewright db parked discard TABLE CONSUMER SEQUENCE...`: give parked changes up for good."""

import argparse

from tablewright.cli import where
from tablewright.cli.parking import consumers_table, opened_db, which, worker
from tablewright.cli.plans import agreed, yes
from tablewright.cli.words import as_table, plural

SUMMARY = "Give up parked changes for good: their consumer never handles them."
EXAMPLES = """What waits behind a discarded change still waits: replay it.

examples:
  tablewright db parked discard tenants mailer 100000000000000000017 --data ./data
  tablewright db parked discard tenants mailer 100000000000000000017 --data ./data --yes"""


def arguments(parser: argparse.ArgumentParser) -> None:
    which(parser)
    parser.add_argument("sequences", metavar="SEQUENCE", nargs="+", help="which of them")
    yes(parser)
    consumers_table(parser)
    where.arguments(parser)


def run(given: argparse.Namespace) -> int:
    return where.at(given, lambda place: _discard(given, place))


def _discard(given: argparse.Namespace, place: where.Place) -> int:
    from tablewright.mapping import NotParked, parked

    who = worker(opened_db(given, place), given.table, given.consumer)
    there = {one.sequence: one for one in parked.listed(who)}
    for sequence in given.sequences:
        if sequence not in there:
            raise NotParked(sequence)
    chosen = [there[sequence] for sequence in given.sequences]
    rows = [[one.sequence, one.entity, one.kind, one.error] for one in chosen]
    plan = f"{given.consumer} will never handle\n{as_table(('sequence', 'entity', 'change', 'error'), rows)}"
    if not agreed(given, plan):
        return 1
    for one in chosen:
        parked.discard(who, one.sequence)
    print(f"discarded {plural(len(chosen), 'change')}")
    return 0
