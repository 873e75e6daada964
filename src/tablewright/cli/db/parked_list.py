"""`tablewright db parked list`: changes that consumers failed to process, and those parked behind them."""

import argparse

from tablewright.cli.db.parked import add_consumers_table_option, open_consumers_db, worker_for
from tablewright.cli.format import as_table, moment
from tablewright.cli.output import print_result
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.mapping import MappingMistake
from tablewright.mapping.consumer import dead_letters

EXAMPLES = """A change is parked when processing it failed; later changes of its key are parked `Behind` it. The exit
code is 1 if anything is parked.

tablewright db parked list --endpoint http://127.0.0.1:8000
tablewright db parked list tenants mailer --data ./data --keys --json"""
ERRORS = (MappingMistake,)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "table", metavar="TABLE", nargs="?", help="only this table, by its name in the design"
    )
    parser.add_argument("consumer", metavar="CONSUMER", nargs="?", help="only this consumer")
    parser.add_argument("--keys", action="store_true", help="show the key of each item")
    add_consumers_table_option(parser)
    add_target_options(parser, json="print a JSON list")


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    """0 if nothing is parked, 1 if something is."""
    db = open_consumers_db(given, target)
    found = (
        dead_letters.list_parked(worker_for(db, given.table, given.consumer))
        if given.consumer is not None
        else [one for one in dead_letters.list_all_parked(db) if given.table in (None, one.table)]
    )
    hidden = {"pieces", "place"} | (set() if given.keys else {"key"})
    head = ("table", "consumer", "sequence", "entity", "change", "error", "attempts", "last tried", "key")
    rows = [
        [
            one.table,
            one.consumer,
            one.sequence,
            one.entity,
            one.kind,
            one.error,
            str(one.attempts),
            moment(one.last_tried.timestamp()),
            one.key,
        ]
        for one in found
    ]
    columns = len(head) if given.keys else -1
    text = as_table(head[:columns], [row[:columns] for row in rows]) if found else "nothing is parked"
    print_result(given, [one.model_dump(mode="json", exclude=hidden) for one in found], text)
    return 1 if found else 0
