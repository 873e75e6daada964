"""`tablewright db parked replay TABLE CONSUMER`: have parked changes handled again, by the consumer itself."""

import argparse

from tablewright.cli import where
from tablewright.cli.parking import consumers_table, opened_db, which, worker
from tablewright.cli.words import plural

SUMMARY = "Ask a consumer to handle parked changes again: it does in its next round, in order for each key."
EXAMPLES = """Without a SEQUENCE all that is parked is asked for; with one, all of its key, since a key's changes are
handled in order. What fails again stays parked. `db parked list` shows what is left.

examples:
  tablewright db parked replay tenants mailer --endpoint http://127.0.0.1:8000
  tablewright db parked replay tenants mailer 100000000000000000017 --data ./data"""


def arguments(parser: argparse.ArgumentParser) -> None:
    which(parser)
    parser.add_argument("sequences", metavar="SEQUENCE", nargs="*", help="only the keys of these")
    consumers_table(parser)
    where.arguments(parser)


def run(given: argparse.Namespace) -> int:
    return where.at(given, lambda place: _ask(given, place))


def _ask(given: argparse.Namespace, place: where.Place) -> int:
    from tablewright.mapping import parked

    asked = parked.ask(worker(opened_db(given, place), given.table, given.consumer), tuple(given.sequences))
    if asked:
        print(
            f"asked: {given.consumer} handles the parked changes of {plural(asked, 'key')} in its next round"
        )
    else:
        print(f"nothing of {given.table} is parked by {given.consumer}")
    return 0
