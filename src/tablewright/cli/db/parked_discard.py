"""`tablewright db parked discard TABLE CONSUMER SEQUENCE...`: discard parked changes permanently."""

import argparse

from tablewright.cli.db.parked import (
    add_consumer_arguments,
    add_consumers_table_option,
    open_consumers_db,
    worker_for,
)
from tablewright.cli.format import as_table, plural
from tablewright.cli.output import add_yes_option, confirm_plan
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.mapping import MappingMistake, NotParked
from tablewright.mapping.consumer import dead_letters

EXAMPLES = """Later changes of the same key stay parked behind a discarded one; replay them.

tablewright db parked discard tenants mailer 100000000000000000017 --data ./data
tablewright db parked discard tenants mailer 100000000000000000017 --data ./data --yes"""
ERRORS = (MappingMistake,)


def arguments(parser: argparse.ArgumentParser) -> None:
    add_consumer_arguments(parser)
    parser.add_argument(
        "sequences", metavar="SEQUENCE", nargs="+", help="the sequence number of a parked change"
    )
    add_yes_option(parser)
    add_consumers_table_option(parser)
    add_target_options(parser)


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    worker = worker_for(open_consumers_db(given, target), given.table, given.consumer)
    parked = {one.sequence: one for one in dead_letters.list_parked(worker)}
    for sequence in given.sequences:
        if sequence not in parked:
            raise NotParked(sequence)
    chosen = [parked[sequence] for sequence in given.sequences]
    rows = [[one.sequence, one.entity, one.kind, one.error] for one in chosen]
    plan = f"{given.consumer} will never process\n{as_table(('sequence', 'entity', 'change', 'error'), rows)}"
    if not confirm_plan(given, plan):
        return 1
    for one in chosen:
        dead_letters.discard(worker, one.sequence)
    print(f"discarded {plural(len(chosen), 'change')}")
    return 0
