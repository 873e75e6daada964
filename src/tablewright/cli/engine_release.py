"""`tablewright engine release`: let every replica take writes again."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tablewright.cli import replica_places

if TYPE_CHECKING:  # heavy
    from tablewright.engine.replica_pulls import Ask

SUMMARY = "Let every replica take writes again, the last write of an item winning; asked of the writer."
EXAMPLES = f"""{replica_places.KEYS}

examples:
  tablewright engine release us-east-1 us-east-1=http://10.0.0.1:8000
  tablewright engine release us-east-1 us-east-1=http://10.0.0.1:8000 --table pets --json"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("region", metavar="REGION", help="the region that writes now")
    replica_places.arguments(parser)
    replica_places.tables(parser)


def run(given: argparse.Namespace) -> int:
    def work(asks: "Mapping[str, Ask]") -> int:
        from tablewright.engine.replica_control import release

        ask = replica_places.named(asks, given.region)
        done = [release(ask, table) for table in replica_places.tables_of(given, ask)]
        lines = [f"{one.table}: every replica takes writes, epoch {one.epoch}" for one in done]
        print(replica_places.as_json(done) if given.json else "\n".join(lines))
        return 0

    return replica_places.at(given, work)
