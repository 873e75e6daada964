"""`tablewright db parked replay TABLE CONSUMER`: make a consumer process parked changes again."""

import argparse

from tablewright.cli.db.parked import (
    add_consumer_arguments,
    add_consumers_table_option,
    open_consumers_db,
    worker_for,
)
from tablewright.cli.format import plural
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.mapping import MappingMistake
from tablewright.mapping.consumer import dead_letters

EXAMPLES = """Without SEQUENCE all parked changes are replayed; with it, all of the same key, since changes of a key
are processed in order. The consumer does so in its next round. A change that fails again stays parked: see `db parked
list`.

tablewright db parked replay tenants mailer --endpoint http://127.0.0.1:8000
tablewright db parked replay tenants mailer 100000000000000000017 --data ./data"""
ERRORS = (MappingMistake,)


def arguments(parser: argparse.ArgumentParser) -> None:
    add_consumer_arguments(parser)
    parser.add_argument(
        "sequences", metavar="SEQUENCE", nargs="*", help="replay only the keys of these changes"
    )
    add_consumers_table_option(parser)
    add_target_options(parser)


@with_target
def run(given: argparse.Namespace, target: Target) -> int:
    asked = dead_letters.request_replay(
        worker_for(open_consumers_db(given, target), given.table, given.consumer), tuple(given.sequences)
    )
    if asked:
        print(f"{given.consumer} will process the parked changes of {plural(asked, 'key')} in its next round")
    else:
        print(f"{given.consumer} has parked no changes of {given.table}")
    return 0
