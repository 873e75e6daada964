"""`tablewright db parked list`: the changes that consumers could not handle, and those that wait behind them."""

import argparse
from typing import TYPE_CHECKING

from tablewright.cli import where
from tablewright.cli.parking import consumers_table, opened_db, worker
from tablewright.cli.words import as_json, as_table, moment

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.mapping import Parked

SUMMARY = "List the changes that a consumer of a table has parked; keys are shown when asked for."
EXAMPLES = """A change is parked when it could not be handled; later ones of its key wait `Behind` it. The code is 1 if
anything is parked.

examples:
  tablewright db parked list --endpoint http://127.0.0.1:8000
  tablewright db parked list tenants mailer --data ./data --keys --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "table", metavar="TABLE", nargs="?", help="of this table only, by its name in the design"
    )
    parser.add_argument("consumer", metavar="CONSUMER", nargs="?", help="of this consumer only")
    parser.add_argument("--keys", action="store_true", help="show the key of each item")
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    consumers_table(parser)
    where.arguments(parser)


def run(given: argparse.Namespace) -> int:
    """0 when nothing is parked, 1 when something is."""
    return where.at(given, lambda place: _show(given, place))


def _show(given: argparse.Namespace, place: where.Place) -> int:
    from tablewright.mapping import parked

    db = opened_db(given, place)
    found = (
        parked.listed(worker(db, given.table, given.consumer))
        if given.consumer is not None
        else [one for one in parked.listed_everywhere(db) if given.table in (None, one.table)]
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


def _row(one: "Parked", keys: bool) -> list[str]:
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
