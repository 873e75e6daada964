"""What the commands about parked changes share: the consumers' table, and a worker without a handler."""

import argparse
from datetime import timedelta
from typing import TYPE_CHECKING

from tablewright.cli.where import Place

if TYPE_CHECKING:  # heavy, and nothing heavy is imported before a command runs
    from tablewright.mapping import Db
    from tablewright.mapping.leases import Worker

TERM = timedelta(seconds=30)


def consumers_table(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--consumers-table",
        metavar="NAME",
        default="stream_consumers",
        help="the table in which consumers keep their place (default: %(default)s)",
    )


def which(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="whose changes they are, by its name in the design")
    parser.add_argument("consumer", metavar="CONSUMER", help="who parked them")


def opened_db(given: argparse.Namespace, place: Place) -> "Db":
    from tablewright.client import CallRefused
    from tablewright.design import Environment
    from tablewright.mapping import Db, MappingMistake, stream_consumers

    try:
        place.call("DescribeTable", {"TableName": given.consumers_table})
    except CallRefused as refusal:
        if refusal.name != "ResourceNotFoundException":
            raise
        raise MappingMistake(
            f"no consumer has been at work in {place.name}: there is no table {given.consumers_table} "
            "(--consumers-table names another)"
        ) from None
    here = Environment("command", "", table_name=given.consumers_table)
    return Db(place.call, stream_consumers, environment=here)


def worker(db: "Db", table: str, consumer: str) -> "Worker":
    """Somebody who knows a consumer's name: enough to look, to ask and to discard."""
    from tablewright.mapping.leases import Worker

    return Worker(db, db._call, table, consumer, db.world.new_id(), TERM)
