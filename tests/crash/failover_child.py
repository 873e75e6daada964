"""A process that writes to two regions in turn, failing over between them, until it is killed.

It prints `put NAME` after each write that was answered.
"""

import sys
from itertools import count, cycle
from pathlib import Path

from tablewright.engine import Regions
from tablewright.engine.replication.failover import failover

HERE, THERE = "us-east-1", "eu-west-1"


def opened(store: Path, period: float | None = None) -> Regions:
    return Regions.open(store, home=HERE, also=[THERE], durability="relaxed", period=period)


def main(store: Path, turn: str) -> None:
    with opened(store, period=0.001) as regions:
        numbers = count()
        for writer in cycle((THERE, HERE)):
            failover(regions, writer)
            for _ in range(5):
                name = f"{turn} {next(numbers)}"
                regions[writer].call("PutItem", {"TableName": "ledger", "Item": {"pk": {"S": name}}})
                print(f"put {name}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
