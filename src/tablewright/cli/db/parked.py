"""Opening the table of consumers; shared by the `db parked` commands."""

import argparse
from datetime import timedelta

from tablewright.cli.output import UsageError
from tablewright.cli.target import Target
from tablewright.design import Environment
from tablewright.mapping import Db, stream_consumers
from tablewright.mapping.consumer.leases import Worker

TERM = timedelta(seconds=30)


def add_consumers_table_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--consumers-table",
        metavar="NAME",
        default="stream_consumers",
        help="the table of consumer checkpoints (default: %(default)s)",
    )


def add_consumer_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "table", metavar="TABLE", help="the table whose changes they are, by its name in the design"
    )
    parser.add_argument("consumer", metavar="CONSUMER", help="the consumer that parked them")


def open_consumers_db(given: argparse.Namespace, target: Target) -> Db:
    if target.find_table(given.consumers_table) is None:
        raise UsageError(
            f"no consumer has run on {target.name}: table {given.consumers_table} does not exist "
            "(--consumers-table names another)"
        )
    here = Environment("command", "", table_name=given.consumers_table)
    return Db(target.call, stream_consumers, environment=here)


def worker_for(db: Db, table: str, consumer: str) -> Worker:
    """A worker of this consumer without a handler: enough to list, replay and discard."""
    return Worker(db, db._call, table, consumer, db.world.new_id(), TERM)
