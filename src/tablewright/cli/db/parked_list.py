"""`tablewright db parked list`: changes that consumers failed to process, and those parked behind them."""

import argparse

from tablewright.cli.db.parked import add_consumers_table_option, open_consumers_db, worker_for
from tablewright.cli.format import as_json, as_table, moment
from tablewright.cli.target import Target, add_target_options, with_target
from tablewright.mapping import MappingMistake, Parked
from tablewright.mapping.consumer import dead_letters

EXAMPLES = """A change is parked when processing it failed; later changes of its key are parked `Behind` it. The exit
code is 1 if anything is parked.

examples:
  tablewright db parked list --endpoint http://127.0.0.1:8000
  tablewright db parked list tenants mailer --data ./data --keys --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "table", metavar="TABLE", nargs="?", help="only this table, by its name in the design"
    )
    parser.add_argument("consumer", metavar="CONSUMER", nargs="?", help="only this consumer")
    parser.add_argument("--keys", action="store_true", help="show the key of each item")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    add_consumers_table_option(parser)
    add_target_options(parser)


def run(given: argparse.Namespace) -> int:
    """0 if nothing is parked, 1 if something is."""
    return with_target(given, lambda target: _show(given, target), errors=(MappingMistake,))


def _show(given: argparse.Namespace, target: Target) -> int:

    db = open_consumers_db(given, target)
    found = (
        dead_letters.list_parked(worker_for(db, given.table, given.consumer))
        if given.consumer is not None
        else [one for one in dead_letters.list_all_parked(db) if given.table in (None, one.table)]
    )
    if given.json:
        hidden = {"pieces", "place"} | (set() if given.keys else {"key"})
        print(as_json([one.model_dump(mode="json", exclude=hidden) for one in found]))
    elif not found:
        print("nothing is parked")
    else:
        keys = ("key",) if given.keys else ()
        head = ("table", "consumer", "sequence", "entity", "change", "error", "attempts", "last tried", *keys)
        print(as_table(head, [_row(one, given.keys) for one in found]))
    return 1 if found else 0


def _row(one: Parked, keys: bool) -> list[str]:
    return [
        one.table,
        one.consumer,
        one.sequence,
        one.entity,
        one.kind,
        one.error,
        str(one.attempts),
        moment(one.last_tried.timestamp()),
        *([one.key] if keys else []),
    ]
